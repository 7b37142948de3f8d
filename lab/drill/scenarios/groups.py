"""Scenarios of consumer groups on every day."""

from __future__ import annotations

from collections.abc import Mapping

from lab.drill.steps import (
    AddPartitions,
    Back,
    Close,
    CreateTopic,
    DeleteTopic,
    EnforceRebalance,
    Gone,
    Kill,
    Owners,
    Pause,
    Rebalanced,
    RemoveByAdmin,
    Resume,
    Scenario,
    Slow,
    Start,
    Subscribe,
    Wait,
)

POLL_LIMIT = {"max.poll.interval.ms": "9000"}
LONG_POLL_LIMIT = {"max.poll.interval.ms": "30000"}
COOPERATIVE = {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}
CONSUMER = {"group.protocol": "consumer"}
SEES_TOPICS_SOON = {"metadata.max.age.ms": "4000"}
COMMITS_NOTHING = {"enable.auto.commit": "false"}
"""A member that commits would hold its group up over a topic that is gone: it tries to commit to it, for minutes."""
UNCHANGED = "no rebalance followed: in this version none is due"


def _static(instance: str) -> dict[str, str]:
    return {"group.instance.id": instance, "session.timeout.ms": "15000"}


def _shared_out(name: str, sentence: str, config: Mapping[str, str], since: tuple[int, ...] = (2, 6)) -> Scenario:
    """Six partitions, three members, and the second of them crashes and comes back."""
    return Scenario(
        name,
        sentence,
        (
            CreateTopic(topic="t", partitions=6),
            *(Start(member=m, topics=("t",), config=config) for m in "abc"),
            Owners(topic="t"),
            Kill(member="b"),
            Gone(member="b"),
            Owners(topic="t"),
            Start(member="b", topics=("t",), config=config, expect="rejoin_after_expiry"),
            Owners(topic="t"),
            *(Close(member=m) for m in "abc"),
        ),
        since=since,
    )


