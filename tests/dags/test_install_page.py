"""docs/install.md: each connection on the page becomes the master it names, with what the page says of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from airflow.providers.apache.spark.hooks import spark_submit

from kafka_hindsight.start import launch

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "install.md").read_text(encoding="utf-8")
STANDALONE, YARN, KUBERNETES = re.findall(r"^    AIRFLOW_CONN_SPARK_DEFAULT='(.*)'$", PAGE, flags=re.MULTILINE)


def submit_with(connection: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], set[str]]:
    """What a program in the place of spark-submit is given: its arguments, and the variables that it sees."""
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", connection)
    submit = folder / "submit"
    submit.write_text("#!/bin/sh\nprintf '%s\\n' \"$@\" > $0.arguments\nenv > $0.environment\necho done\n")
    submit.chmod(0o755)
    hook = spark_submit.SparkSubmitHook(
        conf=launch.configuration(),
        conn_id="spark_default",
        spark_binary=str(submit),
    )
    hook.submit("run.py", env=launch.spark_variables())
    return Path(f"{submit}.arguments").read_text().splitlines(), {
        *Path(f"{submit}.environment").read_text().splitlines()
    }


@pytest.mark.parametrize(
    ("connection", "begins"),
    [
        (STANDALONE, ["--master", "spark://spark-master:7077"]),
        (YARN, ["--master", "yarn"]),
        (KUBERNETES, ["--master", "k8s://https://kubernetes.default:443"]),
    ],
    ids=["standalone", "yarn", "kubernetes"],
)
def test_connection_sets_master_and_passes_environment(
    connection: str, begins: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_submit, "kube_client", object(), raising=False)
    arguments, environment = submit_with(connection, tmp_path, monkeypatch)
    assert arguments[:2] == begins
    assert "--deploy-mode" not in arguments
    assert {f"{name}={value}" for name, value in launch.spark_variables().items()} <= environment


def test_yarn_queue_comes_from_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, _ = submit_with(YARN, tmp_path, monkeypatch)
    assert arguments[arguments.index("--queue") + 1] == "audits"


def test_kubernetes_master_needs_its_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Odd: the hook means to say so with a RuntimeError, and looks for a name that it did not import."""
    with pytest.raises((RuntimeError, NameError), match="kube"):
        submit_with(KUBERNETES, tmp_path, monkeypatch)


def test_kubernetes_namespace_comes_from_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_submit, "kube_client", object(), raising=False)
    arguments, _ = submit_with(KUBERNETES, tmp_path, monkeypatch)
    assert "spark.kubernetes.namespace=spark" in arguments


def test_spark_settings_on_install_page_reach_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in re.findall(r"HINDSIGHT_SPARK_CONF='(.*)'$", PAGE, flags=re.MULTILINE):
        monkeypatch.setenv("HINDSIGHT_SPARK_CONF", text)
        pairs = dict(pair.split("=", 1) for pair in text.split(";"))
        assert pairs and pairs.items() <= launch.configuration().items()


def test_archive_example_names_its_python() -> None:
    (text,) = re.findall(r"^    HINDSIGHT_SPARK_CONF='(spark\.archives=.*)'$", PAGE, flags=re.MULTILINE)
    given = dict(pair.split("=", 1) for pair in text.split(";"))
    assert given["spark.archives"].endswith("#environment")
    assert given["spark.pyspark.python"] == "./environment/bin/python"
