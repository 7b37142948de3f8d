"""The rulings on partitions that stand still or fall behind while they have an owner and records wait."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from kafka_hindsight.catalog.codes import StallKind
from kafka_hindsight.catalog.rows import OffsetCommits, OffsetSnapshot, Ownership, PartitionStall, Quote, Rebalance
from kafka_hindsight.judgements.groups.partition_progress import (
    Period,
    Place,
    Progress,
    lag_of,
    progress_of,
    usual_wait,
)
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote_commits, quote_snapshot, row_id
from kafka_hindsight.judgements.reasoning.proofs import Proof, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Likely, Possible, Ruling, Verdict, decide
from kafka_hindsight.shared.durations import NEVER
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted, duration

USUAL_WAITS = 3
"""A partition stands if records wait for so many times as long as they usually do. Our choice."""

POLL_LIMIT = timedelta(minutes=5)
"""An owner that lives polls at least this often, and commits by then if it commits with its polls.
Source: max.poll.interval.ms, default 5 min (KIP-62)."""


@dataclass(frozen=True)
class Others:
    """The other partitions that the owner of one held at the end of a period: what moved, and what had no lag."""

    moved: Mapping[Place, tuple[OffsetSnapshot, OffsetSnapshot]]
    idle: Sequence[Place]
    count: int


@dataclass(frozen=True)
class StallCase:
    """A period in which a partition stood, or grew its lag, with its owner and what else that owner did."""

    place: Place
    period: Period
    is_stand: bool
    owner: Ownership | None
    others: Others
    usual: timedelta | None
    move: tuple[datetime, OffsetCommits] | None = None

    @property
    def partition(self) -> str:
        """The partition by its name."""
        return f"{self.place[0]}-{self.place[1]}"

    @property
    def first(self) -> OffsetSnapshot:
        """The first reading of the period."""
        return self.period.readings[0]

    @property
    def last(self) -> OffsetSnapshot:
        """The last reading of the period."""
        return self.period.readings[-1]

    @cached_property
    def highest(self) -> OffsetSnapshot:
        """The reading with the largest lag, of several the first."""
        return max(self.period.readings, key=lag_of)

    @property
    def begin(self) -> OffsetSnapshot:
        """The last reading before a growth of the lag, or the first one of the period."""
        return self.period.before or self.first

    @property
    def length(self) -> str:
        """How long the readings show it."""
        return duration(self.period.length)

    @property
    def arrivals(self) -> str:
        """How many records arrived meanwhile."""
        return counted((self.last.end_offset or 0) - (self.first.end_offset or 0), "record")

    def pace_of(self, offset: Callable[[OffsetSnapshot], int | None]) -> float:
        """How many records a second an offset moved, from its begin to the largest lag; 0 in no time."""
        first, last = (self.first, self.last) if self.is_stand else (self.begin, self.highest)
        seconds = (last.snapshot_at - first.snapshot_at).total_seconds()
        return round(((offset(last) or 0) - (offset(first) or 0)) / seconds, 3) if seconds else 0.0

    @property
    def paces(self) -> str:
        """How many records a second were read, and how many arrived."""
        reading, arrival = (self.pace_of(lambda r: r.committed_offset), self.pace_of(lambda r: r.end_offset))
        return f"{reading:,.1f} records a second were read, and {arrival:,.1f} arrived"

    @property
    def lags(self) -> str:
        """The lag just before the period, and the largest one within it."""
        return f"from {lag_of(self.begin)} to {counted(lag_of(self.highest), 'record')}"

    @property
    def rest(self) -> str:
        """How many other partitions its owner had."""
        return counted(self.others.count, "other partition")


def stands(case: StallCase) -> Proof | None:
    """The committed offset did not move while records waited, at three readings or more."""
    return proof_if(case.is_stand)


def end_grew(case: StallCase) -> Proof | None:
    """The log's end grew meanwhile: transaction markers and records that nothing reads make a lag that stays."""
    return proof_if((case.last.end_offset or 0) > (case.first.end_offset or 0))


