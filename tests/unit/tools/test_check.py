"""`make check`, what runs before a commit, and what continuous integration runs."""

from __future__ import annotations

import subprocess

import pytest
import yaml

from kafka_hindsight.settings.home import HOME
from tools import check

PASSES, FAILS = ("python", "-c", ""), ("python", "-c", "raise SystemExit(3)")


def test_all_checks_run_and_failed_ones_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main({"one": FAILS, "two": PASSES, "three": FAILS}) == 1
    output = capsys.readouterr().out
    assert [line.partition(":")[0] for line in output.splitlines() if ": python" in line] == ["one", "two", "three"]
    assert output.endswith("\n2 of 3 checks failed: one, three.\n")


def test_checks_that_hold_end_with_success() -> None:
    assert check.main({"one": PASSES}) == 0


def test_continuous_integration_runs_checks_and_tests() -> None:
    def commands(*program: str) -> str:
        return subprocess.run(program, cwd=HOME, capture_output=True, text=True, check=True).stdout

    assert "python -m tools.check" in commands("make", "-n", "check")
    assert commands("sh", "-c", "MAKEFLAGS=n .ci/run") == commands("make", "-n", "check", "test")
    jobs = yaml.safe_load((HOME / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))["jobs"]
    ran = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert (ran["check"], ran["tests"], ran["live"]) == (["make check"], ["make test"], ["make test-live"])
    assert "tests/live/test_drill.py tests/audit tests/store" in commands("make", "-n", "test")
    assert any(line.endswith("pytest tests/live") for line in commands("make", "-n", "test-live").splitlines())


def test_hooks_before_a_commit_are_checks_of_ours() -> None:
    (ours,) = yaml.safe_load((HOME / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert ours["repo"] == "local"
    for hook in ours["hooks"]:
        *words, _ = check.CHECKS[hook["id"]]
        assert hook["entry"] == f".venv-spark/bin/{' '.join(words)} --force-exclude"
