"""The facts about the whole cluster that each partition's timeline needs: few rows, handed to every topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from operator import attrgetter

from kafka_hindsight.catalog.codes import Origin, OutageKind, WitnessGap, WitnessKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerOutage, Event, LogSpan, Witness
from kafka_hindsight.judgements.brokers.controllers import (
    CONTROLLER_KINDS,
    ControllerEpoch,
    active_at,
    controller_epochs_of,
    speaks_for_cluster,
)
from kafka_hindsight.judgements.brokers.liveness import CONTROLLER_SIGNAL_KINDS, NO_EVENTS
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from kafka_hindsight.judgements.reasoning.read_times import ALL_READ, ReadTimes
from kafka_hindsight.knowledge.witness_loggers import ISR_LOGGER
from kafka_hindsight.measures.time_away import shown_until
from kafka_hindsight.shared.durations import CATCHING_UP, CLOCK_SKEW, NEVER
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import (
    Interval,
    Intervals,
    Timeline,
    by_instant,
    intervals,
    timelines,
)
from kafka_hindsight.shared.windows import broker_ids, in_order

_ONLY_CONTROLLERS = (Kind.CONTROLLER_ELECTED, *CONTROLLER_SIGNAL_KINDS, Kind.ELECTION_STARTED, Kind.PERIODIC_ELECTION)
_DISK_FAILURES = (Kind.LOG_DIR_FAILED, Kind.BROKER_HALTED)
CONTEXT_KINDS = (*CONTROLLER_KINDS, *_ONLY_CONTROLLERS, *_DISK_FAILURES, Kind.PARTITIONS_CHANGED)

_BROKER = attrgetter("broker")
_NO_OUTAGES: Intervals[BrokerOutage] = Intervals(())
_NO_END = datetime.max.replace(tzinfo=UTC) - timedelta(days=1)


@dataclass(frozen=True)
class ClusterContext:
    """The outages, the controllers, their elections, and failed disks.

    `outages` are rows of gold.broker_outages by broker and time; `elections` and `disk_failures` are events,
    `assignments` those in which replicas were assigned to directories that their broker does not have online;
    `reported_tasks` are Kafka's own election tasks that controllers report, even where they elected no leader;
    `controller_logs_from` is the instant from which each controller's own log is at hand, `records_from` that from
    which the metadata log is; `log_spans` are the spans of the brokers' logs, None: each is at hand all the time.
    `clocks` are those that are known to be wrong, `refusals` the lines in which a broker could not authenticate with
    another one. `witnesses` say what the logs of each broker could show; of a broker without any, all of it.
    `read_times`: the times in which logs of brokers were read.
    """

    outages: tuple[BrokerOutage, ...] = ()
    controller_epochs: tuple[ControllerEpoch, ...] = ()
    elections: Timeline[Event] = NO_EVENTS
    disk_failures: Timeline[Event] = NO_EVENTS
    assignments: Timeline[Event] = NO_EVENTS
    reported_tasks: frozenset[str | None] = frozenset()
    controller_logs_from: Mapping[int | None, datetime] = field(default_factory=dict)
    records_from: datetime = NEVER
    log_spans: tuple[LogSpan, ...] | None = None
    clocks: tuple[ClockError, ...] = ()
    refusals: Sequence[Event] = ()
    witnesses: Sequence[Witness] = ()
    read_times: ReadTimes = ALL_READ

    @cached_property
    def _own_witnesses(self) -> Mapping[tuple[WitnessKind, int | None], Sequence[Witness]]:
        """The witnesses of each kind and broker."""
        return grouped(self.witnesses, lambda w: (w.kind, w.broker))

    def unseen_from(
        self, kind: WitnessKind, brokers: Iterable[int], since: datetime, logger: str | None = None
    ) -> datetime | None:
        """The first instant at which the own lines of any of some brokers could not show a kind of event.

        A log without a known writer may be that of a broker of which no log is known. What a broker itself writes needs
        no log of a controller.

        Args:
            kind: The kind of event.
            brokers: The brokers.
            since: The instant from which on it counts.
            logger: The logger whose lines are asked for; None: all that write such events.
        """
        witnesses = self._own_witnesses
        own = (w for b in brokers for w in witnesses.get((kind, b)) or witnesses.get((kind, None), ()))
        gaps = (w for w in own if w.gap not in (None, WitnessGap.NO_CONTROLLER) and w.last_at > since)
        if logger:
            gaps = (w for w in gaps if w.loggers is None or logger in w.loggers)
        return min((max(w.first_at, since) for w in gaps), default=None)

    @cached_property
    def refusals_of(self) -> Mapping[int | None, Timeline[Event]]:
        """The lines in which each broker could not authenticate with another node."""
        return timelines(self.refusals, _BROKER, attrgetter("happened_at"))

    @cached_property
    def uses_zookeeper(self) -> bool:
        """Whether a line shows that the cluster's controllers are those of ZooKeeper mode."""
        return any(epoch.is_zookeepers for epoch in self.controller_epochs)

    @cached_property
    def _known_outages(self) -> Mapping[int | None, Intervals[BrokerOutage]]:
        """Each broker's outages, from the instant at which they could move leaders."""
        return intervals(self.outages, _BROKER, lambda o: Interval(known_at(o), shown_until(o), o))

    @cached_property
    def _until_caught_up(self) -> Mapping[int | None, Intervals[BrokerOutage]]:
        """Each broker's outages, from just before the broker went until it had caught up."""
        return intervals(self.outages, _BROKER, _until_caught_up)

    def outages_until_caught_up(self, broker: int | None) -> Intervals[BrokerOutage]:
        """A broker's outages, each from just before it until the broker had caught up."""
        return self._until_caught_up.get(broker, _NO_OUTAGES)

    def outage_at(self, broker: int | None, instant: datetime) -> BrokerOutage | None:
        """The broker's outage that the cluster knew of at an instant: of several within a clock's error the newest."""
        outages = [i.value for i in self._known_outages.get(broker, _NO_OUTAGES).at(instant, CLOCK_SKEW)]
        ongoing = [o for o in outages if o.down_at <= instant]
        return max(ongoing, key=lambda o: o.down_at, default=min(outages, key=lambda o: o.down_at, default=None))

    def outage_between(self, broker: int | None, start: datetime, end: datetime | None) -> BrokerOutage | None:
        """The broker's first outage that the cluster knew of at any time from one instant to another, or on."""
        spans = self._known_outages.get(broker, _NO_OUTAGES).between(start, end or _NO_END, CLOCK_SKEW)
        return min((i.value for i in spans), key=lambda o: o.down_at, default=None)

    def outage_of_leader(self, leader: int | None, since: datetime, until: datetime | None) -> BrokerOutage | None:
        """A broker's first outage from the instant on at which it led.

        One that was known before then, and over by then, did not end that leadership, whatever the clocks say.
        """
        spans = self._known_outages.get(leader, _NO_OUTAGES).between(since, until or _NO_END, CLOCK_SKEW)
        later = (i for i in spans if i.start >= since - CLOCK_SKEW or i.end is None or i.end > since + CLOCK_SKEW)
        return min((i.value for i in later), key=lambda o: o.down_at, default=None)

    @cached_property
    def _outages_by_begin(self) -> Mapping[int, Timeline[BrokerOutage]]:
        return timelines(self.outages, attrgetter("broker"), attrgetter("down_at"))

    def outages_begun(self, broker: int, start: datetime, end: datetime | None) -> Sequence[BrokerOutage]:
        """A broker's outages that began from one instant on up to but without another; None: or later."""
        outages = self._outages_by_begin.get(broker)
        return outages.within(start, end) if outages else ()

    def outages_of(self, broker: int | None) -> list[BrokerOutage]:
        """All outages of a broker, by the instant at which the cluster knew of them."""
        return [i.value for i in self._known_outages.get(broker, _NO_OUTAGES)]

    def shows_outages_at(self, instant: datetime) -> bool:
        """Whether the active controller's log or the metadata log of that time is at hand: each shows every outage."""
        return self.records_from <= instant or self.has_controller_log_at(instant)

    def has_controller_log_at(self, instant: datetime) -> bool:
        """Whether the log of the active controller of that time is at hand: it shows its elections."""
        active = active_at(self.controller_epochs, instant)
        if active is not None:
            return active in self.controller_logs_from
        return any(since <= instant for since in self.controller_logs_from.values())

    def has_log_between(self, broker: int, start: datetime, end: datetime) -> bool:
        """Whether the log in which a broker says what it commits is at hand from one instant to another."""
        if self.log_spans is None:
            return True
        unseen_from = self.unseen_from(WitnessKind.IN_SYNC, [broker], start, ISR_LOGGER)
        if unseen_from and unseen_from < end:
            return False
        spans = (s for s in self.log_spans if s.broker == broker)
        return any(s.first_at <= start + CLOCK_SKEW and end - CLOCK_SKEW <= s.last_at for s in spans)

    def has_just_returned(self, broker: int | None, instant: datetime) -> bool:
        """Whether the broker was detected as down and has just come back, so that its lines repeat old changes."""
        outages = self.outages_until_caught_up(broker).at(instant)
        return any((i.value.detected_at or i.value.down_at) < instant for i in outages)


