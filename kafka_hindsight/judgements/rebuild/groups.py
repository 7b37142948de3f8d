"""The judgement of a consumer group, with the rows that it reads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.kinds import CLIENT_KINDS, GROUP_KINDS, Kind
from kafka_hindsight.judgements.brokers.controllers import incarnations_begun
from kafka_hindsight.judgements.groups.assignment_changes import changes_of, with_assignments
from kafka_hindsight.judgements.groups.assignments import Witnesses
from kafka_hindsight.judgements.groups.backlogs import backlogs_of, with_waits
from kafka_hindsight.judgements.groups.balance import (
    TopicPartitions,
    find_imbalances,
    settled_times,
    subscriptions_in,
)
from kafka_hindsight.judgements.groups.coordinators import rebuild_coordinator_moves
from kafka_hindsight.judgements.groups.costs import price, rebuild_group_stops, stops_of
from kafka_hindsight.judgements.groups.member_settings import rebuild_settings
from kafka_hindsight.judgements.groups.ownership import rebuild_ownership
from kafka_hindsight.judgements.groups.remedies import judge_remedies
from kafka_hindsight.judgements.groups.stall_rulings import judge_stalls
from kafka_hindsight.judgements.reasoning.read_times import ALL_READ
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebalances import rebuild_group
from kafka_hindsight.judgements.rebalances.members import sighting_of
from kafka_hindsight.judgements.rebalances.records import events_of_records
from kafka_hindsight.judgements.rebuild.brokers import FACTS, WindowFacts
from kafka_hindsight.judgements.rebuild.events import EVENTS
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, lake_table, narrowed, where_among
from kafka_hindsight.knowledge.client_ids import CONNECTOR_GROUP, TASK_CLIENT
from kafka_hindsight.knowledge.reasons import UUID
from kafka_hindsight.shared.arrow_tables import (
    LAST,
    as_scalar,
    before,
    distinct,
    ends,
    inside,
    look_up,
    with_columns,
)
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window, in_order

_PARTITION_KEY = ("topic", "partition")

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


def client_names(events: pa.Table) -> pa.Table:
    """The log, client and group that lines of groups and clients name, each once; the log only for a client's line."""
    is_client = pc.equal(events["origin"], str(Origin.CLIENT))
    log = pc.if_else(is_client, events["source"], None)
    names = {"log": log, "client_id": clients_of(events), "group_id": events["group_id"]}
    return distinct(pa.Table.from_pydict(names))


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


OF_GROUPS = where_among("kind", (*GROUP_KINDS, *CLIENT_KINDS), EVENTS)
"""The events about groups and their clients."""

NAMES = Judgement(
    "names",
    (find_names,),
    (),
    {
        "log_names": narrowed(client_names, OF_GROUPS, again=distinct),
        "members": narrowed(names_of_members, lake_table("bronze.member_snapshots"), again=distinct),
    },
)
"""The clients and groups to which lines belong: few rows."""


def first_and_last(partitions: pa.Table) -> pa.Table:
    """The first and the last reading that shows each partition."""
    return ends(partitions.select([*_PARTITION_KEY, "snapshot_at"]), _PARTITION_KEY, ("snapshot_at",))


def find_partitions(partitions: pa.Table) -> TopicPartitions:
    """Find the partitions of each topic, and since when and until when readings show them."""
    instants = grouped(partitions.to_pylist(), lambda row: (row["topic"], row["partition"]))
    of_topics: defaultdict[str, list[tuple[int, datetime, datetime]]] = defaultdict(list)
    for (topic, partition), readings in sorted(instants.items()):
        ats = [reading["snapshot_at"] for reading in readings]
        of_topics[topic].append((partition, min(ats), max(ats)))
    return TopicPartitions(dict(of_topics))


TOPIC_PARTITIONS = Judgement(
    "topic_partitions",
    (find_partitions,),
    (),
    {"partitions": narrowed(first_and_last, lake_table("bronze.partition_snapshots"))},
)
"""The partitions that topics have, by the readings: two rows for each."""


def clients_of(rows: pa.Table) -> pa.ChunkedArray:
    """The client that each row names."""
    in_member_id = pc.struct_field(pc.extract_regex(rows["member_id"], _MEMBER_ID), "client")
    is_dynamic = pc.and_(pc.is_null(rows["instance_id"]), pc.not_equal(in_member_id, ""))
    return pc.coalesce(rows["client_id"], pc.if_else(is_dynamic, in_member_id, None))


def with_names(events: pa.Table, names: ClientNames) -> pa.Table:
    """Fill in the client and the group of the clients' lines, and keep the events that have a group.

    Lines of librdkafka name no group: they get the only group of their client, and are left out where it has several. A
    line that names no client gets the only client of its log. A line that a process stops gets the only group of its
    log, and a line about a task of Kafka Connect the client and the group of that task's consumer.
    """
    is_client = pc.equal(events["origin"], str(Origin.CLIENT))
    in_log = look_up(events["source"], names.of_logs, pa.string())
    task = pc.if_else(pc.equal(events["kind"], str(Kind.CLIENT_TASK_KILLED)), events["detail"], None)
    of_task = pc.binary_join_element_wise(TASK_CLIENT, task, "")
    of_line = pc.if_else(is_client, pc.coalesce(of_task, clients_of(events), in_log), None)
    client_id = pc.coalesce(of_line, events["client_id"])
    is_end = pc.equal(events["kind"], str(Kind.CLIENT_STOPPING))
    in_its_log = pc.if_else(is_end, look_up(events["source"], names.groups_of_logs, pa.string()), None)
    connector = pc.replace_substring_regex(task, r"-\d+$", "")
    of_connector = pc.binary_join_element_wise(CONNECTOR_GROUP, connector, "")
    group_id = pc.coalesce(events["group_id"], look_up(client_id, names.groups, pa.string()), in_its_log, of_connector)
    return with_columns(events, client_id=client_id, group_id=group_id).filter(pc.is_valid(group_id))


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


