"""What would have helped: a group's rebalances replayed under other settings. Plain Python over one group."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.knowledge.remedies import SESSION_TIMEOUT_MS
from spark_jobs.transforms.durations import RETURN_WITHIN
from spark_jobs.transforms.evidence import evidence_of
from spark_jobs.transforms.groups.costs import Stop, cost_of
from spark_jobs.transforms.rebalances.members import Member, MemberRegistry
from spark_jobs.transforms.windows import OutRow, Row, Window, counted

WORTH_TELLING = 1.0
"""Fewer partition seconds than that in a window spare nobody anything."""

_MS = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Act:
    """What one member did in a rebalance, as its trigger or as a contributor. `silent_ms`: where it is known."""

    rebalance_id: str
    at: datetime
    cause: str
    client: str | None
    member: Member
    is_static: bool = False
    silent_ms: int | None = None


@dataclass(frozen=True)
class Polls:
    """What clients' logs say of time between polls, in ms: by how much a KIP-848 member exceeded its limit, by member
    id, and librdkafka's limits, by client id."""

    exceeded: Mapping[str, int]
    limits: Mapping[str, int]

    @classmethod
    def of(cls, events: Iterable[Row]) -> Polls:
        """What the events of one group tell."""
        told = [e for e in events if e["took_ms"] is not None]
        return cls(
            {e["member_id"]: e["took_ms"] for e in told if e["kind"] == "client_poll_exceeded"},
            {e["client_id"]: e["took_ms"] for e in told if e["kind"] == "client_poll_expired"},
        )

    def limit_of(self, member: Member) -> int | None:
        """The member's max.poll.interval.ms, where anybody tells it."""
        return member.rebalance_timeout_ms or self.limits.get(member.client_id or "")


