"""A night whose lines come late, played to the window that they belong to, in whichever way they come."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kafka_hindsight.catalog import quality
from kafka_hindsight.lake.store import Store
from tests.support.lake import rows
from tests.support.logs import ingested, published, resigned, settings, unpack_night

LOG = "broker-2/server.log"
BEGIN = datetime(2026, 11, 21, tzinfo=UTC)
NIGHT = (BEGIN, BEGIN + timedelta(hours=2))
NEXT = (NIGHT[1], BEGIN + timedelta(hours=7))
LATE_FROM, LATE_TO = "01:41:43", "01:41:57"
"""The lines of the group mobile-sub-3 until its third generation, which a shipper delivers later."""

GENERATIONS = ("group_id", "to_generation", "cause", "confidence", "started_at", "ended_at")

Deliver = Callable[[list[str]], None]
"""Lets lines arrive behind those that came before."""


class LateNight:
    """Lines of broker 2 about its groups: those in time, those that come late, and one of the next window."""

    def __init__(self, folder: Path) -> None:
        text = (unpack_night(folder / "night") / "logs" / LOG).read_text()
        self.lines = [
            line for line in text.splitlines() if "[GroupCoordinator" in line and "01:41:20" <= line[12:20] < "01:42:30"
        ]
        self.lines += [_each_minute(hour=1, minute=n) for n in range(43, 60)]
        self.late = [line for line in self.lines if LATE_FROM <= line[12:20] < LATE_TO]
        self.in_time = [line for line in self.lines if line not in self.late]
        self.following = [_each_minute(hour=2, minute=n) for n in range(60)]

    def play(self, root: Path, logs: Path | str, deliver: Deliver) -> None:
        """Audit the night, let the late lines come, audit the next window, and each window that it names again.

        The late lines arrive five hours and 49 minutes after they were written.
        """
        lake, whole = root / "lake", root / "whole"
        deliver(self.in_time)
        _audit(lake, logs, "night", NIGHT, BEGIN + timedelta(hours=2, minutes=10))
        assert "mobile-sub-3" not in {group for group, generation, *_ in _rebalances(lake) if generation < 4}
        deliver(self.late + self.following)
        summary = _audit(lake, logs, "next", NEXT, BEGIN + timedelta(hours=7, minutes=30))
        (window,) = rows(lake, quality.LATE_WINDOWS.full_name)
        assert (window["window_from"], window["window_to"]) == NIGHT
        assert (window["records"], window["sources"]) == (len(self.late), [LOG])
        assert any(w.startswith(f"{len(self.late)} records came late") for w in summary["warnings"])
        _audit(
            lake, logs, "again", (window["window_from"], window["window_to"]), BEGIN + timedelta(hours=7, minutes=40)
        )
        in_order = whole / "logs" / LOG
        in_order.parent.mkdir(parents=True)
        in_order.write_text("".join(f"{line}\n" for line in [*self.lines, *self.following]))
        _audit(whole / "lake", whole / "logs", "whole", NIGHT, BEGIN + timedelta(hours=2, minutes=10))
        assert _rebalances(lake) == _rebalances(whole / "lake")
        assert {1, 2, 3} <= {generation for group, generation, *_ in _rebalances(lake) if group == "mobile-sub-3"}
        covered = [row for row in rows(lake, quality.COVERAGE.full_name) if row["window_from"] == NIGHT[0]]
        assert sum(row["lines_in"] for row in covered) == len(self.in_time) + len(self.late)


def _each_minute(hour: int, minute: int) -> str:
    """A line of the broker: its log has no gap in which a file could be missing."""
    return resigned(9, f"{hour:02d}:{minute:02d}:00,000", 2).rstrip("\n")


def _audit(lake: Path, logs: Path | str, run: str, window: tuple[datetime, datetime], at: datetime) -> dict[str, Any]:
    inputs: dict[str, Any] = {"window_from": window[0], "window_to": window[1], "run_id": run, "run_at": at}
    _, summary = ingested(lake, logs, **inputs)
    published(settings(lake, logs, **inputs), summary)
    assert Store(str(lake)).has(quality.PUBLICATIONS)
    return summary


def _rebalances(lake: Path) -> list[tuple[Any, ...]]:
    rebalances = [row for row in rows(lake, "gold.rebalances") if row["started_at"] < NIGHT[1]]
    return sorted(tuple(row[name] for name in GENERATIONS) for row in rebalances)
