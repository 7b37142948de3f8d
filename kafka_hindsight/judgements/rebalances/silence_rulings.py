"""The silence of a member whose process lived: the network, a pause, a slow handler, or its coordinator.

The coordinator sees the same in all of them. The member's own log shows which, where it has a line that a process in
one of them would have written and a process in the others would not: a healthy consumer writes nothing for hours, so
that a hole in its log alone shows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Cause, Protocol, Silence
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.reasoning.proofs import Proof, always
from kafka_hindsight.judgements.reasoning.rulings import Likely, Possible, Ruling, Unknown, Verdict, verdict_of
from kafka_hindsight.judgements.rebalances.case import Case, by_own_log, proof_of
from kafka_hindsight.knowledge.session_timers import LEAST_SESSION_MS, NO_ANSWER, SAYS_AT_ONCE
from kafka_hindsight.shared.durations import CLOCK_SKEW, MS, NEVER, SAME_ACT
from kafka_hindsight.shared.words import duration

_TROUBLES = (
    Kind.CLIENT_DISCONNECTED,
    Kind.CLIENT_CONNECT_FAILED,
    Kind.CLIENT_COORDINATOR_LOST,
    Kind.CLIENT_SESSION_TIMEOUT,
)
"""The lines of a process that cannot reach a broker."""

_SUCCESSES = (
    Kind.CLIENT_COORDINATOR_FOUND,
    Kind.CLIENT_HEARTBEAT_REFUSED,
    Kind.CLIENT_HEARTBEAT_ERROR,
    Kind.CLIENT_JOINED,
    Kind.CLIENT_SYNCED,
)
"""The lines of a process that has reached its coordinator. Only those of a found one come as soon as it can be reached:
a join waits for other members."""

_LATE = CLOCK_SKEW + SAME_ACT
"""What a process does this much later than it is due it did not do on time, whichever clock is off."""

_SOON = timedelta(minutes=1)
"""How long a process that stays cut off may take to say so again. Our choice: a request waits for 30 s by default."""

_RECOVERY = timedelta(minutes=1)
"""How long after its coordinator's return a member may still be removed for its silence."""

_LONGEST = timedelta(minutes=10)
"""How long after the end of a session a line of the process still shows what silenced it. Our choice."""

_TIME_OUT = re.compile(r"request timeout: (\d+)ms")


def _silent_from(case: Case) -> datetime:
    """The instant from which on a line shows that the process ran while its coordinator heard nothing of it.

    A session that no line shows lasted at least as long as the shortest that brokers allow by default.
    """
    return case.at - (_session(case) or LEAST_SESSION_MS * MS) + CLOCK_SKEW


def _session(case: Case) -> timedelta | None:
    """The member's session; None where no line shows it. Where the coordinator assigns, it is a setting of brokers."""
    session = case.member.session_timeout_ms
    return None if session is None or Protocol(case.episode.protocol).has_epochs else session * MS


def _lines(case: Case, kinds: Sequence[Kind], since: datetime, until: datetime) -> list[Event]:
    """The lines of the member's process of these kinds, in order."""
    lines = [e for kind in kinds for e in case.process.of_kind(kind).between(since, until)]
    return sorted(lines, key=lambda e: e.happened_at)


def coordinator_did_not_serve(case: Case) -> Proof | None:
    """Its coordinator was away or unresponsive until less than a minute before, or it or its host had stood still."""
    broker = case.episode.coordinator
    outage = next((i.value for i in case.context.outages_of(broker).at(case.at, _RECOVERY) if i.start <= case.at), None)
    if outage is not None:
        return Proof(tuple(outage.evidence[:1]), {"broker": broker})
    stall = case.context.stall_near(broker, case.at)
    return None if stall is None else proof_of(stall, broker=broker)


