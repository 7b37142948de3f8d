"""The wheel: what it holds, and that the same files give the same bytes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from kafka_hindsight import __version__
from kafka_hindsight.settings.home import HOME
from setup import maven
from setup.build import DELTA_LOCK
from tests.support.package import build
from tools.release import absolute

PARTS = (
    "CHANGELOG.md",
    "README.md",
    "expectations",
    "kafka_hindsight",
    "pyproject.toml",
    "queries",
    "spark_jobs",
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(HOME, tmp_path_factory.mktemp("built"))


def test_wheel_holds_one_package_without_developer_files(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"kafka_hindsight", f"kafka_hindsight-{__version__}.dist-info"}
    inside = {name.split("/")[1] for name in names if name.startswith("kafka_hindsight/")}
    assert {"__init__.py", "py.typed", "_home", "catalog", "cli", "steps"} <= inside
    beside = {name.split("/")[2] for name in names if name.startswith("kafka_hindsight/_home/")}
    assert beside == {"expectations", "queries", "spark_jobs"}
    queries = {p.name for p in (HOME / "queries").glob("*.sql")}
    assert queries == {name.rpartition("/")[2] for name in names if "/queries/" in name}
    assert [n for n in names if "/samples/" in n or n.endswith(".pyc")] == []
    assert "kafka_hindsight/knowledge/noise/brokers.jsonl" in names


def test_wheel_is_byte_for_byte_reproducible(wheel: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in PARTS:
        source = HOME / name
        if source.is_dir():
            shutil.copytree(source, copy / name, copy_function=shutil.copyfile)
        else:
            shutil.copyfile(source, copy / name)
    os.utime(copy / "kafka_hindsight" / "__init__.py", (1, 1))
    assert build(copy, tmp_path / "again").read_bytes() == wheel.read_bytes()


def test_source_distribution_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    packed = build(HOME, tmp_path / "source", "sdist")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    assert build(tmp_path / packed.name.removesuffix(".tar.gz"), tmp_path / "built").read_bytes() == wheel.read_bytes()


def test_airflow_wheel_holds_one_package_with_the_whole_library_and_plugins(tmp_path: Path, wheel: Path) -> None:
    names = set(zipfile.ZipFile(build(HOME / "setup" / "airflow", tmp_path)).namelist())
    assert {name.split("/")[0].partition("-")[0] for name in names} == {"kafka_hindsight_airflow"}
    files = [n for n in zipfile.ZipFile(wheel).namelist() if "dist-info" not in n]
    plugins = [f"plugins/{p.name}" for p in (HOME / "plugins").glob("*.py")]
    assert {f"kafka_hindsight_airflow/{name}" for name in (*files, *plugins)} <= names


def test_airflow_extra_has_the_bounds_of_the_main_wheel() -> None:
    projects = [tomllib.loads((HOME / p / "pyproject.toml").read_text())["project"] for p in (".", "setup/airflow")]
    extras = projects[0]["optional-dependencies"]
    needed = {*projects[0]["dependencies"], *extras["alerts"], *extras["snapshot"]}
    beside = projects[1]["optional-dependencies"]["beside-airflow"]
    assert {*beside} <= needed
    assert not [r for r in beside if r.startswith("pyspark")]


def test_delta_spark_is_one_whose_jar_is_served() -> None:
    """Its Python fetches the jar of its own version, and there are versions without a jar (4.4.1)."""
    lock = (HOME / "locks" / "spark.txt").read_text(encoding="utf-8")
    (version,) = re.findall(r"^delta-spark==(\S+)", lock, flags=re.MULTILINE)
    (of_jars,) = (re.findall(r"-([\d.]+)\.jar", name) for name in maven.locked(DELTA_LOCK) if "spark" in name)
    assert of_jars == [version]
    (extra,) = tomllib.loads((HOME / "pyproject.toml").read_text())["project"]["optional-dependencies"]["delta"]
    assert extra.endswith(",!=4.4.1")


def test_spark_audit_from_the_wheel_without_java_says_what_it_needs(wheel: Path, tmp_path: Path) -> None:
    package = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(package)
    (tmp_path / "logs").mkdir()
    (tmp_path / "work").mkdir()
    run = ["-c", "import sys; from kafka_hindsight.cli import main; sys.exit(main.main())"]
    done = subprocess.run(
        [sys.executable, *run, "audit", "--engine", "spark", "--logs", str(tmp_path / "logs")],
        cwd=tmp_path / "work",
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(package), "JAVA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("Found: no Java")
    assert list((tmp_path / "work").iterdir()) == []


def test_links_of_readme_are_absolute_in_a_release() -> None:
    text = absolute((HOME / "README.md").read_text(encoding="utf-8"), "https://host/project")
    assert "](docs/" not in text
    assert f"](https://host/project/blob/v{__version__}/docs/install.md#with-pip)" in text
    assert f"](https://host/project/raw/v{__version__}/docs/pictures/report.png)" in text
