"""The score of the truth set in words and tables."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace

from lab.answers import EXACT, MISSED, WEAKER, WRONG
from lab.truth.label_expectations import SURE
from lab.truth.score import Calm, LabelAnswer
from tools.pages.markdown import as_table

OUTCOMES = (EXACT, WEAKER, WRONG, MISSED)

_BY: Mapping[str, Callable[[LabelAnswer], str]] = {
    "Kafka": lambda a: a.kafka,
    "client": lambda a: a.client,
    "layout": lambda a: a.layout,
    "verdict": lambda a: f"`{a.verdict}`",
}


def figures(labelled: Sequence[LabelAnswer], quiet: Sequence[Calm]) -> Iterator[str]:
    """The three figures, and how often the sure were right."""
    exact = [a for a in labelled if a.outcome == EXACT]
    yield f"Exact cause: {_share(len(exact), len(labelled))}"
    yield f"Right path of evidence, of the exact: {_share(sum(a.is_path_right for a in exact), len(exact))}"
    yield f"Invented culprits, in quiet times: {_share(sum(bool(c.invented) for c in quiet), len(quiet))}"
    yield f"Right of those {SURE[0]}: {_right(labelled, SURE[0])}; of those {SURE[1]}: {_right(labelled, SURE[1])}"


def _right(labelled: Iterable[LabelAnswer], level: str) -> str:
    own = [a for a in labelled if a.confidence == level]
    return f"{sum(a.code in a.right for a in own)} of {len(own)}"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({part / whole:.0%})" if whole else "")


def misses(labelled: Iterable[LabelAnswer], quiet: Iterable[Calm]) -> Iterator[str]:
    """A line for each label that is not exact or whose path is not right, and for each invented culprit."""
    for a in labelled:
        if a.outcome != EXACT or not a.is_path_right:
            outcome = "exact, another path" if a.outcome == EXACT else a.outcome
            right, answer = " or ".join(a.right), f"{a.code}, {a.confidence}: " if a.code else ""
            what = f"{outcome}: {a.repository} {a.place} {a.verdict}"
            yield f"{what}: right is {right}; the audit: {answer}{a.says[-300:]}"
    yield from (f"invented: {c.repository} {c.place}: {blame}" for c in quiet for blame in c.invented)


def section(labelled: Sequence[LabelAnswer], quiet: Sequence[Calm]) -> str:
    """The figures and the tables, by what a reader asks for."""
    tables = [
        as_table(
            (name, *OUTCOMES, "right path", *(f"{level} right" for level in SURE)),
            (
                (group, *_cells([a for a in labelled if key(a) == group]))
                for group in sorted({key(a) for a in labelled})
            ),
        )
        for name, key in _BY.items()
    ]
    return "\n\n".join(("\n".join(f"- {line}" for line in figures(labelled, quiet)), *tables))


def _cells(own: Sequence[LabelAnswer]) -> Iterator[str]:
    counts = Counter(a.outcome for a in own)
    yield from (str(counts[o] or "") for o in OUTCOMES)
    yield f"{sum(a.is_path_right for a in own if a.outcome == EXACT)} of {counts[EXACT]}"
    yield from (_right(own, level) for level in SURE)


def reasons_table(labelled: Iterable[LabelAnswer], reasons: Mapping[str, str]) -> str:
    """Each label that is not exact, and why: the reasons by repository, place and verdict."""
    heads = ("label", "right", "the audit", "outcome", "why")
    rows = (
        (key, ", ".join(f"`{code}`" for code in a.right), _said(a), a.outcome, reasons.get(key, ""))
        for a in labelled
        if a.outcome != EXACT
        for key in [key_of(a)]
    )
    return as_table(heads, rows)


def key_of(answer: LabelAnswer) -> str:
    """Which label an answer is to, within its set."""
    return f"{answer.repository} {answer.place} {answer.verdict}"


def _said(answer: LabelAnswer) -> str:
    return f"`{answer.code}`, {answer.confidence}" if answer.code else ""


def as_text(labelled: Iterable[LabelAnswer], quiet: Iterable[Calm]) -> str:
    """The file that keeps a score: a line for each label and each quiet time. What others wrote is left out."""
    rows = [asdict(replace(a, says="")) for a in labelled]
    rows += [asdict(replace(c, invented=("",) * bool(c.invented))) for c in quiet]
    return "".join(json.dumps(row) + "\n" for row in rows)


def from_text(text: str) -> tuple[list[LabelAnswer], list[Calm]]:
    """A score that was kept."""
    rows = [json.loads(line) for line in text.splitlines()]
    labelled = [LabelAnswer(**{**row, "right": tuple(row["right"])}) for row in rows if "outcome" in row]
    return labelled, [Calm(**{**row, "invented": tuple(row["invented"])}) for row in rows if "outcome" not in row]