def ran_and_reached_no_broker(case: Case) -> Proof | None:
    """Its own log shows a lost connection while it was silent, or for 2 s or more until it found its coordinator.

    A process that only stood still finds its coordinator at once when it goes on.
    """
    first = next(iter(_lines(case, _TROUBLES, _silent_from(case), case.at + _SOON)), None)
    if first is None:
        return None
    if first.happened_at < case.at - CLOCK_SKEW:
        return by_own_log(case, first)
    later = _lines(case, (*_TROUBLES, *_SUCCESSES), first.happened_at + timedelta.resolution, first.happened_at + _SOON)
    until = next((e.happened_at for e in later if e.kind in _SUCCESSES), NEVER)
    shows_time = (e for e in later if e.kind in (*_TROUBLES, Kind.CLIENT_COORDINATOR_FOUND) and e.happened_at <= until)
    still = next((e for e in shows_time if e.happened_at >= first.happened_at + CLOCK_SKEW), None)
    return by_own_log(case, first, still) if still else None


def asked_and_was_not_answered(case: Case) -> Proof | None:
    """Its own log shows a request without an answer that it sent while it was silent, or that timed out on time."""
    since = _silent_from(case)
    for line, sent_at, late in _unanswered(case):
        was_sent_meanwhile = since < sent_at < case.at - SAME_ACT
        timed_out = late is not None and -SAME_ACT <= late <= CLOCK_SKEW and sent_at < case.at
        if was_sent_meanwhile or timed_out:
            return by_own_log(case, line)
    return None


def _unanswered(case: Case) -> Iterator[tuple[Event, datetime, timedelta | None]]:
    """The requests that the process gave up once its session was over, or up to 2 s before.

    With each come the instant at which it was sent and, where the line shows that, how much later than its time-out it
    was given up: negative where it had not timed out.
    """
    for line in case.process.of_kind(Kind.CLIENT_REQUEST_CANCELLED).between(case.at - CLOCK_SKEW, case.at + _LONGEST):
        took, limit = (line.took_ms or 0) * MS, _TIME_OUT.search(line.reason or "")
        yield line, line.happened_at - took, took - int(limit[1]) * MS if limit else None


def request_timed_out_late(case: Case) -> Proof | None:
    """Its own log shows that a request which it had sent before timed out 3 s or more late."""
    for line, sent_at, late in _unanswered(case):
        if late is not None and late >= _LATE and sent_at < case.at < line.happened_at:
            return _proof_of_delay(case, line, late)
    return None


def session_ended_late(case: Case) -> Proof | None:
    """Its own log says 3 s or more late that its session was over, which its client says at once, and nothing before.

    Late is by the client's own measure, where the line has it, or by the coordinator's clock.
    """
    since, session = _silent_from(case), _session(case)
    first = next(iter(case.process.lines.between(since, case.at + _LONGEST)), None)
    timers = _lines(case, (Kind.CLIENT_SESSION_TIMEOUT, Kind.CLIENT_COORDINATOR_LOST), since, case.at + _LONGEST)
    line = next((e for e in timers if _says_that_it_is_over(case, e)), None)
    if first is None or line is None or line.happened_at - first.happened_at > SAME_ACT:
        return None
    by_its_clock = line.took_ms * MS - session if line.took_ms and session else timedelta()
    late = max(line.happened_at - case.at, by_its_clock)
    return _proof_of_delay(case, line, late) if late >= _LATE else None


def _proof_of_delay(case: Case, line: Event, late: timedelta) -> Proof | None:
    proof = by_own_log(case, line)
    return proof and proof + Proof(words={"late": duration(late)})


def _says_that_it_is_over(case: Case, line: Event) -> bool:
    """Whether a line says that a session is over, and its client says so at once; under KIP-848 Java's does not."""
    if line.pattern_id not in SAYS_AT_ONCE:
        return False
    is_timer = line.kind == Kind.CLIENT_SESSION_TIMEOUT or (line.reason or NO_ANSWER).startswith(NO_ANSWER)
    return is_timer and case.episode.protocol == Protocol.CLASSIC


def sent_heartbeats_meanwhile(case: Case) -> Proof | None:
    """Its session is shorter than its poll limit: without heartbeats the coordinator would have removed it before."""
    session, limit = _session(case), case.member.rebalance_timeout_ms
    if session is None or limit is None or session >= limit * MS:
        return None
    return proof_of(case.member.limited_by, session_length=duration(session), poll_limit=duration(limit))


