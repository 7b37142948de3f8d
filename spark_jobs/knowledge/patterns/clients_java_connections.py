"""A Java consumer's coordinator, commits and connections, as its own log tells them (Kafka 2.0-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CONSUMER_HEAD, TOPIC_PARTITION, captured, made

_COORDINATOR_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
    "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
)
_REQUEST_LOGGERS = ("org.apache.kafka.clients.consumer.internals.CoordinatorRequestManager",)
_COMMIT_LOGGERS = ("org.apache.kafka.clients.consumer.internals.CommitRequestManager",)
_NETWORK_LOGGERS = ("org.apache.kafka.clients.NetworkClient",)
_CLIENTS = "clients/src/main/java/org/apache/kafka/clients"
_SOURCE = f"{_CLIENTS}/consumer/internals/AbstractCoordinator.java"

_A_JOINING = "[2026-11-21 01:40:59,691] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] (Re-)joining group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_DISCONNECT = "[2026-11-21 01:41:18,851] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Requesting disconnect from last known coordinator 127.0.0.1:23603 (id: 2147483644 rack: null isFenced: false) (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_KIP848_DISCOVERY = "[2026-11-21 01:46:05,150] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Discovered group coordinator Coordinator(key='email-next-11', nodeId=1, host='127.0.0.1', port=23601, errorCode=0, errorMessage='') (org.apache.kafka.clients.consumer.internals.CoordinatorRequestManager)"
_A_REFUSED_COMMIT = "[2026-11-21 01:41:18,991] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Failing OffsetCommit request since the consumer is not part of an active group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_BROKER_DISCONNECT = "[2026-11-21 01:52:25,958] INFO [ReplicaFetcher replicaId=1, leaderId=2, fetcherId=0] Node 2 disconnected. (org.apache.kafka.clients.NetworkClient)"

PATTERNS = (
    Pattern(
        pattern_id="client.coordinator_found",
        kind="client_coordinator_found",
        loggers=_COORDINATOR_LOGGERS,
        contains="Discovered group coordinator ",
        regex=CONSUMER_HEAD + r"Discovered group coordinator \S+ \(id: (?P<node>\d+) rack: .*\)$",
        versions="2.0-4.2",
        source=f"{_SOURCE} FindCoordinatorResponseHandler",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:49:43,584] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Discovered group coordinator 127.0.0.1:20402 (id: 2147483645 rack: null) (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="audit-loader-10-a",
                group_id="audit-loader-10",
                node="2147483645",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:56:11,988] INFO [Consumer instanceId=i1, clientId=mobile-static-7-a, groupId=mobile-static-7] Discovered group coordinator 127.0.0.1:24802 (id: 2147483645 rack: null) (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                instance_id="i1",
                client_id="mobile-static-7-a",
                group_id="mobile-static-7",
                node="2147483645",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:59,670] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Discovered group coordinator 127.0.0.1:23603 (id: 2147483644 rack: null isFenced: false) (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-etl-1-a",
                group_id="ads-etl-1",
                node="2147483644",
            ),
        ),
        counter_samples=(_A_DISCONNECT,),
    ),
    Pattern(
        pattern_id="client.kip848_coordinator_found",
        kind="client_coordinator_found",
        loggers=_REQUEST_LOGGERS,
        contains="Discovered group coordinator ",
        regex=CONSUMER_HEAD
        + r"Discovered group coordinator Coordinator\(key='.{0,255}?', nodeId=(?P<node>\d+), host=.*\)$",
        versions="3.7-4.2",
        source=f"{_CLIENTS}/consumer/internals/CoordinatorRequestManager.java onSuccessfulResponse",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:46:05,150] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Discovered group coordinator Coordinator(key='email-next-11', nodeId=1, host='127.0.0.1', port=23601, errorCode=0, errorMessage='') (org.apache.kafka.clients.consumer.internals.CoordinatorRequestManager)",
                client_id="email-next-11-a",
                group_id="email-next-11",
                node="1",
            ),
        ),
        counter_samples=(
            "[2025-03-12 10:00:00,808] INFO [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] Group coordinator kafka-1:9092 (id: 2147483646 rack: null isFenced: false) is unavailable or invalid due to cause: This is not the correct coordinator.. Rediscovery will be attempted. (org.apache.kafka.clients.consumer.internals.CoordinatorRequestManager)",
        ),
    ),
    Pattern(
        pattern_id="client.coordinator_lost",
        kind="client_coordinator_lost",
        loggers=(*_COORDINATOR_LOGGERS, *_REQUEST_LOGGERS),
        contains=" is unavailable or invalid",
        regex=CONSUMER_HEAD + r"Group coordinator \S+ \(id: (?P<node>\d+) rack: [^)]*\) is unavailable or invalid"
        r"(?: due to cause: (?P<reason>.*?)\.(?: ?isDisconnected: (?P<detail>true|false)\.)? Rediscovery will be attempted\.|, will attempt rediscovery)$",
        versions="2.0-4.2",
        source=f"{_SOURCE} markCoordinatorUnknown; {_CLIENTS}/consumer/internals/CoordinatorRequestManager.java markCoordinatorUnknown",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:16,100] INFO [Consumer clientId=email-roll-17-a, groupId=email-roll-17] Group coordinator 127.0.0.1:20403 (id: 2147483644 rack: null) is unavailable or invalid due to cause: error response NOT_COORDINATOR.isDisconnected: false. Rediscovery will be attempted. (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="email-roll-17-a",
                group_id="email-roll-17",
                node="2147483644",
                reason="error response NOT_COORDINATOR",
                detail="false",
            ),
            captured(
                "2.8",
                "[2026-11-21 01:46:17,085] INFO [Consumer clientId=mobile-etl-3-b, groupId=mobile-etl-3] Group coordinator 127.0.0.1:20403 (id: 2147483644 rack: null) is unavailable or invalid due to cause: session timed out without receiving a heartbeat response.isDisconnected: false. Rediscovery will be attempted. (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="mobile-etl-3-b",
                group_id="mobile-etl-3",
                node="2147483644",
                reason="session timed out without receiving a heartbeat response",
                detail="false",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:54:40,781] INFO [Consumer clientId=billing-etl-2-b, groupId=billing-etl-2] Group coordinator 127.0.0.1:24802 (id: 2147483645 rack: null) is unavailable or invalid due to cause: coordinator unavailable. isDisconnected: false. Rediscovery will be attempted. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="billing-etl-2-b",
                group_id="billing-etl-2",
                node="2147483645",
                reason="coordinator unavailable",
                detail="false",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:18,850] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Group coordinator 127.0.0.1:23603 (id: 2147483644 rack: null isFenced: false) is unavailable or invalid due to cause: session timed out without receiving a heartbeat response. isDisconnected: false. Rediscovery will be attempted. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-etl-1-b",
                group_id="ads-etl-1",
                node="2147483644",
                reason="session timed out without receiving a heartbeat response",
                detail="false",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:00,808] INFO [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] Group coordinator kafka-1:9092 (id: 2147483646 rack: null isFenced: false) is unavailable or invalid due to cause: This is not the correct coordinator.. Rediscovery will be attempted. (org.apache.kafka.clients.consumer.internals.CoordinatorRequestManager)",
                client_id="consumer-orders-svc-1",
                group_id="orders-svc",
                node="2147483646",
                reason="This is not the correct coordinator.",
            ),
        ),
        counter_samples=(_A_DISCONNECT, _A_KIP848_DISCOVERY),
    ),
    Pattern(
        pattern_id="client.coordinator_long_gone",
        kind="client_coordinator_lost",
        loggers=_COORDINATOR_LOGGERS,
        contains="Consumer has been disconnected from the group coordinator for ",
        regex=CONSUMER_HEAD
        + r"Consumer has been (?P<reason>disconnected from the group coordinator) for (?P<took_ms>\d+)ms$",
        versions="2.8-4.2",
        source=f"{_SOURCE} timeSinceLastHeartbeat",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:00,534] WARN [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] Consumer has been disconnected from the group coordinator for 300120ms (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="consumer-orders-svc-1",
                group_id="orders-svc",
                reason="disconnected from the group coordinator",
                took_ms="300120",
            ),
        ),
        counter_samples=(_A_DISCONNECT,),
    ),
    Pattern(
        pattern_id="client.commit_failed",
        kind="client_commit_failed",
        loggers=_COORDINATOR_LOGGERS,
        contains="OffsetCommit failed with ",
        regex=CONSUMER_HEAD
        + r"OffsetCommit failed with Generation\{generationId=(?P<generation>-?\d+), memberId='(?P<member_id>[^']*)', protocol='[^']*'\}: (?P<error>.+)$",
        versions="2.6-4.2",
        source=f"{_CLIENTS}/consumer/internals/ConsumerCoordinator.java OffsetCommitResponseHandler",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:46:17,199] INFO [Consumer clientId=mobile-etl-3-b, groupId=mobile-etl-3] OffsetCommit failed with Generation{generationId=2, memberId='mobile-etl-3-b-e1c7024c-1cd9-47dc-bc41-1694eae193df', protocol='range'}: The coordinator is not aware of this member. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="mobile-etl-3-b",
                group_id="mobile-etl-3",
                generation="2",
                member_id="mobile-etl-3-b-e1c7024c-1cd9-47dc-bc41-1694eae193df",
                error="The coordinator is not aware of this member.",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:54:40,885] INFO [Consumer clientId=billing-etl-2-b, groupId=billing-etl-2] OffsetCommit failed with Generation{generationId=2, memberId='billing-etl-2-b-1a8ae495-cf27-4c35-b32f-d6b289686bd1', protocol='range'}: The coordinator is not aware of this member. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="billing-etl-2-b",
                group_id="billing-etl-2",
                generation="2",
                member_id="billing-etl-2-b-1a8ae495-cf27-4c35-b32f-d6b289686bd1",
                error="The coordinator is not aware of this member.",
            ),
        ),
        counter_samples=(_A_REFUSED_COMMIT,),
    ),
    Pattern(
        pattern_id="client.commit_refused",
        kind="client_commit_failed",
        loggers=_COORDINATOR_LOGGERS,
        contains="Failing OffsetCommit request since ",
        regex=CONSUMER_HEAD
        + r"Failing OffsetCommit request since (?P<error>the consumer is not part of an active group)$",
        versions="2.3-4.2",
        source=f"{_CLIENTS}/consumer/internals/ConsumerCoordinator.java sendOffsetCommitRequest",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:50:07,325] INFO [Consumer clientId=audit-loader-10-b, groupId=audit-loader-10] Failing OffsetCommit request since the consumer is not part of an active group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="audit-loader-10-b",
                group_id="audit-loader-10",
                error="the consumer is not part of an active group",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:18,991] INFO [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Failing OffsetCommit request since the consumer is not part of an active group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-etl-1-b",
                group_id="ads-etl-1",
                error="the consumer is not part of an active group",
            ),
        ),
        counter_samples=(_A_JOINING,),
    ),
    Pattern(
        pattern_id="client.partition_commit_failed",
        kind="client_commit_failed",
        loggers=(*_COORDINATOR_LOGGERS, *_COMMIT_LOGGERS),
        contains="Offset commit failed on partition ",
        regex=CONSUMER_HEAD
        + rf"Offset commit failed on partition {TOPIC_PARTITION} at offset (?P<log_offset>\d+): (?P<error>.+)$",
        versions="2.0-4.2",
        source=f"{_CLIENTS}/consumer/internals/ConsumerCoordinator.java OffsetCommitResponseHandler",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:46:17,199] ERROR [Consumer clientId=mobile-etl-3-b, groupId=mobile-etl-3] Offset commit failed on partition shop-events-7 at offset 3: The coordinator is not aware of this member. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="mobile-etl-3-b",
                group_id="mobile-etl-3",
                topic="shop-events",
                partition="7",
                log_offset="3",
                error="The coordinator is not aware of this member.",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:18,990] ERROR [Consumer clientId=ads-etl-1-b, groupId=ads-etl-1] Offset commit failed on partition shop-events-7 at offset 3: The coordinator is not aware of this member. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-etl-1-b",
                group_id="ads-etl-1",
                topic="shop-events",
                partition="7",
                log_offset="3",
                error="The coordinator is not aware of this member.",
            ),
        ),
        counter_samples=(_A_REFUSED_COMMIT,),
    ),
    Pattern(
        pattern_id="client.kip848_commit_failed",
        kind="client_commit_failed",
        loggers=_COMMIT_LOGGERS,
        contains="OffsetCommit failed ",
        regex=CONSUMER_HEAD + r"OffsetCommit failed (?:for member (?P<member_id>\S+) )?with (?P<error>.+)$",
        versions="3.7-4.2",
        source=f"{_CLIENTS}/consumer/internals/CommitRequestManager.java OffsetCommitRequestState",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:46:15,763] ERROR [Consumer clientId=email-next-11-a, groupId=email-next-11] OffsetCommit failed for member IF9u91ErTnivIe8vNKWFHQ with stale member epoch error. Last epoch sent: 2 (org.apache.kafka.clients.consumer.internals.CommitRequestManager)",
                client_id="email-next-11-a",
                group_id="email-next-11",
                member_id="IF9u91ErTnivIe8vNKWFHQ",
                error="stale member epoch error. Last epoch sent: 2",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:47:40,959] ERROR [Consumer clientId=email-next-11-d, groupId=email-next-11] OffsetCommit failed with UNKNOWN_MEMBER_ID (org.apache.kafka.clients.consumer.internals.CommitRequestManager)",
                client_id="email-next-11-d",
                group_id="email-next-11",
                error="UNKNOWN_MEMBER_ID",
            ),
        ),
        counter_samples=(
            "[2026-11-21 01:47:46,032] INFO [Consumer clientId=email-next-11-a, groupId=email-next-11] Member IF9u91ErTnivIe8vNKWFHQ won't include epoch in following offset commit/fetch requests because it has left the group. (org.apache.kafka.clients.consumer.internals.CommitRequestManager)",
        ),
    ),
    Pattern(
        pattern_id="client.disconnected",
        kind="client_disconnected",
        loggers=_NETWORK_LOGGERS,
        contains=" disconnected.",
        regex=CONSUMER_HEAD + r"Node (?P<node>-?\d+) disconnected\.$",
        versions="3.1-4.2",
        source=f"{_CLIENTS}/NetworkClient.java handleDisconnections",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 02:01:54,326] INFO [Consumer clientId=audit-roll-17-a, groupId=audit-roll-17] Node 2 disconnected. (org.apache.kafka.clients.NetworkClient)",
                client_id="audit-roll-17-a",
                group_id="audit-roll-17",
                node="2",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:50:30,675] INFO [Consumer clientId=geo-coord-17-a, groupId=geo-coord-17] Node 1 disconnected. (org.apache.kafka.clients.NetworkClient)",
                client_id="geo-coord-17-a",
                group_id="geo-coord-17",
                node="1",
            ),
        ),
        counter_samples=(_A_BROKER_DISCONNECT,),
    ),
    Pattern(
        pattern_id="client.connection_refused",
        kind="client_disconnected",
        loggers=_NETWORK_LOGGERS,
        contains=" could not be established.",
        regex=CONSUMER_HEAD
        + r"Connection to node (?P<node>-?\d+) \([^)]*\) (?P<detail>could not be established)\. (?:Broker|Node) may not be available\.$",
        versions="2.4-4.2",
        source=f"{_CLIENTS}/NetworkClient.java processDisconnection",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:09,000] WARN [Consumer clientId=email-roll-17-a, groupId=email-roll-17] Connection to node 2 (/127.0.0.1:20402) could not be established. Broker may not be available. (org.apache.kafka.clients.NetworkClient)",
                client_id="email-roll-17-a",
                group_id="email-roll-17",
                node="2",
                detail="could not be established",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:50:30,900] WARN [Consumer clientId=geo-coord-17-a, groupId=geo-coord-17] Connection to node 1 (/127.0.0.1:23601) could not be established. Node may not be available. (org.apache.kafka.clients.NetworkClient)",
                client_id="geo-coord-17-a",
                group_id="geo-coord-17",
                node="1",
                detail="could not be established",
            ),
        ),
        counter_samples=(_A_BROKER_DISCONNECT,),
    ),
    Pattern(
        pattern_id="client.request_timed_out",
        kind="client_disconnected",
        loggers=_NETWORK_LOGGERS,
        contains=" due to request timeout.",
        regex=CONSUMER_HEAD + r"Disconnecting from node (?P<node>-?\d+) due to (?P<detail>\w*\s?request timeout)\.$",
        versions="2.4-4.2",
        source=f"{_CLIENTS}/NetworkClient.java handleTimedOutRequests",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:04,096] INFO [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] Disconnecting from node 2147483646 due to request timeout. (org.apache.kafka.clients.NetworkClient)",
                client_id="consumer-orders-svc-1",
                group_id="orders-svc",
                node="2147483646",
                detail="request timeout",
            ),
        ),
        counter_samples=(_A_BROKER_DISCONNECT,),
    ),
)
