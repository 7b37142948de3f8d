"""How the members of a group are set up, as its witnesses tell it: lines, client logs, records, readings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from spark_jobs.catalog.codes import Protocol
from spark_jobs.catalog.rows import Quote
from spark_jobs.knowledge.reasons import name_in_member_id, option_value
from spark_jobs.transforms.evidence import evidence_of, quote, quote_record, quote_snapshot, row_id
from spark_jobs.transforms.rebalances.recorded_holdings import in_turn
from spark_jobs.transforms.windows import OutRow, Row, Window, in_order

KAFKA_NAMES = {
    "session_timeout_ms": "session.timeout.ms",
    "rebalance_timeout_ms": "max.poll.interval.ms",
    "heartbeat_interval_ms": "heartbeat.interval.ms",
    "assignors": "partition.assignment.strategy",
    "protocol": "group.protocol",
}
"""The columns that hold settings, and what a client calls them."""

SETTINGS = tuple(KAFKA_NAMES)
_IGNORED_BY_CONSUMER_PROTOCOL = ("session_timeout_ms", "heartbeat_interval_ms", "assignors")
"""Under KIP-848 the broker decides these; a client prints the defaults of the classic protocol all the same."""

_WITNESSES = {"broker": "member_line", "client": "client_log"}
_LIMIT_KINDS = ("client_poll_expired", "member_fenced")
"""Lines whose length of time is the limit that was passed: max.poll.interval.ms, which is the rebalance timeout."""

_ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
"""Classes as a Java client prints them, and the names by which the protocol knows them."""


@dataclass(frozen=True)
class _Told:
    """What one witness shows at one instant of one member; `values` may be empty: then it was only seen.

    `is_past`: it tells of a member that was there once, and not that it is there now.
    """

    at: datetime
    witness: str
    member_id: str | None
    client_id: str | None
    instance_id: str | None
    values: Mapping[str, Any]
    assignor: str | None
    quote: Mapping[str, Any]
    is_past: bool = False


@dataclass
class _Client:
    """One set of settings of one client, as it is put together."""

    values: dict[str, Any] = field(default_factory=dict)
    members: set[str] = field(default_factory=set)
    told: list[_Told] = field(default_factory=list)

    def agrees(self, values: Mapping[str, Any]) -> bool:
        return all(self.values.get(name, value) == value for name, value in values.items())


def rebuild_settings(
    cluster: str,
    events: Sequence[Row],
    records: Sequence[Row],
    sightings: Sequence[Row],
    readings: Sequence[Row],
    window: Window,
) -> list[OutRow]:
    """Rows of gold.member_settings of one group.

    Takes: events that name the group, its clients' lines among them; rows of bronze.group_records, the last under each
    key from before among them; as `sightings` some rows of bronze.member_snapshots of the window for each member, the
    first and the last say; as `readings` the last row of bronze.group_snapshots for each assignor and type. What the
    look-back tells of a client that is seen in the window holds still.
    Gives: one row for each client and set of settings; a client is an instance id, else a client id, else a member id.
    What one witness tells is joined with what others tell of the same client, and never with what contradicts it.
    Keeps: the same rows whatever the order of what is given.
    Odd: a client id that several members share may be several rows, one for each set of settings.
    """
    group_id = next((rows[0].group_id for rows in (events, records, sightings) if rows), "")
    types = {r.type for r in readings if r.type in set(Protocol)}
    told = [*_by_events(events), *_by_records(records, window), *_by_readings(sightings, types)]
    told = sorted((t for t in told if t.at < window.end), key=_turn)
    names = _Names.of(told)
    clients: dict[tuple[str, str], list[_Client]] = defaultdict(list)
    for one in told:
        who = names.who(one)
        if who is not None:
            _join(clients[who], one)
    used = [(t.at, t.assignor) for t in told if t.assignor]
    used += [(r.snapshot_at, r.assignor) for r in readings if r.assignor and r.type != "consumer"]
    assignor = max(used, default=(None, None))[1]
    rows = [
        _row(cluster, group_id, who, client, names, assignor, window)
        for who, found in sorted(clients.items())
        for client in found
        if any(window.holds(t.at) for t in client.told)
    ]
    return sorted(rows, key=lambda r: (r.first_seen_at, r.settings_id))


def _turn(told: _Told) -> tuple[Any, ...]:
    said = told.quote
    return told.at, said.source, said.line_id, told.member_id or "", repr(sorted(told.values.items()))


def _by_events(events: Iterable[Row]) -> Iterator[_Told]:
    for event in in_order(events):
        if event.origin not in _WITNESSES or not (event.client_id or event.member_id or event.instance_id):
            continue
        values = _known(_values_of(event))
        yield _Told(
            event.happened_at,
            _WITNESSES[event.origin],
            event.member_id,
            event.client_id,
            option_value(event.instance_id),
            values,
            event.assignor if event.kind == "member_loaded" else None,
            _quote(event, values),
            is_past=event.kind == "member_loaded",
        )


def _quote(event: Row, values: Mapping[str, Any]) -> Quote:
    """A line as it stands; of a record that prints one setting a line, its first line and the settings."""
    said = quote(event)
    if event.kind == "client_configured":
        return replace(said, text=f"{said.text.rstrip()} … {_words(values)}")
    return said


def _words(values: Mapping[str, Any]) -> str:
    told = ((KAFKA_NAMES[n], ", ".join(v) if isinstance(v, tuple) else v) for n, v in values.items())
    return "; ".join(f"{name} = {value}" for name, value in told)


def _values_of(event: Row) -> dict[str, Any]:
    kind, protocol = event.kind, event.protocol
    values = {name: event[name] for name in SETTINGS if name != "assignors"}
    values["protocol"] = protocol if protocol in set(Protocol) else None
    if kind == "client_configured":
        values["assignors"] = _classes(event.assignor)
        values["protocol"] = protocol or "classic"
        if protocol == "consumer":
            values |= dict.fromkeys(_IGNORED_BY_CONSUMER_PROTOCOL)
    elif kind == "member_left" and event.origin == "broker":
        values["assignors"] = _offered(event.detail)
    elif kind in _LIMIT_KINDS:
        values["rebalance_timeout_ms"] = event.took_ms
    return values


def _classes(text: str | None) -> tuple[str, ...] | None:
    """Assignors as a client's settings print them: classes, in order of preference."""
    names = [name.removeprefix("class ").rpartition(".")[2] for name in _listed(text) or ()]
    return tuple(_ASSIGNORS.get(name, name) for name in names) or None


