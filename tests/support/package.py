"""The wheel, built and installed as a user would."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kafka_hindsight.start.launch import spark_python
from setup.build import UV, build_environment


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
    """The command `hindsight` of a new environment with the wheel and what it asks for without Spark, as locked."""
    build_environment(environment, "local.txt", compiles=False)
    return add_wheel(wheel, environment)


def add_wheel(wheel: Path, environment: Path) -> Path:
    """The command `hindsight` of an environment that has all that the wheel asks for."""
    into = ["--python", str(environment / "bin" / "python")]
    subprocess.run([UV, "pip", "install", "--quiet", "--no-deps", "--offline", *into, wheel], check=True)
    subprocess.run([UV, "pip", "check", "--quiet", *into], check=True)
    return environment / "bin" / "hindsight"
