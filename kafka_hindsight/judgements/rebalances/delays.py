"""Who made a rebalance long: the members the whole group waited for, in the join phase and in the sync phase."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Outcome, Protocol
from kafka_hindsight.catalog.rows.structs import Delay
from kafka_hindsight.judgements.rebalances.members import MemberRegistry
from kafka_hindsight.judgements.rebalances.model import Change, Episode, MembershipChange
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.reasons import POLL_EXPIRED, read_client_reason
from kafka_hindsight.shared.durations import HEARTBEAT_INTERVAL, MS
from kafka_hindsight.shared.words import duration

SHORTEST = timedelta(milliseconds=500)


@dataclass(frozen=True)
class Wait:
    """How long the whole group waited for one member, and in which phase."""

    phase: str
    client_id: str | None
    member_id: str
    waited: timedelta

    @property
    def delay(self) -> Delay:
        """The wait as an entry of gold.rebalances.delayed_by."""
        return Delay(client_id=self.client_id, member_id=self.member_id, waited_ms=self.waited // MS)


def waits_of(episode: Episode, registry: MemberRegistry) -> list[Wait]:
    """The members that the whole group waited for; waits under 500 ms are not listed.

    Order: by time; the wait for the leader's assignment comes last.
    Keeps: the waits add up to no more than the rebalance took, and no member is charged without a line that shows it.
    Source: a join phase ends when every member has rejoined or was removed, a sync phase when the leader has sent the
    assignment (GroupCoordinator.scala, GroupMetadataManager.java). Under KIP-848 no member waits for another.
    """
    if episode.joined_at is None or episode.to_generation is None or episode.protocol != Protocol.CLASSIC:
        return []
    return [w for w in (*_in_join(episode, registry), *_in_sync(episode, registry)) if w.waited >= SHORTEST]


def delay_sentence(waits: Sequence[Wait]) -> str:
    """Who was waited for longest, as a sentence; empty where no wait was longer than a heartbeat interval."""
    longest = max(waits, key=lambda w: w.waited, default=None)
    if longest is None or longest.waited <= HEARTBEAT_INTERVAL:
        return ""
    who = f"{'its leader ' if longest.phase == 'sync' else ''}'{longest.client_id or longest.member_id}'"
    return f" The group waited {duration(longest.waited)} in the {longest.phase} phase for {who}."


def _in_join(episode: Episode, registry: MemberRegistry) -> Iterator[Wait]:
    """Members by when the group no longer waited for them, each charged the time since the one before it.

    Edge case: members that were dropped in the same instant share the wait.
    """
    before = episode.started_at
    released = sorted([*_rejoined(episode, registry), *_given_up(episode, registry)])
    for at in sorted({at for at, _, _ in released}):
        together = [(member_id, client_id) for when, member_id, client_id in released if when == at]
        for member_id, client_id in together:
            yield Wait("join", client_id or None, member_id, max(timedelta(0), at - before) / len(together))
        before = max(before, at)


def _in_sync(episode: Episode, registry: MemberRegistry) -> Iterator[Wait]:
    """The leader, from the end of the join phase until its assignment came."""
    assert episode.joined_at is not None
    if episode.outcome != Outcome.COMPLETED or episode.ended_at is None:
        return
    leader = _leader(episode, registry)
    if leader is not None:
        yield Wait("sync", leader[1], leader[0], episode.ended_at - episode.joined_at)


def _leader(episode: Episode, registry: MemberRegistry) -> tuple[str, str | None] | None:
    """Member id and client of the generation's leader: by the coordinator's line or record, else by its own log."""
    named = next((e.leader_member_id for e in episode.events if e.leader_member_id), None)
    if named is not None:
        return named, registry.get(named).client_id
    assert episode.joined_at is not None
    generation, at = episode.to_generation, episode.joined_at
    client_id = min(registry.logs.first_steps(Kind.CLIENT_ASSIGNMENT_FINISHED, generation, at), default=None)
    if client_id is None:
        return None
    joined = registry.logs.first_steps(Kind.CLIENT_JOINED, generation, at).get(client_id)
    return (joined.member_id or "" if joined else ""), client_id


def _rejoined(episode: Episode, registry: MemberRegistry) -> Iterator[tuple[datetime, str, str]]:
    """When each member with a log asked to join the phase: its last request before it learnt that it had joined.

    Edge case: a static member that takes another's place later joins that very generation; no member waited for it.
    """
    assert episode.joined_at is not None
    joined_by = registry.logs.first_steps(Kind.CLIENT_JOINED, episode.to_generation, episode.joined_at)
    for client_id, joined in joined_by.items():
        asked = registry.logs.of(client_id).of_kind(Kind.CLIENT_JOINING).last_until(joined.happened_at)
        if asked is not None and asked.happened_at <= episode.joined_at + SHORTEST:
            yield max(asked.happened_at, episode.started_at), joined.member_id or "", client_id


def _given_up(episode: Episode, registry: MemberRegistry) -> Iterator[tuple[datetime, str, str]]:
    """When the phase went on without a member that had not rejoined, as the coordinator's line shows."""
    assert episode.joined_at is not None
    for change in episode.changes:
        if change.member_id and _never_rejoined(change) and change.at <= episode.joined_at + SHORTEST:
            client_id = registry.get(change.member_id, change.instance_id).client_id
            yield min(max(change.at, episode.started_at), episode.joined_at), change.member_id, client_id or ""


def _never_rejoined(change: MembershipChange) -> bool:
    """Whether it shows a member that was still awaited: one that has rejoined polls, and its session holds."""
    if change.what == Change.LEFT:
        return read_client_reason(change.client_reason) == POLL_EXPIRED
    return change.what in (Change.NOT_REJOINED, Change.EXPIRED)
