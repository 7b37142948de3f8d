"""The figures of a window, each by one function: page, terminal and alerts take them from here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kafka_hindsight.catalog.codes import Confidence, FindingSeverity, Harm, Outcome, Urgency
from kafka_hindsight.catalog.rows import BrokerOutage, Finding, Incident, Rebalance, Unavailability
from kafka_hindsight.knowledge.rules import ONGOING_RULES, STANDING_RULES, UNSEEN
from kafka_hindsight.measures.time_away import is_orderly
from kafka_hindsight.measures.unavailability_sums import NO_CONSUMER, NOTICED_MS, Subject, unused
from kafka_hindsight.shared import words
from kafka_hindsight.shared.grouping import grouped

EndState = Literal["over", "ongoing", "unknown"]
"""Whether an incident was over when the logs end."""

_ORDER = {harm: place for place, harm in enumerate(Harm)}


def harm_of(incident: Incident) -> Harm:
    """The harm of an incident. Rows of an earlier version have none, and are of rebalances alone."""
    return incident.harm or Harm.CONSUMERS_STOPPED


def ranked(incidents: Iterable[Incident]) -> list[Incident]:
    """Incidents, the most harmful first."""
    return sorted(incidents, key=_place)


def _place(i: Incident) -> tuple[object, ...]:
    cost = -(i.partition_seconds or 0.0), -i.rebalance_count
    return _ORDER[harm_of(i)], i.harm_rank or 0, *cost, i.started_at, i.incident_id


def by_harm(incidents: Iterable[Incident]) -> Mapping[Harm, Sequence[Incident]]:
    """Incidents by their harm, the gravest first."""
    return grouped(ranked(incidents), harm_of)


def needs(incident: Incident) -> Urgency:
    """The urgency of an incident, on pages and in alerts. One that goes on always asks to act."""
    return Urgency.ACT if is_going_on(incident) else harm_of(incident).noun.urgency


def is_going_on(incident: Incident) -> bool:
    """Whether something was unavailable, or a broker or the controller gone, when the logs end."""
    return incident.is_over is False


def end_state_of(incident: Incident) -> EndState:
    """Whether an incident was over when the logs end; unknown where a group's last member closed or died.

    Rows of an earlier version do not say.
    """
    return "unknown" if incident.is_over is None else "over" if incident.is_over else "ongoing"


def equal_incidents(incidents: Iterable[Incident]) -> Sequence[Sequence[Incident]]:
    """Incidents that are the same but for their time, and did the same harm, together: in the order of the first."""
    return [*grouped(incidents, lambda i: (i.recurrence_id or i.incident_id, harm_of(i), end_state_of(i))).values()]


def least_sure(incidents: Iterable[Incident]) -> Confidence:
    """The confidence of several incidents together: no headline is surer than any row that it stands for."""
    return Confidence.least(i.confidence for i in incidents)


def urgent_first(incidents: Iterable[Incident]) -> list[Incident]:
    """The incidents that ask to act or to look: those that go on, then the others, each the most harmful first.

    Lost records stay lost, so they count as going on: only partitions that have no leader now come before them.
    """
    asking = [i for i in ranked(incidents) if needs(i) is not Urgency.CALM]
    return sorted(asking, key=_turn)


def _turn(i: Incident) -> int:
    harm = harm_of(i)
    if is_going_on(i) and harm in (Harm.RECORDS_LOST, Harm.PARTITIONS_OFFLINE):
        return 0
    return 1 if harm is Harm.RECORDS_LOST else 2 if is_going_on(i) else 3


def by_need(incidents: Iterable[Incident]) -> tuple[list[Incident], list[Incident]]:
    """The incidents that ask for something, the most urgent first, and those that ask for nothing."""
    rows = list(incidents)
    return urgent_first(rows), [i for i in ranked(rows) if needs(i) is Urgency.CALM]


def state_of(incidents: Iterable[Incident], findings: Iterable[Finding], *, is_known: bool) -> Urgency:
    """Whether a window asks its reader to act, to look, or for nothing: the most urgent of its incidents and findings.

    Without `is_known` it asks to look at least: what the logs could not show may have happened. Settings are not news.
    """
    states = {needs(i) for i in incidents} | (set() if is_known else {Urgency.LOOK})
    grave = (f for f in findings if f.severity != FindingSeverity.INFO and f.rule_id not in STANDING_RULES)
    states |= {Urgency.ACT if f.rule_id in ONGOING_RULES else Urgency.LOOK for f in grave}
    return next((urgency for urgency in Urgency if urgency in states), Urgency.CALM)


@dataclass(frozen=True)
class Absences:
    """Absences of brokers: `orderly` ones began with a controlled shutdown; of `not_back` ones no log shows the end.

    One that clocks which differ may show twice counts once; `most` counts both.
    """

    sudden: int
    orderly: int
    not_back: int
    most: int

    @property
    def least(self) -> int:
        return self.sudden + self.orderly


def absences(outages: Iterable[BrokerOutage]) -> Absences:
    """Count absences of brokers by how they began."""
    every = sorted(outages, key=lambda o: (o.down_at, o.outage_id))
    once = dict[str, BrokerOutage]()
    for row in every:
        if row.echo_of not in once:
            once[row.outage_id] = row
    rows = once.values()
    orderly = sum(map(is_orderly, rows))
    return Absences(len(rows) - orderly, orderly, sum(o.up_at is None for o in rows), len(every))


@dataclass(frozen=True)
class StoppedGroups:
    """The groups none of whose members consumed since something failed: at least and at most.

    `most` has those too whose members may only have been closed, and those of which no witness shows how many members
    stopped.
    """

    least: Sequence[Subject]
    most: Sequence[Subject]

    @property
    def number(self) -> str:
        """The number for a tile: `2`, or `0–1`."""
        return words.number_range(len(self.least), len(self.most))


def groups_stopped(
    incidents: Iterable[Incident], rows: Iterable[Unavailability], rebalances: Iterable[Rebalance]
) -> StoppedGroups:
    """The groups none of whose members consumed since something failed, or may have failed."""
    is_sure: dict[str | None, bool] = {
        i.incident_id: not (i.cause and i.cause.noun.is_silent_end) for i in incidents if _may_be_failure(i)
    }
    idle = [u for u in rows if u.incident_id in is_sure]
    after_failures = unused((u for u in idle if is_sure[u.incident_id]), NO_CONSUMER)
    of_failures = (r for r in rebalances if r.incident_id in is_sure)
    may_have_stopped = {(r.group_id, 0) for r in of_failures if may_stop_whole_group(r)}
    most = {*unused(idle, NO_CONSUMER).subjects, *may_have_stopped}
    return StoppedGroups(after_failures.subjects, sorted(most))


_OF_RECORDS = (Harm.RECORDS_SKIPPED, Harm.RECORDS_READ_AGAIN)


def _may_be_failure(incident: Incident) -> bool:
    """Whether something failed, or may have. A deployment that skipped records or read some again did not fail."""
    is_planned = incident.cause is not None and not incident.cause.noun.family.noun.is_failure
    return needs(incident) is not Urgency.CALM and not (is_planned and harm_of(incident) in _OF_RECORDS)


def may_stop_whole_group(rebalance: Rebalance) -> bool:
    """Whether all members may have stopped for so long that clients notice, as no witness names their assignor."""
    is_short = rebalance.outcome is Outcome.COMPLETED and (rebalance.duration_ms or NOTICED_MS) < NOTICED_MS
    return rebalance.kind is None and bool(rebalance.from_generation) and not is_short


def partition_seconds(rebalances: Iterable[Rebalance]) -> float:
    """The cost of rebalances in partition-seconds, as far as it is known."""
    return round(sum((row.partition_seconds or 0.0 for row in rebalances), 0.0), 3)


def known_partition_seconds(rebalances: Sequence[Rebalance]) -> float | None:
    """The same; None where the cost of no rebalance is known."""
    is_known = not rebalances or any(row.partition_seconds is not None for row in rebalances)
    return partition_seconds(rebalances) if is_known else None


def by_standing(findings: Iterable[Finding]) -> tuple[list[Finding], list[Finding]]:
    """The findings about settings, which stand until someone changes them, and those about what happened."""
    rows = list(findings)
    return [f for f in rows if f.rule_id in STANDING_RULES], [f for f in rows if f.rule_id not in STANDING_RULES]


def unseen(findings: Iterable[Finding]) -> list[Finding]:
    """The findings about gaps in our own input."""
    return [f for f in findings if f.rule_id in UNSEEN]
