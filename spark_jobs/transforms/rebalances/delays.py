"""Who made a rebalance long: the members the whole group waited for, in the join phase and in the sync phase."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.knowledge.reasons import POLL_EXPIRED, read_client_reason
from spark_jobs.transforms.rebalances.members import MemberRegistry
from spark_jobs.transforms.rebalances.model import Act, Episode, Event
from spark_jobs.transforms.rebalances.wording import took

SHORTEST = timedelta(milliseconds=500)
HEARTBEAT_MS = 3_000
"""A member learns of a rebalance with its next heartbeat: as long a wait is nobody's fault.
Source: heartbeat.interval.ms, default 3 s."""

_NEAR = timedelta(minutes=1)


@dataclass(frozen=True)
class Wait:
    """How long the whole group waited for one member, and in which phase."""

    phase: str
    client_id: str | None
    member_id: str
    waited: timedelta

    def entry(self) -> dict[str, Any]:
        """The wait as an entry of gold.rebalances.delayed_by."""
        waited_ms = int(self.waited / timedelta(milliseconds=1))
        return {"client_id": self.client_id, "member_id": self.member_id, "waited_ms": waited_ms}


def waits_of(episode: Episode, directory: MemberRegistry) -> list[Wait]:
    """The members that the whole group waited for; waits under 500 ms are not listed.

    Order: by time; the wait for the leader's assignment comes last.
    Keeps: the waits add up to no more than the rebalance took, and nobody is charged without a witness.
    Source: a join phase ends when every member has rejoined or was removed, a sync phase when the leader has sent the
    assignment (GroupCoordinator.scala, GroupMetadataManager.java). Under KIP-848 nobody waits for anybody.
    """
    if episode.joined_at is None or episode.to_generation is None or episode.protocol != "classic":
        return []
    return [w for w in (*_in_join(episode, directory), *_in_sync(episode, directory)) if w.waited >= SHORTEST]


def told_of_delay(waits: Sequence[Wait]) -> str:
    """Who was waited for longest, as a sentence; nothing where nobody was for longer than a heartbeat takes."""
    longest = max(waits, key=lambda w: w.waited, default=None)
    if longest is None or longest.waited <= timedelta(milliseconds=HEARTBEAT_MS):
        return ""
    who = f"{'its leader ' if longest.phase == 'sync' else ''}'{longest.client_id or longest.member_id}'"
    return f" The group waited {took(longest.waited)} in the {longest.phase} phase for {who}."


def _in_join(episode: Episode, directory: MemberRegistry) -> Iterator[Wait]:
    """Members by when the group no longer waited for them, each charged the time since the one before it.

    Odd: members that were dropped in the same instant share the wait.
    """
    before = episode.started_at
    released = sorted([*_rejoined(episode, directory), *_given_up(episode, directory)])
    for at in sorted({at for at, _, _ in released}):
        together = [(member_id, client_id) for when, member_id, client_id in released if when == at]
        for member_id, client_id in together:
            yield Wait("join", client_id or None, member_id, max(timedelta(0), at - before) / len(together))
        before = max(before, at)


def _in_sync(episode: Episode, directory: MemberRegistry) -> Iterator[Wait]:
    """The leader, from the end of the join phase until its assignment came."""
    assert episode.joined_at is not None
    if episode.outcome != "completed" or episode.ended_at is None:
        return
    leader = _leader(episode, directory)
    if leader is not None:
        yield Wait("sync", leader[1], leader[0], episode.ended_at - episode.joined_at)


def _leader(episode: Episode, directory: MemberRegistry) -> tuple[str, str | None] | None:
    """Member id and client of the generation's leader: by the coordinator's line or record, else by its own log."""
    named = next((e["leader_member_id"] for e in episode.events if e["leader_member_id"]), None)
    if named is not None:
        return named, directory.get(named).client_id
    for client_id, log in sorted(directory.logs.items()):
        if any(e["kind"] == "client_assignment_finished" and _is_of(e, episode) for e in log):
            joined = _joined(log, episode)
            return (joined["member_id"] or "" if joined else ""), client_id
    return None


def _rejoined(episode: Episode, directory: MemberRegistry) -> Iterator[tuple[datetime, str, str]]:
    """When each member with a log asked to join the phase: its last request before it was told that it had joined."""
    for client_id, log in directory.logs.items():
        joined = _joined(log, episode)
        if joined is None:
            continue
        asked = [
            e["happened_at"] for e in log if e["kind"] == "client_joining" and e["happened_at"] <= joined["happened_at"]
        ]
        if asked:
            yield max(asked[-1], episode.started_at), joined["member_id"] or "", client_id


def _given_up(episode: Episode, directory: MemberRegistry) -> Iterator[tuple[datetime, str, str]]:
    """When the phase went on without a member that had not rejoined, as the coordinator's line tells."""
    assert episode.joined_at is not None
    for act in episode.acts:
        if act.member_id and _never_rejoined(act) and act.at <= episode.joined_at + SHORTEST:
            client_id = directory.get(act.member_id, act.instance_id).client_id
            yield min(max(act.at, episode.started_at), episode.joined_at), act.member_id, client_id or ""


def _never_rejoined(act: Act) -> bool:
    """Whether the act shows a member that was still awaited: one that has rejoined polls, and its session holds."""
    return act.what in ("dropped", "expired") or (
        act.what == "left" and read_client_reason(act.client_reason) == POLL_EXPIRED
    )


def _joined(log: Sequence[Event], episode: Episode) -> Event | None:
    return next((e for e in log if e["kind"] == "client_joined" and _is_of(e, episode)), None)


def _is_of(event: Mapping[str, Any], episode: Episode) -> bool:
    assert episode.joined_at is not None
    near = abs(event["happened_at"] - episode.joined_at) <= _NEAR
    return bool(event["generation"] == episode.to_generation and near)
