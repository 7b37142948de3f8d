"""What canaries measured, held against the ledger of gold.unavailability and the losses of an audit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.shared.durations import LONG_AGO, MS, NEVER
from lab.answers import Expectation, unless
from lab.drill.canary_rows import WRITE_ALL, WRITE_ONE, Place
from lab.drill.rows import GoldRow, GoldTables

UNAVAILABLE, FAILOVERS, TRUNCATIONS = "unavailability", "failovers", "truncations"

COMPARED = timedelta(milliseconds=1500)
"""Shorter gaps and intervals are not compared: followers that fetch from a new leader hold acks=all up for so long."""

SHOWS: Mapping[str, str] = {"no_leader": WRITE_ONE, "acks_all_refused": WRITE_ALL, "acks_all_hung": WRITE_ALL}
"""Kinds of the ledger that are about one partition, with the canary that must have stopped too."""

EDGES = 4
"""Of a loss the first and the last write of each kind may have had no answer: so many records more may be lost."""


@dataclass(frozen=True)
class TimeSpan:
    """A time."""

    start: datetime
    end: datetime

    @property
    def length(self) -> timedelta:
        """How long it is; negative where it ends before it starts."""
        return self.end - self.start

    def meets(self, other: TimeSpan) -> bool:
        """Whether both have an instant in common."""
        return self.start <= other.end and other.start <= self.end

    def cut(self, other: TimeSpan) -> TimeSpan:
        """The part that both have in common."""
        return TimeSpan(max(self.start, other.start), min(self.end, other.end))


@dataclass(frozen=True)
class Gap(TimeSpan):
    """A time in which a canary had no success. `of_its_own`: how much of it this canary's process stood still."""

    place: Place
    kind: str
    of_its_own: timedelta


@dataclass(frozen=True)
class LedgerInterval(TimeSpan):
    """A row of the ledger, with its bounds; `high` None: not bounded. `possible`: all the time that it can have had."""

    place: Place
    kind: str
    low: timedelta
    high: timedelta | None
    possible: TimeSpan


@dataclass(frozen=True)
class Canaries:
    """Measurements of canaries.

    `alive`: from the first success of each to its end; `early`, `late`: how much longer than the outage a gap may be at
    its start and at its end; `blind`: times without a comparison.
    """

    gaps: Sequence[Gap]
    alive: Mapping[tuple[Place, str], TimeSpan]
    sweep: Mapping[Place, GoldRow]
    early: timedelta
    late: timedelta
    blind: Sequence[TimeSpan] = ()


def intervals_of(ledger: Iterable[GoldRow]) -> list[LedgerInterval]:
    """The intervals of a ledger that are about partitions."""
    return [
        LedgerInterval(
            r["started_at"],
            r["ended_at"] or NEVER,
            (r["topic"], r["partition"]),
            r["kind"],
            (r["low_ms"] or 0) * MS,
            None if r["high_ms"] is None else r["high_ms"] * MS,
            TimeSpan(r["earliest_start_at"] or r["started_at"], r["latest_end_at"] or r["ended_at"] or NEVER),
        )
        for r in ledger
        if r["kind"] in SHOWS
    ]


def is_compared(gap: Gap, canaries: Canaries) -> bool:
    """Whether a gap is long enough, and the logs of its time are at hand."""
    is_long = gap.kind == WRITE_ALL and gap.length - gap.of_its_own > COMPARED
    return is_long and not any(map(gap.meets, canaries.blind))


def is_judged(interval: LedgerInterval, canaries: Canaries) -> bool:
    """Whether a canary lived through a whole interval, or through so much that it must have met what lasted at least.

    An interval that is not over is judged up to the end of the last canary.
    """
    alive = canaries.alive.get((interval.place, SHOWS[interval.kind]))
    if alive is None or any(map(interval.meets, canaries.blind)):
        return False
    whole = interval.cut(TimeSpan(LONG_AGO, max(span.end for span in canaries.alive.values())))
    lived = whole.cut(alive).length
    outside = whole.length - lived
    return lived > COMPARED and (not outside or interval.low - outside > COMPARED)


