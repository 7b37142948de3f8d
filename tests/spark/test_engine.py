"""The step ingest with Spark to spread its work: the rows of one process, whatever lies in the folder."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from kafka_hindsight.catalog.bronze import LOG_RECORDS
from kafka_hindsight.engine.local import LocalEngine, LocalWorkers
from kafka_hindsight.engine.work import Engine
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_bytes import ArchiveMember, FilePart
from kafka_hindsight.logs.files import Listing
from kafka_hindsight.steps import ingest
from kafka_hindsight.steps.collect import InputFiles, collect, list_input
from lab.drill.render import wrapped
from spark_jobs.ingest_logs import SparkEngine
from spark_jobs.spark_run import SparkWorkers
from tests.support.collected import log
from tests.support.logs import MADE_BY_INGEST, conf, hashes, lay, line, resigned, settings
from tests.support.nights import EXCERPTS

TEXT = "".join(log(300))
READING = {"at": "2026-11-21T01:00:01Z", "cluster_id": "id-1", "brokers": [{"id": 1, "host": "h", "port": 9092}]}


def packed(files: dict[str, bytes]) -> bytes:
    """A packed archive of files."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return held.getvalue()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs in every form: whole, rotated, copied, wrapped, in an archive, beside one another, broken, and readings."""
    root = tmp_path_factory.mktemp("folder")
    at = datetime(2026, 11, 21, 1, 30, tzinfo=UTC)
    envelopes = (wrapped(text, at, f"kafka-{n}", ["compose", "docker"]) for text in log(90) for n in (1, 2))
    lay(
        root / "logs",
        {
            "broker-1/server.log": TEXT,
            "broker-1/kafkaServer.out": TEXT,
            "broker-1/server.log.1.gz": gzip.compress("".join(log(120)).encode()),
            "broker-2/server.log": "before the first head\n" + line("[GroupCoordinator 1]: unheard") + resigned(4),
            "broker-3/server.log": resigned(6).encode() + b"\xff\xfe\n" + resigned(7).encode(),
            "all.log": "".join(f"{text}\n" for text in envelopes),
            "night.tgz": packed({"b-4/server.log": TEXT.encode(), "b-5/server.log": TEXT.encode()}),
        },
    )
    shutil.copytree(EXCERPTS / "metadata-4.3", root / "logs" / "metadata")
    lay(root, {"readings.jsonl": json.dumps(READING) + "\n{half a read\n"})
    return root


@pytest.mark.parametrize("block", ["128m", "3000"])
def test_spark_ingest_equals_ingest_of_one_process(
    spark: SparkSession, folder: Path, tmp_path: Path, block: str
) -> None:
    outcomes = []
    for name, workers in (("one", LocalWorkers()), ("many", SparkWorkers())):
        given = settings(tmp_path / name, folder / "logs", snapshots=folder / "readings.jsonl")
        with conf(spark, spark__sql__files__maxPartitionBytes=block):
            summaries = [ingest.run_step(workers, given, {}) for _ in range(2)]
        assert summaries[0]["lines"] == summaries[1]["lines"]
        outcomes.append((summaries, hashes(Store(given.lake), MADE_BY_INGEST)))
    assert outcomes[0] == outcomes[1]
    written = [
        f for table in ("bronze/log_records", "silver/events") for f in (tmp_path / "many" / table).glob("*.parquet")
    ]
    assert written and not [f for f in written if f.stat().st_mode & 0o077], "others may not read them"


def test_log_replaced_while_spark_reads_it_is_read_again(spark: SparkSession, tmp_path: Path) -> None:
    lay(tmp_path, {"logs/server.log": TEXT, "logs/other.log": resigned(1)})
    wishes, engine = settings(tmp_path / "lake", tmp_path / "logs"), SparkEngine(spark)
    look, listings = list_input(engine, wishes).look, list[Listing]()

    def looked() -> Listing:
        listings.append(look())
        if len(listings) == 2:
            lay(tmp_path, {"logs/server.log": resigned(2) + TEXT})
        return listings[-1]

    done = collect(engine, Store(wishes.lake), wishes, InputFiles(looked(), looked))
    assert (done.unsettled, len(listings)) == (frozenset(), 4), "it was read again"
    held = Store(wishes.lake).read(LOG_RECORDS, columns=["source"])["source"].to_pylist()
    assert Counter(held) == {"server.log": 301, "other.log": 1}


@pytest.mark.parametrize("engine", ["one", "many"])
def test_unit_reaches_worker_unchanged(spark: SparkSession, tmp_path: Path, engine: str) -> None:
    archive = packed({"b-4/server.log": b"abcdef"})
    lay(tmp_path, {"night.tgz": archive, "plain": "0123456789"})
    units = [
        FilePart(str(tmp_path / "plain"), (2, 6), {"name": "plain"}, numbers=np.arange(5)),
        FilePart(
            str(tmp_path / "night.tgz"), (0, len(archive)), {"name": "member"}, ArchiveMember("b-4/server.log", 512, 6)
        ),
    ]
    spread: Engine = LocalEngine() if engine == "one" else SparkEngine(spark)
    assert list(spread.spread(units, describe_unit)) == [
        {"name": "plain", "held": "2345", "numbers": [0, 1, 2, 3, 4]},
        {"name": "member", "held": "cdef", "numbers": None},
    ]
    assert list(spread.spread([], describe_unit)) == []


def describe_unit(unit, content, numbers):  # type: ignore[no-untyped-def]
    """What a unit says, and some of its bytes."""
    numbers = None if numbers is None else numbers.tolist()
    yield {"name": unit["name"], "held": content.between(2, 6).decode(), "numbers": numbers}
