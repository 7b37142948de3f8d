"""Temporary folders are for one user, and those of killed processes go with the next one."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.start.python_child import variables
from kafka_hindsight.start.temporary_folders import private_folder, temporary_folder

KILLED = """
import os, signal
from kafka_hindsight.start.temporary_folders import temporary_folder
with temporary_folder() as folder:
    open(f"{folder}/secret", "w").write("s3cret")
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def own_tmp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def test_folder_of_a_killed_process_goes_with_the_next_and_that_of_a_living_one_stays() -> None:
    environment = {**os.environ, **variables()}
    killed = subprocess.run([sys.executable, "-c", KILLED], env=environment, capture_output=True, text=True)
    left = Path(killed.stdout.strip())
    assert (left / "secret").exists()
    with temporary_folder() as living, temporary_folder() as other:
        assert not left.exists()
        assert Path(living).exists() and Path(other).exists()
        assert stat.S_IMODE(Path(living).stat().st_mode) == 0o700
    assert not list(private_folder().iterdir())


def test_folder_of_another_machine_that_shares_the_disk_stays() -> None:
    elsewhere = private_folder() / "of-another-machine-1-x"
    elsewhere.mkdir()
    with temporary_folder():
        assert elsewhere.exists()


def test_folder_of_a_process_is_one_and_ends_with_it() -> None:
    both = "from kafka_hindsight.start.temporary_folders import folder_of_process as f; print(f()); print(f())"
    done = subprocess.run(
        [sys.executable, "-c", both], env={**os.environ, **variables()}, capture_output=True, text=True
    )
    first, second = map(Path, done.stdout.split())
    assert first == second and first.parent == private_folder() and not first.exists()


def test_folder_that_others_may_read_or_own_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    refused = "is not a folder of this user alone. Needed: one with mode 0700"
    folder = private_folder()
    folder.chmod(0o755)
    with pytest.raises(BadInput, match=refused):
        temporary_folder()
    folder.chmod(0o700)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    folder.with_name(f"hindsight-{os.getuid()}").symlink_to(folder)
    with pytest.raises(BadInput, match=refused):
        temporary_folder()
