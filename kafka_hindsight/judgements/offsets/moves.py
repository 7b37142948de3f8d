"""The moves of a group in one partition: each place at which it went on elsewhere, or may have.

One pass over the marks, in order of time. What a member had read lies between what it committed, or where it began, and
the end of the log; a line that names its position makes it exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any

from kafka_hindsight.catalog.codes import ResetPolicy
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import OffsetSnapshot, Ownership, Quote
from kafka_hindsight.catalog.value_class import value_class
from kafka_hindsight.judgements.offsets.log_changes import LogHistory, PartitionKey
from kafka_hindsight.judgements.offsets.marks import Mark, Sign
from kafka_hindsight.judgements.offsets.owner_endings import NOT_SHOWN, Ending, Endings, Manner
from kafka_hindsight.judgements.offsets.reading_ends import reading_ends
from kafka_hindsight.shared.durations import HEARTBEAT_INTERVAL, NEVER, SAME_ACT
from kafka_hindsight.shared.timelines import Intervals, Timeline, timelines

_FETCHED_WITHIN = timedelta(seconds=20)
"""How long after an assignment a member logs where it goes on. Our choice, after the recorded nights."""

COMMIT_TRIED_FOR = timedelta(seconds=60)
"""How long a client tries a commit. Source: default.api.timeout.ms of ConsumerConfig and socket.timeout.ms of
librdkafka, 60 s by default; close waits for half of that."""

_GIVEN_BACK = (Manner.GAVE_BACK, Manner.READ_ON)
_SHOWS_COMMIT = (Sign.COMMITTED, Sign.READ)
_SHOWS_POSITION = (Sign.RESUMED, Sign.NOTHING_COMMITTED, Sign.OUT_OF_RANGE, Sign.RESET)
"""The marks with which a member's own log shows that it begins to read."""


_NO_MARKS: Timeline[Mark] = Timeline((), lambda m: m.at)


@dataclass(frozen=True)
class Place:
    """An offset, as far as it is known: at least `low`, at most `high`; None: no bound."""

    low: int | None
    high: int | None

    @property
    def exact(self) -> int | None:
        """The offset, where it is known."""
        return self.low if self.low == self.high else None


def exactly(offset: int | None) -> Place:
    """A place that is known."""
    return Place(offset, offset)


class MoveSign(Enum):
    """The sign that shows a move."""

    OUT_OF_RANGE = auto()
    DIVERGED = auto()
    COMMIT_GONE = auto()
    COMMITTED_FROM_OUTSIDE = auto()
    SOUGHT = auto()
    WENT_ON_AT_COMMIT = auto()
    COMMIT_IS_LOWER = auto()
    LOG_BEGINS_LATER = auto()


@dataclass(frozen=True)
class Removal:
    """A coordinator's line about committed offsets that were deleted, or that expired.

    `is_named`: it names the group, or the group's partition of `__consumer_offsets`.
    """

    kind: Kind
    at: datetime
    quote: Quote
    is_named: bool


@dataclass(frozen=True)
class Move:
    """One place at which a group went on elsewhere.

    `origin` is where it had come to, `target` where it went on. `gone_since`: the last instant at which its committed
    offset was still there. `former_client_id`: the owner before; `ending`: how it stopped; `failed`: its commit that
    failed. `removals` are the lines about committed offsets that may be the group's.
    """

    group_id: str
    key: PartitionKey
    sign: MoveSign
    at: datetime
    origin: Place
    target: Place
    quotes: tuple[Quote, ...]
    log: LogHistory
    resumed_at: datetime | None = None
    client_id: str | None = None
    former_client_id: str | None = None
    policy: ResetPolicy | None = None
    gone_since: datetime | None = None
    ending: Ending = NOT_SHOWN
    failed: Mark | None = None
    removals: Sequence[Removal] = ()

    @property
    def partition(self) -> str:
        """The partition by its name."""
        return f"{self.key[0]}-{self.key[1]}"

    @property
    def is_exact(self) -> bool:
        """Whether both ends are known."""
        return self.origin.exact is not None and self.target.exact is not None


