"""What the clocks of heads say that are patterns."""

from __future__ import annotations

import numpy as np
import pytest

from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.heads import pattern_heads


@pytest.mark.parametrize(
    ("line", "micros", "is_instant"),
    [
        (b"2026-11-21 01:44:29,117 INFO x", 1_795_225_469_117_000, False),
        (b"2026-11-21T01:44:29.117123456Z INFO x", 1_795_225_469_117_123, True),
        (b"2026-11-21T02:44:29+01:00 INFO x", 1_795_225_469_000_000, True),
        (b"2026-02-30 01:44:29,117 INFO x", NO_INSTANT, False),
    ],
)
def test_timestamp_of_pattern_head_is_read_to_the_microsecond(line: bytes, micros: int, is_instant: bool) -> None:
    which, at, instants = pattern_heads(b"x\n" + line, np.array([0, 2]), "%d{ISO8601} %p %m%n")
    assert (which.tolist(), at.tolist(), instants.tolist()) == ([1], [micros], [is_instant])
