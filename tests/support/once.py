"""What is made once in a test run: the first process that asks makes it, the others wait and read it."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from tests.support.leash import FOLDER, held


def once(name: str, make: Callable[[Path], None]) -> Path:
    """A folder that `make` fills. Nobody may change it afterwards."""
    folder = _of_run() / name
    ready = folder.with_suffix(".ready")
    with held(folder.with_suffix(".turn")):
        if not ready.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            ready.touch()
    return folder


@cache
def _of_run() -> Path:
    """The folder that the processes of a run share; that of this process where there is no other one."""
    if shared := os.environ.get(FOLDER):
        return Path(shared)
    folder = tempfile.mkdtemp(prefix="hindsight-tests-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)
