"""The child process that asks a cluster: `python -m kafka_hindsight.kafka.cluster_reader`.

Stdin: a connection, then questions, one JSON line each. Stdout: for each question any number of lines `answer` and
`missing` (why an answer is not there), then `done`; or `refused`, if the settings can never work. librdkafka's admin
calls may abort this process while brokers go away: the parent keeps the answers that came before.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, as_completed
from typing import Any

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, ConfigResource, ConfigSource, OffsetSpec, ResourceType

from kafka_hindsight.kafka.connection import Connection, from_json
from kafka_hindsight.knowledge.broker_settings import BROKER_SETTINGS, TOPIC_SETTINGS
from kafka_hindsight.shared.exits import BadInput

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""The internal topics of Kafka. Source: Topic.java, INTERNAL_TOPICS."""

AUDITED = {
    "topic": frozenset(TOPIC_SETTINGS),
    "broker": frozenset(BROKER_SETTINGS) - {"auto.create.topics.enable", "broker.rack"}
    | {"group.initial.rebalance.delay.ms", "offsets.retention.minutes", "offsets.topic.num.partitions"},
}
"""Settings that a reading keeps even if they have Kafka's default."""

_OWN = {
    "topic": frozenset({ConfigSource.DYNAMIC_TOPIC_CONFIG}),
    "broker": frozenset(set(ConfigSource) - {ConfigSource.DEFAULT_CONFIG, ConfigSource.UNKNOWN_CONFIG}),
}
"""The sources of values that were set for this resource."""

_REFUSING = frozenset({KafkaError._AUTHENTICATION, KafkaError._SSL})
"""Connection errors that a retry would meet again."""

_PATIENCE = 1.0
"""Seconds in which another broker may still accept us after one has refused."""

_NAMED = 3
JsonLine = dict[str, Any]
Partitions = list[tuple[str, int]]


class AccessRefused(Exception):
    """The brokers refuse us, or librdkafka cannot use the settings."""


class Unanswered(Exception):
    """No broker answered; the text says why."""


def serve(open_asker: Callable[[Connection], Any]) -> None:
    """Answer questions until stdin ends, each by the method of its name."""
    try:
        connection = from_json(sys.stdin.readline())
    except BadInput as problem:
        write_line({"refused": "\n".join(problem.sentences)})
        return
    try:
        asker = open_asker(connection)
    except (KafkaException, TypeError, ValueError) as error:
        if isinstance(error, KafkaException) and error.args[0].code() != KafkaError._INVALID_ARG:
            raise
        write_line({"refused": connection.masked(error_text(error))})
        return
    for question in map(json.loads, sys.stdin):
        answer: Callable[..., Iterator[JsonLine]] = getattr(asker, question["ask"])
        try:
            for line in answer(question.get("of"), question["timeout"]):
                write_line(line)
        except AccessRefused as error:
            write_line({"refused": connection.masked(str(error))})
        except (KafkaException, Unanswered, TimeoutError) as error:
            write_line({"missing": connection.masked(error_text(error))})
        write_line({"done": True})


