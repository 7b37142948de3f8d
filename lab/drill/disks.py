"""The disks of the drill's brokers, two for each, and how they fail."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

_ENDINGS = {"metadata": "", "data": "-b"}
"""Kafka keeps its metadata log in the first directory. Source: metadata.log.dir, default the first of log.dirs."""

_PARTITION = re.compile(r"(.+)-(\d+)")


def log_dirs(data: Path, broker: int, which: str = "all") -> tuple[Path, ...]:
    """The log directories of a broker: `metadata`, `data`, or all."""
    return tuple(data / f"broker-{broker}{end}" for name, end in _ENDINGS.items() if which in (name, "all"))


def fail(directories: Sequence[Path]) -> None:
    """Take directories away at once; a file in the place of each keeps Kafka from making a new one."""
    for directory in directories:
        directory.rename(_away(directory))
        directory.touch()


def mend(directories: Sequence[Path]) -> bool:
    """Restore the directories that were moved away, with their files. Returns whether there was one."""
    directories_away = [d for d in directories if _away(d).exists()]
    for directory in directories_away:
        directory.unlink()
        _away(directory).rename(directory)
    return bool(directories_away)


def partitions_in(directories: Sequence[Path]) -> set[tuple[str, int]]:
    """The partitions that have a replica in them; one that is being moved or deleted has none."""
    names = (_PARTITION.fullmatch(d.name) for directory in directories for d in directory.iterdir() if d.is_dir())
    return {(m[1], int(m[2])) for m in names if m and m[1] != "__cluster_metadata"}


def _away(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}.gone")
