"""Findings about consumer groups: how often they rebalance, their lag, and faults in their settings."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.codes import LagStatus, Protocol
from kafka_hindsight.catalog.rows import Finding, MemberSetting, Quote, Rebalance
from kafka_hindsight.judgements.findings.finding_facts import Facts, finding_of, quotes_of
from kafka_hindsight.judgements.groups.member_settings import KAFKA_NAMES
from kafka_hindsight.judgements.groups.storms import Act, acts_in, advice_on, busiest_hours, causes_of, rate_rule
from kafka_hindsight.knowledge.rules import RULE_BY_ID
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import duration

FOLD_FROM = 4
"""From as many groups with the same fault in their settings on, one finding stands for all of them."""

EAGER = frozenset({"range", "roundrobin", "sticky"})
"""Kafka's own assignors that know only the eager protocol.

A Java consumer that offers one of them beside others rebalances eagerly: it takes what all that it offers support.
Source: ConsumerCoordinator's constructor; KIP-429."""

COMPARED = ("session_timeout_ms", "rebalance_timeout_ms", "assignors")
"""Settings that all members of a group should share."""

_FEW = 3
_BEHIND = (LagStatus.WARN, LagStatus.STALL, LagStatus.STOP)


def _rates(facts: Facts) -> Iterator[Finding]:
    for group_id, rows in busiest_hours(facts.rebalances, facts.incidents).items():
        quotes = [q for r in rows for q in r.evidence[:1]]
        instants = [r.started_at for r in rows]
        finding = finding_of(facts, str(rate_rule(rows)), group_id, instants, quotes, count=len(rows))
        yield replace(finding, message=f"{finding.message}: {causes_of(rows)}", advice=advice_on(rows, finding.advice))


def _silences(facts: Facts) -> Iterator[Finding]:
    """A finding for each member that was silent for more than 30 s, its session timeout included, and came back."""
    limit = RULE_BY_ID["member_silent"].thresholds["ms"]
    for r in facts.rebalances:
        if r.silent_ms is not None and r.silent_ms > limit:
            length = duration(r.silent_ms)
            yield finding_of(facts, "member_silent", r.group_id, [r.started_at], r.evidence, length=length)


def _lag(facts: Facts) -> Iterator[Finding]:
    lags = ((v, v.lag_first or 0, v.lag_last or 0) for v in facts.lag_verdicts if v.status in _BEHIND)
    growing = ((v, first, last) for v, first, last in lags if first < last)
    for group_id, rows in sorted(grouped(growing, lambda row: row[0].group_id).items()):
        instants = [at for v, _, _ in rows for at in (v.window_from, v.window_to)]
        sums = {"first": sum(first for _, first, _ in rows), "last": sum(last for _, _, last in rows)}
        yield finding_of(facts, "lag_growing", group_id, instants, quotes_of(v for v, _, _ in rows), **sums)


RULES = (_rates, _silences, _lag)


@dataclass(frozen=True)
class Fault:
    """One rule broken by one group. `weight` ranks it among the groups with the same fault, the worst highest."""

    rule_id: str
    group_id: str
    message: str
    weight: tuple[float, ...]
    instants: Sequence[datetime]
    evidence: Sequence[Quote]


def folded_faults(facts: Facts) -> Iterator[Finding]:
    """The faults in the settings of groups: many groups with the same fault are one finding."""
    for faults in grouped(faults_of(facts), lambda f: f.rule_id).values():
        shares = [faults] if len(faults) >= FOLD_FROM else [[fault] for fault in faults]
        yield from (of_faults(facts, share) for share in shares)


def of_faults(facts: Facts, faults: Sequence[Fault]) -> Finding:
    """One finding for groups with the same fault, the worst first: the whole message of one, the worst few of many."""
    details = faults[0].message
    if len(faults) > 1:
        worst = "; ".join(f"'{f.group_id}' {f.message}" for f in faults[:_FEW])
        details = f"the worst are {worst}" if len(faults) > _FEW else worst
    instants = [at for f in faults for at in f.instants]
    groups = [f.group_id for f in faults]
    return finding_of(facts, faults[0].rule_id, groups, instants, quotes_of(faults), details=details)


