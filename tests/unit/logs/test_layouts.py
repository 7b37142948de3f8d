"""Log files in plain Python: heads, loggers, messages, brokers, places, and every physical line accounted for."""

from __future__ import annotations

import gzip
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.knowledge.layouts import APACHE, LAYOUTS, LIBRDKAFKA, LOG_NAME_REGEX, Layout, source_of
from kafka_hindsight.logs.reading import broker_of_folder, broker_of_line, read_record, template
from tools.pages.samples import layout_samples
from tools.plain_reader import Leftovers, read_line, read_logs

COORDINATOR = "kafka.coordinator.group.GroupCoordinator"
each_layout = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda x: x.name)


def line(message: str, at: str = "01:44:29,117", logger: str = COORDINATOR) -> str:
    return f"[2026-11-21 {at}] INFO {message} ({logger})"


def resigned(partition: int, at: str = "01:44:29,117") -> str:
    return line(
        f"[GroupCoordinator 1]: Resigned as the group coordinator for partition {partition} in epoch Some(0)", at
    )


def lay(root: Path, **files: str | bytes) -> Path:
    """A folder of logs: `broker_1__server_log="..."` is broker-1/server.log."""
    for name, content in files.items():
        path = root / name.replace("__", "/").replace("_", "-", 1).replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def accounted(left: Leftovers, events: list[dict[str, object]]) -> int:
    return len(events) + len(left.unparsed) + left.ignored.total() + left.noise.total() + left.repeats


# --- one record -------------------------------------------------------------------------------------------------


@each_layout
def test_head_pattern_matches_samples_and_no_counter_sample(layout: Layout) -> None:
    samples, counter_samples = layout_samples(layout.name)
    assert samples
    assert counter_samples
    assert all(re.match(layout.head, sample) for sample in samples)
    assert not any(re.match(layout.head, sample) for sample in counter_samples)


@each_layout
def test_sample_is_read_by_its_own_layout(layout: Layout) -> None:
    for sample in layout_samples(layout.name)[0]:
        record = read_line(sample)
        assert record.layout is layout
        assert record.logger
        assert record.happened_at


def test_apache_record_has_timestamp_logger_and_message() -> None:
    record = read_line(line("[GroupCoordinator 1]: Starting up. (really) (a b)"))
    assert record.happened_at == datetime(2026, 11, 21, 1, 44, 29, 117_000, tzinfo=UTC)
    assert record.logger == COORDINATOR
    assert record.message == "[GroupCoordinator 1]: Starting up. (really) (a b)"


def test_librdkafka_record_has_facility_as_logger_and_keeps_hostile_client_id() -> None:
    record = read_line("%4|1795226046.041|MAXPOLL|a|b#c#consumer-1| [thrd:main]: x|y")
    assert record.layout is LIBRDKAFKA
    assert record.happened_at == datetime(2026, 11, 21, 1, 54, 6, 41_000, tzinfo=UTC)
    assert record.logger == "librdkafka.MAXPOLL"
    assert record.message == "a|b#c#consumer-1| [thrd:main]: x|y"


def test_program_output_between_librdkafka_lines_is_not_in_their_message() -> None:
    record = read_line("%4|1795226046.041|MAXPOLL|c-1| [thrd:main]: over\r\nprocessing 17 ...\ndone")
    assert (record.logger, record.message, record.line_count) == ("librdkafka.MAXPOLL", "c-1| [thrd:main]: over", 3)


def test_a_stack_trace_belongs_to_its_record_and_not_to_its_message() -> None:
    text = line("Boom") + "\njava.io.IOException: no (org.apache.kafka.Other)\n\tat a.B(C.java:1)"
    record = read_line(text)
    assert (record.logger, record.message, record.line_count) == (COORDINATOR, "Boom", 3)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_multi_line_message_ends_at_its_logger(end: str) -> None:
    record = read_line(
        f"[2026-11-21 01:44:29,117] INFO ConsumerConfig values: {end}\tclient.id = a{end} (a.b.C){end[:-1]}"
    )
    assert record.logger == "a.b.C"
    assert record.message == f"ConsumerConfig values: {end}\tclient.id = a{end}"


@pytest.mark.parametrize(
    "text",
    ["[2026-11-21 01:44:29,117] INFO no logger", "[2026-11-21 01:44:29,117] INFO a parenthesis (that is no logger)"],
)
def test_record_without_logger_has_logger_none(text: str) -> None:
    record = read_line(text)
    assert (record.layout, record.logger) == (APACHE, None)
    assert record.message == text.split("INFO ")[1]


@pytest.mark.parametrize("digits", ["2026-13-21 01:44:29", "2026-11-21 25:44:29", "2026-02-30 01:44:29"])
def test_head_with_invalid_date_has_no_timestamp(digits: str) -> None:
    assert read_line(f"[{digits},117] INFO x (a.b.C)").happened_at is None


