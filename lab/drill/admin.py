"""The requests and changes of a drill to its cluster, through Kafka's own AdminClient."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from py4j.protocol import Py4JJavaError

from kafka_hindsight.judgements.groups.coordinators import offsets_partition_of
from lab.drill.jars import NEWEST, libs
from lab.drill.java import Jvm

_SECONDS = 20
_ANSWERS_WITHIN = 60
_TRIES = 10
"""A client finds a new controller within seconds, and a broker a new topic."""

_BYTES = "org.apache.kafka.common.serialization.ByteArraySerializer"


class AdminFault(Exception):
    """Kafka refused what the drill asked for; the text holds Kafka's words."""


CONSUMERS, SHARES, STREAMS_OWN = "consumers", "share", "streams"
"""Kinds of groups: of consumers and of all that use the classic protocol, and two of their own."""


@dataclass(frozen=True)
class Group:
    """A consumer group at one instant, as its coordinator describes it.

    `members`: client ids, one for each member; `owns`: what each of them owns, in the same order.
    """

    state: str
    coordinator: int
    members: tuple[str, ...]
    owns: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class LivePartition:
    """A partition at one instant; leader -1: none."""

    topic: str
    partition: int
    leader: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]


def _owned(assignment: Any, kind: str) -> Any:
    """The partitions that a member owns, or the tasks of an application of Streams."""
    return assignment.activeTasks() if kind == STREAMS_OWN else assignment.topicPartitions()


