"""The three sentences that people grep for, in every wording that Kafka's clients and coordinators print.

"Heartbeat session expired", "max poll interval exceeded" and "member is dead" are how people say it; the lines below
are how it is written, by version. Source: GroupCoordinator.scala, GroupMetadataManager.java, AbstractCoordinator.java,
AbstractHeartbeatRequestManager.java, rdkafka_cgrp.c.
"""

from __future__ import annotations

import pytest

from kafka_hindsight.knowledge.reasons import (
    POLL_EXPIRED,
    REMOVED_WHILE_ALIVE,
    read_client_reason,
    read_coordinator_reason,
)
from tools.plain_reader import read_line

MEMBER = "app-1-0f9c477f-157b-4328-8f40-679b535209b1"
NODE = "kafka-1:9092 (id: 2147483646 rack: null)"
TOO_LATE = (
    "onsumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the"
    " configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing"
    " messages. You can address this either by increasing max.poll.interval.ms or by reducing the maximum size of"
    " batches returned in poll() with max.poll.records."
)


def java(message: str, logger: str = "ConsumerCoordinator") -> str:
    """A consumer's line."""
    head = "[2025-03-12 10:00:00,123] INFO [Consumer clientId=app-1, groupId=orders]"
    return f"{head} {message} (org.apache.kafka.clients.consumer.internals.{logger})"


def scala_broker(message: str) -> str:
    """A line of the coordinator of 1.0 to 3.9."""
    return f"[2025-03-12 10:00:00,123] INFO [GroupCoordinator 1]: {message} (kafka.coordinator.group.GroupCoordinator)"


def java_broker(message: str) -> str:
    """A line of the coordinator of 3.7 on."""
    head = "[2025-03-12 10:00:00,123] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17]"
    return f"{head} {message} (org.apache.kafka.coordinator.group.GroupMetadataManager)"


