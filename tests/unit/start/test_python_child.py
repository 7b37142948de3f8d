"""Processes of ours find Python's own modules and ours, whatever lies in their working folder."""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from kafka_hindsight.kafka.cluster_snapshot import Reader, ReaderDied
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.start import launch
from kafka_hindsight.start.python_child import command_of, variables
from kafka_hindsight.steps.validator import Validator

NAMES = ("re", "json", "random", "typing", "jobs", "tokenize", "kafka_hindsight", "expectations")
"""Modules of Python's, and packages of ours, that a file in a working folder could be taken for."""

DECLARED = {"kafka_hindsight/start/python_child.py", "setup/build.py"}
"""The place that starts modules of ours, and set-up, which starts modules of Python's own."""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a module of each name, which ends the process that imports it."""
    for name in NAMES:
        (tmp_path / f"{name}.py").write_text("import os; os.write(2, b'hostile'); os._exit(66)")
    return tmp_path


def outcome(command: Sequence[str | Path], cwd: Path, environment: Mapping[str, str]) -> tuple[int, str]:
    names = ("PYTHONPATH", "PYTHONSAFEPATH")
    own = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(command, cwd=cwd, env={**own, **environment}, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_module_of_ours_starts_in_a_hostile_folder_and_so_do_its_children(hostile: Path) -> None:
    code, output = outcome(command_of("kafka_hindsight.cli.main", "--version"), hostile, variables())
    assert (code, "hostile" in output) == (0, False), output
    child = "import subprocess, sys; sys.exit(subprocess.call([sys.executable, '-m', 'kafka_hindsight', '--version']))"
    assert outcome([launch.spark_python(), "-P", "-c", child], hostile, variables())[0] == 0


def test_process_without_our_variables_would_take_the_hostile_module(hostile: Path) -> None:
    command = [launch.spark_python(), "-m", "kafka_hindsight.cli.main", "--version"]
    assert outcome(command, hostile, {"PYTHONPATH": str(HOME)})[0] == 66


def test_verb_of_a_checkout_starts_in_a_hostile_folder(hostile: Path) -> None:
    for verb in ("--version", "doctor"):
        _, output = outcome([HOME / "hindsight", verb, "--help"], hostile, {})
        assert "Usage" in output or "hindsight" in output
        assert "hostile" not in output


def test_validator_and_reader_start_in_a_hostile_folder(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(hostile)
    validator = Validator()
    validator.require_sound(None, str(hostile / "lake"))
    validator.kill()
    with Reader(Connection("nowhere", {"bootstrap.servers": "127.0.0.1:1"}, 1000)) as reader:
        try:
            reader.ask("brokers", {}, 5)
        except ReaderDied as death:
            assert "hostile" not in str(death)


@pytest.mark.parametrize("step", ["no-such-step", "audit"])
def test_program_of_spark_starts_in_a_hostile_folder(hostile: Path, step: str) -> None:
    """With the variables, as spark-submit starts it, and without, as a driver on a cluster may."""
    for environment in (launch.spark_variables(), {"PYTHONPATH": str(HOME)}):
        code, output = outcome([launch.spark_python(), launch.RUN, step], hostile, environment)
        assert code == 2, output
        assert "hostile" not in output


def test_modules_are_started_in_one_declared_way() -> None:
    programs = ("kafka_hindsight", "plugins", "spark_jobs", "expectations", "setup", "dags", "docker")
    files = [file for program in programs for file in sorted((HOME / program).rglob("*.py"))]
    starts = {
        str(file.relative_to(HOME))
        for file in files
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.List) and any(isinstance(e, ast.Constant) and e.value == "-m" for e in node.elts)
    }
    assert starts == DECLARED
