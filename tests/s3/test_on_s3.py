"""Everything on S3: logs, lake, lock, SQL, alerts and the page inside Airflow. The server is moto's, on this machine.

It answers as S3's documentation says, conditional writes included. It proves nothing about rights, speed or limits.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.store import S3Store

from kafka_hindsight.audit.inputs import SAMPLE
from kafka_hindsight.lake.landing import is_there
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.file_bytes import ArchiveMember, OfMember, open_bytes, unpacked_archive
from kafka_hindsight.logs.found_files import files_at, walk
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.at_once import at_once
from tests.support import writer
from tests.support.aws import bucket, served_by_moto
from tests.support.lake import contents, rows
from tests.support.older_duckdb import OlderDuckDB
from tests.support.receivers import webhook

LAKE, CLUSTER = "s3a://lakes/kafka", "M3qSc9eLQMSD2A9RXcqTKA"
PAGE = (HOME / "docs" / "sql.md").read_text(encoding="utf-8")
INPUT = {"LOGS": "logs", "CLIENT_LOGS": "clients", "SNAPSHOTS": "snapshots.jsonl"}


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """A server with the recorded night in the bucket `logs`. Gives: the variables by which everybody finds it."""
    with served_by_moto(tmp_path_factory.mktemp("s3")) as variables:
        for name in ("logs", "lakes"):
            bucket(f"{variables['AWS_ENDPOINT_URL']}/{name}")
        logs = S3Store("logs")
        for path in sorted(p for p in SAMPLE.rglob("*") if p.is_file()):
            obstore.put(logs, str(path.relative_to(SAMPLE)), path)
        yield variables


def run(module: str, *arguments: str, also: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    unset = ("LOGS", "CLIENT_LOGS", "SNAPSHOTS", "LAKE")
    environment = {k: v for k, v in os.environ.items() if k not in unset}
    return subprocess.run(
        [sys.executable, "-m", f"kafka_hindsight.cli.{module}", *arguments],
        cwd=HOME,
        env={**environment, "PYTHONPATH": str(HOME), **(also or {})},
        capture_output=True,
        text=True,
        timeout=2400,
    )


hindsight = partial(run, "main")


@pytest.fixture(scope="module")
def audit_on_s3(s3: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The audit from S3 into a lake on S3, through Airflow."""
    done = run("nightly_dag", also={"LAKE": LAKE} | {name: f"s3a://logs/{at}" for name, at in INPUT.items()})
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_audit_on_s3_equals_audit_on_disk(audit_on_s3: subprocess.CompletedProcess[str], tmp_path: Path) -> None:
    assert "40 committed records were lost in fraud-risky-19-0" in audit_on_s3.stdout
    on_disk = hindsight("audit", "--lake", str(tmp_path / "lake"))
    assert on_disk.returncode == 0, on_disk.stdout + on_disk.stderr
    assert contents(LAKE) == contents(tmp_path / "lake")


def test_killed_step_is_run_again_and_leaves_same_tables(
    audit_on_s3: subprocess.CompletedProcess[str], s3: Mapping[str, str]
) -> None:
    """Its lock is not given back: the next run of the cluster takes it a minute later, and fences all tables."""
    before = contents(LAKE)
    given = {**os.environ, **{name: f"s3a://logs/{at}" for name, at in INPUT.items()}, "LAKE": LAKE}
    command = [sys.executable, "-m", "kafka_hindsight.cli.main", "ingest", "--run-id", "killed"]
    with subprocess.Popen(command, cwd=HOME, env={**given, "PYTHONPATH": str(HOME)}, start_new_session=True) as step:
        locks = S3Store("lakes", prefix="kafka/locks")
        while _holder(locks).get("run_id") != "killed":
            assert step.poll() is None, "the step ended before it had the lock"
            time.sleep(0.2)
        time.sleep(1)
        _kill(step.pid)
    assert _holder(locks)["run_id"] == "killed"
    again = hindsight("audit", "--lake", LAKE, also={name: f"s3a://logs/{at}" for name, at in INPUT.items()})
    assert again.returncode == 0, again.stdout + again.stderr
    assert contents(LAKE) == before
    assert _holder(locks) == {}


def test_concurrent_writers_lose_and_double_no_row(s3: Mapping[str, str]) -> None:
    store, names = Store("s3a://lakes/two-writers"), ("one", "two")
    store.create(writer.EVENTS)
    at_once(*(partial(_write, store.lake, name) for name in names))
    added = [i for name in names for n in range(3) for i in writer.ids(name, n)]
    replaced = [i for name in names for i in writer.ids(name, 2)]
    assert sorted(store.read(writer.EVENTS)["line_id"].to_pylist()) == sorted([*added, *replaced])
    assert store.version(writer.EVENTS) == 12
    store.put_in_order(writer.EVENTS)
    store.restore(writer.EVENTS, 0)
    assert len(store.read(writer.EVENTS)) == 0


def test_killed_writers_on_s3_lose_and_double_no_commit(s3: Mapping[str, str], tmp_path: Path) -> None:
    assert writer.kill_writers("s3a://lakes/killed-writers", tmp_path) >= 4


def _write(lake: str, name: str) -> None:
    for number in range(3):
        writer.write(Store(lake), name, number)


