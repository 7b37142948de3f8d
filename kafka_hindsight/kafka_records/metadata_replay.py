"""Events from the records that KRaft controllers committed to `__cluster_metadata`. They are exact to the epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, MetadataFile
from kafka_hindsight.kafka_records.metadata_log import FOLDER, UNDECODED
from kafka_hindsight.knowledge.version import READING, version_of
from kafka_hindsight.shared.windows import Window

PATTERN = "metadata_log.record"
"""The pattern id of these events."""

_STATES = {0: "RECOVERED", 1: "RECOVERING"}
_LISTS = {
    "isr": "isr",
    "replicas": "replicas",
    "removing": "removingReplicas",
    "adding": "addingReplicas",
    "elr": "elr",
    "last_known_elr": "lastKnownElr",
}
"""The lists of brokers of a partition, and Kafka's names for them."""

_TOPIC, _BROKER = 2, 4
"""Resource types of a setting. Source: ConfigResource.Type."""

AnyRecord = Any
"""A MetadataRecord. Its type says which fields it has; those are never null."""

EventFields = tuple[Kind, Mapping[str, Any]]


@dataclass(frozen=True)
class PartitionRegistration:
    """A partition as it was committed. Source: PartitionRegistration."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    recovery_state: int
    isr: tuple[int, ...] = ()
    replicas: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()

    @classmethod
    def of(cls, record: AnyRecord) -> PartitionRegistration:
        """The partition of a partition record."""
        lists = {name: tuple(getattr(record, name) or ()) for name in _LISTS}
        return cls(record.leader, record.leader_epoch, record.partition_epoch, record.recovery_state or 0, **lists)

    def merge(self, change: AnyRecord) -> PartitionRegistration:
        """The partition after a change.

        Each change raises the partition epoch; each that names a leader, even the same one, raises the leader epoch.
        Source: PartitionRegistration.merge.
        """
        has_leader = change.leader is not None
        recovery = change.recovery_state
        lists = {
            name: getattr(self, name) if getattr(change, name) is None else tuple(getattr(change, name))
            for name in _LISTS
        }
        return PartitionRegistration(
            leader=change.leader if has_leader else self.leader,
            leader_epoch=self.leader_epoch + has_leader,
            partition_epoch=self.partition_epoch + 1,
            recovery_state=self.recovery_state if recovery is None else recovery,
            **lists,
        )


@dataclass
class _Broker:
    incarnation: str | None
    is_fenced: bool
    is_shutting_down: bool


@dataclass
class MetadataImage:
    """The cluster's metadata after some records."""

    topics: dict[str, str] = field(default_factory=dict)
    partitions: dict[tuple[str, int], PartitionRegistration] = field(default_factory=dict)
    brokers: dict[int, _Broker] = field(default_factory=dict)
    deposed_at: dict[int, datetime] = field(default_factory=dict)

    def leads(self, broker: int, at: datetime) -> bool:
        """Whether a broker leads a partition, or lost one at that instant."""
        return self.deposed_at.get(broker) == at or any(p.leader == broker for p in self.partitions.values())

    def forget(self) -> None:
        """Drop what missing records may have changed. Topics stay: a topic's id never changes."""
        self.partitions.clear()
        self.brokers.clear()


class MetadataReplay:
    """A metadata log while it is replayed: the state so far, and the events of the records in `window`.

    Leader and partition epochs are those of every broker. Each change counts once, whichever copy it was read from.
    Where records are missing, epochs of partitions are unknown until a snapshot or a creation shows them.
    """

    def __init__(self, files: Iterable[MetadataFile], window: Window) -> None:
        self.state = MetadataImage()
        self.leaders: dict[int, int] = {}
        self.last: AnyRecord | None = None
        self.newest_epoch = -1
        self._spans, self._window = spans_of_files(files), window
        self._events: list[Event] = []

    def run(self, records: Iterable[AnyRecord]) -> None:
        """Apply the next committed records, in order. A transaction that begins among them must end among them."""
        for record in _applied(records):
            if self.last is not None:
                until, after = self.last.record_offset + 1, record.record_offset
                if after > until and not any(start <= until and after < end for start, end in self._spans):
                    self.state.forget()
            self.last, self.newest_epoch = record, max(self.newest_epoch, record.controller_epoch)
            if record.record_type == "leader_change":
                self.leaders[record.controller_epoch] = record.broker
            handler = _HANDLERS.get(record.record_type)
            drafts = list(handler(record, self.state)) if handler else []
            if record.snapshot_place == 0 and self._window.holds(record.written_at):
                leader = self.leaders.get(record.controller_epoch)
                self._events += [_event(record, leader, kind, fields) for kind, fields in drafts]

    def events(self) -> list[Event]:
        """The events of the records in `window` as rows of silver.events, each ranked among those of its instant.

        A controller's clock may go back. Events of one instant are in the order of their offsets.
        """
        by_instant = sorted(self._events, key=lambda e: e.happened_at)
        ranked = (enumerate(same) for _, same in groupby(by_instant, key=lambda e: e.happened_at))
        return [replace(event, order=rank) for same in ranked for rank, event in same]


