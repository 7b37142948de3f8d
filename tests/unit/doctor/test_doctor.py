"""What a machine lacks, told before anything is built."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.doctor.logs import SAMPLE_BYTES, CheckWords, look_at
from tests.support.logs import ingested, unpack_night

HOME = Path(__file__).resolve().parents[3]


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


def samples_of(place: Path, glob: str | None = None) -> list[CheckWords]:
    """The checks of a folder of brokers' logs behind those of what the logs could not show."""
    checks = look_at("LOGS", str(place), None, glob)
    return [check for check in checks if not check[2].startswith(("Not known", "No logger"))]


def test_complete_machine_passes_doctor(tmp_path: Path) -> None:
    code, results = doctor("--lake", str(tmp_path / "new" / "lake"))
    assert code == 0
    assert {results[what][0] for what in ("Python", "Java", "spark")} == {"good"}
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
    checks = [(t["state"], t["says"]) for t in json.loads(done.stdout) if t["what"] == "LOGS"]
    assert checks[0][1].startswith("Not known: lost records, ")
    results = sorted(check for check in checks if not check[1].startswith("Not known"))
    assert [(state, says.partition(".")[0]) for state, says in results] == [
        ("good", "1 file: in cri: strimzi"),
        ("good", "3 files: Kafka's own layout"),
        ("later", "plain/server"),
        ("missing", "1 file: unknown layout"),
    ]
    assert "then '%p' was needed" in results[3][1]
    assert "10 lines: 10 are events, 0 are irrelevant, 0 could not be read, 0 are broken." in results[1][1]


def test_folder_without_logs_is_reported_by_content(tmp_path: Path) -> None:
    ((state, _, says),) = look_at("LOGS", str(tmp_path), None)
    assert (state, says) == ("missing", f"{tmp_path}: it holds no log (it is empty). What to do: check the path.")
    (tmp_path / "notes.pdf").write_bytes(b"%PDF")
    ((state, _, says),) = look_at("LOGS", str(tmp_path), None)
    assert (state, says) == (
        "missing",
        f"{tmp_path}: it holds no log (1 file left out: not a log of Kafka). What to do: check the path.",
    )
    ((state, _, says),) = look_at("LOGS", str(tmp_path / "absent"), None)
    assert (state, says) == ("missing", f"{tmp_path}/absent: nothing is there. What to do: check the path.")


COUNTS = r"([\d,]+) (?:are events|are irrelevant|could not be read|are broken)"


def counts(checks: list[Any]) -> list[int]:
    """The lines of all checks that are events, of no use, not read, broken."""
    numbers = [[int(n.replace(",", "")) for n in re.findall(COUNTS, says.partition("\n")[0])] for _, _, says in checks]
    return [sum(column) for column in zip(*filter(None, numbers), strict=True)]


def test_doctor_counts_lines_of_sample_night_as_its_audit_does(tmp_path: Path) -> None:
    night = unpack_night(tmp_path / "night")
    (night / "logs" / "broker-1" / "odd.log").write_text(
        "no head\n[2026-11-21 01:44:29,117] INFO [Controller id=1] What is this? (kafka.controller.KafkaController)\n"
        "[2026-11-21 01:44:30,000] ERROR a\0b (kafka.server.KafkaServer)\n  at a line of the same record\n"
    )
    clients = night / "clients"
    _, summary = ingested(tmp_path / "lake", night / "logs", client_logs=clients)
    checks = [*look_at("LOGS", str(night / "logs"), None), *look_at("CLIENT_LOGS", str(clients), None)]
    counted = [summary["lines"][name] for name in ("events", "ignored", "unparsed", "quarantined")]
    assert counts(checks) == counted
    assert counted[2:] == [2, 2] and sum(counted) == summary["lines"]["lines_in"]


