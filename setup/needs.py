"""What set-up needs of this machine: Python, Java and space on the disk.

Standard library only.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from spark_jobs.shared import java

HOME = Path(__file__).resolve().parent.parent

PYTHON_NEEDED = (3, 11)
FREE_BYTES_NEEDED = 4_000_000_000


class CannotBuild(ValueError):
    """Set-up cannot go on; the text says what was found, what was needed and what to do."""


def require_python() -> None:
    if sys.version_info[:2] != PYTHON_NEEDED:
        found = ".".join(map(str, sys.version_info[:3]))
        raise CannotBuild(
            f"Found: Python {found} ({sys.executable}). Needed: Python 3.11, for which both environments are locked.\n"
            "What to do: install Python 3.11 so that `python3.11` is on the PATH,\n"
            "or name it: make PYTHON=/path/to/python3.11 ..."
        )


def require_java() -> None:
    if problem := java.problem():
        raise CannotBuild(problem)


def require_space() -> None:
    free = shutil.disk_usage(HOME).free
    if free < FREE_BYTES_NEEDED:
        raise CannotBuild(
            f"Found: {free / 1e9:.1f} GB free beside {HOME}. "
            f"Needed: {FREE_BYTES_NEEDED / 1e9:.0f} GB for both environments.\n"
            "What to do: free some space, or check the project out where there is more."
        )
