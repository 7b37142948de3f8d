"""Hosts that fell silent: all their members, of whatever groups, ran out within one session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.knowledge.remedies import SESSION_TIMEOUT_MS
from spark_jobs.transforms.durations import SAME_ACT
from spark_jobs.transforms.groups.storms import Row

SILENT_MEMBERS = 3
"""Fewer that run out together may do so by chance. The number is our choice."""

_SILENCES = ("heartbeat_expired", "member_dead")


@dataclass(frozen=True)
class SilentHost:
    """A host whose members all fell silent, from when on, and the rebalances that this began."""

    host: str
    since: datetime
    members: int
    rebalances: tuple[Row, ...]

    def says(self) -> str:
        """What happened, with what else it may have been."""
        groups = len({r["group_id"] for r in self.rebalances})
        told = (
            f"All {self.members} members on host {self.host} ran out within one session of {self.since:%H:%M:%S},"
            f" in {groups} group{'s' if groups > 1 else ''}, while members elsewhere were heard:"
        )
        if self.was_heard_again:
            return f"{told} a process of it was heard again, so it was cut off or paused, not down."
        return (
            f"{told} the host was down, cut off or paused; an address that stands for many, of a NAT or a proxy, too."
        )

    @property
    def was_heard_again(self) -> bool:
        """Whether the same process of one of its members surely spoke again."""
        return any(r["cause"] == "heartbeat_expired" and r["confidence"] == "certain" for r in self.rebalances)


def silent_hosts(rebalances: Sequence[Row], roster: Iterable[Row]) -> list[SilentHost]:
    """The hosts of which nobody was heard for a while, each time with its rebalances.

    Takes: rebalances in order; the stays of members (rebalances.roster), of all groups of a cluster.
    Keeps: a host of which anybody is known to have been there meanwhile is none, and neither is one where nobody is
    known to have been heard elsewhere: then the brokers may have been the silent ones.
    Odd: a member's host is the address that its coordinator saw. A reading's rack is a broker's, not its.
    """
    stays = list(roster)
    by_host: dict[str, list[Row]] = defaultdict(list)
    for stay in stays:
        if stay["host"]:
            by_host[stay["host"]].append(stay)
    silences = [r for r in rebalances if r["cause"] in _SILENCES]
    found = []
    for host, here in sorted(by_host.items()):
        elsewhere = [s for s in stays if s["host"] not in (None, host)]
        for silent in _together(here):
            since, last = silent[0]["until"] - _session(silent[0]), silent[-1]["until"]
            others = [s for s in here if s not in silent and _there(s, since, last)]
            witnesses = [s for s in elsewhere if _stays(s, since, last)]
            began = tuple(r for r in silences if any(_began(s, r) for s in silent))
            if len(silent) >= SILENT_MEMBERS and began and witnesses and not others:
                found.append(SilentHost(host, since, len(silent), began))
    return found


def _together(stays: Sequence[Row]) -> list[list[Row]]:
    """The stays of one host that ended by a session that ran out, cut where more than a session lies between two."""
    found: list[list[Row]] = []
    expired = (s for s in stays if s["how"] == "expired")
    for stay in sorted(expired, key=lambda s: (s["until"], s["group_id"], s["member_id"])):
        if found and stay["until"] - found[-1][0]["until"] <= _session(stay):
            found[-1].append(stay)
        else:
            found.append([stay])
    return found


def _began(stay: Row, row: Row) -> bool:
    """Whether the end of the stay began the rebalance."""
    same = (stay["group_id"], stay["member_id"]) == (row["group_id"], row["member_id"])
    return same and abs(row["started_at"] - stay["until"]) <= SAME_ACT


def _session(stay: Row) -> timedelta:
    return timedelta(milliseconds=stay["session_timeout_ms"] or SESSION_TIMEOUT_MS)


def _there(stay: Row, since: datetime, last: datetime) -> bool:
    """Whether the member was there at any time of the silence; one whose coming nobody saw may have been."""
    return (stay["since"] is None or stay["since"] <= last) and (stay["until"] is None or stay["until"] >= since)


def _stays(stay: Row, since: datetime, last: datetime) -> bool:
    """Whether the member is known to have been there all the time."""
    known: Any = stay["since"]
    return known is not None and known <= since and (stay["until"] is None or stay["until"] > last)
