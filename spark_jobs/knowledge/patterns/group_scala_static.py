"""Static members of classic groups as the Scala coordinator tells them (Kafka 2.3-3.9)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import CLASSIC, INSTANCE, MEMBER, captured, made

_LOGGERS = ("kafka.coordinator.group.GroupCoordinator",)
_METADATA_LOGGERS = ("kafka.coordinator.group.GroupMetadata", "kafka.coordinator.group.GroupMetadata$")
_HEAD = r"^\[GroupCoordinator \d+\]: "
_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupCoordinator.scala"
_METADATA_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupMetadata.scala"

_A_START = "[2026-11-21 01:55:12,019] INFO [GroupCoordinator 1]: Preparing to rebalance group search-op-4 in state PreparingRebalance with old generation 2 (__consumer_offsets-17) (reason: Updating metadata for member search-op-4-b-840c7dc1-cfd8-47f7-bc69-a4c5c93c796c during Stable; client reason: asked by operator) (kafka.coordinator.group.GroupCoordinator)"
_A_QUIET_REJOIN = "[2026-11-21 01:56:22,248] INFO [GroupCoordinator 2]: Static member which joins during Stable stage and doesn't affect selectProtocol will not trigger rebalance. (kafka.coordinator.group.GroupCoordinator)"
_A_REPLACEMENT = "[2026-11-21 01:56:22,247] INFO [GroupCoordinator 2]: Static member with groupInstanceId=i2 and unknown member id joins group mobile-static-7 in Stable state. Replacing previously mapped member i2-eaa79338-ac84-413c-bab6-abbb55152c74 with this groupInstanceId. (kafka.coordinator.group.GroupCoordinator)"
_A_NEW_STATIC = "[2026-11-21 01:56:11,999] INFO [GroupCoordinator 2]: Static member with groupInstanceId=i1 and unknown member id joins group mobile-static-7 in Empty state. Created a new member id i1-73db35fc-9851-4865-b3df-c0756c9c3366 for this member and add to the group. (kafka.coordinator.group.GroupCoordinator)"
_A_LOADED_MEMBER = "[2026-11-21 02:01:52,484] INFO Loaded member MemberMetadata(memberId=i1-73db35fc-9851-4865-b3df-c0756c9c3366, groupInstanceId=Some(i1), clientId=mobile-static-7-a, clientHost=/127.0.0.1, sessionTimeoutMs=15000, rebalanceTimeoutMs=300000, supportedProtocols=List(range)) in group mobile-static-7 with generation 1. (kafka.coordinator.group.GroupMetadata$)"

PATTERNS = (
    Pattern(
        pattern_id="scala.static_member_added",
        kind="member_added",
        loggers=_LOGGERS,
        contains="Adding new static member ",
        regex=_HEAD
        + rf"Adding new static member Some\((?P<instance_id>{INSTANCE})\) to group (?P<group_id>.{{1,255}}) with member id (?P<member_id>{MEMBER})\.$",
        versions="2.3-2.8",
        source=f"{_SOURCE} addMemberAndRebalance",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:51:35,813] INFO [GroupCoordinator 1]: Adding new static member Some(i1) to group mobile-static-15 with member id i1-e4b78067-8ec5-4794-a2c2-a56c077e5a40. (kafka.coordinator.group.GroupCoordinator)",
                instance_id="i1",
                group_id="mobile-static-15",
                member_id="i1-e4b78067-8ec5-4794-a2c2-a56c077e5a40",
            ),
        ),
        counter_samples=(_A_START,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.static_member_replaced",
        kind="static_member_replaced",
        loggers=_LOGGERS,
        contains="Replacing previously mapped member ",
        regex=_HEAD
        + rf"Static member with groupInstanceId=(?P<instance_id>{INSTANCE}) and unknown member id joins group (?P<group_id>.{{1,255}}) "
        rf"in (?P<state>\w+) state\. Replacing previously mapped member (?P<old_member_id>{MEMBER}) with this groupInstanceId\.$",
        versions="3.0-3.9",
        source=f"{_SOURCE} doNewMemberJoinGroup",
        samples=(
            captured(
                "3.9",
                "[2026-11-21 01:56:22,247] INFO [GroupCoordinator 2]: Static member with groupInstanceId=i2 and unknown member id joins group mobile-static-7 in Stable state. Replacing previously mapped member i2-eaa79338-ac84-413c-bab6-abbb55152c74 with this groupInstanceId. (kafka.coordinator.group.GroupCoordinator)",
                instance_id="i2",
                group_id="mobile-static-7",
                state="Stable",
                old_member_id="i2-eaa79338-ac84-413c-bab6-abbb55152c74",
            ),
        ),
        counter_samples=(_A_NEW_STATIC,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.static_member_reassigned",
        kind="static_member_replaced",
        loggers=_LOGGERS,
        contains=" with unknown member id rejoins, assigning new member id ",
        regex=_HEAD
        + rf"Static member Some\((?P<instance_id>{INSTANCE})\) of group (?P<group_id>.{{1,255}}) with unknown member id rejoins, "
        rf"assigning new member id (?P<member_id>{MEMBER}), while old member id (?P<old_member_id>{MEMBER}) will be removed\.$",
        versions="2.5-2.8",
        source=f"{_SOURCE} updateStaticMemberAndRebalance",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:51:45,377] INFO [GroupCoordinator 1]: Static member Some(i2) of group mobile-static-15 with unknown member id rejoins, assigning new member id i2-7fff277d-c0d8-4bbb-9862-a1b5156a89e2, while old member id i2-d8a9a142-e862-4699-b294-952f568e40b5 will be removed. (kafka.coordinator.group.GroupCoordinator)",
                instance_id="i2",
                group_id="mobile-static-15",
                member_id="i2-7fff277d-c0d8-4bbb-9862-a1b5156a89e2",
                old_member_id="i2-d8a9a142-e862-4699-b294-952f568e40b5",
            ),
        ),
        counter_samples=(_A_QUIET_REJOIN,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.static_rejoin_quiet",
        kind="static_rejoin_quiet",
        loggers=_LOGGERS,
        contains=" will not trigger rebalance.",
        regex=_HEAD
        + r"Static member (?:which )?joins during (?P<state>\w+) stage (?:and doesn't affect selectProtocol )?will not trigger rebalance\.$",
        versions="2.3-3.9",
        source=f"{_SOURCE} updateStaticMemberAndRebalance",
        samples=(
            captured(
                "2.8",
                "[2026-11-21 01:51:45,378] INFO [GroupCoordinator 1]: Static member which joins during Stable stage and doesn't affect selectProtocol will not trigger rebalance. (kafka.coordinator.group.GroupCoordinator)",
                state="Stable",
            ),
            captured(
                "3.9",
                "[2026-11-21 01:56:22,248] INFO [GroupCoordinator 2]: Static member which joins during Stable stage and doesn't affect selectProtocol will not trigger rebalance. (kafka.coordinator.group.GroupCoordinator)",
                state="Stable",
            ),
        ),
        counter_samples=(_A_REPLACEMENT,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.static_member_fenced",
        kind="static_member_fenced",
        loggers=_LOGGERS,
        contains=" is fenced by current memberId=",
        regex=_HEAD
        + rf"Request memberId=(?P<member_id>{MEMBER}) for static member with groupInstanceId=(?P<instance_id>{INSTANCE}) "
        rf"is fenced by current memberId={MEMBER} during operation (?P<detail>[\w-]+)$",
        versions="3.0-3.9",
        source=f"{_SOURCE} validateCurrentMember",
        samples=(
            made(
                "3.9",
                "[2025-03-12 10:00:03,411] INFO [GroupCoordinator 1]: Request memberId=orders-svc-0-5c6fbcaf-6d4e-4ec0-bb35-2976694a14a6 for static member with groupInstanceId=orders-svc-0 is fenced by current memberId=orders-svc-0-aaaa1111-0000-4000-8000-000000000001 during operation heartbeat (kafka.coordinator.group.GroupCoordinator)",
                member_id="orders-svc-0-5c6fbcaf-6d4e-4ec0-bb35-2976694a14a6",
                instance_id="orders-svc-0",
                detail="heartbeat",
            ),
        ),
        counter_samples=(_A_REPLACEMENT,),
        constants=CLASSIC,
    ),
    Pattern(
        pattern_id="scala.static_member_fenced_by_error",
        kind="static_member_fenced",
        loggers=_METADATA_LOGGERS,
        contains=" is identified as a known static member ",
        regex=rf"^given member\.id (?P<member_id>{MEMBER}) is identified as a known static member (?P<instance_id>{INSTANCE}), "
        rf"but not matching the expected member\.id {MEMBER} during (?P<detail>[\w-]+), "
        r"will respond with instance fenced error$",
        versions="2.5-2.8",
        source=f"{_METADATA_SOURCE} isStaticMemberFenced",
        samples=(
            made(
                "2.8",
                "[2026-11-21 01:51:45,377] ERROR given member.id i2-d8a9a142-e862-4699-b294-952f568e40b5 is identified as a known static member i2, but not matching the expected member.id i2-7fff277d-c0d8-4bbb-9862-a1b5156a89e2 during heartbeat, will respond with instance fenced error (kafka.coordinator.group.GroupMetadata)",
                member_id="i2-d8a9a142-e862-4699-b294-952f568e40b5",
                instance_id="i2",
                detail="heartbeat",
            ),
        ),
        counter_samples=(_A_LOADED_MEMBER,),
        constants=CLASSIC,
    ),
)