# --- who wrote it -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "message",
    [
        "[GroupCoordinator 3]: Starting up.",
        "[GroupCoordinator id=3 topic=__consumer_offsets partition=17] Stabilized group a generation 1 with 1 members.",
        "[GroupMetadataManager brokerId=3] Finished unloading",
        "[Partition orders-7 broker=3] ISR updated to 1,2",
        "[Broker id=3] Leader orders-7 starts",
        "[Controller id=3 epoch=6] Changed partition",
        "[Controller id=3, targetBrokerId=2] Node 2 disconnected.",
        "[QuorumController id=3] Becoming the active controller",
        "[KafkaServer id=3] started",
        "[BrokerServer id=3] shutting down",
        "[BrokerLifecycleManager id=3] Beginning controlled shutdown.",
        "[RaftManager nodeId=3] Completed transition",
        "[RaftManager id=3] Completed transition",
        "[ReplicaManager broker=3] Shutting down",
        "[ReplicaFetcher replicaId=3, leaderId=2, fetcherId=0] Error in response",
        "[ReplicaFetcherManager on broker 3] Added fetcher to broker 2",
        "[Topic Deletion Manager 3] Handling deletion for topics a",
    ],
)
def test_line_with_broker_id_names_its_broker(message: str) -> None:
    assert broker_of_line(message) == 3


@pytest.mark.parametrize(
    ("source", "broker"),
    [
        ("broker-2/server.log", 2),
        ("controller-4/controller.log", 4),
        ("prod-kafka-0/server.log", 0),
        ("kafka3/logs/server.log", 3),
        ("broker-2/node-5/server.log", 5),
        ("2026-11-21/server.log", None),
        ("host-17/server.log", None),
        ("broker-2.log", None),
    ],
)
def test_folder_names_its_broker_where_it_has_an_id(source: str, broker: int | None) -> None:
    assert broker_of_folder(source) == broker


# --- files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "broker-1/server.log",
        "broker-1/server.log.gz",
        "broker-1/server.log.2026-11-21-01",
        "broker-1/server.log.2026-11-21-01.gz",
        "broker-1/server.log.1",
        "broker-1/server.log-20261121.gz",
    ],
)
def test_rotated_log_has_the_source_of_its_active_log(path: str) -> None:
    assert source_of(path) == "broker-1/server.log"


def test_rotated_stage_change_log_is_read_as_state_change_log() -> None:
    assert source_of("broker-1/stage-change.log.2026-11-21-01") == "broker-1/state-change.log"


def test_log_file_names_are_distinguished_from_other_files() -> None:
    names = ("server.log", "server.log.2", "server.log.gz", "x.gz", "kafkaServer.out", "billing-a.out", "truth.jsonl")
    assert [n for n in names if LOG_NAME_REGEX.fullmatch(n)] == list(names[:5])


def test_event_has_columns_and_types_of_the_catalog(tmp_path: Path) -> None:
    events, _ = read_logs(lay(tmp_path, broker_7__server_log=resigned(37)), "broker", "night")
    [event] = events
    assert isinstance(event, Event) and set(event.as_dict()) == set(EVENTS.column_names)
    assert event.offsets_partition == 37
    assert (event.source, event.broker, event.order) == ("broker-7/server.log", 1, 0)
    assert event.text == resigned(37)


def test_client_line_has_no_broker(tmp_path: Path) -> None:
    logger = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
    text = line("[Consumer clientId=a, groupId=b] (Re-)joining group", logger=logger)
    events, _ = read_logs(lay(tmp_path, kafka_3__a_log=text), "client", "night")
    assert [(e.kind, e.broker) for e in events] == [("client_joining", None)]


def test_order_counts_lines_of_one_instant_by_position_in_file(tmp_path: Path) -> None:
    text = "\n".join([resigned(1), resigned(2, "01:44:29,118"), resigned(3), resigned(4, "01:44:29,118")])
    events, _ = read_logs(lay(tmp_path, broker_1__server_log=text), "broker", "night")
    assert [(e.offsets_partition, e.order) for e in events] == [(1, 0), (2, 0), (3, 1), (4, 1)]


def test_rotation_changes_no_event(tmp_path: Path) -> None:
    lines = [resigned(n, f"01:44:{n:02d},117") for n in range(6)]
    whole, _ = read_logs(lay(tmp_path / "whole", broker_1__server_log="\n".join(lines)), "broker", "night")
    cut = {
        "broker_1__server_log_2026-11-21-01_gz": gzip.compress("\n".join(lines[:2]).encode()),
        "broker_1__server_log_1": "\n".join(lines[2:4]) + "\n",
        "broker_1__server_log": "\n".join(lines[4:]),
    }
    parts, _ = read_logs(lay(tmp_path / "cut", **cut), "broker", "night")
    assert parts == whole


def test_log_with_compressed_copy_is_read_once(tmp_path: Path) -> None:
    once = {"broker_1__server_log": resigned(1)}
    twice = once | {"broker_1__server_log_gz": gzip.compress(resigned(1).encode())}
    assert (
        read_logs(lay(tmp_path / "1", **once), "broker", "night")[0]
        == (read_logs(lay(tmp_path / "2", **twice), "broker", "night")[0])
    )


