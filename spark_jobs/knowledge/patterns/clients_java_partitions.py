"""Partitions that come and go, and KIP-848 membership, as a Java consumer's own log tells it (Kafka 2.4-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CONSUMER_HEAD, captured, made

_PARTITION_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
    "org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker",
    "org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager",
    "org.apache.kafka.clients.consumer.internals.MembershipManagerImpl",
)
_MEMBERSHIP_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager",
    "org.apache.kafka.clients.consumer.internals.MembershipManagerImpl",
)
_HEARTBEAT_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager",
    "org.apache.kafka.clients.consumer.internals.HeartbeatRequestManager",
)
_PACKAGE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals"
_INVOKER_SOURCE = f"{_PACKAGE}/ConsumerRebalanceListenerInvoker.java"
_MEMBERSHIP_SOURCE = f"{_PACKAGE}/AbstractMembershipManager.java"
_HEARTBEAT_SOURCE = f"{_PACKAGE}/AbstractHeartbeatRequestManager.java"

_AN_ASSIGNMENT = "[2026-11-21 01:41:00,886] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Adding newly assigned partitions: [shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8] (org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker)"
_A_REVOCATION = "[2026-11-21 01:41:04,801] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Revoke previously assigned partitions [shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8] (org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker)"
_A_LOSS = "[2026-11-21 01:41:18,991] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Lost previously assigned partitions [shop-events-5, shop-events-6, shop-events-7, shop-events-8] (org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker)"
_A_GIVING_AWAY = "[2026-11-21 01:41:18,991] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Giving away all assigned partitions as lost since generation/memberID has been reset,indicating that consumer is in old state or no longer part of the group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_RECONCILIATION = "[2026-11-21 01:46:05,210] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Reconciling assignment with local epoch 0\n\tMember:                                    IF9u91ErTnivIe8vNKWFHQ\n\tAssigned partitions:                       [shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8]\n\tCurrent owned partitions:                  []\n\tAdded partitions (assigned - owned):       [shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8]\n\tRevoked partitions (owned - assigned):     []\n (org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager)"
_A_TRANSITION = "[2026-11-21 01:46:10,255] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Member IF9u91ErTnivIe8vNKWFHQ with epoch 1 transitioned from STABLE to RECONCILING. (org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager)"
_A_POLL_EXPIRY = "[2026-11-21 01:47:38,939] WARN [Consumer clientId=email-next-11-d, groupId=email-next-11] Consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages. You can address this either by increasing max.poll.interval.ms or by reducing the maximum size of batches returned in poll() with max.poll.records. (org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager)"
_A_REJOIN = "[2026-11-21 01:47:40,952] WARN [Consumer clientId=email-next-11-d, groupId=email-next-11] Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, exceeded approximately by 6202 ms. Member O-vRDTs7S9C4YpdfE-FATA will rejoin the group now. (org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager)"

PATTERNS = (
    Pattern(
        pattern_id="client.assigned",
        kind="client_assigned",
        loggers=_PARTITION_LOGGERS,
        contains="Adding newly assigned partitions: ",
        regex=CONSUMER_HEAD + r"Adding newly assigned partitions: \[?(?P<detail>.*?)\]?$",
        versions="2.4-4.2",
        source=f"{_INVOKER_SOURCE} invokePartitionsAssigned",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:49:44,625] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Adding newly assigned partitions: shop-events-1, shop-events-0, shop-events-7, shop-events-6, shop-events-8, shop-events-3, shop-events-2, shop-events-5, shop-events-4 (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="audit-loader-10-a",
                group_id="audit-loader-10",
                detail="shop-events-1, shop-events-0, shop-events-7, shop-events-6, shop-events-8, shop-events-3, shop-events-2, shop-events-5, shop-events-4",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:59:38,713] INFO [Consumer clientId=ads-loader-13-a, groupId=ads-loader-13] Adding newly assigned partitions: shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8 (org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker)",
                client_id="ads-loader-13-a",
                group_id="ads-loader-13",
                detail="shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:00,886] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Adding newly assigned partitions: [shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8] (org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker)",
                client_id="ads-etl-1-a",
                group_id="ads-etl-1",
                detail="shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:46:10,751] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Adding newly assigned partitions: [] (org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker)",
                client_id="email-next-11-a",
                group_id="email-next-11",
            ),
        ),
        counter_samples=(_A_REVOCATION,),
    ),
    Pattern(
        pattern_id="client.revoked",
        kind="client_revoked",
        loggers=_PARTITION_LOGGERS,
        contains=" previously assigned partitions ",
        regex=CONSUMER_HEAD + r"Revok(?:e|ing) previously assigned partitions \[?(?P<detail>.*?)\]?$",
        versions="2.4-4.2",
        source=f"{_INVOKER_SOURCE} invokePartitionsRevoked",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:49:48,623] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Revoke previously assigned partitions shop-events-1, shop-events-0, shop-events-7, shop-events-6, shop-events-8, shop-events-3, shop-events-2, shop-events-5, shop-events-4 (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="audit-loader-10-a",
                group_id="audit-loader-10",
                detail="shop-events-1, shop-events-0, shop-events-7, shop-events-6, shop-events-8, shop-events-3, shop-events-2, shop-events-5, shop-events-4",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:04,801] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Revoke previously assigned partitions [shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8] (org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker)",
                client_id="ads-etl-1-a",
                group_id="ads-etl-1",
                detail="shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:46:10,357] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Revoking previously assigned partitions [shop-events-7, shop-events-6, shop-events-8, shop-events-5] (org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager)",
                client_id="email-next-11-a",
                group_id="email-next-11",
                detail="shop-events-7, shop-events-6, shop-events-8, shop-events-5",
            ),
        ),
        counter_samples=(_A_LOSS, _AN_ASSIGNMENT),
    ),
    Pattern(
        pattern_id="client.lost",
        kind="client_lost",
        loggers=_PARTITION_LOGGERS,
        contains="Lost previously assigned partitions ",
        regex=CONSUMER_HEAD + r"Lost previously assigned partitions \[?(?P<detail>.*?)\]?$",
        versions="2.4-4.2",
        source=f"{_INVOKER_SOURCE} invokePartitionsLost",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:50:07,326] INFO [Consumer clientId=audit-loader-10-b, groupId=audit-loader-10] Lost previously assigned partitions shop-events-7, shop-events-6, shop-events-8, shop-events-5 (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="audit-loader-10-b",
                group_id="audit-loader-10",
                detail="shop-events-7, shop-events-6, shop-events-8, shop-events-5",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:18,991] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Lost previously assigned partitions [shop-events-5, shop-events-6, shop-events-7, shop-events-8] (org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker)",
                client_id="ads-etl-1-b",
                group_id="ads-etl-1",
                detail="shop-events-5, shop-events-6, shop-events-7, shop-events-8",
            ),
        ),
        counter_samples=(_A_REVOCATION, _A_GIVING_AWAY),
    ),
    Pattern(
        pattern_id="client.state_changed",
        kind="client_state_changed",
        loggers=_MEMBERSHIP_LOGGERS,
        contains=" transitioned from ",
        regex=CONSUMER_HEAD
        + r"Member (?P<member_id>\S+) with epoch (?P<generation>-?\d+) transitioned from (?P<previous_state>\w+) to (?P<state>\w+)\.$",
        versions="3.7-4.2",
        source=f"{_MEMBERSHIP_SOURCE} transitionTo",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:46:10,255] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Member IF9u91ErTnivIe8vNKWFHQ with epoch 1 transitioned from STABLE to RECONCILING. (org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager)",
                client_id="email-next-11-a",
                group_id="email-next-11",
                member_id="IF9u91ErTnivIe8vNKWFHQ",
                generation="1",
                previous_state="STABLE",
                state="RECONCILING",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:47:38,939] INFO [Consumer clientId=email-next-11-d, groupId=email-next-11] Member O-vRDTs7S9C4YpdfE-FATA with epoch -1 transitioned from LEAVING to STALE. (org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager)",
                client_id="email-next-11-d",
                group_id="email-next-11",
                member_id="O-vRDTs7S9C4YpdfE-FATA",
                generation="-1",
                previous_state="LEAVING",
                state="STALE",
            ),
        ),
        counter_samples=(_A_RECONCILIATION,),
    ),
    Pattern(
        pattern_id="client.releasing",
        kind="client_releasing",
        loggers=_MEMBERSHIP_LOGGERS,
        contains=" is triggering callbacks to release assignment ",
        regex=CONSUMER_HEAD
        + r"Member (?P<member_id>\S+) is triggering callbacks to release assignment \[?(?P<detail>.*?)\]? and leave group$",
        versions="3.9-4.2",
        source=f"{_PACKAGE}/ConsumerMembershipManager.java signalMemberLeavingGroup",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:00,945] INFO [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] Member Yk1pQmFyUzGqH3vE0cXw2A is triggering callbacks to release assignment [orders-0, orders-1] and leave group (org.apache.kafka.clients.consumer.internals.ConsumerMembershipManager)",
                client_id="consumer-orders-svc-1",
                group_id="orders-svc",
                member_id="Yk1pQmFyUzGqH3vE0cXw2A",
                detail="orders-0, orders-1",
            ),
        ),
        counter_samples=(_A_TRANSITION,),
    ),
    Pattern(
        pattern_id="client.kip848_poll_expired",
        kind="client_poll_expired",
        loggers=_HEARTBEAT_LOGGERS,
        contains="onsumer poll timeout has expired. This means ",
        regex=CONSUMER_HEAD + r"[cC]onsumer poll timeout has expired\. This means the time between .*$",
        versions="3.7-4.2",
        source=f"{_HEARTBEAT_SOURCE} poll",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:47:38,939] WARN [Consumer clientId=email-next-11-d, groupId=email-next-11] Consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages. You can address this either by increasing max.poll.interval.ms or by reducing the maximum size of batches returned in poll() with max.poll.records. (org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager)",
                client_id="email-next-11-d",
                group_id="email-next-11",
            ),
        ),
        counter_samples=(_A_REJOIN,),
    ),
    Pattern(
        pattern_id="client.poll_exceeded",
        kind="client_poll_exceeded",
        loggers=_HEARTBEAT_LOGGERS,
        contains=" exceeded approximately by ",
        regex=CONSUMER_HEAD
        + r"Time between subsequent calls to poll\(\) was longer than the configured max\.poll\.interval\.ms, "
        r"exceeded approximately by (?P<took_ms>\d+) ms\. Member (?P<member_id>\S+) will rejoin the group now\.$",
        versions="3.8-4.2",
        source=f"{_HEARTBEAT_SOURCE} resetPollTimer",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:47:40,952] WARN [Consumer clientId=email-next-11-d, groupId=email-next-11] Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, exceeded approximately by 6202 ms. Member O-vRDTs7S9C4YpdfE-FATA will rejoin the group now. (org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager)",
                client_id="email-next-11-d",
                group_id="email-next-11",
                took_ms="6202",
                member_id="O-vRDTs7S9C4YpdfE-FATA",
            ),
        ),
        counter_samples=(_A_POLL_EXPIRY,),
    ),
    Pattern(
        pattern_id="client.kip848_instance_fenced",
        kind="client_instance_fenced",
        loggers=_HEARTBEAT_LOGGERS,
        contains=" instance id ",
        regex=CONSUMER_HEAD + r"\w+ failed due to (?:unreleased|fenced) instance id .+?: (?P<error>.+)$",
        versions="3.7-4.2",
        source=f"{_PACKAGE}/ConsumerHeartbeatRequestManager.java handleSpecificExceptionAndErrorInResponse",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:01,082] ERROR [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] ConsumerGroupHeartbeatRequest failed due to unreleased instance id orders-svc-0: Static member b7Vh0r3kTfC0mT9d2o5QxQ with instance id orders-svc-0 cannot join the group because the instance id is owned by Yk1pQmFyUzGqH3vE0cXw2A member. (org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager)",
                client_id="consumer-orders-svc-1",
                group_id="orders-svc",
                error="Static member b7Vh0r3kTfC0mT9d2o5QxQ with instance id orders-svc-0 cannot join the group because the instance id is owned by Yk1pQmFyUzGqH3vE0cXw2A member.",
            ),
        ),
        counter_samples=(_A_POLL_EXPIRY,),
    ),
    Pattern(
        pattern_id="client.heartbeat_error",
        kind="client_heartbeat_error",
        loggers=_HEARTBEAT_LOGGERS,
        contains="HeartbeatRequest failed ",
        regex=CONSUMER_HEAD + r"\w*HeartbeatRequest failed (?:for member (?P<member_id>\S+) )?because (?P<error>.+)$",
        versions="3.7-4.2",
        source=f"{_HEARTBEAT_SOURCE} onErrorResponse",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:00,671] INFO [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] ConsumerGroupHeartbeatRequest failed for member Yk1pQmFyUzGqH3vE0cXw2A because epoch 7 is fenced. in 0ms: The member epoch is fenced by the group coordinator. The member must abandon all its partitions and rejoin. (org.apache.kafka.clients.consumer.internals.ConsumerHeartbeatRequestManager)",
                client_id="consumer-orders-svc-1",
                group_id="orders-svc",
                member_id="Yk1pQmFyUzGqH3vE0cXw2A",
                error="epoch 7 is fenced. in 0ms: The member epoch is fenced by the group coordinator. The member must abandon all its partitions and rejoin.",
            ),
        ),
        counter_samples=(_A_POLL_EXPIRY,),
    ),
)
