"""The causes of a leave, by LeaveGroup or by a last heartbeat under KIP-848, and of an expired session.

The coordinator sees the same request in a close and, from clients that send no reason, in an exceeded poll limit, and
the same silence in a close without LeaveGroup, a pause, a cut network and a crash. Only the client's reason, its own
log, or what it does next separates them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Cause, OutageKind, Outcome, Protocol
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerOutage, Event
from kafka_hindsight.judgements.reasoning.proofs import Predicate, Proof, proof_if, with_sentence
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Possible, Ruling
from kafka_hindsight.judgements.rebalances.case import REASON_WORDS, Case, by_own_log, proof_of
from kafka_hindsight.judgements.rebalances.refusal_rulings import BROKERS_REFUSALS, REFUSED_EXPIRIES, REFUSED_LEAVES
from kafka_hindsight.judgements.rebalances.silence_rulings import asked_and_was_not_answered, ran_and_reached_no_broker
from kafka_hindsight.knowledge import reasons
from kafka_hindsight.knowledge.client_ids import (
    has_assignor_without_limit,
    has_no_poll_limit,
    is_default,
    is_of_a_task,
    is_of_streams,
)
from kafka_hindsight.knowledge.reasons import read_client_reason, read_coordinator_reason
from kafka_hindsight.shared.durations import CLOCK_SKEW, MS, NEXT_POLL, RETURN_WITHIN, SAME_ACT
from kafka_hindsight.shared.plain import shortened
from kafka_hindsight.shared.timelines import Interval
from kafka_hindsight.shared.words import duration

_GIVES_UP = (Kind.CLIENT_REVOKED, Kind.CLIENT_LOST)

POLLED_ON = 1 / 8
"""How long after its last assignment, as a part of its poll limit, a member that stops to poll may still have polled.
Measured: 17 of 17 leaves of kafka-python came 300.1 to 334.8 s after the assignment, with a limit of 300 s."""

TIMER_DRIFT = timedelta(milliseconds=500)
"""How far a timer of a coordinator and its lines may be apart. Measured: of 402 sessions of 10 s that ran out without a
heartbeat 399 did so after 9.95 to 10.05 s, all within 0.3 s; a heartbeat comes 3 s after the assignment."""

STALLED_GROUPS = 3
"""In how many groups sessions expire at once where their coordinator stalled. Our choice."""

BACK_AT_ONCE = timedelta(seconds=10)
"""How soon a live member that was removed joins again: with its next heartbeat, 3 s later by default. Our choice."""

_RECOVERY = timedelta(minutes=1)
"""How long after its coordinator's return a member may still be removed for its silence."""


def gave_reason(reason: str) -> Predicate[Case]:
    """The client gave this reason, on the coordinator's line (KIP-800)."""
    sentence = f"The client's reason on the coordinator's line: {REASON_WORDS[reason]}."
    return with_sentence(sentence, lambda case: proof_if(case.client_reason == reason))


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
    expiries = case.process.poll_expiries
    late = expiries.between(case.at, case.comeback.at) if case.comeback else ()
    return by_own_log(case, *(expiries.near(case.at, NEXT_POLL) or late))


def own_log_shows_close(case: Case) -> Proof | None:
    """The member's own log says within 5 s that it closes its consumer or leaves on purpose."""
    return by_own_log(case, *case.process.closings.near(case.at, NEXT_POLL)[:2])


def went_on_after_it_left(case: Case) -> Proof | None:
    """The member's own log says within 5 s that it left, and next that it gives up partitions that it still held."""
    leave, process = _leave_line(case), case.process
    releases = (process.of_kind(kind).after(leave.happened_at, most=1) for kind in _GIVES_UP) if leave else ()
    first = min((line for lines in releases for line in lines), key=lambda e: e.happened_at, default=None)
    return by_own_log(case, leave, first) if first is not None and first.detail else None


def ended_when_it_left(case: Case) -> Proof | None:
    """The member's own log says within 5 s that it left, and has no line after that but those of a new consumer."""
    leave, process = _leave_line(case), case.process
    is_last = leave is not None and process.next_start is not None and not process.lines.after(leave.happened_at)
    return by_own_log(case, leave, process.next_start) if is_last else None


def _leave_line(case: Case) -> Event | None:
    """The line that says that the member left, and not why."""
    return next(iter(case.process.of_kind(Kind.CLIENT_LEFT).near(case.at, NEXT_POLL)), None)


def was_surprised(case: Case) -> Proof | None:
    """The member's own log goes on, and a heartbeat of its current member id is refused with UNKNOWN_MEMBER_ID.

    Source: a consumer that leaves forgets its member id first, and takes a refused heartbeat of the former one for
    stale (AbstractCoordinator.maybeLeaveGroup, HeartbeatResponseHandler).
    """
    for line in case.process.of_kind(Kind.CLIENT_HEARTBEAT_REFUSED).after(case.at):
        is_refused = line.error == "UNKNOWN_MEMBER_ID" and line.detail == "resetting generation"
        if is_refused and line.member_id == case.member.member_id:
            return by_own_log(case, line)
    return None