def test_repeated_lines_of_a_broker_at_one_instant_are_one_event(tmp_path: Path) -> None:
    files = {"broker_1__server_log": "\n".join([resigned(1)] * 3), "broker_1__kafkaServer_out": resigned(1)}
    events, left = read_logs(lay(tmp_path, **files), "broker", "night")
    assert [e.source for e in events] == ["broker-1/kafkaServer.out"]
    assert (left.repeats, left.records) == (3, 4)


def test_identical_unparsed_records_of_one_file_have_their_own_ids(tmp_path: Path) -> None:
    text = "\n".join([line("[GroupCoordinator 1]: Something new")] * 3)
    _, left = read_logs(lay(tmp_path, broker_1__server_log=text), "broker", "night")
    assert len({r.line_id for r in left.unparsed}) == 3
    assert [r.order for r in left.unparsed] == [0, 1, 2]


def test_every_record_is_event_noise_ignored_or_unparsed(tmp_path: Path) -> None:
    text = "\n".join(
        [
            "\tat the.end(Of.java:1)",
            resigned(1),
            line("[GroupCoordinator 1]: Starting up."),
            line("[GroupCoordinator 1]: Something new about group a"),
            line("Anything", logger="com.example.Other"),
            "[2026-11-21 01:44:29,117] INFO no logger",
        ]
    )
    events, left = read_logs(lay(tmp_path, broker_1__server_log=text + "\n"), "broker", "night")
    assert [e.kind for e in events] == ["coordinator_resigned"]
    assert [r.text for r in left.unparsed] == [
        "\tat the.end(Of.java:1)",
        line("[GroupCoordinator 1]: Something new about group a"),
        "[2026-11-21 01:44:29,117] INFO no logger",
    ]
    assert left.noise == {COORDINATOR: 1}
    assert left.ignored == {"com.example.Other": 1}
    assert (left.records, left.lines) == (6, 6)


@given(st.binary(max_size=300), st.booleans())
def test_arbitrary_bytes_lose_no_line(tmp_path_factory: pytest.TempPathFactory, junk: bytes, last: bool) -> None:
    """Invalid UTF-8, NUL bytes, lone CRs, separators of other systems: only LF ends a line."""
    raw = resigned(1).encode() + b"\n" + junk + b"\n" + resigned(2).encode() + (b"\n" if last else b"")
    events, left = read_logs(lay(tmp_path_factory.mktemp("junk"), broker_1__server_log=raw), "broker", "night")
    assert left.lines == raw.removesuffix(b"\n").count(b"\n") + 1
    assert left.records == accounted(left, events)
    assert [e.offsets_partition for e in events] == ([2] if b"\0" in junk else [1, 2]), "NUL bytes break a record"


def test_line_of_a_megabyte_is_unparsed_and_next_line_is_read(tmp_path: Path) -> None:
    endless = line("[GroupCoordinator 1]: Preparing to rebalance group " + "x in state " * 100_000)
    events, left = read_logs(lay(tmp_path, broker_1__server_log=f"{endless}\n{resigned(2)}"), "broker", "night")
    assert [e.offsets_partition for e in events] == [2]
    assert [len(r.text) for r in left.unparsed] == [len(endless)]


def test_empty_file_has_no_records(tmp_path: Path) -> None:
    events, left = read_logs(lay(tmp_path, broker_1__server_log=""), "broker", "night")
    assert (events, left.records, left.lines) == ([], 0, 0)


@pytest.mark.parametrize(
    "message",
    [
        "[Controller 1] Created partition shop-events-3 with 3 replicas",
        "[Controller 2] Created partition orders_eu-12 with 3 replicas",
        "[Controller 2] Created partition pay.ments-v2-0 with 3 replicas",
    ],
)
def test_lines_of_one_shape_share_a_template_whatever_their_names(message: str) -> None:
    assert template(message) == "[Controller #] Created partition <name> with # replicas"


def test_logger_of_future_timestamps_has_no_dot() -> None:
    text = (
        "[2026-11-27 23:36:13,475] WARN [UnifiedLog partition=billing-4-index-t-0, dir=/data/broker-3]"
        " LogSegment(baseOffset=0, size=23801, lastModifiedTime=1795822573467, largestRecordTimestamp=1795822573469)"
        " contains future timestamp(s), making it ineligible to be deleted (LogFutureTimestampLogger)"
    )
    assert read_line(text).logger == "LogFutureTimestampLogger"


@pytest.mark.parametrize(
    ("text", "fate"),
    [
        ("===> User\nuid=1000(appuser) gid=1000(appuser)\n===> Configuring ...\nRunning in KRaft mode...", "ignored"),
        ("===> User\nuid=1000(appuser) gid=1000(appuser)\nError: Could not find or load main class", "unparsed"),
    ],
)
def test_preamble_of_an_image_carries_nothing_and_an_error_in_it_is_unread(text: str, fate: str) -> None:
    assert read_record(None, text).fate == fate
