"""How many records groups skipped or read again: the sums of rows of gold.offset_jumps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kafka_hindsight.catalog.codes import JumpHarm
from kafka_hindsight.catalog.rows import OffsetJump
from kafka_hindsight.shared import words


@dataclass(frozen=True)
class RecordsMoved:
    """Records that groups skipped, or read again: at least `low`, at most `high`; None: no evidence bounds them.

    `guess` lies between them: no proof; where each row has one or is exact.
    """

    harm: JumpHarm
    low: int
    high: int | None
    guess: int | None = None

    @property
    def number(self) -> str:
        """The number for a tile: `40`, `3–7`, or `40+` without an upper bound."""
        return f"{words.number(self.low)}+" if self.high is None else words.number_range(self.low, self.high)

    @property
    def records(self) -> str:
        """The number in words: `40 records`, `53–72 records`, `up to 72 records`, `at least 40 records`, `records`."""
        if self.high is None:
            return f"at least {words.counted(self.low, 'record')}" if self.low else "records"
        if self.low == self.high:
            return words.counted(self.low, "record")
        hint = "" if self.guess is None else f" (some {words.number(self.guess)} by the pace of its commits)"
        number = words.number_range(self.low, self.high) if self.low else f"up to {words.number(self.high)}"
        return f"{number} records{hint}"


def records_moved(jumps: Iterable[OffsetJump], harm: JumpHarm) -> RecordsMoved:
    """The sum of the jumps of one harm: of those after which a member went on, for until then nothing is skipped."""
    rows = [j for j in jumps if j.harm is harm and j.resumed_at is not None]
    high = [j.records_high for j in rows if j.records_high is not None]
    guesses = [j.records_low if j.records_low == j.records_high else j.records_expected for j in rows]
    numbers = [g for g in guesses if g is not None]
    return RecordsMoved(
        harm,
        sum(j.records_low for j in rows),
        sum(high) if len(high) == len(rows) else None,
        sum(numbers) if len(numbers) == len(rows) else None,
    )
