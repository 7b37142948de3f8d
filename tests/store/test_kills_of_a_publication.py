"""A publication that is killed anywhere: readers see all of it or nothing, and a retry leaves what one run leaves.

The writer is delta-rs, so that many kills are cheap; `make chaos` kills the step itself.
"""

from __future__ import annotations

import random
from pathlib import Path

from tools.chaos.kills import kills
from tools.chaos.worker import Worker


def test_readers_never_see_half_of_a_publication_that_is_killed(tmp_path: Path) -> None:
    lake, rng = tmp_path / "lake", random.Random(18)
    lake.mkdir()
    worker = Worker(tmp_path / "worker", "tests.support.publisher")
    told = 0
    try:
        for night in ("first", "second"):
            tried = kills(worker, worker, rng, lake, "publish", {"night": night}, 6, 1)
            assert tried.holds, tried.notes
            assert tried.tried == 6
            told += tried.told
    finally:
        worker.kill()
    assert told > 0, "no kill left half of a publication"
