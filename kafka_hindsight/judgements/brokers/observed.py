"""The signals of all brokers, and the times in which each log is at hand.

A thing that a log at hand does not show did not happen. Absences are rebuilt from this, and so are the missing logs:
those of nodes that others name, and all that would show whether a broker served.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import TypeVar

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerSnapshot, Event, LogFile, MissingBrokerLog, Quote, UnobservedSpan
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch, controller_epochs_of
from kafka_hindsight.judgements.brokers.liveness import (
    ACTIVE_KINDS,
    CONTROLLER_SIGNAL_KINDS,
    NEW_ON_KRAFT,
    NO_EVENTS,
    OWN_SIGNAL_KINDS,
    SESSION,
    STATE_CHANGE_KINDS,
    ZOOKEEPERS_CONTROLLER_KINDS,
    LivenessSignal,
    SignsOfLife,
    signals_by_broker,
    with_writers,
)
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.read_times import ROTATED_WITHIN, joined
from kafka_hindsight.knowledge.layouts import WITHIN
from kafka_hindsight.shared.durations import CLOCK_SKEW
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline
from kafka_hindsight.shared.windows import Window, broker_ids
from kafka_hindsight.shared.words import duration

_ONLY_CONTROLLERS = frozenset({Kind.CONTROLLER_ELECTED, *CONTROLLER_SIGNAL_KINDS})
"""Lines of the log in which a controller says what it does."""

ELECTED_WITHIN = timedelta(minutes=1)
"""A quorum that has a majority elects a controller within this time. Our choice."""

_Node = TypeVar("_Node", int, int | None)

_METADATA_LOG = None
"""The node that stands for the controllers in the metadata log."""

_LIFE_KINDS = frozenset((*OWN_SIGNAL_KINDS, *ACTIVE_KINDS)).difference(
    ZOOKEEPERS_CONTROLLER_KINDS, STATE_CHANGE_KINDS, (Kind.CLUSTER_NAMED, Kind.CONTROLLER_THREAD_STARTED)
)
"""Lines of the log in which a broker says that it starts and ends. Controllers name the cluster too."""


class LogsAtHand:
    """The spans of the logs about each broker's life, and of those in which nodes speak as controllers."""

    def __init__(self, ordered: Sequence[Event], files: Iterable[LogFile], terms: Sequence[ControllerEpoch]) -> None:
        """Join the spans of each node's logs. A log without any of the `files` is at hand all the time."""
        lines = [e for e in ordered if e.origin in (Origin.BROKER, Origin.RECORD)]
        own = grouped((e for e in lines if e.broker is not None and e.kind in _LIFE_KINDS), lambda e: e.broker or 0)
        controller_lines = grouped(
            (e for e in lines if e.kind in _ONLY_CONTROLLERS or e.origin == Origin.RECORD), _speaker
        )
        spans = _spans(lines, files)
        self._own = _joined_of(spans, own, ROTATED_WITHIN)
        self._unbroken = _joined_of(spans, own, CLOCK_SKEW)
        self._speaking = _joined_of(spans, controller_lines, ROTATED_WITHIN)
        self._spoke_at = {
            node: Timeline((e.happened_at for e in events), lambda at: at) for node, events in controller_lines.items()
        }
        self._registered = {e.broker for e in lines if e.kind == Kind.BROKER_REGISTERED}
        self._terms = terms

    def shows_registrations(self, broker: int) -> bool:
        """Whether a line of a registration of the broker was read, so that its logger writes into a log at hand."""
        return broker in self._registered

    def is_own_whole(self, broker: int, start: datetime, end: datetime) -> bool:
        """Whether the broker's log is at hand from one instant to another, so that a start or an end would be in it."""
        return _holds(self._own.get(broker), start, end)

    def is_own_unbroken(self, broker: int, start: datetime, end: datetime) -> bool:
        """Whether the broker's log is at hand as in `is_own_whole`, with no silence between any two of its files.

        A broker that is away is silent, whether it is paused or the file with its start is missing.
        """
        return _holds(self._unbroken.get(broker), start, end)

    def own_spans(self) -> Iterator[tuple[int, datetime, datetime]]:
        """Each broker, with the spans in which its log is at hand, in order."""
        for broker, intervals in sorted(self._own.items()):
            yield from ((broker, i.start, i.end) for i in intervals if i.end)

    def is_controllers_whole(self, start: datetime, end: datetime) -> bool:
        """Whether each active controller's log is at hand from one instant to another, or the metadata log is.

        Before the first known change of controllers, the active one is the node that writes as such.
        """
        if _holds(self._speaking.get(_METADATA_LOG), start, end):
            return True
        unknown_until = min(end, self._terms[0].since) if self._terms else end
        if start < unknown_until and not any(self._speaks(node, start, unknown_until) for node in self._speaking):
            return False
        terms = [t for t in self._terms if t.since < end and (t.until is None or t.until > start)]
        return _follow_closely(terms, max(start, unknown_until), end) and all(
            _holds(self._speaking.get(t.controller), max(start, t.since), min(end, t.until or end)) for t in terms
        )

    def known_until(self, broker: int, start: datetime) -> datetime:
        """The last instant up to which a return of the broker would be in a log that is at hand from another one on."""
        spans = [*self._speaking.values(), *([self._own[broker]] if broker in self._own else [])]
        ends = {i.end for intervals in spans for i in intervals if i.end and i.end > start}
        return max((end for end in ends if self.would_show_start(broker, start, end)), default=start)

    def would_show_start(self, broker: int, start: datetime, end: datetime) -> bool:
        """Whether a broker that starts between two instants would be in a log that is at hand."""
        return self.is_own_whole(broker, start, end) or self.is_controllers_whole(start, end)

    def _speaks(self, node: int | None, start: datetime, end: datetime) -> bool:
        instants = self._spoke_at[node].between(start - CLOCK_SKEW, end + CLOCK_SKEW)
        return bool(instants) and _holds(self._speaking[node], start, end)

    def missing(self, broker: int, start: datetime, end: datetime) -> list[Interval[None]]:
        """The parts of a span in which no file of the broker's own log, and none of any controller's, has a line."""
        nodes = [*self._speaking.values(), *([self._own[broker]] if broker in self._own else [])]
        spans = joined(i for intervals in nodes for i in intervals.clip(start, end)).intervals
        edges = [start, *(at for i in spans for at in (i.start, i.end or end)), end]
        return [Interval(a, b, None) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a]


