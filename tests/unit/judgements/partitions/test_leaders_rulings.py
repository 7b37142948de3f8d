"""Each ruling on leaders decides the case that it names, and another ruling decides the one that looks alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pytest

from kafka_hindsight.catalog.codes import FailoverKind, ImbalanceEnd
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, Event, Failover
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.partitions.leaders.failover_rulings import FAILOVER_RULINGS, LeaderChange
from kafka_hindsight.judgements.partitions.leaders.imbalance import ended_by
from kafka_hindsight.judgements.reasoning.rulings import Ruling
from kafka_hindsight.shared.windows import Window
from tests.support.groups import SAMPLE
from tests.support.nights import WHOLE, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders
from tests.support.rows import AT, row
from tests.support.rulings import wording
from tools.plain_reader import read_logs

YEAR = Window(datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))

Witnessed = tuple[list[Event], list[BrokerOutage]]


def line(kind: str, second: float, **columns: Any) -> Event:
    return row(
        EVENTS,
        line_id=f"{kind}-{second}", kind=kind, topic="t", partition=0, happened_at=AT + timedelta(seconds=second),
        **columns,
    )  # fmt: skip


def led(*others: Event, **first: Any) -> Witnessed:
    """Broker 1 leads t-0 from second 0 on, broker 2 from second 30 on."""
    start = line("leader_started", 0, broker=1, leader_epoch=0, **first)
    return [start, line("leader_started", 30, broker=2, leader_epoch=1), *others], []


def without_controllers() -> Witnessed:
    lines, outages = captured("preferred-2.8")
    return [e for e in lines if not e.source.endswith("controller.log")], outages


def detected_long_before() -> Witnessed:
    lines, outages = captured("unclean-2.8")
    return lines, [replace(o, detected_at=o.down_at, down_at=o.down_at) for o in outages]


LONG_DOWN = "made: unclean-2.8, when the last leader had been down for long"
MADE: dict[str, tuple[str, Callable[[], Witnessed]]] = {
    "made: only the controller reports the failed directory": (
        "t-0 epoch 1",
        lambda: led(line("log_dir_failed", 29, broker=9, node=1)),
    ),
    "made: an ISR of an earlier epoch is known": (
        "t-0 epoch 1",
        lambda: led(line("partition_recovering", 30, broker=2), isr="1"),
    ),
    "made: the ISR shrank unseen before an unclean election": (
        "t-0 epoch 1",
        lambda: (
            [
                line("leader_started", 0, broker=1, leader_epoch=0, isr="1,2", partition_epoch=0),
                line("partition_recovering", 30, broker=2),
                line("leader_started", 30, broker=2, leader_epoch=1, isr="2", partition_epoch=2),
            ],
            [],
        ),
    ),
    "made: an ISR of two epochs before in ZooKeeper mode": (
        "t-0 epoch 2",
        lambda: (
            [
                line("partition_state_changed", 0, leader=1, leader_epoch=0, isr="1"),
                line("leader_started", 30, broker=2, leader_epoch=2, isr="2"),
            ],
            [row(BROKER_OUTAGES, broker=1, kind="crash", down_at=AT + timedelta(seconds=20), up_at=None)],
        ),
    ),
    "made: no ISR is known": ("t-0 epoch 1", lambda: led(line("partition_recovering", 30, broker=2))),
    "made: the last leader leads again and recovers": (
        "t-0 epoch 2",
        lambda: (
            [
                line("leader_started", 0, broker=1, leader_epoch=0),
                line("follower_started", 10, broker=3, leader=-1, leader_epoch=1),
                line("partition_recovering", 20, broker=1),
                line("leader_started", 20, broker=1, leader_epoch=2, isr="1"),
            ],
            [],
        ),
    ),
    "made: a leader outside the last ISR does not begin alone": (
        "t-0 epoch 1",
        lambda: (
            [
                line("leader_started", 0, broker=1, leader_epoch=0, isr="1", partition_epoch=0),
                line("partition_recovering", 30, broker=2),
                line("leader_started", 30, broker=2, leader_epoch=1, isr="2,3", partition_epoch=1),
            ],
            [],
        ),
    ),
    "made: a leader of whose ISR nothing is known does not begin alone": (
        "t-0 epoch 1",
        lambda: (
            [
                line("leader_started", 0, broker=1, leader_epoch=0),
                line("partition_recovering", 30, broker=2),
                line("leader_started", 30, broker=2, leader_epoch=1, isr="2,3"),
            ],
            [],
        ),
    ),
    "made: a leader of -1 in ZooKeeper mode": (
        "t-0 epoch 1",
        lambda: (
            [
                line("partition_state_changed", n, leader=leader, leader_epoch=n, isr="1")
                for n, leader in ((0, 1), (1, -1))
            ],
            [],
        ),
    ),
    "made: another broker leads again, and no ISR is known": (
        "t-0 epoch 2",
        lambda: (
            [
                line("leader_started", 0, broker=1, leader_epoch=0),
                line("follower_started", 10, broker=3, leader=-1, leader_epoch=1),
                line("leader_started", 20, broker=2, leader_epoch=2),
            ],
            [],
        ),
    ),
    "made: an outage of unknown kind": (
        "t-0 epoch 1",
        lambda: (
            led()[0],
            [
                row(
                    BROKER_OUTAGES,
                    broker=1,
                    kind="unknown",
                    confidence="unknown",
                    down_at=AT,
                    detected_at=AT,
                    up_at=None,
                )
            ],
        ),
    ),
    "made: directories of another process are assigned": (
        "t-0 epoch 1",
        lambda: led(line("partitions_changed", 29.9, broker=4, reason="offline-dir-assignment", event_count=98)),
    ),
    "made: preferred-2.8 without the controllers' logs": ("shop-events-3 epoch 5", without_controllers),
    LONG_DOWN: ("ads-risky-18-0 epoch 3", detected_long_before),
}


ALIKE = {
    "an ISR of an earlier epoch is known": ("unclean_election", "likely"),
    "the ISR shrank unseen before an unclean election": ("unclean_election", "likely"),
    "the last leader leads again and recovers": ("leader_restored", "certain"),
    "a leader outside the last ISR does not begin alone": ("unknown", "unknown"),
    "a leader of whose ISR nothing is known does not begin alone": ("unknown", "unknown"),
}
"""What rulings decide beside the cases that they name: the kind of the failover, and how sure it is."""


@cache
def captured(name: str) -> Witnessed:
    lines = read_logs(SAMPLE / "logs", "broker", name)[0] if name == SAMPLE.name else events(name)
    return lines, list(rebuild_outages(lines, [], WHOLE))


@cache
def witnessed(case: str) -> tuple[str, list[Event], list[BrokerOutage]]:
    if case in MADE:
        key, build = MADE[case]
        return key, *build()
    name, _, key = case.partition(" ")
    return key, *captured(name)


@cache
def failover_in(case: str) -> Failover:
    key, lines, outages = witnessed(case)
    rows = rebuild_leaders(lines, [], context_of(lines, outages), YEAR).failovers
    return {f"{r.topic}-{r.partition} epoch {r.epoch_to}": r for r in rows}[key]


def writer_of(sentence: str, rulings: Iterable[Ruling[Any]]) -> Ruling[Any]:
    """The first ruling of which a sentence can be."""
    return next(r for r in rulings if wording(r).match(sentence))


def named(rulings: Iterable[Ruling[Any]]) -> Any:
    return pytest.mark.parametrize("ruling", rulings, ids=lambda r: f"{r.code}: {r.cases[0]}")


@named(FAILOVER_RULINGS)
def test_failover_ruling_decides_its_case_and_not_the_lookalike(ruling: Ruling[LeaderChange]) -> None:
    own, other = failover_in(ruling.cases[0]), failover_in(ruling.cases[1])
    assert writer_of(own.explanation, FAILOVER_RULINGS) is ruling
    assert (own.kind, own.confidence) == (ruling.code, own.confidence.at_most(ruling.confidence))
    assert writer_of(other.explanation, FAILOVER_RULINGS) is not ruling


@pytest.mark.parametrize(
    ("case", "requested"),
    [
        ("reassignment-4.3 crm-6-tracker-t-0 epoch 1", True),
        ("reordered-2.8 billing.46-t-0 epoch 2", True),
        ("cancelled-4.1 parcels.83-t-0 epoch 4", False),
        ("unclean-4.1 fraud-risky-19-0 epoch 1", False),
        ("unclean-2.8 ads-risky-18-0 epoch 3", False),
        (LONG_DOWN, False),
        ("night-4.1 shop-events-1 epoch 2", True),
        ("metadata-4.3 orders-0 epoch 3", None),
    ],
)
def test_election_is_requested_where_lines_name_no_task_of_kafka(case: str, requested: bool | None) -> None:
    assert failover_in(case).requested_by_operator is requested


@pytest.mark.parametrize(
    ("case", "end"),
    [
        ("crash-2.8 shop-events-2 epoch 1", ImbalanceEnd.FAILOVER),
        ("reordered-2.8 billing.46-t-0 epoch 2", ImbalanceEnd.REQUESTED_ELECTION),
        ("cancelled-4.1 parcels.83-t-0 epoch 4", ImbalanceEnd.AUTOMATIC_ELECTION),
        ("metadata-4.3 orders-0 epoch 3", ImbalanceEnd.PREFERRED_ELECTION),
    ],
)
def test_imbalance_ends_by_change_of_leader_and_who_requested_it(case: str, end: ImbalanceEnd) -> None:
    assert ended_by(failover_in(case)) is end


@pytest.mark.parametrize("case", ALIKE)
def test_failover_has_kind_and_confidence_of_its_variant(case: str) -> None:
    failover = failover_in(f"made: {case}")
    assert (failover.kind, failover.confidence) == ALIKE[case]


def test_every_made_case_is_used() -> None:
    cases = {r.cases[0] for r in FAILOVER_RULINGS if r.cases[0].startswith("made: ")}
    assert cases | {LONG_DOWN} | {f"made: {case}" for case in ALIKE} == set(MADE)


def test_failover_rulings_follow_the_order_of_failover_kinds() -> None:
    kinds = [FailoverKind(r.code) for r in FAILOVER_RULINGS if r.code != FailoverKind.UNKNOWN]
    assert kinds == sorted(kinds, key=list(FailoverKind).index)
