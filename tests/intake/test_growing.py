"""Live folders: logs that grow, rotate, vanish and are packed while they are read. Each line once, none lost."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog import bronze
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.intake.json_lines import DAMAGED
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.damage import sealed
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.files import Listing
from kafka_hindsight.steps import collect as collect_step
from kafka_hindsight.steps.collect import Collected, InputFiles, InputKeepsChanging, collect, list_input
from lab.bench import rotation
from tests.support.logs import RUN_AT, lay, resigned, rows, settings, with_tables

LOG = "broker-1/server.log"
OTHER = "broker-2/server.log"
NEXT = RUN_AT + timedelta(hours=1)

Hook = Callable[[int], None]
"""What happens to the files right after they were listed for the n-th time."""


def run(root: Path, at: datetime = RUN_AT, hook: Hook = lambda _: None, **given: Any) -> Collected:
    """The step collect on `logs` below a folder, into `lake` beside it."""
    with_tables(root / "lake")
    wishes = settings(root / "lake", root / "logs", run_at=at, **{"read_to_end": False, **given})
    engine = LocalEngine()
    look, listings = list_input(engine, wishes).look, list[Listing]()

    def looked() -> Listing:
        listings.append(look())
        hook(len(listings))
        return listings[-1]

    return collect(engine, Store(wishes.lake), wishes, InputFiles(looked(), looked))


def texts(root: Path, source: str = LOG) -> list[str]:
    """The records of a source that bronze holds, in their order."""
    held = rows(Store(str(root / "lake")), bronze.LOG_RECORDS, "happened_at", "order")
    return [row["text"] for row in held if row["source"] == source]


def words(*lines: str) -> list[str]:
    return [line.rstrip("\n") for line in lines]


def make_older(root: Path, minutes: float, *names: str) -> None:
    """Makes files look written so long before the run."""
    at = (RUN_AT - timedelta(minutes=minutes)).timestamp()
    for name in names:
        os.utime(root / "logs" / name, (at, at))


LINES = [resigned(n, f"01:{n:02d}:00,000") for n in range(30)]


def test_every_kind_of_rotation_under_writer_keeps_each_line_once(tmp_path: Path) -> None:
    outcome = rotation.play(tmp_path, batches=24, lines=700, every=4, collects=3)
    assert outcome.lines > 100_000
    assert min(outcome.rotations.values()) >= 5
    assert outcome.lines_kept == outcome.lines
    assert outcome.same


MANY = [resigned(n, f"01:{n:02d}:00,000") for n in range(60)]
OLDER, WHOLE, NEXT_PART = "".join(MANY[:11]), "".join(MANY[11:25]), "".join(MANY[25:])
CUT, COPIED = WHOLE[: len(WHOLE) // 3 + 20], WHOLE[: len(WHOLE) // 2 + 20]
PACKED = gzip.compress(WHOLE.encode())
ROTATIONS: dict[str, list[dict[str, str | bytes]]] = {
    "by name": [
        {"": CUT, ".1": OLDER},
        {"": WHOLE, ".1": OLDER},
        {".1": WHOLE, ".2": OLDER},
        {"": NEXT_PART, ".1": WHOLE, ".2": OLDER},
    ],
    "by name, one part kept": [
        {"": CUT, ".1": OLDER},
        {"": WHOLE, ".1": OLDER},
        {".1": WHOLE},
        {"": NEXT_PART, ".1": WHOLE},
    ],
    "by date": [{"": CUT}, {"": WHOLE}, {".2026-11-21-01": WHOLE}, {"": NEXT_PART, ".2026-11-21-01": WHOLE}],
    "copied and truncated": [
        {"": CUT, ".1": OLDER},
        {"": WHOLE, ".1": COPIED, ".2": OLDER},
        {"": "", ".1": WHOLE, ".2": OLDER},
        {"": NEXT_PART, ".1": WHOLE, ".2": OLDER},
    ],
    "packed": [
        {"": CUT},
        {".1": WHOLE, ".1.gz": PACKED[: len(PACKED) // 2]},
        {".1.gz": PACKED},
        {"": NEXT_PART, ".1.gz": PACKED},
    ],
}
"""The files of one log by their suffixes, before, during and after a rotation in each way.

