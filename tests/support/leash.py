"""What holds a Spark that several processes share: a lock in a folder, held by the process that hands out the tests.

No Spark here: that process needs none.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = "HINDSIGHT_TESTS_SPARK"
"""The variable that names the folder, where a run has several processes."""

LEASH = "leash"


@contextmanager
def offered() -> Iterator[None]:
    """Lets the processes that this one starts share a Spark while the block runs."""
    folder = Path(tempfile.mkdtemp(prefix="hindsight-tests-"))
    try:
        with held(folder / LEASH):
            os.environ[FOLDER] = str(folder)
            yield
    finally:
        del os.environ[FOLDER]
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """A lock that other processes wait for. The system frees it when its holder ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