@dataclass
class Replay:
    """How long a time-out each rebalance asks for, in ms, to be avoided; None where nothing avoids it.

    `bridged` are the acts that a time-out bridges, with the length it has to be longer than.
    """

    needs: dict[str, int | None]
    bridged: list[tuple[Act, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Timeout:
    """One setting that is a time. `length` gives what an act and the return after it ask for; None: it does not help.

    `now` gives the value in use of a member; `says` puts a replay into words.
    """

    setting: str
    now: Callable[[Member, Polls], int | None]
    length: Callable[[Act, Act | None, Polls], int | None]
    says: Callable[[int | None, int, int], str]


def judge_remedies(
    rebalances: Sequence[Row],
    stops: Mapping[str, Stop],
    directory: MemberRegistry,
    events: Iterable[Row],
    window: Window,
) -> list[OutRow]:
    """Rows of gold.remedies: what would have avoided rebalances of one group, or their cost.

    Takes: its rebalances with their costs, with look-back and look-ahead; what stood still in each; its members;
        its events.
    Gives: a row for each setting that would have avoided something in the window. `value_smallest` avoids exactly the
        rebalances that the row names, and a millisecond less avoids fewer.
    Odd: a rebalance is avoided only if all that fell into it is; its cooperative follow-up is avoided with it. What
        the evidence gives no number for is not counted. The replay changes one setting and nothing else.
    """
    ordered = sorted(rebalances, key=lambda r: (r["started_at"], r["rebalance_id"]))
    inside = [r for r in ordered if window.holds(r["started_at"])]
    polls = Polls.of(events)
    acts = [a for r in ordered for a in acts_of(r, directory)]
    found = [_of_timeout(t, replay(t, ordered, acts, polls), inside, polls, window) for t in TIMEOUTS]
    return [row for row in (*found, _of_cooperation(inside, stops, window)) if row]


def replay(timeout: Timeout, ordered: Sequence[Row], acts: Sequence[Act], polls: Polls) -> Replay:
    """What each rebalance of a group asks for. Takes: rebalances in order, and their acts."""
    returns: dict[str, list[Act]] = defaultdict(list)
    for act in acts:
        if act.cause == "member_rejoined" and act.client:
            returns[act.client].append(act)
    asked: dict[int, int] = {}
    bridged = []
    for act in acts:
        back = _return_of(act, returns)
        length = timeout.length(act, back, polls)
        if length is not None:
            bridged.append((act, length))
            for mended in (act, back):
                if mended is not None:
                    asked[id(mended)] = max(length, asked.get(id(mended), 0))
    by_rebalance: dict[str, list[Act]] = defaultdict(list)
    for act in acts:
        by_rebalance[act.rebalance_id].append(act)
    needs: dict[str, int | None] = {}
    before: int | None = None
    for rebalance in ordered:
        lengths = [asked.get(id(a)) for a in by_rebalance[rebalance["rebalance_id"]]]
        if rebalance["cause"] == "cooperative_followup":
            lengths[0] = before
        before = needs[rebalance["rebalance_id"]] = _longest(lengths)
    return Replay(needs, bridged)


def avoided_by(needs: Mapping[str, int | None], value: int) -> list[str]:
    """The rebalances that a time-out of this value avoids: those that ask for less."""
    return [rebalance_id for rebalance_id, need in needs.items() if need is not None and need < value]


def smallest(needs: Mapping[str, int | None]) -> int | None:
    """The smallest time-out that avoids whatever any avoids; None where none does."""
    longest = max((n for n in needs.values() if n is not None), default=None)
    return None if longest is None else longest + 1


def _longest(lengths: Sequence[int | None]) -> int | None:
    known = [n for n in lengths if n is not None]
    return max(known) if known and len(known) == len(lengths) else None


def acts_of(rebalance: Row, directory: MemberRegistry) -> list[Act]:
    """The acts of a rebalance: what began it, and what else fell into it."""
    told = [
        {**rebalance, "at": rebalance["started_at"]},
        *({**c, "silent_ms": None} for c in rebalance["contributors"]),
    ]
    return [
        Act(
            rebalance["rebalance_id"],
            a["at"],
            a["cause"],
            a["instance_id"] or a["client_id"],
            member := directory.get(a["member_id"], a["instance_id"]),
            bool(a["instance_id"] or member.instance_id),
            a["silent_ms"],
        )
        for a in told
    ]


def _return_of(act: Act, returns: Mapping[str, Sequence[Act]]) -> Act | None:
    """How a member that went came back. Odd: a crashed one may be back before its session has run out."""
    since = act.at
    if act.cause == "member_dead" and act.member.session_timeout_ms:
        since -= act.member.session_timeout_ms * _MS
    return next(
        (r for r in returns.get(act.client or "", ()) if since < r.at <= act.at + RETURN_WITHIN and r is not act), None
    )


def _restart(act: Act, back: Act | None, polls: Polls) -> int | None:
    """How long a dynamic member was away: from its LeaveGroup, or from its last heartbeat, which its session followed.

    Source: KIP-345. A time-out up to the one in use, or up to Kafka's default, is replayed.
    """
    session = act.member.session_timeout_ms
    if back is None or act.is_static or act.cause not in ("member_left", "member_dead"):
        return None
    away = int((back.at - act.at) / _MS)
    if act.cause == "member_dead":
        if not session:
            return None
        away += session
    return away if 0 < away < max(SESSION_TIMEOUT_MS, session or 0) else None


def _silence(act: Act, back: Act | None, polls: Polls) -> int | None:
    if act.cause != "heartbeat_expired" or act.silent_ms is None:
        return None
    return act.silent_ms if act.silent_ms < SESSION_TIMEOUT_MS else None


def _processing(act: Act, back: Act | None, polls: Polls) -> int | None:
    """From the last poll to the next: the limit that ran out, and how long it was exceeded, or the way back took.

    Odd: a static member does not leave; it falls silent at the limit, and is missed when its session has run out.
    """
    limit, session = polls.limit_of(act.member), act.member.session_timeout_ms
    if act.cause != "max_poll_exceeded" or limit is None or back is None:
        return None
    if act.member.member_id in polls.exceeded:
        return limit + polls.exceeded[act.member.member_id]
    if act.is_static and session is None:
        return None
    return limit + (session or 0 if act.is_static else 0) + int((back.at - act.at) / _MS)


def _of_timeout(timeout: Timeout, found: Replay, inside: Sequence[Row], polls: Polls, window: Window) -> OutRow | None:
    by_id = {r["rebalance_id"]: r for r in inside}
    needs = {i: n for i, n in found.needs.items() if i in by_id}
    value = smallest(needs)
    if value is None:
        return None
    avoided = [by_id[i] for i in avoided_by(needs, value)]
    named = {r["rebalance_id"] for r in avoided}
    helped = [a for a, length in found.bridged if length < value and a.rebalance_id in named]
    now = min((n for a in helped if (n := timeout.now(a.member, polls)) is not None), default=None)
    costs = [r["partition_seconds"] for r in avoided if r["partition_seconds"] is not None]
    is_likely = all(r["confidence"] in ("certain", "likely") for r in avoided)
    return _row(timeout.setting, inside, window) | {
        "value_now": now,
        "value_smallest": value,
        "rebalances_avoided": len(avoided),
        "partition_seconds_avoided": round(sum(costs), 3) if costs else None,
        "rebalance_ids": [r["rebalance_id"] for r in avoided],
        "confidence": "likely" if is_likely else "possible",
        "explanation": timeout.says(now, value, len(helped)).format(
            avoided=f"would have avoided {len(avoided)} of {counted(len(inside), 'rebalance')}"
        ),
        "evidence": evidence_of(e for r in avoided for e in _beginning(r)),
    }


def _beginning(rebalance: Row) -> list[dict[str, Any]]:
    """The two lines nearest to where it began: what began it. Others of its evidence tell who was who."""
    return sorted(rebalance["evidence"], key=lambda e: abs(e["happened_at"] - rebalance["started_at"]))[:2]


def _of_cooperation(inside: Sequence[Row], stops: Mapping[str, Stop], window: Window) -> OutRow | None:
    """What eager rebalances made partitions stand for that stayed with their member.

    Odd: a sticky assignor moves no more than an eager one did, so that this is the least that it would have spared.
    Source: KIP-429.
    """
    spared = [
        (r, stop, cost)
        for r in inside
        if (stop := stops[r["rebalance_id"]]).is_eager and (cost := cost_of(r, stop.kept))
    ]
    seconds = round(sum(cost for _, _, cost in spared), 3)
    if seconds < WORTH_TELLING:
        return None
    paid = sum(r["partition_seconds"] or 0 for r in inside)
    return _row("cooperative_assignment", inside, window) | {
        "value_now": None,
        "value_smallest": None,
        "rebalances_avoided": 0,
        "partition_seconds_avoided": seconds,
        "rebalance_ids": [],
        "confidence": "likely",
        "explanation": f"A cooperative assignor would have avoided no rebalance, but {seconds:,.1f} of {paid:,.1f}"
        f" partition-seconds: in {counted(len(spared), 'rebalance')} partitions stood that stayed with their member.",
        "evidence": evidence_of(dict(q) for _, stop, _ in spared for q in stop.quotes),
    }


def _row(setting: str, inside: Sequence[Row], window: Window) -> dict[str, Any]:
    return {
        "cluster": inside[0]["cluster"],
        "group_id": inside[0]["group_id"],
        "window_from": window.start,
        "window_to": window.end,
        "setting": setting,
        "rebalances_total": len(inside),
    }


def _says_static(now: int | None, value: int, count: int) -> str:
    took = f"Static membership {{avoided}}: {counted(count, 'restart')} took less than {_seconds(value)}"
    if now is None:
        return f"{took}, if the session timeout is no shorter."
    if now >= value:
        return f"{took}, and the session timeout is {_seconds(now)}."
    return f"{took}, which the session timeout would have had to be (now {_seconds(now)})."


def _says_session(now: int | None, value: int, count: int) -> str:
    later = "" if now is None else f"; a member that died would have been noticed {_seconds(value - now)} later"
    return (
        f"A session timeout of {_seconds(value)}{_instead_of(now)} {{avoided}}:"
        f" {counted(count, 'silence')} {'was' if count == 1 else 'were'} shorter{later}."
    )


def _says_poll(now: int | None, value: int, count: int) -> str:
    return (
        f"A max.poll.interval.ms of {_seconds(value)}{_instead_of(now)} {{avoided}}:"
        f" {counted(count, 'time')} a member took less than that between two polls."
    )


def _instead_of(now: int | None) -> str:
    return "" if now is None else f" (now {_seconds(now)})"


def _seconds(ms: int) -> str:
    """Never less than it is."""
    return f"{math.ceil(ms / 1000):,} s"


TIMEOUTS = (
    Timeout("static_membership", lambda member, _: member.session_timeout_ms, _restart, _says_static),
    Timeout("session_timeout", lambda member, _: member.session_timeout_ms, _silence, _says_session),
    Timeout("max_poll_interval", lambda member, polls: polls.limit_of(member), _processing, _says_poll),
)
