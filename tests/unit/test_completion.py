"""Completion in the shells: the script, run by the shell it is made for."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kafka_hindsight.cli import completion
from kafka_hindsight.cli import main as cli
from kafka_hindsight.settings.home import HOME

WORDS = {"--format": ("table", "csv", "json")}
VERBS = set(re.findall(r"^    ([a-z]+)\b", cli.parser().format_help(), flags=re.MULTILINE))


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("it's queries")
    for name in ("storms", "leader_timeline", "leaders_now"):
        (folder / f"{name}.sql").touch()
    return folder


def completed(queries: Path, *words: str) -> list[str]:
    """What bash would offer for the last word."""
    made = completion.script("bash", cli.parser(), WORDS, queries)
    asked = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _hindsight; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", f"{made}\n{asked}", "bash", "hindsight", *words], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["s"], ["snapshot", "sql", "step"]),
        (["do"], ["doctor"]),
        (["sql", "lead"], ["leader_timeline", "leaders_now"]),
        (["sql", "--lake", "x", "st"], ["storms"]),
        (["sql", "--fo"], ["--format"]),
        (["tables", "--format", "c"], ["csv"]),
        (["audit", "--logs-"], ["--logs-tz"]),
        (["audit", "--logs", ""], []),
        (["alert", "--list", "--st"], ["--stdin"]),
        (["completion", ""], ["bash", "zsh"]),
        (["doctor", "--j"], ["--json"]),
    ],
)
def test_bash_completes(queries: Path, words: list[str], expected: list[str]) -> None:
    assert completed(queries, *words) == expected


def test_every_verb_is_offered(queries: Path) -> None:
    assert set(completed(queries, "")) == VERBS


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh on this machine")
def test_zsh_takes_the_script(queries: Path) -> None:
    made = completion.script("zsh", cli.parser(), WORDS, queries)
    asked = "print -r -- ${_comps[hindsight]}"
    done = subprocess.run(["zsh", "-f", "-c", f"{made}\n{asked}"], capture_output=True, text=True, check=True)
    assert "_hindsight" in done.stdout


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "bash"]) == 0
    assert str(HOME / "queries") in capsys.readouterr().out


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_prints_its_help(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([verb, "--help"])
    assert end.value.code == 0
    assert f"hindsight {verb}" in capsys.readouterr().out
