"""Happenings: events of one origin as one thing, with its harm and a headline of one line."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from itertools import chain
from operator import le
from types import MappingProxyType
from typing import TypeVar

from kafka_hindsight.catalog.codes import (
    NOBODY,
    Cause,
    Confidence,
    FailoverKind,
    Harm,
    IncidentKind,
    JumpHarm,
    OutOfSyncKind,
    TruncationVerdict,
)
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    ControllerChange,
    Failover,
    Incident,
    IsrSpan,
    OffsetJump,
    OutOfSyncPeriod,
    PartitionStall,
    Truncation,
    Unavailability,
)
from kafka_hindsight.knowledge.outage_words import halts_over_log_dirs, hedged_verb
from kafka_hindsight.measures.record_losses import PartitionName, RecordLoss, can_lose, losses_of, total_loss
from kafka_hindsight.measures.records_moved import RecordsMoved, records_moved
from kafka_hindsight.measures.time_away import away, is_away_until, is_lost, is_orderly, since_when
from kafka_hindsight.measures.unavailability_sums import (
    LEADERLESS,
    NO_CONSUMER,
    NO_WRITES,
    Unused,
    is_noticed,
    unused,
)
from kafka_hindsight.shared import words
from kafka_hindsight.shared.durations import LONG_AGO, MS
from kafka_hindsight.shared.grouping import grouped, runs, split_by
from kafka_hindsight.shared.windows import Window

ONE_ACT_WITHIN = timedelta(minutes=1)
"""Shutdowns, or losses of leaders or controllers, at most this long after one another are one act. Our choice: a script
that stops all brokers, or a disk that fails with its partitions, needs seconds. A stop after all are back is another
act."""

HANDED_OVER_WITHIN = timedelta(seconds=9)
"""The longest time without a leader in which a partition is handed over. Source: broker.session.timeout.ms, 9 s by
default: the leaders of a broker that dies are missing for longer. Producers and consumers try for 30 s and more."""

_HAND_OVERS = (FailoverKind.CONTROLLED_SHUTDOWN, FailoverKind.PREFERRED_ELECTION, FailoverKind.REASSIGNMENT)
"""The changes of leaders in which the controller moves a partition from one living broker to another."""

_SURE = (Confidence.CERTAIN, Confidence.LIKELY)

R = TypeVar("R")


@dataclass(frozen=True)
class Happening:
    """Rows of one origin, in order of time.

    `of_groups`: incidents that hold rebalances; `unavailability`: the intervals in which something could not be used;
    `failures`: the cause of each rebalance that a failure began, or may have begun, by its id. `logs_end`: the instant
    of the last line of any broker.
    """

    kind: IncidentKind
    of_groups: Sequence[Incident] = ()
    outages: Sequence[BrokerOutage] = ()
    failovers: Sequence[Failover] = ()
    truncations: Sequence[Truncation] = ()
    periods: Sequence[OutOfSyncPeriod] = ()
    unavailability: Sequence[Unavailability] = ()
    stalls: Sequence[PartitionStall] = ()
    controllers: Sequence[ControllerChange] = ()
    jumps: Sequence[OffsetJump] = ()
    failures: Mapping[str | None, Cause] = field(default_factory=dict)
    logs_end: datetime = LONG_AGO

    @property
    def absent(self) -> Sequence[BrokerOutage]:
        """The absences without a known end."""
        return [o for o in self.outages if o.up_at is None]

    @property
    def first_and_last_controllers(self) -> Sequence[ControllerChange]:
        """The first and the last loss of the controller: they stand for all between."""
        return [*self.controllers[:1], *self.controllers[1:][-1:]]

    @property
    def lossy(self) -> Sequence[Failover]:
        """The changes of leaders that lost records, or may have lost some."""
        return [f for f in self.failovers if can_lose(f)]

    @property
    def intervals_alone(self) -> Sequence[Unavailability]:
        """The intervals in which something could not be used, where the happening has no other part."""
        others = (self.of_groups, self.outages, self.failovers, self.truncations, self.periods)
        return () if any(others) else self.unavailability

    @property
    def is_of_groups(self) -> bool:
        """Whether it has rebalances and no outage."""
        return bool(self.of_groups) and not self.outages

    @property
    def begins(self) -> Sequence[datetime]:
        return [
            *(o.down_at for o in self.outages),
            *(i.started_at for i in self.of_groups),
            *(f.happened_at for f in self.failovers),
            *(t.happened_at for t in self.truncations),
            *(p.started_at for p in self.periods),
            *(s.started_at for s in self.stalls),
            *map(uncontrolled_since, self.controllers),
            *(j.jumped_at for j in self.jumps if not self.of_groups),
            *(u.started_at for u in self.intervals_alone),
        ]

    @property
    def ends(self) -> Sequence[datetime | None]:
        """The end of each part; None for a part that was not over."""
        return [
            *(o.up_at for o in self.outages),
            *(i.ended_at for i in self.of_groups),
            *(f.happened_at for f in self.failovers),
            *(t.happened_at for t in self.truncations),
            *(p.ended_at for p in self.periods),
            *(s.ended_at for s in self.stalls),
            *(None if c.controller_to == NOBODY else c.happened_at for c in self.controllers),
            *(j.resumed_at for j in self.jumps if not self.of_groups),
            *(u.ended_at for u in self.unavailability if u.kind not in NO_CONSUMER),
        ]

    @cached_property
    def leaderless(self) -> Unused:
        """The partitions that had no leader."""
        return unused(self.unavailability, LEADERLESS)

    @cached_property
    def offline(self) -> Unused:
        """Those of them that were not only handed over from one living broker to another."""
        changes = {f.failover_id: f for f in self.failovers}
        rows = (u for u in self.unavailability if not is_handed_over(u, changes.get(u.failover_id or "")))
        return unused(rows, LEADERLESS)

    @cached_property
    def refusing(self) -> Unused:
        """The partitions that had a leader and refused writes with acks=all."""
        return unused(self.unavailability, NO_WRITES)

    @cached_property
    def idle(self) -> Unused:
        """The groups none of whose members consumed after a failure, or after what may have been one."""
        rows, failures = self.unavailability, self.failures
        return unused((u for u in rows if u.rebalance_id in failures), NO_CONSUMER)

    @cached_property
    def stopped(self) -> Unused:
        """The groups none of whose members consumed after a failure: not those whose last member may have closed."""
        sure = {i for i, cause in self.failures.items() if not cause.noun.is_silent_end}
        return unused((u for u in self.unavailability if u.rebalance_id in sure), NO_CONSUMER)

    @cached_property
    def losses(self) -> Mapping[PartitionName, RecordLoss]:
        """The partitions that lost records, or may have lost some, each with the bounds of its loss."""
        return losses_of(self.failovers, self.truncations)

    @property
    def records_lost(self) -> RecordLoss | None:
        """The bounds of all losses together; None where no record can be lost."""
        is_judged = self.losses or any(f.records_lost_high == 0 for f in self.failovers)
        return total_loss(self.failovers, self.truncations) if is_judged else None

    @cached_property
    def skipped(self) -> RecordsMoved:
        """The records that groups skipped."""
        return records_moved(self.jumps, JumpHarm.RECORDS_SKIPPED)

    @cached_property
    def read_again(self) -> RecordsMoved:
        """The records that groups read a second time."""
        return records_moved(self.jumps, JumpHarm.RECORDS_READ_AGAIN)

    @property
    def topics(self) -> list[str]:
        """The topics that lost records, or had some skipped, had no leader or refused writes: the worst first."""
        unusable = (self.leaderless, self.refusing)
        moved = ((j.topic, j.partition) for j in self.jumps)
        places = (*self.losses, *(p for sums in unusable for p in (*sums.subjects, *sums.possible)), *moved)
        return list(dict.fromkeys(topic for topic, _ in places))

    @property
    def brokers(self) -> list[int]:
        """The brokers that were away, or whose replicas were out of sync or cut."""
        former_leaders = (f.leader_from for f in self.failovers if not self.outages and f.leader_from is not None)
        truncated = (t.broker for t in self.truncations if not self.outages)
        others = (*(p.broker for p in self.periods), *truncated, *former_leaders)
        return sorted({*(o.broker for o in self.outages), *(b for b in others if b >= 0)})

    @property
    def groups(self) -> list[str]:
        """The groups that rebalanced, fell behind, or went on elsewhere."""
        others = {*(s.group_id for s in self.stalls), *(j.group_id for j in self.jumps)}
        return sorted({g for i in self.of_groups for g in i.group_ids} | others)

    @property
    def ended_at(self) -> datetime | None:
        """The instant at which all parts were over; None where a part was not."""
        ends = [end for end in self.ends if end is not None]
        return max(ends) if ends and len(ends) == len(self.ends) else None

    @property
    def back_in_sync_at(self) -> datetime | None:
        """The instant at which the last of brokers restarted in turn was in sync again; None: one was not waited for.

        Each had a controlled shutdown and a start that did not fail, and was back in every ISR before the next one
        stopped.
        """
        if not all(is_orderly(o) and not o.failed_starts and o.up_at and o.isr_recovered_at for o in self.outages):
            return None
        recovered = [max(o.up_at, o.isr_recovered_at) for o in self.outages if o.up_at and o.isr_recovered_at]
        stops = [o.down_at for o in self.outages[1:]]
        return max(recovered) if recovered and all(map(le, recovered, stops)) else None

    @property
    def is_over(self) -> bool | None:
        """Whether each partition could be used again, each broker was back and there was a controller, by the end.

        A group that a failure left without a consumer counts too; one whose members left does not. None: its last
        member may have left or died, a partition may not have been usable, or stood when the readings end, no member
        has come back to an offset that was changed, or the logs do not show a broker's return.
        """
        is_led = all(c.controller_to != NOBODY for c in self.controllers[-1:])
        is_usable = not (self.leaderless.still or self.refusing.still or self.stopped.still)
        if not (is_led and is_usable) or any(is_away_until(o, self.logs_end) for o in self.absent):
            return False
        is_awaited = any(s.ended_at is None for s in self.stalls) or any(j.resumed_at is None for j in self.jumps)
        may_go_on = is_awaited or self.idle.still or self.leaderless.possibly_still or self.refusing.possibly_still
        return None if may_go_on or self.absent else True

    @cached_property
    def harm(self) -> Harm:
        return next(harm for harm, holds in _LEVELS if holds(self))

    @property
    def claimed(self) -> Sequence[Unused]:
        """The sums that the headline names: the partitions that could not be used."""
        if self.harm is Harm.RECORDS_LOST:
            return [self.leaderless] if self.leaderless.still else []
        sums = {Harm.PARTITIONS_OFFLINE: self.leaderless, Harm.WRITES_REFUSED: self.refusing}
        return [sums[self.harm]] if self.harm in sums else []


def is_handed_over(interval: Unavailability, change: Failover | None) -> bool:
    """Whether a partition had no leader for no longer than it takes to move it from one living broker to another.

    The change has to be likely at least, and a proof has to bound the time.
    """
    if change is None or change.kind not in _HAND_OVERS or change.confidence not in _SURE:
        return False
    return interval.high_ms is not None and interval.high_ms * MS <= HANDED_OVER_WITHIN


def has_failed(cause: Cause) -> bool:
    """Whether a rebalance of that cause means that something failed, or may have failed."""
    return cause.noun.family.noun.is_failure


def uncontrolled_since(change: ControllerChange) -> datetime:
    """The latest instant since when there was no controller. Where none followed, that is the change itself."""
    length = 0 if change.controller_to == NOBODY else change.uncontrolled_low_ms or 0
    return change.happened_at - length * MS


def gather(
    window: Window,
    of_groups: Sequence[Incident] = (),
    outages: Sequence[BrokerOutage] = (),
    failovers: Sequence[Failover] = (),
    truncations: Sequence[Truncation] = (),
    periods: Sequence[OutOfSyncPeriod] = (),
    unavailability: Sequence[Unavailability] = (),
    isr_spans: Sequence[IsrSpan] = (),
    failures: Mapping[str | None, Cause] = MappingProxyType({}),
    group_incident_of: Mapping[str, str] = MappingProxyType({}),
    logs_end: datetime = LONG_AGO,
    jumps: Sequence[OffsetJump] = (),
) -> list[Happening]:
    """Everything that happened to brokers, partitions and groups around a window, each thing once.

    Each outage, each incident of groups and each harmful failover is part of exactly one happening. A loss of records
    counts in the window in which it happened: one after the window is left out, and one of a happening that began
    before the window is a happening of its own. `group_incident_of`: the group incident of each rebalance, by their
    ids. `logs_end`: the instant of the last line of any broker.
    """
    incarnation_of = {f.failover_id: f.topic_incarnation for f in failovers}
    failovers, truncations = _losses_of_window(window, failovers, truncations)
    acts = [*_acts(outages)]
    act_of = {o.outage_id: n for n, act in enumerate(acts) for o in act}
    with_absences = [*_with_absences(window, of_groups, outages)]
    with_outages = [*_with_outages(failovers, outages)]
    of_failover = {f.failover_id: outage_id for outage_id, f in with_outages}
    outage_of = {incident.incident_id: outage_id for outage_id, incident in with_absences}
    incidents = ((group_incident_of.get(u.rebalance_id or ""), u) for u in unavailability)
    origins = ((u.outage_id or outage_of.get(i or "") or of_failover.get(u.failover_id or ""), u) for i, u in incidents)
    judged = [f for f in failovers if f.records_lost_low is not None and window.holds(f.happened_at)]
    groups_by_act, failovers_by_act = _by_act(act_of, with_absences), _by_act(act_of, with_outages)
    cuts_by_act = _by_act(act_of, ((_outage_of_cut(t, judged, of_failover, incarnation_of), t) for t in truncations))
    unused_by_act = _by_act(act_of, origins)
    absences = [
        Happening(
            IncidentKind.CLUSTER_RESTART if len(act) > 1 and act[0].restart_id else IncidentKind.BROKER_OUTAGE,
            groups_by_act.get(n, ()),
            act,
            failovers_by_act.get(n, ()),
            cuts_by_act.get(n, ()),
            unavailability=unused_by_act.get(n, ()),
            failures=failures,
        )
        for n, act in enumerate(acts)
    ]
    idle = grouped(unused_by_act.get(None, ()), lambda u: group_incident_of.get(u.rebalance_id or ""))
    alone = [
        Happening(i.kind, (i,), unavailability=idle.get(i.incident_id, ()), failures=failures)
        for i in groups_by_act.get(None, ())
    ]
    unled, unused = failovers_by_act.get(None, ()), idle.get(None, ())
    leader_losses = [
        _with_cuts(h, cuts_by_act.get(None, ()), incarnation_of) for h in _leaders_lost(window, unled, unused)
    ]
    troubles = [p for p in periods if _is_trouble_alone(p, outages)]
    others = _without_outage(leader_losses, cuts_by_act.get(None, ()), unused, troubles, missing_broker(isr_spans))
    happenings = [*absences, *alone, *others]
    inside = [h for h in happenings if window.holds(min(h.begins))]
    lossy = [f for f in failovers if can_lose(f) and window.holds(f.happened_at)]
    everything = [*happenings, *_losses_alone(lossy, truncations, inside, incarnation_of)]
    jumps_of = grouped(jumps, lambda j: _rebalance_incident_of(j, group_incident_of))
    of_rebalances = [
        replace(h, logs_end=logs_end, jumps=[j for i in h.of_groups for j in jumps_of.get(i.incident_id, ())])
        for h in everything
    ]
    met = {j.jump_id for h in of_rebalances for j in h.jumps}
    return [*of_rebalances, *moved_offsets(j for j in jumps if j.jump_id not in met)]


def _rebalance_incident_of(jump: OffsetJump, group_incident_of: Mapping[str, str]) -> str | None:
    """The incident of the rebalance that is behind a jump; None where none is."""
    return group_incident_of.get(jump.rebalance_id or "") if jump.cause.noun.is_of_rebalance else None


def stalled_groups(stalls: Iterable[PartitionStall]) -> list[Happening]:
    """The groups with partitions that stood or fell behind, each with all of them, in order of time."""
    ordered = sorted(stalls, key=lambda s: (s.started_at, s.topic, s.partition))
    return [Happening(IncidentKind.LAG, stalls=own) for own in grouped(ordered, lambda s: s.group_id).values()]


def moved_offsets(jumps: Iterable[OffsetJump]) -> list[Happening]:
    """The jumps of groups without a rebalance behind them, by group and cause, and by time."""
    ordered = sorted(jumps, key=lambda j: (j.jumped_at, j.topic, j.partition))
    by_cause = grouped(ordered, lambda j: (j.group_id, j.cause)).values()
    return [
        Happening(IncidentKind.OFFSETS_MOVED, jumps=own)
        for rows in by_cause
        for own in _within(rows, lambda j: j.jumped_at)
    ]


def lost_quorums(controllers: Iterable[ControllerChange]) -> list[Happening]:
    """The losses of the majority of controllers. A quorum that loses it again and again: one until it keeps it."""
    changes = sorted((c for c in controllers if c.cause.is_majority_lost), key=lambda c: (c.happened_at, c.epoch))
    uncontrolled = _within(changes, lambda c: c.happened_at, uncontrolled_since)
    return [Happening(IncidentKind.QUORUM_LOST, controllers=own) for own in uncontrolled]


def _losses_of_window(
    window: Window, failovers: Iterable[Failover], truncations: Iterable[Truncation]
) -> tuple[list[Failover], list[Truncation]]:
    """Elections but for those that lose records after the window, and the cuts that count in the window.

    A cut counts if it lost committed records, or if an election of its partition was judged for what it lost.
    """
    elections = [f for f in failovers if f.happened_at < window.end or not can_lose(f)]
    judged = {
        (f.topic, f.partition) for f in elections if f.records_lost_low is not None and window.holds(f.happened_at)
    }
    cuts = [
        t
        for t in truncations
        if window.holds(t.happened_at)
        and (t.verdict == TruncationVerdict.COMMITTED_LOST or (t.topic, t.partition) in judged)
    ]
    return elections, cuts


def _losses_alone(
    lossy: Sequence[Failover],
    truncations: Sequence[Truncation],
    happenings: Sequence[Happening],
    incarnation_of: Mapping[str, int],
) -> Iterator[Happening]:
    """The losses of the window that no happening of the window has, by former leader or broker, and by time."""
    elections = {f.failover_id for h in happenings for f in h.failovers}
    cuts = {t.truncation_id for h in happenings for t in h.truncations}
    alone = [f for f in sorted(lossy, key=lambda f: f.happened_at) if f.failover_id not in elections]
    rest = [t for t in truncations if t.truncation_id not in cuts]
    for of_leader in grouped(alone, lambda f: f.leader_from).values():
        for changes in _within(of_leader, lambda f: f.happened_at):
            happening = _with_cuts(Happening(IncidentKind.LEADERS_LOST, failovers=changes), rest, incarnation_of)
            rest = [t for t in rest if t not in happening.truncations]
            yield happening
    yield from _cuts_alone(rest)


def _cuts_alone(truncations: Iterable[Truncation]) -> Iterator[Happening]:
    """The logs that were cut and lost records, by broker and time."""
    lossy = [t for t in truncations if t.verdict == TruncationVerdict.COMMITTED_LOST]
    for by_broker in grouped(sorted(lossy, key=lambda t: t.happened_at), lambda t: t.broker).values():
        for cuts in _within(by_broker, lambda t: t.happened_at):
            yield Happening(IncidentKind.LOG_CUT, truncations=cuts)


def _outage_of_cut(
    cut: Truncation,
    judged: Iterable[Failover],
    of_failover: Mapping[str, str | None],
    incarnation_of: Mapping[str, int],
) -> str | None:
    """The absence behind a cut: that of the last election before it for whose loss the partition was judged."""
    of_partition = [f for f in judged if (f.topic, f.partition) == (cut.topic, cut.partition)]
    if of_partition:
        before = [f for f in of_partition if _precedes(f, cut, incarnation_of)] or of_partition[:1]
        return of_failover.get(max(before, key=lambda f: f.happened_at).failover_id)
    return cut.outage_id or of_failover.get(cut.failover_id or "")


def _precedes(election: Failover, cut: Truncation, incarnation_of: Mapping[str, int]) -> bool:
    """Whether a replica cut its log after an election of its partition.

    The leader epoch that the replica followed decides, as epochs only rise within an incarnation of a topic. The clocks
    of two brokers decide where it is not known.
    """
    is_same = incarnation_of.get(cut.failover_id or "") == election.topic_incarnation
    if is_same and cut.leader_epoch is not None and election.epoch_to is not None:
        return election.epoch_to <= cut.leader_epoch
    return election.happened_at <= cut.happened_at


def _by_act(act_of: Mapping[str, int], rows: Iterable[tuple[str | None, R]]) -> dict[int | None, list[R]]:
    """Rows that are paired with the absence behind them, by the act of that absence; None: without an act."""
    pairs = grouped(rows, lambda pair: act_of.get(pair[0] or ""))
    return {n: [row for _, row in pairs_of_act] for n, pairs_of_act in pairs.items()}


def _with_absences(
    window: Window, of_groups: Iterable[Incident], outages: Iterable[BrokerOutage]
) -> Iterator[tuple[str | None, Incident]]:
    """Incidents of groups with the absence behind them, where it began in the window.

    An absence that began outside belongs to another night: the rebalances are then an incident of their own.
    """
    inside = {o.outage_id for o in outages if window.holds(o.down_at)}
    for incident in of_groups:
        yield incident.first_outage_id if incident.first_outage_id in inside else None, incident


def _acts(outages: Sequence[BrokerOutage]) -> Iterator[list[BrokerOutage]]:
    """Absences by act.

    An act is a rolling restart, shutdowns within a minute while one of their brokers is still away, or any other
    absence alone.
    """
    ordered = sorted(outages, key=lambda o: (o.down_at, o.broker, o.outage_id))
    together = grouped(ordered, lambda o: o.restart_id or ("" if is_orderly(o) else o.outage_id))
    shutdowns = together.pop("", [])
    yield from (list(act) for act in together.values())
    for stops in _within(shutdowns, lambda o: o.down_at):
        yield from runs(stops, lambda act, stop: any(o.up_at is None or o.up_at > stop.down_at for o in act))


def _within(
    rows: Iterable[R], at: Callable[[R], datetime], since: Callable[[R], datetime] | None = None
) -> list[list[R]]:
    """Rows in order of time, cut where more than ONE_ACT_WITHIN lies between two of them. `since`: when each began."""
    return runs(rows, lambda run, row: (since or at)(row) - at(run[-1]) <= ONE_ACT_WITHIN)


def _with_outages(
    failovers: Iterable[Failover], outages: Sequence[BrokerOutage]
) -> Iterator[tuple[str | None, Failover]]:
    """Failovers with the absence behind them. A restored leader belongs to the absence that had taken it away.

    A broker whose last log directory failed loses its leaders just before it halts: that is its absence.
    """
    last: dict[tuple[str, int], str | None] = {}
    for row in sorted(failovers, key=lambda f: (f.happened_at, f.failover_id)):
        place, at, outage = (row.topic, row.partition), row.happened_at, row.outage_id
        if row.kind == FailoverKind.LOG_DIR_FAILED and outage is None:
            outage = _halt_of(outages, row.leader_from, at)
        if row.kind in (FailoverKind.OFFLINE, FailoverKind.LOG_DIR_FAILED):
            last[place] = outage
        yield last.pop(place, None) if row.kind == FailoverKind.LEADER_RESTORED else outage, row


def _halt_of(outages: Iterable[BrokerOutage], broker: int | None, at: datetime) -> str | None:
    """The absence of a broker that halted over its log directories just before or after an instant."""
    absences = (o for o in outages if o.broker == broker and abs(o.down_at - at) <= ONE_ACT_WITHIN)
    return next((o.outage_id for o in absences if halts_over_log_dirs(o)), None)


def _is_trouble_alone(period: OutOfSyncPeriod, outages: Iterable[BrokerOutage]) -> bool:
    """Whether a broker's replicas were out of sync for a trouble without an absence, that of a failed disk included."""
    is_alone = period.outage_id is None and period.kind.noun.is_trouble
    return is_alone and not (period.kind == OutOfSyncKind.DISK and _halt_of(outages, period.broker, period.started_at))


