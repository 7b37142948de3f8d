"""The step reclassify: a window of the past, judged again with today's knowledge and records, and published again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from kafka_hindsight.catalog import gold
from kafka_hindsight.catalog.quality import PUBLICATIONS, VERDICT_CHANGES
from kafka_hindsight.catalog.steps import INGEST
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.workers import Workers
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.claims import hold_cluster
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.staging import Staged, read_staged, read_staged_rows
from kafka_hindsight.lake.store import Store
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared import progress
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.arrow_answers import arrow_answer
from kafka_hindsight.sql.predicates import tables_in_sql
from kafka_hindsight.steps import rebuild
from kafka_hindsight.steps.ingest import parse_again
from kafka_hindsight.steps.publish import publish
from kafka_hindsight.steps.report import write_report
from kafka_hindsight.steps.run_account import run_of
from kafka_hindsight.steps.validate import validate


class Judged(NamedTuple):
    """A gold table with verdicts, and SQL for a row's id, its verdict and its subject."""

    table: Table
    id: str
    verdict: str
    subject: str


JUDGED = (
    Judged(gold.REBALANCES, "rebalance_id", "cause", "group_id"),
    Judged(gold.INCIDENTS, "incident_id", "coalesce(cause, kind)", "kind"),
    Judged(gold.FAILOVERS, "failover_id", "kind", "concat(topic, '-', \"partition\")"),
    Judged(gold.BROKER_OUTAGES, "outage_id", "kind", "concat('broker ', broker)"),
)


_CHANGED = """
    SELECT $table AS "table", row_id, coalesce(new.subject, old.subject) AS subject,
        coalesce(new.happened_at, old.happened_at) AS happened_at,
        CASE WHEN old.happened_at IS NULL THEN 'appeared' WHEN new.happened_at IS NULL THEN 'gone' ELSE 'changed' END
            AS change,
        old.verdict AS verdict_before, new.verdict AS verdict_after, old.confidence AS confidence_before,
        new.confidence AS confidence_after, old.knowledge AS knowledge_before, new.knowledge AS knowledge_after
    FROM ({before}) AS old FULL JOIN ({after}) AS new USING (row_id)
    WHERE old.verdict IS DISTINCT FROM new.verdict OR old.confidence IS DISTINCT FROM new.confidence"""


