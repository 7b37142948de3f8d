"""Where a group went on elsewhere, and where it did not, by marks of one partition."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import Confidence, JumpCause, JumpHarm, ResetPolicy
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import OffsetJump
from kafka_hindsight.judgements.offsets.jumps import offset_jumps, row_of
from kafka_hindsight.judgements.offsets.log_changes import LogChanges, LogHistory
from kafka_hindsight.judgements.offsets.marks import OffsetWitnesses, Sign, positions_in
from kafka_hindsight.judgements.offsets.moves import COMMIT_TRIED_FOR, LogEnds, Place, Removal
from kafka_hindsight.measures.records_moved import records_moved
from kafka_hindsight.shared.timelines import Timeline, instants
from tests.support.offsets import GIVES_BACK, at, began, ended, event, mark, moves, owned, recorded, removal


def places(*found: object) -> list[tuple[object, ...]]:
    """The sign, both ends and the client of each move."""
    return [
        (m.sign.name, m.origin.low, m.origin.high, m.target.low, m.target.high, m.client_id)  # type: ignore[attr-defined]
        for m in found
    ]


def test_offsets_of_a_cluster_that_began_again_are_those_of_other_logs() -> None:
    """A member goes on at 3, where 50 had been committed: what the former cluster had is not read again."""
    lines = [
        event(0, Kind.CLIENT_POSITION_RESUMED, topic="orders", partition=0, log_offset=50),
        event(60, Kind.CLIENT_POSITION_RESUMED, topic="orders", partition=0, log_offset=3),
    ]

    def jumps(*begins: float) -> list[OffsetJump]:
        witnesses = OffsetWitnesses(lines)
        return offset_jumps(("c", "g"), witnesses, [], LogChanges({}), [], begins=[at(b) for b in begins])

    assert [(j.offset_from, j.offset_to) for j in jumps()] == [(50, 3)]
    assert jumps(30) == []
    assert len(jumps(90)) == 1


def test_a_handover_after_a_commit_is_no_move() -> None:
    handover = [event(30, Kind.CLIENT_REVOKED, detail="orders-0")]
    marks = mark(0, Sign.RESUMED, 10), mark(29, Sign.READ, 50), mark(31, Sign.RESUMED, 50, client="b")
    assert moves(*marks, lines=handover, ends=[ended(60, 90)]) == []


def test_a_member_that_gives_back_when_it_has_joined_may_have_read_on_since_its_commit() -> None:
    marks = mark(0, Sign.RESUMED, 10), mark(29, Sign.READ, 50), mark(31, Sign.RESUMED, 50, client="b")
    ends = [ended(20, 70), ended(40, 90)]
    (move,) = moves(*marks, lines=reversed(GIVES_BACK), ends=ends)
    assert places(move) == [("WENT_ON_AT_COMMIT", 50, 90, 50, 50, "b")]
    row = row_of("c", move)
    assert row is not None
    assert (row.cause, row.confidence, row.records_low) == (JumpCause.READ_WHILE_JOINING, Confidence.POSSIBLE, 0)
    assert moves(*marks, lines=GIVES_BACK, ends=[ended(40, 50)]) == []
    assert moves(*marks, lines=GIVES_BACK, ends=ends, clients_without_auto_commit=["a"]) == []


def test_a_commit_that_fails_while_its_member_joins_shows_the_least_that_it_had_read() -> None:
    marks = (
        mark(0, Sign.RESUMED, 10), mark(20, Sign.READ, 50), mark(29, Sign.COMMIT_FAILED, 60),
        mark(31, Sign.RESUMED, 50, client="b"),
    )  # fmt: skip
    (move,) = moves(*marks, lines=GIVES_BACK, ends=[ended(40, 90)])
    assert places(move) == [("WENT_ON_AT_COMMIT", 60, 90, 50, 50, "b")]
    row = row_of("c", move)
    assert row is not None
    assert (row.cause, row.confidence, row.records_low) == (JumpCause.COMMIT_FAILED, Confidence.LIKELY, 10)


def test_a_commit_that_failed_long_before_a_crash_hides_nothing() -> None:
    marks = (
        mark(0, Sign.RESUMED, 10), mark(5, Sign.COMMIT_FAILED, 20), mark(20, Sign.READ, 50),
        mark(31, Sign.RESUMED, 50, client="b"),
    )  # fmt: skip
    lost = [event(30, Kind.CLIENT_LOST, detail="orders-0")]
    assert places(*moves(*marks, lines=lost, ends=[ended(40, 90)])) == [("WENT_ON_AT_COMMIT", 50, 90, 50, 50, "b")]


def test_a_member_that_keeps_a_partition_keeps_its_log() -> None:
    marks = (
        mark(0, Sign.RESUMED, 10), mark(25, Sign.OWNED, member_id="a-1"), mark(29, Sign.READ, 50),
        mark(31, Sign.RESUMED, 50, client="b"),
    )  # fmt: skip
    lost = [event(30, Kind.CLIENT_LOST, detail="orders-0")]
    assert places(*moves(*marks, lines=lost, ends=[ended(40, 90)])) == [("WENT_ON_AT_COMMIT", 50, 90, 50, 50, "b")]


def test_what_a_lost_owner_had_read_lies_between_its_commit_and_the_end_of_the_log() -> None:
    lost = [event(30, Kind.CLIENT_LOST, detail="orders-0")]
    marks = mark(0, Sign.RESUMED, 10), mark(20, Sign.READ, 50), mark(31, Sign.RESUMED, 50, client="b")
    assert places(*moves(*marks, lines=lost, ends=[ended(25, 80), ended(40, 90)])) == [
        ("WENT_ON_AT_COMMIT", 50, 90, 50, 50, "b")
    ]


def test_nothing_is_read_again_where_the_log_ended_at_the_commit() -> None:
    lost = [event(30, Kind.CLIENT_LOST, detail="orders-0")]
    marks = mark(0, Sign.RESUMED, 10), mark(20, Sign.READ, 50), mark(31, Sign.RESUMED, 50, client="b")
    assert moves(*marks, lines=lost, ends=[ended(40, 50)]) == []


def test_a_process_that_began_anew_had_not_given_its_partitions_back() -> None:
    anew = [event(30, Kind.CLIENT_CONFIGURED)]
    marks = mark(0, Sign.RESUMED, 50), mark(31, Sign.RESUMED, 50)
    assert places(*moves(*marks, lines=anew, ends=[ended(40, 90)])) == [("WENT_ON_AT_COMMIT", 50, 90, 50, 50, "a")]


def test_a_failed_commit_makes_it_exact_though_its_line_comes_late() -> None:
    marks = (
        mark(0, Sign.RESUMED, 3),
        mark(31, Sign.RESUMED, 3, client="b"),
        mark(33, Sign.COMMIT_FAILED, 103),
    )
    assert places(*moves(*marks, ends=[ended(40, 200)])) == [("WENT_ON_AT_COMMIT", 103, 103, 3, 3, "b")]


def test_a_commit_that_fails_minutes_after_the_next_owner_began_is_another_ones() -> None:
    """The client may have been started again meanwhile, without a line that shows it, and have read on elsewhere."""
    marks = (
        mark(0, Sign.RESUMED, 3),
        mark(31, Sign.RESUMED, 3, client="b"),
        mark(31 + COMMIT_TRIED_FOR.total_seconds() + 1, Sign.COMMIT_FAILED, 9_767),
    )
    assert moves(*marks, ends=[ended(40, 20_000)]) == []


def test_where_a_member_went_on_stands_for_a_commit_while_none_is_at_hand() -> None:
    lower = mark(0, Sign.RESUMED, 50), mark(60, Sign.RESUMED, 20, client="b")
    assert places(*moves(*lower, has_commits=True)) == [("COMMIT_IS_LOWER", 50, 50, 20, 20, "b")]
    higher = mark(0, Sign.COMMITTED, 10, has_members=True), mark(1, Sign.RESUMED, 50), lower[1]
    assert moves(*higher, has_commits=True) == []


def test_a_seek_to_where_a_member_has_just_begun_is_no_move() -> None:
    assert moves(mark(0, Sign.RESUMED, 50), mark(0.2, Sign.SOUGHT, 50), ends=[ended(1, 900)]) == []
    back = moves(mark(0, Sign.RESUMED, 50), mark(0.2, Sign.SOUGHT, 10), ends=[ended(1, 900)])
    assert places(*back) == [("SOUGHT", 50, 900, 10, 10, "a")]


def test_a_seek_forward_skips_nothing_for_sure_where_an_application_may_keep_its_offsets_elsewhere() -> None:
    (forward,) = moves(mark(0, Sign.RESUMED, 50), mark(0.2, Sign.SOUGHT, 400), ends=[ended(1, 900)])
    row = row_of("c", forward)
    assert row is not None
    assert (row.harm, row.records_low, row.confidence) == (JumpHarm.UNKNOWN, 0, Confidence.LIKELY)


def test_a_consumer_that_assigns_itself_its_partitions_is_no_administrator() -> None:
    """It commits without a generation, and its group has no member: so do connectors of Flink."""
    alone = (mark(60.0 * n, Sign.COMMITTED, 100 * n, has_members=False) for n in range(1, 5))
    read = (mark(60.0 * n, Sign.READ, 100 * n, has_members=False) for n in range(1, 5))
    assert moves(*alone, has_commits=True) == []
    assert moves(*read) == []
    assert moves(mark(0, Sign.READ, 50, has_members=False), mark(60, Sign.RESUMED, 90)) == []


def test_runs_of_commits_without_a_member_are_no_reset() -> None:
    marks = (
        mark(0, Sign.COMMITTED, 50, has_members=True),
        mark(10, Sign.COMMITTED, 60, has_members=False, is_alone=False),
        mark(50, Sign.COMMITTED, 90, has_members=False, is_alone=False),
    )
    assert moves(*marks, has_commits=True) == []


def test_members_that_came_and_went_between_two_readings_may_have_committed() -> None:
    marks = (
        mark(0, Sign.READ, 40, has_members=True),
        mark(10, Sign.READ, 50, has_members=False),
        mark(300, Sign.RESUMED, 90, client="b"),
    )
    assert places(*moves(*marks, rebalances=[299])) == [("COMMITTED_FROM_OUTSIDE", 50, 50, 90, 90, "b")]
    assert moves(*marks, rebalances=[60, 299]) == []


def test_a_slow_reading_may_show_what_a_member_committed_after_it_had_gone_on() -> None:
    """It bears the instant at which it began."""
    goes_on = mark(0, Sign.RESUMED, 50), mark(33, Sign.RESUMED, 100, client="b")
    assert moves(*goes_on, mark(30, Sign.READ, 150, until=at(40))) == []
    (lower,) = moves(*goes_on, mark(20, Sign.READ, 150, until=at(30)))
    assert places(lower) == [("COMMIT_IS_LOWER", 150, 150, 100, 100, "b")]


def test_a_member_that_comes_during_a_reading_may_have_committed_what_it_shows() -> None:
    marks = (
        mark(0, Sign.READ, 40, has_members=True),
        mark(10, Sign.READ, 50, has_members=False),
        mark(20, Sign.READ, 90, has_members=False, until=at(30)),
        mark(60, Sign.RESUMED, 90, client="b"),
    )
    assert moves(*marks, owners=[owned(25, 90)]) == []
    assert places(*moves(*marks)) == [("COMMITTED_FROM_OUTSIDE", 50, 50, 90, 90, "b")]


def test_the_end_of_a_log_is_at_least_that_of_a_reading_that_was_over() -> None:
    ends = LogEnds([ended(0, 10), ended(20, 30), ended(40, 50)])
    assert ends.at(at(25)) == Place(10, 50)
    assert ends.at(at(40)) == Place(30, 50)
    assert ends.at(at(75)) == Place(50, None)


def test_an_expiry_is_certain_only_beside_the_record_that_deletes_the_offset() -> None:
    deleted = recorded(30, Sign.DELETED)
    marks = mark(0, Sign.COMMITTED, 50, has_members=True), deleted, mark(60, Sign.RESUMED, 0, client="b")

    def verdict(*removals: Removal) -> str:
        (move,) = moves(*marks, removals=removals, has_commits=True)
        row = row_of("c", move)
        assert row is not None
        return f"{row.cause} {row.confidence}"

    expired = Kind.OFFSETS_EXPIRED
    assert verdict(removal(30, expired)) == "offsets_expired certain"
    assert verdict(removal(30, expired, is_named=False)) == "offsets_expired likely"
    assert verdict(removal(50, expired)) == "offsets_deleted likely"
    assert verdict(removal(50, expired, is_named=False)) == "commit_lost possible"


def test_an_expiry_is_likely_where_the_policy_leads_to_an_end_that_no_reading_shows_exactly() -> None:
    marks = (
        mark(0, Sign.COMMITTED, 50, has_members=True), recorded(30, Sign.DELETED),
        mark(60, Sign.NOTHING_COMMITTED), mark(60.1, Sign.RESET, None, policy=ResetPolicy.LATEST),
    )  # fmt: skip
    (move,) = moves(
        *marks, ends=[ended(20, 80), ended(90, 99)], removals=[removal(30, Kind.OFFSETS_EXPIRED)], has_commits=True
    )
    row = row_of("c", move)
    assert row is not None and not move.target.exact
    assert (row.cause, row.confidence) == (JumpCause.OFFSETS_EXPIRED, Confidence.LIKELY)


def test_an_expiry_is_proven_by_the_last_line_about_it() -> None:
    deleted = recorded(30, Sign.DELETED)
    marks = mark(0, Sign.COMMITTED, 50, has_members=True), deleted, mark(60, Sign.RESUMED, 0, client="b")
    removals = [removal(seconds, Kind.OFFSETS_EXPIRED) for seconds in (29.5, 30)]
    (move,) = moves(*marks, removals=removals, has_commits=True)
    row = row_of("c", move)
    assert row is not None and row.cause == JumpCause.OFFSETS_EXPIRED
    assert [q.happened_at for q in row.evidence if q.source == "broker-1/server.log"] == [at(30)]


def test_nothing_is_skipped_until_a_member_comes_back() -> None:
    (away,) = moves(mark(0, Sign.READ, 50, has_members=False), owners=[owned(-60, -1)], starts=[began(30, 90)])
    row = row_of("c", away)
    assert row is not None and row.resumed_at is None and row.records_low == 40
    assert records_moved([row], JumpHarm.RECORDS_SKIPPED).low == 0
    assert records_moved([replace(row, resumed_at=at(60))], JumpHarm.RECORDS_SKIPPED).low == 40


def test_a_topic_that_was_deleted_begins_anew() -> None:
    log = LogHistory(Timeline((), lambda s: s.at), Timeline((), lambda c: c.at), instants([at(30)]))
    marks = mark(0, Sign.RESUMED, 50), mark(60, Sign.NOTHING_COMMITTED), mark(60.1, Sign.RESET, 0)
    assert moves(*marks, log=log) == []
    assert len(moves(*marks)) == 1


def test_retention_below_a_member_that_keeps_up_is_no_move() -> None:
    marks = mark(0, Sign.COMMITTED, 50, has_members=True), mark(60, Sign.COMMITTED, 500, has_members=True)
    assert moves(*marks, starts=[began(30, 300)], owners=[owned(-60, 90)], has_commits=True) == []


def test_retention_below_a_group_without_members_skips_what_it_had_not_read() -> None:
    marks = mark(0, Sign.COMMITTED, 50, has_members=True), mark(60, Sign.COMMITTED, 500, has_members=True)
    found = moves(*marks, starts=[began(30, 300)], owners=[owned(-60, 10), owned(50, 90)], has_commits=True)
    assert places(*found) == [("LOG_BEGINS_LATER", 50, 50, 300, 500, None)]


def test_several_changes_from_outside_are_one_move_from_the_last_commit_of_a_member() -> None:
    marks = (
        mark(0, Sign.COMMITTED, 50, has_members=True),
        mark(10, Sign.COMMITTED, 30, has_members=False),
        mark(20, Sign.COMMITTED, 10, has_members=False),
        mark(60, Sign.RESUMED, 10, client="b"),
    )
    assert places(*moves(*marks, has_commits=True)) == [("COMMITTED_FROM_OUTSIDE", 50, 50, 10, 10, "b")]


def test_a_change_from_outside_that_is_taken_back_is_no_move() -> None:
    marks = (
        mark(0, Sign.COMMITTED, 50, has_members=True),
        mark(10, Sign.COMMITTED, 30, has_members=False),
        mark(20, Sign.COMMITTED, 50, has_members=False),
        mark(60, Sign.RESUMED, 50, client="b"),
    )
    assert moves(*marks, has_commits=True) == []


def test_a_policy_that_leads_to_the_end_is_bounded_by_readings_and_commits() -> None:
    marks = (
        mark(0, Sign.RESUMED, 50),
        mark(60, Sign.OUT_OF_RANGE, 50, policy=ResetPolicy.LATEST),
        mark(90, Sign.READ, 130),
    )
    found = moves(*marks, starts=[began(30, 120)], ends=[ended(20, 125), ended(65, 140)])
    assert places(*found) == [("OUT_OF_RANGE", 50, 50, 125, 130, "a")]


def test_positions_of_a_line_are_read_whatever_the_topic_is_called() -> None:
    assert [*positions_in("a-b-0=5, x=y-1=7, broken, c-2=-1")] == [(("a-b", 0), 5), (("x=y", 1), 7)]


_MARKS = st.builds(
    mark,
    st.integers(0, 200).map(float),
    st.sampled_from(list(Sign)),
    st.none() | st.integers(0, 100),
    st.sampled_from(["a", "b"]),
    has_members=st.sampled_from([None, True, False]),
    policy=st.none() | st.sampled_from(list(ResetPolicy)),
)


@given(
    st.lists(_MARKS, max_size=12),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 100)), max_size=4),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 100)), max_size=4),
    st.booleans(),
)
def test_rows_keep_their_laws_whatever_was_seen(
    marks: list[object], starts: list[tuple[int, int]], ends: list[tuple[int, int]], has_commits: bool
) -> None:
    """The bounds are in order, exact where both ends are known, and a certain row knows its number."""
    found = moves(
        *marks,  # type: ignore[arg-type]
        starts=[began(*s) for s in starts],
        ends=[ended(*e) for e in ends],
        lines=[event(100, Kind.CLIENT_LOST, detail="orders-0")],
        owners=[owned(0, 50), owned(120, 150)],
        removals=[removal(90, Kind.GROUPS_DELETED), removal(100, Kind.OFFSETS_EXPIRED)],
        has_commits=has_commits,
    )
    for row in filter(None, (row_of("c", m) for m in found)):
        assert row.evidence
        assert row.records_low >= 0
        assert row.records_high is None or 0 < row.records_high >= row.records_low
        if row.offset_from is not None and row.offset_to is not None and row.harm is not JumpHarm.UNKNOWN:
            assert row.records_low == row.records_high == abs(row.offset_to - row.offset_from)
        if row.confidence == "certain":
            assert row.records_low == row.records_high
        assert row.resumed_at is None or row.resumed_at >= row.jumped_at
        assert replace(row, incident_id="i").jump_id == row.jump_id
