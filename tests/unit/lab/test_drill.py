"""The drill's scenarios as data, its recordings, and the truth it writes: all that needs no cluster."""

from __future__ import annotations

import json
import random
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import BAD_INPUT, BadInput
from lab.drill.act_expectations import OF_ACTS, SILENCES
from lab.drill.cluster import drawn_cluster_id, layouts_of
from lab.drill.disks import fail, log_dirs, mend, partitions_in
from lab.drill.glance import glance
from lab.drill.names import DrawnNames
from lab.drill.on_groups import do
from lab.drill.record import main as keep
from lab.drill.record import record
from lab.drill.run import choose, declared_windows, main, played_here, size_of
from lab.drill.scenarios import SCENARIOS
from lab.drill.scenarios.balance import BALANCE_SCENARIOS
from lab.drill.scenarios.brokers import BROKER_SCENARIOS
from lab.drill.scenarios.groups import GROUP_SCENARIOS
from lab.drill.scenarios.hosts import HOST_SCENARIOS
from lab.drill.scenarios.libraries import LIBRARY_SCENARIOS
from lab.drill.scenarios.logs import LOG_SCENARIOS
from lab.drill.scenarios.offsets import OFFSET_SCENARIOS
from lab.drill.scenarios.real import REAL_SCENARIOS
from lab.drill.scenarios.refusals import ACCESS_SCENARIOS
from lab.drill.scenarios.replicas import REPLICA_SCENARIOS
from lab.drill.scenarios.silences import SILENCE_SCENARIOS
from lab.drill.scenarios.stops import ALL_STOPPED_FOR_GOOD, STOP_SCENARIOS
from lab.drill.scenarios.transactions import TRANSACTION_SCENARIOS
from lab.drill.scenarios.uncommon import UNCOMMON_SCENARIOS
from lab.drill.scenarios.writes import WRITER_SCENARIOS
from lab.drill.steps import (
    Close,
    Gone,
    Kill,
    OnMember,
    Refuse,
    Start,
)
from lab.drill.steps_on_brokers import (
    FailDirectory,
    Halted,
    KillBroker,
    MendDirectories,
    OnBroker,
    PauseBroker,
    ResumeBroker,
    StartBroker,
    StopBroker,
    Throttle,
    Unthrottle,
)
from lab.drill.truth import read_truth
from lab.drill.truth_file import TruthFile
from tests.support.nights import EXCERPTS

ALL = (
    *GROUP_SCENARIOS,
    *UNCOMMON_SCENARIOS,
    *LIBRARY_SCENARIOS,
    *BROKER_SCENARIOS,
    *REPLICA_SCENARIOS,
    *REAL_SCENARIOS,
    *LOG_SCENARIOS,
    *HOST_SCENARIOS,
    *TRANSACTION_SCENARIOS,
    *ACCESS_SCENARIOS,
    *BALANCE_SCENARIOS,
    *WRITER_SCENARIOS,
    *SILENCE_SCENARIOS,
    *STOP_SCENARIOS,
    *OFFSET_SCENARIOS,
    ALL_STOPPED_FOR_GOOD,
)

DECLARED = {"at": "2026-11-24T08:01:00.000+00:00", "action": "maintenance_declared"}


def test_drawn_cluster_id_never_begins_with_dash() -> None:
    ids = [drawn_cluster_id(random.Random(seed)) for seed in range(1000)]
    assert {len(one) for one in ids} == {22}
    assert not [one for one in ids if one.startswith("-")]


def test_scenarios_have_unique_names_and_a_sentence() -> None:
    assert len(SCENARIOS) == len(ALL)
    assert all(s.sentence.endswith(".") for s in ALL)


def test_expectations_of_scenarios_can_be_scored() -> None:
    assert {step.expect for scenario in ALL for step in scenario.steps if step.expect} <= OF_ACTS.keys()


def test_every_step_of_scenarios_can_be_played() -> None:
    kinds = {type(step) for scenario in ALL for step in scenario.steps}
    assert {kind.__name__ for kind in kinds if do.dispatch(kind) is do.dispatch(object)} == set()


