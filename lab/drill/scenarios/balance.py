"""Scenarios of groups that share their partitions out badly, and of those that only seem to."""

from __future__ import annotations

from lab.drill.scenarios.groups import SEES_TOPICS_SOON
from lab.drill.steps import (
    AddPartitions,
    Close,
    CreateTopic,
    Reported,
    Scenario,
    Start,
    Wait,
)

_BEYOND_A_REBALANCE = 330
_BEYOND_METADATA = 410
SEES_NO_NEW_PARTITIONS = {"metadata.max.age.ms": "3600000"}

BALANCE_SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        "idle_members",
        "A group with more members than partitions has members without work.",
        (
            CreateTopic(topic="t", partitions=2),
            *(Start(member=m, topics=("t",)) for m in "abc"),
            Wait(seconds=_BEYOND_A_REBALANCE),
            Reported(about="group", rule="idle_members"),
            *(Close(member=m) for m in "abc"),
        ),
    ),
    Scenario(
        "idle_for_a_moment",
        "During a deployment a group may have a member too many for a moment: nothing to report.",
        (
            CreateTopic(topic="t", partitions=2),
            *(Start(member=m, topics=("t",)) for m in "abc"),
            Wait(seconds=20),
            Close(member="a"),
            Wait(seconds=_BEYOND_A_REBALANCE),
            Reported(about="group", rule="idle_members", expect="no_finding"),
            *(Close(member=m) for m in "bc"),
        ),
    ),
    Scenario(
        "lopsided",
        "The range assignor shares out each topic by itself: one member gets all of many small topics.",
        (
            *(CreateTopic(topic=t, partitions=1) for t in "uvw"),
            *(Start(member=m, topics=("u", "v", "w")) for m in "abc"),
            Wait(seconds=_BEYOND_A_REBALANCE),
            Reported(about="group", rule="lopsided_assignment"),
            *(Close(member=m) for m in "abc"),
        ),
    ),
    Scenario(
        "unowned",
        "A group that does not look for new partitions leaves them to no member.",
        (
            CreateTopic(topic="t", partitions=3),
            Start(member="a", topics=("t",), config=SEES_NO_NEW_PARTITIONS),
            AddPartitions(topic="t", to=5, expect=None),
            Wait(seconds=_BEYOND_METADATA),
            Reported(about="group", rule="unowned_partitions"),
            Close(member="a"),
        ),
    ),
    Scenario(
        "unowned_for_a_moment",
        "New partitions have no owner until the group has looked for them.",
        (
            CreateTopic(topic="t", partitions=3),
            Start(member="a", topics=("t",), config=SEES_TOPICS_SOON),
            AddPartitions(topic="t", to=5),
            Wait(seconds=_BEYOND_METADATA),
            Reported(about="group", rule="unowned_partitions", expect="no_finding"),
            Close(member="a"),
        ),
    ),
)
