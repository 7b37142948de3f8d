"""`hindsight doctor --lake`: the problems of a lake's tables, as JSON: state, subject, and what to do."""

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


def main(place: str) -> None:
    """Check one lake, and print the results."""
    launch.keep_private()
    lake = place.rstrip("/") if is_uri(place) else os.path.abspath(place)
    state.require_version(lake)
    print(json.dumps(list(_checks(lake))))


def _checks(lake: str) -> Iterator[tuple[str, str, str]]:
    newest = publication.newest_versions(lake)
    if note := publication.note(lake, newest):
        yield "missing", "publication", note
    problems = [
        f"{t.full_name} {problem}" for t, version in newest.items() for problem in _problems_of(lake, t, version)
    ]
    yield from (("missing", "tables", f"{problem}\n{state.TO_DO}") for problem in problems)
    if not problems:
        yield "good", "tables", f"{len(newest)} tables: all rows can be read, and every published version is there"


def _problems_of(lake: str, table: Table, version: int) -> Iterator[str]:
    if state.is_cut_short(lake, table, version):
        yield f"has a newest commit, version {version}, that is cut short."
    if (published := publication.listed_version(lake, table)) is not None and published > version:
        yield f"was published in version {published}; its newest version is {version}."
    try:
        for _ in DeltaTable(f"{lake}/{table.layer}/{table.name}").to_pyarrow_dataset().to_batches():
            pass
    except Exception as problem:  # delta-rs and pyarrow have no common error of a damaged table
        yield f"cannot be read: {sentences_of(problem)[0]}"


if __name__ == "__main__":
    main(sys.argv[1])
    sys.stdout.flush()
    os._exit(0)  # Threads of delta-rs may outlive the interpreter, and abort the process as it ends.
