"""SQL over a tiny lake of real Delta tables: views, queries, formats, and nothing that can be written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog import BY_NAME, TABLES
from kafka_hindsight.catalog.row import Row, struct
from kafka_hindsight.catalog.table_model import ColumnType, ListOf, Scalar
from kafka_hindsight.shared.exits import DONE, BadInput
from kafka_hindsight.sql import prompt as sql
from kafka_hindsight.sql.duck_types import duck_type
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries, named_question, read_query
from kafka_hindsight.sql.prompt import VIEW_BY_NAME
from tests.support.asked_lake import LAKE, answers
from tests.support.lake import write_lake


@struct
class Inner(Row):
    c: int
    d: bytes


@struct
class Outer(Row):
    a: str
    b: list[Inner]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A space, a quote and a percent sign: a lake may lie anywhere.
    return write_lake(tmp_path_factory.mktemp("a lake's 100%"), LAKE)


@pytest.fixture(scope="module")
def session(lake: Path) -> sql.Session:
    return sql.Session(open_views(str(lake)), named_queries(), "json")


EXPECTED: dict[str, list[dict[str, Any]]] = {
    "partition_owner": [
        {"group_id": "orders", "partition": 0, "client_id": "b", "is_open": True},
        {"group_id": "orders", "partition": 1, "client_id": "c"},
        {"group_id": "pay", "partition": 0, "client_id": "d"},
    ],
    "partition_owner at='2026-10-01 03:09:59' group_id=orders topic=t partition=0": [
        {"client_id": "a", "valid_to": "2026-10-01T03:10:00.000Z"},
    ],
    "partition_owner at=2026-10-01T03:10 group_id=orders topic=t partition=0": [],
    "partition_owner at=2026-10-01T03:10:29Z group_id=orders topic=t partition=0": [],
    "partition_owner at=2026-10-01T03:10:30Z group_id=orders topic=t partition=0": [
        {"client_id": "b", "valid_from": "2026-10-01T03:10:30.000Z"},
    ],
    "rebalances_by_cause": [
        {"cause": "member_left", "rebalances": 2, "groups": 1, "certain": 1, "likely": 0, "unsure": 1,
         "total_seconds": 10.0, "longest_seconds": 9.5, "longest_in_group": "orders"},
        {"cause": "unknown", "rebalances": 1, "unsure": 1, "total_seconds": None},
    ],
    "costliest_clients": [
        {"client_id": "a", "rebalances_caused": 2, "rebalances_shared": 0, "seconds_caused": 10.0,
         "partition_seconds_caused": 60.0, "seconds_waited_for": 0.0},
        {"client_id": "b", "rebalances_caused": 0, "rebalances_shared": 1, "seconds_caused": 0.0,
         "seconds_waited_for": 1.0},
    ],
    "cost_by_group": [
        {"group_id": "orders", "rebalances": 2, "of_unknown_cost": 0, "partition_seconds": 60.0,
         "costliest_cause": "member_left", "its_partition_seconds": 60.0},
        {"rebalances": 1, "of_unknown_cost": 1, "partition_seconds": None, "costliest_cause": None},
    ],
    "cost_by_group from=2026-10-01": [{"group_id": "orders", "partition_seconds": 57.0}, {"of_unknown_cost": 1}],
    "cost_by_cause": [
        {"cause": "member_left", "rebalances": 2, "partition_seconds": 60.0, "costliest_group": "orders",
         "its_partition_seconds": 60.0},
        {"cause": "unknown", "of_unknown_cost": 1, "partition_seconds": None},
    ],
    "cost_by_week group_id=orders": [
        {"week_from": "2026-09-21", "rebalances": 1, "partition_seconds": 3.0, "declared_partition_seconds": None},
        {"week_from": "2026-09-28", "rebalances": 1, "partition_seconds": 57.0, "declared_partition_seconds": 57.0},
    ],
    "rebalances_caused_by_brokers": [{"broker": 2, "outages": 1, "rebalances": 3, "of_all": 3}],
    "storms": [{"group_id": "orders", "rebalances": 8, "fingerprint": "steady"}],
    "storms group_id=pay": [],
    "what_would_have_helped group_id=orders": [
        {"setting": "session_timeout", "seconds_now": 10.0, "seconds_at_least": 12.5, "rebalances_avoided": 2},
        {"setting": "cooperative_assignment", "seconds_at_least": None, "partition_seconds_avoided": 20.0},
    ],
    "outage_effects": [
        {"broker": 2, "kind": "crash", "seconds_to_detect": 9.0, "seconds_down": 120.0, "seconds_to_full_isr": None,
         "failovers": 2, "left_without_leader": 1, "longest_leaderless_ms": 120_000, "records_lost_low": 1,
         "records_lost_high": 6, "coordinator_moves": 1, "rebalances": 3, "partition_seconds": 12.5,
         "groups_concerned": "orders, billing"},
    ],
    "rolling_restart_scorecard": [
        {"is_complete": True, "broker": 1, "seconds_down": 30.0, "seconds_to_full_isr": 11.0,
         "seconds_to_leadership": 90.5, "stopped_too_early": None, "partitions_led_before": 9},
        {"broker": 2, "seconds_to_full_isr": None, "stopped_too_early": True},
    ],
    "isr_trouble_by_broker": [
        {"broker": 3, "kind": "slow", "out_of_sync_periods": 1, "still_open": 1, "most_partitions": 4, "lost_again": 2,
         "partition_seconds": 90.0, "longest_seconds": None, "records_behind": 120},
        {"broker": 2, "kind": "outage", "still_open": 0, "partition_seconds": 70.0, "longest_seconds": 120.0},
        {"broker": 2, "kind": "slow", "partition_seconds": 5.0},
    ],
    "isr_trouble_by_broker broker=3": [{"broker": 3}],
    "slow_brokers": [
        {"broker": 1, "out_of_sync_periods": 2,
         "of_doubt": 1, "removed_by_leader": "1", "fell_out": "2, 3", "records_behind": 120,
         "partition_seconds": 95.0, "last_at": "2026-10-01T03:06:00.000Z"},
    ],
    "longest_rebalances": [
        {"group_id": "orders", "seconds": 9.5, "waited_for": "m-1 7.0 s, b 1.0 s", "generation": 4},
        {"group_id": "orders", "seconds": 0.5, "waited_for": ""},
    ],
    "longest_rebalances limit=1": [{"seconds": 9.5}],
    "unexplained_gaps": [{"group_id": "orders", "gaps": 1, "generations_missing": 2}],
    "unknown_leaders": [{"topic": "t", "partition": 0, "breaks": 2, "returns_possible": 1}],
    "leader_timeline topic=t partition=0": [
        {"leader": -1, "led_from": "2026-10-01T03:01:00.000Z", "led_until": "2026-10-01T03:03:00.000Z",
         "kind": "broker_crash"},
        {"leader": 1, "led_until": None, "kind": "unclean_election", "leader_epoch": 6},
    ],
    "leader_timeline": [{"partition": 0}, {"partition": 0}, {"partition": 1, "leader": 3}],
    "exposure_of_partitions": [
        {"topic": "t", "partition": 0, "replicas": 2, "elections": 2, "leaderless_s_at_least": 90.0,
         "leaderless_s_at_most": None, "one_from_offline_s": 120.0, "under_replicated_s": 900.0, "fewest_in_sync": 1,
         "share_known": 0.75},
        {"topic": "u", "one_from_unclean_s": 30.0},
    ],
    "exposure_of_partitions topic=u": [{"topic": "u"}],
    "durability": [{"severity": "info", "rule_id": "racks_unknown", "subject": "c", "windows": 2}],
    "assignment_change group_id=orders": [
        {"member": "a", "before": "t-0, t-1", "after": "t-0", "gained": "", "lost": "t-1", "generation": 4},
        {"member": "b", "before": None, "after": "t-1", "gained": None, "lost": None},
    ],
    "stopped_by_kind group_id=orders": [
        {"group_id": "orders", "kind": None, "rebalances": 2, "seconds": 10.0, "partition_seconds": 60.0,
         "of_unknown_cost": 0},
    ],
    "backlogs group_id=orders": [
        {"backlog_at_least": 240, "worked_off_at": "2026-10-01T03:01:00.000Z", "worked_off_after_s": 60.0,
         "not_known": None},
        {"waited_for": "timeout_awaited", "backlog_at_least": None,
         "not_known": "not known: no readings of the lag before and after it"},
    ],
    "commits_without_epoch": [
        {"group_id": "pay", "partitions": 2, "commits_without_epoch": 70, "commits": 70,
         "first_at": "2026-10-01T03:03:00.000Z", "last_at": "2026-10-01T03:05:00.000Z"},
        {"group_id": "orders", "partitions": 1, "commits_without_epoch": 1, "commits": 121},
    ],
    "commits_without_epoch group_id=billing": [],
    "lag_in_seconds group_id=orders": [
        {"partition": 2, "lag": 4, "waits_s_at_least": 120.0, "waits_s_at_most": None, "worst_s_at_least": 120.0},
        {"partition": 1, "lag": 60, "waits_s_at_least": 60.0, "waits_s_at_most": 120.0, "worst_s_at_least": 60.0,
         "worst_at": "2026-10-01T03:03:00.000Z"},
    ],
    "stalls topic=t": [
        {"group_id": "orders", "partition": 1, "kind": "stands_alone", "owner": "c", "others": 2, "others_moving": 1,
         "others_idle": 1, "ended_at": None},
    ],
    "stalls group_id=billing": [],
    "backlogs group_id=billing": [
        {"cause": "broker 2 away, no rebalance", "backlog_at_least": 70, "incident_id": "i", "worked_off_at": None},
    ],
    "offset_jumps": [
        {"group_id": "orders", "cause": "retention", "partitions": 1, "records_low": 70, "records_high": 70},
        {"group_id": "pay", "records_low": 4, "records_high": None, "not_back": 1, "least_sure": "likely"},
        {"group_id": "orders", "cause": "crash_before_commit", "records_low": 0, "records_high": 25},
    ],
    "offset_jumps group_id=pay": [{"group_id": "pay", "jumps": 2}],
    "offsets_moved_by group_id=orders": [
        {"partition": 1, "actor": "member", "offset_from": None, "offset_to": 30},
        {"partition": 0, "actor": "broker", "offset_from": 50, "offset_to": 120},
    ],
    "silences": [{"group_id": "orders", "client_id": "a", "silence": "slow", "times": 1}],
    "imbalance_history broker=1": [
        {"snapshot_at": "2026-10-01T03:00:00.000Z", "ratio": 0.0, "over_threshold": False},
        {"snapshot_at": "2026-10-01T03:02:00.000Z", "ratio": 0.333, "over_threshold": True},
        {"snapshot_at": "2026-10-01T03:04:00.000Z", "ratio": 0.0, "over_threshold": False},
    ],
    "imbalance_history broker=2": [],
    "imbalance_periods": [
        {"broker": 1, "ended_at": None, "seconds_at_least": 120.0, "max_ratio": 0.5, "outage_of": None,
         "ended_by": None},
        {"broker": 2, "seconds_at_least": 150.0, "started_by": "broker_crash", "outage_of": 2, "outage_kind": "crash",
         "ended_by": "automatic_election"},
    ],
    "imbalance_periods broker=2": [{"broker": 2}],
    "leader_balance": [
        {"scope": "all", "snapshot_at": "2026-10-01T03:02:00.000Z", "partitions": 7, "leaderless": 1,
         "non_preferred": 2, "non_preferred_share": 0.333, "brokers": 3, "leaders_max": 3, "leaders_min": 0,
         "leader_spread": 1.5, "leader_excess": 0.5, "brokers_off_band": 3, "coordinator_spread": 3.0,
         "group_spread": 2.0, "most_loaded_broker": 1, "least_loaded_broker": 3},
        {"scope": "rack:a", "partitions": 2, "non_preferred": 0, "leaders_max": 3, "coordinator_spread": None},
        {"scope": "rack:b", "partitions": 4, "non_preferred": 1, "leaderless": 1, "leaders_max": 3, "leaders_min": 0},
        {"scope": "without_internal", "partitions": 5, "non_preferred_share": 0.25, "leader_spread": 2.25,
         "leader_excess": 1.25, "brokers_off_band": 3},
    ],
    "records_lost": [
        {"topic": "t", "partition": 0, "leader_to": -1, "records_lost_low": 1, "records_lost_high": 4,
         "cut_to_by_broker": "3: 8"},
        {"topic": "t", "partition": 0, "leader_to": 1, "records_lost_low": 0, "records_lost_high": 2,
         "cut_to_by_broker": "2: 28, 3: 28"},
    ],
    "records_lost topic=u": [],
    "truncations": [
        {"broker": 2, "records_cut": 2, "verdict": "committed_lost"},
        {"broker": 3, "records_cut": None, "truncated_to": 28},
        {"broker": 3, "records_cut": 1, "verdict": "nothing_committed_lost", "confidence": "certain"},
    ],
    "truncations topic=u": [],
    "coverage_by_source": [
        {"source": "broker-2/server.log", "lines_in": 9, "unaccounted": 1},
        {"source": "broker-1/server.log", "lines_in": 10, "unaccounted": 0},
    ],
    "unparsed_templates": [
        {"template": "saw <n>", "records": 2, "lines": 4, "first_text": "saw 1"},
        {"template": "else", "records": 1, "lines": 1, "first_text": "else"},
    ],
    "settings_of_groups group_id=orders": [
        {"client_id": "b", "session_timeout_ms": None, "assignors": None},
        {"client_id": "a", "session_timeout_ms": 10_000, "assignors": "range, cooperative-sticky",
         "witnesses": "client_log, member_line"},
    ],
    "rules_fired": [{"rule_id": "racks_unknown", "fired": 2}] + [
        {"rule_id": rule_id, "fired": 1} for rule_id in ("auto_rebalance_off", "r1", "r2", "r3")
    ],
    "rules_fired rule_id=racks_unknown": [{"fired": 2, "last_at": "2026-10-01T03:01:00.000Z"}],
    "verdict_changes": [
        {"subject": "pay", "change": "gone", "verdict_after": None},
        {"subject": "orders", "change": "changed", "verdict_before": "unknown", "verdict_after": "member_dead"},
    ],
    "verdict_changes run_id=r1": [{"subject": "orders"}],
    "late_windows": [
        {"run_id": "r2", "records": 9, "sources": ["1/server.log"], "minutes_late": 9},
        {"run_id": "r1", "records": 7},
    ],
    "findings_worst_first": [
        {"rule_id": "r2"}, {"rule_id": "r3"}, {"rule_id": "auto_rebalance_off"}, {"rule_id": "r1"},
        {"rule_id": "racks_unknown"}, {"rule_id": "racks_unknown"},
    ],
}  # fmt: skip


class TestNamedQueries:
    @pytest.mark.parametrize("asked", EXPECTED)
    def test_named_query_answers(self, session: sql.Session, asked: str, capsys: pytest.CaptureFixture[str]) -> None:
        rows = answers(session, asked, capsys)
        expected = EXPECTED[asked]
        assert [{k: f[k] for k in e} for f, e in zip(rows, expected)] == expected
        assert len(rows) == len(expected)

    @pytest.mark.parametrize("name", named_queries())
    def test_named_query_documents_question_and_variables(self, name: str) -> None:
        query = named_queries()[name]
        assert query.says.endswith("?")
        assert set(re.findall(r"getvariable\('(\w+)'\)", query.sql)) == set(query.variables)

    def test_named_queries_answer_empty_lake(self, tmp_path: Path) -> None:
        connection = open_views(str(write_lake(tmp_path, {"quality.publications": []})))
        assert [q.name for q in named_queries().values() if connection.execute(q.sql).fetchall()] == []

    def test_query_variable_is_value_not_sql(self, session: sql.Session, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(BadInput, match=r"The lake has never seen a group \"x' OR 1=1 --\""):
            answers(session, 'rebalances_by_cause group_id="x\' OR 1=1 --"', capsys)

    def test_query_variable_applies_to_one_run(self, session: sql.Session, capsys: pytest.CaptureFixture[str]) -> None:
        answers(session, "leader_timeline topic=u", capsys)
        assert len(answers(session, "leader_timeline", capsys)) == 3

    def test_unknown_query_variable_is_refused(self) -> None:
        with pytest.raises(BadInput, match=r"cannot use 'topik=t'. Needed: name=value with names of: topic, partition"):
            named_question("leader_timeline topik=t", named_queries())
        with pytest.raises(BadInput, match="cannot use 'orders'"):
            named_question("leader_timeline orders", named_queries())
        with pytest.raises(BadInput, match="quotes in pairs"):
            named_question("leader_timeline topic='x", named_queries())

    def test_sql_is_not_a_named_query(self) -> None:
        assert named_question("select 1", named_queries()) is None

    def test_query_file_is_read_with_comment_and_variables(self) -> None:
        query = read_query("q", "-- Who was it,\n-- and when?\n-- topic: the topic\nSELECT 1;\n")
        assert (query.says, dict(query.variables), query.sql) == (
            "Who was it, and when?",
            {"topic": "the topic"},
            "SELECT 1",
        )


class TestViews:
    def test_every_table_is_a_view_with_catalog_columns(self, session: sql.Session) -> None:
        fields = session.connection.execute(
            "SELECT schema_name || '.' || table_name, column_name, data_type FROM duckdb_columns()"
            " WHERE schema_name IN ('bronze', 'silver', 'gold', 'quality') ORDER BY 1, column_index"
        ).fetchall()
        for table in TABLES:
            columns = [(f[1], f[2].replace('"', "")) for f in fields if f[0] == table.full_name]
            assert columns == [(c.name, duck_type(c.kind).replace('"', "")) for c in table.columns], table.full_name

    @pytest.mark.parametrize(
        ("kind", "duck"),
        [
            (Scalar.STRING, "VARCHAR"),
            (Scalar.BIGINT, "BIGINT"),
            (Scalar.TIMESTAMP, "TIMESTAMP WITH TIME ZONE"),
            (ListOf(Scalar.INT), "INTEGER[]"),
            (ListOf(Outer), 'STRUCT("a" VARCHAR, "b" STRUCT("c" INTEGER, "d" BLOB)[])[]'),
        ],
    )
    def test_catalog_type_becomes_duckdb_type(self, kind: ColumnType, duck: str) -> None:
        assert duck_type(kind) == duck

    def test_unpublished_table_is_empty(self, session: sql.Session, capsys: pytest.CaptureFixture[str]) -> None:
        assert answers(session, "SELECT * FROM gold.isr_changes", capsys) == []
        tables = {t["table"]: t for t in answers(session, ".tables", capsys)}
        assert set(tables) == {*BY_NAME, *VIEW_BY_NAME}
        empty, filled = tables["gold.isr_changes"], tables["gold.rebalances"]
        assert filled["meaning"] == BY_NAME["gold.rebalances"].grain
        assert (empty["rows"], empty["newest"], filled["rows"]) == (0, None, 3)

    def test_lake_uri_is_read(self, lake: Path) -> None:
        connection = open_views(lake.as_uri())
        assert connection.execute("SELECT count(*), max(len(evidence)) FROM gold.rebalances").fetchone() == (3, 1)

    def test_lake_behind_link_and_relative_path_is_read(
        self, lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "link").symlink_to(lake)
        monkeypatch.chdir(tmp_path)
        for place in (str(tmp_path / "link"), "link", "./link/"):
            assert open_views(place).execute("SELECT count(*) FROM gold.rebalances").fetchone() == (3,)

    def test_missing_lake_is_refused_with_advice(self, tmp_path: Path) -> None:
        with pytest.raises(
            BadInput, match=r"There is no lake at .*/nowhere: .*Needed: .*Run `hindsight audit` or `hindsight snapshot`"
        ):
            open_views(str(tmp_path / "nowhere"))
        with pytest.raises(BadInput, match="There is no lake"):
            open_views(str(tmp_path))

    @pytest.mark.parametrize("scheme", ["", "file://"])
    def test_table_without_commit_has_no_rows(
        self, tmp_path: Path, scheme: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write_lake(tmp_path, {"silver.events": [{"line_id": "a"}]})
        for name in ("bronze/log_records", "gold/partition_stalls"):
            (tmp_path / name / "_delta_log").mkdir(parents=True)
        asked = "SELECT line_id FROM silver.events LEFT JOIN bronze.log_records USING (line_id)"
        assert sql.main(f"{scheme}{tmp_path}", asked, "csv") == DONE
        out, err = capsys.readouterr()
        assert (out.split(), err) == (["line_id", "a"], "")

    def test_sql_instants_are_utc(self, session: sql.Session, capsys: pytest.CaptureFixture[str]) -> None:
        asked = "SELECT happened_at AS at, happened_at::VARCHAR AS said FROM gold.failovers WHERE failover_id = '1'"
        assert answers(session, asked, capsys) == [{"at": "2026-10-01T03:01:00.000Z", "said": "2026-10-01 03:01:00+00"}]
