"""One log of producers: their settings, and the times in which their requests failed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Confidence, ProducerFailureKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, ProducerFailure, ProducerSetting
from kafka_hindsight.judgements.reasoning.evidence import MAX_QUOTES, evidence_of, quote, row_id
from kafka_hindsight.knowledge.producer_settings import (
    ACKS,
    ALL,
    DELIVERY_TIMEOUT,
    IDEMPOTENCE,
    IN_FLIGHT,
    REQUEST_TIMEOUT,
    RETRIES,
    TRANSACTIONAL_ID,
    kind_of_error,
    name_of_error,
)
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.grouping import grouped, runs
from kafka_hindsight.shared.windows import in_order

APART = timedelta(seconds=35)
"""Failures of one kind this close together are one trouble: a batch fails again after request.timeout.ms, by default
30 s, and retry.backoff.max.ms at most. Our choice."""

_TOGETHER = timedelta(milliseconds=50)
"""A batch that is sent again is said to be so just before the producer asks for the leader: by the same thread."""

_BACKOFF = timedelta(seconds=2)
"""retry.backoff.max.ms is 1 s by default; twice that."""

_STARTS = (Kind.PRODUCER_CONFIGURED, Kind.PRODUCER_IDEMPOTENT)
_FAILS = (
    Kind.PRODUCER_RETRIED,
    Kind.PRODUCER_REDIRECTED,
    Kind.PRODUCER_TIMED_OUT,
    Kind.PRODUCER_GAVE_UP,
    Kind.PRODUCER_FAILED,
    Kind.PRODUCER_FORCED,
)
_SENT_AGAIN = (Kind.PRODUCER_RETRIED, Kind.PRODUCER_REDIRECTED)
_SHOW_EACH_GIVEN_UP = frozenset(("kafka_python.retried", "kafka_python.gave_up"))
"""The patterns of a log that has a line for each batch that is given up."""


@dataclass(frozen=True)
class _Start:
    """One start of one producer, with the settings that it printed."""

    client_id: str | None
    events: tuple[Event, ...]

    @property
    def at(self) -> datetime:
        return self.events[0].happened_at

    @property
    def printed(self) -> Mapping[str, str]:
        """The values by name, as they are printed; none where the producer printed none."""
        lines = (line.partition(" = ") for e in self.events for line in (e.detail or "").splitlines() if line)
        return {name: value.strip() for name, _, value in lines}

    def number(self, name: str) -> int | None:
        value = self.printed.get(name, "")
        return int(value) if re.fullmatch(r"-?\d+", value) else None

    @property
    def is_idempotent(self) -> bool | None:
        """Only the producer's own line shows that it is idempotent; that it is not, its settings show, too."""
        if any(e.kind == Kind.PRODUCER_IDEMPOTENT for e in self.events):
            return True
        return False if self.printed.get(IDEMPOTENCE) == "false" else None

    @property
    def acks(self) -> str | None:
        """An idempotent producer has acks=all, whatever it prints: until 2.3 it changed the value after printing it."""
        printed = self.printed.get(ACKS)
        if self.is_idempotent or printed in ("-1", ALL):
            return ALL
        return printed if self.is_idempotent is False or self.printed.get(IDEMPOTENCE) != "true" else None

    @property
    def transactional_id(self) -> str | None:
        value = self.printed.get(TRANSACTIONAL_ID)
        return None if value in (None, "", "null") else value


@dataclass(frozen=True)
class LogOfProducers:
    """The settings of the producers of one log, and the times in which their requests failed."""

    settings: list[ProducerSetting] = field(default_factory=list)
    failures: list[ProducerFailure] = field(default_factory=list)


def read_log(cluster: str, source: str, events: Sequence[Event]) -> LogOfProducers:
    """Read the events of producers in one log. What names no client belongs to the only one that the log names."""
    ordered = in_order(events)
    names = {e.client_id for e in ordered if e.client_id}
    only = next(iter(names)) if len(names) == 1 else None
    starts = list(_starts_of([e for e in ordered if e.kind in _STARTS], only))
    of_topics = grouped((e for e in ordered if e.topic), lambda e: e.client_id or only)
    topics = {client: sorted({str(e.topic) for e in own}) for client, own in of_topics.items()}
    return LogOfProducers(
        [*_settings(cluster, source, starts, topics)],
        [*_failures(cluster, source, ordered, only, starts)],
    )


