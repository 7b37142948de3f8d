"""Records in the bytes of files: found by whole arrays as by regexes, and the same however the bytes are cut."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_hindsight.knowledge.layouts import LAYOUTS, MOST_LINES
from kafka_hindsight.logs import file_bytes
from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.cutting import cut
from kafka_hindsight.logs.file_bytes import CHUNK, ArchiveMember, Bytes, OfMember, Unpacked, unpacked_archive
from kafka_hindsight.logs.heads import HEADLESS, heads_of, lines_of
from kafka_hindsight.logs.pieces import NO_TIMES, REACH, Piece, Range, Times, contests, look, mark_of, ranges_of

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
XZ = lzma.compress(b"one\n" * 50_000)
PACKED = gzip.compress(b"one\n", mtime=0)
MICRO = timedelta(microseconds=1)

_STARTS = (
    "[2026-11-21 01:44:29,117] INFO ",
    "[2026-11-21 01:44:29,118] WARN ",
    "[2026-02-30 01:44:29,117] ERROR ",
    "[2026-11-21 24:44:29,117] INFO ",
    "[2026-11-21 01:44:29,117] UNUSUALLYLONGLEVEL ",
    "[2026-11-21 01:44:29,117] UNUSUALLYLONGLEVEl ",
    "[2026-11-21 01:44:29,117] info ",
    "[2026-11-21 01:44:29.117] INFO ",
    "[2026-11-21 01:44:2",
    "%4|1795225642.862|MAXPOLL|",
    "%4|1795225642.862|maxpoll|",
    "%9|1795225642.862|MAXPOLL|",
    "\tat kafka.server.X(X.scala:213)",
    "\ufeff",
    "",
    "\r",
    "ä\0",
)
lines = st.builds(str.__add__, st.sampled_from(_STARTS), st.text(st.sampled_from("a [%\rü1"), max_size=3))
texts = st.builds(lambda parts, end: "\n".join(parts) + end, st.lists(lines, max_size=30), st.sampled_from(["", "\n"]))
HEADS = [re.compile(layout.head, re.ASCII) for layout in LAYOUTS]


def pieces_of(data: bytes, size: int) -> list[Piece]:
    """The pieces of a file."""
    ends = [(begin, min(begin + size, len(data))) for begin in range(0, len(data), size)]
    return [look(data[max(begin - 1, 0) : end + REACH], 7, begin, end, Clock("UTC")) for begin, end in ends]


def texts_of(data: bytes, ranges: Sequence[Range]) -> list[tuple[str, int]]:
    """The text and the lines of each record of some ranges."""
    batches = [cut(data[r.begin : r.begin + r.size], r, Clock("UTC"), None) for r in ranges]
    return [(row["text"], row["line_count"]) for batch in batches for row in batch.to_pylist()]


@given(texts)
def test_heads_equal_the_matches_of_the_layout_regexes(text: str) -> None:
    data = text.encode()
    begins = lines_of(data, True).tolist()
    file_lines = [line.decode() for line in data[begins[0] if begins else 0 :].removesuffix(b"\n").split(b"\n")]
    heads = heads_of(data, np.array(begins, np.int64))
    expected = [
        (begin, number)
        for begin, line in zip(begins, file_lines if begins else [], strict=True)
        for number, head in enumerate(HEADS)
        if head.match(line)
    ]
    assert list(zip(heads.starts.tolist(), heads.layouts.tolist(), strict=True)) == expected


@given(st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31)).map(lambda at: at.replace(microsecond=0)))
def test_clock_of_head_is_read_as_utc_microseconds(at: datetime) -> None:
    data = f"[{at.isoformat(' ')},123] INFO a\n".encode()
    heads = heads_of(data, lines_of(data, True))
    assert heads.clocks.tolist() == [(at.replace(tzinfo=UTC) - EPOCH) // MICRO + 123_000]


@pytest.mark.parametrize(
    "clock", ["0000-01-01 00:00:00", "2026-00-01 00:00:00", "2026-02-29 00:00:00", "2026-01-01 24:00:00"]
)
def test_clock_outside_the_calendar_is_no_instant(clock: str) -> None:
    data = f"[{clock},000] INFO a\n".encode()
    assert heads_of(data, lines_of(data, True)).clocks.tolist() == [NO_INSTANT]


@given(texts, st.integers(1, 300))
@example("\ufeff1", 1)
def test_records_are_the_same_in_any_pieces_of_a_file(text: str, size: int) -> None:
    data = text.encode()
    whole, pieces = pieces_of(data, max(len(data), 1)), pieces_of(data, size)
    ranges = ranges_of(pieces)
    assert texts_of(data, ranges) == texts_of(data, ranges_of(whole))
    assert sum(p.lines for p in pieces) == sum(count for _, count in texts_of(data, ranges))
    assert all(a.begin + a.size == b.begin for a, b in pairwise(ranges))
    assert all(mark_of(data, r.begin) == r.mark for r in ranges)
    assert sum((r.times for r in ranges), NO_TIMES) == sum((p.before + p.after for p in whole), NO_TIMES)


def test_ranges_of_a_file_share_no_instant() -> None:
    clock = (datetime(2026, 11, 21, 1) + timedelta(milliseconds=n // 20) for n in range(2_000))
    data = "".join(f"[{at:%Y-%m-%d %H:%M:%S},{at.microsecond // 1_000:03d}] INFO a\n" for at in clock).encode()
    ranges = ranges_of(pieces_of(data, 5_000))
    assert len(ranges) > 5
    assert contests({n: r.times for n, r in enumerate(ranges)}) == {}


def test_endless_record_is_truncated_and_all_its_lines_are_counted() -> None:
    head = "[2026-11-21 01:44:29,117] INFO a\n"
    data = (head + "z\n" * (MOST_LINES * 2) + head).encode()
    first, last = ranges_of(pieces_of(data, 1_000))
    assert first.size < len(data) // 2 + 2_000
    ((text, count),) = texts_of(data, [first])
    assert (text.count("\n"), count) == (MOST_LINES - 1, MOST_LINES * 2 + 1)
    assert texts_of(data, [last]) == [(head.rstrip("\n"), 1)]


def test_text_before_the_first_head_is_a_record_without_layout() -> None:
    data = b"left over\n\n[2026-11-21 01:44:29,117] INFO a\n"
    (range_,) = ranges_of(pieces_of(data, 100))
    rows = cut(data, range_, Clock("UTC"), None).to_pylist()
    assert [(row["layout"], row["text"], row["line_count"]) for row in rows] == [
        (HEADLESS, "left over\n", 2),
        (0, "[2026-11-21 01:44:29,117] INFO a", 1),
    ]


times = st.builds(
    lambda a, length, n: Times(a, a + length, n), st.integers(0, 50), st.integers(0, 9), st.integers(0, 1)
)


@given(st.dictionaries(st.integers(0, 9), times))
def test_ranges_are_contested_at_every_instant_they_share(spans: dict[int, Times]) -> None:
    contested = contests(spans)
    for n, mine in spans.items():
        for m, other in spans.items():
            first, last = max(mine.first, other.first), min(mine.last, other.last)
            if n != m and first <= last:
                assert contested[n].first <= first
                assert last <= contested[n].last
            if n != m and mine.timeless and other.timeless:
                assert contested[n].timeless


class InMemory(Bytes):
    """The bytes of a file in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def between(self, begin: int, end: int) -> bytes:
        return self.data[begin:end]


