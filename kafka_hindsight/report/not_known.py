"""The events that the logs of a window could not show: they are named before any zero."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from kafka_hindsight.catalog.codes import InputKind, WitnessGap, WitnessKind
from kafka_hindsight.catalog.rows import InputSpan, Witness
from kafka_hindsight.knowledge.witness_loggers import FILES
from kafka_hindsight.shared import words
from kafka_hindsight.shared.grouping import grouped

BROKERS_NAMED = 6
SPANS_NAMED = 3

_NEAR = timedelta(minutes=1)
"""Spans without a line share a sentence if both ends are at most this far apart: a cluster's logs end together."""


@dataclass(frozen=True)
class MissingWitnesses:
    """Events that the logs of some brokers could not show in one span, or in some of several, for one reason.

    `is_new`: the logs of the week before could show them. `is_about`: some brokers' span is up to a minute shorter.
    """

    gap: WitnessGap
    kinds: Sequence[WitnessKind]
    brokers: Sequence[int | None]
    loggers: Sequence[str]
    level: str | None
    spans: Sequence[tuple[datetime, datetime]]
    is_new: bool
    is_about: bool = False

    @property
    def first_at(self) -> datetime:
        """The begin of the first span."""
        return self.spans[0][0]

    @property
    def last_at(self) -> datetime:
        """The end of the last span."""
        return self.spans[-1][1]

    @property
    def reason(self) -> str:
        """Why, as a clause: `no line below WARN of brokers 1 and 2 was read`."""
        return self.gap.noun.clause.format(
            brokers=broker_names(self.brokers), level=self.level, loggers=words.listed(self.loggers, last="or")
        )

    @property
    def advice(self) -> str:
        """The advice about it."""
        files = sorted({FILES.get(logger, "server.log") for logger in self.loggers})
        return self.gap.noun.advice.format(files=words.listed(files))

    @property
    def events(self) -> str:
        """The events, in words."""
        return words.listed([kind.noun.events for kind in self.kinds])

    def sentence(self, day: date | None = None) -> str:
        """The sentence that names the events and the reason. A span is named where it is not the whole window.

        Where the logs of the week before could show such events, they are `no longer known`.
        """
        about = "about " if self.is_about else ""
        spans = [
            f"from {about}{words.instant(first, day)} to {about}{words.instant(last, day)}"
            for first, last in self.spans
        ]
        span = ""
        if self.gap == WitnessGap.NO_LINES:
            span = f" {spans[0]}"
        elif self.gap == WitnessGap.SOME_LINES:
            span = f" at one or more of these times, {words.listed(spans, SPANS_NAMED)}"
        return f"{'No longer' if self.is_new else 'Not'} known{span}: {self.events}, because {self.reason}."


def missing_witnesses(rows: Iterable[Witness]) -> list[MissingWitnesses]:
    """The events that could not be shown, in few sentences: first what is new, then by how much is not known."""
    missing = sorted(
        (row for row in rows if row.gap), key=lambda w: (w.first_at, [*WitnessKind].index(w.kind), _order(w.broker))
    )
    spans_of = grouped(missing, lambda w: (w.gap, w.broker, _loggers(w), w.level, w.was_there, w.kind, _own_span(w)))
    kinds_of = grouped(
        ((*key[:5], tuple((w.first_at, w.last_at) for w in own), key[5]) for key, own in spans_of.items()),
        lambda row: row[:6],
    )
    # Brokers whose logs lack the same share a sentence.
    together = grouped(
        ((key, tuple(row[6] for row in own)) for key, own in kinds_of.items()),
        lambda pair: (pair[0][0], *pair[0][2:], pair[1]),
    )
    unknowns = [
        MissingWitnesses(gap or WitnessGap.NO_LOG, kinds, [key[1] for key, _ in own], loggers, level, spans, is_new)
        for (gap, loggers, level, is_new, spans, kinds), own in together.items()
    ]
    gaps, unknowns = [*WitnessGap], _joined(unknowns)
    return sorted(unknowns, key=lambda u: (not u.is_new, -len(u.kinds) * len(u.brokers), gaps.index(u.gap), u.first_at))


