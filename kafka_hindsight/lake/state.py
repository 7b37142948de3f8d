"""Whether a lake can be used: the version of its tables, and whether their newest commits are whole. No JVM."""

from __future__ import annotations

import json
from collections.abc import Collection
from contextlib import suppress
from functools import partial

from deltalake.exceptions import DeltaError

from kafka_hindsight.catalog import TABLES, Table
from kafka_hindsight.lake import delta_log, publication
from kafka_hindsight.lake.damage import Damaged
from kafka_hindsight.lake.landing import is_there, names_in, read_bytes, write_atomically, write_new
from kafka_hindsight.lake.transactions import open_table
from kafka_hindsight.settings.config import is_uri, masked
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.exits import BadInput, sentences_of

FILE = "lake_version.json"
LAKE_VERSION = 11
"""The version of the tables that this code declares."""

OLDEST_VERSION = 4
"""The oldest version that `hindsight upgrade` makes today's."""

TO_DO = (
    "Needed: every commit and every file of the table. What to do: bring the files back from a copy of the lake. Or set"
    " damaged files aside by `hindsight doctor --lake ... --repair`. A table of gold may be moved out of the lake"
    " instead, one of silver or quality together with quality.parsed_hours, bronze.log_records together with"
    " bronze.log_files; then run `hindsight audit` with FROM and TO for each window to keep."
)
"""What to do about a table that is not whole."""

_OTHER_LAKE = (
    " What to do: audit the logs again into a new LAKE, or use the Hindsight that wrote this one. Where the file alone"
    " was damaged or lost, bring it back from a copy of the lake."
)

_EARLIER_LAKE = (
    " What to do: pause what writes the lake, then run `hindsight upgrade` on it once. It keeps every night, and judges"
    " those again whose records the lake still has."
)


def version_of(lake: str) -> int | None:
    """Give the version that a lake keeps; None for a lake that keeps none.

    Raises:
        BadInput: It cannot be upgraded, or its file is damaged.
    """
    try:
        text = read_bytes(f"{lake.rstrip('/')}/{FILE}").decode(errors="replace")
    except FileNotFoundError:
        return None
    version = None
    with suppress(ValueError, KeyError, TypeError):
        version = json.loads(text)["version"]
    if isinstance(version, int) and OLDEST_VERSION <= version <= LAKE_VERSION:
        return version
    raise BadInput(f"{_refused(lake, text)}{_OTHER_LAKE}")


def require_version(lake: str) -> None:
    """Check the version that a lake keeps; one that keeps none passes.

    Raises:
        BadInput: The lake has another version than this code, or its file is damaged.
    """
    version = version_of(lake)
    if version not in (None, LAKE_VERSION):
        raise BadInput(f"{_refused(lake, json.dumps({'version': version}))}{_EARLIER_LAKE}")


def keep_version(lake: str) -> None:
    """Write this code's version into a lake whose tables have been made today's."""
    write_atomically(f"{lake.rstrip('/')}/{FILE}", json.dumps({"version": LAKE_VERSION}))


def _refused(lake: str, text: str) -> str:
    return (
        f'{FILE} in the lake {masked(lake)} holds {text[:100]!r}. Needed: {{"version": {LAKE_VERSION}}}, the'
        " version of the tables that this Hindsight reads and writes."
    )


def claim_version(lake: str) -> None:
    """Write this code's version into a lake without tables.

    Raises:
        BadInput: See `require_version`; or the lake has tables and keeps no version.
    """
    require_version(lake)
    names = set(names_in(lake))
    if FILE in names:
        return
    layers = sorted(names & {table.layer for table in TABLES})
    if layers and not is_there(f"{lake.rstrip('/')}/{FILE}"):  # another run may just have made both
        raise BadInput(
            f"The lake {masked(lake)} has tables in {', '.join(layers)} and no {FILE}. Needed: a lake of this"
            f" Hindsight, or an empty folder.{_OTHER_LAKE}"
        )
    write_new(f"{lake.rstrip('/')}/{FILE}", json.dumps({"version": LAKE_VERSION}))


def require_whole(lake: str, names: Collection[str] = ()) -> None:
    """Check that the newest commit of each table is whole, and that the logs of some tables can be read.

    A power failure can leave a commit short or empty. An engine takes an empty one for a commit without rows. An object
    store shows a file when it is whole.

    Args:
        lake: The lake.
        names: The full names of the tables that the caller reads or writes.

    Raises:
        BadInput: A commit is cut short, or a log is damaged; one sentence for each.
    """
    newest = publication.newest_versions(lake)
    if not is_uri(lake):
        _require_commits(lake, newest)
    own = [table for table in newest if table.full_name in names]
    if problems := [*filter(None, at_once(*(partial(_log_problem, lake, table) for table in own)))]:
        raise BadInput(*(f"{problem} {TO_DO}" for problem in problems))


def _log_problem(lake: str, table: Table) -> str | None:
    try:
        open_table(f"{lake}/{table.layer}/{table.name}", table)
    except (Damaged, DeltaError) as problem:
        return f"The table {table.full_name} cannot be read: {sentences_of(problem)[0]}"
    return None


def _require_commits(lake: str, newest: publication.Versions) -> None:
    if cut := [f"{t.full_name}, {delta_log.commit_name(v)}" for t, v in newest.items() if is_cut_short(lake, t, v)]:
        raise BadInput(*(f"The newest commit of {c} is cut short, so its rows are lost. {TO_DO}" for c in cut))


def is_cut_short(lake: str, table: Table, version: int) -> bool:
    """Whether a commit is not whole. One that Delta has removed behind a checkpoint counts as whole."""
    with suppress(FileNotFoundError):
        place = f"{lake}/{table.layer}/{table.name}/{delta_log.FOLDER}/{delta_log.commit_name(version)}"
        return delta_log.is_cut(read_bytes(place).decode(errors="replace"))
    return False
