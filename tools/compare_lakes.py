"""Whether two lakes hold the same rows: `python -m tools.compare_lakes OLD NEW [--ignore COLUMN ...]`.

It reads every table of bronze, silver, gold and quality with delta-rs, and compares all rows, in whatever order they
stand. Columns whose name begins with `run_` are left out, and those that `--ignore` names, such as knowledge_version.
Exit code 0 where all tables are equal, 1 where one differs, 2 for input that cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
from deltalake import DeltaTable

from kafka_hindsight.catalog import BY_NAME

LAYERS = ("bronze", "silver", "gold", "quality")
OF_RUN = "run_"
WIDEST = 240

LakeRow = dict[str, Any]

TableReaders = Mapping[str, Callable[[], pyarrow.Table]]
"""The function that reads a table, by the table's full name."""


@dataclass(frozen=True)
class TableComparison:
    """One table of two lakes. The count is None on a side that lacks it; a difference is a line of text."""

    table: str
    old_count: int | None
    new_count: int | None
    differences: tuple[str, ...]


def open_views(folder: Path) -> TableReaders:
    """The tables of a lake on disk. Raises: FileNotFoundError if there are none."""
    tables = [log.parent for layer in LAYERS for log in sorted(folder.glob(f"{layer}/*/_delta_log"))]
    if not tables:
        raise FileNotFoundError(
            f"Found no Delta table in {folder}. Needed: a lake, with {', '.join(LAYERS)}. Check the path."
        )
    return {f"{t.parent.name}.{t.name}": partial(_load, str(t)) for t in tables}


def compare(
    old: TableReaders, new: TableReaders, keys: Mapping[str, Sequence[str]], ignored: Collection[str] = ()
) -> Iterator[TableComparison]:
    """Compare each table of two lakes, without the ignored columns.

    `keys` are the key columns of each table, which pair the rows that differ.
    """
    for table in sorted(old.keys() | new.keys()):
        if table not in old:
            yield TableComparison(table, None, new[table]().num_rows, ("only in NEW",))
        elif table not in new:
            yield TableComparison(table, old[table]().num_rows, None, ("only in OLD",))
        else:
            yield _comparison(table, old[table](), new[table](), keys.get(table, ()), ignored)


def _comparison(
    table: str, old: pyarrow.Table, new: pyarrow.Table, key: Sequence[str], ignored: Collection[str]
) -> TableComparison:
    columns_before, columns_now = (
        [c for c in rows.column_names if c not in ignored and not c.startswith(OF_RUN)] for rows in (old, new)
    )
    shared = [c for c in columns_now if c in columns_before]
    before, now = (Counter(map(_as_text, rows.select(shared).to_pylist())) for rows in (old, new))
    differences = (
        *(f"column {c}: only in OLD" for c in columns_before if c not in shared),
        *(f"column {c}: only in NEW" for c in columns_now if c not in shared),
        *_differences(before - now, now - before, [c for c in key if c in shared]),
    )
    return TableComparison(table, old.num_rows, new.num_rows, differences)


def _differences(removed: Counter[str], added: Counter[str], key: Sequence[str]) -> Iterator[str]:
    """A line for each row that only one side has; two rows with the same key share one."""
    partners: dict[str, list[LakeRow]] = {}
    for row in map(json.loads, added.elements()):
        partners.setdefault(_key_text(row, key), []).append(row)
    for row in map(json.loads, removed.elements()):
        name = _key_text(row, key)
        if key and partners.get(name):
            other = partners[name].pop(0)
            changes = (f"{c} was {_short(row[c])}, is {_short(other[c])}" for c in row if row[c] != other[c])
            yield f"{name}: {'; '.join(changes)}"
        else:
            yield f"only in OLD: {_short(row)}"
    yield from (f"only in NEW: {_short(row)}" for rows in partners.values() for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare_lakes", description="Compare all rows of two lakes.")
    parser.add_argument("old", type=Path, help="the lake of before")
    parser.add_argument("new", type=Path, help="the lake of now")
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="COLUMN", help="a column that may differ; may be repeated"
    )
    parser.add_argument("--shown", type=int, default=3, help="how many differences of a table are printed")
    options = parser.parse_args(arguments)
    keys = {name: table.key for name, table in BY_NAME.items()}
    try:
        lakes = open_views(options.old), open_views(options.new)
    except FileNotFoundError as problem:
        print(problem, file=sys.stderr)
        return 2
    comparisons = list(_print_each(compare(*lakes, keys, options.ignore), options.shown))
    differing = sum(bool(c.differences) for c in comparisons)
    print(f"{len(comparisons) - differing} tables are equal, {differing} differ.")
    return 1 if differing else 0


def _print_each(comparisons: Iterable[TableComparison], limit: int) -> Iterator[TableComparison]:
    for c in comparisons:
        counts = f"{c.new_count} rows" if c.old_count == c.new_count else f"{c.old_count} → {c.new_count} rows"
        print(f"{'DIFFERS' if c.differences else 'equal':8} {c.table:28} {counts}")
        for line in c.differences[:limit]:
            print(f"         {line}")
        if len(c.differences) > limit:
            print(f"         and {len(c.differences) - limit} more")
        yield c


def _load(folder: str) -> pyarrow.Table:
    # With its threads, Arrow ended 4 of 20 processes with SIGABRT after all was read (pyarrow 26.0, deltalake 1.6).
    return DeltaTable(folder).to_pyarrow_dataset().to_table(use_threads=False)


def _as_text(row: LakeRow) -> str:
    """A row as text that can be compared: a number differs from its text, an empty list from null."""
    return json.dumps(row, default=str, sort_keys=True, ensure_ascii=False)


def _key_text(row: LakeRow, key: Iterable[str]) -> str:
    return ", ".join(f"{c}={row[c]}" for c in key)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDEST else f"{text[:WIDEST]}…"


if __name__ == "__main__":
    sys.exit(main())
