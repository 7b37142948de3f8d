"""Set-up: what a bare machine is told, and that nothing is built twice."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
import yaml

from kafka_hindsight import __version__
from kafka_hindsight.cli.verbs import VERBS
from setup import needs
from setup import start as start_module

HOME = Path(__file__).resolve().parents[3]


@pytest.fixture()
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("setup_build", HOME / "setup" / "build.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fake_java(folder: Path, says: str) -> None:
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{says}' >&2\n")
    program.chmod(0o755)


@pytest.mark.parametrize("says", ['openjdk version "17.0.15" 2025-04-15', 'java version "21" 2023-09-19'])
def test_java_17_and_later_is_accepted(
    build: ModuleType, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path, says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    build.require_java()


@pytest.mark.parametrize(
    ("says", "sentence"),
    [
        ('java version "1.8.0_412"', "Found: Java 8"),
        ('openjdk version "11.0.2"', "Found: Java 11"),
        ("?", "does not print"),
    ],
)
def test_older_or_unknown_java_is_refused(
    build: ModuleType, says: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_java(tmp_path, says)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(build.CannotBuild, match=sentence) as problem:
        build.require_java()
    assert "Needed: Java 17" in str(problem.value)


def test_missing_java_is_refused_with_advice(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(build.CannotBuild, match="Found: no Java") as problem:
        build.require_java()
    assert "What to do: install" in str(problem.value)


def test_unsupported_python_is_refused(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2))
    with pytest.raises(build.CannotBuild, match=r"Found: Python 3\.9\.2"):
        build.require_python()


def test_part_is_current_until_its_inputs_change(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "BUILD", tmp_path)
    lock, made = tmp_path / "lock.txt", tmp_path / "made"
    lock.write_text("a==1")
    part = build.BuildPart("x", "x", (lock,), made, lambda: made.write_text(""))
    assert not build.is_current(part)
    part.build()
    build.stamp_of(part).write_text(build.fingerprint(part))
    assert build.is_current(part)
    lock.write_text("a==2")
    assert not build.is_current(part)


def test_set_up_goes_on_without_what_it_can_do_without(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "BUILD", tmp_path)
    monkeypatch.setattr(build, "LOG", build.HOME / "log")

    def refuse() -> None:
        raise build.CannotBuild("No network.")

    parts = [
        build.BuildPart("jars", "jars", (), tmp_path / "jars", refuse, without="Set-up goes on."),
        build.BuildPart("next", "next", (), tmp_path / "next", (tmp_path / "next").touch),
    ]
    assert build.ensure(parts) == 0
    assert "Set-up goes on.\nNo network." in capsys.readouterr().err
    assert [build.is_current(part) for part in parts] == [False, True], "it is tried again"
    assert build.ensure([parts[0]._replace(without="")]) == 2


def test_environment_behind_a_link_is_current_and_a_moved_one_is_not(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "BUILD", tmp_path)
    for name in ("main", "moved"):
        environment = tmp_path / name / "environment"
        (environment / "bin").mkdir(parents=True)
        (environment / "bin" / "activate").write_text(f"VIRTUAL_ENV={tmp_path}/main/environment")
    (tmp_path / "worktree").symlink_to(tmp_path / "main")
    lock = tmp_path / "lock.txt"
    lock.touch()
    places = {
        n: build.BuildPart("x", "x", (lock,), tmp_path / n / "environment", print)
        for n in ("main", "worktree", "moved")
    }
    build.stamp_of(places["main"]).write_text(build.fingerprint(places["main"]))
    assert {n: build.is_current(part) for n, part in places.items()} == {"main": True, "worktree": True, "moved": False}
    assert {n: build.is_here(part.makes) for n, part in places.items()} == {
        "main": True, "worktree": True, "moved": False
    }  # fmt: skip


def test_imports_of_setup_commands_are_compiled(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "LOG", tmp_path / "log")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (tmp_path / "imported.py").touch()
    build.run([sys.executable, "-c", "import imported"], "It failed.", PYTHONPATH=str(tmp_path))
    assert list((tmp_path / "__pycache__").glob("imported.*.pyc"))


@pytest.fixture()
def start(build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(start_module.build, "BUILD", tmp_path)
    return start_module


def test_first_audit_needs_neither_spark_nor_airflow(start: ModuleType) -> None:
    assert [p.name for p in start.parts_for(["audit", "--logs", "/logs"], {})] == ["uv", "local", "samples"]
    assert [p.name for p in start.parts_for(["audit", "--engine", "local"], {"ENGINE": "spark"})][1] == "local"


def test_audit_on_spark_needs_spark(start: ModuleType) -> None:
    for words, variables in ((["audit", "--engine=spark"], {}), (["audit"], {"ENGINE": "spark"})):
        assert [p.name for p in start.parts_for(words, variables)] == ["uv", "spark", "jars", "samples"]


def test_part_that_was_built_stays_current(start: ModuleType, tmp_path: Path) -> None:
    for name in ("uv", "airflow", "local", "spark"):
        (tmp_path / f"{name}.stamp").touch()
    assert [p.name for p in start.parts_for(["audit"], {})] == ["uv", "airflow", "spark", "jars", "samples"]


def test_installer_is_needed_only_where_part_is_missing(start: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start.build, "is_current", lambda part: part.name != "uv")
    assert "uv" not in {p.name for p in start.parts_for(["audit"], {})}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which set-up has not run, on a path with a blank."""
    folder = tmp_path_factory.mktemp("a checkout")
    (folder / "locks").symlink_to(HOME / "locks")
    shutil.copy(HOME / "hindsight", folder)
    for name in ("setup", "kafka_hindsight"):
        shutil.copytree(HOME / name, folder / name, ignore=shutil.ignore_patterns("samples", "__pycache__"))
    return folder


