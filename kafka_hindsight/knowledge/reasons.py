"""The reasons that coordinators and clients write, and the meaning of each.

Two texts meet in one line: the coordinator's own words and, after `; client reason: `, up to 255 characters that the
client chose (KIP-800). The client's part is untrusted free text: it is only compared with whole known texts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_UUID_SUFFIX = re.compile(rf"^(?P<name>.*)-{UUID}$", re.S)

NOT_PROVIDED = "not provided"


@dataclass(frozen=True)
class CoordinatorReason:
    """A coordinator's reason for a join phase.

    `act` is one of joined, leader_rejoined, metadata_updated, expired, left, static_updated, static_protocol_changed,
    sync_expired, storage_error, over_capacity, converted, unclaimed. `members` are the member ids it names; none where
    its id is masked, and has no uuid (`is_masked`). `client_reason` is empty where the client sent no words.
    """

    act: str
    members: tuple[str, ...] = ()
    instance_id: str | None = None
    client_reason: str | None = None
    detail: str | None = None
    is_masked: bool = False


# Source: GroupCoordinator.scala 2.1-3.9, GroupMetadataManager.java 3.7-4.2.
# A member id ends in a uuid, which is what ends it where the rest of the line is free text.
_CLIENT = r"(?:; client reason: ?(?P<client_reason>.*))?"
_MEMBER = rf"(?:(?P<member>.+?{UUID})|(?P<masked>[^\s;]+))"
_OPTION = r"(?P<instance>Some\(.*?\)|None|null|.+?)"
_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (act, re.compile(regex, re.S))
    for act, regex in (
        ("joined", rf"Adding new member {_MEMBER}(?: with group instance ?id {_OPTION})?{_CLIENT}"),
        ("leader_rejoined", rf"[Ll]eader {_MEMBER} re-joining group during \w+{_CLIENT}"),
        ("static_updated", rf"Updating metadata for static member {_MEMBER} with instance id {_OPTION}{_CLIENT}"),
        ("metadata_updated", rf"Updating metadata for member {_MEMBER}(?: during \w+)?{_CLIENT}"),
        ("expired", rf"removing member {_MEMBER} on heartbeat expiration\.?"),
        ("left", rf"[Rr]emoving member {_MEMBER}? on LeaveGroup{_CLIENT}"),
        ("left", r"explicit `LeaveGroup` request for \((?P<several>.*)\) members\.?"),
        (
            "static_protocol_changed",
            rf"Group's selectedProtocol will change because static member {_MEMBER} with instance id {_OPTION}"
            rf" joined with change of protocol{_CLIENT}",
        ),
        ("sync_expired", r"Removing (?:(?:Hash)?Set\(|\[)(?P<several>.*)[)\]] on pending sync request expiration"),
        (
            "storage_error",
            rf"[Ee]rror (?P<detail>.*?)when storing group assignment ?during SyncGroup \(member: {_MEMBER}\)\.?",
        ),
        ("over_capacity", r"Freshly-loaded group (?P<detail>.*)is over capacity.*"),
        ("converted", r"Downgrade group (?P<detail>.*) from consumer to classic.*"),
    )
)


def read_coordinator_reason(reason: str | None) -> CoordinatorReason:
    """Read the reason in a 'Preparing to rebalance' line.

    Returns:
        The reason; its act is `unclaimed` where no known text fits or the coordinator wrote none (before 2.1).
    """
    text = (reason or "").strip()
    for act, shape in _SHAPES:
        match = shape.fullmatch(text)
        if match:
            return _reason_of(act, match.groupdict())
    return CoordinatorReason("unclaimed", detail=text or None)


def _reason_of(act: str, groups: dict[str, str | None]) -> CoordinatorReason:
    several = groups.get("several")
    members = split_members(several) if several is not None else tuple(m for m in (groups.get("member"),) if m)
    client_reason = groups.get("client_reason")
    # A client from before KIP-800 sends none. The Scala coordinator prints an empty one as it is.
    client_reason = None if client_reason is None else client_reason.strip()
    if client_reason == NOT_PROVIDED:
        client_reason = None
    instance, is_masked = option_value(groups.get("instance")), groups.get("masked") is not None
    return CoordinatorReason(act, members, instance, client_reason, groups.get("detail"), is_masked)


def split_members(text: str) -> tuple[str, ...]:
    """Split a text into member ids: each ends in a uuid, so a comma inside a client id splits nothing."""
    return tuple(m.strip(", ") for m in re.findall(rf".+?{UUID}", text))


def option_value(text: str | None) -> str | None:
    """The value behind a printed Scala or Java option: `Some(x)`, `Optional[x]`, `None`, `null`, `x`."""
    if text is None or text in ("None", "null", "Optional.empty", ""):
        return None
    match = re.fullmatch(r"(?:Some\((?P<s>.*)\)|Optional\[(?P<j>.*)\])", text, re.S)
    if match:
        return match["s"] if match["s"] is not None else match["j"]
    return text


def name_in_member_id(member_id: str | None) -> str | None:
    """The client id (or instance id of a static member) in front of a member id's uuid; None where it has none.

    Source: GroupCoordinator: member id = client id or group.instance.id, a dash, a uuid; KIP-848 ids are bare uuids.
    """
    match = _UUID_SUFFIX.match(member_id or "")
    return match["name"] if match else None


# A client's reasons to join or leave. Source: ConsumerCoordinator, AbstractCoordinator 3.2-4.2; franz-go
# 1.22 pkg/kgo/consumer_group.go; sarama 1.61 consumer_group.go, which names the error that ended its session.
GIVEN_MEMBER_ID = "given_member_id"
FOLLOWS = "follows"
METADATA_CHANGED = "metadata_changed"
SUBSCRIPTION_CHANGED = "subscription_changed"
REVOKES = "revokes"
REMOVED_WHILE_ALIVE = "removed_while_alive"
COORDINATOR_TROUBLE = "coordinator_trouble"
LEFT_BEFORE = "left_before"
ENFORCED = "enforced"
CONNECTOR_CHANGED = "connector_changed"
CLOSED = "closed"
UNSUBSCRIBED = "unsubscribed"
POLL_EXPIRED = "poll_expired"
REMOVED_BY_ADMIN = "removed_by_admin"
FREE_TEXT = "free_text"

_JAVA_REVOKES = r"[Nn]eed to revoke partitions .*and re-join.*"
_CLIENT_REASONS: tuple[tuple[str, str], ...] = (
    (GIVEN_MEMBER_ID, rf"need to re-join with the given member-id: .*{UUID}"),
    (GIVEN_MEMBER_ID, r"rebalance failed due to .*MemberIdRequiredException.*"),
    (FOLLOWS, r"group is already rebalancing|offset commit failed since group is already rebalancing"),
    (METADATA_CHANGED, r"cached metadata has changed(?: from .*)?"),
    (METADATA_CHANGED, r"Metadata for topic has changed from .*"),
    (METADATA_CHANGED, r".*since the assignment metadata has changed from .*"),
    (SUBSCRIPTION_CHANGED, r"subscription has changed(?: from .*)?"),
    (SUBSCRIPTION_CHANGED, r".*since the subscription has changed from .*"),
    (SUBSCRIPTION_CHANGED, r"received assignment .*does not match the current subscription.*"),
    (METADATA_CHANGED, r"rejoining because we are the leader and noticed some topics have new partitions"),
    (REVOKES, r"after revoking what we lost from a rebalance"),
    (COORDINATOR_TROUBLE, r"rejoining after we previously errored and backed off"),
    (COORDINATOR_TROUBLE, r"(?:dial|read|write) tcp .*|kafka(?: server)?: .*|EOF"),
    (CLOSED, r"client leaving group per normal operation"),
    (REVOKES, _JAVA_REVOKES),
    (REMOVED_WHILE_ALIVE, r"encountered (?:UNKNOWN_MEMBER_ID|ILLEGAL_GENERATION) from \w+ response"),
    (COORDINATOR_TROUBLE, r"rebalance failed due to .*"),
    (COORDINATOR_TROUBLE, r"rebalance failed since the generation/state was modified.*"),
    (LEFT_BEFORE, r"consumer pro-actively leaving the group"),
    (CONNECTOR_CHANGED, r"Connector .* config (?:updated|removed)|Tasks \[.*\] configs updated"),
    (ENFORCED, r"rebalance enforced by user|connect worker requested rejoin"),
    (ENFORCED, r"triggered followup rebalance scheduled for .*|Active tasks corrupted|Shutdown requested"),
    (CLOSED, r"the consumer is being closed"),
    (UNSUBSCRIBED, r"the consumer unsubscribed from all topics"),
    (POLL_EXPIRED, r"(?:consumer|worker) poll timeout has expired\..*"),
    (POLL_EXPIRED, r"taking too long to read the log"),
    (REMOVED_BY_ADMIN, r"member was removed by an admin(?:: .*)?"),
)
_CLIENT_SHAPES = tuple((name, re.compile(regex, re.S)) for name, regex in _CLIENT_REASONS)


def is_end_of_cooperative_join(reason: str | None) -> bool:
    """Whether these are the words of a Java consumer that gives partitions back at the end of a cooperative join."""
    return re.fullmatch(_JAVA_REVOKES, (reason or "").strip(), re.S) is not None


def read_client_reason(reason: str | None) -> str | None:
    """The code of a client's reason; FREE_TEXT for an unknown text, None without a reason."""
    text = (reason or "").strip()
    if text in ("", NOT_PROVIDED):
        return None
    return next((name for name, shape in _CLIENT_SHAPES if shape.fullmatch(text)), FREE_TEXT)


