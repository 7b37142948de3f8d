"""The judgement of one consumer group."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.groups.coordinators import rebuild_coordinator_moves
from kafka_hindsight.judgements.groups.costs import Witnesses, price, stops_of
from kafka_hindsight.judgements.groups.member_settings import rebuild_settings
from kafka_hindsight.judgements.groups.move_effects import add_effects
from kafka_hindsight.judgements.groups.remedies import judge_remedies
from kafka_hindsight.judgements.groups.unavailability import rebuild_unavailability
from kafka_hindsight.judgements.rebalances import rebuild_group
from kafka_hindsight.judgements.rebalances.records import events_of_records
from kafka_hindsight.judgements.rebuild.scope import Scope, WindowFacts
from kafka_hindsight.shared.windows import in_order


@dataclass(frozen=True)
class GroupHistory:
    """Why a group rebalanced, what that cost, when it consumed nothing, what would have helped, how it is set up."""

    settings: list[rows.MemberSetting]
    rebalances: list[rows.Rebalance] = field(default_factory=list)
    remedies: list[rows.Remedy] = field(default_factory=list)
    gaps: list[rows.GenerationGap] = field(default_factory=list)
    stays: list[rows.MemberStay] = field(default_factory=list)
    moves: list[rows.CoordinatorMove] = field(default_factory=list)
    unavailability: list[rows.Unavailability] = field(default_factory=list)


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
        rebuild_unavailability(priced, stops, witnessed, facts.groups.observed_to),
    )
