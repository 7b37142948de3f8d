"""The Spark application that the steps of one run share: where it listens, how a step is handed to it, when it ends.

The first step starts it, or `hindsight audit` before it; the last one ends it. Each step keeps a connection open as
long as its task lives: where the connection breaks, the step was killed, and the application ends with it. Standard
library only: Airflow's side and Spark's side load this.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from kafka_hindsight.shared.exits import DONE, FAULT, ends_line
from kafka_hindsight.start import launch

IDLE_SECONDS = 120.0
"""How long an application waits for the next step. A scheduler hands it over in seconds; a step that comes later
starts an application of its own."""

_LOOK_EVERY = 0.2
_LAST_WORDS = 2.0
"""Seconds in which the end of a step's log arrives after its exit code: the words pass through the JVM."""
_TAKEN = b"+"
"""What an application answers when it takes a step, before it begins."""

AHEAD_VARIABLE = "HINDSIGHT_SPARK_AHEAD"
"""Names the application that was started ahead of the run's first step."""

_LONGEST_PATH = 100
"""Bytes of a socket's path: systems take about as many."""


@dataclass(frozen=True)
class Place:
    """Where one application listens, and where everything it says goes."""

    socket: Path
    log: Path

    @classmethod
    def of(cls, folder: Path, name: str) -> Place:
        """The place of an application in a folder."""
        return cls(folder / f"{name}.socket", folder / f"{name}.log")


def place_of(command: Sequence[str], lake: str, run_id: str) -> Place | None:
    """Where the application of a run listens: one for each lake, run and way of starting Spark.

    Gives: None where this user has no folder of its own for it: other users could then hand it steps.
    """
    folder = launch.private_folder()
    if folder is None:
        return None
    ahead = os.environ.get(AHEAD_VARIABLE)
    if ahead and _is_alive(place := Place.of(folder, ahead)):
        return place
    name = hashlib.sha256(json.dumps([lake, run_id, *command]).encode()).hexdigest()[:24]
    place = Place.of(folder, name)
    return place if len(str(place.socket)) <= _LONGEST_PATH else None


def begin(place: Place, command: Sequence[str], **how: Any) -> subprocess.Popen[bytes]:
    """Starts an application, in a process made as `how` says.

    Keeps: its log is locked as long as its JVM lives, so that a step which finds the log can tell.
    """
    place.log.unlink(missing_ok=True)
    with place.log.open("wb") as words:
        fcntl.flock(words, fcntl.LOCK_EX)
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=words, stderr=subprocess.STDOUT, **how)


def hand_over(place: Place, start: Sequence[str], step: str, settings: str, is_last: bool) -> int:
    """Runs a step in the application of its run, which is started where it does not listen.

    Takes: the command that starts it; the settings as JSON. What the application says goes to stdout.
    Gives: the step's exit code; the application's own where it ended before it listened.
    """
    request = json.dumps({"step": step, "settings": settings, "is_last": is_last}).encode() + b"\n"
    with contextlib.suppress(FileNotFoundError), place.log.open("rb") as log:
        log.seek(0, os.SEEK_END)
        while _is_locked(log):
            if connection := _taken(place, request):
                return _relayed(connection, log, step)
            time.sleep(_LOOK_EVERY)
    process = begin(place, start)
    with place.log.open("rb") as log:
        while process.poll() is None:
            if connection := _taken(place, request):
                return _relayed(connection, log, step)
            _say(log.read())
            time.sleep(_LOOK_EVERY)
        _say(log.read())
    place.log.unlink()
    return process.returncode or FAULT


def _is_alive(place: Place) -> bool:
    with contextlib.suppress(FileNotFoundError), place.log.open("rb") as log:
        return _is_locked(log)
    return False


