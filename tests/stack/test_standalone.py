"""A schedule as operators run it: `airflow standalone`, real spark-submit, a lake, a webhook, a browser.

One story, told in order: the schedule begins by itself, a backfill is disturbed with kill -9, and people look on.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog.steps import BY_NAME, STEPS
from kafka_hindsight.shared.page_names import page_name
from kafka_hindsight.sql.collection_rows import read_collection
from tests.stack.airflow_browser import Tab
from tests.stack.short_nights import last_night, write_nights
from tests.stack.standalone import POOL, Standalone, described, until
from tests.support.lake import contents, rows
from tests.support.receivers import Box, webhook
from tests.support.report_browser import found

AUDIT = "kafka_night_audit"
CLUSTER = "night"
NIGHTLY = [step.name for step in STEPS]
LAST = last_night(datetime.now(UTC))
PAST = tuple(LAST - timedelta(days=n) for n in (4, 3, 2))
"""Nights that ended more than two days ago: what happens to them tells nobody."""


@dataclass
class Stack:
    """What runs, where it writes, and who hears of it."""

    airflow: Standalone
    lake: Path
    alerts: Box


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    folder = tmp_path_factory.mktemp("standalone")
    nights, lake = write_nights(folder / "nights", (*PAST, LAST)), folder / "lake"
    with webhook() as alerts:
        given = {
            **described(
                lake,
                CLUSTER,
                logs=f"{nights}/logs",
                client_logs=f"{nights}/clients",
                snapshots=f"{nights}/snapshots.jsonl",
            ),
            "AIRFLOW_CONN_SPARK_DEFAULT": '{"conn_type": "spark", "host": "local[*]"}',
            "HINDSIGHT_POOL": POOL,
            "HINDSIGHT_DEADLINE_HOURS": "0.005",
            "HINDSIGHT_ALERTS_DEFAULT": f"json://127.0.0.1:{alerts.port}",
            "HINDSIGHT_DRIVER_MEMORY": "1g",
        }
        with Standalone(folder / "airflow", given) as airflow:
            airflow.cli("pools", "set", POOL, "1", "one Spark step at a time")
            until(lambda: AUDIT in dag_ids(airflow), "the DAGs", 120)
            yield Stack(airflow, lake, alerts)


def dag_ids(airflow: Standalone) -> set[str]:
    return {dag["dag_id"] for dag in airflow.api("dags?limit=100")["dags"]}


def window(night: date) -> tuple[datetime, datetime]:
    start = datetime.combine(night, time(), UTC)
    return start, start + timedelta(days=1)


def interval(run: dict[str, Any]) -> tuple[datetime, datetime]:
    start, end = (datetime.fromisoformat(run[f"data_interval_{at}"]) for at in ("start", "end"))
    return start, end


def windows(lake: Path) -> set[tuple[datetime, datetime]]:
    return {(p["window_from"], p["window_to"]) for p in rows(lake, "quality.publications")}


def page(lake: Path, night: date) -> str:
    return (lake / "report" / page_name(CLUSTER, *window(night))).read_text(encoding="utf-8")


def last_commit(lake: Path, layer: str) -> int:
    """When a table of the layer was written last, as the file system has it."""
    return max((path.stat().st_mtime_ns for path in lake.glob(f"{layer}/*/_delta_log/*.json")), default=0)


def test_every_dag_loads_without_error(stack: Stack) -> None:
    assert stack.airflow.api("importErrors")["import_errors"] == []
    assert dag_ids(stack.airflow) == {
        f"kafka_{name}" for name in ("alerts", "collect", "maintenance", "night_audit", "reclassify", "snapshot")
    }


def test_schedule_audits_night_that_ended_at_midnight(stack: Stack) -> None:
    for dag in (AUDIT, "kafka_collect", "kafka_alerts"):
        stack.airflow.unpause(dag)
    for dag in (AUDIT, "kafka_collect", "kafka_alerts"):
        begun = until(lambda dag=dag: stack.airflow.runs(dag, "scheduled"), f"a scheduled run of {dag}", 300)  # type: ignore[misc]
        assert stack.airflow.run_over(dag, begun[0]["dag_run_id"])["state"] == "success", dag
    (run,) = stack.airflow.runs(AUDIT, "scheduled")
    assert run["note"] == f"{CLUSTER}: night of {LAST}"
    two = timedelta(hours=2)
    assert (run["triggered_by"], interval(run)) == ("timetable", tuple(at + two for at in window(LAST)))
    assert windows(stack.lake) == {window(LAST)}
    assert [(t["task_id"], t["state"], t["try_number"]) for t in in_order(stack, run)] == [
        (step, "success", 1) for step in NIGHTLY
    ]
    assert (stack.lake / "report" / "index.html").read_text(encoding="utf-8") == page(stack.lake, LAST)


def in_order(stack: Stack, run: dict[str, Any]) -> list[dict[str, Any]]:
    """The tries of the nightly steps of a run, in the order in which they began."""
    tries = [t for t in stack.airflow.tries(run["dag_id"], run["dag_run_id"]) if t["task_id"] in NIGHTLY]
    return sorted(tries, key=lambda t: t["start_date"])


def test_missed_deadline_alerts_once(stack: Stack) -> None:
    (run,) = stack.airflow.runs(AUDIT, "scheduled")
    late = until(lambda: [m for m in stack.alerts.got if "deadline missed" in m["title"]], "word of the deadline", 60)
    assert [m["title"] for m in late] == [f"[critical] {CLUSTER}: deadline missed: {AUDIT} of {run['dag_run_id']}"]
    assert late[0]["type"] == "failure"
    assert "is not done" in late[0]["message"] and "What to do: Look in Airflow" in late[0]["message"]


def test_backfill_succeeds_although_steps_are_killed(stack: Stack) -> None:
    newest = page(stack.lake, LAST)
    backfill(stack)
    first = until(lambda: stack.airflow.runs(AUDIT, "backfill"), "the runs of the backfill", 300)[0]
    assert interval(first)[0] == window(PAST[0])[0] + timedelta(hours=2)
    killed_in_the_middle(stack, "rebuild", "staging")
    killed_in_the_middle(stack, "publish", "gold")
    assert window(PAST[0]) not in windows(stack.lake), "it was killed before the night counted as published"
    runs = stack.airflow.runs(AUDIT, "backfill")
    assert [interval(r)[0].date() for r in runs] == list(PAST)
    assert [stack.airflow.run_over(AUDIT, r["dag_run_id"])["state"] for r in runs] == ["success"] * 3
    assert windows(stack.lake) == {window(night) for night in (*PAST, LAST)}
    assert [(t["task_id"], t["state"]) for t in in_order(stack, first)] == [
        ("ingest", "success"),
        ("rebuild", "failed"),
        ("rebuild", "success"),
        ("validate", "success"),
        ("publish", "failed"),
        ("publish", "success"),
        ("report", "success"),
    ]
    assert all("<html" in page(stack.lake, night)[:1000] for night in PAST)
    assert (stack.lake / "report" / "index.html").read_text(encoding="utf-8") == newest


def backfill(stack: Stack, *options: str) -> None:
    stack.airflow.cli(
        *("backfill", "create", "--dag-id", AUDIT, "--max-active-runs", "1"),
        *("--from-date", f"{PAST[0]}", "--to-date", f"{PAST[-1] + timedelta(days=1)}", *options),
    )


def killed_in_the_middle(stack: Stack, step: str, layer: str) -> None:
    """Kills a step when the first of its tables was written, and not yet all of them."""
    until(lambda: stack.airflow.processes(step), step, 900, every=0.5)
    before = last_commit(stack.lake, layer)
    until(lambda: last_commit(stack.lake, layer) > before, f"a table of {step}", 900, every=0.05)
    stack.airflow.kill(step)
    until(lambda: not stack.airflow.processes(step), f"the end of {step}", 30, every=0.1)


def test_undisturbed_rerun_of_backfill_leaves_same_tables(stack: Stack) -> None:
    before, published = contents(stack.lake), last_commit(stack.lake, "gold")
    disturbed = stack.airflow.runs(AUDIT, "backfill")[0]
    stack.airflow.api(f"dags/{AUDIT}/dagRuns/{disturbed['dag_run_id']}/clear", {"dry_run": False})
    stack.airflow.run_over(AUDIT, disturbed["dag_run_id"])
    assert last_commit(stack.lake, "gold") > published
    assert contents(stack.lake) == before


def test_backfill_sends_no_alert(stack: Stack) -> None:
    assert sum("deadline missed" in m["title"] for m in stack.alerts.got) == 1
    assert not any("was not audited" in m["title"] for m in stack.alerts.got)


def test_concurrent_dag_runs_wait_in_pool_and_succeed(stack: Stack) -> None:
    """The past judged again, last Sunday's maintenance and what was collected since: all of them asked for at once."""
    before = contents(stack.lake)
    start, end = window(PAST[0])
    for dag in ("kafka_maintenance", "kafka_reclassify"):
        stack.airflow.unpause(dag)
    asked = [
        ("kafka_reclassify", stack.airflow.trigger("kafka_reclassify", **{"from": f"{start}", "to": f"{end}"})),
        ("kafka_collect", stack.airflow.trigger("kafka_collect")),
    ]
    sunday = until(lambda: stack.airflow.runs("kafka_maintenance", "scheduled"), "a run of kafka_maintenance", 300)
    for dag, run in (*asked, ("kafka_maintenance", sunday[0]["dag_run_id"])):
        assert stack.airflow.run_over(dag, run)["state"] == "success", dag
    assert any(p["run_id"].startswith("manual") for p in rows(stack.lake, "quality.publications"))
    assert contents(stack.lake) == before, "what is known has not changed"
    assert rows(stack.lake, "quality.verdict_changes") == []


