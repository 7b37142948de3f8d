"""Declared changes in words, and which of them an incident meets. They claim nothing about why it happened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.settings.changes import Change
from kafka_hindsight.shared import plain, words

CHANGES = 3
"""The most changes that stand in words below a strip, or beside an incident."""

NAMES = 3


def changes_met(changes: Sequence[Change], incident: Incident, end: datetime) -> list[Change]:
    """The changes that overlap an incident in time and in subject. One that is open lasts until `end`."""
    last = incident.ended_at or end
    return [
        change
        for change in changes
        if change.is_within(incident.started_at, last)
        and change.touches(incident.group_ids, incident.topics or (), incident.brokers or ())
    ]


def changes_of_window(page: PageRows) -> Iterator[ui.Paragraph]:
    """The declared changes of a window; of many the first ones, and the number of the others."""
    if page.changes:
        yield ui.Paragraph(("Declared: ", changes_in_words(page.changes), "."), "changes")


def changes_in_words(changes: Sequence[Change]) -> ui.Words:
    """Changes with what they touch, their times and what was done; empty without any."""
    more = len(changes) - CHANGES
    hidden = f"; and {words.number(more)} more" if more > 0 else ""
    return (ui.join([_in_words(change) for change in changes[:CHANGES]], "; "), hidden) if changes else ""


def _in_words(change: Change) -> ui.Words:
    subjects = [*_subjects(change)]
    of = (" of ", ui.join(subjects, ", ")) if subjects else " of the cluster"
    return change.what, of, ", ", ui.At(change.start), " to ", ui.At(change.end), " (", change.summary.rstrip("."), ")"


def _subjects(change: Change) -> Iterator[ui.Words]:
    if change.brokers:
        yield f"{words.verb(len(change.brokers), 'broker', 'brokers')} {words.ranges(change.brokers)}"
    for noun, patterns in (("group", change.groups), ("topic", change.topics)):
        if patterns:
            names = ui.join([ui.Name(plain.shortened(pattern)) for pattern in patterns[:NAMES]])
            more = f" and {len(patterns) - NAMES} more" if patterns[NAMES:] else ""
            yield words.verb(len(patterns), f"{noun} ", f"{noun}s "), names, more
