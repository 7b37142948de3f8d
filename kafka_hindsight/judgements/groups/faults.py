"""Faults in the settings of groups: the rules over gold.member_settings, one fault for each group and rule."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.codes import Cause, Protocol
from kafka_hindsight.catalog.rows import MemberSetting, Quote, Rebalance
from kafka_hindsight.judgements.groups.member_settings import KAFKA_NAMES
from kafka_hindsight.judgements.groups.storms import acts_in
from kafka_hindsight.knowledge.rules import RULE_BY_ID
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import duration

EAGER = frozenset({"range", "roundrobin", "sticky"})
"""Kafka's own assignors that know only the eager protocol.

A Java consumer that offers one of them beside others rebalances eagerly: it takes what all that it offers support.
Source: ConsumerCoordinator's constructor; KIP-429."""

COMPARED = ("session_timeout_ms", "rebalance_timeout_ms", "assignors")
"""What all members of a group had better have in common."""

_FEW = 3


@dataclass(frozen=True)
class Fault:
    """One rule broken by one group. `weight` ranks it among the groups with the same fault, the worst highest."""

    rule_id: str
    group_id: str
    message: str
    weight: tuple[float, ...]
    first_at: datetime
    last_at: datetime
    evidence: tuple[Quote, ...]


def find_faults(
    settings: Iterable[MemberSetting], rebalances: Sequence[Rebalance], frequent: Mapping[str, int]
) -> list[Fault]:
    """Every fault in the settings of one cluster's groups, the worst group of each rule first.

    Takes: rows of gold.member_settings and gold.rebalances of a window; `frequent`: how often those groups rebalanced
    within an hour that did so too often.
    Keeps: at most one fault for each group and rule, the same ones whatever the order of the rows.
    """
    members = grouped(sorted(settings, key=lambda r: (r.first_seen_at, r.settings_id)), lambda r: r.group_id)
    expired = Counter(r.group_id for r in rebalances if r.cause == Cause.HEARTBEAT_EXPIRED)
    found: list[Fault] = []
    for group_id, rows in members.items():
        found += _slow_heartbeats(group_id, rows)
        found += _short_sessions(group_id, rows, expired[group_id])
        found += _short_polls(group_id, rows)
        found += _mixtures(group_id, rows)
        if group_id in frequent:
            found += _eager(group_id, rows, frequent[group_id])
    for group_id, acts in _acts_of_groups(rebalances).items():
        found += _restarts(group_id, acts, members.get(group_id, ()))
    return sorted(found, key=lambda f: (f.rule_id, tuple(-w for w in f.weight), f.group_id))


def _fault(rule_id: str, group_id: str, message: str, rows: Sequence[MemberSetting], *weight: float) -> Fault:
    return Fault(
        rule_id,
        group_id,
        message,
        weight,
        min(r.first_seen_at for r in rows),
        max(r.last_seen_at for r in rows),
        tuple(e for r in rows for e in r.evidence),
    )