def test_member_is_started_before_its_steps_and_gone_at_end() -> None:
    for scenario in ALL:
        alive: set[str] = set()
        for step in (s for s in scenario.steps if isinstance(s, OnMember)):
            if isinstance(step, Start):
                assert step.member not in alive, (scenario.name, step)
                alive.add(step.member)
            else:
                assert step.member in alive, (scenario.name, step)
            if isinstance(step, (Close, Kill, Refuse)):
                alive.discard(step.member)
        assert not alive, scenario.name


def test_silent_end_of_member_is_waited_for_unless_it_comes_back_in_time() -> None:
    for scenario in ALL:
        for step, after in zip(scenario.steps, (*scenario.steps[1:], None)):
            if (isinstance(step, Kill) and step.expect not in SILENCES) or (
                isinstance(step, Close) and step.expect in SILENCES
            ):
                is_back = isinstance(after, Start) and after.member == step.member
                assert is_back or after == Gone(member=step.member), (scenario.name, step)


TAKES: dict[str, tuple[type[OnBroker], ...]] = {
    "process": (KillBroker, StopBroker, PauseBroker, Halted),
    "disk": (FailDirectory,),
    "speed": (Throttle,),
}
GIVES: dict[str, tuple[type[OnBroker], ...]] = {
    "process": (StartBroker, ResumeBroker),
    "disk": (MendDirectories,),
    "speed": (Unthrottle,),
}


def test_broker_faults_are_undone_within_scenario() -> None:
    for scenario in (s for s in ALL if not s.is_for_good):
        taken: list[tuple[str, str]] = []
        for step in (s for s in scenario.steps if isinstance(s, OnBroker)):
            for what, begins in TAKES.items():
                if isinstance(step, begins):
                    taken.append((step.broker, what))
            for what, gives in GIVES.items():
                if isinstance(step, gives):
                    taken = [t for t in taken if t != (step.broker, what)]
        assert taken == [], scenario.name


def test_failed_disk_loses_partitions_until_mended(tmp_path: Path) -> None:
    for directory in log_dirs(tmp_path, 2):
        (directory / "orders-eu-3").mkdir(parents=True)
    (tmp_path / "broker-2-b" / "__cluster_metadata-0").mkdir()
    (tmp_path / "broker-2-b" / "t-1.abc-future").mkdir()
    failed = log_dirs(tmp_path, 2, "data")
    assert partitions_in(failed) == {("orders-eu", 3)}
    fail(failed)
    assert not (failed[0] / "orders-eu-3").exists() and (tmp_path / "broker-2" / "orders-eu-3").exists()
    with pytest.raises(OSError):
        (failed[0] / "new-0").mkdir(parents=True)
    assert mend(log_dirs(tmp_path, 2)) and not mend(log_dirs(tmp_path, 2))
    assert partitions_in(failed) == {("orders-eu", 3)}


def test_glance_gives_verdicts_of_audit() -> None:
    group = EXCERPTS / "groups" / "pause-4.1"
    causes = [(r.cause, r.confidence) for r in glance(group / "logs", group / "clients").rebalances]
    assert ("heartbeat_expired", "certain") in causes
    verdicts = glance(EXCERPTS / "crash-2.8", EXCERPTS / "nothing")
    assert [o.kind for o in verdicts.broker_outages] == ["crash"]
    assert {f.kind for f in verdicts.failovers} == {"broker_crash"}


