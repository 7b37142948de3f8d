"""The epochs of a group whose coordinator assigns: every rise of the group epoch is one rebalance.

Joins, leaves and fencings are logged just before the epoch they raise; the coordinator writes no reason. Members
reconcile one by one, and since 4.0 only their own logs show when they are done. Up to 3.9, and in groups of Streams and
in share groups, a leave or a fencing raises the epoch without a line: the next target assignment names it.
Source: GroupMetadataManager.java, KIP-848, KIP-932, KIP-1071.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter

from kafka_hindsight.catalog.codes import Outcome, Protocol
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, GenerationGap
from kafka_hindsight.judgements.rebalances.group_history import Change, Episode, MembershipChange, gap_at
from kafka_hindsight.knowledge.reasons import CoordinatorReason
from kafka_hindsight.shared.durations import SAME_ACT
from kafka_hindsight.shared.timelines import Timeline, by_instant

_CHANGES: Mapping[str, Change] = {
    Kind.MEMBER_JOINED: Change.JOINED,
    Kind.MEMBER_LEFT: Change.LEFT,
    Kind.MEMBER_FENCED: Change.EXPIRED,
    Kind.MEMBER_FAILED: Change.EXPIRED,
    Kind.STATIC_MEMBER_RETURNED: Change.RETURNED,
}
OTHER_KINDS = tuple(p for p in Protocol if not p.is_of_consumers)
"""Groups that are not of consumers, and never were classic."""
_NO_REASON = CoordinatorReason("none")
_STATES = (Kind.CLIENT_STATE_CHANGED, Kind.MEMBER_ASSIGNMENT_STATE)
_NOT_JOINED = "UNSUBSCRIBED"
_GONE = (_NOT_JOINED, "PREPARE_LEAVING", "LEAVING", "FENCED", "STALE", "FATAL")
"""The states of a client that is no longer in the group, or is about to leave it. Source: MemberState.java."""


def build_epochs(group_id: str, events: Sequence[Event]) -> tuple[list[Episode], list[GenerationGap]]:
    """The episodes of one group with epochs in order, and the breaks in them."""
    kind_event = next((e for e in events if e.protocol in OTHER_KINDS), None)
    machine = _EpochMachine(group_id, kind_event)
    for event in events:
        machine.feed(event)
    machine.raise_unseen(None)
    return _find_ends(machine.episodes, events), machine.gaps


class _EpochMachine:
    """One group's state while its events are folded."""

    def __init__(self, group_id: str, kind_event: Event | None) -> None:
        self.group_id = group_id
        self.protocol = Protocol(str(kind_event.protocol)) if kind_event else Protocol.CONSUMER
        self.kind_event = kind_event
        self.earlier_lines: dict[str, Event] = {}
        self.episodes: list[Episode] = []
        self.gaps: list[GenerationGap] = []
        self.pending: list[MembershipChange] = []
        self.removals: list[tuple[MembershipChange, frozenset[str | None], int]] = []
        """The removals of consumers that no line has shown to raise the epoch, each with the members that were left,
        and the newest epoch that a member's own log had named before."""
        self.named_epoch = 0
        self.members: set[str | None] = set()
        self.classic_count = 0
        """How many members the group had when it was a classic one, without those that have gone."""
        self.epoch: int | None = None
        self.hash: str | None = None
        self.has_moved = False

    def feed(self, event: Event) -> None:
        kind = event.kind
        if kind in _CHANGES:
            self.pending.append(change_of(event))
            is_there = kind in (Kind.MEMBER_JOINED, Kind.STATIC_MEMBER_RETURNED)
            is_classic = not is_there and event.member_id not in self.members
            self.classic_count -= min(is_classic, self.classic_count)
            self.members |= {event.member_id} if is_there else set()
            self.members.discard(event.old_member_id if is_there else event.member_id)
            if not is_there and event.protocol == Protocol.CONSUMER:
                self.removals.append((self.pending[-1], frozenset(self.members), self.named_epoch))
        elif kind == Kind.CLIENT_STATE_CHANGED:
            self.named_epoch = max(self.named_epoch, event.generation or 0)
        elif kind == Kind.EPOCH_BUMPED:
            self.bump(event, event.generation or 0)
        elif kind in (Kind.JOIN_COMPLETED, Kind.GROUP_EMPTIED):
            # A classic group that is converted goes on counting, and its members stay: convertToConsumerGroup.
            self.epoch, self.members, self.classic_count = event.generation, set(), event.member_count or 0
        names_epoch = kind in (Kind.TARGET_COMPUTED, Kind.GROUP_UNLOADED)
        if names_epoch and (event.protocol == Protocol.CONSUMER or self.kind_event is not None):
            self.show(event, event.generation or 0)
        if names_epoch or kind == Kind.EPOCH_BUMPED:
            self.earlier_lines[kind] = event
        if kind in (Kind.GROUP_LOADED, Kind.GROUP_UNLOADED):
            self.has_moved = True

    def bump(self, event: Event, epoch: int) -> None:
        # Each join raises the epoch, however slow the coordinator is: the next epoch is that of a join before it. So is
        # one whose line names the member that joined: its heartbeat raised the epoch.
        is_next, raised_by = self.epoch == epoch - 1, event.member_id
        self.raise_unseen(epoch - 1)
        joins = [
            c
            for c in self.pending
            if c.what == Change.JOINED and (is_next or (raised_by is not None and c.member_id == raised_by))
        ]
        changes = [c for c in self.pending if c in joins or event.happened_at - c.at <= SAME_ACT]
        if self.epoch is not None and epoch != self.epoch + 1:
            self.see_gap(event, self.epoch, epoch)
        self.episodes.append(self.episode(event, epoch, changes))
        self.pending, self.removals, self.has_moved = [], [], False
        self.epoch, self.hash = epoch, event.detail

    def show(self, event: Event, epoch: int) -> None:
        """Handle a line that names an epoch which no line began."""
        if self.epoch is None and self.kind_event is not None:
            self.epoch = epoch
        if self.kind_event is not None and self.epoch is not None and epoch == self.epoch + 1 and self.pending:
            self.episodes.append(self.episode(event, epoch, self.pending, self.pending[0].at))
            self.pending, self.epoch = [], epoch
        else:
            self.raise_unseen(epoch)
        if self.epoch is not None and epoch > self.epoch:
            self.see_gap(event, self.epoch, epoch)
            self.pending, self.epoch = [], epoch

    def raise_unseen(self, epoch: int | None) -> None:
        """Add an episode for each epoch, up to `epoch`, that only a removal raised; None: one for each removal.

        Source: GroupMetadataManager.java consumerGroupFenceMember 3.7-3.9 raises the epoch and writes no line about it.
        """
        last = self.epoch if self.kind_event is None else None
        if last is None or (epoch is not None and not 0 < epoch - last <= len(self.removals)):
            return
        removals = self.removals if epoch is None else self.removals[: epoch - last]
        if any(named_epoch > last + raised for raised, (_, _, named_epoch) in enumerate(removals)):
            return  # a member had that epoch before the removal: the line that began it is lost
        for change, remaining, _ in removals:
            last += 1
            episode = self.episode(change.events[0], last, [change])
            names = frozenset(m for m in remaining if m is not None)
            after = len(remaining) + self.classic_count
            before = after + 1
            episode = replace(episode, member_ids=names, members_before=before, members_after=after)
            self.episodes.append(replace(episode, metadata_hash_changed=None))
        removal_changes = [change for change, _, _ in removals]
        self.pending = [c for c in self.pending if c not in removal_changes]
        self.removals, self.epoch = self.removals[len(removals) :], last

    def see_gap(self, event: Event, last: int, epoch: int) -> None:
        why = None
        if epoch <= last and epoch == 1:
            why = "the generations restarted: the group's metadata had been removed"
        elif epoch <= last and self.has_moved:
            why = f"the coordinator moved before epoch {last} was stored"
        self.gaps.append(gap_at(event, last, epoch, why))

    def episode(
        self, event: Event, epoch: int, changes: Sequence[MembershipChange], started_at: datetime | None = None
    ) -> Episode:
        joins = sum(c.what == Change.JOINED for c in changes)
        removals = sum(c.what.is_removal for c in changes)
        count = len(self.members) + self.classic_count
        is_unknown = event.detail is None or self.hash is None
        return Episode(
            group_id=self.group_id,
            protocol=self.protocol,
            coordinator=event.broker,
            from_generation=epoch - 1,
            to_generation=epoch,
            started_at=started_at or event.happened_at,
            reason=_NO_REASON,
            members_before=max(count - joins + removals, 0),
            members_after=count,
            member_ids=frozenset(m for m in self.members if m is not None),
            metadata_hash_changed=None if is_unknown else event.detail != self.hash,
            changes=tuple(changes),
            events=self.proof_lines(event),
        )

    def proof_lines(self, event: Event) -> tuple[Event, ...]:
        """The line of an epoch; outside of consumer groups also those that show the kind and the epoch before."""
        if self.kind_event is None:
            return (event,)
        return tuple({e.line_id: e for e in (self.kind_event, *self.earlier_lines.values(), event)}.values())


