"""What readers of a lake say before they answer: what is half made, and what is half published."""

from __future__ import annotations

from collections.abc import Iterator

from spark_jobs.catalog import TABLES
from spark_jobs.edges import delta_log, publication
from spark_jobs.edges.landing import names_in

LAYERS = tuple(dict.fromkeys(t.layer for t in TABLES))


def notes_on(lake: str, newest: publication.Versions) -> Iterator[str]:
    """One line for each thing that is not whole in a lake, as far as names and commits show it.

    Takes: the newest version of each table that has a commit.
    """
    there = {layer: set(names_in(f"{lake}/{layer}")) for layer in LAYERS}
    if half_made := [t.full_name for t in TABLES if t not in newest and t.name in there[t.layer]]:
        yield delta_log.without_commit(half_made)
    if half_published := publication.half_published(lake, newest):
        yield publication.told(half_published)