def test_drill_plays_scenarios_of_its_kafka_version() -> None:
    names = {s.name for s in choose("", "2.8.2", "zookeeper")}
    assert "crash" in names and "controller_killed" in names
    assert not {"consumer_protocol", "controller_lost", "sync_timeout"} & names
    assert "sync_timeout" in {s.name for s in choose("", "4.3.1", "combined")}
    assert "quorum_killed" not in {s.name for s in choose("", "4.3.1", "combined")}
    real = {s.name for s in choose("real", "2.6.3", "zookeeper")}
    assert {"start_port_in_use", "start_loop"} <= real and not {"rolled_to_newer", "quorum_killed"} & real
    assert {"crash", "quorum_killed"} <= {s.name for s in choose("all", "4.3.1", "combined")}
    assert [s.name for s in choose("slow, leave", "4.3.1", "combined")] == ["slow", "leave"]
    assert "disk_failed" in {s.name for s in choose("", "3.3.2", "zookeeper")}
    assert "disk_failed" not in {s.name for s in choose("", "3.3.2", "combined")}
    stops = [s.name for s in choose("stops", "2.8.2", "zookeeper")]
    assert stops == ["stopped", "all_stopped", "drained", "maintenance", "stopped_for_good"]
    assert set(stops) <= names
    assert "all_stopped_for_good" not in {s.name for s in choose("all", "4.3.1", "combined")}
    assert [s.name for s in choose("all_stopped_for_good", "4.3.1", "combined")] == ["all_stopped_for_good"]
    offsets = {s.name for s in choose("offsets", "2.8.2", "zookeeper")}
    assert {"retention_passed", "log_cut"} <= offsets and "crash_before_commit_by_brokers" not in offsets
    assert not offsets & {s.name for s in choose("all", "2.8.2", "zookeeper")}
    assert "quorum_killed" in {s.name for s in choose("real", "4.3.1", "combined", 3)}
    assert "quorum_killed" not in {s.name for s in choose("real", "4.3.1", "combined", 5)}


def test_drill_has_three_brokers_by_default() -> None:
    assert [size_of(asked) for asked in ("", "3", "5")] == [3, 3, 5]
    for asked in ("2", "34", "five"):
        with pytest.raises(BadInput, match=f"Found: {asked} brokers"):
            size_of(asked)


def test_scenarios_without_client_toolchain_are_left_out_and_named(monkeypatch, capsys) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    asked = choose("leave, franz_go, kafkajs", "4.3.1", "combined")
    assert [s.name for s in played_here(asked)] == ["leave"]
    output = capsys.readouterr().err
    assert "Members of franz-go are left out. Found: no program go." in output
    assert "Members of kafkajs are left out. Found: no program npm." in output
    with pytest.raises(BadInput, match="no program go"):
        played_here(choose("sarama", "4.3.1", "combined"))


