"""How right an audit of a labelled folder is: each label against the row that must show it (tests/truth/README.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from kafka_hindsight.catalog.codes import Cause, Confidence
from lab.drill.rows import GoldRow, GoldTables, at_of
from lab.truth.labels import VERDICTS, Label, LogLine, QuietTime, Truth

REACH = {"rebalances": timedelta(seconds=2), "broker_outages": timedelta(seconds=60)}
_REACH = timedelta(seconds=30)
"""How far the row of a label may start from it; the row of an outage begins at the last sign of life."""

BLAMES = {v.split(".")[0]: v.split(".")[1] for v in VERDICTS if v not in ("broker_outages.start_failure",)}
"""Table → the column that names a cause: a row in a quiet time that has one there other than unknown is invented."""

SECOND_STARTS = "second_starts"
"""The table of starts that failed beside a broker that served: none was an outage."""

EXACT, WEAKER, WRONG, MISSED = "exact", "weaker", "wrong", "missed"
SURE = (Confidence.CERTAIN, Confidence.LIKELY)
SAY_NO_MORE = (Confidence.UNKNOWN, *(cause for cause in Cause if cause.noun.is_silent_end))
"""Codes that say by themselves that the lines show no more: right without a higher confidence."""


@dataclass(frozen=True)
class LabelAnswer:
    """The audit's answer to one label. `is_path_right`: the row quotes each entry of the path of evidence."""

    repository: str
    kafka: str
    layout: str
    client: str
    verdict: str
    place: str
    right: tuple[str, ...]
    outcome: str
    code: str = ""
    confidence: str = ""
    is_path_right: bool = False
    says: str = ""


@dataclass(frozen=True)
class Calm:
    """A quiet time, and what an audit blames in it."""

    repository: str
    place: str
    invented: tuple[str, ...]


def answers(truth: Truth, tables: GoldTables, texts: Mapping[LogLine, str], why: str = "no row") -> list[LabelAnswer]:
    """The answer to each label. `why`: what is said where the tables have nothing about its subject."""
    return [_answer(truth, label, tables, texts, why) for label in truth.labels]


def calms(truth: Truth, tables: GoldTables) -> list[Calm]:
    """The rows that blame something in each quiet time."""
    return [
        Calm(truth.repository, f"{q.begin:%Y-%m-%d %H:%M:%S} to {q.end:%H:%M:%S}", tuple(_invented(q, tables)))
        for q in truth.quiet
    ]


def _answer(truth: Truth, label: Label, tables: GoldTables, texts: Mapping[LogLine, str], why: str) -> LabelAnswer:
    first = label.lines[0][0]
    about = LabelAnswer(
        repository=truth.repository,
        kafka=f"{truth.kafka} {truth.mode}",
        layout=truth.layout,
        client=(label.client or truth.client) if label.table == "rebalances" else "none",
        verdict=label.verdict,
        place=f"{first.file}:{first.number}",
        right=label.right,
        outcome=MISSED,
    )
    row = _row(label, tables)
    if row is None or row.get(label.column) is None:
        return replace(about, says=_nearest(label, tables.get(label.table, ())) or why)
    code, confidence = str(row[label.column]), str(row["confidence"])
    is_sure = confidence in SURE or code in SAY_NO_MORE or label.column == "start_failure"
    is_right = code in label.right
    outcome = EXACT if is_right and is_sure else WRONG if confidence in SURE and not is_right else WEAKER
    path, says = is_path_right(label, row, texts), str(row["explanation"])
    return replace(about, outcome=outcome, code=code, confidence=confidence, is_path_right=path, says=says)


def _row(label: Label, tables: GoldTables) -> GoldRow | None:
    """The nearest row of that subject; of a failed start that start beside a live broker, or the outage of it."""
    own = [row for row in tables.get(label.table, ()) if label.is_of(row)]
    if label.column == "start_failure":
        beside = [row for row in tables.get(SECOND_STARTS, ()) if label.is_of(row)]
        if second := next((r for r in beside if abs(r["happened_at"] - label.at) <= _REACH), None):
            return second
        slack = REACH["broker_outages"]
        around = [r for r in own if r["down_at"] - slack <= label.at and (r["up_at"] is None or label.at <= r["up_at"])]
        return max(around, key=lambda r: r["down_at"], default=None)
    near = [row for row in own if abs(at_of(label.table, row) - label.at) <= REACH.get(label.table, _REACH)]
    return min(near, key=lambda r: abs(at_of(label.table, r) - label.at), default=None)


def _nearest(label: Label, rows: Iterable[GoldRow]) -> str:
    """The row nearest to a label that no row answers."""
    own = [(at_of(label.table, row), row) for row in rows if label.is_of(row)]
    at, row = min(own, key=lambda pair: abs(pair[0] - label.at), default=(label.at, None))
    return f"no row; the nearest is {row.get(label.column)} at {at:%Y-%m-%d %H:%M:%S}" if row else ""


def is_path_right(label: Label, row: GoldRow, texts: Mapping[LogLine, str]) -> bool:
    """Whether the evidence of a row quotes, of each entry of the path, one line."""
    quotes = [" ".join(str(q["text"]).split("\n")[0].split()) for q in row.get("evidence") or ()]
    return all(any(_is_quoted(texts[line], quotes) for line in entry) for entry in label.lines)


def _is_quoted(text: str, quotes: Iterable[str]) -> bool:
    line = " ".join(text.split())
    return any(quote and (quote in line or line in quote) for quote in quotes)


def _invented(quiet: QuietTime, tables: GoldTables) -> Iterator[str]:
    for table, column in BLAMES.items():
        for row in tables.get(table, ()):
            at, code = at_of(table, row), str(row.get(column))
            is_blame = code not in ("unknown", "first") and row.get("confidence") != Confidence.UNKNOWN
            if table != "incidents" and is_blame and quiet.holds(at, row):
                yield f"{table} {at:%Y-%m-%d %H:%M:%S} {code}, {row.get('confidence')}: {row.get('explanation')}"
