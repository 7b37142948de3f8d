"""Mutated lines of the recorded night: each has one fate, and none holds a worker up."""

from __future__ import annotations

import random
from pathlib import Path

from lab.chaos.inputs import captured_records, lines_of, mutated, one_by_one, records
from tests.support.logs import unpack_night


def test_mutated_lines_have_one_fate_each(tmp_path: Path) -> None:
    tried = one_by_one(random.Random(18), lines_of(unpack_night(tmp_path)), 5_000)
    assert tried.attempts == tried.equal == tried.whole == 5_000
    assert "quarantined" in tried.notes[0]


def test_mutated_records_are_read_or_refused() -> None:
    captured = captured_records(Path(__file__).parents[2] / "excerpts" / "group_records.jsonl")
    tried = records(random.Random(18), captured, 5_000)
    assert tried.attempts == tried.equal == 5_000
    assert "'refused'" in tried.notes[0] and "'read'" in tried.notes[0]


def test_same_seed_gives_same_mutations() -> None:
    lines = [b"[2026-11-21 01:44:29,117] INFO one (kafka.A)", b"two"]
    first, again = (mutated(random.Random(7), lines, 50) for _ in range(2))
    assert first == again
    assert mutated(random.Random(8), lines, 50) != first
    assert not any(b"\n" in line for line in first)
