"""This night beside those before it: what is new, what is gone, and how the numbers run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from spark_jobs.report import plain, words
from spark_jobs.report.model_cluster import Change, History, Trend
from spark_jobs.report.page_rows import Night, Row

CHANGES_TOLD = 12
NIGHTS_FOR_A_TREND = 3
# The numbers that are shown night by night, and how each is said.
NUMBERS = (
    ("rebalances", "Rebalances", words.number),
    ("partition_seconds", "Partition-seconds stopped", words.number),
    ("failovers", "Leader changes", words.number),
    ("leaderless_ms", "Time without a leader, summed over partitions", words.duration),
)
_SEVERE = ("critical", "warning")
_TONES = {"critical": "bad", "warning": "warn"}


def history(night: Night) -> History | None:
    """What changed since the window before, and the last nights; None where the lake holds none before this one.

    Takes: `run["history"]`, where known: `windows` (rows of window_from, window_to and NUMBERS, any order) and
        `findings` (rows of gold.findings of the last of them).
    """
    known: Mapping[str, Any] = night.run.get("history") or {}
    before = sorted(known.get("windows", ()), key=lambda w: w["window_from"])
    if not before:
        return None
    nights = [*before, {"window_from": night.window[0], **_tonight(night)}]
    return History(
        says=_says(before[-1], nights[-1]),
        changes=_changes(night, known.get("findings", ())),
        trends=tuple(_trend(nights, *number) for number in NUMBERS) if len(nights) >= NIGHTS_FOR_A_TREND else (),
    )


def _tonight(night: Night) -> dict[str, float]:
    return {
        "rebalances": len(night.rebalances),
        "partition_seconds": sum(row["partition_seconds"] or 0.0 for row in night.rebalances),
        "failovers": len(night.failovers),
        "leaderless_ms": sum(row["leaderless_ms"] or 0 for row in night.failovers),
    }


def _says(before: Row, now: Row) -> str:
    said = [
        _compared(now[key], before[key], noun)
        for key, noun in (("rebalances", "rebalance"), ("failovers", "leader change"))
    ]
    return f"Against the window from {words.instant(before['window_from'])}: {words.listed(said)}."


def _compared(now: float, before: float, noun: str) -> str:
    counted = words.counted(int(now), noun)
    if now == before:
        return f"{counted}, as many"
    return f"{counted}, {words.number(abs(now - before))} {'more' if now > before else 'fewer'}"


def _changes(night: Night, before: Sequence[Row]) -> tuple[Change, ...]:
    """Findings that came, worst first, then those that went."""
    now = {_what(row): row for row in _by_severity(night.rows("gold.findings"))}
    then = {_what(row): row for row in _by_severity(before)}
    new = [
        Change(_TONES[row["severity"]], f"New: {row['message']}", plain.anchor("finding", row["finding_id"]))
        for what, row in now.items()
        if what not in then
    ]
    gone = [Change("good", f"Gone: {row['message']}", "") for what, row in then.items() if what not in now]
    return (*_bounded(new, "new findings"), *_bounded(gone, "findings that are gone"))


def _by_severity(rows: Sequence[Row]) -> list[Row]:
    severe = [row for row in rows if row["severity"] in _SEVERE]
    return sorted(severe, key=lambda r: (_SEVERE.index(r["severity"]), r["rule_id"], r["subject"]))


def _what(finding: Row) -> tuple[str, str, str]:
    return finding["rule_id"], finding["subject_kind"], finding["subject"]


def _bounded(changes: list[Change], what: str) -> list[Change]:
    rest = len(changes) - CHANGES_TOLD
    return [*changes[:CHANGES_TOLD], *([Change("plain", f"{words.number(rest)} more {what}.", "")] if rest > 0 else [])]


def _trend(nights: Sequence[Row], key: str, label: str, said: Any) -> Trend:
    values = [float(night[key] or 0) for night in nights]
    most = max(values) or 1.0
    width = 100 / len(values)
    bars = tuple(
        (round(i * width, 3), round(width * 0.8, 3), round(100 * value / most, 2), _bar_says(night, said(value)))
        for i, (night, value) in enumerate(zip(nights, values, strict=True))
    )
    return Trend(label, said(values[-1]), said(median(values[:-1])), bars)


def _bar_says(night: Row, value: str) -> str:
    return f"{words.instant(night['window_from'])[:10]}: {value}"
