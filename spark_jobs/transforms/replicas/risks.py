"""What each partition risked in a window: without a leader, short of replicas, one failure from worse."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from spark_jobs.knowledge.broker_settings import MIN_ISR, UNCLEAN
from spark_jobs.transforms.brokers.broker_settings import BrokerSettings, Course, Setting, at_instant
from spark_jobs.transforms.cluster import ClusterContext
from spark_jobs.transforms.evidence import evidence_of
from spark_jobs.transforms.leaderships import NOBODY
from spark_jobs.transforms.partitions import Partition, by_partition, deletions_of, lives_of
from spark_jobs.transforms.replicas.isr import ISR_KINDS, commits_of
from spark_jobs.transforms.replicas.known_isrs import KnownIsr, known_isrs
from spark_jobs.transforms.windows import OutRow, Row, Window, broker_ids

_MS = timedelta(milliseconds=1)
Span = tuple[datetime, datetime]


@dataclass(frozen=True)
class _Piece:
    """A span in which nothing changed: who was in sync, of how many, and what was set."""

    start: datetime
    end: datetime
    isr_size: int
    replicas: int | None
    min_isr: Setting | None
    unclean: Setting | None
    has_leader: bool
    has_eligible: bool
    quote: dict[str, Any]

    @property
    def least(self) -> int | None:
        """How many must be in sync for acks=all to write.

        Source: Partition.effectiveMinIsr (since 3.7; before, a setting above the replicas refused every write).
        """
        wanted = self.min_isr.number if self.min_isr else None
        return None if wanted is None or self.replicas is None else min(wanted, self.replicas)

    def is_thin(self) -> bool:
        return self.replicas is not None and self.isr_size < self.replicas

    def is_under(self) -> bool:
        return self.least is not None and self.isr_size < self.least

    def is_at_least(self) -> bool:
        return self.least is not None and self.isr_size == self.least

    def is_alone(self) -> bool:
        return self.isr_size == 1 and self.has_leader and not self.has_eligible

    def may_choose_uncleanly(self) -> bool:
        return self.is_thin() and self.unclean is not None and self.unclean.is_on

    def is_one_from_offline(self) -> bool:
        return self.is_alone() and not self.may_choose_uncleanly()

    def is_one_from_unclean(self) -> bool:
        return self.is_alone() and self.may_choose_uncleanly()


_RISKS: dict[str, Callable[[_Piece], bool]] = {
    "under_replicated_ms": _Piece.is_thin,
    "under_min_isr_ms": _Piece.is_under,
    "at_min_isr_ms": _Piece.is_at_least,
    "one_from_offline_ms": _Piece.is_one_from_offline,
    "one_from_unclean_ms": _Piece.is_one_from_unclean,
}


def rebuild_risks(
    events: Iterable[Row],
    readings: Iterable[Row],
    failovers: Iterable[Row],
    settings: BrokerSettings,
    context: ClusterContext,
    heard_until: datetime,
    window: Window,
) -> list[OutRow]:
    """Rows of gold.partition_risks: one for each partition that risked anything.

    Takes: silver.events of at least ISR_KINDS and topic_deleted, of any number of whole topics, with look-back; rows
    of bronze.partition_snapshots and of gold.failovers of the same topics; until when anybody was heard.
    Order: by topic and partition.
    Keeps: each time lies within the window, and the times of two windows that touch add up to those of both together.
    Odd: what was in sync when last told stays so while brokers are heard.
    """
    told = list(events)
    read, led = by_partition(readings, "snapshot_at"), by_partition(failovers, "happened_at")
    deleted = deletions_of(told, context.terms)
    lives = lives_of(told, ISR_KINDS, context.terms)
    keys = sorted({*lives, *read, *led})
    courses = {
        topic: (settings.course_of_topic(topic, MIN_ISR), settings.course_of_topic(topic, UNCLEAN))
        for topic in {k[1] for k in keys}
    }
    rows: list[OutRow] = []
    for key in keys:
        ends = [*deleted[key[:2]], heard_until]
        spans, replicas = _known(lives.get(key, []), read[key], ends)
        rows += _row(key, spans, replicas, led[key], courses[key[1]], ends, window)
    return rows


def _known(
    lives: Sequence[Sequence[Row]], readings: Sequence[Row], ends: Sequence[datetime]
) -> tuple[list[KnownIsr], list[tuple[datetime, int]]]:
    """The spans of all lives, and how many replicas were told when."""
    spans: list[KnownIsr] = []
    began = [life[0]["happened_at"] for life in lives] or [ends[-1]]
    for i, life in enumerate(lives or [[]]):
        last = i + 1 >= len(began)
        own = [
            r for r in readings if (not i or r["snapshot_at"] >= began[i]) and (last or r["snapshot_at"] < began[i + 1])
        ]
        since = life[0]["happened_at"] if life else own[0]["snapshot_at"] if own else ends[-1]
        gone_at = next((at for at in ends[:-1] if at > since), ends[-1])
        until = max([gone_at, *(r["snapshot_at"] for r in own)]) if gone_at == ends[-1] else gone_at
        spans += known_isrs(commits_of(life), [r for r in own if r["snapshot_at"] <= until], until)
    told = [(e["happened_at"], broker_ids(e["replicas"]) or ()) for life in lives for e in life if e["replicas"]]
    told += [(r["snapshot_at"], tuple(r["replicas"])) for r in readings if r["replicas"]]
    return spans, sorted((at, len(set(replicas))) for at, replicas in told)


def _row(
    key: Partition,
    spans: Sequence[KnownIsr],
    replicas: Sequence[tuple[datetime, int]],
    failovers: Sequence[Row],
    courses: tuple[Course, Course],
    ends: Sequence[datetime],
    window: Window,
) -> Iterator[OutRow]:
    surely, at_most = _leaderless(failovers, ends)
    pieces = list(_pieces(spans, replicas, surely, courses, window))
    elections = [f for f in failovers if f["leader_to"] != NOBODY and window.holds(f["happened_at"])]
    risky = [p for p in pieces if any(holds(p) for holds in _RISKS.values())]
    without = [cut for span in at_most or surely if (cut := _cut(span, window))]
    instants = [f["happened_at"] for f in elections]
    instants += [at for p in risky for at in (p.start, p.end)] + [at for span in without for at in span]
    if not instants:
        return
    low = _length(surely, window)
    last = pieces[-1] if pieces else None
    quotes = [q for p in risky for q in (p.quote, *(s.quote for s in (p.min_isr, p.unclean) if s))]
    quotes += [f["evidence"][0] for f in failovers if f in elections or f["leader_to"] == NOBODY]
    factor = _at(replicas, window.end)
    is_set = last.min_isr if last else at_instant(courses[0], window.end)
    yield {
        "cluster": key[0],
        "topic": key[1],
        "partition": key[2],
        "window_from": window.start,
        "window_to": window.end,
        "replication_factor": factor,
        "min_insync_replicas": is_set.number if is_set else None,
        "elections": len(elections),
        "leaderless_low_ms": low,
        "leaderless_high_ms": None if at_most is None else max(low, _length(at_most, window)),
        **{name: _total(name, pieces) for name in _RISKS},
        "worst_isr_size": min((p.isr_size for p in pieces), default=None),
        "first_at": min(instants),
        "last_at": max(instants),
        "known_ms": sum((p.end - p.start for p in pieces), timedelta()) // _MS,
        "evidence": evidence_of(quotes),
    }


def _total(name: str, pieces: Sequence[_Piece]) -> int | None:
    """How long a risk held; None where what it rests on is not known at any time."""
    rests_on = [p.least if "min_isr" in name else p.replicas for p in pieces]
    if all(known is None for known in rests_on):
        return None
    return sum((p.end - p.start for p in pieces if _RISKS[name](p)), timedelta()) // _MS


def _pieces(
    spans: Sequence[KnownIsr],
    replicas: Sequence[tuple[datetime, int]],
    leaderless: Sequence[Span],
    courses: tuple[Course, Course],
    window: Window,
) -> Iterator[_Piece]:
    """The spans within the window, cut wherever something that counts changes."""
    changes = [at for course in (*courses, replicas) for at, _ in course] + [at for s in leaderless for at in s]
    min_isr, unclean = courses
    for span in spans:
        whole = _cut((span.start, span.end), window)
        if whole is None:
            continue
        cuts = sorted({*whole, *(at for at in changes if whole[0] < at < whole[1])})
        for start, end in pairwise(cuts):
            yield _Piece(
                start,
                end,
                len(span.isr),
                _at(replicas, start),
                at_instant(min_isr, start),
                at_instant(unclean, start),
                not any(since <= start < until for since, until in leaderless),
                span.has_eligible,
                span.quote,
            )


def _leaderless(failovers: Sequence[Row], ends: Sequence[datetime]) -> tuple[list[Span], list[Span] | None]:
    """When nobody led surely, and when perhaps nobody did; None where nothing bounds one of the elections.

    Takes: the partition's rows of gold.failovers in order of time; when its topic was deleted and logs end.
    """
    surely: list[Span] = []
    perhaps: list[Span] = []
    is_bounded = True
    for failover, after in zip(failovers, [*failovers[1:], None], strict=False):
        at = failover["happened_at"]
        if failover["leader_to"] == NOBODY:
            until = after["happened_at"] if after else next((end for end in ends if end > at), at)
            surely.append((at, until))
            perhaps.append((at, until))
        else:
            low, high = failover["leaderless_low_ms"], failover["leaderless_high_ms"]
            surely.append((at - (low or 0) * _MS, at))
            perhaps.append((at - max(low or 0, high or 0) * _MS, at))
            is_bounded = is_bounded and high is not None
    return _united(surely), _united(perhaps) if is_bounded else None


def _united(spans: Iterable[Span]) -> list[Span]:
    """The same time in spans that do not overlap."""
    united: list[Span] = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = (united[-1][0], max(end, united[-1][1]))
        elif start < end:
            united.append((start, end))
    return united


def _cut(span: Span, window: Window) -> Span | None:
    start, end = max(span[0], window.start), min(span[1], window.end)
    return (start, end) if start < end else None


def _length(spans: Iterable[Span], window: Window) -> int:
    cut = [c for span in spans if (c := _cut(span, window))]
    return sum((end - start for start, end in cut), timedelta()) // _MS


def _at(replicas: Sequence[tuple[datetime, int]], at: datetime) -> int | None:
    """How many replicas it had, as told last before an instant, else first after it."""
    i = bisect_right(replicas, at, key=lambda told: told[0])
    return replicas[max(0, i - 1)][1] if replicas else None
