"""The state machine of a classic group: its coordinator's lines in order become episodes, with who came and went.

A join phase ends with 'Stabilized' (the generation rises); the rebalance ends when the leader's assignment arrives,
or when the group is empty. There is no line for Stable. Source: GroupCoordinator.scala, GroupMetadataManager.java.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.codes import Origin, Outcome, Protocol
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, GenerationGap
from kafka_hindsight.judgements.rebalances.group_history import Change, Episode, MembershipChange, gap_at
from kafka_hindsight.knowledge.reasons import CoordinatorReason, read_coordinator_reason, split_members
from kafka_hindsight.shared.durations import SAME_ACT
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline

_STARTLESS = CoordinatorReason("unclaimed")


class _EpisodeMachine:
    """One group's state while its events are folded. The last episode is open until `is_open` is false."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.episodes: list[Episode] = []
        self.is_open = False
        self.gaps: list[GenerationGap] = []
        self.generation: int | None = None
        self.member_count: int | None = None
        self.coordinator: int | None = None
        self.has_moved = False
        self.was_removed = False
        self.in_doubt: int | None = None
        """Index of the episode during which the coordinator moved: later lines show whether the move cut it short."""

    @property
    def open(self) -> Episode | None:
        return self.episodes[-1] if self.is_open else None

    def start(self, event: Event) -> None:
        self.decide_cut(_generation(event))
        self.see_generation(_generation(event), event)
        self.overtake(event, _generation(event))
        reason = read_coordinator_reason(event.reason)
        self.begin(event, _generation(event), reason, raw_reason=event.reason, events=(event,))

    def complete_join(self, event: Event) -> None:
        self.open_episode_ending_in(event)
        self.member_count = event.member_count
        self.reach(event, joined_at=event.happened_at, members_after=event.member_count)

    def receive_assignment(self, event: Event) -> None:
        generation = _generation(event)
        if self.open is None or self.open.to_generation != generation:
            self.lose_end(generation)
            if self.generation is not None and generation > self.generation:
                self.see_generation(generation, event)
            return
        self.amend(event, ended_at=event.happened_at, outcome=Outcome.COMPLETED)
        self.close()

    def empty(self, event: Event) -> None:
        self.open_episode_ending_in(event)
        self.member_count = 0
        at = event.happened_at
        self.reach(event, joined_at=at, ended_at=at, outcome=Outcome.EMPTIED, members_after=0)
        self.close()

    def load(self, event: Event) -> None:
        moved = self.coordinator is not None and event.broker != self.coordinator
        self.doubt(event)
        if self.open is not None and self.open.joined_at is None:
            self.interrupt(event)
        self.has_moved = self.has_moved or moved
        self.coordinator = event.broker
        if event.generation is not None:
            self.decide_cut(event.generation)
            self.see_generation(event.generation, event)
        if event.member_count is not None:
            self.member_count = event.member_count

    def unload(self, event: Event) -> None:
        if event.broker != self.coordinator and self.coordinator is not None:
            return
        if event.generation is not None and event.protocol != Protocol.CONSUMER:
            self.lose_end(event.generation)
            self.see_generation(event.generation, event)
        self.has_moved = True
        self.doubt(event)

    def follow(self, event: Event) -> None:
        """Keep counting in a group that is converted; its epochs are rebuilt elsewhere."""
        self.generation = event.generation

    def remove(self, event: Event) -> None:
        self.was_removed = True
        self.member_count = 0

    def begin(self, event: Event, generation: int, reason: CoordinatorReason, **fields: Any) -> None:
        self.coordinator = event.broker
        self.is_open = True
        self.episodes.append(
            Episode(
                group_id=self.group_id,
                protocol=Protocol.CLASSIC,
                coordinator=event.broker,
                from_generation=generation,
                started_at=event.happened_at,
                reason=reason,
                members_before=self.member_count,
                **fields,
            )
        )

    def amend(self, event: Event, **fields: Any) -> None:
        """Add a line to the open episode."""
        self.episodes[-1] = replace(self.episodes[-1], events=(*self.episodes[-1].events, event), **fields)

    def reach(self, event: Event, **fields: Any) -> None:
        self.generation = event.generation
        self.amend(event, to_generation=event.generation, **fields)

    def open_episode_ending_in(self, event: Event) -> None:
        """Make sure that an episode is open; where its first line is missing, begin one now, cause unknown."""
        before = _generation(event) - 1
        if self.open is not None and self.open.from_generation != before:
            self.lose_end(_generation(event))
        if self.open is None or self.open.joined_at is not None:
            self.overtake(event, before)
            self.see_generation(before, event)
            self.begin(event, before, _STARTLESS)

    def overtake(self, event: Event, generation: int) -> None:
        """End the open episode where the next one begins: it was interrupted, or its own end is lost."""
        self.lose_end(generation)
        if self.open is not None:
            self.interrupt(event)

    def interrupt(self, event: Event) -> None:
        self.episodes[-1] = replace(self.episodes[-1], outcome=Outcome.INTERRUPTED, ended_at=event.happened_at)
        self.close()

    def lose_end(self, generation: int) -> None:
        """Close an open join phase where a later generation shows that the lines of its end are lost.

        So does a group that begins again: it was removed, which only a group without members is, and that has no join
        phase. Source: GroupCoordinator.scala handleDeleteGroups, GroupMetadataManager.scala cleanupGroupMetadata.
        """
        if self.open is None or self.open.joined_at is not None:
            return
        reached = (self.open.from_generation or 0) + 1
        if generation >= reached or generation == 0 < reached - 1:
            to_generation = reached if generation in (0, reached) else None
            self.episodes[-1] = replace(self.episodes[-1], cut_by_move=False, to_generation=to_generation)
            self.close()

    def close(self) -> None:
        self.is_open = self.has_moved = self.was_removed = False

    def doubt(self, event: Event) -> None:
        if self.open is not None:
            self.in_doubt = len(self.episodes) - 1
            self.amend(event, cut_by_move=True)

    def decide_cut(self, generation: int) -> None:
        """Decide whether a move cut a rebalance short: then its generation was not stored, and the old one goes on."""
        index, self.in_doubt = self.in_doubt, None
        if index is None:
            return
        episode = self.episodes[index]
        if episode.outcome == Outcome.COMPLETED or generation <= (episode.from_generation or 0):
            return
        self.episodes[index] = replace(episode, cut_by_move=False, outcome=Outcome.UNFINISHED, ended_at=None)
        if self.is_open and index == len(self.episodes) - 1:
            self.close()

    def see_generation(self, generation: int, event: Event) -> None:
        """Note a gap where a generation does not follow the last one: it is explained, or evidence is lost."""
        if self.generation is not None and generation != self.generation:
            why = None
            if self.was_removed and generation <= 1:
                why = "the group was removed, and its generations restarted"
            elif generation < self.generation and self.has_moved:
                why = f"the coordinator moved before generation {self.generation} was stored"
            elif generation == 0:
                why = "the generations restarted: the group's metadata had been removed"
            self.gaps.append(gap_at(event, self.generation, generation, why))
        self.generation = generation


