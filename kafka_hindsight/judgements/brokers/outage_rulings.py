"""The kind of a broker's absence: a shutdown, a crash, or a broker that was alive and did not respond.

The evidence of an outage is all lines of its absence, whichever ruling decides.
"""

from __future__ import annotations

import re
from datetime import timedelta
from itertools import chain

from kafka_hindsight.catalog.codes import Confidence, OutageKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.brokers.absences import ENDS, Absence
from kafka_hindsight.judgements.brokers.liveness import FOUND_AT_START, OF_EACH_LOG, Signal
from kafka_hindsight.judgements.reasoning.proofs import Predicate, Proof, always, proof_if, with_sentence
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Ruling, Unknown
from kafka_hindsight.shared.durations import NEVER

TAKEN_FOR_DEAD_AFTER = timedelta(minutes=10)
"""A broker that is silent this long without a line of its own is taken for dead."""

_LEADERS_MOVED = (Kind.CONTROLLED_SHUTDOWN_DONE, Kind.BROKER_SHUTDOWN_GRANTED)
"""The lines by which the controlled part of a shutdown was over: its leaders had moved in order."""


def began_with(says: str, *signals: Signal) -> Predicate[Absence]:
    """A predicate: the absence began with one of these signals."""
    return with_sentence(says, lambda absence: proof_if(absence.began_with in signals))


faulted = began_with("The broker reports a fatal fault, with which its process ends.", Signal.FAULTED)
start_failed = began_with("The broker's start failed, and no line shows that it served before.", Signal.FAILED)


def only_in_snapshots(absence: Absence) -> Proof | None:
    """Snapshots list the broker and then do not, and no line is about the absence."""
    return proof_if(not absence.lines)


def ends_shown(absence: Absence) -> Proof | None:
    """Both ends are shown, and the logs of the time between; less sure where one is not."""
    if not (absence.shows_start and absence.shows_end):
        return Proof(confidence=Confidence.LIKELY if absence.began_with else Confidence.POSSIBLE)
    return Proof(confidence=Confidence.CERTAIN if absence.is_end_exact else Confidence.LIKELY)


def was_active(absence: Absence) -> Proof | None:
    """The broker wrote lines while the controller considered it down."""
    return proof_if(absence.was_active)


def fenced_while_idle(absence: Absence) -> Proof | None:
    """Only a record shows that the broker was fenced, which looks the same where a broker that leads nothing ends."""
    kinds = {line.kind for line in absence.lines}
    return proof_if(Kind.BROKER_FENCED_IDLE in kinds and Kind.BROKER_FENCED not in kinds)


def reports_start(absence: Absence) -> Proof | None:
    """The broker's own log shows that a new process started."""
    return proof_if(absence.restart and absence.restart.is_own)


def before_is_hidden(absence: Absence) -> Proof | None:
    """No log of the time just before is at hand that would show how the process before ended."""
    return proof_if(not absence.shows_start and absence.detected_at is None)


def left_in_order(absence: Absence) -> Proof | None:
    """The next process found every log directory clean; less sure where its own last line before is known."""
    first = _found_by_next(absence)
    is_clean = first and all(e.kind == Kind.LOGS_CLEAN for e in first)
    return proof_if(is_clean, confidence=Confidence.POSSIBLE if absence.last_line else Confidence.LIKELY)


def _found_by_next(absence: Absence) -> list[Event]:
    """The lines in which the next process that opened its log directories says how it found them."""
    conditions = [e for e in absence.lines if e.kind in FOUND_AT_START and e.broker == absence.broker]
    fails = (start[0].happened_at for start in absence.failures)
    end = next((at for at in fails if conditions and at > conditions[0].happened_at), NEVER)
    return [e for e in conditions if e.happened_at < end]


_RECOVERED = re.compile(r"Recovering (?:[1-9]\d* logs|unflushed segment)")


def left_unclosed(absence: Absence) -> Proof | None:
    """The next process recovered logs that the one before had not closed."""
    conditions = _found_by_next(absence)
    return proof_if(any(e.pattern_id == OF_EACH_LOG or _RECOVERED.search(e.text) for e in conditions))


