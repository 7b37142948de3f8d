"""The row classes of all tables, as source code: catalog/rows is written from the catalog and never by hand."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import ModuleType

from kafka_hindsight.catalog import bronze, codes, gold, internal, quality, quality_metadata, quality_verdicts, silver
from kafka_hindsight.catalog.codes import Code
from kafka_hindsight.catalog.model import Column, Table
from kafka_hindsight.settings.home import HOME

STRUCTS = {
    "Quote": ("line_id*", "source*", "happened_at*", "text*"),
    "Contributor": ("client_id", "instance_id", "member_id", "cause*", "at*"),
    "Delay": ("client_id", "member_id", "waited_ms*"),
    "RestartStep": (
        "broker*",
        "outage_id*",
        "kind*",
        "down_at*",
        "up_at",
        "isr_recovered_ms",
        "leadership_restored_ms",
        "is_early",
        "partitions_led_before",
        "elections*",
    ),
    "TopicPartition": ("topic*", "partition*"),
    "DayCount": ("day*", "records*"),
    "OffsetSpan": ("first_offset*", "next_offset*"),
    "TopicBlock": ("topic*", "block*"),
    "OwnedPartition": ("topic_id*", "topic", "partition*"),
    "RecordedMember": (
        "member_id*",
        "instance_id",
        "client_id",
        "host",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "subscription",
        "assignment",
    ),
    "MissingPart": ("part*", "reason*"),
    "RecordCount": ("record_type*", "count*"),
}
"""The fields of each struct, by the name of its class. A star marks a field that is never null."""

_CLASS_OF = {tuple(f.rstrip("*") for f in fields): name for name, fields in STRUCTS.items()}

_PYTHON = {
    "STRING": "str",
    "INT": "int",
    "BIGINT": "int",
    "DOUBLE": "float",
    "BOOLEAN": "bool",
    "TIMESTAMP": "datetime",
    "BINARY": "bytes",
}


FOLDER = HOME / "kafka_hindsight" / "catalog" / "rows"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes catalog/rows. With --check: writes nothing, names the modules that are not current. Gives: 0, or 1."""
    parser = argparse.ArgumentParser("python -m tools.pages.row_classes", description="Write catalog/rows.")
    parser.add_argument("--check", action="store_true", help="only show which modules are not current")
    given = parser.parse_args(arguments)
    written = {f"{name}.py": _formatted(source) for name, source in row_modules().items()}
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.py")}
    stale = [name for name in {*written, *kept} if written.get(name) != kept.get(name)]
    if given.check:
        for name in sorted(stale):
            print(f"catalog/rows/{name} is not what the catalog declares. Needed: as generated. Run `make docs`.")
        return 1 if stale else 0
    for name in sorted(stale):
        (FOLDER / name).unlink(missing_ok=True)
        if name in written:
            (FOLDER / name).write_text(written[name], encoding="utf-8")
        print(f"wrote catalog/rows/{name}")
    return 0


def _formatted(source: str) -> str:
    for command in (("check", "--select", "I", "--fix", "--quiet"), ("format", "--quiet")):
        ruff = (sys.executable, "-m", "ruff", *command, "--stdin-filename", str(FOLDER / "rows.py"), "-")
        source = subprocess.run(ruff, input=source, capture_output=True, text=True, check=True).stdout
    return source


def row_modules() -> dict[str, str]:
    """The source of each module of catalog/rows, by its name. One module for each layer's part of the catalog."""
    parts: dict[str, list[Table]] = {}
    for room in (bronze, silver, gold, internal, quality, quality_metadata, quality_verdicts):
        for table in room.TABLES:
            parts.setdefault(_home(room, table), []).append(table)
    modules = {"structs": _structs(t for tables in parts.values() for t in tables)} | {
        name: _module(name, tables) for name, tables in parts.items()
    }
    return {"__init__": _exports(modules)} | modules


def _exports(modules: Mapping[str, str]) -> str:
    lines = [
        f"from kafka_hindsight.catalog.rows.{name} import {row} as {row}"
        for name, source in sorted(modules.items())
        for row in sorted(re.findall(r"^class (\w+)\(", source, re.MULTILINE))
    ]
    title = "The row class of each table. Written by `make docs` from the catalog: changes here are lost."
    return f'"""{title}"""\n\n' + "\n".join(lines) + "\n"


def _home(room: ModuleType, table: Table) -> str:
    name = room.__name__.rpartition(".")[2]
    if name != "gold":
        return name
    if {"group_id", "rebalance_count"} & set(table.column_names):
        return "gold_groups"
    return "gold_partitions" if "partition" in table.column_names else "gold_cluster"


