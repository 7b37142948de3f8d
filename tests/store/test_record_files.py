"""RECORDS on real tables: records of `__consumer_offsets` as files bring them, each once, and runs of commits whole."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from kafka_hindsight.catalog import bronze, quality
from kafka_hindsight.intake.packed_batches import unpacked
from kafka_hindsight.intake.record_files import read_record_files
from kafka_hindsight.kafka_records.batches import RecordBatch, batches
from kafka_hindsight.kafka_records.commit_runs import in_order
from kafka_hindsight.kafka_records.wire import Malformed
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.exits import BadInput
from tests.support.logs import ingested, lay, resigned, rows
from tests.support.nights import RECORDS

Row = dict[str, Any]

LINES = RECORDS / "internal_topics.jsonl"
SEGMENTS = RECORDS / "segments"


@pytest.fixture
def night(tmp_path: Path) -> Path:
    return lay(tmp_path, {"logs/server.log": resigned(1, "01:00:00,000") + resigned(2, "02:00:00,000")})


def read(night: Path, records: Path | None, lake: str = "lake") -> Store:
    store, _ = ingested(night / lake, night / "logs", records=records)
    return store


def content_of(records: Iterable[Row]) -> list[str]:
    return sorted(str(record) for record in records)


def commits(store: Store) -> list[Row]:
    """The rows of bronze.offset_commits, in order of their place."""
    found = rows(store, bronze.OFFSET_COMMITS)
    return sorted(found, key=lambda r: (r["offsets_partition"], r["first_record"], r["last_record"]))


def test_json_lines_become_records_of_groups_and_runs_of_commits(night: Path) -> None:
    store = read(night, LINES)
    records = rows(store, bronze.GROUP_RECORDS)
    runs = commits(store)
    assert (len(records), sum(r["commits"] for r in runs)) == (56, 61)
    assert {r["run_landed_as"] for r in records} == {None}
    assert rows(store, quality.QUARANTINE) == []
    rewound = [r for r in runs if r["group_id"] == "mobile-rewind-17" and r["first_offset"] is not None]
    assert [(r["first_offset"], r["last_offset"], r["commits"], r["leader_epoch"]) for r in rewound] == [
        (50, 50, 7, 0),
        (10, 10, 1, -1),  # an administrator's, while the group was empty
        (200, 200, 7, 0),
    ]
    with_metadata = {r["group_id"] for r in runs if r["has_metadata"]}
    assert with_metadata == {"geo-franzgo-21"}
    assert {r["commits"] for r in runs if r["first_offset"] is None} == {1}


def test_topic_of_kip_848_assignment_is_named_by_commits(night: Path) -> None:
    records = rows(read(night, LINES), bronze.GROUP_RECORDS)
    owned = [p["topic"] for r in records if r["group_id"] == "ads-nextgen-13" for p in r["assignment"] or ()]
    assert set(owned) == {"ads-nextgen-13-t"}


def test_records_read_in_parts_and_again_are_those_read_at_once(night: Path) -> None:
    whole = commits(read(night, LINES, "at_once"))
    lines = LINES.read_text().splitlines(keepends=True)
    parts = lay(night, {"a.jsonl": "".join(lines[:70]), "b.jsonl": "".join(lines[60:]), "all/c.jsonl": "".join(lines)})
    for place in ("a.jsonl", "b.jsonl", "all", "a.jsonl"):
        store = read(night, parts / place)
    assert commits(store) == whole
    assert len(rows(store, bronze.GROUP_RECORDS)) == 56


def test_line_that_is_not_a_record_is_kept_with_reason(night: Path) -> None:
    good = json.loads(LINES.read_text().splitlines()[0])
    broken = [
        '{"topic": "__consumer_off',
        json.dumps(good | {"offset": "0"}),
        json.dumps(good | {"key": "not base64"}),
        json.dumps(good | {"at": 10**18}),
        json.dumps(good | {"offset": 9, "key": "AAEADWFk", "value": None}),
        json.dumps([]),
    ]
    other_topic = json.dumps(good | {"topic": "__transaction_state"})
    store = read(night, lay(night, {"r/a.jsonl": "\n".join([json.dumps(good), other_topic, *broken])}) / "r")
    sentences = [r["sentences"][0] for r in rows(store, quality.QUARANTINE)]
    assert len(rows(store, bronze.GROUP_RECORDS)) == 1
    assert sum(s.startswith("It is not a record. Needed: a JSON object with topic") for s in sentences) == 5
    assert [s for s in sentences if s.startswith("key of offset_commit: group_id")] != []


@pytest.mark.parametrize(
    ("name", "says"), (("nowhere", "nothing is there"), ("logs", "none of its 1 files has records"))
)
def test_place_without_records_is_refused(night: Path, name: str, says: str) -> None:
    with pytest.raises(BadInput, match=f"RECORDS names .*{says}.* Needed: .*__consumer_offsets"):
        read(night, night / name)


def test_segments_give_the_same_rows_as_json_lines(night: Path) -> None:
    partition = [line for line in LINES.read_text().splitlines() if json.loads(line)["partition"] == 26]
    by_line = read(night, lay(night, {"26.jsonl": "\n".join(partition)}) / "26.jsonl", "by_line")
    by_segment = read(night, SEGMENTS / "__consumer_offsets-26", "by_segment")
    assert commits(by_segment) == commits(by_line) != []
    assert content_of(rows(by_segment, bronze.GROUP_RECORDS)) == content_of(rows(by_line, bronze.GROUP_RECORDS))


def test_aborted_commit_and_one_whose_transaction_is_open_are_left_out_of_segments(night: Path) -> None:
    """The recorded pipeline committed nine times and aborted once. Its segment is cut before the last marker too."""
    segment = (SEGMENTS / "__consumer_offsets-48" / f"{0:020}.log").read_bytes()
    *_, marker = [at for at, batch in placed(segment) if batch.is_control]
    lay(night, {f"whole/__consumer_offsets-48/{0:020}.log": segment})
    lay(night, {f"open/__consumer_offsets-48/{0:020}.log": segment[:marker]})
    for folder, commits_and_last in (("whole", (9, 90)), ("open", (8, 80))):
        runs = [r for r in commits(read(night, night / folder, f"lake-{folder}")) if r["group_id"] == "billing-flow-12"]
        live = [r for r in runs if r["last_offset"] is not None]
        assert (sum(r["commits"] for r in live), max(r["last_offset"] for r in live)) == commits_and_last


def test_replicas_and_segments_of_one_partition_are_one_log(night: Path) -> None:
    segment = (SEGMENTS / "__consumer_offsets-48" / f"{0:020}.log").read_bytes()
    whole = commits(read(night, SEGMENTS / "__consumer_offsets-48", "whole"))
    places = placed(segment)
    at, batch = places[len(places) // 2]
    second = f"{batch.base_offset:020}"
    lay(
        night,
        {
            f"r/broker-1/__consumer_offsets-48/{0:020}.log": segment[:at],
            f"r/broker-1/__consumer_offsets-48/{second}.log": segment[at:],
            f"r/broker-2/__consumer_offsets-48/{0:020}.log": segment[: at + 7],
            f"r/broker-2/__consumer_offsets-48/{0:020}.index": b"of no use",
            f"r/broker-2/__transaction_state-3/{0:020}.log": segment,
            f"r/broker-2/orders-3/{0:020}.log": segment,
        },
    )
    store = read(night, night / "r")
    assert commits(store) == whole
    assert rows(store, quality.QUARANTINE) == []


@pytest.mark.parametrize("codec", ("gzip", "snappy", "lz4", "zstd"))
def test_packed_segments_give_the_same_records(night: Path, codec: str) -> None:
    """The batches of a broker's segment, packed by MemoryRecords of Kafka 4.3.1."""
    packed = (RECORDS / "packed" / f"{codec}.log").read_bytes()
    lay(night, {f"r/__consumer_offsets-26/{0:020}.log": packed, f"cut/__consumer_offsets-26/{0:020}.log": packed[:-9]})
    plain, found = (read_record_files(str(place)) for place in (SEGMENTS / "__consumer_offsets-26", night / "r"))
    assert found == plain
    assert found.groups and found.runs
    cut = read_record_files(str(night / "cut"))
    assert 0 < len(cut.groups) + len(cut.runs) < len(plain.groups) + len(plain.runs)


