"""One group from its events to its rows."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import cast

from kafka_hindsight.catalog.codes import Cause, Confidence, Origin, Outcome, Protocol, Silence
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, GenerationGap, MemberStay, Quote, Rebalance
from kafka_hindsight.catalog.rows.structs import Contributor, Delay
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote, row_id
from kafka_hindsight.judgements.reasoning.read_times import ReadTimes
from kafka_hindsight.judgements.reasoning.rulings import Verdict
from kafka_hindsight.judgements.rebalances.case import Case, HistoryCoverage
from kafka_hindsight.judgements.rebalances.client_logs import NEAR
from kafka_hindsight.judgements.rebalances.group_epochs import OTHER_KINDS, build_epochs
from kafka_hindsight.judgements.rebalances.group_history import Change, Episode, GroupContext, MembershipChange, gap_at
from kafka_hindsight.judgements.rebalances.identity import Identity
from kafka_hindsight.judgements.rebalances.judge import judge_change, judge_episode, judge_move
from kafka_hindsight.judgements.rebalances.lone_removals import with_lone_removals
from kafka_hindsight.judgements.rebalances.member_facts import facts_of
from kafka_hindsight.judgements.rebalances.members import Member, MemberRegistry
from kafka_hindsight.judgements.rebalances.members_words import as_coordinator
from kafka_hindsight.judgements.rebalances.silence_rulings import judge_silence
from kafka_hindsight.judgements.rebalances.timeline import build_episodes, drop_superseded_coordinators, with_changes
from kafka_hindsight.knowledge.advice import advise
from kafka_hindsight.knowledge.reasons import POLL_EXPIRED, read_client_reason
from kafka_hindsight.shared.durations import CLOCK_SKEW, HEARTBEAT_INTERVAL, LONG_AGO, MS, SAME_ACT
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import earliest
from kafka_hindsight.shared.timelines import Timeline, timelines
from kafka_hindsight.shared.words import duration

SHORTEST = timedelta(milliseconds=500)


@dataclass(frozen=True)
class Wait:
    """How long the whole group waited for one member, and in which phase."""

    phase: str
    client_id: str | None
    member_id: str
    waited: timedelta


def waits_of(episode: Episode, registry: MemberRegistry) -> list[Wait]:
    """The members that the whole group waited for; waits under 500 ms are not listed.

    Source: a join phase ends when every member has rejoined or was removed, a sync phase when the leader has sent the
    assignment (GroupCoordinator.scala, GroupMetadataManager.java). Under KIP-848 no member waits for another.
    """
    joined_at = episode.joined_at
    if joined_at is None or episode.to_generation is None or episode.protocol != Protocol.CLASSIC:
        return []
    waits = [*_in_join(episode, joined_at, registry)]
    if episode.outcome == Outcome.COMPLETED and episode.ended_at is not None:
        leader = leader_of(episode, registry)
        if leader is not None:
            waits.append(Wait("sync", leader[1], leader[0], episode.ended_at - joined_at))
    return [w for w in waits if w.waited >= SHORTEST]


def delay_sentence(waits: Sequence[Wait]) -> str:
    """The longest wait for one member, as a sentence; empty where none exceeds a heartbeat interval."""
    longest = max(waits, key=lambda w: w.waited, default=None)
    if longest is None or longest.waited <= HEARTBEAT_INTERVAL:
        return ""
    who = f"{'its leader ' if longest.phase == 'sync' else ''}'{longest.client_id or longest.member_id}'"
    return f" The group waited {duration(longest.waited)} in the {longest.phase} phase for {who}."


def _in_join(episode: Episode, joined_at: datetime, registry: MemberRegistry) -> Iterator[Wait]:
    """The waits of a join phase: each member is charged the time since the release of the one before it.

    Members that were dropped in the same instant share the wait.
    """
    before = episode.started_at
    releases = sorted([*_rejoins(episode, joined_at, registry), *_removals(episode, joined_at, registry)])
    for at, together in grouped(releases, lambda r: r[0]).items():
        for _, member_id, client_id in together:
            yield Wait("join", client_id or None, member_id, max(timedelta(0), at - before) / len(together))
        before = max(before, at)


def leader_of(episode: Episode, registry: MemberRegistry) -> tuple[str, str | None] | None:
    """Member id and client of the generation's leader: by the coordinator's line or record, else by its own log."""
    joined_at = episode.joined_at
    if joined_at is None or episode.to_generation is None or episode.protocol != Protocol.CLASSIC:
        return None
    leader_id = next((e.leader_member_id for e in episode.events if e.leader_member_id), None)
    if leader_id is not None:
        return leader_id, registry.get(leader_id).client_id
    generation = episode.to_generation
    client_id = min(registry.logs.first_steps(Kind.CLIENT_ASSIGNMENT_FINISHED, generation, joined_at), default=None)
    if client_id is None:
        return None
    joined = registry.logs.first_steps(Kind.CLIENT_JOINED, generation, joined_at).get(client_id)
    return (joined.member_id or "" if joined else ""), client_id


def _rejoins(episode: Episode, joined_at: datetime, registry: MemberRegistry) -> Iterator[tuple[datetime, str, str]]:
    """The requests to join of members with a log: each one's last before it learnt that it had joined.

    A static member that takes another's place later joins that very generation; no member waited for it.
    """
    joins = registry.logs.first_steps(Kind.CLIENT_JOINED, episode.to_generation, joined_at)
    for client_id, joined in joins.items():
        request = registry.logs.of(client_id).of_kind(Kind.CLIENT_JOINING).last_until(joined.happened_at)
        if request is not None and request.happened_at <= joined_at + SHORTEST:
            yield max(request.happened_at, episode.started_at), joined.member_id or "", client_id


def _removals(episode: Episode, joined_at: datetime, registry: MemberRegistry) -> Iterator[tuple[datetime, str, str]]:
    """The instants at which the phase went on without a member that had not rejoined, by the coordinator's lines."""
    for change in episode.changes:
        # One that has rejoined polls, and its session holds.
        is_awaited = change.what in (Change.NOT_REJOINED, Change.EXPIRED) or (
            change.what == Change.LEFT and read_client_reason(change.client_reason) == POLL_EXPIRED
        )
        if change.member_id and is_awaited and change.at <= joined_at + SHORTEST:
            client_id = registry.get(change.member_id, change.instance_id).client_id
            yield min(max(change.at, episode.started_at), joined_at), change.member_id, client_id or ""