def came_back(case: Case) -> Proof | None:
    """The same client joined again within 10 minutes."""
    if case.comeback is None:
        return None
    later = duration(case.comeback.at - case.at)
    return proof_of(case.comeback_line, *case.comeback.member.introduced_by, later=later)


def came_back_under_its_id(case: Case) -> Proof | None:
    """A member of a group with epochs came back within 10 minutes under the same member id."""
    is_same = case.comeback is not None and case.comeback.member.member_id == case.member.member_id
    return came_back(case) if is_same and Protocol(case.episode.protocol).has_epochs else None


def came_back_to_its_own_group(case: Case) -> Proof | None:
    """The same client joined again within 10 minutes, in a group that its process had made for itself."""
    return came_back(case) if case.identity.is_of_one_process else None


def its_library_has_no_poll_limit(case: Case) -> Proof | None:
    """Its client id, or its assignor, is that of a library whose consumers know no max.poll.interval.ms."""
    if has_no_poll_limit(case.member.client_id or ""):
        return Proof()
    line = case.member.assigned_by
    return proof_of(line) if line is not None and has_assignor_without_limit(line.assignor or "") else None


def poll_limit_is_known(case: Case) -> Proof | None:
    """A line shows the member's max.poll.interval.ms."""
    return None if case.member.rebalance_timeout_ms is None else proof_of(case.member.limited_by)


def poll_limit_had_not_run_out(case: Case) -> Proof | None:
    """Less time than its max.poll.interval.ms had passed since the member last joined."""
    limit, joined = case.member.rebalance_timeout_ms, _last_join(case)
    if limit is None or joined is None or case.at - joined[0] >= timedelta(milliseconds=limit):
        return None
    words = {"since_join": duration(case.at - joined[0]), "poll_limit": duration(limit)}
    return proof_of(joined[1], case.member.limited_by, **words)


def poll_limit_had_just_run_out(case: Case) -> Proof | None:
    """It left when its max.poll.interval.ms had run out since the last assignment, or up to an eighth of it later.

    The limit runs from the last poll, and a member that joins polls: what is left of the eighth it had polled on.
    """
    limit, since = case.member.rebalance_timeout_ms, _since_assignment(case)
    if limit is None or since is None or not limit * MS - TIMER_DRIFT <= since <= limit * MS * (1 + POLLED_ON):
        return None
    return proof_of(*_assignment(case), case.member.limited_by, since=duration(since), poll_limit=duration(limit))


def _assignment(case: Case) -> Sequence[Event]:
    """The line that ended the rebalance before; none under KIP-848, whose members do not rejoin."""
    before = case.episode.previous
    is_classic = before is not None and case.episode.protocol == Protocol.CLASSIC
    return before.events[-1:] if before is not None and is_classic and before.outcome == Outcome.COMPLETED else ()


def _since_assignment(case: Case) -> timedelta | None:
    """The time from the end of the rebalance before, when each member was heard and its session began again."""
    before = case.episode.previous
    return case.at - before.ended_at if _assignment(case) and before is not None and before.ended_at else None


def _last_join(case: Case) -> tuple[datetime, Event] | None:
    """The member's last join, no later than its last poll: it polls when it joins, and joins every finished join phase.

    None for KIP-848, whose members do not rejoin.
    """
    if case.episode.protocol != Protocol.CLASSIC:
        return None
    before = case.episode.previous
    rejoined = before.events[0] if before and before.joined_at and not before.lacks_start else None
    joins = (rejoined, case.registry.last_join(case.member.member_id, case.at))
    return max(((e.happened_at, e) for e in joins if e is not None), default=None, key=lambda pair: pair[0])


def did_not_come_back(case: Case) -> Proof | None:
    """No line shows the member, or one that may be the same, join within 10 minutes.

    Where the coordinator assigns, a consumer keeps its member id for as long as it lives.
    """
    keeps_id = Protocol(case.episode.protocol).has_epochs and not case.member.instance_id
    if case.comeback is not None or (case.lookalike_arrival is not None and not keeps_id):
        return None
    return Proof(words={"id_clause": " under its member id" if case.lookalike_arrival else ""})


def one_like_it_came(case: Case) -> Proof | None:
    """A member that may be the same joined within 10 minutes."""
    if case.lookalike_arrival is None:
        return None
    member, at = case.lookalike_arrival.member, case.lookalike_arrival.at
    line = case.registry.arrival(member.member_id, at)
    return proof_of(line, *member.introduced_by, lookalike=case.likeness(member), later=duration(at - case.at))


def its_task_was_killed(case: Case) -> Proof | None:
    """Kafka Connect killed a task of that client id within 10 minutes before, or of that connector within 5 s.

    Source: a task that failed stops its connector's part first, and then closes its consumer (WorkerTask.doRun,
    WorkerSinkTask.close). Its group is `connect-` and the connector, its client id from 2.3 on `connector-consumer-`
    and the task, unless the connector has others (SinkUtils.consumerGroupId, Worker.java).
    """
    member, kills = case.member, case.registry.task_kills.between(case.at - RETURN_WITHIN, case.at + SAME_ACT)
    own_kills = [e for e in kills if member.first_at is None or member.first_at <= e.happened_at]
    names_another = is_of_a_task(member.client_id or "")
    for kill in reversed(own_kills):
        is_at_once = kill.happened_at >= case.at - NEXT_POLL
        if kill.client_id == member.client_id or (is_at_once and not names_another):
            error = f" ({shortened(kill.error)})" if kill.error else ""
            return proof_of(kill, task=kill.detail, error=error)
    return None


