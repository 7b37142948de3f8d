"""The remedies of a group: its rebalances replayed under other settings. Plain Python over one group."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from kafka_hindsight.catalog.codes import Protocol, RemedySetting
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event, Rebalance, Remedy
from kafka_hindsight.judgements.groups.costs import Stop, cost_of
from kafka_hindsight.judgements.groups.storms import MemberAct, acts_in, client_of
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, ranks_of
from kafka_hindsight.judgements.reasoning.proofs import CERTAIN, LIKELY, POSSIBLE, Proof
from kafka_hindsight.judgements.reasoning.rulings import Likely, Ruling, Verdict, decide, verdict_of
from kafka_hindsight.judgements.rebalances.group_history import turn_of
from kafka_hindsight.judgements.rebalances.member_facts import facts_of
from kafka_hindsight.judgements.rebalances.members import Member, MemberRegistry
from kafka_hindsight.knowledge.advice import MemberFacts, changes_of
from kafka_hindsight.knowledge.remedy_settings import SESSION_TIMEOUT_MS
from kafka_hindsight.shared.durations import MS, RETURN_WITHIN
from kafka_hindsight.shared.timelines import timelines
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.shared.words import counted

WORTH_REPORTING = 1.0
"""Fewer partition-seconds than this in a window are not worth a change."""


@dataclass(frozen=True)
class ReplayCase:
    """The replay of one group's window under one setting.

    `now`, `smallest`: the value in use, in ms, and the smallest that avoids whatever any value avoids. `avoided`: the
    rebalances that it avoids, of `in_window`. `bridged_count`: how many absences it bridges, `worst`: the one of the
    member with the shortest value in use.
    """

    in_window: Sequence[Rebalance]
    stops: Mapping[str, Stop]
    avoided: Sequence[Rebalance] = ()
    now: int | None = None
    smallest: int = 0
    bridged_count: int = 0
    worst: MemberAct | None = None

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


STATIC_MEMBERSHIP: tuple[Ruling[ReplayCase], ...] = (
    Likely(
        RemedySetting.STATIC_MEMBERSHIP,
        "Static membership {effect}: {restarts} took less than {value}, {in_use}.",
        proof=(rebalances_are_avoided,),
        source="KIP-345",
        cases=("groups/deployment-4.1 billing-deploy-9", "groups/pause-4.1 ads-etl-1"),
    ),
)

SESSION_TIMEOUT: tuple[Ruling[ReplayCase], ...] = (
    Likely(
        RemedySetting.SESSION_TIMEOUT,
        "A session timeout of {value}{present_value} {effect}: {silences} shorter{delay_clause}.",
        proof=(rebalances_are_avoided,),
        source="KIP-735; session.timeout.ms of ConsumerConfig",
        cases=("groups/pause-4.1 ads-etl-1", "groups/deployment-4.1 billing-deploy-9"),
    ),
)

MAX_POLL_INTERVAL: tuple[Ruling[ReplayCase], ...] = (
    Likely(
        RemedySetting.MAX_POLL_INTERVAL,
        "A max.poll.interval.ms of {value}{present_value} {effect}: {times} a member took less than that between two"
        " polls.",
        proof=(rebalances_are_avoided,),
        source="KIP-62; max.poll.interval.ms of ConsumerConfig",
        cases=("groups/slow-librdkafka-4.1 geo-py-5", "groups/pause-4.1 ads-etl-1"),
    ),
)

COOPERATIVE_ASSIGNMENT: tuple[Ruling[ReplayCase], ...] = (
    Likely(
        RemedySetting.COOPERATIVE_ASSIGNMENT,
        "A cooperative assignor would have saved {seconds} of {cost} partition-seconds, and no rebalance: in"
        " {rebalances} partitions stopped that stayed with their member.",
        proof=(partitions_stopped_in_vain,),
        source="KIP-429",
        cases=("groups/grown-2.8 email-grow-5", "groups/pause-4.1 ads-etl-1"),
    ),
)


class GroupReplay:
    """The acts of a group's members in its rebalances, with what its lines show of their time-outs, to be replayed."""

    def __init__(self, rebalances: Iterable[Rebalance], members: MemberRegistry, events: Iterable[Event]) -> None:
        self.rebalances = sorted(rebalances, key=turn_of)
        self._members = members
        self._acts = {r.rebalance_id: acts_in(r) for r in self.rebalances}
        returns = (a for acts in self._acts.values() for a in acts if a.cause.noun.is_return)
        self._returns = timelines(returns, lambda a: client_of(a.row), lambda a: a.at)
        timed = [(e, e.took_ms) for e in events if e.took_ms is not None]
        self._exceeded = {e.member_id: ms for e, ms in timed if e.member_id and e.kind == Kind.CLIENT_POLL_EXCEEDED}
        """By how much a KIP-848 member exceeded max.poll.interval.ms, by member id."""
        self._limits = {e.client_id: ms for e, ms in timed if e.client_id and e.kind == Kind.CLIENT_POLL_EXPIRED}
        """The max.poll.interval.ms of clients of librdkafka, by client id."""

    def needs(self, timeout: Timeout) -> tuple[dict[str, int | None], list[tuple[MemberAct, int]]]:
        """The time-out in ms that avoids each rebalance with all its acts, by its id; None where nothing avoids it.

        With them come the acts that a time-out bridges, each with the length that it has to exceed.
        """
        length_by_act: dict[int, int] = {}
        bridged: list[tuple[MemberAct, int]] = []
        for act in chain.from_iterable(self._acts.values()):
            back = self._return_of(act)
            length = timeout.length(self, act, back)
            if length is not None:
                bridged.append((act, length))
                for avoidable in (act, back):
                    if avoidable is not None:
                        length_by_act[id(avoidable)] = max(length, length_by_act.get(id(avoidable), 0))
        needs: dict[str, int | None] = {}
        before: int | None = None
        for rebalance in self.rebalances:
            lengths = [length_by_act.get(id(a)) for a in self._acts[rebalance.rebalance_id]]
            if rebalance.cause.noun.is_follow_up:
                lengths[0] = before
            numbers = [n for n in lengths if n is not None]
            before = needs[rebalance.rebalance_id] = max(numbers) if len(numbers) == len(lengths) else None
        return needs, bridged

    def _return_of(self, act: MemberAct) -> MemberAct | None:
        """The return of a member that went. A crashed one may be back before its session has run out."""
        client, since = client_of(act.row), act.at
        if not client or client not in self._returns:
            return None
        if act.cause.noun.is_death:
            since -= (self.session_timeout_of(act) or 0) * MS
        back = self._returns[client].first_after(since)
        return back if back is not None and back.at <= act.at + RETURN_WITHIN else None

    def _member_of(self, act: MemberAct) -> Member:
        return self._members.get(act.row.member_id, act.row.instance_id)

    def _is_static(self, act: MemberAct) -> bool:
        return bool(act.row.instance_id or self._member_of(act).instance_id)

    def facts_of(self, act: MemberAct | None) -> MemberFacts:
        """The facts about the act's member; without an act, about the one that began the first rebalance."""
        row = act.row if act else self.rebalances[0]
        first = self.rebalances[0]
        member = self._members.get(row.member_id, row.instance_id)
        facts = facts_of(member, self._members, first.group_id, Protocol(first.protocol))
        return replace(facts, poll_ms=self.poll_limit_of(act) if act else facts.poll_ms)

    def session_timeout_of(self, act: MemberAct) -> int | None:
        """The session.timeout.ms of the act's member, where a witness shows it."""
        return self._member_of(act).session_timeout_ms

    def poll_limit_of(self, act: MemberAct) -> int | None:
        """The max.poll.interval.ms of the act's member, where a witness shows it."""
        member = self._member_of(act)
        return member.rebalance_timeout_ms or self._limits.get(member.client_id or "")

    def restart(self, act: MemberAct, back: MemberAct | None) -> int | None:
        """The absence of a dynamic member: from its LeaveGroup, or from the last heartbeat before its session ran out.

        Source: KIP-345. A time-out up to the one in use, or up to Kafka's default, is replayed.
        """
        session = self.session_timeout_of(act)
        if back is None or self._is_static(act) or not (act.cause.noun.is_leave or act.cause.noun.is_death):
            return None
        if act.cause.noun.is_death and not session:
            return None
        away = int((back.at - act.at) / MS) + (session or 0 if act.cause.noun.is_death else 0)
        return away if 0 < away < max(SESSION_TIMEOUT_MS, session or 0) else None

    def silence(self, act: MemberAct, back: MemberAct | None) -> int | None:
        """The silence of a member whose heartbeats were late, where the row of the rebalance has its length."""
        silent_ms = act.row.silent_ms if isinstance(act.row, Rebalance) else None
        is_short = silent_ms is not None and silent_ms < SESSION_TIMEOUT_MS
        return silent_ms if act.cause.noun.is_late_heartbeat and is_short else None

    def processing(self, act: MemberAct, back: MemberAct | None) -> int | None:
        """The time from the last poll to the next: the limit, and how long it was exceeded, or the way back took.

        A static member does not leave; it falls silent at the limit, and is removed when its session has run out.
        """
        limit, session, is_static = self.poll_limit_of(act), self.session_timeout_of(act), self._is_static(act)
        if not act.cause.noun.is_late_poll or limit is None or back is None:
            return None
        exceeded = self._exceeded.get(self._member_of(act).member_id)
        if exceeded is not None:
            return limit + exceeded
        if is_static and session is None:
            return None
        return limit + (session or 0 if is_static else 0) + int((back.at - act.at) / MS)