def _starts_of(events: Iterable[Event], only: str | None) -> Iterator[_Start]:
    """A start is the list of settings and, where it is there, the line after it that the producer is idempotent."""
    for client_id, own in grouped(events, lambda e: e.client_id or only).items():
        for run in runs(own, lambda _, e: e.kind != Kind.PRODUCER_CONFIGURED):
            yield _Start(client_id, tuple(run))


def _settings(
    cluster: str, source: str, starts: Iterable[_Start], topics: Mapping[str | None, list[str]]
) -> Iterator[ProducerSetting]:
    def values(start: _Start) -> tuple[object, ...]:
        return start.client_id, start.acks, start.is_idempotent, *sorted(start.printed.items())

    for own in grouped(starts, values).values():
        first, last = own[0], own[-1]
        yield ProducerSetting(
            cluster=cluster,
            producer_settings_id=row_id("producer", cluster, source, *map(str, values(first)), first.at),
            client_id=first.client_id,
            source=source,
            acks=first.acks,
            is_idempotent=first.is_idempotent,
            transactional_id=first.transactional_id,
            retries=first.number(RETRIES),
            delivery_timeout_ms=first.number(DELIVERY_TIMEOUT),
            request_timeout_ms=first.number(REQUEST_TIMEOUT),
            max_in_flight=first.number(IN_FLIGHT),
            topics=topics.get(first.client_id),
            starts=len(own),
            first_seen_at=first.at,
            last_seen_at=last.at,
            evidence=evidence_of(quote(e) for start in (first, last) for e in start.events),
        )


@dataclass(frozen=True)
class _Course:
    """The starts, the ends and the last line of a client: they decide whether it can have given batches up."""

    starts: Sequence[_Start]
    closed: Sequence[datetime]
    forced: Sequence[datetime]
    last_at: datetime

    @classmethod
    def of(cls, own: Sequence[Event], starts: Sequence[_Start]) -> _Course:
        def instants(kind: Kind) -> list[datetime]:
            return [e.happened_at for e in own if e.kind == kind]

        return cls(starts, instants(Kind.PRODUCER_CLOSED), instants(Kind.PRODUCER_FORCED), own[-1].happened_at)

    def start_before(self, at: datetime) -> _Start | None:
        return next((s for s in reversed(self.starts) if s.at <= at), None)


def _failures(
    cluster: str, source: str, ordered: Sequence[Event], only: str | None, starts: Sequence[_Start]
) -> Iterator[ProducerFailure]:
    """The rows of each client, partition and kind; failures that lie far apart are several."""

    def client_of(e: Event) -> str | None:
        return e.client_id or only

    failing = [e for e in ordered if e.kind in _FAILS]
    has_line_for_each = {(client_of(e), e.topic) for e in failing if e.kind == Kind.PRODUCER_GAVE_UP}
    of_clients = grouped(ordered, client_of)
    courses = {c: _Course.of(own, [s for s in starts if s.client_id == c]) for c, own in of_clients.items()}
    places = grouped(failing, lambda e: (client_of(e), e.topic, e.partition, e.node))
    for (client, topic, _, _), own in places.items():
        for trouble in _together(own):
            for run in (r for of_kind in grouped(trouble, _kind_of).values() for r in _together(of_kind)):
                not_sent_again = _not_sent_again(run, ordered[0])
                has_own_lines = (client, topic) in has_line_for_each
                given_up = sum(_given_up_in(e) for e in run) + (0 if has_own_lines else not_sent_again)
                at_most = _given_up_at_most(run, trouble[0].happened_at, courses[client])
                bounds = (given_up, None if given_up or not_sent_again else at_most)
                yield _row(cluster, source, client, run, bounds)


