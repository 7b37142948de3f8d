"""Lines are divided between records and between instants, whatever they are wrapped in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.logs.forms import form_of
from kafka_hindsight.logs.unwrapping import divisions
from lab.drill.render import WRAPS
from tests.support.logs import line, resigned

AT = datetime(2026, 11, 21, 1, 44, 29, 117_000, tzinfo=UTC)
RECORD = line("Stopped", logger="kafka.network.SocketServer").rstrip("\n")
LATER = RECORD.replace("29,117", "29,118")
TRACE = [LATER, "java.io.IOException: Connection reset", "\tat java.base/sun.nio.ch.SocketDispatcher.read0"]


@pytest.mark.parametrize("wrap", [None, *(name for name in WRAPS if name != "colours")])
def test_last_record_keeps_its_trace_in_envelope(wrap: str | None) -> None:
    lines = [resigned(3).rstrip("\n"), *TRACE]
    wrapped = [WRAPS[wrap](text, AT, "kafka-0") if wrap else text for text in lines]
    physical = "\n".join(wrapped).encode().split(b"\n")
    head = len("\n".join(wrapped[:1]).split("\n"))
    assert divisions(physical) == [0, head]
    assert divisions(physical[head:]) == [0]
    assert divisions(physical[head + 1 :]) == []


@pytest.mark.parametrize("wrap", WRAPS)
def test_log_without_event_is_unwrapped(wrap: str) -> None:
    """None of its lines is an event: the heads inside show what they are wrapped in."""
    lines = [WRAPS[wrap](text, AT, "kafka-0") for text in (RECORD, RECORD)]
    form = form_of("\n".join(lines).split("\n"))
    assert form.envelopes == form_of([WRAPS[wrap](resigned(1).rstrip("\n"), AT, "kafka-0")] * 2).envelopes
    assert form.envelopes


def test_user_pattern_begins_records() -> None:
    lines = [b"2026.11.21 01-44-29 | INFO | Stopped", b"\tat a.b.C"]
    assert divisions(lines, "%d{yyyy.MM.dd HH-mm-ss} | %p | %m%n") == [0]
    assert divisions(lines) == []


def test_unknown_lines_begin_no_record() -> None:
    assert divisions([b"nothing", b"of a log"]) == []
    assert divisions([]) == []


@given(st.lists(st.integers(0, 9), min_size=1, max_size=20))
def test_divided_files_share_no_instant(seconds: list[int]) -> None:
    lines = [resigned(n, f"01:44:0{at},000").rstrip("\n").encode() for n, at in enumerate(seconds)]
    starts = divisions(lines)
    assert starts == [n for n in range(len(seconds)) if not n or max(seconds[:n]) < min(seconds[n:])]
