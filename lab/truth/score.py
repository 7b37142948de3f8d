"""How right an audit of a labelled folder is: each label against the row that must show it (tests/truth/README.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from lab.answers import MISSED
from lab.drill.rows import GoldRow, GoldTables
from lab.expectations import answer_to
from lab.truth.label_expectations import QUIET
from lab.truth.labels import Label, LogLine, Truth


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
        Calm(
            truth.repository,
            f"{q.begin:%Y-%m-%d %H:%M:%S} to {q.end:%H:%M:%S}",
            answer_to(QUIET, q, truth, tables).against,
        )
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
    answer = answer_to(label.verdict, label, truth, tables)
    if not answer.rows:
        return replace(about, says=next(iter(answer.against), why))
    row = answer.rows[0]
    return replace(
        about,
        outcome=answer.outcome,
        code=str(row[label.column]),
        confidence=str(row["confidence"]),
        is_path_right=is_path_right(label, row, texts),
        says=str(row["explanation"]),
    )


def is_path_right(label: Label, row: GoldRow, texts: Mapping[LogLine, str]) -> bool:
    """Whether the evidence of a row quotes, of each entry of the path, one line."""
    quotes = [" ".join(str(q["text"]).split("\n")[0].split()) for q in row.get("evidence") or ()]
    return all(any(_is_quoted(texts[line], quotes) for line in entry) for entry in label.lines)


def _is_quoted(text: str, quotes: Iterable[str]) -> bool:
    line = " ".join(text.split())
    return any(quote and (quote in line or line in quote) for quote in quotes)
