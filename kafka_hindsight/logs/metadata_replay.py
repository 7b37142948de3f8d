"""What KRaft's controllers committed into `__cluster_metadata`, as events: the cluster's word, exact to the epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from typing import Any

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.catalog.rows import Event, MetadataFile
from kafka_hindsight.knowledge.metadata_log import FOLDER, UNDECODED
from kafka_hindsight.knowledge.version import READING, version_of
from kafka_hindsight.shared.windows import Window

PATTERN = "metadata_log.record"
"""Stands where a line has the pattern that claims it."""

_STATES = {0: "RECOVERED", 1: "RECOVERING"}
_LISTS = {
    "isr": "isr",
    "replicas": "replicas",
    "removing": "removingReplicas",
    "adding": "addingReplicas",
    "elr": "elr",
    "last_known_elr": "lastKnownElr",
}
"""Lists of brokers that a partition has, and what Kafka calls them."""

_TOPIC, _BROKER = 2, 4
"""Types of resources that a setting belongs to. Source: ConfigResource.Type."""

Record = Any
"""A MetadataRecord. The type of a record says which of its fields it has; those are never null."""

Said = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Partition:
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
    def of(cls, record: Record) -> Partition:
        """What a partition's record says."""
        lists = {name: tuple(getattr(record, name) or ()) for name in _LISTS}
        return cls(record.leader, record.leader_epoch, record.partition_epoch, record.recovery_state or 0, **lists)

    def merge(self, change: Record) -> Partition:
        """The partition after a change. Source: PartitionRegistration.merge: each change raises the partition epoch,
        each that names a leader, the same one included, the leader epoch."""
        led = change.leader is not None
        recovery = change.recovery_state
        lists = {
            name: getattr(self, name) if getattr(change, name) is None else tuple(getattr(change, name))
            for name in _LISTS
        }
        return Partition(
            leader=change.leader if led else self.leader,
            leader_epoch=self.leader_epoch + led,
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
class State:
    """What the records up to one say."""

    topics: dict[str, str] = field(default_factory=dict)
    partitions: dict[tuple[str, int], Partition] = field(default_factory=dict)
    brokers: dict[int, _Broker] = field(default_factory=dict)
    deposed_at: dict[int, datetime] = field(default_factory=dict)

    def leads(self, broker: int, at: datetime) -> bool:
        """Whether a broker leads anything, or did until what was committed at that instant."""
        return self.deposed_at.get(broker) == at or any(p.leader == broker for p in self.partitions.values())

    def forget(self) -> None:
        """Records are missing: what they changed is not known. A topic's id is its own for ever."""
        self.partitions.clear()
        self.brokers.clear()


class Replay:
    """A metadata log while it is replayed: the state so far, and what the records in `seen` say.

    Keeps: leader and partition epochs are those that every broker had; each change once, whosever copy it was read in.
    Edge case: where records are missing, epochs of partitions are unknown until a snapshot or a creation shows them.
    """

    def __init__(self, files: Iterable[MetadataFile], seen: Window) -> None:
        self.state = State()
        self.leaders: dict[int, int] = {}
        self.last: Record | None = None
        self.newest_epoch = -1
        self._spans, self._seen = spans_of_files(files), seen
        self._events: list[Event] = []

    def run(self, records: Iterable[Record]) -> None:
        """Takes: committed records in order, the next ones; a transaction among them ends among them."""
        for record in _applied(records):
            if self.last is not None:
                until, after = self.last.record_offset + 1, record.record_offset
                if after > until and not any(start <= until and after < end for start, end in self._spans):
                    self.state.forget()
            self.last, self.newest_epoch = record, max(self.newest_epoch, record.controller_epoch)
            if record.record_type == "leader_change":
                self.leaders[record.controller_epoch] = record.broker
            said = list(_SAYS.get(record.record_type, _nothing)(record, self.state))
            if record.snapshot_place == 0 and self._seen.holds(record.written_at):
                leader = self.leaders.get(record.controller_epoch)
                self._events += [_event(record, leader, kind, fields) for kind, fields in said]

    def events(self) -> list[Event]:
        """What the records in `seen` said, in the shape of silver.events, each ranked among those of its instant.

        Edge case: a controller's clock may go back; within one instant offsets order.
        """
        by_instant = sorted(self._events, key=lambda e: e.happened_at)
        ranked = (enumerate(same) for _, same in groupby(by_instant, key=lambda e: e.happened_at))
        return [replace(event, order=rank) for same in ranked for rank, event in same]


def spans_of_files(files: Iterable[MetadataFile]) -> list[tuple[int, int]]:
    """The stretches of the log that were read without a break, by the ledger of files."""
    return spans_of((f.first_offset, f.next_offset) for f in files if not f.is_snapshot)


def committed(records: Iterable[Record]) -> Iterator[Record]:
    """Records in the order of the log, the snapshots between them, without those that a later controller undid.

    Source: a node that follows a new leader cuts off what it has beyond the leader's log (KIP-595): what stands behind
    a record of a later epoch was never committed.
    """
    newest = -1
    for record in sorted(records, key=lambda r: (r.record_offset, -r.controller_epoch, r.snapshot_place)):
        if record.controller_epoch >= newest or record.snapshot_place:
            newest = max(newest, record.controller_epoch)
            yield record


def _applied(records: Iterable[Record]) -> Iterator[Record]:
    """Records without those of transactions that were aborted, or have not ended. Source: KIP-868."""
    held: list[Record] | None = None
    for record in records:
        kind = record.record_type
        if kind == "begin_transaction":
            held = []
        elif kind == "end_transaction":
            yield from held or ()
            held = None
        elif kind == "abort_transaction":
            held = None
        elif held is None or kind == "leader_change":
            yield record
        else:
            held.append(record)


def spans_of(segments: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The stretches of the log that were read without a break, in order: from an offset up to but without another.

    Takes: the first offset of each segment, and the one after its last.
    """
    found: list[tuple[int, int]] = []
    for start, end in sorted(segments):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _nothing(record: Record, state: State) -> Iterable[Said]:
    return ()


def _topic(record: Record, state: State) -> Iterable[Said]:
    state.topics[record.topic_id] = record.topic
    return [("topic_created", {"topic": record.topic})]


def _removed_topic(record: Record, state: State) -> Iterable[Said]:
    topic = state.topics.get(record.topic_id)
    state.partitions = {key: p for key, p in state.partitions.items() if key[0] != record.topic_id}
    return [("topic_deleted", {"topic": topic})] if topic else []


def _partition(record: Record, state: State) -> Iterable[Said]:
    now = Partition.of(record)
    state.partitions[record.topic_id, record.partition] = now
    place = _place(record, state)
    return [("partition_created", {**place, **_now(now)})] if place else []


def _changed_partition(record: Record, state: State) -> Iterable[Said]:
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
        "previous_isr": _listed(before.isr),
        "previous_state": _STATES.get(before.recovery_state),
        "detail": detail,
    }
    yield "partition_changed", {**place, **_now(now), **former}
    if any(getattr(record, name) is not None for name in ("replicas", "removing", "adding")):
        stays = "" if record.leader is not None else "leader=-2, "
        yield "reassignment_changed", {**place, **_now(now), "detail": f"{stays}{detail}"}


def _cleared_elr(record: Record, state: State) -> Iterable[Said]:
    """Source: ReplicationControlManager.replay of ClearElrRecord: one topic's, or all where none is named; no epoch
    rises."""
    for (topic_id, number), p in state.partitions.items():
        if record.topic in ("", state.topics.get(topic_id)) and (p.elr or p.last_known_elr):
            state.partitions[topic_id, number] = Partition(**{**vars(p), "elr": (), "last_known_elr": ()})
    return ()


def _registered(record: Record, state: State) -> Iterable[Said]:
    """Source: ClusterControlManager.registerBroker: a broker that registers again is fenced, and takes the place
    of its former process."""
    broker, before = record.broker, state.brokers.get(record.broker)
    now = _Broker(record.incarnation_id, bool(record.fenced), bool(record.in_controlled_shutdown))
    state.brokers[broker] = now
    if before and before.incarnation != now.incarnation:
        if not before.is_fenced:
            yield "broker_fenced", {"node": broker}
        yield "broker_incarnated", {"node": broker}


def _registration(record: Record, state: State) -> Iterable[Said]:
    """What fences a broker in its controlled shutdown lets it go; else it was missed, unless it led nothing.

    Source: BrokerHeartbeatManager.calculateNextBrokerState: a broker that leads nothing is let go at once, in a record
    that looks as if its session had run out.
    """
    broker = state.brokers.setdefault(record.broker, _Broker(None, record.fenced is False, False))
    named = {"node": record.broker}
    if record.in_controlled_shutdown and not broker.is_shutting_down:
        broker.is_shutting_down = True
        yield "broker_controlled_shutdown_granted", named
    if record.fenced and not broker.is_fenced:
        broker.is_fenced = True
        missed = "broker_fenced" if state.leads(record.broker, record.written_at) else "broker_fenced_idle"
        yield "broker_shutdown_granted" if broker.is_shutting_down else missed, named
    elif record.fenced is False and broker.is_fenced:
        broker.is_fenced = broker.is_shutting_down = False
        yield "broker_unfence_granted", named


def _unregistered(record: Record, state: State) -> Iterable[Said]:
    state.brokers.pop(record.broker, None)
    return ()


def _elected(record: Record, state: State) -> Iterable[Said]:
    return [("controller_elected", {"controller_epoch": record.controller_epoch})]


def _configured(record: Record, state: State) -> Iterable[Said]:
    said = {"reason": record.name, "detail": record.value}
    if record.resource_type == _TOPIC:
        yield "config_changed", {**said, "topic": record.resource}
    elif record.resource_type == _BROKER and record.value is not None:
        yield "config_changed", {**said, "node": int(record.resource) if record.resource else None}


def _lost(record: Record, state: State) -> Iterable[Said]:
    state.forget()
    return ()


_SAYS: Mapping[str, Callable[[Record, State], Iterable[Said]]] = {
    "topic": _topic,
    "remove_topic": _removed_topic,
    "partition": _partition,
    "partition_change": _changed_partition,
    "clear_elr": _cleared_elr,
    "register_broker": _registered,
    "broker_registration_change": _registration,
    "fence_broker": _registration,
    "unfence_broker": _registration,
    "unregister_broker": _unregistered,
    "leader_change": _elected,
    "config": _configured,
    UNDECODED: _lost,
}


def _place(record: Record, state: State) -> dict[str, Any] | None:
    """Topic and partition by name; None where the topic's record is not at hand."""
    topic = state.topics.get(record.topic_id)
    return {"topic": topic, "partition": record.partition} if topic is not None else None


def _now(p: Partition) -> dict[str, Any]:
    return {
        "leader": p.leader,
        "leader_epoch": p.leader_epoch,
        "partition_epoch": p.partition_epoch,
        "isr": _listed(p.isr),
        "replicas": _listed(p.replicas),
        "state": _STATES.get(p.recovery_state),
    }


def _listed(brokers: Sequence[int]) -> str:
    return ",".join(str(b) for b in brokers) or "[]"


def _difference(before: Partition, now: Partition) -> str:
    """What changed, as Kafka prints it. Source: PartitionRegistration.diff."""
    parts = [
        *((name, kafkas, getattr(before, name), getattr(now, name)) for name, kafkas in _LISTS.items()),
        ("leader", "leader", before.leader, now.leader),
        ("recovery_state", "leaderRecoveryState", _STATES[before.recovery_state], _STATES[now.recovery_state]),
        ("leader_epoch", "leaderEpoch", before.leader_epoch, now.leader_epoch),
        ("partition_epoch", "partitionEpoch", before.partition_epoch, now.partition_epoch),
    ]
    return ", ".join(
        f"{name}: {_shown(old)} -> {_shown(new)}"
        for field_, name, old, new in parts
        if old != new or (field_ == "elr" and old)
    )


def _shown(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def _event(record: Record, controller: int | None, kind: str, fields: Mapping[str, Any]) -> Event:
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
