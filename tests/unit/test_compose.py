"""The compose stack, as far as it can be checked without a container engine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from spark_jobs.alerts.settings import DEFAULT_ROUTE
from spark_jobs.config import INPUTS, KEEP

HOME = Path(__file__).resolve().parents[2]
AIRFLOW = ("airflow-init", "airflow-api", "airflow-scheduler", "airflow-dag-processor")


@pytest.fixture(scope="module")
def stack() -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load((HOME / "docker-compose.yml").read_text())
    return parsed


def defaults(text: str) -> str:
    """A value as compose reads it where nothing is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def test_every_part_of_airflow_shares_image_tables_and_secrets(stack: dict[str, Any]) -> None:
    services = stack["services"]
    assert {s["image"] for name, s in services.items() if name in AIRFLOW} == {"kafka-hindsight:0.1.0"}
    assert len({str(services[name]["environment"]) for name in AIRFLOW}) == 1
    api = services["airflow-api"]["environment"]["AIRFLOW__CORE__EXECUTION_API_SERVER_URL"]
    assert api.split("/")[2].split(":")[0] in services


def test_the_pool_that_steps_stand_in_is_made_before_anything_runs(stack: dict[str, Any]) -> None:
    (command,) = stack["services"]["airflow-init"]["command"]
    assert f"pools set {stack['services']['airflow-scheduler']['environment']['HINDSIGHT_POOL']} 1" in command


def test_every_mounted_path_is_there_or_is_a_declared_volume(stack: dict[str, Any]) -> None:
    made_by_make_up = {"./lake"}
    for name, service in stack["services"].items():
        for volume in service.get("volumes", ()):
            source = defaults(volume).split(":")[0]
            declared = source in stack["volumes"] or source in made_by_make_up
            assert declared or (HOME / source).exists(), f"{name}: {source}"


def test_every_setting_it_passes_is_one_that_is_read(stack: dict[str, Any]) -> None:
    sources = "".join(
        p.read_text() for folder in ("spark_jobs", "plugins", "dags") for p in (HOME / folder).rglob("*.py")
    )
    known = (
        {f"HINDSIGHT_{i.variable}" for i in (*INPUTS, KEEP)}
        | {DEFAULT_ROUTE.variable}
        | set(re.findall(r'"(HINDSIGHT_[A-Z_]+)"', sources))
    )
    passed = {key for s in stack["services"].values() for key in s["environment"] if key.startswith("HINDSIGHT_")}
    assert passed and passed <= known, passed - known


def test_what_it_reads_is_mounted_where_the_settings_say(stack: dict[str, Any]) -> None:
    service = stack["services"]["airflow-scheduler"]
    mounted = {v.split(":")[-1] if not v.endswith(":ro") else v.split(":")[-2] for v in service["volumes"]}
    for variable in ("LOGS", "CLIENT_LOGS", "SNAPSHOTS", "LAKE"):
        place = service["environment"][f"HINDSIGHT_{variable}"]
        assert any(place == m or place.startswith(f"{m}/") for m in mounted), place


def test_no_password_is_written_down(stack: dict[str, Any]) -> None:
    text = (HOME / "docker-compose.yml").read_text()
    for line in text.splitlines():
        if re.search(r"PASSWORD|SECRET", line):
            assert "${" in line, line


def test_the_image_copies_only_what_is_there() -> None:
    copied = re.findall(r"^COPY (\S+) ", (HOME / "Dockerfile").read_text(), flags=re.MULTILINE)
    assert copied
    assert all((HOME / source).exists() for source in copied)


def test_the_pages_open_on_this_machine_only(stack: dict[str, Any]) -> None:
    ports = [p for s in stack["services"].values() for p in s.get("ports", ())]
    assert ports and all(p.startswith("127.0.0.1:") for p in ports)
