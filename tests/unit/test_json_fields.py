"""Fields of objects of JSON are what each object holds, whether Arrow reads them together or each is read alone."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.json_fields import field, fields_of
from kafka_hindsight.logs.objects import instants_of

PATHS = ("log", "host", "host.name", "log.level", "a.b.c")
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=8)
NUMBERS = st.integers(-(2**40), 2**40) | st.floats(allow_nan=False, allow_infinity=False, width=32)
VALUES = TEXT | NUMBERS | st.none() | st.booleans() | st.lists(TEXT, max_size=2)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "log": VALUES | st.fixed_dictionaries({}, optional={"level": VALUES}),
        "host": VALUES | st.fixed_dictionaries({}, optional={"name": VALUES}),
        "log.level": VALUES,
        "a": st.fixed_dictionaries(
            {}, optional={"b.c": VALUES, "b": st.fixed_dictionaries({}, optional={"c": VALUES})}
        ),
        "message": TEXT,
        "other": VALUES,
    },
)
ALIKE = st.fixed_dictionaries(
    {"log": TEXT, "host": st.fixed_dictionaries({"name": TEXT}), "message": TEXT, "n": NUMBERS}
)


def texts_of(lines: list[str]) -> pa.Array:
    return pa.array([line.encode(errors="replace") for line in lines], pa.binary())


def is_text(value: Any) -> bool:
    return isinstance(value, str)


@settings(max_examples=300, deadline=None)
@given(st.lists(OBJECTS, max_size=12) | st.lists(ALIKE, max_size=40), st.booleans())
@example([{"a": {"b.c": 0}}, {"a": {"b": {"c": ""}}}], False)
def test_what_is_text_is_found_at_its_path(objects: list[dict[str, Any]], ascii_only: bool) -> None:
    lines = [json.dumps(told, ensure_ascii=ascii_only) for told in objects]
    found = fields_of(texts_of(lines), (), PATHS, ("message",))
    for path in (*PATHS, "message"):
        expected = [field(told, path) for told in objects]
        columns = found[path].to_pylist()
        assert len(columns) == len(expected)
        for value, read in zip(expected, columns, strict=True):
            if is_text(value):
                assert read == value
            elif value is None:
                assert read is None


@pytest.mark.parametrize(
    "lines",
    [
        ['{"log":"a"}', '{"log":1}', '{"log":"b"}'],
        ['{"log":"a"}', '{"log":"b"', '{"log":"c"}'],
        ['{"log":"a"}', "plain", '{"log":"c"}\r'],
        ['{"log":"a"} {"log":"x"}', '{"log":"b"}'],
        ['{"log":"\\ud800"}', '{"log":"b"}'],
        ['{"log":"a"', '"x":1}'],
        [],
    ],
    ids=["types", "cut off", "not objects", "two in a line", "half a pair", "over two lines", "none"],
)
def test_lines_that_are_not_alike_are_read_one_by_one(lines: list[str]) -> None:
    def read(line: str) -> Any:
        try:
            return field(json.loads(line), "log")
        except ValueError:
            return None

    found = fields_of(texts_of(lines), ("log",))["log"].to_pylist()
    expected = [str(told) if isinstance(told := read(line), int) else told for line in lines]
    assert [value and value.encode(errors="replace") for value in found] == [
        value and value.encode(errors="replace") for value in expected
    ]


def test_bytes_that_are_not_utf_8_are_replaced() -> None:
    found = fields_of(pa.array([b'{"log":"a\xff"}', b'{"log":"b"}'], pa.binary()), ("log",))
    assert found["log"].to_pylist() == ["a\ufffd", "b"]


def test_a_number_that_nothing_holds_is_no_instant() -> None:
    found = fields_of(texts_of(['{"at":1' + "0" * 400 + "}", '{"at":1795225469.117}']), ("at",))
    assert instants_of(found["at"]).tolist() == [NO_INSTANT, 1_795_225_469_117_000]


@pytest.mark.parametrize("beside", ['{"log":"b"}', '{"log":7}'], ids=["by Arrow", "one by one"])
def test_an_object_of_any_depth_ends_no_reading(beside: str) -> None:
    deep = '{"log":"a","z":' + "[" * 200_000 + "]" * 200_000 + "}"
    assert fields_of(texts_of([deep, beside]), ("log",))["log"].to_pylist()[1] in ("b", "7", 7.0)
