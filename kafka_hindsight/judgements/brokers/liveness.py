"""Signals of each broker's liveness in log lines and readings: that it went, that it came, and that it lived."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, auto
from itertools import pairwise, takewhile

from kafka_hindsight.catalog.codes import NOBODY, Origin
from kafka_hindsight.catalog.kinds import COORDINATOR_KINDS, GROUP_KINDS, Kind
from kafka_hindsight.catalog.rows import BrokerSnapshot, Event
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch, active_at, speaks_for_cluster
from kafka_hindsight.judgements.reasoning.reading_events import event_of_reading
from kafka_hindsight.kafka_records import metadata_log
from kafka_hindsight.shared.durations import LONG_AGO
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import latest
from kafka_hindsight.shared.timelines import Timeline, by_instant
from kafka_hindsight.shared.windows import broker_ids

ZOOKEEPERS_CONTROLLER_KINDS = frozenset({
    Kind.BROKERS_LISTED,
    Kind.BROKERS_CHANGED,
    Kind.BROKER_CAME,
    Kind.BROKER_FAILED,
    Kind.BROKER_SHUTDOWN_REQUESTED,
    Kind.PARTITION_STATE_CHANGED,
    Kind.LEADER_IMBALANCE_SEEN,
})  # fmt: skip
"""Lines that only the controller of a cluster on ZooKeeper writes, of what it does then: a broker that lives."""

STATE_CHANGE_KINDS = frozenset({
    Kind.LEADER_STARTED,
    Kind.FOLLOWER_STARTED,
    Kind.LEADERSHIP_KEPT,
    Kind.LEADER_AND_ISR_RECEIVED,
    Kind.LEADER_UNAVAILABLE,
    Kind.PARTITION_RECOVERING,
})  # fmt: skip
"""Lines of the log of its own in which a broker says how the states of its partitions change."""

ACTIVE_KINDS = frozenset((*GROUP_KINDS, *COORDINATOR_KINDS, *ZOOKEEPERS_CONTROLLER_KINDS, *STATE_CHANGE_KINDS)) | {
    Kind.ISR_SHRINK_PROPOSED,
    Kind.ISR_EXPAND_PROPOSED,
    Kind.ISR_UPDATED,
    Kind.LOG_TRUNCATED,
    Kind.FETCH_FAILED,
    Kind.BROKER_REGISTERED,
    Kind.BROKER_STARTED,
    Kind.BROKER_UNFENCED_SELF,
    Kind.BROKER_HEARTBEAT_FAILED,
    Kind.ZOOKEEPER_CLIENT_SPOKE,
    Kind.ZOOKEEPER_SESSION_EXPIRED,
}  # fmt: skip
"""Lines that only a broker that serves (or tries to) writes. Those of KRaft's controllers are not among them: a
starting node of a combined cluster first repeats, as controller, what happened before."""

MEMBER_KINDS = frozenset({Kind.LEADER_STARTED, Kind.ISR_UPDATED, Kind.COORDINATOR_ELECTED, Kind.COORDINATOR_LOADED})
"""Lines that only a broker writes which its controller counts as a member of the cluster: it gave it a leadership, or
committed its change of an ISR. One that is cut off goes on to serve the clients that it still reaches."""

SERVING_KINDS = (
    MEMBER_KINDS | frozenset(GROUP_KINDS) | {Kind.ISR_SHRINK_PROPOSED, Kind.ISR_EXPAND_PROPOSED, Kind.FOLLOWER_STARTED}
)
"""Lines that only a broker writes that leads or follows, even if no other node hears it."""

STALE_AFTER_START = timedelta(minutes=1)
"""A reading shows what the broker knows that answers: one that has just started lists brokers that are gone. (13 s in a
recorded night.) Our choice."""

_SAME_TROUBLE = timedelta(seconds=35)
"""A follower tries again every second (replica.fetch.backoff.ms), or waits 30 s for an answer
(replica.socket.timeout.ms): failures further apart than this are two troubles. Source: ReplicationConfigs."""

_ELECTED_ON_ZOOKEEPER = "zookeeper.controller_elected"
"""The pattern of the line of a broker on ZooKeeper that became the controller: its session is there.
Source: KafkaServer.startup registers the broker, and then starts its controller."""

NO_EVENTS: Timeline[Event] = by_instant(())
_STARTING_KINDS = (
    Kind.BROKER_STARTING,
    Kind.CLUSTER_NAMED,
    Kind.CONTROLLER_THREAD_STARTED,
    Kind.LOGS_CLEAN,
    Kind.LOGS_UNCLEAN,
)
"""Lines that a process writes while it starts."""

_NEW_LIFE = (Kind.BROKER_STARTING, Kind.BROKER_UNFENCED_SELF)
STARTED_ON_ZOOKEEPER = "zookeeper.broker_started"
"""Of the lines of a broker that started, the one that no failed start has. Source: KafkaServer.startup"""


class SignsOfLife:
    """The instants at which each broker was active, others failed to reach it, or others saw it live."""

    def __init__(
        self, ordered: Iterable[Event], proofs: Iterable[Event] = (), readings: Iterable[BrokerSnapshot] = ()
    ) -> None:
        """Sort the signs by broker. `proofs` are more lines that show a broker to serve, in order."""
        ordered = list(ordered)
        sightings = list(_sightings_in([*ordered, *proofs]))
        by_others, by_itself = ([s for s in sightings if (s[1].broker == s[0]) is own] for own in (False, True))
        by_members = (*by_others, *(s for s in by_itself if _is_of_member(s[1])))
        failures = (e for e in ordered if e.kind == Kind.FETCH_FAILED and e.node != e.broker)
        self._active = _timelines((e.broker, e) for e in ordered if _shows_process(e) or is_lock_held(e))
        self._failures = _timelines((e.node, e) for e in failures)
        self._starts = _timelines((e.broker, e) for e in ordered if e.kind in _STARTING_KINDS)
        self._own_proofs, self._others_proofs = _timelines(by_itself), _timelines(by_others)
        self._service = {False: _timelines(by_members), True: _timelines(sightings)}
        self.leader_starts = _timelines((e.broker, e) for e in ordered if e.kind == Kind.LEADER_STARTED)
        self._listings = _timelines((r.broker, _listing(r)) for r in readings)

    @property
    def brokers(self) -> list[int]:
        """The brokers that a line or a reading shows, by id."""
        return sorted({*self._active, *self._service[True], *self._listings})

    def proofs(self, broker: int) -> Timeline[Event]:
        """The lines and readings that show the broker to live."""
        sources = (t[broker] for t in (self._active, self._service[True], self._listings) if broker in t)
        return by_instant(proof for timeline in sources for proof in timeline)

    def last_before(self, broker: int, instant: datetime, since: datetime | None = None) -> Event | None:
        """The broker's own last line before an instant, and not before another one."""
        line = self._active.get(broker, NO_EVENTS).last_before(instant)
        return line if line and (since is None or line.happened_at >= since) else None

    def is_active_between(self, broker: int, start: datetime, end: datetime) -> bool:
        """Whether the broker itself wrote a line between two instants, neither included."""
        line = self._active.get(broker, NO_EVENTS).first_after(start)
        return line is not None and line.happened_at < end

    def first_failure(self, broker: int, after: datetime | None, until: datetime) -> Event | None:
        """The first of the failures to reach the broker that lead up to an instant without a pause.

        Those of a broker that has just started are left out: it had not reached it before, so they do not show since
        when.
        """
        first, before = None, until
        for failure in reversed(self._failures.get(broker, NO_EVENTS).until(until)):
            at = failure.happened_at
            if before - at > _SAME_TROUBLE or (after and at <= after):
                break
            before = at
            started_at = max(after or LONG_AGO, at - STALE_AFTER_START)
            if failure.broker is None or not self._starts.get(failure.broker, NO_EVENTS).between(started_at, at):
                first = failure
        return first

    def first_service(self, broker: int, after: datetime, *, is_over: bool) -> Event | None:
        """The first proof after an instant that the broker serves again.

        `is_over`: its process had ended, so that each line of one that serves is of a new process; else only lines of
        a member of the cluster count.
        """
        line = self._service[is_over].get(broker, NO_EVENTS).first_after(after)
        listing = self._listings.get(broker, NO_EVENTS).first_after(after + STALE_AFTER_START)
        return earliest_line(line, listing)

    def last_service(self, broker: int, before: datetime, missed_within: timedelta) -> datetime | None:
        """The last instant before another at which the broker is proven to serve.

        Others follow a broker that is gone, and list it, as long as no controller misses it. (20 s in a recorded night:
        a follower started after its leader and the controller had been killed.)
        """
        own = self._own_proofs.get(broker, NO_EVENTS).last_before(before)
        by_others = self._others_proofs.get(broker, NO_EVENTS).last_before(before)
        by_others_at = by_others.happened_at - missed_within if by_others else None
        return latest(own.happened_at if own else None, by_others_at)


