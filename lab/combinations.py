"""One log in every layout and envelope, and in two of these.

`python -m lab.combinations LOG [--some N] [--seed S] [--processes P]`.

An excerpt of a log of Kafka's own layout is written in each combination and read as a worker reads a file: its form is
found by what it says. Its events are compared with those of the excerpt itself. Printed are the combinations that do
not give the same, with what is missing, and how many do. Exit code 1: there are combinations that give less, other
than those of layouts and envelopes that alone carry less.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from datetime import datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

from kafka_hindsight.knowledge.json_layouts import OF_CLASSES
from kafka_hindsight.knowledge.layouts import APACHE
from kafka_hindsight.knowledge.pattern_layouts import PATTERN_LAYOUTS
from kafka_hindsight.logs.reading import read_record
from lab.bench.forms import batches_of
from lab.drill.render import WRAPS, render
from tools.plain_reader import PlainRecord, read_line, split

LAYOUTS = (APACHE.name, *(layout.name for layout in PATTERN_LAYOUTS), *(layout.name for layout in OF_CLASSES))
ENVELOPES: tuple[tuple[str, ...], ...] = ((), *((name,) for name in WRAPS), *product(WRAPS, WRAPS))
"""None, one, or two of them, the innermost first."""

LINES = 200
_TOGETHER = 20
"""Combinations that a process takes at once."""

_SHOWN_AFTER = 500
SOURCE = "kafka-0"

Combination = tuple[str, tuple[str, ...]]
"""A layout, and envelopes around it from the innermost."""


class MatchedEvent(NamedTuple):
    """The event of a record: its instant, its pattern, and the groups of the pattern's regex."""

    at: datetime | None
    pattern: str
    groups: tuple[str | None, ...]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read every combination, or some that are drawn by chance."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("--some", type=int, help="so many combinations, drawn by chance", metavar="N")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)), metavar="P")
    options = parser.parse_args(arguments)
    every = list(product(LAYOUTS, ENVELOPES))
    drawn = random.Random(options.seed).sample(every, options.some) if options.some else every
    text = excerpt(options.log.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        originals = events_of(text, Path(folder))
    with ProcessPoolExecutor(options.processes) as pool:
        differing = _differing(pool, partial(_compared, text, originals), drawn)
    for kind, which in differing.items():
        print("".join(f"{kind}: {line}\n" for line in which), end="")
    less_carried, losing = map(len, differing.values())
    print(
        f"{len(drawn)} combinations of {len(originals)} events: {len(drawn) - less_carried - losing} give the same, "
        f"{less_carried} carry less, {losing} lose what they carry"
    )
    return 1 if losing else 0


def _differing(
    pool: Executor, compared: Callable[[Combination], str | None], drawn: Sequence[Combination]
) -> dict[str, list[str]]:
    """The combinations that do not give the same, by whether a layout or an envelope of theirs alone carries less."""
    alone = {**{name: (name, ()) for name in LAYOUTS}, **{name: (APACHE.name, (name,)) for name in WRAPS}}
    poor = {name for name, why in zip(alone, pool.map(compared, alone.values())) if why}
    differing: dict[str, list[str]] = {"carries less": [], "lost": []}
    for n, ((layout, wraps), why) in enumerate(zip(drawn, pool.map(compared, drawn, chunksize=_TOGETHER)), 1):
        if why:
            kind = "carries less" if poor.intersection((layout, *wraps)) else "lost"
            differing[kind].append(f"{' in '.join((layout, *wraps))}: {why}")
        if n % _SHOWN_AFTER == 0:
            print(f"{n:,} of {len(drawn):,}, {len(differing['lost'])} lost", file=sys.stderr, flush=True)
    return differing


def _compared(text: str, originals: Sequence[MatchedEvent], combination: Combination) -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        return less(text, *combination, originals, Path(folder))


def excerpt(text: str) -> str:
    """Some records of a log: the first of each pattern and of each logger, then others until there are enough."""
    records = [record for part in split(text) if (record := read_line(part)).layout is APACHE and record.logger]
    first = {_shape(record): n for n, record in reversed([*enumerate(records)])}
    numbers = sorted({*first.values(), *range(min(max(LINES - len(first), 0), len(records)))})
    return "".join(f"{records[n].text}\n" for n in numbers)


def _shape(record: PlainRecord) -> str | None:
    return record.reading.pattern.pattern_id if record.reading.pattern else record.logger


def events_of(text: str, folder: Path) -> list[MatchedEvent]:
    """The events that a worker reads in a file."""
    path = folder / "server.log"
    path.write_text(text, encoding="utf-8")
    return sorted(_events(path), key=repr)


def _events(path: Path) -> Iterator[MatchedEvent]:
    for layouts, batch in batches_of(path):
        for layout, at, text in zip(*(batch.column(name).to_pylist() for name in ("layout", "happened_at", "text"))):
            reading = read_record(layouts[layout] if layout >= 0 else None, text)
            if reading.pattern:
                yield MatchedEvent(at, reading.pattern.pattern_id, reading.groups)


def less(text: str, layout: str, wraps: Sequence[str], originals: Sequence[MatchedEvent], folder: Path) -> str | None:
    """The loss of a combination against the original events, in words; None where it loses nothing."""
    events = events_of(render(text, layout, wraps, SOURCE), folder)
    if events == originals:
        return None
    if [_in_whole_seconds(event) for event in events] == [_in_whole_seconds(event) for event in originals]:
        return "times in whole seconds"
    words = Counter((e.pattern, e.groups) for e in originals), Counter((e.pattern, e.groups) for e in events)
    missing, other = (words[0] - words[1]).total(), (words[1] - words[0]).total()
    return f"{missing} events missing, {other} others" if missing or other else "other times"


def _in_whole_seconds(event: MatchedEvent) -> MatchedEvent:
    return event._replace(at=event.at and event.at.replace(microsecond=0))


if __name__ == "__main__":
    sys.exit(main())
