"""The few lines of each broker that a verdict can rest on, as they are picked from all lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import pyarrow as pa

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, LOG_FILES
from kafka_hindsight.catalog.rows import BrokerOutage, Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.engine.reduce import evaluate, judged_tables
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.brokers import (
    BROKERS,
    SIGNALS,
    about_brokers,
    broker_namings,
    files_in_scope,
    proofs_of_service,
    signals_in,
    signs_of_life,
)
from kafka_hindsight.shared.arrow_rows import rows_of
from kafka_hindsight.shared.windows import Window, in_order
from tests.support.nights import WHOLE, events
from tests.support.outages import rebuild_outages
from tests.support.rows import AT, as_table, row


def lines(instants: Mapping[str, Iterable[int]], unit: timedelta, **fields: Any) -> list[Event]:
    """A line of each kind at each instant, named by both; what says that a broker failed is of broker 3."""
    return [
        row(
            EVENTS,
            **{
                "origin": "broker",
                "broker": 3 if kind == "broker_failed" else 1,
                "source": "server.log",
                "order": 0,
                "leader": 2 if kind == "follower_started" else None,
                **fields,
            },
            kind=kind,
            line_id=f"{kind} {n}",
            happened_at=AT + n * unit,
        )
        for kind, numbers in instants.items()
        for n in numbers
    ]


def signals_of(table: pa.Table) -> Any:
    """The instants of the signals among the events."""
    return evaluate(SIGNALS, {"signals": [signals_in(table)]}, {})


def kept_lines(events: Iterable[Event]) -> set[str]:
    """The names of the lines that are picked, but for proofs of service and namings."""
    table = as_table([*events], EVENTS)
    picked = about_brokers(table), signs_of_life(table, signals_of(table))
    return {line_id for rows in picked for line_id in rows["line_id"].to_pylist()}


def proofs(events: Iterable[Event]) -> set[tuple[str, int | None]]:
    """The names of the lines that prove a broker to serve, each with the leader that a follower names."""
    table = as_table([*events], EVENTS)
    picked = proofs_of_service(table, signals_of(table))
    return {(r["line_id"], r["leader"]) for r in picked.to_pylist()}


def test_first_and_last_proof_of_service_per_hour_is_kept() -> None:
    minutes = {
        "leader_started": (0, 10, 20, 70),
        "rebalance_started": (5, 6, 7),
        "follower_started": (30, 31, 32),
        "log_loaded": (1, 2),
    }
    assert proofs(lines(minutes, timedelta(minutes=1))) == {
        ("leader_started 0", None),
        ("leader_started 20", None),
        ("leader_started 70", None),
        ("rebalance_started 5", None),
        ("rebalance_started 7", None),
        ("follower_started 30", 2),
        ("follower_started 32", 2),
    }


def test_proof_of_service_is_kept_beside_other_line_of_same_second() -> None:
    """As on 2.8 before a crash: a log was loaded, and 1 ms later the broker led the partition."""
    instants = {"log_loaded": (0, 655), "leader_started": (1, 656), "broker_failed": (8_000,)}
    events = lines(instants, timedelta(milliseconds=1))
    assert kept_lines(events) == {*(e.line_id for e in events)}
    again = {kind: (*ats, *(at + 3_000 for at in ats)) for kind, ats in instants.items()}
    assert kept_lines(lines(again, timedelta(milliseconds=1))) == {
        *("log_loaded 0", "log_loaded 3655", "leader_started 1", "leader_started 3656"),
        *("broker_failed 8000", "broker_failed 11000"),
    }


def test_lines_nearest_before_and_after_signal_are_kept() -> None:
    instants = {"leader_started": (1, 5, 6, 7, 8, 20, 30), "broker_failed": (7, 9)}
    events = lines(instants, timedelta(milliseconds=100))
    ends = [f"leader_started {n}" for n in (1, 6, 7, 8, 20, 30)]
    assert kept_lines(events) == {*ends, "broker_failed 7", "broker_failed 9"}
    assert proofs(events) == {(line_id, None) for line_id in ends}


def test_client_line_is_no_signal() -> None:
    of_client = lines({"broker_failed": (7,)}, timedelta(seconds=1), origin="client")
    events = [*lines({"leader_started": (1, 5, 9, 12)}, timedelta(seconds=1)), *of_client]
    assert kept_lines(events) == {"leader_started 1", "leader_started 12"}
    assert proofs(events) == {("leader_started 1", None), ("leader_started 12", None)}


def verdicts(outages: list[BrokerOutage]) -> list[tuple[object, ...]]:
    return [
        (o.broker, o.kind, o.confidence, o.down_at, o.detected_at, o.up_at, o.away_low_ms, o.explanation)
        for o in outages
    ]


def test_narrowed_lines_give_verdicts_of_all_lines() -> None:
    """Of few lines the verdicts are those of all lines; the files of the logs come along."""
    captured = in_order(events("crash-2.8"))
    table = as_table(captured, EVENTS)
    spans = {e.source: (captured[0].happened_at, captured[-1].happened_at) for e in captured}
    files = [
        row(LOG_FILES, origin="broker", cluster=captured[0].cluster, source=s, file=s, first_at=a, last_at=z)
        for s, (a, z) in spans.items()
    ]
    scope, signals = Scope(captured[0].cluster, WHOLE, WHOLE), signals_of(table)
    parts = {
        "events": about_brokers(table),
        "signs": signs_of_life(table, signals),
        "namings": broker_namings(table),
        "proofs": proofs_of_service(table, signals),
        "readings": as_table([], BROKER_SNAPSHOTS),
        "files": files_in_scope(as_table(files, LOG_FILES), scope),
    }
    values = {"scope": scope, "signals": signals}
    judged = judged_tables(BROKERS, {name: [rows] for name, rows in parts.items()}, values)
    assert verdicts(rows_of(judged["outages"].to_batches(), BrokerOutage)) == verdicts(
        rebuild_outages(captured, [], WHOLE)
    )
    assert judged["log_spans"].num_rows > 0
    assert judged["unobserved"].num_rows == 0


def test_only_broker_files_that_overlap_window_are_read() -> None:
    spans = {"before": (-9, -2), "into": (-2, 1), "within": (1, 2), "after": (5, 6)}
    files = [
        row(LOG_FILES, origin=o, file=name, first_at=AT + timedelta(hours=a), last_at=AT + timedelta(hours=b))
        for o, name, (a, b) in (*(("broker", *own) for own in spans.items()), ("client", "client", spans["into"]))
    ]
    window = Window(AT, AT + timedelta(hours=4))
    picked = files_in_scope(as_table(files, LOG_FILES), Scope("c", window, window))
    assert sorted(picked["file"].to_pylist()) == ["into", "within"]