def _offered(text: str | None) -> tuple[str, ...] | None:
    """The assignors of a coordinator's line about a member.

    Odd: of a group that it loaded a coordinator knows the assignor in use alone, so that a single one is no offer.
    """
    told = _listed(text) or ()
    return told if len(told) > 1 else None


def _listed(text: str | None) -> tuple[str, ...] | None:
    return tuple(part for part in re.split(r",\s*", text or "") if part) or None


def _by_records(records: Iterable[Row], window: Window) -> Iterator[_Told]:
    """What records tell when they are written, and what held already when the window began."""
    held: dict[tuple[str, str | None], Row] = {}
    for record in in_turn(records):
        if record.written_at >= window.start:
            yield from _of_record(record, record.written_at)
        else:
            held[record.record_type, record.member_id] = record
    for record in held.values():
        yield from _of_record(record, window.start)


def _of_record(record: Row, at: datetime) -> Iterator[_Told]:
    if record.is_tombstone:
        return
    if record.record_type == "group_metadata":
        for member in record.members or ():
            says = f"generation {record.generation}: member {member.member_id}"
            yield _recorded(record, member, at, "classic", record.protocol, says)
    elif record.record_type == "consumer_group_member_metadata":
        protocol = "classic" if record.session_timeout_ms else "consumer"
        yield _recorded(record, record, at, protocol, None, f"member {record.member_id}")


def _recorded(record: Row, member: Row, at: datetime, protocol: str, assignor: str | None, says: str) -> _Told:
    values = _known(
        {
            "session_timeout_ms": member.session_timeout_ms,
            "rebalance_timeout_ms": member.rebalance_timeout_ms,
            "protocol": protocol,
        }
    )
    proof = quote_record(record, f"{says}: {_words(values)}")
    named = member.member_id, member.client_id, member.instance_id
    return _Told(at, "group_record", *named, values, assignor or None, proof)


