"""The changes of topics that groups react to, each once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, TopicChange
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch, speaks_for_cluster
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.shared.windows import in_order

TOPIC_CHANGE_KINDS = (Kind.TOPIC_CREATED, Kind.TOPIC_DELETED, Kind.PARTITIONS_ADDED, Kind.PARTITION_CREATED)

_ONE_CREATION = timedelta(seconds=5)
"""A topic's first partitions are created with it; partitions that come later were added."""


def topic_changes(events: Iterable[Event], terms: Sequence[ControllerEpoch]) -> list[TopicChange]:
    """The changes of the cluster's topics in order of time.

    Every KRaft controller prints each record, and prints all of them again when it starts: only the first line of the
    active one counts. KRaft prints added partitions one by one, without a line that the topic grew. Under ZooKeeper any
    broker creates a topic, and logs that once.
    """
    changes: list[TopicChange] = []
    last_at: dict[tuple[str, str], datetime] = {}
    created_at: dict[str, datetime] = {}
    for event in in_order(events):
        if event.kind not in TOPIC_CHANGE_KINDS or event.topic is None:
            continue
        if event.pattern_id.startswith("kraft.") and not speaks_for_cluster(terms, event):
            continue
        kind, topic, at = event.kind, event.topic, event.happened_at
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
    return sorted(changes, key=lambda c: (c.at, c.kind, c.topic))
