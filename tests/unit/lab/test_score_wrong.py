"""Which rows of an audit are false alarms, and which are wrong."""

from __future__ import annotations

from typing import Any

import pytest

from lab.drill import score
from tests.support.scored_rows import act, at, contributor, failover, member, outage, rebalance, wrong

Row = dict[str, Any]


class TestFalseAlarms:
    @staticmethod
    def alarms(acts: list[Row], *rows: Row) -> list[str]:
        return [v.row_id for v in score.score({"rebalances": list(rows)}, acts).false_alarms]

    @pytest.mark.parametrize("cause", ["member_joined", "cooperative_followup", "share_partitions_initialized"])
    def test_cause_that_follows_any_act_is_no_false_alarm(self, cause: str) -> None:
        assert self.alarms([], rebalance(0, cause)) == []

    @pytest.mark.parametrize("cause", ["coordinator_moved", "heartbeat_expired", "storage_error"])
    def test_coordinator_cause_within_75_s_of_broker_act_is_no_false_alarm(self, cause: str) -> None:
        broker = act(0, "broker_start", broker=1)
        assert self.alarms([broker], rebalance(75, cause)) == []
        assert self.alarms([broker], rebalance(75.1, cause)) == [f"{cause}@75.1"]
        assert self.alarms([broker], rebalance(-2, cause)) == [f"{cause}@-2"]
        assert self.alarms([act(0, "coordinator_is", group="g", broker=1)], rebalance(9, cause)) == [f"{cause}@9"]

    def test_leave_after_broker_act_is_a_false_alarm(self) -> None:
        assert self.alarms([act(0, "broker_start", broker=1)], rebalance(5, "member_left")) == ["member_left@5"]

    def test_cause_expected_by_an_act_in_the_group_is_no_false_alarm(self) -> None:
        leave = member(0, "member_leave", client="b")
        assert self.alarms([leave], rebalance(75, "member_left", client=None)) == []
        assert self.alarms([leave], rebalance(75.1, "member_left", client=None)) == ["member_left@75.1"]
        assert self.alarms([leave], rebalance(5, "member_dead", client=None)) == ["member_dead@5"]
        assert self.alarms([leave], rebalance(5, "member_left", group_id="other")) == ["member_left@5"]

    def test_row_with_contributor_that_meets_an_act_is_no_false_alarm(self) -> None:
        shared = rebalance(5, "metadata_changed", contributors=[contributor("member_left")])
        assert self.alarms([member(0, "member_leave", client="b")], shared) == []
        assert self.alarms([member(0, "member_leave", client="c")], shared) == ["metadata_changed@5"]


