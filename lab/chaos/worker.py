"""A warm process that runs steps as it is asked, on its own or with Spark, and can be stopped and killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start import launch

if TYPE_CHECKING:
    from kafka_hindsight.engine.workers import Workers

_SPARK = {"spark.sql.shuffle.partitions": "2"}

DEAD_AFTER = "CHAOS_DEAD_AFTER"
"""The variable that names the seconds after which a holder of a lock in a store counts as dead."""

KILLED = -signal.SIGKILL
"""The exit code of a process that was killed."""


class StepEnd(NamedTuple):
    """How a step ended: its exit code and its sentences, as `hindsight` would say them."""

    code: int
    sentences: list[str]

    @property
    def text(self) -> str:
        """The first sentence."""
        return self.sentences[0] if self.sentences else ""


class Worker:
    """The process that runs `module`, and those below it: Java, where a step needs Spark. `also`: more variables."""

    def __init__(
        self, folder: Path, module: str = "lab.chaos.worker", also: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._folder, self._module, self._also = folder, module, also
        self._is_closed = False
        folder.mkdir(parents=True, exist_ok=True)
        self._start()

    def run(self, step: str, settings: dict[str, Any], meanwhile: Callable[[], None] | None = None) -> StepEnd:
        """Run a step to its end. `meanwhile` is called again and again until it ended.

        The exit code is KILLED where the process was killed.
        """
        assert self._process.stdin is not None
        self._answer.unlink(missing_ok=True)
        self._process.stdin.write(json.dumps({"step": step, "settings": settings}) + "\n")
        self._process.stdin.flush()
        while self._process.poll() is None and not self._answer.exists():
            if meanwhile:
                meanwhile()
            else:
                time.sleep(0.05)
        is_done = self._answer.exists()
        answer = StepEnd(**json.loads(self._answer.read_text())) if is_done else StepEnd(KILLED, ["killed"])
        if self._process.poll() is not None and not self._is_closed:
            self._start()
        return answer

    def do(self, step: str, settings: dict[str, Any], meanwhile: Callable[[], None] | None = None) -> None:
        """Run a step that nothing disturbs. Raises RuntimeError where it fails."""
        if sentences := self.run(step, settings, meanwhile).sentences:
            raise RuntimeError(f"{step} failed undisturbed: {sentences}")

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """All its processes stand still in the block: what lies on disk is what a kill would leave."""
        os.killpg(self._process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End all its processes as a kill -9 does."""
        process = self._process  # `run`, in another thread, starts the next one as soon as this one has ended
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def start_again(self) -> None:
        """End all its processes, and start it once more."""
        self.kill()
        self._start()

    @property
    def process_id(self) -> int:
        """The process that runs steps. It leads the group of all that it starts."""
        return self._process.pid

    def close(self) -> None:
        """End it for good: a step that another thread waits for counts as killed."""
        self._is_closed = True
        self.kill()

    def _start(self) -> None:
        self._answer = self._folder / "answer.json"
        with (self._folder / "worker.log").open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module, str(self._answer)],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
                env={**os.environ, **launch.spark_variables(), "PYTHONPATH": str(HOME), **self._also},
            )


def main(answer: Path) -> None:
    """Run the steps that stdin names, one a line, and write how each ended."""
    from kafka_hindsight.catalog.steps import BY_NAME
    from kafka_hindsight.engine.local import LocalWorkers
    from kafka_hindsight.settings.models import Settings
    from kafka_hindsight.shared.exits import DONE, exit_code, sentences_of
    from kafka_hindsight.steps.run import perform

    time.tzset()
    if dead_after := os.environ.get(DEAD_AFTER):
        hasten_locks(float(dead_after))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            settings = Settings.of(request["settings"])
            workers = _spark_workers() if settings.engine == "spark" else LocalWorkers()
            perform(BY_NAME[request["step"]], settings, workers)
            result = StepEnd(DONE, [])
        except Exception as error:
            traceback.print_exc()
            result = StepEnd(exit_code(error), sentences_of(error))
        being_written = answer.with_suffix(".tmp")
        being_written.write_text(json.dumps(result._asdict()))
        being_written.rename(answer)


def hasten_locks(dead_after: float) -> None:
    """Make holders of locks die sooner in this process, in the proportions of a night."""
    from kafka_hindsight.lake import lock, lock_states

    share = dead_after / lock_states.DEAD_AFTER
    lock_states.DEAD_AFTER = dead_after
    lock.RENEWED_EVERY *= share
    lock._ASK_EVERY *= share


def _spark_workers() -> Workers:
    """Spark's workers, those of a master that is configured or of this process. Its session is started once."""
    from spark_jobs import session
    from spark_jobs.spark_run import SparkWorkers

    if not session.running():
        session.start("chaos", None if launch.names_master() else launch.DEFAULT_MASTER, _SPARK)
    return SparkWorkers()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