def test_bucket_files_are_listed_and_read_like_folder(s3: Mapping[str, str], tmp_path: Path) -> None:
    """Of any name, packed, and in archives: listed and read by the same functions, also from their middle."""
    logs = S3Store("logs", prefix="odd")
    content = b"".join(b"[2026-11-21 01:44:29,117] INFO line %d (kafka.A)\n" % n for n in range(1_000))
    (tmp_path / "plain.tar").write_bytes(b"")
    with tarfile.open(tmp_path / "plain.tar", "w") as archive:
        entry = tarfile.TarInfo("broker-1/server.log")
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))
    packed = gzip.compress((tmp_path / "plain.tar").read_bytes())
    names = {"a b/server.log": content, "a#b?.log": content, "%41.log.gz": gzip.compress(content), "night.tgz": packed}
    for name, data in names.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
        obstore.put(logs, name, data)
    (tmp_path / "plain.tar").unlink()
    near, far = (sorted(files_at(place)) for place in (str(tmp_path), "s3a://logs/odd"))
    assert [(f.name, f.size) for f in far] == [(f.name, f.size) for f in near] and len(far) == len(names)
    for here, there in zip(near, far, strict=True):
        assert open_bytes(there.uri, there.size).between(9, 9_000) == open_bytes(here.uri, here.size).between(9, 9_000)
    (held,) = [file for file in far if file.name == "night.tgz"]
    ((_, begin, size, *_),) = walk(open_bytes(held.uri, held.size))
    member = ArchiveMember("server.log", begin, size)
    assert OfMember(unpacked_archive(held.uri, held.size, None, member), member).between(0, size) == content
    assert files_at("s3a://logs/odd/a b/server.log")[0].size == len(content)
    assert not is_there("s3a://logs/nowhere")


def _holder(locks: S3Store) -> Any:
    try:
        return json.loads(bytes(obstore.get(locks, f"cluster-{CLUSTER}").bytes()))
    except FileNotFoundError:
        return {}


def _kill(first: int) -> None:
    """Kills a process and all that it started: spark-submit leads a session of its own."""
    listing = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    children: dict[int, list[int]] = {}
    for pid, parent in (map(int, line.split()) for line in listing.splitlines()):
        children.setdefault(parent, []).append(pid)
    doomed = [first]
    for pid in doomed:
        doomed += children.get(pid, [])
    for pid in reversed(doomed):
        os.kill(pid, signal.SIGKILL)


def test_sql_explain_and_doctor_read_lake_on_s3(audit_on_s3: subprocess.CompletedProcess[str]) -> None:
    lost = "select max(records_lost_low) as lost from gold.incidents"
    answer = hindsight("sql", lost, "--format", "json", "--lake", LAKE)
    assert json.loads(answer.stdout) == [{"lost": 40}], answer.stderr
    assert "Broker 1 had a controlled shutdown" in hindsight("explain", "worst", "--lake", LAKE).stdout
    whole = hindsight("doctor", "--lake", LAKE)
    assert "all rows can be read, and every published version is there" in whole.stdout, whole.stdout


def test_duckdb_reads_lake_on_s3_by_docs_example(
    audit_on_s3: subprocess.CompletedProcess[str], s3: Mapping[str, str], tmp_path: Path
) -> None:
    (example,) = re.findall(r"^## A lake on S3$.*?```sql\n(.*?)```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert "ENDPOINT 'objects.example.org'" in example
    host = s3["AWS_ENDPOINT_URL"].removeprefix("http://")
    asked = example.replace("ENDPOINT 'objects.example.org'", f"ENDPOINT '{host}', USE_SSL false")
    counted = Counter(row["cause"] for row in rows(LAKE, "gold.rebalances"))
    assert Counter(dict(OlderDuckDB(tmp_path).rows([asked]))) == counted
    assert len(counted) > 5


def test_alerts_on_s3_are_sent_once(audit_on_s3: subprocess.CompletedProcess[str]) -> None:
    """Looks of the morning after: nights that ended more than two days ago alert no one."""
    with webhook() as box:
        receiver = {"HINDSIGHT_ALERTS_DEFAULT": f"json://127.0.0.1:{box.port}/hook?retry=0"}
        for at in ("2026-11-21T06:00Z", "2026-11-21T07:00Z"):
            done = hindsight("alert", "--lake", LAKE, "--at", at, also=receiver)
            assert done.returncode == 0, done.stdout + done.stderr
    assert sum("lost in fraud-risky-19-0" in message["message"] for message in box.got) == 1
    assert "fraud-risky-19-0" in hindsight("alert", "--list", "--lake", LAKE).stdout


def test_airflow_shows_report_on_s3(audit_on_s3: subprocess.CompletedProcess[str], tmp_path: Path) -> None:
    (tmp_path / "hindsight.toml").write_text(
        f"[[clusters]]\nname = 'kafka'\nlogs = 's3a://logs/logs'\nlake = '{LAKE}'\n"
    )
    asked = (
        "from fastapi.testclient import TestClient\n"
        "from hindsight_report import app, readers\n"
        "for route in app.routes:\n"
        "    for d in getattr(getattr(route, 'dependant', None), 'dependencies', ()):\n"
        "        app.dependency_overrides[d.call] = lambda: None\n"
        "app.dependency_overrides[readers] = lambda: lambda cluster: True\n"
        "print(TestClient(app).get('/kafka/index.html').text)\n"
    )
    paths = f"{HOME}:{HOME / 'plugins'}"
    shown = subprocess.run(
        [HOME / ".venv-airflow" / "bin" / "python", "-c", asked],
        env={**os.environ, "PYTHONPATH": paths, "HINDSIGHT_CONFIG": str(tmp_path / "hindsight.toml")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert "40 committed records were lost" in shown.stdout, shown.stderr[-2000:]
