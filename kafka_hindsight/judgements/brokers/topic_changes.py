"""The changes of topics that groups react to, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, TopicChange
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch, speaks_for_cluster
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.shared.windows import in_order

TOPIC_CHANGE_KINDS = (
    Kind.TOPIC_CREATED,
    Kind.TOPIC_DELETED,
    Kind.PARTITIONS_DELETED,
    Kind.PARTITIONS_ADDED,
    Kind.PARTITION_CREATED,
)

_ONE_CREATION = timedelta(seconds=5)
"""A topic's first partitions are created with it; partitions that come later were added."""


def topic_changes(events: Iterable[Event], terms: Sequence[ControllerEpoch]) -> list[TopicChange]:
    """The changes of the cluster's topics in order of time.

    Every KRaft controller prints each record, and prints all of them again when it starts: only the first line of the
    active one counts. KRaft prints added partitions one by one, without a line that the topic grew. Under ZooKeeper any
    broker creates a topic, and logs that once. A topic of which no controller's line shows the deletion was deleted
    when the first coordinator forgot its offsets.
    """
    ordered = [e for e in in_order(events) if e.kind in TOPIC_CHANGE_KINDS and _counts(e, terms)]
    deleted_by_controllers = {e.topic for e in ordered if e.kind == Kind.TOPIC_DELETED}
    changes: list[TopicChange] = []
    last_at: dict[tuple[str, str], datetime] = {}
    created_at: dict[str, datetime] = {}
    for event in ordered:
        kind, topic, at = event.kind, event.topic, event.happened_at
        if topic is None:
            continue
        if kind == Kind.PARTITION_CREATED:
            if at - created_at.setdefault(topic, at) <= _ONE_CREATION:
                continue
            kind = Kind.PARTITIONS_ADDED
        elif kind == Kind.TOPIC_CREATED:
            created_at[topic] = at
        elif kind == Kind.TOPIC_DELETED:
            created_at.pop(topic, None)
        last = last_at.get((kind, topic))
        if last is None or at - last > _ONE_CREATION:
            last_at[kind, topic] = at
            changes.append(TopicChange(at=at, kind=kind, topic=topic, event=quote(event)))
    changes += (c for c in _deletions_by_coordinators(ordered) if c.topic not in deleted_by_controllers)
    return sorted(changes, key=lambda c: (c.at, c.kind, c.topic))


def _counts(event: Event, terms: Sequence[ControllerEpoch]) -> bool:
    return not event.pattern_id.startswith("kraft.") or speaks_for_cluster(terms, event)


def _deletions_by_coordinators(ordered: Iterable[Event]) -> Iterator[TopicChange]:
    """The deletions of topics that coordinators show, each by its first line.

    Each broker writes of each deletion, once or for each of its partitions of __consumer_offsets. One that was paused
    writes late: its first line about a topic is about the first deletion. Source: GroupCoordinator
    handleDeletedPartitions (2.0 to 3.9), GroupCoordinatorShard.onPartitionsDeleted.
    """
    last_at: dict[tuple[int | None, str], datetime] = {}
    deletions_of_broker = Counter[tuple[int | None, str]]()
    deletions = Counter[str]()
    for event in ordered:
        if event.kind != Kind.PARTITIONS_DELETED:
            continue
        for topic in sorted({name.rpartition("-")[0] for name in (event.members or "").split(", ")}):
            writer = event.broker, topic
            if writer not in last_at or event.happened_at - last_at[writer] > _ONE_CREATION:
                deletions_of_broker[writer] += 1
            last_at[writer] = event.happened_at
            if deletions_of_broker[writer] > deletions[topic]:
                deletions[topic] += 1
                yield TopicChange(at=event.happened_at, kind=Kind.TOPIC_DELETED, topic=topic, event=quote(event))
