"""Lines are divided between records, whatever they are wrapped in."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from drill.render import WRAPS
from spark_jobs.transforms.intake.forms import form_of
from spark_jobs.transforms.intake.last_records import last_record
from tests.support.logs import line, resigned

AT = datetime(2026, 11, 21, 1, 44, 29, 117_000, tzinfo=UTC)
RECORD = line("Stopped", logger="kafka.network.SocketServer").rstrip("\n")
TRACE = [RECORD, "java.io.IOException: Connection reset", "\tat java.base/sun.nio.ch.SocketDispatcher.read0"]


@pytest.mark.parametrize("wrap", [None, *(name for name in WRAPS if name != "colours")])
def test_the_last_record_keeps_its_trace(wrap: str | None) -> None:
    lines = [resigned(3).rstrip("\n"), *TRACE]
    wrapped = [WRAPS[wrap](text, AT, "kafka-0") if wrap else text for text in lines]
    physical = "\n".join(wrapped).encode().split(b"\n")
    head = len("\n".join(wrapped[:1]).split("\n"))
    assert last_record(physical) == head
    assert last_record(physical[head:]) == 0


@pytest.mark.parametrize("wrap", WRAPS)
def test_a_quiet_log_is_unwrapped_too(wrap: str) -> None:
    """None of its lines is an event: the heads inside show what they are wrapped in."""
    lines = [WRAPS[wrap](text, AT, "kafka-0") for text in (RECORD, RECORD)]
    form = form_of("\n".join(lines).split("\n"))
    assert form.envelopes == form_of([WRAPS[wrap](resigned(1).rstrip("\n"), AT, "kafka-0")] * 2).envelopes
    assert form.envelopes


def test_a_pattern_that_a_user_gave_begins_records() -> None:
    lines = [b"2026.11.21 01-44-29 | INFO | Stopped", b"\tat a.b.C"]
    assert last_record(lines, "%d{yyyy.MM.dd HH-mm-ss} | %p | %m%n") == 0
    assert last_record(lines) is None


def test_lines_of_no_log_begin_no_record() -> None:
    assert last_record([b"nothing", b"of a log"]) is None
    assert last_record([]) is None