def _last_kinds(absence: Absence) -> set[str]:
    """The kinds of the lines in which the process that goes says how it ends: its own, before any of the next one."""
    own = [e for e in absence.lines if e.broker == absence.broker]
    starts = [e for e in own if e.kind == Kind.BROKER_STARTING]
    until = min((e.happened_at for e in (*starts, *_found_by_next(absence), *chain(*absence.failures))), default=NEVER)
    return {e.kind for e in own if e.happened_at < until}


def halted(absence: Absence) -> Proof | None:
    """The broker reports that it halts over its log directories, before a shutdown was over."""
    last = _last_kinds(absence)
    return proof_if(absence.began_with in ENDS and Kind.BROKER_HALTED in last and Kind.BROKER_STOPPED not in last)


def was_cut_off(absence: Absence) -> Proof | None:
    """Its shutdown began, and a fault, logs that were not closed, or its own log up to the next start show no end."""
    last = _last_kinds(absence)
    is_end_hidden = _lacks_end(absence) and not last.intersection(_LEADERS_MOVED)
    is_cut = left_unclosed(absence) or Kind.PROCESS_FAULTED in last or is_end_hidden
    return proof_if(absence.began_with is Signal.SHUTDOWN and Kind.BROKER_STOPPED not in last and is_cut)


def _lacks_end(absence: Absence) -> bool:
    """Whether the log in which its shutdown began goes on with the next start, and lacks the end of the shutdown."""
    begins = [e for e in absence.lines if e.broker == absence.broker and e.kind == Kind.BROKER_SHUTDOWN_STARTED]
    starts = [e for e in absence.lines if e.broker == absence.broker and e.kind == Kind.BROKER_STARTING]
    is_same_log = bool(begins and starts) and begins[0].source == starts[0].source
    return is_same_log and absence.is_log_unbroken and Kind.BROKER_STOPPED not in _last_kinds(absence)


def was_shut_down(absence: Absence) -> Proof | None:
    """The broker or the active controller reports that its shutdown began; less sure where its log lacks the end."""
    is_shown = absence.began_with in (Signal.SHUTDOWN, Signal.STOPPED)
    return proof_if(is_shown, confidence=Confidence.LIKELY if _lacks_end(absence) else Confidence.CERTAIN)


def session_expired(absence: Absence) -> Proof | None:
    """The broker reports that its ZooKeeper session expired, and no start is shown until it registered."""
    return proof_if(absence.is_session_alone)


def new_process(absence: Absence) -> Proof | None:
    """A new process of the broker started, or failed to; certain where its own log shows it and lines before it."""
    restart = absence.restart
    # The controller's thread has a log of its own: that of the broker may show how the process before ended.
    is_own = restart and restart.is_own and restart.event.kind != Kind.CONTROLLER_THREAD_STARTED
    is_certain = (absence.failures or is_own) and absence.last_line
    return proof_if(restart or absence.failures, confidence=Confidence.CERTAIN if is_certain else Confidence.LIKELY)


def only_failed_starts(absence: Absence) -> Proof | None:
    """Nothing shows the absence but starts that failed before they opened the log directories."""
    is_shown = absence.up_at or absence.detected_at or _found_by_next(absence)
    return proof_if(absence.failures and not is_shown)


def came_back(absence: Absence) -> Proof | None:
    """The broker served again."""
    return proof_if(absence.up_at)


def no_start_hidden(absence: Absence) -> Proof | None:
    """A start of the broker would be in a log that is at hand from end to end."""
    return proof_if(absence.shows_starts)


def start_would_show(absence: Absence) -> Proof | None:
    """A start of the broker would be in a log that is at hand; certain where its own last line before is known."""
    return proof_if(absence.shows_starts, confidence=Confidence.CERTAIN if absence.last_line else Confidence.LIKELY)


