"""The compose stack in containers, as a newcomer starts it: built, healthy, hurt, audited, asked, gone."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight import __version__
from kafka_hindsight.settings.home import HOME
from lab.drill.cluster import free_ports
from setup import stack as setup_stack
from tests.containers.base_images import base_images
from tests.containers.engine import NoEngine, engine
from tests.stack.airflow_api import Airflow
from tests.stack.compose import stack
from tests.stack.standalone import until

pytestmark = pytest.mark.timeout(3 * 3600)

FOLDER = HOME / ".build" / "containers"
PROJECT = "hindsight-test"
IMAGE = f"kafka-hindsight:{__version__}"
MOST_BYTES = 2_000_000_000
ONCE = "airflow-init"
BROKER = 2
AWAY_SECONDS = 45
AUDIT = "/api/v2/dags/kafka_night_audit/dagRuns"
OF_MEMBERS = ".venv-spark/bin/python -m lab.drill.everyday --bootstrap broker-1:9092,broker-2:9092,broker-3:9092"


def say(text: str) -> None:
    """Print a figure: what a run took belongs to its result."""
    print(f"\n{datetime.now(UTC):%H:%M:%S} {text}", flush=True)


@dataclass(frozen=True)
class Containers:
    """A checkout whose stack runs in containers, and the variables of its commands."""

    checkout: Path
    environment: Mapping[str, str]

    def run(self, *words: str, check: bool = True) -> str:
        """What a command prints."""
        done = subprocess.run(words, cwd=self.checkout, env=self.environment, capture_output=True, text=True)
        assert not check or not done.returncode, (words, done.stdout[-2000:], done.stderr[-4000:])
        return done.stdout

    def compose(self, *words: str) -> str:
        """What a command of compose prints."""
        return self.run("docker", "compose", *words)

    def remove(self) -> None:
        """End the containers, and remove what they keep."""
        self.compose("--profile", "*", "down", "--volumes")

    def states(self) -> dict[str, str]:
        """The health of each container by its service; its state where it has no health check."""
        lines = self.compose("ps", "--all", "--format", "json").splitlines()
        return {row["Service"]: row["Health"] or row["State"] for row in map(json.loads, lines)}

    def in_airflow(self, command: str) -> str:
        """What a command prints where Airflow's tasks run."""
        return self.compose("exec", "-T", "airflow-scheduler", "sh", "-c", command)

    def rows(self, query: str) -> list[dict[str, Any]]:
        """What the lake answers."""
        answer: list[dict[str, Any]] = json.loads(
            self.compose(
                "exec", "-T", "airflow-scheduler", "./hindsight", "sql", query, "--format", "json", "--lake", "/lake"
            )
        )
        return answer


@pytest.fixture(scope="module")
def containers() -> Iterator[Containers]:
    """A copy of what git knows of this checkout, `make up` in it, and an engine; at the end nothing of it is left."""
    checkout = FOLDER / "checkout"
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(checkout, ignore_errors=True)
    checkout.mkdir()
    names = subprocess.run(["git", "ls-files", "-z"], cwd=HOME, check=True, capture_output=True).stdout
    subprocess.run(["xargs", "-0", "cp", "--parents", "-t", checkout], cwd=HOME, input=names, check=True)
    try:
        with engine(FOLDER) as variables:
            of_project = {"COMPOSE_PROJECT_NAME": PROJECT, "HINDSIGHT_PORT": str(free_ports(1)[0])}
            started = Containers(checkout, {**variables, **base_images(FOLDER, variables), **of_project})
            setup_stack.draw(checkout / ".env")
            try:
                started.remove()
                yield started
            finally:
                started.remove()
    except NoEngine as lack:
        pytest.exit(str(lack), 2)


