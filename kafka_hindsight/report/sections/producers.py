"""The producers whose logs were given: what failed, beside the outage that they witness, and how they are set."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_hindsight.catalog.rows import ProducerFailure, ProducerSetting
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.producer_lines import failures_block, settings_block
from kafka_hindsight.shared import words

OPEN = 12


def producers(page: PageRows) -> Iterator[ui.Block]:
    """The failed requests of producers, then their settings."""
    failures, settings = page.of(ProducerFailure), page.of(ProducerSetting)
    if failures:
        summary = words.counted(len(failures), "time in which requests failed", "times in which requests failed")
        yield ui.Expandable(summary, tuple(failures_block(page, failures)), is_open=len(failures) <= OPEN)
    if settings:
        summary = words.counted(len(settings), "set of settings", "sets of settings")
        yield ui.Expandable(summary, tuple(settings_block(settings)), is_open=len(settings) <= OPEN)


SECTION = Section("cluster", 55, "producers", "Producers", producers)
