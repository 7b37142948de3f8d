"""Transactional producers, one process each."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kafka_hindsight.settings.home import HOME
from lab.drill import processes
from lab.drill.libraries import ENVIRONMENT
from lab.drill.members import MemberFault

DONE = "done"
_ANSWERS_WITHIN = 120


class TransactionalProducer:
    """A producer in a process of its own, which has its producer id when it is made."""

    def __init__(self, log: Path, config: Mapping[str, str]) -> None:
        with log.open("ab") as stderr:
            self._process = processes.start(
                [sys.executable, "-m", "lab.drill.transactional_producer"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=HOME,
                env={**os.environ, **ENVIRONMENT},
                text=True,
            )
        self._answers: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        if (said := self.ask(config)) != DONE:
            raise MemberFault(f"{config['transactional.id']} could not begin: {said}.")

    def ask(self, what: Mapping[str, Any]) -> str:
        """What it answers: DONE, or the name of the error. Raises: MemberFault where it does not answer."""
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()
            return self._answers.get(timeout=_ANSWERS_WITHIN)
        except (BrokenPipeError, queue.Empty):
            raise MemberFault(f"A transactional producer did not answer {what.get('do', 'its start')}.") from None

    def pause(self) -> None:
        """Its process is stopped (SIGSTOP)."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Its process goes on (SIGCONT)."""
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Kills its process."""
        processes.kill(self._process)

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            self._answers.put(line.strip())
