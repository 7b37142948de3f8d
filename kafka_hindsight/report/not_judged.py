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
    """What a class of rows is about, with the number one and with others."""

    rows: type[Judged]
    one: str
    many: str


SUBJECTS: tuple[Subject, ...] = (
    Subject(Truncation, "cut of a log", "cuts of logs"),
    Subject(Failover, "change of a leader", "changes of leaders"),
    Subject(BrokerOutage, "absence of a broker", "absences of brokers"),
    Subject(ControllerChange, "change of the controller", "changes of the controller"),
    Subject(OutOfSyncPeriod, "broker out of sync", "brokers out of sync"),
    Subject(Rebalance, "rebalance", "rebalances"),
    Subject(OffsetJump, "jump of an offset", "jumps of offsets"),
)
"""The rows with verdicts, in the order in which they are named."""

GAPS: dict[type[GenerationGap | LeadershipGap], WitnessKind] = {
    GenerationGap: WitnessKind.GROUPS,
    LeadershipGap: WitnessKind.LEADERS,
}
"""The gaps that may hide an event of a kind."""


def unknown_verdicts(rows: Iterable[Judged]) -> str:
    """The sentence that counts the rows whose verdict is not known; empty where there is none.

    The controller that the first lines show is no change: another one may never have been.
    """
    unknown = [row for row in rows if row.confidence is Confidence.UNKNOWN and not _is_first_controller(row)]
    counts = [*_counts(unknown)]
    return f"Not known: the cause of {words.listed(counts)}, which the evidence does not show." if counts else ""


def _is_first_controller(row: Judged) -> bool:
    return isinstance(row, ControllerChange) and row.controller_from is None


def _counts(rows: Sequence[Judged]) -> Iterator[str]:
    for subject in SUBJECTS:
        if count := sum(isinstance(row, subject.rows) for row in rows):
            yield words.counted(count, subject.one, subject.many)


def hidden_kinds(gaps: Iterable[GenerationGap | LeadershipGap]) -> frozenset[WitnessKind]:
    """The kinds of event that an unexplained gap may hide: a zero of them is not known."""
    return frozenset(GAPS[type(gap)] for gap in gaps if gap.explained_by is None)
