"""How what is done to brokers and partitions is done."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from kafka_hindsight.catalog.codes import StartFailure
from kafka_hindsight.shared.durations import MS
from lab.drill.acts import MAINTENANCE_DECLARED, START_ENDED
from lab.drill.admin import LivePartition
from lab.drill.cluster import SESSION_MS
from lab.drill.guards import BROKER, SECRET, Guard
from lab.drill.jars import NEWEST
from lab.drill.machine import clock_ahead
from lab.drill.node import ClusterFault
from lab.drill.on_groups import do
from lab.drill.scene import Scene, SceneFault
from lab.drill.spoil import SPOILS, other_than
from lab.drill.steps import SetTopic
from lab.drill.steps_on_brokers import (
    Advertise,
    CancelReassignment,
    Certify,
    DeclareMaintenance,
    Detected,
    EndMaintenance,
    FailStart,
    Imbalance,
    InSync,
    KillBroker,
    NewDisks,
    Offline,
    OnController,
    PauseBroker,
    PreferredElection,
    Produce,
    QuorumBack,
    Reassign,
    ResumeBroker,
    RotateLogs,
    SetClock,
    StartAll,
    StartBroker,
    StopAll,
    StopBroker,
    Upgrade,
    UsePassword,
    WithdrawBrokerPassword,
)

_ELECTS_WITHIN = 90
_FAILS_WITHIN = 120
_GOES = ("broker_kill9", "broker_controlled_shutdown", "broker_sigstop")
_COMES = ("broker_start", "broker_sigcont")


@do.register
def _(step: KillBroker, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    if step.broker == "coordinator":
        scene.stage.truth.write("coordinator_is", group=scene.group, broker=broker)
    _tell_controller(step.broker, scene)
    scene.act("broker_kill9", broker=broker, expect=step.expect)
    scene.stage.cluster.broker(broker).kill()


def _tell_controller(role: str, scene: Scene) -> None:
    """A broker that goes is the controller too: another one is due."""
    if role == "controller":
        scene.stage.truth.write("controller_goes", controller=scene.broker(role), expect="controller_change")


@do.register
def _(step: StopBroker, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    _tell_controller(step.broker, scene)
    _stop(broker, step.expect, scene)


def _stop(broker: int, expect: str | None, scene: Scene, is_killed_late: bool = False) -> None:
    act = scene.act("broker_controlled_shutdown", broker=broker, expect=expect)
    try:
        scene.stage.cluster.broker(broker).stop()
    except ClusterFault as fault:
        if not is_killed_late:
            raise
        scene.stage.truth.leave_open(act, str(fault))
    scene.stage.truth.amend(act, ended=_now())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@do.register
def _(step: StopAll, scene: Scene) -> None:
    """Stop all brokers at once.

    A KRaft broker that no controller answers waits for five minutes. It is killed before, as an orchestrator would.
    Source: BrokerServer.shutdown.
    """
    with ThreadPoolExecutor() as threads:
        stops = [threads.submit(_stop, broker, step.expect, scene, True) for broker in scene.stage.cluster.brokers]
    for stop in stops:
        stop.result()


@do.register
def _(step: StartAll, scene: Scene) -> None:
    for broker, node in scene.stage.cluster.brokers.items():
        scene.act("broker_start", broker=broker, expect=step.expect)
        node.start()
    scene.stage.cluster.wait_until_up()


@do.register
def _(step: DeclareMaintenance, scene: Scene) -> None:
    scene.maintenance = scene.act(MAINTENANCE_DECLARED, **{"from": _now()}, reason=step.reason, expect=step.expect)


@do.register
def _(step: EndMaintenance, scene: Scene) -> None:
    scene.stage.truth.amend(scene.maintenance, to=_now())


@do.register
def _(step: PauseBroker, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    _tell_controller(step.broker, scene)
    scene.act("broker_sigstop", broker=broker, expect=step.expect, undecided=step.undecided)
    scene.stage.cluster.broker(broker).pause()


@do.register
def _(step: ResumeBroker, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    scene.act("broker_sigcont", broker=broker, expect=step.expect)
    scene.stage.cluster.broker(broker).resume()


@do.register
def _(step: StartBroker, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    if step.uncleanly:
        _start_uncleanly(step.uncleanly, broker, scene)
        return
    scene.act("broker_start", broker=broker, expect=step.expect)
    node, cluster = scene.stage.cluster.broker(broker), scene.stage.cluster
    node.start()
    try:
        cluster.wait_until_up()
    except ClusterFault:
        if node.is_running():
            raise
        # On ZooKeeper a broker that is back before its former session is over finds its id taken, and ends.
        scene.act(START_ENDED, broker=broker)
        scene.rest(int(SESSION_MS) / 1000)
        node.start()
        cluster.wait_until_up()


def _start_uncleanly(topic: str, broker: int, scene: Scene) -> None:
    """The replica that is left behind comes up first; what it has not is lost, and counted.

    The count is exact for the audit too, since the leader before it comes back with its log.
    """
    name = scene.topic(topic)
    forced = scene.act("unclean_election_forced", topic=name, expect="unclean_election", lost_replica=scene.broker("x"))
    scene.act("broker_start", broker=broker)
    scene.stage.cluster.broker(broker).start()
    try:
        scene.wait_for_partitions(
            lambda partitions: all(p.leader == broker for p in partitions if p.topic == name),
            f"broker {broker} as the leader of {name}",
            _ELECTS_WITHIN,
        )
    except SceneFault as fault:
        scene.stage.truth.leave_open(forced, str(fault))
        raise
    record_count = scene.record_counts.get(topic, 0) - scene.stage.admin.end_offset(name, 0)
    scene.stage.truth.amend(forced, lost_records={"0": record_count})
    fields = {"topic": name, "partition": 0, "lost": record_count, "is_exact": True}
    scene.stage.truth.write("records_lost", at=forced["at"], expect="records_lost", **fields)


_ERRORS = ("] ERROR ", "] FATAL ")


@do.register
def _(step: FailStart, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    node = scene.stage.cluster.broker(broker)
    owner = other_than(scene.stage.cluster, broker) if step.why == StartFailure.ID_TAKEN else None
    about = {"broker": broker, "why": step.why, "times": step.times, "taken": owner}
    failing = scene.act("broker_starts_fail", **about, expect=step.expect)
    logs = scene.stage.cluster.logs / node.name
    before = _errors_in(logs)
    with SPOILS[step.why](scene.stage.cluster, broker):
        try:
            for _ in range(step.times):
                node.start()
                scene.wait_for_end(node, _FAILS_WITHIN)
        finally:
            if node.is_running():
                node.kill()
    if _errors_in(logs) == before:
        scene.stage.truth.withdraw(failing, "the process ended before it wrote what failed")


def _errors_in(folder: Path) -> int:
    """How many lines of a node's logs report an error."""
    lines = (line for file in folder.rglob("*.log*") for line in file.read_text(errors="replace").splitlines())
    return sum(any(level in line for level in _ERRORS) for line in lines)


