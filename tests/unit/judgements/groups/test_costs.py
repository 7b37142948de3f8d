"""What rebalances cost, on lines as captured: partitions that stood, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import GROUP_RECORDS, GROUP_SNAPSHOTS, MEMBER_SNAPSHOTS
from kafka_hindsight.catalog.codes import GroupRecordType
from kafka_hindsight.catalog.gold import REBALANCES
from kafka_hindsight.catalog.rows import Event, GroupRecord, GroupSnapshot, MemberSnapshot, Rebalance
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.groups.assignments import Witnesses, partitions_in
from kafka_hindsight.judgements.groups.costs import cost_of, price, stops_of
from tests.support.histories import BOTH, lines
from tests.support.histories import rebalances as rebuilt
from tests.support.nights import EXCERPTS
from tests.support.rows import AT, row
from tools.plain_reader import read_logs

COOPERATIVE, EAGER = "cooperative-sticky", "range"


def stopped_partitions(rebalances: Sequence[Rebalance], witnesses: Witnesses) -> list[tuple[str, int | None]]:
    stops = stops_of(rebalances, witnesses)
    return [(r.cause, stops[r.rebalance_id].partitions) for r in rebalances]


def assignments(excerpt: str) -> list[Event]:
    """The lines of an excerpt's clients that tell which partitions came and went."""
    return read_logs(EXCERPTS / "assignments" / excerpt, "client", "night")[0]


def of_excerpt(excerpt: str, *origins: str, more: Sequence[Event] = ()) -> list[tuple[str, int | None]]:
    events = lines(excerpt, *origins)
    return stopped_partitions(rebuilt(events), Witnesses([*events, *more]))


def at(second: float) -> Any:
    return AT + timedelta(seconds=second)


def rebalance(second: int, generation: int, cause: str = "member_joined", **columns: Any) -> Rebalance:
    """A rebalance of two seconds that led to this generation."""
    defaults = {
        "rebalance_id": f"r{generation}",
        "from_generation": generation - 1,
        "to_generation": generation,
        "started_at": at(second),
        "ended_at": at(second + 2),
        "duration_ms": 2_000,
        "outcome": "completed",
        "cause": cause,
    }
    return row(REBALANCES, **{**defaults, **columns})


def assignment_line(second: float, generation: int, held: str) -> Event:
    """The line in which a leader tells the assignment: `a=t-0, t-1; b=t-2`."""
    parts = (part.partition("=") for part in held.split("; "))
    entries = ", ".join(f"{member}=Assignment(partitions=[{owned}])" for member, _, owned in parts)
    return row(
        EVENTS,
        kind="client_assignment_finished",
        happened_at=at(second),
        generation=generation,
        detail=f"{{{entries}}}",
    )


def assignor_line(assignor: str) -> Event:
    return row(EVENTS, kind="client_joined", happened_at=at(1), generation=1, assignor=assignor)


def group_record(second: float, generation: int, protocol: str, **held: list[int]) -> GroupRecord:
    members = [{"member_id": m, "assignment": [{"topic": "t", "partition": p} for p in ps]} for m, ps in held.items()]
    return row(
        GROUP_RECORDS,
        record_type="group_metadata",
        written_at=at(second),
        generation=generation,
        protocol=protocol,
        members=members,
    )


def reading_rows(second: float, **held: list[int] | None) -> tuple[list[GroupSnapshot], list[MemberSnapshot]]:
    """A reading of a settled group with an eager assignor: rows of group_snapshots and member_snapshots."""
    of = {"snapshot_id": f"s{second}", "snapshot_at": at(second)}
    group = row(GROUP_SNAPSHOTS, **of, state="STABLE", assignor=EAGER, member_count=len(held), error=None)
    members = [
        row(
            MEMBER_SNAPSHOTS,
            **of,
            member_id=m,
            assignment=None if ps is None else [{"topic": "t", "partition": p} for p in ps],
        )
        for m, ps in held.items()
    ]
    return [group], members


def test_eager_rebalance_stops_all_partitions() -> None:
    assert of_excerpt("pause-4.1", *BOTH, more=assignments("pause-4.1")) == [
        ("member_joined", 9),
        ("member_joined", 9),
        ("heartbeat_expired", 9),
        ("member_rejoined", 9),
        ("member_left", 9),
    ]