WORDINGS = {
    # heartbeat session expired, as the coordinator sees it: a pause, a cut or a death
    "Scala coordinator": (
        scala_broker(f"Member {MEMBER} in group orders has failed, removing it from the group"),
        "member_failed",
    ),
    "Java coordinator": (
        java_broker(f"Member {MEMBER} in group orders has failed, removing it from the group."),
        "member_failed",
    ),
    "KIP-848, 3.7": (
        java_broker(
            "[GroupId orders] Member Yk1pQmFyUzGqH3vE0cXw2A fenced from the group because its session expired."
        ),
        "member_fenced",
    ),
    "KIP-848, 3.8 on": (
        java_broker(
            "[GroupId orders] Member Yk1pQmFyUzGqH3vE0cXw2A fenced from the group because the member session expired."
        ),
        "member_fenced",
    ),
    # ... as the member sees it: it heard nothing from the coordinator
    "Java, 3.3 on": (
        java(
            f"Group coordinator {NODE} is unavailable or invalid due to cause: session timed out without receiving a"
            " heartbeat response. isDisconnected: false. Rediscovery will be attempted."
        ),
        "client_coordinator_lost",
    ),
    "Java, 2.7 to 3.2": (
        java(
            f"Group coordinator {NODE} is unavailable or invalid due to cause: session timed out without receiving a"
            " heartbeat response.isDisconnected: false. Rediscovery will be attempted.",
            "AbstractCoordinator",
        ),
        "client_coordinator_lost",
    ),
    "Java, up to 2.6": (
        java(f"Group coordinator {NODE} is unavailable or invalid, will attempt rediscovery", "AbstractCoordinator"),
        "client_coordinator_lost",
    ),
    "librdkafka, session": (
        "%4|1795216234.950|SESSTMOUT|app-1#consumer-2| [thrd:main]: Consumer group session timed out (in join-state"
        " steady) after 6007 ms without a successful response from the group coordinator (broker -1, last error was"
        " Success): revoking assignment and rejoining group",
        "client_session_timeout",
    ),
    # member is dead, it was told: the coordinator had removed it while it was alive
    "Java heartbeat, 2.6 on": (
        java(
            f"Attempt to heartbeat with Generation{{generationId=14, memberId='{MEMBER}', protocol='range'}} and group"
            " instance id Optional.empty failed due to UNKNOWN_MEMBER_ID, resetting generation"
        ),
        "client_heartbeat_refused",
    ),
    "Java heartbeat, up to 2.5": (
        java(f"Attempt to heartbeat failed for since member id {MEMBER} is not valid.", "AbstractCoordinator"),
        "client_heartbeat_refused",
    ),
    "Java generation, up to 2.5": (
        java("Attempt to heartbeat failed since generation 14 is not current", "AbstractCoordinator"),
        "client_heartbeat_refused",
    ),
    "Java reset, 3.2 on": (
        java("Resetting generation and member id due to: encountered UNKNOWN_MEMBER_ID from HEARTBEAT response"),
        "client_generation_reset",
    ),
    "Java reset, 3.0 and 3.1": (
        java("Resetting generation due to: encountered UNKNOWN_MEMBER_ID from HEARTBEAT response"),
        "client_generation_reset",
    ),
    # max poll interval exceeded
    "Java, 3.0 on": (java("c" + TOO_LATE), "client_poll_expired"),
    "Java, 2.4 to 2.8": (
        java(
            f"Member {MEMBER} sending LeaveGroup request to coordinator {NODE} due to c{TOO_LATE}",
            "AbstractCoordinator",
        ),
        "client_poll_expired",
    ),
    "Java, 2.1 to 2.3": (
        java(f"This member will leave the group because c{TOO_LATE}", "AbstractCoordinator"),
        "client_poll_expired",
    ),
    "Java, KIP-848": (java("C" + TOO_LATE, "ConsumerHeartbeatRequestManager"), "client_poll_expired"),
    "Java, KIP-848, late": (
        java(
            "Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, exceeded"
            " approximately by 41230 ms. Member Yk1pQmFyUzGqH3vE0cXw2A will rejoin the group now.",
            "ConsumerHeartbeatRequestManager",
        ),
        "client_poll_exceeded",
    ),
    "librdkafka, poll": (
        "%4|1795216167.320|MAXPOLL|app-1#consumer-2| [thrd:main]: Application maximum poll interval (6001ms) exceeded"
        " by 398ms (adjust max.poll.interval.ms for long-running message processing): leaving group",
        "client_poll_expired",
    ),
    "kafka-python, session": (
        "2025-03-12 10:00:00,123 WARNING kafka.coordinator.heartbeat "
        "Heartbeat session expired, marking coordinator dead",
        "client_session_timeout",
    ),
    "kafka-python, poll": (
        "2025-03-12 10:00:00,123 WARNING kafka.coordinator Heartbeat poll expired, leaving group",
        "client_poll_expired",
    ),
}

IN_NO_LAYOUT = "_MAX_POLL_EXCEEDED: Application maximum poll interval (6001ms) exceeded by 398ms"
"""An application's own words for what librdkafka told it. Source: rdkafka_cgrp.c of librdkafka."""


@pytest.mark.parametrize("who", WORDINGS)
def test_client_and_coordinator_wording_is_recognised(who: str) -> None:
    line, kind = WORDINGS[who]
    record = read_line(line)
    assert record.logger is not None
    assert record.reading.pattern is not None, line
    assert record.reading.pattern.kind == kind


def test_sentence_without_a_layout_is_no_event() -> None:
    assert read_line(IN_NO_LAYOUT).layout is None


def test_client_reason_in_coordinator_line_is_recognised() -> None:
    assert read_client_reason("consumer poll timeout has expired.") == POLL_EXPIRED
    assert read_client_reason("worker poll timeout has expired.") == POLL_EXPIRED
    assert read_client_reason("encountered UNKNOWN_MEMBER_ID from HEARTBEAT response") == REMOVED_WHILE_ALIVE
    for words in (
        f"removing member {MEMBER} on heartbeat expiration",
        f"removing member {MEMBER} on heartbeat expiration.",
    ):
        assert read_coordinator_reason(words).act == "expired"
