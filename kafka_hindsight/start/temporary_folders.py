"""Temporary folders of this user alone. What a killed process left goes when the next one begins."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import tempfile
from pathlib import Path
from tempfile import TemporaryDirectory

from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.parent import is_alive

_OF_PROCESSES: dict[int, TemporaryDirectory[str]] = {}
"""The folder of this process; a process that was forked from another one also has that one's."""


def private_folder() -> Path:
    """The folder for this user alone, created if missing. Raises: BadInput if another user created it before."""
    folder = Path(tempfile.gettempdir()) / f"hindsight-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        info = folder.lstat()
        is_ours = stat.S_ISDIR(info.st_mode) and info.st_uid == os.getuid() and not stat.S_IMODE(info.st_mode) & 0o077
    except OSError:
        is_ours = False
    if not is_ours:
        raise BadInput(
            f"{folder} is not a folder of this user alone. Needed: one with mode 0700, for settings that no other user"
            " may read. Remove it, or set TMPDIR."
        )
    return folder


def temporary_folder() -> TemporaryDirectory[str]:
    """A folder of this process, which ends with it. Those of processes of this machine that have ended are removed."""
    folder, own = private_folder(), f"of-{socket.gethostname()}-"
    for abandoned in folder.glob(f"{own}*"):
        process = abandoned.name.removeprefix(own).partition("-")[0]
        if process.isdigit() and not is_alive(int(process)):
            shutil.rmtree(abandoned, ignore_errors=True)
    return TemporaryDirectory(prefix=f"{own}{os.getpid()}-", dir=folder)


def folder_of_process() -> Path:
    """The one folder of this process for what it needs until it ends, such as Spark's scratch."""
    process = os.getpid()
    if process not in _OF_PROCESSES:
        _OF_PROCESSES[process] = temporary_folder()
    return Path(_OF_PROCESSES[process].name)
