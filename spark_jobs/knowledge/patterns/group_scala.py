"""Groups of the classic protocol as the Scala coordinator tells them (Kafka 1.0-3.9)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CLASSIC, MEMBER, captured, made

_LOGGERS = ("kafka.coordinator.group.GroupCoordinator",)
_MANAGER_LOGGERS = ("kafka.coordinator.group.GroupMetadataManager",)
_HEAD = r"^\[GroupCoordinator \d+\]: "
_MANAGER_HEAD = r"^\[GroupMetadataManager brokerId=\d+\] "
_OFFSETS = r" \(__consumer_offsets-(?P<offsets_partition>\d+)\)"
_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupCoordinator.scala"
_MANAGER_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupMetadataManager.scala"

_A_START = "[2026-11-21 01:55:12,019] INFO [GroupCoordinator 1]: Preparing to rebalance group search-op-4 in state PreparingRebalance with old generation 2 (__consumer_offsets-17) (reason: Updating metadata for member search-op-4-b-840c7dc1-cfd8-47f7-bc69-a4c5c93c796c during Stable; client reason: asked by operator) (kafka.coordinator.group.GroupCoordinator)"
_A_STABILIZED = "[2026-11-21 01:53:51,375] INFO [GroupCoordinator 1]: Stabilized group ads-py-1 generation 1 (__consumer_offsets-34) with 1 members (kafka.coordinator.group.GroupCoordinator)"
_AN_UNLOADING = "[2026-11-21 02:01:52,267] INFO [GroupCoordinator 2]: Unloading group metadata for search-coord-16 with generation 4 (kafka.coordinator.group.GroupCoordinator)"
_A_LOADING = "[2026-11-21 02:01:52,494] INFO [GroupCoordinator 1]: Loading group metadata for mobile-static-7 with generation 4 (kafka.coordinator.group.GroupCoordinator)"
_AN_EMPTYING = "[2026-11-21 01:54:17,662] INFO [GroupCoordinator 1]: Group ads-py-1 with generation 5 is now empty (__consumer_offsets-34) (kafka.coordinator.group.GroupCoordinator)"
_A_PARTITION_UNLOADED = "[2026-11-21 01:53:49,769] INFO [GroupMetadataManager brokerId=1] Finished unloading __consumer_offsets-15 for coordinator epoch OptionalInt[0]. Removed 0 cached offsets and 0 cached groups. (kafka.coordinator.group.GroupMetadataManager)"

PATTERNS = (
    Pattern(
        pattern_id="scala.rebalance_started",
        kind="rebalance_started",
        loggers=_LOGGERS,
        contains="Preparing to rebalance group ",
        # The shortest group that fits: what follows it is fixed text, while the reason at the end is free.
        regex=_HEAD
        + r"Preparing to rebalance group (?P<group_id>.{1,255}?)(?: in state \w+)? with old generation (?P<generation>-?\d+)"
        + _OFFSETS
        + r"(?: \(reason: (?P<reason>.*)\))?$",
        versions="1.0-3.9",
        source=f"{_SOURCE} prepareRebalance",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:46:43,636] INFO [GroupCoordinator 1]: Preparing to rebalance group email-grow-5 in state PreparingRebalance with old generation 0 (__consumer_offsets-30) (reason: Adding new member email-grow-5-a-52fa840a-ac50-45e2-b72d-fee2890ce22a with group instance id None) (kafka.coordinator.group.GroupCoordinator)",
                group_id="email-grow-5",
                generation="0",
                offsets_partition="30",
                reason="Adding new member email-grow-5-a-52fa840a-ac50-45e2-b72d-fee2890ce22a with group instance id None",
            ),
            captured(
                "2.8",
                "[2026-11-21 01:47:02,451] INFO [GroupCoordinator 1]: Preparing to rebalance group email-grow-5 in state PreparingRebalance with old generation 3 (__consumer_offsets-30) (reason: removing member email-grow-5-a-52fa840a-ac50-45e2-b72d-fee2890ce22a on LeaveGroup) (kafka.coordinator.group.GroupCoordinator)",
                group_id="email-grow-5",
                generation="3",
                offsets_partition="30",
                reason="removing member email-grow-5-a-52fa840a-ac50-45e2-b72d-fee2890ce22a on LeaveGroup",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:54:47,525] INFO [GroupCoordinator 1]: Preparing to rebalance group fraud-svc-3 in state PreparingRebalance with old generation 0 (__consumer_offsets-1) (reason: Adding new member fraud-svc-3-a-b7ac5f61-b191-4998-8d30-a1de218d26f4 with group instance id None; client reason: need to re-join with the given member-id: fraud-svc-3-a-b7ac5f61-b191-4998-8d30-a1de218d26f4) (kafka.coordinator.group.GroupCoordinator)",
                group_id="fraud-svc-3",
                generation="0",
                offsets_partition="1",
                reason="Adding new member fraud-svc-3-a-b7ac5f61-b191-4998-8d30-a1de218d26f4 with group instance id None; client reason: need to re-join with the given member-id: fraud-svc-3-a-b7ac5f61-b191-4998-8d30-a1de218d26f4",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:56:11,999] INFO [GroupCoordinator 2]: Preparing to rebalance group mobile-static-7 in state PreparingRebalance with old generation 0 (__consumer_offsets-47) (reason: Adding new member i1-73db35fc-9851-4865-b3df-c0756c9c3366 with group instance id Some(i1); client reason: ) (kafka.coordinator.group.GroupCoordinator)",
                group_id="mobile-static-7",
                generation="0",
                offsets_partition="47",
                reason="Adding new member i1-73db35fc-9851-4865-b3df-c0756c9c3366 with group instance id Some(i1); client reason: ",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:55:12,019] INFO [GroupCoordinator 1]: Preparing to rebalance group search-op-4 in state PreparingRebalance with old generation 2 (__consumer_offsets-17) (reason: Updating metadata for member search-op-4-b-840c7dc1-cfd8-47f7-bc69-a4c5c93c796c during Stable; client reason: asked by operator) (kafka.coordinator.group.GroupCoordinator)",
                group_id="search-op-4",
                generation="2",
                offsets_partition="17",
                reason="Updating metadata for member search-op-4-b-840c7dc1-cfd8-47f7-bc69-a4c5c93c796c during Stable; client reason: asked by operator",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:58:53,494] INFO [GroupCoordinator 1]: Preparing to rebalance group orders-worker-10 in state PreparingRebalance with old generation 2 (__consumer_offsets-12) (reason: removing member orders-worker-10-b-352bcf9f-a14f-454e-8bc7-d932c800b0fa on heartbeat expiration) (kafka.coordinator.group.GroupCoordinator)",
                group_id="orders-worker-10",
                generation="2",
                offsets_partition="12",
                reason="removing member orders-worker-10-b-352bcf9f-a14f-454e-8bc7-d932c800b0fa on heartbeat expiration",
            ),
            made(
                "3.9",
                "[2026-11-21 01:54:47,525] INFO [GroupCoordinator 1]: Preparing to rebalance group a b) (x, generation 5 in state Stable with old generation in state PreparingRebalance with old generation 7 (__consumer_offsets-1) (reason: Updating metadata for member c (__consumer_offsets-9)-b7ac5f61-b191-4998-8d30-a1de218d26f4 during Stable; client reason: x) (reason: y)) (kafka.coordinator.group.GroupCoordinator)",
                group_id="a b) (x, generation 5 in state Stable with old generation",
                generation="7",
                offsets_partition="1",
                reason="Updating metadata for member c (__consumer_offsets-9)-b7ac5f61-b191-4998-8d30-a1de218d26f4 during Stable; client reason: x) (reason: y)",
            ),
            made(
                "2.0",
                "[2026-11-21 01:54:47,525] INFO [GroupCoordinator 1]: Preparing to rebalance group fraud-svc-3 with old generation 0 (__consumer_offsets-1) (kafka.coordinator.group.GroupCoordinator)",
                group_id="fraud-svc-3",
                generation="0",
                offsets_partition="1",
            ),
        ),
        counter_samples=(_A_STABILIZED,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.join_completed",
        kind="join_completed",
        loggers=_LOGGERS,
        contains="Stabilized group ",
        regex=_HEAD
        + r"Stabilized group (?P<group_id>.{1,255}) generation (?P<generation>\d+)"
        + _OFFSETS
        + r"(?: with (?P<member_count>\d+) members)?$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onCompleteJoin",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:46:44,641] INFO [GroupCoordinator 1]: Stabilized group email-grow-5 generation 1 (__consumer_offsets-30) with 1 members (kafka.coordinator.group.GroupCoordinator)",
                group_id="email-grow-5",
                generation="1",
                offsets_partition="30",
                member_count="1",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:53:51,375] INFO [GroupCoordinator 1]: Stabilized group ads-py-1 generation 1 (__consumer_offsets-34) with 1 members (kafka.coordinator.group.GroupCoordinator)",
                group_id="ads-py-1",
                generation="1",
                offsets_partition="34",
                member_count="1",
            ),
            made(
                "3.9",
                "[2026-11-21 01:53:51,375] INFO [GroupCoordinator 1]: Stabilized group a generation 5 (__consumer_offsets-3) with 2 members generation 1 (__consumer_offsets-34) with 1 members (kafka.coordinator.group.GroupCoordinator)",
                group_id="a generation 5 (__consumer_offsets-3) with 2 members",
                generation="1",
                offsets_partition="34",
                member_count="1",
            ),
        ),
        counter_samples=(_A_START, _AN_UNLOADING),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.assignment_received",
        kind="assignment_received",
        loggers=_LOGGERS,
        contains="Assignment received from leader ",
        regex=_HEAD
        + rf"Assignment received from leader (?:(?P<leader_member_id>{MEMBER}) )?for group (?P<group_id>.{{1,255}}) "
        r"for generation (?P<generation>\d+)"
        r"(?:\. The group has (?P<member_count>\d+) members, (?P<static_count>\d+) of which are static\.)?$",
        versions="1.0-3.9",
        source=f"{_SOURCE} doSyncGroup",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:46:44,650] INFO [GroupCoordinator 1]: Assignment received from leader for group email-grow-5 for generation 1. The group has 1 members, 0 of which are static. (kafka.coordinator.group.GroupCoordinator)",
                group_id="email-grow-5",
                generation="1",
                member_count="1",
                static_count="0",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:53:51,382] INFO [GroupCoordinator 1]: Assignment received from leader ads-py-1-a-dac6e4e5-8d92-4e67-907d-532edada5c3a for group ads-py-1 for generation 1. The group has 1 members, 0 of which are static. (kafka.coordinator.group.GroupCoordinator)",
                leader_member_id="ads-py-1-a-dac6e4e5-8d92-4e67-907d-532edada5c3a",
                group_id="ads-py-1",
                generation="1",
                member_count="1",
                static_count="0",
            ),
            made(
                "2.7",
                "[2025-03-12 10:00:00,945] INFO [GroupCoordinator 1]: Assignment received from leader for group orders-svc for generation 14 (kafka.coordinator.group.GroupCoordinator)",
                group_id="orders-svc",
                generation="14",
            ),
        ),
        counter_samples=(_A_STABILIZED,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_emptied",
        kind="group_emptied",
        loggers=_LOGGERS,
        contains=" is now empty (__consumer_offsets-",
        regex=_HEAD + r"Group (?P<group_id>.{1,255}) with generation (?P<generation>\d+) is now empty" + _OFFSETS + "$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onCompleteJoin",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:47:02,923] INFO [GroupCoordinator 1]: Group email-grow-5 with generation 5 is now empty (__consumer_offsets-30) (kafka.coordinator.group.GroupCoordinator)",
                group_id="email-grow-5",
                generation="5",
                offsets_partition="30",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:54:17,662] INFO [GroupCoordinator 1]: Group ads-py-1 with generation 5 is now empty (__consumer_offsets-34) (kafka.coordinator.group.GroupCoordinator)",
                group_id="ads-py-1",
                generation="5",
                offsets_partition="34",
            ),
        ),
        counter_samples=(_A_STABILIZED,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_loaded",
        kind="group_loaded",
        loggers=_LOGGERS,
        contains=": Loading group metadata for ",
        regex=_HEAD + r"Loading group metadata for (?P<group_id>.{1,255}) with generation (?P<generation>\d+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onGroupLoaded",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:09,032] INFO [GroupCoordinator 1]: Loading group metadata for mobile-static-15 with generation 4 (kafka.coordinator.group.GroupCoordinator)",
                group_id="mobile-static-15",
                generation="4",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:01:52,494] INFO [GroupCoordinator 1]: Loading group metadata for mobile-static-7 with generation 4 (kafka.coordinator.group.GroupCoordinator)",
                group_id="mobile-static-7",
                generation="4",
            ),
        ),
        counter_samples=(_AN_UNLOADING,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_unloaded",
        kind="group_unloaded",
        loggers=_LOGGERS,
        contains=": Unloading group metadata for ",
        regex=_HEAD + r"Unloading group metadata for (?P<group_id>.{1,255}) with generation (?P<generation>\d+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onGroupUnloaded",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:08,866] INFO [GroupCoordinator 2]: Unloading group metadata for mobile-static-15 with generation 4 (kafka.coordinator.group.GroupCoordinator)",
                group_id="mobile-static-15",
                generation="4",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:01:52,267] INFO [GroupCoordinator 2]: Unloading group metadata for search-coord-16 with generation 4 (kafka.coordinator.group.GroupCoordinator)",
                group_id="search-coord-16",
                generation="4",
            ),
        ),
        counter_samples=(_A_LOADING,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_dead",
        kind="group_dead",
        loggers=_MANAGER_LOGGERS,
        contains=" transitioned to Dead in generation ",
        regex=_MANAGER_HEAD + r"Group (?P<group_id>.{1,255}) transitioned to Dead in generation (?P<generation>\d+)$",
        versions="1.0-3.9",
        source=f"{_MANAGER_SOURCE} cleanupGroupMetadata",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 12:21:41,003] INFO [GroupMetadataManager brokerId=2] Group bridge-of-ledger-40 transitioned to Dead in generation 4 (kafka.coordinator.group.GroupMetadataManager)",
                group_id="bridge-of-ledger-40",
                generation="4",
            ),
        ),
        counter_samples=(_A_PARTITION_UNLOADED,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_dead_at_join",
        kind="group_dead",
        loggers=_LOGGERS,
        contains=" is dead, skipping rebalance stage",
        regex=_HEAD + r"Group (?P<group_id>.{1,255}) is dead, skipping rebalance stage$",
        versions="2.3-3.9",
        source=f"{_SOURCE} onCompleteJoin",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:03,822] INFO [GroupCoordinator 1]: Group orders-svc is dead, skipping rebalance stage (kafka.coordinator.group.GroupCoordinator)",
                group_id="orders-svc",
            ),
        ),
        counter_samples=(_AN_EMPTYING,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.groups_deleted",
        kind="groups_deleted",
        loggers=_LOGGERS,
        contains="The following groups were deleted: ",
        regex=_HEAD + r"The following groups were deleted: (?P<detail>.+)\. A total of \d+ offsets were removed\.$",
        versions="2.0-3.9",
        source=f"{_SOURCE} handleDeleteGroups",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:05,192] INFO [GroupCoordinator 1]: The following groups were deleted: orders-svc. A total of 6 offsets were removed. (kafka.coordinator.group.GroupCoordinator)",
                detail="orders-svc",
            ),
        ),
        counter_samples=(_AN_UNLOADING,),
    ),
    Pattern(
        pattern_id="scala.join_phase_extended",
        kind="join_phase_extended",
        loggers=_LOGGERS,
        contains=" could not complete rebalance because no members rejoined",
        regex=_HEAD + r"Group (?P<group_id>.{1,255}) could not complete rebalance because no members rejoined$",
        versions="2.3-3.9",
        source=f"{_SOURCE} onCompleteJoin",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:03,685] ERROR [GroupCoordinator 1]: Group orders-svc could not complete rebalance because no members rejoined (kafka.coordinator.group.GroupCoordinator)",
                group_id="orders-svc",
            ),
        ),
        counter_samples=(_AN_EMPTYING,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_storage_failed",
        kind="group_storage_failed",
        loggers=_LOGGERS,
        contains=" metadata for group ",
        regex=_HEAD + r"Failed to (?:write empty|persist) metadata for group (?P<group_id>.{1,255}): (?P<error>.+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onCompleteJoin, updateStaticMemberAndRebalance",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:04,370] WARN [GroupCoordinator 1]: Failed to write empty metadata for group orders-svc: The coordinator is not available. (kafka.coordinator.group.GroupCoordinator)",
                group_id="orders-svc",
                error="The coordinator is not available.",
            ),
            made(
                "3.9",
                "[2025-03-12 10:00:04,507] WARN [GroupCoordinator 1]: Failed to persist metadata for group orders-svc: The coordinator is not available. (kafka.coordinator.group.GroupCoordinator)",
                group_id="orders-svc",
                error="The coordinator is not available.",
            ),
        ),
        counter_samples=(_AN_UNLOADING,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_append_failed",
        kind="group_storage_failed",
        loggers=_MANAGER_LOGGERS,
        contains="Appending metadata message for group ",
        regex=_MANAGER_HEAD
        + r"Appending metadata message for group (?P<group_id>.{1,255}) generation (?P<generation>\d+) failed due to "
        r"(?P<error>\S+), returning UNKNOWN error code to the client$",
        versions="1.0-3.9",
        source=f"{_MANAGER_SOURCE} storeGroup",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:06,699] ERROR [GroupMetadataManager brokerId=1] Appending metadata message for group orders-svc generation 14 failed due to org.apache.kafka.common.errors.RecordTooLargeException, returning UNKNOWN error code to the client (kafka.coordinator.group.GroupMetadataManager)",
                group_id="orders-svc",
                generation="14",
                error="org.apache.kafka.common.errors.RecordTooLargeException",
            ),
        ),
        counter_samples=(_A_PARTITION_UNLOADED,),
        constants=CLASSIC,
    ),
)
