"""The operator: what it hands to spark-submit, and what it makes of the exit code."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import hindsight_operator
import pytest
from airflow.cli.cli_parser import get_parser
from airflow.exceptions import AirflowException
from airflow.sdk import Connection
from hindsight_airflow import AirflowFailException
from hindsight_links import ReportLink, SparkLink, ValidationLink
from hindsight_operator import StepOperator, _note_on_master
from hindsight_step import settings_of

from kafka_hindsight.catalog.steps import STEPS, Step
from kafka_hindsight.settings.clusters import Cluster
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.page_names import page_name
from kafka_hindsight.start import launch

ELSEWHERE = {"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": "cluster"}}
NIGHT = {"timezone": "UTC", "night_starts": "00:00"}
NOTE = """#!/bin/sh
printf '%s\\n' "$@" > "$0.arguments"
env > "$0.environment"
for word; do case "$word" in *.conf) cp -p "$word" "$0.conf";; esac; done
"""
SUBMIT = f"""{NOTE}
echo "42 lines were read"
{sys.executable} "$(dirname "$0")/step.py" "$@"
"""
STEP = """
import json, os, sys
from kafka_hindsight.lake.results import Result, leave_result

step, _, text = sys.argv[-3:]
settings, code = json.loads(text), int(os.environ["ENDS_WITH"])
with open(sys.argv[0] + ".settings", "a") as file:
    print(json.dumps({"step": step, **settings}), file=file)
if "LEAVES_NOTHING" not in os.environ:
    leave_result(settings["lake"], settings["run_id"], step, Result(code, ["LOGS names /x."], "local-1"))
