"""The score of the truth set in words and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from lab.truth.score import EXACT, MISSED, SURE, WEAKER, WRONG, Answer, Calm
from tools.pages.markdown import as_table

OUTCOMES = (EXACT, WEAKER, WRONG, MISSED)


def figures(given: Sequence[Answer], quiet: Sequence[Calm]) -> Iterator[str]:
    """The three figures, and how often the sure were right."""
    exact = [a for a in given if a.outcome == EXACT]
    yield f"exact cause: {_share(len(exact), len(given))}"
    yield f"right path of evidence, of the exact: {_share(sum(a.is_path_right for a in exact), len(exact))}"
    yield f"invented culprits in quiet times: {_share(sum(bool(c.invented) for c in quiet), len(quiet))}"
    yield "; ".join(f"{level} right: {_right(given, level)}" for level in SURE)


def _right(given: Iterable[Answer], level: str) -> str:
    own = [a for a in given if a.confidence == level and a.outcome != MISSED]
    return f"{sum(a.code in a.label.right for a in own)} of {len(own)}"


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({part / whole:.0%})" if whole else "")


def missed(given: Iterable[Answer], quiet: Iterable[Calm]) -> Iterator[str]:
    """A line for each label that is not exact or whose path is not right, and for each invented culprit."""
    for a in given:
        if a.outcome == EXACT and a.is_path_right:
            continue
        outcome = "exact, another path" if a.outcome == EXACT else a.outcome
        line = a.label.lines[0][0]
        subject = next((str(s) for s in (a.label.group, a.label.broker, a.label.topic) if s is not None), "")
        yield (
            f"{outcome}: {a.truth.repository} {line.file}:{line.number} {a.label.verdict} of {subject!r}: right is"
            f" {' or '.join(a.label.right)}; the audit: {a.code or 'nothing'}, {a.confidence or '-'}: {a.says[-300:]!r}"
        )
    for c in quiet:
        for blame in c.invented:
            yield f"invented: {c.truth.repository} {c.quiet.begin:%Y-%m-%d %H:%M:%S} to {c.quiet.end:%H:%M:%S}: {blame}"


def section(given: Sequence[Answer], quiet: Sequence[Calm]) -> str:
    """The tables: by Kafka, by client, by layout, by what the labels are about."""
    by: dict[str, Callable[[Answer], str]] = {
        "Kafka": lambda a: f"{a.truth.kafka} {a.truth.mode}",
        "client": lambda a: a.label.client or a.truth.client or "none",
        "layout": lambda a: a.truth.layout,
        "verdict": lambda a: f"`{a.label.verdict}`",
        "repository": lambda a: a.truth.repository,
    }
    head = (*OUTCOMES, "right path", "certain right", "likely right")
    parts = ["\n".join(f"- {line}" for line in figures(given, quiet))]
    for name, key in by.items():
        groups = sorted({key(a) for a in given})
        parts.append(as_table((name, *head), ((g, *_cells([a for a in given if key(a) == g])) for g in groups)))
    return "\n\n".join(parts) + "\n"


def _cells(own: Sequence[Answer]) -> Iterator[str]:
    counts = Counter(a.outcome for a in own)
    yield from (str(counts[o] or "") for o in OUTCOMES)
    yield f"{sum(a.is_path_right for a in own if a.outcome == EXACT)} of {counts[EXACT]}"
    yield from (_right(own, level) for level in SURE)