def _speaker(event: Event) -> int | None:
    return _METADATA_LOG if event.origin == Origin.RECORD else event.broker


def _follow_closely(terms: Iterable[ControllerEpoch], start: datetime, end: datetime) -> bool:
    """Whether no other controller can have been active between these, from one instant to another: no epoch is missing.

    Source: KafkaZkClient.registerControllerAndIncrementControllerEpoch; QuorumState.transitionToCandidate.
    """
    reached, epoch = start, None
    for term in terms:
        if term.since - reached > ELECTED_WITHIN or epoch not in (None, term.epoch - 1):
            return False
        reached, epoch = term.until or end, term.epoch
    return end - reached <= CLOCK_SKEW


def _spans(lines: Sequence[Event], files: Iterable[LogFile]) -> dict[str, list[Interval[None]]]:
    """The spans of the files of each log; a log without files has the span of all lines.

    A log that lies wrapped among others has the files that they are in.
    """
    spans: dict[str, list[Interval[None]]] = defaultdict(list)
    for file in files:
        if file.first_at and file.last_at:
            spans[file.source].append(Interval(file.first_at, file.last_at, None))
    whole = [Interval(lines[0].happened_at, lines[-1].happened_at, None)] if lines else []
    sources = {line.source for line in lines}
    return {source: spans.get(source) or spans.get(source.partition(WITHIN)[0]) or whole for source in sources}


def _joined_of(
    spans: Mapping[str, Iterable[Interval[None]]], lines_of: Mapping[_Node, Iterable[Event]], within: timedelta
) -> dict[_Node, Intervals[None]]:
    """For each node the spans of all logs that hold its lines, joined where at most `within` lies between them."""
    sources = {node: {e.source for e in lines} for node, lines in lines_of.items()}
    return {node: joined((span for s in own for span in spans[s]), within) for node, own in sources.items()}


def _holds(intervals: Intervals[None] | None, start: datetime, end: datetime) -> bool:
    """Whether one interval holds the whole span, as far as clocks agree."""
    at_start = intervals.at(start, CLOCK_SKEW) if intervals else []
    return any(i.holds(end, CLOCK_SKEW) for i in at_start)


_OF_ZOOKEEPER = (Kind.BROKERS_CHANGED, Kind.BROKER_FAILED, Kind.BROKER_CAME)


@dataclass(frozen=True)
class Observed:
    """The evidence from which absences are rebuilt.

    `session` is how long a controller waits for a broker; `since` and `until` are the instants of the first and the
    last line; `signals` are those of each broker.
    """

    signs: SignsOfLife
    logs: LogsAtHand
    terms: Sequence[ControllerEpoch]
    session: timedelta
    since: datetime
    until: datetime
    uses_zookeeper: bool
    signals: Mapping[int, Sequence[LivenessSignal]]

    @property
    def missed_within(self) -> timedelta:
        """The longest time until a controller misses a broker: its session, and an election where there is none."""
        return self.session + ELECTED_WITHIN

    def first_service(
        self, broker: int, after: datetime, start: LivenessSignal | None, *, is_over: bool
    ) -> Event | None:
        """The first proof after an instant that a broker serves again. `start` is its last one, until it served.

        On KRaft a process takes up the leaderships and replicas of its old metadata, and its controllers let it in only
        later. As long as its log would show that, these lines prove nothing. Source: BrokerServer.startup,
        BrokerMetadataPublisher.
        """
        life = self.signs.first_service(broker, after, is_over=is_over)
        while life and life.broker == broker and start and self._is_fenced(start, life.happened_at):
            life = self.signs.first_service(broker, life.happened_at, is_over=is_over)
        return life

    def first_leadership(self, broker: int, after: datetime, start: LivenessSignal | None) -> Event | None:
        """The first line after an instant in which a broker becomes a leader that its controllers have let in."""
        line = self.signs.leader_starts.get(broker, NO_EVENTS).first_after(after)
        return None if line and start and self._is_fenced(start, line.happened_at) else line

    def _is_fenced(self, start: LivenessSignal, at: datetime) -> bool:
        """Whether a process that started on KRaft, and has not logged that it was let in, is known not to be."""
        is_kraft = start.event.pattern_id == NEW_ON_KRAFT
        return is_kraft and start.at <= at and self.logs.is_own_whole(start.broker, start.at, at)


