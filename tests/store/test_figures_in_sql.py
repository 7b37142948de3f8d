"""SQL counts what page and terminal show: named queries on the rows of a night, and the functions of its figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.rows import NightSummary
from kafka_hindsight.report.build import night_of
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.sql import prompt as sql
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries
from tests.support.asked_lake import answers
from tests.support.lake import write_lake
from tests.support.report_crowd import crowded_night
from tests.support.report_night import night
from tests.support.report_rows import CLUSTER, DAY, END, Tables
from tests.support.rows import values

NAMED = (
    "gold.incidents", "gold.broker_outages", "gold.findings", "gold.rebalances", "gold.failovers", "gold.truncations",
    "gold.unavailability",
    "quality.coverage",
)  # fmt: skip


def published(tables: Tables, row: NightSummary, folder: Path) -> Path:
    """The rows as a lake, published as one night with these figures."""
    window = {"cluster": CLUSTER, "window_from": DAY, "window_to": END}
    publication = values(BY_NAME["quality.publications"], **window, table="gold.rebalances")
    of_night = {"quality.publications": [publication], "quality.nights": [row.as_dict()]}
    return write_lake(folder, {**{name: tables[name] for name in NAMED}, **of_night})


@pytest.fixture(scope="module", params=["usual", "crowded", "empty"])
def published_night(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[NightSummary, sql.Session]:
    tables, about = crowded_night(400) if request.param == "crowded" else night()
    if request.param == "empty":
        tables = {name: rows if name == "quality.witnesses" else [] for name, rows in tables.items()}
    row = night_of(PageRows.from_tables(tables, about), "run", END)
    lake = published(tables, row, tmp_path_factory.mktemp("lake") / "lake")
    return row, sql.Session(open_views(str(lake)), named_queries(), "json")


def test_night_figures_query_shows_the_night(published_night: Any, capsys: Any) -> None:
    row, session = published_night
    (answer,) = answers(session, "night_figures", capsys)
    figures = {name: value for name, value in answer.items() if name not in ("cluster", "window_from", "window_to")}
    expected = {name: getattr(row, name) for name in figures}
    assert figures == {**expected, "partition_seconds": round(row.partition_seconds, 1)}


UNUSED = """
    SELECT
        count(DISTINCT (topic, "partition")) FILTER (kind = 'no_leader') AS partitions_offline,
        count(DISTINCT (topic, "partition")) FILTER (kind = 'no_leader' AND u.ended_at IS NULL)
            AS partitions_still_offline,
        max(lasted_ms) FILTER (kind = 'no_leader' AND u.confidence IN ('certain', 'likely')) AS offline_ms,
        coalesce(sum(lasted_ms) FILTER (kind = 'no_leader'), 0) / 1000 AS offline_partition_seconds,
        count(DISTINCT (topic, "partition")) FILTER (kind LIKE 'acks_all_%') AS partitions_refusing,
        count(DISTINCT group_id) FILTER (kind = 'no_consumer' AND harm <> 'routine') AS groups_stopped
    FROM (SELECT *, coalesce(date_sub('ms', started_at, ended_at), low_ms) AS lasted_ms
        FROM gold.unavailability) AS u
    LEFT JOIN (SELECT incident_id, harm FROM gold.incidents) AS i USING (incident_id)
    WHERE u.ended_at IS NULL OR lasted_ms >= 1000"""
"""What clients notice: a second or longer, or not over when the logs end."""


def test_figures_of_what_could_not_be_used_equal_a_count_in_sql(published_night: Any, capsys: Any) -> None:
    row, session = published_night
    (counted,) = answers(session, UNUSED, capsys)
    assert counted == {name: getattr(row, name) for name in counted}


def test_named_queries_add_up_to_night_figures(published_night: Any, capsys: Any) -> None:
    row, session = published_night
    incidents = answers(session, "incidents_by_harm", capsys)
    assert sum(i["records_lost_low"] for i in incidents if i["harm"] == "records_lost") == row.records_lost_low
    assert sum(r["records_lost_low"] for r in answers(session, "records_lost", capsys)) == row.records_lost_low
    unused = answers(session, "unavailability_by_topic", capsys)
    leaderless = [u for u in unused if u["kind"] == "no_leader"]
    assert round(sum(u["partition_seconds"] for u in leaderless), 1) == pytest.approx(
        row.offline_partition_seconds, abs=0.1 * len(leaderless)
    )
    assert all(u["partition_seconds_at_least"] <= u["partition_seconds"] for u in unused)
    absences = answers(session, "outage_effects", capsys)
    assert [sum((o["kind"] == "controlled_shutdown") is orderly for o in absences) for orderly in (False, True)] == [
        row.sudden_absences,
        row.orderly_absences,
    ]
    findings = answers(session, "findings_worst_first", capsys)
    assert sum(f["severity"] == "critical" for f in findings) == row.findings_critical
    assert sum(c["rebalances"] for c in answers(session, "cost_by_group", capsys)) == row.rebalances
