"""Landed records of groups on real tables: each once, what is broken in quarantine, ownership from them."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog import bronze, quality
from kafka_hindsight.lake.store import Store
from tests.support.logs import ingested, lay, rebuilt, resigned, rows

Row = dict[str, Any]

LANDED = "lake/landing/group_records"


def record(clock: str, offset: int, **fields: Any) -> Row:
    return {
        "offsets_partition": 3,
        "record_offset": offset,
        "written_at": f"2026-11-21T{clock}.000+00:00",
        "is_tombstone": False,
        **fields,
    }


def generation(clock: str, offset: int, number: int, *members: tuple[str, list[int]]) -> Row:
    entries = [
        {
            "member_id": member,
            "client_id": f"client-{member}",
            "host": "10.0.0.7",
            "session_timeout_ms": 45_000,
            "subscription": ["t"],
            "assignment": [{"topic": "t", "partition": p} for p in owned],
        }
        for member, owned in members
    ]
    return record(clock, offset, record_type="group_metadata", group_id="g", generation=number, members=entries)


def member_epoch(clock: str, offset: int, epoch: int, topic: str | None) -> Row:
    owned = [{"topic": topic, "topic_id": "QVbV2BrVQ7ac1tuhDXDZ_g", "partition": 0}]
    fields = {"group_id": "k", "member_id": "m", "member_epoch": epoch, "member_state": "stable", "assignment": owned}
    return record(clock, offset, record_type="consumer_group_current_member_assignment", **fields)


def jsonl(*records: Row) -> str:
    return "".join(json.dumps(row) + "\n" for row in records)


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two hours of logs of cluster prod, and what has landed of its groups; a colleague's cluster beside it."""
    first = jsonl(generation("00:10:00", 7, 4, ("a", [0, 1])), generation("01:20:00", 8, 5, ("a", [0]), ("b", [1])))
    again = jsonl(generation("01:20:00", 8, 5, ("a", [0]), ("b", [1])), member_epoch("01:30:00", 2, 3, "t"))
    broken = record("01:40:00", 9, sentence="GroupMetadataValue has version 9; needed 0 to 4.", key="00020001")
    deleted = member_epoch("01:50:00", 3, 4, None)
    return lay(
        tmp_path_factory.mktemp("night"),
        {
            "logs/server.log": resigned(1, "01:00:00,000") + resigned(2, "02:00:00,000"),
            f"{LANDED}/prod-20261121T012500Z-0123456789abcdef.jsonl": first,
            f"{LANDED}/prod-20261121T013500Z-1123456789abcdef.jsonl": again + '{"offsets_part',
            f"{LANDED}/prod-20261121T020000Z-2123456789abcdef.jsonl": jsonl(broken, deleted),
            f"{LANDED}/prod.positions.json": "{}",
            f"{LANDED}/other-20261121T020000Z-3123456789abcdef.jsonl": jsonl(member_epoch("01:00:00", 1, 9, "t")),
        },
    )


@pytest.fixture(scope="module")
def ingested_night(night: Path) -> tuple[Store, Row]:
    return ingested(night / "lake", night / "logs", cluster="prod")


def test_landed_group_records_become_rows_once_and_broken_ones_quarantine(
    night: Path, ingested_night: tuple[Store, Row]
) -> None:
    store, _ = ingested_night
    for again in (False, True):
        if again:
            ingested(night / "lake", night / "logs", cluster="prod")
        records = rows(store, bronze.GROUP_RECORDS)
        assert sorted((r["group_id"], r["record_offset"]) for r in records) == [("g", 7), ("g", 8), ("k", 2), ("k", 3)]
        quarantined = [r["sentences"] for r in rows(store, quality.QUARANTINE) if r["source"] == "__consumer_offsets"]
        assert sorted(quarantined) == [
            ["GroupMetadataValue has version 9; needed 0 to 4."],
            ["It is not a record of a group: perhaps its writer died while it wrote."],
        ]
    (second,) = [r for r in records if r["record_offset"] == 8]
    assert [m["client_id"] for m in second["members"]] == ["client-a", "client-b"]
    assert second["run_landed_as"].startswith("prod-20261121T01")


def test_ownership_follows_from_group_records_and_starts_before_window(ingested_night: tuple[Store, Row]) -> None:
    store, summary = ingested_night
    ownership = rebuilt(store, summary, "gold.ownership", around=timedelta(0))["gold.ownership"]
    assert sorted((r["group_id"], r["partition"], r["member_id"], r["generation"], r["topic"]) for r in ownership) == [
        ("g", 0, "a", 4, "t"),
        ("g", 0, "a", 5, "t"),
        ("g", 1, "a", 4, "t"),
        ("g", 1, "b", 5, "t"),
        ("k", 0, "m", 3, "t"),
        ("k", 0, "m", 4, "QVbV2BrVQ7ac1tuhDXDZ_g"),
    ]
    assert {r["valid_from"].strftime("%H:%M") for r in ownership if r["generation"] == 4 and r["group_id"] == "g"} == {
        "01:00"
    }
    assert all(r["evidence"][0]["source"].startswith("__consumer_offsets-3@") for r in ownership)


def run(clock: str, first: int, last: int, offset: int, commits: int) -> Row:
    """A run of commits that do not move, as it lands."""
    at = int(datetime.fromisoformat(f"2026-11-21T{clock}+00:00").timestamp() * 1000)
    return {
        **{
            "offsets_partition": 3,
            "group_id": "g",
            "topic": "t",
            "partition": 0,
            "first_record": first,
            "last_record": last,
        },
        **{"first_offset": offset, "last_offset": offset, "commits": commits, "moves": 0, "stood_ms": 0},
        **dict.fromkeys(("first_at", "last_at", "first_moved_at", "moved_at", "stood_at"), at),
        **{"leader_epoch": 1, "has_metadata": False},
    }


def test_landed_runs_and_open_ones_are_rows_and_grow_as_they_are_read_on(night: Path) -> None:
    """A run goes on over two landings; a record of the group (8) ends the one before it, the hour another."""
    positions = night / LANDED / "prod.positions.json"

    def read() -> list[tuple[Any, ...]]:
        store, _ = ingested(night / "lake", night / "logs", cluster="prod")
        found = sorted(rows(store, bronze.OFFSET_COMMITS), key=lambda r: r["first_record"])
        return [(r["first_record"], r["last_record"], r["commits"], len(r["run_landed_as"])) for r in found]

    def land(name: str, *runs: Row) -> None:
        lay(night, {f"lake/landing/offset_commits/prod-20261121T{name}.jsonl": jsonl(*runs)})

    positions.write_text(json.dumps({"open": [run("01:15:00", 4, 5, 10, 2)]}))
    assert read() == [(4, 5, 2, 0)]
    land("012500Z-0123456789abcdef", run("01:15:00", 4, 6, 10, 3))
    positions.write_text(json.dumps({"open": [run("01:16:00", 7, 7, 11, 1), "torn"]}))
    assert read() == [(4, 7, 4, 1)]
    land("013000Z-0123456789abcdef", run("01:16:00", 7, 7, 11, 1), run("01:21:00", 9, 10, 12, 2))
    positions.write_text(json.dumps({"open": [run("02:00:00", 11, 11, 12, 1)]}))
    for _ in range(2):
        assert read() == [(4, 7, 4, 2), (9, 10, 2, 1), (11, 11, 1, 0)]
