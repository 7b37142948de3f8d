"""The parts of the bench: its input, its meters, what it reads in an event log, its arithmetic, its page."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from lab.bench import anchors, cluster, judgements, nights, page, sizing
from lab.bench.figures import FIGURES, ratios

LOG = """\
[2026-11-21 01:40:47,519] INFO [GroupCoordinator 1]: Preparing to rebalance group orders (kafka.G)
[2026-11-21 01:40:48,020] WARN a trace follows (kafka.server.ReplicaManager)
java.io.IOException: in orders-old
%3|1763689248.020|FAIL|orders#consumer| no broker
"""


@pytest.fixture
def night(tmp_path: Path) -> Path:
    (tmp_path / "night" / "logs").mkdir(parents=True)
    (tmp_path / "night" / "logs" / "server.log").write_text(LOG)
    reading = {"at": "2026-11-21T01:40:55.389+00:00", "groups": [{"group": "orders"}, {"group": "orders-old"}]}
    (tmp_path / "night" / "snapshots.jsonl").write_text(json.dumps(reading) + "\n")
    return tmp_path / "night"


def test_copies_of_night_are_an_hour_apart_with_own_groups(night: Path, tmp_path: Path) -> None:
    many = nights.multiply(night, tmp_path / "many", 2)
    one, two = (LOG.replace("group orders", f"group orders-n{n}") for n in (0, 1))
    one, two = (text.replace("orders#", f"orders-n{n}#") for n, text in enumerate((one, two)))
    one, two = (text.replace("orders-old", f"orders-old-n{n}") for n, text in enumerate((one, two)))
    one = one.replace(" 01:40", " 00:40").replace("1763689248", "1763685648")
    assert (many / "logs" / "server.log").read_text() == one + two
    readings = [json.loads(line) for line in (many / "snapshots.jsonl").read_text().splitlines()]
    assert [r["at"] for r in readings] == ["2026-11-21T00:40:55.389000+00:00", "2026-11-21T01:40:55.389000+00:00"]
    assert [g["group"] for r in readings for g in r["groups"]] == [
        "orders-n0",
        "orders-old-n0",
        "orders-n1",
        "orders-old-n1",
    ]


def test_moving_a_log_changes_only_record_heads() -> None:
    assert nights.later("[2026-11-21 23:40:47,519] at 2026-11-21 23:40:47\n", timedelta(hours=1)) == (
        "[2026-11-22 00:40:47,519] at 2026-11-21 23:40:47\n"
    )


def test_duckdb_and_polars_cut_same_heads(night: Path, tmp_path: Path) -> None:
    import duckdb

    heads = []
    for name in ("duckdb", "polars"):
        target = tmp_path / f"{name}.parquet"
        assert anchors.WITHOUT_SPARK[name](nights.logs_of(night), target) == 4
        columns = "text, strftime(happened_at, '%H:%M:%S.%g'), level"
        heads.append(
            duckdb.sql(f"SELECT {columns} FROM '{target}' WHERE happened_at IS NOT NULL ORDER BY 2").fetchall()
        )
    assert heads[0] == heads[1]
    assert [row[1:] for row in heads[0]] == [("01:40:47.519", "INFO"), ("01:40:48.020", "WARN")]
    assert anchors.grep(nights.logs_of(night)) == 1


def test_meter_counts_cpu_and_memory_of_children() -> None:
    """In a process of its own: this one may have a JVM below it that other tests use."""
    busy = "import time; held = bytearray(60_000_000)\nwhile time.process_time() < 2.5: pass"
    measure = (
        "import json, subprocess, sys; from lab.bench import usage\n"
        "with usage.metered() as used: subprocess.run([sys.executable, '-c', sys.argv[1]], check=True)\n"
        "print(json.dumps(used.figures()))"
    )
    done = subprocess.run([sys.executable, "-c", measure, busy], capture_output=True, text=True, check=True)
    used = json.loads(done.stdout)
    assert 2 < used["cpu_s"] < 10
    assert used["driver_mib"] > 60
    assert used["wall_s"] >= 2
    assert (used["jvm_mib"], used["worker_mib"]) == (0.0, 0.0)


def test_meter_counts_orphaned_process() -> None:
    orphan = "import time\nwhile time.process_time() < 1: pass"
    code = f"""
import os, subprocess, sys, time
from lab.bench import usage
usage.adopt()
start = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1]], start_new_session=True)"
with usage.metered() as used:
    subprocess.run([sys.executable, "-c", start, {orphan!r}], check=True)
    while sum(p.cpu_s for p in usage.tree(os.getpid())[1:]) < 0.6: time.sleep(0.05)
print(used.cpu_s)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert float(done.stdout or "0") >= 0.6, done.stderr


def test_pinned_cores_are_inherited() -> None:
    core = min(os.sched_getaffinity(0))
    code = f"from lab.bench import usage; usage.pin('{core}'); import os, subprocess, sys\n"
    code += "print(subprocess.run([sys.executable, '-c', 'import os; print(os.sched_getaffinity(0))'])); "
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[0] == f"{{{core}}}"


def stage_submitted(stage: int, tasks: int, name: str) -> dict[str, Any]:
    scopes = [{"Scope": json.dumps({"id": "1", "name": f"{name} - file:///lake"})}, {}]
    info = {"Stage ID": stage, "Number of Tasks": tasks, "RDD Info": [*scopes, *scopes]}
    return {"Event": "SparkListenerStageSubmitted", "Stage Info": info}


