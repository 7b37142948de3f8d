"""Scenarios of brokers and the leaders on them."""

from __future__ import annotations

from lab.drill.steps import KRAFT_ANSWERS, Close, CreateTopic, DrillStep, Scenario, Settled, Start, Wait
from lab.drill.steps_on_brokers import (
    Balanced,
    Detected,
    Imbalance,
    InSync,
    KillBroker,
    KillController,
    PauseBroker,
    PauseController,
    PreferredElection,
    Produce,
    Reassign,
    ResumeBroker,
    ResumeController,
    Rolled,
    StartBroker,
    StartController,
    StillOut,
    StopBroker,
    StopController,
    Throttle,
    Unthrottle,
)


def _restart(broker: str) -> tuple[DrillStep, ...]:
    return (*_restart_without_waiting(broker), InSync())


def _restart_without_waiting(broker: str) -> tuple[DrillStep, ...]:
    return (StopBroker(broker=broker), StartBroker(broker=broker))


BROKER_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "coordinator_killed",
        "When a coordinator dies another broker loads its groups; that alone rebalances no group.",
        (
            Start(member="a"),
            Start(member="b"),
            KillBroker(broker="coordinator"),
            Detected(broker="coordinator"),
            Wait(seconds=3),
            StartBroker(broker="coordinator"),
            InSync(),
            Settled(),
            Close(member="a"),
            Close(member="b"),
        ),
        on_brokers=True,
    ),
    Scenario(
        "brokers_rolled",
        "Brokers restarted under control, one after the other, lose nothing and leave their leaders elsewhere.",
        (
            Start(member="a"),
            Start(member="b"),
            *_restart("x"),
            *_restart("y"),
            *_restart("z"),
            Rolled(),
            Imbalance(),
            Wait(seconds=12),
            Settled(),
            Close(member="a"),
            Close(member="b"),
        ),
        on_brokers=True,
    ),
    Scenario(
        "preferred_election",
        "A preferred election gives leaders back to the first replicas, from brokers that are alive.",
        (*_restart("x"), Wait(seconds=2), PreferredElection(), InSync(), Wait(seconds=2)),
        kraft_since=KRAFT_ANSWERS,
        on_brokers=True,
    ),
    Scenario(
        "broker_paused",
        "A broker that says nothing is fenced though its process lives, and wakes to find others in its place.",
        (
            PauseBroker(broker="x"),
            Detected(broker="x"),
            Wait(seconds=6),
            ResumeBroker(broker="x"),
            InSync(),
        ),
        on_brokers=True,
    ),
    Scenario(
        "controller_killed",
        "When the broker that is the controller dies, another controller is elected first, then other leaders.",
        (
            KillBroker(broker="controller"),
            Detected(broker="controller"),
            Wait(seconds=3),
            StartBroker(broker="controller"),
            InSync(),
        ),
        layouts=("combined", "zookeeper"),
        kraft_since=KRAFT_ANSWERS,
        on_brokers=True,
    ),
    Scenario(
        "controller_lost",
        "Without a controller everything goes on as it was, as long as nothing changes.",
        (KillController(), Wait(seconds=8), StartController(), Wait(seconds=4), InSync()),
        layouts=("separate",),
        on_brokers=True,
    ),
    Scenario(
        "rolled_too_fast",
        "A broker stopped before the one before it is back in every ISR leaves partitions with one replica in sync.",
        (
            CreateTopic(topic="t", placed=(("x", "y", "z"), ("y", "z", "x"), ("z", "x", "y"))),
            Throttle(broker="x", topic="t"),
            Wait(seconds=2),
            StopBroker(broker="x"),
            Produce(topic="t", count=60, acks="1", bytes=100_000),
            StartBroker(broker="x"),
            StillOut(broker="x", topic="t"),
            *_restart_without_waiting("y"),
            Unthrottle(broker="x", topic="t"),
            InSync(),
            *_restart("z"),
            Rolled(too_early=("y",)),
        ),
        on_brokers=True,
    ),
    Scenario(
        "preferred_election_asked_for",
        "An administrator who changes the order of replicas can have the new first one elected at once.",
        (
            CreateTopic(topic="t", placed=(("x", "y"), ("x", "z"))),
            Wait(seconds=2),
            Reassign(topic="t", to=("y", "x"), expect="no_failover"),
            Wait(seconds=1),
            PreferredElection(topic="t"),
            Wait(seconds=2),
        ),
        kraft_since=KRAFT_ANSWERS,
        on_brokers=True,
    ),
    Scenario(
        "balanced_by_itself",
        "Some minutes after a broker is back the controller gives it its leaders again; no operator has to ask.",
        (*_restart("x"), Balanced()),
        kraft_since=KRAFT_ANSWERS,  # Before, its controller does not balance leaders.
        on_brokers=True,
    ),
    Scenario(
        "controller_paused",
        "A controller that says nothing is replaced, and finds out when it wakes.",
        (
            PauseBroker(broker="controller"),
            Detected(broker="controller"),
            Wait(seconds=4),
            ResumeBroker(broker="controller"),
            InSync(),
        ),
        layouts=("combined", "zookeeper"),
        kraft_since=KRAFT_ANSWERS,
        on_brokers=True,
    ),
    Scenario(
        "controller_stopped",
        "A broker that is the controller shuts down in order: another one is controller, and its leaders move.",
        _restart("controller"),
        layouts=("combined", "zookeeper"),
        kraft_since=KRAFT_ANSWERS,
        on_brokers=True,
    ),
    Scenario(
        "controller_restarted",
        "A controller that is alone and restarts in order is followed by itself, in a new epoch.",
        (StopController(), StartController(), Wait(seconds=4), InSync()),
        layouts=("separate",),
        on_brokers=True,
    ),
    Scenario(
        "controller_asleep",
        "A controller that is alone and silent for less than a broker's session wakes to find everything as it was.",
        (PauseController(), Wait(seconds=5), ResumeController(), Wait(seconds=4), InSync()),
        layouts=("separate",),
        on_brokers=True,
    ),
    Scenario(
        "controller_and_leader_killed",
        "When the controller dies with a broker, the broker's partitions wait until there is a controller again.",
        (
            KillBroker(broker="controller"),
            KillBroker(broker="other"),
            Wait(seconds=4),
            StartBroker(broker="controller"),
            StartBroker(broker="other"),
            InSync(),
        ),
        layouts=("combined", "zookeeper"),
        kraft_since=KRAFT_ANSWERS,
        on_brokers=True,
    ),
    Scenario(
        "controller_lost_with_a_leader",
        "Without a controller no broker takes over from a broker that dies: its partitions have no leader until then.",
        (
            KillController(),
            KillBroker(broker="x"),
            Wait(seconds=6),
            StartController(),
            Detected(broker="x"),
            Wait(seconds=2),
            StartBroker(broker="x"),
            InSync(),
        ),
        layouts=("separate",),
        on_brokers=True,
    ),
)