def test_steps_never_overlap(stack: Stack) -> None:
    task_runs = sorted(
        (t["start_date"], t["end_date"], t["dag_id"], t["task_id"])
        for dag in dag_ids(stack.airflow)
        for run in stack.airflow.api(f"dags/{dag}/dagRuns?limit=100")["dag_runs"]
        for t in stack.airflow.tries(dag, run["dag_run_id"])
        if t["task_id"] in BY_NAME and t["start_date"]
    )
    assert len(task_runs) >= 3 * len(STEPS) + 3
    for before, after in itertools.pairwise(task_runs):
        assert before[1] <= after[0], (before, after)


@pytest.fixture(scope="module")
def tab(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    program = found()
    if program is None:
        pytest.skip("no Chromium on the PATH: install chromium to look at Airflow's pages")
    with Tab(program, tmp_path_factory.mktemp("profile")) as opened:
        opened.log_in(stack.airflow)
        yield opened


def test_report_opens_from_airflow_navigation(stack: Stack, tab: Tab) -> None:
    tab.open(f"{stack.airflow.address}/")
    tab.click("Browse")
    tab.click("Kafka Hindsight")
    assert tab.tell("location.pathname").startswith("/plugin/hindsight_report")
    heading = "document.querySelector('.heading')?.innerText"
    assert until(lambda: tab.in_frame(heading), "the report in its frame", 60) == CLUSTER
    assert f"{LAST}" in tab.in_frame("document.body.innerText")
    assert tab.in_frame("document.documentElement.scrollHeight") > 1000
    assert tab.in_frame("self.origin") == "null", "its script cannot reach the session of who reads it"
    assert tab.framed == []


def test_collection_page_opens_from_airflow_navigation(stack: Stack, tab: Tab) -> None:
    tab.open(f"{stack.airflow.address}/")
    tab.frames.clear()
    tab.click("Browse")
    tab.click("Kafka Hindsight: collection")
    heading = "document.querySelector('.heading')?.innerText"
    assert until(lambda: tab.in_frame(heading), "the page of collection in its frame", 60) == "Collection"
    logs = len(read_collection(str(stack.lake)))
    assert f"Of {logs} logs in 1 cluster, " in tab.in_frame("document.body.innerText")
    assert tab.in_frame("self.origin") == "null"
    assert tab.framed == []


def test_alert_link_opens_report_of_its_night(stack: Stack, tab: Tab) -> None:
    name = page_name(CLUSTER, *window(PAST[0]))
    tab.open(f"{stack.airflow.address}/hindsight/{CLUSTER}/{name}#coverage")
    assert f"{PAST[0]}" in tab.tell("document.body.innerText")
    shown = "document.querySelector('main').dataset.view"
    assert until(lambda: tab.tell(shown) == "coverage", "the view that the address names", 60)
    assert tab.said == []
