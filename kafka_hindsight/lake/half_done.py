"""What readers of a lake say before they answer: what is half made, and what is half published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_hindsight.catalog import TABLES, Table
from kafka_hindsight.lake import delta_log, publication
from kafka_hindsight.lake.damage import Damage, without_commit
from kafka_hindsight.lake.landing import names_in

LAYERS = tuple(dict.fromkeys(t.layer for t in TABLES))


@dataclass(frozen=True)
class LakeState:
    """What is not whole in a lake: one line for each thing, and the tables whose commits are gone, with what is to be
    said of each: they hold rows, and none can be read.
    """

    notes: tuple[str, ...]
    lost: Mapping[Table, str]


def state_of(lake: str, newest: publication.Versions) -> LakeState:
    """What is not whole in a lake, as far as names and commits show it.

    Takes: the newest version of each table that has a commit.
    """
    there = {layer: set(names_in(f"{lake}/{layer}")) for layer in LAYERS}
    folders = [t for t in TABLES if t not in newest and t.name in there[t.layer]]
    without = [damage for table in folders for damage in without_commit(lake, table)]
    lost = {d.table: d.says for d in without if d.table and not d.mend}
    return LakeState(tuple(_notes(lake, newest, without)), lost)


def _notes(lake: str, newest: publication.Versions, without: Sequence[Damage]) -> Iterator[str]:
    if half_made := [d.table.full_name for d in without if d.mend and d.table]:
        yield delta_log.without_commit(half_made)
    yield from (d.says for d in without if not d.mend)
    if half_published := publication.half_published(lake, newest):
        yield publication.told(half_published)
