"""Start modules of ours in another process of Python, which finds them whatever lies in its working folder."""

from __future__ import annotations

import sys
from pathlib import Path

from kafka_hindsight.settings.home import PYTHON_PATH

SAFE_PATH = "-P"
"""Python's option that leaves the working folder out of sys.path: a file there, such as re.py, would be imported in
place of Python's own."""


def command_of(module: str, *words: str, python: Path | None = None) -> list[str]:
    """The command that runs a module of ours with arguments; without an interpreter, by that of this process."""
    return [str(python or sys.executable), SAFE_PATH, "-m", module, *words]


def variables() -> dict[str, str]:
    """The variables by which a process, and those that it starts, find our modules, and none in a working folder."""
    return {"PYTHONPATH": PYTHON_PATH, "PYTHONSAFEPATH": "1"}
