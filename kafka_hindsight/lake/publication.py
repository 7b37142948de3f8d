"""The versions of gold that readers see: those of the last whole publication.

Delta commits one table after another. So a publication ends with one small file that lists the versions of all its
tables, and that is replaced at once. Every reader of ours reads it first; no engine is needed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from kafka_hindsight.catalog import TABLES, Table, derived_views
from kafka_hindsight.catalog.gold import TABLES as GOLD
from kafka_hindsight.catalog.quality import PUBLICATIONS
from kafka_hindsight.lake import delta_log
from kafka_hindsight.lake.damage import Damaged, checksum_of, without_checksum
from kafka_hindsight.lake.landing import names_in, read_bytes
from kafka_hindsight.settings.config import is_uri, masked

FILE = "published.json"
DUCKDB, SPARK = "published_duckdb.sql", "published_spark.sql"
"""The files of views, by which foreign readers see what the list names."""

TOGETHER = (*GOLD, PUBLICATIONS)
"""The tables that a publication changes together."""

_CREATED = 0
"""The version of a table without rows: readers see it until a publication lists the table."""

Versions = Mapping[Table, int]
_UNREADABLE: Mapping[str, Any] = {"operation": "WRITE"}


def newest_versions(lake: str, *tables: Table) -> dict[Table, int]:
    """The newest version of each of these tables that has a commit; by default of all tables."""
    newest = {t: delta_log.newest_version(names_in(_log(lake, t))) for t in tables or TABLES}
    return {t: version for t, version in newest.items() if version is not None}


def visible_versions(lake: str, newest: Versions) -> dict[Table, int]:
    """The version in which each table is to be read: for tables that are published together the one in the list.

    It is the `newest` one in a lake without a list, which no run has published, and for a table whose history began
    again behind the list.
    """
    in_list = _read_list(lake)
    if in_list is None:
        return {**newest}
    return {t: min(v, in_list.get(t.full_name, _CREATED)) if t in TOGETHER else v for t, v in newest.items()}


def listed_version(lake: str, table: Table) -> int | None:
    """The version of a table in the list; None if the list does not have the table."""
    return (_read_list(lake) or {}).get(table.full_name)


def listed_checksum(lake: str, table: Table) -> str | None:
    """The checksum of the snapshot of a table that readers see; None if the list has none."""
    checksum: str | None = (_read_file(lake) or {}).get("snapshots", {}).get(table.full_name)
    return checksum


def damaged_views(lake: str) -> list[str]:
    """The files of views that are not those of the last publication."""
    checksums = (_read_file(lake) or {}).get("views", {})
    return [n for n, checksum in checksums.items() if checksum_of(_text_of_view(f"{lake}/{n}")) != checksum]


def _text_of_view(place: str) -> str | None:
    with suppress(FileNotFoundError):
        return read_bytes(place).decode(errors="replace")
    return None


def views(lake: str, versions: Versions) -> dict[str, str]:
    """Write the SQL of each file of views.

    DuckDB replaces its views in one transaction. Spark has none over views, so they are those of one session. Places
    are absolute: an engine reads relative ones from the folder that it was started in.
    """
    place = lake if is_uri(lake) else os.path.abspath(os.path.expanduser(lake))
    duckdb = spark = ""
    for table, version in versions.items():
        folder = f"{place}/{table.layer}/{table.name}"
        uri = re.sub("^s3[an]:", "s3:", folder).replace("'", "''")
        for_duckdb = f"delta_scan('{uri}', version := {version})"
        duckdb += f"CREATE SCHEMA IF NOT EXISTS {table.layer};\n"
        duckdb += f"CREATE OR REPLACE VIEW {table.full_name} AS FROM {for_duckdb};\n"
        for_spark = f"delta.`{folder.replace('`', '``')}` VERSION AS OF {version}"
        spark += f"CREATE OR REPLACE TEMPORARY VIEW {table.name} AS SELECT * FROM {for_spark};\n"
    for view in derived_views.VIEWS:
        if versions.keys() >= {*view.reads}:
            duckdb += f"CREATE OR REPLACE VIEW {view.full_name} AS {view.query};\n"
    return {DUCKDB: f"BEGIN TRANSACTION;\n{duckdb}COMMIT;\n", SPARK: spark}


def lists(lake: str, newest: Versions) -> bool:
    """Whether the list names exactly these versions."""
    return _read_list(lake) == {t.full_name: v for t, v in newest.items()}


def half_published(lake: str, newest: Versions) -> dict[Table, int]:
    """The tables with rows of a window that no whole publication has listed, and the version before those rows.

    Commits that compact, prune or fence a table have no rows of a window. A commit that cannot be read may have some.
    """
    visible = visible_versions(lake, newest)
    return {
        t: visible[t]
        for t in TOGETHER
        if t in newest and any(_writes_a_window(c) for c in commits(lake, t, visible[t] + 1, newest[t]))
    }


def note(lake: str, newest: Versions) -> str | None:
    """A sentence for a reader of a lake with an unfinished publication; None if it has none."""
    unfinished = half_published(lake, newest)
    if not unfinished:
        return None
    return (
        f"A publication is not finished: {', '.join(t.full_name for t in unfinished)} hold rows of a window that"
        " readers do not see yet. You see the last whole publication. Either a run is writing, or a run ended half way."
        " If no run is writing, run that audit again: it takes those rows back first."
    )


def _read_list(lake: str) -> dict[str, int] | None:
    """The versions in the list; None if there is none. Raises: see `_read_file`."""
    value = _read_file(lake)
    return None if value is None else {str(name): int(version) for name, version in value["versions"].items()}


def _read_file(lake: str) -> Mapping[str, Any] | None:
    """The content of the file; None if there is none.

    Raises:
        Damaged: It has other bytes than the last publication wrote.
    """
    with suppress(FileNotFoundError):
        return content_of(lake, read_bytes(f"{lake}/{FILE}"))
    return None


def content_of(lake: str, text: bytes | None) -> Mapping[str, Any] | None:
    """The content of these bytes of the file. Raises: Damaged."""
    try:
        value = None if text is None else without_checksum(json.loads(text), FILE)
        return None if value is None else {**value, "versions": {**value["versions"]}}
    except (ValueError, KeyError, TypeError):
        raise Damaged(
            f"{FILE} in the lake {masked(lake)} has other bytes than the last publication wrote. Needed: the versions"
            " that readers see. What to do: bring it back from a copy of the lake; or remove it, and the newest version"
            " of each table is read until the next audit writes it again."
        ) from None


def _log(lake: str, table: Table) -> str:
    return f"{lake}/{table.layer}/{table.name}/{delta_log.FOLDER}"


def commits(lake: str, table: Table, first: int, last: int) -> Iterator[Mapping[str, Any]]:
    """The commitInfo of the commits of a span. Delta removes old ones behind a checkpoint."""
    for number in range(first, last + 1):
        with suppress(FileNotFoundError):
            place = f"{_log(lake, table)}/{delta_log.commit_name(number)}"
            text = read_bytes(place).decode(errors="replace")
            yield delta_log.info(text) or (_UNREADABLE if delta_log.is_cut(text) else {})


def _writes_a_window(commit: Mapping[str, Any]) -> bool:
    """Whether a commit has rows of a run: a WRITE, by whichever engine, that has new rows."""
    parameters = {*(commit.get("operationParameters") or ())}
    return commit.get("operation") == "WRITE" and parameters.isdisjoint(delta_log.WITHOUT_NEW_ROWS)
