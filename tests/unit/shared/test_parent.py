"""A process ends when the one that waits for it has ended, and commits nothing more."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared import parent
from kafka_hindsight.shared.exits import FAULT

WAITING = """
import os, subprocess, sys, time
from kafka_hindsight.shared import parent
code = "import time; from kafka_hindsight.shared import parent; parent.watch(); print(1, flush=True); time.sleep(600)"
child = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, **parent.as_parent()}, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""


def test_step_ends_after_a_kill_of_the_process_that_waits_for_it() -> None:
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    waiting = subprocess.Popen([sys.executable, "-c", WAITING], env=environment, stdout=subprocess.PIPE, text=True)
    assert waiting.stdout
    child = int(waiting.stdout.readline())
    waiting.kill()
    until = time.monotonic() + 60
    while parent.is_alive(child) and time.monotonic() < until:
        time.sleep(0.1)
    waiting.wait()
    assert not parent.is_alive(child)


def dead_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_process_whose_parent_is_gone_ends_before_it_commits(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = list[int]()
    monkeypatch.setattr(os, "_exit", codes.append)
    for name, value in (("nobody", ""), ("elsewhere", f"{dead_process()}@another-machine"), ("us", "")):
        monkeypatch.setenv(parent.VARIABLE, value or parent.as_parent()[parent.VARIABLE] if name == "us" else value)
        parent.end_if_alone()
    assert codes == []
    monkeypatch.setenv(parent.VARIABLE, f"{dead_process()}@{socket.gethostname()}")
    parent.end_if_alone()
    assert codes == [FAULT]
    assert "The process that waited for this step has ended" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux shows the state of a process")
def test_process_that_was_not_asked_for_its_end_counts_as_gone() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    until = time.monotonic() + 60
    while parent.is_alive(process.pid) and time.monotonic() < until:
        time.sleep(0.05)
    assert not parent.is_alive(process.pid)
    process.wait()