def _without_outage(
    leader_losses: Sequence[Happening],
    truncations: Sequence[Truncation],
    unused: Sequence[Unavailability],
    troubles: Iterable[OutOfSyncPeriod],
    broker_missing: Callable[[Unavailability], int],
) -> Iterator[Happening]:
    """Happenings without an outage.

    They are replicas out of sync, with the leaders that their broker lost then; other losses of leaders, and partitions
    that had none as they are first mentioned; writes that stopped; logs that were cut.
    """
    with_leaders = {t.truncation_id for h in leader_losses for t in h.truncations}
    write_stops = [u for u in unused if u.kind in NO_WRITES and is_noticed(u)]
    for period in troubles:
        losses_of_period, leader_losses = split_by(leader_losses, partial(_is_of, period))
        stops_of_period, write_stops = split_by(write_stops, partial(_began_in, period, broker_missing))
        yield Happening(
            IncidentKind.REPLICAS_OUT,
            failovers=[f for h in losses_of_period for f in h.failovers],
            truncations=[t for h in losses_of_period for t in h.truncations],
            periods=(period,),
            unavailability=[*stops_of_period, *(u for h in losses_of_period for u in h.unavailability)],
        )
    yield from leader_losses
    unrecorded = [u for u in unused if u.kind in LEADERLESS and u.failover_id is None and is_noticed(u)]
    for rows in _within(sorted(unrecorded, key=lambda u: u.started_at), lambda u: u.started_at):
        yield Happening(IncidentKind.LEADERS_LOST, unavailability=rows)
    for rows in _within(sorted(write_stops, key=lambda u: u.started_at), lambda u: u.started_at):
        yield Happening(IncidentKind.WRITES_STOPPED, unavailability=rows)
    yield from _cuts_alone(t for t in truncations if t.truncation_id not in with_leaders)


