"""A publication that is killed anywhere: readers see all of it or nothing, and a retry leaves what one run leaves.

The writer is the store without laws or pages, so that many kills are cheap; `make chaos` kills the step itself.
"""

from __future__ import annotations

import random
from contextlib import closing
from pathlib import Path

from lab.chaos.kills import kills
from lab.chaos.worker import Worker


def test_readers_never_see_half_of_killed_publication(tmp_path: Path) -> None:
    lake, rng = tmp_path / "lake", random.Random(18)
    lake.mkdir()
    reported = 0
    with (
        closing(Worker(tmp_path / "worker", "tests.support.publisher")) as worker,
        closing(Worker(tmp_path / "other", "tests.support.publisher")) as other,
    ):
        for night in ("first", "second"):
            outcome = kills(worker, other, rng, lake, "publish", {"night": night}, 6, 1)
            assert outcome.holds, outcome.notes
            assert 1 < outcome.attempts <= 6, "who watches for moments on a busy machine sees fewer than were asked for"
            reported += outcome.reported
    assert reported > 0, "no kill left half of a publication"
