"""Programs that do what they are asked, one process each: producers, and the canaries."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kafka_hindsight.settings.home import HOME
from lab.drill import processes
from lab.drill.libraries import ENVIRONMENT
from lab.drill.members import MemberFault

DONE = "done"
_ANSWERS_WITHIN = 120

CANARY = "canary.jsonl"
"""What canaries measured, in the folder of a drill."""


class Program:
    """A program in a process of its own, which answers each line of JSON with a line.

    Threads may share it. It raises MemberFault where the process does not answer.
    """

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._command = command
        with log.open("ab") as stderr:
            self._process = processes.start(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=HOME,
                env={**os.environ, **ENVIRONMENT},
                text=True,
            )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    def ask(self, what: Mapping[str, Any]) -> str:
        """Send a line. Returns the answer: DONE, or the name of the error."""
        assert self._process.stdin
        try:
            with self._lock:
                self._process.stdin.write(json.dumps(what) + "\n")
                self._process.stdin.flush()
                return self._answers.get(timeout=_ANSWERS_WITHIN)
        except (BrokenPipeError, queue.Empty):
            raise MemberFault(f"{' '.join(self._command)} did not answer {what.get('do', 'its start')}.") from None

    def finish(self) -> None:
        """End its input, and wait until it has ended by itself."""
        with suppress(subprocess.TimeoutExpired):
            self._process.communicate(timeout=_ANSWERS_WITHIN)

    def end(self) -> None:
        """Kills its process."""
        processes.kill(self._process)

    def _listen(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line.strip())


class TransactionalProducer(Program):
    """A producer which has its producer id when it is made."""

    def __init__(self, log: Path, config: Mapping[str, str]) -> None:
        super().__init__((sys.executable, "-m", "lab.drill.transactional_producer"), log)
        if (answer := self.ask(config)) != DONE:
            raise MemberFault(f"{config['transactional.id']} could not begin: {answer}.")

    def pause(self) -> None:
        """Its process is stopped (SIGSTOP)."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Its process goes on (SIGCONT)."""
        self._process.send_signal(signal.SIGCONT)


class CanaryProgram(Program):
    """The canaries of a drill (lab.drill.canary)."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        command = (sys.executable, "-m", "lab.drill.canary", bootstrap, str(folder / CANARY))
        super().__init__(command, folder / "canary.log")

    def watch(self, topic: str, partitions: range) -> None:
        """Start canaries on partitions."""
        self.ask({"do": "watch", "topic": topic, "partitions": [*partitions]})

    def leave(self, topic: str) -> None:
        """Stop the canaries of a topic; it is swept at the end."""
        self.ask({"do": "leave", "topic": topic})

    def forget(self, topic: str) -> None:
        """Stop the canaries of a topic that is about to be deleted."""
        self.ask({"do": "forget", "topic": topic})

    def sweep(self) -> None:
        """Looks for acknowledged records that are missing, before the end."""
        self.ask({"do": "sweep"})


@contextmanager
def canaries(bootstrap: str, folder: Path) -> Iterator[CanaryProgram]:
    """Canaries for as long as the block lasts; at its end they sweep. A block that raises has no sweep."""
    flock = CanaryProgram(bootstrap, folder)
    try:
        yield flock
        flock.finish()
    finally:
        flock.end()
