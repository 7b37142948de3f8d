"""The events that happened and could not be judged: the first screen counts them, and claims no zero beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from kafka_hindsight.catalog.codes import Confidence, WitnessKind
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    ControllerChange,
    Failover,
    GenerationGap,
    LeadershipGap,
    OffsetJump,
    OutOfSyncPeriod,
    Rebalance,
    Truncation,
)
from kafka_hindsight.shared import words

Judged: TypeAlias = BrokerOutage | ControllerChange | Failover | OffsetJump | OutOfSyncPeriod | Rebalance | Truncation
"""A row with a verdict and how sure it is."""


@dataclass(frozen=True)
class Subject:
    """The subject of a class of rows, with the number one and with others."""

    rows: type[Judged]
    one: str
    many: str


SUBJECTS: tuple[Subject, ...] = (
    Subject(Failover, "change of a leader", "changes of leaders"),
    Subject(BrokerOutage, "absence of a broker", "absences of brokers"),
    Subject(ControllerChange, "change of the controller", "changes of the controller"),
    Subject(OutOfSyncPeriod, "broker out of sync", "brokers out of sync"),
    Subject(Rebalance, "rebalance", "rebalances"),
    Subject(OffsetJump, "jump of an offset", "jumps of offsets"),
)
"""The rows whose verdict is a cause, in the order in which they are named."""

JUDGED: tuple[type[Judged], ...] = (Truncation, *(subject.rows for subject in SUBJECTS))
"""All rows with verdicts."""

GAPS: dict[type[GenerationGap | LeadershipGap], WitnessKind] = {
    GenerationGap: WitnessKind.GROUPS,
    LeadershipGap: WitnessKind.LEADERS,
}
"""The gaps that may hide an event of a kind."""


def unknown_verdicts(rows: Iterable[Judged]) -> str:
    """The sentence that counts the rows whose verdict is not known; empty where there is none.

    The first controller that lines show does not count: there may never have been another one.
    """
    unknown = [row for row in rows if row.confidence is Confidence.UNKNOWN and not _is_first_controller(row)]
    cuts = sum(isinstance(row, Truncation) for row in unknown)
    counts = [*_counts(unknown)]
    clauses = [
        *([f"whether {words.counted(cuts, 'cut of a log', 'cuts of logs')} lost committed records"] if cuts else []),
        *([f"the cause of {words.listed(counts)}"] if counts else []),
    ]
    return f"Not known, as the evidence does not show it: {', and '.join(clauses)}." if clauses else ""


def _is_first_controller(row: Judged) -> bool:
    return isinstance(row, ControllerChange) and row.controller_from is None


def _counts(rows: Sequence[Judged]) -> Iterator[str]:
    for subject in SUBJECTS:
        if count := sum(isinstance(row, subject.rows) for row in rows):
            yield words.counted(count, subject.one, subject.many)


def hidden_kinds(gaps: Iterable[GenerationGap | LeadershipGap]) -> frozenset[WitnessKind]:
    """The kinds of event that an unexplained gap may hide: a zero of them is not known."""
    return frozenset(GAPS[type(gap)] for gap in gaps if gap.explained_by is None)
