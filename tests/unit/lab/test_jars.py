"""Several test processes on a fresh machine ask for the same Kafka at the same time."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pytest

from lab.drill import jars
from setup import maven


def test_kafka_is_fetched_once_for_concurrent_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = b"a jar"
    fetched: list[str] = []

    def fetch(version: str, folder: Path, wanted: Mapping[str, str]) -> None:
        fetched.append(version)
        folder.mkdir()
        sleep(0.05)
        (folder / "kafka.jar").write_bytes(jar)

    (tmp_path / "locks").mkdir()
    (tmp_path / "locks" / "kafka-9.9.9.sha256").write_text(f"{hashlib.sha256(jar).hexdigest()}  kafka.jar\n")
    monkeypatch.setattr(jars, "HOME", tmp_path)
    monkeypatch.setattr(jars, "KAFKAS", tmp_path / "kafkas")
    monkeypatch.setattr(jars, "fetch", fetch)
    with ThreadPoolExecutor(4) as asking:
        folders = list(asking.map(jars.libs, ["9.9.9"] * 4))
    assert fetched == ["9.9.9"]
    assert [(folder / "kafka.jar").read_bytes() for folder in folders] == [jar] * 4


def test_fetched_kafka_is_used_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the image another user owns the folder."""
    (tmp_path / jars.NEWEST).mkdir()
    monkeypatch.setattr(jars, "KAFKAS", tmp_path)
    assert jars.libs(jars.NEWEST) == tmp_path / jars.NEWEST
    assert [path.name for path in tmp_path.iterdir()] == [jars.NEWEST]


def test_folder_of_jars_appears_only_with_pinned_checksums(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "java"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\n"
        "folder = pathlib.Path(sys.argv[sys.argv.index('-retrieve') + 1]).parent\n"
        "folder.mkdir()\n(folder / 'a-1.jar').write_bytes(b'a jar')\n"
    )
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    folder, modules = tmp_path / "jars", [maven.Module("x", "a", "1")]
    with pytest.raises(maven.CannotFetch, match=r"a-1\.jar\. Found: .*\. Needed: 0000\."):
        maven.fetch(modules, {"a-1.jar": "0000"}, folder, tmp_path / "cache")
    assert not folder.exists()
    maven.fetch(modules, {"a-1.jar": hashlib.sha256(b"a jar").hexdigest()}, folder, tmp_path / "cache")
    assert [p.name for p in folder.iterdir()] == ["a-1.jar"]
