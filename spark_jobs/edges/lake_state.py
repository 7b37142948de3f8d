"""What a reader of a lake is to know of its state: tables that cannot be read, a publication that is not finished."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import duckdb

from spark_jobs.catalog import Table
from spark_jobs.catalog.gold import TABLES as GOLD
from spark_jobs.catalog.quality import PUBLICATIONS
from spark_jobs.edges import delta_log
from spark_jobs.edges.duck_types import one_sentence
from spark_jobs.edges.landing import names_in, read_text
from spark_jobs.shared.config import masked
from spark_jobs.shared.exits import BadInput


def damaged(table: Table, folder: str, problem: Exception) -> str:
    """What is said of a table that has commits and cannot be read."""
    return (
        f"The table {table.full_name} cannot be read: {masked(one_sentence(problem))}. Needed: every commit and every"
        f" file that {masked(folder)} names. What to do: restore that folder from a backup. A table of silver, gold or"
        " quality may be removed instead; the next audit of a window writes that window again."
    )


def unfinished_publication(connection: duckdb.DuckDBPyConnection, folders: Mapping[Table, str]) -> str | None:
    """One line where gold tables hold rows that no publication lists; None where all is well.

    Takes: the folders of the tables that have a commit.
    Edge case: publish writes one gold table after the other and lists all of them at its end. A run that upgrades,
    compacts or prunes a table writes commits too; those have no rows of a window.
    """
    if PUBLICATIONS not in folders:
        return None
    with suppress(duckdb.Error, OSError, BadInput, ValueError):
        listed = dict(
            connection.execute(
                'SELECT "table", arg_max(version, (run_published_at, version))'
                f" FROM {PUBLICATIONS.full_name} GROUP BY ALL"
            ).fetchall()
        )
        ahead = [
            t.full_name
            for t in GOLD
            if t in folders
            and any(_writes_a_window(c) for c in _commits_after(folders[t], listed.get(t.full_name, -1)))
        ]
        if ahead:
            return (
                f"A publication is not finished: {', '.join(ahead)} hold rows of a window that quality.publications"
                " does not list. It is running, or its run ended half way. Until it is finished, the tables of that"
                " window may disagree. What to do: run that audit again."
            )
    return None


def _commits_after(folder: str, version: int) -> Iterator[Mapping[str, Any]]:
    """What the commits newer than a version say of themselves."""
    log = f"{folder}/{delta_log.FOLDER}"
    newest = delta_log.newest_version(names_in(log))
    for number in range(version + 1, (-1 if newest is None else newest) + 1):
        for line in read_text(f"{log}/{number:020d}.json").splitlines():
            yield json.loads(line).get("commitInfo") or {}


def _writes_a_window(commit: Mapping[str, Any]) -> bool:
    said = commit.get("operationParameters") or {}
    return commit.get("operation") == "WRITE" and ("predicate" in said or said.get("mode") == "Append")