def outlasts_its_usual_wait(case: StallCase) -> Proof | None:
    """It stood for three times as long as records usually wait, or longer: here, else elsewhere with its owner."""
    return proof_if(case.usual is not None and case.period.length >= USUAL_WAITS * case.usual)


def has_usual_wait(case: StallCase) -> Proof | None:
    """The committed offset moved at another time, or that of another partition of its owner did."""
    return proof_if(case.usual is not None)


def outlasts_the_poll_limit(case: StallCase) -> Proof | None:
    """It stood for as long as max.poll.interval.ms by default (5 min), or longer."""
    return proof_if(case.period.length >= POLL_LIMIT)


def others_moved(case: StallCase) -> Proof | None:
    """Other partitions of its owner moved meanwhile."""
    place, pair = next(iter(case.others.moved.items()), (None, None))
    if place is None or pair is None:
        return None
    quotes = (_quote(pair[0]), _quote(pair[1]))
    return Proof(quotes, {"moved": len(case.others.moved)})


def is_at_stable_offset(case: StallCase) -> Proof | None:
    """Each reading shows the committed offset at the last stable offset, and the end of the log behind it."""
    return proof_if(
        all(r.last_stable is not None and r.committed_offset == r.last_stable for r in case.period.readings)
    )


def falls_behind(case: StallCase) -> Proof | None:
    """The committed offset moved, and the lag reached five new heights above what one commit interval brings."""
    return proof_if(not case.is_stand)


_OWN = "KafkaConsumer, pause and position: each partition of a member has a position of its own"

STALL_RULINGS: tuple[Ruling[StallCase], ...] = (
    Likely(
        StallKind.HELD_BY_TRANSACTION,
        "No reading shows {partition} move for {length}, and each shows its committed offset at the last stable one: an"
        " open transaction held it back.",
        proof=(stands, is_at_stable_offset),
        source="KIP-98: a read_committed consumer reads up to the last stable offset; UnifiedLog.lastStableOffset",
        cases=("made: a transaction is open", "made: a consumer stops"),
    ),
    Likely(
        StallKind.STANDS_ALONE,
        "No reading shows {partition} move for {length} while {arrivals} arrived; of the {rest} of its owner"
        " {moved} moved.",
        proof=(stands, end_grew, outlasts_its_usual_wait, others_moved),
        source=_OWN,
        cases=("made: one of two partitions stops", "made: a consumer stops"),
    ),
    Likely(
        StallKind.OWNER_STANDS,
        "No reading shows {partition} move for {length} while {arrivals} arrived, nor another partition of its owner.",
        proof=(stands, end_grew, outlasts_its_usual_wait),
        source="Burrow, core/internal/evaluator/caching.go: the offset does not change while the lag does not fall",
        cases=("made: a consumer stops", "made: one of two partitions stops"),
    ),
    Possible(
        StallKind.OWNER_STANDS,
        "No reading shows {partition} move for {length} while {arrivals} arrived: its owner stands, or commits more"
        " seldom than that.",
        proof=(stands, end_grew, outlasts_the_poll_limit),
        unless=(has_usual_wait,),
        source="KIP-62: a member that does not poll for max.poll.interval.ms, 5 min by default, leaves its group",
        cases=("made: a consumer never moves", "made: a consumer stops"),
    ),
    Likely(
        StallKind.FALLS_BEHIND,
        "{partition} was read, and its lag grew {lags}: {paces}.",
        proof=(falls_behind,),
        source="Burrow, core/internal/evaluator/caching.go: the offset moves while the lag grows",
        cases=("made: a consumer reads half of what arrives", "made: a consumer stops"),
    ),
)
"""For a period of one partition. Where none holds there is no row."""


def judge_stalls(
    offsets: Iterable[OffsetSnapshot],
    ownership: Sequence[Ownership],
    rebalances: Sequence[Rebalance],
    window: Window,
    commits: Iterable[OffsetCommits] = (),
) -> list[PartitionStall]:
    """Rows of gold.partition_stalls of one group: its partitions that stood or fell behind while they had an owner."""
    progress = progress_of(offsets, ownership, rebalances, window, commits)
    verdicts = ((case, decide(STALL_RULINGS, case)) for case in _cases(progress))
    return [_row(case, verdict, rebalances, window) for case, verdict in verdicts if verdict is not None]


