"""One group from its events to its rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import cast

from kafka_hindsight.catalog.codes import Cause, Origin, Outcome, Protocol
from kafka_hindsight.catalog.rows import Event, GenerationGap, MemberStay, Quote, Rebalance
from kafka_hindsight.catalog.rows.structs import Contributor
from kafka_hindsight.judgements.reasoning.evidence import MAX_QUOTES, evidence_of, quote, row_id
from kafka_hindsight.judgements.reasoning.rulings import Verdict
from kafka_hindsight.judgements.reasoning.timelines import Timeline, timelines
from kafka_hindsight.judgements.rebalances.case import Case
from kafka_hindsight.judgements.rebalances.chains import link
from kafka_hindsight.judgements.rebalances.changes import with_changes
from kafka_hindsight.judgements.rebalances.continuity import find_generation_gaps
from kafka_hindsight.judgements.rebalances.delays import delay_sentence, waits_of
from kafka_hindsight.judgements.rebalances.epochs import OTHER_KINDS, build_epochs
from kafka_hindsight.judgements.rebalances.history_coverage import HistoryCoverage
from kafka_hindsight.judgements.rebalances.judge import judge_change, judge_episode, judge_move
from kafka_hindsight.judgements.rebalances.members import Member, MemberRegistry
from kafka_hindsight.judgements.rebalances.model import Change, Episode, Gap, GroupContext, MembershipChange
from kafka_hindsight.judgements.rebalances.records import BURIED, STORED
from kafka_hindsight.judgements.rebalances.roster import roster_of
from kafka_hindsight.judgements.rebalances.timeline import build_episodes, drop_superseded_coordinators
from kafka_hindsight.shared.durations import MS, SAME_ACT


@dataclass(frozen=True)
class GroupHistory:
    """What was rebuilt for one group: its rebalances (without incident_id), its generation gaps, who is who in it, and
    its members' stays."""

    rebalances: list[Rebalance]
    gaps: list[GenerationGap]
    members: MemberRegistry = field(compare=False, repr=False)
    roster: list[MemberStay]


def rebuild_group(group_id: str, events: Iterable[Event], context: GroupContext) -> GroupHistory:
    """The rebalances of one group with their causes, and the breaks in its generations.

    Takes: every event that names the group, its clients' lines among them, sightings of members in snapshots (kind
    member_seen), and what its records show (records.py), in any order.
    Gives: rows without incident_id, in order of start.
    Keeps: the same rows whatever the order of the events.
    """
    in_order = sorted(events, key=lambda e: (e.happened_at, e.source, e.order, e.line_id))
    ordered = list(drop_superseded_coordinators(in_order))
    registry = MemberRegistry(ordered)
    episodes, gaps = _episodes(group_id, ordered, registry)
    gaps += find_generation_gaps(ordered, context.observed_to)
    buried_at = min((e.happened_at for e in ordered if e.kind == BURIED), default=None)
    gaps = [_explained(g, buried_at) for g in gaps]
    history = HistoryCoverage(episodes, gaps, registry, context.observed_from)
    return GroupHistory(
        link([_row(Case(e, e.trigger, registry, context, history)) for e in episodes]),
        [_gap_row(group_id, g, context) for g in gaps],
        registry,
        roster_of(context.cluster, group_id, registry),
    )


def _episodes(group_id: str, events: Sequence[Event], registry: MemberRegistry) -> tuple[list[Episode], list[Gap]]:
    """The episodes of both protocols in order of start, each with the one before it, and the breaks between them."""
    of_coordinator = [e for e in events if e.origin == Origin.BROKER]
    classic, classic_gaps = build_episodes(group_id, of_coordinator)
    stores = (e for e in events if e.kind == STORED)
    stored = timelines(stores, attrgetter("generation"), attrgetter("happened_at"))
    finished = [_finished(e, stored) for e in with_changes(classic, of_coordinator)]
    epochs, epoch_gaps = build_epochs(group_id, events)
    linked: list[Episode] = []
    for episode in _with_unseen_joins(sorted([*finished, *epochs], key=lambda e: e.started_at), registry):
        linked.append(replace(episode, previous=linked[-1] if linked else None))
    never_classic = any(e.protocol in OTHER_KINDS for e in of_coordinator)
    return linked, [*([] if never_classic else classic_gaps), *epoch_gaps]


def _finished(episode: Episode, stored: Mapping[int | None, Timeline[Event]]) -> Episode:
    """The episode with its end, where no line but a record shows it: a generation is stored when it was assigned."""
    if episode.outcome != Outcome.UNFINISHED or episode.joined_at is None or episode.to_generation not in stored:
        return episode
    event = stored[episode.to_generation].first_since(episode.joined_at - SAME_ACT)
    if event is None:
        return episode
    ended_at = max(event.happened_at, episode.joined_at)
    return replace(episode, ended_at=ended_at, outcome=Outcome.COMPLETED, events=(*episode.events, event))


def _explained(gap: Gap, buried_at: datetime | None) -> Gap:
    """A break after which generations restart, explained by the group's tombstone where nothing else does."""
    if gap.explained_by or gap.next_generation > 1 or buried_at is None or buried_at > gap.seen_at:
        return gap
    return replace(gap, explained_by="the group's metadata were deleted, as their tombstone shows")


