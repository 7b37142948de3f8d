"""Why a member's session expired.

The coordinator sees the same silence in a close without LeaveGroup, a pause, a cut network and a crash. Only the
member's own log, or who comes back, separates them.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.reasoning.rulings import CERTAIN, LIKELY, POSSIBLE, Proof, Ruling, proof_if
from kafka_hindsight.judgements.rebalances.case import Case, by_own_log, shown
from kafka_hindsight.judgements.rebalances.leave_rulings import came_back
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.reasons import REMOVED_WHILE_ALIVE, read_client_reason, read_coordinator_reason
from kafka_hindsight.shared.durations import RETURN_WITHIN
from kafka_hindsight.shared.words import duration

_RECOVERY = timedelta(minutes=1)
"""How long after its coordinator's return a member may still be removed for its silence."""


def is_static(case: Case) -> Proof | None:
    """The member is static: it has a group.instance.id."""
    return proof_if(case.member.instance_id)


def had_closed(case: Case) -> Proof | None:
    """The member's own log shows before, and after it joined, that it closed its consumer or left on purpose."""
    return by_own_log(case, _since_it_joined(case, case.log.process.closings.last_until(case.at)))


def poll_had_expired(case: Case) -> Proof | None:
    """The member's own log shows before, and after it joined, that its poll timeout had expired."""
    return by_own_log(case, _since_it_joined(case, case.log.process.poll_expiries.last_until(case.at)))


def _since_it_joined(case: Case, line: Event | None) -> Event | None:
    """A line since the member joined: where a log shows no starts, an older one is its former self's."""
    joined = case.member.first_at
    return line if line is not None and (joined is None or line.happened_at >= joined) else None


def was_heard_again(case: Case) -> Proof | None:
    """The log of the same process has lines after its session expired."""
    heard = case.log.process.lines.after(case.at, most=2)
    if not heard:
        return None
    found = shown(*case.log.identity, *heard, later=duration(heard[0].happened_at - case.at))
    return found + Proof(facts={"heard_at": heard[0].happened_at})


def log_names_starts(case: Case) -> Proof | None:
    """The client's log shows each start of a process; librdkafka's does not."""
    return proof_if(case.log.process.has_starts)


def is_one_consumer(case: Case) -> Proof | None:
    """The log shows where a consumer begins, its next line reaches back before the expiry, or one names the member."""
    process = case.log.process
    begun, heard = next(iter(process.lines), None), process.lines.after(case.at)
    named = next((line for line in heard if line.member_id == case.member.member_id), None)
    shows_start = begun is not None and begun.kind == Kind.CLIENT_STARTED
    return shown(named) if named else proof_if(shows_start or any(map(partial(_reaches_back, case), heard[:1])))


def _reaches_back(case: Case, line: Event) -> bool:
    """Whether a line says that the client had waited for a response since before its session expired."""
    waited = timedelta(milliseconds=line.took_ms or 0)
    return line.kind == Kind.CLIENT_SESSION_TIMEOUT and line.happened_at - waited < case.at


def new_process_started(case: Case) -> Proof | None:
    """The member's own log has no line after its session expired but those of a new process."""
    process = case.log.process
    last = next(reversed(process.lines.values), None)
    has_next = last is not None and process.next_start is not None
    return shown(*case.log.identity, last, process.next_start) if has_next else None


def same_process_came_back(case: Case) -> Proof | None:
    """The client came back within 10 minutes under its member id, or with a reason that only a live process has."""
    if case.back is None:
        return None
    line = case.back_line
    reason = read_coordinator_reason(line.reason).client_reason if line and line.reason else None
    is_same = case.back[0].member_id == case.member.member_id or read_client_reason(reason) == REMOVED_WHILE_ALIVE
    return _heard_back(case) if is_same else None


def coordinator_was_away(case: Case) -> Proof | None:
    """The coordinator was away when the session expired, or had come back less than a minute before."""
    coordinator = case.episode.coordinator
    around = case.context.outages_of(coordinator).at(case.at, _RECOVERY)
    if case.back is None or not any(away.start <= case.at for away in around):
        return None
    return _heard_back(case) + Proof(words={"broker": coordinator})


def _heard_back(case: Case) -> Proof:
    return (came_back(case) or Proof()) + Proof(facts={"heard_at": case.back[1] if case.back else None})


def log_breaks_off(case: Case) -> Proof | None:
    """The member's own log, which shows starts, has no line after its session expired."""
    process = case.log.process
    return by_own_log(case, *process.lines.values[-1:]) if process.has_starts else None


def logs_cover_the_return(case: Case) -> Proof | None:
    """The brokers' logs cover the 10 minutes within which the client did not join again."""
    is_covered = case.context.observed_to - case.at >= RETURN_WITHIN
    return Proof(words={"watched": duration(RETURN_WITHIN)}) if is_covered else None


def logs_end_first(case: Case) -> Proof | None:
    """The client did not join again before the brokers' logs end."""
    return Proof(words={"watched": duration(min(case.context.observed_to - case.at, RETURN_WITHIN))})


