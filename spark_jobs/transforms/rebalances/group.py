"""One group from its events to its rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from spark_jobs.knowledge.causes import CAUSE_BY_CODE
from spark_jobs.transforms.evidence import MAX_QUOTES, evidence_of, quote, row_id
from spark_jobs.transforms.rebalances.chains import link
from spark_jobs.transforms.rebalances.continuity import find_generation_gaps
from spark_jobs.transforms.rebalances.delays import told_of_delay, waits_of
from spark_jobs.transforms.rebalances.epochs import build_epochs
from spark_jobs.transforms.rebalances.history_coverage import HistoryCoverage
from spark_jobs.transforms.rebalances.judge import judge_act, judge_episode
from spark_jobs.transforms.rebalances.members import Member, MemberRegistry
from spark_jobs.transforms.rebalances.model import (
    SAME_ACT,
    Act,
    Episode,
    Event,
    Gap,
    GroupContext,
    GroupHistory,
    Verdict,
)
from spark_jobs.transforms.rebalances.records import BURIED, STORED
from spark_jobs.transforms.rebalances.roster import roster_of
from spark_jobs.transforms.rebalances.timeline import attach_acts, build_episodes, drop_superseded_coordinators


def rebuild_group(group_id: str, events: Iterable[Event], context: GroupContext) -> GroupHistory:
    """The rebalances of one group with their causes, and the breaks in its generations.

    Takes: every event that names the group, its clients' lines among them, sightings of members in snapshots (kind
    member_seen), and what its records tell (records.py), in any order.
    Gives: rows without incident_id, in order of start.
    Keeps: the same rows whatever the order of the events.
    """
    ordered = list(
        drop_superseded_coordinators(
            sorted(events, key=lambda e: (e["happened_at"], e["source"], e["order"], e["line_id"]))
        )
    )
    directory = MemberRegistry(ordered)
    coordinator_lines = [e for e in ordered if e["origin"] == "broker"]
    classic, classic_gaps = build_episodes(group_id, coordinator_lines)
    attach_acts(classic, coordinator_lines)
    finish(classic, [e for e in ordered if e["kind"] == STORED])
    epochs, epoch_gaps = build_epochs(group_id, ordered)
    episodes = sorted([*classic, *epochs], key=lambda e: e.started_at)
    for before, episode in itertools.pairwise(episodes):
        episode.previous = before
    add_unseen_joins(episodes, directory)
    buried = [e for e in ordered if e["kind"] == BURIED]
    unseen = find_generation_gaps(ordered, context.observed_to)
    gaps = [explained(g, buried) for g in (*classic_gaps, *epoch_gaps, *unseen)]
    recall = HistoryCoverage(episodes, gaps, directory, context.observed_from)
    rows = link([_row(e, directory, context, recall) for e in episodes])
    gap_rows = [_gap_row(group_id, g, context) for g in gaps]
    return GroupHistory(rows, gap_rows, roster_of(context.cluster, group_id, directory))


def finish(episodes: Sequence[Episode], stored: Sequence[Event]) -> None:
    """Ends join phases whose assignment no line tells: the coordinator stores a generation when it has arrived."""
    for episode in episodes:
        if episode.outcome != "unfinished" or episode.joined_at is None:
            continue
        for event in stored:
            late = event["happened_at"] - episode.joined_at
            if event["generation"] == episode.to_generation and late >= -SAME_ACT:
                episode.ended_at, episode.outcome = max(event["happened_at"], episode.joined_at), "completed"
                episode.events.append(event)
                break


def explained(gap: Gap, buried: Sequence[Event]) -> Gap:
    """A break after which generations begin anew, explained by the group's tombstone where nothing else does."""
    if gap.explained_by or gap.next_generation > 1 or not any(e["happened_at"] <= gap.seen_at for e in buried):
        return gap
    return replace(gap, explained_by="the group's metadata were deleted, as their tombstone shows")


def add_unseen_joins(episodes: Sequence[Episode], directory: MemberRegistry) -> None:
    """Members that came while a join phase ran and left no line of their own: they are first seen in its generation.

    Brokers before 3.0 print nothing for them at INFO; loaded groups and client logs name each generation's members.
    """
    for episode in episodes:
        if episode.protocol != "classic" or episode.to_generation is None:
            continue
        named = {a.member_id for a in episode.acts}
        for member_id in sorted(directory.by_generation.get(episode.to_generation, ())):
            member = directory.members[member_id]
            came_now = member.first_generation == episode.to_generation
            if came_now and member_id not in named and not _was_there(member, episode, episodes, directory):
                episode.acts.append(Act("joined", episode.started_at, member_id))


def _was_there(member: Member, episode: Episode, episodes: Sequence[Episode], directory: MemberRegistry) -> bool:
    """Whether the member, or the process whose static place it took, was in the group before the episode."""
    if any(a.member_id == member.member_id for e in episodes if e.started_at < episode.started_at for a in e.acts):
        return True
    return bool(member.instance_id) and any(
        other.instance_id == member.instance_id and other.member_id != member.member_id
        for other in directory.members.values()
    )


