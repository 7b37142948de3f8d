"""Several test processes on a fresh machine ask for the same Kafka at the same time."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep

import pytest

from drill import jars


def test_a_kafka_is_fetched_once_however_many_ask_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = b"a jar"
    fetched: list[str] = []

    def fetch(version: str, folder: Path) -> None:
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
