"""Nouns of alerts: what was seen, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from kafka_hindsight.catalog.ids import row_id

Night = tuple[str, datetime, datetime]
"""A cluster, and the window of one of its nights."""

RECOVERED = "recovered"
"""The severity of a message that says that something is no longer so."""


@dataclass(frozen=True)
class Sighting:
    """Something that a person should know, as one night shows it.

    `rule` is the rule that fired, or a kind of trouble of our own (sightings.OWN); `night_from` and `night_to` the
    window that shows it; `began_at` when it began; `page` and `anchor` where the report says more; `declared` says
    that it was declared, and is not sent; `groups` and `topics` are those that it concerns, for receivers that own
    some.
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
        """Whether a later night can show that it is over: what happened is over anyway."""
        return self.subject_kind != "incident"

    @property
    def key(self) -> str:
        """What makes two sightings, of two nights, the same trouble."""
        return row_id(self.cluster, self.rule, self.severity, self.subject_kind, self.subject)


@dataclass(frozen=True)
class Entry:
    """What is remembered of one trouble.

    `sighting` is the one that is sent; `seen_to` the end of the last night that showed it; `sent` says when each
    receiver got it; `ended_at` is the end of the first night that no longer showed it; `recovered` are the receivers
    that were notified of that.
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
    """The ledger of such lines, and how many of them are damaged: those are left out.

    Edge case: a line ends with LF only; names of strangers may hold what else Unicode takes for the end of a line.
    """
    entries = [_entry(line) for line in text.split("\n") if line.strip()]
    return {entry.sighting.key: entry for entry in entries if entry}, entries.count(None)


def _entry(line: str) -> Entry | None:
    try:
        return _LINE.validate_json(line)
    except ValidationError:
        return None
