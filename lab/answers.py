"""Expectations of an audit, and the answers of its rows to them: the same in every scorer of the lab."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from lab.drill.rows import GoldRow, GoldTables

RIGHT, EXACT, WEAKER, DOUBTFUL, WRONG, MISSED = "right", "exact", "weaker", "doubtful", "wrong", "missed"
"""Outcomes. Of labels the right ones are exact, or weaker where the row is not sure."""

SHARED_BEFORE, AFTER = timedelta(seconds=30), timedelta(seconds=75)
"""How long before an act a row may start that several acts share, and how long after it any answer."""


@dataclass(frozen=True)
class Answer:
    """The answer of an audit's rows to one expectation.

    `against`: a sentence for each thing that speaks against it. `rows`: those that give it, none for an expected
    silence.
    """

    outcome: str
    against: tuple[str, ...] = ()
    rows: tuple[GoldRow, ...] = ()

    @property
    def is_met(self) -> bool:
        """Whether the rows are as expected."""
        return self.outcome in (RIGHT, EXACT)


Matcher = Callable[[Any, Any, GoldTables], Answer]
"""One thing that was done, measured, labelled or claimed, all of its kind, and the rows of each table, in order of time
→ the answer."""


@dataclass(frozen=True)
class Expectation:
    """An expectation, the tables whose rows answer it, the one that shows it first, and how they meet it.

    `codes` are what the rows call it, `subject` is the column that names what an act was done to. Where no row meets
    an act, those within `before` and `after` of it are shown.
    """

    tables: tuple[str, ...]
    matcher: Matcher
    codes: tuple[str, ...] = ()
    subject: str | None = None
    before: timedelta = SHARED_BEFORE
    after: timedelta = AFTER

    @property
    def table(self) -> str:
        """The table whose rows show it."""
        return self.tables[0]


def answered(is_met: bool, rows: Iterable[GoldRow] = ()) -> Answer:
    """The answer of rows that meet an expectation, or of none."""
    return Answer(RIGHT if is_met else MISSED, rows=tuple(rows))


def unless(contradiction: Callable[[Any, Any, GoldTables], str | None]) -> Matcher:
    """Met unless something speaks against it: why, in a sentence."""

    def matcher(thing: Any, truth: Any, tables: GoldTables) -> Answer:
        why = contradiction(thing, truth, tables)
        return Answer(WRONG, (why,)) if why else Answer(RIGHT)

    return matcher