def missing_broker(spans: Iterable[IsrSpan]) -> Callable[[Unavailability], int]:
    """A function for the broker that had left a partition's ISR last when its writes stopped; -1: not known."""
    shrinks = grouped(sorted(spans, key=lambda s: s.happened_at, reverse=True), lambda s: (s.topic, s.partition))

    def broker_of(row: Unavailability) -> int:
        spans_of_partition = shrinks.get((row.topic or "", row.partition or 0), ())
        return next((s.broker for s in spans_of_partition if s.happened_at <= row.started_at), NOBODY)

    return broker_of


def _began_in(period: OutOfSyncPeriod, broker_missing: Callable[[Unavailability], int], row: Unavailability) -> bool:
    """Whether writes stopped because the period's broker was out of sync, and at that time."""
    near = period.started_at - ONE_ACT_WITHIN <= row.started_at <= (period.ended_at or row.started_at)
    return near and broker_missing(row) == period.broker


def _with_cuts(happening: Happening, truncations: Iterable[Truncation], incarnation_of: Mapping[str, int]) -> Happening:
    """A loss of leaders with the logs that were cut afterwards, because the new leader had fewer records."""
    first: dict[tuple[str, int], Failover] = {}
    for f in happening.failovers:
        first.setdefault((f.topic, f.partition), f)
    of_partitions = ((t, first.get((t.topic, t.partition))) for t in truncations)
    cuts = [t for t, election in of_partitions if election and _precedes(election, t, incarnation_of)]
    return replace(happening, truncations=cuts)


