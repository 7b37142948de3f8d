"""Findings about consumer groups: how often they rebalance, their lag, and faults in their settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kafka_hindsight.catalog.codes import ClientLibrary, Protocol, RebalanceKind, RemedySetting
from kafka_hindsight.catalog.rows import Finding, Incident, IncidentLink, MemberSetting, PartitionStall, Rebalance
from kafka_hindsight.judgements.findings.finding_rows import finding_of
from kafka_hindsight.judgements.findings.rule_inputs import Unquoted
from kafka_hindsight.judgements.groups.member_settings import KAFKA_NAMES
from kafka_hindsight.judgements.groups.storms import advice_on, busiest_hours, causes_of
from kafka_hindsight.judgements.reasoning.evidence import by_weight
from kafka_hindsight.knowledge.advice import MemberFacts, change_sentence, changes_of
from kafka_hindsight.knowledge.assignors import EAGER
from kafka_hindsight.knowledge.model import Rule
from kafka_hindsight.knowledge.rules import group_rules as declared
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.timelines import Interval, Intervals
from kafka_hindsight.shared.words import counted, duration, number

FOLD_FROM = 4
"""From as many groups with the same fault in their settings on, one finding stands for all of them."""

COMPARED = ("session_timeout_ms", "rebalance_timeout_ms", "assignors")
"""Settings that all members of a group should share."""

_FEW = 3


def _rates(
    cluster: str,
    rebalances: Sequence[Rebalance],
    incidents: Unquoted[Incident],
    incident_links: Sequence[IncidentLink],
) -> Iterator[Finding]:
    linked = _with_incidents(rebalances, incident_links)
    for group_id, (rule, rows) in busiest_hours(linked, incidents).items():
        quotes = [q for r in rows for q in r.evidence[:1]]
        instants = [r.started_at for r in rows]
        finding = finding_of(cluster, rule, group_id, instants, quotes, count=len(rows))
        yield replace(finding, message=f"{finding.message}: {causes_of(rows)}", advice=advice_on(rows, finding.advice))


def _with_incidents(rebalances: Sequence[Rebalance], links: Sequence[IncidentLink]) -> list[Rebalance]:
    """Rebalances that name their incidents."""
    incident_of = {link.part_id: link.incident_id for link in links}
    return [replace(r, incident_id=incident_of.get(r.rebalance_id, r.incident_id)) for r in rebalances]


def _silences(cluster: str, rebalances: Sequence[Rebalance]) -> Iterator[Finding]:
    """A finding for each member that was silent for more than 30 s, its session timeout included, and came back."""
    limit = declared.MEMBER_SILENT.thresholds["ms"]
    for r in rebalances:
        if r.silent_ms is not None and r.silent_ms > limit:
            length = duration(r.silent_ms)
            yield finding_of(cluster, declared.MEMBER_SILENT, r.group_id, [r.started_at], r.evidence, length=length)


def _lag(cluster: str, partition_stalls: Sequence[PartitionStall]) -> Iterator[Finding]:
    growing = sorted((s for s in partition_stalls if s.lag_first < s.lag_max), key=lambda s: s.started_at)
    for group_id, rows in sorted(grouped(growing, lambda s: s.group_id).items()):
        worst = list({(s.topic, s.partition): s for s in sorted(rows, key=lambda s: s.lag_max)}.values())
        instants = [at for s in rows for at in (s.started_at, s.ended_at or s.started_at)]
        sums = {"first": sum(s.lag_first for s in worst), "most": sum(s.lag_max for s in worst)}
        yield finding_of(cluster, declared.LAG_GROWING, group_id, instants, by_weight(rows), **sums)


@dataclass(frozen=True)
class Fault:
    """One rule broken by clients of one group. `weight` ranks the groups with the same fault, the worst highest.

    `advice` takes the place of the rule's, where it is about this group alone.
    """

    rule: Rule
    group_id: str
    message: str
    clients: Sequence[MemberSetting]
    weight: Sequence[float]
    advice: str = ""


def _faults(
    cluster: str,
    rebalances: Sequence[Rebalance],
    incidents: Unquoted[Incident],
    incident_links: Sequence[IncidentLink],
    member_settings: Sequence[MemberSetting],
) -> Iterator[Finding]:
    """The faults in the settings of groups: many groups with the same fault are one finding."""
    all_faults = faults_of(_with_incidents(rebalances, incident_links), incidents, member_settings)
    for rule, faults in grouped(all_faults, lambda f: f.rule).items():
        faults.sort(key=lambda f: (tuple(-w for w in f.weight), f.group_id))
        shares = [faults] if len(faults) >= FOLD_FROM else [[fault] for fault in faults]
        for share in shares:
            details = share[0].message
            if share[1:]:
                worst = "; ".join(f"'{f.group_id}' {f.message}" for f in share[:_FEW])
                details = f"the worst are {worst}" if share[_FEW:] else worst
            clients = [client for fault in share for client in fault.clients]
            instants = [at for c in clients for at in (c.first_seen_at, c.last_seen_at)]
            groups = [fault.group_id for fault in share]
            finding = finding_of(cluster, rule, groups, instants, by_weight(clients), details=details)
            yield replace(finding, advice=(share[0].advice if not share[1:] else "") or finding.advice)


def faults_of(
    rebalances: Sequence[Rebalance], incidents: Sequence[Incident], member_settings: Sequence[MemberSetting]
) -> Iterator[Fault]:
    """Every fault in the settings of the cluster's groups: of each rule at most one for each group."""
    classic = [
        r for r in rebalances if r.protocol == Protocol.CLASSIC
    ]  # members that a coordinator assigns are never eager
    frequent = {g: len(rows) for g, (_, rows) in busiest_hours(classic, incidents).items()}
    of_eager = grouped((r for r in classic if r.kind == RebalanceKind.EAGER), lambda r: r.group_id)
    members = grouped(sorted(member_settings, key=lambda r: (r.first_seen_at, r.settings_id)), lambda r: r.group_id)
    expired = Counter(r.group_id for r in rebalances if r.cause.noun.is_late_heartbeat)
    for group_id, rows in members.items():
        yield from _slow_heartbeats(group_id, rows)
        yield from _short_sessions(group_id, rows, expired[group_id])
        yield from _short_polls(group_id, rows)
        yield from _mixtures(group_id, rows)
        if group_id in frequent:
            yield from _eager(group_id, rows, frequent[group_id], of_eager.get(group_id, []))


