"""How long what is kept: read from one line, and never shorter than what the next nights still read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.catalog import BY_NAME, TABLES, Table
from kafka_hindsight.shared.exits import BadInput

LATE_DAYS = 7
"""How far back records that arrive late reach, and nights that alerts compare with."""

LANDING = "landing"
"""The files in which readings land; bronze holds what they hold once they were taken."""

_PART = re.compile(r"\s*([a-z_.]+)\s*=\s*(\d{1,5})\s*")


@dataclass(frozen=True)
class Retention:
    """Days by layer, by table (which stands above its layer) and by `landing`; what is not named is kept."""

    days: Mapping[str, int]

    def oldest(self, table: Table, now: datetime) -> datetime | None:
        """The instant before which rows of a table go; None where they stay."""
        return _midnight(self.days.get(table.full_name, self.days.get(table.layer)), now)

    def oldest_landed(self, now: datetime) -> datetime | None:
        """The instant before which landed files go; those that outlive their rows would be taken again."""
        named = [d for d in (self.days.get(LANDING), self.days.get("bronze")) if d is not None]
        return _midnight(min(named, default=None), now)


def retention_of(text: str | None, look_back_hours: int, look_ahead_hours: int) -> Retention:
    """What a line such as `bronze=90,gold=400` says.

    Raises: BadInput where it cannot be read, names what is not there, or would take what nights still read.
    """
    floor = LATE_DAYS + math.ceil((look_back_hours + look_ahead_hours) / 24) + 1
    known = {LANDING, *BY_NAME, *(t.layer for t in TABLES)}
    problems: list[str] = []
    days: dict[str, int] = {}
    for part in filter(str.strip, (text or "").split(",")):
        found = _PART.fullmatch(part)
        if not found or found[1] not in known:
            problems.append(f"KEEP has {part.strip()!r}. Needed: a layer, a table or landing, = and days.")
        elif int(found[2]) < floor:
            problems.append(
                f"KEEP has {part.strip()!r}. Needed: {floor} days or more: {LATE_DAYS} for late records, and the "
                f"look-back of {look_back_hours} h and look-ahead of {look_ahead_hours} h before them."
            )
        else:
            days[found[1]] = int(found[2])
    if problems:
        raise BadInput(*problems)
    return Retention(days)


def _midnight(days: int | None, now: datetime) -> datetime | None:
    if days is None:
        return None
    return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)
