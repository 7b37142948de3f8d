"""The facts for the rulings on a rebalance: the episode, the change of one member in it, and the group's history.

Each look-up is made once, when the first ruling asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from kafka_hindsight.catalog.codes import Confidence, Origin, Protocol
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, GenerationGap, TopicChange
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.judgements.reasoning.proofs import Proof
from kafka_hindsight.judgements.reasoning.rulings import Verdict
from kafka_hindsight.judgements.rebalances.client_logs import ClientLog, ClientProcess
from kafka_hindsight.judgements.rebalances.group_history import Episode, GroupContext, MembershipChange
from kafka_hindsight.judgements.rebalances.identity import Arrival, Departure, Identity
from kafka_hindsight.judgements.rebalances.members import Member, MemberRegistry
from kafka_hindsight.knowledge import reasons
from kafka_hindsight.knowledge.patterns import NAMES_NO_CLIENT
from kafka_hindsight.knowledge.reasons import read_client_reason
from kafka_hindsight.shared.durations import LONG_AGO, LOOK_BACK, METADATA_LAG, SAME_ACT
from kafka_hindsight.shared.timelines import instants
from kafka_hindsight.shared.words import duration

_FOLD = timedelta(hours=1)


class HistoryCoverage:
    """Whether a group is known to have had no other members than those that lines name.

    A hole is an instant by which a member may have come unseen: a break in the generations that nothing explains, a
    rebalance whose first line is missing, and a generation with more members than the evidence names. Brokers before
    2.8 print no number.
    """

    def __init__(
        self,
        episodes: Sequence[Episode],
        gaps: Sequence[GenerationGap],
        registry: MemberRegistry,
        observed_from: datetime,
    ) -> None:
        self.from_the_start = bool(episodes) and episodes[0].from_generation == 0
        self.observed_from = observed_from
        self.falls = instants(g.seen_at for g in gaps if 1 < g.next_generation < g.after_generation)
        holes = [
            *(g.seen_at for g in gaps if g.explained_by is None),
            *(e.started_at for e in episodes if e.lacks_start),
            *(
                e.joined_at
                for e in episodes
                if e.joined_at and e.members_after is not None and e.members_after > registry.count_at(e.joined_at)
            ),
        ]
        self.holes = instants(holes)

    def reaches_back(self, at: datetime) -> bool:
        """Whether the group's history is known from its first generation on, or for the whole look-back."""
        return self.from_the_start or at - self.observed_from >= LOOK_BACK

    def is_whole(self, at: datetime) -> bool:
        """Whether no unknown member can have been in the group within the look-back before `at`.

        A clock that goes back by an hour, as at the end of summer time, puts lines before those that they follow.
        Generations then seem to go back within the hour. Those that begin again are of another life of the group.
        """
        hole = self.holes.first_since(at - LOOK_BACK)
        return (hole is None or hole > at) and not self.falls.between(at, at + _FOLD)


REASON_WORDS: Mapping[str, str] = {
    reasons.CLOSED: "the consumer is being closed",
    reasons.UNSUBSCRIBED: "the consumer unsubscribed",
    reasons.POLL_EXPIRED: "its poll timeout has expired",
    reasons.REMOVED_BY_ADMIN: "an administrator removed the member",
    reasons.REMOVED_WHILE_ALIVE: "the coordinator answered UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION",
    reasons.LEFT_BEFORE: "it left the group before",
    reasons.REVOKES: "it revokes partitions",
    reasons.SUBSCRIPTION_CHANGED: "its subscription has changed",
    reasons.METADATA_CHANGED: "the metadata of its topics have changed",
    reasons.CONNECTOR_CHANGED: "the configuration of a connector or of its tasks changed",
    reasons.ENFORCED: "the application called enforceRebalance",
    reasons.FREE_TEXT: "words that no client writes by itself",
}
"""The meaning of each known reason of a client."""


