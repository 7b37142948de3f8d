"""Retention of tables and landed files, read from one line; never shorter than what the next audits read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.catalog import BY_NAME, TABLES, Table
from kafka_hindsight.shared.exits import BadInput

LATE_DAYS = 7
"""How many days back late records may reach, and how many nights alerts compare with."""

LANDING = "landing"
"""The landed files. Bronze holds their content after the next ingest."""

_PART = re.compile(r"\s*([a-z_.]+)\s*=\s*(\d{1,5})\s*")


@dataclass(frozen=True)
class Retention:
    """Days by layer, by table (which overrides its layer) and by `landing`. Anything else is kept forever."""

    days: Mapping[str, int]

    def oldest(self, table: Table, now: datetime) -> datetime | None:
        """The instant before which rows of a table are removed; None if all are kept."""
        return _midnight(self.days.get(table.full_name, self.days.get(table.layer)), now)

    def oldest_landed(self, now: datetime) -> datetime | None:
        """The instant before which landed files are removed; None if all are kept.

        Landed files never outlive their rows in bronze: the next ingest would read them again.
        """
        limits = [d for d in (self.days.get(LANDING), self.days.get("bronze")) if d is not None]
        return _midnight(min(limits, default=None), now)


def retention_of(text: str | None, look_back_hours: int, look_ahead_hours: int) -> Retention:
    """Read a line such as `bronze=90,gold=400`.

    Raises:
        BadInput: A part cannot be read, names an unknown table, or is too short for the next audits.
    """
    floor = LATE_DAYS + math.ceil((look_back_hours + look_ahead_hours) / 24) + 1
    names = {LANDING, *BY_NAME, *(t.layer for t in TABLES)}
    problems: list[str] = []
    days: dict[str, int] = {}
    for part in filter(str.strip, (text or "").split(",")):
        match = _PART.fullmatch(part)
        if not match or match[1] not in names:
            problems.append(f"KEEP has {part.strip()!r}. Needed: a layer, a table or landing, = and days.")
        elif int(match[2]) < floor:
            problems.append(
                f"KEEP has {part.strip()!r}. Needed: {floor} days or more: {LATE_DAYS} for late records, and the "
                f"look-back of {look_back_hours} h and look-ahead of {look_ahead_hours} h before them."
            )
        else:
            days[match[1]] = int(match[2])
    if problems:
        raise BadInput(*problems)
    return Retention(days)


def _midnight(days: int | None, now: datetime) -> datetime | None:
    if days is None:
        return None
    return now.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days)
