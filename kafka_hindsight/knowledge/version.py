"""The version of knowledge: a hash of sources, so that rows name the knowledge by which they were read and judged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

READING = ("catalog", "kafka_records", "knowledge", "logs", "shared")
"""The rooms of the library by which lines are read: silver.events depends on them."""

JUDGING = (*READING, "measures", "judgements")
"""The rooms of the library by which verdicts are reached."""


@cache
def version_of(rooms: tuple[str, ...]) -> str:
    """Hash the sources of rooms of the library.

    Args:
        rooms: The names of their folders.

    Returns:
        A short hash: the same in every process and from the wheel, which lacks the samples.
    """
    sources = [source for room in rooms for source in _sources(files("kafka_hindsight") / room, room)]
    return hashlib.sha256(repr(sources).encode()).hexdigest()[:12]


def _sources(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    """The files below a folder that are read when the library runs, each with its name, in order of their names."""
    for entry in sorted(folder.iterdir(), key=lambda e: e.name):
        path = f"{name}/{entry.name}"
        if entry.is_dir() and entry.name != "samples":
            yield from _sources(entry, path)
        elif path.endswith((".py", ".jsonl")):
            yield path, entry.read_bytes()
