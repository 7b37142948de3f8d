"""Each Python of the package that is installed: the wheel audits the recorded night, and leaves the same rows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_hindsight.audit.inputs import SAMPLE
from kafka_hindsight.settings.home import HOME
from setup.build import UV
from setup.needs import NEWEST, OLDEST
from tests.support.package import build, install

PLACES = {"logs": "logs", "client-logs": "clients", "snapshots": "snapshots.jsonl"}
INPUT = [f"--{option}={SAMPLE / name}" for option, name in PLACES.items()]
MINORS = [f"{OLDEST[0]}.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]


def audit(lake: Path, *program: str | Path) -> None:
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("HINDSIGHT_", "PYTHON", "SPARK_"))}
    done = subprocess.run(
        [*program, "audit", "--engine=local", f"--lake={lake}", *INPUT],
        cwd=lake.parent,
        env=variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(HOME, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def of_checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("checkout") / "lake"
    audit(lake, HOME / "hindsight")
    return lake


@pytest.mark.parametrize("minor", MINORS)
def test_audit_on_each_python_leaves_rows_of_checkout(
    minor: str, wheel: Path, of_checkout: Path, tmp_path: Path
) -> None:
    find = [UV, "python", "find", "--system", "--no-project", "--no-python-downloads", minor]
    python = subprocess.run(find, capture_output=True, text=True).stdout.strip()
    if not python:
        pytest.skip(f"no Python {minor} is installed: put one on the PATH")
    environment = tmp_path / "environment"
    subprocess.run([UV, "venv", "--quiet", "--python", python, environment], check=True)
    hindsight = install(wheel, environment)
    audit(tmp_path / "lake", hindsight)
    # Another minor version compiles other bytecode, of which knowledge_version is made.
    compare = [
        sys.executable,
        "-m",
        "tools.compare_lakes",
        of_checkout,
        tmp_path / "lake",
        "--ignore",
        "knowledge_version",
    ]
    done = subprocess.run(compare, cwd=HOME, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
