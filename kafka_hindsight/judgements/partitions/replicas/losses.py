"""How many records an unclean election lost: bounds, each with the evidence that shows it.

Lost is what lies between the offset at which the new leader's log diverges from the old leader's, and the old log's
end. Where the old leader comes back, its log shows both: how long it is, and where it is cut. Without it, the new
leader's log starts no earlier than where they diverge, and what a consumer could read, or had read, the old leader had.
Source: KIP-101, KIP-207 (no end offset is returned below the start of the leader's epoch), Partition.makeFollower,
UnifiedLog.truncateTo.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise

from kafka_hindsight.catalog.codes import NOBODY
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, PartitionSnapshot, Quote
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.judgements.partitions.partition_readings import ReadingWithCommits
from kafka_hindsight.judgements.reasoning.evidence import quote, quote_snapshot
from kafka_hindsight.shared.windows import broker_ids


@dataclass(frozen=True)
class Mark:
    """An offset that a line or a reading shows."""

    offset: int
    quote: Quote


@dataclass(frozen=True)
class Bound:
    """A number of records, between two offsets that evidence shows; 0 where one of the two is not known."""

    records: int = 0
    span: tuple[int, int] | None = None
    quotes: tuple[Quote, ...] = ()

    @property
    def says(self) -> str:
        return f"{self.records} (offset {self.span[0]} to {self.span[1]})" if self.span else f"{self.records}"


@dataclass(frozen=True)
class Loss:
    """Bounds of the records lost. `high` is None where no evidence bounds them from above."""

    low: int
    high: int | None
    quotes: tuple[Quote, ...]
    says: str


def loss_of(
    change: Leadership,
    last_leader: int,
    holders: Collection[int],
    lines: Sequence[Event],
    readings: Sequence[PartitionSnapshot],
) -> Loss:
    """The records that were in the old leader's log and are not in any log of the cluster any more.

    The true number lies within the bounds, whichever evidence is missing. A log that ends before an offset that was
    read from it lost its tail in the crash: it bounds nothing from above. `holders` are the replicas in sync before the
    unclean leadership, `lines` and `readings` those of the partition, in order.
    """
    assert change.at is not None
    case = _Election(change, change.at, last_leader, lines, readings)
    end, cut = case.log_end_of(last_leader), case.first_cut_of(last_leader)
    reached = highest([*case.reached(), *_if(end)])
    diverges_by = _lowest([*case.new_log_ends, *_if(cut)])
    others = [case.held_and_cut(b) for b in sorted({*holders} - {change.leader, last_leader})]
    low = max([_between(diverges_by, reached), *others], key=lambda b: b.records)
    shared = cut or highest(case.shared())
    is_whole = end is not None and reached is not None and reached.offset <= end.offset
    if not is_whole or shared is None:
        return Loss(low.records, None, low.quotes, f"at least {low.says}")
    high = _between(shared, end)
    is_exact = low.records >= high.records
    sentence = low.says if is_exact else f"at least {low.says}, at most {high.says}"
    return Loss(low.records, max(low.records, high.records), (*low.quotes, *high.quotes), sentence)


def highest(marks: Iterable[Mark]) -> Mark | None:
    """The highest offset."""
    return max(marks, key=lambda m: m.offset, default=None)


def _lowest(marks: Iterable[Mark]) -> Mark | None:
    return min(marks, key=lambda m: m.offset, default=None)


def _if(mark: Mark | None) -> tuple[Mark, ...]:
    return (mark,) if mark else ()


def _between(start: Mark | None, end: Mark | None) -> Bound:
    if start is None or end is None or end.offset <= start.offset:
        return Bound(quotes=tuple(m.quote for m in (start, end) if m))
    return Bound(end.offset - start.offset, (start.offset, end.offset), (start.quote, end.quote))


def _log_offset(event: Event | None) -> Mark | None:
    return Mark(event.log_offset, quote(event)) if event and event.log_offset is not None else None


def high_watermarks(events: Iterable[Event]) -> list[Mark]:
    """The high watermarks that lines show."""
    return [Mark(e.high_watermark, quote(e)) for e in events if e.high_watermark is not None]


def end_offsets(readings: Iterable[PartitionSnapshot]) -> list[Mark]:
    """The end offsets that readings show."""
    ends = ((r.end_offset, r) for r in readings if r.end_offset is not None)
    return [Mark(end, quote_snapshot(r, f"{r.topic}-{r.partition} ends at offset {end}")) for end, r in ends]


@dataclass(frozen=True)
class _Election:
    """One unclean election: the leader before, and all evidence on the partition."""

    change: Leadership
    at: datetime
    last_leader: int
    lines: Sequence[Event]
    readings: Sequence[PartitionSnapshot]

    def is_new(self, epoch: int | None) -> bool:
        """Whether an epoch is known and is that of the election or a later one."""
        return epoch is not None and epoch >= self.change.epoch

    @cached_property
    def readings_before(self) -> list[PartitionSnapshot]:
        """The readings before the election. One that started before it may have met the new leader already."""
        return [r for r in self.readings if r.snapshot_at < self.at and not self.is_new(r.leader_epoch)]

    @cached_property
    def new_start(self) -> Mark | None:
        """Where the new leader's log ended when it became leader, by its own log."""
        election = (self.change.leader, self.change.epoch)
        starts = (e for e in self.lines if e.kind == Kind.LEADER_STARTED and e.log_offset is not None)
        return _log_offset(next((e for e in starts if (e.broker, e.leader_epoch) == election), None))

    @cached_property
    def new_log_ends(self) -> list[Mark]:
        """Offsets at or above that at which the new leader's log diverges from the old one."""
        readings = (r for r in self.readings if r.leader_epoch == self.change.epoch)
        return [*_if(self.new_start), *end_offsets(readings)]

    def reached(self) -> list[Mark]:
        """Offsets that the old leader's log had reached at least.

        What is committed is in the leader's log, and a high watermark is logged only when it is reached.
        """
        own = (e for e in self.lines if e.broker == self.last_leader and not self.was_back(e.broker, e.happened_at))
        committed = [*(e for e in self.lines if e.happened_at < self.at), *own]
        ends = filter(None, map(_log_offset, self.lines_as_leader()))
        return [*ends, *high_watermarks(committed), *end_offsets(self.readings_before), *self.committed_by_groups()]

    def lines_as_leader(self) -> Iterator[Event]:
        """The old leader's lines on its own log end since it last became leader."""
        own_lines = [e for e in self.lines if e.broker == self.last_leader and e.happened_at < self.at]
        starts = [i for i, e in enumerate(own_lines) if e.kind == Kind.LEADER_STARTED]
        since = own_lines[starts[-1] :] if starts else []
        return (e for e in since if e.kind in (Kind.LEADER_STARTED, Kind.ISR_SHRINK_PROPOSED))

    def committed_by_groups(self) -> Iterator[Mark]:
        """The offsets that groups had committed before the election, or can only have committed before it.

        Within an epoch the end never falls, so a commit above an end that a later reading shows is older than the
        epoch.
        """
        later_end: int | None = None
        for r in reversed(self.readings):
            for commit in r.commits if isinstance(r, ReadingWithCommits) else ():
                offset = commit.committed_offset
                if offset is not None and (r.snapshot_at < self.at or (later_end is not None and offset > later_end)):
                    text = f"group {commit.group_id} has committed offset {offset} of {r.topic}-{r.partition}"
                    yield Mark(offset, quote_snapshot(r, text))
            if r.leader_epoch == self.change.epoch and r.end_offset is not None:
                later_end = r.end_offset

    def shared(self) -> list[Mark]:
        new_leader = self.change.leader
        before = (e for e in self.lines if e.happened_at < self.at)
        committed = (e for e in before if new_leader in (e.broker, *(broker_ids(e.previous_isr or e.isr) or ())))
        readings = (r for r in self.readings_before if new_leader in (r.isr or ()))
        return [*high_watermarks(committed), *end_offsets(readings), *_if(self.diverges_at_least_at())]

    def diverges_at_least_at(self) -> Mark | None:
        """The offset up to which both logs are the same, by the leaders since the new leader was last in sync.

        In sync, its log was the beginning of that leader's. Each leader since took over the log of the one before it,
        up to its own start.
        """
        leader_of, starts = self.leaders_before()
        in_sync = self.last_epoch_in_sync(leader_of)
        if in_sync is None or self.new_start is None:
            return None
        epochs = range(in_sync, self.change.epoch)
        leaders = [(epoch, leader_of.get(epoch)) for epoch in epochs if leader_of.get(epoch) != NOBODY]
        first_epochs = [after for (_, before), (after, leader) in pairwise(leaders) if before != leader]
        if any(epoch not in leader_of for epoch in epochs) or any(epoch not in starts for epoch in first_epochs):
            return None
        return _lowest([self.new_start, *(starts[epoch] for epoch in first_epochs)])

    def last_epoch_in_sync(self, leader_of: Mapping[int, int | None]) -> int | None:
        """The last earlier epoch of which a line shows the new leader as leader or in sync."""
        lines = ((e, e.leader_epoch) for e in self.lines if e.leader_epoch is not None and e.leader_epoch in leader_of)
        in_sync = (epoch for e, epoch in lines if self.change.leader in (leader_of[epoch], *(broker_ids(e.isr) or ())))
        return max(in_sync, default=None)

    def leaders_before(self) -> tuple[Mapping[int, int | None], Mapping[int, Mark]]:
        """The leader of each earlier epoch, and where the leader's log ended when it became leader."""
        leader_of: dict[int, int | None] = {}
        starts: dict[int, Mark] = {}
        for e in self.lines:
            if e.leader_epoch is None or self.is_new(e.leader_epoch):
                continue
            if e.kind == Kind.LEADER_STARTED:
                leader_of[e.leader_epoch] = e.broker
                starts.update({e.leader_epoch: mark} if (mark := _log_offset(e)) else {})
            elif e.leader is not None:
                leader_of[e.leader_epoch] = e.leader
        return leader_of, starts

    def log_end_of(self, replica: int) -> Mark | None:
        """Where the replica's log ended when it met the new leader, by its own log."""
        for e in self.lines:
            if e.broker != replica or e.log_offset is None or e.happened_at < self.at:
                continue
            if e.kind == Kind.LOG_END_LOADED or (e.kind == Kind.FOLLOWER_STARTED and self.is_new(e.leader_epoch)):
                return None if self.was_back(replica, e.happened_at) else _log_offset(e)
        return None

    def first_cut_of(self, replica: int) -> Mark | None:
        """Where the replica cut its log first, once it followed the new leader."""
        own = [e for e in self.lines if e.broker == replica]
        follows = (e.happened_at for e in own if e.kind == Kind.FOLLOWER_STARTED and self.is_new(e.leader_epoch))
        since = next(follows, self.at)
        cuts = (e for e in own if e.kind == Kind.LOG_TRUNCATED and e.log_offset is not None and e.happened_at >= since)
        cut = next(cuts, None)
        return None if cut is None or self.was_back(replica, cut.happened_at) else _log_offset(cut)

    def held_and_cut(self, replica: int) -> Bound:
        """The records that another replica in sync held and cut: the old leader held no less.

        A replica whose log shows its end and no cut diverged where the new leader started, or before.
        """
        end = self.log_end_of(replica)
        diverges_by = self.first_cut_of(replica) or _lowest(self.new_log_ends)
        return _between(diverges_by, end) if end and diverges_by else Bound()

    def was_back(self, replica: int, by: datetime) -> bool:
        """Whether the replica had been in sync with the new leader by then, so that it had cut its log already."""
        return any(self.at < at < by and replica in isr for at, isr in self.isrs_since)

    @cached_property
    def isrs_since(self) -> list[tuple[datetime, Sequence[int]]]:
        lines = (e for e in self.lines if e.isr and (e.kind == Kind.ISR_UPDATED or self.is_new(e.leader_epoch)))
        readings = (r for r in self.readings if self.is_new(r.leader_epoch))
        return [
            *((e.happened_at, broker_ids(e.isr) or ()) for e in lines),
            *((r.snapshot_at, r.isr or ()) for r in readings),
        ]