def task_ended(stage: int, executor: str, ms: int, read: int = 0, shuffled: int = 0) -> dict[str, Any]:
    metrics = {
        "Executor Run Time": ms,
        "Disk Bytes Spilled": 0,
        "Input Metrics": {"Bytes Read": read},
        "Shuffle Write Metrics": {"Shuffle Bytes Written": shuffled},
    }
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage,
        "Task Info": {"Executor ID": executor},
        "Task Metrics": metrics,
    }


def test_spark_event_log_gives_executor_work_and_narrow_stages() -> None:
    work = cluster.read_work(
        [
            {"Event": "SparkListenerApplicationStart"},
            stage_submitted(0, 3, "scan"),
            *(task_ended(0, str(n), 3_000, read=10, shuffled=5) for n in range(3)),
            stage_submitted(1, 1, "small"),
            task_ended(1, "0", 100),
            stage_submitted(2, 2, "huge"),
            task_ended(2, "0", 4_000),
            task_ended(2, "1", 1_000),
            stage_submitted(3, 9, "skipped"),
        ]
    )
    assert {name: (e.tasks, e.run_s) for name, e in work.executors.items()} == {
        "0": (3, 7.1),
        "1": (2, 4.0),
        "2": (1, 3.0),
    }
    assert [s.name for s in work.stages] == ["scan", "small", "huge"]
    assert (work.stages[0].read, work.stages[0].shuffled) == (30, 15)
    assert [(s.name, s.longest_s) for s in work.narrow(3)] == [("huge", 4.0)]


def test_failed_daemon_log_is_quoted(tmp_path: Path) -> None:
    log = tmp_path / "daemon.log"
    log.write_text("no such port")
    with subprocess.Popen([sys.executable, "-c", "pass"]) as process, pytest.raises(RuntimeError, match="no such port"):
        cluster._wait_for(log, re.compile("ready"), process)


def test_line_is_fitted_through_measurements() -> None:
    line = sizing.fitted({100.0: 30.0, 200.0: 50.0, 300.0: 70.0})
    assert (round(line.start, 6), round(line.slope, 6), round(line.at(1000), 6)) == (10.0, 0.2, 210.0)


def test_tenfold_night_needs_tenfold_cores() -> None:
    by = sizing.Rates(
        ingest=sizing.StraightCost(0, 0.252),
        rebuild=sizing.StraightCost(10, 0.001),
        events=1_000,
        written_ratio=0.5,
        kept_ratio=0.2,
        shuffled=0.1,
        slot_mib=1024,
        worker_mib=512,
    )
    small, large = sizing.size(1_000_000, by), sizing.size(10_000_000, by)
    assert (small.executors, large.executors) == (25, 250)
    assert small.processor_hours == pytest.approx(70)
    assert small.rebuild_hours == pytest.approx((10 + 1_000_000) / 3600)
    assert small.memory_gb == pytest.approx(150)
    assert (small.shuffle_gb, small.lake_gb, small.tasks) == (100, 200, 31_250)
    assert small.scratch_gb == pytest.approx(300)


def test_bench_page_shows_stored_figures() -> None:
    figures = json.loads(FIGURES.read_text())
    text = page.PAGE.read_text()
    assert page.filled(text, figures) == text
    assert set(re.findall(r"<!-- measured: (\w+) -->", text)) == set(page.TABLES)


def test_ratios_leave_out_first_jvm_round() -> None:
    def used(wall_s: float, **more: Any) -> dict[str, Any]:
        return {"wall_s": wall_s, "cpu_s": 2 * wall_s, **more}

    def warm(copy: float, ingest: float) -> dict[str, Any]:
        return {"spark copy": used(copy), "spark heads": used(2 * copy), "ingest": used(ingest, read_mb=100)}

    measured = {name: [used(3), used(1)] for name in anchors.WITHOUT_SPARK} | {
        "rounds": [warm(1, 2), warm(2, 12), warm(3, 15)]
    }
    sentences = ratios(measured)
    assert sentences[0] == "Ingest of 100 MB, warm: 12.0 s, 24.0 processor seconds."
    assert "2.0, 6.0, 5.0x in wall time" in sentences[-1]
    assert [re.findall(r"([\d.]+)x", line) for line in sentences if "spark copy" in line] == [["6.0", "6.0"]]


def test_picture_has_only_measured_charts() -> None:
    kept = json.loads(FIGURES.read_text())
    grown = {"growth": {"figures": {"96": {"read_mb": 96.0, "wall_s": 64.8, "cpu_s": 82.6}}}}
    titles = [[chart["title"] for chart in page.picture(f)["hconcat"]] for f in ({"engines": kept["engines"]}, grown)]
    assert titles == [["The same bytes, two cores"], ["Ingest of more and more bytes, cold"]]


@pytest.mark.parametrize(("what", "size", "rows"), [("groups", 24, 24), ("partitions", 2, 12)])
def test_huge_key_is_judged_from_arrow_columns(what: str, size: int, rows: int) -> None:
    figures = judgements.measure(judgements.MAKERS[what](size))
    assert figures["rows"] >= rows
    assert figures["peak_mb"] > figures["arrow_mb"] > 0
