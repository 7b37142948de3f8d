"""How what is done to disks and replicas is done, and how what follows is written down."""

from __future__ import annotations

from datetime import UTC, datetime

from lab.drill import disks
from lab.drill.admin import LivePartition
from lab.drill.on_groups import do
from lab.drill.scene import Scene, SceneFault
from lab.drill.steps_on_brokers import (
    Balanced,
    FailDirectory,
    Halted,
    Lapsed,
    MendDirectories,
    Rolled,
    StillOut,
    TakenOver,
    Throttle,
    Undershot,
    Unled,
    Unthrottle,
)

_NEXT_TO_NOTHING = 1
_FREELY = 1_000_000_000
_LOOKS_WITHIN = 10.0
_SEEN_OUT = "replica_seen_out"


@do.register
def _(step: FailDirectory, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    directories = scene.stage.cluster.log_dirs(broker, step.directory)
    places_on_disk = disks.partitions_in(directories)
    places_led = sorted((p.topic, p.partition) for p in scene.stage.admin.topics() if p.leader == broker)
    scene.failed_partitions[broker] = [place for place in places_led if place in places_on_disk]
    if step.directory == "data" and not scene.failed_partitions[broker]:
        raise SceneFault(f"Needed: a partition led by broker {broker} in {directories[0].name}. Found: none.")
    scene.act(
        "log_dir_failed",
        broker=broker,
        expect=step.expect,
        directory=step.directory,
        led=scene.failed_partitions[broker],
    )
    disks.fail(directories)


@do.register
def _(step: Unled, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    failures = scene.failed_partitions[broker]
    scene.wait_for_partitions(
        lambda partitions: not any(p.leader == broker and (p.topic, p.partition) in failures for p in partitions),
        f"broker {broker} leads nothing of what its failed directory holds",
        step.within,
    )


@do.register
def _(step: Halted, scene: Scene) -> None:
    scene.wait_for_end(scene.stage.cluster.broker(scene.broker(step.broker)), step.within)


@do.register
def _(step: MendDirectories, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    scene.act("log_dirs_mended", broker=broker, expect=step.expect)
    disks.mend(scene.stage.cluster.log_dirs(broker))


@do.register
def _(step: Throttle, scene: Scene) -> None:
    broker, topic = scene.broker(step.broker), scene.topic(step.topic)
    scene.act("replica_throttled", broker=broker, topic=topic, partition=0, expect=step.expect)
    scene.stage.admin.throttle(topic, broker, _NEXT_TO_NOTHING)


@do.register
def _(step: Unthrottle, scene: Scene) -> None:
    broker, topic = scene.broker(step.broker), scene.topic(step.topic)
    scene.act("replica_unthrottled", broker=broker, topic=topic, partition=0, expect=step.expect)
    scene.stage.admin.throttle(topic, broker, _FREELY)


@do.register
def _(step: StillOut, scene: Scene) -> None:
    broker, topic = scene.broker(step.broker), scene.topic(step.topic)
    out: list[int] = []

    def is_listed(partitions: tuple[LivePartition, ...]) -> bool:
        out[:] = [p.partition for p in partitions if p.topic == topic and broker not in p.isr]
        return bool(partitions)

    scene.wait_for_partitions(is_listed, "the ISR of each partition", _LOOKS_WITHIN)
    scene.act(_SEEN_OUT, broker=broker, topic=topic, partitions=out)


@do.register
def _(step: Lapsed, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    paused = [row["at"] for row in scene.stage.truth.rows() if row["action"] == "broker_sigstop"]
    if not scene.wait_for_lapse(topic, datetime.fromisoformat(paused[-1]), step.within):
        raise SceneFault(f"Needed within {step.within:.0f} s: {topic}-0 loses a replica from its ISR. It did not.")


@do.register
def _(step: Rolled, scene: Scene) -> None:
    order, early = ([scene.broker(role) for role in roles] for roles in (step.order, step.too_early))
    looks = [row["partitions"] for row in scene.stage.truth.rows() if row["action"] == _SEEN_OUT]
    if not any(looks[-1:]):
        early = []
    scene.act("brokers_rolled", brokers=order, too_early=early, expect=step.expect)


@do.register
def _(step: Balanced, scene: Scene) -> None:
    """The act is placed at the last look but one that saw a leader elsewhere: a look may take seconds."""
    topic = scene.stage.main
    elsewhere: list[int] = []
    seen_at = ["", ""]

    def is_balanced(partitions: tuple[LivePartition, ...]) -> bool:
        now = [p.partition for p in partitions if p.topic == topic and p.leader != p.replicas[0]]
        if now:
            elsewhere[:], seen_at[:] = now, [seen_at[1], datetime.now(UTC).isoformat(timespec="milliseconds")]
        return not now

    scene.wait_for_partitions(is_balanced, f"every partition of {topic} led by its first replica", step.within)
    if not elsewhere:
        raise SceneFault(f"Needed: a partition of {topic} led by another than its first replica. Found: none.")
    scene.act("automatic_election", at=seen_at[0] or seen_at[1], topic=topic, partitions=elsewhere, expect=step.expect)


@do.register
def _(step: Undershot, scene: Scene) -> None:
    """It had too few at least from when it refused records until the broker was started again."""
    now = datetime.now(UTC)
    since = {row["action"]: now - datetime.fromisoformat(row["at"]) for row in scene.stage.truth.rows()}
    low, high = since["min_isr_violated"] - since["broker_start"], since["broker_kill9"]
    fields = {"low_ms": int(low.total_seconds() * 1000), "high_ms": int(high.total_seconds() * 1000)}
    scene.act("min_isr_undershot", topic=scene.topic(step.topic), partition=0, expect=step.expect, **fields)


@do.register
def _(step: TakenOver, scene: Scene) -> None:
    broker, topic = scene.broker(step.broker), scene.topic(step.topic)
    scene.wait_for_partitions(
        lambda partitions: any((p.topic, p.partition, p.leader) == (topic, 0, broker) for p in partitions),
        f"broker {broker} as the leader of {topic}-0",
        step.within,
    )
    missing = scene.record_counts.get(step.topic, 0) - scene.stage.admin.end_offset(topic, 0)
    scene.act("records_left_behind", topic=topic, partition=0, records=missing, expect=step.expect)
