"""Rules about brokers and partitions: leaders, replicas, records at risk; what a restart leaves behind."""

from datetime import timedelta

from kafka_hindsight.catalog.codes import Harm, OutOfSyncKind, WitnessKind
from kafka_hindsight.knowledge.isr_advice import CYCLES_WITHIN, RESTART_ADVICE
from kafka_hindsight.knowledge.model import Rule

LEADER_IMBALANCE = Rule(
    rule_id="leader_imbalance",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="broker",
    says="{subject} led too few partitions: {details}",
    advice="Run a preferred leader election (kafka-leader-election.sh --election-type preferred), or find out why"
    " auto.leader.rebalance.enable did not cause one. KRaft controllers ignore the percentage and move every"
    " leader.",
    source="leader.imbalance.per.broker.percentage, default 10, strictly above; KafkaController.scala. A broker that is"
    " away leads nothing. Kafka moves leaders back at most leader.imbalance.check.interval.seconds, default 300, after"
    " its return, and a controller that takes over counts from then on (PeriodicTaskControlManager.activate since 3.9,"
    " QuorumController.maybeScheduleNextBalancePartitionLeaders before; in ZooKeeper mode it looks after 5 s, and then"
    " each interval: processAutoPreferredReplicaLeaderElection). Until one controller had so long, it does not count",
    thresholds={"ratio": 0.10, "seconds_to_rebalance": 300},
)

RECORDS_TRUNCATED = Rule(
    rule_id="records_truncated",
    severity="critical",
    harm=Harm.RECORDS_LOST,
    subject_kind="partition",
    says="{subject} {lost} when broker {broker} truncated its log: {cut}",
    advice="See the explanation of the truncation for the leader that the broker followed. Compare the topic with"
    " what consumers and other systems hold.",
    source="A follower that cuts below what is committed follows a leader that lost it (KIP-101, KIP-279). A warning"
    " where no line shows what the leader had: each start of a follower may cut records that were never committed",
)

UNDER_REPLICATED = Rule(
    rule_id="under_replicated",
    severity="warning",
    harm=Harm.DATA_AT_RISK,
    subject_kind="partition",
    says="{partitions} had fewer in-sync replicas than replicas at the last reading{details}",
    advice="Bring back the broker that is missing from their ISR: see gold.out_of_sync_periods and the outages.",
    source="UnderReplicatedPartitions, normal 0 (Kafka operations guide)",
)

UNDER_MIN_ISR = Rule(
    rule_id="under_min_isr",
    severity="critical",
    harm=Harm.WRITES_REFUSED,
    subject_kind="partition",
    says="{partitions} had fewer in-sync replicas than min.insync.replicas: writes with acks=all failed",
    advice="Bring the missing replicas back first. A lower min.insync.replicas gives up durability.",
    source="UnderMinIsrPartitionCount, normal 0 (Kafka operations guide)",
)

BROKER_STARTED_TWICE = Rule(
    rule_id="broker_started_twice",
    severity="info",
    harm=Harm.POSTURE,
    subject_kind="broker",
    says="{subject} was started again while its process served, {details}",
    advice="Nothing was lost: the running process went on. Find out who or what started the second one: a script, a"
    " supervisor that does not know the first one, or two brokers with one configuration.",
    source="LogManager.lockLogDirs, SocketServer, KafkaZkClient.registerBroker: a second process of a broker cannot"
    " start",
)

BROKER_GONE = Rule(
    rule_id="broker_gone",
    severity="critical",
    harm=Harm.BROKER_LOST,
    is_ongoing=True,
    subject_kind="broker",
    says="{subject} {fate}",
    advice="Start the broker, or bring back its connection to the controllers. Stop no other broker until it is"
    " back in every ISR.",
    source="Orion alerts after 5 minutes, Cruise Control after 15; here the records end before it was back",
    went_on=WitnessKind.LIFE,
)

_AUDIT_BEFORE = "Its incident is of the window in which it began: audit that one too."
_BEGAN_BEFORE = "a row counts in the window in which it begins; a window that begins later shows what still lasted"