@dataclass(frozen=True)
class GroupHistory:
    """The history of one group: its rebalances (without incident_id), generation gaps, members and their stays."""

    rebalances: list[Rebalance]
    gaps: list[GenerationGap]
    members: MemberRegistry = field(compare=False, repr=False)
    roster: list[MemberStay]


def rebuild_group(group_id: str, events: Iterable[Event], context: GroupContext) -> GroupHistory:
    """The rebalances of one group with their causes, and the breaks in its generations.

    `events` name the group and come in any order: lines of brokers and clients, sightings of members in snapshots (kind
    member_seen), and events of its records (records.py). The rows have no incident_id yet.
    """
    in_order = sorted(_assigned_after_joins(events), key=lambda e: (e.happened_at, e.source, e.order, e.line_id))
    ordered = list(drop_superseded_coordinators(in_order))
    registry = MemberRegistry(ordered)
    identity = Identity(registry, group_id)
    episodes, gaps = _episodes(group_id, ordered, identity, context.read_times)
    buried_at = earliest(*(e.happened_at for e in ordered if e.kind == Kind.GROUP_BURIED))
    gaps += _unseen_generations(ordered, context.observed_to)
    if not any(e.origin == Origin.BROKER for e in ordered):  # members show only the generations that they joined
        gaps = [g for g in gaps if g.next_generation <= g.after_generation]
    if buried_at is not None:  # after the group's tombstone generations restart
        why = "the group's metadata were deleted, as their tombstone shows"
        restarts = [not g.explained_by and g.next_generation <= 1 and buried_at <= g.seen_at for g in gaps]
        gaps = [replace(g, explained_by=why) if is_restart else g for g, is_restart in zip(gaps, restarts, strict=True)]
    sightings = timelines(ordered if gaps else (), attrgetter("generation"), attrgetter("happened_at"))
    gaps = [replace(g, previous_seen_at=_last_seen(sightings, g)) for g in gaps]
    history = HistoryCoverage(episodes, gaps, registry, context.observed_from)
    rows = [_row(Case(e, e.trigger, identity, context, history)) for e in episodes]
    return GroupHistory(
        _link_restarts(_lower_confidence(rows, ordered)),
        gaps,
        registry,
        _roster(context.cluster, group_id, registry),
    )


