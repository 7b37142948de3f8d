"""How often a group rebalances: the busiest hour of each group that does so too often."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import timedelta

from kafka_hindsight.catalog.codes import Cause, IncidentKind
from kafka_hindsight.catalog.rows import Incident, Rebalance
from kafka_hindsight.judgements.groups.storms import REMOVALS
from kafka_hindsight.knowledge.rules import RULE_BY_ID
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.words import listed, verb

RATE_RULES = ("rebalances_excessive", "rebalances_frequent")
"""The worst first."""

_NAMED = 3
_HOUR = timedelta(minutes=RULE_BY_ID["rebalances_frequent"].thresholds["minutes"])


def busiest_hours(rebalances: Iterable[Rebalance], incidents: Iterable[Incident]) -> dict[str, Sequence[Rebalance]]:
    """The rebalances of the busiest 60 minutes of each group in which there were too many.

    A cooperative pair counts once, rolling restarts of members not at all.
    """
    restarts = {i.incident_id for i in incidents if i.kind == IncidentKind.ROLLING_RESTART}
    counted = (r for r in rebalances if r.incident_id not in restarts and r.cause != Cause.COOPERATIVE_FOLLOWUP)
    by_group = grouped(sorted(counted, key=lambda r: (r.started_at, r.rebalance_id)), lambda r: r.group_id)
    busiest: dict[str, Sequence[Rebalance]] = {}
    for group_id, rows in sorted(by_group.items()):
        starts = [r.started_at for r in rows]
        spans = ((first, bisect_left(starts, start + _HOUR)) for first, start in enumerate(starts))
        first, end = max(spans, key=lambda span: span[1] - span[0])
        if rate_rule(rows[first:end]):
            busiest[group_id] = rows[first:end]
    return busiest


def rate_rule(rows: Sequence[Rebalance]) -> str | None:
    """The worst rule that this many rebalances within an hour break."""
    return next((i for i in RATE_RULES if len(rows) >= RULE_BY_ID[i].thresholds["rebalances"]), None)


def causes_of(rows: Iterable[Rebalance]) -> str:
    """Causes with their counts, the most frequent first."""
    causes = Counter(r.cause for r in rows)
    return ", ".join(f"{n} × {c.label}" for c, n in sorted(causes.items(), key=lambda i: (-i[1], i[0])))


def advice_on(rows: Sequence[Rebalance], otherwise: str) -> str:
    """The advice on each kind of removal, the most frequent first, with the clients that it is about.

    Where members go and come in a loop, the going is what to mend.
    """
    removals = grouped((r for r in rows if r.cause in REMOVALS), lambda r: r.cause)
    ordered = sorted(removals.values(), key=lambda of: (-len(of), of[0].cause))
    advice = []
    for of in ordered:
        hosts = {f"'{r.client_id}'": f" on {r.host.removeprefix('/')}" if r.host else "" for r in of if r.client_id}
        named = [f"{client}{host}" for client, host in hosts.items()]
        clients = f"{verb(len(named), 'Client', 'Clients')} {listed(named, _NAMED)}: " if named else ""
        advice.append(f"{clients}{of[0].advice}")
    return " ".join(advice) or otherwise
