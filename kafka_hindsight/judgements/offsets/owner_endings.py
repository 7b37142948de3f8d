"""How the owner of a partition stopped reading it, and what it had not committed then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from itertools import zip_longest

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, MemberSetting, Quote, Rebalance
from kafka_hindsight.judgements.groups.assignments import partitions_in
from kafka_hindsight.judgements.offsets.log_changes import PartitionKey
from kafka_hindsight.judgements.offsets.marks import Mark
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.knowledge.reasons import is_end_of_cooperative_join
from kafka_hindsight.shared.durations import SAME_ACT
from kafka_hindsight.shared.timelines import Timeline, timelines


class Manner(Enum):
    """How an owner stopped."""

    GAVE_BACK = auto()
    """It gave the partition back, or left: it had the time to commit."""
    READ_ON = auto()
    """It gave the partition back when a join had ended, and what it had read since that join began is not committed."""
    LOST = auto()
    """It was removed, its process ended, or the partition was taken from it."""
    NOT_SHOWN = auto()
    """No evidence shows that it stopped in one of these ways."""


@dataclass(frozen=True)
class Ending:
    """The end of one ownership. `at`: None where no evidence shows it."""

    manner: Manner
    at: datetime | None = None
    quotes: tuple[Quote, ...] = ()


NOT_SHOWN = Ending(Manner.NOT_SHOWN)

_NEW_PROCESS = (Kind.CLIENT_CONFIGURED, Kind.CLIENT_STARTED)
_ENDS = (*_NEW_PROCESS, Kind.CLIENT_REVOKED, Kind.CLIENT_LOST)
"""The lines of a client's log that end its ownership of partitions."""

OF_SESSIONS = (*_ENDS, Kind.CLIENT_JOIN_REQUESTED)
"""These lines, and those that show when in a rebalance it ended."""

_Departure = tuple[str | None, datetime, Ending]
"""The id of a member, or of its client; when it went; how."""

_NONE: Timeline[Event] = Timeline((), lambda e: e.happened_at)
_NO_DEPARTURES: Timeline[_Departure] = Timeline((), lambda d: d[1])


class Endings:
    """The ends of the ownerships of one group."""

    def __init__(
        self, events: Iterable[Event], rebalances: Iterable[Rebalance], settings: Iterable[MemberSetting] = ()
    ) -> None:
        """Look through the clients' own lines, and through the departures that rebalances show."""
        self._clients_without_auto_commit = {s.client_id for s in settings if s.is_auto_commit is False}
        lines = sorted((e for e in events if e.kind in OF_SESSIONS), key=lambda e: (e.happened_at, e.order))
        self._lines = timelines(lines, lambda e: e.source, lambda e: e.happened_at)
        departures = [d for r in rebalances for d in _departures(r)]
        self._of_members = timelines(departures, lambda d: d[0], lambda d: d[1])

    def last(self, key: PartitionKey, session: Mark, until: datetime) -> Ending:
        """How the owner whose session of a partition began with a mark had stopped by an instant."""
        lines = self._lines.get(session.log or "", _NONE).within(session.at, until + SAME_ACT)
        for event, following in zip_longest(lines, lines[1:]):
            if event.kind not in _ENDS or event.happened_at == session.at:
                continue
            if event.kind in _NEW_PROCESS:
                return Ending(Manner.LOST, event.happened_at, (quote(event),))
            if not event.detail or key in partitions_in(event.detail):
                return Ending(self._manner_of(event, following), event.happened_at, (quote(event),))
        of_owner = self._of_members.get(session.member_id or session.client_id, _NO_DEPARTURES)
        departures = of_owner.within(session.at - SAME_ACT, until + SAME_ACT)
        return departures[-1][2] if departures else NOT_SHOWN

    def _manner_of(self, event: Event, following: Event | None) -> Manner:
        """How a member stopped by its own line, and by the next one.

        With a cooperative assignor the classic consumer commits as a join begins and returns records meanwhile; then it
        gives partitions back and asks to join again. What it read in between is not committed: until it has joined, a
        commit fails. With an eager one it returns nothing after that commit, and gives all back before it joins.
        Source: ConsumerCoordinator.onJoinPrepare, onJoinComplete; KAFKA-8421 (2.5), KAFKA-14196 (3.3).
        """
        if event.kind == Kind.CLIENT_LOST:
            return Manner.LOST
        is_after_join = (
            following is not None
            and following.kind == Kind.CLIENT_JOIN_REQUESTED
            and is_end_of_cooperative_join(following.reason)
        )
        return (
            Manner.READ_ON
            if is_after_join and event.client_id not in self._clients_without_auto_commit
            else Manner.GAVE_BACK
        )


def _departures(rebalance: Rebalance) -> Iterator[_Departure]:
    """The members that went in a rebalance, by their own id and that of their client."""
    began_it = rebalance.member_id, rebalance.client_id, rebalance.cause, rebalance.started_at
    others = ((c.member_id, c.client_id, c.cause, c.at) for c in rebalance.contributors)
    for member_id, client_id, cause, at in (began_it, *others):
        if cause.noun.is_departure:
            manner = Manner.GAVE_BACK if cause.noun.is_leave else Manner.LOST
            for name in {member_id, client_id} - {None}:
                yield name, at, Ending(manner, at, tuple(rebalance.evidence[:1]))
