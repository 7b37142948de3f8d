"""Who owned what before and after each rebalance, held against what the members of real groups said they own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import GROUP_RECORDS
from kafka_hindsight.catalog.codes import Outcome, Protocol, RebalanceKind
from kafka_hindsight.catalog.gold import REBALANCES
from kafka_hindsight.catalog.rows import AssignmentChange, GroupRecord, Rebalance
from kafka_hindsight.judgements.groups.assignment_changes import changes_of, with_assignments
from kafka_hindsight.judgements.groups.assignments import Witnesses
from kafka_hindsight.judgements.groups.costs import price, stops_of
from kafka_hindsight.judgements.rebalances.members import MemberRegistry
from tests.support.groups import Witnessed, witnessed
from tests.support.nights import EXCERPTS
from tests.support.rows import AT, row

VERSIONS = ("2.8", "3.9", "4.4")
"""The Kafka of each night in which three members shared six partitions, and the second crashed and came back."""


@dataclass(frozen=True)
class Shared:
    rebalances: list[Rebalance]
    changes: list[AssignmentChange]

    def after(self, rebalance: Rebalance) -> dict[str, list[str]]:
        """What each client owned after a rebalance, in the words of its own answer."""
        rows = (c for c in self.changes if c.rebalance_id == rebalance.rebalance_id and c.after)
        return {str(c.client_id): sorted(f"{p.topic}-{p.partition}" for p in c.after or ()) for c in rows}


def shared(group: Witnessed, witnesses: Witnesses | None = None) -> Shared:
    history = group.history()
    stops = stops_of(history.rebalances, witnesses or Witnesses(group.events))
    rebalances = with_assignments(price(history.rebalances, stops), stops)
    return Shared(rebalances, changes_of(rebalances, stops, history.members))


@cache
def nights(version: str) -> dict[str, Witnessed]:
    return {group.group_id: group for group in witnessed(EXCERPTS / f"shared-out-{version}")}


def acts(version: str) -> Sequence[dict[str, Any]]:
    """What was done to the members, and what they said when they were asked what they own."""
    return [*map(json.loads, (EXCERPTS / f"shared-out-{version}" / "truth.jsonl").read_text().splitlines())]


@pytest.mark.parametrize("version", VERSIONS)
def test_assignments_are_what_members_said_they_own(version: str) -> None:
    kinds = set()
    for answer in (act for act in acts(version) if act["action"] == "owners_asked"):
        night = shared(nights(version)[answer["group"]])
        ended = [r for r in night.rebalances if r.ended_at and r.ended_at <= datetime.fromisoformat(answer["at"])]
        if ended[-1].kind == RebalanceKind.SERVER_SIDE:  # no records of the group are at hand
            continue
        kinds.add(ended[-1].kind)
        assert night.after(ended[-1]) == answer["owners"]
    assert kinds == {RebalanceKind.EAGER, RebalanceKind.COOPERATIVE}


def of_kind(version: str, kind: RebalanceKind) -> Shared:
    return next(s for group in nights(version).values() if (s := shared(group)).rebalances[0].kind == kind)


def crash_in(version: str, night: Shared) -> Rebalance:
    """The rebalance in which the group goes on without the member that was killed."""
    group = night.rebalances[0].group_id
    (killed,) = [row for row in acts(version) if row["action"] == "member_kill9" and row["group"] == group]
    later = (r for r in night.rebalances if r.started_at > datetime.fromisoformat(killed["at"]))
    crash = next(later)
    assert crash.client_id == killed["client"]
    return crash


@pytest.mark.parametrize("version", VERSIONS)
def test_crash_of_eager_member_stops_all_partitions_and_moves_its_own(version: str) -> None:
    night = of_kind(version, RebalanceKind.EAGER)
    crash = crash_in(version, night)
    assert crash.partitions_moved is not None and crash.partitions_kept is not None
    assert crash.partitions_moved >= 2  # range may shift partitions of members that stay, too
    assert (crash.partitions_moved + crash.partitions_kept, crash.partitions_ownerless) == (6, 6)
    assert (crash.assignor, crash.not_known) == ("range", None)
    rows = [c for c in night.changes if c.rebalance_id == crash.rebalance_id]
    assert [(c.was_member, c.is_member, len(c.lost or ())) for c in rows if c.client_id == crash.client_id] == [
        (True, False, 2)
    ]
    assert crash.leader_client_id in {c.client_id for c in rows if c.is_member}


@pytest.mark.parametrize("version", VERSIONS)
def test_crash_of_cooperative_member_stops_its_partitions_alone(version: str) -> None:
    night = of_kind(version, RebalanceKind.COOPERATIVE)
    crash = crash_in(version, night)
    assert (crash.partitions_moved, crash.partitions_kept, crash.partitions_ownerless) == (2, 4, 2)
    follow_ups = [r for r in night.rebalances if r.cause.noun.is_follow_up]
    assert follow_ups
    ids = {r.rebalance_id for r in follow_ups}
    assert [c for c in night.changes if c.rebalance_id in ids and (c.lost or c.before is None)] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_without_members_logs_each_row_names_missing_witnesses(version: str) -> None:
    for group in nights(version).values():
        brokers = group.of("broker")
        night = shared(brokers)
        assert {r.kind for r in night.rebalances} <= {None, RebalanceKind.COOPERATIVE, RebalanceKind.SERVER_SIDE}
        led = [r for r in night.rebalances if r.outcome == Outcome.COMPLETED and r.from_generation]
        assert led or night.rebalances[0].protocol == Protocol.CONSUMER
        assert all(r.not_known and "records in __consumer_offsets" in r.not_known for r in led)
        assert all(r.partitions_moved is None for r in led)
        assert all(f"its leader '{r.leader_client_id}'" in (r.not_known or "") for r in led if r.leader_client_id)


def coordinator_record(second: float, member: str, epoch: int, owned: list[int], *, gone: bool = False) -> GroupRecord:
    return row(
        GROUP_RECORDS,
        record_type="consumer_group_current_member_assignment",
        written_at=AT + timedelta(seconds=second),
        record_offset=int(second * 10),
        member_id=member,
        member_epoch=epoch,
        is_tombstone=gone,
        assignment=[{"topic_id": "T", "topic": "t", "partition": p} for p in owned],
    )


def test_records_show_owners_before_and_after_an_epoch() -> None:
    records = [
        coordinator_record(0, "a", 1, [0, 1, 2]),
        coordinator_record(10, "a", 2, [0, 1]),
        coordinator_record(10.5, "b", 2, [2]),
        coordinator_record(20, "b", 3, [], gone=True),
        coordinator_record(20.5, "a", 3, [0, 1, 2]),
    ]
    epochs = [
        row(
            REBALANCES,
            rebalance_id=f"r{to}",
            protocol="consumer",
            from_generation=to - 1,
            to_generation=to,
            started_at=AT + timedelta(seconds=start),
            ended_at=AT + timedelta(seconds=start + 1),
            outcome="completed",
        )
        for to, start in ((2, 9.9), (3, 19.9))
    ]
    stops = stops_of(epochs, Witnesses((), records))
    rows = changes_of(epochs, stops, MemberRegistry([]))
    assert [
        (c.member_id, c.was_member, c.is_member, *(sorted(p.partition for p in x or ()) for x in (c.gained, c.lost)))
        for c in rows
    ] == [
        ("a", True, True, [], [2]),
        ("b", False, True, [2], []),
        ("a", True, True, [2], []),
        ("b", True, False, [], [2]),
    ]
    counted = with_assignments(epochs, stops)
    assert [(r.kind, r.partitions_moved, r.partitions_kept) for r in counted] == [("server_side", 1, 2)] * 2
    (unseen,) = with_assignments(epochs[:1], stops_of(epochs[:1], Witnesses()))
    assert unseen.not_known == (
        "Who owned what before and after is not known: the group's records in __consumer_offsets would show it."
    )


@pytest.mark.parametrize(
    ("assignor", "kind"),
    [("range", "eager"), ("default", "eager"), ("stream", "cooperative"), ("sessioned", "cooperative"), ("own", None)],
)
def test_kind_follows_from_known_assignors_alone(assignor: str, kind: str | None) -> None:
    from tests.unit.judgements.groups.test_costs import assignor_line, rebalance

    rebalances = [rebalance(5, 2)]
    stops = stops_of(rebalances, Witnesses([assignor_line(assignor)]))
    (result,) = with_assignments(rebalances, stops)
    assert result.kind == kind
    assert kind is not None or "'own' is eager or cooperative" in (result.not_known or "")
