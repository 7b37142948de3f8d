"""Rules about brokers and their replicas: brokers that fall out of ISRs, and what a restart leaves behind."""

from datetime import timedelta

from kafka_hindsight.catalog.codes import OutOfSyncKind
from kafka_hindsight.knowledge.isr import CYCLES_WITHIN, OUT_OF_SYNC_ADVICE, RESTART_ADVICE
from kafka_hindsight.knowledge.model import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        rule_id="broker_slow",
        severity="warning",
        subject_kind="broker",
        says="{subject} was alive and {details}",
        advice=OUT_OF_SYNC_ADVICE[OutOfSyncKind.SLOW],
        source="a leader drops a follower that has not caught up for replica.lag.time.max.ms, 30 s by default (KIP-537,"
        " Partition.isFollowerOutOfSync)",
    ),
    Rule(
        rule_id="isr_flapping",
        severity="warning",
        subject_kind="broker",
        says="{subject} left and rejoined the ISR of one partition {cycles} times within 30 minutes{over}",
        advice="A broker that leaves the ISR again and again is too slow for its load, or its connection is unstable:"
        " check its disks, network and GC pauses. Each time there is one copy less of the acknowledged records.",
        source="three times in 30 minutes is our choice: one in ten minutes, where IsrShrinksPerSec and"
        " IsrExpandsPerSec are normally 0 (Kafka operations guide)",
        thresholds={"cycles": 3, "minutes": CYCLES_WITHIN / timedelta(minutes=1)},
    ),
    Rule(
        rule_id="restart_too_early",
        severity="warning",
        subject_kind="broker",
        says="{subject} was stopped at {at} while a broker that had restarted before it was still missing from an"
        " ISR{harm}",
        advice=RESTART_ADVICE[True],
        source="Kafka operations guide and operators' tools: restart brokers one by one, the next when no partition is"
        " under-replicated; critical where partitions had no leader, or less than min.insync.replicas, meanwhile",
    ),
    Rule(
        rule_id="leadership_not_restored",
        severity="warning",
        subject_kind="broker",
        says="{subject} was back at {at}, but at {seen} it did not lead {elsewhere} of the {preferred} partitions of"
        " which it is the preferred leader",
        advice="Run a preferred leader election (kafka-leader-election.sh --election-type preferred), or find out why"
        " auto.leader.rebalance.enable did not cause one: the other brokers carry its load.",
        source="leader.imbalance.check.interval.seconds, 300 by default: two rounds of the automatic election had gone"
        " by; how much is too much: the rule leader_imbalance",
        thresholds={"minutes": 10},
    ),
)
