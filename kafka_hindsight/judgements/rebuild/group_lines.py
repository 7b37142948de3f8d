"""The rows that the judgement of a group reads: its events, with the lines of its clients, and its records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.judgements.rebuild.metadata import EVENTS
from kafka_hindsight.judgements.rebuild.scope import Scope
from kafka_hindsight.judgements.rebuild.sources import Judgement, narrowed, table
from kafka_hindsight.knowledge.kinds import CLIENT_KINDS, GROUP_KINDS, Kind
from kafka_hindsight.knowledge.reasons import UUID
from kafka_hindsight.shared.arrow_tables import (
    LAST,
    among,
    as_scalar,
    before,
    distinct,
    ends,
    inside,
    look_up,
    with_columns,
)

_MEMBER_ID = rf"(?s)^(?P<client>.*)-{UUID}$"
"""A dynamic member's id begins with its client id."""

_RECORD_KEY = ("group_id", "record_type", "member_id", "subscription_pattern")
"""The key of a record of `__consumer_offsets`: a record replaces the one before it with the same key."""


@dataclass(frozen=True)
class ClientNames:
    """The only client and the only group in each log, and the only group of each client."""

    of_logs: Mapping[str, str]
    groups: Mapping[str, str]
    groups_of_logs: Mapping[str, str]


def names_in(events: pa.Table) -> pa.Table:
    """The log, client and group that lines of groups and clients name, each once; the log only for a client's line."""
    lines = of_groups(events)
    is_client = pc.equal(lines["origin"], str(Origin.CLIENT))
    log = pc.if_else(is_client, lines["source"], None)
    return distinct(pa.Table.from_pydict({"log": log, "client_id": clients_of(lines), "group_id": lines["group_id"]}))


def names_of_members(members: pa.Table) -> pa.Table:
    """The client and the group of each member, each once."""
    return distinct(pa.Table.from_pydict({"client_id": clients_of(members), "group_id": members["group_id"]}))


def find_names(log_names: pa.Table, members: pa.Table) -> ClientNames:
    """Find the client and the group of each log, and the group of each client, where it is only one."""
    in_log, in_client, groups_in_log = (defaultdict[str, set[str]](set) for _ in range(3))
    lines = log_names.to_pylist()
    for line in lines:
        if line["log"] is not None and line["client_id"] is not None:
            in_log[line["log"]].add(line["client_id"])
        if line["log"] is not None and line["group_id"] is not None:
            groups_in_log[line["log"]].add(line["group_id"])
    of_logs = _single_values(in_log)
    for line in (*lines, *members.to_pylist()):
        client_id = of_logs.get(line.get("log")) if line["client_id"] is None else line["client_id"]
        if client_id is not None and line["group_id"] is not None:
            in_client[client_id].add(line["group_id"])
    return ClientNames(of_logs, _single_values(in_client), _single_values(groups_in_log))


def _single_values(names: Mapping[str, set[str]]) -> dict[str, str]:
    return {key: next(iter(values)) for key, values in names.items() if len(values) == 1}


NAMES = Judgement(
    "names",
    find_names,
    (),
    {
        "log_names": narrowed(names_in, EVENTS, again=distinct),
        "members": narrowed(names_of_members, table("bronze.member_snapshots"), again=distinct),
    },
)
"""The clients and groups to which lines belong: few rows."""


def of_groups(events: pa.Table) -> pa.Table:
    """Keep the events about groups and their clients."""
    return events.filter(among(events["kind"], (*GROUP_KINDS, *CLIENT_KINDS)))


def clients_of(rows: pa.Table) -> pa.ChunkedArray:
    """The client that each row names."""
    in_member_id = pc.struct_field(pc.extract_regex(rows["member_id"], _MEMBER_ID), "client")
    is_dynamic = pc.and_(pc.is_null(rows["instance_id"]), pc.not_equal(in_member_id, ""))
    return pc.coalesce(rows["client_id"], pc.if_else(is_dynamic, in_member_id, None))


def events_of_groups(events: pa.Table, names: ClientNames) -> pa.Table:
    """Keep the events of groups and of their clients, and fill in the client and the group of the clients' lines.

    Lines of librdkafka name no group: they get the only group of their client, and are left out where it has several. A
    line that names no client gets the only client of its log. A line that a process stops gets the only group of its
    log.
    """
    lines = of_groups(events)
    is_client = pc.equal(lines["origin"], str(Origin.CLIENT))
    in_log = look_up(lines["source"], names.of_logs, pa.string())
    client_id = pc.coalesce(pc.if_else(is_client, pc.coalesce(clients_of(lines), in_log), None), lines["client_id"])
    is_end = pc.equal(lines["kind"], str(Kind.CLIENT_STOPPING))
    in_its_log = pc.if_else(is_end, look_up(lines["source"], names.groups_of_logs, pa.string()), None)
    group_id = pc.coalesce(lines["group_id"], look_up(client_id, names.groups, pa.string()), in_its_log)
    return with_columns(lines, client_id=client_id, group_id=group_id).filter(pc.is_valid(group_id))


def records_around(records: pa.Table, scope: Scope) -> pa.Table:
    """Keep the records of the window with its look-back and look-ahead, and the last one before it of each key."""
    earlier = before(records, scope.wide_window.start, "written_at")
    last = ends(earlier, _RECORD_KEY, ("written_at", "record_offset"), (LAST,))
    return pa.concat_tables([inside(records, scope.wide_window, "written_at"), last])


def records_that_hold(records: pa.Table, scope: Scope) -> pa.Table:
    """Narrow the records once more, and leave out keys that were deleted before the look-back."""
    around = records_around(records, scope)
    at = around["written_at"]
    is_inside = pc.greater_equal(at, as_scalar(at, scope.wide_window.start))
    return around.filter(pc.or_(is_inside, pc.invert(around["is_tombstone"])))


GROUP_RECORDS = narrowed(records_around, table("bronze.group_records", span=""), again=records_that_hold)
