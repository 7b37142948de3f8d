"""The last reading of each log: what runs left in the lake beside its tables."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_hindsight.intake.last_reads import with_last_reads
from kafka_hindsight.intake.read_ends import FileStates, ReadEnd, keep_states

EARLY, LATE = datetime(2026, 11, 21, 2, tzinfo=UTC), datetime(2026, 11, 21, 9, 10, tzinfo=UTC)


def end(source: str, last_at: datetime | None, read_at: datetime = LATE) -> ReadEnd:
    last = last_at.isoformat() if last_at else None
    return ReadEnd("p", source, source, 1, "f", 1, None, last, read_at.isoformat())


def row(source: str, **columns: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("last_line_at", "read_to_end_at", "lines_in", "unparsed"))
    return {"cluster": "a/b", "broker": 1, "origin": "broker", **nothing, "source": source, **columns}


def test_log_that_grows_has_last_line_and_instant_of_its_last_reading(tmp_path: Path) -> None:
    keep_states(str(tmp_path), "a/b", FileStates([end("s.log", LATE), end("s.log", EARLY, EARLY), end("u.log", None)]))
    rows = [row("s.log", last_line_at=EARLY), row("u.log", last_line_at=EARLY, read_to_end_at=EARLY), row("gone.log")]
    of = {each["source"]: each for each in with_last_reads(str(tmp_path), rows)}
    assert (of["s.log"]["last_line_at"], of["s.log"]["last_read_at"]) == (LATE, LATE)
    assert (of["u.log"]["last_line_at"], of["u.log"]["last_read_at"]) == (EARLY, LATE)
    assert (of["gone.log"]["last_line_at"], of["gone.log"]["last_read_at"]) == (None, None)


def test_file_of_several_programs_gives_no_last_line_to_one_of_them(tmp_path: Path) -> None:
    keep_states(str(tmp_path), "a/b", FileStates([end("all.log", LATE)]))
    (log,) = with_last_reads(str(tmp_path), [row("all.log//b-1", last_line_at=EARLY)])
    assert (log["last_line_at"], log["last_read_at"]) == (EARLY, LATE)


def test_log_that_was_only_collected_is_listed_without_origin(tmp_path: Path) -> None:
    keep_states(str(tmp_path), "new", FileStates([end("s.log", LATE)]))
    (log,) = with_last_reads(str(tmp_path), [])
    assert (log["cluster"], log["source"], log["last_line_at"]) == ("new", "s.log", LATE)
    assert (log["origin"], log["broker"], log["lines_in"]) == ("", None, None)