def _wrong_gap(gap: Gap, canaries: Canaries, tables: GoldTables) -> str | None:
    """A gap lies within the intervals of its partition, as a union, and is no longer than they may have been."""
    of_partition = intervals_of(_rows_of(gap.place, UNAVAILABLE, tables))
    own = sorted((i for i in of_partition if i.possible.meets(gap)), key=lambda i: i.possible.start)
    if not own:
        return _says(gap, "the ledger has nothing")
    proven = TimeSpan(gap.start + canaries.early, gap.end - canaries.late)
    reached = proven.start
    for interval in own:
        start = interval.possible.start
        if start - reached > (timedelta() if interval is own[0] else canaries.late):
            return _says(gap, f"the ledger has nothing from {reached:%H:%M:%S.%f} to {start:%H:%M:%S.%f}")
        reached = max(reached, interval.possible.end)
    if reached < proven.end:
        return _says(gap, f"the ledger has nothing from {reached:%H:%M:%S.%f}")
    highs = [i.high for i in own if i.high is not None]
    if len(highs) == len(own) and proven.length > sum(highs, timedelta()):
        return _says(gap, f"the ledger has {_seconds(sum(highs, timedelta()))} at most")
    return None


def _wrong_interval(interval: LedgerInterval, canaries: Canaries, tables: GoldTables) -> str | None:
    """An interval has a gap, and lasted no longer at least than the gaps that it meets."""
    kind = SHOWS[interval.kind]
    alive = canaries.alive[interval.place, kind]
    gaps = [g for g in canaries.gaps if (g.place, g.kind) == (interval.place, kind) and g.meets(interval)]
    measured = sum((g.length for g in gaps), timedelta())
    if not gaps:
        return _says(interval, f"the canary {kind} went on")
    is_whole = alive.start <= interval.start and interval.end <= alive.end
    if is_whole and interval.low > measured + canaries.early:
        return _says(interval, f"{_seconds(interval.low)} at least, and the canary {kind} had {_seconds(measured)}")
    return None


def _wrong_loss(place: Place, canaries: Canaries, tables: GoldTables) -> str | None:
    """The records of a partition that were acknowledged and are missing are within the bounds of its loss.

    With acks=1 alone an unclean election may lose committed records, and need not: the leader that it follows
    was alone in the ISR, so that what acks=1 wrote was committed, also where acks=all was refused.
    """
    row = canaries.sweep[place]
    low, high = _loss_of(place, tables)
    is_unclean = any(r["kind"] == "unclean_election" for r in _rows_of(place, FAILOVERS, tables))
    offsets = [*row["offsets_all"], *(row["offsets_one"] if row["missing_all"] or is_unclean else ())]
    if not offsets:
        return (
            f"{_name(place)}: {low} records lost at least, and the sweep found each acknowledged one" if low else None
        )
    extent = max(offsets) - min(offsets) + 1 + EDGES
    is_short = bool(row["missing_all"]) and high is not None and high < len(offsets)
    if is_short or low > extent:
        reported = f"{low} to {'any number of' if high is None else high} records lost"
        return f"{_name(place)}: {reported}, and {len(offsets)} acknowledged ones are missing, of {extent} offsets"
    return None


def _loss_of(place: Place, tables: GoldTables) -> tuple[int, int | None]:
    """How many committed records of a partition an audit calls lost: at least, at most.

    A cut and the election that made it are one loss.
    """
    elected = [r for r in _rows_of(place, FAILOVERS, tables) if r["kind"] == "unclean_election"]
    if elected:
        highs = [r["records_lost_high"] for r in elected]
        return sum(r["records_lost_low"] or 0 for r in elected), None if None in highs else sum(highs)
    cuts = [r for r in _rows_of(place, TRUNCATIONS, tables) if r["verdict"] == "committed_lost"]
    record_count = sum(r["records_cut"] or 1 for r in cuts)
    return record_count, record_count


def _rows_of(place: Place, table: str, tables: GoldTables) -> list[GoldRow]:
    return [r for r in tables.get(table, ()) if (r["topic"], r["partition"]) == place]


def _says(of: Gap | LedgerInterval, why: str) -> str:
    end = "the end" if of.end == NEVER else f"{of.end:%H:%M:%S.%f}"[:-3]
    return f"{_name(of.place)} {of.kind} {of.start:%Y-%m-%d %H:%M:%S.%f}"[:-3] + f" to {end}: {why}"


def _name(place: Place) -> str:
    return f"{place[0]}-{place[1]}"


def _seconds(length: timedelta) -> str:
    return f"{length.total_seconds():.1f} s"


GAP, INTERVAL, LOSS = "canary_gap", "canary_interval", "canary_loss"

OF_CANARIES: Mapping[str, Expectation] = {
    GAP: Expectation((UNAVAILABLE,), unless(_wrong_gap)),
    INTERVAL: Expectation((UNAVAILABLE,), unless(_wrong_interval)),
    LOSS: Expectation((FAILOVERS, TRUNCATIONS), unless(_wrong_loss)),
}
"""A gap is in the ledger, an interval of the ledger was a gap, and what is missing is called lost."""
