"""A lake is mended where that loses nothing: before each step, and when an operator asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_hindsight.catalog.quality import LAKE_REPAIRS
from kafka_hindsight.catalog.steps import Step
from kafka_hindsight.lake.damage import Damage, damages
from kafka_hindsight.lake.repair import repair
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.tables.store import Store


def repair_before(store: Store, step: Step, run: Mapping[str, Any]) -> None:
    """Mends the lake before a step, says so, and keeps a row for each damage in quality.lake_repairs.

    Takes: `run` names run_id and run_at. Raises: BadInput where a table that the step reads or writes is damaged, and
        mending it would lose rows.
    Edge case: a lake behind a URI has no lock. There a step that fills neither staging nor gold mends nothing: what
        looks damaged may be a publication at work.
    """
    mended, left = repair(store.lake, store.restore) if _is_alone(store.lake, step) else ([], damages(store.lake))
    for damage in (*mended, *left):
        progress.say(f"{'Mended: ' if damage in mended else ''}{damage.says}")
    used = {*step.reads, *step.writes}
    if fatal := [d.says for d in left if d.table and not d.mend and (d.table.full_name in used or not used)]:
        raise BadInput(*fatal)
    if mended:
        store.forget()
        store.create(LAKE_REPAIRS)
        store.append_new(LAKE_REPAIRS, frame_of(store.spark, [_row(d, run) for d in mended], LAKE_REPAIRS).coalesce(1))


def _is_alone(lake: str, step: Step) -> bool:
    return not is_uri(lake) or any(name.startswith(("staging.", "gold.")) for name in step.writes)


def _row(damage: Damage, run: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "run_id": run["run_id"],
        "path": damage.path,
        "damage": damage.kind.value,
        "description": damage.says,
        "run_repaired_at": run["run_at"],
    }
