"""The metadata log through the ingest, on real tables: never read as text, each record once, read on as it grows."""

from __future__ import annotations

import shutil
from datetime import UTC
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from kafka_hindsight.catalog import bronze, quality, silver
from kafka_hindsight.catalog.quality import METADATA_STATES
from kafka_hindsight.engine.judgement_run import run_judgements
from kafka_hindsight.engine.local import LocalRunner
from kafka_hindsight.engine.reduce import leaf_schema
from kafka_hindsight.intake.metadata_files import needed_snapshots
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.events import METADATA
from kafka_hindsight.judgements.rebuild.sources import judgements_in_order
from kafka_hindsight.kafka_records.batches import batches
from kafka_hindsight.kafka_records.metadata_log import FOLDER
from kafka_hindsight.kafka_records.metadata_states import MetadataStart
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.windows import Window
from tests.support.logs import collected, ingested, lay, rows
from tests.support.nights import EXCERPTS, WHOLE

CAPTURED = EXCERPTS / "metadata-4.3"
FIRST = f"controller-4/{FOLDER}/{0:020}.log"
ALL = (CAPTURED / FIRST).read_bytes()
BEGIN = next(b for b in batches(ALL) if b.next_offset > 60)
SEGMENT = f"{FOLDER}/{BEGIN.next_offset:020}.log"
BYTES = ALL[BEGIN.end :]
HALF = next(b.end for b in batches(BYTES) if b.base_offset > 100)


@pytest.fixture
def night(tmp_path: Path) -> Path:
    """The captured night, as if the metadata log's first segment were gone and the next were being written.

    On one node the log ends earlier.
    """
    shutil.copytree(CAPTURED, tmp_path / "logs")
    (tmp_path / "logs" / FIRST).unlink()
    lay(
        tmp_path,
        {
            f"logs/controller-4/{SEGMENT}": BYTES[: HALF + 30],
            f"logs/controller-4/{FOLDER}/00000000000000000000.index": b"\x00" * 8,
            f"logs/broker-1/orders-0/{0:020}.log": b"\x00" * 80,
            f"logs/broker-2/{SEGMENT}": BYTES[:HALF],
        },
    )
    return tmp_path


def test_growing_metadata_log_is_decoded_once_and_continued(night: Path) -> None:
    store, summary = ingested(night / "lake", night / "logs")
    records = rows(store, bronze.METADATA_RECORDS)
    logged = [r for r in records if not r["snapshot_place"]]
    assert BEGIN.next_offset < logged[0]["record_offset"] and logged[-1]["record_offset"] < 110
    assert {r["source"] for r in logged} == {f"broker-2/{FOLDER}"}
    # The log does not reach back to its beginning: the earliest snapshot within it stands in. The other is ahead of it.
    assert {r["record_offset"] for r in records if r["snapshot_place"]} == {75}
    files = rows(store, bronze.METADATA_FILES)
    assert [f["first_offset"] for f in files if f["is_snapshot"]] == [76]
    assert len(files) == 3 and summary["metadata_files"] == 4
    # What is beside the log is listed as what it is, and no byte of it became a line.
    assert [n.partition(" (")[2] for n in summary["files_not_read"]] == [
        "a partition's records, not log lines)",
        "beside the metadata log: its segments and snapshots are enough)",
    ]
    assert not [r for r in rows(store, quality.COVERAGE) if FOLDER in r["source"] or "orders" in r["source"]]
    (torn,) = [r for r in rows(store, quality.QUARANTINE) if FOLDER in r["source"]]
    assert "30 bytes are left" in torn["sentences"][0]

    lay(night, {f"logs/controller-4/{SEGMENT}": BYTES})
    _, again = collected(night / "lake", night / "logs")
    grown = rows(store, bronze.METADATA_RECORDS)
    assert again["metadata_files"] == 2
    assert [r for r in grown if r["record_offset"] <= logged[-1]["record_offset"]] == records
    assert len({r["record_offset"] for r in grown if not r["snapshot_place"]}) == len(grown) - len(records) + len(
        logged
    )

    at = logged[len(logged) // 2]["written_at"].replace(tzinfo=UTC)
    later = Window(at, WHOLE.end)
    lake = Store(store.lake)
    begun = judge_metadata(lake, Scope("prod", later, WHOLE))
    assert begun.start is None
    changes = [e for e in (*begun.events, *rows(store, silver.EVENTS)) if e["kind"] == "partition_changed"]
    led = sorted((e["partition"], e["leader_epoch"], e["leader"]) for e in changes if e["topic"] == "orders")
    assert {place for place in led if place[1] > 0} == {(0, 2, 3), (0, 3, 1), (1, 1, 3), (1, 2, 2), (2, 1, 1)}

    lake.create(METADATA_STATES)
    lake.replace_window(METADATA_STATES, begun.states, "prod", later)
    read_on = judge_metadata(lake, Scope("prod", later, later))
    assert read_on.start is not None and read_on.start.state_at == at
    whole = [e for e in begun.events if e["happened_at"] >= at]
    assert whole and read_on.events == whole


class Judged(NamedTuple):
    """Where the metadata log was read on, its events in order, and the state that is left."""

    start: MetadataStart | None
    events: list[dict[str, Any]]
    states: pa.Table


def judge_metadata(lake: Store, scope: Scope) -> Judged:
    """A rebuild that has come to the metadata log."""
    outputs = {name: METADATA.output(name) for name in ("events", "states")}
    runner = LocalRunner(lake)
    values = run_judgements(runner, scope, judgements_in_order(outputs.values()))
    tables = {
        name: pa.concat_tables([leaf_schema(output).empty_table(), *runner.parts_of(output)], promote_options="default")
        for name, output in outputs.items()
    }
    events = sorted(tables["events"].to_pylist(), key=lambda e: (e["happened_at"], e["order"]))
    return Judged(values["metadata_start"], events, tables["states"])


def file_row(is_snapshot: bool, first: int, after: int, **fields: Any) -> dict[str, Any]:
    columns = {"is_snapshot": is_snapshot, "first_offset": first, "next_offset": after, "read_bytes": 1}
    return {**columns, "file": f"{first}-{after}", **fields}


@pytest.mark.parametrize(
    ("log", "snapshots", "needed"),
    [
        ([(0, 100)], [50, 80], []),
        ([(40, 100)], [30, 50, 80], [50]),
        ([(0, 100), (200, 300)], [50, 250, 260], [250]),
        ([(40, 100), (100, 300)], [100, 250], [100]),
        ([(40, 100)], [20, 120], []),
        ([], [20], []),
    ],
)
def test_earliest_snapshot_that_opens_a_log_stretch_is_needed(
    log: list[tuple[int, int]], snapshots: list[int], needed: list[int]
) -> None:
    files = [file_row(False, *span) for span in log] + [file_row(True, at, at) for at in snapshots]
    assert needed_snapshots(files) == {f"{at}-{at}" for at in needed}
    kept = [{**f, "is_kept": f["file"] in needed_snapshots(files)} for f in files]
    assert needed_snapshots(kept) == set()