@do.register
def _(step: NewDisks, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    scene.act("broker_disks_renewed", broker=broker, expect=step.expect)
    scene.stage.cluster.renew_disks(broker)


@do.register
def _(step: Upgrade, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    scene.act("broker_upgraded", broker=broker, kafka=NEWEST, expect=step.expect)
    scene.stage.cluster.upgrade(broker, NEWEST)


@do.register
def _(step: SetClock, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    scene.act("broker_clock_set", broker=broker, ahead_s=step.ahead, expect=step.expect)
    scene.stage.cluster.broker(broker).environment = clock_ahead(step.ahead)


@do.register
def _(step: Certify, scene: Scene) -> None:
    broker, cluster = scene.broker(step.broker), scene.stage.cluster
    guard, name = cluster.guard, f"broker-{broker}-{step.listener}-{step.lasts}"
    assert guard
    scene.act("broker_certified", broker=broker, listener=step.listener, lasts_s=step.lasts, expect=step.expect)
    guard.certify(name, step.lasts, BROKER)
    cluster.rewrite(f"broker-{broker}", (), guard.of_listener(step.listener, name))


@do.register
def _(step: Advertise, scene: Scene) -> None:
    broker, cluster = scene.broker(step.broker), scene.stage.cluster
    scene.act("broker_advertised", broker=broker, host=step.host, expect=step.expect)
    cluster.advertise(broker, step.host)


@do.register
def _(step: UsePassword, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    scene.act("broker_uses_password", broker=broker, expect=step.expect)
    scene.stage.admin.give_password(BROKER, SECRET)
    scene.stage.cluster.rewrite(f"broker-{broker}", (), Guard.of_follower())


@do.register
def _(step: WithdrawBrokerPassword, scene: Scene) -> None:
    topic, now = scene.topic(step.topic), datetime.now(UTC)
    scene.act("broker_password_withdrawn", broker=scene.broker(step.broker), expect=step.expect)
    scene.stage.admin.withdraw_password(BROKER)
    has_lapsed = scene.wait_for_lapse(topic, now, step.within)
    scene.stage.admin.give_password(BROKER, SECRET)
    if not has_lapsed:
        raise SceneFault(f"Needed within {step.within:.0f} s: {topic}-0 loses a replica from its ISR. It did not.")


@do.register
def _(step: RotateLogs, scene: Scene) -> None:
    """As logrotate's copytruncate does it: a node goes on in the file that it has open."""
    now, logs = f"{datetime.now(UTC):%Y-%m-%d-%H-%M-%S}", scene.stage.cluster.logs
    numbers = [scene.broker(role) for role in step.brokers]
    for folder in [logs / f"broker-{number}" for number in numbers] or sorted(logs.iterdir()):
        for log in sorted(folder.glob("*.log")):
            if step.keeps:
                shutil.copy(log, log.with_name(f"{log.name}.{now}"))
            os.truncate(log, 0)
    if not step.keeps and not numbers:
        scene.stage.truth.leave_open_since("logs_rotated", "no log of it is left")
    elif not step.keeps and scene.stage.cluster.layout == "zookeeper":
        scene.stage.truth.leave_open_since("logs_rotated", "ZooKeeper shows a new session, not a new process")
    scene.act("logs_rotated", brokers=numbers, keeps=step.keeps, expect=step.expect)


@do.register
def _(step: QuorumBack, scene: Scene) -> None:
    """There was no majority from the last time that a node went until the first one came back."""
    rows = scene.stage.truth.rows()
    times_away = [datetime.fromisoformat(row["at"]) for row in rows if row["action"] in _GOES][-2:]
    back = next(
        at for row in rows if row["action"] in _COMES and (at := datetime.fromisoformat(row["at"])) > times_away[-1]
    )
    scene.wait_for_controller(step.within)
    low, high = back - times_away[-1], datetime.now(UTC) - times_away[0]
    fields = {"low_ms": low // MS, "high_ms": high // MS}
    scene.act("quorum_lost", at=back.isoformat(timespec="milliseconds"), expect=step.expect, **fields)


@do.register
def _(step: Detected, scene: Scene) -> None:
    broker = scene.broker(step.broker)
    scene.wait_for_partitions(
        lambda partitions: not any(_counts_on(p, broker) for p in partitions),
        f"no partition counts on broker {broker}",
        step.within,
    )


def _counts_on(partition: LivePartition, broker: int) -> bool:
    """Whether it is led by the broker, or has it among several in-sync replicas: the last one stays in the list."""
    return partition.leader == broker or (len(partition.isr) > 1 and broker in partition.isr)


@do.register
def _(step: InSync, scene: Scene) -> None:
    scene.wait_for_partitions(_are_in_sync, "every partition with a leader and all its replicas", step.within)


def _are_in_sync(partitions: Iterable[LivePartition]) -> bool:
    return all(p.leader in p.isr and set(p.isr) == set(p.replicas) for p in partitions)


@do.register
def _(step: OnController, scene: Scene) -> None:
    node = next(iter(scene.stage.cluster.others.values()))
    scene.act(step.action, controller=scene.broker("controller"), expect=step.expect)
    getattr(node, step.how)()


@do.register
def _(step: Imbalance, scene: Scene) -> None:
    main = [p for p in scene.stage.admin.topics() if p.topic == scene.stage.main]
    elsewhere = sum(p.leader != p.replicas[0] for p in main)
    if not elsewhere:
        raise SceneFault("Found: every partition led by its first replica. Needed: some that are not.")
    scene.act("imbalance_now", expect=step.expect, leaders={str(p.partition): p.leader for p in main})


@do.register
def _(step: PreferredElection, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    elsewhere = [p for p in scene.stage.admin.topics() if p.topic == topic and p.leader != p.replicas[0]]
    if not elsewhere:
        raise SceneFault(f"Needed: a partition of {topic} led by another than its first replica. Found: none.")
    scene.act("preferred_election", topic=topic, expect=step.expect)
    scene.stage.admin.elect_preferred(topic)


@do.register
def _(step: Reassign, scene: Scene) -> None:
    topic, to = scene.topic(step.topic), [scene.broker(role) for role in step.to]
    scene.act("reassignment", topic=topic, partition=0, replicas=to, expect=step.expect)
    scene.stage.admin.reassign(topic, 0, to)


@do.register
def _(step: CancelReassignment, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    scene.act("reassignment_cancelled", topic=topic, partition=0, expect=step.expect)
    scene.stage.admin.cancel_reassignment(topic, 0)


@do.register
def _(step: SetTopic, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    scene.act("topic_set", topic=topic, setting=f"{step.name}={step.value}", expect=step.expect)
    scene.stage.admin.set_topic(topic, step.name, step.value)


@do.register
def _(step: Offline, scene: Scene) -> None:
    scene.act("partition_offline", topic=scene.topic(step.topic), expect=step.expect)


@do.register
def _(step: Produce, scene: Scene) -> None:
    topic = scene.topic(step.topic)
    within = 6 if step.refused else 15  # A busy machine is no refusal.
    accepted = scene.stage.admin.produce(topic, 0, step.count, step.acks, step.bytes, within)
    if step.refused and accepted:
        raise SceneFault(f"Found: {accepted} records taken by {topic}. Needed: none, it has too few replicas in sync.")
    if not step.refused and accepted < step.count:
        raise SceneFault(f"Found: {accepted} records taken by {topic}. Needed: {step.count}.")
    scene.record_counts[step.topic] = scene.record_counts.get(step.topic, 0) + accepted
    if step.refused:
        scene.act("min_isr_violated", topic=topic, refused=step.count)
    else:
        scene.act("produced", topic=topic, records=accepted, acks=step.acks)
