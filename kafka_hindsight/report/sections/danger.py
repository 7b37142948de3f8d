"""Data lost, data at risk, and what the loss of one more broker or rack would cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from kafka_hindsight.catalog.rows import Failover, LossSimulation, PartitionRisk, Truncation
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import lost_records, partition_name
from kafka_hindsight.shared import plain, words

LOSSES = 60
RISKS = 40
EXPOSED: tuple[tuple[Callable[[PartitionRisk], int | None], str], ...] = (
    (
        # How long a partition with too few replicas in sync could not be written, a missing leader included.
        lambda r: r.under_min_isr_ms + r.leaderless_low_ms if r.under_min_isr_ms else None,
        "had too few replicas in sync for acks=all, and could not be written then, nor without a leader",
    ),
    (lambda r: r.one_from_unclean_ms, "{was} one failure away from losing records to an unclean election"),
    (lambda r: r.one_from_offline_ms, "{was} one failure away from being offline"),
)
WORST_RISK = ("leaderless_low_ms", "one_from_unclean_ms", "under_min_isr_ms", "one_from_offline_ms", "at_min_isr_ms")
"""The columns by which risks are compared, the gravest first."""
LOSS_HEADINGS = ("When", "Partition", "Broker", "What", "Lost", "Confidence", "Why")
SIMULATION_HEADINGS = (
    "Lost", "Offline", "Unclean", "Unwritable", "Not known", "Leaders to move", "Groups to move", "What would happen<",
)  # fmt: skip
RISK_HEADINGS = (
    "Partition", "Replicas", "Without leader", "Not writable", "At the minimum", "1 failure from offline",
    "1 failure from data loss", "Under-replicated", "Known", "Proof",
)  # fmt: skip


def danger(page: PageRows) -> Iterator[ui.Block]:
    """Data lost, data at risk, and the losses that one more failure would cause now."""
    elections = [r for r in page.of(Failover) if r.records_lost_low is not None or r.records_lost_high is not None]
    verdicts = list(vocabulary.TRUNCATIONS)
    cuts = sorted(page.of(Truncation), key=lambda r: (verdicts.index(r.verdict), r.happened_at, r.truncation_id))
    risks = sorted(
        page.of(PartitionRisk),
        key=lambda r: (*(-(getattr(r, column) or 0) for column in WORST_RISK), r.topic, r.partition),
    )
    sentences = [*_loss_sentences(page), *_exposure_sentences(page)]
    if unknown := sum(row.one_from_offline_ms is None for row in risks):
        subject = f"No log or snapshot shows which replicas of {words.counted(unknown, 'partition')} were in sync"
        sentences.append(("plain", f"{subject}: what {words.verb(unknown, 'it', 'they')} risked is not known."))
    sentences += _simulation_sentences(page)
    yield from ui.statements(sentences)
    losses = chain((_election(page, row) for row in elections), (_cut(page, row) for row in cuts))
    count = len(elections) + len(cuts)
    if count:
        yield ui.Heading("Elections and truncations that can lose records")
        yield ui.Table("Losses and truncations", LOSS_HEADINGS, tuple(islice(losses, LOSSES)))
        yield from ui.left_out_note(count - LOSSES, "gold.truncations")
    simulations = sorted(page.of(LossSimulation), key=_worst_simulation)
    if simulations:
        yield ui.Heading(("If one were lost now, by the reading at ", ui.At(max(r.snapshot_at for r in simulations))))
        table_rows = tuple(_simulation(page, row) for row in simulations)
        yield ui.Table("What would be lost with each broker or rack", SIMULATION_HEADINGS, table_rows, "numbers")
    if sentences or count:
        yield from _risks(page, risks)


def _election(page: PageRows, row: Failover) -> ui.TableRow:
    loss = lost_records(row.records_lost_low, row.records_lost_high)
    broker = "" if row.leader_to is None else str(row.leader_to)
    tone = "plain" if row.records_lost_high == 0 else "bad"
    return _loss(page, row, broker, vocabulary.FAILOVERS[row.kind].label, ui.Cell(loss, tone), has_failover=True)


def _cut(page: PageRows, row: Truncation) -> ui.TableRow:
    look = vocabulary.TRUNCATIONS[row.verdict]
    part = "its whole log" if row.is_whole else "a part of its log of unknown length"
    event = f"cut {part if row.records_cut is None else words.counted(row.records_cut, 'record')}"
    has_failover = bool(row.failover_id and page.rows_of(Failover, "failover_id", row.failover_id))
    anchor = plain.anchor("truncation", row.truncation_id)
    return _loss(page, row, str(row.broker), event, ui.Cell(look.label, look.tone), has_failover, anchor)


def _loss(
    page: PageRows,
    row: Failover | Truncation,
    broker: str,
    event: str,
    loss: ui.Cell,
    has_failover: bool,
    anchor: str = "",
) -> ui.TableRow:
    why: ui.Content = page.evidence(row.evidence, row.explanation)
    failover = ui.Link("its failover", plain.anchor("topic", row.topic))
    return ui.row(
        ui.At(row.happened_at),
        ui.Cell(ui.Name(partition_name(row.topic, row.partition)), "id"),
        broker,
        event,
        loss,
        ui.confidence_badge(row.confidence),
        ui.Cell((why, " ", failover) if has_failover else why, "wide"),
        anchor=anchor,
    )


def _loss_sentences(page: PageRows) -> Iterator[tuple[str, str]]:
    verdicts = Counter(row.verdict for row in page.of(Truncation))
    harmful, unknown, harmless = (verdicts[v] for v in vocabulary.TRUNCATIONS)
    if harmful:
        yield "bad", f"{words.counted(harmful, 'truncation')} removed committed records."
    if harmless and harmless == verdicts.total():
        yield "good", f"{words.counted(harmless, 'truncation')} removed no committed record."
    elif unknown:
        yield "warn", f"It is not known what {words.counted(unknown, 'truncation')} removed."
    unclean = [row for row in page.of(Failover) if row.kind == "unclean_election"]
    unbounded = sum(row.records_lost_high is None for row in unclean)
    if unbounded:
        yield "warn", f"The most that {words.counted(unbounded, 'unclean election')} can have lost is not known."


def _exposure_sentences(page: PageRows) -> Iterator[tuple[str, str]]:
    """The partitions that were one failure from harm or could not be written, and the one that was so longest."""
    for exposed, harm in EXPOSED:
        risks = [row for row in page.of(PartitionRisk) if exposed(row)]
        if risks:
            worst = max(risks, key=lambda r: (exposed(r) or 0, r.topic, r.partition))
            place = f"{'the longest ' if len(risks) > 1 else ''}{partition_name(worst.topic, worst.partition)}"
            predicate = harm.format(was=words.verb(len(risks), "was", "were"))
            count, length = words.counted(len(risks), "partition"), words.duration(exposed(worst))
            yield "warn", f"{count} {predicate}: {place}, for {length} in all."


def _simulation_sentences(page: PageRows) -> Iterator[tuple[str, str]]:
    worst = min(page.of(LossSimulation), key=_worst_simulation, default=None)
    if worst is None:
        return
    if worst.partitions_offline or worst.partitions_unclean:
        yield "bad", worst.explanation
    elif worst.partitions_unwritable or worst.partitions_unjudged:
        yield "warn", worst.explanation
    else:
        yield "good", "If any one broker or rack were lost now, every partition would keep a leader and stay writable."


def _worst_simulation(row: LossSimulation) -> tuple[object, ...]:
    counts = (row.partitions_offline, row.partitions_unclean, row.partitions_unwritable, row.partitions_unjudged)
    return *(-count for count in counts), row.scope_kind, row.scope


def _simulation(page: PageRows, row: LossSimulation) -> ui.TableRow:
    brokers = f" (brokers {words.ranges(row.broker_ids)})" if row.scope_kind == "rack" else ""
    worst, stranded = (
        ", ".join(plain.shortened(name) for name in names or ())
        for names in (row.worst_partitions, row.stranded_group_ids)
    )
    more: tuple[ui.Block, ...] = (
        *ui.note(("Worst: ", ui.Name(worst)), worst),
        *ui.note(("No broker could coordinate: ", ui.Name(stranded)), stranded),
        page.evidence(row.evidence),
    )
    return ui.row(
        ui.head(f"{row.scope_kind} {plain.shortened(row.scope)}{brokers}"),
        ui.Cell(words.exact(row.partitions_offline), "bad" if row.partitions_offline else ""),
        ui.Cell(words.exact(row.partitions_unclean), "bad" if row.partitions_unclean else ""),
        ui.Cell(words.exact(row.partitions_unwritable), "warn" if row.partitions_unwritable else ""),
        words.exact(row.partitions_unjudged),
        words.exact(row.leaders_to_move),
        "not known" if row.group_ids is None else words.number(len(row.group_ids)),
        ui.Cell(ui.Expandable(row.explanation, more, "proof"), "left wide"),
        anchor=plain.anchor("simulation", f"{row.scope_kind} {row.scope}"),
    )


def _risks(page: PageRows, rows: Sequence[PartitionRisk]) -> Iterator[ui.Block]:
    if not rows:
        return
    table_rows = tuple(_risk(page, row) for row in rows[:RISKS])
    note = (
        "Each time is a lower bound: in the part of the window for which the in-sync replicas are not known it may have"
        " been longer. “?” where nothing is known."
    )
    more = f" {len(rows) - RISKS:,} more in gold.partition_risks." if len(rows) > RISKS else ""
    yield ui.Expandable(
        f"{words.counted(len(rows), 'partition')} at risk in the window, by how long",
        (ui.Table("Partitions at risk", RISK_HEADINGS, table_rows, "numbers"), ui.Paragraph(note + more, "quiet")),
    )


def _risk(page: PageRows, row: PartitionRisk) -> ui.TableRow:
    factor, minimum = ("?" if n is None else n for n in (row.replication_factor, row.min_insync_replicas))
    known_share = row.known_ms / (words.elapsed_ms(row.window_from, row.window_to) or row.known_ms or 1)
    exposed = (row.under_min_isr_ms, row.at_min_isr_ms, row.one_from_offline_ms, row.one_from_unclean_ms)
    return ui.row(
        ui.head(ui.Name(partition_name(row.topic, row.partition)), "id"),
        ui.Cell(f"{factor}, {minimum} at least in sync", "left"),
        words.between(row.leaderless_low_ms, row.leaderless_high_ms),
        *("?" if ms is None else words.duration(ms) if ms else "" for ms in (*exposed, row.under_replicated_ms)),
        words.percent(known_share),
        ui.Cell(page.evidence(row.evidence), "left"),
        anchor=plain.anchor("risk", f"{row.topic}-{row.partition}"),
    )


SECTION = Section("cluster", 20, "danger", "Data lost, data at risk", danger)
