"""Lines that transports wrapped: taken out, told apart by who wrote them, and read as if they were plain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kafka_hindsight.knowledge.envelopes import OBJECTS, PREFIXES
from kafka_hindsight.knowledge.json_layouts import JSON_LAYOUTS, OF_CLASSES
from kafka_hindsight.knowledge.layouts import APACHE
from kafka_hindsight.knowledge.pattern_layouts import PATTERN_LAYOUTS
from kafka_hindsight.knowledge.patterns import PATTERNS
from kafka_hindsight.logs.clocks import Clock
from kafka_hindsight.logs.cutting import cut
from kafka_hindsight.logs.envelope_lines import JSON_RECORD, PEELS, EnvelopeLine
from kafka_hindsight.logs.file_bytes import CHUNK, Bytes
from kafka_hindsight.logs.forms import _MORE_BACK, best_of, every_layout, form_of, misfit_of
from kafka_hindsight.logs.forms import records as split_by
from kafka_hindsight.logs.layout_names import is_without_logger
from kafka_hindsight.logs.pieces import REACH, Way, look, ranges_of
from kafka_hindsight.logs.reading import read_record
from kafka_hindsight.logs.unwrapping import Unwrapped, wrapped_as
from kafka_hindsight.shared.exits import BAD_INPUT, BadInput
from lab.drill.render import WRAPS, in_json, in_pattern, render, render_folder, wrapped
from lab.drill.render import main as write_again
from tests.support.draws import drawn
from tools.pages.samples import layout_samples, samples_of
from tools.plain_reader import PlainRecord, read_line

WITH_LOGGER = [layout for layout in PATTERN_LAYOUTS if not is_without_logger(layout.name)]
SAMPLES = [
    record for p in PATTERNS for s in samples_of(p) if (record := read_line(s.record)).logger and record.happened_at
]
KAFKAS = [r for r in SAMPLES if "\r" not in r.text and r.layout is APACHE and r.text.isascii()]
EVENTS = [*{r.reading.pattern.pattern_id: r for r in KAFKAS if r.reading.pattern}.values()]
"""A record of each pattern."""
STRIMZI = next(layout.pattern for layout in PATTERN_LAYOUTS if layout.name == "strimzi")
WITHIN_TIMES = ("kubectl-prefix", "timestamps")
SOURCES = ("kafka-0", "kafka-1", "kafka-2")


class Held(Bytes):
    """The bytes of a file in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def between(self, begin: int, end: int) -> bytes:
        return self.data[begin:end]


Row = dict[str, object]


def read(data: bytes, size: int = 1 << 20) -> list[Row]:
    """The records of a wrapped file, read in pieces."""
    form = wrapped_as(data, None)
    unwrapped = Unwrapped(Held(data), len(data), form, None)
    way = Way(every_layout(None), unwrapped.sources)
    pieces, begin = [], 0
    while held := unwrapped.between(max(begin - 1, 0), begin + size + REACH):
        end = min(begin + size, max(begin - 1, 0) + len(held))
        if end <= begin:
            break
        pieces.append(look(held, 0, begin, end, Clock("UTC"), way))
        begin = end
    again = Unwrapped(Held(data), len(data), form, None)
    way = Way(every_layout(None), again.sources)
    return [
        row | {"layout": way.layouts[row["layout"]] if row["layout"] >= 0 else None}
        for r in ranges_of(pieces)
        for row in cut(again.between(r.begin, r.begin + r.size), r, Clock("UTC"), None, way).to_pylist()
    ]


def meaning_of(layout: str | None, text: str) -> tuple[object, ...]:
    """The pattern that claims a record, and what it reads."""
    reading = read_record(layout, text)
    return reading.pattern.pattern_id if reading.pattern else None, reading.groups


def meanings_of(rows: Iterable[Row], source: str | None) -> list[tuple[object, ...]]:
    """What the records of one source within a file say, and when."""
    part = [r for r in rows if source is None or str(r["part"]).find(source) >= 0]
    return [(r["happened_at"], *meaning_of(r["layout"], str(r["text"]))) for r in part]  # type: ignore[arg-type]


def is_in(envelope: str, line: str) -> bool:
    """Whether a line is in an envelope."""
    return bool(PEELS[envelope](EnvelopeLine(line.encode(), 1)))


