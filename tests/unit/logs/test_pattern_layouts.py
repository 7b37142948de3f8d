"""Layouts that are patterns: compiled, found by the lines of a file, and read as Kafka's own is."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.knowledge.layouts import APACHE
from kafka_hindsight.knowledge.model import PatternLayout
from kafka_hindsight.knowledge.pattern_layouts import PATTERN_LAYOUTS
from kafka_hindsight.knowledge.patterns import PATTERNS
from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.conversion_patterns import NotAPattern, compile_pattern
from kafka_hindsight.logs.cutting import cut
from kafka_hindsight.logs.forms import best_of, closest, sampled
from kafka_hindsight.logs.heads import PLAIN, head_of, instant_at
from kafka_hindsight.logs.layout_names import is_without_logger, layout_within
from kafka_hindsight.logs.pieces import REACH, Way, look, ranges_of
from kafka_hindsight.logs.reading import read_record
from lab.drill.render import in_pattern
from tools.pages.samples import layout_samples, samples_of
from tools.plain_reader import PlainRecord, read_line

each_layout = pytest.mark.parametrize("layout", PATTERN_LAYOUTS, ids=lambda x: x.name)
WITH_LOGGER = [layout for layout in PATTERN_LAYOUTS if not is_without_logger(layout.name)]
"""Layouts that can carry a line of Kafka's: by its logger a line is known."""
SAMPLES = [
    record for p in PATTERNS for s in samples_of(p) if (record := read_line(s.record)).logger and record.happened_at
]
KAFKAS = [r for r in SAMPLES if "\r" not in r.text and r.layout is APACHE]


def reading_of(name: str | None, text: str) -> tuple[str | None, tuple[str | None, ...]]:
    """The pattern that claims a record, and what it reads."""
    reading = read_record(name, text)
    return reading.pattern.pattern_id if reading.pattern else None, reading.groups


@cache
def reading_in_kafka_layout(text: str) -> tuple[str | None, tuple[str | None, ...]]:
    """What is read of a record in Kafka's own layout."""
    return reading_of("apache", text)


@each_layout
def test_layout_is_detected_in_its_samples_and_reads_them(layout: PatternLayout) -> None:
    samples, _ = layout_samples(layout.name)
    assert samples
    for sample in samples:
        (name, _) = best_of([sample])[0]
        assert name == layout.name
        assert reading_of(name, sample)[0]
        assert head_of(layout.name).match(sample)


@each_layout
def test_layout_does_not_match_its_counter_samples(layout: PatternLayout) -> None:
    _, counter_samples = layout_samples(layout.name)
    assert counter_samples
    assert not [line for line in counter_samples if head_of(layout.name).match(line)]


@pytest.mark.parametrize("layout", WITH_LOGGER, ids=lambda x: x.name)
def test_captured_records_read_the_same_in_the_layout(layout: PatternLayout) -> None:
    changed = [
        r.text
        for r in KAFKAS
        if reading_of(layout.name, in_pattern(r, layout.pattern)) != reading_in_kafka_layout(r.text)
    ]
    assert changed == []


def test_kafka_layout_is_detected_and_is_the_default() -> None:
    assert best_of([r.text for r in KAFKAS])[0] == PLAIN
    assert best_of([])[0] == PLAIN
    assert best_of(["nothing of ours", "at all"])[0] == PLAIN


@pytest.mark.parametrize("layout", WITH_LOGGER, ids=lambda x: x.name)
@given(st.lists(st.sampled_from(KAFKAS), min_size=4, max_size=12), st.floats(0, 1), st.integers(1, 6))
def test_file_of_any_layout_is_read_the_same_in_any_pieces(
    layout: PatternLayout, records: list[PlainRecord], first: float, count: int
) -> None:
    data = "".join(in_pattern(r, layout.pattern) + "\n" for r in records).encode()
    names = (layout.name, PLAIN[1])
    size = len(data) // count + 1
    cuts = [0, *range(1 + int(first * size), len(data), size), len(data)]
    ends = list(pairwise(cuts))
    pieces = [look(data[max(b - 1, 0) : e + REACH], 0, b, e, Clock("UTC"), Way(names)) for b, e in ends]
    ranges = ranges_of(pieces)
    batches = [cut(data[r.begin : r.begin + r.size], r, Clock("UTC"), None, Way(names)) for r in ranges]
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert sum(row["line_count"] for row in rows) == data.count(b"\n")
    assert [(row["happened_at"], *reading_of(names[row["layout"]], row["text"])) for row in rows] == [
        (r.happened_at, *reading_in_kafka_layout(r.text)) for r in records
    ]


