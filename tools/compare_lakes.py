"""Whether two lakes hold the same rows: `python -m tools.compare_lakes OLD NEW [--mapping FILE.toml]`.

It reads every table of bronze, silver, gold and quality with delta-rs, and compares all rows, in whatever order they
stand. Columns whose name begins with `run_` are left out; the mapping declares what else may differ. Exit code 0 where
all tables are equal, 1 where one differs, 2 for input that cannot be read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow
from deltalake import DeltaTable

from kafka_hindsight.catalog import BY_NAME
from tools.lake_mapping import LakeMapping, MappingError, Row, read_mapping

LAYERS = ("bronze", "silver", "gold", "quality")
WIDEST = 240
ID = re.compile(r'"[0-9a-f]{32}"')
"""An id in JSON, as catalog.ids makes it."""

Lake = Mapping[str, Callable[[], pyarrow.Table]]
"""The function that reads a table, by the table's full name."""


@dataclass(frozen=True)
class Comparison:
    """One table of two lakes. The count is None on a side that lacks it; a difference is a line of text."""

    table: str
    old_count: int | None
    new_count: int | None
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Side:
    """One of the two lakes, its tables, columns and codes by their new names."""

    lake: Lake
    mapping: LakeMapping
    is_old: bool

    def columns_and_rows(self, table: str) -> tuple[list[str], list[Row]]:
        """The columns of a table that are compared, and its rows."""
        arrow = self.lake[table]()
        if not self.is_old:
            return self.mapping.new_columns(table, arrow.column_names), arrow.to_pylist()
        rows = [self.mapping.old_row(table, row) for row in arrow.to_pylist()]
        return self.mapping.old_columns(table, arrow.column_names), rows

    def contents(self) -> dict[str, str]:
        """A replacement of each id of the tables in `rehashed`: a hash of its row without any such id."""
        tables = {t: self.columns_and_rows(t) for t in self.mapping.rehashed if t in self.lake}
        ids = {t: [[row[c] for row in rows] for c in self.mapping.rehashed[t]] for t, (_, rows) in tables.items()}
        blank = {i: "an id" for of_table in ids.values() for of_column in of_table for i in of_column}
        return {
            i: f"row {_hash(self.mapping.comparable(table, row, columns, blank))}"
            for table, (columns, rows) in tables.items()
            for of_column in ids[table]
            for i, row in zip(of_column, rows)
        }


def open_views(folder: Path) -> Lake:
    """The tables of a lake on disk. Raises: FileNotFoundError if there are none."""
    tables = [log.parent for layer in LAYERS for log in sorted(folder.glob(f"{layer}/*/_delta_log"))]
    if not tables:
        raise FileNotFoundError(
            f"Found no Delta table in {folder}. Needed: a lake, with {', '.join(LAYERS)}. Check the path."
        )
    return {f"{t.parent.name}.{t.name}": partial(_load, str(t)) for t in tables}


def compare(old: Lake, new: Lake, mapping: LakeMapping, keys: Mapping[str, Sequence[str]]) -> Iterator[Comparison]:
    """Compare each table of two lakes, without those that the mapping leaves out.

    `keys` are the key columns of each table, which pair the rows that differ.
    """
    before = Side({mapping.tables.get(name, name): load for name, load in old.items()}, mapping, is_old=True)
    if len(before.lake) < len(old):
        raise MappingError(f"Found in `tables` two tables of {sorted(old)} with one new name. Needed: one name each.")
    after = Side(new, mapping, is_old=False)
    contents = (before.contents(), after.contents())
    for table in sorted(before.lake.keys() | new.keys()):
        if mapping.is_whole(mapping.left_out, table):
            continue
        if table in new and table in before.lake:
            yield _comparison(table, before, after, contents, keys.get(table, ()))
        elif table in new and not mapping.is_whole(mapping.added, table):
            yield Comparison(table, None, new[table]().num_rows, ("only in NEW: see `tables` and `added`",))
        elif table not in new and not mapping.is_whole(mapping.removed, table):
            yield Comparison(table, before.lake[table]().num_rows, None, ("only in OLD: see `tables` and `removed`",))


def _comparison(
    table: str, before: Side, after: Side, contents: tuple[Mapping[str, str], Mapping[str, str]], key: Sequence[str]
) -> Comparison:
    (had, old_rows), (has, new_rows) = before.columns_and_rows(table), after.columns_and_rows(table)
    both = [c for c in has if c in had]
    old, new = (
        Counter(before.mapping.comparable(table, row, both, ids) for row in rows)
        for rows, ids in zip((old_rows, new_rows), contents)
    )
    allowed_old, allowed_new = (
        Counter(after.mapping.comparable(table, row, both, ids) for row in rows if may_differ(table, row))
        for rows, ids, may_differ in (
            (old_rows, contents[0], after.mapping.is_gone),
            (new_rows, contents[1], after.mapping.is_new),
        )
    )
    old, new = old - (allowed_old - new), new - (allowed_new - old)
    differences = (
        *_of_columns(had, has),
        *_hint(old - new, new - old),
        *_differences(old - new, new - old, [c for c in key if c in both]),
    )
    return Comparison(table, len(old_rows), len(new_rows), differences)


def _of_columns(had: Sequence[str], has: Sequence[str]) -> Iterator[str]:
    """A line for each column that only one side has, or that has the name of another."""
    yield from (
        f"column {c}: two columns of OLD have this name, see `columns`" for c, n in Counter(had).items() if n > 1
    )
    yield from (f"column {c}: only in OLD, see `columns` and `removed`" for c in had if c not in has)
    yield from (f"column {c}: only in NEW, see `columns` and `added`" for c in has if c not in had)


def _hint(removed: Counter[str], added: Counter[str]) -> Iterator[str]:
    """A line if rows differ only in ids."""
    old, new = (Counter(ID.sub('"id"', row) for row in rows.elements()) for rows in (removed, added))
    if old and old == new:
        yield "the rows differ in ids alone: where their hash holds a renamed word, see `rehashed`"


def _differences(removed: Counter[str], added: Counter[str], key: Sequence[str]) -> Iterator[str]:
    """A line for each row that only one side has; two rows with the same key share one."""
    partners: dict[str, list[Row]] = {}
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
    parser.add_argument("--mapping", type=Path, help="what may differ, in TOML (tools/since_28d0312.toml)")
    parser.add_argument("--shown", type=int, default=3, help="how many differences of a table are printed")
    options = parser.parse_args(arguments)
    keys = {name: table.key for name, table in BY_NAME.items()}
    try:
        lakes, mapping = (open_views(options.old), open_views(options.new)), read_mapping(options.mapping)
        comparisons = list(_print_each(compare(*lakes, mapping, keys), options.shown))
    except (MappingError, FileNotFoundError) as problem:
        print(problem, file=sys.stderr)
        return 2
    differing = sum(bool(c.differences) for c in comparisons)
    print(f"{len(comparisons) - differing} tables are equal, {differing} differ.")
    return 1 if differing else 0


def _print_each(comparisons: Iterable[Comparison], limit: int) -> Iterator[Comparison]:
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


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _key_text(row: Row, key: Iterable[str]) -> str:
    return ", ".join(f"{c}={row[c]}" for c in key)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDEST else f"{text[:WIDEST]}…"


if __name__ == "__main__":
    sys.exit(main())
