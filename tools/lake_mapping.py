"""Allowed differences of two lakes: renames, re-worded sentences, new or removed columns (since_28d0312.toml)."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Names = Mapping[str, str]
Columns = Mapping[str, Sequence[str]]

ALL = "*"
RUN_PREFIX = "run_"
SENTENCE = "(a sentence)"


class MappingError(Exception):
    """A mapping that cannot be used."""


@dataclass(frozen=True)
class LakeMapping:
    """The sections of the TOML file. Tables and columns have their new names, except to the left of `=`."""

    tables: Names = field(default_factory=dict)
    columns: Mapping[str, Names] = field(default_factory=dict)
    values: Mapping[str, Mapping[str, Names]] = field(default_factory=dict)
    reworded: Columns = field(default_factory=dict)
    rehashed: Columns = field(default_factory=dict)
    added: Columns = field(default_factory=dict)
    added_rows: Mapping[str, Columns] = field(default_factory=dict)
    removed_rows: Mapping[str, Columns] = field(default_factory=dict)
    removed: Columns = field(default_factory=dict)
    left_out: Columns = field(default_factory=dict)

    def old_row(self, table: str, row: Row) -> Row:
        """A row of the old lake with the names and codes of the new one. `table` is the new name of its table."""
        renames: dict[tuple[str, ...], dict[str, str]] = {}
        for old, new in _of(self.columns, table).items():
            *struct, name = old.split(".")
            renames.setdefault(tuple(struct), {})[name] = new
        for place, names in sorted(renames.items(), key=lambda item: len(item[0]), reverse=True):
            row = _at(row, place, partial(_renamed, names))
        for column, codes in _of(self.values, table).items():
            row = _at(row, column.split("."), partial(_replaced, by=codes))
        return row

    def old_columns(self, table: str, names: Iterable[str]) -> list[str]:
        """The columns of an old table by their new names, without those that are not compared."""
        renames = _of(self.columns, table)
        return self._without_left_out(table, (renames.get(n, n) for n in names), self.removed)

    def new_columns(self, table: str, names: Iterable[str]) -> list[str]:
        """The columns of a new table without those that are not compared."""
        return self._without_left_out(table, names, self.added)

    def comparable(self, table: str, row: Row, columns: Iterable[str], ids: Names) -> str:
        """A row with new names as text that can be compared; `ids` has the replacement of each id."""
        row = {c: row[c] for c in columns}
        for column in (c for s in (self.added, self.removed, self.left_out) for c in _columns_of(s, table) if "." in c):
            *struct, name = column.split(".")
            row = _at(row, struct, partial(_without, name))
        for column in _columns_of(self.reworded, table):
            row = _at(row, column.split("."), lambda text: text and SENTENCE)
        return json.dumps(_replaced(row, ids) if ids else row, default=str, sort_keys=True, ensure_ascii=False)

    def is_new(self, table: str, row: Row) -> bool:
        """Whether a row may be in the new lake alone."""
        return _has_value(self.added_rows.get(table, {}), row)

    def is_gone(self, table: str, row: Row) -> bool:
        """Whether a row may be in the old lake alone."""
        return _has_value(self.removed_rows.get(table, {}), row)

    def is_whole(self, section: Columns, table: str) -> bool:
        """Whether `added`, `removed` or `left_out` names all columns of a table."""
        return ALL in section.get(table, ())

    def _without_left_out(self, table: str, names: Iterable[str], of_this_side: Columns) -> list[str]:
        out = {*_columns_of(self.left_out, table), *_columns_of(of_this_side, table)}
        return [n for n in names if n not in out and not n.startswith(RUN_PREFIX)]


def read_mapping(path: Path | None) -> LakeMapping:
    """The mapping in a file; without a file, only `run_` columns are left out. Raises: MappingError."""
    if path is None:
        return LakeMapping()
    try:
        sections = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise MappingError(f"Found {path}, which cannot be read: {error}. Needed: a mapping in TOML.") from error
    names = [f.name for f in fields(LakeMapping)]
    if strange := sorted(sections.keys() - names):
        raise MappingError(f"Found in {path} the sections {', '.join(strange)}. Needed: {', '.join(names)}.")
    shapes = {"tables": str, "columns": dict, "values": dict, "added_rows": dict, "removed_rows": dict}
    for name, section in sections.items():
        if wrong := [k for k, v in section.items() if not isinstance(v, shapes.get(name, list))]:
            raise MappingError(
                f"Found in {path}, section {name}, another form for {', '.join(wrong)}. "
                "Needed: the form that tools/since_28d0312.toml shows."
            )
    return LakeMapping(**sections)


def _has_value(values: Columns, row: Row) -> bool:
    return any(row.get(column) in codes for column, codes in values.items())


def _of(section: Mapping[str, Mapping[str, Any]], table: str) -> dict[str, Any]:
    return {**section.get(ALL, {}), **section.get(table, {})}


def _columns_of(section: Columns, table: str) -> Iterator[str]:
    for name in (ALL, table):
        yield from section.get(name, ())


def _at(value: Any, place: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """A value with the part at a path changed, in each element of lists on the way."""
    if isinstance(value, list):
        return [_at(v, place, change) for v in value]
    if not place:
        return change(value)
    if isinstance(value, dict) and place[0] in value:
        return {**value, place[0]: _at(value[place[0]], place[1:], change)}
    return value


def _renamed(names: Names, parent: Any) -> Any:
    return {names.get(k, k): v for k, v in parent.items()} if isinstance(parent, dict) else parent


def _without(name: str, parent: Any) -> Any:
    return {k: v for k, v in parent.items() if k != name} if isinstance(parent, dict) else parent


def _replaced(value: Any, by: Names) -> Any:
    """A value with each of its texts replaced that has a replacement."""
    if isinstance(value, dict):
        return {k: _replaced(v, by) for k, v in value.items()}
    if isinstance(value, list):
        return [_replaced(v, by) for v in value]
    return by.get(value, value) if isinstance(value, str) else value
