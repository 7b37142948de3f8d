"""The process that loads Great Expectations and validates: `python -m expectations.serving FD`.

It answers the requests of kafka_hindsight.steps.validator over an open file until the other end is closed.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from multiprocessing.connection import Connection
from types import ModuleType
from typing import Any

from kafka_hindsight.shared.hidden_packages import hide


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
    hide("pyspark")
    sys.meta_path.insert(0, _Lazy())
    from expectations import validation

    return validation


def serve(connection: Any) -> None:
    """Answer requests until the other end is closed."""
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


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))