LEAVE_RULINGS: tuple[Ruling[Case], ...] = (
    *REFUSED_LEAVES,
    Likely(
        Cause.TASK_FAILED,
        "{who} left because its task '{task}' failed{error}: Kafka Connect killed the task, and does not start it again"
        " by itself.",
        proof=(its_task_was_killed,),
        source="WorkerTask.java doRun, the same in 1.0 to 4.4; before 3.0 a task that is being stopped may log it too",
        cases=("made: leaves as its task is killed", "made: leaves as another task is killed"),
    ),
    Certain(
        Cause.MAX_POLL_EXCEEDED,
        "{who} did not poll {limit} and left; its request to leave says so.",
        proof=(gave_reason(reasons.POLL_EXPIRED),),
        source="KIP-62, KIP-800; AbstractCoordinator.java HeartbeatThread",
        cases=("night-4.1/ledger-loader-14 01:49:25.678", "groups/deployment-4.1 01:45:27.117"),
    ),
    Certain(
        Cause.MEMBER_LEFT,
        "{who} closed its consumer; its request to leave says so.",
        proof=(gave_reason(reasons.CLOSED),),
        source="KIP-800; AbstractCoordinator.java maybeLeaveGroup",
        cases=("groups/deployment-4.1 01:45:27.117", "night-4.1/ledger-loader-14 01:49:25.678"),
    ),
    Likely(
        Cause.MEMBER_LEFT,
        "{who} unsubscribed its consumer; its request to leave says so.",
        proof=(gave_reason(reasons.UNSUBSCRIBED),),
        source="KIP-800; KafkaConsumer.unsubscribe",
        cases=("made: unsubscribes", "groups/deployment-4.1 01:45:27.117"),
    ),
    Certain(
        Cause.REMOVED_BY_ADMIN,
        "{who} was removed by an administrator.",
        proof=(gave_reason(reasons.REMOVED_BY_ADMIN),),
        source="KafkaAdminClient.java DEFAULT_LEAVE_GROUP_REASON; KIP-800",
        cases=("groups/removed-3.9 12:39:54.131", "groups/deployment-4.1 01:45:27.117"),
    ),
    Likely(
        Cause.REMOVED_BY_ADMIN,
        "{who} was removed by an administrator: the request named only its instance id. A member that leaves names its"
        " member id.",
        proof=(is_by_instance,),
        source="KIP-345, Admin.removeMembersFromConsumerGroup: a client that leaves names its member id, and a static"
        " one does not leave at all",
        cases=("groups/removed-2.8 12:24:06.058", "groups/removed-3.9 12:39:54.131"),
    ),
    Possible(
        Cause.REMOVED_BY_ADMIN,
        "{who} left for a reason that no client library writes: an administrator or the application wrote it.",
        proof=(gave_reason(reasons.FREE_TEXT),),
        source="KIP-800: an administrator may give a reason of its own, and so may a client that is not Kafka's",
        cases=("made: leaves for a reason of its own", "groups/removed-3.9 12:39:54.131"),
    ),
    Certain(
        Cause.MAX_POLL_EXCEEDED,
        "{who} did not poll {limit} and left, as its own log shows.",
        proof=(own_log_shows_poll_expired,),
        source="KIP-62; AbstractCoordinator.java HeartbeatThread; rdkafka_cgrp.c",
        cases=("groups/chain-2.8 01:47:22.862", "groups/chain-2.8 01:47:22.862 (brokers only)"),
    ),
    Certain(
        Cause.MEMBER_LEFT,
        "{who} closed its consumer, as its own log shows.",
        proof=(own_log_shows_close,),
        source="AbstractCoordinator.java maybeLeaveGroup; rdkafka_cgrp.c",
        cases=("groups/emptied-2.8 13:31:12.666", "groups/emptied-2.8 13:31:05.783"),
    ),
    Likely(
        Cause.MAX_POLL_EXCEEDED,
        "{who} did not poll {limit} and left: after that its own log goes on with partitions that it still held. No"
        " close does that.",
        proof=(went_on_after_it_left,),
        source="aiokafka/consumer/group_coordinator.py: it leaves in close() and in _heartbeat_routine",
        cases=("groups/aiokafka-4.3 15:03:47.418", "groups/aiokafka-4.3 15:05:05.510"),
    ),
    Likely(
        Cause.MEMBER_LEFT,
        "{who} closed its consumer: its own log shows its leave, and then only a new consumer.",
        proof=(ended_when_it_left,),
        source="aiokafka/consumer/group_coordinator.py: it leaves in close() and in _heartbeat_routine",
        cases=("groups/aiokafka-4.3 15:05:05.510", "groups/aiokafka-4.3 15:03:47.418"),
    ),
    Likely(
        Cause.REMOVED_BY_ADMIN,
        "{who} did not leave by itself: it went on running until a refused heartbeat showed it that it was no longer a"
        " member. An administrator removed it.",
        proof=(was_surprised,),
        source="AbstractCoordinator.java maybeLeaveGroup, HeartbeatResponseHandler",
        cases=("groups/emptied-2.8 13:31:05.783", "groups/emptied-2.8 13:31:12.666"),
    ),
    Likely(
        Cause.REMOVED_BY_ADMIN,
        "{who} was removed by an administrator: a static member does not leave by itself.",
        proof=(is_static_and_classic,),
        source="KIP-345; AbstractCoordinator.java maybeLeaveGroup: only dynamic members send LeaveGroup. In 3.0 and 3.1"
        " the coordinator names the member id, and no reason",
        cases=("groups/removed-3.0 22:17:22.991", "groups/removed-2.8 12:24:06.058"),
    ),
    Likely(
        Cause.MAX_POLL_EXCEEDED,
        "{who} left and came back under the same member id {later} later, so it was not closed: it did not poll"
        " {limit}, or it unsubscribed and subscribed again.",
        proof=(came_back_under_its_id,),
        source="KIP-848: a consumer keeps its member id for as long as it lives",
        cases=(
            "groups/kip848-4.1 01:47:38.941 (brokers only)",
            "groups/slow-librdkafka-4.1 01:42:57.368 (brokers only)",
        ),
    ),
    Likely(
        Cause.MAX_POLL_EXCEEDED,
        "{who} left and came back {later} later to the group that its process had made for itself: the process had not"
        " ended, but had not polled {limit}.",
        proof=(came_back_to_its_own_group,),
        source="KIP-62; ConsoleConsumer.scala: a process without --group draws a group of its own, and reads until it"
        " ends",
        cases=("made: a console consumer leaves and is back", "made: leaves, and one like it comes"),
    ),
    Likely(
        Cause.MEMBER_LEFT,
        "{who} left: consumers of its library have no poll limit, so it was stopped, by the application or after an"
        " error.",
        proof=(its_library_has_no_poll_limit,),
        source="kafkajs src/consumer/index.js stop, onCrash; sarama consumer_group.go Close; kgo LeaveGroup; kafka-go"
        " consumergroup.go run",
        cases=("made: a client without a poll limit leaves", "made: leaves, and one like it comes"),
    ),
    Likely(
        Cause.MEMBER_LEFT,
        "{who} left {since_join} after it had last joined: its poll limit of {poll_limit} had not run out, so it was"
        " closed.",
        proof=(poll_limit_had_not_run_out,),
        source="KIP-62: the limit runs from one poll to the next, and a member polls when it joins",
        cases=("groups/chain-2.8 01:47:33.471", "groups/chain-2.8 01:47:22.862 (brokers only)"),
    ),
    Likely(
        Cause.MAX_POLL_EXCEEDED,
        "{who} left {since} after its last assignment, when its poll limit of {poll_limit} had run out: it had hardly"
        " polled since then.",
        proof=(poll_limit_had_just_run_out,),
        source="KIP-62; AbstractCoordinator.java HeartbeatThread; kafka-python coordinator/base.py HeartbeatThread",
        cases=("made: leaves when its poll limit has run out", "made: leaves long after its poll limit"),
    ),
    Likely(
        Cause.MEMBER_LEFT,
        "{who} left without a reason and did not come back{id_clause}: it was closed.",
        proof=(did_not_come_back,),
        source="our own choice: a member that was too slow rejoins with its next poll",
        cases=(
            "groups/cooperative-2.8 01:49:35.815 (brokers only)",
            "groups/slow-librdkafka-4.1 01:42:57.368 (brokers only)",
        ),
    ),
    Possible(
        Cause.MAX_POLL_EXCEEDED,
        "{who} left without a reason and came back {later} later: it did not poll {limit}, or it was closed and started"
        " again.{which}",
        proof=(poll_limit_is_known, came_back),
        source="KIP-62; AbstractCoordinator.java maybeLeaveGroup",
        cases=("groups/chain-2.8 01:47:22.862 (brokers only)", "groups/chain-2.8 01:47:33.471"),
    ),
    Possible(
        Cause.MEMBER_LEFT,
        "{who} left without a reason and came back {later} later: it was closed and started again, or it did not poll"
        " {limit}, whose value is not known.{which}",
        proof=(came_back,),
        source="KIP-62; AbstractCoordinator.java maybeLeaveGroup",
        cases=(
            "groups/slow-librdkafka-4.1 01:42:57.368 (brokers only)",
            "groups/chain-2.8 01:47:22.862 (brokers only)",
        ),
    ),
    Possible(
        Cause.MEMBER_LEFT,
        "{who} left without a reason, and {lookalike} joined {later} later: it was closed, or it did not poll {limit}."
        "{which}",
        proof=(one_like_it_came,),
        source="KIP-62; AbstractCoordinator.java maybeLeaveGroup",
        cases=("made: leaves, and one like it comes", "made: leaves long after its poll limit"),
    ),
)