def _last_seen(sightings: Mapping[int | None, Timeline[Event]], gap: GenerationGap) -> datetime | None:
    """The instant at which a line last named the generation before a break."""
    own = sightings.get(gap.after_generation)
    last = own.last_before(gap.seen_at) if own else None
    return last.happened_at if last else None


def _assigned_after_joins(events: Iterable[Event]) -> Iterator[Event]:
    """The events, an assignment no earlier than the end of its join phase, where a clock went back between the two.

    Longer steps back are corrected as files are read. Source: the coordinator takes an assignment in the state
    CompletingRebalance, which follows that line (GroupCoordinator.scala onCompleteJoin, doSyncGroup).
    """
    rows = list(events)
    joins = timelines(
        (e for e in rows if e.kind == Kind.JOIN_COMPLETED),
        lambda e: (e.source, e.generation),
        attrgetter("happened_at"),
    )
    for event in rows:
        own = joins.get((event.source, event.generation)) if event.kind == Kind.ASSIGNMENT_RECEIVED else None
        joined = own.first_after(event.happened_at) if own else None
        is_back = joined is not None and joined.happened_at - event.happened_at <= CLOCK_SKEW
        if own and joined and is_back and not own.near(event.happened_at - CLOCK_SKEW, CLOCK_SKEW):
            yield replace(event, happened_at=joined.happened_at, order=joined.order + 1)
        else:
            yield event


def _lower_confidence(rows: Sequence[Rebalance], events: Sequence[Event]) -> list[Rebalance]:
    """The rows, less sure where no line of the coordinator shows who else acted before the member.

    That a member is new rests on lines that are missing. One that was removed may have been so by an administrator.
    """
    if any(e.origin == Origin.BROKER for e in events):
        return list(rows)
    lowered = []
    for row in rows:
        is_first_join = row.cause.noun.is_arrival and not row.cause.noun.is_return
        rests_on_absence = is_first_join and row.confidence != Confidence.CERTAIN
        is_doubted = rests_on_absence or row.cause.noun.is_late_heartbeat or row.cause.noun.is_death
        confidence = row.confidence.at_most(Confidence.POSSIBLE if is_doubted else Confidence.LIKELY)
        explanation = f"{row.explanation} No line of the group's coordinator is at hand."
        lowered.append(replace(row, confidence=confidence, explanation=explanation))
    return lowered


def _episodes(
    group_id: str, events: Sequence[Event], identity: Identity, read_times: ReadTimes
) -> tuple[list[Episode], list[GenerationGap]]:
    """The episodes of both protocols in order of start, each with the one before it, and the breaks between them."""
    of_coordinator = [e for e in events if e.origin == Origin.BROKER] or as_coordinator(events)
    classic, classic_gaps = build_episodes(group_id, of_coordinator)
    stores = (e for e in events if e.kind == Kind.GENERATION_STORED)
    stored = timelines(stores, attrgetter("generation"), attrgetter("happened_at"))
    finished = [_with_stored_end(e, stored) for e in with_changes(classic, of_coordinator)]
    epochs, epoch_gaps = build_epochs(group_id, events)
    of_both = sorted((_as_read(e, read_times) for e in (*finished, *epochs)), key=lambda e: e.started_at)
    linked: list[Episode] = []
    for episode in _with_unseen_joins(with_lone_removals(group_id, of_both, of_coordinator), identity):
        linked.append(replace(episode, previous=linked[-1] if linked else None))
    never_classic = any(e.protocol in OTHER_KINDS for e in of_coordinator)
    return linked, [*([] if never_classic else classic_gaps), *epoch_gaps]


def _as_read(episode: Episode, read_times: ReadTimes) -> Episode:
    """The episode without an end where only the begin of the next one shows it, and logs between were not read."""
    is_cut = episode.outcome == Outcome.INTERRUPTED and episode.ended_at is not None
    if not is_cut or episode.ended_at is None or read_times.is_whole(episode.started_at, episode.ended_at):
        return episode
    return replace(episode, outcome=Outcome.UNFINISHED, ended_at=None)


