"""Members of classic groups as the Scala coordinator tells them (Kafka 2.2-3.9)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CLASSIC, INSTANCE, MEMBER, MEMBER_METADATA, captured, made

_LOGGERS = ("kafka.coordinator.group.GroupCoordinator",)
_METADATA_LOGGERS = ("kafka.coordinator.group.GroupMetadata", "kafka.coordinator.group.GroupMetadata$")
_HEAD = r"^\[GroupCoordinator \d+\]: "
_INSTANCE = rf"(?:None|Some\((?P<instance_id>{INSTANCE})\))"
_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupCoordinator.scala"
_METADATA_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupMetadata.scala"

_A_FAILURE = "[2026-11-21 01:52:06,384] INFO [GroupCoordinator 1]: Member i2-7fff277d-c0d8-4bbb-9862-a1b5156a89e2 in group mobile-static-15 has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)"
_A_LEAVE = "[2026-11-21 01:47:02,450] INFO [GroupCoordinator 1]: Member[group.instance.id None, member.id email-grow-5-a-52fa840a-ac50-45e2-b72d-fee2890ce22a] in group email-grow-5 has left, removing it from the group (kafka.coordinator.group.GroupCoordinator)"
_A_NEW_ID = "[2026-11-21 01:53:50,361] INFO [GroupCoordinator 1]: Dynamic member with unknown member id joins group ads-py-1 in Empty state. Created a new member id ads-py-1-a-dac6e4e5-8d92-4e67-907d-532edada5c3a and request the member to rejoin with this id. (kafka.coordinator.group.GroupCoordinator)"
_A_REPLACEMENT = "[2026-11-21 01:56:22,247] INFO [GroupCoordinator 2]: Static member with groupInstanceId=i2 and unknown member id joins group mobile-static-7 in Stable state. Replacing previously mapped member i2-eaa79338-ac84-413c-bab6-abbb55152c74 with this groupInstanceId. (kafka.coordinator.group.GroupCoordinator)"
_A_NEW_STATIC = "[2026-11-21 01:56:11,999] INFO [GroupCoordinator 2]: Static member with groupInstanceId=i1 and unknown member id joins group mobile-static-7 in Empty state. Created a new member id i1-73db35fc-9851-4865-b3df-c0756c9c3366 for this member and add to the group. (kafka.coordinator.group.GroupCoordinator)"
_A_LOADED_MEMBER = "[2026-11-21 02:01:52,484] INFO Loaded member MemberMetadata(memberId=i1-73db35fc-9851-4865-b3df-c0756c9c3366, groupInstanceId=Some(i1), clientId=mobile-static-7-a, clientHost=/127.0.0.1, sessionTimeoutMs=15000, rebalanceTimeoutMs=300000, supportedProtocols=List(range)) in group mobile-static-7 with generation 1. (kafka.coordinator.group.GroupMetadata$)"

PATTERNS = (
    Pattern(
        pattern_id="scala.member_failed",
        kind="member_failed",
        loggers=_LOGGERS,
        contains=" has failed, removing it from the group",
        regex=_HEAD
        + rf"Member (?P<member_id>{MEMBER}) in group (?P<group_id>.{{1,255}}) has failed, removing it from the group$",
        versions="1.0-3.9",
        source=f"{_SOURCE} onExpireHeartbeat",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:52:06,384] INFO [GroupCoordinator 1]: Member i2-7fff277d-c0d8-4bbb-9862-a1b5156a89e2 in group mobile-static-15 has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)",
                member_id="i2-7fff277d-c0d8-4bbb-9862-a1b5156a89e2",
                group_id="mobile-static-15",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:58:53,493] INFO [GroupCoordinator 1]: Member orders-worker-10-b-352bcf9f-a14f-454e-8bc7-d932c800b0fa in group orders-worker-10 has failed, removing it from the group (kafka.coordinator.group.GroupCoordinator)",
                member_id="orders-worker-10-b-352bcf9f-a14f-454e-8bc7-d932c800b0fa",
                group_id="orders-worker-10",
            ),
        ),
        counter_samples=(_A_LEAVE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.member_left",
        kind="member_left",
        loggers=_LOGGERS,
        contains=" through explicit `LeaveGroup`",
        regex=_HEAD
        + rf"Member {MEMBER_METADATA}(?:List\((?P<detail>[^()]*)\)|.*?)\) has left group (?P<group_id>.{{1,255}}?)"
        r" through explicit `LeaveGroup`"
        r"(?:; client reason: (?P<client_reason>.*)| request)$",
        versions="3.0-3.9",
        source=f"{_SOURCE} handleLeaveGroup",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:54:55,213] INFO [GroupCoordinator 1]: Member MemberMetadata(memberId=fraud-svc-3-b-473a1288-1c66-431e-96ba-7b9463a292c0, groupInstanceId=None, clientId=fraud-svc-3-b, clientHost=/127.0.0.1, sessionTimeoutMs=6000, rebalanceTimeoutMs=300000, supportedProtocols=List(range, cooperative-sticky)) has left group fraud-svc-3 through explicit `LeaveGroup`; client reason: the consumer is being closed (kafka.coordinator.group.GroupCoordinator)",
                member_id="fraud-svc-3-b-473a1288-1c66-431e-96ba-7b9463a292c0",
                client_id="fraud-svc-3-b",
                host="/127.0.0.1",
                session_timeout_ms="6000",
                rebalance_timeout_ms="300000",
                detail="range, cooperative-sticky",
                group_id="fraud-svc-3",
                client_reason="the consumer is being closed",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:59:54,354] INFO [GroupCoordinator 2]: Member MemberMetadata(memberId=ads-loader-13-b-b6696088-87d6-4929-bcb1-c7fb7717bb8c, groupInstanceId=None, clientId=ads-loader-13-b, clientHost=/127.0.0.1, sessionTimeoutMs=6000, rebalanceTimeoutMs=9000, supportedProtocols=List(range, cooperative-sticky)) has left group ads-loader-13 through explicit `LeaveGroup`; client reason: consumer poll timeout has expired. (kafka.coordinator.group.GroupCoordinator)",
                member_id="ads-loader-13-b-b6696088-87d6-4929-bcb1-c7fb7717bb8c",
                client_id="ads-loader-13-b",
                host="/127.0.0.1",
                session_timeout_ms="6000",
                rebalance_timeout_ms="9000",
                detail="range, cooperative-sticky",
                group_id="ads-loader-13",
                client_reason="consumer poll timeout has expired.",
            ),
            made(
                "3.1",
                "[2025-03-12 10:00:01,630] INFO [GroupCoordinator 1]: Member MemberMetadata(memberId=consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1, groupInstanceId=None, clientId=consumer-orders-svc-1, clientHost=/10.20.3.7, sessionTimeoutMs=45000, rebalanceTimeoutMs=300000, supportedProtocols=List(range, cooperative-sticky)) has left group orders-svc through explicit `LeaveGroup` request (kafka.coordinator.group.GroupCoordinator)",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
                client_id="consumer-orders-svc-1",
                host="/10.20.3.7",
                session_timeout_ms="45000",
                rebalance_timeout_ms="300000",
                detail="range, cooperative-sticky",
                group_id="orders-svc",
            ),
        ),
        counter_samples=(_A_LEAVE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.member_left_by_id",
        kind="member_left",
        loggers=_LOGGERS,
        contains=" has left, removing it from the group",
        regex=_HEAD + rf"Member(?:\[group\.instance\.id {_INSTANCE}, member\.id | )(?P<member_id>{MEMBER})\]? "
        r"in group (?P<group_id>.{1,255}) has left, removing it from the group$",
        versions="2.2-2.8",
        source=f"{_SOURCE} handleLeaveGroup",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:47:02,450] INFO [GroupCoordinator 1]: Member[group.instance.id None, member.id email-grow-5-a-52fa840a-ac50-45e2-b72d-fee2890ce22a] in group email-grow-5 has left, removing it from the group (kafka.coordinator.group.GroupCoordinator)",
                member_id="email-grow-5-a-52fa840a-ac50-45e2-b72d-fee2890ce22a",
                group_id="email-grow-5",
            ),
            made(
                "2.3",
                "[2025-03-12 10:00:01,904] INFO [GroupCoordinator 1]: Member consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1 in group orders-svc has left, removing it from the group (kafka.coordinator.group.GroupCoordinator)",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
                group_id="orders-svc",
            ),
        ),
        counter_samples=(_A_FAILURE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.member_id_assigned",
        kind="member_id_assigned",
        loggers=_LOGGERS,
        contains=" and request the member to rejoin with this id.",
        regex=_HEAD
        + r"Dynamic member with unknown member id joins group (?P<group_id>.{1,255}) in (?P<state>\w+) state\. "
        rf"Created a new member id (?P<member_id>{MEMBER}) and request the member to rejoin with this id\.$",
        versions="3.0-3.9",
        source=f"{_SOURCE} doNewMemberJoinGroup",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:53:53,714] INFO [GroupCoordinator 1]: Dynamic member with unknown member id joins group ads-py-1 in Stable state. Created a new member id ads-py-1-b-a5987af5-2959-46f4-a89f-6846bc0c2cc9 and request the member to rejoin with this id. (kafka.coordinator.group.GroupCoordinator)",
                group_id="ads-py-1",
                state="Stable",
                member_id="ads-py-1-b-a5987af5-2959-46f4-a89f-6846bc0c2cc9",
            ),
        ),
        counter_samples=(_A_NEW_STATIC,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.member_added",
        kind="member_added",
        loggers=_LOGGERS,
        contains=" for this member and add to the group.",
        regex=_HEAD
        + rf"(?:(?:Static|Dynamic) Member|Static member with groupInstanceId=(?P<instance_id>{INSTANCE}) and|Dynamic member)"
        r"(?: with)? unknown member id joins group (?P<group_id>.{1,255}) in (?P<state>\w+) state\. "
        rf"Created a new member id (?P<member_id>{MEMBER}) for this member and add to the group\.$",
        versions="2.5-3.9",
        source=f"{_SOURCE} doNewMemberJoinGroup",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:51:35,812] INFO [GroupCoordinator 1]: Static Member with unknown member id joins group mobile-static-15 in Empty state. Created a new member id i1-e4b78067-8ec5-4794-a2c2-a56c077e5a40 for this member and add to the group. (kafka.coordinator.group.GroupCoordinator)",
                group_id="mobile-static-15",
                state="Empty",
                member_id="i1-e4b78067-8ec5-4794-a2c2-a56c077e5a40",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:56:11,999] INFO [GroupCoordinator 2]: Static member with groupInstanceId=i1 and unknown member id joins group mobile-static-7 in Empty state. Created a new member id i1-73db35fc-9851-4865-b3df-c0756c9c3366 for this member and add to the group. (kafka.coordinator.group.GroupCoordinator)",
                instance_id="i1",
                group_id="mobile-static-7",
                state="Empty",
                member_id="i1-73db35fc-9851-4865-b3df-c0756c9c3366",
            ),
            made(
                "3.9",
                "[2025-03-12 10:00:02,452] INFO [GroupCoordinator 1]: Dynamic Member with unknown member id joins group orders-svc in Empty state. Created a new member id kafka-python-2.0.2-9db8b1f9-17b1-43d3-ab18-0f8daecff052 for this member and add to the group. (kafka.coordinator.group.GroupCoordinator)",
                group_id="orders-svc",
                state="Empty",
                member_id="kafka-python-2.0.2-9db8b1f9-17b1-43d3-ab18-0f8daecff052",
            ),
        ),
        counter_samples=(_A_NEW_ID, _A_REPLACEMENT),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.member_loaded",
        kind="member_loaded",
        loggers=_METADATA_LOGGERS,
        contains="Loaded member MemberMetadata(",
        regex=rf"^Loaded member {MEMBER_METADATA}List\((?P<assignor>.*?)\)(?:, )?\) in group (?P<group_id>.{{1,255}}) "
        r"with generation (?P<generation>\d+)\.$",
        versions="2.8-3.9",
        source=f"{_METADATA_SOURCE} loadGroup",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:53:09,023] INFO Loaded member MemberMetadata(memberId=i1-e4b78067-8ec5-4794-a2c2-a56c077e5a40, groupInstanceId=Some(i1), clientId=mobile-static-15-a, clientHost=/127.0.0.1, sessionTimeoutMs=15000, rebalanceTimeoutMs=300000, supportedProtocols=List(range), ) in group mobile-static-15 with generation 1. (kafka.coordinator.group.GroupMetadata$)",
                member_id="i1-e4b78067-8ec5-4794-a2c2-a56c077e5a40",
                instance_id="i1",
                client_id="mobile-static-15-a",
                host="/127.0.0.1",
                session_timeout_ms="15000",
                rebalance_timeout_ms="300000",
                assignor="range",
                group_id="mobile-static-15",
                generation="1",
            ),
            captured(
                "3.9",
                "[2026-11-21 02:01:52,484] INFO Loaded member MemberMetadata(memberId=i1-73db35fc-9851-4865-b3df-c0756c9c3366, groupInstanceId=Some(i1), clientId=mobile-static-7-a, clientHost=/127.0.0.1, sessionTimeoutMs=15000, rebalanceTimeoutMs=300000, supportedProtocols=List(range)) in group mobile-static-7 with generation 1. (kafka.coordinator.group.GroupMetadata$)",
                member_id="i1-73db35fc-9851-4865-b3df-c0756c9c3366",
                instance_id="i1",
                client_id="mobile-static-7-a",
                host="/127.0.0.1",
                session_timeout_ms="15000",
                rebalance_timeout_ms="300000",
                assignor="range",
                group_id="mobile-static-7",
                generation="1",
            ),
        ),
        counter_samples=(
            "[2025-03-12 10:00:05,466] INFO Group leader [member.id: consumer-orders-svc-2-b9580b44-12d4-455a-ab06-7927604b5ff5, group.instance.id: None] failed to join before rebalance timeout, while new leader MemberMetadata(memberId=consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1, groupInstanceId=None, clientId=consumer-orders-svc-1, clientHost=/10.20.3.7, sessionTimeoutMs=45000, rebalanceTimeoutMs=300000, supportedProtocols=List(range)) was elected. (kafka.coordinator.group.GroupMetadata)",
        ),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.member_rejoined_pending",
        kind="member_rejoined_pending",
        loggers=_LOGGERS,
        contains="Pending dynamic member with id ",
        regex=_HEAD
        + rf"Pending dynamic member with id (?P<member_id>{MEMBER}) joins group (?P<group_id>.{{1,255}}) in (?P<state>\w+) state\. "
        r"Adding to the group now\.$",
        versions="3.0-4.0",
        source=f"{_SOURCE} doCurrentMemberJoinGroup",
        samples=(
            made(
                "4.0",
                "[2025-03-12 10:00:02,726] INFO [GroupCoordinator 1]: Pending dynamic member with id consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1 joins group orders-svc in Stable state. Adding to the group now. (kafka.coordinator.group.GroupCoordinator)",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
                group_id="orders-svc",
                state="Stable",
            ),
        ),
        counter_samples=(_A_NEW_ID,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.pending_member_removed",
        kind="pending_member_removed",
        loggers=_LOGGERS,
        contains=" has been removed after session timeout expiration.",
        regex=_HEAD
        + rf"Pending member (?P<member_id>{MEMBER}) in group (?P<group_id>.{{1,255}}) has been removed after session timeout expiration\.$",
        versions="2.2-3.9",
        source=f"{_SOURCE} onExpireHeartbeat",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:01,356] INFO [GroupCoordinator 1]: Pending member consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1 in group orders-svc has been removed after session timeout expiration. (kafka.coordinator.group.GroupCoordinator)",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
                group_id="orders-svc",
            ),
        ),
        counter_samples=(_A_FAILURE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.pending_member_left",
        kind="pending_member_left",
        loggers=_LOGGERS,
        contains="Pending member with memberId=",
        regex=_HEAD
        + rf"Pending member with memberId=(?P<member_id>{MEMBER}) has left group (?P<group_id>.{{1,255}}) through explicit `LeaveGroup` request$",
        versions="3.0-3.9",
        source=f"{_SOURCE} handleLeaveGroup",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:02,178] INFO [GroupCoordinator 1]: Pending member with memberId=consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1 has left group orders-svc through explicit `LeaveGroup` request (kafka.coordinator.group.GroupCoordinator)",
                member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
                group_id="orders-svc",
            ),
        ),
        counter_samples=(_A_LEAVE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.members_not_rejoined",
        kind="members_not_rejoined",
        loggers=_LOGGERS,
        contains=" dynamic members who haven't joined: ",
        regex=_HEAD
        + r"Group (?P<group_id>.{1,255}) removed? dynamic members who haven't joined: \w+\((?P<members>.+)\)$",
        versions="2.7-3.9",
        source=f"{_SOURCE} onCompleteJoin",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 13:04:20,868] INFO [GroupCoordinator 3]: Group email.sync.v97 removed dynamic members who haven't joined: Set(email-worker-ec3d4-d25cfc41-e747-4cab-97ee-fb6f675644a1) (kafka.coordinator.group.GroupCoordinator)",
                group_id="email.sync.v97",
                members="email-worker-ec3d4-d25cfc41-e747-4cab-97ee-fb6f675644a1",
            ),
        ),
        counter_samples=(_A_FAILURE,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.group_leader_not_rejoined",
        kind="group_leader_not_rejoined",
        loggers=_METADATA_LOGGERS,
        contains=" failed to join before rebalance timeout, ",
        regex=rf"^Group leader \[member\.id: (?P<member_id>{MEMBER}), group\.instance\.id: {_INSTANCE}\] failed to join before "
        rf"rebalance timeout, (?:while new leader MemberMetadata\(memberId=(?P<leader_member_id>{MEMBER}), .* was elected\."
        r"|and the group couldn't proceed to next generation ?because no member joined\.)$",
        versions="2.3-3.9",
        source=f"{_METADATA_SOURCE} maybeElectNewJoinedLeader",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:05,466] INFO Group leader [member.id: consumer-orders-svc-2-b9580b44-12d4-455a-ab06-7927604b5ff5, group.instance.id: None] failed to join before rebalance timeout, while new leader MemberMetadata(memberId=consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1, groupInstanceId=None, clientId=consumer-orders-svc-1, clientHost=/10.20.3.7, sessionTimeoutMs=45000, rebalanceTimeoutMs=300000, supportedProtocols=List(range)) was elected. (kafka.coordinator.group.GroupMetadata)",
                member_id="consumer-orders-svc-2-b9580b44-12d4-455a-ab06-7927604b5ff5",
                leader_member_id="consumer-orders-svc-1-0f9c477f-157b-4328-8f40-679b535209b1",
            ),
            made(
                "3.9",
                "[2025-03-12 10:00:05,603] INFO Group leader [member.id: consumer-orders-svc-2-b9580b44-12d4-455a-ab06-7927604b5ff5, group.instance.id: Some(orders-svc-0)] failed to join before rebalance timeout, and the group couldn't proceed to next generationbecause no member joined. (kafka.coordinator.group.GroupMetadata)",
                member_id="consumer-orders-svc-2-b9580b44-12d4-455a-ab06-7927604b5ff5",
                instance_id="orders-svc-0",
            ),
        ),
        counter_samples=(_A_LOADED_MEMBER,),
        constants=CLASSIC,
    ),
)