Each part is larger than the one before, so it has every byte that was listed under its name.
"""


def lay_moment(root: Path, moment: int) -> None:
    """The logs of all ways of rotation at one moment. The same content has the same time whatever its name."""
    shutil.rmtree(root / "logs", ignore_errors=True)
    lay(root / "logs", {OTHER: LINES[0]})
    make_older(root, 30, OTHER)
    for way, moments in ROTATIONS.items():
        for suffix, content in moments[moment].items():
            name = f"{way}/server.log{suffix}"
            lay(root / "logs", {name: content})
            make_older(root, 9 - len(content) / len(NEXT_PART), name)


@pytest.mark.parametrize("listing", [1, 2])
@pytest.mark.parametrize(("before", "after"), [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
def test_rotation_between_two_looks_keeps_each_line_once_in_every_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int, after: int, listing: int
) -> None:
    monkeypatch.setattr(collect_step, "_PAUSE_S", 0)
    lay_moment(tmp_path, before)
    run(tmp_path, hook=lambda count: lay_moment(tmp_path, after) if count == listing else None)
    lay_moment(tmp_path, 3)
    run(tmp_path, NEXT)
    for way in ROTATIONS:
        of_deleted = OLDER if "one part" in way else ""
        kept = [text for text in texts(tmp_path, f"{way}/server.log") if f"{text}\n" not in of_deleted]
        assert kept == words(*MANY[0 if ".2" in ROTATIONS[way][3] else 11 :]), way


def test_newest_part_is_not_read_whole_while_its_log_has_no_record(tmp_path: Path) -> None:
    lay(tmp_path / "logs", {f"{LOG}.1": "".join(LINES[:9]), LOG: ""})
    make_older(tmp_path, 1, f"{LOG}.1", LOG)
    before = run(tmp_path)
    assert before.held_back == {f"{LOG}.1": 1}
    assert not rotation.are_parts_read(LOG, before)
    lay(tmp_path / "logs", {LOG: LINES[9] + LINES[10][:70]})
    make_older(tmp_path, 0, LOG)
    after = run(tmp_path)
    assert after.held_back == {LOG: 1}
    assert rotation.are_parts_read(LOG, after)
    assert texts(tmp_path) == words(*LINES[:10])


def test_renamed_file_is_not_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = {LOG: "".join(LINES[20:]), f"{LOG}.1": "".join(LINES[10:20]), f"{LOG}.2": "".join(LINES[:10])}
    lay(tmp_path / "logs", parts)
    make_older(tmp_path, 30, *parts)
    first = run(tmp_path)
    folder = tmp_path / "logs" / "broker-1"
    for old, new in ((".2", ".3"), (".1", ".2"), ("", ".1")):
        (folder / f"server.log{old}").rename(folder / f"server.log{new}")
    lay(tmp_path / "logs", {LOG: resigned(1, "02:00:00,000")})
    make_older(tmp_path, 20, LOG)
    second = run(tmp_path, NEXT)
    output = capsys.readouterr().out
    assert "Cluster prod has 3 files, 3 of them new" in output
    assert "Cluster prod has 4 files, 1 of them new" in output
    assert (first.span[0], second.span[1] - first.span[1]) == (second.span[0], timedelta(minutes=31))
    assert texts(tmp_path) == words(*LINES, resigned(1, "02:00:00,000"))
    run(tmp_path, cluster="another")
    assert "Cluster another has 4 files, 4 of them new" in capsys.readouterr().out


def test_last_record_of_growing_file_waits_for_next_head_or_ten_minutes(tmp_path: Path) -> None:
    half = resigned(3, "01:03:00,000")[:70]
    lay(tmp_path / "logs", {LOG: "".join(LINES[:3]) + half, OTHER: LINES[0]})
    make_older(tmp_path, 1, LOG)
    make_older(tmp_path, 10, OTHER)
    done = run(tmp_path)
    assert done.held_back == {LOG: 1}
    assert texts(tmp_path) == words(*LINES[:3])
    assert texts(tmp_path, OTHER) == words(LINES[0])
    lay(tmp_path / "logs", {LOG: "".join(LINES[:5]) + "\ta trace\n"})
    make_older(tmp_path, 0, LOG)
    assert run(tmp_path).held_back == {LOG: 2}
    assert texts(tmp_path) == words(*LINES[:4])
    assert run(tmp_path, read_to_end=True).held_back == {}
    assert texts(tmp_path) == words(*LINES[:4], LINES[4] + "\ta trace")


def test_record_of_a_file_that_grows_while_it_is_read_to_its_end_waits(tmp_path: Path) -> None:
    before, after = "".join(LINES[:3]) + LINES[3][:70], "".join(LINES[:5])
    lay(tmp_path / "logs", {LOG: before, OTHER: LINES[0]})
    grown = run(tmp_path, hook=lambda _: lay(tmp_path / "logs", {LOG: after}), read_to_end=True)
    assert grown.held_back == {LOG: 1}
    assert (texts(tmp_path), texts(tmp_path, OTHER)) == (words(*LINES[:3]), words(LINES[0]))
    run(tmp_path, read_to_end=True)
    assert texts(tmp_path) == words(*LINES[:5])


def test_rotated_file_is_complete_and_equal_lines_across_rotation_are_kept(tmp_path: Path) -> None:
    twin = resigned(9, "01:09:00,000")
    lay(tmp_path / "logs", {f"{LOG}.1": "".join(LINES[:9]) + twin, LOG: twin + twin + LINES[10]})
    make_older(tmp_path, 1, f"{LOG}.1", LOG)
    run(tmp_path)
    assert texts(tmp_path) == words(*LINES[:9], twin, twin, twin)
    lay(tmp_path / "logs", {LOG: twin + twin + "".join(LINES[10:12])})
    make_older(tmp_path, 0, LOG)
    assert sorted(f.file.name for f in run(tmp_path, NEXT).facts) == [LOG, f"{LOG}.1"]
    assert texts(tmp_path) == words(*LINES[:9], twin, twin, twin, *LINES[10:12])


def test_file_that_vanishes_after_listing_fails_nothing(tmp_path: Path) -> None:
    lay(tmp_path / "logs", {LOG: "".join(LINES[5:]), f"{LOG}.1": "".join(LINES[:5]), OTHER: LINES[0]})
    make_older(tmp_path, 30, LOG, f"{LOG}.1", OTHER)

    def vanish(listing: int) -> None:
        if listing == 1:
            (tmp_path / "logs" / f"{LOG}.1").unlink()

    done = run(tmp_path, hook=vanish)
    assert not done.unsettled
    assert texts(tmp_path) == words(*LINES[5:])
    assert texts(tmp_path, OTHER) == words(LINES[0])


def test_rotation_after_listing_joins_no_records_of_two_files(tmp_path: Path) -> None:
    folder = tmp_path / "logs" / "broker-1"
    lay(tmp_path / "logs", {LOG: "".join(LINES[5:]), f"{LOG}.1": "".join(LINES[:5])})
    make_older(tmp_path, 30, LOG, f"{LOG}.1")

    def rotate(listing: int) -> None:
        if listing in (1, 3):
            (folder / "server.log.1").rename(folder / f"server.log.{5 - listing}")
            (folder / "server.log").rename(folder / "server.log.1")
            lay(tmp_path / "logs", {LOG: resigned(listing, f"02:0{listing}:00,000")})
            make_older(tmp_path, 30, LOG)

    done = run(tmp_path, hook=rotate)
    assert not done.unsettled
    assert texts(tmp_path) == words(*LINES, resigned(1, "02:01:00,000"), resigned(3, "02:03:00,000"))


def test_log_that_changes_at_each_reading_is_left_to_next_run(tmp_path: Path) -> None:
    lay(tmp_path / "logs", {LOG: "".join(LINES), OTHER: LINES[0]})
    make_older(tmp_path, 30, LOG, OTHER)

    def replace(listing: int) -> None:
        lay(tmp_path / "logs", {LOG: "".join(LINES[listing:])})

    done = run(tmp_path, hook=replace)
    assert done.unsettled == {LOG}
    assert any(LOG in w and "The next run reads them" in w for w in done.summary()["warnings"])
    assert (texts(tmp_path), texts(tmp_path, OTHER)) == ([], words(LINES[0]))
    (tmp_path / "logs" / OTHER).unlink()
    lay(tmp_path / "logs", {LOG: "".join(LINES)})
    with pytest.raises(InputKeepsChanging, match=f"The files of {LOG} changed or vanished"):
        run(tmp_path, hook=replace)
    lay(tmp_path / "logs", {LOG: "".join(LINES)})
    assert not run(tmp_path, NEXT + timedelta(days=365)).unsettled
    assert texts(tmp_path) == words(*LINES)


def test_copytruncate_rotation_keeps_each_line_once(tmp_path: Path) -> None:
    whole = "".join(LINES[:10])
    half = whole[: len(whole) // 2 + 20]
    for copy, original, at in ((half, whole, 3), (whole, whole, 2), (whole, "".join(LINES[10:12]), 1)):
        lay(tmp_path / "logs", {f"{LOG}.1": copy, LOG: original})
        make_older(tmp_path, at, f"{LOG}.1", LOG)
        run(tmp_path)
    assert texts(tmp_path) == words(*LINES[:11])
    run(tmp_path, NEXT)
    assert texts(tmp_path) == words(*LINES[:12])


def test_gzip_file_in_progress_adds_its_rest_when_complete(tmp_path: Path) -> None:
    lines = [resigned(n % 7, f"0{n // 3600}:{n // 60 % 60:02d}:{n % 60:02d},000") for n in range(9_000)]
    packed = gzip.compress("".join(lines).encode())
    lay(tmp_path / "logs", {f"{LOG}.1.gz": packed[: len(packed) // 2], OTHER: LINES[0]})
    make_older(tmp_path, 1, f"{LOG}.1.gz")
    done = run(tmp_path)
    some = texts(tmp_path)
    assert f"{LOG}.1.gz" in done.held_back
    assert 100 < len(some) < 9_000
    assert some == words(*lines[: len(some)])
    lay(tmp_path / "logs", {f"{LOG}.1.gz": packed})
    make_older(tmp_path, 0, f"{LOG}.1.gz")
    run(tmp_path, NEXT)
    assert texts(tmp_path) == words(*lines)


def test_gc_logs_are_listed_as_not_read(tmp_path: Path) -> None:
    garbage = ("broker-1/kafkaServer-gc.log", "broker-1/kafkaServer-gc.log.0.current")
    lay(tmp_path / "logs", {LOG: LINES[0], **dict.fromkeys(garbage, "[0.004s][info][gc] Using G1\n")})
    done = run(tmp_path, read_to_end=True)
    assert set(done.input.files.listing.not_read) == {
        f"{name} (a log of the JVM's garbage collector)" for name in garbage
    }
    assert [fact.file.name for fact in done.facts] == [LOG]


def reading(minute: int, **more: Any) -> str:
    return json.dumps({"at": f"2026-11-21T01:{minute:02d}:01Z", "cluster_id": "id-1", **more}) + "\n"


def land(root: Path, cluster: str, minute: int, text: str) -> None:
    """A reading that came into the lake by itself."""
    name = landing.landed_name(cluster, datetime.fromisoformat(f"2026-11-21T01:{minute:02d}Z"))
    lay(Path(landing.landing_folder(str(root / "lake"), landing.SNAPSHOTS)), {name: text})


def test_landed_readings_are_taken_once_beside_snapshots_file_after_failed_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(tmp_path / "logs", {LOG: LINES[0]})
    lay(tmp_path, {"brought.jsonl": sealed(reading(10))})
    brought = {"snapshots": tmp_path / "brought.jsonl", "read_to_end": True}
    land(tmp_path, "prod", 15, reading(15, brokers=[{"id": 7, "host": "h", "port": 9092}]))
    land(tmp_path, "prod", 20, reading(20))
    land(tmp_path, "prod-2", 15, reading(15, cluster_id="id-2"))
    land(tmp_path, "prod", 25, "{half a read")
    append_new = Store.append_new

    def dies(store: Store, table: Table, *given: Any) -> None:
        if table is bronze.BROKER_SNAPSHOTS:
            raise MemoryError
        append_new(store, table, *given)

    with monkeypatch.context() as patched, pytest.raises(MemoryError):
        patched.setattr(Store, "append_new", dies)
        run(tmp_path, **brought)
    held = Store(str(tmp_path / "lake"))
    assert rows(held, bronze.BROKER_SNAPSHOTS) == []
    done = run(tmp_path, **brought)
    assert (len(done.input.readings.instants), len(done.input.readings.lines)) == (3, 4)
    assert [r["broker"] for r in rows(held, bronze.BROKER_SNAPSHOTS)] == [7]
    land(tmp_path, "id-1", 30, reading(30))
    again = run(tmp_path, **brought)
    assert (len(again.input.readings.instants), len(again.input.landed.instants)) == (2, 1)
    taken = rows(held, bronze.SNAPSHOT_READINGS, "snapshot_at")
    assert [(row["snapshot_at"].minute, row["run_landed_as"]) for row in taken] == [
        (10, None),
        (15, "prod-20261121T011500Z.jsonl"),
        (20, "prod-20261121T012000Z.jsonl"),
        (30, "id-1-20261121T013000Z.jsonl"),
    ]


def test_truncated_gzip_of_readings_is_read_to_break(tmp_path: Path) -> None:
    many = "".join(reading(n % 60, cluster=os.urandom(300).hex()) for n in range(300))
    packed = gzip.compress(many.encode())
    lay(tmp_path / "logs", {LOG: LINES[0]})
    lay(tmp_path, {"readings.jsonl.gz": packed[: len(packed) // 2]})
    done = run(tmp_path, snapshots=tmp_path / "readings.jsonl.gz")
    assert 0 < len(done.input.readings.instants) < 300
    assert any("cannot be unpacked to its end" in w for w in done.summary()["warnings"])


def test_damaged_landed_files_are_quarantined_by_name_and_nothing_is_concluded(tmp_path: Path) -> None:
    whole = sealed(reading(15, brokers=[{"id": 7, "host": "h", "port": 9092}]))
    lay(tmp_path / "logs", {LOG: LINES[0]})
    land(tmp_path, "prod", 15, whole.replace('"id": 7', '"id": 6'))
    land(tmp_path, "prod", 20, sealed(reading(20)))
    damaged = sealed('{"offsets_partition": 1}\n').replace("1}", "2}")
    for kind in (landing.GROUP_RECORDS, landing.OFFSET_COMMITS):
        lay(
            Path(landing.landing_folder(str(tmp_path / "lake"), kind)),
            {f"prod-20261121T011500Z-{'0' * 16}.jsonl": damaged},
        )
    done = run(tmp_path, read_to_end=True)
    assert len(done.input.readings.instants) == 1
    assert "1 line of SNAPSHOTS could not be read: see quality.quarantine." in done.summary()["warnings"]
    refused = [line.sentence for line in done.input.readings.lines if not line.at]
    assert {*refused, *(why for _, why in done.input.offsets_topic.broken)} == {DAMAGED}
    assert len(done.input.offsets_topic.broken) == 2
    assert landing.damaged_files(str(tmp_path / "lake")) == [
        "landing/snapshots/prod-20261121T011500Z.jsonl",
        *(f"landing/{kind}/prod-20261121T011500Z-{'0' * 16}.jsonl" for kind in ("group_records", "offset_commits")),
    ]
    land(tmp_path, "prod", 15, whole)
    run(tmp_path, read_to_end=True)
    assert [r["broker"] for r in rows(Store(str(tmp_path / "lake")), bronze.BROKER_SNAPSHOTS)] == [7]
