"""What a person should know of brokers and their replicas: each rule at its threshold and just below."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.codes import OutOfSyncKind
from kafka_hindsight.catalog.gold import (
    FAILOVERS,
    OUT_OF_SYNC_PERIODS,
    ROLLING_RESTARTS,
)
from kafka_hindsight.catalog.rows import Finding, IsrSpan, OutOfSyncPeriod, RestartStep, RollingRestart
from tests.support.findings import raised
from tests.support.rows import AT, row
from tests.support.settings import own


def after(minutes: float) -> Any:
    return AT + timedelta(minutes=minutes)


def findings(**facts: Any) -> list[Finding]:
    return raised(**facts)


def period(broker: int, suspect: int, **more: Any) -> OutOfSyncPeriod:
    defaults = {
        "kind": "slow",
        "confidence": "likely",
        "partitions": 9,
        "partition_ms": 60_000,
        "cycles": 1,
        "flaps": 0,
    }
    return row(OUT_OF_SYNC_PERIODS, broker=broker, suspected_broker=suspect, **defaults | more)


class TestSlow:
    def test_slow_follower_is_one_finding_per_suspect(self) -> None:
        (finding,) = findings(out_of_sync_periods=[period(3, 3), period(3, 3, partitions=4)])
        assert (finding.rule_id, finding.severity, finding.subject) == ("broker_slow", "warning", "3")
        assert finding.message == (
            "Broker 3 was alive and too slow to keep up with its leaders, which removed it from ISRs (9 partitions at"
            " most, 2 min in all)"
        )

    def test_slow_leader_of_lagging_followers_is_finding(self) -> None:
        (finding,) = findings(out_of_sync_periods=[period(2, 1), period(3, 1)])
        assert finding.subject == "1"
        assert "too slow as a leader: its followers 2, 3 left ISRs" in finding.message

    def test_possible_slow_broker_finding_names_doubt(self) -> None:
        (finding,) = findings(out_of_sync_periods=[period(2, 2, confidence="possible")])
        assert finding.message.endswith("unless its only leader or the network between them was slow")

    def test_broker_that_was_down_is_not_slow(self) -> None:
        assert findings(out_of_sync_periods=[period(2, 2, kind="outage"), period(2, 2, kind="disk")]) == []


def test_three_isr_cycles_within_30_minutes_are_flapping() -> None:
    calm = {"kind": "outage", "partitions": 2}
    assert findings(out_of_sync_periods=[period(2, 2, cycles=2, **calm)]) == []
    (finding,) = findings(out_of_sync_periods=[period(2, 2, cycles=3, flaps=4, **calm)])
    assert (finding.rule_id, finding.subject) == ("isr_flapping", "2")
    assert finding.message == (
        "Broker 2 left and rejoined the ISR of one partition 3 times within 30 minutes: 4 repeated shrinks"
        " in all, over 2 partitions"
    )


class TestTooEarly:
    def restart(self, is_early: bool | None) -> RollingRestart:
        step = RestartStep(
            broker=2, outage_id="o", kind="controlled_shutdown", is_early=is_early, down_at=AT, up_at=after(1),
            elections=0,
        )  # fmt: skip
        return row(ROLLING_RESTARTS, scorecard=[step])

    def test_early_stop_in_rolling_restart_is_warning(self) -> None:
        assert findings(restarts=[self.restart(False), self.restart(None)]) == []
        (finding,) = findings(restarts=[self.restart(True)])
        assert (finding.rule_id, finding.severity, finding.subject) == ("restart_too_early", "warning", "2")

    def test_early_stop_is_critical_where_partitions_suffered(self) -> None:
        offline = row(FAILOVERS, kind="offline", outage_id="o", topic="t", leader_to=-1)
        finding = next(f for f in findings(restarts=[self.restart(True)], failovers=[offline]) if f.subject == "2")
        assert (finding.severity, finding.message.endswith(": 1 partition had no leader")) == ("critical", True)
        spans = [row(IsrSpan.TABLE, topic="t", partition=p, outage_id="o", isr_size=1) for p in (0, 1, 1)]
        (finding,) = findings(
            restarts=[self.restart(True)], isr_spans=spans, settings=own("t", "min.insync.replicas=2")
        )
        assert finding.severity == "critical"
        assert ": 2 partitions had fewer in-sync replicas than min.insync.replicas" in finding.message
        (finding,) = findings(
            restarts=[self.restart(True)], isr_spans=spans, settings=own("t", "min.insync.replicas=1")
        )
        assert finding.severity == "warning"


def test_under_replicated_finding_names_missing_brokers_since_when_and_why() -> None:
    troubled = [row(PARTITION_SNAPSHOTS, topic="t", partition=p, replicas=[1, 2, 3], isr=[1]) for p in (0, 1)]
    span = row(
        IsrSpan.TABLE,
        topic="t", partition=0, broker=2, happened_at=after(-9), out_of_sync_until=None, shrink_cause="slow",
    )  # fmt: skip
    spans = [
        span,
        replace(span, partition=1, happened_at=after(-5)),
        replace(span, broker=3, shrink_cause=OutOfSyncKind.OUTAGE, happened_at=after(-2)),
        replace(span, broker=3, partition=1, out_of_sync_until=after(-1)),
    ]
    (finding,) = findings(partitions=troubled, isr_spans=spans)
    assert finding.message == (
        "2 partitions had fewer in-sync replicas than replicas at the last reading: broker 2 is missing from 2 since"
        " 02:51:00 (it was alive and fetched too late); broker 3 is missing from 1 since 02:58:00 (it was away)"
    )
    (finding,) = findings(partitions=troubled)
    assert finding.message.endswith("at the last reading")
