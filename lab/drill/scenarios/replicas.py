"""Scenarios of replicas: on disks that fail, on brokers that are slow, and when records are at stake."""

from __future__ import annotations

from lab.drill.steps import KRAFT_ANSWERS, CreateTopic, DeleteTopic, DrillStep, Scenario, Wait
from lab.drill.steps_on_brokers import (
    CancelReassignment,
    Detected,
    FailDirectory,
    Halted,
    InSync,
    KillBroker,
    Lapsed,
    MendDirectories,
    Offline,
    PauseBroker,
    Produce,
    Reassign,
    ResumeBroker,
    StartBroker,
    StopBroker,
    TakenOver,
    Throttle,
    Undershot,
    Unled,
    Unthrottle,
)


def _slow() -> tuple[DrillStep, ...]:
    """A pause that is longer than replica.lag.time.max.ms and shorter than a broker's session."""
    return (
        PauseBroker(broker="other", expect="isr_lapse"),
        Produce(topic="t", count=10, acks="1"),
        Lapsed(topic="t"),
        ResumeBroker(broker="other"),
        InSync(),
    )


def _halts(broker: str, directory: str) -> tuple[DrillStep, ...]:
    return (
        FailDirectory(broker=broker, directory=directory, expect="failover_crash"),
        Halted(broker=broker),
        Detected(broker=broker),
        MendDirectories(broker=broker),
        StartBroker(broker=broker),
        InSync(),
    )


REPLICA_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "reassignment",
        "A partition that moves to other brokers gets a leader among them.",
        (
            CreateTopic(topic="t", placed=(("x", "y"), ("y", "z"))),
            Produce(topic="t", count=20),
            Wait(seconds=2),
            Reassign(topic="t", to=("z", "y")),
            Wait(seconds=4),
            InSync(),
        ),
        on_brokers=True,
    ),
    Scenario(
        "unclean_election",
        "A replica that was not in sync takes over, and what it had not is lost.",
        (
            CreateTopic(
                topic="t",
                placed=(("x", "y"), ("y", "x")),
                configs={"unclean.leader.election.enable": "true", "min.insync.replicas": "1"},
            ),
            Produce(topic="t", count=15),
            Wait(seconds=2),
            KillBroker(broker="y"),
            Detected(broker="y"),
            Produce(topic="t", count=40, acks="1"),
            KillBroker(broker="x"),
            Wait(seconds=5),
            StartBroker(broker="y", uncleanly="t"),
            StartBroker(broker="x"),
            InSync(),
        ),
        kraft_since=(3, 9),  # Before, its controller answers for every topic that unclean elections are off.
        on_brokers=True,
    ),
    Scenario(
        "offline",
        "A partition with one replica is offline as long as its broker is away.",
        (
            CreateTopic(topic="t", placed=(("x",), ("x",))),
            Wait(seconds=2),
            KillBroker(broker="x"),
            Offline(topic="t"),
            Detected(broker="x"),
            Wait(seconds=3),
            StartBroker(broker="x"),
            InSync(),
        ),
        on_brokers=True,
    ),
    Scenario(
        "min_isr",
        "With fewer replicas in sync than min.insync.replicas a partition has a leader and takes no record.",
        (
            CreateTopic(topic="t", placed=(("x", "y"),), configs={"min.insync.replicas": "2"}),
            Produce(topic="t", count=10),
            KillBroker(broker="y"),
            Detected(broker="y"),
            Produce(topic="t", count=3, refused=True),
            StartBroker(broker="y"),
            InSync(),
            Undershot(topic="t"),
            DeleteTopic(topic="t", expect=None),
        ),
        on_brokers=True,
    ),
    Scenario(
        "reassignment_cancelled",
        "A move that is called off before the new replica has caught up changes no leader.",
        (
            CreateTopic(topic="t", placed=(("x", "y"),)),
            Throttle(broker="z", topic="t"),
            Produce(topic="t", count=60, acks="1", bytes=100_000),
            Reassign(topic="t", to=("z", "y"), expect="no_failover"),
            Wait(seconds=4),
            CancelReassignment(topic="t"),
            Wait(seconds=2),
            Unthrottle(broker="z", topic="t"),
            InSync(),
        ),
        on_brokers=True,
    ),
    Scenario(
        "truncation",
        "What one replica alone has taken is cut off when another leads: nothing that was committed is lost.",
        (
            CreateTopic(topic="t", placed=(("x", "y"), ("x", "y"))),
            Produce(topic="t", count=15),
            Wait(seconds=2),
            PauseBroker(broker="y", expect=None),
            Wait(seconds=0.7),
            Produce(topic="t", count=25, acks="1"),
            KillBroker(broker="x"),
            ResumeBroker(broker="y"),
            TakenOver(broker="y", topic="t"),
            StartBroker(broker="x"),
            InSync(),
        ),
        on_brokers=True,
    ),
    Scenario(
        "replica_slow",
        "A broker that is alive and fetches too slowly leaves the ISR, and is back when it has caught up.",
        (
            CreateTopic(topic="t", placed=(("apart", "other"),)),
            Wait(seconds=2),
            *_slow(),
        ),
        kraft_since=KRAFT_ANSWERS,
        on_brokers=True,
    ),
    Scenario(
        "replica_flaps",
        "A replica that leaves the ISR and comes back again and again has one trouble, not many.",
        (
            CreateTopic(topic="t", placed=(("apart", "other"),)),
            Wait(seconds=2),
            *(step for _ in range(3) for step in (*_slow(), Wait(seconds=2))),
        ),
        kraft_since=KRAFT_ANSWERS,
        on_brokers=True,
    ),
    Scenario(
        "disk_failed",
        "A broker with a failed disk lives on without the partitions that were on it, until it is restarted.",
        (
            CreateTopic(topic="t", placed=(("x", "y"), ("x", "z"), ("x", "y"))),
            CreateTopic(topic="single", placed=(("x",), ("x",))),
            Wait(seconds=2),
            FailDirectory(broker="x"),
            Unled(broker="x"),
            Wait(seconds=4),
            MendDirectories(broker="x"),
            StopBroker(broker="x"),
            StartBroker(broker="x"),
            InSync(),
        ),
        kraft_since=(3, 7),  # Before, it moves no leader off a failed disk: KIP-858.
        on_brokers=True,
    ),
    Scenario(
        "metadata_disk_failed",
        "A broker under KRaft that loses the disk with its metadata ends at once, however many others it has.",
        _halts("x", "metadata"),
        kraft_since=(3, 7),  # Before, it runs on.
        layouts=("combined", "separate"),
        on_brokers=True,
    ),
    Scenario(
        "disks_failed",
        "A broker that has no disk left ends.",
        _halts("x", "all"),
        layouts=("zookeeper",),
        on_brokers=True,
    ),
)