def meanings_of_plain(records: Iterable[PlainRecord]) -> list[tuple[object, ...]]:
    return [(r.happened_at, *meaning_of("apache", r.text)) for r in records]


@pytest.mark.parametrize("name", ["colours", *(e.name for e in (*PREFIXES, *OBJECTS))])
def test_envelope_recognises_only_its_samples(name: str) -> None:
    samples, counter_samples = layout_samples(name)
    assert samples
    assert counter_samples
    assert all(is_in(name, sample) for sample in samples)
    assert not any(is_in(name, sample) for sample in counter_samples)


@pytest.mark.parametrize("layout", JSON_LAYOUTS, ids=lambda e: e.name)
def test_json_record_is_recognised_by_its_fields(layout) -> None:
    samples, counter_samples = layout_samples(layout.name)
    assert samples
    assert all(is_in(JSON_RECORD, sample) for sample in samples)
    assert not any(is_in(JSON_RECORD, sample) for sample in counter_samples)


@pytest.mark.parametrize("name", WRAPS)
def test_wrapped_records_read_like_plain_ones(name: str) -> None:
    lines = [wrapped(r.text, r.happened_at, "kafka-0", [name]) for r in EVENTS]
    rows = read("\n".join(lines).encode() + b"\n")
    assert meanings_of(rows, None) == meanings_of_plain(EVENTS)
    assert sum(r["line_count"] for r in rows) == sum(line.count("\n") + 1 for line in lines)


@pytest.mark.parametrize("layout", OF_CLASSES, ids=lambda e: e.name)
def test_json_records_read_like_plain_lines(layout) -> None:
    plain = [r for r in EVENTS if "\n" not in r.text]
    rows = read("\n".join(in_json(r, layout.name) for r in plain).encode())
    assert meanings_of(rows, None) == meanings_of_plain(plain)


COMPOSED = st.lists(st.sampled_from(EVENTS), min_size=8, max_size=40).map(
    lambda records: sorted(records, key=lambda r: r.happened_at)
)
"""Records in the order of their time: where the clock goes back at nearly each line, the newest line comes first."""
NAMING = ["kubectl-prefix", "compose", "cloudwatch-tail", "loki", "fluent-bit", "filebeat", "vector", "gelf", "otlp"]


@drawn(0.6)
@given(
    COMPOSED,
    st.sampled_from([None, *WITH_LOGGER]),
    st.sampled_from(NAMING),
    st.sampled_from([None, "docker", "cri", "timestamps", "filebeat", "elasticsearch", "colours"]),
    st.sampled_from([200, 4_000, 1 << 20]),
    st.randoms(use_true_random=False),
)
def test_interleaved_sources_are_separated_in_any_layout_and_envelope(
    records: Sequence[PlainRecord], layout, inner: str, outer: str | None, size: int, random
) -> None:
    by_source = {source: list(records) for source in SOURCES}
    waiting = {
        source: [
            wrapped(line, r.happened_at, source, [inner, *([outer] if outer else [])])
            for r in own
            for line in (in_pattern(r, layout.pattern) if layout else r.text).split("\n")
        ]
        for source, own in by_source.items()
    }
    lines = []
    while any(waiting.values()):
        source = random.choice([s for s, left in waiting.items() if left])
        lines.append(waiting[source].pop(0))
    rows = read("\n".join(lines).encode(), size)
    for source, own in by_source.items():
        assert meanings_of(rows, source) == meanings_of_plain(own)


@drawn(0.3)
@given(
    st.lists(st.sampled_from(KAFKAS), min_size=12, max_size=60),
    st.sampled_from([[], ["filebeat"], ["elasticsearch"], ["loki-json"], ["cloudwatch-tail"], ["loki"]]),
    st.sampled_from([None, *WITH_LOGGER]),
    st.sampled_from([300, 5_000, CHUNK]),
)
def test_export_with_newest_line_first_reads_like_original(
    records: Sequence[PlainRecord], wraps: list[str], layout, chunk: int
) -> None:
    in_time = sorted(records, key=lambda r: r.happened_at)  # type: ignore[arg-type, return-value]
    assume(len({r.happened_at for r in in_time}) > _MORE_BACK)
    texts = [in_pattern(r, layout.pattern) if layout else r.text for r in in_time]
    lines = [
        line
        for r, text in zip(in_time, texts, strict=True)
        for line in wrapped(text, r.happened_at, "kafka-0", wraps).split("\n")  # type: ignore[arg-type]
    ]
    with patch("kafka_hindsight.logs.unwrapping.CHUNK", chunk):
        as_written = read("".join(f"{line}\n" for line in lines).encode())
        turned = read("".join(f"{line}\n" for line in reversed(lines)).encode())
    by_instant = sorted(turned, key=lambda r: r["happened_at"])  # type: ignore[arg-type, return-value]
    assert by_instant == as_written


