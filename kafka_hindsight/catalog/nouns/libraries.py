"""The libraries and frameworks whose members join groups, and what each calls the settings that rule a rebalance."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Noun, NounCode
from kafka_hindsight.catalog.nouns.protocols import Protocol


@dataclass(frozen=True, kw_only=True)
class LibraryNoun(Noun):
    """One library in words: `label` follows "of". `protocols` are those that its members may use.

    `session`, `heartbeat`, `poll`, `rejoin`, `records`, `instance`, `assignors`: its names of session.timeout.ms,
    heartbeat.interval.ms, max.poll.interval.ms, the time within which a member has to rejoin, max.poll.records,
    group.instance.id and partition.assignment.strategy; empty where it has no such setting. `revocation_hook`,
    `loss_hook`: where an application learns that its partitions are taken, or are gone. `upgrade`: the setting that
    makes its members use KIP-848. `leaves_by_close`: a dynamic member sends LeaveGroup when it closes.
    `beats_between_messages`: it sends heartbeats between messages, and none while a handler works. `cooperative` is the
    value that makes its members rebalance cooperatively; empty where it has none, or always does. `mixes_assignors`: a
    member may offer a cooperative assignor beside an eager one, so that a rolling restart leads from one to the other.
    `session_ms` is the session that its authors, or Kafka's, recommend. `form` writes a time so that it can be pasted,
    from `{key}` and `{value}` in milliseconds, or `{seconds}`; `text_form` writes any other value. `place` says where a
    setting stands.
    """

    label: str
    protocols: tuple[Protocol, ...] = (Protocol.CLASSIC,)
    session: str
    heartbeat: str
    poll: str = ""
    rejoin: str = ""
    records: str = ""
    instance: str = ""
    assignors: str = ""
    revocation_hook: str = ""
    loss_hook: str = ""
    upgrade: str = ""
    leaves_by_close: bool = True
    beats_between_messages: bool = False
    cooperative: str = ""
    mixes_assignors: bool = True
    session_ms: int = 45_000
    form: str = "{key}={value}"
    text_form: str = "{key}={value}"
    place: str
    source: str


_LISTENER = " of a ConsumerRebalanceListener"
_JAVA_ASSIGNOR = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"


# fmt: off
class ClientLibrary(NounCode):
    """Library, or framework, of the members of a group."""

    noun: LibraryNoun

    JAVA = LibraryNoun(
        code="java", label="the Java consumer", meaning="Kafka's own Java consumer.",
        protocols=(Protocol.CLASSIC, Protocol.CONSUMER, Protocol.SHARE),
        revocation_hook=f"onPartitionsRevoked{_LISTENER}", loss_hook=f"onPartitionsLost{_LISTENER}",
        upgrade="group.protocol=consumer",
        session="session.timeout.ms", heartbeat="heartbeat.interval.ms", poll="max.poll.interval.ms",
        rejoin="max.poll.interval.ms", records="max.poll.records", instance="group.instance.id",
        assignors="partition.assignment.strategy", cooperative=_JAVA_ASSIGNOR, place="each consumer's properties",
        source="ConsumerConfig.java; KIP-735, KIP-62, KIP-345, KIP-429",
    )
    STREAMS = LibraryNoun(
        code="streams", label="Kafka Streams", meaning="Kafka Streams.",
        protocols=(Protocol.CLASSIC, Protocol.STREAMS),
        leaves_by_close=False,
        session="session.timeout.ms", heartbeat="heartbeat.interval.ms", poll="max.poll.interval.ms",
        rejoin="max.poll.interval.ms", records="max.poll.records", instance="group.instance.id",
        place="the application's properties",
        source="StreamsConfig.java: settings of consumers without a prefix; its own assignor is cooperative since 2.4",
    )
    CONNECT = LibraryNoun(
        code="connect", label="a worker of Kafka Connect", meaning="A worker of Kafka Connect.",
        session="session.timeout.ms", heartbeat="heartbeat.interval.ms", rejoin="rebalance.timeout.ms",
        session_ms=10_000, place="each worker's properties",
        source="DistributedConfig.java: 10 s and 60 s; connect.protocol is cooperative since 2.3",
    )
    CONNECT_TASK = LibraryNoun(
        code="connect_task", label="a sink of Kafka Connect", meaning="A task of a sink connector of Kafka Connect.",
        protocols=(Protocol.CLASSIC, Protocol.CONSUMER),
        session="consumer.override.session.timeout.ms", heartbeat="consumer.override.heartbeat.interval.ms",
        poll="consumer.override.max.poll.interval.ms", rejoin="consumer.override.max.poll.interval.ms",
        records="consumer.override.max.poll.records", assignors="consumer.override.partition.assignment.strategy",
        cooperative=_JAVA_ASSIGNOR, form='"{key}": "{value}"',
        text_form='"{key}": "{value}"', place="the connector's configuration",
        source="ConnectorConfig.java CONNECTOR_CLIENT_CONSUMER_OVERRIDES_PREFIX; KIP-458",
    )
    LIBRDKAFKA = LibraryNoun(
        code="librdkafka", label="librdkafka", meaning="librdkafka, and confluent-kafka for Python, Go and .NET.",
        protocols=(Protocol.CLASSIC, Protocol.CONSUMER),
        revocation_hook="the rebalance callback", upgrade="group.protocol=consumer",
        session="session.timeout.ms", heartbeat="heartbeat.interval.ms", poll="max.poll.interval.ms",
        rejoin="max.poll.interval.ms", instance="group.instance.id",
        assignors="partition.assignment.strategy", cooperative="cooperative-sticky", mixes_assignors=False,
        place="each consumer's configuration",
        source="CONFIGURATION.md of librdkafka 2.16: cooperative and eager strategies must not be mixed",
    )
    KAFKA_PYTHON = LibraryNoun(
        code="kafka_python", label="kafka-python", meaning="kafka-python.",
        revocation_hook=f"on_partitions_revoked{_LISTENER}", loss_hook=f"on_partitions_lost{_LISTENER}",
        session="session_timeout_ms", heartbeat="heartbeat_interval_ms", poll="max_poll_interval_ms",
        rejoin="max_poll_interval_ms", records="max_poll_records", instance="group_instance_id",
        assignors="partition_assignment_strategy", cooperative="[CooperativeStickyAssignor]", mixes_assignors=False,
        place="each KafkaConsumer", source="kafka-python 3.0.12 consumer/group.py, coordinator/consumer.py",
    )
    AIOKAFKA = LibraryNoun(
        code="aiokafka", label="aiokafka", meaning="aiokafka.",
        revocation_hook=f"on_partitions_revoked{_LISTENER}",
        session="session_timeout_ms", heartbeat="heartbeat_interval_ms", poll="max_poll_interval_ms",
        rejoin="rebalance_timeout_ms", records="max_poll_records", instance="group_instance_id",
        place="each AIOKafkaConsumer", source="aiokafka 0.14.0 consumer/consumer.py: 10 s by default",
    )
    KAFKAJS = LibraryNoun(
        code="kafkajs", label="kafkajs", meaning="kafkajs.",
        beats_between_messages=True,
        session="sessionTimeout", heartbeat="heartbeatInterval", rejoin="rebalanceTimeout",
        form="{key}: {value}", place="kafka.consumer({ ... })",
        source="kafkajs 2.2.4 src/consumer: 30 s by default; it sends heartbeats between messages",
    )
    FRANZ_GO = LibraryNoun(
        code="franz_go", label="franz-go", meaning="franz-go.",
        protocols=(Protocol.CLASSIC, Protocol.CONSUMER),
        revocation_hook="kgo.OnPartitionsRevoked", loss_hook="kgo.OnPartitionsLost",
        session="kgo.SessionTimeout", heartbeat="kgo.HeartbeatInterval", rejoin="kgo.RebalanceTimeout",
        instance="kgo.InstanceID", assignors="kgo.Balancers", cooperative="kgo.CooperativeStickyBalancer()",
        form="{key}({seconds} * time.Second)", text_form="{key}({value})", place="kgo.NewClient(...)",
        source="franz-go 1.22 pkg/kgo/config.go; cooperative by default",
    )
    SARAMA = LibraryNoun(
        code="sarama", label="sarama", meaning="sarama.",
        revocation_hook="Cleanup of the ConsumerGroupHandler",
        session="config.Consumer.Group.Session.Timeout", heartbeat="config.Consumer.Group.Heartbeat.Interval",
        rejoin="config.Consumer.Group.Rebalance.Timeout", instance="config.Consumer.Group.InstanceId",
        form="{key} = {seconds} * time.Second", place="the sarama.Config",
        source="sarama 1.61.1 config.go: 10 s by default; no cooperative strategy",
    )
    KAFKA_GO = LibraryNoun(
        code="kafka_go", label="segmentio's kafka-go", meaning="segmentio's kafka-go.",
        session="SessionTimeout", heartbeat="HeartbeatInterval", rejoin="RebalanceTimeout",
        form="{key}: {seconds} * time.Second", place="kafka.ReaderConfig{ ... }",
        source="kafka-go 0.4.51 consumergroup.go: 30 s by default; neither static nor cooperative",
    )
    UNKNOWN = LibraryNoun(
        code="unknown", label="a library that is not known", meaning="No evidence shows which library it is.",
        protocols=tuple(Protocol),
        revocation_hook=f"onPartitionsRevoked{_LISTENER}", loss_hook=f"onPartitionsLost{_LISTENER}",
        session="session.timeout.ms", heartbeat="heartbeat.interval.ms", poll="max.poll.interval.ms",
        rejoin="max.poll.interval.ms", records="max.poll.records", instance="group.instance.id",
        assignors="partition.assignment.strategy", place="each member's configuration",
        source="Kafka's own names of settings (ConsumerConfig.java)",
    )
# fmt: on