def test_long_file_is_counted_up_to_its_last_whole_record(tmp_path: Path) -> None:
    message = "INFO [GroupCoordinator 1]: Resigned as the group coordinator for partition 3 in epoch Some(0)"
    line = f"[2026-11-21 01:44:29,117] {message} (kafka.coordinator.group.GroupCoordinator)\n"
    (tmp_path / "server.log").write_text(line * (SAMPLE_BYTES // len(line) + 100))
    ((state, _, says),) = samples_of(tmp_path)
    lines = SAMPLE_BYTES // len(line) - 1
    assert (state, "lines at their beginnings: " in says) == ("good", True)
    assert counts([(state, "", says)]) == [lines, 0, 0, 0]


def test_long_file_of_an_unknown_layout_is_called_unknown(tmp_path: Path) -> None:
    line = "Mon 1 of March, ten o'clock: worker 5 joined its group\n"
    (tmp_path / "app.log").write_text(line * (SAMPLE_BYTES // len(line) + 100))
    ((state, _, says),) = samples_of(tmp_path)
    assert (state, says.partition(".")[0]) == ("missing", "1 file: unknown layout")
    assert "No date in a known form was found in its lines." in says


def test_files_are_sampled_as_an_audit_chooses_them(tmp_path: Path) -> None:
    line = "[2026-11-21 01:44:29,117] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n"
    (tmp_path / "stdout").write_text(line)
    (tmp_path / "core").write_bytes(bytes(100))
    sample, left_out = samples_of(tmp_path)
    assert sample[2].startswith("1 file: Kafka's own layout. 1 line: 1 are events")
    assert left_out == ("later", "LOGS", "1 file left out: not text.")
    assert samples_of(tmp_path, "core")[1][2] == "1 file left out: GLOB does not name it."


def test_what_the_logs_could_not_show_is_said_first(tmp_path: Path) -> None:
    def line(level: str, text: str, logger: str) -> str:
        return f"[2026-11-21 01:44:29,117] {level} {text} ({logger})\n"

    life = line("INFO", "[KafkaServer id=4] started", "kafka.server.KafkaServer")
    leaders = line("INFO", "[Broker id=4] Handling LeaderAndIsr request", "state.change.logger")
    others = "".join(
        line("INFO", "x", logger)
        for logger in ("kafka.cluster.Partition", "kafka.log.UnifiedLog", "kafka.coordinator.group.GroupCoordinator")
    )
    thread = "kafka.controller.ControllerEventManager$ControllerEventThread"
    controller = line("INFO", "[ControllerEventThread controllerId=4] Starting", thread)
    cases = {
        life + leaders + others + controller: "No logger is missing that would show lost records, ",
        life + leaders + others: "Not known: partitions without a leader, refused writes and absences of brokers, ",
        life + others + controller: "Not known: partitions without a leader and refused writes, because no line at ",
        life.replace("INFO", "WARN"): "Not known: lost records, partitions without a leader, refused writes, absences",
    }
    for text, begins in cases.items():
        (tmp_path / "server.log").write_text(text)
        first = look_at("LOGS", str(tmp_path), None)[0][2]
        assert first.startswith(begins)
        assert "broker 4" in first
        assert not look_at("CLIENT_LOGS", str(tmp_path), None)[0][2].startswith(("No logger", "Not known"))


def test_copy_of_a_log_is_named(tmp_path: Path) -> None:
    for name in ("server.log", "server.log.bak"):
        (tmp_path / name).write_text("[2026-11-21 01:44:29,117] INFO started (kafka.server.KafkaServer)\n")
    assert samples_of(tmp_path)[1:] == [
        ("later", "LOGS", "server.log.bak begins as server.log: their events are judged once.")
    ]


def test_first_lines_of_a_source_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    message = "INFO [GroupCoordinator 1]: Resigned as the group coordinator for partition 3 in epoch Some(0)"
    line = f"2026-11-21T01:44:29Z [2026-11-21 01:44:29,117] {message} (kafka.coordinator.group.GroupCoordinator)"
    monkeypatch.setenv("HINDSIGHT_SOURCES", str(tmp_path))
    (tmp_path / "pods.toml").write_text(f'kind = "command"\n[commands]\npod = ["yes", "{line}"]\n')
    ((state, _, says),) = look_at("LOGS", "source://pods", None)
    assert (state, counts([("", "", says)])) == ("good", [10, 0, 0, 0])
    (tmp_path / "pods.toml").write_text('kind = "command"\n[commands]\npod = ["false"]\n')
    ((state, _, says),) = look_at("LOGS", "source://pods", None)
    assert (state, "The command for pod ended with code 1" in says) == ("missing", True)


def test_folder_in_which_nothing_can_be_created_is_no_lake() -> None:
    state, says = doctor("--lake", "/proc/lake")[1]["lake"]
    assert state == "missing"
    assert says.startswith("/proc cannot be written: ")


def test_lake_behind_uri_is_written_read_and_cleared(tmp_path: Path) -> None:
    place = tmp_path.as_uri()
    assert doctor("--lake", place)[1]["lake"] == ("good", f"{place} was written, read and cleared again")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
    assert doctor("--lake", "file:///proc/lake")[1]["lake"][0] == "missing"


def test_receiver_with_wrong_url_is_reported_without_the_url() -> None:
    code, results = doctor(HINDSIGHT_ALERTS_DEFAULT="nowhere:secret")
    assert code == 2
    assert results["alerts"][0] == "missing"
    assert "cannot be used" in results["alerts"][1] and "secret" not in results["alerts"][1]
    assert doctor(HINDSIGHT_ALERTS_DEFAULT="json://host")[1]["alerts"][0] == "good"
    assert doctor()[1]["alerts"][0] == "later"


def test_secured_cluster_is_read_with_its_config(tmp_path: Path) -> None:
    (tmp_path / "client.properties").write_text("bootstrap.servers=127.0.0.1:1\ndefault.api.timeout.ms=1000\n")
    state, says = doctor("--config", str(tmp_path / "client.properties"))[1]["cluster"]
    assert state == "missing"
    assert "client.properties answered within 1 s" in says


def test_doctor_runs_before_setup(tmp_path: Path) -> None:
    done = subprocess.run([str(HOME / "hindsight"), "doctor", "--lake", str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0
    assert "\n✓ Java" in done.stdout
