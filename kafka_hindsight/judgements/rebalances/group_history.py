"""The terms of a group's history: changes of members, episodes, gaps, and the context of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property

from kafka_hindsight.catalog.codes import Outcome, Protocol
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerOutage, Event, GenerationGap, LogSpan, Rebalance, TopicChange
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.judgements.reasoning.read_times import ALL_READ, ReadTimes
from kafka_hindsight.knowledge.reasons import CoordinatorReason
from kafka_hindsight.shared.durations import CLOCK_SKEW, NEXT_POLL, RETURN_WITHIN
from kafka_hindsight.shared.instants import latest
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline, intervals, timelines

AT_ONCE = timedelta(milliseconds=250)
"""Timers that a stalled process finds overdue all run when it goes on. Our choice: heartbeats of groups come every 3 s
by default, each in its own time, so that three groups seldom fall silent together by chance."""

_NO_OUTAGES: Intervals[BrokerOutage] = Intervals(())


class Change(StrEnum):
    """A kind of change of one member of a group."""

    JOINED = "joined"
    LEFT = "left"
    EXPIRED = "expired"
    NOT_REJOINED = "not_rejoined"
    NOT_SYNCED = "not_synced"
    RETURNED = "returned"
    REPLACED = "replaced"
    FORGOTTEN = "forgotten"

    @property
    def is_removal(self) -> bool:
        """Whether the member is no longer in the group after it."""
        return self in (Change.LEFT, Change.EXPIRED, Change.NOT_REJOINED, Change.NOT_SYNCED)


_NO_CHANGE = ("leader_rejoined", "metadata_updated", "storage_error", "over_capacity", "converted")
"""The reasons of coordinators in which no member comes, goes, or is removed."""


@dataclass(frozen=True)
class MembershipChange:
    """Something one member did, or that was done to it, that starts or feeds a rebalance.

    `is_by_instance`: the request to leave named the member by its instance id alone.
    """

    what: Change
    at: datetime
    member_id: str | None = None
    instance_id: str | None = None
    client_reason: str | None = None
    is_by_instance: bool = False
    events: tuple[Event, ...] = ()


@dataclass(frozen=True)
class Episode:
    """One rebalance as rebuilt, before it is judged. `changes` in the order in which they are known to have begun it.

    `cut_by_move`: its coordinator moved while it ran, and no line shows that its generation was reached.
    """

    group_id: str
    protocol: Protocol
    coordinator: int | None
    from_generation: int | None
    started_at: datetime
    reason: CoordinatorReason
    to_generation: int | None = None
    raw_reason: str | None = None
    joined_at: datetime | None = None
    ended_at: datetime | None = None
    outcome: Outcome = Outcome.UNFINISHED
    cut_by_move: bool = False
    members_before: int | None = None
    members_after: int | None = None
    metadata_hash_changed: bool | None = None
    previous: Episode | None = field(default=None, repr=False, compare=False)
    member_ids: frozenset[str] = frozenset()
    changes: tuple[MembershipChange, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def lacks_start(self) -> bool:
        """Whether the line that starts it, and with it its reason, is missing."""
        starts = bool(self.events) and self.events[0].kind == Kind.REBALANCE_STARTED
        return self.from_generation is None or (self.protocol == Protocol.CLASSIC and not starts)

    @property
    def trigger(self) -> MembershipChange | None:
        """The change that began it: the one that its reason names, or the first where no reason is written.

        None where its reason names something else: then the changes only fell into it.
        """
        return None if not self.changes or self.reason.act in _NO_CHANGE else self.changes[0]

    @property
    def others(self) -> Sequence[MembershipChange]:
        """The changes that fell into it and did not begin it."""
        return self.changes[self.trigger is not None :]


def turn_of(rebalance: Rebalance) -> tuple[datetime, int, str]:
    """The place of a rebalance in time: of two that a group began within one millisecond generations show the first."""
    return rebalance.started_at, rebalance.from_generation or 0, rebalance.rebalance_id


def gap_at(event: Event, after: int, following: int, why: str | None) -> GenerationGap:
    """The break between two generations of the group that an event names, whose line shows the later one."""
    return GenerationGap(
        cluster=event.cluster,
        group_id=str(event.group_id),
        after_generation=after,
        next_generation=following,
        seen_at=event.happened_at,
        explained_by=why,
        evidence=[quote(event)],
    )


@dataclass(frozen=True)
class GroupContext:
    """The facts that all groups of a cluster share.

    `observed_from` and `observed_to` bound the broker lines that were read, `log_spans` those of each broker's own log.
    `expiries` are the lines in which sessions of any group expired, `refusals` those about clients that failed to
    authenticate, or whose quota changed, `stalls` those by which a process had stood still for a minute or more.
    `read_times`: the times in which logs of brokers were read.
    """

    cluster: str
    observed_from: datetime
    observed_to: datetime
    topic_changes: Sequence[TopicChange] = ()
    outages: Sequence[BrokerOutage] = ()
    log_spans: Sequence[LogSpan] = ()
    expiries: Sequence[Event] = ()
    refusals: Sequence[Event] = ()
    stalls: Sequence[Event] = ()
    read_times: ReadTimes = ALL_READ

    @cached_property
    def failed_authentications(self) -> dict[str, Timeline[Event]]:
        """The lines about clients that failed to authenticate, by their host."""
        return timelines(self.refusals, lambda e: e.host or "", lambda e: e.happened_at)

    @cached_property
    def quota_changes(self) -> dict[str, Timeline[Event]]:
        """The lines in which the quota of a client id changed, by the client id."""
        changes = (e for e in self.refusals if e.kind == Kind.QUOTA_CHANGED)
        return timelines(changes, lambda e: e.client_id or "", lambda e: e.happened_at)

    @cached_property
    def topic_changes_by_time(self) -> Timeline[TopicChange]:
        """The changes of topics, to be looked up by instant."""
        return Timeline(self.topic_changes, lambda c: c.at)

    @cached_property
    def _outages(self) -> dict[int | None, Intervals[BrokerOutage]]:
        return intervals(self.outages, lambda o: o.broker, lambda o: Interval(o.down_at, o.up_at, o))

    def outages_of(self, broker: int | None) -> Intervals[BrokerOutage]:
        """The outages of one broker."""
        return self._outages.get(broker, _NO_OUTAGES)

    @cached_property
    def _expiries(self) -> dict[int | None, Timeline[Event]]:
        return timelines(self.expiries, lambda e: e.broker, lambda e: e.happened_at)

    def expiries_near(self, broker: int | None, at: datetime) -> Sequence[Event]:
        """The sessions that a coordinator found expired within a quarter of a second of an instant."""
        return self._expiries[broker].near(at, AT_ONCE) if broker in self._expiries else ()

    @cached_property
    def _stalls(self) -> dict[int | None, Timeline[Event]]:
        return timelines(self.stalls, lambda e: e.broker, lambda e: e.happened_at)

    def stall_near(self, broker: int | None, at: datetime) -> Event | None:
        """The line by which a broker had stood still until 5 s before or after an instant."""
        near = self._stalls[broker].near(at, NEXT_POLL) if broker in self._stalls else ()
        return max(near, key=lambda e: e.took_ms or 0, default=None)

    @cached_property
    def _log_spans(self) -> dict[int, Intervals[LogSpan]]:
        return intervals(self.log_spans, lambda s: s.broker, lambda s: Interval(s.first_at, s.last_at, s))

    def covered_until(self, broker: int | None, at: datetime) -> datetime:
        """The end of the lines that show what a broker's groups do after an instant: its log ends, or all logs do.

        If the log ends because the broker was away, another broker leads its groups, unless all were away.
        """
        spans = self._log_spans.get(broker) if broker is not None else None
        end = latest(*(i.end for i in spans.at(at, CLOCK_SKEW))) if spans else None
        until = self.observed_to if end is None or self.outages_of(broker).at(end, CLOCK_SKEW) else end
        outage_starts = (i.start for i in self.outages_of(broker).between(at, until) if at <= i.start)
        return next((start for start in outage_starts if self._are_all_away(start, at + RETURN_WITHIN)), until)

    def _are_all_away(self, start: datetime, end: datetime) -> bool:
        """Whether no broker whose log is at hand served from one instant to another."""
        away = (any(i.end is None or i.end > end for i in self.outages_of(b).at(start)) for b in self._log_spans)
        return bool(self._log_spans) and all(away)