def _leaders_lost(
    window: Window, failovers: Iterable[Failover], unused: Iterable[Unavailability]
) -> Iterator[Happening]:
    """Losses of leaders by broker and time: each partition until it had a leader again."""
    leaderless = grouped((u for u in unused if u.kind in LEADERLESS), lambda u: u.failover_id)
    change_of = {f.failover_id: f for f in failovers}
    noticed = {
        failover_id
        for failover_id, rows in leaderless.items()
        if any(is_noticed(u) and not is_handed_over(u, change_of.get(failover_id or "")) for u in rows)
    }
    episodes = [e for e in _episodes(failovers, noticed) if window.holds(e[0].happened_at)]
    for episodes_of_broker in grouped(episodes, lambda e: e[0].leader_from).values():
        for episodes_of_act in _within(episodes_of_broker, lambda e: e[0].happened_at):
            changes = [*chain.from_iterable(episodes_of_act)]
            rows = [u for f in changes for u in leaderless.get(f.failover_id, ())]
            yield Happening(IncidentKind.LEADERS_LOST, failovers=changes, unavailability=rows)


def _episodes(failovers: Iterable[Failover], noticed: Container[str | None]) -> list[list[Failover]]:
    """The harmful changes of each partition's leader, each with the changes that followed while it had no leader."""
    episodes: list[list[Failover]] = []
    last: dict[tuple[str, int], list[Failover]] = {}
    for row in sorted(failovers, key=lambda f: (f.happened_at, f.failover_id)):
        place = row.topic, row.partition
        if row.leader_from == NOBODY and place in last:
            last[place].append(row)
        elif row.kind.noun.is_harmful or row.failover_id in noticed:
            last[place] = [row]
            episodes.append(last[place])
    return episodes


