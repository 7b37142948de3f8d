"""The result of a score: expectations met or not, verdicts right or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from lab.answers import EXACT, MISSED
from lab.drill.offset_expectations import BOOKS, JUMPS


@dataclass(frozen=True)
class ActOutcome:
    """One act with `expect`: whether it was met, and, where it was not, what was found near.

    `outcome`: how its rows answer it (lab.answers). Of the offsets of a group, `cause`: why they changed; `width`: how
    far the bounds of records lie apart; None: it has none, or no upper one.
    """

    at: datetime
    action: str
    scope: str
    expect: str
    met: bool
    near: tuple[str, ...]
    outcome: str = MISSED
    cause: str | None = None
    width: int | None = None


@dataclass(frozen=True)
class BoundsCount:
    """The jumps of groups that were played: how many lie within the bounds of a row, and how many rows are exact.

    `open`: rows without an upper bound. `width_middle`, `width_most`: how many records the bounds of the others lie
    apart. `balanced`, `books`: of how many traced partitions the records add up, of all.
    """

    played: int
    within: int
    exact: int
    open: int
    width_middle: float
    width_most: int
    balanced: int
    books: int


def bounds_of(jumps: Sequence[ActOutcome], books: Sequence[ActOutcome] = ()) -> BoundsCount:
    """The count of jumps and books."""
    within = [jump for jump in jumps if jump.outcome != MISSED]
    widths = [jump.width for jump in within if jump.width is not None]
    return BoundsCount(
        played=len(jumps),
        within=len(within),
        exact=sum(jump.outcome == EXACT for jump in within),
        open=len(within) - len(widths),
        width_middle=median(widths) if widths else 0,
        width_most=max(widths, default=0),
        balanced=sum(book.met for book in books),
        books=len(books),
    )


@dataclass(frozen=True)
class ScoredVerdict:
    """One row of gold that claims something.

    `wrong`: why it is wrong; None: no act contradicts it. `is_confirmed`: an act expects it.
    """

    table: str
    row_id: str
    at: datetime
    says: str
    confidence: str
    wrong: str | None
    is_confirmed: bool = False


@dataclass(frozen=True)
class Calibration:
    """How many verdicts of one confidence acts confirm, and how many they contradict.

    Of the others they show nothing.
    """

    confidence: str
    verdicts: int
    confirmed: int
    wrong: int

    @property
    def share_not_contradicted(self) -> float:
        """Between 0 and 1; 1 where there is no verdict."""
        return 1 - self.wrong / self.verdicts if self.verdicts else 1.0


@dataclass(frozen=True)
class Score:
    """The whole score of one audit against one truth."""

    expectations: tuple[ActOutcome, ...]
    verdicts: tuple[ScoredVerdict, ...]
    false_alarms: tuple[ScoredVerdict, ...]
    without_evidence: tuple[ScoredVerdict, ...]

    @property
    def unmet(self) -> tuple[ActOutcome, ...]:
        """The expectations that no row meets."""
        return tuple(e for e in self.expectations if not e.met)

    @property
    def met(self) -> int:
        """How many expectations are met."""
        return len(self.expectations) - len(self.unmet)

    @property
    def share_met(self) -> float:
        """Between 0 and 1; 1 where nothing was expected."""
        return self.met / len(self.expectations) if self.expectations else 1.0

    @property
    def certain_but_wrong(self) -> tuple[ScoredVerdict, ...]:
        """A defect of the first order, each of them."""
        return tuple(v for v in self.verdicts if v.confidence == "certain" and v.wrong)

    @property
    def jumps(self) -> tuple[ActOutcome, ...]:
        """How groups that went on elsewhere are answered."""
        return tuple(e for e in self.expectations if e.expect in JUMPS)

    @property
    def books(self) -> tuple[ActOutcome, ...]:
        """How the partitions are answered of which members printed what they read."""
        return tuple(e for e in self.expectations if e.expect == BOOKS)

    @property
    def calibration(self) -> tuple[Calibration, ...]:
        """One entry for each confidence."""
        return tuple(
            Calibration(c, len(of), sum(v.is_confirmed for v in of), sum(1 for v in of if v.wrong))
            for c in ("certain", "likely", "possible", "unknown")
            for of in [[v for v in self.verdicts if v.confidence == c]]
        )

    def passes(self, minimum: float) -> bool:
        """Enough expectations met, no certain verdict wrong, no verdict without evidence."""
        return self.share_met >= minimum and not self.certain_but_wrong and not self.without_evidence
