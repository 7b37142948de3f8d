"""Every log line that is read, one pattern each."""

from kafka_hindsight.knowledge.kinds import CLIENT_KINDS
from kafka_hindsight.knowledge.layouts import PROGRAM, class_of
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns import (
    brokers_kraft,
    brokers_zookeeper,
    clients_connect,
    clients_go,
    clients_java,
    clients_java_connections,
    clients_java_joins,
    clients_java_leaves,
    clients_java_partitions,
    clients_kafkajs,
    clients_librdkafka,
    clients_python,
    clusters,
    controllers_kraft,
    controllers_zookeeper,
    coordinator,
    disks,
    elections_kraft,
    elections_zookeeper,
    group_java,
    group_java_members,
    group_kip848,
    group_kip848_members,
    group_other,
    group_scala,
    group_scala_members,
    group_scala_static,
    leadership,
    processes,
    replication,
    settings,
    topics,
)

PATTERNS: tuple[Pattern, ...] = (
    *group_scala.PATTERNS,
    *group_scala_members.PATTERNS,
    *group_scala_static.PATTERNS,
    *group_java.PATTERNS,
    *group_java_members.PATTERNS,
    *group_kip848.PATTERNS,
    *group_kip848_members.PATTERNS,
    *group_other.PATTERNS,
    *coordinator.PATTERNS,
    *leadership.PATTERNS,
    *replication.PATTERNS,
    *controllers_zookeeper.PATTERNS,
    *elections_zookeeper.PATTERNS,
    *controllers_kraft.PATTERNS,
    *elections_kraft.PATTERNS,
    *topics.PATTERNS,
    *settings.PATTERNS,
    *brokers_zookeeper.PATTERNS,
    *brokers_kraft.PATTERNS,
    *processes.PATTERNS,
    *disks.PATTERNS,
    *clusters.PATTERNS,
    *clients_java.PATTERNS,
    *clients_java_connections.PATTERNS,
    *clients_java_joins.PATTERNS,
    *clients_java_leaves.PATTERNS,
    *clients_java_partitions.PATTERNS,
    *clients_connect.PATTERNS,
    *clients_librdkafka.PATTERNS,
    *clients_python.PATTERNS,
    *clients_kafkajs.PATTERNS,
    *clients_go.PATTERNS,
)
"""The order has no meaning: no record fits two patterns."""

SAYS_LINES: frozenset[str] = frozenset(
    logger
    for module in (clients_python, clients_kafkajs, clients_go)
    for pattern in module.PATTERNS
    for logger in (*pattern.loggers, PROGRAM)
)
"""The loggers of libraries that say each thing in one line."""

NAMES_NO_CLIENT: frozenset[str] = frozenset(
    p.pattern_id for p in PATTERNS if p.kind in CLIENT_KINDS and not {"client_id", "member_id"} & set(p.fields)
)
"""The patterns of clients' lines that show neither their client nor their member: whose they are, their file shows."""

RELEVANT_CLASSES: frozenset[str] = frozenset(class_of(logger) for pattern in PATTERNS for logger in pattern.loggers)
"""The loggers whose lines matter: a line of theirs that no pattern claims and that is not noise is unparsed."""