def run_step(workers: Workers, settings: Settings, earlier: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Parse the window again out of bronze, rebuild it, keep what changed, publish it and write its page again.

    A second run of the same name, after it had published, judges nothing. Its changes stay, and it writes its page and
    its night's row again, which a kill may have prevented.

    Returns:
        cluster, window_from, window_to, and `changes`: how many verdicts, by what became of them.

    Raises:
        BadInput: FROM and TO are not set, or the window was never published.
        PublicationRefused: Gold is as it was, and quality.verdict_changes has what would have changed.
    """
    store, window = Store(settings.lake), _window(settings)
    cluster, runs = _published(store, settings, window)
    with hold_cluster(store.lake, cluster, settings.run_id):
        return _reclassify(workers, store, settings, cluster, window, runs)


def _reclassify(
    workers: Workers, store: Store, settings: Settings, cluster: str, window: Window, runs: Sequence[str]
) -> dict[str, Any]:
    ingested = _summary_of_ingest(store, runs)
    subject = {"cluster": cluster, "window_from": window.start.isoformat(), "window_to": window.end.isoformat()}
    run = run_of(settings, {**ingested, **subject})
    if settings.run_id in runs:
        write_report(store, run)
        return {**subject, "changes": _changes(store, settings, cluster)}
    lines = parse_again(workers.engine(), store, cluster, window, settings)
    rebuild.run_step(workers, settings, {"ingest": {**ingested, **subject, "lines": lines}})
    changes = _keep_changes(store, settings, cluster, window)
    progress.say(f"{window.start} to {window.end}: verdicts that changed: {changes or 'none'}")
    validate(store, run)
    publish(store, run)
    write_report(store, run)
    return {**subject, "changes": changes}


def changed(before: pa.Table, after: pa.Table, judged: Judged) -> list[dict[str, Any]]:
    """The verdicts that differ between a table's published and new rows: rows of VERDICT_CHANGES without the run."""
    query = _CHANGED.format(before=_verdicts("before", judged), after=_verdicts("after", judged))
    with tables_in_sql({"before": before, "after": after}) as connection:
        return list(arrow_answer(connection, query, {"table": judged.table.full_name}).to_pylist())


def _verdicts(rows: str, judged: Judged) -> str:
    confidence = "confidence" if "confidence" in judged.table.column_names else "NULL::VARCHAR"
    return (
        f"SELECT {judged.id} AS row_id, {judged.subject} AS subject, {judged.table.time_column} AS happened_at,"
        f" {judged.verdict} AS verdict, {confidence} AS confidence, knowledge_version AS knowledge FROM {rows}"
    )


def _keep_changes(store: Store, settings: Settings, cluster: str, window: Window) -> dict[str, int]:
    of_run = {
        "cluster": cluster,
        "window_from": window.start,
        "window_to": window.end,
        "run_id": settings.run_id,
        "run_reclassified_at": settings.run_at,
    }
    staged = read_staged(store.lake, cluster) or Staged(settings.run_id, {})
    rows = [
        {**of_run, **row}
        for j in JUDGED
        for row in changed(
            store.read_window(j.table, cluster, window), read_staged_rows(store.lake, cluster, j.table, staged), j
        )
    ]
    store.create(VERDICT_CHANGES)
    table = pa.Table.from_pylist(rows, arrow_schema(VERDICT_CHANGES))
    store.replace_rows_of_run(VERDICT_CHANGES, table, cluster, window, settings.run_id)
    return _changes(store, settings, cluster)


def _changes(store: Store, settings: Settings, cluster: str) -> dict[str, int]:
    """Count the verdicts that this run changed, by what became of them."""
    rows = store.read(VERDICT_CHANGES, Part(cluster), ("run_id", "change")).to_pylist()
    return dict(sorted(Counter(row["change"] for row in rows if row["run_id"] == settings.run_id).items()))


def _window(settings: Settings) -> Window:
    if settings.window_from and settings.window_to:
        return Window(settings.window_from, settings.window_to)
    raise BadInput("FROM and TO are not given. Needed: the window of the past to judge again.")


def _published(store: Store, settings: Settings, window: Window) -> tuple[str, list[str]]:
    """The cluster whose window was published, and the runs that published it, the last one first."""
    columns = ("cluster", "window_from", "window_to", "run_published_at", "run_id")
    publications = store.read(PUBLICATIONS, columns=columns) if store.has(PUBLICATIONS) else None
    rows = publications.group_by([*columns]).aggregate([]).to_pylist() if publications else []
    of_cluster = [r for r in rows if settings.cluster in (None, r["cluster"])]
    of_window = [r for r in of_cluster if Window(r["window_from"], r["window_to"]) == window]
    clusters = sorted({r["cluster"] for r in of_window})
    if len(clusters) == 1:
        newest_first = sorted(of_window, key=lambda r: (r["run_published_at"], r["run_id"]), reverse=True)
        return clusters[0], [r["run_id"] for r in newest_first]
    if clusters:
        raise BadInput(f"The lake has that window of {', '.join(clusters)}. Needed: one of them. Give CLUSTER.")
    windows = sorted({f"{r['window_from'].isoformat()} to {r['window_to'].isoformat()}" for r in of_cluster})
    raise BadInput(
        f"The window {window.start.isoformat()} to {window.end.isoformat()} was never published. Needed: one that was: "
        f"{'; '.join(windows[-10:]) or 'there is none yet'}. Choose FROM and TO so."
    )


def _summary_of_ingest(store: Store, runs: Iterable[str]) -> Mapping[str, Any]:
    """The summary of ingest of the last of these runs that read files: no files are read again here."""
    summaries = (landing.read_json(f"{store.lake}/runs/{run}/{INGEST.name}.json") for run in runs)
    return next(filter(None, summaries), {})
