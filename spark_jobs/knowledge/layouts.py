"""How programs lay out their log lines, and how a line shows which broker wrote it."""

import re

from spark_jobs.knowledge.model import Layout

MESSAGE_LIMIT = 524_288
"""Longer messages are matched by no pattern: a regex must not run away on an endless line. The longest that we read,
a fetcher's failed request, names each partition of a leader in some 130 characters."""

LOGGER_REACH = 300
"""A logger's name stands within the last characters of its line: the search stays cheap on endless lines."""

LOGGER_REGEX = r" \(([\w$]+(?:[.][\w$]+)+)\)$"


KAFKAS_PACKAGES = ("kafka.", "org.apache.kafka.")
"""Kafka moves classes from Scala's packages to Java's, and their lines stay: within Kafka a class is known by its name.
Source: kafka.server.BrokerLifecycleManager until 4.2 is org.apache.kafka.server.BrokerLifecycleManager in 4.3."""


def class_of(logger: str) -> str:
    """What a logger is known by: the class of Kafka's own, wherever it lies, else the whole name."""
    return logger.rpartition(".")[2] if logger.startswith(KAFKAS_PACKAGES) else logger


def _without_cr(text: str) -> str:
    """Spark's trim walks the whole text, so it is asked only where there is something to trim."""
    return f"if(endswith({text}, '\\r'), trim(TRAILING '\\r' FROM {text}), {text})"


_FIRST_LINE = _without_cr("substring_index(text, '\\n', 1)")
_LAST_LINE = _without_cr("substring_index(text, '\\n', -1)")
_WHOLE = _without_cr("text")


def _logger_of(line: str) -> str:
    return f"nullif(regexp_extract(right({line}, {LOGGER_REACH}), r'{LOGGER_REGEX}', 1), '')"


_LOGGER = f"coalesce({_logger_of(_FIRST_LINE)}, {_logger_of(_LAST_LINE)})"
_BODY = f"if({_logger_of(_FIRST_LINE)} IS NOT NULL, {_FIRST_LINE}, {_WHOLE})"
_TAIL = f"coalesce(length({_LOGGER}) + 3, 0)"
_START = "locate(' ', text, 27)"

APACHE = Layout(
    name="apache",
    head=r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] [A-Z]+ ",
    timestamp="replace(substring(text, 2, 23), ',', '.')",
    message=f"substring({_BODY}, {_START} + 1, length({_BODY}) - {_START} - {_TAIL})",
    logger=_LOGGER,
    is_epoch=False,
    source="config/log4j.properties 1.0-3.9, config/log4j2.yaml 4.0+: [%d] %p %m (%c)%n",
)

LIBRDKAFKA = Layout(
    name="librdkafka",
    head=r"^%[0-7]\|\d{9,11}\.\d{3}\|[A-Z0-9_]+\|",
    timestamp="split_part(text, '|', 2)",
    message=f"substring({_WHOLE}, length(substring_index(text, '|', 3)) + 2)",
    logger="concat('librdkafka.', split_part(text, '|', 3))",
    is_epoch=True,
    source="librdkafka rd_kafka_log_print: %level|epoch.millis|facility|client| message",
)

LAYOUTS = (APACHE, LIBRDKAFKA)

BROKER_PREFIXES = (
    r"GroupCoordinator (?:id=)?",
    r"GroupMetadataManager brokerId=",
    r"Partition [A-Za-z0-9._-]+ broker=",
    r"(?:Broker|Controller|QuorumController|KafkaServer|BrokerServer|ControllerServer|SharedServer) id=",
    r"Controller ",
    r"(?:RaftManager|BrokerLifecycleManager|BrokerHeartbeatManager|BrokerMetadataPublisher) (?:nodeId|id)=",
    r"(?:MetadataLoader|SnapshotGenerator|ControllerRegistrationManager|FeaturesPublisher) id=",
    r"(?:ReplicaStateMachine|PartitionStateMachine|ControllerEventThread) controllerId=",
    r"(?:KafkaRaftServer|Channel manager on controller|ReplicaManager) (?:nodeId=|broker=)?",
    r"(?:ReplicaFetcher|ReplicaAlterLogDirsThread) replicaId=",
    r"(?:ReplicaFetcherManager|ReplicaAlterLogDirsManager) on broker ",
    r"(?:ShareCoordinator|TransactionCoordinator|NodeToControllerChannelManager) id=",
    r"Topic Deletion Manager ",
)
"""What stands between a message's opening bracket and the id of the broker or controller that wrote it."""

BROKER_REGEX = r"^\[(?:" + "|".join(BROKER_PREFIXES) + r")(\d{1,9})[\]:, ]"

BROKER_FOLDER_REGEX = r"^(?:.*[^A-Za-z])?(?i:broker|controller|kafka|node|server)[-_.]?(\d{1,9})$"
"""A folder that names its broker, such as broker-3, controller-4 or prod-kafka-0."""

_ROTATED_SUFFIXES = (re.compile(r"[.]gz$"), re.compile(r"(?<=[.]log)[.-][0-9][0-9._-]*$"))
"""What rotation and compression append to a log's name, outermost first."""

_MISSPELT_LOGS = {"stage-change.log": "state-change.log"}
"""Kafka 4.0.0 rolls its state-change log under a misspelt name (KAFKA-19576)."""


def source_of(path: str) -> str:
    """The log a file belongs to: its path below the root without compression and rotation suffix."""
    for suffix in _ROTATED_SUFFIXES:
        path = suffix.sub("", path)
    folder, slash, name = path.rpartition("/")
    return folder + slash + _MISSPELT_LOGS.get(name, name)


LOG_NAME_REGEX = re.compile(r".*[.]log|.*[.]log[.].*|.*[.]gz|(?i:kafka).*[.]out")

GC_LOG_REGEX = re.compile(r"(?:.*[-_.])?gc[.]log(?:[.].*)?")
"""What a JVM writes about its garbage, beside a broker's logs: kafkaServer-gc.log, kafkaServer-gc.log.0.current."""

SEGMENT_REGEX = re.compile(r"\d{20}[.]log(?:[.]deleted|[.]cleaned|[.]swap)?")
"""What Kafka calls the files of a partition's records: none of them holds lines. Source: LogFileUtils."""