def test_interleaved_trace_stays_with_its_record() -> None:
    first = "kafka-0  | [2026-11-21 01:44:29,117] INFO [KafkaServer id=0] started (kafka.server.KafkaServer)"
    other = "kafka-1  | [2026-11-21 01:44:29,118] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)"
    rows = read("\n".join([first, other, "kafka-0  | \tat a.B(C.java:1)", other]).encode())
    assert [(r["part"], str(r["text"]).count("\n"), r["line_count"]) for r in rows] == [
        ("kafka-0", 1, 2),
        ("kafka-1", 0, 1),
        ("kafka-1", 0, 1),
    ]


def test_each_source_of_mixed_file_has_its_own_layout() -> None:
    plain = [wrapped(r.text, r.happened_at, "kafka-0", ["compose"]) for r in EVENTS]
    other = [wrapped(in_pattern(r, STRIMZI), r.happened_at, "kafka-1", ["compose"]) for r in EVENTS]
    rows = read("\n".join(x for both in zip(plain, other, strict=True) for x in both).encode())
    assert meanings_of(rows, "kafka-0") == meanings_of(rows, "kafka-1") == meanings_of_plain(EVENTS)
    assert {r["layout"] for r in rows} == {"apache", "strimzi"}


def test_envelope_like_thread_name_is_recognised_by_trace_lines() -> None:
    pattern = next(layout.pattern for layout in PATTERN_LAYOUTS if layout.name == "thread-first")
    assert [r for r in EVENTS if "\n" in r.text]
    plain = [in_pattern(r, pattern) for r in EVENTS]
    assert not form_of([line for text in plain for line in text.split("\n")]).envelopes
    rows = read("\n".join(wrapped(t, r.happened_at, "kafka-0", WITHIN_TIMES) for t, r in zip(plain, EVENTS)).encode())
    assert meanings_of(rows, "kafka-0/kafka") == meanings_of_plain(EVENTS)


def test_plain_lines_have_no_envelope() -> None:
    assert not form_of([line for r in EVENTS for line in r.text.split("\n")]).envelopes
    iso = [in_pattern(r, "%d{ISO8601} %5p %pid --- [%t] %-40.40logger{39} : %m%n") for r in EVENTS]
    assert form_of([line for r in iso for line in r.split("\n")]).layouts[""][0] == "spring-boot"
    assert not form_of([]).envelopes


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_file_is_read(encoding: str) -> None:
    text = "\n".join(r.text for r in EVENTS)
    data = text.encode(encoding) if encoding == "utf-16" else b"\xfe\xff" + text.encode(encoding)
    form = wrapped_as(data, None)
    assert form.envelopes == ("utf-16",)
    assert meanings_of(read(data), None) == meanings_of_plain(EVENTS)


def test_head_without_time_takes_instant_of_envelope() -> None:
    (record,) = [r for r in EVENTS if "(Re-)joining group" in r.text][:1]
    line = in_pattern(record, "[%t] %p %c - %m%n")
    rows = read("\n".join([wrapped(line, record.happened_at, "app", ["cri"])] * 3).encode())
    assert meanings_of(rows, None) == meanings_of_plain([record]) * 3


def test_message_below_head_without_day_is_read_in_envelope() -> None:
    (sample,) = layout_samples("dotnet-default")[0]
    at = EVENTS[0].happened_at
    rows = read("\n".join([wrapped(sample, at, "app", ["timestamps"])] * 3).encode())
    assert {(r["happened_at"], r["line_count"], meaning_of(r["layout"], str(r["text"]))[0]) for r in rows} == {
        (at, 2, "librdkafka.poll_expired_through_logger")
    }


