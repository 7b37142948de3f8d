"""The judgement of one consumer group."""

from __future__ import annotations

from dataclasses import dataclass, field

from spark_jobs.catalog import rows
from spark_jobs.transforms.groups.coordinators import rebuild_coordinator_moves
from spark_jobs.transforms.groups.costs import Witnesses, price, stops_of
from spark_jobs.transforms.groups.group_events import events_of_groups
from spark_jobs.transforms.groups.move_effects import add_effects
from spark_jobs.transforms.groups.remedies import judge_remedies
from spark_jobs.transforms.groups.settings import rebuild_settings
from spark_jobs.transforms.judgement import Judgement, made, table
from spark_jobs.transforms.judgements import inputs as prepare
from spark_jobs.transforms.judgements.brokers import FACTS
from spark_jobs.transforms.judgements.shared_sources import EVENTS, GROUP_RECORDS
from spark_jobs.transforms.rebalances import rebuild_group
from spark_jobs.transforms.rebalances.records import events_of_records
from spark_jobs.transforms.scope import Scope, WindowFacts
from spark_jobs.transforms.windows import in_order


@dataclass(frozen=True)
class GroupHistory:
    """Why a group rebalanced, what that cost, what would have helped, and how its members are set up."""

    settings: list[rows.MemberSetting]
    rebalances: list[rows.Rebalance] = field(default_factory=list)
    remedies: list[rows.Remedy] = field(default_factory=list)
    gaps: list[rows.GenerationGap] = field(default_factory=list)
    stays: list[rows.MemberStay] = field(default_factory=list)
    moves: list[rows.CoordinatorMove] = field(default_factory=list)


def judge_groups(
    events: list[rows.Event],
    records: list[rows.GroupRecord],
    readings: list[rows.GroupSnapshot],
    members: list[rows.MemberSnapshot],
    sightings: list[rows.MemberSighting],
    agreements: list[rows.GroupAgreement],
    scope: Scope,
    facts: WindowFacts,
) -> GroupHistory:
    """The history of one group."""
    settings = rebuild_settings(scope.cluster, events, records, sightings, agreements, scope.window)
    if not events:
        return GroupHistory(settings)
    witnessed = in_order([*events, *events_of_records(records, scope.seen.start)])
    history = rebuild_group(str(events[0].group_id), witnessed, facts.groups)
    stops = stops_of(history.rebalances, Witnesses(witnessed, records, readings, members))
    priced = price(history.rebalances, stops)
    of_brokers = [e for e in events if e.origin == "broker"]
    moves = rebuild_coordinator_moves(of_brokers, facts.context, facts.offsets_partitions, scope.seen)
    return GroupHistory(
        settings,
        priced,
        judge_remedies(priced, stops, history.members, witnessed, scope.window),
        history.gaps,
        history.roster,
        add_effects(moves, priced, facts.groups.observed_to),
    )


GROUPS = Judgement(
    "groups",
    judge_groups,
    ("cluster", "group_id"),
    {
        "events": made(events_of_groups, EVENTS, table("bronze.member_snapshots")),
        "records": GROUP_RECORDS,
        "readings": table("bronze.group_snapshots"),
        "members": table("bronze.member_snapshots"),
        "sightings": made(prepare.members_seen, table("bronze.member_snapshots")),
        "agreements": made(prepare.group_agreements, table("bronze.group_snapshots")),
    },
    needs=(FACTS,),
)