def change_of(event: Event) -> MembershipChange:
    """The change that a line about one member shows."""
    what = _CHANGES[event.kind]
    reason = event.reason or ""
    if event.kind == Kind.MEMBER_FENCED and "session expired" not in reason:
        what = Change.NOT_SYNCED if "sync" in reason else Change.NOT_REJOINED
    words = event.client_reason if event.kind == Kind.MEMBER_LEFT else None
    return MembershipChange(what, event.happened_at, event.member_id, event.instance_id, words, events=(event,))


def _find_ends(episodes: Sequence[Episode], events: Sequence[Event]) -> list[Episode]:
    """The episodes with their ends: the last member became stable, by records, else by the members' logs.

    A client prints the epoch that it had before the change. So a member that gives partitions back becomes stable under
    the epoch before, and a member that keeps what it has prints nothing. Silence shows that only where the log of every
    member reaches back to the epoch's beginning. A coordinator of 3.7 to 3.9 prints the change of each member.
    Source: AbstractMembershipManager.transitionTo; GroupMetadataManager.java maybeReconcile.
    """
    states = by_instant(e for e in events if e.kind in _STATES)
    first_states = {e.member_id: e for e in reversed(states.values)}
    has_all = any(e.kind == Kind.MEMBER_ASSIGNMENT_STATE for e in states)
    progress = _MemberProgress(e for e in events if e.kind == Kind.MEMBER_REACHED)
    with_ends = []
    for episode, following in itertools.zip_longest(episodes, (e.started_at for e in episodes[1:])):
        if episode.members_after == 0:
            with_ends.append(replace(episode, ended_at=episode.started_at, outcome=Outcome.EMPTIED))
            continue
        with_end = progress.end_of(episode, following)
        if with_end is None and (has_all or _are_witnessed(episode, first_states)):
            with_end = _end_by_logs(episode, states, following)
        with_ends.append(with_end or episode)
    return with_ends


