"""Scenarios played on a running cluster: groups side by side in lanes, brokers afterwards, one at a time."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import drill.on_brokers
import drill.on_replicas  # noqa: F401  (both teach `do` steps)
from drill.admin import AdminFault
from drill.cluster import ClusterFault
from drill.members import MemberFault
from drill.on_groups import do
from drill.scene import Scene, SceneFault, Stage
from drill.steps import Scenario
from drill.steps_on_brokers import InSync

LANES = 3
_APART = (1.0, 4.0)

FAULTS = (SceneFault, AdminFault, MemberFault, ClusterFault)
"""How a scenario can come to an early end."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Played:
    """How a scenario went. `fault`: why it came not to its end; None where it did."""

    name: str
    seconds: float
    fault: str | None


def play(stage: Stage, scenarios: Sequence[Scenario], rng: random.Random, tell: Tell) -> list[Played]:
    """Plays scenarios in an order that the seed gives.

    Gives: one entry for each. Acts of a scenario that failed stay in the truth, but for the last one's expectation:
    what it did is not known.
    """
    on_groups = [s for s in scenarios if not s.on_brokers]
    on_brokers = [s for s in scenarios if s.on_brokers]
    rng.shuffle(on_groups)
    rng.shuffle(on_brokers)
    scenes = {s.name: Scene(stage, s, random.Random(rng.getrandbits(32))) for s in (*on_groups, *on_brokers)}
    with ThreadPoolExecutor(LANES) as lanes:
        waiting = []
        try:
            for scenario in on_groups:
                waiting.append(lanes.submit(play_one, scenes[scenario.name], tell))
                if len(waiting) < LANES:
                    time.sleep(rng.uniform(*_APART))
            played = [w.result() for w in waiting]
        except BaseException:
            stage.over.set()
            lanes.shutdown(cancel_futures=True)
            raise
    for scenario in on_brokers:
        played.append(play_one(scenes[scenario.name], tell))
        time.sleep(rng.uniform(*_APART))
    return played


def play_one(scene: Scene, tell: Tell) -> Played:
    """Plays one scenario to its end, or to where it fails."""
    began = time.monotonic()
    name = scene.scenario.name
    tell(f"{name} begins in group {scene.group}: {scene.scenario.sentence}")
    fault = None
    try:
        if scene.scenario.on_brokers:
            do(InSync(), scene)
        scene.stage.truth.write("scenario", name=name)
        for step in scene.scenario.steps:
            do(step, scene)
    except FAULTS as failed:
        fault = str(failed)
        scene.abandon(fault)
    except BaseException:
        scene.stage.over.set()
        raise
    finally:
        scene.end()
    played = Played(name, time.monotonic() - began, fault)
    tell(f"{name} {'FAILED: ' + fault if fault else 'done'} ({played.seconds:.0f} s)")
    return played


def tell(text: str) -> None:
    """A line of progress for people."""
    print(f"{time.strftime('%H:%M:%S', time.gmtime())}  {text}", file=sys.stderr, flush=True)