def _until_caught_up(outage: BrokerOutage) -> Interval[BrokerOutage]:
    start = min(outage.down_at - CLOCK_SKEW, outage.detected_at or outage.down_at)
    return Interval(start, outage.up_at + CATCHING_UP if outage.up_at else shown_until(outage), outage)


def disk_owners(failure: Event) -> tuple[int | None, ...]:
    """The brokers whose disk failed: those that a controller names, else the one that wrote the line."""
    brokers = broker_ids(failure.nodes) or ((failure.node,) if failure.node is not None else ())
    return brokers or (failure.broker,)


def on_failed_disk(failure: Event) -> frozenset[str]:
    """The partitions that a broker names as those on its failed disk; a controller names none."""
    return frozenset((failure.members or "").split(",")) - {""}


def known_at(outage: BrokerOutage) -> datetime:
    """The first instant at which an outage can have moved leaders: any but a shutdown must be detected first."""
    if outage.kind == OutageKind.CONTROLLED_SHUTDOWN or outage.detected_at is None:
        return outage.down_at
    return outage.detected_at


def context_of(
    events: Iterable[Event],
    outages: Iterable[BrokerOutage],
    log_spans: Iterable[LogSpan] | None = None,
    clocks: tuple[ClockError, ...] = (),
    refusals: Sequence[Event] = (),
    witnesses: Sequence[Witness] = (),
    read_times: ReadTimes = ALL_READ,
) -> ClusterContext:
    """The context of a cluster's partitions, from silver.events of at least CONTEXT_KINDS, with look-back."""
    ordered = in_order(e for e in events if e.kind in CONTEXT_KINDS)
    lines = [e for e in ordered if e.origin != Origin.RECORD]
    epochs = controller_epochs_of(ordered)
    away = tuple(sorted(outages, key=lambda o: (o.broker, o.down_at)))
    return ClusterContext(
        outages=away,
        controller_epochs=epochs,
        elections=by_instant(e for e in ordered if _is_election(e, epochs)),
        disk_failures=by_instant(e for e in ordered if e.kind in _DISK_FAILURES and not _fails_a_start(e, away)),
        assignments=by_instant(e for e in ordered if e.reason == "offline-dir-assignment"),
        reported_tasks=frozenset(e.reason for e in ordered if e.kind == Kind.PERIODIC_ELECTION),
        controller_logs_from={e.broker: e.happened_at for e in reversed(lines) if e.kind in _ONLY_CONTROLLERS},
        records_from=min((e.happened_at for e in ordered if e.origin == Origin.RECORD), default=NEVER),
        log_spans=None if log_spans is None else tuple(log_spans),
        clocks=clocks,
        refusals=refusals,
        witnesses=witnesses,
        read_times=read_times,
    )


def _fails_a_start(failure: Event, outages: Iterable[BrokerOutage]) -> bool:
    """Whether a broker that had ended before found its disk failed as it started: it leads nothing yet."""
    own = (o for o in outages if o.broker == failure.broker and o.failed_starts and o.down_at < failure.happened_at)
    return any(o.up_at is None or failure.happened_at <= o.up_at for o in own)


def _is_election(event: Event, epochs: Sequence[ControllerEpoch]) -> bool:
    """Whether a controller elects: it starts an election, or its own task has just elected leaders."""
    has_elected = event.kind == Kind.PERIODIC_ELECTION and event.event_count and speaks_for_cluster(epochs, event)
    return event.kind == Kind.ELECTION_STARTED or bool(has_elected)