class Admin:
    """One AdminClient of the newest Kafka in a JVM of its own. Threads may share it.

    Admin calls of librdkafka can abort the whole process while brokers go away; these cannot. Before
    4.0 a client whose metadata names none but brokers that are gone never asks another one (KIP-899).
    """

    def __init__(self, reach: Mapping[str, str], log: Path) -> None:
        self._jvm = Jvm(libs(NEWEST), NEWEST, log, _ANSWERS_WITHIN, collects=True)
        self._reach = reach
        patience = {"request.timeout.ms": "8000", "default.api.timeout.ms": str(_SECONDS * 1000)}
        fresh = {"metadata.max.age.ms": "5000"}  # Before 2.8 a controller that is none any more does not say so itself.
        config = {"client.id": "drill", **reach, **patience, **fresh}
        self._client: Any = self._jvm.java.org.apache.kafka.clients.admin.AdminClient.create(self._jvm.map(config))
        self._admin = self._jvm.java.org.apache.kafka.clients.admin

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._jvm.end()

    def group(self, group: str, kind: str = CONSUMERS) -> Group:
        """The group; one that the cluster does not know is Dead and has no coordinator or members."""
        try:
            description, state = self._described(group, kind)
        except AdminFault as fault:
            if "GroupIdNotFound" in str(fault):
                return Group("Dead", -1, (), ())
            raise
        owns = sorted(
            (m.clientId(), tuple(sorted(p.toString() for p in _owned(m.assignment(), kind))))
            for m in description.members()
        )
        coordinator = description.coordinator()
        return Group(
            state=state.toString(),
            coordinator=coordinator.id() if coordinator else -1,
            members=tuple(client for client, _ in owns),
            owns=tuple(partitions for _, partitions in owns),
        )

    def _described(self, group: str, kind: str) -> tuple[Any, Any]:
        """A group of that kind, of consumers or of another kind, such as workers of Connect; and its state."""
        names = self._jvm.list([group])
        if kind != CONSUMERS:
            calls = {SHARES: self._client.describeShareGroups, STREAMS_OWN: self._client.describeStreamsGroups}
            description = self._got(calls[kind](names).all()).get(group)
            return description, description.groupState()
        try:
            description = self._got(self._client.describeConsumerGroups(names).all()).get(group)
            return description, description.groupState()
        except AdminFault as fault:
            if "is not a consumer group" not in str(fault):
                raise
        description = self._got(self._client.describeClassicGroups(names).all()).get(group)
        return description, description.state()

    def topics(self) -> tuple[LivePartition, ...]:
        """Every partition of every topic, internal ones too."""
        every = self._admin.ListTopicsOptions().listInternal(True)
        names = self._got(self._client.listTopics(every).names())
        described = self._client.describeTopics(self._jvm.java.java.util.ArrayList(names)).allTopicNames()
        return tuple(
            LivePartition(
                name,
                p.partition(),
                p.leader().id() if p.leader() else -1,
                tuple(n.id() for n in p.replicas()),
                tuple(n.id() for n in p.isr()),
            )
            for name, topic in sorted(self._got(described).items())
            for p in topic.partitions()
        )

    def controller(self, kraft: bool) -> int:
        """The node that is the active controller.

        Under KRaft a broker names a random broker as the controller. The quorum names the right one.
        """
        if kraft:
            return int(self._got(self._client.describeMetadataQuorum().quorumInfo()).leaderId())
        return int(self._got(self._client.describeCluster().controller()).id())

    def transaction_coordinator(self, transactional_id: str) -> int:
        """The broker that coordinates the transactions of a producer.

        Before 3.0 no request asks for it: KIP-664.

        Source: TransactionStateManager.partitionFor, which counts as the coordinators of groups do.
        """
        leaders = [p.leader for p in self.topics() if p.topic == "__transaction_state"]
        return leaders[offsets_partition_of(transactional_id, len(leaders))]

    def create_topic(
        self,
        topic: str,
        partitions: int = 3,
        replicas: int = 3,
        assignment: Mapping[int, Sequence[int]] | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """Create a topic; `assignment` names the replicas of each partition, the preferred leader first."""
        if assignment:
            placed = {p: self._jvm.list(ids) for p, ids in assignment.items()}
            new_topic = self._admin.NewTopic(topic, self._jvm.map(placed))
        else:
            new_topic = self._admin.NewTopic(topic, partitions, replicas)
        new_topic.configs(self._jvm.map(configs or {}))
        self._got(self._client.createTopics(self._jvm.list([new_topic])).all())

    def delete_topic(self, topic: str) -> None:
        """Deletes a topic."""
        self._got(self._client.deleteTopics(self._jvm.list([topic])).all())

    def add_partitions(self, topic: str, to: int) -> None:
        """Raises the number of a topic's partitions."""
        new_partitions = self._admin.NewPartitions.increaseTo(to)
        self._got(self._client.createPartitions(self._jvm.map({topic: new_partitions})).all())

    def set_topic(self, topic: str, name: str, value: str) -> None:
        """Give one setting of a topic another value."""
        self._set(self._resource().Type.TOPIC, topic, name, value)

    def _resource(self) -> Any:
        return self._jvm.java.org.apache.kafka.common.config.ConfigResource

    def _set(self, kind: Any, resource: str, name: str, value: str) -> None:
        operation = self._admin.AlterConfigOp
        place = self._resource()(kind, resource)
        change = operation(self._admin.ConfigEntry(name, value), operation.OpType.SET)
        changes = self._jvm.map({place: self._jvm.list([change])})
        self._in_time(lambda: self._client.incrementalAlterConfigs(changes).all(), "UnknownTopicOrPartition")

    def throttle(self, topic: str, broker: int, rate: int) -> None:
        """Let a broker fetch so many bytes a second where it follows a topic and is behind."""
        self.set_topic(topic, "follower.replication.throttled.replicas", "*")
        self._set(self._resource().Type.BROKER, str(broker), "follower.replication.throttled.rate", str(rate))

    def elect_preferred(self, topic: str) -> None:
        """Give every partition of a topic that another leads back to its first replica."""
        kind = self._jvm.java.org.apache.kafka.common.ElectionType.PREFERRED
        ours = [
            self._partition(p.topic, p.partition)
            for p in self.topics()
            if p.topic == topic and p.leader != p.replicas[0]
        ]
        partition_set = self._jvm.java.java.util.HashSet(self._jvm.list(ours))
        self._in_time(lambda: self._client.electLeaders(kind, partition_set).all(), "NotController")

    def _in_time(self, call: Callable[[], Any], not_yet: str) -> Any:
        """Ask again as long as Kafka answers that it is not ready."""
        for _ in range(_TRIES):
            try:
                return self._got(call())
            except AdminFault as fault:
                if not_yet not in str(fault):
                    raise
                time.sleep(1)
        return self._got(call())

    def reassign(self, topic: str, partition: int, replicas: Sequence[int]) -> None:
        """Move a partition to other brokers."""
        target = self._admin.NewPartitionReassignment(self._jvm.list(replicas))
        assignments = {self._partition(topic, partition): self._jvm.java.java.util.Optional.of(target)}
        self._got(self._client.alterPartitionReassignments(self._jvm.map(assignments)).all())

    def cancel_reassignment(self, topic: str, partition: int) -> None:
        """Calls the move of a partition off."""
        assignments = {self._partition(topic, partition): self._jvm.java.java.util.Optional.empty()}
        self._got(self._client.alterPartitionReassignments(self._jvm.map(assignments)).all())

    def welcome(self, user: str, secret: str, group: str, topic: str) -> None:
        """Give a user a password, and let it read a group and a topic."""
        self.give_password(user, secret)
        rights = [self._right(user, kind, name) for kind, name in (("GROUP", group), ("TOPIC", topic))]
        self._got(self._client.createAcls(self._jvm.list(rights)).all())

    def give_password(self, user: str, secret: str) -> None:
        """Give a user a password."""
        scram = self._admin.ScramCredentialInfo(self._admin.ScramMechanism.SCRAM_SHA_256, 4096)
        self._credentials(self._admin.UserScramCredentialUpsertion(user, scram, secret))

    def withdraw_password(self, user: str) -> None:
        """Delete a user's password."""
        self._credentials(self._admin.UserScramCredentialDeletion(user, self._admin.ScramMechanism.SCRAM_SHA_256))

    def _credentials(self, change: Any) -> None:
        self._got(self._client.alterUserScramCredentials(self._jvm.list([change])).all())

    def deny(self, user: str, kind: str, name: str) -> None:
        """Take the right to read a GROUP or a TOPIC from a user."""
        self._got(self._client.deleteAcls(self._jvm.list([self._right(user, kind, name).toFilter()])).all())

    def _right(self, user: str, kind: str, name: str) -> Any:
        common = self._jvm.java.org.apache.kafka.common
        kinds = common.resource.ResourceType
        resource = common.resource.ResourcePattern(getattr(kinds, kind), name, common.resource.PatternType.LITERAL)
        allow = common.acl.AclPermissionType.ALLOW
        return common.acl.AclBinding(
            resource, common.acl.AccessControlEntry(f"User:{user}", "*", common.acl.AclOperation.ALL, allow)
        )

    def limit(self, client: str, name: str, value: float) -> None:
        """Give a client id a quota of that name."""
        quota = self._jvm.java.org.apache.kafka.common.quota
        limit = quota.ClientQuotaAlteration.Op(name, value)
        entity = quota.ClientQuotaEntity(self._jvm.map({"client-id": client}))
        alteration = quota.ClientQuotaAlteration(entity, self._jvm.list([limit]))
        self._got(self._client.alterClientQuotas(self._jvm.list([alteration])).all())

    def remove_static_member(self, group: str, instance: str) -> None:
        """Remove one static member."""
        java = self._jvm.java
        member = self._admin.MemberToRemove(instance)
        options = self._admin.RemoveMembersFromConsumerGroupOptions(java.java.util.HashSet(self._jvm.list([member])))
        self._got(self._client.removeMembersFromConsumerGroup(group, options).all())

    def remove_all_members(self, group: str) -> None:
        """Remove every member of a group, dynamic ones too."""
        options = self._admin.RemoveMembersFromConsumerGroupOptions()
        self._got(self._client.removeMembersFromConsumerGroup(group, options).all())

    def produce(self, topic: str, partition: int, count: int, acks: str, size: int = 10, within: float = 6) -> int:
        """Write so many records of so many bytes, one by one, each within so many seconds.

        Returns how many were acknowledged. With acks=all none is written twice.
        """
        config = {
            "client.id": "drill-producer",
            **self._reach,
            "key.serializer": _BYTES,
            "value.serializer": _BYTES,
            "acks": acks,
            "enable.idempotence": "true" if acks == "all" else "false",
            "linger.ms": "0",
            "delivery.timeout.ms": f"{within * 1000:.0f}",
            "request.timeout.ms": "3000",
        }
        producer_package = self._jvm.java.org.apache.kafka.clients.producer
        producer = producer_package.KafkaProducer(self._jvm.map(config))
        record_count = 0
        try:
            for number in range(count):
                value = f"record {number}".encode().ljust(size)
                record = producer_package.ProducerRecord(topic, partition, None, value)
                self._got(producer.send(record))
                record_count += 1
        except AdminFault:
            return record_count
        finally:
            producer.close()
        return record_count

    def end_offset(self, topic: str, partition: int) -> int:
        """How far a partition has come."""
        return self._offset(topic, partition, self._admin.OffsetSpec.latest())

    def log_start(self, topic: str, partition: int) -> int:
        """Where the log of a partition begins."""
        return self._offset(topic, partition, self._admin.OffsetSpec.earliest())

    def committed(self, group: str, topic: str, partition: int) -> int | None:
        """The offset that a group has committed; None where it has none."""
        offsets = self._got(self._client.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
        offset = offsets.get(self._partition(topic, partition))
        return int(offset.offset()) if offset else None

    def commit(self, group: str, topic: str, partition: int, offset: int) -> None:
        """Give a group without members another offset."""
        commit = self._jvm.java.org.apache.kafka.clients.consumer.OffsetAndMetadata(offset)
        offsets = self._jvm.map({self._partition(topic, partition): commit})
        self._got(self._client.alterConsumerGroupOffsets(group, offsets).all())

    def delete_offset(self, group: str, topic: str, partition: int) -> None:
        """Delete the offset of a group without members."""
        partitions = self._jvm.java.java.util.HashSet(self._jvm.list([self._partition(topic, partition)]))
        self._got(self._client.deleteConsumerGroupOffsets(group, partitions).all())

    def delete_group(self, group: str) -> None:
        """Delete a group without members."""
        self._got(self._client.deleteConsumerGroups(self._jvm.list([group])).all())

    def delete_records(self, topic: str, partition: int, below: int) -> None:
        """Delete the records of a partition below an offset."""
        lang = self._jvm.java.java.lang  # py4j does not find a static method beside another one of its name.
        kind = lang.Class.forName("org.apache.kafka.clients.admin.RecordsToDelete")
        before_offset = kind.getMethod("beforeOffset", self._jvm.array(lang.Class, [lang.Long.TYPE]))
        deletion = before_offset.invoke(None, self._jvm.array(lang.Object, [below]))
        self._got(self._client.deleteRecords(self._jvm.map({self._partition(topic, partition): deletion})).all())

    def _offset(self, topic: str, partition: int, which: Any) -> int:
        place = self._partition(topic, partition)
        request = self._jvm.map({place: which})
        offsets = self._in_time(lambda: self._client.listOffsets(request).all(), "UnknownTopicOrPartition")
        return int(offsets.get(place).offset())

    def _partition(self, topic: str, partition: int) -> Any:
        return self._jvm.java.org.apache.kafka.common.TopicPartition(topic, partition)

    def _got(self, future: Any) -> Any:
        try:
            return future.get(_SECONDS, self._jvm.java.java.util.concurrent.TimeUnit.SECONDS)
        except Py4JJavaError as error:
            raise AdminFault(str(error.java_exception)) from None
