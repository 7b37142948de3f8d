"""Rules about brokers and their replicas: who falls out of ISRs, and what a restart leaves behind."""

from datetime import timedelta

from spark_jobs.catalog.codes import OutOfSyncKind
from spark_jobs.knowledge.isr import CYCLES_WITHIN, OUT_OF_SYNC_ADVICE, RESTART_ADVICE
from spark_jobs.knowledge.model import Rule

RULES: tuple[Rule, ...] = (
    Rule(
        rule_id="broker_slow",
        severity="warning",
        subject_kind="broker",
        says="{subject} was alive and {told}",
        advice=OUT_OF_SYNC_ADVICE[OutOfSyncKind.SLOW],
        source="a leader drops a follower that has not caught up for replica.lag.time.max.ms, 30 s by default (KIP-537,"
        " Partition.isFollowerOutOfSync)",
    ),
    Rule(
        rule_id="isr_flapping",
        severity="warning",
        subject_kind="broker",
        says="{subject} left the ISR of one partition and came back {cycles} times within 30 minutes{over}",
        advice="A broker that falls out again and again is too slow for its load, or cannot hold its connection: look"
        " at its disks, network and GC pauses. Each time one copy less stands behind what is acknowledged.",
        source="three times in 30 minutes is our choice: one in ten minutes, where IsrShrinksPerSec and"
        " IsrExpandsPerSec are normally 0 (Kafka operations guide)",
        thresholds={"cycles": 3, "minutes": CYCLES_WITHIN / timedelta(minutes=1)},
    ),
    Rule(
        rule_id="restart_too_early",
        severity="warning",
        subject_kind="broker",
        says="{subject} was stopped at {at} while one restarted before it was still missing from an ISR{harm}",
        advice=RESTART_ADVICE[True],
        source="Kafka operations guide and operators' tools: restart brokers one by one, the next when no partition is"
        " under-replicated; critical where partitions had no leader, or less than min.insync.replicas, meanwhile",
    ),
    Rule(
        rule_id="leadership_not_restored",
        severity="warning",
        subject_kind="broker",
        says="{subject} was back at {at} and still did not lead {elsewhere} of the {preferred} partitions that it is"
        " preferred for at {seen}",
        advice="Run a preferred leader election (kafka-leader-election.sh --election-type preferred), or see why"
        " auto.leader.rebalance.enable has not: the others carry its load.",
        source="leader.imbalance.check.interval.seconds, 300 by default: two rounds of the automatic election had gone"
        " by; how much is too much: the rule leader_imbalance",
        thresholds={"minutes": 10},
    ),
)
