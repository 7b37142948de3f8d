"""Nouns of alerts: sightings of trouble, and the entries of the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from kafka_hindsight.catalog.ids import row_id

Night = tuple[str, datetime, datetime]
"""A cluster, and the window of one of its nights."""

RECOVERED = "recovered"
"""The severity of a message that says that a trouble is over."""


@dataclass(frozen=True)
class Sighting:
    """Something that a person should know, as one night shows it.

    `rule` is the rule that fired, or a trouble of our own (sightings.OWN_TROUBLES); `night_from` and `night_to` are the
    window that shows it; `began_at` is when it began; `page` and `anchor` are its place in the report; one that is
    `declared` is not sent; `groups` and `topics` are those that it concerns, for receivers that own some.
    """

    cluster: str
    rule: str
    severity: str
    subject_kind: str
    subject: str
    night_from: datetime
    night_to: datetime
    began_at: datetime
    reason: str
    advice: str
    page: str = ""
    anchor: str = ""
    declared: bool = False
    groups: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()

    @property
    def lasts(self) -> bool:
        """Whether a later night can show that it is over; an incident is over anyway."""
        return self.subject_kind != "incident"

    @property
    def key(self) -> str:
        """The key of the trouble: sightings of two nights with the same key are the same trouble."""
        return row_id(self.cluster, self.rule, self.severity, self.subject_kind, self.subject)


@dataclass(frozen=True)
class Entry:
    """One trouble in the ledger.

    `sighting` is the one that is sent; `seen_to` is the end of the last night that showed it; `sent` is when each
    receiver got it; `ended_at` is the end of the first night that no longer showed it; `recovered` are the receivers
    that were notified of that. The names are those of the ledger's file.
    """

    sighting: Sighting
    seen_to: datetime
    sent: Mapping[str, datetime] = field(default_factory=dict)
    ended_at: datetime | None = None
    recovered: tuple[str, ...] = ()


Ledger = Mapping[str, Entry]

_LINE = TypeAdapter(Entry)


def to_text(ledger: Ledger) -> str:
    """The ledger as JSON lines."""
    return "".join(f"{_LINE.dump_json(entry).decode()}\n" for entry in ledger.values())


def of_text(text: str) -> tuple[dict[str, Entry], int]:
    """The ledger of JSON lines without the damaged ones, and the number of those.

    A line ends with LF only: names from outside may contain other line ends of Unicode.
    """
    entries = [_entry(line) for line in text.split("\n") if line.strip()]
    return {entry.sighting.key: entry for entry in entries if entry}, entries.count(None)


def _entry(line: str) -> Entry | None:
    try:
        return _LINE.validate_json(line)
    except ValidationError:
        return None
