"""A lake is mended where that loses nothing: before each step, and when an operator asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from spark_jobs.catalog import Table
from spark_jobs.catalog.quality import LAKE_REPAIRS
from spark_jobs.catalog.steps import Step
from spark_jobs.edges import progress, publication
from spark_jobs.edges.lake_damage import Damage, Restore, damages
from spark_jobs.edges.store import Store, at_once
from spark_jobs.shared.conform import frame_of
from spark_jobs.shared.exits import BadInput


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


def repair_before(store: Store, step: Step, run: Mapping[str, Any]) -> None:
    """Mends the lake before a step, says so, and keeps a row for each damage in quality.lake_repairs.

    Takes: `run` names run_id and run_at. Raises: BadInput where a table that the step reads or writes is damaged, and
        mending it would lose rows.
    """
    mended, left = repair(store.lake, store.restore)
    for damage in (*mended, *left):
        progress.say(f"{'Mended: ' if damage in mended else ''}{damage.says}")
    used = {*step.reads, *step.writes}
    if fatal := [d.says for d in left if d.table and (d.table.full_name in used or not used)]:
        raise BadInput(*fatal)
    if mended:
        store.forget()
        store.create(LAKE_REPAIRS)
        store.append_new(LAKE_REPAIRS, frame_of(store.spark, [_row(d, run) for d in mended], LAKE_REPAIRS).coalesce(1))


def _row(damage: Damage, run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "run_id": run["run_id"],
        "path": damage.path,
        "damage": damage.kind.value,
        "description": damage.says,
        "run_repaired_at": run["run_at"],
    }
