"""Rows with their neighbours, and the first and the last of instants."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.shared.grouping import with_neighbours
from kafka_hindsight.shared.instants import earliest, latest


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("", []),
        ("a", [(None, "a", None)]),
        ("abc", [(None, "a", "b"), ("a", "b", "c"), ("b", "c", None)]),
    ],
)
def test_each_row_stands_between_its_neighbours(rows: str, expected: list[object]) -> None:
    assert list(with_neighbours(rows)) == expected


@given(st.lists(st.none() | st.datetimes()))
def test_first_and_last_instants_are_of_those_that_are_known(ats: list[datetime | None]) -> None:
    ordered = sorted(at for at in ats if at)
    assert (earliest(*ats), latest(*ats)) == ((ordered[0], ordered[-1]) if ordered else (None, None))