def unpacked(packed: bytes, suffix: str) -> Unpacked:
    """What a packed file holds."""
    return Unpacked(InMemory(packed), f"/a.log{suffix}", len(packed))


@pytest.mark.parametrize(
    ("packed", "content", "damage"),
    [
        (PACKED + gzip.compress(b"two\n", mtime=0), b"one\ntwo\n", None),
        (PACKED + b"\0\0\0", b"one\n", None),
        (PACKED[:-6], b"one\n", "it is incomplete: it was cut off, or is still being written"),
        (b"no such file", b"", "it is not a gzip file, it was cut off, or its bytes were changed"),
    ],
)
@pytest.mark.parametrize("size", [1, 5, CHUNK])
def test_damaged_gzip_file_is_read_as_far_as_possible(
    packed: bytes, content: bytes, damage: str | None, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_bytes, "CHUNK", size)
    unpacked_file = unpacked(packed, ".gz")
    assert unpacked_file.between(0, CHUNK) == content
    assert unpacked_file.damage == damage


@pytest.mark.parametrize(("suffix", "pack"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)])
def test_decompression_bomb_is_read_up_to_a_limit(suffix: str, pack: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_bytes, "_UNPACKED_LEAST", 9 * CHUNK)
    bomb = pack(bytes(10 * CHUNK))
    unpacked_file = unpacked(bomb, suffix)
    longest = max(len(unpacked_file.between(at, at + 2 * CHUNK)) for at in range(0, 12 * CHUNK, 2 * CHUNK))
    assert longest <= 2 * CHUNK
    assert unpacked_file.damage is not None
    assert unpacked_file.damage.startswith("it unpacks to more than 500 times its size")


def test_highly_compressible_log_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_bytes, "_UNPACKED_LEAST", 0)
    log = "".join(
        f"[2026-11-21 01:{n // 60 % 60:02d}:{n % 60:02d},000] INFO The same (kafka.A)\n" for n in range(50_000)
    )
    unpacked_file = unpacked(gzip.compress(log.encode()), ".gz")
    assert unpacked_file.between(0, len(log)).decode() == log
    assert unpacked_file.damage is None


@pytest.mark.parametrize("size", [1_000, 5, CHUNK])
@pytest.mark.parametrize(
    ("packed", "content", "is_damaged"),
    [
        (XZ, b"one\n" * 50_000, False),
        (XZ * 2, b"one\n" * 100_000, False),
        (XZ[:-9], b"one\n" * 50_000, True),
        (b"none", b"", True),
    ],
)
def test_damaged_xz_file_is_read_as_far_as_possible(
    packed: bytes, content: bytes, is_damaged: bool, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_bytes, "CHUNK", size)
    unpacked_file = unpacked(packed, ".xz")
    assert unpacked_file.between(0, CHUNK) == content
    assert (unpacked_file.damage is not None) is is_damaged


def test_archive_member_is_unpacked_from_the_end_of_the_former_one(tmp_path: Path) -> None:
    content = random.Random(1).randbytes(3 * CHUNK)
    packed = tmp_path / "night.tar.gz"
    packed.write_bytes(gzip.compress(content, 1))
    uri, size = str(packed), packed.stat().st_size

    def read(member: ArchiveMember, before: Unpacked | None) -> tuple[Bytes, bytes]:
        source = unpacked_archive(uri, size, before, member)
        return source, OfMember(source, member).between(1, member.size + 99)

    first, early = read(ArchiveMember("a", 10, 1000), None)
    assert early == content[11:1010]
    assert isinstance(first, Unpacked)
    second, late = read(ArchiveMember("b", 2 * CHUNK + 5, 700), first)
    assert (second, late) == (first, content[2 * CHUNK + 6 : 2 * CHUNK + 705])
    third, again = read(ArchiveMember("a", 10, 1000), first)
    assert third is not first
    assert again == early
    assert len(first.buffer) <= CHUNK
