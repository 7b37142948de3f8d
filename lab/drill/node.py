"""A process of the cluster under control: a broker, a controller, or ZooKeeper."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.drill import processes

_ENDS_WITHIN = 60


class ClusterFault(Exception):
    """A process of the cluster did not do what it was asked; the text holds its last words."""


@dataclass
class Node:
    """One process of the cluster, under control. `environment`: what it is given beside this process's own."""

    name: str
    command: Sequence[str]
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def start(self) -> None:
        """Start the process; a crashed one takes up where it was."""
        if self.is_running():
            raise ClusterFault(f"{self.name} runs already.")
        with (self.folder / f"{self.name}.stdout").open("ab") as out:
            self.process = processes.start(
                self.command,
                stdout=out,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "TZ": "UTC", **self.environment},
            )

    def is_running(self) -> bool:
        """Whether its process lives, paused or not."""
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """Ask it to end, as an operator would: a broker shuts down under control."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Suspend it: it lives and does not answer."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        self._signal(signal.SIGCONT)

    def last_words(self) -> str:
        """The end of what it printed."""
        return (self.folder / f"{self.name}.stdout").read_text(errors="replace")[-2000:]

    def _end(self, how: signal.Signals) -> None:
        self._signal(how)
        assert self.process
        try:
            self.process.wait(_ENDS_WITHIN)
        except subprocess.TimeoutExpired:
            processes.kill(self.process)
            raise ClusterFault(f"{self.name} did not end within {_ENDS_WITHIN} s; it was killed.") from None

    def _signal(self, which: signal.Signals) -> None:
        if not self.is_running():
            raise ClusterFault(f"{self.name} does not run:\n{self.last_words()}")
        assert self.process
        os.killpg(self.process.pid, which)
