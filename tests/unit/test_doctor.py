"""What a machine lacks, told before anything is built."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from kafka_hindsight.cli.doctor_logs import look_at

HOME = Path(__file__).resolve().parents[2]


def doctor(*options: str, **environment: str) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [sys.executable, "-m", "kafka_hindsight.cli.doctor", "--json", *options],
        cwd=HOME,
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", **environment},
    )
    assert not done.stderr
    return done.returncode, {result["what"]: (result["state"], result["says"]) for result in json.loads(done.stdout)}


def test_complete_machine_passes_doctor(tmp_path: Path) -> None:
    code, results = doctor("--lake", str(tmp_path / "new" / "lake"))
    assert code == 0
    assert {results[what][0] for what in ("Python", "Java", "spark", "jars")} == {"good"}
    assert results["lake"] == ("later", f"the first audit creates {tmp_path}/new/lake")


def test_missing_java_is_reported_with_advice(tmp_path: Path) -> None:
    code, results = doctor(JAVA_HOME=str(tmp_path))
    assert code == 2
    state, says = results["Java"]
    assert state == "missing"
    assert "Found: no Java" in says
    assert "What to do: install a Java 17 runtime" in says


def test_lake_without_commit_has_no_audit(tmp_path: Path) -> None:
    log = tmp_path / "quality" / "publications" / "_delta_log"
    log.mkdir(parents=True)
    assert doctor("--lake", str(tmp_path))[1]["lake"] == ("later", f"the first audit creates {tmp_path}")
    (log / "00000000000000000000.json").touch()
    assert doctor("--lake", str(tmp_path))[1]["lake"] == ("good", f"{tmp_path} has published audits")


def test_unreachable_cluster_is_reported() -> None:
    code, results = doctor("--bootstrap", "127.0.0.1:1")
    assert code == 2
    assert results["cluster"][0] == "missing"
    assert "No broker of 127.0.0.1:1 answered" in results["cluster"][1]


def test_log_sample_shows_layouts_and_events(tmp_path: Path) -> None:
    message = "INFO [GroupCoordinator 1]: Resigned as the group coordinator for partition 3 in epoch Some(0)"
    logger = "(kafka.coordinator.group.GroupCoordinator)"
    own = f"[2026-11-21 01:44:29,117] {message} {logger}\n"
    lines = {
        "plain/server.log": own,
        "pod/kafka.log": f"2026-11-21T01:44:29.117Z stdout F 2026-11-21 01:44:29,117 {message} {logger} [main]\n",
        "other/app.log": "2026-11-21 01:44:29,117 <7> x\n",
    }
    for name, line in lines.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(line * 3)
    (tmp_path / "packed.log.gz").write_bytes(gzip.compress(own.encode() * 4))
    with tarfile.open(tmp_path / "night.tgz", "w:gz") as archive:
        for name in ("plain/server.log", "packed.log.gz"):
            archive.add(tmp_path / name, name)
    (tmp_path / "packed.log.gz").unlink()
    done = subprocess.run(
        [sys.executable, "-m", "kafka_hindsight.cli.doctor", "--json", "--logs", str(tmp_path)],
        cwd=HOME,
        capture_output=True,
        text=True,
    )
    results = sorted((t["state"], t["says"]) for t in json.loads(done.stdout) if t["what"] == "LOGS")
    assert [(state, says.partition(".")[0]) for state, says in results] == [
        ("good", "1 file: in cri: strimzi"),
        ("good", "3 files: Kafka's own layout"),
        ("missing", "1 file: unknown layout"),
    ]
    assert "then '%p' was needed" in results[2][1]
    assert "In a sample of 10 records: 10 events, 0 noise, 0 unparsed" in results[1][1]


def test_folder_without_logs_is_reported_by_content(tmp_path: Path) -> None:
    ((state, _, says),) = look_at("LOGS", str(tmp_path), None)
    assert (state, says) == ("missing", f"{tmp_path} holds no file. What to do: check the path.")
    (tmp_path / "notes.pdf").write_bytes(b"%PDF")
    ((state, _, says),) = look_at("LOGS", str(tmp_path), None)
    assert (state, says) == ("missing", f"{tmp_path} holds no log by its name. What to do: name the files in GLOB.")


def test_doctor_runs_before_setup(tmp_path: Path) -> None:
    done = subprocess.run([str(HOME / "hindsight"), "doctor", "--lake", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0
    assert "\n✓ Java" in done.stdout