class TestWrong:
    def test_right_verdict_is_not_wrong(self) -> None:
        assert wrong([member(0, "member_leave")], rebalances=[rebalance(5, "member_left")]) == [None]

    def test_false_alarm_is_wrong(self) -> None:
        assert wrong([], rebalances=[rebalance(5, "topic_deleted")]) == ["nothing was done that causes it"]

    def test_possible_effect_of_undecided_act_is_not_wrong(self) -> None:
        act = member(0, None, undecided="max_poll_exceeded")
        assert wrong([act], rebalances=[rebalance(5, "max_poll_exceeded")]) == [None]
        assert wrong([act], rebalances=[rebalance(5, "topic_deleted")]) == ["nothing was done that causes it"]

    def test_leave_of_connector_consumer_after_configuration_is_not_wrong(self) -> None:
        configured = act(0, "connector_configured", "connector_changed", group="connect-workers", consumers="g")
        assert wrong([configured], rebalances=[rebalance(5, "member_left")]) == [None]
        assert wrong([{**configured, "consumers": "h"}], rebalances=[rebalance(5, "member_left")]) != [None]

    def test_client_requested_rebalance_of_streams_members_is_not_wrong(self) -> None:
        came = {**member(0, "member_join"), "library": "streams"}
        asked = [rebalance(1, "client_requested"), rebalance(2, "client_requested")]
        assert wrong([came], rebalances=asked) == [None, None]
        assert wrong([came], rebalances=[rebalance(1, "client_requested", group_id="h")]) != [None]
        assert None not in wrong([{**came, "library": "java"}], rebalances=asked)

    def test_member_joined_instead_of_rejoined_is_wrong(self) -> None:
        acts = [member(0, "member_join"), member(20, "rejoin_after_expiry")]
        assert wrong(acts, rebalances=[rebalance(1, "member_joined"), rebalance(21, "member_rejoined")]) == [None, None]
        reasons = wrong(acts, rebalances=[rebalance(1, "member_joined"), rebalance(21, "member_joined")])
        assert reasons == [None, "member_act of group g client a expects rejoin_after_expiry"]

    def test_heartbeat_expired_instead_of_dead_is_wrong(self) -> None:
        acts = [member(0, "session_expired_dead"), member(0, "session_expired_alive", client="b")]
        reasons = wrong(acts, rebalances=[rebalance(9, "heartbeat_expired")])
        assert reasons == ["member_act of group g client a expects session_expired_dead"]

    def test_rebalances_that_follow_from_an_act_are_not_wrong(self) -> None:
        acts = [member(0, "max_poll_exceeded")]
        rows = [
            rebalance(9, "max_poll_exceeded"),
            rebalance(16, "member_rejoined"),
            rebalance(17, "cooperative_followup"),
        ]
        assert wrong(acts, rebalances=rows) == [None, None, None]

    def test_late_session_expiry_after_rejoin_and_leave_is_not_wrong(self) -> None:
        acts = [member(0, "session_expired_dead"), member(5, "member_join"), member(20, "member_leave")]
        rows = [rebalance(6, "member_joined"), rebalance(21, "member_left"), rebalance(45, "member_dead")]
        assert wrong(acts, rebalances=rows) == [None, None, None]

    def test_departure_of_untouched_member_is_wrong(self) -> None:
        reasons = wrong([member(0, "member_leave", client="b")], rebalances=[rebalance(5, "member_left", client="a")])
        assert reasons == ["nothing was done to that member, but member_act to group g client b"]
        assert wrong(
            [member(0, "member_leave", client="b")], rebalances=[rebalance(5, "member_left", client=None)]
        ) == [None]

    def test_effect_of_act_without_expectation_is_not_wrong(self) -> None:
        acts = [member(0, "member_leave", client="b"), act(1, "member_close", group="g", client="a")]
        assert (
            wrong(acts, rebalances=[rebalance(2, "member_left", "b"), rebalance(5, "member_left", "a")]) == [None] * 2
        )

    def test_departure_soon_after_join_without_an_act_is_wrong(self) -> None:
        acts = [member(0, "session_expired_dead", client="b"), member(1, "member_join", client="a")]
        rows = [rebalance(2, "member_joined", "a"), rebalance(9, "member_dead", "b"), rebalance(10, "member_dead", "a")]
        assert wrong(acts, rebalances=rows) == [
            None,
            None,
            "nothing was done to that member, but member_act to group g client b",
        ]

    def test_second_join_of_a_member_without_an_act_is_wrong(self) -> None:
        acts = [member(0, "member_join"), member(200, "member_leave"), act(300, "member_start", group="g", client="a")]
        rows = [rebalance(1, "member_joined"), rebalance(201, "member_left"), rebalance(301, "member_joined")]
        assert wrong(acts, rebalances=rows) == [None, None, "member_act of group g client a was answered before"]
        again = [*acts, member(300, "member_join")]
        assert wrong(again, rebalances=rows) == [None, None, None]

    def test_first_rebalance_after_an_unmet_act_is_wrong(self) -> None:
        acts = [member(0, "member_leave")]
        rows = [rebalance(1, "member_rejoined"), rebalance(2, "member_rejoined"), rebalance(1, "member_joined", "b")]
        reasons = wrong(acts, rebalances=rows)
        assert reasons == [None, "member_act of group g client a expects member_leave", None]
        assert wrong(acts, rebalances=[*rows, rebalance(3, "member_left")]) == [None] * 4
        grown = [act(0, "grow", "partitions_added", group="g", topic="t")]
        assert wrong(grown, rebalances=[rebalance(1, "cooperative_followup"), rebalance(2, "member_joined", "b")]) == [
            None,
            None,
        ]
        assert wrong(grown, rebalances=[rebalance(2, "member_joined", "b")]) == [
            "grow of group g topic t expects partitions_added"
        ]

    def test_expiry_after_broker_kill_is_not_wrong(self) -> None:
        acts = [member(0, "session_expired_alive", client="b"), act(0, "broker_kill9", broker=1)]
        assert wrong(acts, rebalances=[rebalance(9, "heartbeat_expired", client="a")]) == [None]

    def test_rebalance_after_static_rejoin_is_wrong(self) -> None:
        acts = [member(0, "static_rejoin_no_rebalance", group_instance_id="i1")]
        assert wrong(acts, rebalances=[rebalance(1, "member_joined")]) == [
            "member_act of group g client a expects static_rejoin_no_rebalance"
        ]

    def test_outage_without_its_act_or_of_other_kind_is_wrong(self) -> None:
        acts = [act(-100, "cluster_up"), act(0, "broker_kill9", "failover_crash", broker=1), act(900, "end")]
        rows = [outage(9, 1, "crash"), outage(10, 1, "unresponsive"), outage(11, 2, "crash"), outage(2000, 2, "crash")]
        assert wrong(acts, broker_outages=rows) == [
            None,
            "broker_kill9 of broker 1 expects failover_crash",
            "nothing was done to that broker that stops it",
            None,
        ]

    def test_outage_is_compared_with_the_nearest_act_on_its_broker(self) -> None:
        acts = [
            act(0, "broker_kill9", "failover_crash", broker=1),
            act(30, "broker_stop", "failover_planned", broker=1),
            act(900, "end"),
        ]
        assert wrong(acts, broker_outages=[outage(2, 1, "crash"), outage(30, 1, "controlled_shutdown")]) == [None, None]
        assert wrong(acts, broker_outages=[outage(2, 1, "controlled_shutdown"), outage(30, 1, "crash")]) == [
            "broker_kill9 of broker 1 expects failover_crash",
            "broker_stop of broker 1 expects failover_planned",
        ]

    def test_act_within_the_outage_counts_before_a_nearer_earlier_one(self) -> None:
        acts = [
            act(0, "broker_controlled_shutdown", "failover_orderly", broker=1),
            act(7, "broker_kill9", "failover_crash", broker=1),
            act(900, "end"),
        ]
        killed = {**outage(3, 1, "crash"), "up_at": at(30)}
        assert wrong(acts, broker_outages=[killed]) == [None]
        assert wrong(acts, broker_outages=[{**killed, "kind": "controlled_shutdown"}]) == [
            "broker_kill9 of broker 1 expects failover_crash"
        ]

    def test_failover_without_its_act_or_of_other_kind_is_wrong(self) -> None:
        acts = [
            act(-9, "cluster_up"),
            act(0, "broker_kill9", "failover_crash", broker=1),
            act(2, "broker_stop", "failover_planned", broker=2),
            act(5, "force", "unclean_election", topic="risky"),
            act(20, "broker_start", broker=2),
            act(900, "end"),
        ]
        rows = [
            failover(-0.8, "preferred_election", leader_from=1),
            failover(9, "broker_crash", leader_from=1),
            failover(10, "controlled_shutdown", leader_from=1),
            failover(11, "controlled_shutdown", leader_from=2),
            failover(12, "broker_crash", leader_from=3),
            failover(13, "unclean_election", topic="risky"),
            failover(14, "unclean_election", topic="safe"),
            failover(15, "preferred_election", leader_from=1),
            failover(16, "preferred_election", leader_from=3),
            failover(21, "preferred_election", leader_from=2),
            failover(850, "preferred_election", "calm", leader_from=2) | {"leader_to": 5},
            failover(850, "preferred_election", "calm", leader_from=3) | {"leader_to": 5},
            failover(1000, "broker_crash", leader_from=3),
        ]
        assert wrong(acts, failovers=rows) == [
            None,
            None,
            "broker_kill9 of broker 1 expects failover_crash",
            None,
            "nothing was done to the old leader that stops it",
            None,
            "no act expects the unclean_election of that topic",
            "the old leader was down: broker_kill9 of broker 1 expects failover_crash",
            None,
            None,
            None,
            "nothing was done that gave or took a leader there",
            None,
        ]
