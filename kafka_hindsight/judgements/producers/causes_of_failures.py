"""The outage that the failed requests of a producer witness."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Confidence, OutageKind, ProducerFailureKind
from kafka_hindsight.catalog.rows import BrokerOutage, Failover, ProducerFailure, ProducerSetting, Unavailability
from kafka_hindsight.knowledge.outage_words import noun_of
from kafka_hindsight.measures.failed_requests import given_up_clause, place_of
from kafka_hindsight.shared import words
from kafka_hindsight.shared.durations import MS, NEVER
from kafka_hindsight.shared.grouping import grouped

_CLOCKS = timedelta(seconds=1)
"""How far the clocks of a producer and of a broker may differ. Our choice."""

_SOON, _STALE = timedelta(seconds=10), timedelta(minutes=5)
"""A producer that writes all the time learns of a new leader within seconds; one that is idle, when it writes next, or
by its next refresh. Source: metadata.max.age.ms, by default 5 min."""

_UNANSWERED = timedelta(seconds=60)
"""How long librdkafka waits for an answer. Source: socket.timeout.ms, by default 60 s."""


_BY_CHANGE = (
    ProducerFailureKind.LEADER_MOVED,
    ProducerFailureKind.NO_ANSWER,
    ProducerFailureKind.PARTITION_UNKNOWN,
    ProducerFailureKind.STORAGE_FAILED,
)
"""The kinds of failures that a change of leader explains."""


@dataclass(frozen=True)
class _Behind:
    """The rows behind a failure, how sure that is, and a sentence."""

    confidence: Confidence
    sentence: str
    unavailability_id: str | None = None
    failover_id: str | None = None
    outage_id: str | None = None


_NOT_KNOWN = _Behind(Confidence.UNKNOWN, "What is behind it is not known.")


def explain_failures(
    failures: Iterable[ProducerFailure],
    settings: Sequence[ProducerSetting],
    unavailability: Iterable[Unavailability],
    failovers: Iterable[Failover],
    outages: Sequence[BrokerOutage],
    incident_of: Mapping[str, str | None],
) -> list[ProducerFailure]:
    """Name what is behind each failure, and its incident. Order: by time."""
    waits = {(s.source, s.client_id): (s.request_timeout_ms or 0) * MS for s in settings}
    intervals = grouped(unavailability, lambda u: u.topic)
    changes = grouped(sorted(failovers, key=lambda f: f.happened_at), lambda f: f.topic)
    explained = []
    for row in failures:
        since = row.started_at - waits.get((row.source, row.client_id), timedelta())
        behind = (
            _interval(row, since, intervals.get(row.topic, ()))
            or _change(row, since, changes.get(row.topic or "", ()))
            or _outage(row, outages)
            or _namesake(row, settings)
            or _NOT_KNOWN
        )
        ids = (behind.unavailability_id, behind.failover_id, behind.outage_id)
        explained.append(
            replace(
                row,
                unavailability_id=behind.unavailability_id,
                failover_id=behind.failover_id,
                outage_id=behind.outage_id,
                incident_id=next((i for part in ids if part and (i := incident_of.get(part))), None),
                confidence=behind.confidence,
                explanation=f"{sentence_of(row)} {behind.sentence}",
            )
        )
    return sorted(explained, key=lambda r: (r.started_at, r.producer_failure_id))


def sentence_of(row: ProducerFailure) -> str:
    """The failure in a sentence: which request, for how long, and whether it was sent again."""
    who = f"Producer {row.client_id}" if row.client_id else f"The producer of {row.source}"
    place = place_of(row)
    length = row.last_at - row.started_at
    how_long = f" for {words.duration(length / MS)}" if length else ""
    retries = f"{words.counted(row.retries, 'retry', 'retries')}, " if row.retries else ""
    return f"{who} {row.kind.noun.clause}{f' ({place})' if place else ''}{how_long}: {retries}{given_up_clause([row])}."


def _interval(row: ProducerFailure, since: datetime, intervals: Iterable[Unavailability]) -> _Behind | None:
    """The interval of the same partition in which most of the failure lies, within the interval's bounds."""
    if row.kind is not ProducerFailureKind.NO_ANSWER:
        since = row.started_at

    def overlap(u: Unavailability) -> timedelta:
        start = (u.earliest_start_at or u.started_at) - _CLOCKS
        end = (u.latest_end_at or u.ended_at or NEVER - _CLOCKS) + _CLOCKS
        return min(end, row.last_at) - max(start, since)

    fitting = [
        u
        for u in intervals
        if u.kind in row.kind.noun.witnesses and row.partition in (None, u.partition) and overlap(u) >= timedelta()
    ]
    if not fitting:
        return None
    best = max(fitting, key=lambda u: (overlap(u), -u.started_at.timestamp()))
    names_its_cause = row.kind is ProducerFailureKind.NOT_ENOUGH_REPLICAS
    return _Behind(
        best.confidence if names_its_cause else best.confidence.at_most(Confidence.LIKELY),
        f"At that time: {best.explanation}",
        unavailability_id=best.unavailability_id,
        failover_id=best.failover_id,
        outage_id=best.outage_id,
    )