_OWN_LOG = "NetworkClient.java; AbstractCoordinator.java HeartbeatThread; rdkafka_broker.c; rdkafka_cgrp.c"

SESSION_SILENCES: tuple[Ruling[Case], ...] = (
    Likely(
        Silence.COORDINATOR,
        "Broker {broker}, its coordinator, or their host had not served meanwhile: it need not have been silent.",
        proof=(coordinator_did_not_serve,),
        source="GroupCoordinator.scala onExpireHeartbeat; a coordinator that was away finds sessions expired",
        cases=("made: its coordinator was away", "groups/silent-java-4.3 12:50:29.751"),
    ),
    Likely(
        Silence.PAUSE,
        "It stood still: its own log notices {late} late that its session was over, and a process that runs says so at"
        " once.",
        proof=(session_ended_late,),
        source="AbstractCoordinator.java HeartbeatThread; rdkafka_cgrp.c rd_kafka_cgrp_session_timeout_check",
        cases=("groups/silent-java-4.3 12:50:29.751", "groups/silent-aiokafka-4.3 12:53:14.417"),
    ),
    Likely(
        Silence.PAUSE,
        "It stood still: its own log notices {late} late that a request had timed out.",
        proof=(request_timed_out_late,),
        source="NetworkClient.java handleTimedOutRequests, cancelInFlightRequests",
        cases=("made: a request times out late", "groups/silent-java-default-4.3 12:54:12.013"),
    ),
    Likely(
        Silence.NETWORK,
        "It was cut off: its process ran and reached no broker, as its own log shows.",
        proof=(ran_and_reached_no_broker,),
        source=_OWN_LOG,
        cases=("groups/silent-java-default-4.3 12:54:12.013", "groups/silent-java-default-4.3 12:55:18.131"),
    ),
    Likely(
        Silence.NETWORK,
        "It was cut off: its process ran and had no answer to what it sent, as its own log shows.",
        proof=(asked_and_was_not_answered,),
        source=_OWN_LOG,
        cases=("made: a request is not answered", "made: a request times out late"),
    ),
    Unknown(
        Silence.UNKNOWN,
        "No evidence shows what silenced it.",
        proof=(always,),
        source="its own log would show it, in the lines that docs/clients.md names",
        cases=("groups/silent-aiokafka-4.3 12:53:14.417", "groups/silent-librdkafka-4.3 12:51:36.031"),
    ),
)
"""For a session that expired while the process lived."""

POLL_SILENCES: tuple[Ruling[Case], ...] = (
    Likely(
        Silence.SLOW,
        "Its handler was slow: its heartbeats went on, since its session of {session_length} is shorter than its poll"
        " limit of {poll_limit} and had not expired.",
        proof=(sent_heartbeats_meanwhile,),
        source="KIP-62: heartbeats have a thread of their own",
        cases=("groups/silent-java-4.3 12:50:52.447", "groups/silent-kip848-4.3 12:52:39.329"),
    ),
    Possible(
        Silence.SLOW,
        "Its handler was slow, or its process stood still: no line shows that its session is shorter than its poll"
        " limit.",
        proof=(always,),
        source="KIP-62",
        cases=("groups/silent-kip848-4.3 12:52:39.329", "groups/silent-java-4.3 12:50:52.447"),
    ),
)
"""For a poll limit that ran out."""


def judge_silence(case: Case, verdict: Verdict) -> Verdict | None:
    """The silence of the member, no surer than why it went; None where it died, was closed, or was not the trigger."""
    noun = Cause(verdict.code).noun
    if not (noun.is_late_heartbeat or noun.is_late_poll):
        return None
    judged = verdict_of(SESSION_SILENCES if noun.is_late_heartbeat else POLL_SILENCES, case)
    confidence = judged.confidence.at_most(verdict.confidence)
    return replace(judged, confidence=confidence)
