"""docs/install.md: each connection on the page becomes the master it names, with what the page says of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from airflow.providers.apache.spark.hooks import spark_submit
from hindsight_operator import SparkStepHook

from kafka_hindsight.start import launch

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "install.md").read_text(encoding="utf-8")
STANDALONE, YARN, KUBERNETES = re.findall(r"^    AIRFLOW_CONN_SPARK_DEFAULT='(.*)'$", PAGE, flags=re.MULTILINE)


def hook_of(connection: str, monkeypatch: pytest.MonkeyPatch) -> SparkStepHook:
    """The hook as the operator makes it, with this connection."""
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection)
    return SparkStepHook(
        conf=launch.configuration(),
        conn_id="spark_default",
        env_vars=launch.environment(),
        spark_binary=str(launch.spark_submit()),
    )


@pytest.mark.parametrize(
    ("connection", "begins"),
    [(STANDALONE, ["--master", "spark://spark-master:7077"]), (YARN, ["--master", "yarn"])],
    ids=["standalone", "yarn"],
)
def test_a_connection_becomes_its_master_and_hands_our_variables_on(
    connection: str, begins: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = hook_of(connection, monkeypatch)
    command = hook._build_spark_submit_command("run.py")
    assert _master(command) == begins
    assert "--deploy-mode" not in command
    assert hook._env == launch.environment()


def test_the_queue_of_yarn_is_the_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    command = hook_of(YARN, monkeypatch)._build_spark_submit_command("run.py")
    assert command[command.index("--queue") + 1] == "audits"


def test_kubernetes_needs_a_provider_that_is_not_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Odd: the hook means to say so with a RuntimeError, and looks for a name that it did not import."""
    with pytest.raises((RuntimeError, NameError), match="kube"):
        hook_of(KUBERNETES, monkeypatch)


def test_kubernetes_is_not_handed_our_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_submit, "kube_client", object(), raising=False)
    hook = hook_of(KUBERNETES, monkeypatch)
    command = hook._build_spark_submit_command("run.py")
    assert _master(command) == ["--master", "k8s://https://kubernetes.default:443"]
    assert "spark.kubernetes.namespace=spark" in command
    assert not hook._env


def test_what_the_page_sets_reaches_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in re.findall(r"HINDSIGHT_SPARK_CONF='(.*)'$", PAGE, flags=re.MULTILINE):
        monkeypatch.setenv("HINDSIGHT_SPARK_CONF", text)
        pairs = dict(pair.split("=", 1) for pair in text.split(";"))
        assert pairs and pairs.items() <= launch.configuration().items()


def _master(command: list[str]) -> list[str]:
    at = command.index("--master")
    return command[at : at + 2]


def test_what_is_sent_along_is_all_of_spark_s_own_settings() -> None:
    (text,) = re.findall(r"^    HINDSIGHT_SPARK_CONF='(spark\.archives=.*)'$", PAGE, flags=re.MULTILINE)
    given = dict(pair.split("=", 1) for pair in text.split(";"))
    assert given["spark.archives"].endswith("#environment")
    assert given["spark.pyspark.python"] == "./environment/bin/python"
    assert {p.rpartition("/")[2] for p in given["spark.jars"].split(",")} == {p.name for p in launch.jars().iterdir()}
