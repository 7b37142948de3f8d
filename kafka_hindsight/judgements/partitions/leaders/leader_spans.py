"""The leader of a partition and its replicas, from change to change, as logs alone show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from kafka_hindsight.catalog.codes import NOBODY
from kafka_hindsight.catalog.rows import LeaderSpan, Quote
from kafka_hindsight.judgements.partitions.incarnations import Incarnation
from kafka_hindsight.judgements.partitions.leaders.failover_rulings import LeaderChange
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.shared.timelines import Interval
from kafka_hindsight.shared.windows import broker_ids


@dataclass(frozen=True)
class _LeaderFrom:
    """The leader of a partition from an instant on; None where it is not known."""

    at: datetime | None
    leader: int | None
    quotes: tuple[Quote, ...] = ()


def leader_spans(
    incarnation: Incarnation,
    leaderships: Sequence[Leadership],
    changes: Sequence[LeaderChange | None],
    leaders: Iterable[Interval[int]],
) -> Iterator[LeaderSpan]:
    """Yield the spans of one incarnation of a partition, in order and without a gap between them.

    Replicas are those that lines or readings had shown by then. A partition whose creation no line shows was there
    before: its first span has no begin, and nothing is known of it.

    Args:
        incarnation: The partition.
        leaderships: Its leaderships by epoch.
        changes: The change of leader from each leadership to the next; None where the leader stayed.
        leaders: The leaders, each with the time in which no other broker can have led.
    """
    steps = list(_leaders_in_order(incarnation, leaderships, changes, leaders))
    for now, after in pairwise([*steps, _LeaderFrom(incarnation.gone_at, None)]):
        until = after.at
        parts = _changes_of_replicas(incarnation, now.at, until)
        for (since, replicas), (end, _) in pairwise([*parts, (until, None)]):
            if since is None or end is None or since < end:
                yield LeaderSpan(
                    cluster=incarnation.key[0],
                    topic=incarnation.key[1],
                    partition=incarnation.key[2],
                    since=since,
                    until=end,
                    leader=now.leader,
                    replicas=None if replicas is None else list(replicas),
                    evidence=list(now.quotes[:1]),
                )


def _leaders_in_order(
    incarnation: Incarnation,
    leaderships: Sequence[Leadership],
    changes: Sequence[LeaderChange | None],
    leaders: Iterable[Interval[int]],
) -> Iterator[_LeaderFrom]:
    known_until = {leader.start: leader.end for leader in leaders}
    if not (leaderships and leaderships[0].epoch == 0 and leaderships[0].is_exact):
        yield _LeaderFrom(None, None)
    if not leaderships:
        return
    instants = (change.at if change else now.at for now, change in zip(leaderships, [None, *changes], strict=True))
    dated = [(at, now) for at, now in zip(instants, leaderships, strict=True) if at]
    for (at, now), next_at in zip(dated, [*(at for at, _ in dated[1:]), incarnation.gone_at], strict=True):
        yield _LeaderFrom(at, now.leader, now.quotes)
        end = next_at if now.leader == NOBODY or now.at is None else known_until.get(now.at, at)
        if end is not None and (next_at is None or end < next_at):
            yield _LeaderFrom(max(at, end), None)


def _changes_of_replicas(
    incarnation: Incarnation, since: datetime | None, until: datetime | None
) -> Iterator[tuple[datetime | None, tuple[int, ...] | None]]:
    """The replicas that are known from an instant on, and each change of them up to another."""
    replicas = incarnation.replicas_shown_by(since) if since else None
    yield since, replicas
    for line in incarnation.lists_of_replicas.within(since, until) if since else ():
        newest = broker_ids(line.replicas)
        if newest and newest != replicas:
            replicas = newest
            yield line.happened_at, replicas
