"""A process beside ours that loads Great Expectations, which takes seconds, while the night is read and judged."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import pyarrow as pa

Verdict = dict[str, Any]
Tables = Mapping[str, pa.Table]


class Validator:
    """Validates tables in a process of its own, which ends with ours."""

    def __init__(self) -> None:
        context = get_context("spawn")
        self._connection, theirs = context.Pipe()
        context.Process(target=_serve, args=(theirs,), daemon=True).start()
        theirs.close()

    def validate(self, tables: Tables, views: Tables, window: Mapping[str, Any]) -> list[Verdict]:
        """Check every table against what is expected of it: see `validation.validate`."""
        try:
            self._connection.send((tables, views, window))
            answer = self._connection.recv()
        except (EOFError, BrokenPipeError):
            raise RuntimeError("The process that validates has ended. Its last lines are in the log.") from None
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[no-any-return]


@cache
def started() -> Validator:
    """The validator of this process. The first call starts it and returns at once."""
    return Validator()


def _serve(connection: Connection) -> None:
    """Answer until our process has ended. Without PySpark, which it would import as well, GX loads a fifth faster."""
    sys.modules["pyspark"] = None  # type: ignore[assignment]
    from spark_jobs import validation

    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        try:
            connection.send(validation.validate(*request))
        except Exception as error:
            connection.send(error)
