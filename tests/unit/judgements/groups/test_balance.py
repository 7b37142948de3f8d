"""Groups that share their partitions out badly while they are settled, and how long that must last."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import GROUP_SNAPSHOTS, MEMBER_SNAPSHOTS
from kafka_hindsight.catalog.rows import Event, GroupImbalance
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.findings.balance_findings import RULES
from kafka_hindsight.judgements.groups.assignments import Witnesses
from kafka_hindsight.judgements.groups.balance import TopicPartitions, find_imbalances, settled_times, subscriptions_in
from kafka_hindsight.judgements.groups.costs import stops_of
from kafka_hindsight.shared.windows import Window
from tests.support.nights import EXCERPTS
from tests.support.rows import AT, row
from tests.unit.judgements.groups.test_costs import assignment_line, assignor_line, rebalance

CAPTURED = EXCERPTS / "balance-4.4"
WINDOW = Window(AT - timedelta(hours=1), AT + timedelta(hours=2))
ALL_DAY = (AT - timedelta(days=1), AT + timedelta(days=1))


def at(minute: float) -> datetime:
    return AT + timedelta(minutes=minute)


def reading(minute: float, state: str = "stable", **owned: str) -> Witnesses:
    """A reading in which members own partitions: `a="t-0 t-1", b=""`."""
    of: dict[str, Any] = {"snapshot_id": f"s{minute}", "snapshot_at": at(minute)}
    group = row(GROUP_SNAPSHOTS, **of, group_id="g", state=state, type="classic", member_count=len(owned), error=None)
    members = []
    for member, names in owned.items():
        pairs = (name.rsplit("-", 1) for name in names.split())
        held = [{"topic": topic, "partition": int(number)} for topic, number in pairs]
        members.append(row(MEMBER_SNAPSHOTS, **of, group_id="g", member_id=member, assignment=held))
    return Witnesses((), (), [group], members)


def together(*parts: Witnesses) -> Witnesses:
    return Witnesses((), (), [r for p in parts for r in p.readings], [m for p in parts for m in p.members])


def imbalances(
    witnesses: Witnesses,
    subscriptions: Mapping[str, frozenset[str]] | None = None,
    topics: TopicPartitions | None = None,
) -> list[GroupImbalance]:
    points = settled_times([], {}, witnesses, lambda broker, instant: instant)
    return find_imbalances(("c", "g"), points, subscriptions or {}, topics or TopicPartitions(), WINDOW)


def rules(rows: Sequence[GroupImbalance]) -> list[tuple[str, str]]:
    return [(r.rule_id, r.details) for r in rows]


TOO_MANY = {"a": "t-0", "b": "t-1", "c": ""}


def test_members_without_partitions_are_idle_from_five_minutes_on() -> None:
    assert rules(imbalances(together(reading(0, **TOO_MANY), reading(5, **TOO_MANY)))) == [
        ("idle_members", "1 of 3 members owned nothing of 2 partitions, for 5 min")
    ]
    assert imbalances(together(reading(0, **TOO_MANY), reading(4.9, **TOO_MANY))) == []


@pytest.mark.parametrize(
    "between",
    [
        reading(3, a="t-0", b="t-1"),
        reading(3, state="preparing_rebalance", a="", b=""),
        reading(3, state="completing_rebalance", a="", b=""),
    ],
    ids=["member gone", "rebalances", "waits for its assignment"],
)
def test_what_a_rebalance_interrupts_begins_again(between: Witnesses) -> None:
    parts = (reading(0, **TOO_MANY), between, reading(4, **TOO_MANY), reading(8, **TOO_MANY))
    assert imbalances(together(*parts)) == []
    assert len(imbalances(together(*parts, reading(9, **TOO_MANY)))) == 1


def test_group_that_shares_no_partitions_out_has_no_idle_members() -> None:
    """Workers of Connect and members of other protocols own nothing that a reading could show."""
    assert imbalances(together(reading(0, a="", b=""), reading(9, a="", b=""))) == []


SMALL_TOPICS = {"a": "u-0 v-0 w-0", "b": "", "c": ""}


def test_first_member_gets_all_of_many_small_topics() -> None:
    same = {member: frozenset({"u", "v", "w"}) for member in "abc"}
    parts = together(reading(0, **SMALL_TOPICS), reading(6, **SMALL_TOPICS))
    assert rules(imbalances(parts, same)) == [
        ("lopsided_assignment", "'a' owned 3 partitions where a fair share is 1, for 6 min")
    ]
    assert imbalances(parts) == []  # what b and c subscribe to is not known
    assert imbalances(parts, same | {"c": frozenset({"x"})}) == []
    twice = {"a": "u-0 v-0", "b": "w-0", "c": ""}
    assert imbalances(together(reading(0, **twice), reading(6, **twice)), same) == []


def test_subscriptions_are_those_of_records_and_of_members_logs() -> None:
    line: Event = row(EVENTS, kind="client_subscribed", client_id="c-1", detail="v, u")
    assert subscriptions_in(Witnesses([line]), {"m-1": "c-1", "m-2": "c-2"}) == {"m-1": frozenset({"u", "v"})}


def test_partition_without_owner_counts_while_readings_show_it() -> None:
    topics = TopicPartitions({"t": [(0, *ALL_DAY), (1, *ALL_DAY), (2, at(1), at(60))]})
    parts = [reading(minute, a="t-0", b="t-1") for minute in (0, 2, 5, 8)]
    assert rules(imbalances(together(*parts), topics=topics)) == [("unowned_partitions", "t 2, for 6 min")]
    assert imbalances(together(*parts[:3]), topics=topics) == []
    gone = TopicPartitions({"t": [(0, *ALL_DAY), (1, *ALL_DAY), (2, at(1), at(6))], "other": [(0, *ALL_DAY)]})
    assert imbalances(together(*parts), topics=gone) == []


def test_assignment_of_leader_holds_to_the_next_rebalance() -> None:
    topics = TopicPartitions({"t": [(n, *ALL_DAY) for n in range(3)]})
    rows = [rebalance(0, 1), rebalance(600, 2)]
    events = [
        assignor_line("range"),
        assignment_line(1, 1, "a=t-0; b=t-1"),
        assignment_line(601, 2, "a=t-0, t-2; b=t-1"),
    ]
    witnesses = Witnesses(events)
    points = settled_times(rows, stops_of(rows, witnesses), witnesses, lambda broker, instant: instant)
    (imbalance,) = find_imbalances(("c", "g"), points, {}, topics, WINDOW)
    assert (imbalance.rule_id, imbalance.details) == ("unowned_partitions", "t 2, for 9 min 58 s")
    assert imbalance.evidence


def test_many_groups_under_one_rule_are_one_finding() -> None:
    (rule,) = RULES
    (imbalance,) = imbalances(together(reading(0, **TOO_MANY), reading(5, **TOO_MANY)))
    of_groups = [GroupImbalance.of({**imbalance.as_dict(), "group_id": f"g{n}"}) for n in range(4)]
    assert [f.subject for f in rule("c", of_groups[:3])] == ["g0", "g1", "g2"]
    (finding,) = rule("c", of_groups)
    assert finding.subject == "g0 and 3 more"
    assert finding.message == (
        "Group 'g0' and 3 more had more members than partitions: 'g0' 1 of 3 members owned nothing of 2 partitions, for"
        " 5 min; 'g1' 1 of 3 members owned nothing of 2 partitions, for 5 min; 'g2' 1 of 3 members owned nothing of 2"
        " partitions, for 5 min"
    )


def captured() -> tuple[dict[str, Witnesses], TopicPartitions]:
    """The readings of a real cluster, by group, and the partitions that they show."""
    groups, members = defaultdict[str, list[Any]](list), defaultdict[str, list[Any]](list)
    ats = defaultdict[tuple[str, int], list[datetime]](list)
    for line in (CAPTURED / "snapshots.jsonl").read_text().splitlines():
        reading_of_all = json.loads(line)
        at_once = datetime.fromisoformat(reading_of_all["at"])
        of: dict[str, Any] = {"snapshot_id": reading_of_all["at"], "snapshot_at": at_once}
        for topic in reading_of_all["topics"]:
            for partition in topic["partitions"]:
                ats[topic["topic"], partition].append(of["snapshot_at"])
        for group in reading_of_all["groups"]:
            name, of_group = group["group"], group["members"]
            fields = {"state": group["state"].lower(), "type": group["type"].lower(), "member_count": len(of_group)}
            groups[name].append(row(GROUP_SNAPSHOTS, **of, group_id=name, error=None, **fields))
            for member in of_group:
                held = [{"topic": topic, "partition": number} for topic, number in member["assignment"]]
                row_of_member = {"member_id": member["member_id"], "assignment": held}
                members[name].append(row(MEMBER_SNAPSHOTS, **of, group_id=name, **row_of_member))
    partitions = defaultdict[str, list[tuple[int, datetime, datetime]]](list)
    for (topic, partition), instants in sorted(ats.items()):
        partitions[topic].append((partition, min(instants), max(instants)))
    return {name: Witnesses((), (), groups[name], members[name]) for name in groups}, TopicPartitions(partitions)


def test_real_groups_have_the_faults_that_were_made_and_no_others() -> None:
    """Each fault lasted minutes; of two groups it lasted seconds."""
    witnesses, topics = captured()
    window = Window(datetime(2026, 11, 30, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))
    truth = [*map(json.loads, (CAPTURED / "truth.jsonl").read_text().splitlines())]
    assert len(truth) == len(witnesses) == 5
    for act in truth:
        of_group = witnesses[act["about"]]
        points = settled_times([], {}, of_group, lambda broker, instant: instant)
        members = {m.member_id for m in of_group.members}
        same = dict.fromkeys(members, frozenset(topic for topic in topics.of_topics))
        rows = find_imbalances(("c", act["about"]), points, same, topics, window)
        assert [r.rule_id for r in rows] == ([act["rule"]] if act["expect"] == "finding" else [])
