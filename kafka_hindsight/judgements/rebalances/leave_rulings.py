"""Why a member left by LeaveGroup, or by a last heartbeat under KIP-848.

The coordinator sees the same request in a close and, from clients that send no reason, in an exceeded poll limit. Only
the client's reason, its own log, or what it does next separates them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Cause, Protocol
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.reasoning.rulings import (
    CERTAIN,
    LIKELY,
    POSSIBLE,
    Predicate,
    Proof,
    Ruling,
    named,
    proof_if,
)
from kafka_hindsight.judgements.rebalances.case import REASON_WORDS, Case, by_own_log, shown
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.reasons import CLOSED, FREE_TEXT, POLL_EXPIRED, REMOVED_BY_ADMIN, UNSUBSCRIBED
from kafka_hindsight.shared.durations import NEXT_POLL
from kafka_hindsight.shared.words import duration

_GIVES_UP = (Kind.CLIENT_REVOKED, Kind.CLIENT_LOST)


def gave_reason(reason: str) -> Predicate[Case]:
    """The client gave this reason, on the coordinator's line (KIP-800)."""

    def holds(case: Case) -> Proof | None:
        return proof_if(case.client_reason == reason)

    return named(f"The client's reason on the coordinator's line: {REASON_WORDS[reason]}.", holds)


def is_by_instance(case: Case) -> Proof | None:
    """The request to leave names an instance id and no member id."""
    return proof_if(case.change and case.change.is_by_instance)


def is_static_and_classic(case: Case) -> Proof | None:
    """The member is static, in a group of the classic protocol."""
    return proof_if(case.member.instance_id and case.episode.protocol == Protocol.CLASSIC)


def own_log_shows_poll_expired(case: Case) -> Proof | None:
    """The member's own log says within 5 s, or before it comes back, that its poll timeout has expired.

    Source: librdkafka hands its lines to a logger when the application polls again.
    """
    expiries = case.log.process.poll_expiries
    late = expiries.between(case.at, case.back[1]) if case.back else ()
    return by_own_log(case, *(expiries.near(case.at, NEXT_POLL) or late))


def own_log_shows_close(case: Case) -> Proof | None:
    """The member's own log says within 5 s that it closes its consumer or leaves on purpose."""
    return by_own_log(case, *case.log.process.closings.near(case.at, NEXT_POLL)[:2])


def went_on_after_it_left(case: Case) -> Proof | None:
    """The member's own log says within 5 s that it left, and next that it gives up partitions that it still held."""
    left, process = _left(case), case.log.process
    given_up = (process.of_kind(kind).after(left.happened_at, most=1) for kind in _GIVES_UP) if left else ()
    first = min((line for lines in given_up for line in lines), key=lambda e: e.happened_at, default=None)
    return by_own_log(case, left, first) if first is not None and first.detail else None


def ended_when_it_left(case: Case) -> Proof | None:
    """The member's own log says within 5 s that it left, and has no line after that but those of a new consumer."""
    left, process = _left(case), case.log.process
    is_last = left is not None and process.next_start is not None and not process.lines.after(left.happened_at)
    return by_own_log(case, left, process.next_start) if is_last else None


def _left(case: Case) -> Event | None:
    """The line that says that the member left, and not why."""
    return next(iter(case.log.process.of_kind(Kind.CLIENT_LEFT).near(case.at, NEXT_POLL)), None)


def was_surprised(case: Case) -> Proof | None:
    """The member's own log goes on, and a heartbeat of its current member id is refused with UNKNOWN_MEMBER_ID.

    Source: a consumer that leaves forgets its member id first, and takes a refused heartbeat of the former one for
    stale (AbstractCoordinator.maybeLeaveGroup, HeartbeatResponseHandler).
    """
    for line in case.log.process.of_kind(Kind.CLIENT_HEARTBEAT_REFUSED).after(case.at):
        is_refused = line.error == "UNKNOWN_MEMBER_ID" and line.detail == "resetting generation"
        if is_refused and line.member_id == case.member.member_id:
            return by_own_log(case, line)
    return None


def came_back(case: Case) -> Proof | None:
    """The same client joined again within 10 minutes."""
    if case.back is None:
        return None
    member, at = case.back
    return shown(case.back_line, *member.introduced_by, later=duration(at - case.at))


def came_back_under_its_id(case: Case) -> Proof | None:
    """A member of a group with epochs came back within 10 minutes under the same member id."""
    is_same = case.back is not None and case.back[0].member_id == case.member.member_id
    return came_back(case) if is_same and Protocol(case.episode.protocol).has_epochs else None


