"""docker-compose.yml started without containers: every service by its own command line, and an audit over them."""

from __future__ import annotations

import json
import os
import re
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog.steps import STEPS
from kafka_hindsight.settings.home import HOME
from lab.drill import score
from setup import stack as setup_stack
from tests.stack.airflow_api import Airflow
from tests.stack.compose import Outside, stack
from tests.stack.running import Running, postgres_programs, remove
from tests.stack.standalone import until

ONCE = "airflow-init"
AUDIT = "kafka_night_audit"
DAGS = {p.stem for p in (HOME / "dags").glob("kafka_*.py")}


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    """Where everything goes; with KEEP=1 it stays, with what every service printed."""
    folder = Path(tempfile.mkdtemp(prefix="hindsight-stack-"))
    folder.chmod(0o755)
    yield folder
    if not os.environ.get("KEEP"):
        remove(folder)


@pytest.fixture(scope="module")
def running(root: Path) -> Iterator[Running]:
    """All of it, up and well."""
    if postgres_programs() is None:
        pytest.exit("Found: no PostgreSQL below /usr/lib/postgresql. Needed: its server. Install postgresql.", 2)
    setup_stack.draw(root / ".env")
    services = stack(setup_stack.values_of(root / ".env"))
    started = Running(Outside(services, root))
    for folder in ("logs", "clients", "truth"):
        (started.outside.folder("input") / folder).mkdir()
    try:
        started.start(*(name for name in services if name.startswith("broker-")))
        for name in services:
            if name not in started.names:
                started.start(name)
        yield started
    finally:
        started.end()
        print(", ".join(f"{name} {peak} MiB" for name, peak in started.peak.items()))


@pytest.fixture(scope="module")
def airflow(running: Running, root: Path) -> Airflow:
    """Airflow, with the drawn password, when it has read the DAGs."""
    client = Airflow(f"http://127.0.0.1:{running.outside.port('airflow-apiserver', 8080)}")
    assert client.log_in(setup_stack.ADMIN, setup_stack.values_of(root / ".env")["HINDSIGHT_ADMIN_PASSWORD"]) == 201
    until(lambda: client.json("/api/v2/dags")["total_entries"] >= len(DAGS), "every DAG", 120)
    return client


@pytest.fixture(scope="module")
def audited(running: Running, airflow: Airflow) -> dict[str, Any]:
    """The audit of the brokers' own logs, after members have played a scenario; what else stands in line gives way."""
    for other in ("kafka_maintenance", "kafka_collect"):
        airflow.call_off(other)
    until(lambda: re.search(r" done \(\d+ s\)$", running.last_words("members"), re.M), "the end of a scenario", 300)
    running.stop("members")
    given = {"logical_date": None, "conf": {"whole_input": True, "read_to_end": True}}
    run = airflow.json(f"/api/v2/dags/{AUDIT}/dagRuns", given)
    place = f"/api/v2/dags/{AUDIT}/dagRuns/{run['dag_run_id']}"

    def over() -> dict[str, Any] | None:
        state = airflow.json(place)
        return state if state["state"] in ("success", "failed") else None

    return until(over, "the audit's end")


def test_every_service_starts_by_its_own_command_line(running: Running) -> None:
    services = running.outside.services
    assert set(running.names) == set(services)
    for service in (s for name, s in services.items() if name != ONCE):
        until(lambda service=service: running.is_well(service), f"word that {service.name} is well", 60)  # type: ignore[misc]


def test_airflow_needs_generated_password(airflow: Airflow) -> None:
    stranger = Airflow(airflow.address)
    assert stranger.log_in("admin", "admin") == stranger.log_in("admin", "") + 1 == 401
    for page in ("/api/v2/dags", "/hindsight/", "/api/v2/connections"):
        assert stranger.ask(page)[0] == 401, page


def test_every_dag_is_loaded_and_unpaused(airflow: Airflow) -> None:
    dags = {d["dag_id"]: d["is_paused"] for d in airflow.json("/api/v2/dags")["dags"]}
    assert dags.keys() == DAGS
    assert not any(dags.values())
    assert airflow.json("/api/v2/importErrors")["total_entries"] == 0
    assert airflow.json("/api/v2/pools/hindsight_spark")["slots"] == 1


def test_audit_of_stack_brokers_succeeds(audited: dict[str, Any]) -> None:
    assert audited["state"] == "success"


def test_spark_steps_ran_on_worker(running: Running, audited: dict[str, Any]) -> None:
    master = f"http://127.0.0.1:{running.outside.port('spark-master', 8080)}/json/"
    status = json.loads(urllib.request.urlopen(master, timeout=10).read())
    ran = {app["name"].split()[1]: app["id"] for app in status["completedapps"] if app["name"].startswith("hindsight ")}
    for step in STEPS:
        executors = running.outside.folder("spark").glob(f"{ran[step.name]}/*/stderr")
        assert any("Finished task" in e.read_text() for e in executors), step.name


def test_audit_meets_truth_of_played_scenarios(running: Running, audited: dict[str, Any], root: Path) -> None:
    truth = root / "truth.jsonl"
    files = sorted((running.outside.folder("input") / "truth").iterdir())
    truth.write_text("".join(file.read_text() for file in files))
    assert score.main(["--lake", str(running.outside.folder("lake")), "--truth", str(truth)]) == 0


def test_readings_of_brokers_land(running: Running, airflow: Airflow) -> None:
    landed = running.outside.folder("lake") / "landing" / "snapshots"
    (first, *_) = until(lambda: sorted(landed.rglob("*.json*")), "a reading of the brokers", 420)
    assert {b["id"] for b in json.loads(first.read_text().splitlines()[0])["brokers"]} == {1, 2, 3}


def test_report_is_served_by_airflow(airflow: Airflow, audited: dict[str, Any]) -> None:
    code, content = airflow.ask("/hindsight/night/index.html")
    assert code == 200 and b"stack" in content


def test_restarted_broker_keeps_its_log(running: Running) -> None:
    running.stop("broker-2")
    assert not running.is_well(running.outside.services["broker-2"])
    running.start("broker-2")
    logs = (running.outside.folder("input") / "logs" / "broker-2").glob("server.log*")
    assert sum(log.read_text().count("started (kafka.server.KafkaRaftServer)") for log in logs) == 2


def test_each_service_stays_within_memory_limit(running: Running, audited: dict[str, Any]) -> None:
    services = running.outside.services
    assert running.peak.keys() == services.keys()
    assert {name: peak for name, peak in running.peak.items() if peak > services[name].memory} == {}