def _is_of(period: OutOfSyncPeriod, happening: Happening) -> bool:
    """Whether the leaders were lost by the period's broker, and at that time."""
    first = happening.failovers[0]
    ends = period.ended_at or first.happened_at
    near = period.started_at - ONE_ACT_WITHIN <= first.happened_at <= ends + ONE_ACT_WITHIN
    return near and first.leader_from == period.broker


_LEVELS: tuple[tuple[Harm, Callable[[Happening], object]], ...] = (
    (Harm.RECORDS_LOST, lambda i: i.losses),
    (Harm.RECORDS_SKIPPED, lambda i: i.skipped.low),
    (Harm.PARTITIONS_OFFLINE, lambda i: i.offline.subjects),
    (Harm.WRITES_REFUSED, lambda i: i.refusing.subjects),
    (Harm.BROKER_LOST, lambda i: any(is_lost(o) for o in i.outages)),
    (Harm.NO_CONTROLLER, lambda i: i.controllers),
    (Harm.DATA_AT_RISK, lambda i: (i.outages and i.back_in_sync_at is None) or i.kind.noun.is_at_risk),
    (Harm.RECORDS_READ_AGAIN, lambda i: i.read_again.low),
    (
        Harm.CONSUMERS_STOPPED,
        lambda i: any(g.kind.noun.is_trouble or (g.cause is not None and has_failed(g.cause)) for g in i.of_groups),
    ),
    (Harm.LAG_GREW, lambda i: i.stalls),
    (Harm.BROKERS_RESTARTED, lambda i: i.outages),
    (Harm.ROUTINE, lambda i: True),
)
"""The condition of each harm, the worst first: the first that holds is the incident's harm."""