def poll_limit_is_known(case: Case) -> Proof | None:
    """A line shows the member's max.poll.interval.ms."""
    return None if case.member.rebalance_timeout_ms is None else shown(case.member.limited_by)


def poll_limit_had_not_run_out(case: Case) -> Proof | None:
    """Less time than its max.poll.interval.ms had passed since the member last joined."""
    limit, joined = case.member.rebalance_timeout_ms, _joined_last(case)
    if limit is None or joined is None or case.at - joined[0] >= timedelta(milliseconds=limit):
        return None
    words = {"since_join": duration(case.at - joined[0]), "poll_limit": duration(limit)}
    return shown(joined[1], case.member.limited_by, **words)


def _joined_last(case: Case) -> tuple[datetime, Event] | None:
    """No later than the member's last poll: it polls when it joins, and every finished join phase was joined by all.

    None for KIP-848, whose members do not rejoin.
    """
    if case.episode.protocol != Protocol.CLASSIC:
        return None
    before = case.episode.previous
    rejoined = before.events[0] if before and before.joined_at and not before.lacks_start else None
    joined = (rejoined, case.registry.joined_last(case.member.member_id, case.at))
    return max(((e.happened_at, e) for e in joined if e is not None), default=None, key=lambda found: found[0])


def did_not_come_back(case: Case) -> Proof | None:
    """No line shows the same client join again within 10 minutes."""
    return proof_if(case.back is None)