def earliest_line(*lines: Event | None) -> Event | None:
    """The first of the lines that there are; None where there is none."""
    return min(filter(None, lines), key=lambda e: e.happened_at, default=None)


def _sightings_in(lines: Iterable[Event]) -> Iterator[tuple[int, Event]]:
    """Each broker that a line shows to serve: the one that wrote it, or others."""
    for event in lines:
        if event.broker is not None and (event.kind in SERVING_KINDS or event.pattern_id == _ELECTED_ON_ZOOKEEPER):
            yield event.broker, event
        for broker in _seen_by_others(event):
            yield broker, event


def _is_of_member(event: Event) -> bool:
    """Whether only a broker that its cluster counts in writes a line."""
    return event.kind in MEMBER_KINDS or event.pattern_id == _ELECTED_ON_ZOOKEEPER


def _seen_by_others(event: Event) -> Iterable[int]:
    """The brokers that a line of another one shows to live: followers of theirs start, or ZooKeeper lists them."""
    if event.kind == Kind.FOLLOWER_STARTED and event.leader is not None and event.leader not in (event.broker, NOBODY):
        return (event.leader,)
    if event.kind == Kind.BROKERS_LISTED:
        return broker_ids(event.nodes) or ()
    if event.kind == Kind.BROKERS_CHANGED:
        return broker_ids((event.detail or "").rpartition("all live brokers: ")[2]) or ()
    return ()