_ACTIONS: Mapping[str, Callable[[_EpisodeMachine, Event], None]] = {
    Kind.REBALANCE_STARTED: _EpisodeMachine.start,
    Kind.JOIN_COMPLETED: _EpisodeMachine.complete_join,
    Kind.ASSIGNMENT_RECEIVED: _EpisodeMachine.receive_assignment,
    Kind.GROUP_EMPTIED: _EpisodeMachine.empty,
    Kind.GROUP_LOADED: _EpisodeMachine.load,
    Kind.GROUP_UNLOADED: _EpisodeMachine.unload,
    Kind.EPOCH_BUMPED: _EpisodeMachine.follow,
    Kind.GROUP_DEAD: _EpisodeMachine.remove,
    Kind.GROUPS_DELETED: _EpisodeMachine.remove,
}


def _generation(event: Event) -> int:
    assert event.generation is not None, f"{event.kind} without a generation"
    return event.generation


def drop_superseded_coordinators(events: Iterable[Event]) -> Iterator[Event]:
    """The events without what a broker writes about a group that another one has loaded since.

    A broker that was paused resumes as coordinator, finds every session expired, and acts on it until it learns that
    its partitions were given away; no member follows it. It counts again when it loads the group again.
    """
    holder: int | None = None
    superseded: set[int | None] = set()
    for event in events:
        broker = event.broker if event.origin == Origin.BROKER else None
        if event.kind == Kind.GROUP_LOADED:
            superseded = (superseded | {holder}) - {broker}
            holder = broker
        elif broker is not None and broker in superseded:
            continue
        elif event.kind in (Kind.REBALANCE_STARTED, Kind.EPOCH_BUMPED):
            holder = broker
        yield event


def build_episodes(group_id: str, events: Iterable[Event]) -> tuple[list[Episode], list[GenerationGap]]:
    """The episodes of one classic group, and the breaks in its generations.

    Each finished join phase is one episode, and generations rise by one from episode to episode except at a gap.
    """
    machine = _EpisodeMachine(group_id)
    for event in events:
        if event.kind in _ACTIONS:
            _ACTIONS[event.kind](machine, event)
    return machine.episodes, machine.gaps


