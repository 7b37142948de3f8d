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
from itertools import chain
from pathlib import Path
from typing import Any

from kafka_hindsight.shared.durations import LONG_AGO, MS
from lab.drill.acts import TruthError
from lab.drill.canary_expectations import (
    GAP,
    INTERVAL,
    LOSS,
    OF_CANARIES,
    UNAVAILABLE,
    Canaries,
    Gap,
    TimeSpan,
    intervals_of,
    is_compared,
    is_judged,
)
from lab.drill.canary_rows import READ, Place
from lab.drill.producers import CANARY
from lab.drill.rows import GoldTables, read_gold
from lab.expectations import answer_to
from tools.pages.markdown import as_table

CLIENTS_WAITS = (
    *("socket.timeout.ms", "reconnect.backoff.max.ms", "retry.backoff.max.ms"),
    "topic.metadata.refresh.fast.interval.ms",
)
"""What a producer may go through, one after the other, before it writes to a partition that can be written to again."""

FOLLOWERS_BACKOFF = timedelta(seconds=1)
"""A follower that was refused by a new leader fetches again so much later, and acks=all waits for it.
Source: replica.fetch.backoff.ms, default 1000."""


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


def compare(canaries: Canaries, tables: GoldTables) -> Comparison:
    """How the ledger and the losses of an audit agree with what canaries measured."""
    gaps = [g for g in canaries.gaps if is_compared(g, canaries)]
    intervals = [i for i in intervals_of(tables[UNAVAILABLE]) if is_judged(i, canaries)]
    against = {
        name: [why for thing in things for why in answer_to(name, thing, canaries, tables).against]
        for name, things in ((GAP, gaps), (INTERVAL, intervals), (LOSS, canaries.sweep))
    }
    swept = canaries.sweep.values()
    counts = CanaryCounts(
        gaps=len(gaps),
        met=len(gaps) - len(against[GAP]),
        intervals=len(intervals),
        without_gap=len(against[INTERVAL]),
        swept=len(swept),
        missing_all=sum(row["missing_all"] for row in swept),
        missing_one=sum(row["missing_one"] for row in swept),
        losses_wrong=len(against[LOSS]),
    )
    return Comparison(counts, tuple(chain.from_iterable(against.values())))


def compare_folder(folder: Path, lake: str) -> Comparison:
    """How the audit in a lake agrees with the canaries in a drill's folder.

    Raises TruthError or OSError where they cannot be compared.
    """
    tables = read_gold(lake, {t for e in OF_CANARIES.values() for t in e.tables}, needed=UNAVAILABLE)
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
