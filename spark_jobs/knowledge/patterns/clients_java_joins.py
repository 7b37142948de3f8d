"""How a classic Java consumer comes into its group, as its own log tells it (Kafka 2.0-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CONSUMER_HEAD, captured

_LOGGERS = (
    "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
    "org.apache.kafka.clients.consumer.internals.AbstractCoordinator",
)
_GENERATION = (
    r"Generation\{generationId=(?P<generation>-?\d+), memberId='(?P<member_id>[^']*)', protocol='(?P<assignor>[^']*)'\}"
)
_SOURCE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals/AbstractCoordinator.java"
_CONSUMER_SOURCE = "clients/src/main/java/org/apache/kafka/clients/consumer/internals/ConsumerCoordinator.java"

_A_JOINING = "[2026-11-21 01:40:59,691] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] (Re-)joining group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_JOIN = "[2026-11-21 01:41:00,776] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Successfully joined group with generation Generation{generationId=1, memberId='ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245', protocol='range'} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_SYNC = "[2026-11-21 01:41:00,875] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Successfully synced group in generation Generation{generationId=1, memberId='ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245', protocol='range'} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_RESET = "[2026-11-21 01:41:23,541] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Resetting generation and member id due to: consumer pro-actively leaving the group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_REQUEST = "[2026-11-21 01:41:04,775] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Request joining group due to: group is already rebalancing (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"
_A_NOTIFICATION = "[2026-11-21 01:41:00,876] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Notifying assignor about the new Assignment(partitions=[shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8]) (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)"

PATTERNS = (
    Pattern(
        pattern_id="client.joining",
        kind="client_joining",
        loggers=_LOGGERS,
        contains="(Re-)joining group",
        regex=CONSUMER_HEAD + r"\(Re-\)joining group$",
        versions="2.0-4.2",
        source=f"{_SOURCE} sendJoinGroupRequest",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:49:43,586] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] (Re-)joining group (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="audit-loader-10-a",
                group_id="audit-loader-10",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:56:11,992] INFO [Consumer instanceId=i1, clientId=mobile-static-7-a, groupId=mobile-static-7] (Re-)joining group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                instance_id="i1",
                client_id="mobile-static-7-a",
                group_id="mobile-static-7",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:40:59,691] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] (Re-)joining group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-etl-1-a",
                group_id="ads-etl-1",
            ),
        ),
        counter_samples=(_A_JOIN, _A_REQUEST),
    ),
    Pattern(
        pattern_id="client.join_requested",
        kind="client_join_requested",
        loggers=_LOGGERS,
        contains="Request joining group due to: ",
        regex=CONSUMER_HEAD + r"Request joining group due to: (?P<reason>.+)$",
        versions="3.0-4.2",
        source=f"{_SOURCE} requestRejoin",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:55:52,157] INFO [Consumer clientId=crm-rx-6-a, groupId=crm-rx-6] Request joining group due to: cached metadata has changed from (version9: {crm-rx-6-x1=[NO_RACKS, NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to (version10: {crm-rx-6-x1=[NO_RACKS, NO_RACKS, NO_RACKS], crm-rx-6-x2=[NO_RACKS, NO_RACKS, NO_RACKS]}) (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="crm-rx-6-a",
                group_id="crm-rx-6",
                reason="cached metadata has changed from (version9: {crm-rx-6-x1=[NO_RACKS, NO_RACKS, NO_RACKS]}) at the beginning of the rebalance to (version10: {crm-rx-6-x1=[NO_RACKS, NO_RACKS, NO_RACKS], crm-rx-6-x2=[NO_RACKS, NO_RACKS, NO_RACKS]})",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:00:13,970] INFO [Consumer clientId=billing-coop-14-a, groupId=billing-coop-14] Request joining group due to: need to revoke partitions [shop-events-5, shop-events-6, shop-events-7, shop-events-8] as indicated by the current assignment and re-join (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="billing-coop-14-a",
                group_id="billing-coop-14",
                reason="need to revoke partitions [shop-events-5, shop-events-6, shop-events-7, shop-events-8] as indicated by the current assignment and re-join",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:43:43,064] INFO [Consumer clientId=fraud-op-7-b, groupId=fraud-op-7] Request joining group due to: asked by operator (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="fraud-op-7-b",
                group_id="fraud-op-7",
                reason="asked by operator",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:50,768] INFO [Consumer clientId=mobile-sub-3-b, groupId=mobile-sub-3] Request joining group due to: subscription has changed from [shop-events] at the beginning of the rebalance to [shop-events, mobile-sub-3-t] (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="mobile-sub-3-b",
                group_id="mobile-sub-3",
                reason="subscription has changed from [shop-events] at the beginning of the rebalance to [shop-events, mobile-sub-3-t]",
            ),
        ),
        counter_samples=(_A_RESET, _A_JOINING),
    ),
    Pattern(
        pattern_id="client.join_requested_over_metadata",
        kind="client_join_requested",
        loggers=_LOGGERS,
        contains="Requesting to re-join the group and trigger rebalance ",
        regex=CONSUMER_HEAD + r"(?P<reason>Requesting to re-join the group and trigger rebalance since .+)$",
        versions="2.7-2.8",
        source=f"{_CONSUMER_SOURCE} rejoinNeededOrPending",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:44:43,066] INFO [Consumer clientId=crm-rx-1-a, groupId=crm-rx-1] Requesting to re-join the group and trigger rebalance since the assignment metadata has changed from (version8: {crm-rx-1-x1=3}) to (version11: {crm-rx-1-x2=3, crm-rx-1-x1=3}) (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="crm-rx-1-a",
                group_id="crm-rx-1",
                reason="Requesting to re-join the group and trigger rebalance since the assignment metadata has changed from (version8: {crm-rx-1-x1=3}) to (version11: {crm-rx-1-x2=3, crm-rx-1-x1=3})",
            ),
            captured(
                "2.8",
                "[2026-11-21 01:46:33,192] INFO [Consumer clientId=geo-sub-4-b, groupId=geo-sub-4] Requesting to re-join the group and trigger rebalance since the subscription has changed from [shop-events] to [shop-events, geo-sub-4-t] (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="geo-sub-4-b",
                group_id="geo-sub-4",
                reason="Requesting to re-join the group and trigger rebalance since the subscription has changed from [shop-events] to [shop-events, geo-sub-4-t]",
            ),
        ),
        counter_samples=(
            "[2026-11-21 01:49:43,586] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] (Re-)joining group (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
        ),
    ),
    Pattern(
        pattern_id="client.join_requested_to_revoke",
        kind="client_join_requested",
        loggers=_LOGGERS,
        contains="Need to revoke partitions ",
        regex=CONSUMER_HEAD + r"(?P<reason>Need to revoke partitions \[.*\] and re-join the group)$",
        versions="2.4-2.8",
        source=f"{_CONSUMER_SOURCE} onJoinComplete",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:49:25,348] INFO [Consumer clientId=fraud-coop-9-a, groupId=fraud-coop-9] Need to revoke partitions [shop-events-7, shop-events-6, shop-events-8, shop-events-5] and re-join the group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="fraud-coop-9-a",
                group_id="fraud-coop-9",
                reason="Need to revoke partitions [shop-events-7, shop-events-6, shop-events-8, shop-events-5] and re-join the group",
            ),
        ),
        counter_samples=(
            "[2026-11-21 01:49:48,623] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Revoke previously assigned partitions shop-events-1, shop-events-0, shop-events-7, shop-events-6, shop-events-8, shop-events-3, shop-events-2, shop-events-5, shop-events-4 (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
        ),
    ),
    Pattern(
        pattern_id="client.join_requested_by_heartbeat",
        kind="client_join_requested",
        loggers=_LOGGERS,
        contains="Attempt to heartbeat failed since group is rebalancing",
        regex=CONSUMER_HEAD + r"Attempt to heartbeat failed since group is rebalancing$",
        versions="2.0-2.8",
        source=f"{_SOURCE} HeartbeatResponseHandler",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:49:48,612] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Attempt to heartbeat failed since group is rebalancing (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="audit-loader-10-a",
                group_id="audit-loader-10",
            ),
        ),
        counter_samples=(
            "[2026-11-21 01:53:16,096] INFO [Consumer clientId=email-roll-17-b, groupId=email-roll-17] Attempt to heartbeat failed since coordinator 127.0.0.1:20403 (id: 2147483644 rack: null) is either not started or not valid (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
        ),
        # In the words of 3.0 and later for the same thing.
        constants={"reason": "group is already rebalancing"},
    ),
    Pattern(
        pattern_id="client.joined",
        kind="client_joined",
        loggers=_LOGGERS,
        contains="Successfully joined group with generation ",
        regex=CONSUMER_HEAD + rf"Successfully joined group with generation {_GENERATION}$",
        versions="2.7-4.2",
        source=f"{_SOURCE} JoinGroupResponseHandler",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:49:44,610] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Successfully joined group with generation Generation{generationId=1, memberId='audit-loader-10-a-f2851931-c116-402f-90f3-346e8aaac5da', protocol='range'} (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="audit-loader-10-a",
                group_id="audit-loader-10",
                generation="1",
                member_id="audit-loader-10-a-f2851931-c116-402f-90f3-346e8aaac5da",
                assignor="range",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:00:09,936] INFO [Consumer clientId=billing-coop-14-a, groupId=billing-coop-14] Successfully joined group with generation Generation{generationId=1, memberId='billing-coop-14-a-55866cdd-5559-4dbe-bacc-3138fbde3be0', protocol='cooperative-sticky'} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="billing-coop-14-a",
                group_id="billing-coop-14",
                generation="1",
                member_id="billing-coop-14-a-55866cdd-5559-4dbe-bacc-3138fbde3be0",
                assignor="cooperative-sticky",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:42:02,514] INFO [Consumer instanceId=i1, clientId=audit-static-4-a, groupId=audit-static-4] Successfully joined group with generation Generation{generationId=1, memberId='i1-89570ebe-1cde-411d-b1f0-70d87db1e868', protocol='range'} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                instance_id="i1",
                client_id="audit-static-4-a",
                group_id="audit-static-4",
                generation="1",
                member_id="i1-89570ebe-1cde-411d-b1f0-70d87db1e868",
                assignor="range",
            ),
        ),
        counter_samples=(_A_SYNC,),
    ),
    Pattern(
        pattern_id="client.synced",
        kind="client_synced",
        loggers=_LOGGERS,
        contains="Successfully synced group in generation ",
        regex=CONSUMER_HEAD + rf"Successfully synced group in generation {_GENERATION}$",
        versions="2.7-4.2",
        source=f"{_SOURCE} SyncGroupResponseHandler",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:49:44,624] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Successfully synced group in generation Generation{generationId=1, memberId='audit-loader-10-a-f2851931-c116-402f-90f3-346e8aaac5da', protocol='range'} (org.apache.kafka.clients.consumer.internals.AbstractCoordinator)",
                client_id="audit-loader-10-a",
                group_id="audit-loader-10",
                generation="1",
                member_id="audit-loader-10-a-f2851931-c116-402f-90f3-346e8aaac5da",
                assignor="range",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:00,875] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Successfully synced group in generation Generation{generationId=1, memberId='ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245', protocol='range'} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-etl-1-a",
                group_id="ads-etl-1",
                generation="1",
                member_id="ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245",
                assignor="range",
            ),
        ),
        counter_samples=(_A_JOIN,),
    ),
    Pattern(
        pattern_id="client.assignment_finished",
        kind="client_assignment_finished",
        loggers=_LOGGERS,
        contains="Finished assignment for group at generation ",
        regex=CONSUMER_HEAD + r"Finished assignment for group at generation (?P<generation>\d+): (?P<detail>.*)$",
        versions="2.4-4.2",
        source=f"{_CONSUMER_SOURCE} onLeaderElected",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:49:44,611] INFO [Consumer clientId=audit-loader-10-a, groupId=audit-loader-10] Finished assignment for group at generation 1: {audit-loader-10-a-f2851931-c116-402f-90f3-346e8aaac5da=Assignment(partitions=[shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8])} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="audit-loader-10-a",
                group_id="audit-loader-10",
                generation="1",
                detail="{audit-loader-10-a-f2851931-c116-402f-90f3-346e8aaac5da=Assignment(partitions=[shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8])}",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:59:42,713] INFO [Consumer clientId=ads-loader-13-a, groupId=ads-loader-13] Finished assignment for group at generation 2: {ads-loader-13-b-b6696088-87d6-4929-bcb1-c7fb7717bb8c=Assignment(partitions=[shop-events-5, shop-events-6, shop-events-7, shop-events-8]), ads-loader-13-a-1b0ba72e-59f0-4b6a-ad50-a54f9b89b8b9=Assignment(partitions=[shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4])} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-loader-13-a",
                group_id="ads-loader-13",
                generation="2",
                detail="{ads-loader-13-b-b6696088-87d6-4929-bcb1-c7fb7717bb8c=Assignment(partitions=[shop-events-5, shop-events-6, shop-events-7, shop-events-8]), ads-loader-13-a-1b0ba72e-59f0-4b6a-ad50-a54f9b89b8b9=Assignment(partitions=[shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4])}",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:41:00,822] INFO [Consumer clientId=ads-etl-1-a, groupId=ads-etl-1] Finished assignment for group at generation 1: {ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245=Assignment(partitions=[shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8])} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)",
                client_id="ads-etl-1-a",
                group_id="ads-etl-1",
                generation="1",
                detail="{ads-etl-1-a-bd793147-8b10-45da-b253-f04cf650d245=Assignment(partitions=[shop-events-0, shop-events-1, shop-events-2, shop-events-3, shop-events-4, shop-events-5, shop-events-6, shop-events-7, shop-events-8])}",
            ),
        ),
        counter_samples=(_A_NOTIFICATION,),
    ),
)