def hindsight(checkout: Path, *words: str) -> tuple[int, str]:
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": sys.executable}
    done = subprocess.run([checkout / "hindsight", *words], capture_output=True, text=True, env=environment)
    return done.returncode, done.stdout + done.stderr


def test_help_version_and_readers_never_build(checkout: Path) -> None:
    before = {p.name for p in checkout.iterdir()}
    assert hindsight(checkout, "--version") == (0, f"hindsight {__version__}\n")
    for words in ([], ["--help"]):
        code, output = hindsight(checkout, *words)
        assert (code, all(f"\n  {verb} " in output for verb in VERBS)) == (0, True)
    assert hindsight(checkout, "audit", "--help")[0] == 0
    code, output = hindsight(checkout, "sql")
    assert (code, output.partition(". ")[0]) == (2, f"Found: no {checkout}/.venv-spark/bin/python")
    assert hindsight(checkout, "doctor", "--json", "--lake", str(checkout / "lake"))[0] in (0, 2)
    assert {p.name for p in checkout.iterdir()} == before


def test_verbs_that_build_nothing_start_by_the_environment_of_the_steps(checkout: Path, tmp_path: Path) -> None:
    """The wrapper asks no other Python first. All others go through set-up, and so do all where nothing is built."""
    built = tmp_path / "bin" / "python"
    built.parent.mkdir()
    built.write_text('#!/bin/sh\necho "$PYTHONPATH: $*"\n')
    built.chmod(0o755)
    environment = {"PATH": "/usr/bin:/bin", "HINDSIGHT_SPARK_ENV": str(tmp_path), "PYTHON": "/nowhere"}

    def answer(word: str) -> str:
        words = [checkout / "hindsight", word, "a b"]
        return subprocess.run(words, capture_output=True, text=True, env=environment).stdout

    at_once = {word for word in (*VERBS, "--help", "--version") if answer(word)}
    assert at_once == {*VERBS, "--help", "--version"} - start_module.BUILDERS - {"doctor"}
    assert answer("sql") == f"{checkout}: -P -m kafka_hindsight.cli.main sql a b\n"


