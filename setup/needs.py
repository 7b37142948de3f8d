"""What set-up needs of this machine: Python, Java and space on the disk.

Standard library only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent

PYTHON_NEEDED = (3, 11)
JAVA_NEEDED = 17
FREE_BYTES_NEEDED = 4_000_000_000


class CannotBuild(Exception):
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
    java = java_program()
    advice = (
        "What to do: install a Java 17 runtime (a package such as openjdk-17-jre-headless), or set JAVA_HOME to one."
    )
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60)
    except OSError:
        raise CannotBuild(
            f"Found: no Java ({java} does not run). Needed: Java {JAVA_NEEDED}, on which Spark runs.\n{advice}"
        ) from None
    version = re.search(r'version "(?:1\.)?(\d+)[^"]*"', said.stderr + said.stdout)
    if not version:
        raise CannotBuild(f"Found: {java}, which does not tell its version. Needed: Java {JAVA_NEEDED}.\n{advice}")
    if int(version.group(1)) < JAVA_NEEDED:
        raise CannotBuild(f"Found: Java {version.group(1)} ({java}). Needed: Java {JAVA_NEEDED} or later.\n{advice}")


def require_space() -> None:
    free = shutil.disk_usage(HOME).free
    if free < FREE_BYTES_NEEDED:
        raise CannotBuild(
            f"Found: {free / 1e9:.1f} GB free beside {HOME}. "
            f"Needed: {FREE_BYTES_NEEDED / 1e9:.0f} GB for both environments.\n"
            "What to do: free some space, or check the project out where there is more."
        )


def java_program() -> str:
    """The Java that Spark will use: JAVA_HOME's, else the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"