def is_static(case: Case) -> Proof | None:
    """The member is static: it has a group.instance.id."""
    return proof_if(case.member.instance_id)


def had_closed(case: Case) -> Proof | None:
    """The member's own log shows before, and after it joined, that it closed its consumer or left on purpose."""
    return by_own_log(case, _since_it_joined(case, case.process.closings.last_until(case.at)))


def had_closed_for_a_while(case: Case) -> Proof | None:
    """The coordinator's line says before that the static member left for a while, which keeps its place."""
    closings = case.registry.closings.get(case.member.member_id)
    line = closings.last_until(case.at) if closings is not None else None
    return proof_of(line) if line is not None else None


def poll_had_expired(case: Case) -> Proof | None:
    """The member's own log shows before, and after it joined, that its poll timeout had expired."""
    return by_own_log(case, _since_it_joined(case, case.process.poll_expiries.last_until(case.at)))


def _since_it_joined(case: Case, line: Event | None) -> Event | None:
    """A line since the member joined: in a log without starts, an older one is its former self's."""
    joined = case.member.first_at
    return line if line is not None and (joined is None or line.happened_at >= joined) else None


def was_heard_again(case: Case) -> Proof | None:
    """The log of the same process has lines after its session expired."""
    later_lines = case.process.lines.after(case.at, most=2)
    if not later_lines:
        return None
    proof = proof_of(*case.process_identity, *later_lines, later=duration(later_lines[0].happened_at - case.at))
    return proof + Proof(facts={"heard_at": later_lines[0].happened_at})