def _cases(progress: Mapping[Place, Progress]) -> Iterator[StallCase]:
    for place, own in progress.items():
        stands = own.stands()
        for stand in stands:
            yield _case(progress, place, stand, is_stand=True)
        for growth in own.growths(stands):
            yield _case(progress, place, growth, is_stand=False)


def _case(progress: Mapping[Place, Progress], place: Place, period: Period, is_stand: bool) -> StallCase:
    first, last = period.started_at, period.last_at
    owner = progress[place].owner_at(last)
    others = {
        other: own
        for other, own in progress.items()
        if owner and other != place and (o := own.owner_at(last)) and o.member_id == owner.member_id
    }
    moved = {other: pair for other, own in others.items() if (pair := own.moved_between(first, last))}
    idle = [p for p, own in others.items() if p not in moved and own.had_nothing_between(first, last)]
    waits = progress[place].waits_apart_from(period)
    usual = usual_wait(waits or [wait for own in others.values() for wait in own.waits_apart_from(period)])
    move = progress[place].last_move_before(period) if is_stand else None
    return StallCase(place, period, is_stand, owner, Others(moved, idle, len(others)), usual, move)


def _row(case: StallCase, verdict: Verdict, rebalances: Sequence[Rebalance], window: Window) -> PartitionStall:
    owner, period, first, last = case.owner, case.period, case.first, case.last
    readings = (case.begin, first, case.highest, last, *([period.after] if period.after else []))
    since = None if owner is None else owner.valid_from
    moved_at, run = case.move or (None, None)
    moves = [quote_commits(run, moved_at)] if run and moved_at else []
    return PartitionStall(
        cluster=first.cluster,
        stall_id=row_id("stall", first.cluster, first.group_id, case.partition, period.started_at),
        group_id=first.group_id,
        topic=case.place[0],
        partition=case.place[1],
        kind=StallKind(verdict.code),
        confidence=verdict.confidence,
        started_low=moved_at or (period.before.snapshot_at if period.before else None),
        started_at=max(moved_at, window.start) if moved_at else period.started_at,
        ended_at=_end_of(case),
        committed_offset=first.committed_offset if case.is_stand else None,
        lag_first=lag_of(case.begin),
        lag_max=lag_of(case.highest),
        lag_last=lag_of(last),
        read_pace=case.pace_of(lambda r: r.committed_offset),
        write_pace=case.pace_of(lambda r: r.end_offset),
        member_id=owner.member_id if owner else None,
        client_id=owner.client_id if owner else None,
        host=owner.host if owner else None,
        generation=owner.generation if owner else None,
        owned_since=since,
        rebalance_id=_rebalance_before(case, rebalances),
        owned_partitions=1 + case.others.count if owner else None,
        moving_partitions=len(case.others.moved) if owner else None,
        idle_partitions=len(case.others.idle) if owner else None,
        explanation=verdict.sentence,
        evidence=evidence_of(
            (*map(_quote, readings), *moves, *verdict.evidence, *(owner.evidence[:1] if owner else ()))
        ),
    )


def _end_of(case: StallCase) -> datetime | None:
    """The first reading after it, or the end of its owner if that comes first; None without a later reading."""
    after = case.period.after
    if after is None:
        return None
    owner_end = NEVER if case.owner is None or case.owner.is_open else case.owner.valid_to
    return min(after.snapshot_at, owner_end)


def _rebalance_before(case: StallCase, rebalances: Sequence[Rebalance]) -> str | None:
    """The last rebalance that ended while the partition already stood: it has not moved since then."""
    start, last = case.period.started_at, case.period.last_at
    ends = [(r.ended_at, r.rebalance_id) for r in rebalances if r.ended_at and start <= r.ended_at <= last]
    return max(ends)[1] if ends and case.is_stand else None


def _quote(reading: OffsetSnapshot) -> Quote:
    says = f"committed {reading.committed_offset}, end {reading.end_offset}, lag {reading.lag}"
    return quote_snapshot(reading, f"{reading.topic}-{reading.partition}: {says}")
