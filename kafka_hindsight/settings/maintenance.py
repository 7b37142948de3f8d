"""Declared maintenance windows, read from one line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from kafka_hindsight.shared.exits import BadInput

EXAMPLE = "2026-11-20T01:00Z/2026-11-20T03:00Z patching"


@dataclass(frozen=True)
class MaintenanceWindow:
    """An interval in which work on the cluster was declared; `reason` may be empty."""

    start: datetime
    end: datetime
    reason: str = ""


def maintenance_of(text: str | None) -> tuple[MaintenanceWindow, ...]:
    """The windows that a line such as `2026-11-20T01:00Z/2026-11-20T03:00Z patching` declares.

    Args:
        text: Intervals in the form of ISO 8601, each with a reason after it or none; `;` stands between two.

    Returns:
        The windows in the order of the line. An instant without a zone is UTC.

    Raises:
        BadInput: One sentence for each interval that cannot be read, or that ends before it starts.
    """
    windows: list[MaintenanceWindow] = []
    problems: list[str] = []
    for part in filter(None, map(str.strip, (text or "").split(";"))):
        interval, _, reason = part.partition(" ")
        try:
            start, end = (instant_of(at) for at in interval.split("/"))
        except ValueError:
            problems.append(f"MAINTENANCE has {part!r}. Needed: two instants with / between, such as {EXAMPLE}.")
            continue
        if start < end:
            windows.append(MaintenanceWindow(start, end, reason.strip()))
        else:
            problems.append(f"MAINTENANCE has {part!r}. Needed: an end after the start. Swap or correct them.")
    if problems:
        raise BadInput(*problems)
    return tuple(windows)


def instant_of(text: str) -> datetime:
    """An ISO instant in UTC; without a zone it is taken as UTC. Raises: ValueError, OverflowError."""
    at = datetime.fromisoformat(text)
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
