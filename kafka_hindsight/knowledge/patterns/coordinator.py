"""The partitions of __consumer_offsets: which broker coordinates, and how long loading takes."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import EPOCH

_SCALA_LOGGERS = ("kafka.coordinator.group.GroupCoordinator",)
_MANAGER_LOGGERS = ("kafka.coordinator.group.GroupMetadataManager",)
_RUNTIME_LOGGERS = (
    "org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime",
    "org.apache.kafka.coordinator.group.runtime.CoordinatorRuntime",
)
_SCALA_HEAD = r"^\[GroupCoordinator \d+\]: "
_MANAGER_HEAD = r"^\[GroupMetadataManager brokerId=\d+\] "
_RUNTIME_HEAD = r"^\[GroupCoordinator id=\d+\] "
_PARTITION = r"__consumer_offsets-(?P<offsets_partition>\d+)"
_SCALA_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupCoordinator.scala"
_MANAGER_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupMetadataManager.scala"
_RUNTIME_SOURCE = "coordinator-common/src/main/java/org/apache/kafka/coordinator/common/runtime/CoordinatorRuntime.java"
_line_of_scala = partial(Pattern, loggers=_SCALA_LOGGERS, head=_SCALA_HEAD, versions="2.8-3.9")
_line_of_manager = partial(Pattern, loggers=_MANAGER_LOGGERS, head=_MANAGER_HEAD, versions="1.0-3.9")
_line_of_runtime = partial(Pattern, loggers=_RUNTIME_LOGGERS, head=_RUNTIME_HEAD, versions="3.7-4.4")


PATTERNS = (
    _line_of_scala(
        pattern_id="scala.coordinator_elected",
        kind=Kind.COORDINATOR_ELECTED,
        regex=rf"Elected as the group coordinator for partition (?P<offsets_partition>\d+)(?: in epoch {EPOCH})?$",
        source=f"{_SCALA_SOURCE} onElection",
    ),
    _line_of_scala(
        pattern_id="scala.coordinator_resigned",
        kind=Kind.COORDINATOR_RESIGNED,
        regex=rf"Resigned as the group coordinator for partition (?P<offsets_partition>\d+)(?: in epoch (?:None|OptionalInt\.empty|{EPOCH}))?$",
        source=f"{_SCALA_SOURCE} onResignation",
    ),
    _line_of_manager(
        pattern_id="scala.coordinator_loaded",
        kind=Kind.COORDINATOR_LOADED,
        regex=rf"Finished loading offsets and group metadata from {_PARTITION} in (?P<took_ms>\d+) milliseconds"
        rf"(?: for epoch {EPOCH})?(?:, of which \d+ milliseconds was spent in the scheduler)?\.$",
        source=f"{_MANAGER_SOURCE} doLoadGroupsAndOffsets",
    ),
    _line_of_manager(
        pattern_id="scala.coordinator_unloaded",
        kind=Kind.COORDINATOR_UNLOADED,
        regex=rf"Finished unloading {_PARTITION}(?: for coordinator epoch (?:None|OptionalInt\.empty|{EPOCH}))?\. "
        r"Removed \d+ cached offsets and (?P<event_count>\d+) cached groups\.$",
        source=f"{_MANAGER_SOURCE} removeGroupsAndOffsets",
    ),
    _line_of_runtime(
        pattern_id="java.coordinator_elected",
        kind=Kind.COORDINATOR_ELECTED,
        regex=rf"Scheduling loading of metadata from {_PARTITION} with epoch {EPOCH}$",
        source=f"{_RUNTIME_SOURCE} scheduleLoadOperation",
    ),
    _line_of_runtime(
        pattern_id="java.coordinator_resigned",
        kind=Kind.COORDINATOR_RESIGNED,
        regex=rf"Scheduling unloading of metadata for {_PARTITION} with epoch (?:OptionalInt\.empty|{EPOCH})$",
        source=f"{_RUNTIME_SOURCE} scheduleUnloadOperation",
    ),
    _line_of_runtime(
        pattern_id="java.coordinator_loaded",
        kind=Kind.COORDINATOR_LOADED,
        regex=rf"Finished loading of metadata from {_PARTITION} with epoch {EPOCH} (?:in (?P<took_ms>\d+)ms where|and) "
        r".*?(?:(?: Loaded |numRecords=)(?P<event_count>\d+)\b.*)?$",
        source=f"{_RUNTIME_SOURCE} scheduleLoadOperation",
    ),
    _line_of_runtime(
        pattern_id="java.coordinator_unloaded",
        kind=Kind.COORDINATOR_UNLOADED,
        regex=rf"Finished unloading metadata for {_PARTITION} with epoch (?:OptionalInt\.empty|{EPOCH})\.$",
        source=f"{_RUNTIME_SOURCE} scheduleUnloadOperation",
    ),
)
