"""How the members of a group share its partitions out while it is settled: evenly, and all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from kafka_hindsight.catalog.codes import GroupRecordType, Outcome, Protocol
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import GroupImbalance, Quote, Rebalance
from kafka_hindsight.judgements.groups.assignments import Assignment, Witnesses, readings_of
from kafka_hindsight.judgements.groups.costs import Stop
from kafka_hindsight.judgements.reasoning.evidence import evidence_of
from kafka_hindsight.judgements.rebalances.records import PartitionKey
from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.rules import balance_rules as declared
from kafka_hindsight.shared.grouping import grouped, with_neighbours
from kafka_hindsight.shared.timelines import instants
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted, duration, listed, number, ranges

V = TypeVar("V")
_NAMED = 3
_OF_CONSUMERS = (None, *(str(p) for p in Protocol if p.is_of_consumers))


@dataclass(frozen=True)
class TopicPartitions:
    """The partitions of each topic, each with the first and the last reading that shows it."""

    of_topics: Mapping[str, Sequence[tuple[int, datetime, datetime]]] = field(default_factory=dict)

    def there(self, topic: str, at: datetime) -> Iterator[PartitionKey]:
        """The partitions that a topic had at an instant."""
        return ((topic, p) for p, first, last in self.of_topics.get(topic, ()) if first <= at <= last)


@dataclass(frozen=True)
class Settled:
    """One instant at which a witness shows who owned what in a settled group; None: it rebalanced."""

    at: datetime
    assignment: Assignment | None


@dataclass(frozen=True)
class Run:
    """A time in which each witness shows the same fault, with the values of the first and the last one."""

    start: Settled
    end: Settled

    @property
    def quotes(self) -> list[Quote]:
        """The evidence of its first and its last instant."""
        return [s.assignment.quote for s in (self.start, self.end) if s.assignment is not None]


def settled_times(
    rebalances: Sequence[Rebalance],
    stops: Mapping[str, Stop],
    witnesses: Witnesses,
    covered_until: Callable[[int | None, datetime], datetime],
) -> list[Settled]:
    """The instants at which a witness shows who owned what, and those at which the group rebalanced, in order.

    An assignment holds from the end of its rebalance to the start of the next one, or as far as the coordinator's log
    reaches and the group stays with it.
    """
    moves = instants(e.happened_at for e in witnesses.events if e.kind in (Kind.GROUP_LOADED, Kind.GROUP_UNLOADED))
    points: list[Settled] = []
    for reading, assignment in readings_of(witnesses.readings, witnesses.members):
        is_settled = reading.state == "stable" and reading.type in _OF_CONSUMERS
        points.append(Settled(reading.snapshot_at, assignment if is_settled else None))
    ordered = sorted(rebalances, key=lambda r: (r.started_at, r.from_generation or 0))
    for _, rebalance, following in with_neighbours(ordered):
        after, end = stops[rebalance.rebalance_id].after, rebalance.ended_at
        points.append(Settled(rebalance.started_at, None))
        if after is None or end is None or rebalance.outcome != Outcome.COMPLETED:
            continue
        until = following.started_at if following else covered_until(rebalance.coordinator, end)
        until = min(until, moves.first_after(end) or until)
        if until > end:
            points += [Settled(end, after), Settled(until - timedelta.resolution, after)]
    return sorted(points, key=lambda p: (p.at, p.assignment is not None))


def runs_of(points: Sequence[Settled], faults: Iterable[bool]) -> Iterator[Run]:
    """The times in which all instants in a row show a fault; a rebalance in between ends one."""
    current: Run | None = None
    for point, is_faulty in zip(points, faults, strict=True):
        if is_faulty:
            current = Run(current.start if current else point, point)
        else:
            if current:
                yield current
            current = None
    if current:
        yield current


def find_imbalances(
    group: tuple[str, str],
    points: Sequence[Settled],
    subscriptions: Mapping[str, frozenset[str]],
    topics: TopicPartitions,
    window: Window,
) -> list[GroupImbalance]:
    """The faults of one group in a window, each as long as its rule asks for.

    `group`: its cluster and its id; `subscriptions`: the topics of each member, where a witness shows them.
    """
    rows: list[GroupImbalance] = []

    def add(rule: Rule, run: Run, details: str) -> None:
        lasted = run.end.at - run.start.at
        limit = timedelta(minutes=rule.thresholds.get("minutes", 0))
        if lasted >= limit and run.start.at < window.end and run.end.at >= window.start:
            rows.append(
                GroupImbalance(
                    cluster=group[0],
                    group_id=group[1],
                    rule_id=rule.rule_id,
                    started_at=run.start.at,
                    ended_at=run.end.at,
                    details=f"{details}, for {duration(lasted)}",
                    evidence=evidence_of(run.quotes),
                )
            )

    for run in runs_of(points, map(_has_idle, points)):
        owned = _owned(run.end)
        add(declared.IDLE_MEMBERS, run, _idle_words(owned))
    for run in runs_of(points, [_largest(p, subscriptions) is not None for p in points]):
        member, share, fair = _largest(run.end, subscriptions) or ("", 0, 0)
        add(
            declared.LOPSIDED_ASSIGNMENT,
            run,
            f"'{_short(member)}' owned {number(share)} partitions where a fair share is {number(fair)}",
        )
    unowned = [_unowned(point, topics) for point in points]
    by_run: dict[tuple[datetime, datetime], list[tuple[Run, PartitionKey]]] = {}
    for partition in sorted(frozenset().union(*unowned)):
        for run in runs_of(points, [partition in missing for missing in unowned]):
            by_run.setdefault((run.start.at, run.end.at), []).append((run, partition))
    for together in by_run.values():
        add(declared.UNOWNED_PARTITIONS, together[0][0], _names([p for _, p in together]))
    return rows


def _short(member_id: str) -> str:
    return member_id[:-37] or member_id


def _owned(point: Settled) -> Counter[str]:
    """How many partitions each member owned."""
    if point.assignment is None:
        return Counter()
    counts = Counter(dict.fromkeys(sorted(point.assignment.members), 0))
    counts.update(point.assignment.owners.values())
    return counts


def _has_idle(point: Settled) -> bool:
    """Whether members had nothing to do because there are fewer partitions than members."""
    owned = _owned(point)
    return 0 < owned.total() < len(owned)


def _idle_words(owned: Counter[str]) -> str:
    idle = number(sum(not count for count in owned.values()))
    return f"{idle} of {counted(len(owned), 'member')} owned nothing of {counted(owned.total(), 'partition')}"


def _largest(point: Settled, subscriptions: Mapping[str, frozenset[str]]) -> tuple[str, int, int] | None:
    """The member with more than twice a fair share, its share and a fair one; None where there is none.

    Members share out fairly what all of them subscribe to. Where no witness shows a subscription, a member that owns a
    partition of the group's only topic subscribes to it.
    """
    if point.assignment is None:
        return None
    owned = _owned(point)
    topics = {topic for topic, _ in point.assignment.owners}
    of_members = {subscriptions.get(member) for member in owned}
    if None in of_members or len(of_members) > 1:
        if len(topics) != 1:
            return None
        owned = Counter({member: count for member, count in owned.items() if count})
    if len(owned) < 2:
        return None
    member, share = max(owned.items(), key=lambda item: (item[1], item[0]))
    fair = math.ceil(owned.total() / len(owned))
    is_lopsided = share > declared.LOPSIDED_ASSIGNMENT.thresholds["times a fair share"] * fair
    return (member, share, fair) if is_lopsided else None


def _unowned(point: Settled, topics: TopicPartitions) -> frozenset[PartitionKey]:
    """The partitions without an owner of the topics of which the group owns others."""
    if point.assignment is None:
        return frozenset()
    owners = point.assignment.owners
    return frozenset(p for topic in {t for t, _ in owners} for p in topics.there(topic, point.at) if p not in owners)


def _names(partitions: Sequence[PartitionKey]) -> str:
    numbers = grouped(partitions, lambda p: p[0])
    names = [f"{topic} {ranges([n for _, n in of])}" for topic, of in numbers.items()]
    return listed(names, at_most=_NAMED)


def subscriptions_in(witnesses: Witnesses, clients: Mapping[str, str | None]) -> dict[str, frozenset[str]]:
    """The topics that each member subscribes to, as its last record or its own log shows them.

    `clients`: the client id of each member.
    """
    own: dict[str, frozenset[str]] = {}
    for event in witnesses.events:
        if event.kind == Kind.CLIENT_SUBSCRIBED and event.client_id and event.detail:
            own[event.client_id] = frozenset(name.strip() for name in event.detail.split(",") if name.strip())
    result = {member: own[client] for member, client in clients.items() if client in own}
    for record in witnesses.records:
        if record.record_type == GroupRecordType.GROUP_METADATA:
            result |= {m.member_id: frozenset(m.subscription) for m in record.members or () if m.subscription}
    return result
