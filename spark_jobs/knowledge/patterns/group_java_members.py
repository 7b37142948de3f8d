"""Members of classic groups as the Java coordinator tells them (Kafka 3.7-4.2)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CLASSIC, INSTANCE, JAVA_HEAD, MEMBER, captured, made

_LOGGERS = ("org.apache.kafka.coordinator.group.GroupMetadataManager",)
_GROUP_LOGGERS = (
    "org.apache.kafka.coordinator.group.classic.ClassicGroup",
    "org.apache.kafka.coordinator.group.generic.GenericGroup",
)
_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/GroupMetadataManager.java"
_GROUP_SOURCE = "group-coordinator/src/main/java/org/apache/kafka/coordinator/group/classic/ClassicGroup.java"

_A_FAILURE = "[2026-11-21 01:42:32,821] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Member i2-e00ac098-c1ae-4a6e-b801-8633dd41b047 in group audit-static-4 has failed, removing it from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_LEAVE = "[2026-11-21 01:42:57,367] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=15] [Group geo-py-5] Member geo-py-5-b-7c55fb38-c9bd-44c5-a6e6-ad70b5cdc9ee has left group through explicit `LeaveGroup` request; client reason: not provided (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_CONSUMER_LEAVE = "[2026-11-21 01:46:15,379] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=25] [GroupId email-next-11] Member XpVYuptgSeSDqwjPGx41Ew left the consumer group. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_NEW_ID = "[2026-11-21 01:42:40,798] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=15] Dynamic member with unknown member id joins group geo-py-5 in Empty state. Created a new member id geo-py-5-a-4cad14bc-fc6d-41f0-aad8-0977e83f7c19 and requesting the member to rejoin with this id. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_REPLACEMENT = "[2026-11-21 01:42:11,806] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Static member with groupInstanceId=i2 and unknown member id joins group audit-static-4 in Stable state. Replacing previously mapped member i2-8f975a9b-6eda-490a-bc3c-f8e7d6545b97 with this groupInstanceId. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_NEW_STATIC = "[2026-11-21 01:42:01,505] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Static member with groupInstanceId=i1 and unknown member id joins group audit-static-4 in Empty state. Created a new member id i1-89570ebe-1cde-411d-b1f0-70d87db1e868 for this member and added to the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)"
_A_PENDING_JOIN = "[2026-11-21 01:42:40,799] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=15] Pending dynamic member with id geo-py-5-a-4cad14bc-fc6d-41f0-aad8-0977e83f7c19 joins group geo-py-5 in Empty state. Adding to the group now. (org.apache.kafka.coordinator.group.GroupMetadataManager)"

PATTERNS = (
    Pattern(
        pattern_id="java.member_failed",
        kind="member_failed",
        loggers=_LOGGERS,
        contains=" has failed, removing it from the group.",
        regex=JAVA_HEAD
        + rf"Member (?P<member_id>{MEMBER}) in group (?P<group_id>.{{1,255}}) has failed, removing it from the group\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} expireClassicGroupMemberHeartbeat",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:42:32,821] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Member i2-e00ac098-c1ae-4a6e-b801-8633dd41b047 in group audit-static-4 has failed, removing it from the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                member_id="i2-e00ac098-c1ae-4a6e-b801-8633dd41b047",
                group_id="audit-static-4",
            ),
        ),
        counter_samples=(_A_LEAVE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.member_left",
        kind="member_left",
        loggers=_LOGGERS,
        contains=" has left group through explicit `LeaveGroup` request; client reason: ",
        regex=JAVA_HEAD + rf"\[Group (?P<group_id>.{{1,255}}?)\] Member (?P<member_id>{MEMBER}) "
        r"has left group through explicit `LeaveGroup` request; client reason: (?P<client_reason>.*)$",
        versions="3.7-4.2",
        source=f"{_SOURCE} classicGroupLeaveToClassicGroup",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:43:51,091] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=44] [Group fraud-op-7] Member fraud-op-7-a-c567b83b-1c91-4e47-9b02-332eaaf38dff has left group through explicit `LeaveGroup` request; client reason: the consumer is being closed (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="44",
                group_id="fraud-op-7",
                member_id="fraud-op-7-a-c567b83b-1c91-4e47-9b02-332eaaf38dff",
                client_reason="the consumer is being closed",
            ),
            captured(
                "4.1",
                "[2026-11-21 01:49:25,678] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=47] [Group ledger-loader-14] Member ledger-loader-14-b-c537cf4c-7062-458d-8644-08b0ef54efb4 has left group through explicit `LeaveGroup` request; client reason: consumer poll timeout has expired. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="47",
                group_id="ledger-loader-14",
                member_id="ledger-loader-14-b-c537cf4c-7062-458d-8644-08b0ef54efb4",
                client_reason="consumer poll timeout has expired.",
            ),
        ),
        counter_samples=(_A_CONSUMER_LEAVE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.pending_member_left",
        kind="pending_member_left",
        loggers=_LOGGERS,
        contains="] Pending member ",
        regex=JAVA_HEAD
        + rf"\[Group (?P<group_id>.{{1,255}}?)\] Pending member (?P<member_id>{MEMBER}) has left group through explicit "
        r"`LeaveGroup` request; client reason: (?P<client_reason>.*)$",
        versions="3.7-4.2",
        source=f"{_SOURCE} classicGroupLeaveToClassicGroup",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:00,808] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] [Group orders-svc] Pending member consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1 has left group through explicit `LeaveGroup` request; client reason: the consumer is being closed (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
                client_reason="the consumer is being closed",
            ),
        ),
        counter_samples=(_A_LEAVE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.member_id_assigned",
        kind="member_id_assigned",
        loggers=_LOGGERS,
        contains=" and requesting the member to rejoin with this id.",
        regex=JAVA_HEAD
        + r"Dynamic member with unknown member id joins group (?P<group_id>.{1,255}) in (?P<state>\w+) state\. "
        rf"Created a new member id (?P<member_id>{MEMBER}) and requesting the member to rejoin with this id\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} classicGroupJoinNewDynamicMember",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:42:44,323] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=15] Dynamic member with unknown member id joins group geo-py-5 in Stable state. Created a new member id geo-py-5-b-7c55fb38-c9bd-44c5-a6e6-ad70b5cdc9ee and requesting the member to rejoin with this id. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="15",
                group_id="geo-py-5",
                state="Stable",
                member_id="geo-py-5-b-7c55fb38-c9bd-44c5-a6e6-ad70b5cdc9ee",
            ),
        ),
        counter_samples=(_A_NEW_STATIC, _A_PENDING_JOIN),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.member_added",
        kind="member_added",
        loggers=_LOGGERS,
        contains="Dynamic member with unknown member id joins group ",
        regex=JAVA_HEAD
        + r"Dynamic member with unknown member id joins group (?P<group_id>.{1,255}) in state (?P<state>\w+)\. "
        rf"Created a new member id (?P<member_id>{MEMBER}) and added the member to the group\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} classicGroupJoinNewDynamicMember",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:01,219] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] Dynamic member with unknown member id joins group orders-svc in state Empty. Created a new member id consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1 and added the member to the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                group_id="orders-svc",
                state="Empty",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
            ),
        ),
        counter_samples=(_A_NEW_ID,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.static_member_added",
        kind="member_added",
        loggers=_LOGGERS,
        contains=" for this member and added to the group.",
        regex=JAVA_HEAD
        + rf"Static member with groupInstanceId=(?P<instance_id>{INSTANCE}) and unknown member id joins group (?P<group_id>.{{1,255}}) "
        rf"in (?P<state>\w+) state\. Created a new member id (?P<member_id>{MEMBER}) for this member and added to the group\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} classicGroupJoinNewStaticMember",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:42:01,505] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Static member with groupInstanceId=i1 and unknown member id joins group audit-static-4 in Empty state. Created a new member id i1-89570ebe-1cde-411d-b1f0-70d87db1e868 for this member and added to the group. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                instance_id="i1",
                group_id="audit-static-4",
                state="Empty",
                member_id="i1-89570ebe-1cde-411d-b1f0-70d87db1e868",
            ),
        ),
        counter_samples=(_A_NEW_ID, _A_REPLACEMENT),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.member_rejoined_pending",
        kind="member_rejoined_pending",
        loggers=_LOGGERS,
        contains="Pending dynamic member with id ",
        regex=JAVA_HEAD
        + rf"Pending dynamic member with id (?P<member_id>{MEMBER}) joins group (?P<group_id>.{{1,255}}) in (?P<state>\w+) state\. "
        r"Adding to the group now\.$",
        versions="4.0-4.2",
        source=f"{_SOURCE} classicGroupJoinExistingMember",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:42:40,799] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=15] Pending dynamic member with id geo-py-5-a-4cad14bc-fc6d-41f0-aad8-0977e83f7c19 joins group geo-py-5 in Empty state. Adding to the group now. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="15",
                member_id="geo-py-5-a-4cad14bc-fc6d-41f0-aad8-0977e83f7c19",
                group_id="geo-py-5",
                state="Empty",
            ),
        ),
        counter_samples=(_A_NEW_ID,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.pending_member_removed",
        kind="pending_member_removed",
        loggers=_LOGGERS,
        contains=" has been removed after session timeout expiration.",
        regex=JAVA_HEAD
        + rf"Pending member (?P<member_id>{MEMBER}) in group (?P<group_id>.{{1,255}}) has been removed after session timeout expiration\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} expireClassicGroupMemberHeartbeat",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:02,178] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] Pending member consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1 in group orders-svc has been removed after session timeout expiration. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="17",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
                group_id="orders-svc",
            ),
        ),
        counter_samples=(_A_FAILURE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.static_member_replaced",
        kind="static_member_replaced",
        loggers=_LOGGERS,
        contains="Replacing previously mapped member ",
        regex=JAVA_HEAD
        + rf"Static member with groupInstanceId=(?P<instance_id>{INSTANCE}) and unknown member id joins group (?P<group_id>.{{1,255}}) "
        rf"in (?P<state>\w+) state\. Replacing previously mapped member (?P<old_member_id>{MEMBER}) with this groupInstanceId\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} classicGroupJoinNewStaticMember",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:42:11,806] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Static member with groupInstanceId=i2 and unknown member id joins group audit-static-4 in Stable state. Replacing previously mapped member i2-8f975a9b-6eda-490a-bc3c-f8e7d6545b97 with this groupInstanceId. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                instance_id="i2",
                group_id="audit-static-4",
                state="Stable",
                old_member_id="i2-8f975a9b-6eda-490a-bc3c-f8e7d6545b97",
            ),
        ),
        counter_samples=(_A_NEW_STATIC,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.static_rejoin_quiet",
        kind="static_rejoin_quiet",
        loggers=_LOGGERS,
        contains=" will not trigger a rebalance.",
        regex=JAVA_HEAD
        + r"Static member which joins during (?P<state>\w+) stage and doesn't affect the selected protocol will not trigger a rebalance\.$",
        versions="3.7-4.2",
        source=f"{_SOURCE} updateStaticMemberThenRebalanceOrCompleteJoin",
        samples=(
            captured(
                "4.1",
                "[2026-11-21 01:42:11,806] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] Static member which joins during Stable stage and doesn't affect the selected protocol will not trigger a rebalance. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="11",
                state="Stable",
            ),
        ),
        counter_samples=(_A_REPLACEMENT,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.static_member_fenced",
        kind="static_member_fenced",
        loggers=_GROUP_LOGGERS,
        contains=" is fenced by existing memberId=",
        regex=JAVA_HEAD
        + rf"Request memberId=(?P<member_id>{MEMBER}) for static member with groupInstanceId=(?P<instance_id>{INSTANCE}) "
        rf"is fenced by existing memberId={MEMBER} during operation (?P<detail>[\w-]+)$",
        versions="3.7-4.2",
        source=f"{_GROUP_SOURCE} validateMember",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:03,000] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] Request memberId=orders-svc-0-5c6fbcaf-6d4e-4ec0-bb35-2976694a14a6 for static member with groupInstanceId=orders-svc-0 is fenced by existing memberId=orders-svc-0-aaaa1111-0000-4000-8000-000000000001 during operation heartbeat (org.apache.kafka.coordinator.group.classic.ClassicGroup)",
                offsets_partition="17",
                member_id="orders-svc-0-5c6fbcaf-6d4e-4ec0-bb35-2976694a14a6",
                instance_id="orders-svc-0",
                detail="heartbeat",
            ),
        ),
        counter_samples=(
            "[2025-03-12 10:00:02,726] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] Group leader [memberId: consumer-orders-svc-2-b9580b44-12d4-455a-ab06-7927604b5ff5, groupInstanceId: None] failed to join before the rebalance timeout. Member ClassicGroupMember(memberId='consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1', groupInstanceId='', clientId='consumer-orders-svc-1', clientHost='/10.20.3.7', rebalanceTimeoutMs=300000, sessionTimeoutMs=45000, protocolType='consumer', supportedProtocols=[range]) was elected as the new leader. (org.apache.kafka.coordinator.group.classic.ClassicGroup)",
        ),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.members_not_rejoined",
        kind="members_not_rejoined",
        loggers=_LOGGERS,
        contains=" dynamic members who haven't joined: ",
        regex=JAVA_HEAD
        + r"Group (?P<group_id>.{1,255}) removed dynamic members who haven't joined: \[(?P<members>.+)\]\.?$",
        versions="3.7-4.2",
        source=f"{_SOURCE} completeClassicGroupJoin",
        samples=(
            captured(
                "4.3",
                "[2026-11-21 12:19:29,880] INFO [GroupCoordinator id=2 topic=__consumer_offsets partition=9] Group loans-reader-96 removed dynamic members who haven't joined: [audit-sink-17c8d-ced94512-d90a-42d3-a7a2-bbf0d4cd6606] (org.apache.kafka.coordinator.group.GroupMetadataManager)",
                offsets_partition="9",
                group_id="loans-reader-96",
                members="audit-sink-17c8d-ced94512-d90a-42d3-a7a2-bbf0d4cd6606",
            ),
        ),
        counter_samples=(_A_FAILURE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="java.group_leader_not_rejoined",
        kind="group_leader_not_rejoined",
        loggers=_GROUP_LOGGERS,
        contains=" failed to join before the rebalance timeout",
        regex=JAVA_HEAD
        + rf"Group leader \[memberId: (?P<member_id>{MEMBER}), groupInstanceId: (?:None|null|(?P<instance_id>{INSTANCE}))\] failed to join before the rebalance timeout"
        rf"(?:\. Member ClassicGroupMember\(memberId='(?P<leader_member_id>{MEMBER})', .* was elected as the new leader\."
        r"| and the group couldn't proceed to the next generation because no member joined\.)$",
        versions="3.7-4.2",
        source=f"{_GROUP_SOURCE} maybeElectNewJoinedLeader",
        samples=(
            made(
                "4.1",
                "[2025-03-12 10:00:02,726] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] Group leader [memberId: consumer-orders-svc-2-b9580b44-12d4-455a-ab06-7927604b5ff5, groupInstanceId: None] failed to join before the rebalance timeout. Member ClassicGroupMember(memberId='consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1', groupInstanceId='', clientId='consumer-orders-svc-1', clientHost='/10.20.3.7', rebalanceTimeoutMs=300000, sessionTimeoutMs=45000, protocolType='consumer', supportedProtocols=[range]) was elected as the new leader. (org.apache.kafka.coordinator.group.classic.ClassicGroup)",
                offsets_partition="17",
                member_id="consumer-orders-svc-2-b9580b44-12d4-455a-ab06-7927604b5ff5",
                leader_member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
            ),
            made(
                "4.1",
                "[2025-03-12 10:00:02,863] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] Group leader [memberId: consumer-orders-svc-2-b9580b44-12d4-455a-ab06-7927604b5ff5, groupInstanceId: orders-svc-0] failed to join before the rebalance timeout and the group couldn't proceed to the next generation because no member joined. (org.apache.kafka.coordinator.group.classic.ClassicGroup)",
                offsets_partition="17",
                member_id="consumer-orders-svc-2-b9580b44-12d4-455a-ab06-7927604b5ff5",
                instance_id="orders-svc-0",
            ),
        ),
        counter_samples=(
            "[2025-03-12 10:00:03,000] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=17] Request memberId=orders-svc-0-5c6fbcaf-6d4e-4ec0-bb35-2976694a14a6 for static member with groupInstanceId=orders-svc-0 is fenced by existing memberId=orders-svc-0-aaaa1111-0000-4000-8000-000000000001 during operation heartbeat (org.apache.kafka.coordinator.group.classic.ClassicGroup)",
        ),
        constants=CLASSIC,
    ),
)
