"""The remedies of a group: its rebalances replayed under other settings. Plain Python over one group."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from kafka_hindsight.catalog.codes import Cause, Protocol, RemedySetting
from kafka_hindsight.catalog.rows import Event, Quote, Rebalance, Remedy
from kafka_hindsight.judgements.groups.costs import Stop, cost_of
from kafka_hindsight.judgements.groups.storms import acts_in
from kafka_hindsight.judgements.reasoning.evidence import evidence_of
from kafka_hindsight.judgements.reasoning.proofs import CERTAIN, LIKELY, POSSIBLE, Proof
from kafka_hindsight.judgements.reasoning.rulings import Likely, Ruling, Verdict, decide, judge
from kafka_hindsight.judgements.reasoning.timelines import Timeline, timelines
from kafka_hindsight.judgements.rebalances.group_history import turn_of
from kafka_hindsight.judgements.rebalances.members import Member, MemberRegistry
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.knowledge.remedy_settings import SESSION_TIMEOUT_MS
from kafka_hindsight.shared.durations import MS, RETURN_WITHIN
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted

WORTH_REPORTING = 1.0
"""Fewer partition-seconds than this in a window are not worth a change."""


@dataclass(frozen=True)
class ReplayCase:
    """The replay of one group's window under one setting.

    `now`, `smallest`: the value in use, in ms, and the smallest that avoids whatever any value avoids. `avoided`: the
    rebalances that it avoids, of `in_window`. `bridged_count`: how many absences it bridges.
    """

    in_window: Sequence[Rebalance]
    stops: Mapping[str, Stop]
    avoided: Sequence[Rebalance] = ()
    now: int | None = None
    smallest: int = 0
    bridged_count: int = 0

    @property
    def savings(self) -> list[tuple[Rebalance, Stop, float]]:
        """The eager rebalances with what their partitions cost that stayed with their member, in partition-seconds."""
        stops = ((r, self.stops[r.rebalance_id]) for r in self.in_window)
        return [(r, stop, cost) for r, stop in stops if stop.is_eager and (cost := cost_of(r, stop.unmoved))]


def rebalances_are_avoided(case: ReplayCase) -> Proof | None:
    """A longer time-out avoids rebalances with all that fell into them."""
    if not case.avoided:
        return None
    is_likely = all(r.confidence in (CERTAIN, LIKELY) for r in case.avoided)
    now, value = case.now, case.smallest
    in_use, delay_clause = "if the session timeout is not shorter", ""
    if now is not None:
        delay_clause = f"; a member that died would have been noticed {_seconds(value - now)} later"
        would = f"which the session timeout would have had to be (now {_seconds(now)})"
        in_use = f"and the session timeout is {_seconds(now)}" if now >= value else would
    words = {
        "effect": f"would have avoided {len(case.avoided)} of {counted(len(case.in_window), 'rebalance')}",
        "value": _seconds(value),
        "present_value": "" if now is None else f" (now {_seconds(now)})",
        "in_use": in_use,
        "delay_clause": delay_clause,
        "restarts": counted(case.bridged_count, "restart"),
        "silences": f"{counted(case.bridged_count, 'silence')} {'was' if case.bridged_count == 1 else 'were'}",
        "times": counted(case.bridged_count, "time"),
    }
    return Proof(words=words, confidence=LIKELY if is_likely else POSSIBLE)


def partitions_stopped_in_vain(case: ReplayCase) -> Proof | None:
    """Eager rebalances stopped partitions that stayed with their member, for a partition-second or more.

    A sticky assignor moves no more than an eager one did, so that this is the least that it would have spared.
    Source: KIP-429.
    """
    seconds = round(sum(cost for _, _, cost in case.savings), 3)
    if seconds < WORTH_REPORTING:
        return None
    words = {
        "seconds": f"{seconds:,.1f}",
        "cost": f"{sum(r.partition_seconds or 0 for r in case.in_window):,.1f}",
        "rebalances": counted(len(case.savings), "rebalance"),
    }
    quotes = tuple(quote for _, stop, _ in case.savings for quote in stop.quotes)
    return Proof(quotes, words, {"partition_seconds_avoided": seconds})


def _seconds(ms: int) -> str:
    """The time in seconds, rounded up."""
    return f"{math.ceil(ms / 1000):,} s"


# fmt: off
STATIC_MEMBERSHIP: tuple[Ruling[ReplayCase], ...] = (
    Likely(RemedySetting.STATIC_MEMBERSHIP, "Static membership {effect}: {restarts} took less than {value}, {in_use}.",
           proof=(rebalances_are_avoided,), source="KIP-345",
           cases=("groups/deployment-4.1 billing-deploy-9", "groups/pause-4.1 ads-etl-1")),
)

SESSION_TIMEOUT: tuple[Ruling[ReplayCase], ...] = (
    Likely(RemedySetting.SESSION_TIMEOUT, "A session timeout of {value}{present_value} {effect}: {silences}"
           " shorter{delay_clause}.",
           proof=(rebalances_are_avoided,), source="KIP-735; session.timeout.ms of ConsumerConfig",
           cases=("groups/pause-4.1 ads-etl-1", "groups/deployment-4.1 billing-deploy-9")),
)

MAX_POLL_INTERVAL: tuple[Ruling[ReplayCase], ...] = (
    Likely(RemedySetting.MAX_POLL_INTERVAL, "A max.poll.interval.ms of {value}{present_value} {effect}: {times} a"
           " member took less than that between two polls.",
           proof=(rebalances_are_avoided,), source="KIP-62; max.poll.interval.ms of ConsumerConfig",
           cases=("groups/slow-librdkafka-4.1 geo-py-5", "groups/pause-4.1 ads-etl-1")),
)

COOPERATIVE_ASSIGNMENT: tuple[Ruling[ReplayCase], ...] = (
    Likely(RemedySetting.COOPERATIVE_ASSIGNMENT, "A cooperative assignor would have avoided no rebalance, but"
           " {seconds} of {cost} partition-seconds: in {rebalances} partitions stopped that stayed with their member.",
           proof=(partitions_stopped_in_vain,), source="KIP-429",
           cases=("groups/grown-2.8 email-grow-5", "groups/pause-4.1 ads-etl-1")),
)
# fmt: on


@dataclass(frozen=True)
class Act:
    """The act of one member in a rebalance, as its trigger or as a contributor. `silent_ms`: None if not known."""

    rebalance_id: str
    at: datetime
    cause: Cause
    client: str | None
    member: Member
    is_static: bool = False
    silent_ms: int | None = None


@dataclass(frozen=True)
class Polls:
    """The time between polls, in ms, as clients' logs show it.

    `exceeded`: by how much a KIP-848 member exceeded its limit, by member id; `limits`: librdkafka's, by client id.
    """

    exceeded: Mapping[str, int]
    limits: Mapping[str, int]

    @classmethod
    def of(cls, events: Iterable[Event]) -> Polls:
        """The times in the events of one group."""
        timed = [(e, e.took_ms) for e in events if e.took_ms is not None]
        return cls(
            {e.member_id: ms for e, ms in timed if e.member_id and e.kind == Kind.CLIENT_POLL_EXCEEDED},
            {e.client_id: ms for e, ms in timed if e.client_id and e.kind == Kind.CLIENT_POLL_EXPIRED},
        )

    def limit_of(self, member: Member) -> int | None:
        """The member's max.poll.interval.ms, where a witness shows it."""
        return member.rebalance_timeout_ms or self.limits.get(member.client_id or "")


