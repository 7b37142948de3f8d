"""The recorded night with each broker in another layout and other envelopes has the verdicts of the plain one."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from drill.render import render_folder
from spark_jobs.catalog import quality, silver
from spark_jobs.edges.store import Store
from tests.support.logs import Row, rebuilt, rows, run, unpack_night

VERDICTS = ("rebalances", "failovers", "broker_outages", "coordinator_moves", "controller_changes", "isr_changes")
AS_WRITTEN = ("evidence", "line_id", "text", "order", "source")
"""Columns that quote lines, or say where they lie."""

FORMS = {
    "logs/broker-1": ("ecs", ["cri"]),
    "logs/broker-2": ("strimzi", []),
    "logs/broker-3": ("apache", []),
    "clients": ("spring-boot", []),
}


def read(spark: SparkSession, lake: Path, night: Path) -> tuple[Store, dict[str, list[Row]]]:
    """A night through ingest and the rebuild: its lake, and the rows of its verdicts and events without quotations."""
    store, said = run(spark, lake, night / "logs", client_logs=night / "clients")
    found = {**rebuilt(store, said, *VERDICTS), "events": rows(store, silver.EVENTS)}
    return store, {name: sorted(map(_meaning, each), key=repr) for name, each in found.items()}


def _meaning(row: Row) -> Row:
    return {name: value for name, value in row.items() if name not in AS_WRITTEN}


def test_a_mixed_folder_has_the_verdicts_of_the_plain_one(spark: SparkSession, tmp_path: Path) -> None:
    night, mixed = unpack_night(tmp_path / "night"), tmp_path / "mixed"
    for folder, (layout, wraps) in FORMS.items():
        render_folder(night / folder, mixed / folder, layout, wraps)
    _, plain = read(spark, tmp_path / "plain-lake", night)
    store, found = read(spark, tmp_path / "mixed-lake", mixed)
    for name, expected in plain.items():
        assert found[name] == expected, name
    layouts = {row["source"]: row["layouts"] for row in rows(store, quality.COVERAGE)}
    assert layouts["broker-1/server.log"] == ["cri>json>apache"]
    assert layouts["broker-2/server.log"] == ["strimzi"]
    assert layouts["broker-3/server.log"] == ["apache"]
