"""What rests on clocks that are known to differ: a captured unclean election, judged with them and without."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from kafka_hindsight.engine.reduce import BETWEEN_BROKERS
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.durations import CLOCK_SKEW, MS
from tests.support.lake import write_lake
from tests.support.logs import MADE_BY_INGEST, rebuilt
from tests.support.nights import WHOLE, events

APART = timedelta(seconds=7)


def test_no_verdict_is_certain_headlines_hedge_and_times_without_a_leader_have_bounds(tmp_path: Path) -> None:
    read = [event.as_dict() | {"knowledge_version": "1"} for event in events("unclean-4.1")]
    store = Store(str(write_lake(tmp_path, {"silver.events": read})))
    store.create(*MADE_BY_INGEST)
    said = {"cluster": "unclean-4.1", "window_from": WHOLE.start.isoformat(), "window_to": WHOLE.end.isoformat()}
    names = (*BETWEEN_BROKERS, "gold.incidents")
    as_read = rebuilt(store, {**said, "clocks_apart_ms": 0}, *names)
    apart = rebuilt(store, {**said, "clocks_apart_ms": APART // MS}, *names)
    assert all(as_read.values())

    sure = {name: [row["confidence"] for row in rows] for name, rows in as_read.items()}
    assert any("certain" in found for found in sure.values())
    assert all(row["confidence"] != "certain" for rows in apart.values() for row in rows)
    assert {name: len(rows) for name, rows in apart.items()} == {name: len(rows) for name, rows in as_read.items()}

    crashes = [i["headline"] for i in apart["gold.incidents"] if "crashed" in i["headline"]]
    assert crashes and all("probably crashed" in headline for headline in crashes)

    wider = (APART + CLOCK_SKEW) // MS
    before = {f["failover_id"]: f for f in as_read["gold.failovers"]}
    shown = [(f, before[f["failover_id"]]) for f in apart["gold.failovers"]]
    told = [(now, was) for now, was in shown if was["leaderless_ms"] is not None]
    assert told
    for now, was in told:
        assert now["leaderless_ms"] is None
        assert now["leaderless_low_ms"] <= max(0, was["leaderless_ms"] - wider)
        assert now["leaderless_high_ms"] >= was["leaderless_ms"] + wider
