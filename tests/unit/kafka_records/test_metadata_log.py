"""The metadata log of KRaft: files of two real Kafkas, what replaying them gives, and bytes that nobody meant."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import METADATA_FILES, METADATA_RECORDS
from kafka_hindsight.catalog.codes import MetadataRecordType
from kafka_hindsight.catalog.kinds import KINDS, RECORD_KINDS
from kafka_hindsight.catalog.rows import MetadataFile, MetadataRecord
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.kafka_records.batches import batches, crc32c
from kafka_hindsight.kafka_records.metadata_log import (
    FOLDER,
    UNDECODED,
    FileContents,
    FileName,
    Malformed,
    decode_metadata_record,
    file_name,
    read_segment,
    read_snapshot,
)
from kafka_hindsight.kafka_records.metadata_record_layouts import TYPES
from kafka_hindsight.kafka_records.metadata_replay import MetadataReplay, committed
from kafka_hindsight.shared.windows import Window, in_order
from tests.support.draws import drawn
from tests.support.nights import EXCERPTS, WHOLE, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders
from tests.support.rows import row

Row = dict[str, Any]

VERSIONS = ("3.9", "4.3")
SEGMENT = "00000000000000000000.log"
CONTROLLER = "controller-4"
WITHOUT_CRC = 17
"""Bytes of a batch before its checksum: offset, length, epoch, magic."""


def segment(version: str) -> bytes:
    return (EXCERPTS / f"metadata-{version}" / CONTROLLER / FOLDER / SEGMENT).read_bytes()


def snapshots(version: str) -> list[tuple[FileName, bytes]]:
    files = []
    for path in sorted((EXCERPTS / f"metadata-{version}" / "broker-3" / FOLDER).glob("*.checkpoint")):
        name = file_name(path.as_posix())
        assert name is not None and name.is_snapshot
        files.append((name, path.read_bytes()))
    return files


def rows(contents: FileContents, version: str = "4.3") -> list[MetadataRecord]:
    """Rows of bronze.metadata_records, as the ingest writes them."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    defaults = {**dict.fromkeys(METADATA_RECORDS.column_names), "cluster": f"metadata-{version}", "source": "a"}
    written = ({**defaults, **r, "written_at": epoch + timedelta(milliseconds=r["written_at"])} for r in contents.rows)
    return [MetadataRecord.of(r) for r in written]


def file(contents: FileContents, first: int = 0) -> MetadataFile:
    return row(METADATA_FILES, first_offset=first, next_offset=contents.next_offset, is_snapshot=False)


def events_of_metadata(records: Any, files: list[Any], window: Window) -> list[Row]:
    replay = MetadataReplay(files, window)
    replay.run(committed(records))
    return replay.events()


def replayed(version: str, window: Window = WHOLE) -> list[Row]:
    contents = read_segment(segment(version), 0)
    return events_of_metadata(rows(contents, version), [file(contents)], window)


def failovers(rows: list[Row]) -> list[Row]:
    ordered = in_order(rows)
    return rebuild_leaders(ordered, [], context_of(ordered, rebuild_outages(ordered, [], WHOLE)), WHOLE).failovers


def moves(rows: list[Row]) -> set[tuple[Any, ...]]:
    columns = ("topic", "partition", "epoch_from", "epoch_to", "leader_from", "leader_to")
    return {tuple(getattr(row, c) for c in columns) for row in failovers(rows)}


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_segment_is_read_to_its_end(version: str) -> None:
    data = segment(version)
    contents = read_segment(data, 0)
    assert (contents.end, contents.problems) == (len(data), ())
    kinds = Counter(row["record_type"] for row in contents.rows)
    assert kinds["leader_change"] == 1
    # orders 3, lone 2 and one that was added, doomed once before and once after its deletion.
    assert (kinds["topic"], kinds["remove_topic"], kinds["partition"]) == (4, 1, 8)
    assert kinds["register_broker"] == 6
    assert set(kinds) <= set(MetadataRecordType)
    assert contents.next_offset == sum(kinds.values()) + contents.skipped.total()


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_log_alone_gives_the_failovers_of_the_broker_logs(version: str) -> None:
    by_lines, by_records = events(f"metadata-{version}"), replayed(version)
    assert len(moves(by_lines)) == 13
    assert moves(by_records) == moves(by_lines) == moves([*by_lines, *by_records])
    # With both, kinds stay, and nobody has to wait for a broker that applies a commit late.
    kinds = {(r.topic, r.partition, r.epoch_to): r.kind for r in failovers(by_lines)}
    together = failovers([*by_lines, *by_records])
    assert {(r.topic, r.partition, r.epoch_to): r.kind for r in together} == kinds
    committed = sorted((*_partition(e), e.leader_epoch, e.happened_at) for e in by_records if _elects(e))
    heard = sorted((*_partition(r), r.epoch_to, r.happened_at) for r in together)
    assert [place for *place, _ in heard] == [place for *place, _ in committed]
    assert all(at <= commit for (*_, at), (*_, commit) in zip(heard, committed, strict=True))


