"""The wait for an application on YARN in the triggerer: who is asked, what ends it, and what its task makes of it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import hindsight_trigger
import pytest
from airflow.exceptions import AirflowException
from airflow.sdk.exceptions import TaskDeferred
from hindsight_airflow import AirflowFailException
from hindsight_step import Refused
from hindsight_trigger import YarnTrigger

from kafka_hindsight.lake.results import Result, leave_result
from tests.dags.test_hindsight_operator import NOTE, context, execute, spark, task_of

__all__ = ["spark"]
APPLICATION = "application_1796000000000_0007"
SUBMIT = f"{NOTE}\necho 'Submitted application {APPLICATION}'\n"


class Manager(ThreadingHTTPServer):
    """A resource manager: it gives the next of its answers to each question, and notes who asked for what."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.answers: list[tuple[int, dict[str, Any]]] = []
        self.requests: list[str] = []


class Answering(BaseHTTPRequestHandler):
    server: Manager

    def do_GET(self) -> None:
        self.server.requests.append(f"GET {self.path}")
        code, app = self.server.answers.pop(0)
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps({"app": app}).encode())

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.requests.append(f"PUT {self.path} {body}")
        self.send_response(202)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


def app(state: str, final: str = "UNDEFINED") -> tuple[int, dict[str, Any]]:
    return 200, {"state": state, "finalStatus": final}


@pytest.fixture()
def manager(monkeypatch: pytest.MonkeyPatch) -> Iterator[Manager]:
    monkeypatch.setattr(hindsight_trigger, "_EVERY", 0.01)
    with Manager() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        extra = {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": f"127.0.0.1:{server.server_port}"}
        monkeypatch.setenv(
            "AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "yarn", "extra": extra})
        )
        yield server
        server.shutdown()


def event_of(trigger: YarnTrigger) -> dict[str, str]:
    """The event with which a trigger ends."""

    async def first() -> Any:
        async for event in trigger.run():
            return event.payload

    return dict(asyncio.run(first()))


@pytest.mark.parametrize(
    ("last", "state"),
    [
        (app("FINISHED", "SUCCEEDED"), "SUCCEEDED"),
        (app("FINISHED", "FAILED"), "FAILED"),
        (app("KILLED", "KILLED"), "FAILED"),
    ],
)
def test_trigger_ends_with_application(last: tuple[int, dict[str, Any]], state: str, manager: Manager) -> None:
    manager.answers = [app("ACCEPTED"), (503, {}), app("RUNNING"), last]
    event = event_of(YarnTrigger("spark_default", APPLICATION))
    assert (event["state"], event["application"]) == (state, APPLICATION)
    assert manager.requests == [f"GET /ws/v1/cluster/apps/{APPLICATION}"] * 4


def test_trigger_gives_up_after_ten_questions_without_answer(manager: Manager) -> None:
    manager.answers = [(503, {})] * 9 + [app("RUNNING")] + [(503, {})] * 10
    event = event_of(YarnTrigger("spark_default", APPLICATION))
    assert event["state"] == "LOST" and "HTTP 503" in event["problem"]
    assert manager.answers == []


def test_user_who_ends_deferred_task_ends_application(manager: Manager) -> None:
    asyncio.run(YarnTrigger("spark_default", APPLICATION).on_kill())
    assert manager.requests == [f'PUT /ws/v1/cluster/apps/{APPLICATION}/state {{"state": "KILLED"}}']


def test_trigger_is_found_by_its_serialized_place() -> None:
    trigger = YarnTrigger("spark_default", APPLICATION)
    place, arguments = trigger.serialize()
    assert place == "hindsight_trigger.YarnTrigger"
    assert YarnTrigger(**arguments).serialize() == (place, arguments)


def deferred(spark: Path, monkeypatch: pytest.MonkeyPatch) -> TaskDeferred:
    """The deferral of a step whose application was submitted."""
    monkeypatch.setenv("AIRFLOW__OPERATORS__DEFAULT_DEFERRABLE", "True")
    spark.write_text(SUBMIT)
    with pytest.raises(TaskDeferred) as wait:
        execute(task_of(), context())
    return wait.value


def test_step_on_yarn_is_deferred_as_soon_as_it_is_submitted(
    spark: Path, manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    wait = deferred(spark, monkeypatch)
    assert isinstance(wait.trigger, YarnTrigger) and wait.method_name == "conclude"
    assert wait.trigger.serialize()[1] == {"conn_id": "spark_default", "application": APPLICATION}
    assert "spark.yarn.submit.waitAppCompletion=false" in Path(f"{spark}.arguments").read_text()
    assert manager.requests == [], "the triggerer asks"


@pytest.mark.parametrize(
    ("state", "code", "failure"),
    [
        ("SUCCEEDED", 0, None),
        ("FAILED", 42, Refused),
        ("FAILED", 2, AirflowFailException),
        ("FAILED", 1, AirflowException),
        ("LOST", None, AirflowException),
    ],
)
def test_deferred_step_ends_by_state_and_result(
    state: str, code: int | None, failure: type[Exception] | None, spark: Path, manager: Manager,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    wait, task, values = deferred(spark, monkeypatch), task_of(), context()
    values["task"] = task
    task.render_template_fields(values)
    if code is not None:
        leave_result(*task.place, Result(code, ["LOGS names /x."], "application-1"))
    event = {"state": state, "application": APPLICATION, "problem": ""}
    if failure is None:
        getattr(task, wait.method_name)(values, event)
        assert task.application == "application-1"
    else:
        with pytest.raises(failure, match=r"LOGS names /x\." if code else "left no result") as ended:
            getattr(task, wait.method_name)(values, event)
        assert type(ended.value) is failure


@pytest.mark.parametrize("lacking", ["default_deferrable", "address", "cluster mode"])
def test_step_that_cannot_be_deferred_is_waited_for_here(
    lacking: str, spark: Path, manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW__OPERATORS__DEFAULT_DEFERRABLE", str(lacking != "default_deferrable"))
    extra = {"deploy-mode": "client" if lacking == "cluster mode" else "cluster"}
    if lacking != "address":
        extra["yarn_resourcemanager_webapp_address"] = f"127.0.0.1:{manager.server_port}"
    connection = {"conn_type": "spark", "host": "yarn", "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    spark.write_text(SUBMIT)
    execute(task_of(), context())
    assert "waitAppCompletion" not in Path(f"{spark}.arguments").read_text()