def _is_locked(log: IO[bytes]) -> bool:
    """Whether the application whose words a log takes has not ended."""
    try:
        fcntl.flock(log, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    fcntl.flock(log, fcntl.LOCK_UN)
    return False


def _taken(place: Place, request: bytes) -> socket.socket | None:
    """The connection to an application that takes the step; None where none does, or where one ends just now."""
    connection = socket.socket(socket.AF_UNIX)
    with contextlib.suppress(OSError):
        connection.connect(str(place.socket))
        connection.sendall(request)
        if connection.recv(len(_TAKEN)) == _TAKEN:
            return connection
    connection.close()
    return None


def _relayed(connection: socket.socket, log: IO[bytes], step: str) -> int:
    """Passes the application's words on until the step ends. Gives: its exit code; FAULT where the application died."""
    answer = b""
    with connection:
        while not select.select([connection], [], [], _LOOK_EVERY)[0]:
            _say(log.read())
        with contextlib.suppress(ConnectionError):
            answer = connection.recv(64)
    if not answer:
        _say(log.read())
        print(f"Spark ended before {step} was done: it was killed, or memory ran out.", flush=True)
        return FAULT
    code, said = int(answer), b""
    until = time.monotonic() + _LAST_WORDS
    while ends_line(step, code).encode() not in said and time.monotonic() < until:
        said += _say(log.read())
        time.sleep(_LOOK_EVERY / 10)
    return code


def _say(words: bytes) -> bytes:
    sys.stdout.buffer.write(words)
    sys.stdout.buffer.flush()
    return words


@dataclass
class Request:
    """One step that the application was handed."""

    step: str
    settings: dict[str, Any]
    is_last: bool
    _connection: socket.socket
    _is_answered: threading.Event = field(default_factory=threading.Event)

    def answer(self, code: int) -> None:
        """Gives the step's exit code to its task."""
        self._is_answered.set()
        self._connection.sendall(str(code).encode())

    def watch(self, abandon: Callable[[], None]) -> None:
        """Abandons the step, from a thread of its own, where its task ends before it was answered."""

        def wait() -> None:
            with contextlib.suppress(OSError):
                self._connection.recv(1)
            if not self._is_answered.is_set():
                abandon()

        threading.Thread(target=wait, daemon=True).start()


def serve(
    place: Place,
    run: Callable[[str, dict[str, Any]], int],
    abandon: Callable[[], None],
    idle_seconds: float = IDLE_SECONDS,
    spare: Iterable[None] = (),
) -> int:
    """Runs the steps that it is handed, one after another, and gives the last one's exit code.

    Takes: `spare`, what can be done while no step is there, piece by piece.

    It ends after the run's last step; after a step that failed, since a retry deserves a new JVM; when no step comes
    for `idle_seconds`; when the process that started it ends. `abandon` ends it in the middle of a step.
    """
    code = DONE
    place.socket.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(place.socket))
        server.listen()
        for request in _requests(server, idle_seconds, iter(spare)):
            request.watch(abandon)
            code = run(request.step, request.settings)
            if request.is_last or code != DONE:
                withdraw(place)
                request.answer(code)
                return code
            request.answer(code)
    withdraw(place)
    return code


def _requests(server: socket.socket, idle_seconds: float, spare: Iterator[None]) -> Iterator[Request]:
    parent = os.getppid()
    server.settimeout(_LOOK_EVERY)
    idle_since = time.monotonic()
    while os.getppid() == parent and time.monotonic() - idle_since < idle_seconds:
        try:
            connection, _ = server.accept()
        except TimeoutError:
            next(spare, None)
            continue
        with connection:
            connection.settimeout(None)
            line = connection.makefile("rb").readline()
            if line:
                given = json.loads(line)
                connection.sendall(_TAKEN)
                yield Request(given["step"], json.loads(given["settings"]), given["is_last"], connection)
        idle_since = time.monotonic()


def withdraw(place: Place) -> None:
    """From here on a step finds no application, and starts one."""
    place.socket.unlink(missing_ok=True)
    place.log.unlink(missing_ok=True)
