"""A message in words. Names of groups and topics are written by strangers: nothing of them commands a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kafka_hindsight.alerts.model import RECOVERED, Entry, Sighting
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.page_names import page_address
from kafka_hindsight.shared.plain import MAX_NAME, shortened, visible
from kafka_hindsight.shared.words import listed, stands_for

MAX_HEADLINE = 180
"""Characters of an incident's headline, or of another subject, in one line."""

MOST_TOLD = 10
"""Subjects that one message names; the report has all of them."""


@dataclass(frozen=True)
class Digest:
    """One night of a cluster: what is new, what was sent by itself, what is still so, what no longer is."""

    cluster: str
    night_to: datetime
    new: Sequence[Sighting] = ()
    paged: Sequence[Sighting] = ()
    lasting: Sequence[Entry] = ()
    ended: Sequence[Sighting] = ()

    @property
    def severity(self) -> str:
        """The worst of what is new; of a digest of good news, that."""
        return min((s.severity for s in self.new), default=RECOVERED)

    @property
    def title(self) -> str:
        """One line: how bad, which cluster, which night, how much of what."""
        counts = ((self.new, "new"), (self.lasting, "still so"), (self.ended, "no longer seen"))
        said = listed([f"{len(rows)} {what}" for rows, what in counts if rows])
        shown = _shown_by([*self.new, *self.ended], self.night_to)
        return f"[{self.severity}] {_name(self.cluster)}: {shown}: {said}"

    def body(self, link: str) -> str:
        """The parts, each with its heading; what to do stands below what is new."""
        lasting = [f"since {e.seen_from:%Y-%m-%d}  {_brief(e.sighting)}" for e in self.lasting]
        parts = (
            ("Sent by itself:", _all([_brief(s) for s in self.paged])),
            ("New:", body_of(self.new, link) if self.new else ""),
            ("Still so:", _all(lasting)),
            ("No longer seen:", _all([_brief(s) for s in self.ended])),
        )
        return "\n\n".join(f"{heading}\n{part}" for heading, part in parts if part)


def _all(lines: Sequence[str]) -> str:
    more = [f"and {len(lines) - MOST_TOLD} more"] if len(lines) > MOST_TOLD else []
    return "\n".join([*lines[:MOST_TOLD], *more])


def _brief(seen: Sighting) -> str:
    what = "" if seen.subject_kind == "incident" else f"{seen.rule.replace('_', ' ')}: "
    return f"{seen.severity}  {what}{_name(seen.subject, MAX_HEADLINE)}"


def recovery_of(ended: Sequence[Entry]) -> str:
    """That all that a page named is no longer so."""
    until = max((e.ended_at for e in ended if e.ended_at), default=None)
    seen = [e.sighting for e in ended]
    said = f" The {_shown_by(seen, until)} no longer shows it." if until else ""
    return f"Recovered: {_all([_brief(s) for s in seen])}.{said}"


def _shown_by(seen: Sequence[Sighting], at: datetime) -> str:
    """What showed something: a night of a cluster, or a look at the lake."""
    return f"{'look at' if any(s.subject_kind == 'look' for s in seen) else 'night until'} {_minute(at)}"


def title_of(seen: Sequence[Sighting]) -> str:
    """One line: how bad, which cluster, which rule, and which subject; of several incidents the worst by itself."""
    first = seen[0]
    head = f"[{first.severity}] {_name(first.cluster)}: "
    if first.subject_kind == "incident":
        also = f" (and {len(seen) - 1} more: {first.rule.replace('_', ' ')})" if len(seen) > 1 else ""
        return f"{head}{_name(first.subject, MAX_HEADLINE)}{also}"
    subject = _name(first.subject) if len(seen) == 1 else _count_of(seen)
    return f"{head}{first.rule.replace('_', ' ')}: {subject}"


def _count_of(seen: Sequence[Sighting]) -> str:
    """Subjects by their number, partitions with their topics: `76 partitions of 3 topics`."""
    count, topics = sum(stands_for(s.subject) for s in seen), sorted({t for s in seen for t in s.topics})
    of = f" of topic {_name(topics[0])}" if len(topics) == 1 else f" of {len(topics)} topics"
    return f"{count} {seen[0].subject_kind}s{of if topics and seen[0].subject_kind == 'partition' else ''}"


def body_of(seen: Sequence[Sighting], link: str) -> str:
    """The reasons with their addresses; below those that share an advice, what to do."""
    told = [
        part
        for advice, alike in grouped(seen[:MOST_TOLD], lambda s: s.advice).items()
        for part in (*(_told(s, link) for s in alike), *([f"What to do: {visible(advice)}"] if advice else []))
    ]
    more = [f"And {len(seen) - MOST_TOLD} more: the report has all of them."] if len(seen) > MOST_TOLD else []
    return "\n\n".join([*told, *more])


def link_to(seen: Sighting, template: str) -> str:
    """The address of the place in the report; empty where no setting says how pages are addressed."""
    if not template or not seen.page:
        return ""
    place = page_address(template, seen.cluster, seen.page)
    return f"{place}#{seen.anchor}" if seen.anchor else place


def _told(s: Sighting, template: str) -> str:
    lines = [f"{_minute(s.began_at)}  {visible(shortened(s.reason, 600))}", link_to(s, template)]
    return "\n".join(filter(None, lines))


def _name(text: str, limit: int = MAX_NAME) -> str:
    return visible(shortened(text, limit))


def _minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