_NAMED = 3


def headline_of(happening: Happening) -> str:
    """The headline: the harm, its subject, its length and its origin in one sentence without a full stop."""
    origin = _ORIGINS.get(happening.kind, _group_clause)(happening)
    effect = _EFFECTS[happening.harm](happening) if happening.harm in _EFFECTS else ""
    if happening.harm == Harm.RECORDS_LOST and happening.claimed:
        effect = f"{effect}, and {_unused_clause(happening.leaderless)}"
    if happening.harm == Harm.CONSUMERS_STOPPED and happening.idle.still:
        origin = f"{origin}, and none is left"
    if happening.harm not in _EFFECTS and happening.leaderless.subjects:
        origin = f"{origin}; {_unused_clause(happening.leaderless)} as leaders were handed over"
    possible = next((sums for sums in (happening.leaderless, happening.refusing) if sums.count is None), None)
    if possible:
        origin = f"{origin}, and {_unused_clause(possible)}"
    return f"{words.sentence(effect)}: {origin}" if effect else words.sentence(origin)


def partitions_of(places: Sequence[PartitionName]) -> str:
    """Partitions in words: one by its name, several by their number and their topics."""
    topics = list(dict.fromkeys(topic for topic, _ in places))
    if len(places) == 1:
        return f"{places[0][0]}-{places[0][1]}"
    count = words.counted(len(places), "partition")
    return f"{count} of {words.counted(len(topics), 'topic')}" if len(topics) > 1 else f"{count} of {topics[0]}"