def _change(row: ProducerFailure, since: datetime, changes: Iterable[Failover]) -> _Behind | None:
    """The last change of the partition's leader that the producer may not have known of."""
    if row.kind not in _BY_CHANGE:
        return None
    reach = since - (_STALE if row.kind is ProducerFailureKind.LEADER_MOVED else _CLOCKS)
    before = [
        f for f in changes if row.partition in (None, f.partition) and reach <= f.happened_at <= row.last_at + _CLOCKS
    ]
    if not before:
        return None
    last = before[-1]
    is_soon = last.happened_at >= since - _SOON
    return _Behind(
        last.confidence.at_most(Confidence.LIKELY if is_soon else Confidence.POSSIBLE),
        f"Before, {last.topic}-{last.partition} had changed its leader: {last.kind.noun.label}.",
        failover_id=last.failover_id,
        outage_id=last.outage_id,
    )


def _namesake(row: ProducerFailure, settings: Iterable[ProducerSetting]) -> _Behind | None:
    """The producer that began with the transactional.id of one that was fenced."""
    if row.kind is not ProducerFailureKind.FENCED:
        return None
    own = {s.transactional_id for s in settings if (s.source, s.client_id) == (row.source, row.client_id)} - {None}
    others = [
        s
        for s in settings
        if s.transactional_id in own
        and (s.source, s.client_id) != (row.source, row.client_id)
        and s.last_seen_at <= row.started_at + _CLOCKS
    ]
    if not others:
        return None
    last = max(others, key=lambda s: s.last_seen_at)
    who = f"producer {last.client_id}" if last.client_id else f"the producer of {last.source}"
    return _Behind(
        Confidence.LIKELY, f"Before, {who} had begun with the same transactional.id {last.transactional_id}."
    )


def _outage(row: ProducerFailure, outages: Iterable[BrokerOutage]) -> _Behind | None:
    """The absence of the broker that was asked, else one of another broker: acks=all may have waited for it."""
    if row.broker is None or row.kind is not ProducerFailureKind.NO_ANSWER:
        return None
    away = [
        o
        for o in outages
        if o.kind is not OutageKind.CONTROLLED_SHUTDOWN
        and o.down_at <= row.last_at + _CLOCKS
        and (o.up_at is None or o.up_at >= row.started_at - _UNANSWERED)
    ]
    own = [o for o in away if o.broker == row.broker]
    if not away:
        return None
    last = (own or away)[-1]
    waited = "" if own else f", and broker {row.broker} may have waited for it"
    return _Behind(
        last.confidence.at_most(Confidence.LIKELY if own else Confidence.POSSIBLE),
        f"At that time broker {last.broker} {noun_of(last).verb}{waited}.",
        outage_id=last.outage_id,
    )
