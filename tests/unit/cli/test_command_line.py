"""The command line: what it loads, what it says of wrong words, how it ends, and what a shell completes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_hindsight.cli import main as cli
from kafka_hindsight.settings.home import HOME

HEAVY = ("apprise", "confluent_kafka", "deltalake", "duckdb", "great_expectations", "pandas", "pyarrow", "pyspark")


def heavy_packages_loaded(*words: str) -> set[str]:
    """Which of the heavy packages a command has loaded when it has printed its help."""
    run = f"import sys; from kafka_hindsight.cli.main import main; main({[*words, '--help']!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, cwd=HOME, check=True)
    return {*HEAVY} & {*done.stdout.splitlines()[-1].split()}


@pytest.mark.parametrize(
    ("verb", "packages"),
    [
        ((), set()),
        (("clusters",), set()),
        (("doctor",), set()),
        (("audit",), {"confluent_kafka"}),
        (("report",), {"pyarrow"}),
        (("metrics",), {"pyarrow"}),
    ],
)
def test_verb_help_loads_no_heavy_package(verb: tuple[str, ...], packages: set[str]) -> None:
    assert heavy_packages_loaded(*verb) <= packages


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_is_listed_and_prints_its_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([verb, "--help"]) == 0
    assert f"hindsight {verb}" in capsys.readouterr().out
    assert cli.main(["--help"]) == 0
    assert f"\n  {verb} " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["reprot"], "No such command 'reprot'. Did you mean 'report'?"),
        (["report", "--lak", "x"], "No such option: --lak (Possible options: --lake)"),
        (["clusters", "mend"], "'mend' is not one of 'check', 'schema'"),
        (["step", "nap", "--settings", "{}"], "There is no step 'nap'. Needed: one of "),
        (["snapshot", "--connection", "x"], "--connection is 'x'. Needed: -, and the connection on stdin"),
        (["alert", "--at", "soon"], "AT is 'soon'. Needed: an ISO instant"),
        ([], "audit a night"),
    ],
)
def test_wrong_words_are_bad_input(words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(words) == 2
    assert sentence in capsys.readouterr().err


def test_io_error_is_fault_without_secret(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(*_: object) -> str:
        raise OSError("no way to s3a://key:secret@bucket")

    monkeypatch.setattr("kafka_hindsight.cli.clusters_file.schema_text", fails)
    assert cli.main(["clusters", "schema"]) == 1
    error = capsys.readouterr().err
    assert "no way to s3a://***@bucket. Needed: files that can be read" in error


@pytest.mark.parametrize(("why", "sentence"), [((), "Stopped."), (("In the step rebuild.",), "In the step rebuild.")])
def test_interrupt_exits_130(
    why: tuple[str, ...], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> str:
        raise KeyboardInterrupt(*why)

    monkeypatch.setattr("kafka_hindsight.cli.clusters_file.schema_text", stopped)
    assert cli.main(["clusters", "schema"]) == 130
    assert capsys.readouterr().err == f"\n{sentence}\n"


def test_closed_pipe_exits_0() -> None:
    command = f"{sys.executable} -m kafka_hindsight clusters schema | true; exit ${{PIPESTATUS[0]}}"
    assert subprocess.run(["bash", "-c", command], cwd=HOME).returncode == 0


def complete(words: str) -> list[str]:
    """What bash offers for the last word."""
    count = len(words.split(" ")) - 1
    asked = {"_HINDSIGHT_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(count)}
    command = [sys.executable, "-m", "kafka_hindsight"]
    return subprocess.run(
        command, capture_output=True, text=True, check=True, env={**os.environ, **asked}, cwd=HOME
    ).stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("hindsight s", {"snapshot", "sql", "step"}),
        ("hindsight sql lead", {path.stem for path in Path(HOME, "queries").glob("lead*.sql")}),
        ("hindsight tables --format c", {"csv"}),
        ("hindsight audit --logs-", {"--logs-tz"}),
        ("hindsight step re", {"rebuild", "reclassify", "report"}),
        ("hindsight clusters ", {"check", "schema"}),
    ],
)
def test_shell_completes_verbs_options_values_and_named_queries(words: str, expected: set[str]) -> None:
    assert {*complete(words)} == expected