class Asker:
    """An admin client, and the errors of its connections."""

    def __init__(self, connection: Connection) -> None:
        self.errors: dict[str, KafkaError] = {}
        self.admin = AdminClient(
            {"client.id": "hindsight-snapshot", "log_level": 0, **connection.settings, "error_cb": self.note}
        )

    def note(self, error: KafkaError) -> None:
        """Keep the last error of each connection."""
        self.errors[error.str().partition(": ")[0]] = error

    def topics(self, _: Any, timeout: float) -> Iterator[JsonLine]:
        """Topics with leaders, replicas and ISR, the brokers, the controller, the cluster's id: from any broker.

        Raises:
            Refused: The brokers refuse us.
            Unanswered: No broker answered.
        """
        metadata = self._metadata(timeout)
        yield {
            "answer": {
                "cluster_id": metadata.cluster_id,
                "controller": metadata.controller_id,
                "brokers": [
                    {"id": b.id, "host": b.host, "port": b.port, "rack": None} for b in metadata.brokers.values()
                ],
                "topics": [
                    {
                        "topic": topic.topic,
                        "internal": topic.topic in INTERNAL_TOPICS,
                        "partitions": [
                            {"partition": p.id, "leader": p.leader, "replicas": list(p.replicas), "isr": list(p.isrs)}
                            for p in sorted(topic.partitions.values(), key=lambda p: p.id)
                        ],
                    }
                    for topic in sorted(metadata.topics.values(), key=lambda t: t.topic)
                ],
            }
        }
        yield from _missing((t.topic, KafkaException(t.error)) for t in metadata.topics.values() if t.error)

    def _metadata(self, timeout: float) -> Any:
        """The metadata of the cluster. A failed authentication is reported without waiting for the time-out."""
        answer: Future[Any] = Future()

        def ask() -> None:
            try:
                answer.set_result(self.admin.list_topics(timeout=timeout))
            except KafkaException as error:
                answer.set_exception(error)

        threading.Thread(target=ask, daemon=True).start()
        refused_at = None
        while not answer.done():
            self.admin.poll(0.05)
            refusals = [_message(e) for e in self.errors.values() if e.code() in _REFUSING]
            if refusals and refused_at is None:
                refused_at = time.monotonic()
            if refused_at and time.monotonic() - refused_at > _PATIENCE and not answer.done():
                raise AccessRefused("; ".join(sorted(refusals)))
        try:
            return answer.result()
        except KafkaException as error:
            reasons = sorted({_message(e) for e in self.errors.values() if e.code() != KafkaError._ALL_BROKERS_DOWN})
            raise Unanswered("; ".join([error_text(error), *reasons])) from error

    def brokers(self, _: Any, timeout: float) -> Iterator[JsonLine]:
        """The brokers with their racks, and the controller."""
        cluster = self.admin.describe_cluster(request_timeout=timeout).result(timeout + 1)
        brokers = [
            {"id": n.id, "host": n.host, "port": n.port, "rack": n.rack or None}
            for n in sorted(cluster.nodes, key=lambda n: n.id)
        ]
        controller = cluster.controller.id if cluster.controller else None
        yield {"answer": {"cluster_id": cluster.cluster_id, "controller": controller, "brokers": brokers}}

    def begin_offsets(self, partitions: Partitions, timeout: float) -> Iterator[JsonLine]:
        """[topic, partition, log start offset, leader epoch] of partitions that have a leader."""
        return self._offsets(partitions, OffsetSpec.earliest(), IsolationLevel.READ_UNCOMMITTED, timeout)

    def stable_offsets(self, partitions: Partitions, timeout: float) -> Iterator[JsonLine]:
        """[topic, partition, last stable offset, leader epoch]: below it no transaction is open."""
        return self._offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_COMMITTED, timeout)

    def end_offsets(self, partitions: Partitions, timeout: float) -> Iterator[JsonLine]:
        """[topic, partition, end offset, leader epoch] of partitions that have a leader."""
        return self._offsets(partitions, OffsetSpec.latest(), IsolationLevel.READ_UNCOMMITTED, timeout)

    def _offsets(
        self, partitions: Partitions, spec: OffsetSpec, isolation: IsolationLevel, timeout: float
    ) -> Iterator[JsonLine]:
        specs = {TopicPartition(t, p): spec for t, p in partitions}
        futures = self.admin.list_offsets(specs, isolation_level=isolation, request_timeout=timeout)
        ends, wrong = [], []
        for partition, answer in self._results(futures, timeout):
            if isinstance(answer, BaseException):
                wrong.append((f"{partition.topic}-{partition.partition}", answer))
            elif answer.offset < 0:  # librdkafka's value for a broker that did not answer
                wrong.append((f"{partition.topic}-{partition.partition}", TimeoutError("its leader did not answer")))
            else:
                ends.append([partition.topic, partition.partition, answer.offset, answer.leader_epoch])
        yield {"answer": sorted(ends)}
        yield from _missing(wrong)

    def groups(self, _: Any, timeout: float) -> Iterator[JsonLine]:
        """The names of all groups that consume."""
        listing = self.admin.list_consumer_groups(request_timeout=timeout).result(timeout + 1)
        yield {"answer": sorted(g.group_id for g in listing.valid)}
        yield from _missing(("a broker", e if isinstance(e, Exception) else KafkaException(e)) for e in listing.errors)

    def members(self, groups: list[str], timeout: float) -> Iterator[JsonLine]:
        """Each group with its state, coordinator and members, as soon as its coordinator has answered."""
        futures = self.admin.describe_consumer_groups(groups, request_timeout=timeout)
        for group, answer in self._results(futures, timeout):
            is_error = isinstance(answer, BaseException)
            yield {"answer": {"group": group, "error": error_text(answer)} if is_error else _group(answer)}

    def committed(self, groups: list[str], timeout: float) -> Iterator[JsonLine]:
        """Each group with its committed offsets, as soon as its coordinator has answered."""
        futures: dict[str, Future[Any]] = {}
        for group in groups:
            request = [ConsumerGroupTopicPartitions(group)]
            futures |= self.admin.list_consumer_group_offsets(request, request_timeout=timeout)
        wrong = []
        for group, answer in self._results(futures, timeout):
            if isinstance(answer, BaseException):
                wrong.append((group, answer))
            else:
                offsets = sorted(answer.topic_partitions, key=lambda p: (p.topic, p.partition))
                epochs = [[p.topic, p.partition, p.leader_epoch] for p in offsets]
                committed = [[p.topic, p.partition, p.offset] for p in offsets]
                yield {"answer": {"group": group, "committed": committed, "committed_epochs": epochs}}
        yield from _missing(wrong)

    def broker_configs(self, brokers: list[int], timeout: float) -> Iterator[JsonLine]:
        """The settings of brokers, one answer for each."""
        yield from self._configs("broker", [[ConfigResource(ResourceType.BROKER, str(b))] for b in brokers], timeout)

    def topic_configs(self, topics: list[str], timeout: float) -> Iterator[JsonLine]:
        """The settings of topics."""
        yield from self._configs("topic", [[ConfigResource(ResourceType.TOPIC, t) for t in topics]], timeout)

    def _configs(self, kind: str, requests: list[list[ConfigResource]], timeout: float) -> Iterator[JsonLine]:
        futures: dict[ConfigResource, Future[Any]] = {}
        for request in requests:
            futures |= self.admin.describe_configs(request, request_timeout=timeout)
        configs, wrong = [], []
        for resource, answer in self._results(futures, timeout):
            if isinstance(answer, BaseException):
                wrong.append((f"{kind} {resource.name}", answer))
            else:
                configs += [c for e in answer.values() if (c := _config(kind, resource.name, e))]
        yield {"answer": sorted(configs, key=lambda c: (c["resource"], c["name"]))}
        yield from _missing(wrong)

    def _results(self, futures: Mapping[Any, Future[Any]], timeout: float) -> Iterator[tuple[Any, Any]]:
        """Each key with its result or its error, as they arrive; those that time out come last."""
        names = {id(future): name for name, future in futures.items()}
        unanswered = set(names)
        try:
            for future in as_completed(futures.values(), timeout + 1):
                unanswered.discard(id(future))
                yield names[id(future)], future.exception() or future.result()
        except TimeoutError:
            late = TimeoutError(f"no answer within {timeout:g} s")
            yield from ((names[i], late) for i in unanswered)


