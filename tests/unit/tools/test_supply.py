"""Licences out of a bill of materials, jars against their locks, advisories as sentences."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from kafka_hindsight.settings.home import HOME
from setup.build import DELTA_LOCK, JARS
from tools.supply import by_licence, error_lines, folders, other_jars, vulnerable


def test_packages_are_listed_by_declared_licence() -> None:
    components = [
        {"name": "b", "version": "2", "licenses": [{"license": {"id": "MIT"}}]},
        {"name": "A", "version": "1", "licenses": [{"license": {"id": "MIT"}}]},
        {"name": "c", "version": "3", "licenses": [{"expression": "MIT OR Apache-2.0"}]},
        {"name": "d", "version": "4", "licenses": [{"license": {"name": "BSD"}}, {"license": {"id": "MIT"}}]},
        {"name": "e", "version": "5"},
    ]
    assert dict(by_licence(components)) == {
        "BSD and MIT": ["d 4"],
        "MIT": ["A 1", "b 2"],
        "MIT OR Apache-2.0": ["c 3"],
        "not declared": ["e 5"],
    }


def test_each_lock_of_jars_has_a_folder_and_delta_jars_match_it(capsys: pytest.CaptureFixture[str]) -> None:
    lock_of_folder = folders()
    assert set(lock_of_folder.values()) == {*(HOME / "locks").glob("*.sha256")}
    assert list(other_jars({JARS: DELTA_LOCK})) == []
    assert capsys.readouterr().out == "locks/jars.sha256: 4 jars, as locked\n"


def test_changed_missing_or_extra_jar_is_named(tmp_path: Path) -> None:
    jars, lock = tmp_path / "jars", DELTA_LOCK
    jars.mkdir()
    names = [line.split()[1] for line in lock.read_text().splitlines()]
    for name in names[:3]:
        (jars / name).write_bytes((JARS / name).read_bytes())
    with (jars / names[0]).open("ab") as file:
        file.write(b"more")
    (jars / "extra.jar").write_bytes(b"")
    sentences = sorted(other_jars({jars: lock}))
    assert len(sentences) == 3 and all(sentence.startswith(str(jars)) for sentence in sentences)
    assert f"{names[0]}. Found: {hashlib.sha256((jars / names[0]).read_bytes()).hexdigest()}" in " ".join(sentences)
    assert f"{names[3]}. Found: no file" in " ".join(sentences)
    assert "extra.jar" in sentences[-1] and "Needed: no such file" in sentences[-1]


def test_error_of_pip_audit_is_its_own_sentence() -> None:
    missing = "altair: Dependency not found on PyPI and could not be audited: altair (6.3.0)"
    assert error_lines(f"ERROR:pip_audit._cli:{missing}\n") == [missing]
    assert error_lines("Traceback (most recent call last):\n  File\nOSError: refused\n") == ["OSError: refused"]


def test_each_advisory_is_a_sentence() -> None:
    packages = [
        {"name": "a", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2", "1.1"]}]},
        {"name": "b", "version": "2", "vulns": [{"id": "GHSA-x", "fix_versions": []}]},
        {"name": "c", "version": "3", "vulns": []},
    ]
    assert list(vulnerable(packages)) == [
        "a 1 has PYSEC-1; fixed in 2, 1.1.",
        "b 2 has GHSA-x; fixed in no version yet.",
    ]
