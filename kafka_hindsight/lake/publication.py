"""Which versions of gold readers see: those that the last whole publication left behind.

Delta commits one table after the other. So a publication ends with one small file that lists the versions of all its
tables, and that is replaced at once. Every reader of ours asks here; no engine is needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from kafka_hindsight.catalog import TABLES, Table
from kafka_hindsight.catalog.gold import TABLES as GOLD
from kafka_hindsight.catalog.quality import PUBLICATIONS
from kafka_hindsight.lake import delta_log
from kafka_hindsight.lake.landing import names_in, read_text, write_atomically
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.at_once import at_once

FILE = "published.json"

TOGETHER = (*GOLD, PUBLICATIONS)
"""The tables that a publication changes together."""

_CREATED = 0
"""The version of a table that has no rows yet: what is to be seen of one that no publication has listed."""

Versions = Mapping[Table, int]


def newest_versions(lake: str, *tables: Table) -> dict[Table, int]:
    """The newest version of each of the tables that has a commit; of all tables where none is named."""
    found = {t: delta_log.newest_version(names_in(_log(lake, t))) for t in tables or TABLES}
    return {t: version for t, version in found.items() if version is not None}


def visible_versions(lake: str, newest: Versions) -> dict[Table, int]:
    """The version in which each table is to be read.

    Takes: the newest version of each table. Gives: of those that are published together the one that is listed.
    Edge case: in a lake without a list, which an earlier Hindsight wrote, the newest; so too where a table's history
    began again behind the list.
    """
    listed = _listed(lake)
    if listed is None:
        return {**newest}
    return {t: min(v, listed.get(t.full_name, _CREATED)) if t in TOGETHER else v for t, v in newest.items()}


def listed_version(lake: str, table: Table) -> int | None:
    """The version of a table that the list names."""
    return (_listed(lake) or {}).get(table.full_name)


def list_versions(lake: str, versions: Versions) -> None:
    """Makes these the versions that readers see, all at once."""
    write_atomically(
        f"{lake}/{FILE}", json.dumps({"versions": {t.full_name: v for t, v in versions.items()}}, indent=1)
    )


def lists(lake: str, newest: Versions) -> bool:
    """Whether the list names exactly these versions."""
    return _listed(lake) == {t.full_name: v for t, v in newest.items()}


def half_published(lake: str, newest: Versions) -> dict[Table, int]:
    """The tables that hold rows of a window that no whole publication has listed, and the version before those rows.

    Edge case: a run that compacts or prunes a table writes commits too; those have no rows of a window. A commit that
    cannot be read may have some.
    """
    visible = visible_versions(lake, newest)
    return {
        t: visible[t]
        for t in TOGETHER
        if t in newest and any(_writes_a_window(c) for c in _commits(lake, t, visible[t] + 1, newest[t]))
    }


def note(lake: str, newest: Versions) -> str | None:
    """One line for whoever reads a lake in which a publication is not finished; None where each is."""
    unfinished = half_published(lake, newest)
    if not unfinished:
        return None
    return (
        f"A publication is not finished: {', '.join(t.full_name for t in unfinished)} hold rows of a window that"
        " readers do not see yet. What you see is the last whole publication. A run writes it, or ended half way."
        " What to do where no run is at work: run that audit again; it takes those rows back first."
    )


def take_back(lake: str, restore: Callable[[Table, int], object]) -> dict[Table, int]:
    """Gives the tables of a publication that ended half way the versions back that readers see.

    Takes: `restore`, which gives a table the rows back that it had in a version: Delta's RESTORE.
    Gives: those tables and versions. Keeps: every row that a publication has listed; the run that died writes the
        others again. A first run on a lake lists its tables as they are.
    """
    newest = newest_versions(lake, *TOGETHER)
    half = half_published(lake, newest)
    for table in half:
        progress.say(f"A publication ended half way: {table.full_name} gets its rows of before back")
    at_once(*(partial(restore, table, version) for table, version in half.items()))
    if half or not lists(lake, newest):
        list_newest(lake)
    return half


def list_newest(lake: str) -> None:
    """Makes the newest versions those that readers see."""
    list_versions(lake, newest_versions(lake, *TOGETHER))


def list_maintained(lake: str) -> None:
    """Makes the newest versions those that readers see, where none holds rows of a publication that is not finished."""
    if not half_published(lake, newest_versions(lake, *TOGETHER)):
        list_newest(lake)


def _listed(lake: str) -> dict[str, int] | None:
    """What the list says. Edge case: it is replaced at once, so one that cannot be read was not written by us."""
    try:
        versions = json.loads(read_text(f"{lake}/{FILE}"))["versions"]
        return {str(name): int(version) for name, version in versions.items()}
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _log(lake: str, table: Table) -> str:
    return f"{lake}/{table.layer}/{table.name}/{delta_log.FOLDER}"


def _commits(lake: str, table: Table, first: int, last: int) -> Iterator[Mapping[str, Any]]:
    """What the commits of a span say of themselves; Delta removes old ones behind a checkpoint."""
    for number in range(first, last + 1):
        with suppress(FileNotFoundError):
            text = read_text(f"{_log(lake, table)}/{delta_log.commit_name(number)}")
            yield delta_log.info(text) or (_UNREADABLE if delta_log.is_cut(text) else {})


_UNREADABLE: Mapping[str, Any] = {"operation": "WRITE"}


def _writes_a_window(commit: Mapping[str, Any]) -> bool:
    """Whether a commit has rows of a run: a WRITE, by whichever engine, that does not only delete."""
    return commit.get("operation") == "WRITE" and delta_log.DELETES not in (commit.get("operationParameters") or {})