def _slow_heartbeats(group_id: str, rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    share = RULE_BY_ID["heartbeat_slow"].thresholds["share of the session"]
    known = ((r, r.heartbeat_interval_ms or 0, r.session_timeout_ms or 0) for r in rows)
    slow = [
        (beat / session, r, beat, session) for r, beat, session in known if session and beat > round(session * share)
    ]
    if slow:
        ratio, _, beat, session = max(slow, key=lambda found: found[0])
        message = f"every {duration(beat)} in a session of {duration(session)}"
        yield _fault("heartbeat_slow", group_id, message, [r for _, r, _, _ in slow], ratio)


def _short_sessions(group_id: str, rows: Sequence[MemberSetting], expired: int) -> Iterator[Fault]:
    limit = RULE_BY_ID["session_short"].thresholds["ms"]
    short = [(r.session_timeout_ms, r) for r in rows if r.session_timeout_ms and r.session_timeout_ms < limit]
    if short:
        shortest = min(session for session, _ in short)
        ran_out = f", which ran out {_times(expired)} on a living member" if expired else ""
        found = [r for _, r in short]
        yield _fault("session_short", group_id, f"{duration(shortest)}{ran_out}", found, expired, -shortest)


def _short_polls(group_id: str, rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    known = ((r, r.rebalance_timeout_ms or 0, r.session_timeout_ms or 0) for r in rows)
    short = [(session / poll, r, poll, session) for r, poll, session in known if 0 < poll < session]
    if short:
        ratio, _, poll, session = max(short, key=lambda found: found[0])
        found = [r for _, r, _, _ in short]
        yield _fault("poll_below_session", group_id, f"{duration(poll)} for {duration(session)}", found, ratio)


def _mixtures(group_id: str, rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    """Clients that were there at the same time with different settings; one after another they are a change."""
    mixed = {name: found for name in COMPARED if (found := _differing(name, rows))}
    if mixed:
        message = "; ".join(
            f"{KAFKA_NAMES[name]} {_counted(getattr(r, name) for r in found)}" for name, found in mixed.items()
        )
        apart = list({r.settings_id: r for found in mixed.values() for r in found}.values())
        yield _fault("settings_mixed", group_id, message, apart, len(mixed), len(apart))


def _differing(name: str, rows: Sequence[MemberSetting]) -> list[MemberSetting]:
    """The clients that were there together with one that has another value."""
    known = [(r, str(getattr(r, name))) for r in rows if getattr(r, name) is not None]
    all_clients = _Presence.of(r for r, _ in known)
    alike = {value: _Presence.of(r for r, _ in same) for value, same in grouped(known, lambda k: k[1]).items()}
    return [r for r, value in known if all_clients.beside(r) > alike[value].beside(r)]


@dataclass(frozen=True)
class _Presence:
    """When clients came and when they went, each in order: enough to count those that were there beside one of them."""

    came: Sequence[datetime]
    went: Sequence[datetime]

    @classmethod
    def of(cls, rows: Iterable[MemberSetting]) -> _Presence:
        seen = list(rows)
        return cls(sorted(r.first_seen_at for r in seen), sorted(r.last_seen_at for r in seen))

    def beside(self, row: MemberSetting) -> int:
        """How many were there at some time while the row's client was."""
        return bisect_right(self.came, row.last_seen_at) - bisect_left(self.went, row.first_seen_at)


def _counted(values: Iterable[list[str] | int]) -> str:
    """Values with how many clients have each, the most frequent first."""
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


@dataclass(frozen=True)
class _Act:
    at: datetime
    cause: str
    rebalance: Rebalance


def _acts_of_groups(rebalances: Iterable[Rebalance]) -> dict[str, dict[str, list[_Act]]]:
    """What dynamic consumers of each group did, triggers and contributors, by client id, in order."""
    found: dict[str, dict[str, list[_Act]]] = defaultdict(lambda: defaultdict(list))
    for r in (r for r in rebalances if Protocol(r.protocol).is_of_consumers):
        for at, act in acts_in(r):
            if act.client_id and not act.instance_id:
                found[r.group_id][act.client_id].append(_Act(at, act.cause, r))
    return found


def _restarts(group_id: str, acts: Mapping[str, list[_Act]], rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    """Members that left and were back before a session would have run out: a static one keeps its place so long."""
    rule = RULE_BY_ID["static_membership_missing"]
    sessions = {r.client_id: r.session_timeout_ms for r in rows if r.session_timeout_ms}
    default = rule.thresholds["ms where no session is shown"]
    pairs = [
        (client_id, left, back)
        for client_id, own in acts.items()
        for left, back in _returns(own, timedelta(milliseconds=sessions.get(client_id, default)))
    ]
    if len(pairs) >= rule.thresholds["restarts"]:
        cost = {a.rebalance.rebalance_id: a.rebalance for _, *both in pairs for a in both}
        most, often = min(Counter(client_id for client_id, _, _ in pairs).items(), key=lambda c: (-c[1], c[0]))
        started = sorted(r.started_at for r in cost.values())
        yield Fault(
            rule.rule_id,
            group_id,
            f"{len(pairs)} restarts in {len(cost)} rebalances, most often {most} ({_times(often)})",
            (len(pairs),),
            started[0],
            started[-1],
            tuple(e for r in cost.values() for e in r.evidence[:1]),
        )


def _returns(acts: Iterable[_Act], limit: timedelta) -> Iterator[tuple[_Act, _Act]]:
    """The leaves of one client with the return that followed each within a limit."""
    for left, back in pairwise(sorted(acts, key=lambda a: (a.at, a.cause, a.rebalance.rebalance_id))):
        restarts = (left.cause, back.cause) == (Cause.MEMBER_LEFT, Cause.MEMBER_REJOINED)
        if restarts and back.at - left.at <= limit:
            yield left, back


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def named(faults: Sequence[Fault]) -> str:
    """What a finding says of the groups with one fault: the whole message of one, the worst few of many."""
    if len(faults) == 1:
        return faults[0].message
    worst = "; ".join(f"'{f.group_id}' {f.message}" for f in faults[:_FEW])
    return f"the worst are {worst}" if len(faults) > _FEW else worst