def _partition(row: Row) -> tuple[str, int]:
    return row.topic, row.partition


def _elects(event: Row) -> bool:
    return event.kind == "partition_changed" and event.leader_epoch != event.previous_leader_epoch


@pytest.mark.parametrize("version", VERSIONS)
def test_outages_are_rebuilt_from_the_metadata_log_alone(version: str) -> None:
    outages = [(o.broker, o.kind, o.up_at is not None) for o in rebuild_outages(replayed(version), [], WHOLE)]
    assert outages == [(1, "controlled_shutdown", True), (2, "crash", True), (3, "crash", True)]


def test_partition_change_shows_elr_and_recovery_state() -> None:
    changes = [e for e in replayed("4.3") if e.kind == "partition_changed"]
    (lost,) = [e for e in changes if e.topic == "orders" and e.partition == 0 and e.leader_epoch == 2
               and e.previous_leader_epoch == 1]  # fmt: skip
    assert (lost.leader, lost.previous_leader, lost.isr, lost.previous_isr) == (3, 2, "3", "2,3")
    assert "elr: [] -> [2]" in lost.detail
    (back,) = [e for e in changes if e.topic == "lone" and e.partition == 0 and e.previous_leader == -1
               and e.leader == 2]  # fmt: skip
    assert "leaderRecoveryState: RECOVERED -> RECOVERING" in back.detail


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_snapshot_replaces_deleted_segments(version: str) -> None:
    data, whole = segment(version), replayed(version)
    for name, content in snapshots(version):
        state = read_snapshot(content, name)
        assert state.problems == () and state.rows
        # The log from the first batch that reaches behind the snapshot on, as a node keeps it.
        start = next(b for b in batches(data) if b.next_offset > name.offset)
        rest = read_segment(data[_begin_of(data, start.base_offset) :], start.base_offset)
        replay = events_of_metadata(
            [*rows(state, version), *rows(rest, version)], [file(rest, start.base_offset)], WHOLE
        )
        assert [_bare(e) for e in replay] == [_bare(e) for e in whole if _offset(e) >= start.base_offset]


def _begin_of(data: bytes, offset: int) -> int:
    begin = 0
    for batch in batches(data):
        if batch.base_offset == offset:
            return begin
        begin = batch.end
    raise AssertionError(offset)


def _offset(event: Row) -> int:
    return int(event.text.removeprefix("offset ").partition(":")[0])


def _bare(event: Row) -> Row:
    """An event without its writer: who the controller was stands in the first segment only."""
    return replace(event, broker=None)


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_records_read_twice_are_replayed_once(version: str) -> None:
    data = segment(version)
    cut = next(b.end for b in batches(data) if b.base_offset > 60)
    first = read_segment(data[:cut], 0)
    rest = read_segment(data, first.next_offset, first.end, first.last_epoch)
    assert [*first.rows, *rest.rows] == read_segment(data, 0).rows
    twice = {
        tuple(getattr(r, k) for k in METADATA_RECORDS.key): r
        for r in [*rows(read_segment(data, 0), version), *rows(first, version)]
    }
    files = [file(first), file(rest, first.next_offset)]
    assert events_of_metadata(twice.values(), files, WHOLE) == replayed(version)


@pytest.mark.parametrize("version", VERSIONS)
def test_truncated_segment_is_a_prefix_and_truncated_snapshot_is_refused(version: str) -> None:
    data = segment(version)[:4000]
    whole = read_segment(data, 0).rows
    for size in range(0, len(data), 23):
        contents = read_segment(data[:size], 0)
        assert contents.problems == ()
        assert contents.rows == whole[: len(contents.rows)]
        assert contents.end <= size
    for name, content in snapshots(version):
        for size in range(0, len(content), 13):
            cut = read_snapshot(content[:size], name)
            assert (cut.rows, cut.end) == ([], 0) and cut.problems


@drawn(3)
@given(st.data())
def test_changed_byte_is_noticed_by_the_checksum(draw: st.DataObject) -> None:
    # An epoch is not under the checksum: nothing contradicts a lower one of the first batch, a higher one of the last.
    data = segment("4.3")[:4000]
    whole = [*batches(data)]
    data = data[: whole[-1].end]
    unprotected = {*range(WITHOUT_CRC), *range(whole[-2].end, whole[-2].end + WITHOUT_CRC)}
    at = draw.draw(st.integers(0, len(data) - 1).filter(lambda i: i not in unprotected))
    changed = bytearray(data)
    changed[at] ^= draw.draw(st.integers(1, 255))
    contents = read_segment(bytes(changed), 0)
    assert contents.problems or contents.end < len(data)
    healthy = read_segment(data, 0).rows
    assert contents.rows == healthy[: len(contents.rows)]


