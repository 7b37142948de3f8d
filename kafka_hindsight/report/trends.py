"""Numbers window by window: those of the cluster, of a group, of a topic and of a broker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import EarlierWindow, PageRows
from kafka_hindsight.shared import words

WINDOWS_FOR_A_TREND = 3


def trend(
    windows: Sequence[EarlierWindow], label: str, values: Sequence[float], as_text: Callable[[float], str]
) -> ui.Trend:
    """One number as bars, the window of the report last. `as_text` writes a value with its unit."""
    most, width = max(values) or 1.0, 100 / len(values)
    bars = []
    for i, (window, value) in enumerate(zip(windows, values, strict=True)):
        sentence = f"{words.instant(window.window_from)[:10]}: {as_text(value)}"
        bars.append((round(i * width, 3), round(width * 0.8, 3), round(100 * value / most, 2), sentence))
    return ui.Trend(label, as_text(values[-1]), as_text(median(values[:-1])), tuple(bars))


def subject_trends(
    page: PageRows, kind: str, name: str, events: tuple[str, float], seconds: tuple[str, float]
) -> ui.ShownSection:
    """The events of a group, topic or broker and their seconds, window by window; empty where too few are alike.

    `events` and `seconds` are each a label and the number in this window.
    """
    windows = [*page.comparable_windows, page.as_window]
    earlier = {row.window_from: row for row in page.earlier_subjects.get((kind, name), ())}
    rows = [earlier.get(window.window_from) for window in windows[:-1]]
    counts = [*(row.events if row else 0.0 for row in rows), events[1]]
    sums = [*(row.seconds if row else 0.0 for row in rows), seconds[1]]
    blocks: tuple[ui.Block, ...] = ()
    if len(windows) >= WINDOWS_FOR_A_TREND:
        trends = (trend(windows, events[0], counts, words.number), trend(windows, seconds[0], sums, words.number))
        blocks = (ui.Trends(trends),)
    return ui.ShownSection("nights", "The windows before", blocks)