def _loss_clause(happening: Happening) -> str:
    loss = happening.records_lost or RecordLoss(0, None)
    low, high = loss.low, loss.high
    unclean = (f for f in happening.failovers if f.kind == FailoverKind.UNCLEAN_ELECTION)
    at = [f.happened_at for f in unclean if (f.topic, f.partition) in happening.losses]
    election = f" (unclean election at {min(at):%H:%M:%S})" if at and happening.outages else ""
    losers = [name for name, own in happening.losses.items() if own.low]
    where = f"{partitions_of(losers or list(happening.losses))}{election}"
    if not low:
        most = f"up to {words.counted(high, 'committed record')}" if high else "committed records"
        return f"{most} may have been lost in {where}"
    doubtful = [name for name in happening.losses if name not in losers]
    more = f", and more may have been in {partitions_of(doubtful)}" if doubtful else ""
    count = low if high is None else high
    least = "at least " if high is None else "" if low == high else f"{words.number(low)} to "
    return f"{least}{words.counted(count, 'committed record')} {words.verb(count, 'was', 'were')} lost in {where}{more}"


def _unused_clause(unused: Unused) -> str:
    return unused.clause(lambda places: f"{'partition ' if len(places) == 1 else ''}{partitions_of(places)}")


def _moved_clause(happening: Happening, moved: RecordsMoved) -> str:
    """The records that groups skipped or read again: at least as many as the rows show."""
    jumps = [j for j in happening.jumps if j.harm is moved.harm and j.records_low]
    groups = list(dict.fromkeys(j.group_id for j in jumps))
    who = f"group {groups[0]}" if len(groups) == 1 else words.counted(len(groups), "group")
    places = list(dict.fromkeys((j.topic, j.partition) for j in jumps))
    return f"{who} {moved.harm.noun.did.format(moved.records)} in {partitions_of(places)}"


_EFFECTS: Mapping[Harm, Callable[[Happening], str]] = {
    Harm.RECORDS_LOST: _loss_clause,
    Harm.RECORDS_SKIPPED: lambda happening: _moved_clause(happening, happening.skipped),
    Harm.RECORDS_READ_AGAIN: lambda happening: _moved_clause(happening, happening.read_again),
    Harm.PARTITIONS_OFFLINE: lambda happening: _unused_clause(happening.leaderless),
    Harm.WRITES_REFUSED: lambda happening: _unused_clause(happening.refusing),
}


def fate(outage: BrokerOutage, logs_end: datetime = LONG_AGO) -> str:
    """The clause about a broker's absence, to follow its name: how it went away, since when and for how long.

    `logs_end`: the instant of the last line of any broker, where the absence may not be shown until then.
    """
    length, since = away(outage), since_when(outage, outage.down_at.date())
    is_shown = is_away_until(outage, logs_end)
    absent = " and was not back when the logs end" if is_shown else ", and the logs do not show whether it came back"
    return f"{hedged_verb(outage)} {since}{f', away for {length}' if length else absent}"


def _outage_clause(happening: Happening) -> str:
    rows = happening.outages
    if len(rows) == 1:
        return f"broker {rows[0].broker} {fate(rows[0], happening.logs_end)}"
    names = sorted({o.broker for o in rows})
    brokers = words.listed([str(b) for b in names], 8)
    if happening.kind == IncidentKind.CLUSTER_RESTART:
        in_sync = f", the last in sync again at {back:%H:%M:%S}" if (back := happening.back_in_sync_at) else ""
        return f"brokers {brokers} were restarted one after another from {rows[0].down_at:%H:%M:%S} on{in_sync}"
    is_back = [o.up_at is not None for o in rows]
    absent = "" if all(is_back) else f", and {'not all' if any(is_back) else 'none'} came back"
    if not all(is_away_until(o, happening.logs_end) for o in happening.absent):
        absent = f", and the logs do not show whether {'all' if any(is_back) else 'they'} came back"
    return f"brokers {brokers} were shut down at {rows[0].down_at:%H:%M:%S}{absent}"


