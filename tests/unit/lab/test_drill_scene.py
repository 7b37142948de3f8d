"""What a scene does to its canaries, and to brokers that all stop, without a cluster."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import cast
from unittest.mock import Mock

import pytest

import lab.drill.on_brokers
import lab.drill.on_offsets  # noqa: F401  (they teach `do` steps)
from lab.drill.cluster import DrillCluster
from lab.drill.names import DrawnNames
from lab.drill.node import ClusterFault, Node
from lab.drill.on_groups import do
from lab.drill.producers import CanaryProgram
from lab.drill.scenarios import SCENARIOS
from lab.drill.scene import DrillStage, Scene, SceneFault
from lab.drill.steps import AddPartitions, CreateTopic, DeleteTopic
from lab.drill.steps_on_brokers import StopAll
from lab.drill.steps_on_offsets import Jumped, Stood
from lab.drill.truth_file import TruthFile


class Watched:
    """Canaries that write down what they are asked for."""

    def __init__(self) -> None:
        self.orders: list[tuple[str, str, list[int]]] = []

    def watch(self, topic: str, partitions: range) -> None:
        self.orders.append(("watch", topic, [*partitions]))

    def leave(self, topic: str) -> None:
        self.orders.append(("leave", topic, []))

    def forget(self, topic: str) -> None:
        self.orders.append(("forget", topic, []))


def _scene_with_canaries(scenario: str, tmp_path: Path) -> tuple[Scene, Watched]:
    brokers = {i: Node(f"broker-{i}", (), tmp_path) for i in (1, 2, 3)}
    cluster = DrillCluster("4.3.1", "combined", tmp_path, tmp_path, "", {}, {}, brokers=brokers)
    truth, canaries = TruthFile(tmp_path / "truth.jsonl"), Watched()
    names = DrawnNames(random.Random(1))
    stage = DrillStage(cluster, Mock(), truth, tmp_path, names, "main", {}, canaries=cast("CanaryProgram", canaries))
    return Scene(stage, SCENARIOS[scenario], random.Random(1)), canaries


def test_created_and_added_partitions_get_canaries(tmp_path: Path) -> None:
    scene, canaries = _scene_with_canaries("partitions", tmp_path)
    for step in (CreateTopic(topic="t"), AddPartitions(topic="t", to=5), DeleteTopic(topic="t")):
        do(step, scene)
    scene.end()
    topic = scene.topic("t")
    assert canaries.orders == [("watch", topic, [0, 1, 2]), ("watch", topic, [3, 4]), ("forget", topic, [])]


@pytest.mark.parametrize(
    ("scenario", "watched"), [("unclean_election", [1]), ("truncation", [1]), ("partition_held", [1, 2, 3, 4, 5])]
)
def test_partition_with_counted_records_has_no_canaries(scenario: str, watched: list[int], tmp_path: Path) -> None:
    scene, canaries = _scene_with_canaries(scenario, tmp_path)
    do(next(s for s in scene.scenario.steps if isinstance(s, CreateTopic)), scene)
    assert [partitions for _, _, partitions in canaries.orders] == [watched]


def _printed(scene: Scene, *lines: str) -> None:
    """A member of the scene prints these lines of its topic."""
    scene.clients["a"] = "c"
    text = "".join(f"{at} read {scene.topic('t')}-0 {rest}\n" for at, rest in (line.split(" ", 1) for line in lines))
    (scene.stage.clients / "c.out").write_text(text)


def test_jump_is_written_as_members_printed_it(tmp_path: Path) -> None:
    scene, _ = _scene_with_canaries("sought", tmp_path)
    jumped = next(s for s in scene.scenario.steps if isinstance(s, Jumped))
    _printed(scene, "1796055424200 0 99 100", "1796055426200 30 99 70")
    do(jumped, scene)
    (act,) = scene.stage.truth.rows()
    assert {name: act[name] for name in ("offset_from", "offset_to", "records", "client", "expect")} == {
        "offset_from": 100, "offset_to": 30, "records": 70, "client": "c", "expect": "records_read_again",
    }  # fmt: skip
    _printed(scene, "1796055424200 0 99 100", "1796055426200 40 99 60")
    with pytest.raises(SceneFault, match=r"Needed: a jump from 100 to 30\."):
        do(replace(jumped, within=0.1), scene)


def test_partition_that_is_read_on_did_not_stand(tmp_path: Path) -> None:
    scene, _ = _scene_with_canaries("partition_held", tmp_path)
    scene.stage.admin.end_offset.return_value = 150  # type: ignore[attr-defined]
    held = scene.act("partition_held", group=scene.group)
    since = datetime.fromisoformat(held["at"]).timestamp() * 1000
    stood = next(s for s in scene.scenario.steps if isinstance(s, Stood))
    _printed(scene, f"{since - 500:.0f} 0 99 100")
    do(stood, scene)
    assert scene.stage.truth.rows()[-1]["offset"] == 100 and scene.stage.truth.rows()[-1]["waiting"] == 50
    _printed(scene, f"{since - 500:.0f} 0 99 100", f"{since + 9000:.0f} 100 109 10")
    with pytest.raises(SceneFault, match="Needed: it stands, some wait"):
        do(stood, scene)


def test_what_members_read_is_in_the_truth_at_the_end(tmp_path: Path) -> None:
    for scenario, actions in (("sought", ["records_read"]), ("held_by_transaction", [])):
        (tmp_path / scenario).mkdir()
        scene, _ = _scene_with_canaries(scenario, tmp_path / scenario)
        _printed(scene, "1796055424200 0 99 100")
        scene.end()
        assert [row["action"] for row in scene.stage.truth.rows()] == actions


def test_canaries_leave_with_scenario_unless_it_is_for_good(tmp_path: Path) -> None:
    for scenario, orders in (("subscription", ["watch", "leave"]), ("stopped_for_good", ["watch"])):
        (tmp_path / scenario).mkdir()
        scene, canaries = _scene_with_canaries(scenario, tmp_path / scenario)
        do(CreateTopic(topic="t"), scene)
        scene.end()
        assert [what for what, _, _ in canaries.orders] == orders


class Stopping:
    """A broker that ends when it is asked to, or does not."""

    def __init__(self, ends: bool) -> None:
        self.ends = ends

    def stop(self) -> None:
        if not self.ends:
            raise ClusterFault("broker-3 did not end within 60 s; it was killed.")


def test_broker_killed_during_stop_of_all_is_undecided(tmp_path: Path) -> None:
    scene, _ = _scene_with_canaries("all_stopped", tmp_path)
    scene.stage.cluster.brokers.update({i: cast("Node", Stopping(ends=i != 3)) for i in (1, 2, 3)})
    do(StopAll(), scene)
    rows = {row["broker"]: row for row in scene.stage.truth.rows()}
    assert {i: row.get("expect") for i, row in rows.items()} == {1: "failover_planned", 2: "failover_planned", 3: None}
    assert rows[3]["undecided"] == "failover_planned" and "was killed" in rows[3]["note"] and rows[3]["ended"]
