"""What people ask: named queries over a tiny lake of real Delta tables. More of them in test_sql, test_now and
test_figures_in_sql."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.alerts.alert_model import LedgerEntry, write_ledger
from kafka_hindsight.settings.home import FILE_VARIABLE
from kafka_hindsight.sql import prompt as sql
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries
from tests.store import test_now, test_sql
from tests.support.asked_lake import answers, at, contributor, rows_of
from tests.support.lake import write_lake
from tests.unit.alerts.test_alerts import sighting

DAY = 24 * 60


def remedy(group: str, minute: float, avoided: int, **columns: Any) -> dict[str, Any]:
    return {"group_id": group, "setting": "static_membership", "window_from": at(minute), "rebalances_total": 5,
            "rebalances_avoided": avoided, **columns}  # fmt: skip


def failover(number: int, partition: int, minute: float, from_: int, to: int, **columns: Any) -> dict[str, Any]:
    return {"failover_id": f"{partition}-{number}", "topic": "t", "partition": partition, "happened_at": at(minute),
            "leader_from": from_, "leader_to": to, "epoch_to": number, "topic_incarnation": 0, **columns}  # fmt: skip


def led_again(low: int, best: int, high: int) -> dict[str, int]:
    return {"leaderless_low_ms": low, "leaderless_ms": best, "leaderless_high_ms": high}


LAKE = {
    "gold.remedies": rows_of(
        "gold.remedies",
        remedy("orders", 0, 2, value_now=10_000, value_smallest=12_500, partition_seconds_avoided=20.0,
               confidence="likely"),
        remedy("orders", DAY, 1, value_now=11_000, value_smallest=9_000, confidence="possible", explanation="newest"),
        remedy("pay", 0, 4, value_smallest=2_912, confidence="likely"),
        {"group_id": "pay", "setting": "session_timeout", "rebalances_avoided": 9, "rebalances_total": 9},
    ),
    "gold.unavailability": rows_of(
        "gold.unavailability",
        {"unavailability_id": "1", "kind": "no_leader", "topic": "t", "partition": 0, "started_at": at(9),
         "ended_at": at(10), "low_ms": 50_000, "high_ms": 90_000, "outage_id": "o", "failover_id": "0-1",
         "earliest_start_at": at(8.5), "latest_end_at": at(10.1)},
        {"unavailability_id": "2", "kind": "acks_all_hung", "topic": "t", "partition": 1, "started_at": at(9),
         "ended_at": at(12), "low_ms": 170_000, "high_ms": 180_000},
        {"unavailability_id": "3", "kind": "no_leader", "topic": "t", "partition": 1, "started_at": at(30),
         "ended_at": None, "low_ms": 5_000, "failover_id": None, "earliest_start_at": None, "latest_end_at": None},
        {"unavailability_id": "4", "kind": "no_consumer", "group_id": "pay", "started_at": at(20),
         "ended_at": at(20.01), "low_ms": 100, "high_ms": 600},
    ),
    "gold.producer_failures": rows_of(
        "gold.producer_failures",
        *({"producer_failure_id": str(n), "client_id": client, "kind": kind, "topic": "t", "partition": 0,
           "started_at": at(9), "last_at": at(last), "retries": retries, "given_up_low": 0, "given_up_high": most}
          for n, (client, kind, last, retries, most) in enumerate((
              ("a", "not_enough_replicas", 10, 300, 0), ("b", "not_enough_replicas", 11, 12, 0),
              ("a", "no_answer", 9.1, 2, 0), ("b", "no_answer", 9.1, 1, None)))),
    ),
    "gold.member_settings": rows_of(
        "gold.member_settings",
        {"settings_id": "1", "group_id": "orders", "client_id": "a", "protocol": "classic", "assignor": "range",
         "assignors": ["range", "cooperative-sticky"]},
        {"settings_id": "2", "group_id": "orders", "client_id": "b", "assignors": ["cooperative-sticky"],
         "assignor": "cooperative-sticky", "last_seen_at": at(5)},
        {"settings_id": "3", "group_id": "pay", "client_id": "c", "assignor": "roundrobin"},
        # It was eager, and is no more.
        {"settings_id": "4", "group_id": "geo", "client_id": "d", "assignors": ["range"]},
        {"settings_id": "5", "group_id": "geo", "client_id": "d", "protocol": "consumer", "last_seen_at": at(5)},
    ),
    "quality.coverage": rows_of(
        "quality.coverage",
        *({"source": f"dc/broker-{broker}/{log}", "origin": "broker", "window_from": at(night * DAY),
           "window_to": at(night * DAY + 60), "first_at": at(night * DAY + first), "last_at": at(night * DAY + 60),
           "longest_silence_ms": silent, "lines_in": 10, "events": 6, "unparsed": 1}
          for broker, night, log, first, silent in (
              (1, 0, "server.log", 0, 2_000), (1, 0, "controller.log", 20, 500_000), (1, 1, "server.log", 0, 4_000),
              (2, 0, "server.log", 30, 1_000))),
        {"source": "orders-a.log", "origin": "client", "window_from": at(0), "window_to": at(60)},
    ),
    "gold.failovers": rows_of(
        "gold.failovers",
        failover(1, 0, 10, 1, 2, kind="broker_crash", outage_id="o", **led_again(9_000, 10_000, 90_000)),
        failover(2, 0, 20, 2, 1, kind="preferred_election", **led_again(0, 0, 0)),
        failover(1, 1, 11, 1, -1, kind="offline"),
        failover(2, 1, 13, -1, 2, kind="leader_restored"),
        failover(1, 2, 30, 2, -1, kind="offline"),
        failover(1, 3, 40, 1, 2, kind="broker_crash"),
        failover(2, 3, 50, 2, 1, kind="broker_crash", **led_again(20_000, 20_000, 20_000)),
    ),
    "gold.broker_outages": rows_of(
        "gold.broker_outages",
        {"outage_id": "o", "broker": 1, "down_at": at(9), "up_at": at(11), "away_low_ms": 60_000,
         "away_high_ms": 150_000},
        {"outage_id": "p", "broker": 2},
    ),
    "gold.incidents": rows_of(
        "gold.incidents",
        {"incident_id": "i", "kind": "rolling_restart", "intent": "declared", "rebalance_count": 2, "harm": "routine",
         "harm_rank": 2, "headline": "Group orders restarted its members"},
        {"incident_id": "j", "kind": "single", "rebalance_count": 1, "harm": "consumers_stopped", "harm_rank": 1},
    ),
    "gold.rebalances": rows_of(
        "gold.rebalances",
        {"rebalance_id": "1", "group_id": "orders", "incident_id": "i", "cause": "member_left", "client_id": "b",
         "duration_ms": 1_500, "partition_seconds": 6.0},
        {"rebalance_id": "2", "group_id": "orders", "incident_id": "i", "cause": "member_rejoined", "client_id": "a",
         "duration_ms": 500, "started_at": at(1)},
        {"rebalance_id": "3", "group_id": "orders", "incident_id": "j", "cause": "member_dead", "client_id": "a",
         "host": "h1", "member_id": "m-1", "contributors": [contributor("b") | {"cause": cause, "member_id": "m-2"}
                                                            for cause in ("member_dead", "session_ended")],
         "started_at": at(2)},
        {"rebalance_id": "4", "group_id": "pay", "cause": "heartbeat_expired", "client_id": "c", "host": "h2",
         "started_at": at(-8 * DAY)},
        {"rebalance_id": "5", "group_id": "pay", "cause": "member_dead", "client_id": "c", "member_id": "m-9",
         "started_at": at(-30 * DAY)},
    ),
    "gold.ownership": rows_of("gold.ownership", {"member_id": "m-2", "host": "h2"}),
    "gold.offset_jumps": rows_of(
        "gold.offset_jumps",
        {"jump_id": "1", "group_id": "orders", "jumped_at": at(1), "records_low": 70, "records_high": 70},
        {"jump_id": "2", "group_id": "orders", "jumped_at": at(2), "records_low": 2, "records_high": None},
        {"jump_id": "3", "group_id": "nobodys", "jumped_at": at(3), "records_low": 4, "records_high": 9,
         "harm": "records_read_again"},
    ),
    "gold.night_subjects": rows_of(
        "gold.night_subjects",
        *({"night_subject_id": f"{kind}-{name}", "kind": kind, "name": name, "window_from": at(0), "window_to": at(60),
           "first_at": at(0), "last_at": at(60), **columns}
          for kind, name, columns in (
              ("topic", "t", {"partitions": 2, "is_whole": True}), ("topic", "u", {"partitions": 3, "is_whole": False}),
              ("broker", "1", {"versions": ["4.0.1", "4.1.2"]}), ("broker", "2", {"versions": None}))),
    ),
    "quality.nights": rows_of(
        "quality.nights",
        {"window_from": at(0), "window_to": at(60), "rebalances": 3, "partition_seconds": 6.0, "sudden_absences": None,
         "not_known": ["broker_lost"]},
    ),
    "quality.parsed_hours": rows_of(
        "quality.parsed_hours",
        *({"source": source, "last_at": at(minute), "lines_in": 4, "unparsed": 1,
           "lowest_broker": lowest, "highest_broker": highest}
          for source, minute, lowest, highest in (
              ("b-1/server.log", 0, 1, 1), ("b-1/server.log", 60, 1, 1), ("b-2/server.log", 30, 2, 2),
              ("all.log//b-3", 45, 1, 3))),
    ),
    "bronze.log_files": rows_of(
        "bronze.log_files",
        {"source": "b-2/server.log", "last_at": at(50), "run_collected_at": at(55)},
        {"source": "b-2/server.log", "last_at": at(40), "run_collected_at": at(45)},
        {"source": "all.log", "last_at": at(59), "run_collected_at": at(61)},
        {"source": "new.log", "last_at": at(58), "run_collected_at": at(58)},
        {"source": "undated.log", "last_at": None, "run_collected_at": at(1)},
    ),
    "quality.publications": rows_of(
        "quality.publications",
        *({"run_id": str(n), "table": "gold.rebalances", "window_from": at(first), "window_to": at(last)}
          for n, (first, last) in enumerate(((-8 * DAY, -8 * DAY + 90), (0, 60)))),
        {"run_id": "9", "table": "gold.failovers", "window_from": at(0), "window_to": at(DAY)},
    ),
}  # fmt: skip

EXPECTED: dict[str, list[dict[str, Any]]] = {
    "static_membership_saves": [
        {"group_id": "pay", "rebalances_avoided": 4, "of_rebalances": 5, "session_seconds_needed": 2.912,
         "confidence": "likely"},
        {"group_id": "orders", "rebalances_avoided": 3, "of_rebalances": 10, "partition_seconds_avoided": 20.0,
         "session_seconds_now": 11.0, "session_seconds_needed": 12.5, "windows": 2, "confidence": "possible",
         "explanation": "newest"},
    ],
    "static_membership_saves group_id=pay": [{"group_id": "pay"}],
    "eager_groups": [
        {"group_id": "orders", "eager_clients": 1, "of_clients": 2, "all_offer_cooperative": True, "who": "a"},
        {"group_id": "pay", "assignor": "roundrobin", "eager_clients": 1, "all_offer_cooperative": None, "who": "c"},
    ],
    "eager_groups from='2026-10-01 03:04'": [],
    "collection_health": [
        {"broker": None, "log": "undated.log", "last_line_at": None, "hours_behind": None, "lines_in": None},
        {"broker": None, "log": "all.log", "hours_behind": 0.3, "read_to_end_at": "2026-10-01T04:01:00.000Z"},
        {"broker": 2, "log": "server.log", "source": "b-2/server.log", "hours_behind": 0.2, "lines_in": 4,
         "read_to_end_at": "2026-10-01T03:55:00.000Z"},
        {"broker": None, "log": "new.log", "hours_behind": 0.0, "lines_in": None},
        {"broker": 1, "last_line_at": "2026-10-01T04:00:00.000Z", "hours_behind": 0.0, "lines_in": 8, "unparsed": 2,
         "read_to_end_at": None},
    ],
    "collection_health cluster=c": [{"broker": None}, {"broker": None}, {"broker": 2}, {"broker": None}, {"broker": 1}],
    "coverage_by_broker": [
        {"broker_folder": "dc/broker-2", "logs": "server.log", "windows": 1, "of_windows": 2, "share_seen": 0.25},
        {"broker_folder": "dc/broker-1", "logs": "controller.log, server.log", "windows": 2, "share_seen": 1.0,
         "longest_silence_seconds": 4.0, "lines_in": 30, "events": 18, "unparsed": 3},
    ],
    "coverage_by_broker from=2026-10-02": [{"broker_folder": "dc/broker-1", "windows": 1, "of_windows": 1}],
    "without_leader": [
        {"partition": 0, "kind": "broker_crash", "leader_before": 1, "since": "2026-10-01T03:09:00.000Z",
         "until": "2026-10-01T03:10:00.000Z", "seconds": 60.0, "since_at_earliest": "2026-10-01T03:08:30.000Z",
         "until_at_latest": "2026-10-01T03:10:06.000Z", "outage_of": 1},
        {"partition": 1, "kind": None, "since": "2026-10-01T03:30:00.000Z", "until": None, "seconds": None,
         "outage_of": None},
    ],
    "without_leader at='2026-10-01 03:08:29'": [],
    "without_leader at='2026-10-01 03:08:30'": [{"partition": 0}],
    "without_leader at='2026-10-01 03:10:05'": [{"partition": 0}],
    "without_leader at='2026-10-01 03:10:06'": [],
    "without_leader at='2026-10-01 03:49' topic=t": [{"partition": 1}],
    "unavailability": [
        {"kind": "no_leader", "subject": "t-1", "ended_at": None, "seconds": None, "seconds_at_least": 5.0},
        {"kind": "acks_all_hung", "subject": "t-1", "seconds": 180.0, "seconds_at_least": 170.0,
         "seconds_at_most": 180.0, "outage_of": None},
        {"kind": "no_leader", "subject": "t-0", "seconds": 60.0, "seconds_at_least": 50.0, "seconds_at_most": 90.0,
         "outage_of": 1},
    ],
    "unavailability kind=no_consumer": [],
    "unavailability kind=no_consumer at_least=0": [{"subject": "pay", "seconds": 0.6}],
    "producer_failures": [
        {"kind": "not_enough_replicas", "topic": "t", "producers": 2, "retries": 312, "given_up_low": 0,
         "given_up_high": 0},
        {"kind": "no_answer", "producers": 2, "retries": 3, "given_up_high": None},
    ],
    "unavailability_by_topic": [
        {"kind": "no_leader", "partitions": 2, "times": 2, "partition_seconds": 65.0,
         "partition_seconds_at_least": 55.0, "partition_seconds_at_most": None, "not_over": 1},
        {"kind": "acks_all_hung", "partitions": 1, "partition_seconds": 180.0, "longest_seconds": 180.0, "not_over": 0},
    ],
    "deployments_of_groups": [
        {"group_id": "orders", "deployments": 1, "rebalances": 2, "of_all": 3, "seconds": 2.0,
         "partition_seconds": 6.0, "clients": "a, b", "last_at": "2026-10-01T03:01:00.000Z"},
    ],
    "deployments_of_groups from='2026-10-01 03:02'": [],
    "changed_since_last_week": [
        {"what": "failovers", "which": "broker_crash", "last_week": 3, "week_before": 0, "hours_known": 1.0,
         "hours_known_before": 1.5},
        {"what": "rebalances of a group", "which": "orders", "change": 3},
        {"what": "failovers", "which": "offline"},
        {"what": "failovers", "which": "leader_restored"},
        {"what": "failovers", "which": "preferred_election"},
        {"what": "outages of a broker", "which": "1"},
        {"what": "outages of a broker", "which": "2"},
        {"what": "rebalances by cause", "which": "heartbeat_expired", "last_week": 0, "week_before": 1, "change": -1},
        {"what": "rebalances by cause", "which": "member_dead", "last_week": 1, "week_before": 0},
        {"what": "rebalances by cause", "which": "member_left"},
        {"what": "rebalances by cause", "which": "member_rejoined"},
        {"what": "rebalances of a group", "which": "pay", "change": -1},
    ],
    "changed_since_last_week at=2026-09-25": [
        {"what": "rebalances by cause", "which": "heartbeat_expired", "change": None, "hours_known": 1.5,
         "hours_known_before": 0.0},
        {"what": "rebalances of a group", "which": "pay", "change": None},
    ],
    "failover_times": [
        {"kind": "broker_crash", "failovers": 3, "of_unknown_length": 1, "median_seconds": 15.0,
         "longest_seconds": 20.0, "longest_at_most": 90.0, "longest_of": "t-3"},
        {"kind": "preferred_election", "failovers": 1, "longest_seconds": 0.0},
        {"kind": "leader_restored", "of_unknown_length": 1, "median_seconds": None},
    ],
    "failover_times from='2026-10-01 03:45'": [{"kind": "broker_crash", "failovers": 1}],
    "deaths_by_host": [
        {"host": "h2", "died": 1, "fell_silent": 1, "closed_or_died": 1, "clients": 2, "groups": "orders, pay"},
        {"host": "h1", "died": 1, "fell_silent": 0, "closed_or_died": 0, "clients": 1, "groups": "orders"},
        {"host": None, "died": 1, "groups": "pay"},
    ],
    "deaths_by_host from=2026-10-01": [{"host": "h2", "fell_silent": 0}, {"host": "h1"}],
    "outage_effects broker=2": [{"broker": 2}],
    "mttr_by_broker from='2026-10-01 03:05'": [
        {"broker": 1, "week_from": "2026-09-28", "absences": 1, "not_back": 0, "mean_seconds_at_least": 60.0,
         "mean_seconds": 120.0, "mean_seconds_at_most": 150.0, "longest_seconds": 120.0},
    ],
    "mttr_by_broker": [{"broker": 1}, {"broker": 2}],
    "rebalances_during_outages broker=1": [],
    "without_writes": [
        {"topic": "t", "partitions": 2, "partition_seconds": 245.0, "of_no_leader": 65.0, "not_over": 1},
    ],
    "incidents_by_harm": [
        {"harm": "consumers_stopped", "rebalances": 1},
        {"harm": "routine", "headline": "Group orders restarted its members"},
    ],
    "incidents_by_harm harm=routine": [{"rebalances": 2}],
    "cost_by_owner": [
        {"owner": "data", "rebalances": 3, "times_without_leader": 2, "leaderless_partition_seconds": 65.0,
         "times_without_writes": 1, "writeless_partition_seconds": 180.0, "not_over": 1},
        {"owner": "shop", "rebalances": 2, "times_without_leader": 0, "leaderless_partition_seconds": None},
    ],
    "bill_by_owner": [
        {"owner": "data", "month": "2026-10-01", "harm": "records_skipped", "groups": 1, "jumps": 2, "records_low": 72,
         "records_high": None},
        {"owner": "unowned", "harm": "records_read_again", "records_low": 4, "records_high": 9},
    ],
    "bill_by_month": [
        {"month": "2026-10-01", "owner": "data", "rebalances": 3, "rebalances_of_unknown_cost": 2,
         "consumers_stopped_at_most": 6.0, "without_leader": 65.0, "without_writes": 245.0},
        {"month": "2026-09-01", "owner": "shop", "rebalances": 2, "rebalances_of_unknown_cost": 2,
         "consumers_stopped_at_most": None, "without_leader": None},
    ],
    "availability_of_topics": [
        {"topic": "t", "partitions": 2, "observed_s": 3600, "leaderless_partition_seconds": 65.0,
         "available_percent": 99.097, "is_at_most": False},
        {"topic": "u", "is_whole": False, "available_percent": None},
    ],
    "figures_by_version": [
        {"versions": "4.1.2, unknown", "nights": 1, "broker_hours": 2.0, "rebalances": 3, "sudden_absences": None,
         "nights_in_part": 1},
    ],
    "bill_by_owner from='2026-10-01 03:03'": [{"owner": "unowned"}],
    "cost_by_owner from='2026-10-01 03:25'": [{"owner": "data", "rebalances": 0, "times_without_leader": 1}],
    "alerts_sent": [
        {"receiver": "bot", "sent_at": None, "not_sent_because": "HTTP 503", "subject": "pay", "state": "ongoing"},
        {"receiver": None, "sent_at": None, "not_sent_because": "declared", "subject": "orders"},
        {"receiver": "chat", "sent_at": "2026-10-01T03:05:00.000Z", "not_sent_because": None, "subject": "pay"},
    ],
    "alerts_sent receiver=chat": [{"receiver": "chat"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> sql.Session:
    lake = write_lake(tmp_path_factory.mktemp("lake"), LAKE)
    seen = [sighting("pay"), sighting("orders", declared=True)]
    entries = [LedgerEntry(s, s.night_to) for s in seen]
    entries[0] = replace(entries[0], sent={"chat": at(5)}, failures={"bot": "HTTP 503"})
    write_ledger(str(lake), {e.sighting.key: e for e in entries})
    (lake / "owners.toml").write_text(
        '[[alerts.owners]]\nname = "data"\ngroups = ["order*", "orders"]\ntopics = ["t"]\n'
        '[[alerts.owners]]\nname = "shop"\ngroups = ["pay"]\n'
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FILE_VARIABLE, str(lake / "owners.toml"))
        return sql.Session(open_views(str(lake)), named_queries(), "json")


@pytest.mark.parametrize("asked", EXPECTED)
def test_named_query_answers(session: sql.Session, asked: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answers(session, asked, capsys)
    expected = EXPECTED[asked]
    assert [{k: f[k] for k in e} for f, e in zip(rows, expected)] == expected
    assert len(rows) == len(expected)


def test_leader_timeline_orders_recreated_topic_by_incarnation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = failover(3, 0, 60, 1, 2, topic_incarnation=1, topic="back")
    rows = rows_of("gold.failovers", failover(9, 0, 30, 1, -1, kind="offline", topic="back"), again)
    lake = write_lake(tmp_path / "lake", {"gold.failovers": rows})
    session = sql.Session(open_views(str(lake)), named_queries(), "json")
    led = answers(session, "leader_timeline topic=back", capsys)
    assert [(t["leader_epoch"], t["led_until"]) for t in led] == [(9, "2026-10-01T04:00:00.000Z"), (3, None)]


def test_every_named_query_has_a_test() -> None:
    asked = (*EXPECTED, *test_sql.EXPECTED, *test_now.EXPECTED, "night_figures", "group_gauges")
    assert {text.split()[0] for text in asked} == set(named_queries())
