"""Who leads and who follows, as the brokers' state-change logs tell it (Kafka 2.6-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import TOPIC_PARTITION, captured

_LOGGERS = ("state.change.logger",)
_HEAD = r"^\[Broker id=\d+\] "
_PREVIOUS = (
    r"Previous leader (?:(?:Some\((?P<previous_leader>-?\d+)\)|None) and previous leader )?"
    r"epoch was (?P<previous_leader_epoch>-?\d+)\.$"
)
_SOURCE = "core/src/main/scala/kafka/cluster/Partition.scala"
_REPLICA_SOURCE = "core/src/main/scala/kafka/server/ReplicaManager.scala"

_A_LEADER = "[2026-11-21 01:40:54,605] INFO [Broker id=1] Leader shop-events-8 with topic id Some(vBbKtPgrQXuKDhsRLiajrQ) starts at leader epoch 0 from offset 0 with partition epoch 0, high watermark 0, ISR [1,3,2], adding replicas [] and removing replicas [] . Previous leader None and previous leader epoch was -1. (state.change.logger)"
_A_FOLLOWER = "[2026-11-21 01:40:54,696] INFO [Broker id=1] Follower shop-events-1 starts at leader epoch 0 from offset 0 with partition epoch 0 and high watermark 0. Current leader is 3. Previous leader Some(3) and previous leader epoch was 0. (state.change.logger)"
_A_KEPT_FOLLOWER = "[2026-11-21 01:50:49,461] INFO [Broker id=1] Skipped the become-follower state change for __consumer_offsets-15 with topic id Some(p4KVJSHUQBSuQkoDoMY7nw) and partition state LeaderAndIsrPartitionState(topicName='__consumer_offsets', partitionIndex=15, controllerEpoch=-1, leader=3, leaderEpoch=1, isr=[3, 2, 1], partitionEpoch=2, replicas=[1, 3, 2], addingReplicas=[], removingReplicas=[], isNew=false, leaderRecoveryState=0) since it is already a follower with leader epoch 1. (state.change.logger)"
_A_ZOOKEEPER_KEPT = "[2026-11-21 01:53:18,828] INFO [Broker id=1] Skipped the become-leader state change after marking its partition as leader with correlation id 16 from controller 1 epoch 2 for partition __consumer_offsets-3 (last update controller epoch 2) since it is already the leader for the partition. (state.change.logger)"
_A_STALE_REQUEST = "[2026-11-21 01:53:09,897] INFO [Broker id=1] Ignoring LeaderAndIsr request from controller 1 with correlation id 1 epoch 2 for partition shop-events-6 since its associated leader epoch 3 matches the current leader epoch (state.change.logger)"
_A_TRANSITION = (
    "[2026-11-21 01:40:54,444] INFO [Broker id=1] Transitioning 3 partition(s) to local leaders. (state.change.logger)"
)

PATTERNS = (
    Pattern(
        pattern_id="partition.leader_started",
        kind="leader_started",
        loggers=_LOGGERS,
        contains="] Leader ",
        regex=_HEAD + rf"Leader {TOPIC_PARTITION}(?: with topic id \S+)? starts at leader epoch (?P<leader_epoch>\d+) "
        r"from offset (?P<log_offset>\d+) with (?:partition epoch (?P<partition_epoch>\d+), )?"
        r"high watermark (?P<high_watermark>\d+),? ISR \[(?P<isr>[\d,]*)\],? "
        r"(?:adding replicas|addingReplicas) \[[\d,]*\] (?:and removing replicas|removingReplicas) \[[\d,]*\] ?"
        r"(?:\(under-min-isr\))?\. " + _PREVIOUS,
        versions="2.6-4.2",
        source=f"{_SOURCE} makeLeader",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:08,897] INFO [Broker id=1] Leader __consumer_offsets-18 starts at leader epoch 3 from offset 0 with high watermark 0 ISR [3,1] addingReplicas [] removingReplicas []. Previous leader epoch was 2. (state.change.logger)",
                topic="__consumer_offsets",
                partition="18",
                leader_epoch="3",
                log_offset="0",
                high_watermark="0",
                isr="3,1",
                previous_leader_epoch="2",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:53:48,774] INFO [Broker id=1] Leader shop-events-6 with topic id Some(XfaAb-ZYShWYV80Xxr_M0Q) starts at leader epoch 0 from offset 0 with partition epoch 0, high watermark 0, ISR [1,2,3], adding replicas [] and removing replicas [] . Previous leader None and previous leader epoch was -1. (state.change.logger)",
                topic="shop-events",
                partition="6",
                leader_epoch="0",
                log_offset="0",
                partition_epoch="0",
                high_watermark="0",
                isr="1,2,3",
                previous_leader_epoch="-1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:50:53,122] INFO [Broker id=1] Leader __consumer_offsets-15 with topic id Some(p4KVJSHUQBSuQkoDoMY7nw) starts at leader epoch 2 from offset 24 with partition epoch 3, high watermark 24, ISR [3,2,1], adding replicas [] and removing replicas [] . Previous leader Some(3) and previous leader epoch was 1. (state.change.logger)",
                topic="__consumer_offsets",
                partition="15",
                leader_epoch="2",
                log_offset="24",
                partition_epoch="3",
                high_watermark="24",
                isr="3,2,1",
                previous_leader="3",
                previous_leader_epoch="1",
            ),
        ),
        counter_samples=(_A_FOLLOWER, _A_TRANSITION),
    ),
    Pattern(
        pattern_id="partition.follower_started",
        kind="follower_started",
        loggers=_LOGGERS,
        contains="] Follower ",
        regex=_HEAD
        + rf"Follower {TOPIC_PARTITION}(?: with topic id \S+)? starts at leader epoch (?P<leader_epoch>\d+) "
        r"from offset (?P<log_offset>\d+) with (?:partition epoch (?P<partition_epoch>\d+) and )?"
        r"high watermark (?P<high_watermark>\d+)\. (?:Current leader is (?P<leader>-?\d+)\. )?" + _PREVIOUS,
        versions="2.6-4.2",
        source=f"{_SOURCE} makeFollower",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:08,960] INFO [Broker id=1] Follower __consumer_offsets-37 starts at leader epoch 3 from offset 0 with high watermark 0. Previous leader epoch was 2. (state.change.logger)",
                topic="__consumer_offsets",
                partition="37",
                leader_epoch="3",
                log_offset="0",
                high_watermark="0",
                previous_leader_epoch="2",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:53:48,844] INFO [Broker id=1] Follower shop-events-1 starts at leader epoch 0 from offset 0 with partition epoch 0 and high watermark 0. Current leader is 3. Previous leader Some(3) and previous leader epoch was 0. (state.change.logger)",
                topic="shop-events",
                partition="1",
                leader_epoch="0",
                log_offset="0",
                partition_epoch="0",
                high_watermark="0",
                leader="3",
                previous_leader="3",
                previous_leader_epoch="0",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:53:36,546] INFO [Broker id=1] Follower __consumer_offsets-13 starts at leader epoch 4 from offset 0 with partition epoch 19 and high watermark 0. Current leader is -1. Previous leader Some(-1) and previous leader epoch was 4. (state.change.logger)",
                topic="__consumer_offsets",
                partition="13",
                leader_epoch="4",
                log_offset="0",
                partition_epoch="19",
                high_watermark="0",
                leader="-1",
                previous_leader="-1",
                previous_leader_epoch="4",
            ),
        ),
        counter_samples=(_A_LEADER, _A_KEPT_FOLLOWER),
    ),
    Pattern(
        pattern_id="partition.leadership_kept",
        kind="leadership_kept",
        loggers=_LOGGERS,
        contains="Skipped the become-",
        # The brackets of the ISR stay: an empty list is told, a missing one is not.
        regex=_HEAD
        + rf"Skipped the become-(?:leader|follower) state change for {TOPIC_PARTITION} with topic id \S+ and "
        r"partition state LeaderAndIsrPartitionState\(topicName='[^']*', partitionIndex=\d+, controllerEpoch=-?\d+, "
        r"leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>\d+), isr=(?P<isr>\[[\d, ]*\]), "
        r"partitionEpoch=(?P<partition_epoch>\d+), replicas=\[(?P<replicas>[\d, ]*)\], .*$",
        versions="3.3-4.1",
        source=f"{_SOURCE} makeLeader, makeFollower",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:25,754] INFO [Broker id=1] Skipped the become-follower state change for __consumer_offsets-15 with topic id Some(9P9NT7xCS7yk9unJeKw6EA) and partition state LeaderAndIsrPartitionState(topicName='__consumer_offsets', partitionIndex=15, controllerEpoch=-1, leader=3, leaderEpoch=0, isr=[3, 2, 1], partitionEpoch=2, replicas=[3, 2, 1], addingReplicas=[], removingReplicas=[], isNew=false, leaderRecoveryState=0) since it is already a follower with leader epoch 0. (state.change.logger)",
                topic="__consumer_offsets",
                partition="15",
                leader="3",
                leader_epoch="0",
                isr="[3, 2, 1]",
                partition_epoch="2",
                replicas="3, 2, 1",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:02:00,271] INFO [Broker id=1] Skipped the become-leader state change for __consumer_offsets-48 with topic id Some(9P9NT7xCS7yk9unJeKw6EA) and partition state LeaderAndIsrPartitionState(topicName='__consumer_offsets', partitionIndex=48, controllerEpoch=-1, leader=1, leaderEpoch=1, isr=[3, 1, 2], partitionEpoch=6, replicas=[2, 1, 3], addingReplicas=[], removingReplicas=[], isNew=false, leaderRecoveryState=0) since it is already the leader with leader epoch 1. Current high watermark 0, ISR [3,1,2], adding replicas [] and removing replicas []. (state.change.logger)",
                topic="__consumer_offsets",
                partition="48",
                leader="1",
                leader_epoch="1",
                isr="[3, 1, 2]",
                partition_epoch="6",
                replicas="2, 1, 3",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:51:30,326] INFO [Broker id=1] Skipped the become-leader state change for __consumer_offsets-11 with topic id Some(p4KVJSHUQBSuQkoDoMY7nw) and partition state LeaderAndIsrPartitionState(topicName='__consumer_offsets', partitionIndex=11, controllerEpoch=-1, leader=1, leaderEpoch=4, isr=[3, 1, 2], partitionEpoch=7, replicas=[1, 2, 3], addingReplicas=[], removingReplicas=[], isNew=false, leaderRecoveryState=0) since it is already the leader with leader epoch 4. Current high watermark 58, ISR [3,1,2], adding replicas [] and removing replicas []. (state.change.logger)",
                topic="__consumer_offsets",
                partition="11",
                leader="1",
                leader_epoch="4",
                isr="[3, 1, 2]",
                partition_epoch="7",
                replicas="1, 2, 3",
            ),
        ),
        counter_samples=(_A_ZOOKEEPER_KEPT, _A_FOLLOWER),
    ),
    Pattern(
        pattern_id="partition.registration_kept",
        kind="leadership_kept",
        loggers=_LOGGERS,
        contains="Skipped the become-",
        regex=_HEAD + rf"Skipped the become-(?:leader|follower) state change for {TOPIC_PARTITION} with topic id \S+, "
        r"partition registration PartitionRegistration\(replicas=\[(?P<replicas>[\d, ]*)\], directories=\[.*?\], "
        r"isr=(?P<isr>\[[\d, ]*\]), removingReplicas=\[.*?\], addingReplicas=\[.*?\], elr=\[.*?\], lastKnownElr=\[.*?\], "
        r"leader=(?P<leader>-?\d+), leaderRecoveryState=\w+, leaderEpoch=(?P<leader_epoch>\d+), "
        r"partitionEpoch=(?P<partition_epoch>\d+)\) and isNew=.*$",
        versions="4.2-4.3",
        source=f"{_SOURCE} makeLeader, makeFollower",
        samples=(
            captured(
                "4.3",
                "[2026-11-21 11:57:02,133] INFO [Broker id=1] Skipped the become-leader state change for disk-t-11 with topic id Some(FSNS69FcQaqdi8SZB4T5EQ), partition registration PartitionRegistration(replicas=[1, 2, 3], directories=[IGQdfle8oM9FJ-HLMfaPDQ, ZYwEdc_KDuNI1-1JiVvj_g, AAAAAAAAAAAAAAAAAAAAAQ], isr=[1, 2, 3], removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], leader=1, leaderRecoveryState=RECOVERED, leaderEpoch=0, partitionEpoch=2) and isNew=false since it is already the leader with leader epoch 0. Current high watermark 0, ISR [1,2,3], adding replicas [] and removing replicas []. (state.change.logger)",
                topic="disk-t",
                partition="11",
                leader="1",
                leader_epoch="0",
                isr="[1, 2, 3]",
                partition_epoch="2",
                replicas="1, 2, 3",
            ),
        ),
        counter_samples=(_A_KEPT_FOLLOWER, _A_ZOOKEEPER_KEPT),
    ),
    Pattern(
        pattern_id="partition.leader_unavailable",
        kind="leader_unavailable",
        loggers=_LOGGERS,
        contains=" but cannot become follower since the new leader ",
        regex=_HEAD
        + r"Received LeaderAndIsrRequest with correlation id \d+ from controller (?P<node>\d+) epoch (?P<controller_epoch>\d+) "
        rf"for partition {TOPIC_PARTITION} \(last update controller epoch \d+\) but cannot become follower since the new leader "
        r"(?P<leader>-?\d+) is unavailable\.$",
        versions="1.0-3.9",
        source=f"{_REPLICA_SOURCE} makeFollowers",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:55:12,859] ERROR [Broker id=1] Received LeaderAndIsrRequest with correlation id 1 from controller 3 epoch 3 for partition orders-single-19-1 (last update controller epoch 3) but cannot become follower since the new leader -1 is unavailable. (state.change.logger)",
                node="3",
                controller_epoch="3",
                topic="orders-single-19",
                partition="1",
                leader="-1",
            ),
            captured(
                "2.8",
                "[2026-11-21 01:54:32,005] ERROR [Broker id=2] Received LeaderAndIsrRequest with correlation id 1 from controller 3 epoch 3 for partition __consumer_offsets-3 (last update controller epoch 2) but cannot become follower since the new leader 1 is unavailable. (state.change.logger)",
                node="3",
                controller_epoch="3",
                topic="__consumer_offsets",
                partition="3",
                leader="1",
            ),
        ),
        counter_samples=(_A_STALE_REQUEST,),
    ),
    Pattern(
        pattern_id="partition.recovering",
        kind="partition_recovering",
        loggers=_LOGGERS,
        contains=" was marked as RECOVERING.",
        regex=_HEAD
        + rf"The topic partition {TOPIC_PARTITION} was marked as RECOVERING\. .*Marking the topic partition as RECOVERED\.$",
        versions="3.2-4.2",
        source=f"{_SOURCE} makeLeader",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:03:16,463] INFO [Broker id=2] The topic partition crm-risky-18-1 was marked as RECOVERING. Marking the topic partition as RECOVERED. (state.change.logger)",
                topic="crm-risky-18",
                partition="1",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:52:56,209] INFO [Broker id=2] The topic partition fraud-risky-19-0 was marked as RECOVERING. Marking the topic partition as RECOVERED. (state.change.logger)",
                topic="fraud-risky-19",
                partition="0",
            ),
        ),
        counter_samples=(_A_LEADER,),
    ),
)
