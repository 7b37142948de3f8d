"""What a worker of Kafka Connect logs of its group, beside what every Java client does (Kafka 2.3-4.3)."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from functools import partial

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER_HEAD

_LOGGERS = ("org.apache.kafka.connect.runtime.distributed.DistributedHerder",)
_SOURCE = "connect/runtime/src/main/java/org/apache/kafka/connect/runtime/distributed/DistributedHerder.java"
_line = partial(Pattern, loggers=_LOGGERS, head=CONSUMER_HEAD, versions="2.3-4.3")


PATTERNS = (
    _line(
        pattern_id="connect.config_changed",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=r"(?P<reason>Connector .{1,255}? config (?:updated|removed)|Tasks \[[^\]]*\] configs updated)$",
        source=f"{_SOURCE} ConfigUpdateListener",
    ),
    _line(
        pattern_id="connect.assigned",
        kind=Kind.CLIENT_WORK_ASSIGNED,
        regex=r"Joined group at generation (?P<generation>\d+) with protocol version \d+ and got assignment: Assignment\{error=\d+, leader=.*?, offset=-?\d+, "
        r"(?P<detail>connectorIds=\[.*\]), delay=\d+\} with rebalance delay: (?P<took_ms>\d+)$",
        source=f"{_SOURCE} RebalanceListener.onAssigned",
    ),
)
