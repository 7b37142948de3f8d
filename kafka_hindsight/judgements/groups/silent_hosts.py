"""Hosts that fell silent: the sessions of all their members, of whatever groups, expired within one session timeout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import Cause, Confidence
from kafka_hindsight.catalog.rows import MemberStay, Rebalance
from kafka_hindsight.judgements.reasoning.timelines import Interval, Intervals
from kafka_hindsight.knowledge.remedies import SESSION_TIMEOUT_MS
from kafka_hindsight.shared.durations import LONG_AGO, SAME_ACT
from kafka_hindsight.shared.grouping import grouped

SILENT_MEMBERS = 3
"""Fewer whose sessions expire together may do so by chance. The number is our choice."""


Ended = tuple[datetime, MemberStay]
"""The end of a stay, and the stay."""


@dataclass(frozen=True)
class SilentHost:
    """A host whose members all fell silent, since when, and the rebalances that this began."""

    host: str
    since: datetime
    members: int
    rebalances: tuple[Rebalance, ...]

    @property
    def was_heard_again(self) -> bool:
        """Whether the same process of one of its members surely sent something again."""
        return any(r.cause == Cause.HEARTBEAT_EXPIRED and r.confidence == Confidence.CERTAIN for r in self.rebalances)


def find_silent_hosts(rebalances: Iterable[Rebalance], roster: Iterable[MemberStay]) -> list[SilentHost]:
    """The hosts whose members all fell silent, each time with the rebalances that this began.

    Keeps: a host that had another member meanwhile is left out, and so is one where no member elsewhere is known to
    have been heard all the time: then the brokers may have been silent.
    Edge case: a member's host is the address that its coordinator saw. The rack in a reading is the broker's.
    """
    stays = [s for s in roster if s.host]
    heard = Intervals(Interval(s.since, s.until, s) for s in stays if s.since is not None)
    began = grouped((r for r in rebalances if r.cause.noun.is_silence), lambda r: (r.group_id, r.member_id))
    hosts = []
    for host, here in sorted(grouped(stays, lambda s: s.host or "").items()):
        possible = Intervals(Interval(s.since or LONG_AGO, s.until, s) for s in here)
        hosts += [_silent_host(host, silent, possible, heard, began) for silent in _together(here)]
    return list(filter(None, hosts))


def _silent_host(
    host: str,
    silent: Sequence[Ended],
    possible: Intervals[MemberStay],
    heard: Intervals[MemberStay],
    began: Mapping[tuple[str, str | None], Sequence[Rebalance]],
) -> SilentHost | None:
    """The host where these stays are all that it had, and another one was heard."""
    since, last = silent[0][0] - _session(silent[0][1]), silent[-1][0]
    members = {stay for _, stay in silent}
    of_members = ((at, r) for at, s in silent for r in began.get((s.group_id, s.member_id), ()))
    rows = {r.rebalance_id: r for at, r in of_members if abs(r.started_at - at) <= SAME_ACT}
    if len(members) < SILENT_MEMBERS or not rows or any(i.value not in members for i in possible.between(since, last)):
        return None
    if not any(i.value.host != host and (i.end is None or i.end > last) for i in heard.at(since)):
        return None
    return SilentHost(host, since, len(silent), tuple(rows.values()))


def _together(stays: Iterable[MemberStay]) -> list[list[Ended]]:
    """The stays of one host that ended because a session expired, with the end of each.

    They are cut where more than a session lies between two.
    """
    expired = [(s.until, s) for s in stays if s.how == "expired" and s.until is not None]
    runs: list[list[Ended]] = []
    for until, stay in sorted(expired, key=lambda e: (e[0], e[1].group_id, e[1].member_id)):
        if runs and until - runs[-1][0][0] <= _session(stay):
            runs[-1].append((until, stay))
        else:
            runs.append([(until, stay)])
    return runs


def _session(stay: MemberStay) -> timedelta:
    return timedelta(milliseconds=stay.session_timeout_ms or SESSION_TIMEOUT_MS)