def _listing(reading: BrokerSnapshot) -> Event:
    return event_of_reading(reading, Kind.BROKER_LISTED, f"broker {reading.broker} is listed")


def _timelines(sightings: Iterable[tuple[int | None, Event]]) -> dict[int, Timeline[Event]]:
    """The events of each broker; those of none are left out."""
    by_broker = grouped(sightings, lambda s: s[0])
    return {broker: by_instant(e for _, e in own) for broker, own in by_broker.items() if broker is not None}


class Signal(Enum):
    """The meaning of one line for one broker's liveness."""

    SHUTDOWN = auto()
    """Its shutdown in order began."""
    LEADERS_MOVED = auto()
    """The controlled part of its shutdown was over, as it says itself."""
    STOPPED = auto()
    """Its process ended in order."""
    HALTED = auto()
    """It ended itself over a disk."""
    FAULTED = auto()
    """It ended itself over a fatal fault."""
    FAILED = auto()
    """Its start failed: the process ends without having served."""
    REASON = auto()
    """It says why it is about to end, or cannot start: a signal, or a controller that refuses it."""
    DOWN = auto()
    """The controller detected that it was down."""
    RELEASED = auto()
    """The controller let it go: it may end now."""
    RESTARTED = auto()
    """A new process of it began."""
    IS_NEW = auto()
    """It is a new process, as it logs after its start: until 3.0, a broker on KRaft does not log the start itself."""
    EXPIRED = auto()
    """Its ZooKeeper session expired: since some time the cluster did not count it in."""
    SERVES = auto()
    """It serves."""


@dataclass(frozen=True)
class LivenessSignal:
    """One signal about one broker, with the line that shows it."""

    broker: int
    shows: Signal
    event: Event

    @property
    def at(self) -> datetime:
        return self.event.happened_at

    @property
    def is_own(self) -> bool:
        return self.event.broker == self.broker and self.event.kind in _OWN_SIGNALS


