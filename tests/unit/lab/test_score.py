"""The scorer against tiny truths: each rule of docs/design.md section 8 holds, and does not hold just beside it."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any, ClassVar

import pytest

from kafka_hindsight.catalog import BY_NAME, codes
from lab.drill import score, truth
from lab.drill.absences import OF_ABSENCES
from lab.drill.act_expectations import CLOSED_CODES, EXPIRY_CODES, OF_ACTS, SILENCES_OF
from lab.drill.acts import TruthError
from lab.drill.canary_expectations import OF_CANARIES
from lab.drill.rows import SCORED
from lab.expectations import EXPECTATIONS, OF_ROWS
from lab.truth.label_expectations import OF_LABELS
from tests.support.rows import AT, values
from tests.support.scored_rows import act, at, contributor, failover, incident, member, met, outage, rebalance

Row = dict[str, Any]


def test_every_code_of_the_truth_is_in_the_catalog() -> None:
    kinds = {
        "rebalances": codes.Cause,
        "broker_outages": codes.OutageKind,
        "failovers": codes.FailoverKind,
        "out_of_sync_periods": codes.OutOfSyncKind,
    }
    for expectation in OF_ACTS.values():
        assert set(expectation.codes) <= set(kinds.get(expectation.table, ()))
        assert expectation.table in SCORED
    assert set(EXPIRY_CODES) <= set(codes.Cause)


def coded(table: str) -> list[tuple[str, str]]:
    """The expectations that rows of a table meet by a code, with each code."""
    return [(name, code) for name, e in OF_ACTS.items() if e.table == table for code in e.codes]


@pytest.mark.parametrize(
    ("expect", "cause"),
    [(expect, cause) for expect, cause in coded("rebalances") if expect != "rolling_restart"],
)
def test_act_is_met_by_its_own_cause_alone(expect: str, cause: str) -> None:
    silence = SILENCES_OF.get(expect, (None,))[0]
    assert met([member(0, expect)], rebalances=[rebalance(5, cause, silence=silence)]) == [True]
    other = "unknown"
    assert met([member(0, expect)], rebalances=[rebalance(5, other)]) == [False]


@pytest.mark.parametrize(
    ("expect", "silence", "is_met"),
    [
        ("network_cut", "network", True),
        ("network_cut", "pause", False),
        ("network_cut", "unknown", False),
        ("network_cut_unseen", "unknown", True),
        ("network_cut_unseen", "pause", False),
        ("process_paused", "pause", True),
        ("process_paused", "network", False),
        ("process_paused_unseen", "network", False),
    ],
)
def test_silence_of_a_member_is_met_by_its_own_kind(expect: str, silence: str, is_met: bool) -> None:
    assert met([member(0, expect)], rebalances=[rebalance(5, "heartbeat_expired", silence=silence)]) == [is_met]


@pytest.mark.parametrize(("backlog", "worked_off_at", "is_met"), [(9, AT, True), (0, None, False), (9, None, False)])
def test_group_that_fell_behind_is_met_by_a_backlog_that_was_worked_off(
    backlog: int, worked_off_at: datetime | None, is_met: bool
) -> None:
    row = {"group_id": "g", "started_at": AT, "backlog": backlog, "worked_off_at": worked_off_at}
    assert met([member(0, "fell_behind")], backlogs=[row]) == [is_met]


@pytest.mark.parametrize(("seconds", "is_met"), [(-1.1, False), (-1, True), (0, True), (75, True), (75.1, False)])
def test_rebalance_meets_act_from_1_s_before_to_75_s_after(seconds: float, is_met: bool) -> None:
    assert met([member(0, "member_leave")], rebalances=[rebalance(seconds, "member_left")]) == [is_met]


@pytest.mark.parametrize(("seconds", "is_met"), [(-30.1, False), (-30, True), (75, True), (75.1, False)])
def test_contributor_meets_act_in_rebalance_from_30_s_before_to_75_s_after(seconds: float, is_met: bool) -> None:
    shared = rebalance(seconds, "member_left", client="a", contributors=[contributor("member_left", "b")])
    assert met([member(0, "member_leave", client="b")], rebalances=[shared]) == [is_met]


def test_act_is_met_only_in_its_group_and_for_its_member() -> None:
    left = [rebalance(5, "member_left", client="a")]
    assert met([member(0, "member_leave", client="b")], rebalances=left) == [False]
    assert met([act(0, expect="member_leave", group="other", client="a")], rebalances=left) == [False]
    shared = [rebalance(5, "member_left", client="a", contributors=[contributor("member_dead", "b")])]
    assert met([member(0, "member_leave", client="b")], rebalances=shared) == [False]


def test_member_is_matched_by_client_id_or_instance_id() -> None:
    static = member(0, "session_expired_dead", client="a", group_instance_id="i1")
    assert met([static], rebalances=[rebalance(5, "member_dead", client=None, instance_id="i1")]) == [True]
    assert met([static], rebalances=[rebalance(5, "member_dead", client="a")]) == [True]
    assert met([static], rebalances=[rebalance(5, "member_dead", client=None, instance_id="i2")]) == [False]
    assert met([static], rebalances=[rebalance(5, "member_dead", client=None)]) == [False]


def test_act_on_a_topic_matches_any_member() -> None:
    acts = [act(0, expect="partitions_added", group="g", topic="t")]
    assert met(acts, rebalances=[rebalance(5, "partitions_added", client="whoever")]) == [True]


def test_act_without_expectation_is_not_scored() -> None:
    assert met([act(0, "member_close", group="g", client="a")], rebalances=[]) == []


@pytest.mark.parametrize(("seconds", "is_met"), [(-40.1, False), (-40, True), (40, True), (40.1, False)])
@pytest.mark.parametrize(("expect", "kind"), coded("broker_outages"))
def test_outage_meets_act_within_40_s(expect: str, kind: str, seconds: float, is_met: bool) -> None:
    acts = [act(0, expect=expect, broker=1)]
    assert met(acts, broker_outages=[outage(seconds, 1, kind)]) == [is_met]
    assert met(acts, broker_outages=[outage(0, 2, kind)]) == [False]
    assert met(acts, broker_outages=[outage(0, 1, "unknown")]) == [False]


@pytest.mark.parametrize(("expect", "kind"), coded("failovers"))
def test_failover_meets_act_on_its_topic(expect: str, kind: str) -> None:
    acts = [act(0, expect=expect, topic="t", broker=9)]
    assert met(acts, failovers=[failover(5, kind)]) == [True]
    assert met(acts, failovers=[failover(5, kind, topic="other")]) == [False]
    assert met(acts, failovers=[failover(5, "broker_crash")]) == [False]
    assert met(acts, failovers=[failover(76, kind)]) == [False]


def test_imbalance_act_is_met_by_a_row_over_the_threshold() -> None:
    def imbalance(seconds: float, over: bool) -> Row:
        return values(BY_NAME["gold.leader_imbalance"], snapshot_at=at(seconds), over_threshold=over)

    acts = [act(0, expect="imbalance")]
    assert met(acts, leader_imbalance=[imbalance(9, True)]) == [True]
    assert met(acts, leader_imbalance=[imbalance(9, False)]) == [False]
    assert met(acts, leader_imbalance=[imbalance(80, True)]) == [False]


class TestRollingRestart:
    ACTS: ClassVar[list[Row]] = [
        member(0, "rolling_restart", "a"),
        member(2, "rolling_restart", "a"),
        member(8, "rolling_restart", "b"),
        member(10, "rolling_restart", "b"),
    ]

    @staticmethod
    def rows(*incident_ids: str) -> list[Row]:
        steps = [
            (0, "member_left", "a"),
            (2, "member_rejoined", "a"),
            (8, "member_left", "b"),
            (10, "member_rejoined", "b"),
        ]
        return [
            rebalance(s, cause, client, incident_id=i)
            for (s, cause, client), i in zip(steps, incident_ids, strict=True)
        ]

    def test_all_acts_in_one_incident_are_met(self) -> None:
        assert met(self.ACTS, rebalances=self.rows("i", "i", "i", "i"), incidents=[incident("i")]) == [True] * 4

    def test_acts_in_a_second_incident_are_not_met(self) -> None:
        tables = {"rebalances": self.rows("i", "i", "i", "j"), "incidents": [incident("i"), incident("j")]}
        assert met(self.ACTS, **tables) == [True, True, True, False]

    @pytest.mark.parametrize("other", [incident("i", kind="storm"), incident("i", kind="single")])
    def test_incident_of_another_kind_meets_no_act(self, other: Row) -> None:
        assert met(self.ACTS, rebalances=self.rows("i", "i", "i", "i"), incidents=[other]) == [False] * 4


class TestHostSilent:
    ACT: ClassVar[Row] = {**member(0, "host_silent"), "host": "10.0.0.7"}

    @pytest.mark.parametrize(
        ("columns", "is_met"),
        [
            ({}, True),
            ({"kind": "single"}, False),
            ({"group_ids": ["other"]}, False),
            ({"explanation": "All 3 members on host 10.0.0.8 ran out."}, False),
            ({"started_at": at(80)}, False),
        ],
    )
    def test_host_silent_incident_must_name_group_and_host(self, columns: Row, is_met: bool) -> None:
        silent = {"kind": "host_silent", "group_ids": ["g"], "explanation": "All 3 members on host 10.0.0.7 ran out."}
        assert met([self.ACT], incidents=[{**incident("i"), "started_at": at(7), **silent, **columns}]) == [is_met]


class TestSilence:
    SILENT = member(0, "static_leave_silent", group_instance_id="i1", session_timeout_ms="15000")

    def test_silent_leave_is_met_without_rebalances(self) -> None:
        assert met([self.SILENT], rebalances=[]) == [True]

    def test_rebalance_breaks_silent_leave(self) -> None:
        assert met([self.SILENT], rebalances=[rebalance(5, "member_joined", client="b")]) == [False]

    def test_rebalance_of_other_group_or_before_does_not_break_silent_leave(self) -> None:
        others = [rebalance(5, "member_left", group_id="other"), rebalance(-0.1, "member_joined")]
        assert met([self.SILENT], rebalances=others) == [True]

    def test_rebalance_after_the_next_act_does_not_break_silent_leave(self) -> None:
        acts = [self.SILENT, act(20, "member_start", group="g", client="b")]
        assert met(acts, rebalances=[rebalance(20.5, "member_joined", client="b")]) == [True]
        assert met(acts, rebalances=[rebalance(19.5, "member_joined", client="b")]) == [False]

    @pytest.mark.parametrize("cause", CLOSED_CODES)
    def test_session_expiry_meets_silent_leave(self, cause: str) -> None:
        later = rebalance(60, "member_dead", client="b")
        assert met([self.SILENT], rebalances=[rebalance(15, cause), later]) == [True]
        assert score.score({"rebalances": [rebalance(15, cause)]}, [self.SILENT]).false_alarms == ()

    def test_death_of_a_closed_member_breaks_silent_leave_and_is_wrong(self) -> None:
        died = score.score({"rebalances": [rebalance(15, "member_dead")]}, [self.SILENT])
        assert [e.met for e in died.expectations] == [False]
        assert [v.wrong for v in died.verdicts] == ["nothing was done that causes it"]

    def test_death_of_a_killed_static_member_meets_its_silence(self) -> None:
        killed = member(0, "no_rebalance", group_instance_id="i1", session_timeout_ms="15000")
        assert met([killed], rebalances=[rebalance(15, "member_dead")]) == [True]

    def test_leave_before_session_expiry_breaks_silent_leave(self) -> None:
        assert met([self.SILENT], rebalances=[rebalance(0.2, "member_left")]) == [False]

    def test_other_cause_or_member_at_session_expiry_breaks_silent_leave(self) -> None:
        assert met([self.SILENT], rebalances=[rebalance(15, "heartbeat_expired")]) == [False]
        assert met([self.SILENT], rebalances=[rebalance(15, "member_dead", client="b")]) == [False]

    def test_session_timeout_is_read_from_the_members_start(self) -> None:
        start = member(-30, "member_join", session_timeout_ms="30000")
        silent = member(0, "no_rebalance")
        assert met([start, silent], rebalances=[rebalance(10, "member_dead")])[1] is False
        assert met([start, silent], rebalances=[rebalance(30, "member_dead")])[1] is True


class TestDurationBlame:
    ACT = member(0, "duration_blame", "slow", group_instance_id="i1")

    @staticmethod
    def delayed(seconds: float, *names: str, member_id: str = "m") -> Row:
        by = [{"client_id": n, "member_id": member_id, "waited_ms": 7000} for n in names]
        return rebalance(seconds, "member_joined", "c", delayed_by=by)

    def test_next_rebalance_must_blame_the_slow_client(self) -> None:
        assert met([self.ACT], rebalances=[self.delayed(1, "slow", "c")]) == [True]
        assert met([self.ACT], rebalances=[self.delayed(1, "c")]) == [False]
        assert met([self.ACT], rebalances=[self.delayed(1)]) == [False]
        assert met([self.ACT], rebalances=[]) == [False]

    def test_static_member_is_recognised_by_its_member_id(self) -> None:
        assert met([self.ACT], rebalances=[self.delayed(1, "other", member_id="i1-uuid")]) == [True]
        assert met([self.ACT], rebalances=[self.delayed(1, "other", member_id="i10-uuid")]) == [False]

    def test_blame_in_a_later_rebalance_does_not_count(self) -> None:
        assert met([self.ACT], rebalances=[self.delayed(1), self.delayed(9, "slow")]) == [False]


class TestScore:
    ACTS: ClassVar[list[Row]] = [
        member(0, "member_leave"),
        member(60, "session_expired_dead", "b"),
        member(120, "topic_deleted", "c"),
    ]
    ROWS: ClassVar[list[Row]] = [
        rebalance(1, "member_left"),
        rebalance(68, "heartbeat_expired", "b"),
        rebalance(69, "member_left", "b", confidence="likely", evidence=[]),
    ]

    def test_unmet_acts_are_listed_with_rows_near_them(self) -> None:
        result = score.score({"rebalances": self.ROWS}, self.ACTS)
        assert (result.met, len(result.expectations), round(result.share_met, 2)) == (1, 3, 0.33)
        dead, deleted = result.unmet
        assert dead.near == ("+8.0 s g: heartbeat_expired b (certain)", "+9.0 s g: member_left b (likely)")
        assert (deleted.expect, deleted.near) == ("topic_deleted", ())

    def test_certain_but_wrong_rows_and_calibration_are_counted(self) -> None:
        result = score.score({"rebalances": self.ROWS}, self.ACTS)
        assert [v.row_id for v in result.certain_but_wrong] == ["heartbeat_expired@68"]
        counts = [
            (c.confidence, c.verdicts, c.confirmed, c.wrong, c.share_not_contradicted) for c in result.calibration
        ]
        assert counts == [
            ("certain", 2, 1, 1, 0.5),
            ("likely", 1, 0, 1, 0.0),
            ("possible", 0, 0, 0, 1.0),
            ("unknown", 0, 0, 0, 1.0),
        ]

    def test_verdict_that_no_act_expects_or_contradicts_is_not_confirmed(self) -> None:
        rows = [rebalance(1, "member_left"), rebalance(2, "cooperative_followup", None)]
        left, followup = score.score({"rebalances": rows}, self.ACTS[:1]).verdicts
        assert [(v.wrong, v.is_confirmed) for v in (left, followup)] == [(None, True), (None, False)]

    def test_rows_without_evidence_are_listed(self) -> None:
        result = score.score({"rebalances": self.ROWS}, self.ACTS)
        assert [v.row_id for v in result.without_evidence] == ["member_left@69"]

    def test_order_of_rows_and_acts_does_not_change_the_score(self) -> None:
        assert score.score({"rebalances": self.ROWS[::-1]}, self.ACTS[::-1]) == score.score(
            {"rebalances": self.ROWS}, self.ACTS
        )

    def test_score_passes_only_without_a_defect(self) -> None:
        leave = [member(0, "member_leave")]
        assert score.score({"rebalances": [rebalance(1, "member_left")]}, leave).passes(1.0)
        assert not score.score({"rebalances": []}, leave).passes(0.9)
        assert not score.score({"rebalances": [rebalance(1, "member_left", evidence=[])]}, leave).passes(0.9)
        extra = rebalance(200, "topic_deleted")
        assert not score.score({"rebalances": [rebalance(1, "member_left"), extra]}, leave).passes(0.9)
        guess = rebalance(200, "topic_deleted", confidence="likely")
        assert score.score({"rebalances": [rebalance(1, "member_left"), guess]}, leave).passes(0.9)


def test_invalid_truth_is_refused_with_all_its_problems() -> None:
    lines = ["", json.dumps(act(0, expect="tea_time")), "no json", '{"at": 1, "action": "x"}']
    with pytest.raises(TruthError, match=r"line 2: expects 'tea_time'.*; line 3: .*; line 4: found no JSON object"):
        truth.read_truth(lines)


def test_hostile_names_cannot_control_the_terminal() -> None:
    hostile = score.score({}, [act(0, expect="member_leave", group="g", client="\x1b[2J")])
    printed = score.show.as_text(hostile, 0.9)
    assert "\x1b" not in printed
    assert "\\x1b[2J" in printed


def test_each_expectation_reads_tables_of_gold() -> None:
    for name, expectation in EXPECTATIONS.items():
        assert expectation.tables, name
        assert {f"gold.{table}" for table in expectation.tables} <= BY_NAME.keys(), name
    parts = (OF_ACTS, OF_ROWS, OF_ABSENCES, OF_CANARIES, OF_LABELS)
    assert len(EXPECTATIONS) == sum(map(len, parts)), "two expectations have one name"
