"""The lock of a lake in an object store: one holder at a time, and none that is dead."""

from __future__ import annotations

import json
import threading
import time
from datetime import timedelta
from typing import Any

import obstore
import pytest
from obstore.store import MemoryStore

from kafka_hindsight.lake import lock as object_lock
from kafka_hindsight.lake.lock import LakeBusy, LockWait, hold_object
from kafka_hindsight.shared.exits import BadInput

LAKE = "s3://lakes/kafka"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """A store that compares ETags as S3 does, and a clock that runs fast."""
    store = MemoryStore()
    monkeypatch.setattr(object_lock, "from_url", lambda *_, **__: store)
    for name, seconds in (("RENEWED_EVERY", 0.1), ("DEAD_AFTER", 1.0), ("_ASK_EVERY", 0.02)):
        monkeypatch.setattr(object_lock, name, seconds)
    return store


def run(name: str) -> dict[str, Any]:
    return {"run_id": name, "pid": 7, "host": "worker-1", "since": "2026-11-22T01:00:00+00:00"}


def waiting(seconds: float = 0) -> LockWait:
    return LockWait(LAKE, timedelta(seconds=seconds))


def holder_in(store: MemoryStore) -> Any:
    return json.loads(bytes(obstore.get(store, "step").bytes()))


def test_lock_names_its_holder_and_is_released(store: MemoryStore) -> None:
    for name in ("one", "two"):
        with hold_object(LAKE, "step", run(name), waiting()):
            assert holder_in(store)["run_id"] == name
        assert holder_in(store) == {}


def test_second_run_is_refused_with_holders_name(store: MemoryStore) -> None:
    message = r"in use by run one \(process 7 on worker-1, since 2026-11-22T01:00:00\+00:00\). One run at a time"
    second = hold_object(LAKE, "step", run("two"), waiting())
    with hold_object(LAKE, "step", run("one"), waiting()), pytest.raises(LakeBusy, match=message), second:
        raise AssertionError("two runs hold the lock")


def test_waiting_run_gets_the_lock_on_release(store: MemoryStore) -> None:
    order: list[str] = []

    def second() -> None:
        with hold_object(LAKE, "step", run("two"), waiting(60)):
            order.append("two begins")

    other = threading.Thread(target=second)
    with hold_object(LAKE, "step", run("one"), waiting()):
        other.start()
        time.sleep(0.5)
        order.append("one ends")
    other.join()
    assert order == ["one ends", "two begins"]


def test_holder_without_heartbeat_is_replaced(store: MemoryStore) -> None:
    obstore.put(store, "step", json.dumps({**run("killed"), "signs": 3}).encode())
    with hold_object(LAKE, "step", run("two"), waiting()):
        assert holder_in(store)["run_id"] == "two"


def test_long_run_renews_its_lock(store: MemoryStore) -> None:
    with hold_object(LAKE, "step", run("one"), waiting()):
        while holder_in(store)["signs"] <= 5:
            time.sleep(0.05)
        assert holder_in(store)["run_id"] == "one"


def test_run_that_lost_its_lock_ends_at_once(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    monkeypatch.setattr(object_lock._Lock, "_give_up", lambda _: ended.set())
    with hold_object(LAKE, "step", run("one"), waiting()):
        obstore.put(store, "step", json.dumps({**run("two"), "signs": 1}).encode())
        assert ended.wait()
    assert holder_in(store)["run_id"] == "two", "the other one's lock is not set free"


def test_one_of_many_runs_holds_the_lock_at_a_time(store: MemoryStore) -> None:
    inside, most = 0, 0

    def work(n: int) -> None:
        nonlocal inside, most
        with hold_object(LAKE, "step", run(str(n)), waiting(60)):
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
    monkeypatch.setattr(object_lock, "_RETRIES", {"max_retries": 0, "retry_timeout": timedelta(seconds=1)})
    message = f"The lake {LAKE} cannot be written: .*Needed: a store"
    with pytest.raises(BadInput, match=message) as refused, hold_object(LAKE, "step", run("one"), waiting()):
        raise AssertionError("nothing was there")
    assert "verysecret" not in str(refused.value)