# fmt: off
LEAVE_RULINGS: Sequence[Ruling[Case]] = (
    Ruling(Cause.MAX_POLL_EXCEEDED, CERTAIN, "{who} did not poll {limit} and left; its request to leave says so.",
           proof=(gave_reason(POLL_EXPIRED),), source="KIP-62, KIP-800; AbstractCoordinator.java HeartbeatThread",
           decides="night-4.1/ledger-loader-14 01:49:25.678", looks_alike="groups/deployment-4.1 01:45:27.117"),
    Ruling(Cause.MEMBER_LEFT, CERTAIN, "{who} closed its consumer; its request to leave says so.",
           proof=(gave_reason(CLOSED),), source="KIP-800; AbstractCoordinator.java maybeLeaveGroup",
           decides="groups/deployment-4.1 01:45:27.117", looks_alike="night-4.1/ledger-loader-14 01:49:25.678"),
    Ruling(Cause.MEMBER_LEFT, LIKELY, "{who} unsubscribed its consumer; its request to leave says so.",
           proof=(gave_reason(UNSUBSCRIBED),), source="KIP-800; KafkaConsumer.unsubscribe",
           decides="made: unsubscribes", looks_alike="groups/deployment-4.1 01:45:27.117"),
    Ruling(Cause.REMOVED_BY_ADMIN, CERTAIN, "{who} was removed by an administrator.",
           proof=(gave_reason(REMOVED_BY_ADMIN),), source="KafkaAdminClient.java DEFAULT_LEAVE_GROUP_REASON; KIP-800",
           decides="groups/removed-3.9 12:39:54.131", looks_alike="groups/deployment-4.1 01:45:27.117"),
    Ruling(Cause.REMOVED_BY_ADMIN, LIKELY, "{who} was removed by an administrator: the request named its instance id"
           " alone, as no member does.",
           proof=(is_by_instance,),
           source="KIP-345, Admin.removeMembersFromConsumerGroup: a client that leaves names its member id, and a"
           " static one does not leave at all",
           decides="groups/removed-2.8 12:24:06.058", looks_alike="groups/removed-3.9 12:39:54.131"),
    Ruling(Cause.REMOVED_BY_ADMIN, POSSIBLE, "{who} left for a reason that no client writes by itself: an"
           " administrator's words, or its own.",
           proof=(gave_reason(FREE_TEXT),),
           source="KIP-800: an administrator may give a reason of its own, and so may a client that is not Kafka's",
           decides="made: leaves for a reason of its own", looks_alike="groups/removed-3.9 12:39:54.131"),
    Ruling(Cause.MAX_POLL_EXCEEDED, CERTAIN, "{who} did not poll {limit} and left, as its own log shows.",
           proof=(own_log_shows_poll_expired,),
           source="KIP-62; AbstractCoordinator.java HeartbeatThread; rdkafka_cgrp.c",
           decides="groups/chain-2.8 01:47:22.862", looks_alike="groups/chain-2.8 01:47:22.862 (brokers only)"),
    Ruling(Cause.MEMBER_LEFT, CERTAIN, "{who} closed its consumer, as its own log shows.",
           proof=(own_log_shows_close,), source="AbstractCoordinator.java maybeLeaveGroup; rdkafka_cgrp.c",
           decides="groups/emptied-2.8 13:31:12.666", looks_alike="groups/emptied-2.8 13:31:05.783"),
    Ruling(Cause.MAX_POLL_EXCEEDED, LIKELY, "{who} did not poll {limit} and left: by its own log it went on with"
           " partitions that it still held, as no close does.",
           proof=(went_on_after_it_left,),
           source="aiokafka/consumer/group_coordinator.py: it leaves in close() and in _heartbeat_routine",
           decides="groups/aiokafka-4.3 15:03:47.418", looks_alike="groups/aiokafka-4.3 15:05:05.510"),
    Ruling(Cause.MEMBER_LEFT, LIKELY, "{who} closed its consumer: by its own log it left, and what follows is a"
           " new consumer.",
           proof=(ended_when_it_left,),
           source="aiokafka/consumer/group_coordinator.py: it leaves in close() and in _heartbeat_routine",
           decides="groups/aiokafka-4.3 15:05:05.510", looks_alike="groups/aiokafka-4.3 15:03:47.418"),
    Ruling(Cause.REMOVED_BY_ADMIN, LIKELY, "{who} did not leave by itself: it went on running until a refused"
           " heartbeat showed it that it was no longer a member. An administrator removed it.",
           proof=(was_surprised,), source="AbstractCoordinator.java maybeLeaveGroup, HeartbeatResponseHandler",
           decides="groups/emptied-2.8 13:31:05.783", looks_alike="groups/emptied-2.8 13:31:12.666"),
    Ruling(Cause.REMOVED_BY_ADMIN, LIKELY, "{who} was removed by an administrator: a static member does not leave by"
           " itself.",
           proof=(is_static_and_classic,),
           source="KIP-345; AbstractCoordinator.java maybeLeaveGroup: only dynamic members send LeaveGroup. In 3.0 and"
           " 3.1 the coordinator names the member id, and no reason",
           decides="groups/removed-3.0 22:17:22.991", looks_alike="groups/removed-2.8 12:24:06.058"),
    Ruling(Cause.MAX_POLL_EXCEEDED, LIKELY, "{who} left and came back under the same member id {later} later, as no"
           " close does: it did not poll {limit}, or it unsubscribed and subscribed again.",
           proof=(came_back_under_its_id,), source="KIP-848: a consumer keeps its member id for as long as it lives",
           decides="groups/kip848-4.1 01:47:38.941 (brokers only)",
           looks_alike="groups/slow-librdkafka-4.1 01:42:57.368 (brokers only)"),
    Ruling(Cause.MEMBER_LEFT, LIKELY, "{who} left {since_join} after it had last joined: its poll limit of"
           " {poll_limit} had not run out, so it was closed.",
           proof=(poll_limit_had_not_run_out,),
           source="KIP-62: the limit runs from one poll to the next, and a member polls when it joins",
           decides="groups/chain-2.8 01:47:33.471", looks_alike="groups/chain-2.8 01:47:22.862 (brokers only)"),
    Ruling(Cause.MEMBER_LEFT, LIKELY, "{who} left without a reason and did not come back: it was closed.",
           proof=(did_not_come_back,), source="our own choice: a member that was too slow rejoins with its next poll",
           decides="groups/cooperative-2.8 01:49:35.815 (brokers only)",
           looks_alike="groups/slow-librdkafka-4.1 01:42:57.368 (brokers only)"),
    Ruling(Cause.MAX_POLL_EXCEEDED, POSSIBLE, "{who} left without a reason and came back {later} later: it did not"
           " poll {limit}, or it was closed and started again. Its own log would show which.",
           proof=(poll_limit_is_known, came_back), source="KIP-62; AbstractCoordinator.java maybeLeaveGroup",
           decides="groups/chain-2.8 01:47:22.862 (brokers only)", looks_alike="groups/chain-2.8 01:47:33.471"),
    Ruling(Cause.MEMBER_LEFT, POSSIBLE, "{who} left without a reason and came back {later} later: it was closed and"
           " started again, or it did not poll {limit}, whose value is not known. Its own log would show which.",
           proof=(came_back,), source="KIP-62; AbstractCoordinator.java maybeLeaveGroup",
           decides="groups/slow-librdkafka-4.1 01:42:57.368 (brokers only)",
           looks_alike="groups/chain-2.8 01:47:22.862 (brokers only)"),
)
# fmt: on
