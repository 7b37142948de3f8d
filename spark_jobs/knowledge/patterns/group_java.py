"""The classic protocol as the Java coordinator tells it (Kafka 3.7-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CLASSIC, INSTANCE, JAVA_HEAD, MEMBER, captured, made

_LOGGERS = ("org.apache.kafka.coordinator.group.GroupMetadataManager",)
_SHARD_LOGGERS = ("org.apache.kafka.coordinator.group.GroupCoordinatorShard",)
_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupMetadataManager.java"
_SHARD_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupCoordinatorShard.java"

_A_START = "[2026-11-21 01:43:43,081] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=44] Preparing to rebalance group fraud-op-7 in state PreparingRebalance with old generation 2 (reason: Updating metadata for member fraud-op-7-b-b583a3f5-987e-4f39-ad9c-19e9cacb5570 during Stable; client reason: asked by operator). (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_STABILIZED = "[2026-11-21 01:42:02,510] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Stabilized group audit-static-4 generation 1 with 1 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_AN_UNLOADING = "[2026-11-21 01:51:07,940] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=12] [GroupId=orders-worker-10] Unloading group metadata for generation 4. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_CONSUMER_LOADING = "[2026-11-21 01:50:53,218] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] Loaded consumer group email-next-11 with 0 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_AN_EMPTYING = "[2026-11-21 01:42:52,722] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Group audit-static-4 with generation 4 is now empty. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_REPLACEMENT = "[2026-11-21 01:42:11,806] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Static member with groupInstanceId=i2 and unknown member id joins group audit-static-4 in Stable state. Replacing previously mapped member i2-8f975a9b-6eda-490a-bc3c-f8e7d6545b97 with this groupInstanceId. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_CLEANUP = "[2026-11-21 01:48:26,887] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] Generated 0 tombstone records in 0 milliseconds while deleting offsets for partitions [ads-rx-13-x1-0, ads-rx-13-x1-1, ads-rx-13-x1-2]. (org.apache.kafka.coordinator.group.GroupCoordinatorShard)"

PATTERNS = (
    Pattern(
        pattern_id="java.rebalance_started",
        kind="rebalance_started",
        loggers=_LOGGERS,
        contains="Preparing to rebalance group ",
        # The shortest group that fits: what follows it is fixed text, while the reason at the end is free.
        regex=JAVA_HEAD
        + r"Preparing to rebalance group (?P<group_id>.{1,255}?) in state \w+ with old generation (?P<generation>-?\d+) "
        r"\(reason: (?P<reason>.*)\)\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} prepareRebalance",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:42:40,799] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=15] Preparing to rebalance group geo-py-5 in state PreparingRebalance with old generation 0 (reason: Adding new member geo-py-5-a-4cad14bc-fc6d-41f0-aad8-0977e83f7c19 with group instance id null; client reason: not provided). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="15",
                group_id="geo-py-5",
                generation="0",
                reason="Adding new member geo-py-5-a-4cad14bc-fc6d-41f0-aad8-0977e83f7c19 with group instance id null; client reason: not provided",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:42:01,506] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Preparing to rebalance group audit-static-4 in state PreparingRebalance with old generation 0 (reason: Adding new member i1-89570ebe-1cde-411d-b1f0-70d87db1e868 with group instance id i1; client reason: not provided). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                group_id="audit-static-4",
                generation="0",
                reason="Adding new member i1-89570ebe-1cde-411d-b1f0-70d87db1e868 with group instance id i1; client reason: not provided",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:42:57,368] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=15] Preparing to rebalance group geo-py-5 in state PreparingRebalance with old generation 2 (reason: explicit `LeaveGroup` request for (geo-py-5-b-7c55fb38-c9bd-44c5-a6e6-ad70b5cdc9ee) members.). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="15",
                group_id="geo-py-5",
                generation="2",
                reason="explicit `LeaveGroup` request for (geo-py-5-b-7c55fb38-c9bd-44c5-a6e6-ad70b5cdc9ee) members.",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:42:32,822] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Preparing to rebalance group audit-static-4 in state PreparingRebalance with old generation 2 (reason: removing member i2-e00ac098-c1ae-4a6e-b801-8633dd41b047 on heartbeat expiration.). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                group_id="audit-static-4",
                generation="2",
                reason="removing member i2-e00ac098-c1ae-4a6e-b801-8633dd41b047 on heartbeat expiration.",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:43:43,081] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=44] Preparing to rebalance group fraud-op-7 in state PreparingRebalance with old generation 2 (reason: Updating metadata for member fraud-op-7-b-b583a3f5-987e-4f39-ad9c-19e9cacb5570 during Stable; client reason: asked by operator). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="44",
                group_id="fraud-op-7",
                generation="2",
                reason="Updating metadata for member fraud-op-7-b-b583a3f5-987e-4f39-ad9c-19e9cacb5570 during Stable; client reason: asked by operator",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:43:16,678] INFO [GroupCoordinator id=3 topic=__consumer_offsets partition=29] Preparing to rebalance group search-coop-6 in state PreparingRebalance with old generation 2 (reason: Leader search-coop-6-a-313257a0-fca7-4902-a0ed-756740f4bb7c re-joining group during Stable; client reason: need to revoke partitions and re-join). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="29",
                group_id="search-coop-6",
                generation="2",
                reason="Leader search-coop-6-a-313257a0-fca7-4902-a0ed-756740f4bb7c re-joining group during Stable; client reason: need to revoke partitions and re-join",
            ),
            made(
                "4.1",
                "[2026-11-21 01:43:43,081] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=44] Preparing to rebalance group a b) (reason: x). in state Stable with old generation 5 in state PreparingRebalance with old generation 2 (reason: Updating metadata for member c (__consumer_offsets-9)-b583a3f5-987e-4f39-ad9c-19e9cacb5570 during Stable; client reason: x). (reason: y).). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="44",
                group_id="a b) (reason: x). in state Stable with old generation 5",
                generation="2",
                reason="Updating metadata for member c (__consumer_offsets-9)-b583a3f5-987e-4f39-ad9c-19e9cacb5570 during Stable; client reason: x). (reason: y).",
            ),
        ),
        counter_samples=(_A_STABILIZED,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.join_completed",
        kind="join_completed",
        loggers=_LOGGERS,
        contains="Stabilized group ",
        regex=JAVA_HEAD
        + r"Stabilized group (?P<group_id>.{1,255}) generation (?P<generation>\d+) with (?P<member_count>\d+) members\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} completeClassicGroupJoin",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:42:02,510] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Stabilized group audit-static-4 generation 1 with 1 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                group_id="audit-static-4",
                generation="1",
                member_count="1",
            ),
            made(
                "4.1",
                "[2026-11-21 01:42:02,510] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Stabilized group a generation 5 with 2 members. generation 1 with 1 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                group_id="a generation 5 with 2 members.",
                generation="1",
                member_count="1",
            ),
        ),
        counter_samples=(_A_START, _AN_EMPTYING),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.assignment_received",
        kind="assignment_received",
        loggers=_LOGGERS,
        contains="Assignment received from leader ",
        regex=JAVA_HEAD
        + rf"Assignment received from leader (?P<leader_member_id>{MEMBER}) for group (?P<group_id>.{{1,255}}) "
        r"for generation (?P<generation>\d+)\. "
        r"The group has (?P<member_count>\d+) members, (?P<static_count>\d+) of which are static\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} classicGroupSync",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:42:02,526] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Assignment received from leader i1-89570ebe-1cde-411d-b1f0-70d87db1e868 for group audit-static-4 for generation 1. The group has 1 members, 1 of which are static. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                leader_member_id="i1-89570ebe-1cde-411d-b1f0-70d87db1e868",
                group_id="audit-static-4",
                generation="1",
                member_count="1",
                static_count="1",
            ),
        ),
        counter_samples=(_A_STABILIZED,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.group_emptied",
        kind="group_emptied",
        loggers=_LOGGERS,
        contains=" is now empty.",
        regex=JAVA_HEAD + r"Group (?P<group_id>.{1,255}) with generation (?P<generation>\d+) is now empty\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} completeClassicGroupJoin",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:42:52,722] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Group audit-static-4 with generation 4 is now empty. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                group_id="audit-static-4",
                generation="4",
            ),
        ),
        counter_samples=(_A_STABILIZED,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.group_loaded",
        kind="group_loaded",
        loggers=_LOGGERS,
        contains="Loaded classic group ",
        regex=JAVA_HEAD + r"Loaded classic group (?P<group_id>.{1,255}) with (?P<member_count>\d+) members\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} onLoaded",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:50:53,195] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Loaded classic group audit-static-4 with 0 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                group_id="audit-static-4",
                member_count="0",
            ),
        ),
        counter_samples=(_A_CONSUMER_LOADING, _AN_UNLOADING),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.group_unloaded",
        kind="group_unloaded",
        loggers=_LOGGERS,
        contains="] Unloading group metadata for generation ",
        regex=JAVA_HEAD
        + r"\[GroupId=(?P<group_id>.{1,255})\] Unloading group metadata for generation (?P<generation>\d+)\.$",
        versions="3.8-4.2",
        source=f"{_SOURCE} onUnloaded",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:51:07,940] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=12] [GroupId=orders-worker-10] Unloading group metadata for generation 4. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="12",
                group_id="orders-worker-10",
                generation="4",
            ),
        ),
        counter_samples=(_A_CONSUMER_LOADING,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.groups_deleted",
        kind="groups_deleted",
        loggers=_SHARD_LOGGERS,
        contains="The following groups were deleted: ",
        regex=JAVA_HEAD + r"The following groups were deleted: (?P<detail>.+)\. A total of \d+ offsets were removed\.$",
        versions="3.7-4.2",
        source=f"{_SHARD_SOURCE} deleteGroups",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:03,548] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] The following groups were deleted: orders-svc. A total of 6 offsets were removed. (org.apache.kafka.coordinator.group.GroupCoordinatorShard)",
                offsets_partition="17",
                detail="orders-svc",
            ),
        ),
        counter_samples=(_A_CLEANUP,),
    ),
    Pattern(
        pattern_id="java.join_phase_extended",
        kind="join_phase_extended",
        loggers=_LOGGERS,
        contains=" could not complete rebalance because no members rejoined.",
        regex=JAVA_HEAD + r"Group (?P<group_id>.{1,255}) could not complete rebalance because no members rejoined\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} completeClassicGroupJoin",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:02,041] ERROR [GroupCoordinator id=1 topic=__consumer_offsets partition=17] Group orders-svc could not complete rebalance because no members rejoined. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
            ),
        ),
        counter_samples=(_AN_EMPTYING,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.group_storage_failed",
        kind="group_storage_failed",
        loggers=_LOGGERS,
        contains="Failed to write empty metadata for group ",
        regex=JAVA_HEAD + r"Failed to write empty metadata for group (?P<group_id>.{1,255}): (?P<error>.+)$",
        versions="3.7-4.2",
        source=f"{_SOURCE} completeClassicGroupJoin",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:03,411] WARN [GroupCoordinator id=1 topic=__consumer_offsets partition=17] Failed to write empty metadata for group orders-svc: The coordinator is not available. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                error="The coordinator is not available.",
            ),
        ),
        counter_samples=(_AN_EMPTYING,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.static_member_storage_failed",
        kind="group_storage_failed",
        loggers=_LOGGERS,
        contains="Failed to persist metadata for group ",
        regex=JAVA_HEAD
        + rf"Failed to persist metadata for group (?P<group_id>.{{1,255}}?) static member (?P<member_id>{MEMBER}) "
        rf"with group instance id (?P<instance_id>{INSTANCE}) due to (?P<error>.+)\. Reverting to old member id (?P<old_member_id>{MEMBER})\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} updateStaticMemberThenRebalanceOrCompleteJoin",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:02,589] WARN [GroupCoordinator id=1 topic=__consumer_offsets partition=17] Failed to persist metadata for group orders-svc static member orders-svc-0-aaaa1111-0000-4000-8000-000000000001 with group instance id orders-svc-0 due to The request timed out.. Reverting to old member id orders-svc-0-5c6fbcaf-6d4e-4ec0-bb35-2976694a14a6. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="orders-svc-0-aaaa1111-0000-4000-8000-000000000001",
                instance_id="orders-svc-0",
                error="The request timed out.",
                old_member_id="orders-svc-0-5c6fbcaf-6d4e-4ec0-bb35-2976694a14a6",
            ),
        ),
        counter_samples=(_A_REPLACEMENT,),
        constants=CLASSIC,
    ),
)
