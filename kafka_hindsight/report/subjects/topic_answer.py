"""The answer about one topic: what of it could not be used, what was lost, and what its replicas risk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from kafka_hindsight.catalog.codes import WitnessKind
from kafka_hindsight.catalog.rows import (
    Failover,
    Incident,
    OffsetJump,
    PartitionRisk,
    PartitionStall,
    ProducerFailure,
    Truncation,
    Unavailability,
    Witness,
)
from kafka_hindsight.knowledge.advice import sentences_of
from kafka_hindsight.knowledge.durability_advice import Replication, prevention_of
from kafka_hindsight.measures.record_losses import can_lose
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, NO_WRITES, unused
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures, phrases
from kafka_hindsight.report.answer import Answer, finding_items, incident_lines
from kafka_hindsight.report.jump_lines import jumps_block
from kafka_hindsight.report.not_known import sentences_about
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.paged_tables import failover_table
from kafka_hindsight.report.producer_lines import failures_block
from kafka_hindsight.report.risks import risk_table, truncation_entries
from kafka_hindsight.report.stall_table import stall_table
from kafka_hindsight.report.trends import subject_trends
from kafka_hindsight.shared import plain, words

P = TypeVar("P", Failover, Unavailability, Truncation, PartitionRisk, PartitionStall, ProducerFailure, OffsetJump)

STORIES = 60
"""The most changes of leaders that are shown one by one; the paged table has all."""


def topic_answer(page: PageRows, topic: str) -> Answer:
    """Answer for a topic of the window."""
    rows = _Rows(page, topic)
    numbers = sorted({*(row.partition for row in rows.failovers), *(row.partition for row in rows.risks)})
    partitions = [f"{topic}-{partition}" for partition in numbers]
    findings = (*finding_items(page, "topic", [topic]), *finding_items(page, "partition", partitions))
    seconds = sum(words.elapsed_ms(row.started_at, row.ended_at) or 0 for row in rows.intervals) / 1000
    events = ("Times that a partition could not be used", len(rows.intervals))
    trends = subject_trends(page, "topic", topic, events, ("Partition-seconds of these times", seconds))
    return _answer(page, "topic", topic, rows, findings, (trends,))


def partition_answer(page: PageRows, name: str) -> Answer:
    """Answer for a partition of the window, by its topic and number as in `orders-17`."""
    topic, _, number = name.rpartition("-")
    return _answer(page, "partition", name, _Rows(page, topic, int(number)), finding_items(page, "partition", [name]))


_WITNESSES = (WitnessKind.LEADERS, WitnessKind.IN_SYNC, WitnessKind.CUTS)
"""What logs must be able to show before a partition counts as available."""


class _Rows:
    """The rows about a topic, or about one partition of it."""

    def __init__(self, page: PageRows, topic: str, partition: int | None = None) -> None:
        def of(kind: type[P]) -> Sequence[P]:
            rows = page.rows_of(kind, "topic", topic)
            return rows if partition is None else [row for row in rows if row.partition == partition]

        self.topic = topic
        self.failovers, self.intervals = of(Failover), of(Unavailability)
        self.truncations, self.risks = of(Truncation), of(PartitionRisk)
        self.failures, self.stalls = of(ProducerFailure), of(PartitionStall)
        self.jumps = of(OffsetJump)


def _answer(
    page: PageRows,
    kind: str,
    name: str,
    rows: _Rows,
    findings: tuple[ui.Block, ...],
    trends: tuple[ui.ShownSection, ...] = (),
) -> Answer:
    incidents = figures.urgent_first(page.rows_of(Incident, "topics", rows.topic))
    worst = incidents[0] if incidents else None
    failovers, intervals = rows.failovers, rows.intervals
    worst_interval = max(intervals, key=lambda r: (r.ended_at is None, r.low_ms, r.unavailability_id), default=None)
    cause = page.incidents.get(worst_interval.incident_id if worst_interval else None, worst)
    proof = worst_interval.evidence if worst_interval else failovers[0].evidence if failovers else ()
    return Answer(
        kind,
        plain.shortened(name),
        plain.anchor(kind, name),
        _verdict(failovers, intervals, cause),
        worst.confidence if worst else "",
        figures.end_state_of(worst) if worst else None,
        unobserved=tuple(sentences_about(page.of(Witness), _WITNESSES)),
        cost=_cost(page, rows),
        advice=tuple(_prevention(rows, incidents)),
        commands=tuple(command for command in (worst.commands or () if worst else ()) if rows.topic in command),
        proof=proof,
        sections=(
            ui.ShownSection("topic-incidents", "Its incidents", incident_lines(page, incidents)),
            ui.ShownSection("topic-findings", "Findings about it", findings),
            ui.ShownSection(
                "topic-stalls",
                "Partitions in which consumers stood still or fell behind",
                tuple(stall_table(page, rows.stalls)),
            ),
            ui.ShownSection("topic-jumps", "Records skipped and read again", tuple(jumps_block(page, rows.jumps))),
            ui.ShownSection("topic-producers", "What producers met", tuple(failures_block(page, rows.failures))),
            ui.ShownSection(
                "topic-truncations", "Replicas that cut their logs", tuple(truncation_entries(page, rows.truncations))
            ),
            ui.ShownSection("topic-risks", "What its replicas risked", tuple(risk_table(page, rows.risks))),
            ui.ShownSection("topic-leaders", "Its changes of leaders", tuple(_stories(page, failovers))),
            *trends,
        ),
    )


def _prevention(rows: _Rows, incidents: Sequence[Incident]) -> Iterator[str]:
    """The measures against the harms of its incidents, each once, without those that the topic has already."""
    factors = [risk.replication_factor for risk in rows.risks]
    minima = [risk.min_insync_replicas for risk in rows.risks]
    weakest = Replication.weakest(map(Replication, factors, minima))
    harms = dict.fromkeys(figures.harm_of(incident) for incident in incidents)
    sentences = (s for harm in harms for s in sentences_of(prevention_of(harm, weakest)))
    if text := " ".join(dict.fromkeys(sentences)):
        yield text


def _verdict(failovers: Sequence[Failover], intervals: Sequence[Unavailability], cause: Incident | None) -> str:
    """The partitions that could not be used, for how long, and the event behind the longest of these times."""
    parts = [sums.clause() for kinds in (LEADERLESS, NO_WRITES) if (sums := unused(intervals, kinds)).most]
    losses = [phrases.lost_records(f.records_lost_low, f.records_lost_high) for f in failovers if f.records_lost_low]
    if losses:
        parts.insert(0, f"{words.listed(losses)} lost in an unclean election")
    summary = "; ".join(parts)
    if not failovers and not summary:
        return "Available, as far as logs show."
    if not summary:
        changes = words.counted(len(failovers), "change of a leader", "changes of a leader")
        return f"Available, as far as logs show, except for less than one second: {changes}."
    # A headline is what was lost, then the event behind it.
    event = phrases.incident_headline(cause).rpartition(": ")[2] if cause else ""
    label = "Behind what is not over" if any(row.ended_at is None for row in intervals) else "Behind the longest"
    return f"{words.sentence(summary)}." + (f" {label}: {event}." if event else "")


def _cost(page: PageRows, rows: _Rows) -> tuple[ui.Fact, ...]:
    leaderless, no_writes = (unused(rows.intervals, kinds) for kinds in (LEADERLESS, NO_WRITES))
    return ui.facts(
        ("Without a leader", leaderless.partition_seconds if leaderless.most else ""),
        ("Without writes (acks=all)", no_writes.partition_seconds if no_writes.most else ""),
        ("Changes of leaders", words.number(len(rows.failovers))),
        ("Consumers that stood still or fell behind", words.number(len(rows.stalls)) if rows.stalls else ""),
        page.whose((), [rows.topic]),
    )


def _stories(page: PageRows, rows: Sequence[Failover]) -> Iterator[ui.Block]:
    """All changes in a paged table, and those with a loss or the longest time without a leader one by one."""
    yield from failover_table(rows)
    grave = sorted(rows, key=lambda f: (not can_lose(f), -(f.leaderless_ms or 0), f.happened_at, f.failover_id))
    if rows:
        yield ui.Heading("The gravest of them one by one")
    for row in grave[:STORIES]:
        yield ui.Entry(
            f"{phrases.partition_name(row.topic, row.partition)}: {row.explanation}",
            (page.evidence(row.evidence),),
            style="failover",
            tone=row.kind.noun.tone,
            when=ui.At(row.happened_at),
            badges=(ui.confidence_badge(row.confidence),),
            cost=words.duration(row.leaderless_ms),
        )
