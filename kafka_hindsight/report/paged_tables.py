"""The long tables of the report: leader changes and rebalances, a row for each."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_hindsight.catalog.nouns.causes import CauseFamily
from kafka_hindsight.catalog.nouns.tones import Tone
from kafka_hindsight.catalog.rows import Failover, Incident, Rebalance
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.phrases import (
    change,
    declared_label,
    incident_headline,
    lost_records,
    member_name,
    partition_seconds,
)
from kafka_hindsight.shared import plain, words

FAILOVERS = (
    "When", "Partition", "Leader", "Epoch", "Why", "Without a leader", "In-sync replicas", "Records lost", "Confidence",
)  # fmt: skip
INCIDENTS = ("Start", "Incident", "Harm", "Over", "Confidence", "Times", "Windows before", "Owner")
REBALANCES = ("Start", "Group", "Took", "Cause", "Confidence", "Started by", "Delayed by", "Generation", "Cost")


def incident_table(page: PageRows, rows: Sequence[Incident]) -> tuple[ui.PagedTable, ...]:
    """Incidents in the given order, with a filter; equal ones are one row. Empty where there is none."""
    return ui.paged_table("Incidents", INCIDENTS, [_incident(page, equal) for equal in figures.equal_incidents(rows)])


def _incident(page: PageRows, equal: Sequence[Incident]) -> tuple[str, tuple[ui.Words, ...]]:
    row = equal[0]
    noun, recurrence = figures.harm_of(row).noun, page.recurrence(row)
    return noun.tone, (
        ui.At(row.started_at),
        ui.Link(f"{incident_headline(row)}{declared_label(row)}", page.incident_anchor(row)),
        noun.label,
        {"over": "yes", "ongoing": "no", "unknown": "not known"}[figures.end_state_of(row)],
        figures.least_sure(equal),
        words.number(len(equal)) if equal[1:] else "",
        recurrence[0] if recurrence else "",
        page.whose(row.group_ids, row.topics or ())[1],
    )


def failover_table(rows: Sequence[Failover]) -> tuple[ui.PagedTable, ...]:
    """Changes of leaders in order of time, with a filter; empty where there is none."""
    return ui.paged_table("Leader changes", FAILOVERS, [*map(_failover, rows)], [(tone, tone.meaning) for tone in Tone])


def _failover(row: Failover) -> tuple[str, tuple[ui.Words, ...]]:
    noun, requested = row.kind.noun, {True: ", requested", False: ", by Kafka itself", None: ""}
    partition = f"{plain.shortened(row.topic)}-{row.partition}"
    return noun.tone, (
        ui.At(row.happened_at),
        ui.Link(partition, plain.anchor("topic", row.topic)),
        change(words.leader(row.leader_from), words.leader(row.leader_to)),
        change(row.epoch_from, row.epoch_to),
        f"{noun.label}{requested[row.requested_by_operator]}",
        words.duration(row.leaderless_ms) or words.between(row.leaderless_low_ms, row.leaderless_high_ms),
        change(_replicas(row.isr_before), _replicas(row.isr_after)),
        lost_records(row.records_lost_low, row.records_lost_high),
        row.confidence,
    )


def _replicas(brokers: Sequence[int] | None) -> str | None:
    return None if brokers is None else ", ".join(map(str, brokers)) or "none"


def rebalance_table(page: PageRows, rows: Sequence[Rebalance]) -> tuple[ui.PagedTable, ...]:
    """Rebalances in order of time, with a filter; empty where there is none."""
    tones = [(family, family.meaning) for family in CauseFamily]
    return ui.paged_table("Rebalances", REBALANCES, [_rebalance(page, row) for row in rows], tones)


def _rebalance(page: PageRows, row: Rebalance) -> tuple[str, tuple[ui.Words, ...]]:
    noun, incident = row.cause.noun, page.incidents.get(row.incident_id)
    took = words.duration(row.duration_ms) or "not known"
    delays = [f"{member_name(d)} {words.duration(d.waited_ms)}".strip() for d in row.delayed_by]
    is_numbered = row.from_generation is not None or row.to_generation is not None
    return noun.family, (
        ui.Link(ui.At(row.started_at), page.rebalance_anchor(row)),
        ui.Link(plain.shortened(row.group_id), plain.anchor("group", row.group_id)),
        took if row.outcome == "completed" else f"{took}, {row.outcome}",
        f"{noun.label}{declared_label(incident) if incident else ''}",
        row.confidence,
        f"{member_name(row)} {plain.shortened(row.host or '')}".strip(),
        ", ".join(delays),
        change(row.from_generation, row.to_generation) if is_numbered else "",
        partition_seconds(row),
    )