_OWN_SIGNALS: Mapping[str, Signal] = {
    Kind.BROKER_SHUTDOWN_STARTED: Signal.SHUTDOWN,
    Kind.CONTROLLED_SHUTDOWN_STARTED: Signal.SHUTDOWN,
    Kind.CONTROLLED_SHUTDOWN_DONE: Signal.LEADERS_MOVED,
    Kind.BROKER_STOPPED: Signal.STOPPED,
    Kind.BROKER_HALTED: Signal.HALTED,
    Kind.PROCESS_FAULTED: Signal.FAULTED,
    Kind.BROKER_START_FAILED: Signal.FAILED,
    Kind.BROKER_START_ABANDONED: Signal.FAILED,
    Kind.PROCESS_SIGNALLED: Signal.REASON,
    Kind.BROKER_REGISTRATION_REFUSED: Signal.REASON,
    Kind.BROKER_STARTING: Signal.RESTARTED,
    Kind.CLUSTER_NAMED: Signal.IS_NEW,
    Kind.CONTROLLER_THREAD_STARTED: Signal.IS_NEW,
    Kind.LOGS_CLEAN: Signal.IS_NEW,
    Kind.LOGS_UNCLEAN: Signal.IS_NEW,
    Kind.ZOOKEEPER_SESSION_EXPIRED: Signal.EXPIRED,
    Kind.BROKER_REGISTERED: Signal.SERVES,
    Kind.BROKER_STARTED: Signal.SERVES,
    Kind.BROKER_UNFENCED_SELF: Signal.SERVES,
}
"""What a broker's own line shows about the broker. It registers as it starts too: that shows nothing more."""

FOUND_AT_START = (Kind.LOGS_CLEAN, Kind.LOGS_UNCLEAN)
"""Lines by which a broker that starts says how its process before left the log directories."""

OF_EACH_LOG = "process.segment_recovering"
"""Of these lines the one that a start repeats for each partition."""

NEW_ON_KRAFT = "kraft.broker_starting"
"""Of the lines that show a new process, the one of a broker that its controllers let in later."""

_NEW_PROCESS = "kraft.cluster_named_by_broker"
"""Of the lines that name the cluster, the one with a broker's new incarnation."""

_OF_AUTHORIZER = "[ZooKeeperClient ACL authorizer]"
"""The client of a broker that reads access control lists, and has a session of its own. Source: AclAuthorizer."""

_CONTROLLER_SIGNALS: Mapping[str, tuple[Signal, ...]] = {
    Kind.BROKER_CONTROLLED_SHUTDOWN_GRANTED: (Signal.SHUTDOWN,),
    Kind.BROKER_SHUTDOWN_GRANTED: (Signal.SHUTDOWN, Signal.RELEASED),
    Kind.BROKER_SHUTDOWN_REQUESTED: (Signal.SHUTDOWN,),
    Kind.BROKER_FENCED: (Signal.DOWN,),
    Kind.BROKER_FENCED_IDLE: (Signal.DOWN,),
    Kind.BROKER_FENCE_GRANTED: (Signal.DOWN,),
    Kind.BROKER_FAILED: (Signal.DOWN,),
    Kind.BROKER_INCARNATED: (Signal.RESTARTED,),
    Kind.BROKER_UNFENCE_GRANTED: (Signal.SERVES,),
    Kind.BROKER_CAME: (Signal.SERVES,),
    # A controller that follows one that was lost reports no failed broker: it lists those that it finds.
    Kind.BROKERS_LISTED: (Signal.DOWN,),
    Kind.BROKERS_CHANGED: (),
}
"""What the active controller's line shows of the brokers that it names; BROKERS_LISTED, of those that it does not."""

_CHANGED_SETS: Mapping[str, tuple[Signal, ...]] = {
    r" deleted brokers: ([\d,]+)": (Signal.DOWN,),
    # Until 2.1 there is no such set: a broker that went and came before the controller looked.
    r" bounced brokers: ([\d,]+)": (Signal.RESTARTED, Signal.DOWN, Signal.SERVES),
    r"^([\d,]+)": (Signal.SERVES,),
}
"""What BROKERS_CHANGED of a controller on ZooKeeper shows, by the set of brokers."""

OWN_SIGNAL_KINDS = tuple(_OWN_SIGNALS)
CONTROLLER_SIGNAL_KINDS = tuple(_CONTROLLER_SIGNALS)
SIGNAL_KINDS = (*OWN_SIGNAL_KINDS, *CONTROLLER_SIGNAL_KINDS)
PRESENCE_KINDS = (*SIGNAL_KINDS, Kind.FETCH_FAILED)

