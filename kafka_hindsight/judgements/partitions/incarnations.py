"""Events of many topics, taken apart into the incarnations of single partitions."""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from itertools import dropwhile, groupby, pairwise
from operator import attrgetter
from typing import TypeVar

from kafka_hindsight.catalog.kinds import PARTITION_KINDS, Kind
from kafka_hindsight.catalog.rows import Event, Failover, IsrChange, TopicChange
from kafka_hindsight.catalog.value_class import value_class
from kafka_hindsight.judgements.brokers.controllers import (
    ControllerEpoch,
    incarnations_begun,
    speaks_for_cluster,
    was_reverted,
)
from kafka_hindsight.judgements.partitions.partition_readings import NO_READINGS, PartitionReadings
from kafka_hindsight.judgements.partitions.partition_readings import Partition as Partition
from kafka_hindsight.judgements.reasoning.epochs import between_falls
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Timeline, by_instant, timelines
from kafka_hindsight.shared.windows import broker_ids, in_order

ABOUT_PARTITIONS = frozenset((*PARTITION_KINDS, Kind.PARTITION_CHANGED)) - {Kind.LOG_START_MOVED}
"""Kinds about leaders, replicas and the ends of logs: where a log begins changes none of these."""

_FROM_EVERY_CONTROLLER = (Kind.PARTITION_CREATED, Kind.UNCLEAN_PARTITION_CHANGE)
"""Kinds that standby controllers print too, and that every controller prints again when it starts."""

_REPLICAS = attrgetter("replicas")

_Row = TypeVar("_Row", Event, Failover, IsrChange)


# A proposal (isr_shrink_proposed) is not a commit: Partition.maybeShrinkIsr asks, the controller decides.
ISR_KINDS = (
    Kind.PARTITION_CREATED,
    Kind.LEADER_STARTED,
    Kind.LEADERSHIP_KEPT,
    Kind.LEADER_AND_ISR_RECEIVED,
    Kind.ISR_UPDATED,
    Kind.PARTITION_STATE_CHANGED,
    Kind.REPLICA_REMOVED_FROM_ISR,
    Kind.UNCLEAN_PARTITION_CHANGE,
    Kind.PARTITION_CHANGED,
)
_ISR_DIFF = re.compile(r"(?<!\w)isr: \[([\d, ]*)\] -> \[([\d, ]*)\].* partitionEpoch: (\d+) -> (\d+)")


@value_class()
class Commit:
    """One committed ISR. `version` is the partition epoch (KRaft) or ZooKeeper version, None where no line names it."""

    isr: tuple[int, ...]
    version: int | None
    leader_epoch: int | None
    at: datetime
    line: Event


_PROPOSALS = (Kind.ISR_SHRINK_PROPOSED, Kind.ISR_EXPAND_PROPOSED)

_ONLY_LEADERS = (Kind.LEADER_STARTED, Kind.ISR_UPDATED)
"""Kinds that a broker writes only of partitions that it leads."""


