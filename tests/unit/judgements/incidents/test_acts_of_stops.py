"""Which shutdowns are one act."""

from __future__ import annotations

from datetime import UTC, datetime

from kafka_hindsight.catalog.rows import (
    BrokerOutage,
)
from kafka_hindsight.judgements.brokers.outage_effects import explain_outages, rebuild_rolling_restarts
from kafka_hindsight.shared.windows import Window
from tests.support.incidents import judged_incidents
from tests.support.nights import events
from tests.support.outages import rebuild_outages
from tests.unit.judgements.incidents.test_harm import by_start, incidents_of, stop


def test_shutdown_after_all_brokers_returned_is_separate_incident() -> None:
    """Brokers 1 and 2 are shut down at 07:55:00 and come back at 07:55:34; at 07:55:48 all three go for good."""
    window = Window(datetime(2026, 11, 24, tzinfo=UTC), datetime(2026, 11, 25, tzinfo=UTC))
    away = rebuild_outages(events("stopped-again-4.3"), [], window)
    restarts, restart_of = rebuild_rolling_restarts(away, [], [1, 2, 3])
    absences = explain_outages(away, restart_of)
    assert [r.brokers for r in restarts] == [[1, 2, 3]]
    incidents = judged_incidents(window, outages=absences).incidents
    assert [(i.headline, f"{i.ended_at:%H:%M:%S}" if i.ended_at else None) for i in by_start(incidents)] == [
        ("Brokers 1, 2 and 3 were restarted one after another from 07:54:09 on", "07:54:44"),
        ("Brokers 1 and 2 were shut down at 07:55:00", "07:55:34"),
        ("Brokers 1, 2 and 3 were shut down at 07:55:48, and none came back", None),
    ]


def test_shutdowns_are_one_incident_while_one_broker_is_away() -> None:
    def acts(*stops: BrokerOutage) -> list[list[int] | None]:
        return [i.brokers for i in by_start(incidents_of(outages=stops))]

    assert acts(stop(1, 0, up_after=10), stop(1, 30)) == [[1], [1]]
    assert acts(stop(1, 0, up_after=30), stop(2, 10, up_after=5), stop(3, 29)) == [[1, 2, 3]]
    assert acts(stop(1, 0, up_after=30), stop(2, 10, up_after=5), stop(3, 30)) == [[1, 2], [3]]
    assert acts(stop(1, 0, up_after=90), stop(2, 61)) == [[1], [2]]
