"""The scorer of what is done to brokers, leaders and replicas: each rule holds, and does not hold just beside it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, ClassVar

import pytest

from kafka_hindsight.catalog.gold import (
    BROKER_OUTAGES,
    CONTROLLER_CHANGES,
    FAILOVERS,
    FINDINGS,
    OUT_OF_SYNC_PERIODS,
    PARTITION_RISKS,
    ROLLING_RESTARTS,
    TRUNCATIONS,
)
from kafka_hindsight.catalog.rows import RestartStep
from lab.drill import score
from tests.support.rows import AT, values

Row = dict[str, Any]


def at(seconds: float) -> Any:
    return AT + timedelta(seconds=seconds)


def act(seconds: float, action: str, expect: str | None = None, **details: Any) -> Row:
    return {"at": at(seconds).isoformat(), "action": action, **({"expect": expect} if expect else {}), **details}


def failover(seconds: float, kind: str, topic: str = "t", **more: Any) -> Row:
    leaders = {"leader_from": 1, "leader_to": 2, "partition": 0, "confidence": "certain"}
    return values(FAILOVERS, happened_at=at(seconds), kind=kind, topic=topic, **leaders | more)


def controller(seconds: float, before: int | None, after: int) -> Row:
    return values(CONTROLLER_CHANGES, happened_at=at(seconds), controller_from=before, controller_to=after)


def period(start: float, end: float | None, kind: str, broker: int = 1) -> Row:
    ended = None if end is None else at(end)
    return values(
        OUT_OF_SYNC_PERIODS, started_at=at(start), ended_at=ended, kind=kind, broker=broker, confidence="certain"
    )


def finding(rule: str, message: str, *quoted: str) -> Row:
    quotes = [{"line_id": text, "source": "broker-1/server.log", "happened_at": AT, "text": text} for text in quoted]
    return values(FINDINGS, rule_id=rule, message=message, first_at=AT, last_at=AT, evidence=quotes)


def roll(start: float, end: float, brokers: list[int], early: tuple[int, ...] = ()) -> Row:
    stop = {"outage_id": "o", "kind": "controlled_shutdown", "down_at": at(start), "elections": 0}
    card = [RestartStep(broker=b, is_early=b in early, **stop).as_dict() for b in brokers]
    return values(ROLLING_RESTARTS, started_at=at(start), ended_at=at(end), brokers=brokers, scorecard=card)


def cut(seconds: float, records: int, verdict: str = "nothing_committed_lost") -> Row:
    where = {"topic": "t", "partition": 0, "broker": 1}
    return values(
        TRUNCATIONS, happened_at=at(seconds), records_cut=records, verdict=verdict, confidence="certain", **where
    )


def met(acts: list[Row], **tables: list[Row]) -> list[bool]:
    return [e.met for e in score.score(tables, acts).expectations]


def wrong(acts: list[Row], **tables: list[Row]) -> list[str | None]:
    around = [act(-500, "cluster_up"), *acts, act(900, "end")]
    return [v.wrong for v in score.score(tables, around).verdicts]


class TestLogDirFailed:
    ACT: ClassVar[Row] = act(0, "log_dir_failed", "log_dir_failed", broker=1, led=[["t", 0], ["t", 1]])

    def test_log_dir_failure_must_show_every_partition_led_from_the_disk(self) -> None:
        first = failover(5, "log_dir_failed")
        second = failover(5, "log_dir_failed", partition=1, leader_to=-1)
        assert met([self.ACT], failovers=[first, second]) == [True]
        assert met([self.ACT], failovers=[first]) == [False]
        assert met([self.ACT], failovers=[first, failover(5, "offline", partition=1)]) == [False]
        assert met([self.ACT], failovers=[first, {**second, "leader_from": 3}]) == [False]

    def test_log_dir_failure_without_its_act_is_wrong(self) -> None:
        stop = act(8, "broker_controlled_shutdown", "failover_planned", broker=1)
        gone = values(BROKER_OUTAGES, broker=1, kind="controlled_shutdown", down_at=at(8), up_at=at(12))
        rows = [
            failover(5, "log_dir_failed"),
            failover(6, "log_dir_failed", leader_from=2, leader_to=1),
            failover(30, "log_dir_failed"),
        ]
        assert wrong([self.ACT, stop], failovers=rows, broker_outages=[gone]) == [
            None,
            None,
            "no act took a directory away from the old leader",
            "the old leader had been started again, with all its directories",
        ]


class TestFailedStarts:
    KILL: ClassVar[Row] = act(0, "broker_kill9", "failover_crash", broker=1)
    ACT: ClassVar[Row] = act(10, "broker_starts_fail", "failed_start", broker=1, why="port_in_use", times=3)

    @staticmethod
    def outage(why: str | None, times: int = 3, up: float = 60) -> Row:
        columns = {"start_failure": why, "failed_starts": times, "up_at": at(up), "confidence": "certain"}
        return values(BROKER_OUTAGES, broker=1, kind="crash", down_at=at(0), **columns)

    def test_outage_must_count_failed_starts_with_their_reason(self) -> None:
        assert met([self.ACT], broker_outages=[self.outage("port_in_use")]) == [True]
        assert met([self.ACT], broker_outages=[self.outage("port_in_use", times=2)]) == [False]
        assert met([self.ACT], broker_outages=[self.outage("exception")]) == [False]
        assert met([self.ACT], broker_outages=[self.outage("port_in_use", up=5)]) == [False]

    def test_other_or_unplayed_reason_of_failed_start_is_wrong(self) -> None:
        acts = [self.KILL, self.ACT]
        assert wrong(acts, broker_outages=[self.outage("port_in_use")]) == [None]
        assert wrong(acts, broker_outages=[self.outage("exception")]) == [
            "its starts were made to fail for port_in_use"
        ]
        assert wrong([self.KILL], broker_outages=[self.outage("stopped")]) == [
            "its starts were made to fail for nothing"
        ]

    def test_start_refused_by_the_cluster_is_not_judged(self) -> None:
        refused = act(20, "broker_start_ended", broker=1)
        assert wrong([self.KILL, refused], broker_outages=[self.outage("exception", times=1)]) == [None]


class TestQuorumLost:
    ACT: ClassVar[Row] = act(0, "quorum_lost", "quorum_lost", low_ms=15_000, high_ms=25_000)

    @staticmethod
    def change(seconds: float, cause: str, low: int | None, high: int | None) -> Row:
        bounds = {"uncontrolled_low_ms": low, "uncontrolled_high_ms": high}
        return values(CONTROLLER_CHANGES, happened_at=at(seconds), cause=cause, **bounds)

    def test_quorum_loss_must_overlap_the_time_without_controller(self) -> None:
        assert met([self.ACT], controller_changes=[self.change(4, "no_majority", 16_000, None)]) == [True]
        assert met([self.ACT], controller_changes=[self.change(4, "no_majority", None, 20_000)]) == [True]
        assert met([self.ACT], controller_changes=[self.change(4, "no_majority", 26_000, 30_000)]) == [False]
        assert met([self.ACT], controller_changes=[self.change(4, "no_majority", 1_000, 9_000)]) == [False]
        assert met([self.ACT], controller_changes=[self.change(4, "outage", 16_000, None)]) == [False]
        assert met([self.ACT], controller_changes=[self.change(200, "no_majority", 16_000, None)]) == [False]


class TestElections:
    AUTOMATIC: ClassVar[Row] = act(0, "automatic_election", "automatic_election", topic="t", partitions=[0, 1])
    ASKED: ClassVar[Row] = act(0, "preferred_election", "preferred_election", topic="t")

    def test_automatic_election_must_show_every_partition_unrequested(self) -> None:
        rows = [failover(1, "preferred_election", partition=p) for p in (0, 1)]
        assert met([self.AUTOMATIC], failovers=rows) == [True]
        assert met([self.AUTOMATIC], failovers=rows[:1]) == [False]
        assert met([self.AUTOMATIC], failovers=[{**r, "requested_by_operator": True} for r in rows]) == [False]

    @pytest.mark.parametrize(
        ("acts", "requested", "why"),
        [
            ([ASKED], True, None),
            ([ASKED], None, None),
            ([ASKED], False, "someone asked for that election"),
            ([AUTOMATIC], False, None),
            ([AUTOMATIC], True, "no act requested that election"),
        ],
    )
    def test_requested_by_operator_is_compared_with_the_acts(
        self, acts: list[Row], requested: bool | None, why: str | None
    ) -> None:
        assert wrong(acts, failovers=[failover(1, "preferred_election", requested_by_operator=requested)]) == [why]


class TestNoFailover:
    ACT: ClassVar[Row] = act(0, "reassignment_cancelled", "no_failover", topic="t", partition=0)

    def test_no_failover_is_broken_by_failover_of_its_partition_before_next_act(self) -> None:
        assert met([self.ACT], failovers=[]) == [True]
        assert met([self.ACT], failovers=[failover(3, "unknown")]) == [False]
        assert met([self.ACT], failovers=[failover(3, "unknown", partition=1)]) == [True]
        assert met([self.ACT, act(2, "broker_kill9", broker=1)], failovers=[failover(3, "broker_crash")]) == [True]

    def test_failover_without_an_act_is_wrong(self) -> None:
        acts = [act(0, "broker_start", broker=3), act(200, "topic_created", topic="t")]
        rows = [
            failover(1, "leader_restored", leader_from=-1, leader_to=3),
            failover(2, "unknown"),
            failover(150, "preferred_election", leader_to=3),
            failover(201, "unknown"),
        ]
        nothing = "nothing was done that gave or took a leader there"
        assert wrong(acts, failovers=rows) == [None, nothing, None, None]
        assert wrong([self.ACT], failovers=[failover(1, "unknown")]) == [
            "what was done to that partition moves no leader"
        ]


class TestControllerChange:
    ACTS: ClassVar[list[Row]] = [
        act(0, "controller_goes", "controller_change", controller=1),
        act(0.1, "broker_kill9", "failover_crash", broker=1),
        act(90, "broker_start", broker=1),
    ]

    def test_controller_change_must_be_from_or_to_the_controller_of_the_act(self) -> None:
        assert met(self.ACTS[:1], controller_changes=[controller(3, 1, 2)]) == [True]
        assert met(self.ACTS[:1], controller_changes=[controller(3, None, 1)]) == [True]
        assert met(self.ACTS[:1], controller_changes=[controller(3, 3, 2)]) == [False]
        assert met(self.ACTS[:1], controller_changes=[controller(80, 1, 2)]) == [False]

    def test_controller_change_to_a_stopped_broker_is_wrong(self) -> None:
        rows = [controller(3, 1, 2), controller(9, 2, 1), controller(95, 2, 1)]
        assert wrong(self.ACTS, controller_changes=rows) == [
            None,
            "it was down: broker_kill9 of broker 1 expects failover_crash",
            None,
        ]

    def test_controller_change_to_a_node_in_shutdown_is_right_until_its_end(self) -> None:
        stopped = act(0, "broker_controlled_shutdown", "failover_planned", broker=1, ended=at(6).isoformat())
        down = "it was down: broker_controlled_shutdown of broker 1 expects failover_planned"
        assert wrong([stopped], controller_changes=[controller(5, 2, 1), controller(9, 2, 1)]) == [None, down]


class TestLoss:
    ACTS: ClassVar[list[Row]] = [
        act(0, "unclean_election_forced", "unclean_election", topic="t"),
        act(0, "records_lost", "records_lost", topic="t", partition=0, lost=40),
    ]

    @pytest.mark.parametrize(
        ("low", "high", "holds"),
        [(40, 40, True), (0, 55, True), (40, None, True), (None, None, False), (41, 55, False), (0, 39, False)],
    )
    def test_bounds_of_record_loss_must_hold_the_true_loss(
        self, low: int | None, high: int | None, holds: bool
    ) -> None:
        election = failover(1, "unclean_election", records_lost_low=low, records_lost_high=high)
        assert met(self.ACTS, failovers=[election]) == [True, holds]
        says_nothing_or_right = holds or (low, high) == (None, None)
        assert (wrong(self.ACTS, failovers=[election]) == [None]) == says_nothing_or_right

    def test_exact_record_loss_must_have_equal_bounds(self) -> None:
        exact = [self.ACTS[0], {**self.ACTS[1], "is_exact": True}]
        assert met(exact, failovers=[failover(1, "unclean_election", records_lost_low=40, records_lost_high=40)])[1]
        assert not met(exact, failovers=[failover(1, "unclean_election", records_lost_low=0, records_lost_high=55)])[1]

    def test_record_loss_at_clean_failover_is_wrong(self) -> None:
        acts = [act(0, "broker_kill9", "failover_crash", broker=1)]
        crash = failover(1, "broker_crash", records_lost_low=3, records_lost_high=9)
        assert wrong(acts, failovers=[crash]) == ["3 records lost where a replica in sync took over"]
        assert wrong(acts, failovers=[{**crash, "records_lost_low": None, "records_lost_high": None}]) == [None]


class TestElectedUncleanly:
    """What the metadata log holds is true, whether an act was to bring it about or not."""

    ACT: ClassVar[Row] = act(0, "elected_uncleanly", topic="t", partition=0, leader=2)
    NOT_ASKED: ClassVar[str] = "no act expects the unclean_election of that topic"

    def test_unclean_election_in_the_metadata_log_is_right(self) -> None:
        rows = [
            failover(0, "unclean_election"),
            failover(0, "unclean_election", leader_to=3),
            failover(0, "unclean_election", partition=1),
            failover(0, "unclean_election", topic="u"),
            failover(90, "unclean_election"),
        ]
        assert wrong([self.ACT], failovers=rows) == [None, *[self.NOT_ASKED] * 4]

    def test_unclean_election_in_the_metadata_log_requires_no_row(self) -> None:
        assert met([self.ACT, act(1, "x", "no_failover", topic="u")], failovers=[]) == [True]
        assert wrong([self.ACT], failovers=[failover(0, "reassignment")]) == [
            "no act expects the reassignment of that topic"
        ]

    def test_committed_loss_after_unclean_election_in_the_metadata_log_is_right(self) -> None:
        rows = [cut(8, 25, "committed_lost"), cut(8, 25, "committed_lost") | {"partition": 1}]
        assert wrong([self.ACT], truncations=rows) == [None, "every leader of that partition came from the ISR"]


class TestLostLogs:
    """An outage of which no log is left is not asked for; what is said of it must be right."""

    ACT: ClassVar[Row] = act(0, "broker_kill9", broker=1, undecided="failover_crash")

    def test_outage_without_logs_is_optional_and_must_be_right(self) -> None:
        def outage(kind: str) -> list[Row]:
            return [values(BROKER_OUTAGES, broker=1, kind=kind, down_at=at(2), confidence="certain")]

        assert met([self.ACT], broker_outages=[]) == []
        assert wrong([self.ACT], broker_outages=outage("crash")) == [None]
        assert wrong([self.ACT], broker_outages=outage("unresponsive")) == [
            "broker_kill9 of broker 1 expects failover_crash"
        ]


class TestTruncation:
    ACT: ClassVar[Row] = act(0, "records_left_behind", "records_truncated", topic="t", partition=0, records=25)

    def test_truncation_must_have_its_number_of_records(self) -> None:
        assert met([self.ACT], truncations=[cut(8, 25)]) == [True]
        assert met([self.ACT], truncations=[cut(8, 24)]) == [False]
        assert met([self.ACT], truncations=[cut(8, 25, "committed_lost")]) == [False]

    def test_committed_loss_without_unclean_election_is_wrong(self) -> None:
        assert wrong([self.ACT], truncations=[cut(8, 25)]) == [None]
        assert wrong([self.ACT], truncations=[cut(8, 25, "committed_lost")]) == [
            "every leader of that partition came from the ISR"
        ]
        assert wrong([*TestLoss.ACTS, self.ACT], truncations=[cut(8, 25, "committed_lost")]) == [None]


class TestTimes:
    def test_time_under_min_isr_must_lie_within_its_bounds(self) -> None:
        undershot = act(90, "min_isr_undershot", "under_min_isr", topic="t", partition=0, low_ms=8000, high_ms=20_000)

        def risk(ms: int | None) -> Row:
            return values(PARTITION_RISKS, topic="t", partition=0, under_min_isr_ms=ms, window_from=at(-900))

        assert [met([undershot], partition_risks=[risk(ms)]) for ms in (7999, 8000, 20_000, 20_001, None)] == [
            [False], [True], [True], [False], [False],
        ]  # fmt: skip

    def test_leaderless_time_must_hold_the_time_since_the_kill(self) -> None:
        acts = [act(0, "broker_kill9", "failover_crash", broker=1)]

        def wrong_with(low: int | None, high: int | None) -> list[str | None]:
            gone = failover(12, "broker_crash", leaderless_low_ms=low, leaderless_high_ms=high)
            return wrong(acts, failovers=[gone])

        assert wrong_with(11_000, 14_000) == wrong_with(None, None) == wrong_with(None, 12_000) == [None]
        assert wrong_with(18_000, 19_000) == ["it had no leader for 12000 ms, and not 18000 to 19000"]
        assert wrong_with(0, 9000) == ["it had no leader for 12000 ms, and not 0 to 9000"]


class TestLapses:
    ACTS: ClassVar[list[Row]] = [
        act(0, "broker_sigstop", "isr_lapse", broker=1),
        act(20, "broker_sigstop", "isr_lapse", broker=1),
    ]

    def test_one_slow_period_meets_both_lapses_of_a_replica(self) -> None:
        assert met(self.ACTS, out_of_sync_periods=[period(5, 28, "slow")]) == [True, True]
        assert met(self.ACTS, out_of_sync_periods=[period(5, 8, "slow")]) == [True, False]
        assert met(self.ACTS, out_of_sync_periods=[period(5, None, "outage")]) == [False, False]
        assert met(self.ACTS, out_of_sync_periods=[period(5, None, "slow", broker=2)]) == [False, False]

    def test_slow_period_is_no_outage_period(self) -> None:
        slow = "broker_sigstop of broker 1 expects isr_lapse"
        nothing = "nothing was done to that broker that takes it out of an ISR"
        rows = [period(5, 9, "slow"), period(5, 9, "outage"), period(5, 9, "outage", broker=2), period(5, 9, "unknown")]
        assert wrong(self.ACTS[:1], out_of_sync_periods=rows) == [None, slow, nothing, None]
        assert wrong(self.ACTS[:1], out_of_sync_periods=[period(5, 9, "slow", broker=2)]) == [None], "a busy machine"
        crash = [act(0, "broker_kill9", "failover_crash", broker=1), act(9, "broker_start", broker=1)]
        assert wrong(crash, out_of_sync_periods=[period(5, 9, "outage"), period(8.5, 9.5, "slow")]) == [None, None]


class TestAccess:
    REFUSED = "broker_not_authenticated"

    def test_finding_names_its_object_or_quotes_a_line_about_it(self) -> None:
        acts = [act(0, "reported", "finding", about="broker 1", rule=self.REFUSED)]
        named = finding(self.REFUSED, "Broker 1 could not authenticate")
        quoted = finding(self.REFUSED, "Broker 2 and 1 more could not authenticate", "Connection to node 2 failed")
        another = finding(self.REFUSED, "Broker 12 could not authenticate: broker 1x")
        assert [met(acts, findings=[f]) for f in (named, quoted, another)] == [[True], [True], [False]]
        assert met(acts, findings=[finding("name_unknown", "Broker 1")]) == [False]

    def test_no_finding_about_access_may_name_a_client_without_trouble(self) -> None:
        acts = [act(0, "reported", "no_finding", about="app-1")]
        throttled, lag = (finding(rule, "'app-1' was held back") for rule in ("client_throttled", "lag_growing"))
        assert [met(acts, findings=[f]) for f in (throttled, lag)] == [[False], [True]]

    def test_refused_follower_is_neither_slow_nor_away(self) -> None:
        acts = [act(0, "broker_password_withdrawn", "follower_refused", broker=1)]
        kinds = ("not_authenticated", "slow", "outage")
        assert [met(acts, out_of_sync_periods=[period(5, 9, kind)]) for kind in kinds] == [[True], [False], [False]]
        judged = [wrong(acts, out_of_sync_periods=[period(5, 9, k, broker=b)]) for k in kinds[:2] for b in (1, 2)]
        expected = "broker_password_withdrawn of broker 1 expects follower_refused"
        assert judged == [[None], [None], [expected], [expected]]


class TestRolls:
    WELL: ClassVar[Row] = act(60, "brokers_rolled", "brokers_rolled", brokers=[2, 1, 3], too_early=[])
    BADLY: ClassVar[Row] = act(60, "brokers_rolled", "brokers_rolled", brokers=[2, 1, 3], too_early=[1])

    def test_one_rolling_restart_must_hold_all_brokers_in_order(self) -> None:
        assert met([self.WELL], rolling_restarts=[roll(0, 58, [2, 1, 3])]) == [True]
        assert met([self.WELL], rolling_restarts=[roll(0, 30, [2, 1]), roll(31, 58, [3])]) == [False]
        assert met([self.WELL], rolling_restarts=[roll(0, 58, [1, 2, 3])]) == [False]
        assert met([self.WELL], rolling_restarts=[roll(61, 99, [2, 1, 3])]) == [False]

    def test_rolling_restart_must_name_brokers_stopped_too_early(self) -> None:
        assert met([self.BADLY], rolling_restarts=[roll(0, 58, [2, 1, 3], (1,))]) == [True]
        assert met([self.BADLY], rolling_restarts=[roll(0, 58, [2, 1, 3])]) == [False]
        assert wrong([self.WELL], rolling_restarts=[roll(0, 58, [2, 1, 3], (1,))]) == ["stopped too early: none"]
        assert wrong([self.BADLY], rolling_restarts=[roll(0, 58, [2, 1, 3], (1,))]) == [None]

    def test_each_of_two_rolling_restarts_is_compared_with_its_own_act(self) -> None:
        second = act(120, "brokers_rolled", "brokers_rolled", brokers=[2, 1, 3], too_early=[])
        rolls = [roll(0, 58, [2, 1, 3], (1,)), roll(70, 118, [2, 1, 3])]
        assert wrong([self.BADLY, second], rolling_restarts=rolls) == [None, None]
