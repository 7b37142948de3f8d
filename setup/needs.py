"""Requirements of set-up: Python, Java and space on the disk.

Standard library only.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from kafka_hindsight.start import java

HOME = Path(__file__).resolve().parent.parent

KAFKAS = HOME / ".kafka"
"""The jars of each Kafka that the drill has started."""

CLIENTS = HOME / ".clients"
"""The clients' libraries that the drill has built."""

OLDEST, NEWEST = (3, 11), (3, 14)
"""The Pythons for which both environments are locked."""

FREE_BYTES_NEEDED = 4_000_000_000


class CannotBuild(ValueError):
    """Set-up cannot go on; the text says what was found, what was needed and what to do."""


def require_python() -> None:
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        version = ".".join(map(str, sys.version_info[:3]))
        raise CannotBuild(
            f"Found: Python {version} ({sys.executable}). Needed: Python 3.11 to 3.14, for which both "
            "environments are locked.\nWhat to do: install one of them with its venv module, on the PATH,\n"
            "or name it: make PYTHON=/path/to/python3.14 ..."
        )


def require_java() -> None:
    if problem := java.problem():
        raise CannotBuild(problem)


def require_space(needed: float = FREE_BYTES_NEEDED) -> None:
    free = shutil.disk_usage(HOME).free
    if free < needed:
        raise CannotBuild(
            f"Found: {free / 1e9:.1f} GB free beside {HOME}. Needed: {needed / 1e9:.1f} GB for what is missing.\n"
            "What to do: free some space, or check the project out where there is more."
        )