def observe(
    events: Sequence[Event], proofs: Iterable[Event], readings: Iterable[BrokerSnapshot], files: Iterable[LogFile]
) -> Observed:
    """Gather the evidence on all brokers. There is at least one event; `proofs` are more lines that show life."""
    events = with_writers(events)
    uses_zookeeper = any(e.kind in _OF_ZOOKEEPER for e in events)
    terms = controller_epochs_of(events)
    return Observed(
        signs=SignsOfLife(events, proofs, readings),
        logs=LogsAtHand(events, files, terms),
        terms=terms,
        session=SESSION[uses_zookeeper],
        since=events[0].happened_at,
        until=events[-1].happened_at,
        uses_zookeeper=uses_zookeeper,
        signals=signals_by_broker(events, terms),
    )


_Spanned = TypeVar("_Spanned", MissingBrokerLog, UnobservedSpan)


def find_missing_broker_logs(
    events: Sequence[Event], readings: Iterable[BrokerSnapshot], terms: Sequence[ControllerEpoch]
) -> list[MissingBrokerLog]:
    """One row for each node, by its id, that lines in order or readings name and that wrote none of the lines."""
    writers = {e.broker for e in events if e.origin != Origin.RECORD}
    mentions: dict[int, list[Quote]] = defaultdict(list)
    for broker, mention in _mentions(events, readings, terms):
        if broker not in writers and broker >= 0 and events:
            mentions[broker].append(mention)
    return [
        MissingBrokerLog(
            cluster=events[0].cluster,
            broker=broker,
            first_at=min(q.happened_at for q in quotes),
            last_at=max(q.happened_at for q in quotes),
            evidence=evidence_of(quotes),
        )
        for broker, quotes in sorted(mentions.items())
    ]


def _mentions(
    events: Sequence[Event], readings: Iterable[BrokerSnapshot], terms: Sequence[ControllerEpoch]
) -> Iterator[tuple[int, Quote]]:
    for row in readings:
        yield row.broker, quote_snapshot(row, f"broker {row.broker} is listed")
    for broker, signals in signals_by_broker(events, terms).items():
        yield from ((broker, quote(signal.event)) for signal in signals)
    for term in terms:
        yield from ((term.controller, quote(line)) for line in term.lines)
    for event in events:
        for broker in {*(broker_ids(event.isr) or ()), *(() if event.leader is None else (event.leader,))}:
            yield broker, quote(event)


_SHOWN_FROM = timedelta(hours=1)
"""A shorter time without a line is not worth a row: a quiet log is rotated each hour. Our choice."""


def find_unobserved_spans(cluster: str, observed: Observed) -> list[UnobservedSpan]:
    """Rows of quality.unobserved_spans by broker and time: one for each span of an hour or longer.

    A span lies between two proofs of the broker's life; neither its own log nor a controller's has a line of it.
    """
    return [
        _row(cluster, broker, start, end, proofs)
        for broker in observed.signs.brokers
        for proofs in [observed.signs.proofs(broker)]
        for missing in observed.logs.missing(broker, observed.since, observed.until)
        for inside in [(p.happened_at for p in proofs.within(missing.start, missing.end))]
        for start, end in pairwise([missing.start, *inside, missing.end or missing.start])
        if end - start >= _SHOWN_FROM
    ]


def _row(cluster: str, broker: int, start: datetime, end: datetime, proofs: Timeline[Event]) -> UnobservedSpan:
    around = (proofs.last_until(start), proofs.first_since(end))
    return UnobservedSpan(
        cluster=cluster,
        unobserved_span_id=row_id(cluster, "unobserved", broker, start),
        broker=broker,
        first_at=start,
        last_at=end,
        explanation=f"For {duration(end - start)} it is not known whether broker {broker} served: neither its own log"
        " nor a controller's has a line of that time.",
        evidence=evidence_of(quote(proof) for proof in around if proof),
    )


def cut_to(window: Window, rows: Iterable[_Spanned]) -> list[_Spanned]:
    """The rows of spans that reach into a window, cut to begin in it."""
    inside = (r for r in rows if window.meets(r.first_at, r.last_at))
    return [replace(r, first_at=max(r.first_at, window.start)) for r in inside]
