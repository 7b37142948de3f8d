"""Who made a rebalance long: the members the whole group waited for, in the join phase and in the sync phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Outcome, Protocol
from kafka_hindsight.judgements.rebalances.members import MemberRegistry
from kafka_hindsight.judgements.rebalances.model import Change, Episode
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.reasons import POLL_EXPIRED, read_client_reason
from kafka_hindsight.shared.durations import HEARTBEAT_INTERVAL
from kafka_hindsight.shared.grouping import grouped
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
        leader = _leader(episode, joined_at, registry)
        if leader is not None:
            waits.append(Wait("sync", leader[1], leader[0], episode.ended_at - joined_at))
    return [w for w in waits if w.waited >= SHORTEST]


def delay_sentence(waits: Sequence[Wait]) -> str:
    """Who was waited for longest, as a sentence; empty where no wait was longer than a heartbeat interval."""
    longest = max(waits, key=lambda w: w.waited, default=None)
    if longest is None or longest.waited <= HEARTBEAT_INTERVAL:
        return ""
    who = f"{'its leader ' if longest.phase == 'sync' else ''}'{longest.client_id or longest.member_id}'"
    return f" The group waited {duration(longest.waited)} in the {longest.phase} phase for {who}."


def _in_join(episode: Episode, joined_at: datetime, registry: MemberRegistry) -> Iterator[Wait]:
    """Members by when the group no longer waited for them, each charged the time since the one before it.

    Edge case: members that were dropped in the same instant share the wait.
    """
    before = episode.started_at
    released = sorted([*_rejoined(episode, joined_at, registry), *_given_up(episode, joined_at, registry)])
    for at, together in grouped(released, lambda r: r[0]).items():
        for _, member_id, client_id in together:
            yield Wait("join", client_id or None, member_id, max(timedelta(0), at - before) / len(together))
        before = max(before, at)


def _leader(episode: Episode, joined_at: datetime, registry: MemberRegistry) -> tuple[str, str | None] | None:
    """Member id and client of the generation's leader: by the coordinator's line or record, else by its own log."""
    named = next((e.leader_member_id for e in episode.events if e.leader_member_id), None)
    if named is not None:
        return named, registry.get(named).client_id
    generation = episode.to_generation
    client_id = min(registry.logs.first_steps(Kind.CLIENT_ASSIGNMENT_FINISHED, generation, joined_at), default=None)
    if client_id is None:
        return None
    joined = registry.logs.first_steps(Kind.CLIENT_JOINED, generation, joined_at).get(client_id)
    return (joined.member_id or "" if joined else ""), client_id


def _rejoined(episode: Episode, joined_at: datetime, registry: MemberRegistry) -> Iterator[tuple[datetime, str, str]]:
    """When each member with a log asked to join the phase: its last request before it learnt that it had joined.

    Edge case: a static member that takes another's place later joins that very generation; no member waited for it.
    """
    joined_by = registry.logs.first_steps(Kind.CLIENT_JOINED, episode.to_generation, joined_at)
    for client_id, joined in joined_by.items():
        asked = registry.logs.of(client_id).of_kind(Kind.CLIENT_JOINING).last_until(joined.happened_at)
        if asked is not None and asked.happened_at <= joined_at + SHORTEST:
            yield max(asked.happened_at, episode.started_at), joined.member_id or "", client_id


def _given_up(episode: Episode, joined_at: datetime, registry: MemberRegistry) -> Iterator[tuple[datetime, str, str]]:
    """When the phase went on without a member that had not rejoined, as the coordinator's line shows."""
    for change in episode.changes:
        # One that has rejoined polls, and its session holds.
        is_awaited = change.what in (Change.NOT_REJOINED, Change.EXPIRED) or (
            change.what == Change.LEFT and read_client_reason(change.client_reason) == POLL_EXPIRED
        )
        if change.member_id and is_awaited and change.at <= joined_at + SHORTEST:
            client_id = registry.get(change.member_id, change.instance_id).client_id
            yield min(max(change.at, episode.started_at), joined_at), change.member_id, client_id or ""
