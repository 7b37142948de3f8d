"""Which member joined, left or was removed in which rebalance of a classic group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from spark_jobs.catalog.rows import Event
from spark_jobs.knowledge.kinds import Kind
from spark_jobs.knowledge.reasons import split_members
from spark_jobs.transforms.durations import SAME_ACT
from spark_jobs.transforms.rebalances.model import Change, Episode, MembershipChange
from spark_jobs.transforms.timelines import Interval, Intervals, Timeline

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
    return [replace(e, changes=tuple(c)) for e, c in zip(episodes, attached.changes, strict=True)]


class _Attachment:
    """The changes of each episode while the lines about members are read."""

    def __init__(self, episodes: Sequence[Episode]) -> None:
        self.episodes = episodes
        self.changes = [list(_named_by_reason(e)) for e in episodes]
        numbers = range(len(episodes))
        self.starts = Timeline(numbers, at=lambda n: episodes[n].started_at)
        self.phases = Intervals(Interval(e.started_at, e.joined_at or e.ended_at, n) for n, e in enumerate(episodes))

    def attach(self, what: Change, event: Event) -> None:
        at = event.happened_at
        own = [
            (abs(change.at - at), n, place)
            for n, changes in enumerate(self.changes)
            for place, change in enumerate(changes)
            if change.what == what and change.member_id == event.member_id
        ]
        if own and (min(own)[0] <= SAME_ACT or what == Change.JOINED):
            _, n, place = min(own)
            self.changes[n][place] = _completed(self.changes[n][place], event)
            return
        change = _completed(MembershipChange(what, at, event.member_id), event)
        # A leave by instance id alone names no member in the reason: its own line names it.
        unnamed = [
            (abs(self.episodes[n].started_at - at), n)
            for n in self.starts.near(at, SAME_ACT)
            if self.changes[n] and self.changes[n][0].member_id is None and self.changes[n][0].what == what
        ]
        if unnamed:
            _, n = min(unnamed)
            self.changes[n][0] = replace(change, is_by_instance=self.changes[n][0].is_by_instance)
            return
        running = self.phases.at(at, SAME_ACT)[::-1]
        if running:
            self.changes[next((i for i in running if i.holds(at)), running[0]).value].append(change)

    def attach_not_rejoined(self, event: Event) -> None:
        running = self.phases.at(event.happened_at, SAME_ACT)
        for member in split_members(event.members or "") if running else ():
            change = MembershipChange(Change.NOT_REJOINED, event.happened_at, member, events=(event,))
            self.changes[running[-1].value].append(change)


def _named_by_reason(episode: Episode) -> Iterable[MembershipChange]:
    reason = episode.reason
    what = _BY_REASON.get(reason.act)
    if what is None:
        return
    members: tuple[str | None, ...] = reason.members or (None,)
    for member in members:
        yield MembershipChange(
            what,
            episode.started_at,
            member,
            reason.instance_id,
            reason.client_reason,
            is_by_instance=what == Change.LEFT and member is None,
        )


def _completed(change: MembershipChange, event: Event) -> MembershipChange:
    return replace(
        change,
        events=(*change.events, event),
        client_reason=change.client_reason or event.client_reason,
        instance_id=change.instance_id or event.instance_id,
    )
