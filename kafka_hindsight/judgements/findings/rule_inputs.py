"""The rows that a rule reads: the parameters of its function name rows by their class, and which of them.

A parameter of `Sequence[BrokerOutage]` takes the outages that began in the window; the forms below take other rows.
A function in an annotation, `Annotated[Sequence[Event], refused]`, narrows the table first, a part of it at a time.
Parameters of one name take the same rows in all rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from typing import Annotated, TypeVar

from kafka_hindsight.catalog.row import Row
from kafka_hindsight.judgements.reasoning.evidence import unquoted

T = TypeVar("T", bound=Row)


class Extent(Enum):
    """The part of a table that a rule reads."""

    WINDOW = auto()
    AROUND = auto()
    LAST_READING = auto()


Around = Annotated[Sequence[T], Extent.AROUND]
"""The rows of the window with its look-back and look-ahead."""

LastReading = Annotated[Sequence[T], Extent.LAST_READING]
"""The rows of the last reading of the window that shows partitions."""

Unquoted = Annotated[Sequence[T], unquoted]
"""The rows that began in the window without their evidence: they are many, and the finding quotes none of them."""
