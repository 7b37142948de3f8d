"""A tiny lake on which the named queries and the prompt are tried: a few rows of each table that somebody asks."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.sql import prompt as sql
from tests.support.rows import AT, values

HOSTILE = "\x1b[2Jorders\u202e"


def at(minutes: float) -> Any:
    return AT + timedelta(minutes=minutes)


def rows_of(table: str, *rows: dict[str, Any]) -> list[dict[str, Any]]:
    return [values(BY_NAME[table], cluster="c", **r) for r in rows]


def lost(low: int, high: int) -> dict[str, int]:
    return {"records_lost_low": low, "records_lost_high": high}


def contributor(client: str) -> dict[str, Any]:
    return {"client_id": client, "instance_id": None, "member_id": None, "cause": "member_left", "at": AT}


def waited(client: str | None, ms: int) -> dict[str, Any]:
    return {"client_id": client, "member_id": "m-1", "waited_ms": ms}


def score(broker: int, minute: float, isr_ms: int | None, is_early: bool | None) -> dict[str, Any]:
    return {"broker": broker, "outage_id": "o", "kind": "controlled_shutdown", "down_at": at(minute),
            "up_at": at(minute + 0.5), "isr_recovered_ms": isr_ms, "leadership_restored_ms": 90_500,
            "is_early": is_early, "partitions_led_before": 9, "elections": 9}  # fmt: skip


def owned(partition: int) -> dict[str, Any]:
    return {"topic": "t", "partition": partition}


LAKE = {
    "gold.rebalances": rows_of(
        "gold.rebalances",
        {"rebalance_id": "1", "group_id": "orders", "cause": "member_left", "confidence": "certain", "client_id": "a",
         "duration_ms": 9500, "partition_seconds": 57.0, "incident_id": "i", "to_generation": 4,
         "contributors": [contributor("b")], "delayed_by": [waited("b", 1000), waited(None, 7000)]},
        {"rebalance_id": "2", "group_id": "orders", "cause": "member_left", "confidence": "possible", "client_id": "a",
         "silence": "slow", "silence_confidence": "likely", "waited_for": "timeout_awaited",
         "duration_ms": 500, "partition_seconds": 3.0, "started_at": at(-60 * 24 * 4)},
        {"rebalance_id": "3", "group_id": HOSTILE, "cause": "unknown", "confidence": "unknown"},
    ),
    "gold.assignment_changes": rows_of(
        "gold.assignment_changes",
        {"rebalance_id": "1", "group_id": "orders", "member_id": "m-1", "client_id": "a",
         "before": [owned(0), owned(1)], "after": [owned(0)], "gained": [], "lost": [owned(1)]},
        {"rebalance_id": "1", "group_id": "orders", "member_id": "m-2", "client_id": "b", "before": None,
         "after": [owned(1)], "gained": None, "lost": None},
    ),
    "gold.backlogs": rows_of(
        "gold.backlogs",
        {"backlog_id": "1", "rebalance_id": "1", "group_id": "orders", "lag_before": 10, "lag_peak": 250,
         "backlog": 240, "worked_off_at": at(1)},
        {"backlog_id": "2", "rebalance_id": None, "outage_id": "o", "group_id": "billing", "started_at": at(0),
         "lag_peak": 70, "backlog": 70},
    ),
    "bronze.offset_snapshots": rows_of(
        "bronze.offset_snapshots",
        *({"group_id": "orders", "topic": "t", "partition": 1, "snapshot_at": at(n), "snapshot_id": f"r{n}",
           "committed_offset": 10, "end_offset": end, "lag": end - 10} for n, end in enumerate((10, 10, 40, 70))),
        *({"group_id": "orders", "topic": "t", "partition": 2, "snapshot_at": at(n), "snapshot_id": f"r{n}",
           "committed_offset": 5, "end_offset": 9, "lag": 4} for n in range(3)),
    ),
    "bronze.offset_commits": rows_of(
        "bronze.offset_commits",
        *({"group_id": group, "topic": "t", "partition": partition, "first_record": n, "first_at": at(n),
           "last_at": at(n + 1), "first_offset": offset, "last_offset": offset, "commits": commits,
           "leader_epoch": epoch}
          for n, (group, partition, offset, commits, epoch) in enumerate((
              ("orders", 0, 5, 100, 3), ("orders", 0, 9, 1, -1), ("orders", 1, 7, 20, 3),
              ("pay", 0, 4, 30, -1), ("pay", 1, 4, 40, -1), ("pay", 1, None, 1, -1), ("billing", 0, 4, 30, 0),
              ("billing", 0, None, 1, -1),
          ))),
    ),
    "gold.partition_stalls": rows_of(
        "gold.partition_stalls",
        {"stall_id": "s", "group_id": "orders", "topic": "t", "partition": 1, "kind": "stands_alone", "lag_max": 90,
         "client_id": "c", "owned_partitions": 3, "moving_partitions": 1, "idle_partitions": 1, "started_at": at(4),
         "ended_at": None},
    ),
    "gold.offset_jumps": rows_of(
        "gold.offset_jumps",
        {"jump_id": "1", "group_id": "orders", "topic": "t", "partition": 0, "jumped_at": at(1), "offset_from": 50,
         "offset_to": 120, "records_low": 70, "records_high": 70, "cause": "retention", "actor": "broker"},
        {"jump_id": "2", "group_id": "orders", "topic": "t", "partition": 1, "jumped_at": at(2), "offset_to": 30,
         "records_low": 0, "records_high": 25, "harm": "records_read_again", "cause": "crash_before_commit",
         "actor": "member", "confidence": "possible", "rebalance_id": "1"},
        {"jump_id": "4", "group_id": "pay", "topic": "t", "partition": 1, "jumped_at": at(3), "resumed_at": None,
         "offset_from": 9, "records_low": 80, "records_high": None, "cause": "retention", "actor": "broker",
         "confidence": "likely"},
        {"jump_id": "3", "group_id": "pay", "topic": "t", "partition": 0, "jumped_at": at(3), "resumed_at": at(4),
         "offset_from": 9, "records_low": 4, "records_high": None, "cause": "retention", "actor": "broker",
         "confidence": "likely"},
    ),
    "gold.incidents": rows_of(
        "gold.incidents",
        {"incident_id": "i", "first_outage_id": "o", "rebalance_count": 3, "partition_seconds": 12.5,
         "intent": "declared", "harm": "data_at_risk", "harm_rank": 2, "headline": "Broker 2 was shut down"},
        {"incident_id": "j", "rebalance_count": 8, "kind": "storm", "group_ids": ["orders"], "fingerprint": "steady",
         "harm": "consumers_stopped", "harm_rank": 1},
    ),
    "gold.broker_outages": rows_of(
        "gold.broker_outages",
        {"outage_id": "o", "broker": 2, "kind": "crash", "down_at": at(0), "detected_at": at(0.15), "up_at": at(2),
         "isr_recovered_at": None, "leadership_restored_at": None, "group_ids": ["orders", "billing"], "rebalances": 3,
         "partition_seconds": 12.5, "incident_id": "i"},
    ),
    "gold.failovers": rows_of(
        "gold.failovers",
        {"failover_id": "1", "topic": "t", "partition": 0, "happened_at": at(1), "kind": "broker_crash",
         "leader_from": 2, "leader_to": -1, "epoch_to": 5, "outage_id": "o", **lost(1, 4)},
        {"failover_id": "2", "topic": "t", "partition": 0, "happened_at": at(3), "kind": "unclean_election",
         "leader_from": -1, "leader_to": 1, "epoch_to": 6, "outage_id": "o", "leaderless_ms": 120_000, **lost(0, 2)},
        {"failover_id": "3", "topic": "t", "partition": 1, "happened_at": at(3), "kind": "preferred_election",
         "leader_from": 1, "leader_to": 3, "epoch_to": 2},
    ),
    "gold.unavailability": rows_of(
        "gold.unavailability",
        {"kind": "no_leader", "topic": "t", "partition": 0, "group_id": None, "started_at": at(1), "ended_at": at(3),
         "low_ms": 100_000, "failover_id": "1", "outage_id": "o"},
    ),
    "gold.out_of_sync_periods": rows_of(
        "gold.out_of_sync_periods",
        {"out_of_sync_period_id": "1", "broker": 2,
         "kind": "outage", "partitions": 7, "partition_ms": 70_000, "flaps": 0,
         "started_at": at(0), "ended_at": at(2)},
        {"out_of_sync_period_id": "2", "broker": 3,
         "kind": "slow", "suspected_broker": 1, "removed_by_leader": [1], "partitions": 4, "flaps": 2,
         "partition_ms": 90_000, "records_behind": 120, "confidence": "likely", "ended_at": None},
        {"out_of_sync_period_id": "3", "broker": 2,
         "kind": "slow", "suspected_broker": 1, "removed_by_leader": [1], "partitions": 3, "flaps": 1,
         "partition_ms": 5_000, "confidence": "possible", "started_at": at(5), "ended_at": at(6)},
    ),
    "gold.rolling_restarts": rows_of(
        "gold.rolling_restarts",
        {"restart_id": "r", "is_complete": True, "intent": "declared",
         "scorecard": [score(1, 0, 11_000, None), score(2, 1, None, True)]},
    ),
    "gold.partition_risks": rows_of(
        "gold.partition_risks",
        {"topic": "t", "partition": 0, "window_from": at(0), "window_to": at(60), "replication_factor": 3,
         "elections": 2, "leaderless_low_ms": 90_000, "under_replicated_ms": 600_000, "known_ms": 3_600_000,
         "one_from_offline_ms": 120_000, "worst_isr_size": 1},
        {"topic": "t", "partition": 0, "window_from": at(60), "window_to": at(120), "replication_factor": 2,
         "elections": 0, "under_replicated_ms": 300_000, "known_ms": 1_800_000, "worst_isr_size": 2},
        {"topic": "u", "partition": 1, "window_from": at(0), "window_to": at(60), "one_from_unclean_ms": 30_000},
    ),
    "gold.coordinator_moves": rows_of("gold.coordinator_moves", {"coordinator_move_id": "m", "outage_id": "o"}),
    "gold.ownership": rows_of(
        "gold.ownership",
        {"group_id": "orders", "topic": "t", "partition": 0, "client_id": "a", "valid_from": at(0), "valid_to": at(10)},
        {"group_id": "orders", "topic": "t", "partition": 0, "client_id": "b", "valid_from": at(10.5),
         "valid_to": at(20), "is_open": True},
        {"group_id": "orders", "topic": "t", "partition": 1, "client_id": "c", "valid_from": at(0), "valid_to": at(20)},
        {"group_id": "pay", "topic": "t", "partition": 0, "client_id": "d", "valid_from": at(0), "valid_to": at(20)},
    ),
    "gold.leader_imbalance": rows_of(
        "gold.leader_imbalance",
        *({"broker": 1, "snapshot_at": at(m), "preferred_partitions": 9, "led_elsewhere": e, "ratio": e / 9,
           "over_threshold": e > 0} for m, e in enumerate((0, 0, 3, 3, 0))),
    ),
    "gold.truncations": rows_of(
        "gold.truncations",
        {"truncation_id": "1", "topic": "t", "partition": 0, "broker": 3, "failover_id": "1", "happened_at": at(2),
         "log_end_before": 9, "truncated_to": 8, "records_cut": 1, "confidence": "certain"},
        {"truncation_id": "2", "topic": "t", "partition": 0, "broker": 2, "failover_id": "2", "happened_at": at(4),
         "log_end_before": 30, "truncated_to": 28, "records_cut": 2, "verdict": "committed_lost"},
        {"truncation_id": "3", "topic": "t", "partition": 0, "broker": 3, "failover_id": "2", "happened_at": at(5),
         "truncated_to": 28, "verdict": "committed_lost"},
    ),
    # At the last of two readings broker 1 leads its two and one of broker 2's, which leads one; broker 3 leads nothing.
    "bronze.partition_snapshots": rows_of(
        "bronze.partition_snapshots",
        {"snapshot_id": "r1", "snapshot_at": at(1), "topic": "t", "partition": 0, "leader": 3, "preferred_leader": 1},
        *({"snapshot_id": "r2", "snapshot_at": at(2), "topic": topic, "partition": partition, "leader": leader,
           "preferred_leader": preferred, "is_internal": topic != "t"}
          for topic, partition, preferred, leader in (
              ("t", 0, 1, 1), ("t", 1, 1, 1), ("t", 2, 2, 1), ("t", 3, 2, 2), ("t", 4, 3, None),
              ("__consumer_offsets", 0, 2, 2), ("__consumer_offsets", 1, 4, 2))),
    ),
    "bronze.broker_snapshots": rows_of(
        "bronze.broker_snapshots",
        *({"snapshot_id": "r2", "snapshot_at": at(2), "broker": broker, "rack": rack}
          for broker, rack in ((1, "a"), (2, "b"), (3, "b"))),
    ),
    "bronze.group_snapshots": rows_of(
        "bronze.group_snapshots",
        *({"snapshot_id": "r2", "snapshot_at": at(2), "group_id": str(n), "coordinator": broker}
          for n, broker in enumerate((1, 1, 2, None))),
    ),
    "gold.imbalance_periods": rows_of(
        "gold.imbalance_periods",
        {"imbalance_period_id": "1", "broker": 2,
         "started_at": at(1), "ended_at": at(3.5), "last_reading_at": at(3), "max_ratio": 1 / 3,
         "started_by": "broker_crash", "outage_id": "o", "ended_by": "automatic_election"},
        {"imbalance_period_id": "2", "broker": 1,
         "started_at": at(2), "ended_at": None, "last_reading_at": at(4), "max_ratio": 0.5},
    ),
    "gold.findings": rows_of(
        "gold.findings",
        {"finding_id": "1", "severity": "info", "rule_id": "r1"},
        {"finding_id": "2", "severity": "critical", "rule_id": "r2"},
        {"finding_id": "3", "severity": "warning", "rule_id": "r3"},
        {"finding_id": "4", "severity": "info", "rule_id": "auto_rebalance_off", "subject": "c", "last_at": at(0)},
        *({"finding_id": f"{5 + m}", "severity": "info", "rule_id": "racks_unknown", "subject": "c", "last_at": at(m)}
          for m in (0, 1)),
    ),
    "gold.remedies": rows_of(
        "gold.remedies",
        {"group_id": "orders", "setting": "cooperative_assignment", "partition_seconds_avoided": 20.0,
         "rebalances_avoided": 0, "rebalances_total": 2},
        {"group_id": "orders", "setting": "session_timeout", "value_now": 10_000, "value_smallest": 12_500,
         "rebalances_avoided": 2, "rebalances_total": 2},
    ),
    "quality.coverage": rows_of(
        "quality.coverage",
        {"source": "broker-1/server.log", "lines_in": 10, "events": 4, "ignored": 3, "unparsed": 2, "quarantined": 1},
        {"source": "broker-2/server.log", "lines_in": 9, "events": 4, "ignored": 3, "unparsed": 0, "quarantined": 1},
    ),
    "quality.generation_gaps": rows_of(
        "quality.generation_gaps",
        {"group_id": "orders", "after_generation": 3, "next_generation": 6, "seen_at": at(1), "explained_by": None},
        {"group_id": "billing", "after_generation": 1, "next_generation": 3, "seen_at": at(2), "explained_by": "moved"},
    ),
    "quality.leadership_gaps": rows_of(
        "quality.leadership_gaps",
        {"topic": "t", "partition": 0, "next_epoch": 5, "leader_before": 1, "leader_after": 1, "seen_at": at(1)},
        {"topic": "t", "partition": 0, "next_epoch": 9, "leader_before": 1, "leader_after": 2, "seen_at": at(2)},
        {"topic": "t", "partition": 1, "next_epoch": 9, "seen_at": at(2), "explained_by": "reassigned"},
    ),
    "gold.member_settings": rows_of(
        "gold.member_settings",
        {"settings_id": "1", "group_id": "orders", "client_id": "a", "session_timeout_ms": 10_000,
         "assignors": ["range", "cooperative-sticky"], "witnesses": ["client_log", "member_line"]},
        {"settings_id": "2", "group_id": "orders", "client_id": "b", "last_seen_at": at(5)},
        {"settings_id": "3", "group_id": "pay", "client_id": "c"},
    ),
    "quality.verdict_changes": rows_of(
        "quality.verdict_changes",
        {"row_id": "1", "run_id": "r1", "subject": "orders", "change": "changed", "verdict_before": "unknown",
         "verdict_after": "member_dead", "run_reclassified_at": at(1)},
        {"row_id": "2", "run_id": "r2", "subject": "pay", "change": "gone", "verdict_before": "member_left",
         "run_reclassified_at": at(2)},
    ),
    "quality.late_windows": rows_of(
        "quality.late_windows",
        *({"run_id": run, "window_from": at(0), "window_to": at(1), "records": n, "sources": ["1/server.log"],
           "first_at": at(0.2), "last_at": at(0.5), "run_found_at": at(n)} for n, run in ((7, "r1"), (9, "r2"))),
    ),
    "quality.publications": rows_of(
        "quality.publications",
        *({"run_id": f"{run} {m}", "table": table, "window_from": at(m), "window_to": at(m + 1)}
          for m in range(3) for run in ("first", "again") for table in ("gold.findings", "gold.rebalances")),
    ),
    "quality.unparsed_lines": rows_of(
        "quality.unparsed_lines",
        *({"line_id": str(n), "template": "saw <n>", "line_count": 2, "text": f"saw {n}", "happened_at": at(n)}
          for n in (2, 1)),
        {"line_id": "9", "template": "else", "line_count": 1, "text": "else"},
    ),
}  # fmt: skip


def answers(session: sql.Session, text: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    session.tell(text)
    return list(json.loads(capsys.readouterr().out))
