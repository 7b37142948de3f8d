"""The windows before this one: what changed since the last of them, a calendar, what came back, and trends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from kafka_hindsight.catalog.codes import Urgency
from kafka_hindsight.catalog.rows import Finding, Incident
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import figures
from kafka_hindsight.report.page_rows import EarlierIncident, EarlierWindow, PageRows, Section
from kafka_hindsight.report.trends import WINDOWS_FOR_A_TREND, trend
from kafka_hindsight.shared import plain, words

SHOWN = 3
SEVERE = {"critical": "bad", "warning": "warn"}
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
    squares = [(w.state or "none", f"{words.instant(w.window_from)}: {w.state or 'state not known'}") for w in windows]
    calendar = ui.Strip(tuple(squares), f"{len(windows)} windows, the oldest first")
    yield ui.Paragraph((_calendar_sentence(windows), " ", calendar))
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
    counts = [f"{words.number(states[u])} {u.noun.label.lower()}" for u in Urgency if states[u]]
    since = words.instant(windows[0].window_from)[:10]
    summary = f": {words.listed(counts)}" if counts else ""
    return f"{words.sentence(words.counted(len(windows), 'window'))} before this one, since {since}{summary}."


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
    yield ui.PlainTable("Incidents that came back", HEADINGS, table_rows)
    yield from ui.left_out_note(len(rows) - RECURRING, "gold.incidents")


def _row(row: EarlierIncident, incident: Incident | None, windows: Sequence[EarlierWindow]) -> ui.TableRow:
    looks = [("act", "yes") if w.window_from in row.windows else ("calm", "no") for w in windows]
    squares = tuple((tone, f"{words.instant(w.window_from)[:10]}: {s}") for w, (tone, s) in zip(windows, looks))
    link = ui.Link("yes", plain.anchor("incident", incident.incident_id)) if incident else "no"
    return ui.row(
        ui.head(plain.shortened(row.headline, 160)),
        f"{len(row.windows)} of {len(windows)}",
        ui.Cell(ui.Strip(squares, f"on {len(row.windows)} of {len(windows)} windows"), "left"),
        words.instant(row.first_at),
        words.instant(row.last_at),
        link,
    )


def changes(page: PageRows) -> Iterator[ui.Block]:
    """The incidents and the findings that are new, came back or are gone; nothing without a window before."""
    if not page.earlier_windows:
        return
    last = page.earlier_windows[-1]
    since = words.instant(last.window_from)
    labels = Counter(
        recurrence[0]
        for rows in figures.equal_incidents(figures.urgent_first(page.of(Incident)))
        if (recurrence := page.recurrence(rows[0]))
    )
    now = {row.recurrence_id for row in page.of(Incident)}
    ends = sum(last.window_from in e.windows and e.recurrence_id not in now for e in page.earlier_incidents.values())
    counts = [f"{words.number(count)} {label}" for label, count in sorted(labels.items())]
    counts += [f"{words.number(ends)} of that window {words.verb(ends, 'is', 'are')} gone"] if ends else []
    incidents = f"Incidents: {words.listed(counts)}. " if counts else ""
    numbers = f"{_numbers(page)} " if last.is_comparable else "That window had another length: no number is compared. "
    link = ui.Link(f"The {words.counted(len(page.earlier_windows), 'window')} before", "history")
    yield ui.Paragraph((f"Against the window from {since}: {incidents}{numbers}", link, "."))
    before = page.run.history.findings
    new, past = _unshared(page.of(Finding), before), _unshared(before, page.of(Finding))
    items = [
        *(_new(finding) for finding in new[:SHOWN]),
        *_more(len(new) - SHOWN, "new findings"),
        *(ui.Item(f"No longer found: {f.message}", "good") for f in past[:SHOWN]),
        *_more(len(past) - SHOWN, "findings gone"),
    ]
    if items:
        yield ui.List(tuple(items), "statements")


def _numbers(page: PageRows) -> str:
    this, last = page.as_window, page.earlier_windows[-1]
    rebalances = _comparison(this.rebalances, last.rebalances, "rebalance")
    return f"{words.sentence(rebalances)}; {_comparison(this.failovers, last.failovers, 'leader change')}."


def _comparison(now: float, before: float, noun: str) -> str:
    count = words.counted(int(now), noun)
    if now == before:
        return f"{count}, as many"
    return f"{count}, {words.number(abs(now - before))} {'more' if now > before else 'fewer'}"


def _unshared(rows: Sequence[Finding], others: Sequence[Finding]) -> list[Finding]:
    """The critical findings, then the warnings, that others do not have (severities in the order of the alphabet)."""
    shared = {(row.rule_id, row.subject_kind, row.subject) for row in others}
    own = [r for r in rows if r.severity in SEVERE and (r.rule_id, r.subject_kind, r.subject) not in shared]
    return sorted(own, key=lambda r: (r.severity, r.rule_id, r.subject))


def _new(finding: Finding) -> ui.Item:
    link = ui.Link(f"New: {finding.message}", plain.anchor("finding", finding.finding_id))
    return ui.Item(link, SEVERE[finding.severity])


def _more(count: int, noun: str) -> tuple[ui.Item, ...]:
    return (ui.Item(f"{words.number(count)} more {noun}.", "plain"),) if count > 0 else ()


CHANGES = Section("night", 20, "changes", "What changed", changes)
HISTORY = Section("history", 10, "history-list", "", history)
