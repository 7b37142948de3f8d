"""How the list of versions that readers see changes: at the end of a publication, or after one that ended half way.

One run does it at a time: see `claims.hold_publication`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import uuid4

from kafka_hindsight.catalog import Table
from kafka_hindsight.lake.damage import checksum_in, checksum_of
from kafka_hindsight.lake.landing import json_text, write_atomically
from kafka_hindsight.lake.objects import Replaced, read_version, replace_version
from kafka_hindsight.lake.publication import (
    FILE,
    TOGETHER,
    Versions,
    commits,
    content_of,
    half_published,
    lists,
    newest_versions,
    views,
)
from kafka_hindsight.lake.transactions import TableChanged
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared import parent, progress
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.held_locks import end_if_lost

_TRIES = 100
"""How often the list is written again where it changes meanwhile."""


def list_versions(lake: str, versions: Versions) -> None:
    """Make these the versions that readers see, all at once: those of ours first, then those of each engine's views."""
    texts = views(lake, versions)
    checksums = at_once(*(partial(_checksum_of_snapshot, lake, t, v) for t, v in versions.items()))
    names = [t.full_name for t in versions]
    value = {
        "versions": dict(zip(names, versions.values(), strict=True)),
        "snapshots": {name: checksum for name, checksum in zip(names, checksums, strict=True) if checksum},
        "views": {name: checksum_of(text) for name, text in texts.items()},
    }
    _replace_file(lake, lambda old: value)
    for name, text in texts.items():
        write_atomically(f"{lake}/{name}", text)


def fence(lake: str, by: str) -> None:
    """Write the list again with other bytes: who has read it before is refused.

    A lake without a list gets one without a version: no publication of it has ended.
    """
    _replace_file(lake, lambda old: {**(old or {"versions": {}}), "fenced_by": f"{by} {uuid4()}"})


def _replace_file(lake: str, new: Callable[[Mapping[str, Any] | None], Mapping[str, Any]]) -> None:
    """Write the file over the version of it that was read, and again where another version came in between.

    A run that has lost a lock ends first: the version was read before.
    """
    place = f"{lake}/{FILE}"
    for _ in range(_TRIES):
        old, version = read_version(place)
        value = new(content_of(lake, old))
        parent.end_if_alone()
        end_if_lost()
        with suppress(Replaced):
            return replace_version(place, json_text(value), version)
    raise TableChanged(f"{FILE} in the lake {masked(lake)} has changed each of the {_TRIES} times. Run the step again.")


def _checksum_of_snapshot(lake: str, table: Table, version: int) -> str | None:
    """The checksum that a version's commit carries; None for a commit of another program."""
    return next((checksum_in(info) for info in commits(lake, table, version, version)), None)


def take_back(lake: str, restore: Callable[[Table, int], object]) -> dict[Table, int]:
    """Restore the tables of a publication that ended half way to the versions that readers see.

    Every row that a publication has listed stays; the run that died writes the others again. A first run on a lake
    lists its tables as they are.

    Args:
        lake: The lake.
        restore: Gives a table the rows back that it had in a version, as Delta's RESTORE does.

    Returns:
        Those tables and versions.
    """
    newest = newest_versions(lake, *TOGETHER)
    half = half_published(lake, newest)
    for table in half:
        progress.say(f"A publication ended half way: restoring the rows that {table.full_name} had before it")
    at_once(*(partial(restore, table, version) for table, version in half.items()))
    if half or not lists(lake, newest):
        list_newest(lake)
    return half


def list_newest(lake: str) -> None:
    """Make the newest versions those that readers see."""
    list_versions(lake, newest_versions(lake, *TOGETHER))


def list_maintained(lake: str) -> None:
    """Make the newest versions those that readers see, unless one has rows of an unfinished publication."""
    if not half_published(lake, newest_versions(lake, *TOGETHER)):
        list_newest(lake)