def faults_of(facts: Facts) -> list[Fault]:
    """Every fault in the settings of the cluster's groups, the worst group of each rule first.

    A group has at most one fault of each rule. The order of the rows has no influence.
    """
    frequent = {g: len(rows) for g, rows in busiest_hours(facts.rebalances, facts.incidents).items()}
    members = grouped(sorted(facts.settings, key=lambda r: (r.first_seen_at, r.settings_id)), lambda r: r.group_id)
    expired = Counter(r.group_id for r in facts.rebalances if r.cause.noun.is_late_heartbeat)
    faults: list[Fault] = []
    for group_id, rows in members.items():
        faults += _slow_heartbeats(group_id, rows)
        faults += _short_sessions(group_id, rows, expired[group_id])
        faults += _short_polls(group_id, rows)
        faults += _mixtures(group_id, rows)
        if group_id in frequent:
            faults += _eager(group_id, rows, frequent[group_id])
    for group_id, acts in _acts_of_groups(facts.rebalances).items():
        faults += _restarts(group_id, acts, members.get(group_id, ()))
    return sorted(faults, key=lambda f: (f.rule_id, tuple(-w for w in f.weight), f.group_id))


def _fault(rule_id: str, group_id: str, message: str, rows: Sequence[MemberSetting], *weight: float) -> Fault:
    instants = [at for r in rows for at in (r.first_seen_at, r.last_seen_at)]
    return Fault(rule_id, group_id, message, weight, instants, quotes_of(rows))