@pytest.fixture(scope="module")
def up(containers: Containers) -> list[str]:
    """What `make up` prints, when all services are well."""
    began = time.monotonic()
    containers.compose("build", ONCE)
    size = int(containers.run("docker", "image", "inspect", "--format", "{{.Size}}", IMAGE))
    say(f"image: {time.monotonic() - began:.0f} s, {size / 1e9:.2f} GB")
    began = time.monotonic()
    printed = containers.run("make", "--no-print-directory", "up").splitlines()
    say(f"make up: {time.monotonic() - began:.0f} s")
    until(lambda: set(well(containers).values()) == {True}, "health of all services", 900)
    say(f"all services are healthy after {time.monotonic() - began:.0f} s")
    return printed


def well(containers: Containers) -> dict[str, bool]:
    """Whether each service of the file is healthy, or has done what it does once."""
    states = containers.states()
    services = stack(setup_stack.values_of(containers.checkout / ".env"))
    return {name: states.get(name) == ("exited" if name == ONCE else "healthy") for name in services}


@pytest.fixture(scope="module")
def airflow(containers: Containers, up: list[str]) -> Airflow:
    """Airflow, with the drawn password."""
    client = Airflow(f"http://127.0.0.1:{containers.environment['HINDSIGHT_PORT']}")
    password = setup_stack.values_of(containers.checkout / ".env")["HINDSIGHT_ADMIN_PASSWORD"]
    assert client.log_in(setup_stack.ADMIN, password) == 201
    return client


@dataclass(frozen=True)
class Harm:
    """When the broker was killed, and started again. Members write their own truth."""

    killed_at: datetime
    started_at: datetime


@pytest.fixture(scope="module")
def harm(containers: Containers, airflow: Airflow) -> Harm:
    """Members have joined and played, one has crashed, and a broker was killed and came back."""
    until(lambda: " done (" in containers.compose("logs", "members"), "the end of a scenario", 600)
    containers.compose("stop", "members")
    say("members have played; now one crashes")
    crash = f"{OF_MEMBERS} --folder /input --scenarios crash --rounds 1 --rest 0"
    containers.compose("run", "--rm", "--no-deps", "-T", "members", *crash.split())
    broker = containers.compose("ps", "--quiet", f"broker-{BROKER}").strip()
    killed_at = datetime.now(UTC)
    containers.run("docker", "kill", broker)
    time.sleep(AWAY_SECONDS)
    started_at = datetime.now(UTC)
    containers.run("docker", "start", broker)
    until(lambda: containers.states()[f"broker-{BROKER}"] == "healthy", "the broker's return", 300)
    say(f"broker {BROKER} was killed at {killed_at:%H:%M:%S}, and started again at {started_at:%H:%M:%S}")
    return Harm(killed_at, started_at)


@pytest.fixture(scope="module")
def audited(containers: Containers, airflow: Airflow, harm: Harm) -> dict[str, Any]:
    """The run that a newcomer triggers: with the logical date that the page gives, and without a param."""
    began = time.monotonic()
    run = airflow.json(AUDIT, {"logical_date": datetime.now(UTC).isoformat()})

    def over() -> dict[str, Any] | None:
        state = airflow.json(f"{AUDIT}/{run['dag_run_id']}")
        return state if state["state"] in ("success", "failed") else None

    state = until(over, "the audit's end")
    load = Path("/proc/loadavg").read_text().split()[:3]
    say(f"audit: {state['state']} after {time.monotonic() - began:.0f} s; load {' '.join(load)}")
    say(containers.run("docker", "stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}} {{.CPUPerc}}"))
    return state


def test_image_is_at_most_two_gigabytes(containers: Containers, up: list[str]) -> None:
    assert int(containers.run("docker", "image", "inspect", "--format", "{{.Size}}", IMAGE)) <= MOST_BYTES


def test_make_up_prints_the_way_in_three_lines(containers: Containers, up: list[str]) -> None:
    port = containers.environment["HINDSIGHT_PORT"]
    assert up[-3:] == setup_stack.THE_WAY.format(port=port, admin=setup_stack.ADMIN).splitlines()


