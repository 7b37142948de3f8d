"""The few lines of each broker that a verdict can rest on, as Spark picks them."""

from __future__ import annotations

from datetime import timedelta

from pyspark.sql import SparkSession

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, LOG_FILES
from kafka_hindsight.catalog.rows import BrokerOutage, LogSpan
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.outages import rebuild_outages
from kafka_hindsight.judgements.rebuild.scope import Scope
from kafka_hindsight.shared.windows import Window, in_order
from kafka_hindsight.spark.apply import apply_by_key, collect_rows, select_output
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.frames.broker_lines import about_brokers, files_seen, proofs_of_service
from kafka_hindsight.spark.judgements.brokers import BROKERS
from tests.support.nights import WHOLE, events
from tests.support.rows import AT, values


def test_of_each_hour_the_first_and_the_last_proof_of_each_sort_is_kept(spark: SparkSession) -> None:
    minutes = {
        "leader_started": (0, 10, 20, 70),
        "rebalance_started": (5, 6, 7),
        "follower_started": (30, 31, 32),
        "log_loaded": (1, 2),
    }
    lines = [
        values(
            EVENTS,
            origin="broker", kind=kind, broker=1, line_id=f"{kind} {m}", happened_at=AT + timedelta(minutes=m),
            leader=2 if kind == "follower_started" else None,
        )
        for kind, ats in minutes.items() for m in ats
    ]  # fmt: skip
    kept = proofs_of_service(frame_of(spark, lines, EVENTS)).collect()
    assert {(r["line_id"], r["leader"]) for r in kept} == {
        ("leader_started 0", None),
        ("leader_started 20", None),
        ("leader_started 70", None),
        ("rebalance_started 5", None),
        ("rebalance_started 7", None),
        ("follower_started 30", 2),
        ("follower_started 32", 2),
    }


def test_a_line_that_shows_a_broker_at_work_is_kept_behind_one_of_its_second_that_does_not(spark: SparkSession) -> None:
    """As on 2.8 before a crash: a log was loaded, and 1 ms later the broker led the partition."""
    told = {"log_loaded": (0, 655), "leader_started": (1, 656), "broker_failed": (8_000,)}
    lines = [
        values(
            EVENTS,
            origin="broker", kind=kind, broker=3 if kind == "broker_failed" else 1, line_id=f"{kind} {ms}",
            source="server.log", order=0, happened_at=AT + timedelta(milliseconds=ms),
        )
        for kind, ats in told.items() for ms in ats
    ]  # fmt: skip
    kept = about_brokers(frame_of(spark, lines, EVENTS)).collect()
    assert {r["line_id"] for r in kept} == {"log_loaded 0", "leader_started 1", "broker_failed 8000"}
    lines = [{**line, "happened_at": line["happened_at"] + timedelta(seconds=n)} for n in (0, 3) for line in lines]
    kept = about_brokers(frame_of(spark, lines, EVENTS)).collect()
    assert {(r["line_id"], r["happened_at"].second) for r in kept if r["kind"] == "leader_started"} == {
        ("leader_started 1", 0),
        ("leader_started 1", 3),
    }


def said(outages: list[BrokerOutage]) -> list[tuple[object, ...]]:
    return [
        (o.broker, o.kind, o.confidence, o.down_at, o.detected_at, o.up_at, o.away_low_ms, o.explanation)
        for o in outages
    ]


def test_spark_hands_the_judgement_all_that_it_rests_on(spark: SparkSession) -> None:
    """Of few lines the verdicts are those of all lines; the files of the logs come along."""
    found = in_order(events("crash-2.8"))
    lines = [row.as_dict() for row in found]
    frame = frame_of(spark, lines, EVENTS)
    spans = {e.source: (found[0].happened_at, found[-1].happened_at) for e in found}
    files = [
        values(LOG_FILES, origin="broker", cluster=found[0].cluster, source=s, file=s, first_at=a, last_at=z)
        for s, (a, z) in spans.items()
    ]
    scope = Scope(found[0].cluster, WHOLE, WHOLE)
    frames = {
        "events": about_brokers(frame),
        "proofs": proofs_of_service(frame),
        "readings": frame_of(spark, [], BROKER_SNAPSHOTS),
        "files": files_seen(frame_of(spark, files, LOG_FILES), scope),
    }
    judged = apply_by_key(BROKERS, frames, {"scope": scope}).cache()
    assert said(collect_rows(select_output(judged, "outages"), BrokerOutage)) == said(rebuild_outages(found, [], WHOLE))
    assert len(collect_rows(select_output(judged, "log_spans"), LogSpan)) > 0
    assert select_output(judged, "unobserved").count() == 0


def test_files_that_reach_into_what_is_seen_are_read(spark: SparkSession) -> None:
    spans = {"before": (-9, -2), "into": (-2, 1), "within": (1, 2), "after": (5, 6)}
    files = [
        values(LOG_FILES, origin="broker", file=name, first_at=AT + timedelta(hours=a), last_at=AT + timedelta(hours=b))
        for name, (a, b) in spans.items()
    ]
    files.append({**files[1], "origin": "client", "file": "client"})
    seen = Window(AT, AT + timedelta(hours=4))
    kept = files_seen(frame_of(spark, files, LOG_FILES), Scope("c", seen, seen))
    assert sorted(r["file"] for r in kept.collect()) == ["into", "within"]