@dataclass(frozen=True)
class Case:
    """A rebalance under judgement. `change` is the change of one member; None where none began the rebalance.

    `start_verdict` is why it began, where it is judged whether the coordinator's move cut it short.
    """

    episode: Episode
    change: MembershipChange | None
    identity: Identity = field(repr=False)
    context: GroupContext = field(repr=False)
    history: HistoryCoverage = field(repr=False)
    start_verdict: Verdict | None = None

    @property
    def registry(self) -> MemberRegistry:
        """The members of the group."""
        return self.identity.registry

    @property
    def at(self) -> datetime:
        """The instant of the change, else the start of the episode."""
        return self.episode.started_at if self.change is None else self.change.at

    @cached_property
    def member(self) -> Member:
        """The member that changed, or that the coordinator's reason names first."""
        if self.change is not None:
            member, line = self.registry.get(self.change.member_id, self.change.instance_id), self.own_line
            return member if line is None or member.member_id else Member("", line.client_id)
        reason = self.episode.reason
        return self.registry.get(reason.members[0], reason.instance_id) if reason.members else Member("")

    @property
    def who(self) -> str:
        """The member as the subject of a sentence."""
        member = self.member
        if member.client_id:
            return f"Client '{member.client_id}'"
        if member.instance_id:
            return f"Static member '{member.instance_id}'"
        return f"Member '{member.member_id}'" if member.member_id else "A member that no line names"

    @property
    def limit(self) -> str:
        """The time within which the member had to poll, in words."""
        limit = self.member.rebalance_timeout_ms
        return f"within max.poll.interval.ms ({duration(limit)})" if limit else "within max.poll.interval.ms"

    @property
    def which(self) -> str:
        """The sentence, after others, about what the member's own log would show, or does not."""
        return " Its own log does not show which." if len(self.own_log.lines) else " Its own log would show which."

    @property
    def session(self) -> str:
        """The length of its session, as words after the word session; empty where it is not known.

        In groups of Streams and in share groups it is the broker's setting, not the client's.
        """
        if self.episode.protocol in (Protocol.STREAMS, Protocol.SHARE):
            return ""
        return f" of {duration(self.member.session_timeout_ms)}" if self.member.session_timeout_ms else ""

    @property
    def own_line(self) -> Event | None:
        """The line of the member's own log that shows the change."""
        lines = self.change.events if self.change else ()
        return next((e for e in lines if e.origin == Origin.CLIENT), None)

    @cached_property
    def own_log(self) -> ClientLog:
        """The member's own log."""
        if self.own_line is not None and not self.member.member_id:
            return self.registry.logs.beside(self.own_line)
        return self.identity.log_of(self.member, self.at)

    @cached_property
    def process(self) -> ClientProcess:
        """The process that held the member, by its own log."""
        return self.own_log.process_of(self.member.member_id, self.at)

    @property
    def process_identity(self) -> Iterator[Event]:
        """The lines that show which process of which member it is."""
        return self.own_log.identity_of(self.member.member_id, self.at)

    @property
    def client_reason(self) -> str | None:
        """The known reason that the client gave on the coordinator's line."""
        return read_client_reason(self.change.client_reason) if self.change else None

    @cached_property
    def former_self(self) -> Member | None:
        """The same member as it was in the group before."""
        return self.identity.former_self(self.member, self.at)

    @cached_property
    def comeback(self) -> Arrival | None:
        """The same member as it came back within RETURN_WITHIN."""
        return self.identity.next_arrival(self.member, self.at)

    @cached_property
    def lookalike_departure(self) -> Departure | None:
        """A member that may be the same, and had gone when this one came."""
        return self.identity.lookalike_departure(self.member, self.at)

    @cached_property
    def lookalike_arrival(self) -> Arrival | None:
        """A member that may be the same, as it came within RETURN_WITHIN."""
        return self.identity.next_lookalike(self.member, self.at)

    def likeness(self, other: Member) -> str:
        """Another member in words: what it shares with this one."""
        host = f" on host {other.host}" if other.host and other.host == self.member.host else ""
        if not other.client_id:
            return f"a member{host} whose client is not known"
        if other.client_id != self.member.client_id:
            return f"a member of client '{other.client_id}'{host}"
        return f"a member of the same client id{host}"

    @property
    def comeback_line(self) -> Event | None:
        """The line that shows it come back."""
        return self.registry.arrival(self.comeback.member.member_id, self.comeback.at) if self.comeback else None

    @cached_property
    def own_request(self) -> Event | None:
        """The last line since the rebalance before in which the member's log names why it rejoins.

        A member that closes at once names that as its reason, after the one that it gave to the coordinator.
        """
        since = self.episode.previous.started_at if self.episode.previous else LONG_AGO
        until = self.episode.started_at + timedelta(milliseconds=200)
        requests = self.own_log.of_kind(Kind.CLIENT_JOIN_REQUESTED).between(since, until)
        stale = (reasons.GIVEN_MEMBER_ID, reasons.FOLLOWS)
        line_reason = read_client_reason(self.episode.reason.client_reason)
        required = None if line_reason in stale else line_reason
        candidates = ((e, read_client_reason(e.reason)) for e in reversed(requests))
        matches = [e for e, why in candidates if why not in stale and required in (None, why)]
        return max(matches, key=lambda e: e.reason == self.episode.reason.client_reason, default=None)

    @property
    def request(self) -> str | None:
        """Why the member rejoins, in its own words: of its log, else of the coordinator's line."""
        return self.own_request.reason if self.own_request else self.episode.reason.client_reason

    @cached_property
    def topic_changes(self) -> Sequence[TopicChange]:
        """The topic changes that the group, or its leader, could be reacting to, oldest first.

        Only changes of topics that the group can read. Changes before the last rebalance over changed metadata were
        noticed then. Changes a second or more before the member itself first appeared were known to it from the start:
        metadata are read whole, and a topic that is being created has no leader in them yet.
        """
        earliest = self.episode.started_at - METADATA_LAG
        first, before = max(earliest, (self.member.first_at or earliest) - SAME_ACT), self.episode.previous
        while before is not None and before.started_at >= first:
            reason = read_client_reason(before.reason.client_reason)
            if before.reason.act == "leader_rejoined" and reason in (reasons.METADATA_CHANGED, None):
                first = before.started_at
                break
            before = before.previous
        return [c for c in self.changes_of_all_topics if c.at >= first and self.registry.may_read(c.topic)]

    @property
    def changes_of_all_topics(self) -> Sequence[TopicChange]:
        """The changes of any topic that a client could just have seen, oldest first."""
        started_at = self.episode.started_at
        return self.context.topic_changes_by_time.between(started_at - METADATA_LAG, started_at)


def proof_of(*lines: Event | None, **words: object) -> Proof:
    """The proof by these lines, with the words that the sentence takes in."""
    return Proof(tuple(quote(line) for line in lines if line is not None), words)


def by_own_log(case: Case, *lines: Event | None) -> Proof | None:
    """The proof that the member's own log has these lines; None where it has none of them.

    Only its file connects a line that names no client with the member, so that such a proof is likely at most.
    """
    present_lines = [line for line in lines if line is not None]
    return proof_of(*case.process_identity, *present_lines) + by_its_words(*present_lines) if present_lines else None


def by_its_words(*lines: Event) -> Proof:
    """The confidence that a client's lines allow: likely where no line names the client."""
    is_named = not lines or any(line.pattern_id not in NAMES_NO_CLIENT for line in lines)
    return Proof(confidence=None if is_named else Confidence.LIKELY)
