"""Partitions as a ZooKeeper controller changes them: creation, elections, reassignment (Kafka 1.0-3.9)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import TOPIC_PARTITION, captured

_LOGGERS = ("kafka.controller.KafkaController",)
_STATE_LOGGERS = ("state.change.logger",)
_HEAD = r"^\[Controller id=\d+\] "
_STATE_HEAD = r"^\[Controller id=\d+ epoch=(?P<controller_epoch>\d+)\] "
_SOURCE = "core/src/main/scala/kafka/controller/KafkaController.scala"
_STATE_SOURCE = "core/src/main/scala/kafka/controller/PartitionStateMachine.scala"

_AN_ISR = "[2026-11-21 01:53:16,285] DEBUG [Controller id=1] ISR for partition __consumer_offsets-13 updated to [3,1,2] and zkVersion updated to [6] (kafka.controller.KafkaController)"
_A_TICK = "[2026-11-21 01:53:14,952] INFO [Controller id=1] Processing automatic preferred replica leader election (kafka.controller.KafkaController)"
_AN_IMBALANCE_LIST = "[2026-11-21 01:53:15,006] DEBUG [Controller id=1] Topics not in preferred replica for broker 3 HashMap() (kafka.controller.KafkaController)"
_A_STATE_CHANGE = "[2026-11-21 01:53:15,001] INFO [Controller id=1 epoch=2] Changed partition __consumer_offsets-21 from OnlinePartition to OnlinePartition with state LeaderAndIsr(leader=1, leaderEpoch=4, isr=List(3, 1), zkVersion=6) (state.change.logger)"
_A_NEW_PARTITION = "[2026-11-21 01:54:07,017] INFO [Controller id=1 epoch=2] Changed partition ads-risky-18-0 state from NonExistentPartition to NewPartition with assigned replicas 1,2 (state.change.logger)"
_A_REQUEST = "[2026-11-21 01:53:09,888] INFO [Controller id=1 epoch=2] Sending LeaderAndIsr request to broker 1 with 25 become-leader and 47 become-follower partitions (state.change.logger)"
_AN_ELECTION = "[2026-11-21 01:53:31,506] INFO [Controller id=1] Starting replica leader election (PREFERRED) for partitions shop-events-1,shop-events-4,shop-events-7,shop-events-3 triggered by AdminClientTriggered (kafka.controller.KafkaController)"

PATTERNS = (
    Pattern(
        pattern_id="zookeeper.election_started",
        kind="election_started",
        loggers=_LOGGERS,
        contains="Starting replica leader election (",
        regex=_HEAD
        + r"Starting replica leader election \((?P<reason>\w+)\) for partitions (?P<members>[\w.,-]*) triggered by (?P<detail>\w+)$",
        versions="2.4-3.9",
        source=f"{_SOURCE} onReplicaElection",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:31,506] INFO [Controller id=1] Starting replica leader election (PREFERRED) for partitions shop-events-1,shop-events-4,shop-events-7,shop-events-3 triggered by AdminClientTriggered (kafka.controller.KafkaController)",
                reason="PREFERRED",
                members="shop-events-1,shop-events-4,shop-events-7,shop-events-3",
                detail="AdminClientTriggered",
            ),
            captured(
                "2.8",
                "[2026-11-21 01:53:14,968] INFO [Controller id=1] Starting replica leader election (PREFERRED) for partitions __consumer_offsets-21,__consumer_offsets-33,__consumer_offsets-3,__consumer_offsets-15,email-grow-5-t-3,__consumer_offsets-39,__consumer_offsets-45,__consumer_offsets-27,__consumer_offsets-9,crm-rx-1-x2-2,shop-events-5 triggered by AutoTriggered (kafka.controller.KafkaController)",
                reason="PREFERRED",
                members="__consumer_offsets-21,__consumer_offsets-33,__consumer_offsets-3,__consumer_offsets-15,email-grow-5-t-3,__consumer_offsets-39,__consumer_offsets-45,__consumer_offsets-27,__consumer_offsets-9,crm-rx-1-x2-2,shop-events-5",
                detail="AutoTriggered",
            ),
            captured(
                "2.8",
                "[2026-11-21 01:53:09,946] INFO [Controller id=1] Starting replica leader election (PREFERRED) for partitions  triggered by ZkTriggered (kafka.controller.KafkaController)",
                reason="PREFERRED",
                detail="ZkTriggered",
            ),
        ),
        counter_samples=(_A_TICK,),
    ),
    Pattern(
        pattern_id="zookeeper.preferred_election_completed",
        kind="preferred_election_completed",
        loggers=_LOGGERS,
        contains=" completed preferred replica leader election. New leader is ",
        regex=_HEAD
        + rf"Partition {TOPIC_PARTITION} completed preferred replica leader election\. New leader is (?P<leader>\d+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} removePartitionsFromPreferredReplicaElection",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:15,003] INFO [Controller id=1] Partition __consumer_offsets-21 completed preferred replica leader election. New leader is 1 (kafka.controller.KafkaController)",
                topic="__consumer_offsets",
                partition="21",
                leader="1",
            ),
        ),
        counter_samples=(_AN_ISR, _AN_ELECTION),
    ),
    Pattern(
        pattern_id="zookeeper.leader_imbalance_seen",
        kind="leader_imbalance_seen",
        loggers=_LOGGERS,
        contains="Leader imbalance ratio for broker ",
        regex=_HEAD + r"Leader imbalance ratio for broker (?P<node>\d+) is (?P<detail>[\d.E-]+)$",
        versions="1.0-3.9",
        source=f"{_SOURCE} checkAndTriggerAutoLeaderRebalance",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:14,966] TRACE [Controller id=1] Leader imbalance ratio for broker 1 is 0.44 (kafka.controller.KafkaController)",
                node="1",
                detail="0.44",
            ),
        ),
        counter_samples=(_AN_IMBALANCE_LIST,),
    ),
    Pattern(
        pattern_id="zookeeper.reassignment_changed",
        kind="reassignment_changed",
        loggers=_LOGGERS,
        contains=" for reassigning partition ",
        regex=_HEAD
        + rf"(?P<detail>Target replicas .* have all caught up with the leader) for reassigning partition {TOPIC_PARTITION}$",
        versions="2.4-3.9",
        source=f"{_SOURCE} onPartitionReassignment",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 12:28:26,382] INFO [Controller id=3] Target replicas ArrayBuffer(3, 2) have all caught up with the leader for reassigning partition payroll-71-feed-t-0 (kafka.controller.KafkaController)",
                detail="Target replicas ArrayBuffer(3, 2) have all caught up with the leader",
                topic="payroll-71-feed-t",
                partition="0",
            ),
        ),
        counter_samples=(_AN_ISR,),
    ),
    Pattern(
        pattern_id="zookeeper.leader_reassigned",
        kind="reassignment_changed",
        loggers=_LOGGERS,
        contains=" being reassigned, is ",
        regex=_HEAD + rf"Leader (?P<leader>\d+) for partition {TOPIC_PARTITION} being reassigned, "
        r"(?P<detail>is (?:not in the new list of replicas|in the new list of replicas) .*)$",
        versions="2.4-3.9",
        source=f"{_SOURCE} moveReassignedPartitionLeaderIfRequired",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 12:28:26,383] INFO [Controller id=3] Leader 1 for partition payroll-71-feed-t-0 being reassigned, is not in the new list of replicas 3,2. Re-electing leader (kafka.controller.KafkaController)",
                leader="1",
                topic="payroll-71-feed-t",
                partition="0",
                detail="is not in the new list of replicas 3,2. Re-electing leader",
            ),
        ),
        counter_samples=(_AN_ISR, _AN_ELECTION),
    ),
    Pattern(
        pattern_id="zookeeper.partition_created",
        kind="partition_created",
        loggers=_STATE_LOGGERS,
        contains=" from NonExistentPartition to NewPartition with assigned replicas ",
        regex=_STATE_HEAD
        + rf"Changed partition {TOPIC_PARTITION} state from NonExistentPartition to NewPartition with assigned replicas (?P<replicas>[\d,]+)$",
        versions="2.6-3.9",
        source=f"{_STATE_SOURCE} doHandleStateChanges",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:54:07,017] INFO [Controller id=1 epoch=2] Changed partition ads-risky-18-0 state from NonExistentPartition to NewPartition with assigned replicas 1,2 (state.change.logger)",
                controller_epoch="2",
                topic="ads-risky-18",
                partition="0",
                replicas="1,2",
            ),
        ),
        counter_samples=(_A_STATE_CHANGE,),
    ),
    Pattern(
        pattern_id="zookeeper.partition_state_changed",
        kind="partition_state_changed",
        loggers=_STATE_LOGGERS,
        contains=" with state LeaderAndIsr(leader=",
        regex=_STATE_HEAD
        + rf"Changed partition {TOPIC_PARTITION} from (?P<previous_state>\w+) to (?P<state>\w+) with state "
        r"LeaderAndIsr\(leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>\d+), "
        r"isr(?:WithBrokerEpoch)?=List\((?P<isr>[\d, ]*|BrokerState\(.*?\)(?:, BrokerState\(.*?\))*)\), "
        r"(?:leaderRecoveryState=(?P<detail>\w+), )?(?:zkVersion|partitionEpoch)=(?P<partition_epoch>\d+)\)$",
        versions="2.6-3.9",
        source=f"{_STATE_SOURCE} doHandleStateChanges",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:15,001] INFO [Controller id=1 epoch=2] Changed partition __consumer_offsets-21 from OnlinePartition to OnlinePartition with state LeaderAndIsr(leader=1, leaderEpoch=4, isr=List(3, 1), zkVersion=6) (state.change.logger)",
                controller_epoch="2",
                topic="__consumer_offsets",
                partition="21",
                previous_state="OnlinePartition",
                state="OnlinePartition",
                leader="1",
                leader_epoch="4",
                isr="3, 1",
                partition_epoch="6",
            ),
            captured(
                "2.8",
                "[2026-11-21 01:53:43,776] INFO [Controller id=1 epoch=2] Changed partition email-grow-5-t-1 from OfflinePartition to OnlinePartition with state LeaderAndIsr(leader=3, leaderEpoch=5, isr=List(1, 3), zkVersion=9) (state.change.logger)",
                controller_epoch="2",
                topic="email-grow-5-t",
                partition="1",
                previous_state="OfflinePartition",
                state="OnlinePartition",
                leader="3",
                leader_epoch="5",
                isr="1, 3",
                partition_epoch="9",
            ),
            captured(
                "3.9",
                "[2026-11-21 11:58:05,839] INFO [Controller id=2 epoch=1] Changed partition disk-t-3 from OfflinePartition to OnlinePartition with state LeaderAndIsr(leader=3, leaderEpoch=1, isrWithBrokerEpoch=List(BrokerState(brokerId=3, brokerEpoch=-1), BrokerState(brokerId=1, brokerEpoch=-1)), leaderRecoveryState=RECOVERED, partitionEpoch=1) (state.change.logger)",
                controller_epoch="1",
                topic="disk-t",
                partition="3",
                previous_state="OfflinePartition",
                state="OnlinePartition",
                leader="3",
                leader_epoch="1",
                isr="BrokerState(brokerId=3, brokerEpoch=-1), BrokerState(brokerId=1, brokerEpoch=-1)",
                detail="RECOVERED",
                partition_epoch="1",
            ),
        ),
        counter_samples=(_A_NEW_PARTITION,),
    ),
    Pattern(
        pattern_id="zookeeper.partition_state_failed",
        kind="partition_state_failed",
        loggers=_STATE_LOGGERS,
        contains=" failed to change state for partition ",
        regex=r"^\[Controller id=\d+ epoch=\d+\] Controller \d+ epoch (?P<controller_epoch>\d+) failed to change state for partition "
        rf"{TOPIC_PARTITION} from (?P<previous_state>\w+) to (?P<state>\w+)$",
        versions="1.1-3.9",
        source=f"{_STATE_SOURCE} logFailedStateChange",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:55:04,766] ERROR [Controller id=3 epoch=3] Controller 3 epoch 3 failed to change state for partition orders-single-19-1 from OfflinePartition to OnlinePartition (state.change.logger)\nkafka.common.StateChangeFailedException: Failed to elect leader for partition orders-single-19-1 under strategy OfflinePartitionLeaderElectionStrategy(false)\n\tat kafka.controller.ZkPartitionStateMachine.$anonfun$doElectLeaderForPartitions$7(PartitionStateMachine.scala:424)\n\tat scala.collection.IterableOnceOps.foreach(IterableOnce.scala:563)\n\tat scala.collection.IterableOnceOps.foreach$(IterableOnce.scala:561)\n\tat scala.collection.AbstractIterable.foreach(Iterable.scala:919)\n\tat kafka.controller.ZkPartitionStateMachine.doElectLeaderForPartitions(PartitionStateMachine.scala:421)\n\tat kafka.controller.ZkPartitionStateMachine.electLeaderForPartitions(PartitionStateMachine.scala:332)\n\tat kafka.controller.ZkPartitionStateMachine.doHandleStateChanges(PartitionStateMachine.scala:238)\n\tat kafka.controller.ZkPartitionStateMachine.handleStateChanges(PartitionStateMachine.scala:158)\n\tat kafka.controller.PartitionStateMachine.triggerOnlineStateChangeForPartitions(PartitionStateMachine.scala:74)\n\tat kafka.controller.PartitionStateMachine.triggerOnlinePartitionStateChange(PartitionStateMachine.scala:59)\n\tat kafka.controller.KafkaController.onReplicasBecomeOffline(KafkaController.scala:619)\n\tat kafka.controller.KafkaController.onBrokerFailure(KafkaController.scala:589)\n\tat kafka.controller.KafkaController.processBrokerChange(KafkaController.scala:1610)\n\tat kafka.controller.KafkaController.process(KafkaController.scala:2436)\n\tat kafka.controller.QueuedEvent.process(ControllerEventManager.scala:52)\n\tat kafka.controller.ControllerEventManager$ControllerEventThread.process$1(ControllerEventManager.scala:130)\n\tat kafka.controller.ControllerEventManager$ControllerEventThread.$anonfun$doWork$1(ControllerEventManager.scala:133)\n\tat scala.runtime.java8.JFunction0$mcV$sp.apply(JFunction0$mcV$sp.scala:18)\n\tat kafka.metrics.KafkaTimer.time(KafkaTimer.scala:31)\n\tat kafka.controller.ControllerEventManager$ControllerEventThread.doWork(ControllerEventManager.scala:133)\n\tat kafka.utils.ShutdownableThread.run(ShutdownableThread.scala:96)",
                controller_epoch="3",
                topic="orders-single-19",
                partition="1",
                previous_state="OfflinePartition",
                state="OnlinePartition",
            ),
        ),
        counter_samples=(_A_STATE_CHANGE,),
    ),
    Pattern(
        pattern_id="zookeeper.replica_removed_from_isr",
        kind="replica_removed_from_isr",
        loggers=_STATE_LOGGERS,
        contains=" from the ISR as part of transition to ",
        regex=_STATE_HEAD
        + rf"Partition {TOPIC_PARTITION} state changed to \(Leader:(?P<leader>-?\d+),ISR:(?P<isr>[\d,]*),(?:LeaderRecoveryState:\w+,)?"
        r"LeaderEpoch:(?P<leader_epoch>\d+),(?:ZkVersion|PartitionEpoch):(?P<partition_epoch>\d+),ControllerEpoch:\d+\) "
        r"after removing replica (?P<node>\d+) from the ISR as part of transition to (?P<state>\w+)$",
        versions="2.6-3.9",
        source="core/src/main/scala/kafka/controller/ReplicaStateMachine.scala removeReplicasFromIsr",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:09,929] INFO [Controller id=1 epoch=2] Partition __consumer_offsets-30 state changed to (Leader:1,ISR:3,1,LeaderEpoch:3,ZkVersion:5,ControllerEpoch:2) after removing replica 2 from the ISR as part of transition to OfflineReplica (state.change.logger)",
                controller_epoch="2",
                topic="__consumer_offsets",
                partition="30",
                leader="1",
                isr="3,1",
                leader_epoch="3",
                partition_epoch="5",
                node="2",
                state="OfflineReplica",
            ),
            captured(
                "3.9",
                "[2026-11-21 11:58:05,861] INFO [Controller id=2 epoch=1] Partition disk-t-7 state changed to (Leader:3,ISR:3,1,LeaderRecoveryState:RECOVERED,LeaderEpoch:1,ZkVersion:1,ControllerEpoch:1) after removing replica 2 from the ISR as part of transition to OfflineReplica (state.change.logger)",
                controller_epoch="1",
                topic="disk-t",
                partition="7",
                leader="3",
                isr="3,1",
                leader_epoch="1",
                partition_epoch="1",
                node="2",
                state="OfflineReplica",
            ),
        ),
        counter_samples=(_A_REQUEST, _A_STATE_CHANGE),
    ),
)
