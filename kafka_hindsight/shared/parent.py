"""The process that waits for a step. When it has ended, the step ends too, before it commits anything more.

A kill of `hindsight audit`, or of Airflow's task, would otherwise leave a step that publishes a run that has failed.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

from kafka_hindsight.shared.exits import FAULT

VARIABLE = "HINDSIGHT_PARENT"
"""The variable that names the process: its id, and the machine on which it runs."""

_ASK_EVERY = 1.0
_GONE = ("Z", "X")
"""States of a process that has ended and that its own parent has not asked for yet."""


def as_parent() -> dict[str, str]:
    """Give the variables by which a process that we start knows that we wait for it."""
    return {VARIABLE: f"{os.getpid()}@{socket.gethostname()}"}


@cache
def watch() -> None:
    """End this process soon after the one that waits for it has ended. Without such a process nothing is watched."""
    if _waiting_process() is not None:
        threading.Thread(target=_watch, daemon=True).start()


def end_if_alone() -> None:
    """End this process, as a kill would end it, if the one that waits for it has ended."""
    process = _waiting_process()
    if process is not None and not is_alive(process):
        print("The process that waited for this step has ended: the step ends too.", file=sys.stderr, flush=True)
        os._exit(FAULT)


def _watch() -> None:
    while True:
        end_if_alone()
        time.sleep(_ASK_EVERY)


def _waiting_process() -> int | None:
    """The id of the process that waits for us; None if there is none on this machine."""
    process, _, machine = os.environ.get(VARIABLE, "").partition("@")
    return int(process) if process.isdigit() and machine == socket.gethostname() else None


def is_alive(process: int) -> bool:
    """Whether a process of this machine has not ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    with suppress(OSError):  # only Linux shows the state
        state = Path(f"/proc/{process}/stat").read_text(errors="replace").rpartition(") ")[2][:1]
        return state not in _GONE
    return True
