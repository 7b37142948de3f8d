"""Leaders and followers, by the brokers' state-change logs, until 2.5 by their server logs (Kafka 1.0-4.4)."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import TOPIC_PARTITION

_LOGGERS = ("state.change.logger",)
_HEAD = r"^\[Broker id=\d+\] "
_PREVIOUS = (
    r"Previous leader (?:(?:Some\((?P<previous_leader>-?\d+)\)|None) and previous leader )?"
    r"epoch was (?P<previous_leader_epoch>-?\d+)\.$"
)
_SOURCE = "core/src/main/scala/kafka/cluster/Partition.scala"
_REPLICA_SOURCE = "core/src/main/scala/kafka/server/ReplicaManager.scala"
_line = partial(Pattern, loggers=_LOGGERS, head=_HEAD, versions="2.6-4.4")


PATTERNS = (
    _line(
        pattern_id="partition.leader_started",
        kind=Kind.LEADER_STARTED,
        regex=rf"Leader {TOPIC_PARTITION}(?: with topic id \S+)? starts at leader epoch (?P<leader_epoch>\d+) "
        r"from offset (?P<log_offset>\d+) with (?:partition epoch (?P<partition_epoch>\d+), )?"
        r"high watermark (?P<high_watermark>\d+),? ISR \[(?P<isr>[\d,]*)\],? "
        r"(?:adding replicas|addingReplicas) \[[\d,]*\] (?:and removing replicas|removingReplicas) \[[\d,]*\] ?"
        r"(?:\(under-min-isr\))?\. " + _PREVIOUS,
        source=f"{_SOURCE} makeLeader",
    ),
    Pattern(
        pattern_id="partition.leader_starts",
        kind=Kind.LEADER_STARTED,
        loggers=("kafka.cluster.Partition",),
        regex=rf"^\[Partition \S+ broker=\d+\] {TOPIC_PARTITION} starts at (?:leader epoch|Leader Epoch) (?P<leader_epoch>\d+) "
        r"from offset (?P<log_offset>\d+)(?: with high watermark (?P<high_watermark>\d+))?\. "
        r"Previous (?:leader epoch was|Leader Epoch was:) (?P<previous_leader_epoch>-?\d+)\.?$",
        versions="1.0-2.5",
        source=f"{_SOURCE} makeLeader",
    ),
    _line(
        pattern_id="partition.follower_started",
        kind=Kind.FOLLOWER_STARTED,
        regex=rf"Follower {TOPIC_PARTITION}(?: with topic id \S+)? starts at leader epoch (?P<leader_epoch>\d+) "
        r"from offset (?P<log_offset>\d+) with (?:partition epoch (?P<partition_epoch>\d+) and )?"
        r"high watermark (?P<high_watermark>\d+)\. (?:Current leader is (?P<leader>-?\d+)\. )?" + _PREVIOUS,
        source=f"{_SOURCE} makeFollower",
    ),
    _line(
        pattern_id="partition.leadership_kept",
        kind=Kind.LEADERSHIP_KEPT,
        # The brackets of the ISR stay: an empty list is a value, a missing one is null.
        regex=rf"Skipped the become-(?:leader|follower) state change for {TOPIC_PARTITION} with topic id \S+ and "
        r"partition state LeaderAndIsrPartitionState\(topicName='[^']*', partitionIndex=\d+, controllerEpoch=-?\d+, "
        r"leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>\d+), isr=(?P<isr>\[[\d, ]*\]), "
        r"partitionEpoch=(?P<partition_epoch>\d+), replicas=\[(?P<replicas>[\d, ]*)\], .*$",
        versions="3.3-4.1",
        source=f"{_SOURCE} makeLeader, makeFollower",
    ),
    _line(
        pattern_id="partition.registration_kept",
        kind=Kind.LEADERSHIP_KEPT,
        regex=rf"Skipped the become-(?:leader|follower) state change for {TOPIC_PARTITION} with topic id \S+, "
        r"partition registration PartitionRegistration\(replicas=\[(?P<replicas>[\d, ]*)\], directories=\[[^\]]*\], "
        r"isr=(?P<isr>\[[\d, ]*\]), removingReplicas=\[[^\]]*\], addingReplicas=\[[^\]]*\], elr=\[[^\]]*\], lastKnownElr=\[[^\]]*\], "
        r"leader=(?P<leader>-?\d+), leaderRecoveryState=\w+, leaderEpoch=(?P<leader_epoch>\d+), "
        r"partitionEpoch=(?P<partition_epoch>\d+)\) and isNew=.*$",
        versions="4.2-4.4",
        source=f"{_SOURCE} makeLeader, makeFollower",
    ),
    Pattern(
        pattern_id="partition.leader_and_isr_received",
        kind=Kind.LEADER_AND_ISR_RECEIVED,
        loggers=_LOGGERS,
        # From 2.4 on the state names its partition, which follows it before.
        regex=r"^(?:\[Broker id=\d+\] R|Broker \d+ r)eceived LeaderAndIsr request "
        r"(?=.*?(?:topicName='|for partition \[?)(?P<topic>[\w.-]+)(?:', partitionIndex=|[,-])(?P<partition>\d+)(?:,|\]?$))"
        r"(?:LeaderAndIsr)?PartitionState\((?:topicName=.*?, )?controllerEpoch=\d+, leader=(?P<leader>-?\d+), "
        r"leaderEpoch=(?P<leader_epoch>\d+), isr=(?P<isr>\[?[\d, ]*\]?), (?:zkVersion|partitionEpoch)=(?P<partition_epoch>\d+), "
        r"replicas=\[?(?P<replicas>[\d, ]*)[\],)].*? from controller (?P<node>\d+) epoch (?P<controller_epoch>\d+)\b.*$",
        versions="0.10-3.9",
        source=f"{_REPLICA_SOURCE} becomeLeaderOrFollower (at TRACE, which Kafka's own configuration sets until 2.5)",
    ),
    _line(
        pattern_id="partition.leader_unavailable",
        kind=Kind.LEADER_UNAVAILABLE,
        regex=r"Received LeaderAndIsrRequest with correlation id \d+ from controller (?P<node>\d+) epoch (?P<controller_epoch>\d+) "
        rf"for partition {TOPIC_PARTITION} \(last update controller epoch \d+\) but cannot become follower since the new leader "
        r"(?P<leader>-?\d+) is unavailable\.$",
        versions="1.0-3.9",
        source=f"{_REPLICA_SOURCE} makeFollowers",
    ),
    _line(
        pattern_id="partition.recovering",
        kind=Kind.PARTITION_RECOVERING,
        regex=rf"The topic partition {TOPIC_PARTITION} was marked as RECOVERING\. .*Marking the topic partition as RECOVERED\.$",
        versions="3.2-4.4",
        source=f"{_SOURCE} makeLeader",
    ),
)