def _slow_heartbeats(group_id: str, rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    share = declared.HEARTBEAT_SLOW.thresholds["share of the session"]
    lengths = ((r, r.heartbeat_interval_ms or 0, r.session_timeout_ms or 0) for r in rows)
    slow = [(r, beat, session) for r, beat, session in lengths if session and beat > round(session * share)]
    yield from _of_ratio(declared.HEARTBEAT_SLOW, group_id, "every {} in a session of {}", slow)


def _of_ratio(
    rule: Rule, group_id: str, says: str, broken: Sequence[tuple[MemberSetting, int, int]]
) -> Iterator[Fault]:
    """A fault for a time that is too long compared with another one: the message names those of the worst client."""
    if broken:
        _, length, limit = max(broken, key=lambda b: b[1] / b[2])
        rows = [row for row, _, _ in broken]
        yield Fault(rule, group_id, says.format(duration(length), duration(limit)), rows, [length / limit])


def _short_sessions(group_id: str, rows: Sequence[MemberSetting], expired: int) -> Iterator[Fault]:
    limit = declared.SESSION_SHORT.thresholds["ms"]
    short = [(r.session_timeout_ms, r) for r in rows if r.session_timeout_ms and r.session_timeout_ms < limit]
    if short:
        shortest = min(session for session, _ in short)
        often = "once" if expired == 1 else f"{expired} times"
        ran_out = f", which ran out {often} on a living member" if expired else ""
        clients = [r for _, r in short]
        yield Fault(declared.SESSION_SHORT, group_id, f"{duration(shortest)}{ran_out}", clients, (expired, -shortest))


def _short_polls(group_id: str, rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    lengths = ((r, r.rebalance_timeout_ms or 0, r.session_timeout_ms or 0) for r in rows)
    short = [(r, session, poll) for r, poll, session in lengths if 0 < poll < session]
    yield from _of_ratio(declared.POLL_BELOW_SESSION, group_id, "{1} for {0}", short)


def _mixtures(group_id: str, rows: Sequence[MemberSetting]) -> Iterator[Fault]:
    """A fault for clients with different settings at the same time. One after another they are a change of settings."""
    mixed = {name: differing for name in COMPARED if (differing := _differing(name, rows))}
    if mixed:
        counts = {name: _count_values(getattr(r, name) for r in differing) for name, differing in mixed.items()}
        message = "; ".join(f"{KAFKA_NAMES[name]} {values}" for name, values in counts.items())
        clients = list({r.settings_id: r for differing in mixed.values() for r in differing}.values())
        yield Fault(declared.SETTINGS_MIXED, group_id, message, clients, (len(mixed), len(clients)))


def _differing(name: str, rows: Sequence[MemberSetting]) -> list[MemberSetting]:
    """The clients that were present at the same time as one with another value."""
    values = [(r, str(getattr(r, name))) for r in rows if getattr(r, name) is not None]
    if len({value for _, value in values}) < 2:
        return []
    clients = Intervals(Interval(r.first_seen_at, r.last_seen_at, (r, value)) for r, value in values)
    return [r for r, v in values if any(i.value[1] != v for i in clients.between(r.first_seen_at, r.last_seen_at))]


def _count_values(values: Iterable[list[str] | int]) -> str:
    """The values as text with the number of clients that have each, the most frequent first."""
    counts = Counter(", ".join(v) if isinstance(v, list) else duration(v) for v in values)
    ordered = sorted(counts.items(), key=lambda i: (-i[1], i[0]))
    return " and ".join(f"{v} ({n} client{'s' if n > 1 else ''})" for v, n in ordered)


def _eager(
    group_id: str, rows: Sequence[MemberSetting], count: int, rebalances: Sequence[Rebalance]
) -> Iterator[Fault]:
    eager = [r for r in rows if r.protocol in (None, Protocol.CLASSIC) and _eager_assignors(r)]
    if eager:
        names = sorted({a for r in eager for a in _eager_assignors(r)})
        message = f"{', '.join(names)}, {count} rebalances within 60 minutes"
        if costs := [r.partition_seconds for r in rebalances if r.partition_seconds is not None]:
            eager_count = counted(len(costs), "eager rebalance")
            message += f"; {eager_count} in all cost at most {number(sum(costs))} partition-seconds"
        yield Fault(declared.EAGER_OFTEN, group_id, message, eager, [count], _advice_to_eager(group_id, eager[0]))


def _advice_to_eager(group_id: str, row: MemberSetting) -> str:
    """The change to a cooperative assignor, as the library of a member writes it, and how many restarts it takes."""
    library, assignors = row.library or ClientLibrary.UNKNOWN, row.assignors or [row.assignor or ""]
    facts = MemberFacts(protocol=Protocol.CLASSIC, library=library, group=group_id, assignors=assignors)
    changes = changes_of(RemedySetting.COOPERATIVE_ASSIGNMENT, facts)
    if library is ClientLibrary.UNKNOWN:
        return ""
    first = " ".join(map(change_sentence, changes)) or f"No assignor of {library.noun.label} is cooperative."
    return f"{first} Find out why the group rebalances so often."


def _eager_assignors(row: MemberSetting) -> Collection[str]:
    """The assignors for which a member stops all its partitions: those it offers, else the one its group uses."""
    return EAGER.intersection(row.assignors or [row.assignor])


RULES = (_rates, _silences, _lag, _faults)
