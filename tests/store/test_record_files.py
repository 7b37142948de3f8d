"""RECORDS on real tables: records of `__consumer_offsets` as files bring them, each once, and runs of commits whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog import bronze, quality
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.exits import BadInput
from tests.support.logs import ingested, lay, resigned, rows
from tests.support.nights import EXCERPTS

Row = dict[str, Any]

LINES = EXCERPTS / "records-4.3" / "internal_topics.jsonl"


@pytest.fixture
def night(tmp_path: Path) -> Path:
    return lay(tmp_path, {"logs/server.log": resigned(1, "01:00:00,000") + resigned(2, "02:00:00,000")})


def read(night: Path, records: Path | None, lake: str = "lake") -> Store:
    store, _ = ingested(night / lake, night / "logs", records=records)
    return store


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