class _MemberProgress:
    """How far the members of a group were, as their records show it.

    Source: CurrentMemberAssignment; an epoch is reached when each member of the group is stable at it.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.events = by_instant(sorted(events, key=attrgetter("happened_at", "order")))
        self.all_stable_at: dict[int | None, int] = {}
        """By epoch, the place of the first record after which all members are stable at it."""
        members: dict[str | None, Event] = {}
        epochs: Counter[int | None] = Counter()
        for place, event in enumerate(self.events):
            former = members.pop(event.member_id, None)
            if former is not None and former.state == "stable":
                epochs[former.generation] -= 1
            if event.state is not None:
                members[event.member_id] = event
                epochs[event.generation] += event.state == "stable"
            last = event if event.state is not None else next(iter(members.values()), None)
            epoch = last.generation if last else None
            if members and epochs[epoch] == len(members):
                self.all_stable_at.setdefault(epoch, place)

    def end_of(self, episode: Episode, following: datetime | None) -> Episode | None:
        """The episode as the records end it: all members reached it, or one went on to another; None: neither."""
        stable_place = self.all_stable_at.get(episode.to_generation)
        if following is not None:
            last = stable_place if stable_place is not None else len(self.events) - 1
            for place in range(self.events.count_before(following), last + 1):
                event = self.events.values[place]
                if event.generation != episode.to_generation:
                    return _with_end(episode, following, Outcome.INTERRUPTED, event)
        if stable_place is None:
            return None
        event = self.events.values[stable_place]
        return _with_end(episode, max(event.happened_at, episode.started_at), Outcome.COMPLETED, event)


def _are_witnessed(episode: Episode, first_states: Mapping[str | None, Event]) -> bool:
    """Whether the log of each member reaches back to the epoch's beginning, or to its own."""
    firsts = [first_states.get(member_id) for member_id in episode.member_ids]
    is_named = episode.members_after == len(episode.member_ids)
    return is_named and all(
        first is not None and (first.happened_at <= episode.started_at or first.previous_state == _NOT_JOINED)
        for first in firsts
    )


def _end_by_logs(episode: Episode, states: Timeline[Event], following: datetime | None) -> Episode | None:
    """The episode with its end: the last change of a member, by which all are stable; what they do as they go is later.

    A member that waits for others to give partitions back is stable until it gets them.
    """
    last: dict[str | None, Event] = {}
    leavers: set[str | None] = set()
    for event in states.within(episode.started_at, following):
        if event.state in _GONE:
            leavers.add(event.member_id)
        elif event.member_id in episode.member_ids and event.member_id not in leavers:
            last[event.member_id] = event
    if last and all(e.state == "STABLE" for e in last.values()):
        return _with_end(episode, max(e.happened_at for e in last.values()), Outcome.COMPLETED)
    return _with_end(episode, following, Outcome.INTERRUPTED) if last and following is not None else None


def _with_end(episode: Episode, at: datetime, outcome: Outcome, *shown_by: Event) -> Episode:
    return replace(episode, ended_at=at, outcome=outcome, events=(*episode.events, *shown_by))
