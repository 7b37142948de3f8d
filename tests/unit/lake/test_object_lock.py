"""The lock of a lake in an object store: one holder at a time, and none that is dead."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from contextlib import AbstractContextManager
from datetime import timedelta
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.store import MemoryStore

from kafka_hindsight.lake import lock as object_lock
from kafka_hindsight.lake import lock_states, objects
from kafka_hindsight.lake.landing import write_atomically
from kafka_hindsight.lake.lock import LakeBusy, hold_lock
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.exits import BadInput
from tests.support import writer

LAKE = "s3://lakes/kafka"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """A store that compares ETags as S3 does, and a clock that runs fast."""
    store = MemoryStore()
    monkeypatch.setattr(objects, "from_url", lambda *_, **__: store)
    for name, seconds in (("RENEWED_EVERY", 0.1), ("_ASK_EVERY", 0.02)):
        monkeypatch.setattr(object_lock, name, seconds)
    monkeypatch.setattr(lock_states, "DEAD_AFTER", 1.0)
    return store


def hold(run_id: str, seconds: float = 0, **more: Any) -> AbstractContextManager[None]:
    return hold_lock(LAKE, "step", run_id, timedelta(seconds=seconds), **more)


def holder_in(store: MemoryStore) -> Any:
    return json.loads(bytes(obstore.get(store, "step").bytes()))


def test_lock_names_its_holder_and_is_released(store: MemoryStore) -> None:
    for name in ("one", "two"):
        with hold(name):
            assert holder_in(store)["run_id"] == name
        assert holder_in(store) == {}


def test_second_run_is_refused_with_holders_name(store: MemoryStore) -> None:
    message = rf"in use by run one \(process {os.getpid()} on .*, since .*\)\. One run at a time"
    second = hold("two")
    with hold("one"), pytest.raises(LakeBusy, match=message), second:
        raise AssertionError("two runs hold the lock")


def test_waiting_run_gets_the_lock_on_release(store: MemoryStore) -> None:
    order: list[str] = []

    def second() -> None:
        with hold("two", 60):
            order.append("two begins")

    other = threading.Thread(target=second)
    with hold("one"):
        other.start()
        time.sleep(0.5)
        order.append("one ends")
    other.join()
    assert order == ["one ends", "two begins"]


def test_holder_without_heartbeat_is_replaced(store: MemoryStore) -> None:
    obstore.put(store, "step", json.dumps({"run_id": "killed", "token": "k", "signs": 3}).encode())
    succeeded: list[str] = []
    with hold("two", succeed=lambda: succeeded.append("two")):
        assert holder_in(store)["run_id"] == "two"
        assert succeeded == ["two"]


def test_next_one_succeeds_a_run_that_failed_at_once(store: MemoryStore) -> None:
    succeeded: list[str] = []
    with pytest.raises(MemoryError), hold("one", succeed=lambda: succeeded.append("one")):
        raise MemoryError
    with hold("two", succeed=lambda: succeeded.append("two")):
        assert succeeded == ["two"]
    assert holder_in(store) == {}


def test_long_run_renews_its_lock(store: MemoryStore) -> None:
    with hold("one"):
        while holder_in(store)["signs"] <= 5:
            time.sleep(0.05)
        assert holder_in(store)["run_id"] == "one"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_run_that_lost_its_lock_ends_at_once(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    def end(name: str) -> None:
        ended.set()
        sys.exit()

    monkeypatch.setattr(object_lock, "_give_up", end)
    with hold("one"):
        obstore.put(store, "step", json.dumps({"run_id": "two", "token": "t"}).encode())
        assert ended.wait()
    assert holder_in(store)["run_id"] == "two", "the other one's lock is not set free"


def test_one_of_many_runs_holds_the_lock_at_a_time(store: MemoryStore) -> None:
    inside, most = 0, 0

    def work(n: int) -> None:
        nonlocal inside, most
        with hold(str(n), 60):
            inside += 1
            most = max(most, inside)
            time.sleep(0.05)
            inside -= 1

    workers = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert most == 1


def test_unreachable_store_is_one_sentence_without_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "verysecret")
    monkeypatch.setattr(objects, "_RETRIES", {"max_retries": 0, "retry_timeout": timedelta(seconds=1)})
    message = f"The lake {LAKE} cannot be written: .*Needed: a store"
    with pytest.raises(BadInput, match=message) as refused, hold("one"):
        raise AssertionError("nothing was there")
    assert "verysecret" not in str(refused.value)


class Ended(BaseException):
    """In the place of the end of a process."""


@pytest.mark.parametrize("is_commit", [True, False], ids=["commit", "file"])
def test_run_that_stood_still_ends_before_its_next_write(
    store: MemoryStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_commit: bool
) -> None:
    def end(name: str) -> None:
        raise Ended

    monkeypatch.setattr(object_lock, "RENEWED_EVERY", 600)
    monkeypatch.setattr(object_lock, "_give_up", end)
    lake = Store(str(tmp_path))
    lake.create(writer.EVENTS)
    with pytest.raises(Ended), hold("one"):
        writer.write(lake, "one", 0)
        version = lake.version(writer.EVENTS)
        obstore.put(store, "step", json.dumps({"run_id": "two", "token": "t"}).encode())
        if is_commit:
            lake.append(writer.EVENTS, lake.files(writer.EVENTS))
        write_atomically(str(tmp_path / "file"), "late")
    assert lake.version(writer.EVENTS) == version
    assert not (tmp_path / "file").exists()