def _module(name: str, tables: Iterable[Table]) -> str:
    body = "\n\n".join(_class(t) for t in tables)
    return _source(f"Rows of the tables of catalog/{name.split('_')[0]}*.py.", body)


def _source(title: str, body: str) -> str:
    known = [c.__name__ for c in vars(codes).values() if isinstance(c, type) and issubclass(c, Code)]
    structs = [n for n in STRUCTS if f"class {n}(" not in body]
    imports = "".join(
        f"from kafka_hindsight.catalog.{module} import {', '.join(used)}\n"
        for module, names in (("codes", known), ("row", ["Row"]), ("rows.structs", structs))
        if (used := sorted(n for n in names if re.search(rf"\b{n}\b", body)))
    )
    instant = "from datetime import datetime\n" if "datetime" in body else ""
    return (
        f'"""{title} Written by `make docs` from the catalog: changes here are lost."""\n\n'
        "from __future__ import annotations\n\nfrom collections.abc import Mapping\nfrom dataclasses import dataclass\n"
        f"{instant}from typing import ClassVar\n\n{imports}\n\n{body}\n"
    )


def _structs(tables: Iterable[Table]) -> str:
    found: dict[str, str] = {}
    for table in tables:
        for column in table.columns:
            for name, struct in _structs_in(column.type):
                found.setdefault(name, struct)
    ordered = sorted(
        found, key=lambda n: (sum(f"{m}]" in found[n] or f": {m}" in found[n] for m in found if m != n), n)
    )
    return _source("Structs that rows hold.", "\n\n".join(found[n] for n in ordered))


def _structs_in(type_: str) -> Iterator[tuple[str, str]]:
    if type_.startswith("ARRAY<"):
        yield from _structs_in(type_[6:-1])
    elif type_.startswith("STRUCT<"):
        columns = _fields(type_)
        for column in columns:
            yield from _structs_in(column.type)
        name = _CLASS_OF[tuple(c.name for c in columns)]
        never_null = {f.rstrip("*") for f in STRUCTS[name] if f.endswith("*")}
        columns = [replace(c, nullable=c.name not in never_null) for c in columns]
        yield name, _declared(name, "A struct that rows hold.", "", columns)


def _fields(struct: str) -> list[Column]:
    depth, start, parts = 0, 0, []
    inner = struct[7:-1]
    for i, letter in enumerate(inner):
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            parts.append(inner[start:i])
            start = i + 1
    pairs = [part.strip().split(": ", 1) for part in (*parts, inner[start:])]
    return [Column(name, type_, "") for name, type_ in pairs]


def _class(table: Table) -> str:
    grain = table.grain[0].upper() + table.grain[1:]
    return _declared(table.row_name, f"{grain}.", table.full_name, table.columns)


def _declared(name: str, title: str, table: str, columns: Iterable[Column]) -> str:
    columns = list(columns)
    coded = {c.name: type(c.codes[0]).__name__ for c in columns if c.codes}
    structs = {c.name: s for c in columns if (s := _struct(c.type))}
    constants = {
        "TABLE: ClassVar[str]": table and f'"{table}"',
        "CODES: ClassVar[Mapping[str, type[str]]]": coded and f"{{{_pairs(coded)}}}",
        "STRUCTS: ClassVar[Mapping[str, type[Row]]]": structs and f"{{{_pairs(structs)}}}",
    }
    held = [f"    {name} = {value}" for name, value in constants.items() if value]
    return "\n".join(
        (
            "@dataclass(frozen=True, slots=True, kw_only=True)",
            f"class {name}(Row):",
            f'    """{title}"""\n',
            *held,
            *([""] if held else []),
            *(_declared_field(c, coded.get(c.name) or _python(c.type)) for c in columns),
            "",
        )
    )


def _declared_field(column: Column, kind: str) -> str:
    """A column as a field. A row has no version of the knowledge until it is written."""
    nullable = column.nullable or column.name == "knowledge_version"
    return f"    {column.name}: {kind}{' | None = None' if nullable else ''}"


def _pairs(named: dict[str, str]) -> str:
    return ", ".join(f'"{name}": {value}' for name, value in named.items())


def _struct(type_: str) -> str | None:
    inner = type_.removeprefix("ARRAY<") if type_.startswith("ARRAY<STRUCT<") else type_
    inner = inner[:-1] if type_.startswith("ARRAY<STRUCT<") else inner
    return _CLASS_OF[tuple(c.name for c in _fields(inner))] if inner.startswith("STRUCT<") else None


def _python(type_: str) -> str:
    struct = _struct(type_)
    if struct:
        return f"list[{struct}]" if type_.startswith("ARRAY<") else struct
    return f"list[{_python(type_[6:-1])}]" if type_.startswith("ARRAY<") else _PYTHON[type_]


if __name__ == "__main__":
    sys.exit(main())
