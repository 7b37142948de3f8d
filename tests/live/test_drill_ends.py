"""A drill ends whatever its members do: suspended ones hold nobody up, a stuck scenario is left, Ctrl-C ends all."""

from __future__ import annotations

import gc
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from py4j.protocol import Py4JNetworkError

from kafka_hindsight.settings.home import HOME
from lab.drill.admin import Admin
from lab.drill.cluster import DrillCluster
from lab.drill.jars import NEWEST, libs
from lab.drill.java import Jvm
from lab.drill.members import JavaMember
from lab.drill.names import DrawnNames
from lab.drill.node import ClusterFault, Node
from lab.drill.on_groups import do
from lab.drill.play import play_one
from lab.drill.scene import DrillStage, Scene
from lab.drill.steps import DrillStep, Scenario, Start, Wait
from lab.drill.truth_file import TruthFile
from tests.support.live import comes

SOON = 10


@contextmanager
def _jvm(folder: Path, answers_within: float = 60) -> Iterator[Jvm]:
    jvm = Jvm(libs(NEWEST), NEWEST, folder / "client.log", answers_within)
    try:
        yield jvm
    finally:
        jvm.end()


def _ends_soon(call: Any) -> None:
    done: Future[Any] = Future()
    threading.Thread(target=lambda: done.set_result(call()), daemon=True).start()
    assert wait([done], SOON).done


def test_garbage_collection_calls_no_suspended_jvm(tmp_path: Path) -> None:
    with _jvm(tmp_path) as suspended, _jvm(tmp_path) as other:
        made = [suspended.java.java.util.ArrayList() for _ in range(20)]
        suspended.signal(signal.SIGSTOP)

        def call_the_other() -> int:
            made.clear()
            gc.collect()
            return int(other.java.java.lang.Math.abs(-3))

        _ends_soon(call_the_other)


def test_call_to_suspended_jvm_times_out(tmp_path: Path) -> None:
    with _jvm(tmp_path, answers_within=1) as jvm:
        jvm.signal(signal.SIGSTOP)
        with pytest.raises(Py4JNetworkError):
            jvm.java.java.lang.Math.abs(-3)


def test_forgotten_java_objects_are_freed(tmp_path: Path) -> None:
    with _jvm(tmp_path) as jvm:
        for _ in range(30):  # 300 MB in a JVM of 96
            jvm.forget(jvm.java.java.nio.ByteBuffer.allocate(10_000_000))


def test_suspended_member_can_be_ended(tmp_path: Path) -> None:
    member = JavaMember(libs(NEWEST), NEWEST, tmp_path / "m.log", {"client.id": "m", "group.id": "g"}, ["t"])
    member.join()
    member.pause()
    _ends_soon(member.end)


class Stuck(DrillStep):
    """Waits for what never comes, and for nobody."""


@do.register
def _(step: Stuck, scene: Scene) -> None:
    time.sleep(60)


def _scene(folder: Path, *steps: DrillStep) -> Scene:
    """A scene beside three brokers that do not run: none of these steps needs one."""
    brokers = {i: Node(f"broker-{i}", (), folder) for i in (1, 2, 3)}
    ports = {node.name: 1 for node in brokers.values()}
    cluster = DrillCluster(NEWEST, "combined", folder, libs(NEWEST), "", {}, ports, brokers=brokers)
    names = DrawnNames(random.Random(1))
    truth = TruthFile(folder / "truth.jsonl")
    stage = DrillStage(cluster, cast("Admin", None), truth, folder, names, "main", {"session.timeout.ms": "6000"})
    return Scene(stage, Scenario("long", "It takes too long.", steps), random.Random(1))


def test_overlong_scenario_is_ended_with_its_members_and_reported(tmp_path: Path) -> None:
    sentences: list[str] = []
    scene = _scene(tmp_path, Start(member="a", settles=False), Wait(seconds=60))
    played = play_one(scene, sentences.append, longest=8)
    assert played.fault == "It took longer than 8 s." and played.fault in sentences[-1]
    assert played.seconds < 8 + SOON
    assert not cast("JavaMember", scene.members["a"])._jvm.is_running()


def test_scenario_that_cannot_be_ended_is_left_behind(tmp_path: Path) -> None:
    sentences: list[str] = []
    played = play_one(_scene(tmp_path, Stuck()), sentences.append, longest=0.2, ends_within=0.2)
    assert "left behind" in str(played.fault) and str(played.fault) in sentences[-1]


def test_unexpected_exception_leaves_scenario(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="Step"):
        play_one(_scene(tmp_path, DrillStep()), lambda _: None)


def test_ctrl_c_ends_drill_in_seconds_and_leaves_no_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lab.drill.run", "--scenarios", "pause,slow,crash_librdkafka", "--no-audit"]
    mark = f"DRILL_TEST={tmp_path}"
    environment = {**os.environ, "DRILL_TEST": str(tmp_path)}
    # A shell that runs the tests in the background has them, and what they start, ignore Ctrl-C.
    hears = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    drill = subprocess.Popen(command, cwd=HOME, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=hears)
    assert drill.stderr
    for line in drill.stderr:
        if "begins in group" in line:
            break
    assert comes(lambda: len(_processes_with(mark)) > 4)
    drill.send_signal(signal.SIGINT)
    _, output = drill.communicate()
    assert "Stopped." in output and drill.returncode == 130
    assert _processes_with(mark) == []


def _processes_with(mark: str) -> list[str]:
    commands = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                commands.append((process / "cmdline").read_text()[:200])
        except OSError:
            continue
    return commands


def test_drill_continues_where_brokers_do_not_come_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(_: Scene) -> None:
        raise ClusterFault("broker-2 ended meanwhile")

    monkeypatch.setattr(Scene, "end", end)
    played = play_one(_scene(tmp_path, Wait(seconds=0)), lambda _: None)
    assert played.fault == "What it had stopped did not come back: broker-2 ended meanwhile"
