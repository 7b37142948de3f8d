"""The Java that Spark runs on: which one it will be, and what is wrong with it. Standard library only."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

NEEDED = 17
_ADVICE = (
    f"What to do: install a Java {NEEDED} runtime (a package such as openjdk-{NEEDED}-jre-headless), "
    "or set JAVA_HOME to one."
)


def program() -> str:
    """The Java that Spark will use: JAVA_HOME's, else the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def release() -> str:
    """Which release it is, such as 17.0.12; empty where it does not say so. Raises: OSError where it does not run."""
    done = subprocess.run([program(), "-version"], capture_output=True, text=True, timeout=60)
    said = re.search(r'version "(?:1\.)?(\d[^"]*)"', done.stderr + done.stdout)
    return said[1] if said else ""


def problem() -> str | None:
    """What was found instead of a Java that will do, and what to do; None where it will do."""
    java = program()
    try:
        found = release()
    except OSError:
        return f"Found: no Java ({java} does not run). Needed: Java {NEEDED}, on which Spark runs.\n{_ADVICE}"
    if not found:
        return f"Found: {java}, which does not tell its version. Needed: Java {NEEDED}.\n{_ADVICE}"
    major = re.split(r"\D", found)[0]
    if int(major) < NEEDED:
        return f"Found: Java {major} ({java}). Needed: Java {NEEDED} or later.\n{_ADVICE}"
    return None
