"""An audit against what canaries measured: `python -m lab.drill.canary_score FOLDER LAKE` (docs/drill.md).

The canaries' clients, their clock and their sweep share nothing with the log lines that an audit reads.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from kafka_hindsight.shared.durations import LONG_AGO, MS, NEVER
from lab.drill.acts import TruthError
from lab.drill.canary_rows import READ, WRITE_ALL, WRITE_ONE
from lab.drill.producers import CANARY
from lab.drill.rows import GoldRow, GoldTables, read_gold
from tools.pages.markdown import as_table

LEDGER, FAILOVERS, TRUNCATIONS = "unavailability", "failovers", "truncations"

CLIENTS_WAITS = (
    *("socket.timeout.ms", "reconnect.backoff.max.ms", "retry.backoff.max.ms"),
    "topic.metadata.refresh.fast.interval.ms",
)
"""What a producer may go through, one after the other, before it writes to a partition that can be written to again."""

COMPARED = timedelta(milliseconds=1500)
"""Shorter gaps and intervals are not compared: followers that fetch from a new leader hold acks=all up for so long."""

FOLLOWERS_BACKOFF = timedelta(seconds=1)
"""A follower that was refused by a new leader fetches again so much later, and acks=all waits for it.
Source: replica.fetch.backoff.ms, default 1000."""

SHOWS: Mapping[str, str] = {"no_leader": WRITE_ONE, "acks_all_refused": WRITE_ALL, "acks_all_hung": WRITE_ALL}
"""Kinds of the ledger that are about one partition, with the canary that must have stopped too."""

EDGES = 4
"""Of a loss the first and the last write of each kind may have had no answer: so many records more may be lost."""

Place = tuple[str, int]


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


@dataclass(frozen=True)
class CanaryCounts:
    """How an audit agrees with canaries, as counts.

    `met`, `without_gap`: gaps that the ledger has, and its intervals without a gap; `missing_all`, `missing_one`:
    acknowledged records that the sweep did not find.
    """

    gaps: int
    met: int
    intervals: int
    without_gap: int
    swept: int
    missing_all: int
    missing_one: int
    losses_wrong: int


@dataclass(frozen=True)
class Comparison:
    """How an audit agrees with canaries. `unmatched`: a sentence for each disagreement."""

    counts: CanaryCounts
    unmatched: tuple[str, ...]


def read_canaries(rows: Iterable[Mapping[str, Any]], truth: Iterable[Mapping[str, Any]] = ()) -> Canaries:
    """The measurements of canaries, from the rows of canary.jsonl and of truth.jsonl.

    Raises TruthError where the canaries did not come to their end.
    """
    by_name: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_name[row["row"]].append(row)
    if not by_name["settings"] or not by_name["summary"]:
        raise TruthError("found canaries without settings or without a summary; they must have come to their end")
    alive = {_series(r): TimeSpan(_at(r["first_at"]), _at(r["until"])) for r in by_name["summary"] if r["first_at"]}
    early, late = _tolerances(by_name["settings"][0], by_name["summary"])
    return Canaries(
        gaps=[_gap(row, alive[_series(row)].end) for row in by_name["gap"]],
        alive=alive,
        sweep={_place(row): row for row in by_name["sweep"]},
        early=early,
        late=late,
        blind=tuple(_blind(truth)),
    )


def _gap(row: Mapping[str, Any], until: datetime) -> Gap:
    end = _at(row["to"]) if row["to"] else until
    return Gap(_at(row["from"]), end, _place(row), row["kind"], row["own_stall_ms"] * MS)


def _tolerances(settings: Mapping[str, Any], summaries: Iterable[Mapping[str, Any]]) -> tuple[timedelta, timedelta]:
    """How much earlier than an outage a gap may begin, and how much later it may end."""
    waits = settings["every_ms"] + sum(settings["writer"][name] for name in CLIENTS_WAITS)
    return max(r["normal_p99_ms"] for r in summaries if r["kind"] != READ) * MS, waits * MS + FOLLOWERS_BACKOFF


def _at(text: str | datetime) -> datetime:
    return datetime.fromisoformat(str(text))


def _place(row: Mapping[str, Any]) -> Place:
    return row["topic"], row["partition"]


def _series(row: Mapping[str, Any]) -> tuple[Place, str]:
    return _place(row), row["kind"]


def _blind(truth: Iterable[Mapping[str, Any]]) -> Iterator[TimeSpan]:
    """The times whose logs the drill took away, and those in which it had moved a clock."""
    rotated, clock = LONG_AGO, None
    for row in truth:
        if row["action"] == "logs_rotated":
            if not row["keeps"]:
                yield TimeSpan(rotated, _at(row["at"]))
            rotated = _at(row["at"])
        elif row["action"] == "broker_clock_set" and row["ahead_s"]:
            clock = _at(row["at"])
        elif row["action"] == "broker_clock_set" and clock:
            yield TimeSpan(clock, _at(row["at"]))


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


def compare(canaries: Canaries, tables: GoldTables) -> Comparison:
    """How the ledger and the losses of an audit agree with what canaries measured."""
    intervals = intervals_of(tables[LEDGER])
    gaps = [g for g in canaries.gaps if _is_compared(g, canaries)]
    judged = [i for i in intervals if _is_judged(i, canaries)]
    swept = canaries.sweep
    against_gaps = _sentences(_wrong_gap(g, intervals, canaries) for g in gaps)
    against_intervals = _sentences(_wrong_interval(i, canaries) for i in judged)
    losses = _sentences(_wrong_loss(place, row, tables) for place, row in swept.items())
    counts = CanaryCounts(
        gaps=len(gaps),
        met=len(gaps) - len(against_gaps),
        intervals=len(judged),
        without_gap=len(against_intervals),
        swept=len(swept),
        missing_all=sum(row["missing_all"] for row in swept.values()),
        missing_one=sum(row["missing_one"] for row in swept.values()),
        losses_wrong=len(losses),
    )
    return Comparison(counts, (*against_gaps, *against_intervals, *losses))


def _sentences(disagreements: Iterable[str | None]) -> list[str]:
    return [sentence for sentence in disagreements if sentence]


def _is_compared(gap: Gap, canaries: Canaries) -> bool:
    is_long = gap.kind == WRITE_ALL and gap.length - gap.of_its_own > COMPARED
    return is_long and not any(map(gap.meets, canaries.blind))


def _wrong_gap(gap: Gap, intervals: Iterable[LedgerInterval], canaries: Canaries) -> str | None:
    """A gap lies within the intervals of its partition, as a union, and is no longer than they may have been."""
    own = sorted(
        (i for i in intervals if i.place == gap.place and i.possible.meets(gap)), key=lambda i: i.possible.start
    )
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


def _is_judged(interval: LedgerInterval, canaries: Canaries) -> bool:
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


def _wrong_interval(interval: LedgerInterval, canaries: Canaries) -> str | None:
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


def _wrong_loss(place: Place, row: GoldRow, tables: GoldTables) -> str | None:
    """The reason why a loss is wrong: records that acks=all acknowledged are missing, and not within its bounds.

    With acks=1 alone an unclean election may lose committed records, and need not: the leader that it follows
    was alone in the ISR, so that what acks=1 wrote was committed, also where acks=all was refused.
    """
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
    return [r for r in tables.get(table, ()) if _place(r) == place]


def _says(of: Gap | LedgerInterval, why: str) -> str:
    end = "the end" if of.end == NEVER else f"{of.end:%H:%M:%S.%f}"[:-3]
    return f"{_name(of.place)} {of.kind} {of.start:%Y-%m-%d %H:%M:%S.%f}"[:-3] + f" to {end}: {why}"


def _name(place: Place) -> str:
    return f"{place[0]}-{place[1]}"


def _seconds(length: timedelta) -> str:
    return f"{length.total_seconds():.1f} s"


def compare_folder(folder: Path, lake: str) -> Comparison:
    """How the audit in a lake agrees with the canaries in a drill's folder.

    Raises TruthError or OSError where they cannot be compared.
    """
    tables = read_gold(lake, (LEDGER, FAILOVERS, TRUNCATIONS), needed=LEDGER)
    rows, truth = (_lines(folder / name) for name in (CANARY, "truth.jsonl"))
    return compare(read_canaries(rows, truth), tables)


def _lines(path: Path) -> list[Mapping[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


HEADS = (
    *("gaps of acks=all", "met", "intervals of the ledger", "without a gap"),
    *("partitions swept", "acknowledged records missing", "losses that differ"),
)


def cells(counts: CanaryCounts) -> tuple[str, ...]:
    """The counts as cells of a table with HEADS."""
    missing = f"{counts.missing_all} of acks=all, {counts.missing_one} of acks=1"
    numbers = (counts.gaps, counts.met, counts.intervals, counts.without_gap, counts.swept)
    return *map(str, numbers), missing, str(counts.losses_wrong)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison. Returns 0 where the losses agree, 1 where one differs, 2 for input without a comparison.

    Gaps that the ledger does not have are printed and do not fail a drill: brokers of a busy machine answer
    late without any fault, and nothing that the canaries see parts the two.
    """
    parser = argparse.ArgumentParser(
        prog="python -m lab.drill.canary_score", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="the drill's folder, or a recording, with canary.jsonl")
    parser.add_argument("lake", help="the lake that its audit wrote")
    options = parser.parse_args(arguments)
    try:
        comparison = compare_folder(options.folder, options.lake)
    except (TruthError, OSError) as error:
        print(f"cannot compare: {error}", file=sys.stderr)
        return 2
    print(as_table(HEADS, [cells(comparison.counts)]))
    print("\n".join(comparison.unmatched) or "The audit agrees with the canaries.")
    return 1 if comparison.counts.losses_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