def test_cooperative_rebalance_stops_moved_partitions_in_followup_only() -> None:
    assert of_excerpt("cooperative-2.8", *BOTH, more=assignments("cooperative-2.8")) == [
        ("member_joined", 9),
        ("member_joined", 0),
        ("cooperative_followup", 4),
        ("member_joined", 0),
        ("cooperative_followup", 3),
        ("member_left", 3),
        ("member_left", 9),
    ]


def test_kip_848_rebalance_stops_only_partitions_that_change_owner() -> None:
    assert of_excerpt("kip848-4.1", *BOTH, more=assignments("kip848-4.1"))[:4] == [
        ("member_joined", 9),
        ("member_joined", 4),
        ("member_left", 4),
        ("member_joined", 4),
    ]


@pytest.mark.parametrize("excerpt", ["pause-4.1", "cooperative-2.8", "kip848-4.1"])
def test_stopped_partitions_are_unknown_from_broker_logs_alone(excerpt: str) -> None:
    stops = of_excerpt(excerpt, "broker")
    assert {count for cause, count in stops} <= {None, 0}


@pytest.mark.parametrize(
    ("assignor", "is_eager"),
    [("range", True), ("cooperative-sticky", False), ("sessioned", False), ("stream", False), ("default", True)],
)
def test_connect_and_streams_assignors_are_cooperative(assignor: str, is_eager: bool) -> None:
    [stop] = stops_of([rebalance(5, 2)], Witnesses([assignor_line(assignor)])).values()
    assert stop.is_eager is is_eager


def test_reading_gives_partition_count_of_eager_group() -> None:
    groups, members = reading_rows(60, a=[0, 1], b=[2])
    rebalances = [rebalance(0, 4), rebalance(90, 5, "member_left")]
    assert stopped_partitions(rebalances, Witnesses((), (), groups, members)) == [
        ("member_joined", 3),
        ("member_left", 3),
    ]


@pytest.mark.parametrize(("state", "held"), [("PREPARING_REBALANCE", [0]), ("STABLE", None)])
def test_reading_of_unsettled_group_gives_no_partition_count(state: str, held: list[int] | None) -> None:
    groups, members = reading_rows(60, a=held)
    witnesses = Witnesses((), (), [replace(groups[0], state=state)], members)
    assert stopped_partitions([rebalance(0, 4)], witnesses) == [("member_joined", None)]


def test_group_records_give_assignments_without_client_logs() -> None:
    records = [group_record(2, 4, COOPERATIVE, a=[0, 1]), group_record(12, 5, COOPERATIVE, a=[0], b=[]),
               group_record(22, 6, COOPERATIVE, a=[0], b=[1])]  # fmt: skip
    rebalances = [rebalance(0, 4), rebalance(10, 5), rebalance(20, 6, "cooperative_followup")]
    assert stopped_partitions(rebalances, Witnesses((), records)) == [
        ("member_joined", None),
        ("member_joined", 0),
        ("cooperative_followup", 1),
    ]


def test_assignment_of_interrupted_rebalance_moves_nothing() -> None:
    events = [
        assignor_line(COOPERATIVE),
        assignment_line(2, 1, "a=t-0, t-1"),
        assignment_line(11, 2, "a=t-0; b="),
        assignment_line(14, 3, "a=t-0; b=t-1"),
    ]
    overtaken = rebalance(10, 2, outcome="interrupted")
    stops = stopped_partitions([rebalance(0, 1), overtaken, rebalance(13, 3)], Witnesses(events))
    assert stops == [("member_joined", 2), ("member_joined", None), ("member_joined", 1)]


def test_stopped_partitions_are_unknown_without_assignor() -> None:
    events = [assignment_line(2, 1, "a=t-0, t-1")]
    assert stopped_partitions([rebalance(0, 1)], Witnesses(events)) == [("member_joined", None)]
    assert stopped_partitions([rebalance(0, 1)], Witnesses([*events, assignor_line(EAGER)])) == [("member_joined", 2)]


def test_assignment_is_read_with_separators_in_names() -> None:
    events = [assignor_line(EAGER), assignment_line(2, 1, "a, b=c-1=t-0; (x)=my-topic-1, my-topic-2")]
    assert stopped_partitions([rebalance(0, 1)], Witnesses(events)) == [("member_joined", 3)]
    assert partitions_in("my-topic-12, t-0, ") == {("my-topic", 12), ("t", 0)}


