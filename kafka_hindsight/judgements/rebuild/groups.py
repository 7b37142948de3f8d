"""The judgement of consumer groups: of one group by all witnesses, or of several by log lines alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.judgements.groups.coordinators import add_effects, rebuild_coordinator_moves
from kafka_hindsight.judgements.groups.costs import Witnesses, price, rebuild_unavailability, stops_of
from kafka_hindsight.judgements.groups.member_settings import rebuild_settings
from kafka_hindsight.judgements.groups.remedies import judge_remedies
from kafka_hindsight.judgements.rebalances import rebuild_group
from kafka_hindsight.judgements.rebalances.members import SEEN
from kafka_hindsight.judgements.rebalances.records import events_of_records
from kafka_hindsight.judgements.rebuild.brokers import FACTS
from kafka_hindsight.judgements.rebuild.group_lines import GROUP_RECORDS, NAMES, events_of_groups
from kafka_hindsight.judgements.rebuild.metadata import EVENTS
from kafka_hindsight.judgements.rebuild.scope import Scope, WindowFacts
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, table
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window, in_order


@dataclass(frozen=True)
class GroupHistory:
    """The rebalances of a group with causes and costs, its remedies, its unavailability and its settings."""

    settings: list[rows.MemberSetting]
    rebalances: list[rows.Rebalance] = field(default_factory=list)
    remedies: list[rows.Remedy] = field(default_factory=list)
    gaps: list[rows.GenerationGap] = field(default_factory=list)
    stays: list[rows.MemberStay] = field(default_factory=list)
    moves: list[rows.CoordinatorMove] = field(default_factory=list)
    unavailability: list[rows.Unavailability] = field(default_factory=list)


def judge_group(
    events: list[rows.Event],
    records: list[rows.GroupRecord],
    readings: list[rows.GroupSnapshot],
    members: list[rows.MemberSnapshot],
    scope: Scope,
    facts: WindowFacts,
) -> GroupHistory:
    """The history of one group."""
    sightings, agreements = _ends_of_stays(members, scope.window), _agreements(readings, scope.window)
    events = [*events, *sightings_of(members)]
    settings = rebuild_settings(scope.cluster, events, records, sightings, agreements, scope.window)
    if not events:
        return GroupHistory(settings)
    witnessed = in_order([*events, *events_of_records(records, scope.wide_window.start)])
    history = rebuild_group(str(events[0].group_id), witnessed, facts.groups)
    stops = stops_of(history.rebalances, Witnesses(witnessed, records, readings, members))
    priced = price(history.rebalances, stops)
    of_brokers = [e for e in events if e.origin == Origin.BROKER]
    moves = rebuild_coordinator_moves(of_brokers, facts.context, facts.offsets_partitions, scope.wide_window)
    return GroupHistory(
        settings,
        priced,
        judge_remedies(priced, stops, history.members, witnessed, scope.window),
        history.gaps,
        history.roster,
        add_effects(moves, priced, facts.groups.observed_to),
        rebuild_unavailability(priced, stops, witnessed, facts.groups.observed_to),
    )


def _ends_of_stays(members: Iterable[rows.MemberSnapshot], window: Window) -> list[rows.MemberSnapshot]:
    """The first and the last reading of the window that show each member."""
    readings = grouped(_in_turn(m for m in members if window.holds(m.snapshot_at)), lambda m: m.member_id)
    return [
        m
        for readings_of_member in readings.values()
        for m in (
            readings_of_member[:1]
            if readings_of_member[0] is readings_of_member[-1]
            else (readings_of_member[0], readings_of_member[-1])
        )
    ]


def _agreements(readings: Iterable[rows.GroupSnapshot], window: Window) -> list[rows.GroupSnapshot]:
    """The last reading of the window that shows each type and assignor."""
    ordered = sorted((r for r in readings if window.holds(r.snapshot_at)), key=lambda r: r.snapshot_at)
    return list({(r.type, r.assignor): r for r in ordered}.values())


def sightings_of(members: Iterable[rows.MemberSnapshot]) -> list[rows.Event]:
    """An event for the first reading of each member, with its ids and the topics that it owns in any reading."""
    return [_sighting(readings) for readings in grouped(_in_turn(members), lambda m: m.member_id).values()]


def _in_turn(members: Iterable[rows.MemberSnapshot]) -> list[rows.MemberSnapshot]:
    return sorted(members, key=lambda m: m.snapshot_at)


def _sighting(readings: list[rows.MemberSnapshot]) -> rows.Event:
    first = readings[0]
    return rows.Event(
        line_id=first.snapshot_id,
        cluster=first.cluster,
        origin=Origin.SNAPSHOT,
        source="snapshots",
        happened_at=first.snapshot_at,
        order=0,
        kind=SEEN,
        pattern_id=SEEN,
        text=f"member {first.member_id} of group {first.group_id}",
        group_id=first.group_id,
        member_id=first.member_id,
        client_id=first.client_id,
        host=first.host,
        instance_id=first.instance_id,
        detail=" ".join(sorted({p.topic for m in readings for p in m.assignment or () if p.topic is not None})),
        knowledge_version="",
    )


GROUPS = Judgement(
    "groups",
    judge_group,
    ("cluster", "group_id"),
    {
        "events": each(events_of_groups, EVENTS),
        "records": GROUP_RECORDS,
        "readings": table("bronze.group_snapshots"),
        "members": table("bronze.member_snapshots"),
    },
    needs=(NAMES, FACTS),
)