@dataclass(frozen=True)
class Incarnation:
    """One partition from the creation of its topic to the deletion: its events in order, its readings by time.

    `gone_at`: when its topic was deleted, all metadata of the cluster began again, or the next incarnation had begun;
    None while it is there.
    """

    key: Partition
    number: int
    events: Sequence[Event]
    readings: PartitionReadings
    gone_at: datetime | None

    @property
    def name(self) -> str:
        """Topic and partition, as Kafka writes them."""
        return f"{self.key[1]}-{self.key[2]}"

    @cached_property
    def events_by_time(self) -> Timeline[Event]:
        return by_instant(self.events)

    @cached_property
    def _leading_lines(self) -> dict[int | None, Timeline[Event]]:
        lines = (e for e in self.events if e.kind in _ONLY_LEADERS)
        return timelines(lines, attrgetter("broker"), attrgetter("happened_at"))

    def leading_lines(self, broker: int | None) -> Timeline[Event]:
        """The lines of a broker that only leaders write."""
        return self._leading_lines.get(broker) or by_instant(())

    @cached_property
    def lists_of_replicas(self) -> Timeline[Event]:
        """The lines that list its replicas, but for those that repeat an older list.

        A controller of KRaft that starts prints the records that it reads, in which a reassignment may not have begun.
        Source: ReplicationControlManager.replay(PartitionRecord); each change raises the partition epoch.
        """
        lists: list[Event] = []
        newest = 0
        for event in self.events:
            if event.replicas and (event.partition_epoch is None or event.partition_epoch >= newest):
                newest = event.partition_epoch or newest
                lists.append(event)
        return by_instant(lists)

    @cached_property
    def _by_kind(self) -> dict[str, Timeline[Event]]:
        return timelines(self.events, attrgetter("kind"), attrgetter("happened_at"))

    def of_kind(self, kind: Kind) -> Timeline[Event]:
        return self._by_kind.get(kind) or by_instant(())

    @cached_property
    def commits(self) -> list[Commit]:
        """Its ISRs in the order in which they were committed."""
        return commits_of([*(e for e in self.events if e.kind in ISR_KINDS), *_written_at_once(self.events)])

    @cached_property
    def unanswered(self) -> list[datetime]:
        """The instants of changes of the ISR that leaders asked for, where nothing says whether each was written."""
        commit_ids = {e.line_id for e in _written_at_once(self.events)}
        return [e.happened_at for e in _unanswered(self.events) if e.line_id not in commit_ids]

    def leader_start(self, broker: int | None, epoch: int | None) -> Event | None:
        """The line with which a broker became leader in an epoch."""
        starts = (e for e in self.of_kind(Kind.LEADER_STARTED) if e.leader_epoch == epoch)
        return next((e for e in starts if e.broker == broker), None)

    def replicas_shown_by(self, instant: datetime) -> tuple[int, ...] | None:
        """Its replicas, the preferred leader first, as last shown up to an instant."""
        line, reading = self.lists_of_replicas.last_until(instant), self.readings.last_until(instant, _REPLICAS)
        if reading is not None and (line is None or reading.snapshot_at >= line.happened_at):
            return tuple(reading.replicas or ())
        return None if line is None else broker_ids(line.replicas) or ()

    def replicas_at(self, instant: datetime) -> tuple[int, ...] | None:
        """Its replicas, the preferred leader first, as last shown up to an instant, else as first shown after it."""
        replicas = self.replicas_shown_by(instant)
        if replicas is not None:
            return replicas
        line, reading = self.lists_of_replicas.first_after(instant), self.readings.first_after(instant, _REPLICAS)
        if reading is not None and (line is None or reading.snapshot_at < line.happened_at):
            return tuple(reading.replicas or ())
        return None if line is None else broker_ids(line.replicas) or ()


def incarnations_of(
    events: Iterable[Event],
    readings: Mapping[Partition, PartitionReadings],
    epochs: Sequence[ControllerEpoch],
    topic_changes: Iterable[TopicChange],
) -> list[Incarnation]:
    """The incarnations by partition and time, each with its events of ABOUT_PARTITIONS and its readings.

    A new one begins where the topic was deleted, and where epochs begin again: at 0 in a topic that is created again
    under its old name. There the lines that a standby controller repeats are left out: they may be about the former
    incarnation. A change that a controller decided and reverted did not happen. A partition that readings alone show
    has one incarnation, without events. `events` are those of whole topics.
    """
    ordered = in_order(e for e in events if e.topic is not None)
    deletions, begins = _deletions_of(topic_changes, ordered), incarnations_begun(epochs)
    events_of = by_partition(e for e in ordered if e.kind in ABOUT_PARTITIONS and not was_reverted(epochs, e))
    incarnations = []
    for key in sorted({*events_of, *readings}):
        lives = [
            life
            for _, of_cluster in groupby(events_of[key], lambda e: bisect_right(begins, e.happened_at))
            for of_topic in _between_deletions(list(of_cluster), deletions[key[1]], epochs)
            for life in between_falls(of_topic)
        ] or [[]]
        starts = [None, *(life[0].happened_at for life in lives[1:]), None]
        for number, life in enumerate(lives):
            own_readings = readings.get(key, NO_READINGS).within(starts[number], starts[number + 1])
            if life or own_readings:
                begin = life[0].happened_at if life else own_readings[0].snapshot_at
                possible_ends = (*deletions[key[1]], *begins, starts[number + 1])
                ends = (at for at in possible_ends if at is not None and at > begin)
                incarnations.append(Incarnation(key, number, life, own_readings, min(ends, default=None)))
    return incarnations


