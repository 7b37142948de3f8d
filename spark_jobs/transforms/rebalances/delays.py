"""Who made a rebalance long: the members the whole group waited for in the join phase."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.transforms.rebalances.members import Directory
from spark_jobs.transforms.rebalances.model import Episode, Event
from spark_jobs.transforms.rebalances.wording import took

SHORTEST = timedelta(milliseconds=500)
HEARTBEAT_MS = 3_000
"""A member learns of a rebalance with its next heartbeat: as long a wait is nobody's fault.
Source: heartbeat.interval.ms, default 3 s."""


def delayed_by(episode: Episode, directory: Directory) -> list[dict[str, Any]]:
    """Members by when they rejoined, each charged the time since the one before it; under 500 ms not listed.

    Takes: only members whose own log names the generation; the others tell nothing, and nothing is charged to them.
    Order: by the time of rejoining.
    """
    if episode.joined_at is None or episode.to_generation is None or episode.protocol != "classic":
        return []
    rejoined = sorted(_rejoins(episode, directory))
    waits = []
    before = episode.started_at
    for at, member_id, client_id in rejoined:
        waited = at - before
        if waited >= SHORTEST:
            waits.append(
                {"client_id": client_id, "member_id": member_id, "waited_ms": int(waited / timedelta(milliseconds=1))}
            )
        before = max(before, at)
    return waits


def told_of_delay(delays: Sequence[Mapping[str, Any]]) -> str:
    """Who was waited for longest, as a sentence; nothing where nobody was for longer than a heartbeat takes."""
    longest = max(delays, key=lambda d: d["waited_ms"], default=None)
    if longest is None or longest["waited_ms"] <= HEARTBEAT_MS:
        return ""
    return f" The group waited {took(longest['waited_ms'])} for '{longest['client_id']}'."


def _rejoins(episode: Episode, directory: Directory) -> list[tuple[datetime, str, str]]:
    """When each member with a log asked to join the phase: its last request before it was told that it had joined."""
    assert episode.joined_at is not None
    found = []
    for client_id, log in directory.logs.items():
        joined = next(
            (e for e in log if e["kind"] == "client_joined" and _is_of(e, episode)),
            None,
        )
        if joined is None:
            continue
        asked = [
            e["happened_at"] for e in log if e["kind"] == "client_joining" and e["happened_at"] <= joined["happened_at"]
        ]
        if asked:
            found.append((max(asked[-1], episode.started_at), joined["member_id"] or "", client_id))
    return found


def _is_of(event: Event, episode: Episode) -> bool:
    assert episode.joined_at is not None
    near = abs(event["happened_at"] - episode.joined_at) <= timedelta(minutes=1)
    return bool(event["generation"] == episode.to_generation and near)
