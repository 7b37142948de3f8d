"""The failed requests and the settings of producers: tables for the page, answers and the terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.rows import ProducerFailure, ProducerSetting
from kafka_hindsight.measures.failed_requests import NOT_KNOWN, given_up, given_up_clause, place_of
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

ROWS = 60
"""The most rows of a table; gold.producer_failures has all."""

_FAILURES = ("Producer", "Partition", "From", "To", "What", "Retries", "Given up", "Confidence", "Why")
_SETTINGS = (
    "Producer", "acks", "idempotent", "retries", "delivery.timeout.ms", "request.timeout.ms", "in flight",
    "transactional.id", "Topics",
)  # fmt: skip


def summary_of(failures: Sequence[ProducerFailure]) -> Iterator[ui.Words]:
    """A sentence for each kind: how many producers, from when to when, retries, and how many were given up."""
    for kind, rows in grouped(failures, lambda r: r.kind).items():
        first, last = min(r.started_at for r in rows), max(r.last_at for r in rows)
        count = len({(r.source, r.client_id) for r in rows})
        clause = re.sub(r"^was\b", words.verb(count, "was", "were"), kind.noun.clause)
        retries = words.counted(sum(r.retries for r in rows), "retry", "retries")
        yield (
            f"{words.counted(count, 'producer')} {clause}: ",
            ui.At(first),
            " to ",
            ui.At(last),
            f", {retries}, {given_up_clause(rows)}.",
        )


def failures_block(page: PageRows, failures: Sequence[ProducerFailure]) -> Iterator[ui.Block]:
    """A sentence for each kind of failure, then row by row."""
    for sentence in summary_of(failures):
        yield ui.Paragraph(sentence)
    if failures:
        rows = tuple(_failure(page, row) for row in failures[:ROWS])
        yield ui.PlainTable("Requests of producers that failed", _FAILURES, rows)
        yield from ui.left_out_note(len(failures) - len(rows), "gold.producer_failures")


def _failure(page: PageRows, row: ProducerFailure) -> ui.TableRow:
    return ui.row(
        ui.head(ui.Name(plain.shortened(row.client_id or row.source))),
        ui.Name(plain.shortened(place_of(row))),
        ui.At(row.started_at),
        ui.At(row.last_at),
        words.listed([plain.shortened(e, 48) for e in row.errors], 3) or row.kind.noun.clause,
        words.exact(row.retries),
        given_up([row]),
        ui.confidence_badge(row.confidence),
        ui.Cell(page.evidence(row.evidence, row.explanation), "wide"),
        anchor=plain.anchor("producer-failure", row.producer_failure_id),
    )


def settings_block(settings: Sequence[ProducerSetting]) -> Iterator[ui.Block]:
    """How producers are set, as their own logs show."""
    if settings:
        yield ui.PlainTable("Settings of producers", _SETTINGS, tuple(map(_setting, settings[:ROWS])))
        yield from ui.left_out_note(len(settings) - ROWS, "gold.producer_settings")


def _setting(row: ProducerSetting) -> ui.TableRow:
    values = (
        row.acks,
        row.is_idempotent,
        row.retries,
        row.delivery_timeout_ms,
        row.request_timeout_ms,
        row.max_in_flight,
    )
    topics = words.listed([plain.shortened(t, 48) for t in row.topics or ()], 3)
    return ui.row(
        ui.head(ui.Name(plain.shortened(row.client_id or row.source))),
        *(NOT_KNOWN if value is None else str(value).lower() for value in values),
        ui.Name(plain.shortened(row.transactional_id)) if row.transactional_id else "none",
        topics or NOT_KNOWN,
    )
