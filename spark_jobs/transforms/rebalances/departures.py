"""Why a member went: it closed, it was too slow, its process was paused, cut off or dead.

The coordinator sees the same silence in a pause, a cut and a crash, and the same LeaveGroup in a close and, for
clients that send no reason, in an exceeded poll limit. Only other witnesses tell them apart.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from spark_jobs.knowledge.reasons import (
    CLOSED,
    FREE_TEXT,
    POLL_EXPIRED,
    REMOVED_BY_ADMIN,
    REMOVED_WHILE_ALIVE,
    UNSUBSCRIBED,
    read_client_reason,
    read_coordinator_reason,
)
from spark_jobs.transforms.rebalances.members import Member, MemberRegistry
from spark_jobs.transforms.rebalances.model import Act, BrokerAbsence, Episode, Event, GroupContext, Verdict
from spark_jobs.transforms.rebalances.witness import ProcessLog, closing_lines, process_log
from spark_jobs.transforms.rebalances.wording import subject, took

RETURN_WITHIN = timedelta(minutes=10)
"""A client that is not back by then counts as gone, and was not restarted (docs/design.md section 5, member_dead)."""

_NEAR = timedelta(seconds=5)


def judge_leave(act: Act, episode: Episode, directory: MemberRegistry, context: GroupContext) -> Verdict:
    """Why a member left by LeaveGroup, or by a last heartbeat under KIP-848.

    Source: a client that leaves names its member id, and a static one does not leave at all; an administrator names
    a static member by its instance id alone (KIP-345, Admin.removeMembersFromConsumerGroup).
    """
    member = directory.get(act.member_id, act.instance_id)
    who = subject(member)
    said = read_client_reason(act.client_reason)
    log = process_log(directory, member, act.at)
    if said == POLL_EXPIRED:
        return Verdict(
            "max_poll_exceeded", "certain", f"{who} did not poll {_limit(member)} and left, as it told the coordinator."
        )
    if said in (CLOSED, UNSUBSCRIBED):
        what = "closed" if said == CLOSED else "unsubscribed"
        return Verdict("member_left", "certain", f"{who} {what} its consumer, as it told the coordinator.")
    if said == REMOVED_BY_ADMIN or act.is_by_instance:
        sure = "certain" if said == REMOVED_BY_ADMIN else "likely"
        return Verdict("removed_by_admin", sure, f"{who} was removed by an administrator.")
    if said == FREE_TEXT:
        return Verdict(
            "removed_by_admin",
            "possible",
            f"{who} left for a reason that no client writes by itself: an administrator's words, or its own.",
        )
    return _judge_silent_leave(act, episode, directory, member, log)


def _judge_silent_leave(
    act: Act, episode: Episode, directory: MemberRegistry, member: Member, log: ProcessLog
) -> Verdict:
    who = subject(member)
    expired = log.near(act.at, _NEAR, _NEAR, "client_poll_expired")
    if expired:
        return Verdict(
            "max_poll_exceeded",
            "certain",
            f"{who} did not poll {_limit(member)} and left, as its own log says.",
            (*log.identity, *expired),
        )
    closing = [e for e in closing_lines(log, act.at + _NEAR) if e["happened_at"] >= act.at - _NEAR]
    if closing:
        said_so = (*log.identity, *closing[:2])
        return Verdict("member_left", "certain", f"{who} closed its consumer, as its own log says.", said_so)
    surprised = [e for e in log.after(act.at) if _is_news_to(member, e)]
    if surprised:
        return Verdict(
            "removed_by_admin",
            "likely",
            f"{who} did not leave by itself: it went on, and learnt from a refused heartbeat that it was no member any"
            " more. An administrator removed it.",
            (*log.identity, surprised[0]),
        )
    back = directory.later(member, act.at, RETURN_WITHIN)
    if episode.protocol == "consumer" and back is not None and back[0].member_id == member.member_id:
        return Verdict(
            "max_poll_exceeded",
            "likely",
            f"{who} left and came back under the same member id {took(back[1] - act.at)} later, as no close does:"
            f" it did not poll {_limit(member)}, or it unsubscribed and subscribed again.",
            _lines(directory.arrival(back[0].member_id, back[1])),
        )
    limit = member.rebalance_timeout_ms
    joined = _joined_last(act, episode, directory, member)
    limited = () if member.limited_by is None else (member.limited_by,)
    if limit is not None and joined is not None and act.at - joined[0] < timedelta(milliseconds=limit):
        return Verdict(
            "member_left",
            "likely",
            f"{who} left {took(act.at - joined[0])} after it had last joined: its poll limit of {took(limit)} had not"
            " run out, so it was closed.",
            (joined[1], *limited),
        )
    if back is None:
        return Verdict("member_left", "likely", f"{who} left without a reason and did not come back: it was closed.")
    return Verdict(
        "max_poll_exceeded" if limit is not None else "member_left",
        "possible",
        f"{who} left without a reason and came back {took(back[1] - act.at)} later: it did not poll {_limit(member)},"
        " or it was closed and started again; its own log would tell.",
        (*limited, *_lines(directory.arrival(back[0].member_id, back[1]))),
    )


def _is_news_to(member: Member, line: Event) -> bool:
    """Whether the member learns from this line of its log that it is no member any more.

    Source: a consumer that leaves forgets its member id first, and takes a refused heartbeat of the former one for
    stale (AbstractCoordinator.maybeLeaveGroup, HeartbeatResponseHandler).
    """
    is_refused = line["kind"] == "client_heartbeat_refused" and line["error"] == "UNKNOWN_MEMBER_ID"
    return bool(is_refused and line["member_id"] == member.member_id and line["detail"] == "resetting generation")


def _joined_last(
    act: Act, episode: Episode, directory: MemberRegistry, member: Member
) -> tuple[datetime, Event] | None:
    """No later than the member's last poll: it polls when it joins, and every finished join phase was joined by all.

    None for KIP-848, whose members rejoin nothing.
    """
    if episode.protocol != "classic":
        return None
    before = episode.previous
    rejoined = before.events[0] if before and before.joined_at and not before.lacks_start else None
    arrived = directory.joined_last(member.member_id, act.at)
    return max(
        ((e["happened_at"], e) for e in (rejoined, arrived) if e is not None), default=None, key=lambda found: found[0]
    )


def judge_expiry(act: Act, episode: Episode, directory: MemberRegistry, context: GroupContext) -> Verdict:
    """Why a member's session ran out."""
    member = directory.get(act.member_id, act.instance_id)
    who, session = subject(member), _session(member)
    log = process_log(directory, member, act.at)
    closing = closing_lines(log, act.at)
    if closing:
        sure = "certain" if member.instance_id else "likely"
        return Verdict(
            "member_left",
            sure,
            f"{who} had closed its consumer, as its own log says, and its session{session} ran out.",
            (*log.identity, closing[-1]),
        )
    stuck = [e for e in log.of_kind("client_poll_expired") if e["happened_at"] <= act.at]
    if stuck and member.instance_id:
        return Verdict(
            "max_poll_exceeded",
            "certain",
            f"{who} did not poll {_limit(member)}, stopped its heartbeats, and its session{session} ran out.",
            (*log.identity, stuck[-1]),
        )
    heard = log.after(act.at)
    if heard:
        return Verdict(
            "heartbeat_expired",
            "certain" if log.has_starts else "likely",
            f"{who} was not heard within its session{session}, and the same process spoke again"
            f" {took(heard[0]['happened_at'] - act.at)} later.",
            (*log.identity, *heard[:2]),
            heard[0]["happened_at"],
        )
    return _judge_gone(act, episode, directory, context, member, log)


