"""Sessions of members: the shortest, and the clients that say by themselves, and at once, that theirs is over."""

LEAST_SESSION_MS = 6_000
"""The shortest session that brokers allow by default. Source: group.min.session.timeout.ms."""

SAYS_AT_ONCE = frozenset(
    {
        "client.coordinator_lost",
        "librdkafka.session_timeout",
        "librdkafka.session_timeout_through_logger",
    }
)
"""The patterns of those lines. A process that runs writes one when its session ends, whether or not it is cut off.

Others have such a line, and write it late: the heartbeats of kafka-python and aiokafka wait for the answer of the last
one first. Measured on 4.3.1: cut off for 24 s, with a session of 6 to 8 s, both wrote nothing until the network was
back. Source: AbstractCoordinator.java HeartbeatThread; rdkafka_cgrp.c rd_kafka_cgrp_session_timeout_check."""

NO_ANSWER = "session timed out"
"""How the reason of such a line of Java's begins from 2.8 on; before, it has none."""