@pytest.mark.parametrize(
    ("pattern", "line", "at"),
    [
        (
            "%clr(%d{${LOG_DATEFORMAT_PATTERN:-yyyy-MM-dd'T'HH:mm:ss.SSSXXX}}){faint} %clr(${LOG_LEVEL_PATTERN:-%5p}) "
            "%clr(${PID:- }){magenta} %clr(---){faint} %clr([%15.15t]){faint} %clr(%-40.40logger{39}){cyan} "
            "%clr(:){faint} %m%n${LOG_EXCEPTION_CONVERSION_WORD:-%wEx}",
            "2026-11-21T01:44:29.117+01:00  INFO 1 --- [           main] a.b.C  : hello",
            datetime(2026, 11, 21, 0, 44, 29, 117_000, UTC),
        ),
        ("%d{UNIX_MILLIS} %c %m%n", "1795225642862 a.b.C hello", datetime(2026, 11, 21, 1, 47, 22, 862_000, UTC)),
        (
            "%highlight{%d{dd MMM yyyy HH:mm:ss,SSS}{UTC} %level} %c - %msg%ex%n",
            "21 Nov 2026 01:44:29,117 INFO a.b.C - hello",
            datetime(2026, 11, 21, 1, 44, 29, 117_000, UTC),
        ),
        ("%d{COMPACT}|%p|%c|%m%n", "20261121014429117|WARN|a.b.C|hello", None),
    ],
)
def test_pattern_from_the_user_is_read(pattern: str, line: str, at: datetime | None) -> None:
    assert best_of([line], pattern)[0] == (pattern, "librdkafka")
    assert compile_pattern(pattern).cut(line) == ("a.b.C", "hello")
    data = line.encode()
    berlin = Clock("Europe/Berlin")
    (range_,) = ranges_of([look(data, 0, 0, len(data), berlin, Way((pattern,)))])
    (row,) = cut(data, range_, berlin, None, Way((pattern,))).to_pylist()
    assert row["happened_at"] == (at or datetime(2026, 11, 21, 0, 44, 29, 117_000, UTC))


@pytest.mark.parametrize(
    ("pattern", "wrong"),
    [
        ("%p %m%n", "holds no date"),
        ("%d %p%n", "holds no message"),
        ("%d %bogus %m", "%bogus"),
        ("%m %d", "after"),
        ("%d{ss.SSS yyyy SSS} %m", "twice"),
    ],
)
def test_invalid_pattern_is_refused_with_its_reason(pattern: str, wrong: str) -> None:
    with pytest.raises(NotAPattern, match=wrong):
        compile_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        ("%d %m - %c(%L)%n", "2026-11-21 01:44:29,117 hello - a.b.C(66)"),
        ("%d %p{lowerCase=true} %c %m%n", "2026-11-21 01:44:29,117 info a.b.C hello"),
        (r"%d\t%c\t%m%n", "2026-11-21 01:44:29,117\ta.b.C\thello"),
        ("%d{yy/MM/dd HH:mm:ss} %c: %m%n", "26/11/21 01:44:29 a.b.C: hello"),
    ],
)
def test_log4j_forms_in_a_pattern_are_read(pattern: str, line: str) -> None:
    assert compile_pattern(pattern).cut(line) == ("a.b.C", "hello")
    assert instant_at(line.encode(), pattern) // 1_000_000 == 1_795_225_469


def test_pattern_with_a_tail_and_no_logger_names_no_logger() -> None:
    assert compile_pattern("%d %p %m [%t]%n").cut("2026-11-21 01:44:29 INFO hello [main]") == (None, "hello")


def test_stack_trace_is_not_in_the_message() -> None:
    text = "2026-11-21 01:44:29 INFO  [main] KafkaServer:66 - Boom\njava.io.IOException: no\n\tat a.B(C.java:1)"
    assert read_record("strimzi-4", text).message == "Boom"


def test_long_file_is_sampled_at_beginning_middle_and_end() -> None:
    lines = sampled(b"\n".join(b"%d" % n for n in range(100_000)))
    assert (lines[0], lines[-1], len(lines)) == ("0", "99999", 900)


def test_record_from_envelopes_is_read_by_the_inner_layout() -> None:
    (layout,) = [x for x in PATTERN_LAYOUTS if x.name == "strimzi"]
    for sample in layout_samples("strimzi")[0]:
        assert reading_of(layout_within(("docker", "compose"), "strimzi"), sample) == reading_of("strimzi", sample)
        assert reading_of(layout_within(("docker",), layout.pattern), sample) == reading_of("strimzi", sample)
    assert reading_of(layout_within(("cri",), "apache"), KAFKAS[0].text) == reading_of("apache", KAFKAS[0].text)


def test_first_of_repeated_conversion_words_counts() -> None:
    line = "2026-11-21 01:44:29,117 INFO 2020-01-01 00:00:00,000 a.B c.D e.F x"
    assert compile_pattern("%d %p %d %c %c %c %m%n").cut(line) == ("a.B", "x")


def test_layout_is_detected_by_kafka_loggers_where_no_line_is_an_event() -> None:
    quiet = "2022-01-06 15:36:2{},307 INFO   ||  {}   [org.apache.kafka.connect.runtime.{}]"
    messages = ("Kafka Connect starting", "Connect"), ("Worker starting", "Worker"), ("Worker started", "Worker")
    lines = [quiet.format(n, *words) for n, words in enumerate(messages)]
    assert best_of(lines)[0][0] == "debezium"
    assert best_of(lines[:2])[0] == PLAIN


@pytest.mark.parametrize(
    ("pattern", "line", "logger"),
    [
        ("%d %p %C{1}:%L %m%n", "2024-05-02 07:11:09,314 INFO ConsumerCoordinator:604 x", "ConsumerCoordinator"),
        ("%d %p %C %c %m%n", "2024-05-02 07:11:09,314 INFO kafka.utils.Logging kafka.server.A x", "kafka.server.A"),
        ("%d %p %c %C %m%n", "2024-05-02 07:11:09,314 INFO kafka.server.A kafka.utils.Logging x", "kafka.server.A"),
    ],
)
def test_class_is_the_logger_where_a_pattern_shows_no_other(pattern: str, line: str, logger: str) -> None:
    assert compile_pattern(pattern).cut(line) == (logger, "x")


def test_layout_whose_head_fits_needs_nothing_more() -> None:
    sentence = closest(["2024-05-02 07:11:09,314 - shop - INFO - sold" for _ in range(3)])
    assert sentence.startswith("The layout ")
    assert sentence.endswith("and no logger of Kafka's wrote it.")