def _out_of_sync_clause(happening: Happening) -> str:
    period: OutOfSyncPeriod = happening.periods[0]
    length = "and still was when the logs end"
    if period.ended_at:
        length = f"for {words.duration(words.elapsed_ms(period.started_at, period.ended_at))}"
    elif period.observed_until:
        length = "and the logs do not show whether it came back"
    count = words.counted(period.partitions, "partition")
    return f"broker {period.broker} was out of sync in {count} {length}: {period.kind.noun.label}"


def _leaders_clause(happening: Happening) -> str:
    brokers = sorted({f.leader_from for f in happening.failovers if f.leader_from is not None} - {NOBODY})
    former_leader = _with_ids("broker", brokers) if brokers else "the former leader"
    if not happening.failovers:
        return "no line shows when the leader was lost"
    kinds = dict.fromkeys(f.kind for f in happening.failovers if f.kind.noun.is_harmful)
    events = [kind.noun.loss.format(former=former_leader) for kind in kinds]
    if events:
        return words.listed(events)
    causes = dict.fromkeys(f.kind.noun.clause for f in happening.failovers if f.kind != FailoverKind.UNKNOWN)
    why = f" {words.listed([*causes])}" if causes else ", and no line shows why"
    return f"the leader moved from {former_leader}{why}"


def _cut_clause(happening: Happening) -> str:
    brokers = sorted({t.broker for t in happening.truncations})
    return f"{_with_ids('broker', brokers)} cut {words.verb(len(brokers), 'its log', 'their logs')}"


def _stall_clause(happening: Happening) -> str:
    rows = happening.stalls
    places = {
        verb: list(dict.fromkeys((s.topic, s.partition) for s in rows if s.kind.noun.is_stand is is_stand))
        for verb, is_stand in (("stood still", True), ("fell behind", False))
    }
    verbs = [f"{verb} in {partitions_of(of_verb)}" for verb, of_verb in places.items() if of_verb]
    most = words.counted(max(s.lag_max for s in rows), "record")
    return f"group {rows[0].group_id} {words.listed(verbs)}: up to {most} waited in one"


def _jump_clause(happening: Happening) -> str:
    first = happening.jumps[0]
    if happening.harm in _EFFECTS:
        return first.cause.noun.clause
    places = partitions_of(list(dict.fromkeys((j.topic, j.partition) for j in happening.jumps)))
    if all(j.resumed_at is None for j in happening.jumps):
        return f"group {first.group_id} has not come back to {places}: {first.cause.noun.clause}"
    return f"group {first.group_id} went on elsewhere in {places}: {first.cause.noun.clause}"


def _quorum_clause(happening: Happening) -> str:
    first, last = happening.controllers[0], happening.controllers[-1]
    is_open = last.controller_to == NOBODY
    least, most = last.uncontrolled_low_ms, last.uncontrolled_high_ms
    length = f" for {words.duration(most)} at most" if most and not is_open else ""
    if least:
        length = f" for {words.duration(least)}{' at least' if is_open else ''}"
    if first is not last:
        elapsed = words.duration(last.happened_at - uncontrolled_since(first))
        length = f" {words.times(len(happening.controllers))} within {elapsed}"
    if is_open:
        length += ", and no line shows a controller afterwards"
    return f"the controllers had no majority{length}: no leader could be elected, and no topic created or changed"


def _with_ids(noun: str, ids: Iterable[int]) -> str:
    names = [str(i) for i in ids]
    return f"{words.verb(len(names), noun, f'{noun}s')} {words.listed(names, 8)}"


def _group_clause(happening: Happening) -> str:
    incident: Incident = happening.of_groups[0]
    groups = [f"group {g}" for g in incident.group_ids]
    who = groups[0] if len(groups) == 1 else words.counted(len(groups), "group")
    count, elapsed = incident.rebalance_count, words.elapsed_ms(incident.started_at, incident.ended_at)
    usual_verb = f"rebalanced{f' {words.times(count)}' if count > 1 else ''}"
    verb = (incident.kind.noun.verb or usual_verb).format(words.counted(count, "rebalance"))
    length = f" {'within' if count > 1 else 'for'} {words.duration(elapsed)}" if elapsed else ""
    is_in_turn = incident.kind in (IncidentKind.ROLLING_RESTART, IncidentKind.MEMBERS_REPLACED)
    cause = None if is_in_turn else incident.cause
    why = "" if cause is None else f": {cause.noun.label}"
    return f"{who} {verb}{length}{incident.kind.noun.note}{why}"


_ORIGINS: Mapping[IncidentKind, Callable[[Happening], str]] = {
    IncidentKind.CLUSTER_RESTART: _outage_clause,
    IncidentKind.REPLICAS_OUT: _out_of_sync_clause,
    IncidentKind.LEADERS_LOST: _leaders_clause,
    IncidentKind.LOG_CUT: _cut_clause,
    IncidentKind.LAG: _stall_clause,
    IncidentKind.OFFSETS_MOVED: _jump_clause,
    IncidentKind.QUORUM_LOST: _quorum_clause,
    IncidentKind.WRITES_STOPPED: lambda _: "no line shows which broker was missing",
    IncidentKind.BROKER_OUTAGE: lambda h: _outage_clause(h) if h.outages else _group_clause(h),
}
