"""Nouns of alerts: the rows of a lake, the sightings of trouble in them, and the entries of the ledger."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from kafka_hindsight.catalog import gold
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.catalog.table_model import RowValues, Scalar
from kafka_hindsight.lake import landing

NightWindow = tuple[str, datetime, datetime]
"""A cluster, and the window of one of its nights."""

State = Literal["over", "ongoing", "unknown"]
RECOVERED = "recovered"
"""The severity of a message that says that a trouble is over."""

_NUMBERS = (Scalar.INT, Scalar.BIGINT, Scalar.DOUBLE)
FIGURES = tuple(c.name for c in gold.INCIDENTS.columns if c.kind in _NUMBERS and c.name != "harm_rank")
"""The columns of gold.incidents that say what an incident cost."""


@dataclass(frozen=True)
class AlertRows:
    """Rows of the nights that ended lately, and coverage of the nights before them, which shows what is usual.

    `unread` has the reason for each part that could not be read.
    """

    windows: Sequence[RowValues] = ()
    findings: Sequence[RowValues] = ()
    incidents: Sequence[Incident] = ()
    declared: Sequence[RowValues] = ()
    broken: Sequence[RowValues] = ()
    coverage: Sequence[RowValues] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sighting:
    """Something that a person should know, as one night shows it.

    `rule` is the rule that fired, or a trouble of our own (sightings.OWN_TROUBLES); `night_from` and `night_to` are the
    window that shows it; `began_at` and `ended_at` are when it began and was over; one that `is_ongoing` was not over
    when the logs end; `page` and `anchor` are its place in the report; one that is `declared` is not sent; `groups` and
    `topics` are those that it concerns, for receivers that own some; `brokers` are those of an incident.
    `incident_id` and `recurrence_id` are those of an incident, and `figures` its columns of gold.incidents that say
    what it cost.
    `is_lasting`: what it did stays when it is over, as lost records do. `calm_reason` says why it calls no one; empty
    where it may. `link` is its own address, in place of one in the report.
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
    ended_at: datetime | None = None
    is_ongoing: bool = True
    confidence: str = ""
    incident_id: str = ""
    recurrence_id: str = ""
    figures: Mapping[str, float | None] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    brokers: tuple[int, ...] = ()
    is_lasting: bool = False
    calm_reason: str = ""
    link: str = ""

    @property
    def is_incident(self) -> bool:
        """Whether it is an incident. Rows of later nights do not show whether one is over, only its own night's do."""
        return self.subject_kind == "incident"

    @property
    def key(self) -> str:
        """The key of the trouble: sightings of two nights with the same key are the same trouble."""
        return row_id(self.cluster, self.rule, self.severity, self.subject_kind, self.incident_id or self.subject)


@dataclass(frozen=True)
class LedgerEntry:
    """One trouble in the ledger.

    `sighting` is the one that is sent; `seen_to` is the end of the last night that showed it; `sent` is when each
    receiver got it; `ended_at` is when it was over, or the end of the first night that no longer showed it; `recovered`
    are the receivers that were notified of that; `failures` is why the last try to send it to a receiver failed;
    `pages` has the title of the page that each pager got. The names are those of the ledger's file.
    """

    sighting: Sighting
    seen_to: datetime
    sent: Mapping[str, datetime] = field(default_factory=dict)
    ended_at: datetime | None = None
    recovered: tuple[str, ...] = ()
    failures: Mapping[str, str] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """Whether the trouble is over, as far as the logs show."""
        return "over" if self.ended_at else "ongoing" if self.sighting.is_ongoing else "unknown"


Ledger = Mapping[str, LedgerEntry]

_LINE = TypeAdapter(LedgerEntry)


def read_ledger(lake: str) -> tuple[dict[str, LedgerEntry], int]:
    """The ledger of a lake, and the number of its damaged lines."""
    try:
        return of_text(landing.read_bytes(ledger_path(lake)).decode(errors="replace"))
    except FileNotFoundError:
        return {}, 0


def write_ledger(lake: str, ledger: Ledger) -> None:
    """Write the ledger of a lake, in place of what was there."""
    landing.write_atomically(ledger_path(lake), to_text(ledger))


def ledger_path(lake: str) -> str:
    """The file of a lake's ledger."""
    return f"{alerts_folder(lake)}/ledger.jsonl"


def alerts_folder(lake: str) -> str:
    """The folder of what alerts keep in a lake."""
    return f"{lake.rstrip('/')}/alerts"


def to_text(ledger: Ledger) -> str:
    """The ledger as JSON lines."""
    return "".join(f"{_LINE.dump_json(entry).decode()}\n" for entry in ledger.values())


def of_text(text: str) -> tuple[dict[str, LedgerEntry], int]:
    """The ledger of JSON lines without the damaged ones, and the number of those.

    A line ends with LF only: names from outside may contain other line ends of Unicode.
    """
    entries = [_entry(line) for line in text.split("\n") if line.strip()]
    return {entry.sighting.key: entry for entry in entries if entry}, entries.count(None)


def _entry(line: str) -> LedgerEntry | None:
    try:
        return _LINE.validate_json(line)
    except ValidationError:
        return None
