"""The cost of a piece of work: wall time, processor time, memory of the JVM and of Python workers, bytes written.

Read from /proc, for this process and all that it started: Linux only.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

LOOK_EVERY = 1.0
_PR_SET_CHILD_SUBREAPER = 36
_TICKS = os.sysconf("SC_CLK_TCK")


class ProcessUsage(NamedTuple):
    """One process at one moment. `cpu_s` holds its own time and that of the children that it has waited for."""

    pid: int
    role: str
    cpu_s: float
    peak_kib: int
    written_bytes: int


@dataclass
class Usage:
    """The resources used. `worker_mib` is the most of a Python worker below a JVM, `driver_mib` of a process above it.

    A process that a JVM forks shows the JVM's memory as its own until it runs another program: it is a helper.
    """

    wall_s: float = 0.0
    cpu_s: float = 0.0
    jvm_mib: float = 0.0
    worker_mib: float = 0.0
    driver_mib: float = 0.0
    written_mb: float = 0.0
    peaks: dict[str, int] = field(default_factory=dict, repr=False)

    def see(self, processes: list[ProcessUsage]) -> None:
        """Keep the highest peak of each role."""
        for process in processes:
            self.peaks[process.role] = max(self.peaks.get(process.role, 0), process.peak_kib)

    def figures(self) -> dict[str, float]:
        """The figures, as they are kept."""
        names = ("wall_s", "cpu_s", "jvm_mib", "worker_mib", "driver_mib", "written_mb")
        return {name: round(getattr(self, name), 2) for name in names}


def pin(cores: str) -> None:
    """Keep this process, and what it starts from now on, on these cores: `2,3`."""
    os.sched_setaffinity(0, {int(core) for core in cores.split(",")})


def adopt() -> None:
    """From now on what outlives its parent below this process becomes its child, so that it is measured too."""
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


@contextmanager
def metered() -> Iterator[Usage]:
    """Measure what this process and those below it use in the block.

    The peak of memory counts from the process's start: measure it in a process of its own.
    """
    usage, over = Usage(), threading.Event()

    def look() -> None:
        while not over.wait(LOOK_EVERY):
            usage.see(tree(os.getpid()))

    watcher = threading.Thread(target=look, daemon=True)
    before, began = tree(os.getpid()), time.monotonic()
    watcher.start()
    try:
        yield usage
    finally:
        usage.wall_s = time.monotonic() - began
        over.set()
        watcher.join()
        after = tree(os.getpid())
        usage.see(after)
        usage.cpu_s = sum(p.cpu_s for p in after) - sum(p.cpu_s for p in before)
        usage.written_mb = (sum(p.written_bytes for p in after) - sum(p.written_bytes for p in before)) / 1e6
        peaks = {role: kib / 1024 for role, kib in usage.peaks.items()}
        usage.jvm_mib, usage.worker_mib, usage.driver_mib = (peaks.get(r, 0.0) for r in ("jvm", "worker", "driver"))


def tree(pid: int, below_jvm: bool = False) -> list[ProcessUsage]:
    """A process and all below it; one that ends meanwhile is left out."""
    try:
        command = Path(f"/proc/{pid}/comm").read_text().strip()
        is_jvm = command == "java"
        role = "jvm" if is_jvm else "driver" if not below_jvm else "worker" if "python" in command else "helper"
        own = [ProcessUsage(pid, role, _cpu_s(pid), _peak_kib(pid), _bytes_written(pid))]
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [*own, *(process for child in _children(pid) for process in tree(child, below_jvm or is_jvm))]


def _children(pid: int) -> Iterator[int]:
    """Each thread has children of its own; one that ends meanwhile hands them to another."""
    with suppress(FileNotFoundError, ProcessLookupError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with suppress(FileNotFoundError, ProcessLookupError):
                yield from map(int, (task / "children").read_text().split())


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def _peak_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), 0)


def _bytes_written(pid: int) -> int:
    io = Path(f"/proc/{pid}/io").read_text()
    return next(int(line.split()[1]) for line in io.splitlines() if line.startswith("write_bytes:"))
