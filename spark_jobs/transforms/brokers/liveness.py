"""What log lines show of a broker's liveness: when it went, when it came, and when it was last active."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto

from spark_jobs.catalog.rows import Event
from spark_jobs.knowledge.kinds import COORDINATOR_KINDS, GROUP_KINDS, Kind
from spark_jobs.transforms.controllers import ControllerEpoch, speaks_for_cluster
from spark_jobs.transforms.timelines import Timeline
from spark_jobs.transforms.windows import broker_ids


class Signal(Enum):
    """What one line shows about one broker's liveness."""

    SHUTDOWN = auto()
    """Its shutdown in order began."""
    HALTED = auto()
    """It ended itself over a disk."""
    DOWN = auto()
    """The controller detected that it was down."""
    RELEASED = auto()
    """The controller let it go: it may end now."""
    RESTARTED = auto()
    """A new process of it began."""
    IS_NEW = auto()
    """It is a new process, as it logs after its start: until 3.0, a broker on KRaft does not log the start itself."""
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
        """When the line was written."""
        return self.event.happened_at

    @property
    def is_own(self) -> bool:
        """Whether the broker wrote the line itself."""
        return self.event.broker == self.broker and self.event.kind in _OWN_SIGNALS


_OWN_SIGNALS: Mapping[str, Signal] = {
    Kind.BROKER_SHUTDOWN_STARTED: Signal.SHUTDOWN,
    Kind.CONTROLLED_SHUTDOWN_STARTED: Signal.SHUTDOWN,
    Kind.BROKER_STOPPED: Signal.SHUTDOWN,
    Kind.BROKER_HALTED: Signal.HALTED,
    Kind.BROKER_STARTING: Signal.RESTARTED,
    Kind.CLUSTER_NAMED: Signal.IS_NEW,
    Kind.BROKER_STARTED: Signal.SERVES,
    Kind.BROKER_UNFENCED_SELF: Signal.SERVES,
}
"""What a broker's own line shows about the broker."""

_NEW_PROCESS = "kraft.cluster_named_by_broker"
"""Of the lines that name the cluster, the one with a broker's new incarnation."""

Brokers = Callable[[Event, Collection[int]], Iterable[int]]
"""The brokers that a controller's line is about, given those that were active before it."""


def _named(event: Event, active: Collection[int] = ()) -> tuple[int, ...]:
    """The brokers that the line names."""
    return (event.node,) if event.node is not None else broker_ids(event.nodes) or ()


def _not_listed(event: Event, active: Collection[int]) -> list[int]:
    """The active brokers that a newly elected ZooKeeper controller does not find."""
    return sorted(set(active) - set(_named(event)))


def _in_set(begins: str) -> Brokers:
    """The brokers of one set of ZooKeeper's line, by the words before it. Until 2.1 it names no bounced brokers."""
    ids = re.compile(rf"{begins}([\d,]+)")
    return lambda event, _: broker_ids("".join(ids.findall(event.detail or ""))) or ()


_Shown = Sequence[tuple[Brokers, tuple[Signal, ...]]]


def _of_named(*signals: Signal) -> _Shown:
    return ((_named, signals),)


_CONTROLLER_SIGNALS: Mapping[str, _Shown] = {
    Kind.BROKER_CONTROLLED_SHUTDOWN_GRANTED: _of_named(Signal.SHUTDOWN),
    Kind.BROKER_SHUTDOWN_GRANTED: _of_named(Signal.SHUTDOWN, Signal.RELEASED),
    Kind.BROKER_SHUTDOWN_REQUESTED: _of_named(Signal.SHUTDOWN),
    Kind.BROKER_FENCED: _of_named(Signal.DOWN),
    Kind.BROKER_FENCED_IDLE: _of_named(Signal.DOWN),
    Kind.BROKER_FAILED: _of_named(Signal.DOWN),
    Kind.BROKER_INCARNATED: _of_named(Signal.RESTARTED),
    Kind.BROKER_UNFENCE_GRANTED: _of_named(Signal.SERVES),
    Kind.BROKER_CAME: _of_named(Signal.SERVES),
    # A controller that is elected after the former one was lost reports no failed broker: it lists those that it finds.
    Kind.BROKERS_LISTED: ((_not_listed, (Signal.DOWN,)),),
    # ZooKeeper's "bounced" is a broker that went and came before the controller looked.
    Kind.BROKERS_CHANGED: (
        (_in_set(" deleted brokers: "), (Signal.DOWN,)),
        (_in_set(" bounced brokers: "), (Signal.RESTARTED, Signal.DOWN, Signal.SERVES)),
        (_in_set("^"), (Signal.SERVES,)),
    ),
}
"""What the active controller's line shows, and about which brokers."""

