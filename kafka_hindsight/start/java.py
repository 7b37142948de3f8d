"""The Java that Spark runs on, and what is wrong with it. Standard library only."""

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
    """The Java that Spark uses: the one of JAVA_HOME, else the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"


def release() -> str:
    """Its release, such as 17.0.12; empty if it prints none. Raises: OSError if it does not run."""
    process = subprocess.run([program(), "-version"], capture_output=True, text=True, timeout=60)
    match = re.search(r'version "(?:1\.)?(\d[^"]*)"', process.stderr + process.stdout)
    return match[1] if match else ""


def problem() -> str | None:
    """The problem with the Java, and what to do; None if Spark can run on it."""
    java = program()
    try:
        version = release()
    except OSError:
        return f"Found: no Java ({java} does not run). Needed: Java {NEEDED}, on which Spark runs.\n{_ADVICE}"
    if not version:
        return f"Found: {java}, which does not print its version. Needed: Java {NEEDED}.\n{_ADVICE}"
    major = re.split(r"\D", version)[0]
    if int(major) < NEEDED:
        return f"Found: Java {major} ({java}). Needed: Java {NEEDED} or later.\n{_ADVICE}"
    return None
