"""A process beside ours that loads Great Expectations, which takes seconds, while the night is read and judged."""

from __future__ import annotations

import atexit
import sys
from collections.abc import Mapping
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from multiprocessing import get_context
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

from spark_jobs.checked_tables import Docs, Suites, Tables, Verdict


class Validator:
    """Validates tables in a process of its own, which ends with ours."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def validate(
        self, tables: Tables, views: Tables, window: Mapping[str, Any], own: Suites
    ) -> tuple[list[Verdict], Docs]:
        """Check every table against what is expected of it: see `validation.validate`."""
        return self._ask("validate", tables, views, window, own)  # type: ignore[no-any-return]

    def problems(self, own: Suites) -> list[str]:
        """A sentence for each unusable expectation of a user: see `validation.problems`."""
        return self._ask("problems", own)  # type: ignore[no-any-return]

    def _ask(self, *request: Any) -> Any:
        try:
            self._connection.send(request)
            answer = self._connection.recv()
            atexit.register(self._process.join, 10)  # killed, it would leave a semaphore, of which Python warns
            atexit.register(self._connection.close)
        except (EOFError, BrokenPipeError):
            raise RuntimeError("The process that validates has ended. Its last lines are in the log.") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


@cache
def started() -> Validator:
    """The validator of this process. The first call starts it and returns at once."""
    return Validator()


class _Lazy(MetaPathFinder):
    """Finds the modules that GX imports for a few expectations. Each loads when one of its names is used."""

    names = frozenset({"altair", "scipy.stats"})

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path, target) if fullname in self.names else None
        if spec and spec.loader:
            spec.loader = LazyLoader(spec.loader)
        return spec


def load_validation() -> ModuleType:
    """Load Great Expectations without PySpark, scipy and altair, which take half as long again."""
    sys.modules["pyspark"] = None  # type: ignore[assignment]
    sys.meta_path.insert(0, _Lazy())
    from spark_jobs import validation

    return validation


def _serve(connection: Connection) -> None:
    """Answer until our process has ended."""
    validation = load_validation()
    while True:
        try:
            name, *request = connection.recv()
        except EOFError:
            return
        try:
            connection.send(getattr(validation, name)(*request))
        except Exception as error:
            connection.send(error)