def log_names_starts(case: Case) -> Proof | None:
    """The client's log shows each start of a process; librdkafka's does not."""
    return proof_if(case.process.has_starts)


def is_one_consumer(case: Case) -> Proof | None:
    """The log shows where a consumer begins, its next line reaches back before the expiry, or one names the member."""
    process = case.process
    first, later_lines = next(iter(process.lines), None), process.lines.after(case.at)
    naming = next((line for line in later_lines if line.member_id == case.member.member_id), None)
    shows_start = first is not None and first.kind == Kind.CLIENT_STARTED
    reaches_back = any(
        e.kind == Kind.CLIENT_SESSION_TIMEOUT and e.happened_at - timedelta(milliseconds=e.took_ms or 0) < case.at
        for e in later_lines[:1]
    )
    return proof_of(naming) if naming else proof_if(shows_start or reaches_back)


def new_process_started(case: Case) -> Proof | None:
    """The member's own log has no line after its session expired but those of a new process."""
    process = case.process
    last = next(reversed(process.lines.values), None)
    has_next = last is not None and process.next_start is not None
    return proof_of(*case.process_identity, last, process.next_start) if has_next else None


def same_process_came_back(case: Case) -> Proof | None:
    """It came back within 10 minutes under its member id, for a live process's reason, or to its own group."""
    if case.comeback is None:
        return None
    line = case.comeback_line
    reason = read_coordinator_reason(line.reason).client_reason if line and line.reason else None
    is_alive = read_client_reason(reason) == reasons.REMOVED_WHILE_ALIVE
    has_its_id = case.comeback.member.member_id == case.member.member_id
    return _heard_back(case) if is_alive or has_its_id or case.identity.is_of_one_process else None


def coordinator_was_away(case: Case) -> Proof | None:
    """The coordinator did not respond, or was down, until less than a minute before the session expired.

    It wrote the line itself, so that it was not down any more; one that was paused writes before it is back.
    """
    coordinator = case.episode.coordinator
    near = case.context.outages_of(coordinator).at(case.at, _RECOVERY)
    away = (a for a in near if a.start <= case.at and (a.value.kind == OutageKind.UNRESPONSIVE or _is_over(a, case.at)))
    if case.comeback is None or next(away, None) is None:
        return None
    back = came_back(case)  # a client id alone does not show that the same process was heard again
    return back and back + Proof(words={"broker": coordinator})


def _is_over(away: Interval[BrokerOutage], at: datetime) -> bool:
    return away.end is not None and away.end <= at + CLOCK_SKEW


def many_groups_expired_at_once(case: Case) -> Proof | None:
    """Its coordinator found sessions of three groups or more expired within half a second."""
    at_once = case.context.expiries_near(case.episode.coordinator, case.at)
    groups = {e.group_id for e in at_once}
    words = {
        "count": len({(e.group_id, expired_member(e)) for e in at_once}),
        "groups": len(groups),
        "broker": case.episode.coordinator,
    }
    return Proof(words=words) if len(groups) >= STALLED_GROUPS else None


def expired_member(event: Event) -> str | None:
    """The member whose session expired: named by the line, or in the coordinator's reason."""
    return event.member_id or next(iter(read_coordinator_reason(event.reason).members), None)


def coordinator_had_slept(case: Case) -> Proof | None:
    """A line of the coordinator within 5 s shows that it, or its host, had stood still for a minute or more."""
    broker = case.episode.coordinator
    stall = case.context.stall_near(broker, case.at)
    return None if stall is None else proof_of(stall, pause=duration(stall.took_ms or 0), broker=broker)


