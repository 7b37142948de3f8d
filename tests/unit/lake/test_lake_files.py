"""Small files in the lake: whoever reads one finds it whole."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kafka_hindsight.lake import landing

LIMIT = 64 * 1024


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """This process can write no larger file, as on a disk that is full."""
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


def test_failed_write_leaves_the_former_file(tmp_path: Path) -> None:
    place = f"{tmp_path}/lake_version.json"
    landing.write_json(place, {"version": 1})
    with files_of_at_most(LIMIT), pytest.raises(OSError, match="File too large"):
        landing.write_json(place, {"version": "2" * 2 * LIMIT})
    assert landing.read_json(place) == {"version": 1}
    assert [file.name for file in tmp_path.iterdir()] == ["lake_version.json"]