def spans_of_files(files: Iterable[MetadataFile]) -> list[tuple[int, int]]:
    """The stretches of the log that were read without a gap, by the ledger of files."""
    return offset_ranges((f.first_offset, f.next_offset) for f in files if not f.is_snapshot)


def committed(records: Iterable[AnyRecord]) -> Iterator[AnyRecord]:
    """Records and snapshots in the order of the log, without the records that a later controller undid.

    A node that follows a new leader truncates its log to the leader's (KIP-595). So a record of an earlier epoch behind
    one of a later epoch was never committed.
    """
    newest = -1
    for record in sorted(records, key=lambda r: (r.record_offset, -r.controller_epoch, r.snapshot_place)):
        if record.controller_epoch >= newest or record.snapshot_place:
            newest = max(newest, record.controller_epoch)
            yield record


def _applied(records: Iterable[AnyRecord]) -> Iterator[AnyRecord]:
    """Records without those of transactions that were aborted or have not ended. Source: KIP-868."""
    pending: list[AnyRecord] | None = None
    for record in records:
        kind = record.record_type
        if kind == "begin_transaction":
            pending = []
        elif kind == "end_transaction":
            yield from pending or ()
            pending = None
        elif kind == "abort_transaction":
            pending = None
        elif pending is None or kind == "leader_change":
            yield record
        else:
            pending.append(record)


