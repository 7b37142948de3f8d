"""The settings of the members of a group, as its witnesses show them: lines, client logs, records, readings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain

from kafka_hindsight.catalog.codes import Origin, Protocol, SettingsWitness
from kafka_hindsight.catalog.rows import Event, GroupRecord, GroupSnapshot, MemberSetting, MemberSnapshot, Quote
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, quote_snapshot, row_id
from kafka_hindsight.judgements.rebalances.records import RECORDED, events_of_records, in_turn
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.reasons import name_in_member_id, option_value
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window, in_order

Values = Mapping[str, int | str | tuple[str, ...]]
"""The settings that one witness shows, by column."""

KAFKA_NAMES = {
    "session_timeout_ms": "session.timeout.ms",
    "rebalance_timeout_ms": "max.poll.interval.ms",
    "heartbeat_interval_ms": "heartbeat.interval.ms",
    "assignors": "partition.assignment.strategy",
    "protocol": "group.protocol",
}
"""The columns that hold settings, and what a client calls them."""

SETTINGS = tuple(KAFKA_NAMES)
_PROTOCOLS = frozenset(Protocol)
_IGNORED_BY_CONSUMER_PROTOCOL = ("session_timeout_ms", "heartbeat_interval_ms", "assignors")
"""Under KIP-848 the broker decides these; a client prints the defaults of the classic protocol all the same."""

_WITNESSES = {Origin.BROKER: SettingsWitness.MEMBER_LINE, Origin.CLIENT: SettingsWitness.CLIENT_LOG}
_LIMIT_KINDS = (Kind.CLIENT_POLL_EXPIRED, Kind.MEMBER_FENCED)
"""Lines whose length of time is the limit that was passed: max.poll.interval.ms, which is the rebalance timeout."""

_ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
"""Classes as a Java client prints them, and the names by which the protocol knows them."""


@dataclass(frozen=True)
class _Sighting:
    """The evidence of one witness about one member at one instant; without `values` only that the member was there.

    `is_past`: it shows a member that was there once, and not that it is there now.
    """

    at: datetime
    witness: SettingsWitness
    member_id: str | None
    client_id: str | None
    instance_id: str | None
    values: Values
    assignor: str | None
    quote: Quote
    is_past: bool = False


@dataclass
class _Client:
    """One set of settings of one client, as it is put together."""

    values: dict[str, int | str | tuple[str, ...]] = field(default_factory=dict)
    members: set[str] = field(default_factory=set)
    sightings: list[_Sighting] = field(default_factory=list)

    def agrees(self, values: Values) -> bool:
        return all(self.values.get(name, value) == value for name, value in values.items())


def rebuild_settings(
    cluster: str,
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
    group_id = next((rows[0].group_id for rows in (events, records, members) if rows), None) or ""
    types = {a.type for a in agreements if a.type in _PROTOCOLS}
    witnessed = chain(_by_events(events), _by_records(records, window), _by_readings(members, types))
    sightings = sorted((s for s in witnessed if s.at < window.end), key=_turn)
    names = _Names.of(sightings)
    assignors = [(s.at, s.assignor) for s in sightings if s.assignor]
    assignors += [(a.snapshot_at, a.assignor) for a in agreements if a.assignor and a.type != Protocol.CONSUMER]
    assignor = max(assignors)[1] if assignors else None
    clients: dict[tuple[str, str], list[_Client]] = defaultdict(list)
    for sighting in sightings:
        who = names.who(sighting)
        if who is not None:
            _join(clients[who], sighting)
    rows = [
        _row(cluster, group_id, who, client, names, assignor, window)
        for who, settings in sorted(clients.items())
        for client in settings
        if any(window.holds(s.at) for s in client.sightings)
    ]
    return sorted(rows, key=lambda r: (r.first_seen_at, r.settings_id))


def _turn(sighting: _Sighting) -> tuple[datetime, str, str, str, str]:
    proof = sighting.quote
    values = repr(sorted((name, str(value)) for name, value in sighting.values.items()))
    return sighting.at, proof.source, proof.line_id, sighting.member_id or "", values


def _by_events(events: Iterable[Event]) -> Iterator[_Sighting]:
    for event in in_order(events):
        if event.origin not in _WITNESSES or not (event.client_id or event.member_id or event.instance_id):
            continue
        values = _drop_unset(_values_of(event))
        is_loaded, proof = event.kind == Kind.MEMBER_LOADED, quote(event)
        if event.kind == Kind.CLIENT_CONFIGURED:  # a record that prints one setting a line
            proof = replace(proof, text=f"{proof.text.rstrip()} … {_words(values)}")
        yield _Sighting(
            event.happened_at,
            _WITNESSES[event.origin],
            event.member_id,
            event.client_id,
            option_value(event.instance_id),
            values,
            event.assignor if is_loaded else None,
            proof,
            is_past=is_loaded,
        )


def _words(values: Values) -> str:
    settings = ((KAFKA_NAMES[n], ", ".join(v) if isinstance(v, tuple) else v) for n, v in values.items())
    return "; ".join(f"{name} = {value}" for name, value in settings)


def _values_of(event: Event) -> dict[str, int | str | tuple[str, ...] | None]:
    kind, protocol = event.kind, event.protocol
    values: dict[str, int | str | tuple[str, ...] | None] = {
        "session_timeout_ms": event.session_timeout_ms,
        "rebalance_timeout_ms": event.rebalance_timeout_ms,
        "heartbeat_interval_ms": event.heartbeat_interval_ms,
        "protocol": protocol if protocol in _PROTOCOLS else None,
    }
    if kind == Kind.CLIENT_CONFIGURED:
        classes = [name.removeprefix("class ").rpartition(".")[2] for name in _split_list(event.assignor)]
        assignors = tuple(_ASSIGNORS.get(name, name) for name in classes)
        values |= {"assignors": assignors or None, "protocol": protocol or Protocol.CLASSIC}
        if protocol == Protocol.CONSUMER:
            values |= dict.fromkeys(_IGNORED_BY_CONSUMER_PROTOCOL)
    elif kind == Kind.MEMBER_LEFT and event.origin == Origin.BROKER:
        assignors = _split_list(event.detail)  # of a group that it loaded a coordinator knows only the assignor in use
        values["assignors"] = assignors if len(assignors) > 1 else None
    elif kind in _LIMIT_KINDS:
        values["rebalance_timeout_ms"] = event.took_ms
    return values


def _split_list(text: str | None) -> tuple[str, ...]:
    return tuple(part for part in re.split(r",\s*", text or "") if part)


def _by_records(records: Iterable[GroupRecord], window: Window) -> Iterator[_Sighting]:
    """The sightings in records: at their writing, or at the start of the window for those that already held."""
    ordered = in_turn(records)
    inside = [r for r in ordered if r.written_at >= window.start]
    before = {(r.record_type, r.member_id): r for r in ordered if r.written_at < window.start}
    for event in events_of_records([*before.values(), *inside], window.start):
        if event.kind == RECORDED:
            protocol = Protocol.CLASSIC if event.session_timeout_ms else Protocol.CONSUMER
            timeouts = {name: getattr(event, name) for name in ("session_timeout_ms", "rebalance_timeout_ms")}
            values = _drop_unset(timeouts | {"protocol": protocol})
            proof = replace(quote(event), text=f"{event.text}: {_words(values)}")
            names = event.member_id, event.client_id, event.instance_id
            witness, assignor = SettingsWitness.GROUP_RECORD, event.assignor or None
            yield _Sighting(event.happened_at, witness, *names, values, assignor, proof)


def _by_readings(members: Iterable[MemberSnapshot], types: Collection[str | None]) -> Iterator[_Sighting]:
    """The members in readings. The type of the group counts only if it did not change."""
    values = _drop_unset({"protocol": next(iter(types))}) if len(types) == 1 else {}
    for member in members:
        proof = quote_snapshot(member, f"member {member.member_id} of group {member.group_id}")
        names = member.member_id, member.client_id, member.instance_id
        yield _Sighting(member.snapshot_at, SettingsWitness.SNAPSHOT, *names, values, None, proof)


def _drop_unset(values: Mapping[str, int | str | tuple[str, ...] | None]) -> Values:
    """Drop what is not set: null, or -1 or 0, which Kafka writes where there is no time-out."""
    return {n: v for n, v in values.items() if v is not None and not (isinstance(v, int) and v <= 0)}


@dataclass(frozen=True)
class _Names:
    """Client id and instance id of each member id, and the one instance behind a client id, as witnesses show them."""

    clients: Mapping[str, str]
    instances: Mapping[str, str]
    instance_of_client: Mapping[str, str]

    @classmethod
    def of(cls, sightings: Sequence[_Sighting]) -> _Names:
        """The names that witnesses show.

        A classic member's id begins with its instance id if it has one, else with its client id.
        """
        clients = _last_names((s.member_id, s.client_id) for s in sightings)
        instances = _last_names((s.member_id, s.instance_id) for s in sightings)
        behind = grouped({(s.client_id, s.instance_id) for s in sightings if s.instance_id}, lambda pair: pair[0])
        static = {s.instance_id for s in sightings}
        prefixes = _last_names((s.member_id, name_in_member_id(s.member_id)) for s in sightings)
        instances = {m: prefix for m, prefix in prefixes.items() if prefix in static} | instances
        clients = {m: prefix for m, prefix in prefixes.items() if m not in instances} | clients
        return cls(clients, instances, _last_names(pairs[0] for pairs in behind.values() if len(pairs) == 1))

    def client(self, sighting: _Sighting) -> str | None:
        """The client id of the member."""
        return sighting.client_id or self.clients.get(sighting.member_id or "")

    def who(self, sighting: _Sighting) -> tuple[str, str] | None:
        """The name of the client of a member, and its kind: instance, client or member."""
        client = self.client(sighting)
        instance = sighting.instance_id or self.instances.get(sighting.member_id or "")
        if sighting.member_id is None:
            instance = instance or self.instance_of_client.get(client or "")
        names = (("instance", instance), ("client", client), ("member", sighting.member_id))
        return next(((how, name) for how, name in names if name), None)


def _last_names(pairs: Iterable[tuple[str | None, str | None]]) -> dict[str, str]:
    """The last name of each key, of the pairs that have both."""
    return {key: name for key, name in pairs if key and name}


def _join(clients: list[_Client], sighting: _Sighting) -> None:
    """Add a sighting to the settings that it agrees with, the last shown first; else to new ones."""
    agreeing = (c for c in clients if c.agrees(sighting.values))
    client = max(agreeing, key=lambda c: c.sightings[-1].at, default=None)
    if client is None:
        client = _Client()
        clients.append(client)
    client.values.update(sighting.values)
    client.sightings.append(sighting)
    if sighting.member_id:
        client.members.add(sighting.member_id)


def _row(
    cluster: str,
    group_id: str,
    who: tuple[str, str],
    client: _Client,
    names: _Names,
    assignor: str | None,
    window: Window,
) -> MemberSetting:
    inside = [s for s in client.sightings if window.holds(s.at)]
    present = [s for s in inside if not s.is_past] or inside
    with_settings = [s for s in client.sightings if s.values.keys() - {"protocol"}]
    first: dict[tuple[str, str], _Sighting] = {}
    """For each witness the first that showed each setting."""
    for sighting in with_settings:
        for name in sighting.values:
            first.setdefault((sighting.witness, name), sighting)
    values = {name: client.values.get(name) for name in SETTINGS}
    assignors = values["assignors"]
    return MemberSetting.of(
        values
        | {
            "cluster": cluster,
            "settings_id": row_id("settings", cluster, group_id, *who, *values.values(), present[0].at),
            "group_id": group_id,
            "client_id": next((n for s in reversed(client.sightings) if (n := names.client(s))), None),
            "instance_id": who[1] if who[0] == "instance" else None,
            "member_count": len(client.members),
            "assignors": list(assignors) if isinstance(assignors, tuple) else None,
            "assignor": None if values["protocol"] == Protocol.CONSUMER else assignor,
            "witnesses": sorted({s.witness for s in with_settings}),
            "first_seen_at": present[0].at,
            "last_seen_at": present[-1].at,
            "evidence": evidence_of(s.quote for s in (*first.values(), present[0], present[-1])),
        }
    )