@given(st.binary(max_size=200))
def test_random_bytes_give_no_rows_or_a_sentence(data: bytes) -> None:
    contents = read_segment(data, 0)
    assert contents.rows == [] and contents.end == 0
    try:
        decode_metadata_record(data)
    except Malformed as problem:
        assert str(problem)


def test_checksum_is_crc32c() -> None:
    # RFC 3720, appendix B.4.
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA


def test_partition_change_across_missing_records_is_not_guessed() -> None:
    contents = read_segment(segment("4.3"), 0)
    kept = [r for r in rows(contents) if r.record_offset < 40 or r.record_offset > 60]
    broken = [row(METADATA_FILES, first_offset=0, next_offset=40, is_snapshot=False), file(contents, 61)]
    replay = events_of_metadata(kept, broken, WHOLE)
    changed = {(e.topic, e.partition) for e in replay if e.kind == "partition_changed"}
    # What was created after the gap is known; what was there before is not, for no epoch can be counted.
    assert changed == {("doomed", 0)}
    undecoded = [r if r.record_offset != 49 else replace(r, record_type=UNDECODED) for r in rows(contents)]
    replay = events_of_metadata(undecoded, [file(contents)], WHOLE)
    assert max(_offset(e) for e in replay if e.topic == "orders" and e.kind == "partition_changed") < 49


def test_records_truncated_by_a_later_controller_are_ignored() -> None:
    contents = read_segment(segment("4.3"), 0)
    all_of = rows(contents)
    (change,) = [r for r in all_of if r.record_offset == 47]
    stray = replace(change, record_offset=300, leader=3)
    later = replace(all_of[0], record_offset=300, controller_epoch=2, broker=5, written_at=change.written_at)
    beyond = [replace(file(contents), next_offset=400)]
    replay = events_of_metadata([*all_of, stray, later], beyond, WHOLE)
    assert [e.kind for e in replay if _offset(e) == 300] == ["controller_elected"]


def test_fenced_broker_without_leadership_has_outage_of_unknown_kind() -> None:
    # Who leads nothing is let go at once, in the same record that fences one for its silence.
    contents = read_segment(segment("4.3"), 0)
    idle = [r for r in rows(contents) if r.record_offset < 29 or r.record_offset in (82, 101, 103)]
    replay = events_of_metadata(idle, [file(contents)], WHOLE)
    assert [e.kind for e in replay if e.node == 2][1:] == [
        "broker_fenced_idle",
        "broker_incarnated",
        "broker_unfence_granted",
    ]
    [absence] = rebuild_outages(replay, [], WHOLE)
    assert (absence.broker, absence.kind, absence.confidence) == (2, "unknown", "unknown")


def test_aborted_transaction_changes_nothing() -> None:
    contents = read_segment(segment("4.3"), 0)
    aborted = [replace(r, record_type="abort_transaction") if r.record_type == "end_transaction" else r
               for r in rows(contents)]  # fmt: skip
    first = next(e for e in replayed("4.3") if e.kind == "config_changed")
    replay = events_of_metadata(aborted, [file(contents)], WHOLE)
    assert first.line_id not in {e.line_id for e in replay}
    assert len(replay) == len(replayed("4.3")) - 1


def test_secret_broker_setting_is_not_kept() -> None:
    of_broker = bytes([1, 4, 0, 4, 2]) + b"1" + bytes([1 + len(b"ssl.key.password")]) + b"ssl.key.password"
    kind, fields = decode_metadata_record(of_broker + bytes([5]) + b"open" + bytes([0]))
    assert kind == "config" and fields is not None
    assert (fields["name"], fields["value"]) == ("ssl.key.password", None)


@pytest.mark.parametrize(
    ("path", "is_snapshot"),
    [
        (f"broker-1/{FOLDER}/{SEGMENT}", False),
        (f"{FOLDER}/00000000000000000071-0000000001.checkpoint", True),
        (f"{FOLDER}/00000000000000000000.index", None),
        (f"{FOLDER}/00000000000000000071-0000000001.checkpoint.deleted", None),
        (f"orders-0/{SEGMENT}", None),
        (SEGMENT, None),
        (f"{FOLDER}/server.log", None),
    ],
)
def test_metadata_files_are_recognised_by_folder_and_name(path: str, is_snapshot: bool | None) -> None:
    name = file_name(path)
    assert (name.is_snapshot if name else None) is is_snapshot


def test_window_limits_events_and_not_the_replayed_records() -> None:
    whole = replayed("4.3")
    middle = Window(whole[40].happened_at, WHOLE.end)
    assert replayed("4.3", middle) == [e for e in whole if middle.holds(e.happened_at)]


def test_kinds_of_metadata_events_are_declared_and_have_no_pattern() -> None:
    assert not set(KINDS) & set(RECORD_KINDS)
    assert {e.kind for v in VERSIONS for e in replayed(v)} <= {*KINDS, *RECORD_KINDS}
    assert {t.name for t in TYPES if t.shape is not None} <= set(MetadataRecordType)