def _row(
    cluster: str, source: str, client: str | None, run: Sequence[Event], given_up: tuple[int, int | None]
) -> ProducerFailure:
    """The row of failures of one kind, without what was behind them."""
    first, kind = run[0], _kind_of(run[0])
    attempts = [e.event_count for e in run if e.kind == Kind.PRODUCER_RETRIED and e.event_count is not None]
    place = (client, first.topic, first.partition, first.node)
    return ProducerFailure(
        cluster=cluster,
        producer_failure_id=row_id("failure", cluster, source, *place, kind, first.happened_at),
        client_id=client,
        source=source,
        topic=first.topic,
        partition=first.partition,
        broker=first.node,
        kind=kind,
        errors=list(dict.fromkeys(name_of_error(e.error) for e in run if e.error)),
        started_at=first.happened_at,
        last_at=run[-1].happened_at,
        retries=sum(e.kind == Kind.PRODUCER_RETRIED for e in run),
        attempts_left=min(attempts, default=None),
        given_up_low=given_up[0],
        given_up_high=given_up[1],
        confidence=Confidence.UNKNOWN,
        explanation="",
        evidence=evidence_of(quote(e) for e in (*run[:MAX_QUOTES], run[-1])),
    )


def _together(events: Iterable[Event]) -> list[list[Event]]:
    """Events in runs that lie apart."""
    return runs(events, lambda past, e: e.happened_at - past[-1].happened_at <= APART)


def _kind_of(event: Event) -> ProducerFailureKind:
    """The kind of a failure. Java has one exception for a batch that is too old and for a request without an answer."""
    if event.kind == Kind.PRODUCER_FORCED:
        return ProducerFailureKind.CLOSED
    return ProducerFailureKind.EXPIRED if event.reason else kind_of_error(event.error)


def _given_up_in(event: Event) -> int:
    """The batches or records that a line shows to be given up."""
    if event.kind == Kind.PRODUCER_FORCED:
        return event.event_count or 0
    return int(event.kind == Kind.PRODUCER_GAVE_UP)


def _not_sent_again(run: Iterable[Event], first: Event) -> int:
    """How many batches failed for the sake of their leader, and no line before says that they are sent again.

    Of the first line of a log the line before may be missing.
    Source: Sender.completeBatch logs first that a batch is sent again, then that it asks for the leader.
    """
    waiting: list[Event] = []
    count = 0
    for event in run:
        if event.kind == Kind.PRODUCER_RETRIED:
            waiting.append(event)
        elif event.kind == Kind.PRODUCER_REDIRECTED and event is not first:
            if waiting and event.happened_at - waiting[-1].happened_at <= _TOGETHER:
                waiting.pop()
            else:
                count += 1
    return count


def _given_up_at_most(run: Sequence[Event], since: datetime, course: _Course) -> int | None:
    """0 where no batch can have been given up, else None: of equal lines of one instant only one is an event.

    A Java producer gives a batch up without a line: once it is as old as delivery.timeout.ms, or has no attempt left.
    While neither can have been, each of its batches was sent again. Its log must go on until the last one had to be
    answered, or until the producer was closed in order. Source: Sender.canRetry, sendProducerData; KafkaProducer.close.

    `since`: the first failure of the same partition, of any kind: a batch may have met them all.
    """
    if all(e.pattern_id in _SHOW_EACH_GIVEN_UP for e in run):
        return 0
    last = run[-1].happened_at
    start = course.start_before(run[0].happened_at)
    retried = [e for e in run if e.kind == Kind.PRODUCER_RETRIED]
    is_by_force = any(at >= last for at in course.forced)
    if start is None or is_by_force or not retried or not all(e.kind in _SENT_AGAIN for e in run):
        return None
    delivery, request = start.number(DELIVERY_TIMEOUT), start.number(REQUEST_TIMEOUT)
    if delivery is None or request is None or any((e.event_count or 0) <= 0 for e in retried):
        return None
    answered_by = last + request * MS + _BACKOFF
    ends = [at for at in course.closed if at >= last] + ([answered_by] if course.last_at >= answered_by else [])
    oldest = min(answered_by, *ends) - since + request * MS if ends else None
    return 0 if oldest is not None and oldest < delivery * MS else None