def _with_stored_end(episode: Episode, stored: Mapping[int | None, Timeline[Event]]) -> Episode:
    """The episode with an end that only a record shows: a generation is stored once it is assigned."""
    if episode.outcome != Outcome.UNFINISHED or episode.joined_at is None or episode.to_generation not in stored:
        return episode
    event = stored[episode.to_generation].first_since(episode.joined_at - SAME_ACT)
    if event is None:
        return episode
    ended_at = max(event.happened_at, episode.joined_at)
    return replace(episode, ended_at=ended_at, outcome=Outcome.COMPLETED, events=(*episode.events, event))


def _with_unseen_joins(episodes: Sequence[Episode], identity: Identity) -> Iterator[Episode]:
    """The episodes with the joins that left no line of their own: members that first appear in a generation.

    Brokers before 3.0 print nothing at INFO for a join while a join phase runs. Loaded groups and client logs name each
    generation's members. Generations start again after a group was removed: a member that came later joined another.
    """
    registry = identity.registry
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
                and (registry.members[member_id].first_at or LONG_AGO)
                <= (episode.joined_at or episode.started_at) + NEAR
                and not identity.took_static_place(registry.members[member_id])
            ]
        changed = replace(episode, changes=(*episode.changes, *joins)) if joins else episode
        changed_before |= {c.member_id for c in changed.changes}
        yield changed


_Act = tuple[Case, Verdict]
"""The act of one member that took part, and the verdict on it."""