def offset_ranges(segments: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches of the log that were read without a gap, in order, as (first offset, offset after the last).

    `segments` have the same form.
    """
    spans: list[tuple[int, int]] = []
    for start, end in sorted(segments):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _apply_topic(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    state.topics[record.topic_id] = record.topic
    return [(Kind.TOPIC_CREATED, {"topic": record.topic})]


def _apply_topic_removal(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    topic = state.topics.get(record.topic_id)
    state.partitions = {key: p for key, p in state.partitions.items() if key[0] != record.topic_id}
    return [(Kind.TOPIC_DELETED, {"topic": topic})] if topic else []


def _apply_partition(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    now = PartitionRegistration.of(record)
    state.partitions[record.topic_id, record.partition] = now
    place = _place(record, state)
    return [(Kind.PARTITION_CREATED, {**place, **_partition_fields(now)})] if place else []


def _apply_partition_change(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    key = (record.topic_id, record.partition)
    before, place = state.partitions.get(key), _place(record, state)
    if before is None:
        return
    now = state.partitions[key] = before.merge(record)
    if now.leader != before.leader:
        state.deposed_at[before.leader] = record.written_at
    if not place:
        return
    detail = _difference(before, now)
    former = {
        "previous_leader": before.leader,
        "previous_leader_epoch": before.leader_epoch,
        "previous_isr": _broker_list(before.isr),
        "previous_state": _STATES.get(before.recovery_state),
        "detail": detail,
    }
    yield Kind.PARTITION_CHANGED, {**place, **_partition_fields(now), **former}
    if any(getattr(record, name) is not None for name in ("replicas", "removing", "adding")):
        stays = "" if record.leader is not None else "leader=-2, "
        yield Kind.REASSIGNMENT_CHANGED, {**place, **_partition_fields(now), "detail": f"{stays}{detail}"}


def _apply_elr_removal(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    """Clear the ELR of one topic, or of all where no topic is named. No epoch rises.

    Source: ReplicationControlManager.replay of ClearElrRecord.
    """
    for (topic_id, number), p in state.partitions.items():
        if record.topic in ("", state.topics.get(topic_id)) and (p.elr or p.last_known_elr):
            state.partitions[topic_id, number] = PartitionRegistration(**{**vars(p), "elr": (), "last_known_elr": ()})
    return ()


def _apply_registration(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    """Register a broker. One that registers again is fenced, and replaces its former process.

    Source: ClusterControlManager.registerBroker.
    """
    broker, before = record.broker, state.brokers.get(record.broker)
    now = _Broker(record.incarnation_id, bool(record.fenced), bool(record.in_controlled_shutdown))
    state.brokers[broker] = now
    if before and before.incarnation != now.incarnation:
        if not before.is_fenced:
            yield Kind.BROKER_FENCED, {"node": broker}
        yield Kind.BROKER_INCARNATED, {"node": broker}


def _apply_registration_change(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    """Fence or unfence a broker, or start its controlled shutdown.

    A broker that is fenced in its controlled shutdown has finished it; else its session expired, unless it led nothing.
    A broker that leads nothing finishes its shutdown at once, in a record that looks like an expired session. Source:
    BrokerHeartbeatManager.calculateNextBrokerState.
    """
    broker = state.brokers.setdefault(record.broker, _Broker(None, record.fenced is False, False))
    fields = {"node": record.broker}
    if record.in_controlled_shutdown and not broker.is_shutting_down:
        broker.is_shutting_down = True
        yield Kind.BROKER_CONTROLLED_SHUTDOWN_GRANTED, fields
    if record.fenced and not broker.is_fenced:
        broker.is_fenced = True
        missed = Kind.BROKER_FENCED if state.leads(record.broker, record.written_at) else Kind.BROKER_FENCED_IDLE
        yield Kind.BROKER_SHUTDOWN_GRANTED if broker.is_shutting_down else missed, fields
    elif record.fenced is False and broker.is_fenced:
        broker.is_fenced = broker.is_shutting_down = False
        yield Kind.BROKER_UNFENCE_GRANTED, fields


def _apply_unregistration(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    state.brokers.pop(record.broker, None)
    return ()


def _apply_election(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    return [(Kind.CONTROLLER_ELECTED, {"controller_epoch": record.controller_epoch})]


def _apply_config(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    fields = {"reason": record.name, "detail": record.value}
    if record.resource_type == _TOPIC:
        yield Kind.CONFIG_CHANGED, {**fields, "topic": record.resource}
    elif record.resource_type == _BROKER and record.value is not None:
        yield Kind.CONFIG_CHANGED, {**fields, "node": int(record.resource) if record.resource else None}


def _apply_undecoded(record: AnyRecord, state: MetadataImage) -> Iterable[EventFields]:
    state.forget()
    return ()


_HANDLERS: Mapping[str, Callable[[AnyRecord, MetadataImage], Iterable[EventFields]]] = {
    "topic": _apply_topic,
    "remove_topic": _apply_topic_removal,
    "partition": _apply_partition,
    "partition_change": _apply_partition_change,
    "clear_elr": _apply_elr_removal,
    "register_broker": _apply_registration,
    "broker_registration_change": _apply_registration_change,
    "fence_broker": _apply_registration_change,
    "unfence_broker": _apply_registration_change,
    "unregister_broker": _apply_unregistration,
    "leader_change": _apply_election,
    "config": _apply_config,
    UNDECODED: _apply_undecoded,
}


def _place(record: AnyRecord, state: MetadataImage) -> dict[str, Any] | None:
    """Topic and partition by name; None where the topic's record is missing."""
    topic = state.topics.get(record.topic_id)
    return {"topic": topic, "partition": record.partition} if topic is not None else None


def _partition_fields(p: PartitionRegistration) -> dict[str, Any]:
    return {
        "leader": p.leader,
        "leader_epoch": p.leader_epoch,
        "partition_epoch": p.partition_epoch,
        "isr": _broker_list(p.isr),
        "replicas": _broker_list(p.replicas),
        "state": _STATES.get(p.recovery_state),
    }


def _broker_list(brokers: Sequence[int]) -> str:
    return ",".join(str(b) for b in brokers) or "[]"


def _difference(before: PartitionRegistration, now: PartitionRegistration) -> str:
    """The change of a partition, as Kafka prints it. Source: PartitionRegistration.diff."""
    parts = [
        *((name, kafkas, getattr(before, name), getattr(now, name)) for name, kafkas in _LISTS.items()),
        ("leader", "leader", before.leader, now.leader),
        ("recovery_state", "leaderRecoveryState", _STATES[before.recovery_state], _STATES[now.recovery_state]),
        ("leader_epoch", "leaderEpoch", before.leader_epoch, now.leader_epoch),
        ("partition_epoch", "partitionEpoch", before.partition_epoch, now.partition_epoch),
    ]
    return ", ".join(
        f"{name}: {_printed(old)} -> {_printed(new)}"
        for field_, name, old, new in parts
        if old != new or (field_ == "elr" and old)
    )


def _printed(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _event(record: AnyRecord, controller: int | None, kind: Kind, fields: Mapping[str, Any]) -> Event:
    offset = record.record_offset
    return Event(
        line_id=row_id(record.cluster, FOLDER, record.controller_epoch, offset, kind),
        cluster=record.cluster,
        origin=Origin.RECORD,
        source=FOLDER,
        happened_at=record.written_at,
        order=0,
        broker=controller,
        kind=kind,
        pattern_id=PATTERN,
        text=f"offset {offset}: {record.text}",
        knowledge_version=version_of(READING),
        **fields,
    )
