"""This window beside those before it: new findings, past ones, and the trend of the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median

from kafka_hindsight.catalog.rows import Finding, Unavailability
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.page_rows import EarlierWindow, PageRows, Section
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.unavailability_sums import NO_LEADER, unused

CHANGES = 12
WINDOWS_FOR_A_TREND = 3
# The numbers that are shown window by window, and how each is formatted.
NUMBERS: tuple[tuple[str, Callable[[EarlierWindow], float], Callable[[float], str]], ...] = (
    ("Rebalances", lambda w: w.rebalances, words.number),
    ("Partition-seconds stopped", lambda w: w.partition_seconds, words.number),
    ("Leader changes", lambda w: w.failovers, words.number),
    ("Time without a leader, summed over partitions", lambda w: w.leaderless_ms, words.duration),
)
SEVERE = {"critical": "bad", "warning": "warn"}


def history(page: PageRows) -> Iterator[ui.Block]:
    """The changes since the window before, and the trend; empty where the lake holds no window before this one."""
    earlier = page.run.history
    if earlier is None or not earlier.windows:
        return
    before = sorted(earlier.windows, key=lambda w: w.window_from)
    this = EarlierWindow(
        window_from=page.window[0],
        rebalances=len(page.rebalances),
        partition_seconds=figures.partition_seconds(page.rebalances),
        failovers=len(page.failovers),
        leaderless_ms=unused(page.of(Unavailability), NO_LEADER).total_ms,
    )
    windows, last = [*before, this], before[-1]
    rebalances = _comparison(this.rebalances, last.rebalances, "rebalance")
    failovers = _comparison(this.failovers, last.failovers, "leader change")
    yield ui.Paragraph(f"Against the window from {words.instant(last.window_from)}: {rebalances} and {failovers}.")
    changes = tuple(_changes(page, earlier.findings))
    if changes:
        yield ui.List(changes, "statements")
    if len(windows) >= WINDOWS_FOR_A_TREND:
        yield ui.Trends(tuple(_trend(windows, *number) for number in NUMBERS))


def _comparison(now: float, before: float, noun: str) -> str:
    count = words.counted(int(now), noun)
    if now == before:
        return f"{count}, as many"
    return f"{count}, {words.number(abs(now - before))} {'more' if now > before else 'fewer'}"


def _changes(page: PageRows, before: Sequence[Finding]) -> Iterator[ui.Item]:
    """New findings, worst first, then those of the window before that this one does not have."""
    now = {_key(row): row for row in sorted(page.of(Finding), key=_order) if row.severity in SEVERE}
    then = {_key(row): row for row in sorted(before, key=_order) if row.severity in SEVERE}
    new = [
        ui.Item(
            (f"New: {row.message} ", ui.Link("Show", plain.anchor("finding", row.finding_id))), SEVERE[row.severity]
        )
        for key, row in now.items()
        if key not in then
    ]
    past = [ui.Item(f"No longer found: {row.message}", "good") for key, row in then.items() if key not in now]
    for items, label in ((new, "new findings"), (past, "findings of the window before")):
        yield from items[:CHANGES]
        if len(items) > CHANGES:
            yield ui.Item(f"{words.number(len(items) - CHANGES)} more {label}.", "plain")


def _order(row: Finding) -> tuple[str, str, str]:
    # The order of SEVERE is that of the alphabet.
    return row.severity, row.rule_id, row.subject


def _key(finding: Finding) -> tuple[str, str, str]:
    return finding.rule_id, finding.subject_kind, finding.subject


def _trend(
    windows: Sequence[EarlierWindow],
    label: str,
    value_of: Callable[[EarlierWindow], float],
    as_text: Callable[[float], str],
) -> ui.Trend:
    values = [float(value_of(window)) for window in windows]
    most, width = max(values) or 1.0, 100 / len(values)
    places = [(round(i * width, 3), round(width * 0.8, 3)) for i in range(len(values))]
    bars = tuple(
        (*place, round(100 * value / most, 2), f"{words.instant(window.window_from)[:10]}: {as_text(value)}")
        for place, window, value in zip(places, windows, values, strict=True)
    )
    return ui.Trend(label, as_text(values[-1]), as_text(median(values[:-1])), bars)


SECTION = Section("history", 10, "history", "What changed", history)