_EXPIRES = "GroupCoordinator.scala onExpireHeartbeat; GroupMetadataManager.java; KIP-848"

# fmt: off
EXPIRY_RULINGS: Sequence[Ruling[Case]] = (
    Ruling(Cause.MEMBER_LEFT, CERTAIN, "{who} had closed its consumer, as its own log shows; a static member sends no"
           " LeaveGroup, and its session{session} ran out.",
           proof=(is_static, had_closed), source="KIP-345; AbstractCoordinator.java maybeLeaveGroup",
           decides="groups/static-4.1 01:42:52.722", looks_alike="groups/static-4.1 01:42:32.822"),
    Ruling(Cause.MEMBER_LEFT, LIKELY, "{who} had closed its consumer, as its own log shows, and its session{session}"
           " ran out.",
           proof=(had_closed,), source="AbstractCoordinator.java maybeLeaveGroup: its LeaveGroup did not arrive",
           decides="made: had closed when its session expired", looks_alike="groups/static-4.1 01:42:52.722"),
    Ruling(Cause.MAX_POLL_EXCEEDED, LIKELY, "{who} did not poll {limit}, stopped its heartbeats, and its"
           " session{session} ran out.",
           proof=(is_static, poll_had_expired), source="KIP-345; AbstractCoordinator.java HeartbeatThread",
           decides="made: static and too slow", looks_alike="groups/static-4.1 01:42:32.822"),
    Ruling(Cause.HEARTBEAT_EXPIRED, CERTAIN, "{who} was not heard within its session{session}, and the same process"
           " was heard again {later} later.",
           proof=(log_names_starts, was_heard_again), source=f"{_EXPIRES}; KIP-735",
           decides="groups/pause-4.1 01:41:13.807", looks_alike="groups/storm-2.8 01:48:17.257"),
    Ruling(Cause.HEARTBEAT_EXPIRED, LIKELY, "{who} was not heard within its session{session}, and its log goes on"
           " {later} later.",
           proof=(was_heard_again, is_one_consumer),
           source=f"{_EXPIRES}; rdkafka_cgrp.c rd_kafka_cgrp_session_timeout_check",
           decides="groups/librdkafka-python-4.3 15:20:45.038",
           looks_alike="groups/librdkafka-python-4.3 15:21:36.315"),
    Ruling(Cause.MEMBER_DEAD, LIKELY, "{who} fell silent without a close, its session{session} ran out, and a new"
           " process of it started.",
           proof=(new_process_started,), source=_EXPIRES,
           decides="made: a new process started", looks_alike="groups/storm-2.8 01:48:17.257"),
    Ruling(Cause.HEARTBEAT_EXPIRED, LIKELY, "{who} was not heard within its session{session}; the same process came"
           " back {later} later.",
           proof=(same_process_came_back,), source=f"{_EXPIRES}; KIP-800",
           decides="made: comes back as itself", looks_alike="groups/pause-4.1 01:41:13.807 (brokers only)"),
    Ruling(Cause.HEARTBEAT_EXPIRED, LIKELY, "{who} was not heard within its session{session} while broker {broker},"
           " its coordinator, was away; it came back {later} later.",
           proof=(coordinator_was_away,),
           source=f"{_EXPIRES}; a coordinator that was away finds sessions expired when it resumes",
           decides="made: its coordinator was away", looks_alike="groups/pause-4.1 01:41:13.807 (brokers only)"),
    Ruling(Cause.HEARTBEAT_EXPIRED, POSSIBLE, "{who} was not heard within its session{session} and came back {later}"
           " later: it was paused or cut off, or its process died and was started again. Its own log would show"
           " which.",
           proof=(came_back,), source=_EXPIRES,
           decides="groups/pause-4.1 01:41:13.807 (brokers only)",
           looks_alike="groups/static-4.1 01:42:32.822 (brokers only)"),
    Ruling(Cause.MEMBER_DEAD, LIKELY, "{who} was not heard within its session{session}; its own log breaks off"
           " without a close.",
           proof=(log_breaks_off,), source=_EXPIRES,
           decides="groups/storm-2.8 01:48:17.257", looks_alike="groups/pause-4.1 01:41:13.807"),
    Ruling(Cause.MEMBER_DEAD, LIKELY, "{who} was not heard within its session{session} and did not come back within"
           " {watched}: its process was gone.",
           proof=(logs_cover_the_return,), source=f"{_EXPIRES}; the 10 minutes are our own choice",
           decides="groups/static-4.1 01:42:32.822 (brokers only)",
           looks_alike="groups/pause-4.1 01:41:13.807 (brokers only)"),
    Ruling(Cause.MEMBER_DEAD, POSSIBLE, "{who} was not heard within its session{session} and did not come back within"
           " {watched}: its process was gone, or it was still cut off when the logs ended.",
           proof=(logs_end_first,), source=_EXPIRES,
           decides="groups/removed-3.9 12:40:14.081 (brokers only)",
           looks_alike="groups/static-4.1 01:42:32.822 (brokers only)"),
)
# fmt: on
