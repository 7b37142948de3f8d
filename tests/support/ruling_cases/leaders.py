"""The cases of the rulings on leaders, and the failovers in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, Event, Failover
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.partitions.leaders.failover_rulings import FAILOVER_RULINGS
from kafka_hindsight.shared.windows import Window
from tests.support.nights import WHOLE
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders
from tests.support.rows import AT, row
from tests.support.ruling_cases.brokers import lines
from tests.support.rulings import Decided, RulingCases, writers_of

YEAR = Window(datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC))

Witnessed = tuple[list[Event], list[BrokerOutage]]


def line(kind: str, second: float, **columns: Any) -> Event:
    made: Event = row(
        EVENTS,
        line_id=f"{kind}-{second}", kind=kind, topic="t", partition=0, happened_at=AT + timedelta(seconds=second),
        **columns,
    )  # fmt: skip
    return made


def led(*others: Event, **first: Any) -> Witnessed:
    """Broker 1 leads t-0 from second 0 on, broker 2 from second 30 on."""
    start = line("leader_started", 0, broker=1, leader_epoch=0, **first)
    return [start, line("leader_started", 30, broker=2, leader_epoch=1), *others], []


def without_controllers() -> Witnessed:
    own, outages = captured("preferred-2.8")
    return [e for e in own if not e.source.endswith("controller.log")], outages


def without_former_leader() -> Witnessed:
    """An election to the first replica that takes the former leader, broker 3, out of the ISR, and no absence of it."""
    own, outages = captured("metadata-4.3")
    elected = [replace(e, isr="1,2") if (e.kind, e.leader_epoch) == ("leader_started", 3) else e for e in own]
    return elected, outages


def detected_long_before() -> Witnessed:
    own, outages = captured("unclean-2.8")
    return own, [replace(o, detected_at=o.down_at, down_at=o.down_at) for o in outages]


LONG_DOWN = "unclean-2.8, when the last leader had been down for long"
MADE: dict[str, tuple[str, Callable[[], Witnessed]]] = {
    "only the controller reports the failed directory": (
        "t-0 epoch 1",
        lambda: led(line("log_dir_failed", 29, broker=9, node=1)),
    ),
    "an ISR of an earlier epoch is known": (
        "t-0 epoch 1",
        lambda: led(line("partition_recovering", 30, broker=2), isr="1"),
    ),
    "the ISR shrank unseen before an unclean election": (
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
    "an ISR of two epochs before in ZooKeeper mode": (
        "t-0 epoch 2",
        lambda: (
            [
                line("partition_state_changed", 0, leader=1, leader_epoch=0, isr="1"),
                line("leader_started", 30, broker=2, leader_epoch=2, isr="2"),
            ],
            [row(BROKER_OUTAGES, broker=1, kind="crash", down_at=AT + timedelta(seconds=20), up_at=None)],
        ),
    ),
    "an ISR of two epochs before, and a shutdown": (
        "t-0 epoch 2",
        lambda: (
            [
                line("partition_state_changed", 0, leader=1, leader_epoch=0, isr="1"),
                line("leader_started", 30, broker=2, leader_epoch=2, isr="2"),
            ],
            [row(BROKER_OUTAGES, broker=1, kind="controlled_shutdown", down_at=AT, detected_at=None, up_at=None)],
        ),
    ),
    "no ISR is known": ("t-0 epoch 1", lambda: led(line("partition_recovering", 30, broker=2))),
    "the last leader leads again and recovers": (
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
    "a leader outside the last ISR does not begin alone": (
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
    "a leader of whose ISR nothing is known does not begin alone": (
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
    "a leader of -1 in ZooKeeper mode": (
        "t-0 epoch 1",
        lambda: (
            [
                line("partition_state_changed", n, leader=leader, leader_epoch=n, isr="1")
                for n, leader in ((0, 1), (1, -1))
            ],
            [],
        ),
    ),
    "another broker leads again, and no ISR is known": (
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
    "an outage of unknown kind": (
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
    "directories of another process are assigned": (
        "t-0 epoch 1",
        lambda: led(line("partitions_changed", 29.9, broker=4, reason="offline-dir-assignment", event_count=98)),
    ),
    "preferred-2.8 without the controllers' logs": ("shop-events-3 epoch 5", without_controllers),
    "the former leader is taken out of the ISR": ("orders-0 epoch 3", without_former_leader),
    LONG_DOWN: ("ads-risky-18-0 epoch 3", detected_long_before),
}


@cache
def captured(name: str) -> Witnessed:
    return list(lines(name)), rebuild_outages(lines(name), [], WHOLE)


@cache
def witnessed(case: str) -> tuple[str, list[Event], list[BrokerOutage]]:
    if case.startswith("made: "):
        key, build = MADE[case.removeprefix("made: ")]
        return key, *build()
    name, _, key = case.partition(" ")
    return key, *captured(name)


@cache
def failover_in(case: str) -> Failover:
    key, own, outages = witnessed(case)
    rows = rebuild_leaders(own, [], context_of(own, outages), YEAR).failovers
    return {f"{r.topic}-{r.partition} epoch {r.epoch_to}": r for r in rows}[key]


def decided(case: str) -> Sequence[Decided]:
    row = failover_in(case)
    return writers_of(FAILOVER_RULINGS, row.kind, row.confidence, row.explanation)[:1]


CASES = (
    RulingCases(
        "leaders",
        FAILOVER_RULINGS,
        decided,
        MADE,
        [
            ("made: an ISR of an earlier epoch is known", "unclean_election", "likely"),
            ("made: the ISR shrank unseen before an unclean election", "unclean_election", "likely"),
            ("made: the last leader leads again and recovers", "leader_restored", "certain"),
            ("made: an ISR of two epochs before, and a shutdown", "controlled_shutdown", "possible"),
            ("made: the former leader is taken out of the ISR", "unknown", "unknown"),
            ("made: a leader outside the last ISR does not begin alone", "unknown", "unknown"),
            ("made: a leader of whose ISR nothing is known does not begin alone", "unknown", "unknown"),
        ],
        elsewhere={LONG_DOWN},
        caches=[failover_in],
    ),
)