def test_missing_space_is_reported_with_what_is_needed(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs.shutil, "disk_usage", lambda _: SimpleNamespace(free=1))
    with pytest.raises(build.CannotBuild, match=r"Found: 0.0 GB free .* Needed: 0.9 GB for what is missing"):
        build.build([p for p in build.PARTS if p.name in ("uv", "local")], 3)


def test_every_lock_is_pinned_by_hash_and_names_no_host() -> None:
    for lock in (HOME / "locks").glob("*.txt"):
        text = lock.read_text()
        pinned = [line for line in text.splitlines() if "==" in line and not line.lstrip().startswith("#")]
        assert pinned and all(line.endswith("\\") for line in pinned), lock.name
        assert "://" not in text, lock.name


def test_every_requirement_of_a_lock_has_a_reason() -> None:
    for path in (HOME / "locks").glob("*.in"):
        named = [line for line in path.read_text().splitlines() if line and not line.startswith(("#", "-"))]
        assert named and all("  # " in line for line in named), path.name


def test_every_dependency_of_the_wheel_has_a_reason() -> None:
    text = (HOME / "pyproject.toml").read_text()
    needed = re.search(r"^dependencies = (.+?)^\[project.scripts\]", text, flags=re.MULTILINE | re.DOTALL)
    assert needed
    named = [line for line in needed[1].splitlines() if '"' in line]
    assert len(named) > 9 and all(re.search(r"[],] +# ", line) for line in named)


def pythons(folder: Path, **ends: int) -> dict[str, str]:
    """An environment with a folder of Pythons first on its PATH, each of which ends with a code."""
    folder.mkdir()
    for name in ("python3.14", "python3.13", "python3.12", "python3.11", "python3"):
        program = folder / name
        program.write_text(f"#!/bin/sh\nexit {ends.get(name.replace('.', '_'), 1)}\n")
        program.chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def python_of(environment: dict[str, str]) -> tuple[int, str, str]:
    done = subprocess.run(["sh", HOME / "setup" / "python.sh"], env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout.strip(), done.stderr


def test_newest_working_python_is_chosen(tmp_path: Path) -> None:
    assert python_of(pythons(tmp_path / "a", python3_12=0, python3_11=0, python3=0))[1] == "python3.12"
    assert python_of(pythons(tmp_path / "b", python3=0))[1] == "python3"
    assert python_of(pythons(tmp_path / "c"))[:2] == (0, str(tmp_path / "c" / "python3"))


def test_named_python_is_used_or_reported_missing(tmp_path: Path) -> None:
    environment = pythons(tmp_path / "a", python3_13=0)
    named = str(tmp_path / "a" / "python3.11")
    assert python_of({**environment, "PYTHON": named})[1] == named
    code, _, message = python_of({**environment, "PYTHON": "/nowhere"})
    assert (code, message.partition(",")[0]) == (2, "Found: no /nowhere")


def test_python_versions_of_the_package_equal_the_locked_ones() -> None:
    oldest, newest = needs.OLDEST, needs.NEWEST
    minors = [f"{oldest[0]}.{minor}" for minor in range(oldest[1], newest[1] + 1)]
    assert re.findall(r"python(3\.\d+)", (HOME / "setup" / "python.sh").read_text()) == minors[::-1]
    workflow = yaml.safe_load((HOME / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["pythons"]["strategy"]["matrix"]["python"] == minors
    for project in ("", "setup/airflow"):
        text = (HOME / project / "pyproject.toml").read_text(encoding="utf-8")
        requirement = tomllib.loads(text)["project"]["requires-python"]
        assert requirement == f">={oldest[0]}.{oldest[1]},<{newest[0]}.{newest[1] + 1}"
        assert re.findall(r"Python :: (3\.\d+)", text) == minors
    for page in ("README.md", "docs/install.md"):
        assert f"Python {minors[0]} to {minors[-1]} with its venv module" in (HOME / page).read_text(encoding="utf-8")