@pytest.mark.parametrize(
    ("names", "version", "layout", "sentence"),
    [
        ("crash,crush", "4.3.1", "combined", "crush"),
        ("consumer_protocol", "3.9.2", "combined", "cannot play consumer_protocol"),
        ("controller_lost", "4.3.1", "combined", "cannot play controller_lost"),
    ],
)
def test_unplayable_scenario_is_refused_by_name(names: str, version: str, layout: str, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        choose(names, version, layout)


def test_kafka_version_has_usual_layout_first() -> None:
    assert layouts_of("2.6.3") == ("zookeeper",)
    assert layouts_of("3.0.2")[0] == "zookeeper" and "combined" in layouts_of("3.0.2")
    assert layouts_of("3.9.2")[0] == "combined" and "zookeeper" in layouts_of("3.3.2")
    assert "zookeeper" not in layouts_of("4.0.0")


@pytest.mark.parametrize("options", [["--kafka", "1.1"], ["--seed", "x"], ["--lesson", "cooking"]])
def test_impossible_drill_is_refused_before_start(options: list[str]) -> None:
    assert main(options) == BAD_INPUT


def test_seed_decides_names() -> None:
    def drawn(seed: int) -> list[str]:
        names = DrawnNames(random.Random(seed))
        return [named for _ in range(50) for named in (names.group(), names.topic(), names.client("g"))]

    assert drawn(1) == drawn(1)
    assert len(set(drawn(1))) == 150
    assert len(set(drawn(1)) & set(drawn(2))) < 15


def test_truth_is_readable_at_once_and_can_withdraw_expectation(tmp_path: Path) -> None:
    truth = TruthFile(tmp_path / "truth.jsonl")
    row = truth.write("topic_deleted", group="g", topic="t", expect="topic_deleted", client=None)
    [act] = read_truth((tmp_path / "truth.jsonl").read_text().splitlines())
    assert (act.expect, act.group, act.topic, act.client) == ("topic_deleted", "g", "t", None)
    truth.withdraw(row, "nothing followed")
    [line] = (tmp_path / "truth.jsonl").read_text().splitlines()
    assert "expect" not in json.loads(line) and json.loads(line)["note"] == "nothing followed"


def test_maintenance_of_drill_becomes_audit_setting(tmp_path: Path) -> None:
    rows = (
        {"at": "2026-11-24T08:00:00.000+00:00", "action": "cluster_up"},
        {
            **DECLARED,
            "from": "2026-11-24T08:01:00.000+00:00",
            "to": "2026-11-24T08:02:00.000+00:00",
            "reason": "a disk",
        },
        {**DECLARED, "from": "2026-11-24T08:05:00.000+00:00", "reason": "not ended"},
        {"at": "2026-11-24T08:09:00.000+00:00", "action": "end"},
    )
    assert declared_windows([json.dumps(row) for row in rows]) == (
        "2026-11-24T08:01:00.000+00:00/2026-11-24T08:02:00.000+00:00 a disk;"
        "2026-11-24T08:05:00.000+00:00/2026-11-24T08:09:00.000+00:00 not ended"
    )
    assert declared_windows([json.dumps(rows[0])]) == ""


def _drill(folder: Path) -> Path:
    """A drill's folder with this machine's paths in every file that a recording keeps."""
    here = f"{folder.resolve()}/data {HOME}/.kafka/lib.jar {Path.home()}/x"
    files = {
        "logs/broker-1/server.log": f"[2026-11-21 01:02:03,004] INFO logs in {here} (kafka.log)\n\x85raw \x00\n",
        "clients/a.log": f"classpath {here}\r\n",
        "snapshots.jsonl": "{}\n",
        "truth.jsonl": '{"at": "2026-11-21T00:00:00+00:00", "action": "end"}\n',
        "cluster.json": json.dumps({"log.dirs": here}),
        "canary.jsonl": "{}\n",
        "canary.log": "not kept",
        "data/broker-1/secret.bin": "not kept",
        "drill.log": "not kept",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (folder / "logs/broker-1/server.log").open("ab").write(b"\xff\xfe not UTF-8\n")
    return folder


def _texts(folder: Path) -> Iterator[bytes]:
    return (p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file())


def test_recording_keeps_every_line_without_local_paths(tmp_path: Path) -> None:
    drill = _drill(tmp_path / "drill")
    kept = record(drill, tmp_path / "kept" / "night")
    files = {str(p.relative_to(kept)) for p in kept.rglob("*") if p.is_file()}
    whole = {"snapshots.jsonl", "truth.jsonl", "cluster.json", "canary.jsonl"}
    assert files == {"logs/broker-1/server.log", "clients/a.log", *whole}
    for path in (str(tmp_path), str(HOME), f"{Path.home()}/x"):
        assert not any(path.encode() in text for text in _texts(kept)), path
    log = (kept / "logs/broker-1/server.log").read_bytes()
    assert b"logs in /kafka/data /opt/hindsight/.kafka/lib.jar" in log
    assert log.endswith(b"\xc2\x85raw \x00\n\xff\xfe not UTF-8\n")
    assert (kept / "clients/a.log").read_bytes().endswith(b"\r\n")


def test_packed_recording_equals_folder_and_names_no_user(tmp_path: Path) -> None:
    drill = _drill(tmp_path / "drill")
    kept = record(drill, tmp_path / "night")
    packed = record(drill, tmp_path / "packed" / "night.tar.gz")
    with tarfile.open(packed) as archive:
        assert {m.uname for m in archive} == {"kafka"}
        archive.extractall(tmp_path / "out", filter="data")
    assert list(_texts(tmp_path / "out" / "night")) == list(_texts(kept))


def test_recording_needs_input_and_a_new_target(tmp_path: Path) -> None:
    drill = _drill(tmp_path / "drill")
    record(drill, tmp_path / "night")
    with pytest.raises(BadInput, match="exists already"):
        record(drill, tmp_path / "night")
    with pytest.raises(BadInput, match="no logs and no truth"):
        record(tmp_path / "nothing", tmp_path / "other")


def test_record_command_prints_target_and_refuses_existing_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(tmp_path / "night"), "--drill", str(_drill(tmp_path / "drill"))]
    keep(words)
    assert capsys.readouterr().out == f"{tmp_path / 'night'}\n"
    with pytest.raises(SystemExit) as end:
        keep(words)
    assert end.value.code == BAD_INPUT
    assert "exists already" in capsys.readouterr().err
