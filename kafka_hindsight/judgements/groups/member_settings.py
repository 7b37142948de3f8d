"""The settings of the members of a group, as its witnesses show them: lines, client logs, records, readings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from kafka_hindsight.catalog.codes import Origin, Protocol, SettingsWitness
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, GroupRecord, GroupSnapshot, MemberSetting, MemberSnapshot, Quote
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
from kafka_hindsight.judgements.rebalances.members import MemberRegistry, sighting_of
from kafka_hindsight.judgements.rebalances.records import events_of_records, in_turn
from kafka_hindsight.knowledge.assignors import assignor_names
from kafka_hindsight.knowledge.client_libraries import library_of
from kafka_hindsight.knowledge.reasons import option_value
from kafka_hindsight.shared.durations import LONG_AGO
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window

SettingValues = Mapping[str, int | str | tuple[str, ...]]
"""The settings that one event shows, by column."""

KAFKA_NAMES = {
    "session_timeout_ms": "session.timeout.ms",
    "rebalance_timeout_ms": "max.poll.interval.ms",
    "heartbeat_interval_ms": "heartbeat.interval.ms",
    "assignors": "partition.assignment.strategy",
    "protocol": "group.protocol",
    "isolation_level": "isolation.level",
    "offset_reset": "auto.offset.reset",
    "is_auto_commit": "enable.auto.commit",
    "auto_commit_interval_ms": "auto.commit.interval.ms",
}
"""The columns that hold settings, and what a client calls them."""

SETTINGS = tuple(KAFKA_NAMES)
_PROTOCOLS = frozenset(Protocol)
_IGNORED_BY_CONSUMER_PROTOCOL = ("session_timeout_ms", "heartbeat_interval_ms", "assignors")
"""Under KIP-848 the broker decides these; a client prints the defaults of the classic protocol all the same."""

_WITNESSES = {
    Origin.BROKER: SettingsWitness.MEMBER_LINE,
    Origin.CLIENT: SettingsWitness.CLIENT_LOG,
    Origin.RECORD: SettingsWitness.GROUP_RECORD,
    Origin.SNAPSHOT: SettingsWitness.SNAPSHOT,
}
_LIMIT_KINDS = (Kind.CLIENT_POLL_EXPIRED, Kind.MEMBER_FENCED)
"""Lines whose length of time is the limit that was passed: max.poll.interval.ms, which is the rebalance timeout."""

_SHOWS_MEMBER = frozenset(
    (
        Kind.CLIENT_STARTED,
        Kind.CLIENT_SUBSCRIBED,
        Kind.CLIENT_JOINING,
        Kind.CLIENT_JOINED,
        Kind.CLIENT_SYNCED,
        Kind.CLIENT_ASSIGNED,
        Kind.CLIENT_POLL_EXPIRED,
        Kind.CLIENT_LEFT,
    )
)
"""Client lines of members alone. A consumer that assigns partitions to itself prints its group and never joins it: each
worker of Connect has three. Source: KafkaConsumer.assign, KafkaBasedLog.java."""

_NAMES_ASSIGNOR_IN_USE = (Kind.MEMBER_LOADED, Kind.MEMBER_RECORDED)


@dataclass
class _Client:
    """One set of settings of one client, with the events that show it or the client, each with its settings."""

    values: dict[str, int | str | tuple[str, ...]] = field(default_factory=dict)
    shown: list[tuple[Event, SettingValues]] = field(default_factory=list)

    def agrees(self, values: SettingValues) -> bool:
        return all(self.values.get(name, value) == value for name, value in values.items())


def rebuild_settings(
    cluster: str,
    group_id: str,
    events: Sequence[Event],
    records: Sequence[GroupRecord],
    members: Sequence[MemberSnapshot],
    agreements: Sequence[GroupSnapshot],
    window: Window,
) -> list[MemberSetting]:
    """Rows of gold.member_settings of one group: one for each client and set of settings.

    A client is an instance id, else a client id, else a member id; several members that share a client id may be
    several rows. The settings of one witness are joined with what others show of the same client, and never with what
    contradicts them. Settings from the look-back, and from the last record under each key before it, still hold for a
    client that is seen in the window. The timeouts of Streams and share groups are the brokers' settings: they have no
    rows.
    """
    if not all(e.protocol is None or Protocol(e.protocol).is_of_consumers for e in events):
        return []
    types = {a.type for a in agreements if a.type in _PROTOCOLS}
    group_type = next(iter(types)) if len(types) == 1 else None  # it counts only if it did not change
    readings = (replace(sighting_of([m]), protocol=group_type) for m in members)
    witnessed = [*events, *_records_that_hold(records, window), *readings]
    ordered = sorted((e for e in witnessed if e.happened_at < window.end), key=_turn)
    registry = MemberRegistry(ordered)
    static = {(m.client_id, m.instance_id) for m in registry.members.values() if m.instance_id}
    by_client = grouped(static, lambda pair: pair[0])
    only_instance = {client: pairs[0][1] for client, pairs in by_client.items() if len(pairs) == 1}
    assignors = [(e.happened_at, e.assignor) for e in ordered if e.kind in _NAMES_ASSIGNOR_IN_USE and e.assignor]
    assignors += [(a.snapshot_at, a.assignor) for a in agreements if a.assignor and a.type != Protocol.CONSUMER]
    assignor = max(assignors)[1] if assignors else None
    clients: dict[tuple[str, str], list[_Client]] = defaultdict(list)
    for event in ordered:
        client_id = _client_of(event, registry)
        instance = option_value(event.instance_id) or registry.get(event.member_id).instance_id
        if event.member_id is None:
            instance = instance or only_instance.get(client_id)
        names = (("instance", instance), ("client", client_id), ("member", event.member_id))
        who = next(((how, name) for how, name in names if name), None)
        if who is not None:
            _join(clients[who], event, _values_of(event))
    rows = [
        _row(cluster, group_id, who, client, registry, assignor, window)
        for who, settings in sorted(clients.items())
        if any(e.member_id or e.kind in _SHOWS_MEMBER for client in settings for e, _ in client.shown)
        for client in settings
        if any(window.holds(_shown_at(e, window)) for e, _ in client.shown)
    ]
    return sorted(rows, key=lambda r: (r.first_seen_at, r.settings_id))


def _records_that_hold(records: Iterable[GroupRecord], window: Window) -> list[Event]:
    """The members in the records of the window, and in the last one before it under each key."""
    ordered = in_turn(records)
    before = {(r.record_type, r.member_id): r for r in ordered if r.written_at < window.start}
    inside = [r for r in ordered if r.written_at >= window.start]
    return [e for e in events_of_records([*before.values(), *inside], LONG_AGO) if e.kind == Kind.MEMBER_RECORDED]


def _shown_at(event: Event, window: Window) -> datetime:
    """The instant at which an event shows its member: a record from before the window holds at its start."""
    return max(event.happened_at, window.start) if event.origin == Origin.RECORD else event.happened_at


def _turn(event: Event) -> tuple[datetime, str, str, str]:
    return event.happened_at, event.source, event.line_id, event.member_id or ""


def _client_of(event: Event, registry: MemberRegistry) -> str | None:
    return event.client_id or registry.get(event.member_id).client_id


def _values_of(event: Event) -> SettingValues:
    """The settings that an event shows. Kafka writes -1 or 0 where there is no time-out."""
    kind, protocol = event.kind, event.protocol
    values: dict[str, int | str | tuple[str, ...] | None] = {
        "session_timeout_ms": event.session_timeout_ms,
        "rebalance_timeout_ms": event.rebalance_timeout_ms,
        "heartbeat_interval_ms": event.heartbeat_interval_ms,
        "protocol": protocol if protocol in _PROTOCOLS else None,
    }
    if kind == Kind.CLIENT_CONFIGURED:
        assignors = tuple(assignor_names(event.assignor or ""))
        values |= {"assignors": assignors or None, "protocol": protocol or Protocol.CLASSIC}
        if protocol == Protocol.CONSUMER:
            values |= dict.fromkeys(_IGNORED_BY_CONSUMER_PROTOCOL)
        values |= _offset_settings(event)
    elif kind == Kind.MEMBER_LEFT and event.origin == Origin.BROKER:
        assignors = _split_list(event.detail)  # of a group that it loaded a coordinator knows only the assignor in use
        values["assignors"] = assignors if len(assignors) > 1 else None
    elif kind in _LIMIT_KINDS:
        values["rebalance_timeout_ms"] = event.took_ms
    elif kind == Kind.MEMBER_RECORDED:
        values["protocol"] = Protocol.CLASSIC if event.session_timeout_ms else Protocol.CONSUMER
    return {n: v for n, v in values.items() if v is not None and not (isinstance(v, int) and v <= 0)}


def _offset_settings(event: Event) -> dict[str, int | str | None]:
    """Where a consumer begins and when it commits, as its own log shows."""
    lines = (line.partition(" = ") for line in (event.detail or "").splitlines())
    printed = {name: value for name, _, value in lines}
    interval = printed.get(KAFKA_NAMES["auto_commit_interval_ms"])
    return {n: printed.get(KAFKA_NAMES[n]) for n in ("isolation_level", "offset_reset", "is_auto_commit")} | {
        "auto_commit_interval_ms": int(interval) if interval and interval.isdecimal() else None
    }


def _split_list(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in re.split(r",\s*", text or "") if part)


def _join(clients: list[_Client], event: Event, values: SettingValues) -> None:
    """Add an event to the settings that it agrees with, the last shown first; else to new ones."""
    agreeing = (c for c in clients if c.agrees(values))
    client = max(agreeing, key=lambda c: c.shown[-1][0].happened_at, default=None)
    if client is None:
        client = _Client()
        clients.append(client)
    client.values.update(values)
    client.shown.append((event, values))


def _row(
    cluster: str,
    group_id: str,
    who: tuple[str, str],
    client: _Client,
    registry: MemberRegistry,
    assignor: str | None,
    window: Window,
) -> MemberSetting:
    inside = [(e, v) for e, v in client.shown if window.holds(_shown_at(e, window))]
    # A loaded group shows a member that was there once, and not that it is there now.
    present = [(e, v) for e, v in inside if e.kind != Kind.MEMBER_LOADED] or inside
    first_at, last_at = (_shown_at(e, window) for e, _ in (present[0], present[-1]))
    with_settings = [(e, v) for e, v in client.shown if v.keys() - {"protocol"}]
    first: dict[tuple[str, str], tuple[Event, SettingValues]] = {}
    """For each witness the first event that shows each setting."""
    for event, settings in with_settings:
        for name in settings:
            first.setdefault((event.origin, name), (event, settings))
    values = {name: client.values.get(name) for name in SETTINGS}
    client_id = next((n for e, _ in reversed(client.shown) if (n := _client_of(e, registry))), None)
    patterns = registry.patterns_of(client_id)
    assignors, is_auto_commit = values["assignors"], values["is_auto_commit"]
    return MemberSetting.of(
        values
        | {
            "cluster": cluster,
            "settings_id": row_id("settings", cluster, group_id, *who, *values.values(), first_at),
            "group_id": group_id,
            "client_id": client_id,
            "library": library_of(client_id, patterns, [assignor] if assignor else ()),
            "instance_id": who[1] if who[0] == "instance" else None,
            "member_count": len({e.member_id for e, _ in client.shown} - {None}),
            "is_auto_commit": None if is_auto_commit is None else is_auto_commit == "true",
            "assignors": list(assignors) if isinstance(assignors, tuple) else None,
            "assignor": None if values["protocol"] == Protocol.CONSUMER else assignor,
            "witnesses": sorted({_WITNESSES[e.origin] for e, _ in with_settings}),
            "first_seen_at": first_at,
            "last_seen_at": last_at,
            "evidence": evidence_of(_quote(e, v) for e, v in (*first.values(), present[0], present[-1])),
        }
    )


def _quote(event: Event, values: SettingValues) -> Quote:
    """An event as evidence, with its settings where its text does not name them."""
    settings = ((KAFKA_NAMES[n], ", ".join(v) if isinstance(v, tuple) else v) for n, v in values.items())
    words = "; ".join(f"{name} = {value}" for name, value in settings)
    if event.kind == Kind.CLIENT_CONFIGURED:  # a record that prints one setting a line
        return replace(quote(event), text=f"{event.text.rstrip()} … {words}")
    return replace(quote(event), text=f"{event.text}: {words}") if event.kind == Kind.MEMBER_RECORDED else quote(event)