def one_came_back_at_once(case: Case) -> Proof | None:
    """It, or a member that may be the same, joined within 10 s: its next heartbeat shows a live member its removal."""
    first = case.comeback or case.lookalike_arrival
    is_at_once = first is not None and first.at - case.at <= BACK_AT_ONCE
    return (came_back(case) or one_like_it_came(case)) if is_at_once else None


def coordinator_stood_still(case: Case) -> Proof | None:
    """Half a second or more lies between the lines that the member has failed and that the rebalance begins.

    Source: one call writes both, and waits for nothing between (GroupCoordinator.scala onExpireHeartbeat).
    """
    failed = next((e for e in case.change.events if e.kind == Kind.MEMBER_FAILED), None) if case.change else None
    pause = case.episode.started_at - failed.happened_at if failed else timedelta(0)
    return proof_if(pause >= TIMER_DRIFT, pause=duration(pause), broker=case.episode.coordinator)


def its_process_ran(case: Case) -> Proof | None:
    """Its own log shows that its process ran while it was silent, and reached no broker or had no answer."""
    return ran_and_reached_no_broker(case) or asked_and_was_not_answered(case)


def never_sent_a_heartbeat(case: Case) -> Proof | None:
    """Its session ran out to the second since the assignment of the rebalance in which it first joined."""
    session, since, before = case.member.session_timeout_ms, _since_assignment(case), case.episode.previous
    if session is None or since is None or before is None or abs(since - session * MS) > TIMER_DRIFT:
        return None
    is_new = case.member.first_at is not None and case.member.first_at >= before.started_at - SAME_ACT
    return proof_of(*_assignment(case), since=duration(since)) if is_new else None


def _heard_back(case: Case) -> Proof:
    return (came_back(case) or Proof()) + Proof(facts={"heard_at": case.comeback.at if case.comeback else None})


def leaves_when_it_closes(case: Case) -> Proof | None:
    """Its close sends a request to leave, or under KIP-848 a last heartbeat: no static member, and not Kafka Streams.

    A member id begins with the instance id of a static member, else with the client id: a line that describes the
    member, the last assignment, or a client id that a library chose shows that it is not static.
    """
    client_id, last = case.member.client_id or "", next(iter(_assignment(case)), None)
    if Protocol(case.episode.protocol).has_epochs:
        return Proof()
    if case.member.instance_id or is_of_streams(client_id):
        return None
    if case.member.described_by is not None:
        return proof_of(case.member.described_by)
    return proof_of(last) if last and last.static_count == 0 else proof_if(is_default(client_id))


def may_close_silently(case: Case) -> Proof | None:
    """It may send no request to leave when it closes: it is static, a consumer of Kafka Streams, or may be static."""
    if leaves_when_it_closes(case):
        return None
    if case.member.instance_id:
        subject = "A static member"
    elif is_of_streams(case.member.client_id or ""):
        subject = "Kafka Streams"
    else:
        subject = "No line shows whether it is static, and a static member"
    return Proof(words={"habit": f"{subject} sends no LeaveGroup when it closes"})


def it_or_one_like_it_came(case: Case) -> Proof | None:
    """It, or a member that may be the same, joined within 10 minutes."""
    back, like = came_back(case), one_like_it_came(case)
    if back is not None:
        return back + Proof(words={"arrival": "came back"})
    return like and like + Proof(words={"arrival": f"{like.words['lookalike']} joined"})


def log_breaks_off(case: Case) -> Proof | None:
    """The member's own log, which names each start, has no line after its session expired."""
    process = case.process
    return by_own_log(case, *process.lines.values[-1:]) if process.has_starts else None


def logs_cover_the_return(case: Case) -> Proof | None:
    """The coordinator's log covers the 10 minutes without such a join, or names the same generation after them."""
    same_generation = _line_of_same_generation(case)
    is_covered = same_generation is not None or _covered_time(case) >= RETURN_WITHIN
    return proof_of(same_generation, coverage=duration(RETURN_WITHIN)) if is_covered else None


def _line_of_same_generation(case: Case) -> Event | None:
    """The line, 10 minutes later or more, that shows the group in the generation which this rebalance reached.

    A join raises the generation. Generations that went back meanwhile show nothing.
    """
    line = case.registry.generations.first_after(case.at + RETURN_WITHIN)
    is_same = line is not None and line.generation == case.episode.to_generation
    return line if line and is_same and not case.history.falls.between(case.at, line.happened_at) else None


def logs_end_first(case: Case) -> Proof | None:
    """No member that may be the same joined before the coordinator's log ends."""
    covered = min(_covered_time(case), RETURN_WITHIN)
    return Proof(
        words={"no_return": f" and did not come back within {duration(covered)}" if covered > SAME_ACT else ""}
    )


def _covered_time(case: Case) -> timedelta:
    return max(case.context.covered_until(case.episode.coordinator, case.at) - case.at, timedelta(0))


