"""Scenarios played on a running cluster: groups side by side in lanes, brokers afterwards, one at a time."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from subprocess import SubprocessError
from threading import Thread

from py4j.protocol import Py4JError

import lab.drill.on_brokers
import lab.drill.on_migration
import lab.drill.on_offsets
import lab.drill.on_replicas
import lab.drill.on_transactions
import lab.drill.on_writers  # noqa: F401  (they teach `do` steps)
from lab.drill import processes
from lab.drill.admin import AdminFault
from lab.drill.members import MemberFault
from lab.drill.node import ClusterFault
from lab.drill.on_groups import do
from lab.drill.scene import DrillStage, Scene, SceneFault
from lab.drill.steps import Scenario
from lab.drill.steps_on_brokers import InSync

LANES = 3
LONGEST = 900.0
"""Seconds. A scenario that takes longer is ended: the longest waits five minutes for the controller's own election."""
_ENDS_WITHIN = 300.0
"""What a scenario may take to put its brokers back. It is left behind where even this does not end."""
_APART = (1.0, 4.0)

FAULTS = (SceneFault, AdminFault, MemberFault, ClusterFault, Py4JError, SubprocessError)
"""How a scenario can come to an early end."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Played:
    """How a scenario went. `fault`: why it came not to its end; None where it did."""

    name: str
    seconds: float
    fault: str | None


def play(
    stage: DrillStage,
    scenarios: Sequence[Scenario],
    rng: random.Random,
    tell: Tell,
    lanes: int = LANES,
    longest: float = LONGEST,
) -> list[Played]:
    """Play scenarios in an order that the seed decides, so many groups side by side.

    Returns one entry for each. Acts of a scenario that failed stay in the truth, but for the last one's expectation:
    what it did is not known.
    """
    on_groups = [s for s in scenarios if not s.on_brokers]
    on_brokers = [s for s in scenarios if s.on_brokers]
    rng.shuffle(on_groups)
    rng.shuffle(on_brokers)
    on_brokers.sort(key=lambda scenario: (scenario.is_for_good, scenario.is_last))
    scenes = {s.name: Scene(stage, s, random.Random(rng.getrandbits(32))) for s in (*on_groups, *on_brokers)}
    threads = ThreadPoolExecutor(lanes)
    try:
        waiting = []
        for scenario in on_groups:
            waiting.append(threads.submit(play_one, scenes[scenario.name], tell, longest))
            if len(waiting) < lanes:
                time.sleep(rng.uniform(*_APART))
        played = [w.result() for w in waiting]
        for scenario in on_brokers:
            played.append(play_one(scenes[scenario.name], tell, longest))
            time.sleep(rng.uniform(*_APART))
    except BaseException:
        threads.shutdown(wait=False, cancel_futures=True)
        stage.over.set()
        for scene in scenes.values():
            scene.stop("The drill was stopped.")
        processes.kill_all()
        raise
    threads.shutdown()
    return played


def play_one(scene: Scene, tell: Tell, longest: float = LONGEST, ends_within: float = _ENDS_WITHIN) -> Played:
    """Play one scenario to its end, or to where it fails or exceeds its time."""
    played: Future[Played] = Future()
    Thread(target=_play_into, args=(played, scene, tell), name=scene.scenario.name, daemon=True).start()
    if not wait([played], longest).done:
        scene.stop(f"It took longer than {longest:.0f} s.")
    if not wait([played], ends_within).done:
        fault = f"{scene.stopped_for} It was left behind: it had not ended {ends_within:.0f} s later."
        tell(f"{scene.scenario.name} FAILED: {fault}")
        return Played(scene.scenario.name, longest + ends_within, fault)
    return played.result()


def _play_into(played: Future[Played], scene: Scene, tell: Tell) -> None:
    try:
        played.set_result(_play(scene, tell))
    except BaseException as unforeseen:
        played.set_exception(unforeseen)


def _play(scene: Scene, tell: Tell) -> Played:
    began = time.monotonic()
    name = scene.scenario.name
    tell(f"{name} begins in group {scene.group}: {scene.scenario.sentence}")
    fault = None
    try:
        if scene.scenario.on_brokers:
            do(InSync(), scene)
        if scene.stage.canaries and scene.scenario.is_for_good:
            scene.stage.canaries.sweep()  # Afterwards not every partition can be read.
        scene.stage.truth.write("scenario", name=name)
        for step in scene.scenario.steps:
            scene.rest(0)
            do(step, scene)
    except FAULTS as failed:
        fault = scene.stopped_for or str(failed)
        scene.abandon(fault)
    finally:
        fault = _end(scene) or fault
    played = Played(name, time.monotonic() - began, fault)
    tell(f"{name} {'FAILED: ' + fault if fault else 'done'} ({played.seconds:.0f} s)")
    return played


def _end(scene: Scene) -> str | None:
    """Restore everything, and go on where that fails: the next scenario tries again. Returns why it failed."""
    try:
        scene.end()
    except FAULTS as failed:
        return f"What it had stopped did not come back: {failed}"
    return None


def tell(text: str) -> None:
    """A line of progress for people."""
    print(f"{time.strftime('%H:%M:%S', time.gmtime())}  {text}", file=sys.stderr, flush=True)
