"""Scenarios from real nights: starts that fail, brokers that loop, quorums that are lost."""

from __future__ import annotations

from kafka_hindsight.catalog.codes import StartFailure
from lab.drill.scenarios.groups import CONSUMER
from lab.drill.steps import Close, CreateTopic, DrillStep, Gone, Kill, Reported, Scenario, Settled, Start, Wait
from lab.drill.steps_on_brokers import (
    AddController,
    Bridge,
    Detected,
    FailStart,
    FinishMigration,
    InSync,
    KillBroker,
    Migrated,
    NewDisks,
    PauseBroker,
    Produce,
    QuorumBack,
    ResumeBroker,
    Rolled,
    StartBroker,
    StopBroker,
    TakeOver,
    ToKraft,
    Upgrade,
)

STATIC = {"group.instance.id": "i1", "session.timeout.ms": "15000"}
STATIC_CONSUMER = CONSUMER | {"group.instance.id": "i1"}


def _fails(why: StartFailure, sentence: str) -> Scenario:
    """A broker is restarted, its first start fails, and the next one does not."""
    steps = (StopBroker(broker="x"), FailStart(broker="x", why=why), StartBroker(broker="x"), InSync())
    return Scenario(f"start_{why}", sentence, steps, on_brokers=True)


def _restarted(broker: str, changed: DrillStep) -> tuple[DrillStep, ...]:
    return (StopBroker(broker=broker), changed, StartBroker(broker=broker), InSync())


def _loops(why: StartFailure) -> tuple[DrillStep, ...]:
    return (
        KillBroker(broker="x"),
        Detected(broker="x"),
        FailStart(broker="x", why=why, times=3),
        StartBroker(broker="x"),
        InSync(),
    )


REAL_SCENARIOS: tuple[Scenario, ...] = (
    _fails(StartFailure.PORT_IN_USE, "A broker whose port another process holds cannot start, and no leader moves."),
    _fails(StartFailure.LOG_DIR_FAILED, "A broker none of whose disks can be used ends before it serves."),
    _fails(StartFailure.OUT_OF_MEMORY, "A broker whose heap is too small ends before it serves."),
    _fails(StartFailure.CONFIGURATION, "A broker with a wrong setting ends at once."),
    _fails(StartFailure.OTHER_CLUSTER, "A broker whose disk belongs to another cluster refuses to start."),
    _fails(StartFailure.NOT_REGISTERED, "A broker that no controller lets in gives up and ends."),
    Scenario(
        "start_loop",
        "A broker that crashed and is started again and again is one absence with one reason.",
        _loops(StartFailure.PORT_IN_USE),
        on_brokers=True,
    ),
    Scenario(
        "disks_renewed",
        "A broker that comes back with empty disks fetches all that it had from the others.",
        (StopBroker(broker="x"), NewDisks(broker="x"), StartBroker(broker="x"), InSync()),
        on_brokers=True,
    ),
    Scenario(
        "rolled_to_newer",
        "Brokers are moved to the newest Kafka one after the other, and the cluster serves all the time.",
        (*(step for broker in "xyz" for step in _restarted(broker, Upgrade(broker=broker))), Rolled()),
        since=(3, 3),
        before=(4, 3),
        layouts=("combined",),
        on_brokers=True,
    ),
    Scenario(
        "all_replicas_killed",
        "A partition all of whose replicas were killed has a leader again when the last one that led is back.",
        (
            CreateTopic(topic="t", placed=(("x", "y"), ("y", "x"))),
            Produce(topic="t", count=10),
            KillBroker(broker="y"),
            KillBroker(broker="x"),
            Wait(seconds=3),
            StartBroker(broker="x"),
            StartBroker(broker="y"),
            InSync(),
        ),
        on_brokers=True,
    ),
    Scenario(
        "static_twice",
        "A second process with the instance id of a static member takes its place, and the first one is fenced.",
        (
            Start(member="a", config=STATIC),
            Start(member="b", config=STATIC, expect="static_rejoin_no_rebalance", settles=False),
            Wait(seconds=10),  # Its process takes seconds to start, and the first one hears of it by a heartbeat.
            Reported(about="group", rule="instance_shared"),
            Kill(member="a", expect="no_rebalance"),
            Close(member="b", expect="static_leave_silent"),
            Gone(member="b"),
            Gone(member="a"),  # The coordinator keeps its client id for the member that took its place.
        ),
    ),
    Scenario(
        "static_twice_refused",
        "Under KIP-848 a second process with the instance id of a static member is refused as long as the first lives.",
        (
            Start(member="a", config=STATIC_CONSUMER),
            Start(member="b", config=STATIC_CONSUMER, expect="no_rebalance", refused=True),
            Reported(about="group", rule="instance_shared"),
            Kill(member="b", expect="no_rebalance"),
            Close(member="a", expect="static_leave_silent"),
            Gone(member="a"),
        ),
        since=(4, 0),
    ),
    Scenario(
        "quorum_killed",
        "Without a majority of its controllers a cluster serves what it serves and changes nothing.",
        (
            KillBroker(broker="controller"),
            KillBroker(broker="other"),
            Wait(seconds=15),
            StartBroker(broker="other"),
            QuorumBack(),
            Wait(seconds=5),
            StartBroker(broker="controller"),
            InSync(),
        ),
        layouts=("combined",),
        most_brokers=3,
        on_brokers=True,
    ),
    Scenario(
        "quorum_paused",
        "Of three controllers two stand still, and the third stands for election again and again without a winner.",
        (
            PauseBroker(broker="controller", expect=None, undecided="failover_unresponsive"),
            PauseBroker(broker="other", expect=None, undecided="failover_unresponsive"),
            Wait(seconds=15),
            ResumeBroker(broker="other"),
            Wait(seconds=6),
            ResumeBroker(broker="controller"),
            QuorumBack(),
            InSync(),
        ),
        layouts=("combined",),
        on_brokers=True,
    ),
    Scenario(
        "moved_to_kraft",
        "A cluster on ZooKeeper moves to KRaft: its brokers are restarted twice, and a controller of KRaft takes over.",
        (
            AddController(),
            *(step for broker in "xy" for step in _restarted(broker, Bridge(broker=broker))),
            TakeOver(),
            *_restarted("z", Bridge(broker="z")),
            Rolled(),
            Migrated(),
            Wait(seconds=15),  # Two rolling restarts without a pause between them have no boundary that logs show.
            *(step for broker in "xyz" for step in _restarted(broker, ToKraft(broker=broker))),
            Rolled(),
            FinishMigration(),
            InSync(),
        ),
        since=(3, 9),
        before=(4, 0),
        layouts=("zookeeper",),
        on_brokers=True,
        is_last=True,
    ),
    Scenario(
        "quorum_stopped",
        "A controller that too few others follow resigns, and takes office again when they are back.",
        (
            Start(member="a"),
            StopBroker(broker="other"),
            StopBroker(broker="apart"),
            Wait(seconds=15),
            StartBroker(broker="other"),
            QuorumBack(),
            StartBroker(broker="apart"),
            InSync(),
            Settled(),
            Close(member="a"),
        ),
        layouts=("combined",),
        most_brokers=3,
        on_brokers=True,
    ),
)
