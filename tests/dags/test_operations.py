"""The DAGs as operators meet them: one for each cluster, forms, a pool, and what is said when a file is wrong."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pendulum
import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.sdk.exceptions import AirflowFailException, ParamValidationError
from airflow.serialization.encoders import coerce_to_core_timetable
from airflow.serialization.serialized_objects import DagSerialization
from airflow.task.priority_strategy import validate_and_load_priority_weight_strategy
from hindsight_links import ReportLink
from hindsight_operator import StepOperator, is_recorded, is_unpublished, other_clusters, published_windows
from hindsight_step import settings_of, task_arguments

from kafka_hindsight.catalog.steps import BY_NAME, MAINTAIN, PUBLISH, RECLASSIFY, STEPS, Step
from kafka_hindsight.settings.clusters import Cluster
from kafka_hindsight.settings.home import FILE_VARIABLE
from kafka_hindsight.shared.page_names import page_name

HOME = Path(__file__).resolve().parents[2]
DAGS = HOME / "dags"
PAGE = (HOME / "docs" / "operations.md").read_text(encoding="utf-8")
TWO = "[[clusters]]\nname = 'a'\nlogs = '/a'\nkeep = 'bronze=30'\n[[clusters]]\nname = 'b'\nlogs = '/b'\nlake = '/b'\n"

NIGHT = {"cluster": "a", "window_from": "2026-11-20T00:00:00+00:00", "window_to": "2026-11-21T00:00:00+00:00"}
FOUND = {**NIGHT, "cluster": "b", "window_from": "2026-11-20T03:00:00.123000+00:00"}
"""What an ingest found out of the night, where it was not given."""

ORDERS = Cluster("orders", None, {"lake": "s3a://lakes/k"})


def bag_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str | None) -> Any:
    if text is None:
        monkeypatch.delenv(FILE_VARIABLE, raising=False)
    else:
        (tmp_path / "h.toml").write_text(text)
        monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "h.toml"))
    return DagBag(str(DAGS))


def test_dags_of_one_cluster_have_plain_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    bag = bag_of(monkeypatch, tmp_path, None)
    assert bag.import_errors == {}
    names = {"alerts", "collect", "maintenance", "night_audit", "reclassify", "snapshot"}
    assert set(bag.dags) == {f"kafka_{name}" for name in names}
    assert [t.task_id for t in bag.dags["kafka_maintenance"].tasks] == [MAINTAIN.name]


def test_each_cluster_of_file_has_its_own_dags(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dags = bag_of(monkeypatch, tmp_path, TWO).dags
    of_each = {"collect", "night_audit", "maintenance", "reclassify"}
    assert set(dags) == {f"kafka_{n}_{c}" for n in of_each for c in "ab"} | {"kafka_alerts", "kafka_snapshot"}
    assert dags["kafka_night_audit_b"].params["logs"] == "/b"
    assert dags["kafka_night_audit_b"].params["cluster"] == "b"
    assert dags["kafka_maintenance_a"].params["keep"] == "bronze=30"


def test_clusters_with_shared_lake_share_maintenance_dag(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dags = bag_of(monkeypatch, tmp_path, TWO.replace("lake = '/b'\n", "")).dags
    assert [d for d in dags if "maintenance" in d] == ["kafka_maintenance_a"]


def test_wrong_cluster_file_becomes_import_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    errors = bag_of(monkeypatch, tmp_path, TWO.replace("'/b'\n", "'/b'\nlogs_tz = 'Berlin'\n", 1)).import_errors
    assert errors and all("clusters.b.logs_tz is 'Berlin'" in text for text in errors.values())


def test_night_audit_has_deadline_and_callbacks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dag = bag_of(monkeypatch, tmp_path, None).dags["kafka_night_audit"]
    assert dag.deadline
    assert all(t.on_failure_callback for t in dag.tasks)
    assert [t.task_id for t in dag.tasks if t.on_success_callback] == ["report"]


def test_wrong_retry_count_becomes_import_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HINDSIGHT_RETRIES", "two")
    assert any(
        "HINDSIGHT_RETRIES is 'two'" in text for text in bag_of(monkeypatch, tmp_path, None).import_errors.values()
    )


def test_trigger_form_validates_numbers_and_instants(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    params = bag_of(monkeypatch, tmp_path, None).dags["kafka_night_audit"].params
    hours = params.get_param("look_ahead_hours")
    assert (hours.resolve(3), hours.resolve(None)) == (3, None)
    for wrong in ("two", -1, 10_000):
        with pytest.raises(ParamValidationError):
            hours.resolve(wrong)
    assert params.get_param("from").schema["format"] == "date-time"
    assert all(params.get_param(name).schema.get("title") for name in params)


@pytest.mark.parametrize(
    ("dag_id", "asked"),
    [
        ("kafka_night_audit", ["from", "to", "maintenance", "hindsight_conn_id", "whole_input", "read_to_end"]),
        ("kafka_reclassify", ["from", "to", "maintenance", "hindsight_conn_id"]),
        ("kafka_maintenance", ["keep", "hindsight_conn_id"]),
        ("kafka_collect", ["hindsight_conn_id"]),
    ],
)
def test_trigger_form_shows_run_params_and_folds_inputs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dag_id: str, asked: list[str]
) -> None:
    params = bag_of(monkeypatch, tmp_path, None).dags[dag_id].params
    open_fields = [name for name in params if "section" not in params.get_param(name).schema]
    assert open_fields == asked
    assert {"logs", "lake"} <= set(params) - set(open_fields)


def test_later_steps_have_higher_priority(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dag = bag_of(monkeypatch, tmp_path, None).dags["kafka_night_audit"]
    weight_of = validate_and_load_priority_weight_strategy(task_arguments(STEPS[0], ORDERS)["weight_rule"]).get_weight
    weights = [weight_of(SimpleNamespace(task=dag.get_task(step.name))) for step in STEPS]
    assert weights == sorted(set(weights))


def test_step_assets_are_tables_it_reads_and_writes() -> None:
    for step in BY_NAME.values():
        arguments = task_arguments(step, ORDERS)
        assert {a.group for a in arguments["outlets"]} == {t.partition(".")[0] for t in step.writes}, "listed by layer"
        for side, tables in (("inlets", step.reads), ("outlets", step.writes)):
            assert {a.name for a in arguments[side]} == {f"orders.{t}" for t in tables}
            assert {a.uri for a in arguments[side]} == {
                f"s3a://lakes/k/{t.replace('.', '/')}?cluster=orders" for t in tables
            }
            assert {(a.extra["cluster"], a.extra["lake"]) for a in arguments[side]} <= {("orders", "s3a://lakes/k")}


def test_clusters_share_no_asset_and_lone_cluster_has_plain_names() -> None:
    other, alone = Cluster("payments", None, ORDERS.inputs), Cluster(None, None, {"lake": "/srv/lake"})
    of_each = [{(a.name, a.uri) for a in task_arguments(PUBLISH, c)["outlets"]} for c in (ORDERS, other, alone)]
    assert not of_each[0] & of_each[1]
    assert ("gold.rebalances", "gold.rebalances") in of_each[2], "one asset, whichever lake an audit writes"


def test_dag_list_shows_cluster_owner_and_labels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = (
        TWO.replace("name = 'a'\n", "name = 'a'\nlabels = ['prod']\n")
        + "[[alerts.owners]]\nname = 'us'\nclusters = ['a']\n"
    )
    dags = bag_of(monkeypatch, tmp_path, text).dags
    ours, theirs = dags["kafka_night_audit_a"], dags["kafka_night_audit_b"]
    assert (ours.dag_display_name, ours.owner, ours.tags) == ("Kafka night audit: a", "us", {"hindsight", "a", "prod"})
    assert (theirs.dag_display_name, theirs.owner, theirs.tags) == (
        "Kafka night audit: b",
        "b",
        {"hindsight", "b"},
    )
    assert all(dag.description and "\n" not in dag.description for dag in dags.values())


def test_task_links_to_report_and_spark_ui(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    linked = TWO + "[alerts]\nlink = 'https://a/{cluster}/{page}'\n"
    task = bag_of(monkeypatch, tmp_path, linked).dags["kafka_night_audit_a"].get_task(PUBLISH.name)
    links = {link.name: link for link in task.operator_extra_links}
    assert links["Report"].get_link(task, ti_key=None) == "https://a/a/index.html", "it has not run"
    (tmp_path / "h.toml").write_text(TWO)
    assert links["Report"].get_link(task, ti_key=None).endswith("/hindsight/a/index.html")
    assert links["Spark"].get_link(task, ti_key=None) == ""
    monkeypatch.setenv("HINDSIGHT_SPARK_UI", "https://history/{application}/jobs")
    task.application = "app-1"
    assert links["Spark"].get_link(task, ti_key=None) == "https://history/app-1/jobs"


@pytest.mark.parametrize(
    ("step", "given", "about"),
    [
        (PUBLISH, NIGHT, NIGHT),
        (RECLASSIFY, NIGHT, NIGHT),
        (PUBLISH, {"cluster": "a"}, FOUND),
        (STEPS[0], {key: NIGHT[key] for key in NIGHT if key != "cluster"}, FOUND),
        (STEPS[0], {"cluster": "a", "run_id": "that-failed"}, None),
        (PUBLISH, {**NIGHT, "window_to": "soon"}, None),
        (MAINTAIN, NIGHT, None),
    ],
)
def test_task_links_to_report_page_of_its_window(
    step: Step, given: dict[str, str], about: dict[str, str] | None, tmp_path: Path
) -> None:
    task = StepOperator(step=step, cluster=ORDERS)
    ingested = tmp_path / "runs" / "r" / "ingest.json"
    ingested.parent.mkdir(parents=True)
    ingested.write_text(json.dumps(FOUND))
    task.settings = {
        "logs": "/logs",
        "lake": str(tmp_path),
        "run_id": "r",
        "run_at": "2026-11-21T02:00:00+00:00",
        **given,
    }
    ends = (datetime.fromisoformat(about[end]) for end in ("window_from", "window_to")) if about else ()
    page = page_name(about["cluster"], *ends) if about else "index.html"
    assert ReportLink().get_link(task, ti_key=None).endswith(f"/hindsight/orders/{page}")


def test_steps_use_default_pool_where_own_pool_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dag = bag_of(monkeypatch, tmp_path, None).dags["kafka_night_audit"]
    assert {t.pool for t in dag.tasks} == {"default_pool"}


def test_backfill_example_makes_nights_that_docs_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    start, end = re.search(r"backfill create .*--from-date (\S+) --to-date (\S+)$", PAGE, re.MULTILINE).groups()
    dag = DagSerialization.from_dict(
        DagSerialization.to_dict(bag_of(monkeypatch, tmp_path, None).dags["kafka_night_audit"])
    )
    runs = list(dag.iter_dagrun_infos_between(pendulum.parse(start), pendulum.parse(end)))
    assert [run.data_interval.start for run in runs] == [pendulum.datetime(2026, 11, day, 2) for day in (17, 18, 19)]
    assert "the 17th, 18th and 19th" in PAGE


def context(**params: Any) -> dict[str, Any]:
    at = datetime(2026, 11, 21, tzinfo=UTC)
    run = SimpleNamespace(run_id="manual__1", conf=None, run_type="manual", start_date=at)
    params = {"logs": "/logs", **params}
    return {"params": params, "dag": SimpleNamespace(params={**params, "cluster": None}), "dag_run": run}


def test_each_reclassified_window_has_its_own_run_id() -> None:
    window = {"from": "2026-11-18T00:00:00+00:00", "to": "2026-11-19T00:00:00+00:00"}
    past = {"from": "2026-11-01", "to": "2026-12-01"}
    given = settings_of({**context(**past), "task": SimpleNamespace(window=window)})
    assert (given["window_from"], given["window_to"]) == (window["from"], window["to"])
    noon = {**window, "from": "2026-11-18T12:00:00+00:00"}
    other = settings_of({**context(), "task": SimpleNamespace(window=noon)})
    assert given["run_id"] != other["run_id"]


def lake_says(folder: Path, monkeypatch: pytest.MonkeyPatch, rows: list[dict[str, str]]) -> None:
    """The answer to each query of the lake."""
    (folder / "bin").mkdir()
    python = folder / "bin" / "python"
    python.write_text(f"#!/bin/sh\ncat <<'E'\n{json.dumps(rows)}\nE\n")
    python.chmod(0o755)
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", str(folder))


def test_the_windows_that_were_published_are_asked_of_the_lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        {"cluster": c, "window_from": f"2026-11-{d}T00:00:00+00:00", "window_to": f"2026-11-{d + 1}T00:00:00+00:00"}
        for d in (17, 18, 19)
        for c in ("prod", "other")
    ]
    lake_says(tmp_path, monkeypatch, rows)
    asked = published_windows.function
    within = {"cluster": "prod", "from": "2026-11-18", "to": "2026-11-20"}
    windows = asked(**context(**within))
    assert [(w["cluster"], w["from"][:10]) for w in windows] == [("prod", "2026-11-18"), ("prod", "2026-11-19")]
    with pytest.raises(AirflowFailException, match="no published window"):
        asked(**context(**{**within, "from": "2026-11-19T12:00Z"}))
    with pytest.raises(AirflowFailException, match="are not given"):
        asked(**context(cluster="prod"))


def test_run_triggers_one_run_per_other_cluster(tmp_path: Path) -> None:
    (tmp_path / "runs" / "scheduled__2").mkdir(parents=True)
    (tmp_path / "runs" / "scheduled__2" / "ingest.json").write_text(json.dumps({"other_clusters": ["two", "three"]}))
    night = {"lake": str(tmp_path), "from": "2026-11-18", "to": "2026-11-19T00:00Z", "whole_input": False}

    def asked(conf: dict[str, Any] | None = None, **params: Any) -> Any:
        given = context(**night, **params)
        given["dag_run"].run_id, given["dag_run"].conf = "scheduled__2", conf
        return other_clusters.function(STEPS[0].name, **given)

    runs = asked(cluster=None)
    assert [run["trigger_run_id"] for run in runs] == ["of-two-scheduled__2", "of-three-scheduled__2"]
    ends = {"from": "2026-11-18T00:00:00+00:00", "to": "2026-11-19T00:00:00+00:00"}
    assert runs[0]["conf"] == {"logs": "/logs", **night, **ends, "cluster": "two"}
    assert asked(cluster="one") == [], "a run that names its cluster is of that one alone"
    assert asked(conf={"run_id": "scheduled__2"}) == [], "make audit goes on by itself"


def test_run_of_other_cluster_is_of_same_dag(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dags = bag_of(monkeypatch, tmp_path, TWO).dags
    for dag_id in ("kafka_night_audit_a", "kafka_collect_b"):
        triggers = dags[dag_id].get_task("run_others")
        assert (triggers.partial_kwargs["trigger_dag_id"], triggers.partial_kwargs["reset_dag_run"]) == (dag_id, True)


def test_reclassification_takes_one_window_at_a_time(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dag = bag_of(monkeypatch, tmp_path, None).dags["kafka_reclassify"]
    step = dag.get_task(RECLASSIFY.name)
    assert step.upstream_task_ids == {"published_windows"}
    assert step.partial_kwargs["max_active_tis_per_dagrun"] == 1


def test_night_in_sydney_is_scheduled_by_its_clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = TWO.replace("name = 'a'\n", "name = 'a'\ntimezone = 'Australia/Sydney'\nnight_starts = '22:30'\n")
    dag = bag_of(monkeypatch, tmp_path, text).dags["kafka_night_audit_a"]
    timetable = coerce_to_core_timetable(dag.timetable)
    of_schedule = {name: timetable.serialize()[name] for name in ("expression", "timezone")}
    assert of_schedule == {"expression": "30 0 * * *", "timezone": "Australia/Sydney"}
    assert (dag.params["timezone"], dag.params["night_starts"]) == ("Australia/Sydney", "22:30")


def test_collect_starts_audit_scheduled_by_assets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    dags = bag_of(monkeypatch, tmp_path, TWO.replace("logs = '/b'\n", "logs = '/b'\nschedule = 'assets'\n")).dags
    audit, collect = dags["kafka_night_audit_b"], dags["kafka_collect_b"].get_task("collect")
    (awaited,) = audit.timetable.asset_condition.objects
    assert awaited in collect.outlets and awaited.name == "b.bronze.log_records"
    assert audit.get_task("is_recorded").upstream_task_ids == {"is_unpublished"}
    assert "is_unpublished" not in dags["kafka_night_audit_a"].task_ids


@pytest.mark.parametrize(("is_before", "is_due"), [("true", False), ("false", True), ("No such file", True)])
def test_only_scheduled_night_before_first_record_is_skipped(
    is_before: str, is_due: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.write_text(f"#!/bin/sh\necho '{is_before}'\n")
    python.chmod(0o755)
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", str(tmp_path))
    night = {"data_interval_start": datetime(2026, 11, 20, 2, tzinfo=UTC)}
    night["data_interval_end"] = datetime(2026, 11, 21, 2, tzinfo=UTC)
    given = {**context(timezone="UTC", night_starts="00:00"), **night}
    assert is_recorded.function(**given), "a person's run is never skipped"
    given["dag_run"].run_type = "scheduled"
    assert bool(is_recorded.function(**given)) is is_due


def test_night_that_nobody_named_may_widen_in_manual_run(tmp_path: Path) -> None:
    end = datetime(2026, 11, 21, 2, tzinfo=UTC)
    night = {"data_interval_start": end - timedelta(days=1), "data_interval_end": end}
    given = {**context(timezone="UTC", night_starts="00:00"), **night}
    assert settings_of(given)["may_widen"]
    given["dag_run"].run_type = "scheduled"
    assert not settings_of(given)["may_widen"]
    named = context(**{"from": "2026-11-20", "to": "2026-11-21"})
    assert "may_widen" not in settings_of(named)


def test_published_night_is_not_audited_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    night = {"cluster": "a", "window_from": "2026-11-20T00:00:00+00:00", "window_to": "2026-11-21T00:00:00+00:00"}
    lake_says(tmp_path, monkeypatch, [night])

    def asked(to: str, cluster: str) -> bool:
        return bool(is_unpublished.function(**context(**{"from": "2026-11-01", "to": to}, cluster=cluster)))

    assert not asked("2026-11-21", "a")
    assert asked("2026-11-22", "a") and asked("2026-11-21", "b")


def test_mapped_reclassify_renders_settings_of_its_window(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    window = {"cluster": "a", "from": "2026-11-18T00:00:00+00:00", "to": "2026-11-19T00:00:00+00:00"}
    mapped = bag_of(monkeypatch, tmp_path, None).dags["kafka_reclassify"].get_task(RECLASSIFY.name)
    task = mapped.unmap({"window": window})
    task.render_template_fields({**context(), "task": task})
    assert (task.settings["window_from"], task.settings["cluster"]) == (window["from"], "a")
    assert task.command[2] == "reclassify" and task.doc_md == RECLASSIFY.sentence
