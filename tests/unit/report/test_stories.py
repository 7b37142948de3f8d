"""Which incidents led to which: what proves a link, and what does not."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.gold import (
    BROKER_OUTAGES,
    CONTROLLER_CHANGES,
    FAILOVERS,
    INCIDENTS,
    ISR_CHANGES,
    OFFSET_JUMPS,
    TRUNCATIONS,
)
from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.measures.stories import STORY_RULES, StoryLink, StoryRows, stories_of, story_links
from tests.support.rows import AT, row


def later(seconds: float) -> Any:
    return AT + timedelta(seconds=seconds)


def incident(incident_id: str, seconds: float = 0, **columns: Any) -> Any:
    return row(INCIDENTS, incident_id=incident_id, started_at=later(seconds), **{"kind": "broker_outage", **columns})


def outage(broker: int, incident_id: str, down: float, up: float | None) -> Any:
    up_at = None if up is None else later(up)
    return row(
        BROKER_OUTAGES,
        outage_id=f"outage of {broker}",
        broker=broker,
        incident_id=incident_id,
        down_at=later(down),
        up_at=up_at,
    )


def pairs(rows: StoryRows) -> list[tuple[str, str, str]]:
    return [(link.rule, link.cause_id, link.effect_id) for link in story_links(rows)]


TWO_CRASHES = StoryRows(
    incidents=[incident("first"), incident("second", 16)],
    outages=[outage(2, "first", 0, 30), outage(1, "second", 16, 40)],
    isr_changes=[
        row(
            ISR_CHANGES,
            topic="t",
            partition=0,
            change="shrink",
            broker=2,
            happened_at=later(10),
            outage_id="outage of 2",
            out_of_sync_until=None,
            observed_until=None,
        )
    ],
    failovers=[
        row(
            FAILOVERS,
            topic="t",
            partition=0,
            kind="unclean_election",
            happened_at=later(31),
            isr_before=[1],
            incident_id="second",
        )
    ],
)


def test_broker_that_had_left_the_isr_is_why_no_replica_could_take_over() -> None:
    assert pairs(TWO_CRASHES) == [("replica_missing", "first", "second")]
    (link,) = story_links(TWO_CRASHES)
    assert link.so == "broker 2 was not in sync to take over t-0"
    assert link.proof


@pytest.mark.parametrize(
    "columns",
    [
        {"partition": 1},
        {"outage_id": None},
        {"happened_at": later(32)},
        {"out_of_sync_until": later(20)},
        {"change": "expand"},
    ],
)
def test_overlap_without_the_shrink_of_that_partition_joins_nothing(columns: dict[str, Any]) -> None:
    changes = [replace(TWO_CRASHES.isr_changes[0], **columns)]
    assert pairs(replace(TWO_CRASHES, isr_changes=changes)) == []


@pytest.mark.parametrize(
    "columns", [{"isr_before": [1, 2]}, {"kind": "broker_crash"}, {"incident_id": None}, {"incident_id": "first"}]
)
def test_partition_that_another_replica_took_over_joins_nothing(columns: dict[str, Any]) -> None:
    failovers = [replace(TWO_CRASHES.failovers[0], **columns)]
    assert pairs(replace(TWO_CRASHES, failovers=failovers)) == []


def quorum(controllers: list[Any], *outages: Any) -> StoryRows:
    lost = incident("quorum", 17, kind="quorum_lost", ended_at=later(25))
    return StoryRows([incident("first"), incident("second", 16), lost], outages, controllers=controllers)


def majority_lost(**columns: Any) -> Any:
    return row(
        CONTROLLER_CHANGES,
        **{
            "cause": "no_majority",
            "happened_at": later(20),
            "controller_from": 1,
            "controller_to": 3,
            **columns,
        },
    )


def test_controllers_that_were_away_together_are_why_there_was_no_majority() -> None:
    away = outage(2, "first", 0, 30), outage(1, "second", 16, 40)
    links = [("no_majority", "first", "quorum"), ("no_majority", "second", "quorum")]
    assert pairs(quorum([majority_lost()], *away)) == links
    assert pairs(quorum([majority_lost()], away[0])) == [], "one of three leaves a majority"
    assert pairs(quorum([majority_lost(cause="outage")], *away)) == []
    of_others = majority_lost(controller_from=4, controller_to=5)
    assert pairs(quorum([of_others], *away)) == [], "the controllers stand beside the brokers"
    assert pairs(quorum([majority_lost()], outage(2, "first", 0, 10), away[1])) == []


def cut(**columns: Any) -> StoryRows:
    jump = {"topic": "t", "partition": 0, "cause": "log_truncated", "jumped_at": later(50), "resumed_at": later(60)}
    truncation = {"topic": "t", "partition": 0, "happened_at": later(40), "incident_id": "loss"}
    return StoryRows(
        [incident("loss"), incident("moved", 50, kind="offsets_moved")],
        truncations=[row(TRUNCATIONS, **truncation)],
        jumps=[row(OFFSET_JUMPS, **{**jump, "group_id": "g", "incident_id": "moved", **columns})],
    )


def test_log_that_was_cut_is_why_its_group_went_on_elsewhere() -> None:
    assert pairs(cut()) == [("log_cut", "loss", "moved")]
    assert pairs(cut(partition=1)) == []
    assert pairs(cut(cause="retention")) == []
    assert pairs(cut(jumped_at=later(20), resumed_at=later(30))) == []


def test_rules_have_a_proof_and_a_source_each() -> None:
    assert len({rule.code for rule in STORY_RULES}) == len(STORY_RULES)
    assert all(rule.proves.startswith("gold.") and rule.source for rule in STORY_RULES)


def test_story_names_its_root_and_the_way_to_each_incident() -> None:
    rows = StoryRows([*TWO_CRASHES.incidents, incident("moved", 50), incident("other", 60)])
    links = [*story_links(TWO_CRASHES), StoryLink("second", "moved", "log_cut", "its log was cut", [])]
    (story,) = stories_of(rows.incidents, links)
    assert [i.incident_id for i in story.incidents] == ["first", "second", "moved"]
    assert [i.incident_id for i in story.roots] == ["first"]
    assert [link.effect_id for link in story.before("moved")] == ["second", "moved"]
    assert story.before("first") == []


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)).filter(lambda pair: pair[0] < pair[1])))
def test_each_linked_incident_is_in_one_story_whatever_the_order(numbers: list[tuple[int, int]]) -> None:
    incidents: list[Incident] = [incident(str(n), n) for n in range(8)]
    links = [StoryLink(str(a), str(b), "rule", "so", []) for a, b in numbers]
    stories = stories_of(incidents, links)
    members = [i.incident_id for story in stories for i in story.incidents]
    assert sorted(members) == sorted({i for link in links for i in (link.cause_id, link.effect_id)})
    assert all(story.roots for story in stories)
    again = stories_of(incidents[::-1], links[::-1])
    assert [[i.incident_id for i in s.incidents] for s in again] == [
        [i.incident_id for i in s.incidents] for s in stories
    ]