def _slow_heartbeats(group_id: str, rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    share = RULE_BY_ID["heartbeat_slow"].thresholds["share of the session"]
    lengths = ((r, r.heartbeat_interval_ms or 0, r.session_timeout_ms or 0) for r in rows)
    slow = [(r, beat, session) for r, beat, session in lengths if session and beat > round(session * share)]
    yield from _of_ratio("heartbeat_slow", group_id, "every {} in a session of {}", slow)


def _of_ratio(
    rule_id: str, group_id: str, says: str, broken: Sequence[tuple[MemberSetting, int, int]]
) -> Iterator[Fault]:
    """A fault for a time that is too long compared with another one: the message names those of the worst client."""
    if broken:
        _, length, limit = max(broken, key=lambda b: b[1] / b[2])
        rows = [row for row, _, _ in broken]
        yield _fault(rule_id, group_id, says.format(duration(length), duration(limit)), rows, length / limit)


def _short_sessions(group_id: str, rows: Sequence[MemberSetting], expired: int) -> Iterator[Fault]:
    limit = RULE_BY_ID["session_short"].thresholds["ms"]
    short = [(r.session_timeout_ms, r) for r in rows if r.session_timeout_ms and r.session_timeout_ms < limit]
    if short:
        shortest = min(session for session, _ in short)
        ran_out = f", which ran out {_times(expired)} on a living member" if expired else ""
        message = f"{duration(shortest)}{ran_out}"
        yield _fault("session_short", group_id, message, [r for _, r in short], expired, -shortest)


def _short_polls(group_id: str, rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    lengths = ((r, r.rebalance_timeout_ms or 0, r.session_timeout_ms or 0) for r in rows)
    short = [(r, session, poll) for r, poll, session in lengths if 0 < poll < session]
    yield from _of_ratio("poll_below_session", group_id, "{1} for {0}", short)


def _mixtures(group_id: str, rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    """A fault for clients with different settings at the same time. One after another they are a change of settings."""
    mixed = {name: differing for name in COMPARED if (differing := _differing(name, rows))}
    if mixed:
        counts = {name: _count_values(getattr(r, name) for r in differing) for name, differing in mixed.items()}
        message = "; ".join(f"{KAFKA_NAMES[name]} {values}" for name, values in counts.items())
        clients = list({r.settings_id: r for differing in mixed.values() for r in differing}.values())
        yield _fault("settings_mixed", group_id, message, clients, len(mixed), len(clients))


def _differing(name: str, rows: Sequence[MemberSetting]) -> list[MemberSetting]:
    """The clients that were present at the same time as one with another value."""
    values = [(r, str(getattr(r, name))) for r in rows if getattr(r, name) is not None]
    all_clients = _Presence(r for r, _ in values)
    alike = {
        value: _Presence(r for r, _ in alike_rows) for value, alike_rows in grouped(values, lambda k: k[1]).items()
    }
    return [r for r, value in values if all_clients.beside(r) > alike[value].beside(r)]


class _Presence:
    """The instants at which clients came and went, in order. They count the clients that were present beside one."""

    def __init__(self, rows: Iterable[MemberSetting]) -> None:
        clients = list(rows)
        self.came, self.went = sorted(r.first_seen_at for r in clients), sorted(r.last_seen_at for r in clients)

    def beside(self, row: MemberSetting) -> int:
        """The number of clients that were present at some time while the row's client was."""
        return bisect_right(self.came, row.last_seen_at) - bisect_left(self.went, row.first_seen_at)


def _count_values(values: Iterable[list[str] | int]) -> str:
    """The values as text with the number of clients that have each, the most frequent first."""
    counts = Counter(", ".join(v) if isinstance(v, list) else duration(v) for v in values)
    ordered = sorted(counts.items(), key=lambda i: (-i[1], i[0]))
    return " and ".join(f"{v} ({n} client{'s' if n > 1 else ''})" for v, n in ordered)


def _eager(group_id: str, rows: Sequence[MemberSetting], times: int) -> Iterator[Fault]:
    eager = [r for r in rows if r.protocol in (None, Protocol.CLASSIC) and _eager_assignors(r)]
    if eager:
        names = sorted({a for r in eager for a in _eager_assignors(r)})
        yield _fault("eager_often", group_id, f"{', '.join(names)}, {times} rebalances within 60 minutes", eager, times)


def _eager_assignors(row: MemberSetting) -> Collection[str]:
    """The assignors for which a member stops all its partitions: those it offers, else the one its group uses."""
    return EAGER.intersection(row.assignors or [row.assignor])


def _acts_of_groups(rebalances: Iterable[Rebalance]) -> dict[str, dict[str, list[Act]]]:
    """The acts of each group's dynamic consumers, triggers and contributors, by client id, in order."""
    acts: dict[str, dict[str, list[Act]]] = defaultdict(lambda: defaultdict(list))
    for r in (r for r in rebalances if Protocol(r.protocol).is_of_consumers):
        for act in acts_in(r):
            if act.row.client_id and not act.row.instance_id:
                acts[r.group_id][act.row.client_id].append(act)
    return acts


def _restarts(group_id: str, acts: Mapping[str, list[Act]], rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    """A fault for members that left and came back within a session timeout: a static member would keep its place."""
    rule = RULE_BY_ID["static_membership_missing"]
    sessions = {r.client_id: r.session_timeout_ms for r in rows if r.session_timeout_ms}
    default = rule.thresholds["ms where no session is shown"]
    pairs = []
    for client_id, acts_of_client in acts.items():
        limit = timedelta(milliseconds=sessions.get(client_id, default))
        for leave, comeback in pairwise(
            sorted(acts_of_client, key=lambda a: (a.at, a.cause, a.rebalance.rebalance_id))
        ):
            is_restart = leave.cause.noun.is_leave and comeback.cause.noun.is_return
            if is_restart and comeback.at - leave.at <= limit:
                pairs.append((client_id, leave, comeback))
    if len(pairs) >= rule.thresholds["restarts"]:
        cost = {a.rebalance.rebalance_id: a.rebalance for _, *acts_of_pair in pairs for a in acts_of_pair}
        most, often = min(Counter(client_id for client_id, _, _ in pairs).items(), key=lambda c: (-c[1], c[0]))
        message = f"{len(pairs)} restarts in {len(cost)} rebalances, most often {most} ({_times(often)})"
        quotes = [e for r in cost.values() for e in r.evidence[:1]]
        yield Fault(rule.rule_id, group_id, message, (len(pairs),), [r.started_at for r in cost.values()], quotes)


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