@dataclass(frozen=True)
class _Change:
    """A change of the committed offset by no member, which does harm when one comes back."""

    sign: MoveSign
    at: datetime
    origin: int
    quotes: tuple[Quote, ...]
    since: datetime


@dataclass(frozen=True)
class _Reset:
    """A reset that a member has begun. `position`: where it stood; None where it had none."""

    sign: MoveSign
    position: int | None
    quote: Quote


@value_class()
class _Commit:
    """The committed offset that is known last. `mark` shows it: a commit, a reading, or a member that goes on there."""

    offset: int
    mark: Mark

    @property
    def at(self) -> datetime:
        return self.mark.at

    @property
    def quote(self) -> Quote:
        return self.mark.quote

    def may_follow(self, at: datetime) -> bool:
        """Whether it may be later than an instant: a reading that was under way then may show it."""
        return self.mark.until is not None and at < self.mark.until


class LogEnds:
    """The ends of a log at readings."""

    def __init__(self, offsets: Iterable[OffsetSnapshot]) -> None:
        """Keep the readings that show the end."""
        rows = [o for o in offsets if o.end_offset is not None]
        over_at = reading_ends(o.snapshot_at for o in rows)
        self._by_start = Timeline(rows, lambda o: o.snapshot_at)
        self._by_end = Timeline(rows, lambda o: over_at[o.snapshot_at])

    def at(self, at: datetime) -> Place:
        """The end at an instant: it only grows, as long as the log is not cut.

        A reading that was over before shows the least, one that began after it the most.
        """
        before, after = self._by_end.last_until(at), self._by_start.first_since(at)
        return Place(before.end_offset if before else None, after.end_offset if after else None)


@dataclass(frozen=True)
class PartitionWitnesses:
    """The evidence of one partition of a group.

    `starts`: when the group began to rebalance. `has_commits`: its commits are at hand, and not only readings.
    """

    group_id: str
    key: PartitionKey
    marks: Sequence[Mark]
    log: LogHistory
    ends: LogEnds
    endings: Endings
    owners: Intervals[Ownership]
    starts: Timeline[datetime]
    removals: Sequence[Removal] = ()
    has_commits: bool = False


