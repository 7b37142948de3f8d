"""The judgements of the brokers, and the facts that all later judgements look at."""

from __future__ import annotations

from kafka_hindsight.judgements.rebuild.brokers import gather_facts, judge_brokers
from kafka_hindsight.spark.apply import Judgement, made, table
from kafka_hindsight.spark.frames import inputs as prepare
from kafka_hindsight.spark.frames.broker_lines import about_brokers, files_seen, proofs_of_service
from kafka_hindsight.spark.judgements.shared_sources import EVENTS, SETTINGS

BROKERS = Judgement(
    "brokers",
    judge_brokers,
    ("cluster",),
    {
        "events": made(about_brokers, EVENTS),
        "proofs": made(proofs_of_service, EVENTS),
        "readings": table("bronze.broker_snapshots"),
        "files": made(files_seen, table("bronze.log_files", span="")),
    },
)


FACTS = Judgement(
    "facts",
    gather_facts,
    (),
    {
        "events": made(prepare.about_cluster, EVENTS, SETTINGS),
        "outages": BROKERS.output("outages"),
        "changes": BROKERS.output("topic_changes"),
        "log_spans": BROKERS.output("log_spans"),
        "observed": made(prepare.observed_span, EVENTS),
        "readings": made(prepare.reading_times, table("bronze.partition_snapshots")),
    },
)