_EXPIRES = "GroupCoordinator.scala onExpireHeartbeat; GroupMetadataManager.java; KIP-848"
_KEEPS_ITS_PLACE = (
    "KIP-345; AbstractCoordinator.java close, maybeLeaveGroup; StreamsConfig.java internal.leave.group.on.close"
)

EXPIRY_RULINGS: tuple[Ruling[Case], ...] = (
    *REFUSED_EXPIRIES,
    Certain(
        Cause.MEMBER_LEFT,
        "{who} had closed its consumer, as its own log shows; a static member sends no LeaveGroup, and its"
        " session{session} ran out.",
        proof=(is_static, had_closed),
        source="KIP-345; AbstractCoordinator.java maybeLeaveGroup",
        cases=("groups/static-4.1 01:42:52.722", "groups/static-4.1 01:42:32.822"),
    ),
    Likely(
        Cause.MEMBER_LEFT,
        "{who} had closed its consumer, as its own log shows, and its session{session} ran out.",
        proof=(had_closed,),
        source="AbstractCoordinator.java maybeLeaveGroup: its LeaveGroup did not arrive",
        cases=("made: had closed when its session expired", "groups/static-4.1 01:42:52.722"),
    ),
    Likely(
        Cause.MEMBER_LEFT,
        "{who} had closed its consumer, which kept its place, as its coordinator's line shows, and its"
        " session{session} ran out before it came back.",
        proof=(had_closed_for_a_while,),
        source="KIP-848; GroupMetadataManager.java consumerGroupLeave: a static member leaves with epoch -2",
        cases=(
            "made: a static member of a group with epochs closes and stays away",
            "made: a static member of a group with epochs stays away",
        ),
    ),
    *BROKERS_REFUSALS,
    Likely(
        Cause.MAX_POLL_EXCEEDED,
        "{who} did not poll {limit}, stopped its heartbeats, and its session{session} ran out.",
        proof=(is_static, poll_had_expired),
        source="KIP-345; AbstractCoordinator.java HeartbeatThread",
        cases=("made: static and too slow", "groups/static-4.1 01:42:32.822"),
    ),
    Certain(
        Cause.HEARTBEAT_EXPIRED,
        "{who} was not heard within its session{session}, and the same process was heard again {later} later.",
        proof=(log_names_starts, was_heard_again),
        source=f"{_EXPIRES}; KIP-735",
        cases=("groups/pause-4.1 01:41:13.807", "groups/storm-2.8 01:48:17.257"),
    ),
    Likely(
        Cause.HEARTBEAT_EXPIRED,
        "{who} was not heard within its session{session}, and its log goes on {later} later.",
        proof=(was_heard_again, is_one_consumer),
        source=f"{_EXPIRES}; rdkafka_cgrp.c rd_kafka_cgrp_session_timeout_check",
        cases=("groups/librdkafka-python-4.3 15:20:45.038", "groups/librdkafka-python-4.3 15:21:36.315"),
    ),
    Likely(
        Cause.MEMBER_DEAD,
        "{who} fell silent without a close, its session{session} ran out, and a new process of it started.",
        proof=(new_process_started,),
        source=_EXPIRES,
        cases=("made: a new process started", "groups/storm-2.8 01:48:17.257"),
    ),
    Likely(
        Cause.HEARTBEAT_EXPIRED,
        "{who} was not heard within its session{session} while broker {broker}, its coordinator, was away; it came back"
        " {later} later.",
        proof=(coordinator_was_away,),
        source=f"{_EXPIRES}; a coordinator that was away finds sessions expired when it resumes",
        cases=("made: its coordinator was away", "groups/pause-4.1 01:41:13.807 (brokers only)"),
    ),
    Likely(
        Cause.HOST_STALLED,
        "{who} was not heard within its session{session}. Broker {broker} found {count} sessions of {groups} groups"
        " expired at once, as after a stall of the broker or its host. The member joined again {later} later.",
        proof=(many_groups_expired_at_once, one_came_back_at_once),
        source=f"{_EXPIRES}; SystemTimer.advanceClock",
        cases=(
            "made: expires with members of two other groups, and is back",
            "made: expires with members of two other groups",
        ),
    ),
    Likely(
        Cause.HOST_STALLED,
        "{who} was not heard within its session{session}: broker {broker}, its coordinator, or their host had stood"
        " still for {pause}. The member joined again {later} later.",
        proof=(coordinator_had_slept, one_came_back_at_once),
        source=f"{_EXPIRES}; SystemTimer.advanceClock: a process that goes on finds overdue timers expired",
        cases=("made: expires as its coordinator wakes up, and is back", "made: expires as its coordinator wakes up"),
    ),
    Likely(
        Cause.HEARTBEAT_EXPIRED,
        "{who} was not heard within its session{session}; the same process came back {later} later.",
        proof=(same_process_came_back,),
        source=f"{_EXPIRES}; KIP-800",
        cases=("made: comes back as itself", "groups/pause-4.1 01:41:13.807 (brokers only)"),
    ),
    Likely(
        Cause.HEARTBEAT_EXPIRED,
        "{who} was not heard within its session{session} while broker {broker}, its coordinator, or their host stood"
        " still: {pause} lie between two lines of one call. It joined again {later} later.",
        proof=(coordinator_stood_still, one_came_back_at_once),
        source=_EXPIRES,
        cases=(
            "made: expires as the coordinator stands still, and is back",
            "made: expires as the coordinator stands still",
        ),
    ),
    Likely(
        Cause.HEARTBEAT_EXPIRED,
        "{who} was not heard within its session{session}, and its own log shows that its process ran meanwhile.",
        proof=(its_process_ran,),
        source=f"{_EXPIRES}; a process that cannot reach a broker says so",
        cases=("groups/silent-librdkafka-4.4 13:20:38.797", "groups/silent-librdkafka-4.3 12:52:06.135"),
    ),
    Likely(
        Cause.MEMBER_DEAD,
        "{who} joined and never sent a heartbeat: its session{session} ran out {since} after its assignment. Its"
        " process ended as soon as it had joined.",
        proof=(leaves_when_it_closes, never_sent_a_heartbeat),
        source=f"{_EXPIRES}; a heartbeat follows the assignment after heartbeat.interval.ms",
        cases=("made: never sends a heartbeat", "groups/pause-4.1 01:41:13.807 (brokers only)"),
    ),
    Possible(
        Cause.HEARTBEAT_EXPIRED,
        "{who} was not heard within its session{session} and came back {later} later: it was paused or cut off, or its"
        " process died and was started again.{which}",
        proof=(leaves_when_it_closes, came_back),
        source=_EXPIRES,
        cases=("groups/pause-4.1 01:41:13.807 (brokers only)", "groups/static-4.1 01:42:32.822 (brokers only)"),
    ),
    Likely(
        Cause.MEMBER_DEAD,
        "{who} was not heard within its session{session}; its own log breaks off without a close.",
        proof=(log_breaks_off,),
        source=_EXPIRES,
        cases=("groups/storm-2.8 01:48:17.257", "groups/pause-4.1 01:41:13.807"),
    ),
    Possible(
        Cause.HEARTBEAT_EXPIRED,
        "{who} was not heard within its session{session}, and {lookalike} joined {later} later: it was paused or cut"
        " off, or its process died.{which}",
        proof=(leaves_when_it_closes, one_like_it_came),
        source=_EXPIRES,
        cases=("made: expires, and one like it comes", "groups/pause-4.1 01:41:13.807 (brokers only)"),
    ),
    Possible(
        Cause.MEMBER_DEAD,
        "{who} was not heard within its session{session} and is not seen again. Broker {broker}, its coordinator, or"
        " their host had stood still for {pause}: the member died, or it was not heard.",
        proof=(leaves_when_it_closes, coordinator_had_slept),
        source=f"{_EXPIRES}; SystemTimer.advanceClock",
        cases=("made: expires as its coordinator wakes up", "made: expires as its coordinator wakes up, and is back"),
    ),
    Possible(
        Cause.MEMBER_DEAD,
        "{who} was not heard within its session{session} and did not come back. Broker {broker} found {count} sessions"
        " of {groups} groups expired at once: the members died together, or the broker or its host had stalled.",
        proof=(leaves_when_it_closes, many_groups_expired_at_once),
        source=f"{_EXPIRES}; SystemTimer.advanceClock",
        cases=(
            "made: expires with members of two other groups",
            "made: expires with members of two other groups, and is back",
        ),
    ),
    Likely(
        Cause.MEMBER_DEAD,
        "{who} was not heard within its session{session} and did not come back within {coverage}: its process was"
        " gone.",
        proof=(leaves_when_it_closes, logs_cover_the_return),
        source=f"{_EXPIRES}; the 10 minutes are our own choice",
        cases=("night-4.1/ledger-pyk-2 01:41:37.591 (brokers only)", "groups/static-4.1 01:42:32.822 (brokers only)"),
    ),
    Possible(
        Cause.MEMBER_DEAD,
        "{who} was not heard within its session{session}{no_return}: its process was gone, or it was still cut off when"
        " the logs ended.",
        proof=(leaves_when_it_closes, logs_end_first),
        source=_EXPIRES,
        cases=("groups/storm-2.8 01:48:17.257 (brokers only)", "groups/removed-3.9 12:40:14.081 (brokers only)"),
    ),
    Possible(
        Cause.SESSION_ENDED,
        "{who} was not heard within its session{session}, and {arrival} {later} later. {habit}: it was closed and"
        " started again, or else it was paused or cut off, or it died.{which}",
        proof=(may_close_silently, it_or_one_like_it_came),
        source=_KEEPS_ITS_PLACE,
        cases=("made: a thread of Kafka Streams expires and is back", "made: expires, and one like it comes"),
    ),
    Possible(
        Cause.SESSION_ENDED,
        "{who} was not heard within its session{session}{no_return}. {habit}: it was closed, or else it died or was cut"
        " off.{which}",
        proof=(may_close_silently, logs_end_first),
        source=_KEEPS_ITS_PLACE,
        cases=("groups/static-4.1 01:42:32.822 (brokers only)", "groups/static-4.1 01:42:32.822"),
    ),
)
