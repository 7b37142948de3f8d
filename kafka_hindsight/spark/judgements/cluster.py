"""The judgement of the cluster as a whole."""

from __future__ import annotations

from kafka_hindsight.judgements.rebuild.cluster import judge_cluster
from kafka_hindsight.spark.apply import Judgement, made, table
from kafka_hindsight.spark.frames import inputs as prepare
from kafka_hindsight.spark.judgements.brokers import BROKERS, FACTS
from kafka_hindsight.spark.judgements.groups import GROUPS
from kafka_hindsight.spark.judgements.partitions import PARTITIONS
from kafka_hindsight.spark.judgements.readings import GROUP_READINGS, READINGS
from kafka_hindsight.spark.judgements.shared_sources import SETTINGS

UNAVAILABILITY = made(prepare.in_one, PARTITIONS.output("unavailability"), GROUPS.output("unavailability"))

CLUSTER = Judgement(
    "cluster",
    judge_cluster,
    ("cluster",),
    {
        "clusters": table("internal.clusters", span=""),
        "outages": BROKERS.output("outages"),
        "failovers": made(
            prepare.evidence_where("kind IN ('offline', 'unclean_election', 'log_dir_failed')"),
            PARTITIONS.output("failovers"),
        ),
        "controllers": BROKERS.output("controller_changes"),
        "isr_spans": PARTITIONS.output("isr_spans"),
        "out_of_sync": READINGS.output("out_of_sync"),
        "moves": made(prepare.evidence_where("false"), GROUPS.output("moves")),
        "led_before": made(prepare.led_before_outages, table("bronze.partition_snapshots")),
        "rebalances": GROUPS.output("rebalances"),
        "gaps": GROUPS.output("gaps"),
        "leadership_gaps": made(prepare.rows_where("explained_by IS NULL"), PARTITIONS.output("leadership_gaps")),
        "missing_logs": BROKERS.output("missing_logs"),
        "unobserved": BROKERS.output("unobserved"),
        "stays": GROUPS.output("stays"),
        "imbalance": made(prepare.evidence_where("over_threshold"), READINGS.output("imbalance")),
        "truncations": made(
            prepare.rows_where("verdict <> 'nothing_committed_lost'"), PARTITIONS.output("truncations")
        ),
        "unavailability": made(prepare.evidence_where("kind LIKE 'acks_all%' AND outage_id IS NULL"), UNAVAILABILITY),
        "lag": made(prepare.rows_where("status <> 'ok'"), GROUP_READINGS.output("lag")),
        "member_settings": GROUPS.output("settings"),
        "coverage": made(prepare.rows_where("unparsed + quarantined > 0"), table("quality.coverage", span="window")),
        "unanswered": made(prepare.rows_where("error IS NOT NULL"), table("bronze.group_snapshots", span="window")),
        "partial": made(
            prepare.rows_where("missing IS NOT NULL OR error IS NOT NULL"),
            table("bronze.snapshot_readings", span="window"),
        ),
        "last_partitions": made(prepare.last_reading, table("bronze.partition_snapshots", span="window")),
        "last_brokers": made(prepare.last_reading, table("bronze.broker_snapshots", span="window")),
        "last_groups": made(prepare.last_reading, table("bronze.group_snapshots", span="window")),
        "settings": made(prepare.last_settings, SETTINGS),
    },
    needs=(FACTS,),
)