_REPLAYED = re.compile(r"\] Replayed |\] (?:Registered new|Re-registered) broker")
"""What a controller prints of a record that it reads, however old it is. Source: ClusterControlManager.replay."""


EXITS = ("process.start_aborted", "process.fatal_fault", "process.controller_start_failed")
"""Patterns of lines that a process writes once, when it exits: a failure afterwards is another process's."""

_LOCK_IS_HELD = re.compile(r"Failed to acquire lock on file \.lock in ")


def _shows_process(event: Event) -> bool:
    """Whether only a broker that serves, or tries to, writes the line.

    A node of KRaft that starts cuts its copy of the metadata log, before a line says that its broker starts. Source:
    KafkaRaftServer.startup starts the controller first; KafkaRaftClient.handleFetchResponse.
    """
    return event.kind in ACTIVE_KINDS and event.topic != metadata_log.TOPIC


def is_lock_held(event: Event) -> bool:
    """Whether a start fails since another process of the broker holds the lock of its log directories, and so lives.

    Source: LogManager.lockLogDirs: the operating system frees the lock of a process that ends. The directories' ids of
    cluster and broker were compared before.
    """
    is_failure = event.kind == Kind.BROKER_START_FAILED
    return is_failure and bool(_LOCK_IS_HELD.search(event.text) or _LOCK_IS_HELD.search(event.error or ""))


def is_registered(event: Event) -> bool:
    """Whether a controller registers a new process of a broker as it writes this, and does not replay it.

    Source: BrokerLifecycleManager.incarnationId, drawn once in a process; ClusterControlManager.registerBroker, 3.9.
    """
    return event.kind == Kind.BROKER_INCARNATED and not _REPLAYED.search(event.text)


SHUTDOWN_LASTS = timedelta(minutes=5)
"""How long a shutdown may take while the broker goes on to serve.
Source: BrokerServer.shutdown waits that long for the controlled shutdown."""

SAME_START = timedelta(seconds=5)
"""A broker whose start fails prints first that it started, and then that its start failed.
Source: BrokerServer.startup, in its handler of exceptions."""

_AT_ONCE = timedelta(seconds=1)
"""A broker that shuts down so soon after its start has failed to start (0.3 s in a recorded night), and so soon after a
signal it may have got that one. Our choice."""

SESSION = {False: timedelta(seconds=9), True: timedelta(seconds=18)}
"""How long the controller waits for a broker, by whether it learns of it through ZooKeeper.
Source: broker.session.timeout.ms, zookeeper.session.timeout.ms, their defaults."""


_OF_A_START = (Kind.BROKER_STARTING, Kind.BROKER_START_FAILED, Kind.BROKER_SHUTDOWN_STARTED, Kind.BROKER_STOPPED)
"""All that a process writes of itself which does not get as far as to know its id."""

_LAST_OF_A_PROCESS = (Kind.BROKER_STOPPED, Kind.BROKER_HALTED, Kind.PROCESS_FAULTED)
"""The lines after which a process writes no more."""

_OF_A_PROCESS = (*_OF_A_START, Kind.BROKER_HALTED, Kind.PROCESS_FAULTED, Kind.ZOOKEEPER_SESSION_EXPIRED)
"""The lines that tell of the process that writes them, and often do not name its broker."""


