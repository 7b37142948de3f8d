"""How much of a group's past is known: a statement about a time needs lines that cover it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from kafka_hindsight.judgements.reasoning.timelines import instants
from kafka_hindsight.judgements.rebalances.members import MemberRegistry
from kafka_hindsight.judgements.rebalances.model import Episode, Gap
from kafka_hindsight.shared.durations import LOOK_BACK


class HistoryCoverage:
    """Whether a group is known to have had no other members than those that lines name.

    A hole is an instant by which a member may have come unseen: a break in the generations that nothing explains, a
    rebalance whose first line is missing, and a generation with more members than the evidence names.
    """

    def __init__(
        self, episodes: Sequence[Episode], gaps: Iterable[Gap], registry: MemberRegistry, observed_from: datetime
    ) -> None:
        self.from_the_start = bool(episodes) and episodes[0].from_generation == 0
        self.observed_from = observed_from
        holes = [
            *(g.seen_at for g in gaps if g.explained_by is None),
            *(e.started_at for e in episodes if e.lacks_start),
            *(e.joined_at for e in episodes if e.joined_at is not None and _has_unnamed(e, registry)),
        ]
        self.holes = instants(holes)

    def reaches_back(self, at: datetime) -> bool:
        """Whether the group's history is known from its first generation on, or for the whole look-back."""
        return self.from_the_start or at - self.observed_from >= LOOK_BACK

    def is_whole(self, at: datetime) -> bool:
        """Whether no one can have been in the group unseen within the look-back before `at`."""
        hole = self.holes.first_since(at - LOOK_BACK)
        return hole is None or hole > at


def _has_unnamed(episode: Episode, registry: MemberRegistry) -> bool:
    """Whether the join phase ended with more members than the evidence names. Brokers before 2.8 print no number."""
    at, counted = episode.joined_at, episode.members_after
    return at is not None and counted is not None and counted > registry.count_at(at)
