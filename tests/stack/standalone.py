"""An `airflow standalone` of its own: the project's DAGs and plugins, real Spark, tables, ports and logs of its own."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from kafka_hindsight.start import embedded_airflow, launch
from lab.drill.cluster import free_ports

BIN = embedded_airflow.PROGRAM.parent
USER = "admin"
POOL = "hindsight_spark"
OVER = ("success", "failed")

_ONLY_EMBEDDED = ("AIRFLOW_CONN_SPARK_DEFAULT", "HINDSIGHT_RETRIES", "HINDSIGHT_DEADLINE_HOURS")
"""What `make audit` sets and a schedule does not."""

_LOCAL_SETTINGS = """
from datetime import timedelta

CONNECT = {"timeout": 60}

def task_policy(task):
    task.retry_delay = timedelta(seconds=5)
    task.retry_exponential_backoff = 0
"""
"""This Airflow's own: retries come soon, and writers of its SQLite wait for each other. The DAGs stay as they are."""

Row = dict[str, Any]
T = TypeVar("T")


def described(lake: Path, cluster: str = "", **inputs: str) -> dict[str, str]:
    """The variable that describes the cluster as an Airflow connection does."""
    connection = {"conn_type": "hindsight", "host": str(lake), "schema": cluster, "extra": inputs}
    return {"AIRFLOW_CONN_HINDSIGHT_DEFAULT": json.dumps(connection)}


