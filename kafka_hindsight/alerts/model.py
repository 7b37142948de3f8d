"""Nouns of telling: what was seen, what is remembered of it, what is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.ids import row_id

Night = tuple[str, datetime, datetime]
"""A cluster, and the window of one of its nights."""

_RENAMED = {"planned": "declared"}
"""Fields of a sighting that an earlier version remembered under other names."""

RECOVERED = "recovered"
"""The severity of a message that says that something is no longer so."""


@dataclass(frozen=True)
class Sighting:
    """Something that a person should know, as one night shows it.

    `rule` is the rule that fired, or a kind of trouble of our own (sightings.OWN); `night_from` and `night_to` the
    window that shows it; `began_at` when it began; `page` and `anchor` where the report says more; `declared` says
    that it was declared, and is not sent; `cannot_wait` that it is sent by itself, and not in the digest; `groups` and
    `topics` are those that it concerns, for routes that ask.
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
    cannot_wait: bool = False
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

    `sighting` is the one that is sent; `seen_from` and `seen_to` span the nights that showed it; `waiting` names the
    routes that still owe it, each with the receivers that have it; `told` when each route had sent it to all of its
    receivers; `held` says why it is not sent: declared, or a mute; `ended_at` the end of the first night that no longer
    showed it: the routes that sent it send that too. `titles` are those of the pages that named it, by route and
    receiver: a pager knows its incident by the title.
    """

    sighting: Sighting
    seen_from: datetime
    seen_to: datetime
    waiting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    told: Mapping[str, datetime] = field(default_factory=dict)
    held: str | None = None
    ended_at: datetime | None = None
    titles: Mapping[str, str] = field(default_factory=dict)

    def to_json(self) -> str:
        """The entry on one line."""
        return json.dumps(asdict(self), default=lambda at: at.isoformat(), ensure_ascii=False)

    @classmethod
    def of(cls, line: str) -> Entry:
        """The entry of such a line."""
        said = json.loads(line)
        instants = ("night_from", "night_to", "began_at")
        seen: dict[str, Any] = {
            _RENAMED.get(k, k): datetime.fromisoformat(v)
            if k in instants
            else tuple(v)
            if k in ("groups", "topics")
            else v
            for k, v in said["sighting"].items()
        }
        ended_at = said.get("ended_at")
        return cls(
            sighting=Sighting(**seen),
            seen_from=datetime.fromisoformat(said["seen_from"]),
            seen_to=datetime.fromisoformat(said["seen_to"]),
            waiting={route: tuple(receivers) for route, receivers in said["waiting"].items()},
            told={route: datetime.fromisoformat(at) for route, at in said["told"].items()},
            held=said["held"],
            ended_at=datetime.fromisoformat(ended_at) if ended_at else None,
            titles={receiver: str(title) for receiver, title in said.get("titles", {}).items()},
        )

    def with_told(self, message: Message) -> Entry:
        """The same, when one receiver more has it."""
        told = (*self.waiting.get(message.route, ()), message.receiver)
        titles = {_address(message.route, message.receiver): message.title} if message.is_page else {}
        return replace(self, waiting={**self.waiting, message.route: told}, titles={**self.titles, **titles})

    def title_of_page(self, route: str, receiver: str) -> str | None:
        """The title of the page that named it to a receiver; None where it was not on a page."""
        return self.titles.get(_address(route, receiver))

    def with_done(self, route: str, at: datetime) -> Entry:
        """The same, when a route owes it no longer."""
        waiting = {name: receivers for name, receivers in self.waiting.items() if name != route}
        return replace(self, waiting=waiting, told={**self.told, route: at})


def _address(route: str, receiver: str) -> str:
    return f"{route}/{receiver}"


Ledger = Mapping[str, Entry]


@dataclass(frozen=True)
class Message:
    """What one receiver of one route is sent: what cannot wait by itself, all else of a cluster as one digest.

    `severity` is the worst of it, or `recovered`: a pager that can resolve then resolves what had the same title.
    `is_page`: it is sent by itself, and not as a digest.
    """

    route: str
    receiver: str
    keys: tuple[str, ...]
    severity: str
    title: str
    body: str
    is_page: bool = False


def to_text(ledger: Ledger) -> str:
    """The ledger as JSON lines."""
    return "".join(f"{entry.to_json()}\n" for entry in ledger.values())


def of_text(text: str) -> tuple[dict[str, Entry], int]:
    """The ledger of such lines, and how many of them are damaged: those are left out.

    Edge case: a line ends with LF only; names of strangers may hold what else Unicode takes for the end of a line.
    """
    read = [_entry(line) for line in text.split("\n") if line.strip()]
    return {entry.sighting.key: entry for entry in read if entry}, read.count(None)


def _entry(line: str) -> Entry | None:
    try:
        return Entry.of(line)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
