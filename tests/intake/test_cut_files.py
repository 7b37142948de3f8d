"""Growing logs that are cut or replaced before they were read to their end: each is named, and a rotation is not."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog import bronze, quality
from kafka_hindsight.catalog.quality import LOST_LINES
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.store import Store
from tests.support.logs import RUN_AT, ingested, lay, rebuilt, resigned, rows

LOG = "broker-1/server.log"
OTHER = "broker-2/server.log"
LINES = [resigned(n, f"{n // 60:02d}:{n % 60:02d}:00,000") for n in range(24 * 60)]
READ, UNREAD, AFTER = (LINES[:200], LINES[200:400], LINES[400:600])
"""The lines of the first reading, those that came between both, and those of the new file."""

WINDOW: dict[str, Any] = {"window_from": RUN_AT - timedelta(days=1), "window_to": RUN_AT}

Act = Callable[[Path], None]


def append(file: Path, lines: list[str]) -> None:
    """The writer of a log, which opens it to append: after a cut it goes on at the end that is there."""
    with file.open("a") as log:
        log.writelines(lines)


def night(root: Path, act: Act, *, to_end: bool = False) -> tuple[Store, dict[str, Any], dict[str, Any]]:
    """Two runs over a folder that grows, with an act of an operator between them.

    Returns:
        The lake, and the summaries of both runs.
    """
    lake, file = root / "lake", lay(root / "logs", {LOG: "".join(READ), OTHER: "".join(LINES)}) / LOG
    _, before = ingested(lake, root / "logs", read_to_end=to_end, run_id="run-1", run_at=RUN_AT, **WINDOW)
    append(file, UNREAD)
    act(file)
    append(file, AFTER)
    later = RUN_AT + timedelta(hours=2)
    store, after = ingested(lake, root / "logs", read_to_end=True, run_id="run-2", run_at=later, **WINDOW)
    return store, before, after


def lost(store: Store) -> list[str]:
    """The rows of quality.quarantine about lost lines."""
    return [r["sentences"][0] for r in rows(store, quality.QUARANTINE) if r["row"] == LOST_LINES]


def texts(store: Store) -> list[str]:
    records = rows(store, bronze.LOG_RECORDS, "happened_at", "order")
    return [f"{r['text']}\n" for r in records if r["source"] == LOG]


def truncate(file: Path) -> None:
    """As `logrotate` does with `copytruncate` and `rotate 0`, or an operator with `: > server.log`."""
    with file.open("r+") as log:
        log.truncate(0)


def shrink(file: Path) -> None:
    """The end of a file is cut off. Its beginning stays, and the writer goes on there."""
    with file.open("r+") as log:
        log.truncate(sum(map(len, READ[:50])))


def replace(file: Path) -> None:
    """Another file with the same name, and nothing of the one before."""
    file.unlink()


ACTS = {"truncate": truncate, "shrink": shrink, "replace": replace}


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
@pytest.mark.parametrize("to_end", [False, True])
def test_file_that_is_cut_or_replaced_unread_is_counted_warned_of_and_found(
    act: Act, to_end: bool, tmp_path: Path
) -> None:
    store, before, after = night(tmp_path, act, to_end=to_end)
    (sentence,) = lost(store)
    assert sentence.startswith(f"{LOG} was read to {sum(map(len, READ)):,} bytes at 2026-11-22 00:00:00 UTC, and ")
    assert ("1 line of its last record" in sentence) is not to_end
    assert sentence in after["warnings"]
    assert not [warning for warning in before["warnings"] if "was read to" in warning]
    assert not set(UNREAD) & set(texts(store))
    (finding,) = [r for r in rebuilt(store, after, "gold.findings")["gold.findings"] if r["rule_id"] == "lines_lost"]
    assert (finding["subject"], finding["severity"]) == (LOG, "warning")
    assert sentence.rstrip(".") in finding["message"]


@pytest.mark.parametrize("act", ACTS.values(), ids=ACTS)
def test_loss_is_warned_of_once_and_stays_in_its_window(act: Act, tmp_path: Path) -> None:
    store, _, after = night(tmp_path, act)
    third = RUN_AT + timedelta(hours=4)
    _, again = ingested(tmp_path / "lake", tmp_path / "logs", run_id="run-3", run_at=third, **WINDOW)
    assert len(lost(store)) == 1
    assert [w for w in after["warnings"] if "was read to" in w]
    assert not [w for w in again["warnings"] if "was read to" in w]


def test_loss_touches_no_window_after_the_first_line_of_the_new_file(tmp_path: Path) -> None:
    store, *_ = night(tmp_path, truncate)
    (loss,) = landing.read_json(f"{tmp_path}/lake/landing/files/prod.json")["losses"]
    assert (loss["since"], loss["until"]) == ("2026-11-21T03:19:00+00:00", "2026-11-21T06:40:00+00:00")
    (row,) = [r for r in rows(store, quality.QUARANTINE) if r["row"] == LOST_LINES]
    assert (row["source"], row["line_count"]) == (LOG, 0)


def rename(file: Path) -> None:
    file.rename(file.with_name("server.log.1"))


def copy_and_truncate(file: Path) -> None:
    """As `logrotate` does with `copytruncate`."""
    shutil.copy2(file, file.with_name("server.log.1"))
    truncate(file)


def pack(file: Path) -> None:
    """As `logrotate` does with `compress`."""
    file.with_name("server.log.1.gz").write_bytes(gzip.compress(file.read_bytes()))
    file.unlink()


def rotate_often(file: Path) -> None:
    """Two rotations by name between two runs, as of a log of a fixed size."""
    for number, lines in ((2, UNREAD[:0]), (1, LINES[390:400])):
        append(file, lines)
        file.rename(file.with_name(f"server.log.{number}"))


def export(file: Path) -> None:
    """A new export of the last lines, as `kubectl logs --tail` writes it, which overlaps with the one before."""
    file.write_text("".join([*READ[100:], *UNREAD]))


ROTATIONS = {f.__name__: f for f in (rename, copy_and_truncate, pack, rotate_often, export)}


@pytest.mark.parametrize("act", ROTATIONS.values(), ids=ROTATIONS)
@pytest.mark.parametrize("to_end", [False, True])
def test_rotation_of_which_all_files_are_there_loses_nothing(act: Act, to_end: bool, tmp_path: Path) -> None:
    store, _, after = night(tmp_path, act, to_end=to_end)
    assert lost(store) == []
    assert not [warning for warning in after["warnings"] if "was read to" in warning]
    assert texts(store) == [*READ, *UNREAD, *AFTER]


def rotate_away(file: Path) -> None:
    """A log of a fixed size keeps one file, and was rotated twice before it was read again."""
    file.write_text("".join(UNREAD[:100]))
    rename(file)
    append(file, UNREAD[100:])


def test_rotation_that_removed_what_was_not_read_is_a_loss(tmp_path: Path) -> None:
    store, _, after = night(tmp_path, rotate_away)
    (sentence,) = lost(store)
    assert "was replaced, or cut and written again" in sentence or "shrank" in sentence
    assert sentence in after["warnings"]


def test_file_that_is_gone_counts_where_its_last_record_waited(tmp_path: Path) -> None:
    def vanish(file: Path) -> None:
        file.unlink()
        append(file.with_name("server.log.9"), AFTER)

    lake, root = tmp_path / "lake", tmp_path / "logs"
    for to_end, count in ((True, 0), (False, 1)):
        shutil.rmtree(lake, ignore_errors=True)
        lay(root, {LOG: "".join(READ), OTHER: "".join(LINES)})
        ingested(lake, root, read_to_end=to_end)
        vanish(root / LOG)
        store, _ = ingested(lake, root, run_at=RUN_AT + timedelta(hours=2))
        assert len(lost(store)) == count
        shutil.rmtree(root)


def test_console_that_starts_again_beside_its_logs_is_no_loss(tmp_path: Path) -> None:
    console = "broker-1/kafkaServer.out"
    lake, root = tmp_path / "lake", lay(tmp_path / "logs", {LOG: "".join(READ), console: "".join(READ)})
    ingested(lake, root)
    lay(root, {LOG: "".join(LINES[:600]), console: "".join(AFTER)})
    store, _ = ingested(lake, root, run_at=RUN_AT + timedelta(hours=2))
    assert lost(store) == []


def test_other_folder_of_the_same_cluster_is_compared_with_none(tmp_path: Path) -> None:
    for name, lines in (("monday", READ), ("tuesday", AFTER)):
        root = lay(tmp_path / name, {LOG: "".join(lines)})
        store, _ = ingested(tmp_path / "lake", root)
    assert lost(store) == []
