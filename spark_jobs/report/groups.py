"""Incidents and rebalances: what the consumer groups went through."""

from __future__ import annotations

from spark_jobs.report import plain, vocabulary, words
from spark_jobs.report.model import Contributor, Delay, Incident, Link, Rebalance
from spark_jobs.report.page_rows import Night, Row, outage_words, who

LINKS_PER_INCIDENT = 60


def incident_headline(night: Night, incident: Row) -> str:
    """An incident in a few words: what it was, and whom it met."""
    groups = [plain.shortened(g, 48) for g in incident["group_ids"]]
    met = f"group {groups[0]}" if len(groups) == 1 else words.counted(len(groups), "group")
    outage = night.outages.get(incident.get("outage_id") or "")
    if outage:
        return f"{words.sentence(outage_words(outage))}: {met}"
    label = vocabulary.INCIDENT_LABELS[incident["kind"]]
    cause = vocabulary.CAUSE_LABELS[incident["cause"]]
    return f"{label} of {met}: {cause}" if incident["kind"] != "single" else f"{words.sentence(cause)}: {met}"


def incidents(night: Night) -> tuple[Incident, ...]:
    """The incidents, worst first: unplanned ones, then by cost, by the rebalances they made, and by their cause."""
    return tuple(_incident(night, row) for row in sorted(night.rows("gold.incidents"), key=_cost))


def _cost(incident: Row) -> tuple[object, ...]:
    return (
        incident["planned"],
        -(incident["partition_seconds"] or 0.0),
        -incident["rebalance_count"],
        list(vocabulary.TONE_OF_CAUSE).index(incident["cause"]),
        incident["started_at"],
        incident["incident_id"],
    )


def _incident(night: Night, row: Row) -> Incident:
    members = night.rebalances_of.get(row["incident_id"], ())
    several_groups = len(row["group_ids"]) > 1
    links = tuple(
        Link(
            words.instant(r["started_at"], night.day)
            + (f" {plain.shortened(r['group_id'], 32)}" if several_groups else ""),
            plain.anchor("rebalance", r["rebalance_id"]),
        )
        for r in members[:LINKS_PER_INCIDENT]
    )
    return Incident(
        anchor=plain.anchor("incident", row["incident_id"]),
        kind=vocabulary.INCIDENT_LABELS[row["kind"]],
        headline=incident_headline(night, row),
        tone=vocabulary.TONE_OF_CAUSE[row["cause"]],
        cause=vocabulary.CAUSE_LABELS[row["cause"]],
        confidence=row["confidence"],
        planned=row["planned"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        lasted_ms=words.elapsed_ms(row["started_at"], row["ended_at"]),
        group_ids=tuple(plain.shortened(g) for g in row["group_ids"]),
        rebalance_count=row["rebalance_count"],
        rebalances=links,
        outage=night.outage_link(row.get("outage_id")),
        partition_seconds=row["partition_seconds"],
        explanation=row["explanation"],
        advice=row["advice"],
        evidence=night.evidence(row),
    )


def rebalances(night: Night) -> tuple[Rebalance, ...]:
    """Every rebalance, in order of time."""
    return tuple(_rebalance(night, row) for row in night.rebalances)


def _rebalance(night: Night, row: Row) -> Rebalance:
    incident = night.incidents.get(row["incident_id"] or "")
    # An incident of one rebalance would lead the reader in a circle.
    leads = incident is not None and incident["rebalance_count"] > 1
    return Rebalance(
        anchor=plain.anchor("rebalance", row["rebalance_id"]),
        group_id=plain.shortened(row["group_id"]),
        protocol=row["protocol"],
        generations=_change(row["from_generation"], row["to_generation"]),
        coordinator=row["coordinator"],
        started_at=row["started_at"],
        duration_ms=row["duration_ms"],
        outcome=row["outcome"],
        tone=vocabulary.TONE_OF_CAUSE[row["cause"]],
        cause=vocabulary.CAUSE_LABELS[row["cause"]],
        confidence=row["confidence"],
        planned=night.is_planned(row),
        who=who(row),
        host=plain.shortened(row["host"] or ""),
        reason=row["reason"] or "",
        members=_change(row["members_before"], row["members_after"]),
        partition_seconds=row["partition_seconds"],
        contributors=tuple(
            Contributor(who(c), vocabulary.CAUSE_LABELS.get(c["cause"], ""), c["at"]) for c in row["contributors"]
        ),
        delayed_by=tuple(Delay(who(d), d["waited_ms"]) for d in row["delayed_by"]),
        incident=_incident_link(incident) if incident and leads else None,
        explanation=row["explanation"],
        advice=row["advice"],
        evidence=night.evidence(row),
    )


def _incident_link(incident: Row) -> Link:
    label = vocabulary.INCIDENT_LABELS[incident["kind"]].lower()
    return Link(
        f"{label}, {words.counted(incident['rebalance_count'], 'rebalance')}",
        plain.anchor("incident", incident["incident_id"]),
    )


def _change(before: int | None, after: int | None) -> str:
    if before is None and after is None:
        return ""
    return f"{'?' if before is None else before} → {'?' if after is None else after}"
