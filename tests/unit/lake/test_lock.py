"""One holder of a lock at a time."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from kafka_hindsight.lake.claims import hold_cluster
from kafka_hindsight.lake.lock import LakeBusy, hold_lock, is_held
from kafka_hindsight.shared.exits import BadInput

HOLDER = """
import sys, time
from kafka_hindsight.lake.lock import hold_lock
with hold_lock(sys.argv[1], "step", "run-of-another"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_second_run_is_refused_with_holders_name_until_the_holder_dies(tmp_path: Path) -> None:
    other = subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, cwd=Path.cwd())
    try:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(LakeBusy, match=rf"run-of-another \(process {other.pid} on ") as refusal:
            hold_lock(str(tmp_path), "step", "mine").__enter__()
        assert str(tmp_path) in str(refusal.value)
    finally:
        other.kill()
        other.wait()
    with hold_lock(str(tmp_path), "step", "mine"):
        assert "mine" in (tmp_path / "locks" / "step").read_text()


def test_waiting_run_gets_the_lake_when_its_holder_ends(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken, ended = threading.Event(), threading.Event()

    def hold() -> None:
        with hold_lock(str(tmp_path), "step", "the-hourly-one"):
            taken.set()
            time.sleep(0.7)
            ended.set()

    other = threading.Thread(target=hold)
    other.start()
    taken.wait()
    with hold_lock(str(tmp_path), "step", "the-nightly-one", timedelta(minutes=1)):
        assert ended.is_set()
    other.join()
    assert capsys.readouterr().out.count("in use by run the-hourly-one") == 1


def test_waiting_run_gives_up_after_its_patience(tmp_path: Path) -> None:
    began = time.monotonic()
    patience = timedelta(seconds=0.6)
    with (
        hold_lock(str(tmp_path), "step", "one"),
        pytest.raises(LakeBusy, match="wait until it ends, or give another LAKE"),
    ):
        hold_lock(str(tmp_path), "step", "two", patience).__enter__()
    assert time.monotonic() - began >= patience.total_seconds()


def test_unwritable_lake_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"), hold_lock(str(tmp_path / "file"), "step", "mine"):
        pass


def test_lake_is_held_while_a_run_holds_one_of_its_locks(tmp_path: Path) -> None:
    assert not is_held(str(tmp_path))
    with hold_lock(str(tmp_path), "step", "one"):
        assert is_held(str(tmp_path))
    assert not is_held(str(tmp_path))


def test_runs_of_two_clusters_hold_theirs_at_once(tmp_path: Path) -> None:
    with hold_cluster(str(tmp_path), "prod", "one"), hold_cluster(str(tmp_path), "test", "two"):
        assert {p.name for p in (tmp_path / "locks").iterdir()} == {"cluster-prod", "cluster-test"}