class Standalone:
    """Airflow as `airflow standalone` starts it: scheduler, DAG processor, triggerer and API server."""

    def __init__(self, home: Path, given: Mapping[str, str]) -> None:
        self.home = home
        self.port, worker_port, trigger_port = free_ports(3)
        self.address = f"http://127.0.0.1:{self.port}"
        (home / "config").mkdir(parents=True)
        (home / "config" / "airflow_local_settings.py").write_text(_LOCAL_SETTINGS)
        ours = {k: v for k, v in embedded_airflow.airflow_variables().items() if k not in _ONLY_EMBEDDED}
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("AIRFLOW", "HINDSIGHT_", "PYTHON"))},
            **ours,
            "PATH": f"{BIN}:{os.environ['PATH']}",
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONNECT_ARGS": "airflow_local_settings.CONNECT",
            "AIRFLOW__LOGGING__BASE_LOG_FOLDER": str(home / "logs"),
            "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(worker_port),
            "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(trigger_port),
            "AIRFLOW__API__HOST": "127.0.0.1",
            "AIRFLOW__API__PORT": str(self.port),
            "AIRFLOW__API__BASE_URL": self.address,
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{self.address}/execution/",
            "AIRFLOW__CORE__PARALLELISM": "4",
            **given,
        }
        self._token = ""
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Standalone:
        with (self.home / "standalone.log").open("wb") as log:
            self._process = subprocess.Popen(
                [str(BIN / "airflow"), "standalone"],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.home,
                start_new_session=True,
            )
        try:
            self._until_it_serves()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it as Ctrl-C does, and then what is left: neither the API server nor a task ends with it."""
        if self._process:
            self._process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(30)
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    @property
    def password(self) -> str:
        """What standalone made for its user."""
        file = self.home / "simple_auth_manager_passwords.json.generated"
        return str(json.loads(file.read_text())[USER])

    def cli(self, *arguments: str) -> str:
        """What an `airflow` command says. Fails where it ends with anything but 0.

        Odd: beside a scheduler, SQLite refuses at once who read before it writes; nothing is left of it, so it is said
        again.
        """
        for _ in range(20):
            done = subprocess.run(
                [str(BIN / "airflow"), *arguments],
                env=self.environment,
                capture_output=True,
                text=True,
                cwd=self.home,
                timeout=300,
            )
            if "database is locked" not in done.stderr:
                break
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def api(self, path: str, body: Any = None, verb: str | None = None) -> Row:
        """What the REST API answers."""
        if not self._token:
            login = {"username": USER, "password": self.password}
            self._token = _asked(f"{self.address}/auth/token", login, "POST")["access_token"]
        return _asked(f"{self.address}/api/v2/{path}", body, verb, self._token)

    def unpause(self, dag_id: str) -> None:
        """Lets the scheduler begin."""
        self.api(f"dags/{dag_id}", {"is_paused": False}, "PATCH")

    def trigger(self, dag_id: str, **params: Any) -> str:
        """Starts a run by hand; gives its id."""
        return str(self.api(f"dags/{dag_id}/dagRuns", {"logical_date": None, "conf": params})["dag_run_id"])

    def runs(self, dag_id: str, run_type: str) -> list[Row]:
        """The runs of a DAG of one type, oldest interval first."""
        runs = self.api(f"dags/{dag_id}/dagRuns?run_type={run_type}&limit=100")["dag_runs"]
        return sorted(runs, key=lambda run: run["data_interval_start"] or "")

    def run_over(self, dag_id: str, run_id: str, within: float = 1800) -> Row:
        """The run, once it is over."""
        return until(
            lambda: next(
                (r for r in self.api(f"dags/{dag_id}/dagRuns?limit=100")["dag_runs"] if _is_over(r, run_id)), None
            ),
            f"the end of {run_id} of {dag_id}",
            within,
        )

    def tries(self, dag_id: str, run_id: str) -> list[Row]:
        """Each try of each task of a run."""
        tasks = self.api(f"dags/{dag_id}/dagRuns/{run_id}/taskInstances")["task_instances"]
        return [t for task in tasks for t in self._tries(task)]

    def _tries(self, task: Row) -> list[Row]:
        place = f"dags/{task['dag_id']}/dagRuns/{task['dag_run_id']}/taskInstances/{task['task_id']}"
        mapped = f"/{task['map_index']}" if task["map_index"] >= 0 else ""
        return list(self.api(f"{place}{mapped}/tries")["task_instances"])

    def processes(self, step: str | None = None) -> list[int]:
        """Our processes; of a step: its spark-submit and what it started."""
        return [pid for pid in _pids() if _is_ours(pid, self.home) and (step is None or _runs(pid, step))]

    def kill(self, step: str) -> None:
        """kill -9 of the step: Spark's JVM and the Python that drives it, together."""
        for pid in self.processes(step):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _until_it_serves(self) -> None:
        def serves() -> bool:
            assert self._process and self._process.poll() is None, (self.home / "standalone.log").read_text()[-3000:]
            try:
                health = _asked(f"{self.address}/api/v2/monitor/health")
            except (OSError, ValueError):
                return False
            parts = ("metadatabase", "scheduler", "dag_processor", "triggerer")
            return all(health[part]["status"] == "healthy" for part in parts)

        until(serves, "a healthy Airflow", 180)


def until(look: Callable[[], T | None], what: str, within: float = 1800, every: float = 1.0) -> T:
    """What is seen, once it is. Fails after `within` seconds."""
    end = time.monotonic() + within
    while not (result := look()):
        assert time.monotonic() < end, f"{what} did not come within {within:.0f} s"
        time.sleep(every)
    return result


def _asked(address: str, body: Any = None, verb: str | None = None, token: str = "") -> Row:
    request = urllib.request.Request(
        address,
        json.dumps(body).encode() if body is not None else None,
        {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})},
        method=verb,
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return dict(json.load(answer))
    except urllib.error.HTTPError as refusal:
        raise AssertionError(f"{address}: {refusal.code} {refusal.read().decode()[:2000]}") from None


def _is_over(run: Row, run_id: str) -> bool:
    return run["dag_run_id"] == run_id and run["state"] in OVER


def _pids() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and path.name != str(os.getpid()))


def _is_ours(pid: int, home: Path) -> bool:
    """Known by where it works: Airflow writes over what /proc tells of its environment."""
    try:
        return Path(f"/proc/{pid}/cwd").readlink() == home
    except OSError:
        return False


def _runs(pid: int, step: str) -> bool:
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    programs = {str(launch.RUN).encode(), launch.IN_ONE_PROCESS.encode()}
    return any(a in programs and b == step.encode() for a, b in itertools.pairwise(arguments))
