"""The two classic exercises, step by step, for a person: what Kafka says, and what Hindsight makes of it."""

from __future__ import annotations

import contextlib
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kafka_hindsight.catalog.rows import BrokerOutage, Failover, Rebalance
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.shared.plain import visible
from lab.drill.admin import Admin, AdminFault
from lab.drill.cluster import DrillCluster
from lab.drill.glance import glance
from lab.drill.libraries import JAVA
from lab.drill.names import DrawnNames
from lab.drill.on_groups import do
from lab.drill.scene import DrillStage, Scene
from lab.drill.steps import Close, DrillStep, Gone, Kill, Scenario, Start, Wait
from lab.drill.steps_on_brokers import Detected, InSync, KillBroker, PreferredElection, StartBroker
from lab.drill.truth_file import TruthFile

_TOPIC = "orders"
_SESSION = {"session.timeout.ms": "8000", "heartbeat.interval.ms": "2000"}
_TOLD_WITHIN = 10


@dataclass(frozen=True)
class LessonStep:
    """One step of a lesson. `sentence`: what is done and why; `look`: the group or topic to look at afterwards."""

    sentence: str
    steps: tuple[DrillStep, ...]
    look: str


FAILOVER = (
    LessonStep(
        "Three brokers run. A topic with three replicas has a leader for each partition; the others follow.", (), "t"
    ),
    LessonStep(
        "The broker that leads partition 0 is killed. Watch the leader and the ISR, the replicas that are in sync.",
        (KillBroker(broker="leader"), Detected(broker="leader")),
        "t",
    ),
    LessonStep(
        "It starts again and catches up. It is in the ISR and leads nothing: leaders do not move back at once.",
        (StartBroker(broker="leader"), InSync()),
        "t",
    ),
    LessonStep(
        "A preferred election gives each partition back to its first replica.",
        (PreferredElection(), Wait(seconds=3)),
        "t",
    ),
)
REBALANCE = (
    LessonStep("A group with one member: it owns every partition.", (Start(member="a", config=_SESSION),), "g"),
    LessonStep(
        "A second member joins. The group has a new generation, and each member owns half.",
        (Start(member="b", config=_SESSION),),
        "g",
    ),
    LessonStep(
        "The second member is killed. The coordinator waits until its session of 8 s has run out.",
        (Kill(member="b"), Gone(member="b")),
        "g",
    ),
    LessonStep("The first member closes. It says so, and the group is empty at once.", (Close(member="a"),), "g"),
)
LESSONS: Mapping[str, tuple[LessonStep, ...]] = {"failover": FAILOVER, "rebalance": REBALANCE}


def teach(lesson: str, version: str, layout: str) -> int:
    """Walk a person through a lesson; wait for Enter on a terminal, else run through.

    Raises BadInput where there is no such lesson.
    """
    if lesson not in LESSONS:
        raise BadInput(f"Found: lesson {lesson}. Needed: one of {', '.join(LESSONS)}.")
    with _classroom(version, layout) as room:
        for number, page in enumerate(LESSONS[lesson], start=1):
            room.show(number, page)
    return DONE


@dataclass
class Classroom:
    """A running cluster, and what has been shown of it so far."""

    scene: Scene
    say: Callable[[str], None]
    printed_lines: set[str] = field(default_factory=set)

    def show(self, number: int, page: LessonStep) -> None:
        """Do one step, then show what Kafka says and what Hindsight makes of it."""
        self.say(f"\n{number}. {page.sentence}")
        _wait_for_enter()
        for step in page.steps:
            do(step, self.scene)
        self.say("\n   Kafka says:")
        for line in self._group() if page.look == "g" else self._topic():
            self.say(f"      {line}")
        if page.steps:
            self.say("\n   Hindsight says:")
            for line in self._verdicts():
                self.say(f"      {visible(line)}")

    def _topic(self) -> Iterator[str]:
        for p in (p for p in self.scene.stage.admin.topics() if p.topic == _TOPIC):
            replicas, isr = (",".join(map(str, ids)) for ids in (p.replicas, p.isr))
            yield f"Topic: {p.topic}  Partition: {p.partition}  Leader: {p.leader}  Replicas: {replicas}  Isr: {isr}"

    def _group(self) -> Iterator[str]:
        with contextlib.suppress(AdminFault):
            group = self.scene.stage.admin.group(self.scene.group)
            yield f"Group: {self.scene.group}  State: {group.state}  Coordinator: broker {group.coordinator}"
            yield f"Generation: {self.scene.newest_generation()}  Members: {len(group.members)}"
            yield from (f"Client: {m}  Owns: {', '.join(o) or 'nothing'}" for m, o in zip(group.members, group.owns))

    def _verdicts(self) -> Sequence[str]:
        """The new lines since the last step. A log takes a moment to be written."""
        for _ in range(_TOLD_WITHIN):
            new = [line for line in self._lines() if line not in self.printed_lines]
            if new:
                self.printed_lines.update(new)
                return new
            time.sleep(1)
        return ["nothing new: no leader changed and no group rebalanced."]

    def _lines(self) -> Iterator[str]:
        tables = glance(self.scene.stage.cluster.logs, self.scene.stage.clients)
        yield from (_outage(o) for o in tables.broker_outages)
        yield from (_failover(f) for f in tables.failovers if f.topic == _TOPIC)
        yield from (_rebalance(r) for r in tables.rebalances if r.group_id == self.scene.group)


def _outage(row: BrokerOutage) -> str:
    return f"Outage of broker {row.broker}: {row.kind} ({row.confidence}). {row.explanation}"


def _failover(row: Failover) -> str:
    return f"Failover of {row.topic}-{row.partition}: {row.kind} ({row.confidence}). {row.explanation}"


def _rebalance(row: Rebalance) -> str:
    verdict = f"{row.cause} ({row.confidence}). {row.explanation}"
    return f"Rebalance, generation {row.from_generation} to {row.to_generation}: {verdict}"


@contextlib.contextmanager
def _classroom(version: str, layout: str) -> Iterator[Classroom]:
    with tempfile.TemporaryDirectory(prefix="lesson-") as temporary:
        folder = Path(temporary)
        (folder / "clients").mkdir()
        _say(f"Starting three brokers of Kafka {version} ({layout}) ...")
        with (
            DrillCluster.start(version, folder / "cluster", layout) as cluster,
            Admin(cluster.reach(JAVA), folder / "admin.log") as admin,
        ):
            admin.create_topic(_TOPIC, partitions=3)
            rng = random.Random(1)
            truth = TruthFile(folder / "truth.jsonl")
            stage = DrillStage(cluster, admin, truth, folder / "clients", DrawnNames(rng), _TOPIC, _SESSION)
            scene = Scene(stage, Scenario("lesson", "", (), on_brokers=True), rng)
            do(InSync(), scene)
            scene.brokers["leader"] = next(p.leader for p in admin.topics() if (p.topic, p.partition) == (_TOPIC, 0))
            try:
                yield Classroom(scene, _say)
            finally:
                for member in scene.members.values():
                    member.end()


def _say(text: str) -> None:
    print(text, flush=True)


def _wait_for_enter() -> None:
    if sys.stdin is not None and sys.stdin.isatty():
        input("   Press Enter to go on. ")