_BY_LINE: Mapping[str, Change] = {
    Kind.MEMBER_LEFT: Change.LEFT,
    Kind.MEMBER_FAILED: Change.EXPIRED,
    Kind.MEMBER_ID_ASSIGNED: Change.JOINED,
    Kind.MEMBER_REJOINED_PENDING: Change.JOINED,
    Kind.MEMBER_ADDED: Change.JOINED,
}
_BY_REASON = {
    "joined": Change.JOINED,
    "left": Change.LEFT,
    "expired": Change.EXPIRED,
    "sync_expired": Change.NOT_SYNCED,
    "static_updated": Change.RETURNED,
    "static_protocol_changed": Change.RETURNED,
}


def with_changes(episodes: Sequence[Episode], events: Sequence[Event]) -> list[Episode]:
    """The episodes with the change that their own reason names, and those of other members that fell into them.

    The line of a change comes before or after the line that it belongs to (SAME_ACT).
    """
    attached = _Attachment(episodes)
    unused = {e.member_id for e in events if e.kind == Kind.PENDING_MEMBER_REMOVED}
    for event in events:
        what = _BY_LINE.get(event.kind)
        if what and not (what == Change.JOINED and event.member_id in unused):
            attached.attach(what, event)
        elif event.kind == Kind.MEMBERS_NOT_REJOINED:
            attached.attach_not_rejoined(event)
    return [replace(e, changes=tuple(c)) if c else e for e, c in zip(episodes, attached.changes, strict=True)]


class _Attachment:
    """The changes of each episode while the lines about members are read."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self.episodes = episodes
        self.changes = [list(_named_by_reason(e)) for e in episodes]
        self.places: dict[tuple[Change, str | None], list[tuple[int, int]]] = defaultdict(list)
        for n, changes in enumerate(self.changes):
            for place, change in enumerate(changes):
                self.places[change.what, change.member_id].append((n, place))
        self.starts = Timeline(range(len(episodes)), at=lambda n: episodes[n].started_at)
        self.phases = Intervals(Interval(e.started_at, e.joined_at or e.ended_at, n) for n, e in enumerate(episodes))

    def attach(self, what: Change, event: Event) -> None:
        at = event.happened_at
        near = min(
            ((abs(self.changes[n][p].at - at), n, p) for n, p in self.places[what, event.member_id]), default=None
        )
        if near and (near[0] <= SAME_ACT or what == Change.JOINED):
            _, n, place = near
            self.changes[n][place] = _completed(self.changes[n][place], event)
            return
        change = _completed(MembershipChange(what, at, event.member_id), event)
        unnamed = self.unnamed(what, at)
        if unnamed is not None:
            self.changes[unnamed][0] = replace(change, is_by_instance=self.changes[unnamed][0].is_by_instance)
            self.places[what, None].remove((unnamed, 0))
            self.places[what, change.member_id].append((unnamed, 0))
            return
        running = self.phases.at(at, SAME_ACT)[::-1]
        if running:
            self.append(next((i for i in running if i.holds(at)), running[0]).value, change)

    def unnamed(self, what: Change, at: datetime) -> int | None:
        """The rebalance of that instant whose reason names no member, as in a leave by instance id alone."""
        near = (
            n
            for n in self.starts.near(at, SAME_ACT)
            if self.changes[n] and self.changes[n][0].member_id is None and self.changes[n][0].what == what
        )
        return min(near, key=lambda n: (abs(self.episodes[n].started_at - at), n), default=None)

    def append(self, n: int, change: MembershipChange) -> None:
        self.places[change.what, change.member_id].append((n, len(self.changes[n])))
        self.changes[n].append(change)

    def attach_not_rejoined(self, event: Event) -> None:
        running = self.phases.at(event.happened_at, SAME_ACT)
        for member in split_members(event.members or "") if running else ():
            change = MembershipChange(Change.NOT_REJOINED, event.happened_at, member, events=(event,))
            self.append(running[-1].value, change)


def _named_by_reason(episode: Episode) -> Iterable[MembershipChange]:
    reason, at = episode.reason, episode.started_at
    what = _BY_REASON.get(reason.act)
    if what is not None:
        for member in reason.members or (None,):
            by_instance = what == Change.LEFT and member is None and not reason.is_masked
            yield MembershipChange(what, at, member, reason.instance_id, reason.client_reason, by_instance)


def _completed(change: MembershipChange, event: Event) -> MembershipChange:
    return replace(
        change,
        events=(*change.events, event),
        client_reason=change.client_reason or event.client_reason,
        instance_id=change.instance_id or event.instance_id,
    )