def test_no_service_was_restarted(containers: Containers, up: list[str]) -> None:
    ids = containers.compose("ps", "--all", "--quiet").split()
    counts = containers.run("docker", "inspect", "--format", "{{.Name}} {{.RestartCount}}", *ids).splitlines()
    assert [line for line in counts if not line.endswith(" 0")] == []


def test_first_audit_succeeds_without_param(audited: dict[str, Any]) -> None:
    assert audited["state"] == "success"


def test_killed_broker_is_crash_of_its_time(containers: Containers, harm: Harm, audited: dict[str, Any]) -> None:
    (outage,) = containers.rows(f"select * from gold.broker_outages where broker = {BROKER} and kind = 'crash'")
    down_at, up_at = (datetime.fromisoformat(outage[name]) for name in ("down_at", "up_at"))
    assert abs((down_at - harm.killed_at).total_seconds()) < 40, "what truth.jsonl allows an outage"
    assert up_at > harm.started_at
    assert outage["confidence"] == "certain"


def test_audit_meets_truth(containers: Containers, harm: Harm, audited: dict[str, Any]) -> None:
    acts = (
        {"at": harm.killed_at.isoformat(), "action": "broker_kill9", "broker": BROKER, "expect": "failover_crash"},
        {"at": harm.started_at.isoformat(), "action": "broker_start", "broker": BROKER},
    )
    of_broker = "".join(f"echo {shlex.quote(json.dumps(act))}; " for act in acts)
    truth = f"{{ cat /input/truth/*.jsonl; {of_broker}}} > /tmp/truth.jsonl"
    score = ".venv-spark/bin/python -m lab.drill.score --lake /lake --truth /tmp/truth.jsonl"
    say(containers.in_airflow(f"{truth} && {score}"))
    dead = containers.rows(
        "select cause, count(*) as count from gold.rebalances where cause = 'member_dead' group by 1"
    )
    assert dead and dead[0]["count"] >= 1


def test_every_line_is_read(containers: Containers, audited: dict[str, Any]) -> None:
    (lines,) = containers.rows("select sum(lines_in) as lines, sum(unparsed) as unparsed from quality.coverage")
    assert lines["lines"] > 1000 and lines["unparsed"] == 0


def test_report_is_served_and_says_something(containers: Containers, airflow: Airflow, audited: dict[str, Any]) -> None:
    code, content = airflow.ask("/hindsight/night/index.html")
    assert code == 200 and f"roker {BROKER} crashed".encode() in content
    say(containers.in_airflow("./hindsight report --lake /lake --markdown | head -40"))


def test_every_run_of_airflow_is_green(containers: Containers, airflow: Airflow, audited: dict[str, Any]) -> None:
    def over() -> list[dict[str, Any]] | None:
        runs: list[dict[str, Any]] = airflow.json("/api/v2/dags/~/dagRuns?limit=100")["dag_runs"]
        return None if any(run["state"] in ("queued", "running") for run in runs) else runs

    runs = until(over, "the end of all runs", 600)
    say("\n".join(f"{run['state']} {run['dag_id']} {run['dag_run_id']}" for run in runs))
    assert {run["state"] for run in runs} == {"success"}
    assert {run["dag_id"] for run in runs} >= {"kafka_night_audit", "kafka_collect", "kafka_snapshot"}


def test_airflow_warns_of_nothing(containers: Containers, up: list[str]) -> None:
    listed = containers.run(
        "docker", "compose", "exec", "-T", "airflow-scheduler", "sh", "-c", "airflow dags list --output plain 2>&1"
    )
    assert listed.splitlines()[0].split()[0] == "dag_id", listed


def test_make_down_leaves_nothing_running(containers: Containers, audited: dict[str, Any]) -> None:
    containers.run("make", "down")
    assert containers.compose("ps", "--all", "--quiet") == ""
    assert (
        containers.run("docker", "ps", "--all", "--quiet", "--filter", f"label=com.docker.compose.project={PROJECT}")
        == ""
    )
    assert containers.run("docker", "network", "ls", "--quiet", "--filter", f"name={PROJECT}") == ""
