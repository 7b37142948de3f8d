"""How a classic Java consumer goes, or is put out of its group, as its own log tells it (Kafka 2.0-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CONSUMER_HEAD, MEMBER, captured, made

_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
    "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
)
_GENERATION = (
    r"Generation\{generationId=(?P<generation>-?\d+), memberId='(?P<member_id>[^']*)', protocol='(?P<assignor>[^']*)'\}"
)
_SOURCE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractCoordinator.java"

_A_JOIN = "[2026-11-21 01:41:00,776] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Successfully joined group with generation Generation{generationId=1, memberId='ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245', protocol='range'} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_RESET = "[2026-11-21 01:41:23,541] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Resetting generation and member id due to: consumer pro-actively leaving the group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_REQUEST = "[2026-11-21 01:41:04,775] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Request joining group due to: group is already rebalancing (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_STALE_HEARTBEAT = "[2026-11-21 01:54:40,886] INFO [Consumer clientId=billing-etl-2-b, groupId=billing-etl-2] Attempt to heartbeat with stale Generation{generationId=2, memberId='billing-etl-2-b-1a8ae495-cf27-4c35-b32f-d6b289686bd1', protocol='range'} and group instance id Optional.empty failed due to UNKNOWN_MEMBER_ID, ignoring the error (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_LEAVE = "[2026-11-21 01:41:23,541] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Member ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245 sending LeaveGroup request to coordinator 127.0.0.1:23603 (id: 2147483644 rack: null isFenced: false) due to the consumer is being closed (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_LATE_LEAVE = "[2026-11-21 01:50:00,262] INFO [Consumer clientId=audit-loader-10-b, groupId=audit-loader-10] Member audit-loader-10-b-f9d2803e-23de-4350-a963-ba67633165a1 sending LeaveGroup request to coordinator 127.0.0.1:20402 (id: 2147483645 rack: null) due to consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages. You can address this either by increasing max.poll.interval.ms or by reducing the maximum size of batches returned in poll() with max.poll.records. (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)"

PATTERNS = (
    Pattern(
        pattern_id="client.leaving",
        kind="client_leaving",
        loggers=_LOGGERS,
        contains=" sending LeaveGroup request to coordinator ",
        regex=CONSUMER_HEAD
        + rf"Member (?P<member_id>{MEMBER}) sending LeaveGroup request to coordinator \S+ \(id: \d+ rack: [^)]*\)"
        r"(?: due to (?P<client_reason>(?!consumer poll timeout has expired\. This means ).*))?$",
        versions="2.4-4.2",
        source=f"{_SOURCE} maybeLeaveGroup",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:50:10,961] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Member audit-loader-10-a-f2851931-c116-402f-90f3-346e8aaac5da sending LeaveGroup request to coordinator 127.0.0.1:20402 (id: 2147483645 rack: null) due to the consumer is being closed (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="audit-loader-10-a",
                group_id="audit-loader-10",
                member_id="audit-loader-10-a-f2851931-c116-402f-90f3-346e8aaac5da",
                client_reason="the consumer is being closed",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:59:54,352] INFO [Consumer clientId=ads-loader-13-b, groupId=ads-loader-13] Member ads-loader-13-b-b6696088-87d6-4929-bcb1-c7fb7717bb8c sending LeaveGroup request to coordinator 127.0.0.1:24802 (id: 2147483645 rack: null) due to consumer poll timeout has expired. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-loader-13-b",
                group_id="ads-loader-13",
                member_id="ads-loader-13-b-b6696088-87d6-4929-bcb1-c7fb7717bb8c",
                client_reason="consumer poll timeout has expired.",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:23,541] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Member ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245 sending LeaveGroup request to coordinator 127.0.0.1:23603 (id: 2147483644 rack: null isFenced: false) due to the consumer is being closed (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-etl-1-a",
                group_id="ads-etl-1",
                member_id="ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245",
                client_reason="the consumer is being closed",
            ),
        ),
        counter_samples=(_A_LATE_LEAVE, _A_RESET),
    ),
    Pattern(
        pattern_id="client.leaving_late",
        kind="client_poll_expired",
        loggers=_LOGGERS,
        contains=" due to consumer poll timeout has expired. This means ",
        regex=CONSUMER_HEAD
        + rf"Member (?P<member_id>{MEMBER}) sending LeaveGroup request to coordinator \S+ \(id: \d+ rack: [^)]*\)"
        r" due to (?P<client_reason>consumer poll timeout has expired\. This means .*)$",
        versions="2.4-2.8",
        source=f"{_SOURCE} HeartbeatThread",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:50:00,262] INFO [Consumer clientId=audit-loader-10-b, groupId=audit-loader-10] Member audit-loader-10-b-f9d2803e-23de-4350-a963-ba67633165a1 sending LeaveGroup request to coordinator 127.0.0.1:20402 (id: 2147483645 rack: null) due to consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages. You can address this either by increasing max.poll.interval.ms or by reducing the maximum size of batches returned in poll() with max.poll.records. (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="audit-loader-10-b",
                group_id="audit-loader-10",
                member_id="audit-loader-10-b-f9d2803e-23de-4350-a963-ba67633165a1",
                client_reason="consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages. You can address this either by increasing max.poll.interval.ms or by reducing the maximum size of batches returned in poll() with max.poll.records.",
            ),
        ),
        counter_samples=(_A_LEAVE,),
    ),
    Pattern(
        pattern_id="client.poll_expired",
        kind="client_poll_expired",
        loggers=_LOGGERS,
        contains="onsumer poll timeout has expired. This means ",
        regex=CONSUMER_HEAD
        + r"(?:This member will leave the group because )?consumer poll timeout has expired\. This means the time between .*$",
        versions="2.1-4.2",
        source=f"{_SOURCE} handlePollTimeoutExpiry",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:59:54,352] WARN [Consumer clientId=ads-loader-13-b, groupId=ads-loader-13] consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages. You can address this either by increasing max.poll.interval.ms or by reducing the maximum size of batches returned in poll() with max.poll.records. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-loader-13-b",
                group_id="ads-loader-13",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:49:25,676] WARN [Consumer clientId=ledger-loader-14-b, groupId=ledger-loader-14] consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages. You can address this either by increasing max.poll.interval.ms or by reducing the maximum size of batches returned in poll() with max.poll.records. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ledger-loader-14-b",
                group_id="ledger-loader-14",
            ),
        ),
        counter_samples=(_A_LATE_LEAVE,),
    ),
    Pattern(
        pattern_id="client.heartbeat_refused",
        kind="client_heartbeat_refused",
        loggers=_LOGGERS,
        contains="Attempt to heartbeat with ",
        regex=CONSUMER_HEAD
        + rf"Attempt to heartbeat with (?:stale )?{_GENERATION} and group instance id \S+ failed due to (?P<error>\w+), (?P<detail>.*)$",
        versions="2.6-4.2",
        source=f"{_SOURCE} HeartbeatResponseHandler",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:46:17,197] INFO [Consumer clientId=mobile-etl-3-b, groupId=mobile-etl-3] Attempt to heartbeat with Generation{generationId=2, memberId='mobile-etl-3-b-e1c7024c-1cd9-47dc-bc41-1694eae193df', protocol='range'} and group instance id Optional.empty failed due to UNKNOWN_MEMBER_ID, resetting generation (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="mobile-etl-3-b",
                group_id="mobile-etl-3",
                generation="2",
                member_id="mobile-etl-3-b-e1c7024c-1cd9-47dc-bc41-1694eae193df",
                assignor="range",
                error="UNKNOWN_MEMBER_ID",
                detail="resetting generation",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:54:40,886] INFO [Consumer clientId=billing-etl-2-b, groupId=billing-etl-2] Attempt to heartbeat with stale Generation{generationId=2, memberId='billing-etl-2-b-1a8ae495-cf27-4c35-b32f-d6b289686bd1', protocol='range'} and group instance id Optional.empty failed due to UNKNOWN_MEMBER_ID, ignoring the error (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="billing-etl-2-b",
                group_id="billing-etl-2",
                generation="2",
                member_id="billing-etl-2-b-1a8ae495-cf27-4c35-b32f-d6b289686bd1",
                assignor="range",
                error="UNKNOWN_MEMBER_ID",
                detail="ignoring the error",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:01,630] INFO [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] Attempt to heartbeat with Generation{generationId=14, memberId='consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1', protocol='range'} and group instance id Optional.empty failed due to UNKNOWN_MEMBER_ID, resetting generation (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="consumer-orders-svc-1",
                group_id="orders-svc",
                generation="14",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
                assignor="range",
                error="UNKNOWN_MEMBER_ID",
                detail="resetting generation",
            ),
        ),
        counter_samples=(
            "[2026-11-21 02:02:02,708] INFO [Consumer clientId=audit-roll-17-a, groupId=audit-roll-17] Attempt to heartbeat failed since coordinator 127.0.0.1:24803 (id: 2147483644 rack: null) is either not started or not valid (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
    ),
    Pattern(
        pattern_id="client.heartbeat_of_stranger",
        kind="client_heartbeat_refused",
        loggers=_LOGGERS,
        contains="Attempt to heartbeat failed for since member id ",
        regex=CONSUMER_HEAD + r"Attempt to heartbeat failed for since member id (?P<member_id>.+) is not valid\.$",
        versions="2.0-2.5",
        source=f"{_SOURCE} HeartbeatResponseHandler",
        samples=(
            made(
                "2.5",
                "[2025-03-12 10:00:01,630] INFO [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] Attempt to heartbeat failed for since member id consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1 is not valid. (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="consumer-orders-svc-1",
                group_id="orders-svc",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
            ),
        ),
        constants={"error": "UNKNOWN_MEMBER_ID"},
        counter_samples=(_A_LATE_LEAVE,),
    ),
    Pattern(
        pattern_id="client.heartbeat_of_old_generation",
        kind="client_heartbeat_refused",
        loggers=_LOGGERS,
        contains="Attempt to heartbeat failed since generation ",
        regex=CONSUMER_HEAD + r"Attempt to heartbeat failed since generation (?P<generation>\d+) is not current\.?$",
        versions="2.0-2.5",
        source=f"{_SOURCE} HeartbeatResponseHandler",
        samples=(
            made(
                "2.5",
                "[2025-03-12 10:00:01,630] INFO [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] Attempt to heartbeat failed since generation 14 is not current (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="consumer-orders-svc-1",
                group_id="orders-svc",
                generation="14",
            ),
        ),
        constants={"error": "ILLEGAL_GENERATION"},
        counter_samples=(_A_LATE_LEAVE,),
    ),
    Pattern(
        pattern_id="client.heartbeat_misdirected",
        kind="client_heartbeat_refused",
        loggers=_LOGGERS,
        contains="Attempt to heartbeat failed since coordinator ",
        regex=CONSUMER_HEAD
        + r"Attempt to heartbeat failed since coordinator \S+ \(id: (?P<node>\d+) rack: [^)]*\) (?P<error>is either not started or not valid)\.?$",
        versions="2.0-4.2",
        source=f"{_SOURCE} HeartbeatResponseHandler",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:16,096] INFO [Consumer clientId=email-roll-17-b, groupId=email-roll-17] Attempt to heartbeat failed since coordinator 127.0.0.1:20403 (id: 2147483644 rack: null) is either not started or not valid (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="email-roll-17-b",
                group_id="email-roll-17",
                node="2147483644",
                error="is either not started or not valid",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:02:02,708] INFO [Consumer clientId=audit-roll-17-a, groupId=audit-roll-17] Attempt to heartbeat failed since coordinator 127.0.0.1:24803 (id: 2147483644 rack: null) is either not started or not valid (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="audit-roll-17-a",
                group_id="audit-roll-17",
                node="2147483644",
                error="is either not started or not valid",
            ),
        ),
        counter_samples=(_A_STALE_HEARTBEAT,),
    ),
    Pattern(
        pattern_id="client.generation_reset",
        kind="client_generation_reset",
        loggers=_LOGGERS,
        contains="Resetting generation ",
        regex=CONSUMER_HEAD + r"Resetting generation (?:and member id )?due to: (?P<reason>.+)$",
        versions="3.0-4.2",
        source=f"{_SOURCE} resetStateAndGeneration",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:54:40,885] INFO [Consumer clientId=billing-etl-2-b, groupId=billing-etl-2] Resetting generation and member id due to: encountered UNKNOWN_MEMBER_ID from OFFSET_COMMIT response (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="billing-etl-2-b",
                group_id="billing-etl-2",
                reason="encountered UNKNOWN_MEMBER_ID from OFFSET_COMMIT response",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:23,541] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Resetting generation and member id due to: consumer pro-actively leaving the group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-etl-1-a",
                group_id="ads-etl-1",
                reason="consumer pro-actively leaving the group",
            ),
        ),
        counter_samples=(_A_REQUEST,),
    ),
    Pattern(
        pattern_id="client.instance_fenced",
        kind="client_instance_fenced",
        loggers=_LOGGERS,
        contains=" has been fenced by another instance.",
        regex=CONSUMER_HEAD
        + rf"\w+ failed: The group instance id \S+ has been fenced by another instance\. Sent generation was {_GENERATION}$",
        versions="2.7-4.2",
        source=f"{_SOURCE} JoinGroupResponseHandler, SyncGroupResponseHandler",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:02,452] ERROR [Consumer clientId=consumer-orders-svc-1, groupId=orders-svc] JoinGroup failed: The group instance id Optional[orders-svc-0] has been fenced by another instance. Sent generation was Generation{generationId=14, memberId='consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1', protocol='range'} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="consumer-orders-svc-1",
                group_id="orders-svc",
                generation="14",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
                assignor="range",
            ),
        ),
        counter_samples=(_A_JOIN,),
    ),
)
