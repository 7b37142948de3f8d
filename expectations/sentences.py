"""A breach in sentences that name rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.table_model import ListOf, Table
from kafka_hindsight.shared.plain import shortened, visible

NAMED_ROWS = 5
_LONGEST_VALUE = 200
_SAYS_WHICH = ("group_id", "topic", "partition", "broker", "member_id", "client_id", "source", "rule_id", "subject")


@dataclass(frozen=True)
class Claim:
    """A property that a table should have."""

    table: str
    name: str
    says: str


def naming_columns(table: Table, text: str) -> tuple[str, ...]:
    """The key, the columns by which people know a row, its instant, and the columns that a text names; once each."""
    words = set(re.findall(r"\w+", text))
    mentioned = (n for n in table.column_names if n in words)
    key = tuple(k for k in table.key if k != "cluster")
    scalar = {c.name for c in table.columns if not isinstance(c.kind, ListOf)}
    return tuple(dict.fromkeys(n for n in (*key, *_SAYS_WHICH, table.time_column, *mentioned) if n in scalar))


def breach(claim: Claim, rows: Sequence[Mapping[str, Any]], count: int) -> list[str]:
    """The sentences for rows that break a claim: the first, a sentence for each of a few, the number of the others."""
    broken = f"{claim.table}: {claim.name} is broken by"
    first, *others = [_row_words(row) for row in rows[:NAMED_ROWS]]
    verb = "1 row breaks" if count == 1 else f"{count:,} rows break"
    sentences = [f"{claim.table}: {verb} {claim.name} ({claim.says}): {first}"]
    sentences += [f"{broken} {other}" for other in others]
    more = count - len(sentences)
    return [*sentences, f"{broken} {more:,} more"] if more > 0 else sentences


def observed_breach(claim: Claim, observed: str) -> list[str]:
    """The sentence for a table as a whole that breaks a claim."""
    return [
        f"{claim.table}: {claim.name} is broken ({claim.says}): observed {shortened(visible(observed), _LONGEST_VALUE)}"
    ]


def columns_breach(claim: Claim, columns: Sequence[str], declared: Sequence[str]) -> list[str]:
    """The sentence for a table whose columns are not those declared."""
    missing = [c for c in declared if c not in columns]
    foreign = [c for c in columns if c not in declared]
    parts = [f"{label} {', '.join(names)}" for label, names in (("missing", missing), ("unknown", foreign)) if names]
    return [f"{claim.table}: {claim.name} is broken ({claim.says}): {'; '.join(parts)}"]


def _row_words(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_inert(value)}" for name, value in row.items())


def _inert(value: Any) -> str:
    """A value as text that no terminal, log or page acts upon: strangers choose the names of groups and clients."""
    if value is None:
        return "null"
    if isinstance(value, datetime):
        return f"{value.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
    if isinstance(value, str) and len(value) > _LONGEST_VALUE:
        value = value[:_LONGEST_VALUE] + "…"
    return repr(value) if isinstance(value, str) else str(value)
