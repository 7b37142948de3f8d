"""The truth of a recording that names harms, in the form of a drill's truth.

Such a row has `harm` and no `expect`, and what members printed lies beside it, in clients/ID.out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from kafka_hindsight.shared.grouping import grouped
from lab.answers import AFTER
from lab.drill.offset_expectations import BOOKS, GONE, READ_AGAIN, SKIPPED, STOOD
from lab.drill.reads import RECORDS_READ, as_fields, read_folder, text_of

Row = Mapping[str, Any]

_JUMPS: Mapping[str, str] = {
    "records_skipped": SKIPPED,
    "records_read_again": READ_AGAIN,
    "records_lost_under_group": GONE,
}
_CAUSES: Mapping[str, str] = {
    "offsets_reset_by_admin": "reset_by_administrator",
    "commit_failed_in_rebalance": "commit_failed",
    "log_cut_under_group": "log_truncated",
}
"""The causes that have another name than the action."""

_CRASH = "crash_before_commit"
_NAMES_BOTH_ENDS = (None, "kafka-python")
"""Libraries whose log has the position that is out of range, and where the member goes on; None: Java's."""

_BEFORE = timedelta(minutes=2)


def truth_lines(path: Path) -> Sequence[str | Row]:
    """The lines of a truth file; those of a recording of harms expect what a drill's would.

    Raises OSError where it cannot be read.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    if '"harm": ' not in "".join(lines):
        return lines
    rows = [json.loads(line) for line in lines if line.strip()]
    return [*(_with_expectation(row, rows) for row in rows), *_books(rows, path.parent / "clients")]


def _with_expectation(row: Row, rows: Sequence[Row]) -> Row:
    harm = str(row.get("harm"))
    if harm in _JUMPS:
        at = datetime.fromisoformat(row["at"])
        times = {"left_at": text_of(at - _BEFORE), "resumed_at": text_of(at + AFTER)}
        return {**row, **times, "cause": _cause(row), "is_exact": _is_exact(row, rows), "expect": _JUMPS[harm]}
    if harm == "bill":
        return {**row, "expect": "records_billed"}
    if harm == "partition_stalled":
        ends = ("partition_resumed", "stall_over")
        over = [r["at"] for r in rows if r["action"] in ends and r.get("partition") in (None, row["partition"])]
        until = min(at for at in over if at > row["at"])
        return {**row, "since": row["at"], "at": until, "cause": "stands_alone", "expect": STOOD}
    return row


def _cause(row: Row) -> str:
    if row["action"] == "offset_out_of_range":
        return "retention" if row.get("by") == "retention" else "records_deleted"
    return _CAUSES.get(row["action"], row["action"])


def _is_exact(row: Row, rows: Sequence[Row]) -> bool:
    """Whether the logs have both offsets: no log of a crash, nor of librdkafka where it goes on at the end."""
    is_librdkafka = any(r.get("librdkafka") for r in rows if r.get("group") == row["group"])
    is_unnamed = is_librdkafka and row.get("policy") == "latest"
    return row["action"] != _CRASH and row.get("library") in _NAMES_BOTH_ENDS and not is_unnamed


def _books(rows: Sequence[Row], clients: Path) -> Iterator[Row]:
    """What members printed, of groups of which each member did. A transaction's end takes an offset: it is left out."""
    starts = grouped((r for r in rows if r["action"] == "member_start"), lambda r: str(r["group"]))
    of_transactions = {r["topic"] for r in rows if r["action"].startswith("transaction_")}
    for group, members in sorted(starts.items()):
        if all(member.get("trace") for member in members):
            for (topic, partition), spans in read_folder(clients, _names(members)).items():
                if topic not in of_transactions:
                    about = {"group": group, "topic": topic, "partition": partition, "spans": as_fields(spans)}
                    yield {"at": rows[-1]["at"], "action": RECORDS_READ, "expect": BOOKS, **about}


def _names(members: Iterable[Row]) -> list[str]:
    return [str(member["client"]) for member in members]