GROUP_RECORDS = narrowed(records_around, lake_table("bronze.group_records", span=""), again=records_that_hold)


@dataclass(frozen=True)
class GroupTables:
    """The rebalances of a group with causes and costs, its remedies and settings, and who owned what how far behind."""

    settings: list[rows.MemberSetting]
    ownership: list[rows.Ownership]
    stalls: list[rows.PartitionStall]
    rebalances: list[rows.Rebalance] = field(default_factory=list)
    assignment_changes: list[rows.AssignmentChange] = field(default_factory=list)
    backlogs: list[rows.Backlog] = field(default_factory=list)
    remedies: list[rows.Remedy] = field(default_factory=list)
    gaps: list[rows.GenerationGap] = field(default_factory=list)
    stays: list[rows.MemberStay] = field(default_factory=list)
    moves: list[rows.CoordinatorMove] = field(default_factory=list)
    unavailability: list[rows.Unavailability] = field(default_factory=list)
    imbalances: list[rows.GroupImbalance] = field(default_factory=list)


def judge_group(
    group_id: str,
    events: list[rows.Event],
    records: list[rows.GroupRecord],
    readings: list[rows.GroupSnapshot],
    members: list[rows.MemberSnapshot],
    offsets: list[rows.OffsetSnapshot],
    commits: list[rows.OffsetCommits],
    scope: Scope,
    facts: WindowFacts,
    topic_partitions: TopicPartitions,
) -> GroupTables:
    """The history of one group. Ownership needs records or readings alone, stalls readings."""
    sightings, agreements = _ends_of_stays(members, scope.window), _agreements(readings, scope.window)
    settings = rebuild_settings(scope.cluster, group_id, events, records, sightings, agreements, scope.window)
    ownership = rebuild_ownership(members, readings, scope.window, records)
    events = [*events, *map(sighting_of, grouped(_in_turn(members), lambda m: m.member_id).values())]
    if not events:
        return GroupTables(
            settings,
            ownership,
            judge_stalls(offsets, ownership, (), scope.window, commits),
            backlogs=backlogs_of((), offsets, facts.groups.outages),
        )
    witnessed = in_order([*events, *events_of_records(records, scope.wide_window.start)])
    # Records of the group show what logs of its time do not.
    read_times = ALL_READ if records else facts.groups.read_times
    history = rebuild_group(group_id, witnessed, replace(facts.groups, read_times=read_times))
    witnesses = Witnesses(witnessed, records, readings, members)
    stops = stops_of(history.rebalances, witnesses)
    imbalances = find_imbalances(
        (scope.cluster, group_id),
        settled_times(history.rebalances, stops, witnesses, facts.groups.covered_until),
        subscriptions_in(witnesses, {m.member_id: m.client_id for m in history.members.members.values()}),
        topic_partitions,
        scope.window,
    )
    priced = with_waits(with_assignments(price(history.rebalances, stops), stops))
    of_brokers = [e for e in events if e.origin == Origin.BROKER]
    moves = rebuild_coordinator_moves(of_brokers, facts.context, facts.offsets_partitions, scope.wide_window)
    return GroupTables(
        settings,
        ownership,
        judge_stalls(offsets, ownership, priced, scope.window, commits),
        priced,
        changes_of(priced, stops, history.members),
        backlogs_of(priced, offsets, facts.groups.outages),
        judge_remedies(priced, stops, history.members, witnessed, scope.window),
        history.gaps,
        history.roster,
        moves,
        rebuild_group_stops(
            priced,
            stops,
            witnessed,
            facts.groups.observed_to,
            facts.groups.log_spans,
            incarnations_begun(facts.context.controller_epochs),
            read_times,
        ),
        imbalances,
    )


def _ends_of_stays(members: Iterable[rows.MemberSnapshot], window: Window) -> list[rows.MemberSnapshot]:
    """The first and the last reading of the window that show each member."""
    inside = _in_turn(m for m in members if window.holds(m.snapshot_at))
    first, last = {m.member_id: m for m in reversed(inside)}, {m.member_id: m for m in inside}
    return [*first.values(), *last.values()]


def _agreements(readings: Iterable[rows.GroupSnapshot], window: Window) -> list[rows.GroupSnapshot]:
    """The last reading of the window that shows each type and assignor."""
    ordered = sorted((r for r in readings if window.holds(r.snapshot_at)), key=lambda r: r.snapshot_at)
    return list({(r.type, r.assignor): r for r in ordered}.values())


def _in_turn(members: Iterable[rows.MemberSnapshot]) -> list[rows.MemberSnapshot]:
    return sorted(members, key=lambda m: m.snapshot_at)


GROUPS = Judgement(
    "groups",
    (judge_group,),
    ("cluster", "group_id"),
    {
        "events": each(with_names, OF_GROUPS),
        "records": GROUP_RECORDS,
        "readings": lake_table("bronze.group_snapshots"),
        "members": lake_table("bronze.member_snapshots"),
        "offsets": lake_table("bronze.offset_snapshots", span="window"),
        "commits": lake_table("bronze.offset_commits"),
    },
    needs=(NAMES, FACTS, TOPIC_PARTITIONS),
)
