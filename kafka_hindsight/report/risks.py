"""The risks of a topic and its partitions, and where replicas cut their logs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import TruncationVerdict
from kafka_hindsight.catalog.rows import PartitionRisk, Truncation
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.phrases import partition_name
from kafka_hindsight.shared import plain, words

SHOWN = 40
WORST_RISK = ("leaderless_low_ms", "one_from_unclean_ms", "under_min_isr_ms", "one_from_offline_ms", "at_min_isr_ms")
"""The columns by which risks are compared, the gravest first."""
HEADINGS = (
    "Partition", "Replicas", "Without leader", "Not writable", "At the minimum", "1 failure from offline",
    "1 failure from data loss", "Under-replicated", "Known", "Proof",
)  # fmt: skip


def truncation_entries(page: PageRows, rows: Sequence[Truncation]) -> Iterator[ui.Block]:
    """The replicas that cut their logs, those that removed committed records first."""
    verdicts = TruncationVerdict.worst_first()
    in_order = sorted(rows, key=lambda r: (verdicts.index(r.verdict), r.happened_at, r.truncation_id))
    for row in in_order[:SHOWN]:
        part = "its whole log" if row.is_whole else "a part of its log of unknown length"
        length = part if row.records_cut is None else words.counted(row.records_cut, "record")
        yield ui.Entry(
            f"Broker {row.broker} cut {length} of {partition_name(row.topic, row.partition)}",
            (ui.Paragraph(row.explanation), page.evidence(row.evidence)),
            anchor=plain.anchor("truncation", row.truncation_id),
            tone="lost" if row.verdict == TruncationVerdict.COMMITTED_LOST else "unknown",
            when=ui.At(row.happened_at),
            badges=(ui.confidence_badge(row.confidence),),
            cost=f"lost: {row.verdict.noun.label}",
        )
    yield from ui.left_out_note(len(rows) - SHOWN, "gold.truncations")


def risk_table(page: PageRows, rows: Sequence[PartitionRisk]) -> Iterator[ui.Block]:
    """The partitions at risk, the gravest first."""
    if not rows:
        return
    in_order = sorted(rows, key=lambda r: (*(-(getattr(r, column) or 0) for column in WORST_RISK), r.partition))
    table_rows = tuple(_risk(page, row) for row in in_order[:SHOWN])
    note = (
        "Each time is a lower bound: in the part of the window for which the in-sync replicas are not known it may have"
        " been longer. “?” where nothing is known."
    )
    yield ui.Expandable(
        f"{words.counted(len(rows), 'partition')} at risk in the window, by how long",
        (
            ui.PlainTable("Partitions at risk", HEADINGS, table_rows, "numbers"),
            ui.Paragraph(note, "quiet"),
            *ui.left_out_note(len(rows) - SHOWN, "gold.partition_risks"),
        ),
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