GROUP_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "leave",
        "A member that closes says so, and the others take over at once.",
        (Start(member="a"), Start(member="b"), Close(member="b"), Close(member="a")),
    ),
    Scenario(
        "crash",
        "A member that is killed is missed only when its session has run out.",
        (Start(member="a"), Start(member="b"), Kill(member="b"), Gone(member="b"), Close(member="a")),
    ),
    Scenario(
        "crash_librdkafka",
        "A crash looks the same whichever client library crashed.",
        (
            Start(member="a", library="librdkafka"),
            Start(member="b", library="librdkafka"),
            Kill(member="b"),
            Gone(member="b"),
            Close(member="a"),
        ),
    ),
    Scenario(
        "pause",
        "A process that stands still (GC, a suspended machine) loses its session and comes back alive.",
        (
            Start(member="a"),
            Start(member="b"),
            Pause(member="b"),
            Gone(member="b"),
            Wait(seconds=2),
            Resume(member="b"),
            Close(member="a"),
            Close(member="b"),
        ),
    ),
    Scenario(
        "slow",
        "A member that works longer than max.poll.interval.ms leaves by itself and comes back when it is done.",
        (
            Start(member="a", config=POLL_LIMIT),
            Start(member="b", config=POLL_LIMIT),
            Slow(member="b", ms=30_000),
            Gone(member="b"),
            Back(member="b"),
            Close(member="a"),
            Close(member="b"),
        ),
    ),
    Scenario(
        "slow_librdkafka",
        "librdkafka keeps the same limit, and only its own log says so.",
        (
            Start(member="a", library="librdkafka", config=POLL_LIMIT),
            Start(member="b", library="librdkafka", config=POLL_LIMIT),
            Slow(member="b", ms=30_000),
            Gone(member="b"),
            Back(member="b"),
            Close(member="a"),
            Close(member="b"),
        ),
    ),
    Scenario(
        "static_in_time",
        "A static member that is back before its session runs out disturbs no other member, and leaves without a word.",
        (
            Start(member="a", config=_static("i1")),
            Start(member="b", config=_static("i2")),
            Kill(member="b", expect="no_rebalance"),
            Wait(seconds=2),
            Start(member="b", config=_static("i2"), expect="static_rejoin_no_rebalance"),
            Wait(seconds=4),
            Close(member="a", expect="static_leave_silent"),
            Gone(member="a"),
            Close(member="b", expect="static_leave_silent"),
            Gone(member="b"),
        ),
    ),
    Scenario(
        "static_too_late",
        "A static member that stays away longer than its session costs two rebalances.",
        (
            Start(member="a", config=_static("i1")),
            Start(member="b", config=_static("i2")),
            Kill(member="b"),
            Gone(member="b"),
            Start(member="b", config=_static("i2"), expect="rejoin_after_expiry"),
            Close(member="b", expect="static_leave_silent"),
            Gone(member="b"),
            Close(member="a", expect="static_leave_silent"),
            Gone(member="a"),
        ),
    ),
    Scenario(
        "partitions",
        "More partitions are a change of metadata: the group's leader sees it and everybody rejoins.",
        (
            CreateTopic(topic="t"),
            Start(member="a", topics=("t",), config=SEES_TOPICS_SOON),
            Start(member="b", topics=("t",), config=SEES_TOPICS_SOON),
            AddPartitions(topic="t", to=7),
            Rebalanced(),
            Close(member="a"),
            Close(member="b"),
        ),
    ),
    Scenario(
        "subscription",
        "A member that subscribes to another topic makes everybody rejoin.",
        (
            CreateTopic(topic="t"),
            Start(member="a"),
            Start(member="b"),
            Subscribe(member="b", topics=("main", "t")),
            Rebalanced(),
            Close(member="a"),
            Close(member="b"),
        ),
    ),
    Scenario(
        "pattern",
        "Under a pattern, topics that come and go rebalance the group without a member doing anything.",
        (
            CreateTopic(topic="x1"),
            Start(member="a", pattern="x.*", config=SEES_TOPICS_SOON | COMMITS_NOTHING),
            CreateTopic(topic="x2", expect="topic_created"),
            Rebalanced(),
            DeleteTopic(topic="x1"),
            Rebalanced(),
            Close(member="a"),
        ),
    ),
    Scenario(
        "cooperative",
        "A cooperative rebalance comes in two: first partitions are given up, then they are given out.",
        (
            Start(member="a", config=COOPERATIVE),
            Start(member="b", config=COOPERATIVE),
            Start(member="c", config=COOPERATIVE),
            Close(member="b"),
            Close(member="a"),
            Close(member="c"),
        ),
    ),
    _shared_out(
        "shared_out_eager", "Under an eager assignor each rebalance takes every partition from every member.", {}
    ),
    _shared_out(
        "shared_out_cooperative",
        "Under a cooperative assignor only those partitions change hands that have to.",
        COOPERATIVE,
    ),
    _shared_out("shared_out_by_brokers", "Under KIP-848 the coordinator moves single partitions.", CONSUMER, (4, 0)),
    Scenario(
        "consumer_protocol",
        "Under KIP-848 the coordinator assigns, the group epoch rises, and no member stops the world.",
        (
            Start(member="a", config=CONSUMER),
            Start(member="b", config=CONSUMER),
            Close(member="b"),
            Start(member="c", config=CONSUMER),
            Kill(member="c"),
            Gone(member="c"),
            Start(member="d", config=CONSUMER | POLL_LIMIT),
            Slow(member="d", ms=30_000),
            Gone(member="d"),
            Back(member="d"),
            Close(member="a"),
            Close(member="d"),
        ),
        since=(4, 0),
    ),
    Scenario(
        "crash_loop",
        "A container that dies and is started again keeps its whole group busy.",
        (
            Start(member="a"),
            *(
                step
                for name in ("b0", "b1", "b2", "b3")
                for step in (Start(member=name), Kill(member=name), Gone(member=name))
            ),
            Close(member="a"),
        ),
    ),
    Scenario(
        "deployment",
        "A rolling deployment is one thing, not many faults.",
        (
            Start(member="a"),
            Start(member="b"),
            *(
                step
                for name in ("a", "b")
                for step in (
                    Close(member=name, expect="rolling_restart"),
                    Start(member=name, expect="rolling_restart"),
                )
            ),
            Close(member="a"),
            Close(member="b"),
        ),
    ),
    Scenario(
        "dragged",
        "One member starts the rebalance, another makes it long: the rebalance waits for the slowest.",
        (
            Start(member="a", config=LONG_POLL_LIMIT),
            Start(member="b", config=LONG_POLL_LIMIT),
            Slow(member="a", ms=9_000, expect="duration_blame"),
            Wait(seconds=1),
            Start(member="c", config=LONG_POLL_LIMIT),
            Close(member="a"),
            Close(member="b"),
            Close(member="c"),
        ),
    ),
    Scenario(
        "requested_by_operator",
        "An application can ask for a rebalance, and from 3.2 on the broker learns so.",
        (
            Start(member="a"),
            Start(member="b"),
            EnforceRebalance(member="b"),
            Rebalanced(within=12, else_note=UNCHANGED),
            Close(member="a"),
            Close(member="b"),
        ),
    ),
    Scenario(
        "removed_by_admin",
        "An administrator can remove a member; a living one joins again.",
        (
            Start(member="a", config=_static("i1")),
            Start(member="b", config=_static("i2")),
            RemoveByAdmin(member="b"),
            Rebalanced(),
            Back(member="b"),
            Close(member="b", expect="static_leave_silent"),
            Gone(member="b"),
            Close(member="a", expect="static_leave_silent"),
            Gone(member="a"),
        ),
    ),
)
