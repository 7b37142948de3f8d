"""Absences of brokers some of whose logs are missing: excerpts of recorded nights without the logs that say more."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kafka_hindsight.catalog.bronze import LOG_FILES
from kafka_hindsight.catalog.rows import BrokerOutage, LogFile
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.shared.windows import Window
from tests.support.nights import events
from tests.support.outages import rebuild_outages
from tests.support.rows import row

EVER = Window(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


def absences(excerpt: str, *, but: str | None = None) -> list[BrokerOutage]:
    """What is rebuilt of an excerpt, but for the lines with some words."""
    return rebuild_outages([e for e in events(excerpt) if but is None or but not in e.text], [], EVER)


def test_registration_seen_only_by_controllers_is_crash_not_pause() -> None:
    """Broker 3 was killed, and its server.log is missing: its next process follows before it is let in."""
    [crash] = absences("restart-unlogged-4.1")
    assert (crash.broker, crash.kind, crash.confidence) == (3, "crash", "likely")
    assert crash.away_high_ms is None, "which process wrote the last line before is unknown"


def test_controller_line_of_node_is_no_sign_of_its_broker() -> None:
    """Node 3 as controller rejects a change of an ISR: its controller.log does not show what its broker does."""
    kinds = [absences("restart-unlogged-4.1", but=but)[0].kind for but in (None, "Rejecting")]
    assert kinds == ["crash", "crash"]


def test_node_that_starts_slowly_was_not_alive_meanwhile() -> None:
    """A combined node cuts its copy of the metadata log 0.7 s before a line says that its broker starts."""
    [crash] = absences("slow-start-3.9")
    assert (crash.broker, crash.kind, crash.confidence) == (1, "crash", "likely")


def test_failed_starts_seen_only_by_controllers_are_no_shutdowns() -> None:
    """Broker 3 was killed, and three starts found their port taken; its logs are missing."""
    [crash] = absences("start-unlogged-4.3")
    assert (crash.kind, crash.failed_starts, crash.start_failure) == ("crash", 3, None)
    assert "Its start failed 3 times: its log, which would show why, is not at hand." in crash.explanation
    assert crash.up_at == datetime(2026, 11, 23, 8, 8, 45, 668000, UTC)


def test_shutdown_seconds_after_start_is_shutdown() -> None:
    lines = events("start-unlogged-4.3")
    first = next(e for e in lines if "immediate shutdown" in e.text)
    later = replace(first, happened_at=first.happened_at + timedelta(seconds=5))
    outages = rebuild_outages([later if e is first else e for e in lines], [], EVER)
    assert [(o.kind, o.failed_starts) for o in outages] == [("crash", 0), ("controlled_shutdown", 2)]


def test_shutdown_minutes_after_failed_starts_is_shutdown() -> None:
    """From then on the broker's own log is at hand."""
    at = datetime(2026, 11, 23, 8, 9, 1, tzinfo=UTC)
    stop = row(EVENTS, kind="broker_shutdown_started", broker=3, source="broker-3/server.log", happened_at=at)
    outages = rebuild_outages([*events("start-unlogged-4.3"), stop], [], EVER)
    assert [(o.kind, o.failed_starts) for o in outages] == [("crash", 3), ("controlled_shutdown", 0)]


def test_decisions_of_deposed_controller_are_no_outages() -> None:
    """Controller 2 was paused for 20 s. It fences broker 3, lets it in and learns that 3 is the controller."""
    assert absences("deposed-4.1") == []
    [fenced] = absences("deposed-4.1", but="Completed transition")
    assert fenced.broker == 3


def test_absence_is_likely_where_controller_epoch_is_missing() -> None:
    """Broker 1 came back under controller 3, whose log is missing, and was shut down again."""
    [shutdown] = absences("epoch-missing-3.9")
    assert (shutdown.kind, shutdown.confidence) == ("controlled_shutdown", "likely")
    assert (shutdown.away_low_ms, shutdown.away_high_ms) == (0, 95_636)


def log_file(source: str, day: int, first: str, last: str) -> LogFile:
    """A file of a log, with the time that it covers."""
    first_at, last_at = (datetime.fromisoformat(f"2026-11-{day}T{clock}+00:00") for clock in (first, last))
    return row(LOG_FILES, origin="broker", source=source, first_at=first_at, last_at=last_at)


@pytest.mark.parametrize("until", ["12:23:38", "12:25:00"])
def test_new_registration_is_crash_although_start_log_is_lost(until: str) -> None:
    """The log of broker 2 is lost from before it was killed until after it served again, for less than two minutes."""
    files = [log_file("broker-2/server.log", 23, "12:12:57", until)]
    [crash] = rebuild_outages(events("logs-lost-4.3"), [], EVER, files)
    assert (crash.broker, crash.kind, crash.confidence) == (2, "crash", "likely")


@pytest.mark.parametrize(
    ("ends", "goes_on", "kind"), [("01:52:21", "01:52:42", "unknown"), ("01:50:21", "01:50:42", "unresponsive")]
)
def test_absence_is_unknown_where_log_gap_may_hide_start(ends: str, goes_on: str, kind: str) -> None:
    """ZooKeeper's controller reports the same of a new process and of a new session."""
    lines = [e for e in events("crash-2.8") if e.broker != 1 or not "01:52:22" < f"{e.happened_at:%T}" < "01:52:42"]
    spans = (("01:44:00", ends), (goes_on, "02:00:00"))
    [absence] = rebuild_outages(lines, [], EVER, [log_file("broker-1/server.log", 21, *span) for span in spans])
    assert absence.kind == kind


def test_failed_start_soon_after_shutdown_belongs_to_next_process() -> None:
    """Broker 3 served from 13:08:46.4, shut down at 13:08:49.3; its next process found a wrong disk at 13:08:50.8."""
    outages = absences("short-life-4.1")
    assert [(o.kind, o.failed_starts, o.start_failure) for o in outages] == [
        ("controlled_shutdown", 1, "log_dir_failed"),
        ("controlled_shutdown", 1, "other_cluster"),
    ]