ACTIVE_KINDS = frozenset(GROUP_KINDS) | frozenset(COORDINATOR_KINDS) | {
    Kind.LEADER_STARTED,
    Kind.FOLLOWER_STARTED,
    Kind.LEADERSHIP_KEPT,
    Kind.LEADER_UNAVAILABLE,
    Kind.PARTITION_RECOVERING,
    Kind.ISR_SHRINK_PROPOSED,
    Kind.ISR_EXPAND_PROPOSED,
    Kind.ISR_UPDATED,
    Kind.ISR_UPDATE_REJECTED,
    Kind.LOG_TRUNCATED,
    Kind.FETCH_FAILED,
    Kind.BROKER_STARTED,
    Kind.BROKER_UNFENCED_SELF,
    Kind.BROKER_HEARTBEAT_FAILED,
    Kind.ZOOKEEPER_SESSION_EXPIRED,
}  # fmt: skip
"""Lines that only a broker that serves (or tries to) writes. A controller's lines are not among them: a starting node
of a combined cluster first repeats, as controller, what happened before."""

SIGNAL_KINDS = (*_OWN_SIGNALS, *_CONTROLLER_SIGNALS)
PRESENCE_KINDS = (*SIGNAL_KINDS, Kind.FETCH_FAILED)

_SAME_TROUBLE = timedelta(seconds=35)
"""A follower tries again every second (replica.fetch.backoff.ms), or waits 30 s for an answer
(replica.socket.timeout.ms): failures further apart than this are two troubles. Source: ReplicationConfigs."""

SESSION = {False: timedelta(seconds=9), True: timedelta(seconds=18)}
"""How long the controller waits for a broker, by whether it learns of it through ZooKeeper.
Source: broker.session.timeout.ms, zookeeper.session.timeout.ms, their defaults."""


def signals_by_broker(ordered: Iterable[Event], terms: Sequence[ControllerEpoch]) -> dict[int, list[LivenessSignal]]:
    """Every signal about each broker's liveness.

    Takes: events of at least PRESENCE_KINDS, in order; the controllers' terms.
    Order: as the lines.
    Keeps: of controllers only the active one's lines count.
    """
    signals: dict[int, list[LivenessSignal]] = defaultdict(list)
    active: set[int] = set()
    for event in ordered:
        if event.kind in ACTIVE_KINDS and event.broker is not None:
            active.add(event.broker)
        own = _OWN_SIGNALS.get(event.kind)
        if own is Signal.IS_NEW and event.pattern_id != _NEW_PROCESS:
            continue
        if own and event.broker is not None:
            signals[event.broker].append(LivenessSignal(event.broker, own, event))
        elif event.kind in _CONTROLLER_SIGNALS and speaks_for_cluster(terms, event):
            for brokers, shown in _CONTROLLER_SIGNALS[event.kind]:
                for broker in brokers(event, active):
                    signals[broker] += [LivenessSignal(broker, signal, event) for signal in shown]
    return signals


class ActivityIndex:
    """When each broker was active, and when others failed to reach it."""

    def __init__(self, ordered: Iterable[Event]) -> None:
        """Takes: events of brokers, in order."""
        active: dict[int, list[Event]] = defaultdict(list)
        failures: dict[int, list[Event]] = defaultdict(list)
        for event in ordered:
            if event.kind in ACTIVE_KINDS and event.broker is not None:
                active[event.broker].append(event)
            if event.kind == Kind.FETCH_FAILED and event.node is not None and event.node != event.broker:
                failures[event.node].append(event)
        self._active = {broker: Timeline(events, _at) for broker, events in active.items()}
        self._failures = {broker: Timeline(events, _at) for broker, events in failures.items()}

    def has_log(self, broker: int) -> bool:
        """Whether the broker's own log is known, so that a start would be in it."""
        return broker in self._active

    def last_before(self, broker: int, instant: datetime, since: datetime | None = None) -> Event | None:
        """The broker's own last line before an instant, and not before another one."""
        line = self._active.get(broker, _NO_EVENTS).last_before(instant)
        return line if line and (since is None or line.happened_at >= since) else None

    def is_active_between(self, broker: int, start: datetime, end: datetime) -> bool:
        """Whether the broker itself wrote a line between two instants, neither included."""
        line = self._active.get(broker, _NO_EVENTS).first_after(start)
        return line is not None and line.happened_at < end

    def first_failure(self, broker: int, after: datetime | None, until: datetime) -> Event | None:
        """The first of the failures to reach the broker that lead up to an instant without a pause."""
        first, before = None, until
        for failure in reversed(self._failures.get(broker, _NO_EVENTS).until(until)):
            at = failure.happened_at
            if before - at > _SAME_TROUBLE or (after and at <= after):
                break
            first, before = failure, at
        return first


def _at(event: Event) -> datetime:
    return event.happened_at


_NO_EVENTS: Timeline[Event] = Timeline((), _at)
