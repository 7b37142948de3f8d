"""Every process that a drill starts is known here, so that all of them can be ended at once."""

from __future__ import annotations

import os
import signal
import subprocess
import weakref
from collections.abc import Sequence
from typing import Any

_DIES_WITHIN = 10
_processes: weakref.WeakSet[subprocess.Popen[Any]] = weakref.WeakSet()


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """Start a process in a session of its own: Ctrl-C in a terminal reaches the drill alone, which ends the rest.

    What the process starts in turn is of its group, and ends with it.
    """
    process = subprocess.Popen(command, start_new_session=True, **options)
    _processes.add(process)
    return process


def kill(process: subprocess.Popen[Any]) -> None:
    """End a process and its children at once, suspended or not; one that has ended is left alone."""
    _kill_group(process)
    process.wait(_DIES_WITHIN)


def kill_all() -> None:
    """End every process that was started and still lives. Whoever waits for one of them is answered by its end."""
    alive = [process for process in _processes if process.poll() is None]
    for process in alive:
        _kill_group(process)
    for process in alive:
        process.wait(_DIES_WITHIN)


def _kill_group(process: subprocess.Popen[Any]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