@pytest.mark.parametrize("codec", ("gzip", "snappy", "lz4", "zstd"))
def test_batch_that_cannot_be_unpacked_is_refused(codec: str) -> None:
    with pytest.raises(Malformed, match=f"packed with {codec}"):
        unpacked(codec, b"\x82SNAPPY\0" + bytes(8) + b"\0\0\0\5\xff\xff\xff")


def test_snappy_of_other_clients_is_one_block() -> None:
    """Those of C, of Python and of Go write no head, where snappy-java parts what it packs into blocks of 32 KiB."""
    content = bytes(range(256)) * 300
    block = bytes(pa.compress(content, codec="snappy", asbytes=True))
    assert unpacked("snappy", block) == content
    head, size = b"\x82SNAPPY\0\0\0\0\1\0\0\0\1", len(block).to_bytes(4, "big")
    assert unpacked("snappy", head + size + block + size + block) == content * 2


def test_lines_that_are_no_records_are_quarantined_and_the_others_read(night: Path) -> None:
    lines = LINES.read_text().splitlines()
    other = json.dumps({**json.loads(lines[0]), "topic": "__transaction_state"})
    broken = ("{", "[]", "7", json.dumps({**json.loads(lines[0]), "at": "now"}), '{"topic": "__consumer_offsets"}')
    whole = read_record_files(str(LINES))
    for some in broken:
        lay(night, {"some.jsonl": "\n".join((*lines[:9], "", some, other, *lines[9:]))})
        found = read_record_files(str(night / "some.jsonl"))
        assert [text for text, _ in found.broken] == [some]
        assert content_of(found.groups) == content_of(whole.groups)
        assert in_order(found.runs) == in_order(whole.runs)


def test_segment_that_differs_from_its_checksum_is_read_up_to_there(night: Path) -> None:
    segment = (SEGMENTS / "__consumer_offsets-26" / f"{0:020}.log").read_bytes()
    at, batch = placed(segment)[3]
    wrong = segment[: at + 70] + bytes([segment[at + 70] ^ 1]) + segment[at + 71 :]
    lay(night, {f"r/__consumer_offsets-26/{0:020}.log": wrong})
    store = read(night, night / "r")
    (refused,) = rows(store, quality.QUARANTINE)
    assert f"the batch at offset {batch.base_offset} has checksum" in refused["sentences"][0]
    read_offsets = [r["record_offset"] for r in rows(store, bronze.GROUP_RECORDS)]
    assert read_offsets
    assert max(read_offsets) < batch.base_offset


def placed(segment: bytes) -> list[tuple[int, RecordBatch]]:
    """The batches of a segment, each with the byte at which it begins."""
    found = list(batches(segment))
    return list(zip([0, *(batch.end for batch in found)], found, strict=False))
