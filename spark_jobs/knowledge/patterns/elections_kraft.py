"""Partitions as a KRaft controller changes them: creation, unclean elections, reassignment (Kafka 3.0-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import TOPIC_PARTITION, captured, made

_LOGGERS = ("org.apache.kafka.controller.ReplicationControlManager",)
_BUILDER_LOGGERS = ("org.apache.kafka.controller.PartitionChangeBuilder",)
_PERIODIC_LOGGERS = (
    "org.apache.kafka.controller.PeriodicTaskControlManager",
    "org.apache.kafka.controller.QuorumController",
)
_HEAD = r"^\[QuorumController id=\d+\] "
_PACKAGE = "metadata/src/main/java/org/apache/kafka/controller"
_SOURCE = f"{_PACKAGE}/ReplicationControlManager.java"

_A_TOPIC = "[2026-11-21 01:40:54,403] INFO [QuorumController id=1] Replayed TopicRecord for topic shop-events with topic ID vBbKtPgrQXuKDhsRLiajrQ. (org.apache.kafka.controller.ReplicationControlManager)"
_A_PARTITION = "[2026-11-21 01:40:54,439] INFO [QuorumController id=1] Replayed PartitionRecord for new partition shop-events-0 with topic ID vBbKtPgrQXuKDhsRLiajrQ and PartitionRegistration(replicas=[2, 3, 1], directories=[Lffksb-70Wp3kNARUpZ-bA, iynm701FChJnfIr-tquaEA, 8Tpkg9j3NeddxbHT-rRn6g], isr=[2, 3, 1], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=2, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0). (org.apache.kafka.controller.ReplicationControlManager)"
_A_FENCING = "[2026-11-21 01:52:17,848] INFO [QuorumController id=1] Fencing broker 1 at epoch 1601 because its session has timed out. (org.apache.kafka.controller.ReplicationControlManager)"
_A_REGISTERED_TASK = "[2026-11-21 01:40:51,437] INFO [QuorumController id=1] Registering periodic task electPreferred to run every 300000 ms (org.apache.kafka.controller.PeriodicTaskControlManager)"
_AN_ELR_ELECTION = "[2026-11-21 12:50:27,013] INFO Setting new leader for topicId y-qZEZV0QKaImkJwt5vzKA, partition 0 to 3 using ELR. Previous partition: PartitionRegistration(replicas=[3], directories=[z9im0VgBAY_om6Tm7rnQ2w], isr=[], removingReplicas=[], addingReplicas=[], elr=[3], lastKnownElr=[3], leader=-1, leaderRecoveryState=RECOVERING, leaderEpoch=5, partitionEpoch=7), change record: PartitionChangeRecord(partitionId=0, topicId=y-qZEZV0QKaImkJwt5vzKA, isr=null, leader=-2, replicas=null, removingReplicas=null, addingReplicas=null, leaderRecoveryState=-1, directories=null, eligibleLeaderReplicas=null, lastKnownElr=null) (org.apache.kafka.controller.PartitionChangeBuilder)"

PATTERNS = (
    Pattern(
        pattern_id="kraft.partition_created",
        kind="partition_created",
        loggers=_LOGGERS,
        contains=" with topic ID ",
        regex=_HEAD
        + rf"(?:Replayed PartitionRecord for new|Created) partition {TOPIC_PARTITION} with topic ID \S+ and "
        r"PartitionRegistration\(replicas=\[(?P<replicas>[\d, ]*)\], [^()]*?\bisr=\[(?P<isr>[\d, ]*)\], [^()]*?\bleader=(?P<leader>-?\d+), "
        r"[^()]*?\bleaderEpoch=(?P<leader_epoch>\d+), partitionEpoch=(?P<partition_epoch>\d+)\)\.$",
        versions="3.0-4.2",
        source=f"{_SOURCE} replay",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:48,649] INFO [QuorumController id=4] Replayed PartitionRecord for new partition shop-events-0 with topic ID XfaAb-ZYShWYV80Xxr_M0Q and PartitionRegistration(replicas=[2, 3, 1], directories=[ffV1D1v2kZpbsmXRQK7pyQ, vc28AojDq0q6Xnqr7ZjtjQ, uC7weZIVWBYVtwgUHw3TtQ], isr=[2, 3, 1], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=2, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0). (org.apache.kafka.controller.ReplicationControlManager)",
                topic="shop-events",
                partition="0",
                replicas="2, 3, 1",
                isr="2, 3, 1",
                leader="2",
                leader_epoch="0",
                partition_epoch="0",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:54,439] INFO [QuorumController id=1] Replayed PartitionRecord for new partition shop-events-0 with topic ID vBbKtPgrQXuKDhsRLiajrQ and PartitionRegistration(replicas=[2, 3, 1], directories=[Lffksb-70Wp3kNARUpZ-bA, iynm701FChJnfIr-tquaEA, 8Tpkg9j3NeddxbHT-rRn6g], isr=[2, 3, 1], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=2, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=0). (org.apache.kafka.controller.ReplicationControlManager)",
                topic="shop-events",
                partition="0",
                replicas="2, 3, 1",
                isr="2, 3, 1",
                leader="2",
                leader_epoch="0",
                partition_epoch="0",
            ),
        ),
        counter_samples=(_A_TOPIC,),
    ),
    Pattern(
        pattern_id="kraft.unclean_partition_change",
        kind="unclean_partition_change",
        loggers=_LOGGERS,
        contains="UNCLEAN partition change for ",
        # The diff names only what changed, in this order; each part may be missing. The brackets stay: an empty list
        # is told, a missing one is not.
        regex=_HEAD + rf"UNCLEAN partition change for {TOPIC_PARTITION} with topic ID \S+: (?P<detail>"
        r"(?:(?=.*\bisr: (?P<previous_isr>\[[\d, ]*\]) -> (?P<isr>\[[\d, ]*\]))|)"
        r"(?:(?=.*\bleader: (?P<previous_leader>-?\d+) -> (?P<leader>-?\d+))|)"
        r"(?:(?=.*\bleaderEpoch: (?P<previous_leader_epoch>\d+) -> (?P<leader_epoch>\d+))|)"
        r".*)$",
        versions="3.0-4.2",
        source="metadata/src/main/java/org/apache/kafka/metadata/PartitionRegistration.java maybeLogPartitionChange",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:03:16,425] INFO [QuorumController id=4] UNCLEAN partition change for crm-risky-18-0 with topic ID c9RMbueySPWYTk3D9fjljA: isr: [1] -> [2], leader: 1 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 0 -> 1, partitionEpoch: 1 -> 2 (org.apache.kafka.controller.ReplicationControlManager)",
                topic="crm-risky-18",
                partition="0",
                detail="isr: [1] -> [2], leader: 1 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 0 -> 1, partitionEpoch: 1 -> 2",
                previous_isr="[1]",
                isr="[2]",
                previous_leader="1",
                leader="2",
                previous_leader_epoch="0",
                leader_epoch="1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:53:28,730] INFO [QuorumController id=1] UNCLEAN partition change for crm-single-20-0 with topic ID 0VxiGD11RreEDVuYl2fvMg: isr: [] -> [2], leader: -1 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 1 -> 2, lastKnownElr: [2] -> [], partitionEpoch: 2 -> 3 (org.apache.kafka.controller.ReplicationControlManager)",
                topic="crm-single-20",
                partition="0",
                detail="isr: [] -> [2], leader: -1 -> 2, leaderRecoveryState: RECOVERED -> RECOVERING, leaderEpoch: 1 -> 2, lastKnownElr: [2] -> [], partitionEpoch: 2 -> 3",
                previous_isr="[]",
                isr="[2]",
                previous_leader="-1",
                leader="2",
                previous_leader_epoch="1",
                leader_epoch="2",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:53:36,542] INFO [QuorumController id=1] UNCLEAN partition change for crm-single-20-0 with topic ID 0VxiGD11RreEDVuYl2fvMg: isr: [2] -> [], leader: 2 -> -1, leaderEpoch: 2 -> 3, elr: [] -> [2], lastKnownElr: [] -> [2], partitionEpoch: 3 -> 4 (org.apache.kafka.controller.ReplicationControlManager)",
                topic="crm-single-20",
                partition="0",
                detail="isr: [2] -> [], leader: 2 -> -1, leaderEpoch: 2 -> 3, elr: [] -> [2], lastKnownElr: [] -> [2], partitionEpoch: 3 -> 4",
                previous_isr="[2]",
                isr="[]",
                previous_leader="2",
                leader="-1",
                previous_leader_epoch="2",
                leader_epoch="3",
            ),
        ),
        counter_samples=(_A_PARTITION,),
    ),
    Pattern(
        pattern_id="kraft.unclean_leader_set",
        kind="unclean_leader_set",
        loggers=_BUILDER_LOGGERS,
        contains=" using an unclean election",
        regex=r"^Setting new leader for topicId (?P<detail>\S+), partition (?P<partition>\d+) to (?P<leader>-?\d+) "
        r"using an unclean election(?:\..*)?$",
        versions="3.6-4.2",
        source=f"{_PACKAGE}/PartitionChangeBuilder.java electLeader",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:03:16,423] INFO Setting new leader for topicId c9RMbueySPWYTk3D9fjljA, partition 0 to 2 using an unclean election (org.apache.kafka.controller.PartitionChangeBuilder)",
                detail="c9RMbueySPWYTk3D9fjljA",
                partition="0",
                leader="2",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:52:56,168] INFO Setting new leader for topicId AlHT-PcIQSC5_AcwldXDXA, partition 0 to 2 using an unclean election. Previous partition: PartitionRegistration(replicas=[1, 2], directories=[8Tpkg9j3NeddxbHT-rRn6g, Lffksb-70Wp3kNARUpZ-bA], isr=[1], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=1, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=1), change record: PartitionChangeRecord(partitionId=0, topicId=AlHT-PcIQSC5_AcwldXDXA, isr=null, leader=-2, replicas=null, removingReplicas=null, addingReplicas=null, leaderRecoveryState=-1, directories=null, eligibleLeaderReplicas=null, lastKnownElr=null) (org.apache.kafka.controller.PartitionChangeBuilder)",
                detail="AlHT-PcIQSC5_AcwldXDXA",
                partition="0",
                leader="2",
            ),
        ),
        counter_samples=(_AN_ELR_ELECTION,),
    ),
    Pattern(
        pattern_id="kraft.unclean_election_started",
        kind="election_started",
        loggers=_LOGGERS,
        contains="Triggering unclean leader election for offline partition ",
        regex=_HEAD + r"Triggering unclean leader election for offline partition (?P<members>[\w.-]+-\d+)\.$",
        versions="3.9-4.2",
        source=f"{_SOURCE} maybeTriggerUncleanLeaderElectionForLeaderlessPartitions",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:02,041] INFO [QuorumController id=3002] Triggering unclean leader election for offline partition orders-3. (org.apache.kafka.controller.ReplicationControlManager)",
                members="orders-3",
            ),
        ),
        counter_samples=(_A_FENCING,),
        constants={"reason": "UNCLEAN", "detail": "electUnclean"},
    ),
    Pattern(
        pattern_id="kraft.periodic_election",
        kind="periodic_election",
        loggers=_PERIODIC_LOGGERS,
        contains=" records in ",
        regex=_HEAD
        + r"(?:Periodic task )?(?P<reason>electPreferred|electUnclean|maybeBalancePartitionLeaders|maybeElectUncleanLeaders):? "
        r"generated (?P<event_count>\d+) records in \d+ microseconds\..*$",
        versions="3.9-4.2",
        source=f"{_PACKAGE}/PeriodicTaskControlManager.java PeriodicTaskOperation",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:50:53,035] INFO [QuorumController id=2] Periodic task electPreferred generated 25 records in 913 microseconds. (org.apache.kafka.controller.PeriodicTaskControlManager)",
                reason="electPreferred",
                event_count="25",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:45:53,034] INFO [QuorumController id=2] Periodic task electUnclean generated 0 records in 17 microseconds. (org.apache.kafka.controller.PeriodicTaskControlManager)",
                reason="electUnclean",
                event_count="0",
            ),
            made(
                "3.9",
                "[2026-11-21 02:01:52,208] INFO [QuorumController id=4] maybeBalancePartitionLeaders: generated 12 records in 812 microseconds. (org.apache.kafka.controller.QuorumController)",
                reason="maybeBalancePartitionLeaders",
                event_count="12",
            ),
        ),
        counter_samples=(_A_REGISTERED_TASK,),
    ),
    Pattern(
        pattern_id="kraft.reassignment_changed",
        kind="reassignment_changed",
        loggers=_LOGGERS,
        contains="Replayed partition assignment change ",
        regex=_HEAD
        + r"Replayed partition assignment change (?P<detail>PartitionChangeRecord\(partitionId=(?P<partition>\d+), [^()]*\)) "
        r"for topic (?P<topic>[\w.-]+)(?:\. \(isr: \[[\d, ]*\] -> \[[\d, ]*\], replicaSet: \[[\d, ]*\] -> \[(?P<replicas>[\d, ]*)\], "
        r"partitionEpoch: (?P<partition_epoch>\d+), leaderEpoch: (?P<leader_epoch>\d+)\))?$",
        versions="3.0-4.3",
        source=f"{_SOURCE} replay",
        samples=(
            captured(
                "4.3",
                "[2026-11-21 12:09:53,010] INFO [QuorumController id=2] Replayed partition assignment change PartitionChangeRecord(partitionId=0, topicId=f1hBB9mtTd-zvwUshz-uOg, isr=[2, 3], leader=2, replicas=[2, 3], removingReplicas=[], addingReplicas=[], leaderRecoveryState=-1, directories=[24RKU6qoKu8H5vSFUMJw2w, FvP3HBe9TuTZo0eEvuZuvw], eligibleLeaderReplicas=null, lastKnownElr=null) for topic crm-6-tracker-t. (isr: [1, 3] -> [2, 3], replicaSet: [2, 3, 1] -> [2, 3], partitionEpoch: 2, leaderEpoch: 1) (org.apache.kafka.controller.ReplicationControlManager)",
                detail="PartitionChangeRecord(partitionId=0, topicId=f1hBB9mtTd-zvwUshz-uOg, isr=[2, 3], leader=2, replicas=[2, 3], removingReplicas=[], addingReplicas=[], leaderRecoveryState=-1, directories=[24RKU6qoKu8H5vSFUMJw2w, FvP3HBe9TuTZo0eEvuZuvw], eligibleLeaderReplicas=null, lastKnownElr=null)",
                partition="0",
                topic="crm-6-tracker-t",
                replicas="2, 3",
                partition_epoch="2",
                leader_epoch="1",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:02,315] INFO [QuorumController id=3002] Replayed partition assignment change PartitionChangeRecord(partitionId=3, topicId=4HkDZxRhQ9unLOl0w9cqWg, isr=null, leader=-2, replicas=[4, 5, 6, 1, 2, 3], removingReplicas=[1, 2, 3], addingReplicas=[4, 5, 6], leaderRecoveryState=-1, directories=null, eligibleLeaderReplicas=null, lastKnownElr=null) for topic orders (org.apache.kafka.controller.ReplicationControlManager)",
                detail="PartitionChangeRecord(partitionId=3, topicId=4HkDZxRhQ9unLOl0w9cqWg, isr=null, leader=-2, replicas=[4, 5, 6, 1, 2, 3], removingReplicas=[1, 2, 3], addingReplicas=[4, 5, 6], leaderRecoveryState=-1, directories=null, eligibleLeaderReplicas=null, lastKnownElr=null)",
                partition="3",
                topic="orders",
            ),
        ),
        counter_samples=(_A_PARTITION,),
    ),
    Pattern(
        pattern_id="kraft.reassignment_completed",
        kind="reassignment_changed",
        loggers=_LOGGERS,
        contains=" completed the ongoing partition reassignment",
        regex=_HEAD
        + rf"AlterPartition request from node \d+ for {TOPIC_PARTITION} (?P<detail>completed the ongoing partition reassignment"
        r"(?: and triggered a leadership change)?)(?: isr: \[[\d, ]*\] -> \[(?P<isr>[\d, ]*)\], replicaSet: \[[\d, ]*\] -> "
        r"\[(?P<replicas>[\d, ]*)\], partitionEpoch: \d+ -> (?P<partition_epoch>\d+), leaderEpoch: \d+ -> (?P<leader_epoch>\d+))?"
        r"\..*$",
        versions="3.2-4.3",
        source=f"{_SOURCE} alterPartition",
        samples=(
            captured(
                "4.3",
                "[2026-11-21 12:09:52,976] INFO [QuorumController id=3] AlterPartition request from node 1 for crm-6-tracker-t-0 completed the ongoing partition reassignment and triggered a leadership change isr: [1, 3] -> [2, 3], replicaSet: [2, 3, 1] -> [2, 3], partitionEpoch: 1 -> 2, leaderEpoch: 0 -> 1. Returning NEW_LEADER_ELECTED. (org.apache.kafka.controller.ReplicationControlManager)",
                topic="crm-6-tracker-t",
                partition="0",
                detail="completed the ongoing partition reassignment and triggered a leadership change",
                isr="2, 3",
                replicas="2, 3",
                partition_epoch="2",
                leader_epoch="1",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:02,452] INFO [QuorumController id=3002] AlterPartition request from node 1 for orders-3 completed the ongoing partition reassignment. (org.apache.kafka.controller.ReplicationControlManager)",
                topic="orders",
                partition="3",
                detail="completed the ongoing partition reassignment",
            ),
        ),
        counter_samples=(_A_PARTITION,),
    ),
    Pattern(
        pattern_id="kraft.isr_update_rejected",
        kind="isr_update_rejected",
        loggers=_LOGGERS,
        contains="Rejecting AlterPartition request from node ",
        regex=_HEAD
        + rf"Rejecting AlterPartition request from node (?P<node>\d+) for {TOPIC_PARTITION} because (?P<error>.+)$",
        versions="3.2-4.2",
        source=f"{_SOURCE} validateAlterPartitionData",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 13:21:40,611] INFO [QuorumController id=4] Rejecting AlterPartition request from node 1 for __consumer_offsets-13 because the current partition epoch is 11, not 10. (org.apache.kafka.controller.ReplicationControlManager)",
                node="1",
                topic="__consumer_offsets",
                partition="13",
                error="the current partition epoch is 11, not 10.",
            ),
        ),
        counter_samples=(_A_PARTITION,),
    ),
)