@dataclass(frozen=True)
class Timeout:
    """One setting that is a time. `length` gives what an act and the return after it need; None: it does not help.

    `now` gives the value in use of the act's member; `rulings` name the setting and put a replay into words.
    """

    now: Callable[[GroupReplay, MemberAct], int | None]
    length: Callable[[GroupReplay, MemberAct, MemberAct | None], int | None]
    rulings: Sequence[Ruling[ReplayCase]]


TIMEOUTS = (
    Timeout(GroupReplay.session_timeout_of, GroupReplay.restart, STATIC_MEMBERSHIP),
    Timeout(GroupReplay.session_timeout_of, GroupReplay.silence, SESSION_TIMEOUT),
    Timeout(GroupReplay.poll_limit_of, GroupReplay.processing, MAX_POLL_INTERVAL),
)


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
    replay = GroupReplay(rebalances, directory, events)
    whole = ReplayCase([r for r in replay.rebalances if window.holds(r.started_at)], stops)
    rows: list[Remedy] = []
    for timeout in TIMEOUTS:
        case = _replayed(whole, timeout, replay)
        if case.avoided:
            rows.append(_row(verdict_of(timeout.rulings, case), case, window, replay.facts_of(case.worst)))
    cooperative = decide(COOPERATIVE_ASSIGNMENT, whole)
    return [*rows, _row(cooperative, whole, window, replay.facts_of(None))] if cooperative else rows


