"""Settings, subscription and close of a Java consumer, and the work of Kafka Connect, by its log (Kafka 1.0-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER_HEAD

_CONFIG_LOGGERS = (
    "org.apache.kafka.clients.consumer.ConsumerConfig",
    "org.apache.kafka.common.config.AbstractConfig",
)
_CONSUMER_LOGGERS = (
    "org.apache.kafka.clients.consumer.KafkaConsumer",
    "org.apache.kafka.clients.consumer.internals.LegacyKafkaConsumer",
    "org.apache.kafka.clients.consumer.internals.ClassicKafkaConsumer",
    "org.apache.kafka.clients.consumer.internals.AsyncKafkaConsumer",
)
_INFO_LOGGERS = ("org.apache.kafka.common.utils.AppInfoParser",)
_WORKER_LOGGERS = ("org.apache.kafka.connect.runtime.distributed.DistributedHerder",)
_CONNECT_LOGGERS = ("org.apache.kafka.connect.runtime.Connect",)
_CLIENTS = "clients/src/main/java/org/apache/kafka/clients"
_WORKER_SOURCE = "connect/runtime/src/main/java/org/apache/kafka/connect/runtime/distributed/DistributedHerder.java"
_line_of_worker = partial(Pattern, loggers=_WORKER_LOGGERS, head=CONSUMER_HEAD, versions="2.3-4.4")


PATTERNS = (
    Pattern(
        pattern_id="client.configured",
        kind=Kind.CLIENT_CONFIGURED,
        loggers=_CONFIG_LOGGERS,
        # One setting a line, in alphabetical order.
        regex=r"^ConsumerConfig values: ?\r?\n"
        r"(?:(?>.*?\t(?=auto\.commit\.interval\.ms))(?P<detail_1>[^\r\n]*)\r?\n)?"
        r"(?:(?>.*?\t(?=auto\.offset\.reset))(?P<detail_2>[^\r\n]*)\r?\n)?"
        r"(?>.*?\tclient\.id = )(?P<client_id>[^\r\n]*)\r?\n"
        r"(?:(?>.*?\t(?=enable\.auto\.commit))(?P<detail_3>[^\r\n]*)\r?\n)?"
        r"(?>.*?\tgroup\.id = )(?:null|(?P<group_id>[^\r\n]*))\r?\n"
        r"(?:\tgroup\.instance\.id = (?:null|(?P<instance_id>[^\r\n]*))\r?\n)?(?:\tgroup\.protocol = (?P<protocol>\w+)\r?\n)?"
        r"(?:(?>.*?\theartbeat\.interval\.ms = )(?P<heartbeat_interval_ms>\d+)\r?\n)?"
        r"(?:(?>.*?\t(?=isolation\.level))(?P<detail_4>[^\r\n]*)\r?\n)?"
        r"(?>.*?\tmax\.poll\.interval\.ms = )(?P<rebalance_timeout_ms>\d+)\r?\n"
        r"(?>.*?\tpartition\.assignment\.strategy = )\[?(?P<assignor>[^\r\n\]]*)\]?\r?\n"
        r"(?>.*?\tsession\.timeout\.ms = )(?P<session_timeout_ms>\d+)\r?\n.*$",
        versions="2.4-4.4",
        source=f"{_CLIENTS}/consumer/ConsumerConfig.java; org.apache.kafka.common.config.AbstractConfig logAll",
    ),
    Pattern(
        pattern_id="client.subscribed",
        kind=Kind.CLIENT_SUBSCRIBED,
        loggers=_CONSUMER_LOGGERS,
        regex=CONSUMER_HEAD + r"Subscribed to (?:topic\(s\): |(?=[^']*pattern)[^']*')(?P<detail>.*?)'?$",
        versions="2.4-4.4",
        source=f"{_CLIENTS}/consumer/internals/ClassicKafkaConsumer.java subscribe",
    ),
    Pattern(
        pattern_id="client.closed",
        kind=Kind.CLIENT_CLOSED,
        loggers=_INFO_LOGGERS,
        regex=r"^App info kafka\.consumer for (?P<client_id>.{1,255}) unregistered$",
        versions="2.5-4.4",
        source="clients/src/main/java/org/apache/kafka/common/utils/AppInfoParser.java unregisterAppInfo",
    ),
    Pattern(
        pattern_id="client.left_and_closed",
        kind=Kind.CLIENT_CLOSED,
        loggers=_CONSUMER_LOGGERS,
        regex=CONSUMER_HEAD
        + r"Completed (?:leaving the group|releasing assignment and sending leave group to close consumer)$",
        versions="3.8-4.4",
        source=f"{_CLIENTS}/consumer/internals/AsyncKafkaConsumer.java leaveGroupOnClose",
    ),
    Pattern(
        pattern_id="client.cluster_named",
        kind=Kind.CLUSTER_NAMED,
        loggers=("org.apache.kafka.clients.Metadata",),
        regex=CONSUMER_HEAD + r"Cluster ID: (?P<detail>[\w-]+)$",
        versions="2.0-4.4",
        source="clients/src/main/java/org/apache/kafka/clients/Metadata.java update",
    ),
    Pattern(
        pattern_id="connect.stopping",
        kind=Kind.CLIENT_STOPPING,
        loggers=_CONNECT_LOGGERS,
        regex=r"^Kafka Connect stopping$",
        versions="1.0-4.4",
        source="connect/runtime/src/main/java/org/apache/kafka/connect/runtime/Connect.java stop",
    ),
    Pattern(
        pattern_id="connect.task_killed",
        kind=Kind.CLIENT_TASK_KILLED,
        loggers=("org.apache.kafka.connect.runtime.WorkerTask",),
        # Up to 2.6 the exception stands below a line of its own, before this one.
        regex=r"^\w*Task\{id=(?P<detail>.{1,255}?)\} Task (?:threw an uncaught and unrecoverable exception\. Task )?"
        r"is being killed and will not recover until manually restarted(?:\r?\n(?P<error>[^\r\n]{1,255}).*)?$",
        reads_trace=True,
        versions="1.0-4.4",
        source="connect/runtime/src/main/java/org/apache/kafka/connect/runtime/WorkerTask.java doRun",
    ),
    _line_of_worker(
        pattern_id="connect.config_changed",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=r"(?P<reason>Connector .{1,255}? config (?:updated|removed)|Tasks \[[^\]]*\] configs updated)$",
        source=f"{_WORKER_SOURCE} ConfigUpdateListener",
    ),
    _line_of_worker(
        pattern_id="connect.assigned",
        kind=Kind.CLIENT_WORK_ASSIGNED,
        regex=r"Joined group at generation (?P<generation>\d+) with protocol version \d+ and got assignment: Assignment\{error=\d+, leader=.*?, offset=-?\d+, "
        r"(?P<detail>connectorIds=\[.*\]), delay=\d+\} with rebalance delay: (?P<took_ms>\d+)$",
        source=f"{_WORKER_SOURCE} RebalanceListener.onAssigned",
    ),
    _line_of_worker(
        pattern_id="connect.poll_expired",
        kind=Kind.CLIENT_POLL_EXPIRED,
        regex=r"worker poll timeout has expired\. The last known action being performed by the worker is : (?P<detail>.*?)"
        r" and may contribute to the timeout\..*$",
        versions="3.9-4.4",
        source=f"{_WORKER_SOURCE} RebalanceListener.onPollTimeoutExpiry",
    ),
)