def by_partition(rows: Iterable[_Row], time: str | None = None) -> defaultdict[Partition, list[_Row]]:
    """Rows by their partition, each partition's in order of an instant where one is named."""
    rows_of: defaultdict[Partition, list[_Row]] = defaultdict(list)
    for row in sorted(rows, key=attrgetter(time)) if time else rows:
        if row.topic is not None and row.partition is not None:
            rows_of[row.cluster, row.topic, row.partition].append(row)
    return rows_of


_TOPIC_ID = re.compile(r" with (?:topic )?ID ([\w-]{22})(?![\w-])")


def _deletions_of(topic_changes: Iterable[TopicChange], events: Iterable[Event]) -> defaultdict[str, list[datetime]]:
    """The instants at which each topic was deleted, in order."""
    deletions: defaultdict[str, list[datetime]] = defaultdict(list)
    changes = [c for c in topic_changes if c.kind == Kind.TOPIC_DELETED]
    for change in changes:
        insort(deletions[change.topic], change.at)
    deleted_ids = {_topic_id(c.event.text) for c in changes}
    for topic, at in _repeated_deletions(events, deleted_ids):
        insort(deletions[topic], at)
    return deletions


def _repeated_deletions(events: Iterable[Event], deleted_ids: Container[str | None]) -> Iterator[tuple[str, datetime]]:
    """The topics whose last life was deleted when no line of an active controller shows it, each with an instant.

    Each controller of KRaft prints the committed records again when it starts, and a topic has a new id in each life:
    the first line about the deletion of an id shows that it was deleted by then.
    Source: ReplicationControlManager.replay(RemoveTopicRecord); KIP-516.
    """
    lines = (e for e in events if e.kind in (Kind.PARTITION_CREATED, Kind.TOPIC_DELETED))
    for topic, own in grouped(lines, attrgetter("topic")).items():
        ids = [_topic_id(e.text) for e in own]
        last = [*dict.fromkeys(ids)][-1]
        deletions = [
            e for e, topic_id in zip(own, ids, strict=True) if e.kind == Kind.TOPIC_DELETED and topic_id == last
        ]
        if deletions and last is not None and last not in deleted_ids:
            yield topic, deletions[0].happened_at


def _topic_id(text: str) -> str | None:
    """The id of a topic that a controller's line of KRaft names."""
    match = _TOPIC_ID.search(text)
    return match[1] if match else None


def _between_deletions(
    events: list[Event], deletions: list[datetime], epochs: Sequence[ControllerEpoch]
) -> list[list[Event]]:
    if not deletions or events[-1].happened_at < deletions[0]:
        return [events]
    lives: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.kind not in _FROM_EVERY_CONTROLLER or speaks_for_cluster(epochs, event):
            lives[bisect_right(deletions, event.happened_at)].append(event)
    # What lies between a deletion and the next creation still belongs to the deletion.
    since_creation = partial(dropwhile, lambda e: e.kind != Kind.PARTITION_CREATED and e.leader_epoch != 0)
    incarnations = (list(since_creation(own)) if number else own for number, own in sorted(lives.items()))
    return [life for life in incarnations if life]


