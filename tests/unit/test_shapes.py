"""One match for all lines of a shape shows what a match of each line shows."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_hindsight.knowledge.envelopes import PREFIXES
from kafka_hindsight.knowledge.pattern_layouts import PATTERN_LAYOUTS, UNDATED
from kafka_hindsight.logs.arrays import NO_INSTANT
from kafka_hindsight.logs.pattern_clocks import byte_head, pattern_heads
from kafka_hindsight.logs.shapes import matching, shapes_of

REGEXES = {e.name: re.compile(e.regex.encode(), re.DOTALL) for e in PREFIXES if e.regex}
HEADS = {layout.name: byte_head(layout.name) for layout in (*PATTERN_LAYOUTS, *UNDATED)}
SAMPLES = [
    *(sample for each in (*PREFIXES, *PATTERN_LAYOUTS, *UNDATED) for sample in (*each.samples, *each.counter_samples)),
    "kafka-1  |",
    "kafka-1  | ",
    "2026-11-21T01:44:29.117Z stdout F",
    '<134>1 2026-11-21T01:44:29.117Z host-1 kafka 123 - [a b="c"] \ufeffx',
    "2026-13-45 01:44:29,117 INFO x (kafka.server.X) [main]",
    "\tat a.B(C.java:1)",
    "",
]
LINES = st.lists(st.tuples(st.sampled_from(SAMPLES), st.text("0123456789", min_size=1, max_size=3)), max_size=60)


def block(lines: list[tuple[str, str]]) -> tuple[list[bytes], bytes, np.ndarray, np.ndarray]:
    """Lines of which some digits were changed, with where each begins and ends among the others."""
    told = [re.sub(r"\d$|(?<=:)\d", digits[-1], text).encode() for text, digits in lines]
    ends = np.cumsum([len(line) + 1 for line in told], dtype=np.int64) - 1 if told else np.empty(0, np.int64)
    return told, b"".join(line + b"\n" for line in told), np.append(0, ends + 1)[: len(told)].astype(np.int64), ends


@settings(max_examples=200, deadline=None)
@given(LINES, st.sampled_from([*REGEXES]))
def test_shapes_of_prefixes_are_what_each_line_shows(lines, name: str) -> None:
    told, data, starts, ends = block(lines * 3)
    regex = REGEXES[name]
    group = 2 * regex.groupindex["line"]
    found = shapes_of(data, starts, regex, lambda s: int(s[group] if s[group] >= 0 else s[1]), ends)
    for n, line in enumerate(told):
        match = regex.fullmatch(line)
        assert bool(found.are_there[n]) == (match is not None)
        for edge in range(2, group + 1) if match else ():
            expected = match.regs[edge // 2][edge % 2]
            at = found.places(starts, edge)[n]
            assert (at - starts[n] if at >= 0 else -1) == expected


@settings(max_examples=200, deadline=None)
@given(LINES, st.sampled_from([*HEADS]))
def test_heads_of_patterns_are_what_each_line_shows(lines, name: str) -> None:
    told, data, starts, _ = block(lines * 3)
    is_head = [HEADS[name].match(line) is not None for line in told]
    assert matching(data, starts, HEADS[name]).tolist() == is_head
    which, at, is_instant = pattern_heads(data, starts, name)
    assert which.tolist() == np.flatnonzero(is_head).tolist()
    alone = [
        pattern_heads(line + b"\n", np.zeros(1, np.int64), name)
        for line, head in zip(told, is_head, strict=True)
        if head
    ]
    assert at.tolist() == [a[1][0] for a in alone]
    assert is_instant.tolist() == [a[2][0] for a in alone]


@pytest.mark.parametrize(
    ("line", "micros", "is_instant"),
    [
        (b"2026-11-21 01:44:29,117 INFO x", 1_795_225_469_117_000, False),
        (b"2026-11-21T01:44:29.117123456Z INFO x", 1_795_225_469_117_123, True),
        (b"2026-11-21T02:44:29+01:00 INFO x", 1_795_225_469_000_000, True),
        (b"2026-02-30 01:44:29,117 INFO x", NO_INSTANT, False),
    ],
)
def test_the_clock_of_a_head_is_read_to_the_microsecond(line: bytes, micros: int, is_instant: bool) -> None:
    _, at, instants = pattern_heads(line, np.zeros(1, np.int64), "%d{ISO8601} %p %m%n")
    assert (at.tolist(), instants.tolist()) == ([micros], [is_instant])


@pytest.mark.parametrize("name", [*REGEXES, *HEADS])
def test_no_regex_takes_one_digit_for_better_than_another(name: str) -> None:
    regex = REGEXES.get(name) or HEADS[name]
    for sample in SAMPLES:
        spans = {
            match.regs if (match := regex.match(re.sub(r"\d", digit, sample).encode())) else None for digit in "12357"
        }
        assert len(spans) == 1
