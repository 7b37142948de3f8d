"""How programs lay out their log lines, and how a line shows which broker wrote it."""

import re
from functools import lru_cache

from kafka_hindsight.knowledge.model import Layout, LoggerAndMessage

MESSAGE_LIMIT = 524_288
"""Longer messages are matched by no pattern: a regex must not run away on an endless line. The longest that we read,
a fetcher's failed request, names each partition of a leader in some 130 characters."""

TRACE_LIMIT = 32_768
"""Characters of an exception that are read: its causes, each with its frames, are some 10,000."""

MOST_LINES = 10_000
"""Lines of a record whose text is kept. Kafka writes none as long: more is a file that holds no records of ours."""

LOGGER_REACH = 300
"""A logger's name stands within the last characters of its line: the search stays cheap on endless lines."""

_LEVEL_AT = len("[2026-11-21 01:44:29,117] ")
"""Where the level begins in a record of Apache Kafka."""

PROGRAM = "program.log"
"""The logger of lines that name none, or one that the program chose itself: what they say shows which library spoke.
Of its lines those that no pattern claims are the program's own, and nothing is missed in them."""

LOGGER_REGEX = re.compile(r" \((?:[\w$]+(?:[.][\w$]+)+|LogFutureTimestampLogger)\)", re.ASCII)
"""How the end of a line names its logger: words with dots between them, in parentheses. Kafka has one without a dot
(UnifiedLog)."""

KAFKAS_PACKAGES = ("kafka.", "org.apache.kafka.")
"""Kafka moves classes from Scala's packages to Java's, and their lines stay: within Kafka a class is known by its name.
Source: kafka.server.BrokerLifecycleManager until 4.2 is org.apache.kafka.server.BrokerLifecycleManager in 4.3."""

KAFKAS_LOGGERS = (b" (kafka.", b" (org.apache.kafka.", b" (state.change.logger)")
"""Text that marks a line of Kafka's own loggers, in the bytes of a file."""


PREAMBLE = re.compile(r"(?:(?:===> |uid=\d|Running in \w+ mode)[^\n]*\n?)+", re.ASCII)
"""What Confluent's images print before the first line of a broker. Source: common-docker, etc/confluent/docker/run."""


def class_of(logger: str) -> str:
    """The name by which a logger is recognised: the class alone within Kafka's packages, else the whole name."""
    return logger.rpartition(".")[2] if logger.startswith(KAFKAS_PACKAGES) else logger


def first_line(text: str) -> str:
    """A record's first physical line."""
    return text.partition("\n")[0].rstrip("\r")


@lru_cache(maxsize=4096)
def _logger_in(end: str) -> str | None:
    return end[2:-1] if LOGGER_REGEX.fullmatch(end) else None


def cut_apache(text: str) -> LoggerAndMessage:
    """Cut the logger from the end of the first line, else of the last one; the message is before it."""
    body = text.partition("\n")[0].rstrip("\r")
    at = body.rfind(" (", -LOGGER_REACH)
    logger = _logger_in(body[at:]) if at > 0 else None
    if logger is None and len(body) < len(text):
        body = text.rstrip("\r")
        at = body.rfind(" (", -LOGGER_REACH)
        logger = _logger_in(body[at:]) if at > 0 else None
    return logger, body[body.index(" ", _LEVEL_AT) + 1 : at if logger else None]


def cut_librdkafka(text: str) -> LoggerAndMessage:
    """Cut the message after the facility, which stands for the logger.

    Each record of librdkafka is one line: further lines are the program's own output.
    """
    _, _, facility, message = first_line(text).split("|", 3)
    return f"librdkafka.{facility}", message


APACHE = Layout(
    name="apache",
    begins="[0000-00-00 00:00:00,000] ",
    head=r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] [A-Z]+ ",
    cut=cut_apache,
    is_epoch=False,
    source="config/log4j.properties 1.0-3.9, config/log4j2.yaml 4.0+: [%d] %p %m (%c)%n",
)

LIBRDKAFKA = Layout(
    name="librdkafka",
    begins="%0|000000000",
    head=r"^%[0-7]\|(\d{9,11}\.\d{3})\|[A-Z0-9_]+\|",
    cut=cut_librdkafka,
    is_epoch=True,
    source="librdkafka rd_kafka_log_print: %level|epoch.millis|facility|client| message",
)

LAYOUTS = (APACHE, LIBRDKAFKA)

CUTS = {layout.name: layout.cut for layout in LAYOUTS}
"""The function that cuts a record into logger and message, by the name of its layout."""

BROKER_PREFIXES = (
    r"GroupCoordinator (?:id=)?",
    r"GroupMetadataManager brokerId=",
    r"Partition [A-Za-z0-9._-]+ broker=",
    r"(?:Broker|Controller|QuorumController|KafkaServer|BrokerServer|ControllerServer|SharedServer) id=",
    r"(?:BrokerChangeListener on )?Controller |Kafka Server ",
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

_ROTATED_SUFFIXES = (re.compile(r"[.](?:gz|bz2|zst|lz4|xz)$"), re.compile(r"(?<=[.]log)[.-][0-9][0-9._-]*$"))
"""What rotation and compression append to a log's name, outermost first."""

_MISSPELT_LOGS = {"stage-change.log": "state-change.log"}
"""Kafka 4.0.0 rolls its state-change log under a misspelt name (KAFKA-19576)."""


WITHIN = "//"
"""Stands between a file and who wrote its line, as in `kafka.log//kafka-0`: no name of a file holds it."""


def folder_of(source: str) -> str:
    """The place that one writer's logs share: the folder of a log, or the line's writer within a wrapped file."""
    return source if WITHIN in source else source.rpartition("/")[0]


def is_of_console(source: str) -> bool:
    """Whether a log is what a process prints, such as kafkaServer.out: it repeats the logs of its folder."""
    return source.endswith(".out")


def source_of(path: str) -> str:
    """The log that a file belongs to: its path below the root without the suffixes of compression and rotation."""
    for suffix in _ROTATED_SUFFIXES:
        path = suffix.sub("", path)
    folder, slash, name = path.rpartition("/")
    return folder + slash + _MISSPELT_LOGS.get(name, name)


LOG_NAME_REGEX = re.compile(r".*[.]log|.*[.]log[.].*|.*[.]gz|(?i:kafka).*[.]out")

WORDS_REGEX = re.compile(
    r"(?i)kafka|zookeeper|consumer|group|broker|partition|coordinator|rebalanc|raft|quorum|topic|controller"
)
"""A line of Kafka's or of a client's that shows anything has one of these words. A file without any is another
program's."""

GC_LOG_REGEX = re.compile(r"(?:.*[-_.])?gc[.]log(?:[.].*)?")
"""What a JVM writes about its garbage, beside a broker's logs: kafkaServer-gc.log, kafkaServer-gc.log.0.current."""

SEGMENT_REGEX = re.compile(r"\d{20}[.]log(?:[.]deleted|[.]cleaned|[.]swap)?")
"""What Kafka calls the files of a partition's records: none of them holds lines. Source: LogFileUtils."""
