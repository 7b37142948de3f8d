"""The failed requests of producers in words: which partition they were for, and how many were given up."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_hindsight.catalog.rows import ProducerFailure
from kafka_hindsight.shared import words

NOT_KNOWN = "not known"


def place_of(row: ProducerFailure) -> str:
    """The partition or topic that requests were for, else the broker that was asked; empty if no line names one."""
    if row.partition is not None:
        return f"{row.topic}-{row.partition}"
    return row.topic or (f"broker {row.broker}" if row.broker is not None else "")


def given_up(rows: Sequence[ProducerFailure]) -> str:
    """How many batches or records were given up; a row without an upper bound leaves the sum open."""
    low = words.exact(sum(r.given_up_low for r in rows))
    if all(r.given_up_high is not None for r in rows):
        return low
    return NOT_KNOWN if low == "0" else f"at least {low}"


def given_up_clause(rows: Sequence[ProducerFailure]) -> str:
    """The clause about how many batches or records were given up."""
    number = given_up(rows)
    return f"how many were given up is {NOT_KNOWN}" if number == NOT_KNOWN else f"{number} given up"
