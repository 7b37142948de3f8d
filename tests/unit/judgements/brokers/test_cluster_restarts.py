"""A cluster restarted broker by broker: what belongs to one story, and its scorecard."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, IsrSpan, RollingRestart
from kafka_hindsight.judgements.brokers.outage_effects import rebuild_rolling_restarts
from tests.support.rows import AT, row

BROKERS = (1, 2, 3)


def after(seconds: float) -> Any:
    return AT + timedelta(seconds=seconds)


def broker_outage(
    broker: int, down: float, up: float | None, recovered: float | None = None, **more: Any
) -> BrokerOutage:
    kind = more.pop("kind", "controlled_shutdown")
    back = up if recovered is None else recovered
    columns = {
        "outage_id": f"{broker}@{down}", "broker": broker, "kind": kind, "intent": "undeclared",
        "down_at": after(down), "up_at": None if up is None else after(up), "leadership_restored_at": None,
        "isr_recovered_at": None if back is None else after(back), "elections": 4, "rebalances": 1,
    }  # fmt: skip
    return row(BROKER_OUTAGES, **columns | more)


def span(outage: BrokerOutage, start: float, end: float | None, partition: int = 0) -> IsrSpan:
    return row(
        IsrSpan.TABLE,
        topic="t", partition=partition, outage_id=outage.outage_id, happened_at=after(start),
        out_of_sync_until=None if end is None else after(end),
    )  # fmt: skip


def restarts(*outages: BrokerOutage, spans: tuple[IsrSpan, ...] = ()) -> list[RollingRestart]:
    return rebuild_rolling_restarts(outages, spans, BROKERS)[0]


def test_brokers_restarted_one_after_another_are_a_rolling_restart() -> None:
    one, two, three = broker_outage(3, 0, 10, 12), broker_outage(1, 15, 25, 26), broker_outage(2, 30, 40, 44)
    spans = (span(one, 0, 12), span(one, 0, 11, 1), span(two, 15, 26), span(three, 30, 44))
    rows, home = rebuild_rolling_restarts([three, one, two], spans, BROKERS)
    (restart,) = rows
    assert restart.brokers == [3, 1, 2]
    assert (restart.is_complete, restart.intent, restart.confidence) == (True, "undeclared", "likely")
    assert (restart.started_at, restart.ended_at) == (after(0), after(40))
    assert (restart.elections, restart.rebalances, restart.max_under_replicated) == (12, 3, 2)
    assert [(s.isr_recovered_ms, s.is_early) for s in restart.scorecard] == [
        (12_000, False),
        (11_000, False),
        (14_000, False),
    ]
    assert home == {o.outage_id: restart.restart_id for o in (one, two, three)}
    assert restart.explanation == (
        "All 3 brokers were restarted one after another in 40 s: 3, 1, 2. Each was back in every ISR after 11.0 to"
        " 14.0 s. At most 2 partitions lacked a replica at once."
    )


class TestEarly:
    def test_stop_before_previous_broker_is_back_in_isr_is_early(self) -> None:
        one, two = broker_outage(1, 0, 10, 20), broker_outage(2, 15, 25)
        (restart,) = restarts(one, two, spans=(span(one, 0, 12), span(one, 0, 20, 1), span(two, 15, 25)))
        assert [s.is_early for s in restart.scorecard] == [False, True]
        early = "Broker 2 was stopped too early: an ISR still lacked a broker that was restarted before."
        assert early in restart.explanation
        assert "no partition is under-replicated" in restart.advice

    def test_stop_before_previous_broker_serves_again_is_early(self) -> None:
        (restart,) = restarts(broker_outage(1, 0, 10), broker_outage(2, 8, 20), broker_outage(3, 30, 40))
        assert [s.is_early for s in restart.scorecard] == [False, True, False]

    def test_stop_while_isr_never_recovers_is_early(self) -> None:
        one, two = broker_outage(1, 0, 10, isr_recovered_at=None), broker_outage(2, 15, 25)
        (restart,) = restarts(one, two, spans=(span(one, 0, None),))
        assert restart.scorecard[1].is_early is True

    def test_is_early_is_unknown_once_no_log_would_show_the_return_to_the_isr(self) -> None:
        one, two = broker_outage(1, 0, 10, isr_recovered_at=None), broker_outage(2, 15, 25)
        for seconds, is_early in ((12, None), (20, True)):
            lacking = replace(span(one, 0, None), observed_until=after(seconds))
            (restart,) = restarts(one, two, spans=(lacking,))
            assert restart.scorecard[1].is_early is is_early

    def test_is_early_is_unknown_without_isr_evidence(self) -> None:
        (restart,) = restarts(broker_outage(1, 0, 10, isr_recovered_at=None), broker_outage(2, 15, 25))
        assert restart.scorecard[1].is_early is None
        assert restart.is_complete is False

    def test_isr_reading_after_stop_leaves_is_early_unknown(self) -> None:
        (restart,) = restarts(broker_outage(1, 0, 10, 18), broker_outage(2, 15, 25))
        assert restart.scorecard[1].is_early is None


class TestMembership:
    def test_crash_within_rolling_restart_is_named(self) -> None:
        (restart,) = restarts(broker_outage(1, 0, 10), broker_outage(2, 20, 30, kind="crash"), broker_outage(3, 40, 50))
        assert (restart.brokers, restart.is_complete) == ([1, 2, 3], True)
        assert "Broker 2 had no controlled shutdown (crash)." in restart.explanation

    @pytest.mark.parametrize(
        "outages",
        [
            [broker_outage(1, 0, 10)],
            [broker_outage(1, 0, 10), broker_outage(1, 20, 30)],
            [broker_outage(1, 0, 10), broker_outage(2, 20, 30, kind="crash")],
            [broker_outage(1, 0, 10), broker_outage(2, 611, 620)],
            [broker_outage(b, b, None) for b in BROKERS],
            [broker_outage(b, b, 100 + b) for b in BROKERS],
        ],
        ids=["one stop", "same broker twice", "crash", "ten minutes apart", "all stopped for good", "all away at once"],
    )
    def test_single_repeated_or_simultaneous_stops_are_no_rolling_restart(self, outages: list[BrokerOutage]) -> None:
        assert restarts(*outages) == []

    def test_rolling_restart_spans_long_wait_for_isr(self) -> None:
        (restart,) = restarts(broker_outage(1, 0, 10, 3600), broker_outage(2, 3700, 3710))
        assert restart.brokers == [1, 2]

    def test_broker_restarted_again_begins_new_rolling_restart(self) -> None:
        rows = restarts(*(broker_outage(b, 20 * i, 20 * i + 10) for i, b in enumerate((1, 2, 3, 1, 2, 3))))
        assert [r.brokers for r in rows] == [[1, 2, 3], [1, 2, 3]]
        assert len({r.restart_id for r in rows}) == 2

    def test_earlier_stop_of_same_broker_is_no_part_of_rolling_restart(self) -> None:
        """As a drill had it: broker 2 alone, a crash of broker 1, and then 3, 2, 1 with little between."""
        before = (broker_outage(2, 0, 10), broker_outage(1, 117, 135, kind="crash"))
        (restart,) = restarts(
            *before,
            broker_outage(3, 149, 154),
            broker_outage(2, 156, 170),
            broker_outage(1, 172, 180),
            broker_outage(1, 270, 280),
        )
        assert restart.brokers == [3, 2, 1]