def _row(episode: Episode, directory: MemberRegistry, context: GroupContext, recall: HistoryCoverage) -> dict[str, Any]:
    verdict = judge_episode(episode, directory, context, recall)
    others = [(a, judge_act(a, episode, directory, context, recall)) for a in episode.others]
    trigger = episode.trigger
    member = _who(episode, trigger, directory)
    if episode.cut_by_move and episode.outcome in ("interrupted", "unfinished"):
        if trigger is not None:
            others.insert(0, (trigger, verdict))
        verdict = Verdict(
            "coordinator_moved",
            "certain" if episode.cut_shown else "likely",
            f"The coordinator moved while the group was rebalancing and cut the rebalance short. {verdict.explanation}",
            verdict.events,
        )
    ended, waits = episode.ended_at, waits_of(episode, directory)
    return {
        "cluster": context.cluster,
        "rebalance_id": row_id(
            "rebalance",
            context.cluster,
            episode.group_id,
            episode.protocol,
            episode.from_generation,
            episode.started_at,
        ),
        "group_id": episode.group_id,
        "protocol": episode.protocol,
        "coordinator": episode.coordinator,
        "from_generation": episode.from_generation,
        "to_generation": episode.to_generation,
        "started_at": episode.started_at,
        "joined_at": episode.joined_at,
        "ended_at": ended,
        "duration_ms": None if ended is None else int((ended - episode.started_at) / timedelta(milliseconds=1)),
        "outcome": episode.outcome,
        "cause": verdict.cause,
        "confidence": verdict.confidence,
        "client_id": member.client_id if member else None,
        "instance_id": member.instance_id if member else None,
        "member_id": (member.member_id or None) if member else None,
        "host": member.host if member else None,
        "contributors": [_contributor(a, v, directory) for a, v in others],
        "reason": _raw_reason(episode, trigger),
        "explanation": verdict.explanation + _told_of_others(others) + told_of_delay(waits),
        "advice": CAUSE_BY_CODE[verdict.cause].advice,
        "delayed_by": [w.entry() for w in waits],
        "silent_ms": _silent_ms(verdict, episode, member),
        "session_timeout_ms": member.session_timeout_ms if member else None,
        "rebalance_timeout_ms": member.rebalance_timeout_ms if member else None,
        "members_before": episode.members_before,
        "members_after": episode.members_after,
        "partition_seconds": None,
        "incident_id": None,
        "evidence": evidence_of(quote(e) for e in _proof(episode, verdict, member, others)),
    }


def _who(episode: Episode, trigger: Act | None, directory: MemberRegistry) -> Member | None:
    if trigger is not None:
        return directory.get(trigger.member_id, trigger.instance_id)
    if episode.reason.members:
        return directory.get(episode.reason.members[0], episode.reason.instance_id)
    return None


def _silent_ms(verdict: Verdict, episode: Episode, member: Member | None) -> int | None:
    if verdict.heard_at is None or member is None or member.session_timeout_ms is None:
        return None
    return member.session_timeout_ms + int((verdict.heard_at - episode.started_at) / timedelta(milliseconds=1))


def _contributor(act: Act, verdict: Verdict, directory: MemberRegistry) -> dict[str, Any]:
    member = directory.get(act.member_id, act.instance_id)
    return {
        "client_id": member.client_id,
        "instance_id": member.instance_id,
        "member_id": act.member_id,
        "cause": verdict.cause,
        "at": act.at,
    }


def _raw_reason(episode: Episode, trigger: Act | None) -> str | None:
    """The broker's raw words; the Java coordinator puts a leaving client's own reason on a line of its own."""
    if trigger is None or not trigger.client_reason or trigger.client_reason in (episode.raw_reason or ""):
        return episode.raw_reason
    return f"{episode.raw_reason or ''}; client reason: {trigger.client_reason}".lstrip("; ")


def _told_of_others(others: Sequence[tuple[Act, Verdict]]) -> str:
    if not others:
        return ""
    return f" {len(others)} more member{'s' if len(others) > 1 else ''} took part in it."


def _proof(
    episode: Episode, verdict: Verdict, member: Member | None, others: Sequence[tuple[Act, Verdict]]
) -> Iterable[Event]:
    """The lines that the row rests on. Order: by weight, so that a short quotation keeps those that decide."""
    began = episode.trigger.events if episode.trigger else []
    who = member.introduced_by if member else ()
    joined_in = [e for act, v in others for e in (*act.events, *v.events)]
    by_weight = [*episode.events[:1], *began, *verdict.events, *who, *episode.events[1:], *joined_in]
    return list({e["line_id"]: e for e in by_weight}.values())[:MAX_QUOTES]


def _gap_row(group_id: str, gap: Gap, context: GroupContext) -> dict[str, Any]:
    return {
        "cluster": context.cluster,
        "group_id": group_id,
        "after_generation": gap.after_generation,
        "next_generation": gap.next_generation,
        "seen_at": gap.seen_at,
        "explained_by": gap.explained_by,
        "evidence": evidence_of([quote(gap.event)]),
    }
