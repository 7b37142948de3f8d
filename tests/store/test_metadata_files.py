"""The metadata log through the ingest, on real tables: never read as text, each record once, read on as it grows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_jobs import rebuild
from spark_jobs.catalog import bronze_metadata, quality
from spark_jobs.knowledge.batches import batches
from spark_jobs.knowledge.metadata_log import FOLDER
from spark_jobs.transforms.cluster import context_of
from spark_jobs.transforms.failovers import rebuild_failovers
from spark_jobs.transforms.nights import rows_of
from spark_jobs.transforms.outages import rebuild_outages
from tests.support.logs import lay, rows, run
from tests.support.nights import EXCERPTS, WHOLE

SEGMENT = f"{FOLDER}/00000000000000000000.log"
BYTES = (EXCERPTS / "metadata-4.3" / "controller-4" / SEGMENT).read_bytes()
HALF = next(b.end for b in batches(BYTES) if b.base_offset > 100)


@pytest.fixture
def night(tmp_path: Path) -> Path:
    """The captured night, its metadata log cut in the middle of a batch, and on one node kept behind a link."""
    shutil.copytree(EXCERPTS / "metadata-4.3", tmp_path / "logs")
    lay(
        tmp_path,
        {
            f"logs/controller-4/{SEGMENT}": BYTES[: HALF + 30],
            f"logs/controller-4/{FOLDER}/00000000000000000000.index": b"\x00" * 8,
            f"logs/broker-1/orders-0/{Path(SEGMENT).name}": b"\x00" * 80,
            f"elsewhere/{SEGMENT}": BYTES[:HALF],
        },
    )
    (tmp_path / "logs" / "broker-2" / FOLDER).symlink_to(tmp_path / "elsewhere" / FOLDER)
    return tmp_path


def test_the_metadata_log_is_decoded_once_and_read_on(spark: SparkSession, night: Path) -> None:
    store, said = run(spark, night / "lake", night / "logs")
    held = rows(store, bronze_metadata.METADATA_RECORDS)
    assert {r["record_offset"] for r in held} >= {0, 47} and max(r["record_offset"] for r in held) < 110
    assert {(r["source"], r["snapshot_place"]) for r in held} == {(f"broker-2/{FOLDER}", 0)}
    # Snapshots are known, and not taken where the log reaches back to its beginning.
    files = {r["file"]: r for r in rows(store, bronze_metadata.METADATA_FILES)}
    assert {name for name, f in files.items() if not f["is_kept"]} == {n for n in files if n.endswith(".checkpoint")}
    assert len(files) == 4 and said["metadata_files"] == 4
    # What is beside the log is listed as what it is, and no byte of it became a line.
    assert [n.partition(" (")[2] for n in said["files_not_read"]] == [
        "records of a partition, no lines)",
        "beside the metadata log, whose segments and snapshots say it all)",
    ]
    assert not [r for r in rows(store, quality.COVERAGE) if FOLDER in r["source"] or "orders" in r["source"]]
    (torn,) = [r for r in rows(store, quality.QUARANTINE) if FOLDER in r["source"]]
    assert "30 bytes are left" in torn["sentences"][0]

    lay(night, {f"logs/controller-4/{SEGMENT}": BYTES})
    store, again = run(spark, night / "lake", night / "logs")
    grown = rows(store, bronze_metadata.METADATA_RECORDS)
    assert again["metadata_files"] == 1
    assert [r for r in grown if r["record_offset"] < 110][: len(held)] == held
    assert len({r["record_offset"] for r in grown}) == len(grown) == 85

    told = [e for e in rows_of(rebuild.events_of(store, "prod", WHOLE)) if e["source"] == FOLDER]
    context = context_of(told, rebuild_outages(told, [], WHOLE))
    assert len(rebuild_failovers(told, [], context, WHOLE)) == 13
