"""A lake is mended where that loses nothing."""

from __future__ import annotations

from functools import partial

from kafka_hindsight.catalog import Table
from kafka_hindsight.lake import publication
from kafka_hindsight.lake.damage import Damage, Restore, damages
from kafka_hindsight.shared.at_once import at_once


def take_back(lake: str, restore: Restore) -> dict[Table, int]:
    """Gives the tables of a publication that ended half way the versions back that readers see.

    Gives: those tables and versions. Keeps: every row that a publication has listed; the run that died writes the
        others again. A first run on a lake lists its tables as they are.
    """
    newest = publication.newest_versions(lake, *publication.TOGETHER)
    half = publication.half_published(lake, newest)
    at_once(*(partial(restore, table, version) for table, version in half.items()))
    if half or not publication.lists(lake, newest):
        list_newest(lake)
    return half


def list_newest(lake: str) -> None:
    """Makes the newest versions those that readers see."""
    publication.list_versions(lake, publication.newest_versions(lake, *publication.TOGETHER))


def list_maintained(lake: str) -> None:
    """Makes the newest versions those that readers see, where none holds rows of a publication that is not finished."""
    newest = publication.newest_versions(lake, *publication.TOGETHER)
    if not publication.half_published(lake, newest):
        publication.list_versions(lake, newest)


def repair(lake: str, restore: Restore) -> tuple[list[Damage], list[Damage]]:
    """Mends what can be mended without a loss. Gives: what was mended, and what is left for an operator.

    Edge case: a commit that is put aside may show a publication that ended half way.
    """
    mended: dict[str, Damage] = {}
    while found := [d for d in damages(lake) if d.mend and d.path not in mended]:
        for damage in found:
            assert damage.mend is not None
            damage.mend(restore)
            mended[damage.path] = damage
    take_back(lake, restore)
    return list(mended.values()), [d for d in damages(lake) if d.mend is None]
