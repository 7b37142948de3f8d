"""Asks the SQL prompt and the Thrift server for whatever their grammars allow: `python -m lab.sql_fuzz`.

The statements are those of the tests, from DuckDB's and Spark's documentation, and what is made from them. While they
run, a watch looks whether anything is read outside of the lake, written or connected to. The seed that is printed,
given as `--seed`, asks the same again; `--only` asks one of them alone. It ends with 1 where anything happened.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from kafka_hindsight.start import launch
from lab.sql_fuzz.engines import ENGINES, Result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    parser.add_argument("--only", type=int, help="the number of one statement")
    given = parser.parse_args()
    numbers = range(given.count) if given.only is None else range(given.only, given.only + 1)
    with tempfile.TemporaryDirectory(prefix="sql-fuzz-") as folder:
        os.environ.update(launch.environment())
        os.chdir(folder)
        result = ENGINES[given.engine](Path(folder), given.seed, numbers)
    print("\n".join(lines(given.engine, given.seed, result)))
    return 1 if result.happened else 0


def lines(engine: str, seed: int, result: Result) -> list[str]:
    """What was tried, and what came of it."""
    counts = ", ".join(f"{count} {outcome}" for outcome, count in sorted(result.outcomes.items()))
    found = [f"  statement {number}: {', '.join(what)}\n    {text!r}" for number, text, what in result.happened]
    return [
        f"{engine}, seed {seed}: {result.outcomes.total()} statements ({counts}).",
        f"Something was read outside of the lake, written or connected to after {len(found)} of them.",
        *found,
    ]


if __name__ == "__main__":
    sys.exit(main())
