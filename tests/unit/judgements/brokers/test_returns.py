"""When a broker is known to be back whose return no line shows."""

from __future__ import annotations

import pytest

from tests.support.nights import WHOLE, at
from tests.support.outages import rebuild_outages
from tests.unit.judgements.brokers.test_outages import log_file, of_controller, own


def test_replica_start_after_the_process_ended_shows_a_new_process() -> None:
    """The lines of the start are lost. A shutdown may take five minutes, and this one was over after two seconds."""
    stops = [own("broker_shutdown_started", "03:00:00"), own("broker_stopped", "03:00:02")]
    lines = [own("leader_started", "02:50:00"), *stops, own("follower_started", "03:00:24")]
    [absence] = rebuild_outages(lines, [], WHOLE)
    assert (absence.kind, absence.up_at) == ("controlled_shutdown", at("03:00:24"))
    [going_on] = rebuild_outages([lines[0], lines[1], lines[3]], [], WHOLE)
    assert going_on.up_at is None, "a broker that shuts down goes on to serve"


def test_start_after_lost_hours_leaves_end_of_outage_open() -> None:
    """It may have come back and gone again: only until the log ends is it known to have been away."""
    stops = [own("broker_shutdown_started", "03:00:00"), own("broker_stopped", "03:00:05")]
    works = [own("broker_starting", "09:00:00"), own("broker_unfenced_self", "09:00:09")]
    files = [
        log_file("broker-1/server.log", "02:00:00", "03:00:07"),
        log_file("broker-1/server.log", "09:00:00", "09:30:00"),
    ]
    [absence] = rebuild_outages([own("leader_started", "02:50:00"), *stops, *works], [], WHOLE, files)
    assert (absence.confidence, absence.away_low_ms, absence.away_high_ms) == ("likely", 7_000, 21_609_000)


@pytest.mark.parametrize(("line", "up_at"), [("leader_started", "03:00:08"), ("follower_started", "03:01:00")])
def test_leadership_after_granted_shutdown_ends_the_outage(line: str, up_at: str) -> None:
    """Its own log is lost, its state changes are not; a replica may still be assigned as it goes."""
    released = of_controller("broker_shutdown_granted", "03:00:02")
    lines = [own("leader_started", "02:50:00"), released, own(line, "03:00:08"), own("follower_started", "03:01:00")]
    [absence] = rebuild_outages(lines, [], WHOLE)
    assert (absence.kind, absence.up_at) == ("controlled_shutdown", at(up_at))
