"""The application that the steps of a run share: who may hand it a step, and when it ends."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import format_exit_summary
from kafka_hindsight.start.application import AHEAD_VARIABLE, Place, begin, hand_over, place_of, serve

PARENT = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
"""Stands for the JVM: what started the application, and lives as long."""

PROGRAM = """
import os, sys, time
from pathlib import Path
from kafka_hindsight.start.application import Place, serve
from kafka_hindsight.shared.exits import format_exit_summary

def run(step, settings):
    print(step, os.getpid(), flush=True)
    if "dies" in settings:
        os._exit(9)
    if "waits" in settings:
        Path(settings["waits"]).touch()
        time.sleep(60)
    print(*format_exit_summary(step, settings["code"], []), sep="\\n", flush=True)
    return settings["code"]

sys.exit(serve(Place(Path(sys.argv[1]), Path(sys.argv[2])), run, lambda: os._exit(7), idle_seconds=20))
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """In a folder with a short path, which a socket needs; tests have theirs in `tmp_path`."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        found = place_of(["spark-submit"], "/lake", "run-1")
        assert found
        yield found


def hand(place: Place, step: str, settings: str = '{"code": 0}', is_last: bool = False) -> int:
    return hand_over(place, started(place), step, settings, is_last)


def started(place: Place, program: str = PROGRAM) -> list[str]:
    python = [sys.executable, "-c"]
    return [*python, PARENT, *python, program, *map(str, place_words(place))]


def place_words(place: Place) -> tuple[Path, Path]:
    return place.socket, place.log


def pids(said: str) -> list[str]:
    return [line.split()[1] for line in said.splitlines() if line.startswith("step-") and "ends" not in line]


def test_steps_share_one_process_each_hears_its_own_words_and_the_last_one_ends_it(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    assert hand(place, "step-1") == 0
    first = capfd.readouterr().out
    assert hand(place, "step-2", is_last=True) == 0
    second = capfd.readouterr().out
    assert "step-1: ends with exit code 0" in first and "step-1" not in second
    assert pids(first) == pids(second)
    assert not place.socket.exists()


def test_a_step_waits_for_an_application_that_was_started_ahead_and_has_not_listened_yet(
    place: Place, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    ahead = begin(place, started(place, f"import time; time.sleep(1){PROGRAM}"), cwd=HOME)
    monkeypatch.setenv(AHEAD_VARIABLE, place.socket.stem)
    found = place_of(["another-submit"], "/lake", "run-1")
    assert found == place
    assert hand_over(found, ["false"], "step-1", '{"code": 0}', is_last=True) == 0
    assert "step-1: ends with exit code 0" in capfd.readouterr().out
    assert ahead.wait() == 0
    assert place_of(["another-submit"], "/lake", "run-1") != place, "it has ended"


def test_an_application_that_was_started_ahead_and_died_is_replaced(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = begin(place, ["sleep", "0.5"])
    monkeypatch.setenv(AHEAD_VARIABLE, place.socket.stem)
    assert place_of(["another-submit"], "/lake", "run-1") == place
    assert hand(place, "step-1", is_last=True) == 0
    assert dying.wait() == 0


def test_what_can_be_done_ahead_is_done_piece_by_piece_until_a_step_comes(place: Place) -> None:
    done = []

    def spare() -> Iterator[None]:
        for piece in range(3):
            done.append(piece)
            yield

    assert serve(place, lambda *_: 0, lambda: None, idle_seconds=1.5, spare=spare()) == 0
    assert done == [0, 1, 2]


@pytest.mark.parametrize("code", [1, 2, 42])
def test_a_retry_has_a_new_process(code: int, place: Place, capfd: pytest.CaptureFixture[str]) -> None:
    assert hand(place, "step-1", f'{{"code": {code}}}') == code
    assert hand(place, "step-1", is_last=True) == 0
    assert len(set(pids(capfd.readouterr().out))) == 2


def test_a_process_that_dies_is_a_fault_and_the_next_step_has_a_new_one(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    assert hand(place, "step-1", '{"dies": true}') == 1
    assert "Spark ended before step-1 was done" in capfd.readouterr().out
    assert place.socket.exists(), "what was killed leaves its socket behind"
    assert hand(place, "step-1", is_last=True) == 0


def test_a_program_that_cannot_start_ends_the_step_with_its_own_exit_code(
    place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    assert hand_over(place, ["sh", "-c", "echo no Java; exit 3"], "step-1", "{}", False) == 3
    assert hand_over(place, ["sh", "-c", "kill -9 $$"], "step-1", "{}", False) == -9
    assert hand_over(place, ["true"], "step-1", "{}", False) == 1
    assert "no Java" in capfd.readouterr().out


def test_the_step_ends_with_its_task(place: Place, tmp_path: Path) -> None:
    """A task that is killed leaves nothing running: the lake's lock is free for the retry."""
    settings = f'{{"waits": "{tmp_path}/begun"}}'
    call = f"from tests.unit.test_application import *; hand(Place{place_words(place)!r}, 'step-1', {settings!r})"
    paths = "from pathlib import PosixPath; "
    task = subprocess.Popen([sys.executable, "-c", paths + call], cwd=HOME, env={**os.environ, "PYTHONPATH": str(HOME)})
    try:
        until(lambda: (tmp_path / "begun").exists())
    finally:
        task.kill()
    until(lambda: not listens(place))


def listens(place: Place) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(str(place.socket)) == 0


def until(seen: Any) -> None:
    for _ in range(600):
        if seen():
            return
        threading.Event().wait(0.1)
    raise AssertionError("it did not come")


def test_it_ends_when_no_step_comes(place: Place) -> None:
    assert serve(place, lambda *_: 0, lambda: None, idle_seconds=0.3) == 0
    assert not place.socket.exists()


def test_a_look_at_the_socket_is_no_step(place: Place) -> None:
    ran: list[str] = []

    def run(step: str, _: Any) -> int:
        ran.append(step)
        print(*format_exit_summary(step, 0, []), sep="\n")
        return 0

    thread = threading.Thread(target=serve, args=(place, run, lambda: None, 1.0))
    thread.start()
    until(lambda: listens(place))
    thread.join()
    assert ran == []


def test_no_other_user_can_reach_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = place.socket.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    assert place_of(["spark-submit"], "/lake", "run-1") is None, "others may look in"
    folder.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    folder.with_name(f"hindsight-{os.getuid()}").symlink_to(folder)
    assert place_of(["spark-submit"], "/lake", "run-1") is None, "a stranger made the folder before us"


def test_another_run_lake_or_way_of_starting_spark_has_its_own(place: Place) -> None:
    others = [(["spark-submit"], "/lake", "run-2"), (["spark-submit"], "/other", "run-1"), (["-"], "/lake", "run-1")]
    assert len({place, *(place_of(*other) for other in others)}) == 4


def test_a_path_that_no_socket_takes_shares_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    assert place_of(["spark-submit"], "/lake", "run-1") is None
    with pytest.raises(OSError), socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{deep}/socket")