def _row(case: Case) -> Rebalance:
    episode, member, start_verdict = case.episode, case.member, judge_episode(case)
    verdict = judge_move(case, start_verdict)
    others: list[_Act] = [(case, start_verdict)] if case.change is not None and verdict is not start_verdict else []
    others += [(other, judge_change(other)) for other in (replace(case, change=c) for c in episode.others)]
    cause = cast("Cause", verdict.code)
    silence = judge_silence(case, verdict)
    waits = waits_of(episode, case.registry)
    leader = leader_of(episode, case.registry)
    identity = (case.context.cluster, episode.group_id, episode.protocol, episode.from_generation, episode.started_at)
    heard_at, silent_ms = verdict.facts.get("heard_at"), None
    if heard_at is not None and member.session_timeout_ms is not None:
        silent_ms = member.session_timeout_ms + int((heard_at - episode.started_at) / MS)
    facts = facts_of(member, case.registry, episode.group_id, Protocol(episode.protocol))
    facts = replace(facts, silent_ms=silent_ms)
    advice = advise(cause, facts, cast("Silence", silence.code) if silence else None)
    more = f" {len(others)} more member{'s' if len(others) > 1 else ''} took part in it." if others else ""
    return Rebalance(
        cluster=case.context.cluster,
        rebalance_id=row_id("rebalance", *identity),
        group_id=episode.group_id,
        protocol=episode.protocol,
        coordinator=episode.coordinator,
        leader_member_id=leader[0] or None if leader else None,
        leader_client_id=leader[1] if leader else None,
        from_generation=episode.from_generation,
        to_generation=episode.to_generation,
        started_at=episode.started_at,
        joined_at=episode.joined_at,
        ended_at=episode.ended_at,
        duration_ms=None if episode.ended_at is None else (episode.ended_at - episode.started_at) // MS,
        outcome=episode.outcome,
        cause=cause,
        confidence=verdict.confidence,
        silence=cast("Silence", silence.code) if silence else None,
        silence_confidence=silence.confidence if silence else None,
        client_id=member.client_id,
        instance_id=member.instance_id,
        member_id=member.member_id or None,
        host=member.host,
        contributors=[
            Contributor(
                client_id=other.member.client_id,
                instance_id=other.member.instance_id,
                member_id=other.change.member_id if other.change else None,
                cause=cast("Cause", other_verdict.code),
                at=other.at,
            )
            for other, other_verdict in others
        ],
        reason=_raw_reason(episode),
        explanation=verdict.sentence + _silence_sentence(silence) + more + delay_sentence(waits),
        advice=advice.text,
        changes=[*advice.changes],
        delayed_by=[Delay(client_id=w.client_id, member_id=w.member_id, waited_ms=w.waited // MS) for w in waits],
        silent_ms=silent_ms,
        session_timeout_ms=member.session_timeout_ms,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        members_before=episode.members_before,
        members_after=episode.members_after,
        evidence=evidence_of(*_quotes_by_weight(episode, verdict, silence, member, others)),
    )


def _silence_sentence(silence: Verdict | None) -> str:
    """The silence of the member, as a sentence; empty where it is not known."""
    return f" {silence.sentence}" if silence and silence.confidence != Confidence.UNKNOWN else ""


def _raw_reason(episode: Episode) -> str | None:
    """The broker's raw reason; the Java coordinator puts a leaving client's own reason on a line of its own."""
    client_reason = episode.trigger.client_reason if episode.trigger else None
    if not client_reason or client_reason in (episode.raw_reason or ""):
        return episode.raw_reason
    return f"{episode.raw_reason or ''}; client reason: {client_reason}".lstrip("; ")


def _quotes_by_weight(
    episode: Episode, verdict: Verdict, silence: Verdict | None, member: Member, others: Sequence[_Act]
) -> Iterator[Iterable[Quote]]:
    """The lines that the row rests on: those of the act that began it first, then those that decide its cause."""
    yield map(quote, episode.trigger.events if episode.trigger else episode.events[:1])
    yield verdict.evidence
    yield silence.evidence if silence else ()
    yield map(quote, (*episode.events[:1], *member.introduced_by))
    yield map(quote, episode.events[1:])
    yield (q for c, v in others if c.change is not None for q in (*map(quote, c.change.events), *v.evidence))


def _roster(cluster: str, group_id: str, registry: MemberRegistry) -> list[MemberStay]:
    """The stays of the group's members.

    `since` is null where no evidence shows that the member came, `until` and `how` where none shows that it went.
    """
    rows: list[MemberStay] = []
    for member_id, member in sorted(registry.members.items()):
        since = member.first_at
        ends: list[tuple[datetime | None, Change | None]] = [*sorted((r.at, r.how) for r in member.removals)]
        stay = MemberStay(
            cluster=cluster,
            group_id=group_id,
            member_id=member_id,
            host=member.host,
            session_timeout_ms=member.session_timeout_ms,
        )
        for until, how in ends or [(None, None)]:
            rows.append(replace(stay, since=since, until=until, how=how))
            since = until
    return rows


def _link_restarts(rows: Sequence[Rebalance]) -> list[Rebalance]:
    """The rows in order of start, each with the id of the rebalance that it restarted, if any."""
    pairs = itertools.pairwise([None, *rows])
    return [replace(r, follows=b.rebalance_id) if b and _restarts(b, r) else r for b, r in pairs if r]


def _restarts(before: Rebalance, row: Rebalance) -> bool:
    """Whether a rebalance gave up the generation before its members had sent one heartbeat in it.

    A cooperative follow-up restarts nothing: it is the second half. Epochs of KIP-848 overlap.
    """
    if {before.protocol, row.protocol} != {Protocol.CLASSIC} or row.cause.noun.is_follow_up:
        return False
    if before.outcome == Outcome.INTERRUPTED:
        return True
    if before.outcome != Outcome.COMPLETED or before.ended_at is None:
        return False
    return row.started_at - before.ended_at < HEARTBEAT_INTERVAL


_NAMES_GENERATION = (
    Kind.CLIENT_JOINED,
    Kind.CLIENT_SYNCED,
    Kind.CLIENT_ASSIGNMENT_FINISHED,
    Kind.CLIENT_STATE_CHANGED,
    Kind.CLIENT_REVOKED,
    Kind.GENERATION_STORED,
    Kind.MEMBER_REACHED,
)
"""Members learn of a generation, or an epoch, after the group has reached it; what is stored has been reached."""


def _unseen_generations(events: Sequence[Event], observed_to: datetime) -> list[GenerationGap]:
    """The break at the end of a group's history, where no line of the coordinator follows that would show it.

    Lines of members after `observed_to`, the end of the brokers' lines, prove nothing.
    """
    last = max((e.generation for e in events if e.origin == Origin.BROKER and e.generation is not None), default=None)
    if last is None:
        return []
    beyond = [
        (e.generation, e)
        for e in events
        if e.kind in _NAMES_GENERATION and (e.generation or 0) > last and e.happened_at <= observed_to
    ]
    latest = max(beyond, key=lambda pair: pair[0] or 0, default=None)  # the first line that names it
    return [] if latest is None else [gap_at(latest[1], last, latest[0] or 0, None)]
