"""How sure a verdict may be that rests on lines of a clock that is wrong."""

from __future__ import annotations

from datetime import timedelta

from kafka_hindsight.catalog.rows import Quote
from tests.support.clocks import clocks_apart
from tests.support.rows import AT

MINUTE = timedelta(minutes=1)


def quote(minute: int, source: str) -> Quote:
    return Quote(line_id="", source=source, happened_at=AT + minute * MINUTE, text="")


def test_one_line_of_a_wrong_clock_beside_another_lowers_a_verdict() -> None:
    (wrong,) = clocks_apart(MINUTE, 1, sources=["a.log"])
    assert wrong.most([quote(0, "a.log"), quote(9, "b.log")]) == "likely"
    assert wrong.most([quote(0, "a.log"), quote(1, "b.log")]) == "possible"
    assert wrong.most([quote(0, "a.log"), quote(1, "a.log")]) == "certain", "its own lines are compared with none"