_METADATA_SIDES = (
    (
        "from (version",
        re.compile(r"from \(version\d+: \{(?>(?P<before>.*?)\}\))(?>.* to \(version\d+: \{)(?P<after>.*)\}\)", re.S),
    ),
    ("from {", re.compile(r"from \{(?P<before>[^}]*+)\} to \{(?P<after>[^}]*+)\}")),
)
"""The texts of Java and of aiokafka, each with its beginning."""
_TOPIC_COUNT = re.compile(
    r"(?<![a-zA-Z0-9._-])(?P<topic>[a-zA-Z0-9._-]++)(?:=|': )(?:(?P<count>\d+)|\[(?P<racks>[^\]]*)\])"
)


@dataclass(frozen=True)
class MetadataChange:
    """Which topics changed for a group: added, removed, and those whose number of partitions rose."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    extended: tuple[str, ...]


def read_metadata_change(reason: str | None) -> MetadataChange | None:
    """Read which topics changed, where a client rejoins because of changed metadata; None where it names none.

    A topic without partitions counts as absent: clients print a deleted topic so, before it goes from the map.
    """
    match = _sides(reason or "")
    if not match:
        return None
    before, after = _counts(match["before"]), _counts(match["after"])
    return MetadataChange(
        added=tuple(sorted(t for t in after if after[t] and not before.get(t))),
        removed=tuple(sorted(t for t in before if not after.get(t))),
        extended=tuple(sorted(t for t in after if before.get(t) and after[t] > before[t])),
    )


def _sides(text: str) -> re.Match[str] | None:
    matches = (sides.match(text, text.find(begin)) for begin, sides in _METADATA_SIDES if begin in text)
    return next((m for m in matches if m), None)


def _counts(text: str) -> dict[str, int]:
    return {
        m["topic"]: int(m["count"]) if m["count"] else len([r for r in m["racks"].split(",") if r.strip()])
        for m in _TOPIC_COUNT.finditer(text)
    }
