"""What readers of a lake say before they answer: what is half made, and what is half published."""

from __future__ import annotations

from collections.abc import Iterator

from spark_jobs.catalog import TABLES, Table
from spark_jobs.edges import delta_log, publication
from spark_jobs.edges.lake_damage import Damage, without_commit
from spark_jobs.edges.landing import names_in

LAYERS = tuple(dict.fromkeys(t.layer for t in TABLES))


def notes_on(lake: str, newest: publication.Versions) -> Iterator[str]:
    """One line for each thing that is not whole in a lake, as far as names and commits show it.

    Takes: the newest version of each table that has a commit.
    """
    without = _without_commit(lake, newest)
    if half_made := [d.table.full_name for d in without if d.mend and d.table]:
        yield delta_log.without_commit(half_made)
    yield from (d.says for d in without if not d.mend)
    if half_published := publication.half_published(lake, newest):
        yield publication.told(half_published)


def lost(lake: str, newest: publication.Versions) -> dict[Table, str]:
    """The tables whose commits are gone, with what is to be said of each: they hold rows, and none can be read."""
    return {d.table: d.says for d in _without_commit(lake, newest) if d.table and not d.mend}


def _without_commit(lake: str, newest: publication.Versions) -> list[Damage]:
    there = {layer: set(names_in(f"{lake}/{layer}")) for layer in LAYERS}
    folders = [t for t in TABLES if t not in newest and t.name in there[t.layer]]
    return [damage for table in folders for damage in without_commit(lake, table)]
