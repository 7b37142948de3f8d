"""Scenarios of groups whose members use other libraries than Java's: each is shown by its library's own lines."""

from __future__ import annotations

from lab.drill.libraries import CONNECT, SHARE, STREAMS
from lab.drill.scenarios.groups import POLL_LIMIT
from lab.drill.steps import (
    Back,
    Close,
    Configure,
    CreateTopic,
    DrillStep,
    Gone,
    Kill,
    Pause,
    Rebalanced,
    Resume,
    Scenario,
    Slow,
    Start,
    Wait,
)

_POLL_LIMITS = ("confluent-kafka", "aiokafka", "kafka-python")
"""Libraries that leave by themselves when their program polls too late; the others have no such limit."""


def _members(library: str) -> tuple[DrillStep, ...]:
    config = POLL_LIMIT if library in _POLL_LIMITS else {}
    too_slow = (Slow(member="b", ms=30_000), Gone(member="b"), Back(member="b")) if config else ()
    return (
        Start(member="a", library=library, config=config),
        Start(member="b", library=library, config=config),
        *too_slow,
        Pause(member="b"),
        Gone(member="b"),
        Wait(seconds=2),
        Resume(member="b"),
        Close(member="b"),
        Start(member="c", library=library, config=config),
        Kill(member="c"),
        Gone(member="c"),
        Close(member="a", expect=None if library == SHARE else "member_leave"),
    )


_STREAMS = (
    CreateTopic(topic="out"),
    Start(member="a", library=STREAMS, topics=("main", "out")),
    Start(member="b", library=STREAMS, topics=("main", "out")),
    Pause(member="b"),
    Gone(member="b"),
    Wait(seconds=2),
    Resume(member="b"),
    Kill(member="b"),
    Gone(member="b"),
    Close(member="a", expect="static_leave_silent"),
    Gone(member="a"),
)
"""An application that closes leaves no group: others go on when its session is over."""


def _application(member: str, instance: str | None = None, expect: str | None = "member_join") -> Start:
    config = {"group.protocol": "streams"} | ({"group.instance.id": instance} if instance else {})
    return Start(member=member, library=STREAMS, topics=("main", "out"), config=config, expect=expect)


_STREAMS_OWN = (
    CreateTopic(topic="out"),
    _application("a"),
    _application("b"),
    Pause(member="b"),
    Gone(member="b"),
    Wait(seconds=2),
    Resume(member="b"),
    Close(member="b"),
    _application("c"),
    Kill(member="c"),
    Gone(member="c"),
    Close(member="a", expect=None),
)
"""The last leave makes the group empty: no target follows that would name its epoch, as in a share group."""

_STREAMS_STATIC = (
    CreateTopic(topic="out"),
    _application("a", "i1"),
    _application("b", "i2"),
    Close(member="b", expect="no_rebalance"),
    _application("b", "i2", expect="static_member_changed"),
    Wait(seconds=4),
    Close(member="a", expect="static_leave_silent"),
    Gone(member="a"),
    Close(member="b", expect="static_leave_silent"),
    Gone(member="b"),
)
"""Only a member that has left can come back in time: until then its instance id is taken. As a new process it has other
metadata."""

_CONNECT = (
    Start(member="a", library=CONNECT),
    Start(member="b", library=CONNECT),
    Configure(member="a", connector="copy", tasks=2),
    Rebalanced(),
    Wait(seconds=8),
    Configure(member="b", connector="copy", tasks=3),
    Rebalanced(),
    Wait(seconds=8),
    Kill(member="b"),
    Gone(member="b"),
    Wait(seconds=14),
    Close(member="a"),
)

LIBRARY_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "streams", "An application of Kafka Streams is a group whose members stay until they are missed.", _STREAMS
    ),
    Scenario(
        "streams_protocol",
        "A group of Kafka Streams that the brokers assign: members join, stand still, leave and crash.",
        _STREAMS_OWN,
        since=(4, 2),
    ),
    Scenario(
        "streams_static",
        "A static member of a group that the brokers assign to Kafka Streams leaves without a word and comes back.",
        _STREAMS_STATIC,
        since=(4, 4),
    ),
    Scenario(
        "share",
        "Members of a share group join, stand still, leave and crash: partitions are given to several at once.",
        _members(SHARE),
        since=(4, 2),
    ),
    Scenario(
        "connect",
        "Workers of Kafka Connect share their work again when a connector changes or a worker goes.",
        _CONNECT,
    ),
    *(
        Scenario(name.replace("-", "_"), f"{name}: members join, stand still, leave and crash.", _members(name))
        for name in ("confluent-kafka", "aiokafka", "kafka-python", "franz-go", "sarama", "kafka-go", "kafkajs")
    ),
)