def _group(description: Any) -> JsonLine:
    members = [
        {
            "member_id": m.member_id,
            "client_id": m.client_id,
            "host": m.host,
            "instance_id": m.group_instance_id or None,
            "assignment": sorted([p.topic, p.partition] for p in m.assignment.topic_partitions),
        }
        for m in sorted(description.members, key=lambda m: m.member_id)
    ]
    return {
        "group": description.group_id,
        "state": _name_or_none(description.state.name),
        "type": _name_or_none(description.type.name),
        "assignor": description.partition_assignor or None,
        "coordinator": description.coordinator.id if description.coordinator else None,
        "members": members,
    }


def _name_or_none(name: str) -> str | None:
    """A name; None for UNKNOWN: brokers before 3.8 report no type, and librdkafka may not know a state."""
    return None if name == "UNKNOWN" else name


def _config(kind: str, resource: str, entry: Any) -> JsonLine | None:
    """A setting, if it was set or an audit reads it; None otherwise. Sensitive values are left out."""
    source = ConfigSource(int(entry.source))
    if entry.name not in AUDITED[kind] and source not in _OWN[kind]:
        return None
    value = None if entry.is_sensitive else entry.value
    return {"resource_type": kind, "resource": resource, "name": entry.name, "value": value, "source": source.name}


def _missing(wrong: Any) -> Iterator[JsonLine]:
    """One line for each reason, with the names that it holds for."""
    by_reason: dict[str, list[str]] = {}
    for name, error in wrong:
        by_reason.setdefault(error_text(error), []).append(name)
    for reason, names in sorted(by_reason.items()):
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield {"missing": f"{', '.join(sorted(names)[:_NAMED])}{more}: {reason}"}


def error_text(error: BaseException) -> str:
    """An error as text: the name of its code, and the message of librdkafka or the broker."""
    cause = error.args[0] if isinstance(error, KafkaException) and error.args else error
    return f"{cause.name()}: {cause.str()}" if isinstance(cause, KafkaError) else str(cause) or "no answer in time"


def _message(error: KafkaError) -> str:
    """The message of a connection's error, without librdkafka's milliseconds at its end."""
    return str(error.str()).partition(" (after ")[0]


def write_line(line: JsonLine) -> None:
    """Write one line of the protocol and flush it: this process may abort before the next."""
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(Asker)