def _joined(unknowns: Iterable[MissingWitnesses]) -> list[MissingWitnesses]:
    """The same, in which brokers whose logs lack nearly the same time share a sentence about all of it."""
    joined: list[MissingWitnesses] = []
    for unknown in sorted(unknowns, key=lambda u: u.first_at):
        near = next((u for u in joined if _are_near(u, unknown)), None)
        if near is None:
            joined.append(unknown)
            continue
        span = near.first_at, max(near.last_at, unknown.last_at)
        brokers = sorted([*near.brokers, *unknown.brokers], key=_order)
        joined[joined.index(near)] = replace(near, brokers=brokers, spans=[span], is_about=True)
    return joined


def _are_near(one: MissingWitnesses, other: MissingWitnesses) -> bool:
    """Whether the logs of both lack nearly the same time, which hides the same kinds of event."""
    are_alike = one.gap == other.gap == WitnessGap.NO_LINES and (one.kinds, one.is_new) == (other.kinds, other.is_new)
    return are_alike and other.first_at - one.first_at <= _NEAR and abs(other.last_at - one.last_at) <= _NEAR


def _loggers(row: Witness) -> tuple[str, ...]:
    """The loggers that a sentence names: none where a level was filtered or a whole log is missing."""
    return tuple(row.loggers or ()) if row.gap == WitnessGap.NO_LOGGER else ()


def _own_span(row: Witness) -> datetime | None:
    """The start of a span that has a sentence of its own: None where lines were lost in some of several."""
    return None if row.gap == WitnessGap.SOME_LINES else row.first_at


def _order(broker: int | None) -> int:
    return -1 if broker is None else broker


def sentences_about(rows: Iterable[Witness], kinds: Collection[WitnessKind], broker: int | None = None) -> list[str]:
    """The sentences about what is not known of some kinds of event; with `broker`, of those of that broker alone."""
    unknowns = missing_witnesses(r for r in rows if r.kind in kinds and (broker is None or r.broker in (broker, None)))
    return [u.sentence() for u in unknowns]


def unknown_kinds(rows: Iterable[Witness]) -> frozenset[WitnessKind]:
    """The kinds of event that could have happened without a line that shows them; all of them without any row."""
    of_kind = grouped(rows, lambda w: w.kind)
    return frozenset(kind for kind in WitnessKind if kind not in of_kind or any(w.gap for w in of_kind[kind]))


def broker_names(brokers: Sequence[int | None]) -> str:
    """Brokers by their ids: `broker 3`, `brokers 1, 2 and 3`; where no line names one, `any broker`."""
    ids = [str(b) for b in brokers if b is not None]
    if not ids:
        return "any broker"
    return f"{words.verb(len(ids), 'broker', 'brokers')} {words.listed(ids, BROKERS_NAMED)}"


def unread_inputs(rows: Iterable[InputSpan], *kinds: InputKind, day: date | None = None) -> list[str]:
    """The sentences about inputs that were read in a part of the window alone, with what to do; of all without `kinds`.

    An input that was never read is a standing fact, which the coverage names.
    """
    of_inputs = grouped((row for row in rows if not kinds or row.input in kinds), lambda row: row.input)
    sentences = []
    for kind, own in of_inputs.items():
        gaps = [
            f"from {words.instant(row.first_at, day)} to {words.instant(row.last_at, day)}"
            for row in own
            if not row.is_read
        ]
        if 0 < len(gaps) < len(own):
            noun, spans = kind.noun, words.listed(gaps, SPANS_NAMED)
            sentences.append(f"Not known {spans}: {noun.events}, because {noun.missing}. {noun.advice}")
    return sentences
