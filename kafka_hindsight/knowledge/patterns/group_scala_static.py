"""Static members of classic groups, by the Scala coordinator (Kafka 2.3-3.9)."""
# ruff: noqa: E501 - a regex is easier to read in one piece

from functools import partial

from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import CLASSIC, INSTANCE, MEMBER

_LOGGERS = ("kafka.coordinator.group.GroupCoordinator",)
_METADATA_LOGGERS = ("kafka.coordinator.group.GroupMetadata", "kafka.coordinator.group.GroupMetadata$")
_HEAD = r"^\[GroupCoordinator \d+\]: "
_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupCoordinator.scala"
_METADATA_SOURCE = "core/src/main/scala/kafka/coordinator/group/GroupMetadata.scala"
_line = partial(Pattern, loggers=_LOGGERS, head=_HEAD, versions="1.0-3.9", constants=CLASSIC)


PATTERNS = (
    _line(
        pattern_id="scala.static_member_added",
        kind=Kind.MEMBER_ADDED,
        regex=rf"Adding new static member Some\((?P<instance_id>{INSTANCE})\) to group (?P<group_id>.{{1,255}}) with member id (?P<member_id>{MEMBER})\.$",
        versions="2.3-2.8",
        source=f"{_SOURCE} addMemberAndRebalance",
    ),
    _line(
        pattern_id="scala.static_member_replaced",
        kind=Kind.STATIC_MEMBER_REPLACED,
        regex=rf"Static member with groupInstanceId=(?P<instance_id>{INSTANCE}) and unknown member id joins group (?P<group_id>.{{1,255}}) "
        rf"in (?P<state>\w+) state\. Replacing previously mapped member (?P<old_member_id>{MEMBER}) with this groupInstanceId\.$",
        versions="3.0-3.9",
        source=f"{_SOURCE} doNewMemberJoinGroup",
    ),
    _line(
        pattern_id="scala.static_member_reassigned",
        kind=Kind.STATIC_MEMBER_REPLACED,
        regex=rf"Static member Some\((?P<instance_id>{INSTANCE})\)(?: of group (?P<group_id>.{{1,255}}))? with unknown member id rejoins, "
        rf"assigning new member id (?P<member_id>{MEMBER}), while old member(?: id)? (?P<old_member_id>{MEMBER}) will be removed\.$",
        versions="2.3-2.8",
        source=f"{_SOURCE} updateStaticMemberAndRebalance",
    ),
    _line(
        pattern_id="scala.static_rejoin_quiet",
        kind=Kind.STATIC_REJOIN_QUIET,
        regex=r"Static member (?:which )?joins during (?P<state>\w+) stage (?:and doesn't affect selectProtocol )?will not trigger rebalance\.$",
        versions="2.3-3.9",
        source=f"{_SOURCE} updateStaticMemberAndRebalance",
    ),
    _line(
        pattern_id="scala.static_member_fenced",
        kind=Kind.STATIC_MEMBER_FENCED,
        regex=rf"Request memberId=(?P<member_id>{MEMBER}) for static member with groupInstanceId=(?P<instance_id>{INSTANCE}) "
        rf"is fenced by current memberId={MEMBER} during operation (?P<detail>[\w-]+)$",
        versions="3.0-3.9",
        source=f"{_SOURCE} validateCurrentMember",
    ),
    Pattern(
        pattern_id="scala.static_member_fenced_by_error",
        kind=Kind.STATIC_MEMBER_FENCED,
        loggers=_METADATA_LOGGERS,
        regex=rf"^given member\.id (?P<member_id>{MEMBER}) is identified as a known static member (?P<instance_id>{INSTANCE}), ?"
        rf"but not matching the expected member\.id {MEMBER}(?: during (?P<detail>[\w-]+), will respond with instance fenced error)?$",
        versions="2.3-2.8",
        source=f"{_METADATA_SOURCE} isStaticMemberFenced",
        constants=CLASSIC,
    ),
)
