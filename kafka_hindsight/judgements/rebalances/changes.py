"""Which member joined, left or was removed in which rebalance of a classic group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.reasoning.timelines import Interval, Intervals, Timeline
from kafka_hindsight.judgements.rebalances.model import Change, Episode, MembershipChange
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.reasons import split_members
from kafka_hindsight.shared.durations import SAME_ACT

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
    """Each episode with the change that its own reason names, and those of other members that fell into it.

    Edge case: the line of a change comes before or after the line that it belongs to (SAME_ACT).
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
            by_instance = what == Change.LEFT and member is None
            yield MembershipChange(what, at, member, reason.instance_id, reason.client_reason, by_instance)


def _completed(change: MembershipChange, event: Event) -> MembershipChange:
    return replace(
        change,
        events=(*change.events, event),
        client_reason=change.client_reason or event.client_reason,
        instance_id=change.instance_id or event.instance_id,
    )