def logs_reach_on(absence: Absence) -> Proof | None:
    """The logs of the time since then are at hand; those before too, where a list alone shows it."""
    is_unlisted = any(e.kind == Kind.BROKERS_LISTED for e in absence.lines)
    return proof_if(absence.shows_end and (absence.shows_start or not is_unlisted))


def silent_for_long(absence: Absence) -> Proof | None:
    """The broker has been silent for ten minutes or longer."""
    return proof_if(absence.observed_until - absence.down_at >= TAKEN_FOR_DEAD_AFTER)


OUTAGE_RULINGS: tuple[Ruling[Absence], ...] = (
    Unknown(
        OutageKind.UNKNOWN,
        "Snapshots of the cluster did not list broker {broker}; no line shows why.",
        proof=(only_in_snapshots,),
        source="Admin.describeCluster lists the brokers that are not fenced",
        cases=("made: snapshots alone", "made: snapshots beside the lines of crash-2.8"),
    ),
    Certain(
        OutageKind.CRASH,
        "Broker {broker} halted because its log directory failed.",
        proof=(halted, ends_shown),
        source="LogManager.handleLogDirFailure halts a broker whose last log directory failed",
        cases=("disk-4.3 broker 3", "crash-2.8 broker 1"),
    ),
    Likely(
        OutageKind.CRASH,
        "Broker {broker} began a controlled shutdown, and its process ended before that was over.",
        proof=(was_cut_off,),
        source="KafkaServer.shutdown, BrokerServer.shutdown log last that they completed; LogManager.shutdown writes"
        " .kafka_cleanshutdown into each directory whose logs it closed",
        cases=("made: its shutdown was cut off", "shutdown-3.9 broker 1"),
    ),
    Certain(
        OutageKind.CONTROLLED_SHUTDOWN,
        "Broker {broker} had a controlled shutdown.",
        proof=(was_shut_down, ends_shown),
        source="KafkaServer.controlledShutdown; ReplicationControlManager.processBrokerHeartbeat",
        cases=("shutdown-3.9 broker 1", "crash-2.8 broker 1"),
    ),
    Likely(
        OutageKind.CRASH,
        "Broker {broker} met a fatal fault, and its process ended.",
        proof=(faulted, ends_shown),
        source="ProcessTerminatingFaultHandler.handleFault halts the process, ProcessExitingFaultHandler ends it",
        cases=("made: a fatal fault while it served", "crash-2.8 broker 1"),
    ),
    Likely(
        OutageKind.FAILED_START,
        "Broker {broker} could not start.",
        proof=(start_failed,),
        source="BrokerServer.startup and KafkaServer.startup shut a broker down whose start fails;"
        " BrokerLifecycleManager leaves STARTING or RECOVERY for SHUTTING_DOWN",
        cases=("made: it could not register", "shutdown-3.9 broker 1"),
    ),
    Certain(
        OutageKind.UNRESPONSIVE,
        "Broker {broker} was alive while the controller considered it down: it was paused, or the network failed.",
        proof=(was_active, no_start_hidden, ends_shown),
        source="BrokerHeartbeatManager, KafkaController.onBrokerFailure: a session ended, and its process may live",
        cases=("pause-4.1 broker 1", "pause-2.8 broker 1"),
    ),
    Unknown(
        OutageKind.UNKNOWN,
        "Broker {broker} was fenced while it led no partition: it had a controlled shutdown, or it did not respond.",
        proof=(fenced_while_idle,),
        unless=(reports_start,),
        source="BrokerHeartbeatManager.calculateNextBrokerState: a broker that leads nothing may shut down at once",
        cases=("made: fenced while it led nothing", "made: fenced while it led nothing, and started"),
    ),
    Likely(
        OutageKind.CONTROLLED_SHUTDOWN,
        "Broker {broker} had a controlled shutdown, as its log directories showed at the next start.",
        proof=(left_in_order,),
        source="LogManager.shutdown writes .kafka_cleanshutdown into each directory, loadLogs finds and removes it",
        cases=(
            "made: fenced, and its next start found a clean shutdown",
            "made: fenced, and its next start found no clean shutdown",
        ),
    ),
    Likely(
        OutageKind.CRASH,
        "Broker {broker} ended without a shutdown in order, as its log directories showed at the next start; no log of"
        " the time just before shows when.",
        proof=(before_is_hidden, left_unclosed),
        source="LogManager.loadLogs recovers the logs of a directory without .kafka_cleanshutdown",
        cases=("made: hours lost before its start, which recovers logs", "made: hours lost before its start"),
    ),
    Unknown(
        OutageKind.UNKNOWN,
        "Broker {broker} was started; no log of the time just before shows how its previous process ended.",
        proof=(before_is_hidden,),
        source="KafkaServer.startup, BrokerServer.startup: a start follows a shutdown in order or a crash",
        cases=("made: hours lost before its start", "crash-2.8 broker 1"),
    ),
    Unknown(
        OutageKind.UNKNOWN,
        "Broker {broker} failed to start; no line shows whether its previous process had ended.",
        proof=(only_failed_starts,),
        source="KafkaServer.startup, BrokerServer.startup: what fails before it locks the log directories does not meet"
        " a process that lives",
        cases=("made: idle, and a start failed", "crash-2.8 broker 1"),
    ),
    Certain(
        OutageKind.CRASH,
        "Broker {broker} died without shutting down, and was restarted.",
        proof=(new_process, ends_shown),
        source="KafkaServer.startup, BrokerServer.startup: a start without a shutdown before it follows a crash",
        cases=("crash-2.8 broker 1", "pause-2.8 broker 1"),
    ),
    Likely(
        OutageKind.UNRESPONSIVE,
        "The ZooKeeper session of broker {broker} expired, and the same process registered again: it was paused, or the"
        " network failed.",
        proof=(session_expired, came_back, no_start_hidden, ends_shown),
        source="ZooKeeper deletes the node of a broker with its session; ZooKeeperClient begins a new one, and"
        " KafkaController.processRegisterBrokerAndReelect registers the broker again",
        cases=("made: its session expired", "made: its session expired, and it started"),
    ),
    Certain(
        OutageKind.UNRESPONSIVE,
        "Broker {broker} was considered down and came back with the same process: it was paused, or the network"
        " failed.",
        proof=(came_back, start_would_show, ends_shown),
        source="ClusterControlManager.registerBroker: a new process registers with a new incarnation id; an unfenced"
        " broker without one was alive",
        cases=("pause-2.8 broker 1", "preferred-2.8 broker 2"),
    ),
    Unknown(
        OutageKind.UNKNOWN,
        "Broker {broker} was considered down and came back; no line shows whether its process is a new one.",
        proof=(came_back,),
        source="KafkaController.onBrokerStartup: ZooKeeper's controller reports the same of a new process and a new"
        " session",
        cases=("made: crash-2.8 without the broker's own log", "crash-2.8 broker 1"),
    ),
    Likely(
        OutageKind.UNRESPONSIVE,
        "The ZooKeeper session of broker {broker} expired, and its process lived: it was paused, or the network"
        " failed.",
        proof=(session_expired,),
        source="ZooKeeperClient logs that its session expired when it has a connection again",
        cases=("made: its session expired, and nothing follows", "made: silent for 15 minutes"),
    ),
    Likely(
        OutageKind.CRASH,
        "Broker {broker} fell silent without a shutdown and did not come back.",
        proof=(silent_for_long, logs_reach_on),
        source="a paused broker or a cut network mostly lasts seconds to minutes; ten minutes are our choice",
        cases=("made: silent for 15 minutes", "made: silent for 5 minutes"),
    ),
    Unknown(
        OutageKind.UNKNOWN,
        "Broker {broker} fell silent; the lines end too early to show whether its process ended or was unresponsive.",
        proof=(always,),
        source="BrokerHeartbeatManager: the controller sees a session end, not why",
        cases=("made: silent for 5 minutes", "made: silent for 15 minutes"),
    ),
)