sys.exit(code)
"""


CONNECTION = json.dumps(
    {
        "conn_type": "hindsight",
        "host": "s3a://lakes/kafka",
        "schema": "orders",
        "extra": {"logs": "/logs", "logs_tz": "Europe/Berlin"},
    }
)
LOCAL = json.dumps({"conn_type": "spark", "host": "local[*]"})
WAYS = pytest.mark.parametrize("spark", ["spark-submit", "python"], indirect=True)
"""With a connection of Spark, and without one."""


@pytest.fixture()
def spark(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program of the Spark environment that notes what it was given, and ends as a step does, without Spark."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HINDSIGHT_SPARK_ENV", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "bin" / getattr(request, "param", "spark-submit")
    if program.name == "spark-submit":
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", LOCAL)
    else:
        monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT", raising=False)
    program.write_text(SUBMIT)
    program.chmod(0o755)
    (tmp_path / "bin" / "step.py").write_text(STEP)
    return program


def context(conf: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    params = {"logs": "/logs", "lake": str(Path("lake").absolute()), **NIGHT, **params}
    return {
        "params": params,
        "dag": SimpleNamespace(params=params),
        "data_interval_start": datetime(2026, 11, 20, 2, tzinfo=UTC),
        "data_interval_end": datetime(2026, 11, 21, 2, tzinfo=UTC),
        "dag_run": SimpleNamespace(
            run_id="scheduled__2026-11-21T02:00:00+00:00",
            conf=conf,
            run_type="scheduled",
            start_date=datetime(2026, 11, 21, 2, 1, tzinfo=UTC),
        ),
    }


def task_of(step: Step = STEPS[0]) -> StepOperator:
    return StepOperator(step=step, cluster=Cluster("orders", None, {"lake": "lake"}))


def execute(task: StepOperator, given: dict[str, Any]) -> None:
    """Renders and runs a task, as Airflow does."""
    given["task"] = task
    task.render_template_fields(given)
    task.execute(given)


def run(code: int, step: Step = STEPS[0], **params: Any) -> StepOperator:
    """A step of a run of its own, which ends with the code. Gives: its task."""
    task = task_of(step)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ENDS_WITH", str(code))
        execute(task, context(conf={"run_id": uuid4().hex}, **params))
    return task


def submitted_settings(spark: Path) -> list[dict[str, Any]]:
    """What spark-submit was handed, step by step."""
    return [json.loads(line) for line in (spark.parent / "step.py.settings").read_text().splitlines()]


def test_sources_and_date_patterns_reach_step_unchanged(spark: Path) -> None:
    run(0, logs="source://orders", client_logs="/logs/{date:%Y/%m/%d}/{hour}")
    (given,) = submitted_settings(spark)
    settings = Settings.of({name: value for name, value in given.items() if name != "step"})
    assert (settings.logs, settings.client_logs) == ("source://orders", "/logs/{date:%Y/%m/%d}/{hour}")
    assert settings.window_from is not None and not settings.read_to_end


@WAYS
@pytest.mark.parametrize("code", [2, 42])
def test_exit_codes_2_and_42_fail_for_good(spark: Path, code: int) -> None:
    with pytest.raises(AirflowFailException, match=f"ingest ended with exit code {code}"):
        run(code)


@WAYS
@pytest.mark.parametrize("code", [1, 137])
def test_other_exit_code_may_be_retried(spark: Path, code: int) -> None:
    with pytest.raises(AirflowException) as failure:
        run(code)
    assert not isinstance(failure.value, AirflowFailException)
    assert f"ingest ended with exit code {code}. " in str(failure.value)
    assert "--settings" not in str(failure.value), "no command line goes out with alerts"


def test_task_failure_quotes_why_step_refused_its_input(spark: Path) -> None:
    with pytest.raises(AirflowFailException) as failure:
        run(2)
    assert str(failure.value) == "LOGS names /x. ingest ended with exit code 2. A retry would find the same."


def test_step_that_cannot_start_fails_for_good_with_reason(spark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def lacks() -> None:
        raise BadInput("Found: no Java.")

    monkeypatch.setattr(hindsight_operator, "prepare_spark", lacks)
    with pytest.raises(AirflowFailException, match=r"^Found: no Java\.$"):
        run(0)


@WAYS
@pytest.mark.parametrize("lake", ["lake", "nowhere://lake"])
def test_killed_step_or_unreachable_lake_may_be_retried(spark: Path, lake: str) -> None:
    spark.write_text("#!/bin/sh\nkill -9 $$\n")
    with pytest.raises(AirflowException, match="ingest left no result: it was killed, or could not start") as failure:
        execute(task_of(), context(lake=lake))
    assert not isinstance(failure.value, AirflowFailException)


def test_result_of_earlier_try_is_ignored(spark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = context(conf={"run_id": "r"})
    monkeypatch.setenv("ENDS_WITH", "2")
    with pytest.raises(AirflowFailException):
        execute(task_of(), given)
    monkeypatch.setenv("LEAVES_NOTHING", "1")
    with pytest.raises(AirflowException, match="ingest left no result") as failure:
        execute(task_of(), given)
    assert not isinstance(failure.value, AirflowFailException)


@WAYS
def test_killed_task_ends_its_step(spark: Path) -> None:
    begun = Path(f"{spark}.pid")
    spark.write_text(f"#!/bin/sh\necho $$ > {begun}.new; mv {begun}.new {begun}\nexec sleep 60\n")
    task = task_of()

    def kill() -> None:
        while not begun.exists():
            time.sleep(0.05)
        task.on_kill()

    killer = Thread(target=kill)
    killer.start()
    with pytest.raises(AirflowException, match="ingest left no result"):
        execute(task, context())
    killer.join()
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)


def test_spark_submit_gets_step_settings_and_environment(spark: Path) -> None:
    run(0, whole_input=True)
    (given,) = submitted_settings(spark)
    assert given.pop("step") == "ingest"
    arguments = Path(f"{spark}.arguments").read_text().splitlines()
    assert arguments[:2] == ["--master", "local[*]"]
    assert arguments[-5:-1] == ["--load-spark-defaults", str(launch.RUN), "ingest", "--settings"]
    environment = Path(f"{spark}.environment").read_text().splitlines()
    assert f"PYSPARK_PYTHON={spark.parent}/python" in environment
    assert any(line.startswith("SPARK_HOME=") for line in environment)


@WAYS
def test_hostile_names_reach_step_and_rendered_templates_unchanged(spark: Path) -> None:
    hostile = "/logs/{{ params.logs }} $(reboot) 'x'"
    task = run(0, logs=hostile, whole_input=True)
    (given,) = submitted_settings(spark)
    assert Settings.of({name: value for name, value in given.items() if name != "step"}).logs == hostile
    assert task.template_fields == ("settings", "command")
    assert task.settings["logs"] == hostile
    assert task.command[:4] == ["hindsight", "step", "ingest", "--settings"]
    assert json.loads(task.command[4]) == task.settings


def test_step_without_spark_connection_runs_in_process_without_secrets(
    spark: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AIRFLOW__CORE__FERNET_KEY", "F3RNET")
    python = spark.rename(spark.with_name("python"))
    monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT")
    run(0)
    arguments = Path(f"{python}.arguments").read_text().splitlines()
    assert arguments[:6] == ["-P", "-m", "kafka_hindsight.cli.main", "step", "ingest", "--settings"]
    assert "F3RNET" not in Path(f"{python}.environment").read_text()
    assert "42 lines were read" in capsys.readouterr().out, "what the step prints is in the log of the task"


def test_engine_local_ignores_spark_connection(spark: Path) -> None:
    python = spark.with_name("python")
    python.write_text(SUBMIT)
    python.chmod(0o755)
    run(0, engine="local")
    assert "kafka_hindsight.cli.main" in Path(f"{python}.arguments").read_text()
    assert not Path(f"{spark}.arguments").exists()


def test_unknown_conf_key_fails_run_and_is_named(spark: Path) -> None:
    given = context(conf={"lgos": "/x", "from": "2026-11-20"}, **{"from": None})
    with pytest.raises(AirflowFailException, match=r"The conf of this run has 'lgos'\. Needed: params .*logs"):
        execute(task_of(), given)
    assert not Path(f"{spark}.arguments").exists()


def test_the_report_that_a_task_links_to_is_that_of_the_night_which_its_step_was_submitted_settings(
    spark: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HINDSIGHT_SPARK_UI", "https://spark.example.org/{application}")
    task = run(0, cluster="orders")
    (given,) = submitted_settings(spark)
    ends = (datetime.fromisoformat(given[end]) for end in ("window_from", "window_to"))
    assert ReportLink().get_link(task, ti_key=None).endswith(f"/hindsight/orders/{page_name('orders', *ends)}")
    assert ValidationLink().get_link(task, ti_key=None).endswith("/hindsight/orders/validation.html")
    assert SparkLink().get_link(task, ti_key=None) == "https://spark.example.org/local-1"


def test_step_gets_no_secret_argument_and_no_airflow_key(spark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HINDSIGHT_SPARK_CONF", "spark.hadoop.fs.s3a.secret.key=S3CR\\ET")
    for name in (
        "AIRFLOW__CORE__FERNET_KEY",
        "AIRFLOW_CONN_A-B",
        "HINDSIGHT_JWT_SECRET",
        "HINDSIGHT_DATABASE_PASSWORD",
    ):
        monkeypatch.setenv(name, "F3RNET")
    run(0, whole_input=True)
    arguments = Path(f"{spark}.arguments").read_text()
    assert "S3CR" not in arguments
    file, environment = Path(f"{spark}.conf"), Path(f"{spark}.environment").read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert "spark.hadoop.fs.s3a.secret.key S3CR\\\\ET\n" in file.read_text()
    assert "F3RNET" not in environment


def test_settings_and_scratch_of_spark_end_with_the_task(spark: Path) -> None:
    run(0, whole_input=True)
    (settings,) = (Path(a) for a in Path(f"{spark}.arguments").read_text().splitlines() if a.endswith(".conf"))
    assert f'SPARK_SUBMIT_OPTS=-Djava.io.tmpdir="{settings.parent}"\n' in Path(f"{spark}.environment").read_text()
    assert not settings.parent.exists()


def test_heavy_steps_are_submitted_separately_and_others_run_here(spark: Path) -> None:
    python = spark.with_name("python")
    python.write_text(SUBMIT)
    python.chmod(0o755)
    submitted, here = Path(f"{spark}.arguments"), Path(f"{python}.arguments")
    for step in STEPS:
        submitted.unlink(missing_ok=True)
        here.unlink(missing_ok=True)
        run(0, step)
        assert (submitted.exists(), here.exists()) == (step.is_spread, not step.is_spread)
    assert [given["step"] for given in submitted_settings(spark)] == [step.name for step in STEPS]
    assert [step.name for step in STEPS if step.is_spread] == ["ingest", "rebuild"]


def test_log_says_what_to_set_where_no_master_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    heavy, light, master = STEPS[0], STEPS[-1], Connection(conn_id="spark_default", conn_type="spark")
    note = _note_on_master(heavy, None, None)
    assert "spark_default" in note and "HINDSIGHT_SPARK_CONF" in note and "\n" not in note
    quiet = [(light, None, None), (heavy, "local", None), (heavy, "auto", master)]
    assert [_note_on_master(*of_task) for of_task in quiet] == [""] * 3
    monkeypatch.setenv("HINDSIGHT_SPARK_CONF", "spark.master=yarn")
    assert _note_on_master(heavy, None, None) == ""


@pytest.mark.parametrize("step", [STEPS[0], STEPS[-1]], ids=["heavy", "light"])
def test_cluster_deploy_mode_submits_step_with_cluster_environment(
    spark: Path, monkeypatch: pytest.MonkeyPatch, step: Step
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(ELSEWHERE))
    spark.write_text(NOTE)
    execute(task_of(step), context())
    arguments = Path(f"{spark}.arguments").read_text().splitlines()
    assert arguments[:2] == ["--master", "yarn"] and arguments[-3:-1] == [step.name, "--settings"]
    assert arguments[arguments.index("--deploy-mode") + 1] == "cluster"
    lines = Path(f"{spark}.conf").read_text().splitlines()
    assert f"spark.yarn.appMasterEnv.PYSPARK_PYTHON {spark.parent}/python" in lines
    assert not [line for line in lines if "SPARK_LOCAL_IP" in line], "the cluster's host has an address of its own"


@pytest.mark.parametrize(
    ("zone", "starts", "now", "window"),
    [
        ("UTC", "00:00", "2026-11-21T02:00Z", ("2026-11-20T00:00Z", "2026-11-21T00:00Z")),
        ("UTC", "00:00", "2026-11-21T01:59Z", ("2026-11-19T00:00Z", "2026-11-20T00:00Z")),
        ("UTC", "12:00", "2026-11-21T13:00Z", ("2026-11-19T12:00Z", "2026-11-20T12:00Z")),
        ("Australia/Sydney", "00:00", "2026-11-20T15:00Z", ("2026-11-19T13:00Z", "2026-11-20T13:00Z")),
        ("Australia/Sydney", "00:00", "2026-10-03T16:00Z", ("2026-10-02T14:00Z", "2026-10-03T14:00Z")),
        ("Australia/Sydney", "00:00", "2026-10-04T15:00Z", ("2026-10-03T14:00Z", "2026-10-04T13:00Z")),
        ("Australia/Sydney", "00:00", "2026-04-05T16:00Z", ("2026-04-04T13:00Z", "2026-04-05T14:00Z")),
    ],
    ids=["utc", "not over yet", "noon to noon", "sydney", "the day before", "23 hours", "25 hours"],
)
@pytest.mark.parametrize("run_type", ["scheduled", "asset_triggered"])
def test_run_takes_last_finished_night_by_clock_of_cluster(
    zone: str, starts: str, now: str, window: tuple[str, str], run_type: str
) -> None:
    given = context(timezone=zone, night_starts=starts)
    at = datetime.fromisoformat(now)
    given |= {"data_interval_start": None, "data_interval_end": None if run_type == "asset_triggered" else at}
    given["dag_run"].run_type, given["dag_run"].run_after = run_type, at
    settings = Settings.of(settings_of(given))
    assert (settings.window_from, settings.window_to) == tuple(map(datetime.fromisoformat, window))


def test_unknown_time_zone_is_named() -> None:
    with pytest.raises(AirflowFailException, match=r"timezone is 'Berlin'\. Needed: a zone"):
        settings_of(context(timezone="Berlin"))


def test_collect_has_interval_of_its_run() -> None:
    given = context()
    given["params"] = {name: value for name, value in given["params"].items() if name not in NIGHT}
    given["data_interval_start"] = datetime(2026, 11, 21, 1, tzinfo=UTC)
    settings = Settings.of(settings_of(given))
    assert settings.window_from == datetime(2026, 11, 20, 23, tzinfo=UTC)


def test_connection_fills_empty_params(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", CONNECTION)
    asked = {"hindsight_conn_id": "hindsight_default", "lake": None, "cluster": None, "logs_tz": None}
    settings = Settings.of(settings_of(context(**{**asked, "logs": "/mine"})))
    assert (settings.lake, settings.cluster, settings.logs_tz) == ("s3a://lakes/kafka", "orders", "Europe/Berlin")
    assert settings.logs == "/mine", "the form stands before it"
    assert Settings.of(settings_of(context())).cluster is None, "a cluster of hindsight.toml has no such param"


def test_connection_of_operations_page_is_usable(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^    airflow (connections add hindsight_default .*)$", page, re.MULTILINE)
    asked = get_parser().parse_args(shlex.split(command))
    fields = {"conn_type": asked.conn_type, "host": asked.conn_host, "schema": asked.conn_schema}
    connection = {**fields, "extra": json.loads(asked.conn_extra)}
    monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", json.dumps(connection))
    settings = Settings.of(settings_of(context(hindsight_conn_id="hindsight_default", lake=None, logs=None)))
    found = settings.lake, settings.cluster, settings.logs, settings.client_logs
    assert found == ("s3a://lakes/kafka", "orders", "s3a://logs/orders", "s3a://logs/apps")


@pytest.mark.parametrize(
    ("connection", "words"),
    [
        (
            '{"conn_type": "hindsight", "extra": {"lgos": "/x"}}',
            "The connection hindsight_default: 'lgos' is not known",
        ),
        ('{"conn_type": "hindsight", "host": "s3://k:s3cret@b/l"}', "LAKE is .* Needed: a URI without a password"),
        (None, "There is no connection elsewhere"),
    ],
)
def test_unusable_connection_fails_run_without_secret(
    connection: str | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection:
        monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", connection)
    with pytest.raises(AirflowFailException, match=words) as failure:
        settings_of(context(hindsight_conn_id="hindsight_default" if connection else "elsewhere"))
    assert "s3cret" not in str(failure.value)


def test_scheduled_run_has_window_midnight_to_midnight() -> None:
    settings = Settings.of(settings_of(context()))
    assert (settings.window_from, settings.window_to) == (
        datetime(2026, 11, 20, tzinfo=UTC),
        datetime(2026, 11, 21, tzinfo=UTC),
    )
    assert settings.run_at == datetime(2026, 11, 21, 2, 1, tzinfo=UTC)


def test_params_override_data_interval() -> None:
    settings = Settings.of(settings_of(context(**{"from": "2026-10-01", "to": "2026-10-02"})))
    assert settings.window_from == datetime(2026, 10, 1, tzinfo=UTC)


def test_half_a_window_is_not_completed_from_data_interval() -> None:
    with pytest.raises(ValueError, match="FROM is set and TO is not"):
        Settings.of(settings_of(context(**{"from": "2026-10-01"})))


def test_whole_input_has_no_window() -> None:
    assert Settings.of(settings_of(context(whole_input=True))).window_from is None


def test_read_to_end_is_off_by_default_and_set_by_param() -> None:
    assert not Settings.of(settings_of(context())).read_to_end
    assert Settings.of(settings_of(context(read_to_end=True))).read_to_end


def test_run_id_in_conf_is_kept() -> None:
    assert settings_of(context(conf={"run_id": "20261121T030000Z"}))["run_id"] == "20261121T030000Z"
