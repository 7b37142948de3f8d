"""`hindsight doctor --lake`: what is not whole in a lake's tables.

Prints what it finds as JSON: state, what, and what to do.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

from deltalake import DeltaTable

from kafka_hindsight.catalog import Table
from kafka_hindsight.lake import publication, state
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.shared.exits import sentences_of
from kafka_hindsight.start import launch


def main(named: str) -> None:
    """Checks one lake, and prints what was found."""
    launch.keep_private()
    lake = named.rstrip("/") if is_uri(named) else os.path.abspath(named)
    state.require_version(lake)
    print(json.dumps(list(_checked(lake))))


def _checked(lake: str) -> Iterator[tuple[str, str, str]]:
    newest = publication.newest_versions(lake)
    if note := publication.note(lake, newest):
        yield "missing", "publication", note
    problems = [f"{t.full_name} {problem}" for t, version in newest.items() for problem in _of_table(lake, t, version)]
    yield from (("missing", "tables", f"{problem}\n{state.TO_DO}") for problem in problems)
    if not problems:
        yield "good", "tables", f"{len(newest)} tables: all rows can be read, and what was published is there"


def _of_table(lake: str, table: Table, version: int) -> Iterator[str]:
    if state.is_cut_short(lake, table, version):
        yield f"has a newest commit, version {version}, that is cut short."
    if (listed := publication.listed_version(lake, table)) is not None and listed > version:
        yield f"was published in version {listed}; its newest version is {version}."
    try:
        for _ in DeltaTable(f"{lake}/{table.layer}/{table.name}").to_pyarrow_dataset().to_batches():
            pass
    except Exception as problem:  # delta-rs and pyarrow have no common error of a damaged table
        yield f"cannot be read: {sentences_of(problem)[0]}"


if __name__ == "__main__":
    main(sys.argv[1])
    sys.stdout.flush()
    os._exit(0)  # Threads of delta-rs may outlive the interpreter, and abort the process as it ends.
