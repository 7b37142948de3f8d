"""KIP-848 groups, by the Java coordinator (Kafka 3.7-4.2)."""

from functools import partial

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CONSUMER, JAVA_HEAD

_LOGGERS = ("org.apache.kafka.coordinator.group.GroupMetadataManager",)
_GROUP = JAVA_HEAD + r"\[GroupId (?P<group_id>.{1,255}?)\] "
# A client chooses its id (base64 of a uuid in all clients seen); a classic client inside the group has a classic one.
_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupMetadataManager.java"
_line = partial(Pattern, loggers=_LOGGERS, head=_GROUP, versions="3.7-4.2", constants=CONSUMER)


PATTERNS = (
    _line(
        pattern_id="kip848.epoch_bumped",
        kind=Kind.EPOCH_BUMPED,
        regex=r"Bumped group epoch to (?P<generation>\d+)(?: with metadata hash (?P<detail>-?\d+))?\.$",
        source=f"{_SOURCE} consumerGroupHeartbeat",
    ),
    _line(
        pattern_id="kip848.target_computed",
        kind=Kind.TARGET_COMPUTED,
        regex=r"Computed a new target assignment for epoch (?P<generation>\d+) with '(?P<assignor>[^']+)' assignor"
        r"(?: in (?P<took_ms>\d+)ms)?(?:: .*)?\.$",
        source=f"{_SOURCE} updateTargetAssignment",
    ),
    _line(
        pattern_id="kip848.group_loaded",
        kind=Kind.GROUP_LOADED,
        head=JAVA_HEAD,
        regex=r"Loaded consumer group (?P<group_id>.{1,255}) with (?P<member_count>\d+) members\.$",
        source=f"{_SOURCE} onLoaded",
    ),
    Pattern(
        pattern_id="kip848.group_unloaded",
        kind=Kind.GROUP_UNLOADED,
        loggers=_LOGGERS,
        regex=JAVA_HEAD
        + r"\[GroupId=(?P<group_id>.{1,255})\] Unloaded group metadata for group epoch (?P<generation>\d+)\.$",
        versions="3.8-4.2",
        source=f"{_SOURCE} onUnloaded",
    ),
)