def _by_readings(sightings: Iterable[Row], types: Collection[str]) -> Iterator[_Told]:
    """Who was there. The type of the group counts where it did not change."""
    values = {"protocol": next(iter(types))} if len(types) == 1 else {}
    for seen in sightings:
        says = f"member {seen.member_id} of group {seen.group_id}"
        proof = quote_snapshot(seen.snapshot_id, seen.snapshot_at, says)
        named = seen.member_id, seen.client_id, seen.instance_id
        yield _Told(seen.snapshot_at, "snapshot", *named, values, None, proof)


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    """Only what was told; Kafka writes -1 or 0 for a time-out that is none."""
    return {n: v for n, v in values.items() if v is not None and not (isinstance(v, int) and v <= 0)}


@dataclass(frozen=True)
class _Names:
    """Client id and instance id of each member id, and the one instance behind a client id, as witnesses tell them."""

    clients: Mapping[str, str]
    instances: Mapping[str, str]
    instance_of_client: Mapping[str, str]

    @classmethod
    def of(cls, told: Sequence[_Told]) -> _Names:
        """The names that were told.

        Odd: a classic member's id begins with its instance id where it has one, else with its client id.
        """
        clients = {t.member_id: t.client_id for t in told if t.member_id and t.client_id}
        instances = {t.member_id: t.instance_id for t in told if t.member_id and t.instance_id}
        behind: dict[str, set[str]] = defaultdict(set)
        for one in told:
            if one.client_id and one.instance_id:
                behind[one.client_id].add(one.instance_id)
        static = {t.instance_id for t in told if t.instance_id}
        for member_id in {t.member_id for t in told if t.member_id}:
            prefix = name_in_member_id(member_id)
            if prefix in static:
                instances.setdefault(member_id, prefix)
            elif prefix and member_id not in instances:
                clients.setdefault(member_id, prefix)
        return cls(clients, instances, {c: min(i) for c, i in behind.items() if len(i) == 1})

    def client(self, told: _Told) -> str | None:
        """The client id of whom is spoken of."""
        return told.client_id or self.clients.get(told.member_id or "")

    def who(self, told: _Told) -> tuple[str, str] | None:
        """Whom is spoken of: how the client is known, and by what."""
        client = self.client(told)
        instance = told.instance_id or self.instances.get(told.member_id or "")
        if told.member_id is None:
            instance = instance or self.instance_of_client.get(client or "")
        known = (("instance", instance), ("client", client), ("member", told.member_id))
        return next(((how, name) for how, name in known if name), None)


def _join(clients: list[_Client], told: _Told) -> None:
    """Adds what was told to the set of settings it agrees with, the one that was told last first; else a new one."""
    home = next((c for c in sorted(clients, key=lambda c: c.told[-1].at, reverse=True) if c.agrees(told.values)), None)
    if home is None:
        home = _Client()
        clients.append(home)
    home.values.update(told.values)
    home.told.append(told)
    if told.member_id:
        home.members.add(told.member_id)


def _row(
    cluster: str,
    group_id: str,
    who: tuple[str, str],
    client: _Client,
    names: _Names,
    assignor: str | None,
    window: Window,
) -> OutRow:
    told = [t for t in client.told if window.holds(t.at)]
    seen = [t for t in told if not t.is_past] or told
    said = [t for t in client.told if t.values.keys() - {"protocol"}]
    known = {name: client.values.get(name) for name in SETTINGS}
    assignors = known["assignors"]
    return {
        "cluster": cluster,
        "settings_id": row_id("settings", cluster, group_id, *who, *known.values(), seen[0].at),
        "group_id": group_id,
        "client_id": next((c for t in reversed(client.told) if (c := names.client(t))), None),
        "instance_id": who[1] if who[0] == "instance" else None,
        "member_count": len(client.members),
        **known,
        "assignors": None if assignors is None else list(assignors),
        "assignor": assignor if known["protocol"] != "consumer" else None,
        "witnesses": sorted({t.witness for t in said}),
        "first_seen_at": seen[0].at,
        "last_seen_at": seen[-1].at,
        "evidence": evidence_of(dict(t.quote) for t in _proof(said, seen)),
    }


def _proof(said: Sequence[_Told], seen: Sequence[_Told]) -> list[_Told]:
    """For each witness the first that told each setting, and who saw the client first and last in the window."""
    first: dict[tuple[str, str], _Told] = {}
    for one in said:
        for name in one.values:
            first.setdefault((one.witness, name), one)
    return [*first.values(), seen[0], seen[-1]]