class PartitionPass:
    """One pass over the marks of one partition of a group."""

    def __init__(self, witnesses: PartitionWitnesses) -> None:
        """Begin without anything known."""
        self._of = witnesses
        self._committed: _Commit | None = None
        self._change: _Change | None = None
        self._reset: _Reset | None = None
        self._session: Mark | None = None
        self._has_had_members = False
        self._moves: list[Move] = []
        marks = witnesses.marks
        self._begins = _by_client(marks, _SHOWS_POSITION)
        self._failures = _by_client(marks, (Sign.COMMIT_FAILED,))
        self._commits = Timeline((m for m in marks if m.sign in _SHOWS_COMMIT), lambda m: m.at)

    def moves(self) -> list[Move]:
        """The moves, in the order in which they are found."""
        steps: Mapping[Sign, Callable[[Mark], None]] = {
            Sign.COMMITTED: self._on_commit,
            Sign.READ: self._on_commit,
            Sign.DELETED: self._on_deletion,
            Sign.OWNED: self._on_owner,
            Sign.RESUMED: self._on_resume,
            Sign.OUT_OF_RANGE: self._on_out_of_range,
            Sign.NOTHING_COMMITTED: self._on_nothing_committed,
            Sign.DIVERGED: self._on_divergence,
            Sign.SOUGHT: self._on_seek,
            Sign.RESET: self._on_reset,
        }
        deletions = [*self._of.log.deletions]
        for mark in self._of.marks:
            if deletions and deletions[0] <= mark.at:
                deletions = [at for at in deletions if at > mark.at]
                self._committed = self._change = self._reset = self._session = None
            if mark.sign in steps:
                steps[mark.sign](mark)
            self._has_had_members |= bool(mark.has_members) or mark.sign is Sign.OWNED
        self._on_end()
        return self._moves

    def _move(
        self, sign: MoveSign, at: datetime, origin: Place, target: Place, quotes: Iterable[Quote], **facts: Any
    ) -> None:
        of, quoted = self._of, tuple(quotes)
        move = Move(of.group_id, of.key, sign, at, origin, target, quoted, of.log, removals=of.removals, **facts)
        self._moves.append(move)

    def _on_commit(self, mark: Mark) -> None:
        before, offset = self._committed, mark.offset
        if offset is None or offset < 0:  # kafkajs commits -2 for the earliest record
            return
        if before is not None and self._is_from_outside(before, mark):
            origin = self._change.origin if self._change else before.offset
            self._change = _Change(
                MoveSign.COMMITTED_FROM_OUTSIDE, mark.at, origin, (before.quote, mark.quote), before.at
            )
        elif self._change is not None and mark.has_members and mark.sign is Sign.COMMITTED:
            self._on_return_unseen(self._change, mark)
            self._change = None
        elif before is not None and offset > before.offset:
            self._on_progress(before, mark, offset)
        self._committed = _Commit(offset, mark)

    def _is_from_outside(self, before: _Commit, mark: Mark) -> bool:
        """Whether a commit differs from the one before, and no member and no consumer that assigns itself made it.

        Source: a coordinator takes a commit without a generation only while the group is empty. A consumer that assigns
        itself its partitions commits so too, again and again, in a group that has no members.
        """
        if mark.has_members is not False or mark.offset == before.offset or not self._has_had_members:
            return False
        if mark.sign is Sign.COMMITTED:
            return mark.is_alone
        is_empty_since = before.mark.sign is Sign.READ and before.mark.has_members is False
        return is_empty_since and not self._has_had_owner(before.at, mark.until or mark.at)

    def _has_had_owner(self, first: datetime, last: datetime) -> bool:
        """Whether the group may have had members between: an owner is known, or it rebalanced more than once."""
        starts = self._of.starts.between(first, last + SAME_ACT)
        return bool(self._of.owners.between(first, last)) or len(starts) > 1

    def _on_return_unseen(self, change: _Change, mark: Mark) -> None:
        """A member commits after a change by no member, and no line of a client shows where it had gone on."""
        before, facts = self._committed, _of_member(mark)
        if change.sign is MoveSign.COMMITTED_FROM_OUTSIDE:
            if before is not None and before.offset != change.origin:
                place = exactly(before.offset)
                self._move(change.sign, change.at, exactly(change.origin), place, change.quotes, **facts)
            return
        begin = self._of.log.start_at(mark.at)
        target = Place(begin.offset if begin else 0, mark.offset)
        quotes = (*change.quotes, mark.quote)
        self._move(change.sign, change.at, exactly(change.origin), target, quotes, gone_since=change.since, **facts)

    def _on_progress(self, before: _Commit, mark: Mark, offset: int) -> None:
        """Between two commits the log began above the first one, while no member owned the partition."""
        if not self._of.owners:
            return
        starts = self._of.log.starts.between(before.at, mark.at)
        later_starts = [s for s in starts if before.offset < s.offset <= offset and not self._of.owners.at(s.at)]
        if later_starts and not any(m.at >= before.at for m in self._moves):
            last = max(later_starts, key=lambda s: s.offset)
            quotes, place = (before.quote, last.quote, mark.quote), Place(last.offset, offset)
            origin = exactly(before.offset)
            self._move(MoveSign.LOG_BEGINS_LATER, last.at, origin, place, quotes, resumed_at=mark.at)

    def _on_deletion(self, mark: Mark) -> None:
        before = self._committed
        if before is not None:
            quotes, origin = (before.quote, mark.quote), self._change.origin if self._change else before.offset
            self._change = _Change(MoveSign.COMMIT_GONE, mark.at, origin, quotes, before.at)
        self._committed = None

    def _on_owner(self, mark: Mark) -> None:
        """A member owns the partition: without a line of its own it goes on at the committed offset."""
        if self._has_own_line(mark):
            return
        committed, session = self._committed, self._session
        if session is not None and _is_of_member(session, mark):
            self._session = replace(session, member_id=mark.member_id)
            return
        here = replace(mark, offset=committed.offset if committed else None)
        if here.offset is not None:
            if self._change is not None:
                self._on_change_met(self._change, here)
            else:
                self._on_return(here)
        self._session = here

    def _has_own_line(self, mark: Mark) -> bool:
        first, last = mark.at - SAME_ACT, mark.at + _FETCHED_WITHIN
        return bool(self._begins.get(mark.client_id, _NO_MARKS).between(first, last))

    def _on_resume(self, mark: Mark) -> None:
        committed, offset = self._committed, mark.offset
        self._reset = None
        if offset is None:
            return
        if self._change is not None:
            self._on_change_met(self._change, mark)
        elif committed is not None and offset < committed.offset and not committed.may_follow(mark.at):
            ending = self._ending(mark)
            is_exact = ending.manner not in (Manner.LOST, Manner.READ_ON)
            origin = exactly(committed.offset) if is_exact else Place(committed.offset, None)
            quotes, facts = (committed.quote, *ending.quotes, mark.quote), _of_member(mark) | {"ending": ending}
            self._move(MoveSign.COMMIT_IS_LOWER, mark.at, origin, exactly(offset), quotes, **facts)
        elif committed is not None and offset > committed.offset and self._is_changed_meanwhile(committed, mark):
            origin, quotes = exactly(committed.offset), (committed.quote, mark.quote)
            sign = MoveSign.COMMITTED_FROM_OUTSIDE
            self._move(sign, mark.at, origin, exactly(offset), quotes, **_of_member(mark))
        else:
            self._on_return(mark)
        self._session = mark
        if committed is None or not self._of.has_commits:
            self._committed = _Commit(offset, mark)

    def _is_changed_meanwhile(self, committed: _Commit, mark: Mark) -> bool:
        """Whether no member can have committed between a reading of a group without members and one that begins."""
        was_left = self._has_had_members and committed.mark.has_members is False
        return was_left and not self._has_had_owner(committed.at, mark.at - SAME_ACT)

    def _on_change_met(self, change: _Change, mark: Mark) -> None:
        """A member goes on at an offset that no member had committed."""
        self._change = None
        if mark.offset != change.origin:
            origin, quotes = exactly(change.origin), (*change.quotes, mark.quote)
            facts = _of_member(mark) | {"gone_since": change.since, "resumed_at": max(mark.at, change.at)}
            self._move(change.sign, change.at, origin, exactly(mark.offset), quotes, **facts)

    def _ending(self, mark: Mark) -> Ending:
        return self._of.endings.last(self._of.key, self._session, mark.at) if self._session else NOT_SHOWN

    def _failed_commit(self, ending: Ending, mark: Mark) -> Mark | None:
        """The last commit of the owner before that failed, of what is read again.

        Its line may come after the next owner's, but no longer than a commit is tried, and not after the owner before
        began again. A member that gave the partition back failed to commit only where its line stands at that time.
        """
        session = self._session
        if session is None:
            return None
        again = self._begins.get(session.client_id, _NO_MARKS).first_after(max(session.at, mark.at))
        until = min(again.at if again else NEVER, mark.at + COMMIT_TRIED_FOR)
        if ending.manner in _GIVEN_BACK and ending.at is not None:
            until = ending.at + SAME_ACT
        failures = self._failures.get(session.client_id, _NO_MARKS).between(session.at, until)
        beyond = [f for f in failures if f.offset is not None and f.offset > (mark.offset or 0)]
        return beyond[-1] if beyond else None

    def _on_return(self, mark: Mark) -> None:
        """A member goes on at the committed offset: the owner before it may have read beyond it."""
        session, offset = self._session, mark.offset
        if session is None or offset is None:
            return
        ending = self._ending(mark)
        failed = self._failed_commit(ending, mark)
        facts = _of_member(mark) | {"ending": ending, "former_client_id": session.client_id, "failed": failed}
        end = self._of.ends.at(ending.at or mark.at).high
        if failed is not None and failed.offset is not None:
            has_read_on = ending.manner is Manner.READ_ON and (end is None or end > failed.offset)
            origin = Place(failed.offset, end) if has_read_on else exactly(failed.offset)
            quotes = (failed.quote, *ending.quotes, mark.quote)
            self._move(MoveSign.WENT_ON_AT_COMMIT, mark.at, origin, exactly(offset), quotes, **facts)
        elif ending.manner in (Manner.LOST, Manner.READ_ON) and end is not None and end > offset:
            origin = Place(max(session.offset or offset, offset), end)
            quotes = (*((self._committed.quote,) if self._committed else ()), *ending.quotes, mark.quote)
            self._move(MoveSign.WENT_ON_AT_COMMIT, mark.at, origin, exactly(offset), quotes, **facts)

    def _on_out_of_range(self, mark: Mark) -> None:
        """A member stands outside of the log. Some libraries do not say where they go on."""
        committed = self._committed
        position = mark.offset if mark.offset is not None else committed.offset if committed else None
        self._reset = _Reset(MoveSign.OUT_OF_RANGE, position, mark.quote)
        if mark.policy is not None:
            self._on_reset(mark)
        elif position is not None and not self._goes_on(mark):
            begin = self._of.log.start_at(mark.at + SAME_ACT)
            if begin is not None and begin.offset > position:
                target = Place(begin.offset, self._next_commit_above(begin.offset, mark.at))
                quotes = (mark.quote, begin.quote)
                self._move(MoveSign.OUT_OF_RANGE, mark.at, exactly(position), target, quotes, **_of_member(mark))
            self._session = replace(mark, offset=begin.offset if begin else position)
            self._reset = None

    def _goes_on(self, mark: Mark) -> bool:
        marks = self._begins.get(mark.client_id, _NO_MARKS).between(mark.at, mark.at + HEARTBEAT_INTERVAL)
        return any(m.sign is Sign.RESET for m in marks)

    def _next_commit_above(self, offset: int, at: datetime) -> int | None:
        commits = self._commits.after(at)
        return next((m.offset for m in commits if m.offset is not None and m.offset >= offset), None)

    def _on_nothing_committed(self, mark: Mark) -> None:
        self._reset = _Reset(MoveSign.COMMIT_GONE, None, mark.quote)

    def _on_divergence(self, mark: Mark) -> None:
        if mark.diverges_at is None:
            self._reset = _Reset(MoveSign.DIVERGED, mark.offset, mark.quote)
            return
        origin, target = exactly(mark.offset), exactly(mark.diverges_at)
        self._move(MoveSign.DIVERGED, mark.at, origin, target, (mark.quote,), **_of_member(mark))
        self._session = replace(mark, offset=mark.diverges_at)

    def _on_seek(self, mark: Mark) -> None:
        session, committed = self._session, self._committed
        offsets = [m.offset for m in (session, committed) if m and m.offset is not None]
        if mark.offset is None:
            self._reset = _Reset(MoveSign.SOUGHT, None, mark.quote)
            return
        is_where_it_began = session and session.offset == mark.offset and session.at >= mark.at - SAME_ACT
        if offsets and not is_where_it_began:
            # An application may keep its offsets elsewhere: then the group had read on from what it committed.
            origin = Place(max(offsets), self._of.ends.at(mark.at).high)
            quotes = (*((committed.quote,) if committed else ()), mark.quote)
            self._move(MoveSign.SOUGHT, mark.at, origin, exactly(mark.offset), quotes, **_of_member(mark))
        self._session = mark

    def _on_reset(self, mark: Mark) -> None:
        """A member goes on where its policy leads, or where its application asked for."""
        reset, self._reset = self._reset, None
        if reset is not None:
            target = self._place_of_policy(mark) if mark.offset is None or mark.policy else exactly(mark.offset)
            self._on_reset_of(reset, mark, target)
            self._session = replace(mark, offset=target.low)
        else:
            self._session = mark

    def _on_reset_of(self, reset: _Reset, mark: Mark, target: Place) -> None:
        change, committed = self._change, self._committed
        facts, quotes = _of_member(mark) | {"policy": mark.policy}, (reset.quote, mark.quote)
        if reset.position is not None:
            self._move(reset.sign, mark.at, exactly(reset.position), target, quotes, **facts)
        elif reset.sign is MoveSign.SOUGHT:
            if committed is not None:
                origin = Place(committed.offset, self._of.ends.at(mark.at).high)
                self._move(reset.sign, mark.at, origin, target, (committed.quote, *quotes), **facts)
        elif change is not None:
            self._change = None
            facts |= {"gone_since": change.since, "resumed_at": max(mark.at, change.at)}
            self._move(change.sign, change.at, exactly(change.origin), target, (*change.quotes, *quotes), **facts)
        elif committed is None:
            self._on_reset_before_commit(mark, target, facts)
        elif not self._of.has_commits:
            self._committed = None
            facts |= {"gone_since": committed.at}
            origin = exactly(committed.offset)
            self._move(MoveSign.COMMIT_GONE, mark.at, origin, target, (committed.quote, *quotes), **facts)

    def _on_reset_before_commit(self, mark: Mark, target: Place, facts: dict[str, Any]) -> None:
        """A member begins, and no member had committed: the one before it may have read something."""
        session = self._session
        if session is None or session.offset is None or target.exact is None:
            return
        ending = self._ending(mark)
        failed, end = self._failed_commit(ending, mark), self._of.ends.at(ending.at or mark.at).high
        quotes = (*ending.quotes, mark.quote)
        if failed is not None and failed.offset is not None:
            origin, quotes = exactly(failed.offset), (failed.quote, *quotes)
        elif ending.manner is Manner.LOST and end is not None:
            origin = Place(max(session.offset, target.exact), end)
        else:
            return
        facts |= {"ending": ending, "failed": failed}
        self._move(MoveSign.WENT_ON_AT_COMMIT, mark.at, origin, target, quotes, **facts)

    def _place_of_policy(self, mark: Mark) -> Place:
        """Where a policy leads: to the beginning of the log, or to its end."""
        begin, end = self._of.log.start_at(mark.at + SAME_ACT), self._of.ends.at(mark.at)
        if mark.policy is ResetPolicy.EARLIEST:
            return exactly(begin.offset) if begin else Place(0, end.low)
        low = max((o for o in (end.low, begin.offset if begin else None) if o is not None), default=0)
        after = self._next_commit_above(low, mark.at)
        return Place(low, min((o for o in (end.high, after) if o is not None), default=None))

    def _on_end(self) -> None:
        """No member has come back: the committed offset was changed from outside, or the log begins above it."""
        change, committed = self._change, self._committed
        if committed is None:
            return
        if change is not None:
            if change.sign is MoveSign.COMMITTED_FROM_OUTSIDE and committed.offset != change.origin:
                target = exactly(committed.offset)
                self._move(change.sign, change.at, exactly(change.origin), target, change.quotes)
            return
        later_starts = [s for s in self._of.log.starts.after(committed.at) if s.offset > committed.offset]
        has_no_owner = self._of.owners and not self._of.owners.between(committed.at, NEVER)
        is_away = committed.mark.has_members is False or has_no_owner
        if later_starts and is_away and not any(m.at >= committed.at for m in self._moves):
            first, last = later_starts[0], max(later_starts, key=lambda s: s.offset)
            origin, target = exactly(committed.offset), Place(last.offset, None)
            quotes = (committed.quote, first.quote, last.quote)
            self._move(MoveSign.LOG_BEGINS_LATER, first.at, origin, target, quotes)


def _by_client(marks: Iterable[Mark], signs: Sequence[Sign]) -> Mapping[str | None, Timeline[Mark]]:
    """The marks of some signs, of each client."""
    return timelines((m for m in marks if m.sign in signs), lambda m: m.client_id, lambda m: m.at)


def _is_of_member(session: Mark, owner: Mark) -> bool:
    """Whether a session is that of an owner: lines of clients name no member, and its own process had no other line."""
    if session.member_id is None:
        return session.client_id is not None and session.client_id == owner.client_id
    return session.member_id == owner.member_id


def _of_member(mark: Mark) -> dict[str, Any]:
    """The member that went on, and when."""
    return {"resumed_at": mark.at, "client_id": mark.client_id}