def test_cost_is_partitions_times_seconds_or_null() -> None:
    events = [assignor_line(EAGER), assignment_line(2, 1, "a=t-0, t-1, t-2")]
    finished, open_ = rebalance(0, 1), rebalance(10, 2, outcome="unfinished", ended_at=None, duration_ms=None)
    stops = stops_of([finished, open_], Witnesses(events))
    assert [r.partition_seconds for r in price([finished, open_], stops)] == [6.0, None]
    assert cost_of(finished, None) is None


@given(st.lists(st.dictionaries(st.sampled_from("abc"), st.sets(st.integers(0, 5))), min_size=1, max_size=6))
def test_cooperative_rebalance_never_stops_more_than_eager_one(generations: list[dict[str, set[int]]]) -> None:
    def disjoint(held: dict[str, set[int]]) -> str:
        owned = {p: m for m in sorted(held) for p in sorted(held[m])}
        return "; ".join(f"{m}={', '.join(f't-{p}' for p, o in owned.items() if o == m)}" for m in sorted(held) or "a")

    rebalances = [rebalance(10 * n, n + 1) for n in range(len(generations))]
    assignments_made = [assignment_line(10 * n + 1, n + 1, disjoint(held)) for n, held in enumerate(generations)]
    cooperative = stops_of(rebalances, Witnesses([assignor_line(COOPERATIVE), *assignments_made]))
    eager = stops_of(rebalances, Witnesses([assignor_line(EAGER), *assignments_made]))
    for r in rebalances:
        few, all_ = cooperative[r.rebalance_id].partitions, eager[r.rebalance_id]
        assert few is not None and all_.partitions is not None and all_.unmoved is not None
        assert few <= all_.partitions - all_.unmoved


def bounds(excerpt: str) -> list[tuple[float | None, float | None]]:
    events = lines(excerpt, *BOTH)
    rebalances = rebuilt(events)
    stops = stops_of(rebalances, Witnesses([*events, *assignments(excerpt)]))
    return [(r.partition_seconds_low, r.partition_seconds) for r in price(rebalances, stops)]


def test_partitions_of_eager_group_stand_at_least_from_the_end_of_its_join_phase() -> None:
    """Its members printed 0.117, 4.152, 0.063 and 2.773 partition-seconds after the first."""
    assert bounds("pause-4.1") == [(9.756, 9.756), (0.099, 4.851), (0.027, 9.297), (0.045, 16.767), (0.0, 4.977)]


def test_partitions_of_cooperative_group_stand_from_the_start_but_those_of_members_that_go_later() -> None:
    follow_up, leave, empty = bounds("cooperative-2.8")[-3:]
    assert (follow_up, leave, empty) == ((5.982, 5.982), (4.737, 4.737), (0.0, 4.599))


def test_partitions_of_epoch_stand_from_the_line_that_gives_them_back() -> None:
    assert bounds("kip848-4.1")[:3] == [(0.297, 0.333), (11.908, 20.872), (2.404, 2.412)]


def test_assignment_older_than_previous_rebalance_gives_no_cost() -> None:
    groups, members = reading_rows(10, a=[0, 1], b=[2])
    events = [assignor_line(COOPERATIVE), assignment_line(32, 6, "a=t-0; b=t-1, t-2")]
    rebalances = [rebalance(20, 5), rebalance(30, 6)]
    readings = [replace(groups[0], assignor=COOPERATIVE)]
    assert stopped_partitions(rebalances, Witnesses(events, (), readings, members)) == [
        ("member_joined", None),
        ("member_joined", None),
    ]


def test_kip_848_group_records_give_cost_of_epoch() -> None:
    def reached(second: float, member: str, epoch: int, *partitions: int) -> GroupRecord:
        held = [{"topic": "t", "topic_id": "T", "partition": p} for p in partitions]
        return row(
            GROUP_RECORDS,
            record_type=GroupRecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
            written_at=at(second), member_id=member, member_epoch=epoch, assignment=held, pending_revocation=[],
        )  # fmt: skip

    records = [reached(1, "a", 1, 0, 1), reached(11, "a", 2, 0), reached(12, "b", 2, 1), reached(30, "a", 3, 0)]
    epochs = [rebalance(second, epoch, protocol="consumer") for second, epoch in ((10, 2), (29, 3))]
    assert stopped_partitions(epochs, Witnesses((), records)) == [("member_joined", 1), ("member_joined", 0)]
