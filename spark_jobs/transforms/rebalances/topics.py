"""The changes of topics that groups react to, each once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from spark_jobs.transforms.controllers import Term, speaks_for_cluster
from spark_jobs.transforms.rebalances.model import Event, TopicChange
from spark_jobs.transforms.windows import in_order

TOPIC_CHANGE_KINDS = ("topic_created", "topic_deleted", "partitions_added", "partition_created")

_ONE_CREATION = timedelta(seconds=5)
"""A topic's first partitions are created with it; partitions that come later were added."""


def topic_changes(events: Iterable[Event], terms: Sequence[Term]) -> list[TopicChange]:
    """The changes of the cluster's topics in order of time.

    Takes: silver.events of TOPIC_CHANGE_KINDS, the controllers' terms.
    Odd: every KRaft controller prints each record, and prints all of them again when it starts: only the active one's
    first word counts. KRaft prints added partitions one by one, without a word that the topic grew. Under ZooKeeper
    any broker creates a topic, and says so once.
    """
    found: dict[tuple[str, str, datetime | None], TopicChange] = {}
    born: dict[str, datetime] = {}
    for event in in_order(events):
        if event["kind"] not in TOPIC_CHANGE_KINDS or _is_replay(event, terms):
            continue
        topic, at = event["topic"], event["happened_at"]
        kind = event["kind"]
        if kind == "partition_created":
            born.setdefault(topic, at)
            if at - born[topic] <= _ONE_CREATION:
                continue
            kind = "partitions_added"
        elif kind == "topic_created":
            born[topic] = at
        elif kind == "topic_deleted":
            born.pop(topic, None)
        last = max((c.at for c in found.values() if c.kind == kind and c.topic == topic), default=None)
        if last is None or at - last > _ONE_CREATION:
            found[kind, topic, at] = TopicChange(at, kind, topic, event)
    return sorted(found.values(), key=lambda c: (c.at, c.kind, c.topic))


def _is_replay(event: Event, terms: Sequence[Term]) -> bool:
    return bool(event["pattern_id"].startswith("kraft.")) and not speaks_for_cluster(terms, event)