def test_unknown_wrapped_lines_are_named_with_inner_layout() -> None:
    assert misfit_of(["kafka-1 | 2026-11-21 01:00:00,117 <7> x"] * 3).startswith(
        "Its lines are wrapped (compose). Inside: The closest layout is"
    )


@drawn(0.25)
@given(
    st.sampled_from(["apache", *(layout.name for layout in (*WITH_LOGGER, *OF_CLASSES))]),
    st.lists(st.sampled_from([n for n in WRAPS if n not in ("timestamps", "otlp")]), max_size=2, unique=True),
)
def test_rendered_log_has_events_of_original(layout: str, wraps: list[str]) -> None:
    """Where neither an envelope nor JSON is drawn, the file is read by its layout alone."""
    records = [r for r in EVENTS if "\n" not in r.text]
    text = render("".join(f"{r.text}\n" for r in records), layout, wraps, "kafka-1")
    if form_of(text.splitlines()).envelopes:
        assert meanings_of(read(text.encode()), None) == meanings_of_plain(records)
    else:
        layouts = best_of(text.splitlines())[0]
        assert [meaning_of(*record) for record in split_by(text.splitlines(), layouts)] == [
            o[1:] for o in meanings_of_plain(records)
        ]


def test_folder_is_rendered_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "logs/broker-1").mkdir(parents=True)
    (tmp_path / "logs/broker-1/server.log").write_text("".join(f"{r.text}\n" for r in EVENTS))
    (written,) = render_folder(tmp_path / "logs", tmp_path / "new", "strimzi", ["cri"])
    assert written == tmp_path / "new/broker-1/server.log"
    assert meanings_of(read(written.read_bytes()), None) == meanings_of_plain(EVENTS)
    for name, wraps in (("new", []), ("other", ["nowhere"])):
        with pytest.raises(BadInput, match="Needed"):
            render_folder(tmp_path / "logs", tmp_path / name, "strimzi", wraps)


def test_render_command_counts_files_and_refuses_unknown_envelope(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "server.log").write_text(f"{EVENTS[0].text}\n")
    words = [str(tmp_path), str(tmp_path / "new"), "--layout", "strimzi", "--envelopes"]
    write_again([*words, "compose, docker"])
    assert capsys.readouterr().out == f"1 files in {tmp_path / 'new'}\n"
    with pytest.raises(SystemExit) as end:
        write_again([*words, "nowhere"])
    assert end.value.code == BAD_INPUT
    assert "'nowhere' is not an envelope" in capsys.readouterr().err


def otlp(*records: object, pod: object = "kafka-0") -> dict[str, object]:
    """A resource of OpenTelemetry's, with records."""
    named = [{"key": "k8s.pod.name", "value": {"stringValue": pod}}, {"key": "host.name", "value": {}}]
    return {"resource": {"attributes": named}, "scopeLogs": [{"logRecords": records}]}


def started(second: int, at: object = "1") -> dict[str, object]:
    """A record of OpenTelemetry's."""
    text = f"[2026-11-21 01:44:{second},117] INFO [KafkaServer id=0] started (kafka.server.KafkaServer)\n"
    return {"timeUnixNano": at, "body": {"stringValue": text}}


@pytest.mark.parametrize(
    "odd",
    [
        [],
        [1, None, {"resource": 5, "scopeLogs": [None, {"logRecords": ["x", 7]}]}],
        [otlp(started(14, at=1_700_000_000_000_000_000), pod=5)],
    ],
    ids=["none", "hostile", "numbers"],
)
def test_opentelemetry_objects_hold_records_of_several_pods(odd: list[object]) -> None:
    objects = [
        {"resourceLogs": [otlp(started(10), started(11)), otlp(started(12), pod="kafka-1")]},
        {"resourceLogs": []},
        {"resourceLogs": [otlp(started(13))]},
        {"resourceLogs": odd},
    ]
    rows = read("\n".join(json.dumps(each) for each in objects).encode())
    assert [(r["part"], str(r["text"])[:22]) for r in rows if r["layout"]][:4] == [
        ("kafka-0", "[2026-11-21 01:44:10,1"),
        ("kafka-0", "[2026-11-21 01:44:11,1"),
        ("kafka-1", "[2026-11-21 01:44:12,1"),
        ("kafka-0", "[2026-11-21 01:44:13,1"),
    ]
    assert sum(r["line_count"] for r in rows) == len(objects) + 2