def _with_unseen_joins(episodes: Sequence[Episode], registry: MemberRegistry) -> Iterator[Episode]:
    """Members that came while a join phase ran and left no line of their own: they are first seen in its generation.

    Brokers before 3.0 print nothing for them at INFO; loaded groups and client logs name each generation's members.
    """
    changed_before: set[str | None] = set()
    for episode in episodes:
        joins: list[MembershipChange] = []
        if episode.protocol == Protocol.CLASSIC and episode.to_generation is not None:
            there = {c.member_id for c in episode.changes}
            joins = [
                MembershipChange(Change.JOINED, episode.started_at, member_id)
                for member_id in sorted(registry.by_generation.get(episode.to_generation, ()))
                if member_id not in there
                and member_id not in changed_before
                and registry.members[member_id].first_generation == episode.to_generation
                and not registry.took_static_place(registry.members[member_id])
            ]
        found = replace(episode, changes=(*episode.changes, *joins)) if joins else episode
        changed_before |= {c.member_id for c in found.changes}
        yield found


_Judged = tuple[Case, Verdict]
"""What one member that took part did, and why."""


def _row(case: Case) -> Rebalance:
    episode, member, began = case.episode, case.member, judge_episode(case)
    verdict = judge_move(case, began)
    others: list[_Judged] = [(case, began)] if case.change is not None and verdict is not began else []
    others += [(other, judge_change(other)) for other in (replace(case, change=c) for c in episode.others)]
    cause = cast("Cause", verdict.code)
    waits = waits_of(episode, case.registry)
    identity = (case.context.cluster, episode.group_id, episode.protocol, episode.from_generation, episode.started_at)
    return Rebalance(
        cluster=case.context.cluster,
        rebalance_id=row_id("rebalance", *identity),
        group_id=episode.group_id,
        protocol=episode.protocol,
        coordinator=episode.coordinator,
        from_generation=episode.from_generation,
        to_generation=episode.to_generation,
        started_at=episode.started_at,
        joined_at=episode.joined_at,
        ended_at=episode.ended_at,
        duration_ms=None if episode.ended_at is None else (episode.ended_at - episode.started_at) // MS,
        outcome=episode.outcome,
        cause=cause,
        confidence=verdict.confidence,
        client_id=member.client_id,
        instance_id=member.instance_id,
        member_id=member.member_id or None,
        host=member.host,
        contributors=[_contributor(*judged) for judged in others],
        reason=_raw_reason(episode),
        explanation=verdict.sentence + _others_sentence(others) + delay_sentence(waits),
        advice=cause.advice,
        delayed_by=[w.delay for w in waits],
        silent_ms=_silent_ms(verdict, episode, member),
        session_timeout_ms=member.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        members_before=episode.members_before,
        members_after=episode.members_after,
        evidence=evidence_of(_most_telling(episode, verdict, member, others)),
    )


def _silent_ms(verdict: Verdict, episode: Episode, member: Member) -> int | None:
    heard_at = verdict.facts.get("heard_at")
    if heard_at is None or member.session_timeout_ms is None:
        return None
    return member.session_timeout_ms + int((heard_at - episode.started_at) / MS)


def _contributor(case: Case, verdict: Verdict) -> Contributor:
    assert case.change is not None
    return Contributor(
        client_id=case.member.client_id,
        instance_id=case.member.instance_id,
        member_id=case.change.member_id,
        cause=verdict.code,
        at=case.at,
    )


def _raw_reason(episode: Episode) -> str | None:
    """The broker's raw words; the Java coordinator puts a leaving client's own reason on a line of its own."""
    own = episode.trigger.client_reason if episode.trigger else None
    if not own or own in (episode.raw_reason or ""):
        return episode.raw_reason
    return f"{episode.raw_reason or ''}; client reason: {own}".lstrip("; ")


def _others_sentence(others: Sequence[_Judged]) -> str:
    if not others:
        return ""
    return f" {len(others)} more member{'s' if len(others) > 1 else ''} took part in it."


def _most_telling(episode: Episode, verdict: Verdict, member: Member, others: Sequence[_Judged]) -> list[Quote]:
    """The lines that the row rests on. Order: by weight, so that a short quotation keeps those that decide."""
    by_weight = [
        *map(quote, episode.events[:1]),
        *map(quote, episode.trigger.events if episode.trigger else ()),
        *verdict.evidence,
        *map(quote, member.introduced_by),
        *map(quote, episode.events[1:]),
        *(q for c, v in others if c.change is not None for q in (*map(quote, c.change.events), *v.evidence)),
    ]
    return list({q.line_id: q for q in by_weight}.values())[:MAX_QUOTES]


def _gap_row(group_id: str, gap: Gap, context: GroupContext) -> GenerationGap:
    return GenerationGap(
        cluster=context.cluster,
        group_id=group_id,
        after_generation=gap.after_generation,
        next_generation=gap.next_generation,
        seen_at=gap.seen_at,
        explained_by=gap.explained_by,
        evidence=evidence_of([quote(gap.event)]),
    )