@dataclass
class Replay:
    """The time-out in ms that each rebalance needs to be avoided; None where nothing avoids it.

    `bridges` are the acts that a time-out bridges, with the length that it has to exceed.
    """

    needs: dict[str, int | None]
    bridges: list[tuple[Act, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Timeout:
    """One setting that is a time. `length` gives what an act and the return after it need; None: it does not help.

    `now` gives the value in use of a member; `rulings` name the setting and put a replay into words.
    """

    now: Callable[[Member, Polls], int | None]
    length: Callable[[Act, Act | None, Polls], int | None]
    rulings: Sequence[Ruling[ReplayCase]]


def judge_remedies(
    rebalances: Sequence[Rebalance],
    stops: Mapping[str, Stop],
    directory: MemberRegistry,
    events: Iterable[Event],
    window: Window,
) -> list[Remedy]:
    """Rows of gold.remedies: one for each setting that would have avoided rebalances in the window, or their cost.

    A rebalance is avoided only if all that fell into it is; its cooperative follow-up is avoided with it. An act to
    which the evidence gives no number is not counted. The replay changes one setting and nothing else. `value_smallest`
    avoids exactly the rebalances that the row names, and a millisecond less avoids fewer. In Streams and share groups
    the timeouts are the brokers' settings: no setting of a client is proposed.
    """
    if any(not Protocol(r.protocol).is_of_consumers for r in rebalances):
        return []
    ordered = sorted(rebalances, key=turn_of)
    in_window = [r for r in ordered if window.holds(r.started_at)]
    polls = Polls.of(events)
    acts = [a for r in ordered for a in acts_of(r, directory)]
    rows: list[Remedy] = []
    for timeout in TIMEOUTS:
        case = _case_of(timeout, replay(timeout, ordered, acts, polls), in_window, stops, polls)
        if case.avoided:
            rows.append(_row(judge(timeout.rulings, case), case, window))
    whole = ReplayCase(in_window, stops)
    cooperative = decide(COOPERATIVE_ASSIGNMENT, whole)
    return [*rows, _row(cooperative, whole, window)] if cooperative else rows


def replay(timeout: Timeout, ordered: Sequence[Rebalance], acts: Sequence[Act], polls: Polls) -> Replay:
    """Compute the time-out that each rebalance of a group needs. Rebalances and their acts are in order."""
    by_rebalance = grouped(acts, lambda a: a.rebalance_id)
    returns = timelines((a for a in acts if a.cause.noun.is_return), lambda a: a.client, lambda a: a.at)
    length_by_act: dict[int, int] = {}
    bridged = []
    for act in acts:
        back = _return_of(act, returns)
        length = timeout.length(act, back, polls)
        if length is not None:
            bridged.append((act, length))
            for avoidable in (act, back):
                if avoidable is not None:
                    length_by_act[id(avoidable)] = max(length, length_by_act.get(id(avoidable), 0))
    needs: dict[str, int | None] = {}
    before: int | None = None
    for rebalance in ordered:
        lengths = [length_by_act.get(id(a)) for a in by_rebalance[rebalance.rebalance_id]]
        if rebalance.cause.noun.is_follow_up:
            lengths[0] = before
        numbers = [n for n in lengths if n is not None]
        before = needs[rebalance.rebalance_id] = max(numbers) if numbers and len(numbers) == len(lengths) else None
    return Replay(needs, bridged)


def avoided_by(needs: Mapping[str, int | None], value: int) -> list[str]:
    """The rebalances that a time-out of this value avoids: those that need less."""
    return [rebalance_id for rebalance_id, need in needs.items() if need is not None and need < value]


def acts_of(rebalance: Rebalance, directory: MemberRegistry) -> list[Act]:
    """The acts of a rebalance: what began it, and what else fell into it."""
    acts = []
    for act in acts_in(rebalance):
        row = act.row
        member = directory.get(row.member_id, row.instance_id)
        client, is_static = row.instance_id or row.client_id, bool(row.instance_id or member.instance_id)
        silent_ms = row.silent_ms if isinstance(row, Rebalance) else None
        acts.append(Act(rebalance.rebalance_id, act.at, act.cause, client, member, is_static, silent_ms))
    return acts


def _return_of(act: Act, returns: Mapping[str | None, Timeline[Act]]) -> Act | None:
    """The return of a member that went. A crashed one may be back before its session has run out."""
    if not act.client or act.client not in returns:
        return None
    since = act.at
    if act.cause.noun.is_death and act.member.session_timeout_ms:
        since -= act.member.session_timeout_ms * MS
    back = returns[act.client].first_after(since)
    return back if back is not None and back.at <= act.at + RETURN_WITHIN else None


def _restart(act: Act, back: Act | None, polls: Polls) -> int | None:
    """The absence of a dynamic member: from its LeaveGroup, or from the last heartbeat before its session ran out.

    Source: KIP-345. A time-out up to the one in use, or up to Kafka's default, is replayed.
    """
    session = act.member.session_timeout_ms
    if back is None or act.is_static or not (act.cause.noun.is_leave or act.cause.noun.is_death):
        return None
    if act.cause.noun.is_death and not session:
        return None
    away = int((back.at - act.at) / MS) + (session or 0 if act.cause.noun.is_death else 0)
    return away if 0 < away < max(SESSION_TIMEOUT_MS, session or 0) else None


def _silence(act: Act, back: Act | None, polls: Polls) -> int | None:
    is_short = act.silent_ms is not None and act.silent_ms < SESSION_TIMEOUT_MS
    return act.silent_ms if act.cause.noun.is_late_heartbeat and is_short else None


def _processing(act: Act, back: Act | None, polls: Polls) -> int | None:
    """The time from the last poll to the next: the limit, and how long it was exceeded, or the way back took.

    A static member does not leave; it falls silent at the limit, and is removed when its session has run out.
    """
    limit, session = polls.limit_of(act.member), act.member.session_timeout_ms
    if not act.cause.noun.is_late_poll or limit is None or back is None:
        return None
    if act.member.member_id in polls.exceeded:
        return limit + polls.exceeded[act.member.member_id]
    if act.is_static and session is None:
        return None
    return limit + (session or 0 if act.is_static else 0) + int((back.at - act.at) / MS)


def _case_of(
    timeout: Timeout, full_replay: Replay, in_window: Sequence[Rebalance], stops: Mapping[str, Stop], polls: Polls
) -> ReplayCase:
    """The replay of the window under the smallest value that avoids whatever any value avoids."""
    by_id = {r.rebalance_id: r for r in in_window}
    needs = {i: n for i, n in full_replay.needs.items() if i in by_id}
    value = max((n for n in needs.values() if n is not None), default=-1) + 1
    avoided = {i: by_id[i] for i in avoided_by(needs, value)}
    bridged = [a for a, length in full_replay.bridges if length < value and a.rebalance_id in avoided]
    now = min((n for a in bridged if (n := timeout.now(a.member, polls)) is not None), default=None)
    return ReplayCase(in_window, stops, list(avoided.values()), now, value, len(bridged))


def _row(verdict: Verdict, case: ReplayCase, window: Window) -> Remedy:
    costs = [r.partition_seconds for r in case.avoided if r.partition_seconds is not None]
    savings = verdict.facts.get("partition_seconds_avoided")
    return Remedy(
        cluster=case.in_window[0].cluster,
        group_id=case.in_window[0].group_id,
        window_from=window.start,
        window_to=window.end,
        setting=RemedySetting(verdict.code),
        value_now=case.now,
        value_smallest=case.smallest or None,
        rebalances_total=len(case.in_window),
        rebalances_avoided=len(case.avoided),
        partition_seconds_avoided=round(sum(costs), 3) if costs else savings,
        rebalance_ids=[r.rebalance_id for r in case.avoided],
        confidence=verdict.confidence,
        explanation=verdict.sentence,
        evidence=evidence_of((*verdict.evidence, *(e for r in case.avoided for e in _beginning(r)))),
    )


def _beginning(rebalance: Rebalance) -> list[Quote]:
    """The two lines nearest to where it began: what began it. Others of its evidence show who was who."""
    return sorted(rebalance.evidence, key=lambda e: abs(e.happened_at - rebalance.started_at))[:2]


TIMEOUTS = (
    Timeout(lambda member, _: member.session_timeout_ms, _restart, STATIC_MEMBERSHIP),
    Timeout(lambda member, _: member.session_timeout_ms, _silence, SESSION_TIMEOUT),
    Timeout(lambda member, polls: polls.limit_of(member), _processing, MAX_POLL_INTERVAL),
)
