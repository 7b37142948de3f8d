"""A breach in sentences that name rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from expectations.derive import Expectation

NAMED_ROWS = 5
_LONGEST_VALUE = 200


def breach(expectation: Expectation, count: int, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The sentences for rows that break an expectation.

    Args:
        expectation: The broken expectation.
        count: How many rows break it.
        rows: The first few of them, with the columns `expectation.names`.

    Returns:
        The claim with its first row, a sentence for each further row, and the number of the others.
    """
    broken = f"{expectation.table}: {expectation.name} is broken by"
    first, *others = [_row_words(expectation, row) for row in rows[:NAMED_ROWS]]
    verb = "1 row breaks" if count == 1 else f"{count:,} rows break"
    sentences = [f"{expectation.table}: {verb} {expectation.name} ({expectation.says}): {first}"]
    sentences += [f"{broken} {other}" for other in others]
    more = count - len(sentences)
    return [*sentences, f"{broken} {more:,} more"] if more > 0 else sentences


def columns_breach(expectation: Expectation, columns: Sequence[str]) -> list[str]:
    """The sentence for a table whose columns are not those declared."""
    missing = [c for c in expectation.values if c not in columns]
    foreign = [c for c in columns if c not in expectation.values]
    parts = [f"{label} {', '.join(names)}" for label, names in (("missing", missing), ("unknown", foreign)) if names]
    return [f"{expectation.table}: {expectation.name} is broken ({expectation.says}): {'; '.join(parts)}"]


def _row_words(expectation: Expectation, row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_inert(row[name])}" for name in expectation.names)


def _inert(value: Any) -> str:
    """A value as text that no terminal, log or page acts upon: strangers choose the names of groups and clients."""
    if value is None:
        return "null"
    if isinstance(value, datetime):
        return f"{value.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        value = value[:_LONGEST_VALUE] + "…"
    return repr(value) if isinstance(value, str) else str(value)