def with_writers(events: Iterable[Event]) -> list[Event]:
    """The lines in order, those that name no broker as of the one that wrote them, where that is known.

    Where several brokers write one log, neither a signal nor a start that fails names any of them. A start is of the
    broker whose settings stand just before it; one between the end of a broker's process and its next line is that
    broker's, as no other one writes there. Of signals, each broker whose shutdown begins has got one. What else a
    process says of itself is of the only broker that started in that log and has not ended.
    """
    lines = _with_signals(_with_settings(events))
    running: dict[str, set[int | None]] = defaultdict(set)
    ended_broker: dict[str, int] = {}
    unnamed_places: dict[str, list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        source, own = line.source, running[line.source]
        if line.broker is None and line.kind in _OF_A_PROCESS and line.kind != Kind.BROKER_STARTING and len(own) == 1:
            line = lines[place] = replace(line, broker=next(iter(own)))
        if line.broker is None and line.kind in _OF_A_PROCESS:
            if line.kind == Kind.BROKER_STARTING:
                own.add(None)  # Whichever broker starts, there may be one more from now on.
            if source in ended_broker:
                unnamed_places[source].append(place)
        elif line.broker is not None and line.origin == Origin.BROKER:
            places = unnamed_places.pop(source, ())
            if ended_broker.pop(source, None) == line.broker:
                for unnamed_place in places:
                    lines[unnamed_place] = replace(lines[unnamed_place], broker=line.broker)
            own.discard(None)
            own.add(line.broker)
            if line.kind in _LAST_OF_A_PROCESS:
                own.discard(line.broker)
                ended_broker[source] = line.broker
    return lines


def _with_settings(events: Iterable[Event]) -> Iterator[Event]:
    """The lines in order, those of a start that names no broker as of the one whose settings stand just before it.

    Source: until 1.0 Kafka.main logs KafkaConfig before KafkaServer.startup, later DynamicBrokerConfig.initialize does.
    """
    settings: dict[str, Event] = {}
    started_at: dict[str, datetime] = {}
    starting: dict[str, int | None] = {}
    for line in events:
        source, at = line.source, line.happened_at
        if line.kind == Kind.BROKER_CONFIGURED and at - started_at.get(source, LONG_AGO) > SAME_START:
            settings[source] = line
        elif line.kind == Kind.BROKER_STARTING:
            own = settings.pop(source, None)
            started_at[source] = at
            starting[source] = own.node if own and at - own.happened_at <= SAME_START else None
        elif line.kind == Kind.BROKER_STARTED:
            starting.pop(source, None)
        writer = starting.get(source) if line.broker is None and line.kind in _OF_A_START else None
        yield line if writer is None else replace(line, broker=writer)


def _with_signals(events: Iterable[Event]) -> list[Event]:
    """The lines in order, each signal that names no broker as of the next one whose shutdown begins in that log.

    Equal lines of one instant are one record, which then stands for the signal of each broker that ends.
    Source: LoggingSignalHandler logs a signal before the hooks of the process run, KafkaServer.shutdown among them.
    """
    lines: list[Event] = []
    signals: dict[str, list[int]] = defaultdict(list)
    shutdown_at: dict[tuple[str, int], datetime] = {}
    for line in events:
        source, at = line.source, line.happened_at
        if line.kind == Kind.PROCESS_SIGNALLED and line.broker is None:
            signals[source].append(len(lines))
        elif _OWN_SIGNALS.get(line.kind) is Signal.SHUTDOWN and line.broker is not None:
            before, shutdown_at[source, line.broker] = shutdown_at.get((source, line.broker), LONG_AGO), at
            recent = [n for n in signals[source] if at - lines[n].happened_at <= SAME_START]
            unnamed = next((n for n in recent if lines[n].broker is None), None)
            if at - before > SAME_START and unnamed is not None:
                lines[unnamed] = replace(lines[unnamed], broker=line.broker)
            elif at - before > SAME_START and recent and at - lines[recent[-1]].happened_at <= _AT_ONCE:
                lines.append(replace(lines[recent[-1]], broker=line.broker))
            signals[source] = recent
        lines.append(line)
    return lines


_SERVES_AGAIN = (Kind.BROKER_STARTED, Kind.BROKER_UNFENCED_SELF)

_BEFORE_SERVICE = (Kind.BROKER_REGISTERED, Kind.ZOOKEEPER_CLIENT_SPOKE)
"""Lines that a broker writes as it starts, too: they do not show that it has served."""


def signals_by_broker(events: Iterable[Event], terms: Sequence[ControllerEpoch]) -> dict[int, list[LivenessSignal]]:
    """All signals of each broker's liveness, in the order of the lines.

    `events` are of at least PRESENCE_KINDS, in order. Of controllers only the active one's lines count. A
    failed start shows neither a service nor a shutdown.
    """
    signals: dict[int, list[LivenessSignal]] = defaultdict(list)
    active: set[int] = set()
    starting: set[int] = set()
    for event in events:
        if event.broker is not None and event.kind == Kind.BROKER_STARTING:
            # A controller that lists the brokers while it starts does not miss it.
            active.discard(event.broker)
            starting.add(event.broker)
        elif event.broker is not None and _shows_process(event):
            starting -= {event.broker} if event.kind in _SERVES_AGAIN else set()
            active |= {event.broker} - starting if event.kind not in _BEFORE_SERVICE else set()
        for signal in _signals_in(event, active, terms):
            signals[signal.broker].append(signal)
    by_broker = {broker: list(_without_failed_starts(_with_sessions(own))) for broker, own in signals.items()}
    # Of a node that is only a controller, starts may fail, and it may meet a fault, or be asked to end.
    others = (Signal.FAILED, Signal.FAULTED, Signal.REASON)
    return {broker: own for broker, own in by_broker.items() if any(s.shows not in others for s in own)}


def _signals_in(event: Event, active: Collection[int], terms: Sequence[ControllerEpoch]) -> Iterator[LivenessSignal]:
    """The signals of one line. `active`: the brokers that had served before it, and do not start."""
    own_signal = _OWN_SIGNALS.get(event.kind)
    if event.kind == Kind.CLUSTER_NAMED and event.pattern_id != _NEW_PROCESS:
        return
    if event.kind == Kind.ZOOKEEPER_SESSION_EXPIRED and _OF_AUTHORIZER in event.text:
        return
    if own_signal and event.broker is not None:
        yield LivenessSignal(event.broker, own_signal, event)
    elif event.kind in _CONTROLLER_SIGNALS and _is_news(event, terms):
        for brokers, meaning in _meanings(event, active):
            yield from (LivenessSignal(b, signal, event) for b in brokers for signal in meaning)


def _meanings(event: Event, active: Collection[int]) -> Iterator[tuple[Iterable[int], Iterable[Signal]]]:
    """The brokers that a controller's line is about, with what it shows of them.

    Until 1.0 a broker that starts is the controller before it registers, and does not find itself.
    """
    brokers = {event.node} if event.node is not None else {*(broker_ids(event.nodes) or ())}
    if event.kind == Kind.BROKERS_LISTED:
        brokers = set(active) - {*brokers, event.broker}
    yield sorted(brokers), _CONTROLLER_SIGNALS[event.kind]
    if event.kind == Kind.BROKERS_CHANGED:
        for ids, meaning in _CHANGED_SETS.items():
            yield broker_ids("".join(re.findall(ids, event.detail or ""))) or (), meaning


def _is_news(event: Event, terms: Sequence[ControllerEpoch]) -> bool:
    if not speaks_for_cluster(terms, event):
        return False
    return event.origin == Origin.RECORD or not (
        _REPLAYED.search(event.text) and active_at(terms, event.happened_at) is None
    )


def _with_sessions(signals: Iterable[LivenessSignal]) -> Iterator[LivenessSignal]:
    """The signals of one broker, of its registrations only each that follows the end of a ZooKeeper session.

    Source: KafkaController.processRegisterBrokerAndReelect, after ZooKeeperClient has begun a new session.
    """
    has_expired = False
    for signal in signals:
        is_registration = signal.event.kind == Kind.BROKER_REGISTERED
        if has_expired or not is_registration:
            yield signal
        if signal.is_own:
            has_expired = signal.shows is Signal.EXPIRED or (has_expired and not is_registration)


def _without_failed_starts(signals: Iterable[LivenessSignal]) -> Iterator[LivenessSignal]:
    """The signals of one broker; each one that the process of a failed start wrote shows that failure."""
    signals = list(signals)
    abandoned_places = {*_abandoned_starts(signals), *_signalled_starts(signals), *_aborted_starts(signals)}
    signals = [replace(s, shows=Signal.FAILED) if place in abandoned_places else s for place, s in enumerate(signals)]
    fails_at = list(_failed_starts(signals))
    failed_at: datetime | None = None
    ended_at: datetime | None = None
    for signal in signals:
        if signal.is_own and ended_at and signal.at - ended_at > SAME_START:
            # What ends from now on is another process, which went on beside the one that failed to start.
            failed_at, ended_at = None, None
        if signal.shows is Signal.FAILED and signal.is_own:
            failed_at = signal.at
            ended_at = signal.at if signal.event.pattern_id in EXITS else ended_at
        elif signal.is_own and (signal.event.kind in _NEW_LIFE or signal.event.pattern_id == STARTED_ON_ZOOKEEPER):
            failed_at, ended_at = None, None
        if not _is_failing(signal, failed_at, fails_at):
            yield signal
        elif signal.shows is not Signal.SERVES:
            ended_at = signal.at if signal.shows is Signal.STOPPED else ended_at
            yield replace(signal, shows=Signal.FAILED)


def _failed_starts(signals: Iterable[LivenessSignal]) -> Iterator[tuple[datetime, datetime]]:
    """The instants of failed starts, each with the end of the process before, whose lines are not of the start."""
    ended_at = LONG_AGO
    for signal in signals:
        if signal.shows is Signal.FAILED:
            yield signal.at, ended_at
        elif signal.shows is Signal.STOPPED:
            ended_at = signal.at


def _abandoned_starts(signals: Sequence[LivenessSignal]) -> set[int]:
    """The places of shutdowns of a broker whose new process its controller saw just before, none in a line of its own.

    Source: BrokerServer.startup shuts a broker down whose start fails, and its controller may have let it in already.
    """
    places: set[int] = set()
    for place, (before, after) in enumerate(pairwise(signals), 1):
        is_new = before.shows in (Signal.RESTARTED, Signal.SERVES) or place - 1 in places
        at_once = after.shows is Signal.SHUTDOWN and after.at - before.at <= _AT_ONCE
        if is_new and at_once and not (before.is_own or after.is_own):
            places.add(place)
    return places


def _signalled_starts(signals: Sequence[LivenessSignal]) -> Iterator[int]:
    """The places of signals that ended a process of the broker before it served, which then logs no shutdown.

    Its start is known, or that the process before had ended; what follows is another process.
    Source: BrokerServer.shutdown returns unless the status is STARTED.
    """
    since: datetime | None = None
    own = [(place, signal) for place, signal in enumerate(signals) if signal.is_own]
    for n, (place, signal) in enumerate(own):
        if signal.event.kind == Kind.PROCESS_SIGNALLED and since and signal.at >= since:
            after = next((s for _, s in own[n + 1 :] if s.shows is not Signal.REASON), None)
            is_another = after is None or after.shows in (Signal.RESTARTED, Signal.IS_NEW, Signal.SERVES)
            if is_another and (after is None or after.at - signal.at > SAME_START):
                yield place
                since = signal.at + SAME_START
        elif signal.shows is Signal.RESTARTED:
            since = signal.at
        elif signal.shows in (Signal.STOPPED, Signal.HALTED):
            since = signal.at + SAME_START
        elif signal.shows is not Signal.IS_NEW and signal.shows is not Signal.REASON:
            since = None


def _aborted_starts(signals: Sequence[LivenessSignal]) -> Iterator[int]:
    """The places of the lines in which a process whose start failed shuts its broker down, just before it exits.

    Source: KafkaServer.startup shuts down what it had started; Kafka.main and, until 2.7, KafkaServerStartable.startup
    say "Exiting Kafka" of a start alone.
    """
    own = [(place, signal) for place, signal in enumerate(signals) if signal.is_own]
    for n, (_, exit_line) in enumerate(own):
        before = own[n - 1][1] if n else exit_line
        is_at_once = before.shows is Signal.STOPPED and exit_line.at - before.at <= _AT_ONCE
        if exit_line.event.pattern_id == EXITS[0] and is_at_once:
            ends = takewhile(lambda o: o[1].shows in _ENDS_IN_ORDER, reversed(own[:n]))
            yield from (place for place, _ in ends)


_ENDS_IN_ORDER = (Signal.SHUTDOWN, Signal.LEADERS_MOVED, Signal.STOPPED)


def _is_failing(
    signal: LivenessSignal, failed_at: datetime | None, fails_at: Iterable[tuple[datetime, datetime]]
) -> bool:
    """Whether a line is of a failed start: its process wrote it after the failure, or the broker served just before.

    The controller may let in a broker whose port turns out to be in use a moment later.
    """
    failures_soon = (ended_at <= signal.at for at, ended_at in fails_at if timedelta() <= at - signal.at <= SAME_START)
    if signal.shows is Signal.SERVES and any(failures_soon):
        return True
    ends = signal.is_own and signal.shows in _END_A_FAILED_START
    return ends and failed_at is not None and signal.at - failed_at <= SHUTDOWN_LASTS


_END_A_FAILED_START = (Signal.SERVES, Signal.SHUTDOWN, Signal.STOPPED)
