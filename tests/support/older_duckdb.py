"""DuckDB 1.5 with its extensions for Delta and S3, as a user has it who installed them: no index has them for 2.0."""

from __future__ import annotations

import json
import os
import subprocess
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from setup.build import OLDER_DUCKDB

_INSTALL = """
    import importlib.util, pathlib
    import duckdb
    ((platform,),) = duckdb.connect().execute("PRAGMA platform").fetchall()
    version = f"v{duckdb.__version__}"
    for name in ("delta", "httpfs"):
        package = pathlib.Path(importlib.util.find_spec(f"duckdb_extension_{name}").origin).parent
        installed = pathlib.Path.home() / ".duckdb" / "extensions" / version / platform / f"{name}.duckdb_extension"
        installed.parent.mkdir(parents=True, exist_ok=True)
        installed.symlink_to(package / "extensions" / version / installed.name)
"""
_ASK = """
    import json, sys
    import duckdb
    connection = duckdb.connect().execute("SET enable_progress_bar = false")
    for statement in json.load(sys.stdin):
        answer = connection.execute(statement)
    print(json.dumps(answer.fetchall(), default=str))
"""


class OlderDuckDB:
    """DuckDB 1.5 of a user whose home has its extensions."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.run(_INSTALL, cwd=home)

    def run(self, program: str, cwd: Path, asks: str = "") -> str:
        """Runs a program of Python that imports DuckDB. Gives what it prints."""
        done = subprocess.run(
            [OLDER_DUCKDB, "-c", textwrap.dedent(program)],
            cwd=cwd,
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTHON")} | {"HOME": str(self._home)},
            input=asks,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def rows(self, statements: Iterable[str]) -> list[list[Any]]:
        """The rows of the last statement, in a new database; instants as text."""
        rows: list[list[Any]] = json.loads(self.run(_ASK, self._home, json.dumps(["LOAD delta", *statements])))
        return rows
