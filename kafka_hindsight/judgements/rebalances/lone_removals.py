"""The rebalances of which no line but that of a removed member is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafka_hindsight.catalog.codes import Origin, Protocol
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.rebalances.group_epochs import change_of
from kafka_hindsight.judgements.rebalances.group_history import Episode
from kafka_hindsight.knowledge.reasons import CoordinatorReason
from kafka_hindsight.shared.durations import RETURN_WITHIN, SAME_ACT
from kafka_hindsight.shared.grouping import runs
from kafka_hindsight.shared.timelines import Timeline

_REMOVALS = (Kind.MEMBER_FAILED, Kind.MEMBER_FENCED)


def with_lone_removals(group_id: str, episodes: Sequence[Episode], events: Sequence[Event]) -> list[Episode]:
    """The episodes, in order of start, with those of which no line but that of a removed member is left.

    A coordinator that removes a member from a stable group begins a rebalance, and one that is rebalancing goes on with
    it: its line shows a rebalance in any case. That is the next one whose own first line is missing, if any. So does
    the line of a member that leaves, where no coordinator's line is at hand.
    Source: GroupCoordinator.scala onExpireHeartbeat and removeMemberAndUpdateGroup in 1.0 to 3.9;
    GroupMetadataManager.java expireClassicGroupMemberHeartbeat, consumerGroupFenceMember.
    """
    attached = {e.line_id for episode in episodes for change in episode.changes for e in change.events}
    alone = [e for e in events if _is_removal(e) and e.line_id not in attached]
    with_removals = list(episodes)
    starts = Timeline(range(len(episodes)), at=lambda n: episodes[n].started_at)
    for together in runs(alone, lambda run, e: e.happened_at - run[-1].happened_at <= SAME_ACT):
        first, changes = together[0], tuple(map(change_of, together))
        following = starts.first_since(first.happened_at)
        if following is not None and _may_have_begun(first, episodes[following]):
            began = with_removals[following]
            with_removals[following] = replace(began, changes=(*changes, *began.changes))
            continue
        with_removals.append(
            Episode(
                group_id=group_id,
                protocol=Protocol(first.protocol or Protocol.CLASSIC),
                coordinator=first.broker,
                from_generation=None,
                started_at=first.happened_at,
                reason=CoordinatorReason("unclaimed"),
                changes=changes,
                events=tuple(together),
            )
        )
    return sorted(with_removals, key=lambda e: e.started_at)


def _is_removal(event: Event) -> bool:
    return event.kind in _REMOVALS or (event.kind == Kind.MEMBER_LEFT and event.origin == Origin.CLIENT)


def _may_have_begun(removal: Event, episode: Episode) -> bool:
    """Whether a rebalance whose first line is missing may have begun with that removal."""
    return episode.lacks_start and episode.started_at - removal.happened_at <= RETURN_WITHIN
