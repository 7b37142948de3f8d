"""The windows before this one: a calendar, the incidents that came back, and the trend of the numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import EarlierIncident, EarlierWindow, PageRows, Section
from kafka_hindsight.report.trends import WINDOWS_FOR_A_TREND, trend
from kafka_hindsight.shared import plain, words

RECURRING = 60
NUMBERS: tuple[tuple[str, Callable[[EarlierWindow], float], Callable[[float], str]], ...] = (
    ("Rebalances", lambda w: w.rebalances, words.number),
    ("Partition-seconds stopped", lambda w: w.partition_seconds, words.number),
    ("Leader changes", lambda w: w.failovers, words.number),
    ("Time without a leader, summed over partitions", lambda w: w.leaderless_ms, words.duration),
)
"""The numbers that are shown window by window, and how each is formatted."""

HEADINGS = ("Incident", "Windows with it", "Windows<", "First", "Last", "In this window")


def history(page: PageRows) -> Iterator[ui.Block]:
    """Nothing where the lake holds no window before this one."""
    windows = page.earlier_windows
    if not windows:
        return
    yield ui.Paragraph((_calendar_sentence(windows), " ", _calendar(windows)))
    others = len(windows) - len(page.comparable_windows)
    yield from ui.note(
        f"{words.sentence(words.counted(others, 'window'))} {words.verb(others, 'has', 'have')} another length than"
        " this one: their incidents count here, their numbers are not compared.",
        others,
    )
    comparable = [*page.comparable_windows, page.as_window]
    if len(comparable) >= WINDOWS_FOR_A_TREND:
        yield ui.Trends(
            tuple(trend(comparable, label, [value(w) for w in comparable], text) for label, value, text in NUMBERS)
        )
    yield from _recurring(page, windows)


def _calendar_sentence(windows: Sequence[EarlierWindow]) -> str:
    states = Counter(w.state for w in windows)
    counts = [f"{words.number(states[s])} {vocabulary.STATES[s].lower()}" for s in vocabulary.STATES if states[s]]
    since = words.instant(windows[0].window_from)[:10]
    summary = f": {words.listed(counts)}" if counts else ""
    return f"{words.sentence(words.counted(len(windows), 'window'))} before this one, since {since}{summary}."


def _calendar(windows: Sequence[EarlierWindow]) -> ui.Strip:
    squares = tuple(
        (w.state or "none", f"{words.instant(w.window_from)}: {w.state or 'state not known'}") for w in windows
    )
    return ui.Strip(squares, f"{len(windows)} windows, the oldest first")


def _recurring(page: PageRows, windows: Sequence[EarlierWindow]) -> Iterator[ui.Block]:
    """The incidents of several windows, those of most windows first."""
    now = {row.recurrence_id: row for row in page.of(Incident)}
    rows = sorted(
        (e for e in page.earlier_incidents.values() if len(e.windows) + (e.recurrence_id in now) > 1),
        key=lambda e: (-len(e.windows), e.first_at, e.recurrence_id),
    )
    if not rows:
        yield ui.Paragraph("No incident came back.")
        return
    yield ui.Heading("Incidents that came back")
    table_rows = tuple(_row(row, now.get(row.recurrence_id), windows) for row in rows[:RECURRING])
    yield ui.Table("Incidents that came back", HEADINGS, table_rows)
    yield from ui.left_out_note(len(rows) - RECURRING, "gold.incidents")


def _row(row: EarlierIncident, incident: Incident | None, windows: Sequence[EarlierWindow]) -> ui.TableRow:
    starts = {*row.windows}
    squares = tuple(
        (
            "act" if w.window_from in starts else "calm",
            f"{words.instant(w.window_from)[:10]}: {'yes' if w.window_from in starts else 'no'}",
        )
        for w in windows
    )
    link = ui.Link("yes", plain.anchor("incident", incident.incident_id)) if incident else "no"
    return ui.TableRow(
        (
            ui.head(plain.shortened(row.headline, 160)),
            f"{len(row.windows)} of {len(windows)}",
            ui.Cell(ui.Strip(squares, f"on {len(row.windows)} of {len(windows)} windows"), "left"),
            words.instant(row.first_at),
            words.instant(row.last_at),
            link,
        )
    )


SECTION = Section("history", 10, "history-list", "", history)
