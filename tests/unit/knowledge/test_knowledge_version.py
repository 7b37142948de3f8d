"""knowledge_version stands for the sources: the same in every process, another one where a source differs."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from kafka_hindsight.knowledge.version import JUDGING, READING, version_of
from kafka_hindsight.settings.home import PACKAGE

ASKED = "from kafka_hindsight.knowledge.version import *; print(version_of(READING), version_of(JUDGING))"


def versions(library: Path) -> list[str]:
    """The versions that another process gives, with the library of a folder or of an archive."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(library)!r}); {ASKED}"]
    return subprocess.run(command, cwd="/", env={}, capture_output=True, text=True, check=True).stdout.split()


@pytest.fixture
def library(tmp_path: Path) -> Path:
    left_out = shutil.ignore_patterns("samples", "__pycache__")
    shutil.copytree(PACKAGE, tmp_path / "copy" / PACKAGE.name, ignore=left_out)
    return tmp_path / "copy"


def test_knowledge_version_is_same_in_other_process_and_from_an_archive(library: Path) -> None:
    expected = [version_of(READING), version_of(JUDGING)]
    assert versions(library) == expected
    with ZipFile(library / "shipped.zip", "w") as archive:
        for file in sorted((*library.rglob("*.py"), *library.rglob("noise/*.jsonl"))):
            archive.write(file, file.relative_to(library))
    assert versions(library / "shipped.zip") == expected


@pytest.mark.parametrize(
    ("file", "rereads"),
    [
        ("knowledge/noise/brokers.jsonl", True),
        ("logs/reading.py", True),
        ("judgements/brokers/outage_rulings.py", False),
    ],
)
def test_changed_source_changes_the_knowledge_version(library: Path, file: str, rereads: bool) -> None:
    reading, judging = version_of(READING), version_of(JUDGING)
    with (library / PACKAGE.name / file).open("a") as source:
        source.write("\n")
    if file.endswith(".jsonl"):  # a row that is no shape would not load
        (library / PACKAGE.name / file).write_text((PACKAGE / file).read_text().replace('"why": "', '"why": "So: ', 1))
    now = versions(library)
    assert (now[0] != reading, now[1] != judging) == (rereads, True)