def avoided_by(needs: Mapping[str, int | None], value: int) -> list[str]:
    """The rebalances that a time-out of this value avoids: those that need less."""
    return [rebalance_id for rebalance_id, need in needs.items() if need is not None and need < value]


def _replayed(whole: ReplayCase, timeout: Timeout, replay: GroupReplay) -> ReplayCase:
    """The replay of the window under the smallest value that avoids whatever any value avoids."""
    needs, bridges = replay.needs(timeout)
    by_id = {r.rebalance_id: r for r in whole.in_window}
    value = max((n for i, n in needs.items() if n is not None and i in by_id), default=-1) + 1
    avoided = {i: by_id[i] for i in avoided_by(needs, value) if i in by_id}
    bridged = [a for a, length in bridges if length < value and a.rebalance.rebalance_id in avoided]
    worst = min(bridged, key=lambda a: timeout.now(replay, a) or math.inf, default=None)
    now = timeout.now(replay, worst) if worst else None
    return replace(whole, avoided=[*avoided.values()], now=now, smallest=value, bridged_count=len(bridged), worst=worst)


def _row(verdict: Verdict, case: ReplayCase, window: Window, facts: MemberFacts) -> Remedy:
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
        changes=[*changes_of(RemedySetting(verdict.code), facts, case.smallest or None)],
        evidence=evidence_of(verdict.evidence, *ranks_of(r.evidence for r in case.avoided)),
    )
