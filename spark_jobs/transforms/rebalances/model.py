"""The nouns of a group's history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.knowledge.reasons import CoordinatorReason

Event = Mapping[str, Any]

SAME_ACT = timedelta(seconds=1)
"""Lines of one act stand at most this far apart. The line that names a leaving member stands before the one that
starts the rebalance (2.8, 4.x) or after it (3.x), mostly within the same millisecond."""


_NO_ACT = ("leader_rejoined", "metadata_updated", "storage_error", "over_capacity", "converted")
"""What coordinators write as reasons in which no member comes, goes, or is removed."""


@dataclass
class Act:
    """Something one member did, or that was done to it, that starts or feeds a rebalance.

    `what` is one of joined, left, expired, dropped (did not rejoin in time), unsynced, returned (a static member).
    `is_by_instance`: the request to leave named the member by its instance id alone.
    """

    what: str
    at: datetime
    member_id: str | None = None
    instance_id: str | None = None
    client_reason: str | None = None
    is_by_instance: bool = False
    events: list[Event] = field(default_factory=list)


@dataclass
class Episode:
    """One rebalance as rebuilt, before it is judged. `acts` in the order in which they are known to have begun it.

    `cut_by_move`: its coordinator moved while it ran; `cut_shown`: and its generation was not reached after that.
    """

    group_id: str
    protocol: str
    coordinator: int | None
    from_generation: int | None
    to_generation: int | None
    started_at: datetime
    reason: CoordinatorReason
    raw_reason: str | None = None
    joined_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: str = "unfinished"
    cut_by_move: bool = False
    cut_shown: bool = False
    members_before: int | None = None
    members_after: int | None = None
    metadata_hash_changed: bool | None = None
    previous: Episode | None = None
    member_ids: frozenset[str] = frozenset()
    acts: list[Act] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @property
    def lacks_start(self) -> bool:
        """Whether the line that starts it, and with it its reason, is missing."""
        return self.protocol == "classic" and (not self.events or self.events[0]["kind"] != "rebalance_started")

    @property
    def trigger(self) -> Act | None:
        """The act that began it: the one that its reason names, or the first where no reason is written.

        None where its reason names something else: then whoever came or went meanwhile only joined in.
        """
        if not self.acts or self.reason.act in _NO_ACT:
            return None
        return self.acts[0]

    @property
    def others(self) -> list[Act]:
        """The acts that fell into it and did not begin it."""
        return self.acts[self.trigger is not None :]

    def holds(self, at: datetime) -> bool:
        """Whether the join phase ran at that very instant."""
        end = self.joined_at or self.ended_at
        return self.started_at <= at and (end is None or at <= end)

    def runs_at(self, at: datetime) -> bool:
        """Whether the join phase ran at that instant, was about to, or had ended just before."""
        end = self.joined_at or self.ended_at
        return self.started_at - SAME_ACT <= at and (end is None or at <= end + SAME_ACT)


@dataclass(frozen=True)
class Gap:
    """A break in a group's generations."""

    after_generation: int
    next_generation: int
    seen_at: datetime
    explained_by: str | None
    event: Event


@dataclass(frozen=True)
class TopicChange:
    """A change of the cluster's topics: kind topic_created, topic_deleted or partitions_added."""

    at: datetime
    kind: str
    topic: str
    event: Event


@dataclass(frozen=True)
class BrokerAbsence:
    """A broker outage, as far as groups need it."""

    outage_id: str
    broker: int
    down_at: datetime
    up_at: datetime | None


@dataclass(frozen=True)
class GroupContext:
    """What the cluster tells all its groups: small, the same for each.

    `observed_from` and `observed_to` bound the broker lines that could be read.
    """

    cluster: str
    observed_from: datetime
    observed_to: datetime
    topic_changes: Sequence[TopicChange] = ()
    absences: Sequence[BrokerAbsence] = ()


@dataclass(frozen=True)
class Verdict:
    """Why a rebalance began, or why a member took part in it. `heard_at`: when a silent member was heard again."""

    cause: str
    confidence: str
    explanation: str
    events: tuple[Event, ...] = ()
    heard_at: datetime | None = None


@dataclass(frozen=True)
class GroupHistory:
    """What was rebuilt for one group: rows of gold.rebalances (without incident_id) and of quality.generation_gaps,
    and the stays of its members (roster.ROSTER)."""

    rebalances: list[dict[str, Any]]
    gaps: list[dict[str, Any]]
    roster: list[dict[str, Any]] = field(default_factory=list)
