"""Scenarios of consumer groups that are uncommon."""

from __future__ import annotations

from lab.drill.steps import (
    OFFSETS,
    Close,
    Gone,
    Kill,
    Pause,
    Rebalanced,
    Rejoining,
    RemoveAll,
    Resume,
    Scenario,
    Settled,
    SetTopic,
    Slow,
    Start,
    Wait,
)
from lab.drill.steps_on_brokers import Detected, InSync, KillBroker, StartBroker

LONG_SESSION = {"session.timeout.ms": "45000", "max.poll.interval.ms": "8000"}
"""Who is gone later than this session allows was not dropped by the rebalance timeout."""
COMMITS_NOTHING = {"enable.auto.commit": "false"}
_ASSIGNORS = "org.apache.kafka.clients.consumer"
RANGE = {"partition.assignment.strategy": f"{_ASSIGNORS}.RangeAssignor"}
BOTH = {"partition.assignment.strategy": f"{_ASSIGNORS}.RoundRobinAssignor,{_ASSIGNORS}.RangeAssignor"}


def _static(instance: str) -> dict[str, str]:
    return {"group.instance.id": instance, "session.timeout.ms": "15000"}


UNCOMMON_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "sync_timeout",
        "A member that joins and stands still before it has its assignment is dropped after the rebalance timeout.",
        (
            Start(member="a", config=LONG_SESSION),
            Start(member="b", config=LONG_SESSION),
            Slow(member="a", ms=7_000, expect=None),
            Start(member="c", config=LONG_SESSION, settles=False),
            Rejoining(member="b"),
            Pause(member="b", expect="sync_timeout"),
            Gone(member="b", within=35),
            Resume(member="b"),
            Close(member="a"),
            Close(member="b"),
            Close(member="c"),
        ),
        since=(3, 0),
    ),
    Scenario(
        "join_timeout",
        "A member that does not rejoin in time is left out of the next generation.",
        (
            Start(member="a", config=LONG_SESSION),
            Start(member="b", config=LONG_SESSION),
            Pause(member="b", expect="join_timeout"),
            Start(member="c", config=LONG_SESSION, settles=False),
            Gone(member="b", within=35),
            Resume(member="b"),
            Close(member="a"),
            Close(member="b"),
            Close(member="c"),
        ),
    ),
    Scenario(
        "all_removed_by_admin",
        "An administrator can empty a group; every living member joins again.",
        (
            Start(member="a"),
            Start(member="b"),
            RemoveAll(),
            Rebalanced(),
            Settled(),
            Close(member="a"),
            Close(member="b"),
        ),
    ),
    Scenario(
        "mixed_assignors",
        "Members with different assignors settle on one that all of them know.",
        (
            Start(member="a", config=RANGE),
            Start(member="b", config=BOTH),
            Start(member="c", config=BOTH),
            Close(member="a"),
            Close(member="b"),
            Close(member="c"),
        ),
    ),
    Scenario(
        "static_changed",
        "A static member that comes back with another assignor is not the same any more.",
        (
            Start(member="a", config=_static("i1") | BOTH),
            Start(member="b", config=_static("i2") | BOTH),
            Kill(member="b", expect="no_rebalance"),
            Wait(seconds=2),
            Start(member="b", config=_static("i2") | RANGE, expect="assignor_changed"),
            Close(member="b", expect="static_leave_silent"),
            Gone(member="b"),
            Close(member="a", expect="static_leave_silent"),
            Gone(member="a"),
        ),
    ),
    Scenario(
        "over_capacity",
        "A group that has group.max.size members refuses one more, and goes on undisturbed.",
        (
            *(Start(member=name) for name in "abcd"),
            Start(member="e", expect="no_rebalance", refused=True),
            Kill(member="e", expect="no_rebalance"),
            *(Close(member=name) for name in "abcd"),
        ),
    ),
    Scenario(
        "storage_error",
        "A coordinator that cannot write to __consumer_offsets starts its groups over until it can.",
        (
            Start(member="a", config=COMMITS_NOTHING),
            SetTopic(topic=OFFSETS, name="min.insync.replicas", value="3"),
            KillBroker(broker="x"),
            Detected(broker="x"),
            Start(member="b", config=COMMITS_NOTHING, settles=False),
            Wait(seconds=8),
            StartBroker(broker="x"),
            InSync(),
            SetTopic(topic=OFFSETS, name="min.insync.replicas", value="1"),
            Settled(),
            Close(member="a"),
            Close(member="b"),
        ),
        on_brokers=True,
    ),
)