def commits_of(lines: Iterable[Event]) -> list[Commit]:
    """The ISRs of one incarnation of a partition in the order in which they were committed, each as first logged.

    Brokers and controllers that start log old commits again; the version identifies them. A line without a version
    (leader_started up to 3.2) counts only where no line with one shows the same ISR at that leader epoch.
    """
    first: dict[int, Commit] = {}
    unversioned: list[Commit] = []
    for commit in (c for e in lines for c in _commits_in(e)):
        if commit.version is None:
            unversioned.append(commit)
        else:
            first.setdefault(commit.version, commit)
    isrs_with_version = {(c.leader_epoch, frozenset(c.isr)) for c in first.values()}
    ordered = [first[v] for v in sorted(first)]
    for commit in unversioned:
        if (commit.leader_epoch, frozenset(commit.isr)) not in isrs_with_version:
            ordered.insert(_place(ordered, commit), commit)
    return ordered


def _unanswered(events: Iterable[Event]) -> list[Event]:
    """The proposals of changes of the ISR that neither an update nor a refusal of the same leader answers."""
    open_proposals: dict[int | None, list[Event]] = defaultdict(list)
    unanswered: list[Event] = []
    for event in events:
        if event.kind in (Kind.ISR_UPDATED, Kind.ISR_UPDATE_REJECTED):
            open_proposals.pop(event.broker, None)
        elif event.kind in _PROPOSALS:
            unanswered += open_proposals.pop(event.broker, [])
            open_proposals[event.broker].append(event)
    return sorted([*unanswered, *(e for own in open_proposals.values() for e in own)], key=attrgetter("happened_at"))


def _written_at_once(events: Sequence[Event]) -> list[Event]:
    """The proposals of changes of the ISR that a leader of Kafka 2.3 or before wrote at once, as commits.

    It logs no update. So the next proposal of the same leader starts from what it wrote; later versions log an update
    between the two. Where that shows the version, each other proposal that it does not refuse was written too.
    Source: Partition.updateIsr until 2.3 (an update is a TRACE line, a refusal "skip updating ISR" an INFO line); from
    2.4 on Partition.shrinkIsr, expandIsr, handleAlterPartitionUpdate log "ISR updated to".
    """
    of_leader = grouped(_unanswered(events), attrgetter("broker"))
    starts = grouped((e for e in events if e.kind == Kind.LEADER_STARTED), attrgetter("broker"))
    commits: list[Event] = []
    for leader, proposals in of_leader.items():
        if any(before.isr == after.previous_isr for before, after in pairwise(proposals)):
            epochs = by_instant(starts.get(leader, ()))
            for proposal in proposals:
                start = epochs.last_until(proposal.happened_at)
                commits.append(replace(proposal, leader_epoch=start.leader_epoch if start else None))
    return commits


def _place(ordered: Sequence[Commit], commit: Commit) -> int:
    """Where a commit without a version belongs: leader epochs first, then time."""
    for i in range(len(ordered), 0, -1):
        before = ordered[i - 1]
        if before.leader_epoch is None or commit.leader_epoch is None or before.leader_epoch == commit.leader_epoch:
            if before.at <= commit.at:
                return i
        elif before.leader_epoch < commit.leader_epoch:
            return i
    return 0


def _commits_in(event: Event) -> Iterator[Commit]:
    at, epoch, version = event.happened_at, event.leader_epoch, event.partition_epoch
    if event.kind == Kind.UNCLEAN_PARTITION_CHANGE:
        diff = _ISR_DIFF.search(event.detail or "")
        if diff:
            before, after = broker_ids(diff[1]) or (), broker_ids(diff[2]) or ()
            yield Commit(before, int(diff[3]), event.previous_leader_epoch, at, event)
            yield Commit(after, int(diff[4]), epoch, at, event)
        return
    if event.kind == Kind.PARTITION_CHANGED and version is not None:
        yield Commit(broker_ids(event.previous_isr) or (), version - 1, event.previous_leader_epoch, at, event)
    isr = broker_ids(event.isr)
    if isr is not None:
        yield Commit(isr, 0 if event.kind == Kind.PARTITION_CREATED else version, epoch, at, event)
