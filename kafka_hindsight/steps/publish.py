"""The step publish: what was staged and checked replaces the window in gold, and becomes visible at once.

It holds no row: files are taken over as they are staged, but for withheld rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from kafka_hindsight.catalog.gold import TABLES as GOLD
from kafka_hindsight.catalog.order import in_waves
from kafka_hindsight.catalog.quality import PUBLICATIONS
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.claims import hold_publication
from kafka_hindsight.lake.publishing import list_newest, take_back
from kafka_hindsight.lake.staging import StagingChanged, read_approval, read_staged
from kafka_hindsight.lake.state import LAKE_VERSION
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.steps.renewal import renew_from_staging
from kafka_hindsight.steps.run_account import Run, keep_rows, of_run, run_of, window_of


def run_step(workers: object, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Publish what rebuild staged and validate let through.

    Returns:
        What validate returned, and `published`; see `publish`.
    """
    published = publish(Store(settings.lake), run_of(settings, earlier["ingest"]))
    return {**earlier.get("validate", {}), "published": published}


def publish(store: Store, run: Run) -> dict[str, dict[str, int]]:
    """Replace the window in gold by the staged rows that are not withheld.

    Gold's tables are written in the waves of catalog.order, one commit for each that changes, then
    quality.publications, then the list of versions, by which all become visible together. Another run leaves the same
    gold, however this one ended.

    Args:
        store: The lake, with staged gold and the approval of it.
        run: run_id, cluster, window_from, window_to and run_at.

    Returns:
        `rows` and `version` of each gold table.

    Raises:
        StagingChanged: What is staged is not what was checked. Gold is as it was.
    """
    cluster = run["cluster"]
    staged, approval = read_staged(store.lake, cluster), read_approval(store.lake, cluster)
    if staged is None or approval is None or (staged.run_id, staged.version) != (run["run_id"], approval.version):
        raise StagingChanged(
            f"What is staged in {store.lake} is not what was checked for run {run['run_id']}. Needed: the version that"
            " the step validate let through. Run the step validate again."
        )
    store.create(*GOLD, PUBLICATIONS)
    with hold_publication(store.lake, run["run_id"]):
        take_back(store.lake, store.restore)
        for wave in in_waves(GOLD):
            renew = partial(renew_from_staging, store, staged=staged, cluster=cluster, window=window_of(run))
            at_once(*(partial(renew, table, withheld=approval.withheld_of(table)) for table in wave))
        published = _account(store, run, {t: staged.row_count(t) - len(approval.withheld_of(t)) for t in GOLD})
        list_newest(store.lake)
    return published


def _account(store: Store, run: Run, row_counts: Mapping[Table, int]) -> dict[str, dict[str, int]]:
    """Write the version of each gold table that has the window now, and its row count."""
    rows = [
        of_run(run)
        | {
            "table": t.full_name,
            "version": store.version(t),
            "row_count": row_counts[t],
            "run_lake_version": LAKE_VERSION,
            "run_published_at": run["run_at"],
        }
        for t in GOLD
    ]
    keep_rows(store, PUBLICATIONS, rows, run)
    return {r["table"]: {"rows": r["row_count"], "version": r["version"]} for r in rows}
