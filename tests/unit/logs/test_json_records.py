"""Fields of objects of JSON, whoever wrote them."""

from __future__ import annotations

import pytest

from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.envelope_lines import PEELS, Chain, EnvelopeLine, field, json_micros, object_in


@pytest.mark.parametrize(
    ("record", "value"),
    [
        ({"log.level": "own", "log": {"level": "inner"}}, "own"),
        ({"log": {"level": "inner"}}, "inner"),
        ({"log": "a"}, None),
        ({"log": {"level": None}}, None),
    ],
)
def test_dotted_path_reads_field_of_that_name_before_nested_field(record: object, value: object) -> None:
    assert field(record, "log.level") == value


@pytest.mark.parametrize(
    "line", [b'{"log":"b"', b'{"log":"a"} {"log":"x"}', b"plain", b'"x":1}', b"[1]", b"{" + b'"a":{' * 200_000]
)
def test_line_that_is_not_one_json_object_is_none(line: bytes) -> None:
    assert object_in(line) is None


def test_invalid_unicode_in_json_line_is_replaced() -> None:
    for text, inside in ((b"a\xff", "a\ufffd"), (rb"\ud800", "?")):
        line = EnvelopeLine(b'{"log":"' + text + b'"}\r', 1)
        assert PEELS["log"](line)
        assert line.text == inside.encode()


@pytest.mark.parametrize(
    ("at", "micros"),
    [
        ("2026-11-21T01:44:29.117123456Z", 1_795_225_469_117_123),
        ("2026-11-21T02:44:29.117+01:00", 1_795_225_469_117_000),
        (1795225469.117, 1_795_225_469_117_000),
        ("1795225469117000", 1_795_225_469_117_000),
        (1795225469117, 1_795_225_469_117_000),
        ("1795225469117000000", 1_795_225_469_117_000),
        ("yesterday", NO_INSTANT),
        (10**400, NO_INSTANT),
        (float("nan"), NO_INSTANT),
        (True, NO_INSTANT),
        ([1], NO_INSTANT),
        (None, NO_INSTANT),
    ],
)
def test_timestamp_is_read_in_every_unit(at: object, micros: int) -> None:
    assert json_micros(at) == micros


@pytest.mark.parametrize("name", ["message", "elasticsearch", "otlp", "json"])
def test_deeply_nested_json_does_not_stop_the_parser(name: str) -> None:
    outer = (
        '{"message":DEEP,"_index":1,"_source":DEEP,"msg":"m","time":1,"x":DEEP,'
        '"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":DEEP}}]}]}]}'
    )
    for depth in range(900, 1_000):
        deep = '{"a":' * depth + "1" + "}" * depth
        Chain([name]).lines([EnvelopeLine(outer.replace("DEEP", deep).encode(), 1)])
