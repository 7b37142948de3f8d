"""The coordinator's partitions: who coordinates, and how long loading takes."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import EPOCH, captured, made

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

_AN_ELECTION = "[2026-11-21 01:53:49,741] INFO [GroupCoordinator 1]: Elected as the group coordinator for partition 45 in epoch 0 (kafka.coordinator.group.GroupCoordinator)"
_A_RESIGNATION = "[2026-11-21 01:53:49,746] INFO [GroupCoordinator 1]: Resigned as the group coordinator for partition 15 in epoch OptionalInt[0] (kafka.coordinator.group.GroupCoordinator)"
_A_SCALA_SCHEDULE = "[2026-11-21 01:53:49,742] INFO [GroupMetadataManager brokerId=1] Scheduling loading of offsets and group metadata from __consumer_offsets-45 for epoch 0 (kafka.coordinator.group.GroupMetadataManager)"
_A_SCALA_LOAD = "[2026-11-21 01:53:49,754] INFO [GroupMetadataManager brokerId=1] Finished loading offsets and group metadata from __consumer_offsets-45 in 10 milliseconds for epoch 0, of which 1 milliseconds was spent in the scheduler. (kafka.coordinator.group.GroupMetadataManager)"
_A_SCHEDULED_LOAD = "[2026-11-21 01:40:57,690] INFO [GroupCoordinator id=1] Scheduling loading of metadata from __consumer_offsets-15 with epoch 0 (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)"
_A_SCHEDULED_UNLOAD = "[2026-11-21 01:40:57,715] INFO [GroupCoordinator id=1] Scheduling unloading of metadata for __consumer_offsets-48 with epoch OptionalInt[0] (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)"
_A_LOAD = "[2026-11-21 01:40:57,763] INFO [GroupCoordinator id=1] Finished loading of metadata from __consumer_offsets-33 with epoch 0 in 3ms where 3ms was spent in the scheduler. Loaded 0 records which total to 0 bytes. (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)"
_AN_UNLOAD = "[2026-11-21 01:51:07,940] INFO [GroupCoordinator id=1] Finished unloading metadata for __consumer_offsets-38 with epoch OptionalInt[3]. (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)"

PATTERNS = (
    Pattern(
        pattern_id="scala.coordinator_elected",
        kind="coordinator_elected",
        loggers=_SCALA_LOGGERS,
        contains="Elected as the group coordinator for partition ",
        regex=_SCALA_HEAD
        + rf"Elected as the group coordinator for partition (?P<offsets_partition>\d+)(?: in epoch {EPOCH})?$",
        versions="2.8-3.9",
        source=f"{_SCALA_SOURCE} onElection",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:44:29,116] INFO [GroupCoordinator 1]: Elected as the group coordinator for partition 3 in epoch 0 (kafka.coordinator.group.GroupCoordinator)",
                offsets_partition="3",
                leader_epoch="0",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:53:49,741] INFO [GroupCoordinator 1]: Elected as the group coordinator for partition 45 in epoch 0 (kafka.coordinator.group.GroupCoordinator)",
                offsets_partition="45",
                leader_epoch="0",
            ),
        ),
        counter_samples=(_A_RESIGNATION,),
    ),
    Pattern(
        pattern_id="scala.coordinator_resigned",
        kind="coordinator_resigned",
        loggers=_SCALA_LOGGERS,
        contains="Resigned as the group coordinator for partition ",
        regex=_SCALA_HEAD
        + rf"Resigned as the group coordinator for partition (?P<offsets_partition>\d+)(?: in epoch (?:None|OptionalInt\.empty|{EPOCH}))?$",
        versions="2.8-3.9",
        source=f"{_SCALA_SOURCE} onResignation",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:44:29,117] INFO [GroupCoordinator 1]: Resigned as the group coordinator for partition 37 in epoch Some(0) (kafka.coordinator.group.GroupCoordinator)",
                offsets_partition="37",
                leader_epoch="0",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:53:49,746] INFO [GroupCoordinator 1]: Resigned as the group coordinator for partition 15 in epoch OptionalInt[0] (kafka.coordinator.group.GroupCoordinator)",
                offsets_partition="15",
                leader_epoch="0",
            ),
        ),
        counter_samples=(_AN_ELECTION,),
    ),
    Pattern(
        pattern_id="scala.coordinator_loaded",
        kind="coordinator_loaded",
        loggers=_MANAGER_LOGGERS,
        contains="Finished loading offsets and group metadata from ",
        regex=_MANAGER_HEAD
        + rf"Finished loading offsets and group metadata from {_PARTITION} in (?P<took_ms>\d+) milliseconds"
        rf"(?: for epoch {EPOCH})?(?:, of which \d+ milliseconds was spent in the scheduler)?\.$",
        versions="1.0-3.9",
        source=f"{_MANAGER_SOURCE} doLoadGroupsAndOffsets",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:44:29,125] INFO [GroupMetadataManager brokerId=1] Finished loading offsets and group metadata from __consumer_offsets-3 in 7 milliseconds for epoch 0, of which 1 milliseconds was spent in the scheduler. (kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="3",
                took_ms="7",
                leader_epoch="0",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:53:49,754] INFO [GroupMetadataManager brokerId=1] Finished loading offsets and group metadata from __consumer_offsets-45 in 10 milliseconds for epoch 0, of which 1 milliseconds was spent in the scheduler. (kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="45",
                took_ms="10",
                leader_epoch="0",
            ),
        ),
        counter_samples=(_A_SCALA_SCHEDULE,),
    ),
    Pattern(
        pattern_id="scala.coordinator_load_failed",
        kind="coordinator_load_failed",
        loggers=_MANAGER_LOGGERS,
        contains="Attempted to load offsets and group metadata from ",
        regex=_MANAGER_HEAD
        + rf"Attempted to load offsets and group metadata from {_PARTITION}, but (?P<error>found no log)$",
        versions="1.0-3.9",
        source=f"{_MANAGER_SOURCE} doLoadGroupsAndOffsets",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:06,836] WARN [GroupMetadataManager brokerId=1] Attempted to load offsets and group metadata from __consumer_offsets-48, but found no log (kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="48",
                error="found no log",
            ),
        ),
        counter_samples=(_A_SCALA_LOAD,),
    ),
    Pattern(
        pattern_id="scala.coordinator_unloaded",
        kind="coordinator_unloaded",
        loggers=_MANAGER_LOGGERS,
        contains="Finished unloading __consumer_offsets-",
        regex=_MANAGER_HEAD
        + rf"Finished unloading {_PARTITION}(?: for coordinator epoch (?:None|OptionalInt\.empty|{EPOCH}))?\. "
        r"Removed \d+ cached offsets and (?P<event_count>\d+) cached groups\.$",
        versions="1.0-3.9",
        source=f"{_MANAGER_SOURCE} removeGroupsAndOffsets",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:44:29,133] INFO [GroupMetadataManager brokerId=1] Finished unloading __consumer_offsets-37 for coordinator epoch Some(0). Removed 0 cached offsets and 0 cached groups. (kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="37",
                leader_epoch="0",
                event_count="0",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:53:49,769] INFO [GroupMetadataManager brokerId=1] Finished unloading __consumer_offsets-15 for coordinator epoch OptionalInt[0]. Removed 0 cached offsets and 0 cached groups. (kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="15",
                leader_epoch="0",
                event_count="0",
            ),
        ),
        counter_samples=(_A_SCALA_LOAD,),
    ),
    Pattern(
        pattern_id="java.coordinator_elected",
        kind="coordinator_elected",
        loggers=_RUNTIME_LOGGERS,
        contains="Scheduling loading of metadata from ",
        regex=_RUNTIME_HEAD + rf"Scheduling loading of metadata from {_PARTITION} with epoch {EPOCH}$",
        versions="3.7-4.2",
        source=f"{_RUNTIME_SOURCE} scheduleLoadOperation",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:40:57,690] INFO [GroupCoordinator id=1] Scheduling loading of metadata from __consumer_offsets-15 with epoch 0 (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
                offsets_partition="15",
                leader_epoch="0",
            ),
        ),
        counter_samples=(_A_SCHEDULED_UNLOAD, _A_LOAD),
    ),
    Pattern(
        pattern_id="java.coordinator_resigned",
        kind="coordinator_resigned",
        loggers=_RUNTIME_LOGGERS,
        contains="Scheduling unloading of metadata for ",
        regex=_RUNTIME_HEAD
        + rf"Scheduling unloading of metadata for {_PARTITION} with epoch (?:OptionalInt\.empty|{EPOCH})$",
        versions="3.7-4.2",
        source=f"{_RUNTIME_SOURCE} scheduleUnloadOperation",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:40:57,715] INFO [GroupCoordinator id=1] Scheduling unloading of metadata for __consumer_offsets-48 with epoch OptionalInt[0] (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
                offsets_partition="48",
                leader_epoch="0",
            ),
        ),
        counter_samples=(_A_SCHEDULED_LOAD, _AN_UNLOAD),
    ),
    Pattern(
        pattern_id="java.coordinator_loaded",
        kind="coordinator_loaded",
        loggers=_RUNTIME_LOGGERS,
        contains="Finished loading of metadata from ",
        regex=_RUNTIME_HEAD
        + rf"Finished loading of metadata from {_PARTITION} with epoch {EPOCH} in (?P<took_ms>\d+)ms where .*$",
        versions="3.8-4.2",
        source=f"{_RUNTIME_SOURCE} scheduleLoadOperation",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:40:57,763] INFO [GroupCoordinator id=1] Finished loading of metadata from __consumer_offsets-33 with epoch 0 in 3ms where 3ms was spent in the scheduler. Loaded 0 records which total to 0 bytes. (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
                offsets_partition="33",
                leader_epoch="0",
                took_ms="3",
            ),
        ),
        counter_samples=(_A_SCHEDULED_LOAD,),
    ),
    Pattern(
        pattern_id="java.coordinator_load_failed",
        kind="coordinator_load_failed",
        loggers=_RUNTIME_LOGGERS,
        contains="Failed to load metadata from ",
        regex=_RUNTIME_HEAD + rf"Failed to load metadata from {_PARTITION} with epoch {EPOCH} due to (?P<error>.+)\.$",
        versions="3.7-4.2",
        source=f"{_RUNTIME_SOURCE} scheduleLoadOperation",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:00,397] ERROR [GroupCoordinator id=1] Failed to load metadata from __consumer_offsets-17 with epoch 7 due to java.lang.RuntimeException: Reading records from __consumer_offsets-17 failed. (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
                offsets_partition="17",
                leader_epoch="7",
                error="java.lang.RuntimeException: Reading records from __consumer_offsets-17 failed",
            ),
        ),
        counter_samples=(_A_LOAD,),
    ),
    Pattern(
        pattern_id="java.coordinator_unloaded",
        kind="coordinator_unloaded",
        loggers=_RUNTIME_LOGGERS,
        contains="Finished unloading metadata for ",
        regex=_RUNTIME_HEAD
        + rf"Finished unloading metadata for {_PARTITION} with epoch (?:OptionalInt\.empty|{EPOCH})\.$",
        versions="3.7-4.2",
        source=f"{_RUNTIME_SOURCE} scheduleUnloadOperation",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:51:07,940] INFO [GroupCoordinator id=1] Finished unloading metadata for __consumer_offsets-38 with epoch OptionalInt[3]. (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
                offsets_partition="38",
                leader_epoch="3",
            ),
        ),
        counter_samples=(_A_SCHEDULED_UNLOAD,),
    ),
    Pattern(
        pattern_id="java.coordinator_write_failed",
        kind="coordinator_write_failed",
        loggers=_RUNTIME_LOGGERS,
        contains=" Rescheduling it.",
        regex=r"^\[GroupCoordinator id=\d+(?: topic=__consumer_offsets partition=(?P<offsets_partition>\d+))?\] "
        r"The write event (?P<detail>.{1,1000}?) for the timer .{1,1000}? failed due to (?P<error>.+)\. Rescheduling it\. ?$",
        versions="3.7-4.2",
        source=f"{_RUNTIME_SOURCE} EventBasedCoordinatorTimer",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:00,945] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] The write event Timeout(tp=__consumer_offsets-17, key=session-timeout-orders-svc-Yk1pQmFyUzGqH3vE0cXw2A) for the timer session-timeout-orders-svc-Yk1pQmFyUzGqH3vE0cXw2A failed due to The server experienced an unexpected error when processing the request.. Rescheduling it.  (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)",
                offsets_partition="17",
                detail="Timeout(tp=__consumer_offsets-17, key=session-timeout-orders-svc-Yk1pQmFyUzGqH3vE0cXw2A)",
                error="The server experienced an unexpected error when processing the request.",
            ),
        ),
        counter_samples=(_A_SCHEDULED_LOAD,),
    ),
)
