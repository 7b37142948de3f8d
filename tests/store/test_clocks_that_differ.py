"""What rests on clocks that are known to be wrong: a captured unclean election, judged with them and without."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations
from pathlib import Path

import pytest

from kafka_hindsight.catalog.codes import ClockMeaning
from kafka_hindsight.engine.reduce import BY_TIMES
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.durations import CLOCK_SKEW, MS
from tests.support.lake import write_lake
from tests.support.logs import MADE_BY_INGEST, Row, rebuilt
from tests.support.nights import WHOLE, events

APART = timedelta(seconds=7)
READ = events("unclean-4.1")
NAMES = (*sorted(BY_TIMES), "gold.incidents", "gold.findings")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    rows = [event.as_dict() | {"knowledge_version": "1"} for event in READ]
    made = Store(str(write_lake(tmp_path_factory.mktemp("lake"), {"silver.events": rows})))
    made.create(*MADE_BY_INGEST)
    return made


def judged(store: Store, *clocks: ClockError) -> dict[str, list[Row]]:
    window = {"window_from": WHOLE.start.isoformat(), "window_to": WHOLE.end.isoformat()}
    return rebuilt(store, {"cluster": "unclean-4.1", **window, "clocks": [c.summary() for c in clocks]}, *NAMES)


def ahead(broker: int) -> ClockError:
    sources = frozenset(e.source for e in READ if e.broker == broker)
    return ClockError(ClockMeaning.AHEAD, sources, frozenset({broker}), APART)


def sources_of(row: Row) -> set[str]:
    return {quote["source"] for quote in row["evidence"]}


def certain(rows: dict[str, list[Row]]) -> list[Row]:
    return [row for name in BY_TIMES for row in rows[name] if row["confidence"] == "certain"]


def test_only_verdicts_that_compare_wrong_clock_lose_certainty(store: Store) -> None:
    as_read = judged(store)
    for broker in (1, 2, 3):
        clock, rows = ahead(broker), judged(store, ahead(broker))
        assert len(rows["gold.findings"]) == len(as_read["gold.findings"]) + 1, "one names the clock"
        assert all(len(rows[name]) == len(as_read[name]) for name in (*BY_TIMES, "gold.incidents"))
        assert all(not sources_of(row) & clock.sources or sources_of(row) <= clock.sources for row in certain(rows))
        compares = [row for row in certain(as_read) if sources_of(row) & clock.sources and len(sources_of(row)) > 1]
        assert len(certain(as_read)) - len(certain(rows)) >= len(compares) > 0
        alone = [row for row in as_read["gold.broker_outages"] if not sources_of(row) & clock.sources]
        assert all(row in rows["gold.broker_outages"] for row in alone)


def test_wrong_clocks_hedge_headlines_and_bound_leaderless_time(store: Store) -> None:
    as_read, apart = judged(store), judged(store, *map(ahead, (1, 2, 3)))
    crashes = [i["headline"] for i in apart["gold.incidents"] if "crashed" in i["headline"]]
    assert crashes and any("probably crashed" in headline for headline in crashes)
    wider = (APART + CLOCK_SKEW) // MS
    before = {f["failover_id"]: f for f in as_read["gold.failovers"]}
    both = [(f, before[f["failover_id"]]) for f in apart["gold.failovers"]]
    bounded = [(now, was) for now, was in both if was["leaderless_ms"] is not None]
    assert bounded
    for now, was in bounded:
        assert now["leaderless_ms"] is None
        assert now["leaderless_low_ms"] <= max(0, was["leaderless_ms"] - wider)
        assert now["leaderless_high_ms"] >= was["leaderless_ms"] + wider


def test_clock_in_another_zone_makes_no_certain_echo_and_no_length(tmp_path: Path) -> None:
    hour = timedelta(hours=1)
    for moved in (hour, -hour):
        rows = [
            event.as_dict() | {"knowledge_version": "1", "happened_at": event.happened_at + moved * (event.broker == 2)}
            for event in READ
        ]
        made = Store(str(write_lake(tmp_path / f"moved by {moved // hour}", {"silver.events": rows})))
        made.create(*MADE_BY_INGEST)
        sources = frozenset(e.source for e in READ if e.broker == 2)
        zone = ClockError(ClockMeaning.OTHER_ZONE, sources, frozenset({2}), hour, proof="its leader epochs begin later")
        judged_rows = judged(made, zone)
        incidents = judged_rows["gold.incidents"]
        assert not [i["headline"] for i in incidents if "for 1 h" in i["headline"] or "for 2 h" in i["headline"]]
        unsure = [
            u for u in judged_rows["gold.unavailability"] if u["ended_at"] and u["ended_at"] - u["started_at"] >= hour
        ]
        assert {u["confidence"] for u in unsure} <= {"possible", "unknown"}
        assert {u["low_ms"] for u in unsure} <= {0}, "a length between these clocks shows nothing"
        away = sorted(judged_rows["gold.broker_outages"], key=lambda o: o["down_at"])
        twice = [
            {one["confidence"], other["confidence"]}
            for one, other in combinations(away, 2)
            if one["broker"] == other["broker"]
            and abs(other["down_at"] - one["down_at"] - hour) < timedelta(seconds=30)
        ]
        assert twice and all("certain" not in confidences for confidences in twice)
        alone = [o for o in away if o["broker"] == 1]
        assert [o["confidence"] for o in alone] == ["certain"], "the clocks of brokers 1 and 3 agree"
        (finding,) = [f for f in judged_rows["gold.findings"] if f["rule_id"] == "clocks_differ"]
        assert finding["message"].startswith(
            "The clock of broker 2 differs from those of other brokers by 1 h: its leader"
        )