BROKER_STILL_AWAY = Rule(
    rule_id="broker_still_away",
    severity="warning",
    harm=Harm.BROKER_LOST,
    subject_kind="broker",
    says="{subject} {fate}: it {was} away as the window began",
    advice=_AUDIT_BEFORE,
    source=_BEGAN_BEFORE,
    went_on=WitnessKind.LIFE,
)

STILL_LEADERLESS = Rule(
    rule_id="still_leaderless",
    severity="warning",
    harm=Harm.PARTITIONS_OFFLINE,
    subject_kind="partition",
    says="{partitions} had no leader as the window began, the first since {since}",
    advice=_AUDIT_BEFORE,
    source=_BEGAN_BEFORE,
    went_on=WitnessKind.LEADERS,
)

STILL_REFUSING = Rule(
    rule_id="still_refusing",
    severity="warning",
    harm=Harm.WRITES_REFUSED,
    subject_kind="partition",
    says="{partitions} took no writes with acks=all as the window began, the first since {since}",
    advice=_AUDIT_BEFORE,
    source=_BEGAN_BEFORE,
    went_on=WitnessKind.IN_SYNC,
)

BROKER_SLOW = Rule(
    rule_id="broker_slow",
    severity="warning",
    harm=Harm.DATA_AT_RISK,
    subject_kind="broker",
    says="{subject} was alive and {details}",
    advice=OutOfSyncKind.SLOW.noun.advice,
    source="a leader drops a follower that has not caught up for replica.lag.time.max.ms, 30 s by default (KIP-537,"
    " Partition.isFollowerOutOfSync)",
)

ISR_FLAPPING = Rule(
    rule_id="isr_flapping",
    severity="warning",
    harm=Harm.DATA_AT_RISK,
    subject_kind="broker",
    says="{subject} left and rejoined the ISR of one partition {cycles} times within 30 minutes{over}",
    advice="A broker that leaves the ISR again and again is too slow for its load, or its connection is unstable:"
    " check its disks, network and GC pauses. Each time there is one copy less of the acknowledged records.",
    source="three times in 30 minutes is our choice: one in ten minutes, where IsrShrinksPerSec and"
    " IsrExpandsPerSec are normally 0 (Kafka operations guide)",
    thresholds={"cycles": 3, "minutes": CYCLES_WITHIN / timedelta(minutes=1)},
)

RESTART_TOO_EARLY = Rule(
    rule_id="restart_too_early",
    severity="warning",
    harm=Harm.DATA_AT_RISK,
    subject_kind="broker",
    says="{subject} was stopped at {at} while a broker that had restarted before it was still missing from an"
    " ISR{harm}",
    advice=RESTART_ADVICE[True],
    source="Kafka operations guide and operators' tools: restart brokers one by one, the next when no partition is"
    " under-replicated; critical where partitions had no leader, or less than min.insync.replicas, meanwhile",
)

CLUSTER_ID_CHANGED = Rule(
    rule_id="cluster_id_changed",
    severity="warning",
    harm=Harm.POSTURE,
    subject_kind="cluster",
    says="{subject} began again without its data {times}: {changes}",
    advice="Its disks were formatted or ZooKeeper's data was removed. Find out who did it and why: topics,"
    " records and committed offsets of before are gone. If another cluster wrote into these logs, separate them.",
    source="the id is made once and kept in ZooKeeper and in meta.properties (KafkaServer.getOrGenerateClusterId,"
    " kafka-storage format); a broker whose disk has another one does not start (InconsistentClusterIdException)",
)

RULES: tuple[Rule, ...] = (
    LEADER_IMBALANCE,
    RECORDS_TRUNCATED,
    UNDER_REPLICATED,
    UNDER_MIN_ISR,
    BROKER_STARTED_TWICE,
    BROKER_GONE,
    BROKER_STILL_AWAY,
    STILL_LEADERLESS,
    STILL_REFUSING,
    BROKER_SLOW,
    ISR_FLAPPING,
    RESTART_TOO_EARLY,
    CLUSTER_ID_CHANGED,
)
