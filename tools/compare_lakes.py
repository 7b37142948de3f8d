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
"""Full table name → what reads the table."""


@dataclass(frozen=True)
class Comparison:
    """One table of two lakes. A side that does not have it counts None rows; a difference is a line of text."""

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

    def read(self, table: str) -> tuple[list[str], list[Row]]:
        """The columns of a table that are compared, and its rows."""
        held = self.lake[table]()
        if not self.is_old:
            return self.mapping.new_columns(table, held.column_names), held.to_pylist()
        rows = [self.mapping.old_row(table, row) for row in held.to_pylist()]
        return self.mapping.old_columns(table, held.column_names), rows

    def contents(self) -> dict[str, str]:
        """What stands for each id of the tables in `rehashed`: a hash of its row without any such id."""
        read = {t: self.read(t) for t in self.mapping.rehashed if t in self.lake}
        ids = {t: [[row[c] for row in rows] for c in self.mapping.rehashed[t]] for t, (_, rows) in read.items()}
        blank = {i: "an id" for of_table in ids.values() for of_column in of_table for i in of_column}
        return {
            i: f"row {_hash(self.mapping.comparable(table, row, columns, blank))}"
            for table, (columns, rows) in read.items()
            for of_column in ids[table]
            for i, row in zip(of_column, rows)
        }


def open_views(folder: Path) -> Lake:
    """The tables of a lake on disk. Raises: FileNotFoundError where there is none."""
    tables = [log.parent for layer in LAYERS for log in sorted(folder.glob(f"{layer}/*/_delta_log"))]
    if not tables:
        raise FileNotFoundError(
            f"Found no Delta table in {folder}. Needed: a lake, with {', '.join(LAYERS)}. Check the path."
        )
    return {f"{t.parent.name}.{t.name}": partial(_read, str(t)) for t in tables}


def compare(old: Lake, new: Lake, mapping: LakeMapping, keys: Mapping[str, Sequence[str]]) -> Iterator[Comparison]:
    """Each table of two lakes, compared; one that the mapping leaves out is passed over.

    Takes: `keys`, the key columns of each table, which pair the rows that differ.
    """
    before = Side({mapping.tables.get(name, name): read for name, read in old.items()}, mapping, is_old=True)
    if len(before.lake) < len(old):
        raise MappingError(f"Found in `tables` two tables of {sorted(old)} with one new name. Needed: one name each.")
    after = Side(new, mapping, is_old=False)
    contents = (before.contents(), after.contents())
    for table in sorted(before.lake.keys() | new.keys()):
        if mapping.is_whole(mapping.left_out, table):
            continue
        if table in new and table in before.lake:
            yield _compared(table, before, after, contents, keys.get(table, ()))
        elif table in new and not mapping.is_whole(mapping.added, table):
            yield Comparison(table, None, new[table]().num_rows, ("only in NEW: see `tables` and `added`",))
        elif table not in new and not mapping.is_whole(mapping.removed, table):
            yield Comparison(table, before.lake[table]().num_rows, None, ("only in OLD: see `tables` and `removed`",))


def _compared(
    table: str, before: Side, after: Side, contents: tuple[Mapping[str, str], Mapping[str, str]], key: Sequence[str]
) -> Comparison:
    (had, old_rows), (has, new_rows) = before.read(table), after.read(table)
    both = [c for c in has if c in had]
    old, new = (
        Counter(before.mapping.comparable(table, row, both, ids) for row in rows)
        for rows, ids in zip((old_rows, new_rows), contents)
    )
    gone, came = (
        Counter(after.mapping.comparable(table, row, both, ids) for row in rows if may_differ(table, row))
        for rows, ids, may_differ in (
            (old_rows, contents[0], after.mapping.is_gone),
            (new_rows, contents[1], after.mapping.is_new),
        )
    )
    old, new = old - (gone - new), new - (came - old)
    differences = (
        *_of_columns(had, has),
        *_hint(old - new, new - old),
        *_differences(old - new, new - old, [c for c in key if c in both]),
    )
    return Comparison(table, len(old_rows), len(new_rows), differences)


def _of_columns(had: Sequence[str], has: Sequence[str]) -> Iterator[str]:
    """A line for each column that one side alone holds, or that has the name of another."""
    yield from (
        f"column {c}: two columns of OLD have this name, see `columns`" for c, n in Counter(had).items() if n > 1
    )
    yield from (f"column {c}: only in OLD, see `columns` and `removed`" for c in had if c not in has)
    yield from (f"column {c}: only in NEW, see `columns` and `added`" for c in has if c not in had)


def _hint(gone: Counter[str], came: Counter[str]) -> Iterator[str]:
    """A line where rows differ in ids alone."""
    old, new = (Counter(ID.sub('"id"', row) for row in rows.elements()) for rows in (gone, came))
    if old and old == new:
        yield "the rows differ in ids alone: where their hash holds a renamed word, see `rehashed`"


def _differences(gone: Counter[str], came: Counter[str], key: Sequence[str]) -> Iterator[str]:
    """A line for each row that one side alone holds; two rows with the same key share one."""
    partners: dict[str, list[Row]] = {}
    for row in map(json.loads, came.elements()):
        partners.setdefault(_named(row, key), []).append(row)
    for row in map(json.loads, gone.elements()):
        name = _named(row, key)
        if key and partners.get(name):
            other = partners[name].pop(0)
            changes = (f"{c} was {_short(row[c])}, is {_short(other[c])}" for c in row if row[c] != other[c])
            yield f"{name}: {'; '.join(changes)}"
        else:
            yield f"only in OLD: {_short(row)}"
    yield from (f"only in NEW: {_short(row)}" for rows in partners.values() for row in rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each table. Gives: the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.compare_lakes", description="Compare all rows of two lakes.")
    parser.add_argument("old", type=Path, help="the lake of before")
    parser.add_argument("new", type=Path, help="the lake of now")
    parser.add_argument("--mapping", type=Path, help="what may differ, in TOML (tools/since_28d0312.toml)")
    parser.add_argument("--shown", type=int, default=3, help="how many differences of a table are printed")
    options = parser.parse_args(arguments)
    keys = {name: table.key for name, table in BY_NAME.items()}
    try:
        lakes, mapping = (open_views(options.old), open_views(options.new)), read_mapping(options.mapping)
        found = list(_printed(compare(*lakes, mapping, keys), options.shown))
    except (MappingError, FileNotFoundError) as problem:
        print(problem, file=sys.stderr)
        return 2
    differing = sum(bool(c.differences) for c in found)
    print(f"{len(found) - differing} tables are equal, {differing} differ.")
    return 1 if differing else 0


def _printed(comparisons: Iterable[Comparison], shown: int) -> Iterator[Comparison]:
    for c in comparisons:
        counts = f"{c.new_count} rows" if c.old_count == c.new_count else f"{c.old_count} → {c.new_count} rows"
        print(f"{'DIFFERS' if c.differences else 'equal':8} {c.table:28} {counts}")
        for line in c.differences[:shown]:
            print(f"         {line}")
        if len(c.differences) > shown:
            print(f"         and {len(c.differences) - shown} more")
        yield c


def _read(folder: str) -> pyarrow.Table:
    # With its threads, Arrow ended 4 of 20 processes with SIGABRT after all was read (pyarrow 26.0, deltalake 1.6).
    return DeltaTable(folder).to_pyarrow_dataset().to_table(use_threads=False)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _named(row: Row, key: Iterable[str]) -> str:
    return ", ".join(f"{c}={row[c]}" for c in key)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDEST else f"{text[:WIDEST]}…"


if __name__ == "__main__":
    sys.exit(main())
