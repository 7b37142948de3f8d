"""Steps in containers, by the real operators of Airflow's providers; what runs the container is stood in for.

`test_providers.py` runs it in an environment that has the providers.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kubernetes_validate
import pytest
import yaml
from airflow.exceptions import AirflowException
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.docker.operators.docker import DockerOperator
from airflow.providers.openlineage.extractors.manager import ExtractorManager
from airflow.sdk.exceptions import TaskDeferred
from hindsight_airflow import AirflowFailException, AirflowSkipException
from hindsight_container import CONTAINER, container_operator, read_container
from hindsight_links import ReportLink
from hindsight_operator import StepOperator, step_operator
from hindsight_step import Refused, task_arguments
from kubernetes.client import ApiClient

from kafka_hindsight.catalog.steps import PUBLISH, RECLASSIFY, STEPS
from kafka_hindsight.lake.results import Result, leave_result
from kafka_hindsight.settings.clusters import Cluster
from kafka_hindsight.settings.models import Settings
from kafka_hindsight.shared.exits import BadInput

RECIPE = Path(__file__).resolve().parents[2] / "docker" / "kubernetes"
SCHEMA = "1.34"
ORDERS = Cluster("orders", None, {"lake": "/lake"})
IMAGE = "registry.example.org/hindsight:0.1.0"
HOSTILE = "/logs/{{ params.lake }} $(reboot) 'x'"


def context(**params: Any) -> dict[str, Any]:
    at = datetime(2026, 11, 21, 2, 1, tzinfo=UTC)
    task = SimpleNamespace(dag_id="d", task_id="publish", map_index=-1, try_number=1, xcom_push=lambda **_: None)
    run = SimpleNamespace(run_id="r", conf=None, run_type="manual", start_date=at)
    given = {"logs": HOSTILE, "lake": "/lake", "whole_input": True, **params}
    return {"params": given, "dag_run": run, "ti": task, "run_id": "r", "dag": SimpleNamespace(params=given)}


def execute(task: Any, given: dict[str, Any]) -> None:
    """Renders and runs a task, as Airflow does."""
    given["task"] = task
    task.render_template_fields(given)
    task.execute(given)


def step_in(kind: str, monkeypatch: pytest.MonkeyPatch, **given: Any) -> Any:
    monkeypatch.setenv(CONTAINER, json.dumps({kind: {"image": IMAGE, **given}}))
    return step_operator()(step=PUBLISH, cluster=ORDERS, pool_slots=2)


class Docker:
    """Docker's client as the operator uses it. A container is a process on this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.made: dict[str, Any] = {}
        self.removed: list[str] = []

    def images(self, name: str) -> list[str]:
        return [name]

    def create_host_config(self, **given: Any) -> dict[str, Any]:
        return given

    def create_container(self, **given: Any) -> dict[str, str]:
        self.made = given
        return {"Id": "1"}

    def attach(self, **_: Any) -> Iterator[bytes]:
        done = subprocess.run(
            self.made["command"],
            env={"PATH": f"{self.path}:{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self.ended = done.returncode
        return iter([done.stdout])

    def start(self, _: str) -> None:
        """The process has ended before it is asked for."""

    def wait(self, _: str) -> dict[str, int]:
        return {"StatusCode": self.ended}

    def remove_container(self, name: str, force: bool) -> None:
        self.removed.append(name)


@pytest.fixture()
def docker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Docker:
    client = Docker(tmp_path)
    monkeypatch.setattr(DockerOperator, "hook", SimpleNamespace(api_client=client, client_created=True))
    return client


def program(folder: Path, code: int, *sentences: str) -> None:
    """A `hindsight` that notes what it was given, says this, and ends with the code."""
    lines = "\n".join(sentences)
    (folder / "hindsight").write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > $0.given\necho '{lines}'\nexit {code}\n")
    (folder / "hindsight").chmod(0o755)


def test_step_without_container_variable_is_submitted_to_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CONTAINER, raising=False)
    assert container_operator() is None and step_operator() is StepOperator


def test_container_gets_step_and_settings_unchanged(
    docker: Docker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, 0)
    mounts = [{"Type": "bind", "Source": "/srv/lake", "Target": "/lake"}]
    task = step_in("docker", monkeypatch, mounts=mounts, environment={"HINDSIGHT_DRIVER_MEMORY": "4g"})
    assert (task.pool_slots, task.task_id, task.operator_extra_links[0].name) == (2, "publish", ReportLink.name)
    execute(task, context())
    verb, step, option, settings = (tmp_path / "hindsight.given").read_text().splitlines()
    assert (verb, step, option) == ("step", "publish", "--settings")
    assert Settings.of(json.loads(settings)).logs == HOSTILE
    assert (docker.made["image"], docker.made["environment"]) == (IMAGE, {"HINDSIGHT_DRIVER_MEMORY": "4g"})
    assert (docker.made["host_config"]["mounts"], docker.removed) == (mounts, ["1"])


@pytest.mark.parametrize(("code", "kind"), [(2, AirflowFailException), (42, Refused)])
def test_exit_codes_2_and_42_fail_for_good_with_sentences_of_step(
    code: int, kind: type[Exception], docker: Docker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, code)
    lake = str(tmp_path / "lake")
    monkeypatch.setattr(
        Docker, "start", lambda *_: leave_result(lake, "r", "publish", Result(code, ["LOGS names /x."]))
    )
    with pytest.raises(kind, match=rf"^LOGS names /x\. publish ended with exit code {code}\."):
        execute(step_in("docker", monkeypatch), context(lake=lake))


def test_exit_code_42_fails_for_good_where_lake_cannot_be_reached(
    docker: Docker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path, 42)
    with pytest.raises(AirflowFailException, match="publish ended with exit code 2 or 42"):
        execute(step_in("docker", monkeypatch), context(lake="nowhere://lake"))


def test_exit_code_1_may_be_retried(docker: Docker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, 1)
    with pytest.raises(AirflowException, match="publish left no result") as failure:
        execute(step_in("docker", monkeypatch), context(lake=str(tmp_path)))
    assert not isinstance(failure.value, (AirflowFailException, AirflowSkipException))


def test_pod_gets_command_of_step_and_its_exit_code_42_is_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = str(tmp_path)
    pods: list[Any] = []

    def ends(task: Any, given: Any) -> None:
        pods.append(task.build_pod_request_obj(given))
        leave_result(lake, "r", "publish", Result(42))
        raise AirflowSkipException("Pod publish-1 returned exit code 42. Skipping.")

    monkeypatch.setattr(KubernetesPodOperator, "execute_sync", ends)
    monkeypatch.setattr(KubernetesPodOperator, "_incluster_namespace", "airflow", raising=False)
    monkeypatch.setattr(KubernetesPodOperator, "hook", SimpleNamespace(is_in_cluster=True, get_namespace=lambda: "x"))
    task = step_in("kubernetes", monkeypatch, pod_template_file=str(RECIPE / "step-pod.yaml"))
    with pytest.raises(Refused, match="publish ended with exit code 42"):
        execute(task, context(lake=lake))
    (container,) = ApiClient().sanitize_for_serialization(pods[0])["spec"]["containers"]
    assert container["command"][:3] == ["hindsight", "step", "publish"]
    assert Settings.of(json.loads(container["command"][4])).logs == HOSTILE
    assert container["image"] == IMAGE
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/logs", "/lake"]


def test_deferred_pod_ends_by_result_of_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake, event = str(tmp_path), {"status": "failed"}

    def defers(task: Any, given: Any) -> None:
        raise TaskDeferred(trigger=None, method_name="trigger_reentry")

    def goes_on(task: Any, given: Any, of: Any) -> None:
        assert of == event
        raise AirflowSkipException("Pod publish-1 returned exit code 42. Skipping.")

    monkeypatch.setattr(KubernetesPodOperator, "execute_async", defers)
    monkeypatch.setattr(KubernetesPodOperator, "trigger_reentry", goes_on)
    with pytest.raises(TaskDeferred) as deferred:
        execute(step_in("kubernetes", monkeypatch, deferrable=True), context(lake=lake))
    leave_result(lake, "r", "publish", Result(42))
    task = step_in("kubernetes", monkeypatch, deferrable=True)
    given = {**context(lake=lake), "task": task}
    task.render_template_fields(given)
    with pytest.raises(Refused, match="publish ended with exit code 42"):
        getattr(task, deferred.value.method_name)(given, event)


@pytest.mark.parametrize("file", ["storage.yaml", "step-pod.yaml", "spark-account.yaml"])
def test_kubernetes_manifest_fits_schema(file: str) -> None:
    for each in yaml.safe_load_all((RECIPE / file).read_text()):
        fits_kubernetes(each)


def fits_kubernetes(given: Mapping[str, Any]) -> None:
    kubernetes_validate.validate(given, SCHEMA, strict=True)
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate({**given, "volume": []}, SCHEMA, strict=True)


def test_step_with_executors_on_kubernetes_has_account_and_driver_address() -> None:
    page = (RECIPE.parents[1] / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    pod, over = (yaml.safe_load(text) for text in ((RECIPE / "step-pod.yaml").read_text(), block))
    ((container,), (other,)) = (spec["spec"].pop("containers") for spec in (pod, over))
    env = [*container["env"], *other["env"]]
    fits_kubernetes({**pod, "spec": {**pod["spec"], **over["spec"], "containers": [{**container, "env": env}]}})
    accounts = [*yaml.safe_load_all((RECIPE / "spark-account.yaml").read_text())]
    assert over["spec"]["serviceAccountName"] == accounts[0]["metadata"]["name"] == accounts[2]["subjects"][0]["name"]
    conf = dict(pair.split("=", 1) for pair in env[-1]["value"].split(";"))
    assert conf["spark.master"].startswith("k8s://") and conf["spark.kubernetes.container.image"]
    assert conf["spark.driver.host"] == f"$({env[-2]['name']})" == "$(SPARK_LOCAL_IP)"


def test_kubernetes_files_agree_on_volumes_and_paths() -> None:
    pod, values, vector = (
        yaml.safe_load((RECIPE / f"{name}.yaml").read_text())
        for name in ("step-pod", "airflow-values", "vector-values")
    )
    claims = {each["metadata"]["name"] for each in yaml.safe_load_all((RECIPE / "storage.yaml").read_text())}
    asked = [*pod["spec"]["volumes"], *values["scheduler"]["extraVolumes"], *vector["extraVolumes"]]
    assert {each["persistentVolumeClaim"]["claimName"] for each in asked} == claims
    variables = {each["name"]: each["value"] for each in values["env"]}
    mounted = {mount["mountPath"] for mount in pod["spec"]["containers"][0]["volumeMounts"]}
    connection = json.loads(variables["AIRFLOW_CONN_HINDSIGHT_DEFAULT"])
    assert mounted == {connection["extra"]["logs"], connection["host"]}
    kind, given = read_container(variables[CONTAINER])
    assert kind.name == "KubernetesPodOperator"
    assert f"COPY {Path(given['pod_template_file']).name} " in (RECIPE / "Dockerfile.airflow").read_text()


def test_reclassification_runs_in_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONTAINER, json.dumps({"docker": {"image": IMAGE}}))
    mapped = step_operator().partial(step=RECLASSIFY, cluster=ORDERS, **task_arguments(RECLASSIFY, ORDERS))
    assert mapped.expand(window=[]).task_type == "ContainedStepOperator"


def test_container_examples_on_install_page_give_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (RECIPE.parents[1] / "docs" / "install.md").read_text(encoding="utf-8")
    kubernetes, docker = re.findall(r"^    HINDSIGHT_CONTAINER='(.*)'$", page, re.MULTILINE)
    for text, base in ((kubernetes, KubernetesPodOperator), (docker, DockerOperator)):
        monkeypatch.setenv(CONTAINER, text)
        task = step_operator()(step=PUBLISH, cluster=ORDERS)
        assert isinstance(task, base) and task.image == "registry.example.org/kafka-hindsight:0.1.0"


@pytest.mark.parametrize(
    "text",
    [
        "s3cret",
        '{"podman": {"private_environment": "s3cret"}}',
        '{"docker": 1}',
        "[]",
        '{"docker": {}, "kubernetes": {}}',
    ],
)
def test_unusable_container_variable_is_refused_without_its_secret(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CONTAINER, text)
    with pytest.raises(BadInput, match=CONTAINER) as refused:
        container_operator()
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("lake", "namespace", "name"),
    [("/srv/lake", "file", "/srv/lake/gold/rebalances"), ("s3a://lakes/k", "s3://lakes", "k/gold/rebalances")],
)
@pytest.mark.parametrize("kind", ["docker", None])
def test_openlineage_gets_tables_with_columns(
    lake: str, namespace: str, name: str, kind: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CONTAINER, json.dumps({kind: {"image": IMAGE}}) if kind else "")
    task = step_operator()(step=PUBLISH, cluster=Cluster("orders", None, {"lake": lake}))
    at_work = SimpleNamespace(dag_id="d", task_id="publish", run_id="r", map_index=-1, try_number=1, task=task)
    task.render_template_fields({**context(lake=lake), "task": task})
    found = ExtractorManager().extract_metadata(at_work, task, None, at_work)
    assert len(found.outputs) == len(PUBLISH.writes) and len(found.inputs) == len(PUBLISH.reads)
    (rebalances,) = [d for d in found.outputs if d.name == name]
    assert rebalances.namespace == namespace
    assert "group_id" in {field.name for field in rebalances.facets["schema"].fields}


@pytest.mark.skipif("HINDSIGHT_PROGRAM" not in os.environ, reason="names the folder of a hindsight with Spark")
def test_three_steps_in_containers_make_an_audit(
    docker: Docker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker.path = Path(os.environ["HINDSIGHT_PROGRAM"])
    monkeypatch.setenv(CONTAINER, json.dumps({"docker": {"image": IMAGE}}))
    logs = Path(__file__).parents[1] / "excerpts" / "crash-2.8"
    for step in STEPS:
        given = context(logs=str(logs), lake=str(tmp_path / "lake"), cluster="orders")
        execute(step_operator()(step=step, cluster=ORDERS), given)
    assert (tmp_path / "lake" / "report" / "index.html").exists()
    with pytest.raises(AirflowFailException, match="exit code 2"):
        execute(step_operator()(step=STEPS[0], cluster=ORDERS), context(logs=str(tmp_path / "none")))
