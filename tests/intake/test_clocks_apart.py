"""The recorded night, and the same with the clock of one broker in another zone, or some seconds ahead, or delayed."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.intake.clocks_apart import Distances, ahead, distances, pairs_apart
from kafka_hindsight.intake.lake_rows import table_of
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from tests.support.logs import unpack_night
from tools.plain_reader import read_logs

SOURCES = {broker: frozenset({f"broker-{broker}/server.log"}) for broker in (1, 2, 3)}


def test_differing_broker_clock_is_named_and_equal_clocks_are_not(tmp_path: Path) -> None:
    events, _ = read_logs(unpack_night(tmp_path) / "logs", "broker", "prod")
    read = [e.as_dict() for e in events if e.kind in ("leader_started", "follower_started")]

    def sentences(moved: timedelta) -> list[str]:
        rows = [{**row, "happened_at": row["happened_at"] + moved * (row["broker"] == 2)} for row in read]
        store = Store(str(tmp_path / f"lake{moved.total_seconds()}"))
        store.create(EVENTS)
        store.append(EVENTS, table_of([{**row, "knowledge_version": "known"} for row in rows], EVENTS))
        pairs = distances(store, Part("prod"))
        return [
            finding.sentence.partition(",")[0] for finding in (*pairs_apart(pairs, SOURCES), *ahead(pairs, SOURCES))
        ]

    assert sentences(timedelta()) == []
    assert [sentence.partition(" seem to run")[0] for sentence in sentences(timedelta(hours=-2))] == [
        "The clocks of brokers 1 and 2",
        "The clocks of brokers 2 and 3",
    ]
    for moved in (7, 30, 180):
        (seconds,) = sentences(timedelta(seconds=moved))
        assert seconds.startswith("The clock of broker 2 seems to be ")
        assert seconds.endswith("that of broker 1 and broker 3")
        behind = sentences(timedelta(seconds=-moved))
        assert [sentence.split(" seems")[0] for sentence in behind] == [
            "The clock of broker 1",
            "The clock of broker 3",
        ]


def later(by: float, minute: int, count: int = 5) -> list[tuple[float, int]]:
    """Leader epochs of a minute that the leader names so many seconds later than the follower does."""
    return [(-by - 0.01 * n, minute) for n in range(count)]


QUIET = {(1, 3): later(0.1, 1, 90), (3, 1): later(-0.2, 4, 90)}
TWICE = [*later(7, 1), *later(7.3, 9)]


def test_leader_epochs_repeatedly_later_than_followers_mean_clock_ahead() -> None:
    ((error, sentence),) = ahead({**QUIET, (1, 2): TWICE}, SOURCES)
    assert (error.meaning, error.brokers, error.sources) == ("ahead", {1}, {"broker-1/server.log"})
    assert error.by == timedelta(seconds=7.34)
    assert sentence.startswith("The clock of broker 1 seems to be 7.2 s ahead of that of broker 2, at least for a time")
    assert "10 leader epochs of broker 1 began so much earlier in the logs of its followers" in sentence
    assert "A verdict that compares this clock with another one is not certain" in sentence


@pytest.mark.parametrize(
    "pairs",
    [
        QUIET,
        {(1, 2): later(7, 1, 60)},
        {(1, 2): [*later(7, 1, 2), *later(7, 9, 2)]},
        {(1, 2): [*later(2.4, 1), *later(8.9, 9)]},
        {(1, 2): [*later(7, 1), *later(0.1, 1), *later(7, 9), *later(3, 9), *later(-0.3, 9)]},
        {(1, 2): [*TWICE, *later(0.2, 4), *later(0.3, 5)]},
        {(1, 2): TWICE, (2, 1): [*later(-0.5, 3), *later(6, 7)]},
    ],
    ids=[
        "delays below a second",
        "one delay of a paused leader",
        "few epochs",
        "delays of different lengths",
        "same minute without delay",
        "no delay in between",
        "not ahead as a follower",
    ],
)
def test_delayed_leader_has_no_clock_ahead(pairs: Distances) -> None:
    assert ahead(pairs, SOURCES) == []


def test_epochs_whole_quarter_hours_apart_mean_different_zones() -> None:
    pairs = {(1, 2): [(-7_200.0, n) for n in range(60)], (2, 1): [(7_201.0, n) for n in range(58)] + [(3.0, 70)] * 2}
    ((error, sentence),) = pairs_apart(pairs, SOURCES)
    assert (error.by, error.brokers) == (timedelta(hours=2), {1, 2})
    assert "The clocks of brokers 1 and 2 seem to run in different zones" in sentence
    assert "in the log of broker 1 118 of 120 leader epochs begin 2 h later than in that of broker 2" in sentence


@pytest.mark.parametrize("late", [3_600.0, -3_600.0])
def test_clock_that_differs_from_all_others_is_the_wrong_one(late: float) -> None:
    facts = {(1, 2): late, (2, 3): -late, (1, 3): 0.1}
    found = pairs_apart({pair: [(seconds, n) for n in range(10)] for pair, seconds in facts.items()}, SOURCES)
    assert [(f.error.brokers, f.error.sources) for f in found] == [({2}, SOURCES[2])] * 2


@pytest.mark.parametrize(
    "facts",
    [
        [(0.2, n) for n in range(500)],
        [(3_600.0, n) for n in range(4)],
        [(3_600.0, 1)] * 100,
        [*((3_600.0, n) for n in range(80)), *((0.1, n) for n in range(20))],
        [(500.0, n) for n in range(100)],
    ],
    ids=["one zone", "few epochs", "one minute only", "too small a share", "not whole quarter hours"],
)
def test_unclear_evidence_names_no_zone(facts: list[tuple[float, int]]) -> None:
    assert pairs_apart({(1, 2): facts}, SOURCES) == []


def test_three_broker_pairs_are_named_and_others_counted() -> None:
    errors = pairs_apart({(1, other): [(3_600.0, n) for n in range(10)] for other in range(2, 8)}, SOURCES)
    assert [f.sentence for f in errors[3:]] == ["3 more pairs of brokers write times that lie apart so.", "", ""]
    assert all(" 1 h later " in f.sentence for f in errors[:3])