def _judge_gone(
    act: Act, episode: Episode, directory: MemberRegistry, context: GroupContext, member: Member, log: ProcessLog
) -> Verdict:
    who, session = subject(member), _session(member)
    if log.exists and log.next_start is not None:
        return Verdict(
            "member_dead",
            "likely",
            f"{who} fell silent without a close, its session{session} ran out, and a new process of it started.",
            (*log.identity, log.lines[-1], log.next_start),
        )
    back = directory.later(member, act.at, RETURN_WITHIN)
    if back is not None:
        return _judge_return(act, episode, context, member, back, directory)
    watched = context.observed_to - act.at
    if log.exists and log.has_starts:
        return Verdict(
            "member_dead",
            "likely",
            f"{who} was not heard within its session{session}; its own log breaks off without a close.",
            (*log.identity, log.lines[-1]),
        )
    return Verdict(
        "member_dead",
        "likely" if watched >= RETURN_WITHIN else "possible",
        f"{who} was not heard within its session{session} and did not come back within"
        f" {took(min(watched, RETURN_WITHIN))}: its process was gone"
        + ("." if watched >= RETURN_WITHIN else ", or it was still cut off when the logs ended."),
    )


def _judge_return(
    act: Act,
    episode: Episode,
    context: GroupContext,
    member: Member,
    back: tuple[Member, datetime],
    directory: MemberRegistry,
) -> Verdict:
    who, session = subject(member), _session(member)
    later = took(back[1] - act.at)
    line = directory.arrival(back[0].member_id, back[1])
    reason = read_coordinator_reason(line["reason"]).client_reason if line and line["reason"] else None
    if read_client_reason(reason) == REMOVED_WHILE_ALIVE or back[0].member_id == member.member_id:
        return Verdict(
            "heartbeat_expired",
            "certain",
            f"{who} was not heard within its session{session}; the same process came back {later} later.",
            _lines(line),
            back[1],
        )
    away = next((a for a in context.absences if a.broker == episode.coordinator and _just_back(a, act.at)), None)
    if away is not None:
        return Verdict(
            "heartbeat_expired",
            "likely",
            f"{who} was not heard within its session{session} while broker {away.broker}, its coordinator, was away;"
            f" it came back {later} later.",
            _lines(line),
            back[1],
        )
    return Verdict(
        "heartbeat_expired",
        "possible",
        f"{who} was not heard within its session{session} and came back {later} later: it was paused or cut off,"
        " or its process died and was started again; its own log would tell.",
        _lines(line),
    )


def _just_back(absence: BrokerAbsence, at: datetime) -> bool:
    return absence.down_at <= at and (absence.up_at is None or at <= absence.up_at + timedelta(minutes=1))


def _lines(line: Event | None) -> tuple[Event, ...]:
    return () if line is None else (line,)


def _limit(member: Member) -> str:
    limit = member.rebalance_timeout_ms
    return f"within max.poll.interval.ms ({took(limit)})" if limit else "within max.poll.interval.ms"


def _session(member: Member) -> str:
    return f" of {took(member.session_timeout_ms)}" if member.session_timeout_ms else ""
