"""The wheel, built and installed as a user would."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from setup.build import UV, index_settings
from spark_jobs.shared.launch import HOME, spark_python


def build(project: Path, to: Path, target: str = "wheel") -> Path:
    """The wheel or source distribution of a folder."""
    subprocess.run(
        [spark_python(), "-m", "hatchling", "build", "--target", target, "--directory", str(to)],
        cwd=project,
        check=True,
        capture_output=True,
    )
    (built,) = to.iterdir()
    return built


def install(wheel: Path, environment: Path) -> Path:
    """The command `hindsight` of a new environment with the wheel and what it asks for, in the locked versions."""
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, environment], check=True)
    into, locked = environment / "bin" / "python", HOME / "locks" / "spark.txt"
    subprocess.run(
        [UV, "pip", "install", "--quiet", "--python", into, "--constraint", locked, wheel],
        env={**os.environ, **index_settings()},
        check=True,
    )
    return environment / "bin" / "hindsight"
