"""Land the new records of `__consumer_offsets` in the lake, as JSON lines."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kafka_hindsight.kafka.cluster_snapshot import Reader, ReaderDied, Reply
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.damage import Damaged, sealed

_READER = "kafka_hindsight.kafka.group_records_reader"
_MOST_DEATHS = 3
CALLS = 5
"""The number of waits in one question, for brokers and for records: each gets a share of the time-out."""

_PATIENCE = 90.0
"""Seconds that one reading may take. The next reading goes on where this one stops."""

_NOTHING_READ: Mapping[str, Any] = {"positions": {}, "open": [], "ends": None, "topic_id": None, "is_done": False}
_LASTING = ("positions", "open", "topic_id")
Say = Callable[[str], None]
Rows = list[dict[str, Any]]


@dataclass
class Landed:
    """The counts and files of one reading of the topic. `notes` are sentences for the user.

    `runs` counts the runs of commits that have ended, which are in `run_files`; `open_runs` those that go on.
    """

    records: int = 0
    broken: int = 0
    runs: int = 0
    open_runs: int = 0
    files: list[str] = field(default_factory=list)
    run_files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def count(self, records: Rows, runs: Rows, open_runs: Rows) -> None:
        """Count what one answer has."""
        self.broken += sum("sentence" in record for record in records)
        self.records += sum("sentence" not in record for record in records)
        self.runs, self.open_runs = self.runs + len(runs), len(open_runs)

    def sentences(self) -> list[str]:
        """A summary, in sentences."""
        broken = [f"Records of groups that could not be decoded: {self.broken}"] if self.broken else []
        return [
            f"Records of groups since the last reading: {self.records:,}",
            f"Runs of commits: {self.runs:,} ended since then, {self.open_runs:,} go on",
            *broken,
            *self.notes,
        ]


def land_group_records(
    connection: Connection, lake: str, cluster: str, at: datetime, say: Say = lambda _: None
) -> Landed:
    """Read the topic from the positions in the lake to its present end, and land the new records.

    Files of a few megabytes at most go to `<LAKE>/landing/group_records/`, runs of commits to `offset_commits/` beside
    it; after each answer its positions are written, with the runs of commits that are still open. A reading that ends
    in between reads the same records again: their partition and offset make them one. A landed file is never written
    again. If the topic is missing or may not be read, a note says so.

    Returns:
        The counts, files and notes.

    Raises:
        BadInput: The settings are refused.
    """
    positions_file = landing.positions_file(lake, cluster)
    landed, until = Landed(), time.monotonic() + _PATIENCE
    state = stored = _positions(positions_file, landed)
    with Reader(connection, _READER) as reader:
        while not state["is_done"] and time.monotonic() < until:
            reply = _ask(reader, state, connection.timeout_ms / 1000, landed)
            batch = _rows_and_positions(reply, landed) if reply else None
            if batch is None:
                break
            rows, runs, following = batch
            span = json.dumps([state["positions"], following["positions"], following["topic_id"]], sort_keys=True)
            name = f"{landing.landed_stem(cluster, at)}-{hashlib.sha256(span.encode()).hexdigest()[:16]}.jsonl"
            landed.files += _land(rows, f"{landing.landing_folder(lake, landing.GROUP_RECORDS)}/{name}")
            landed.run_files += _land(runs, f"{landing.landing_folder(lake, landing.OFFSET_COMMITS)}/{name}")
            landed.count(rows, runs, following["open"])
            if rows or runs:
                say(f"{landed.records:,} group records, {landed.runs:,} runs of commits")
            if not following["is_done"] and following["positions"] == state["positions"]:
                landed.notes.append(f"__consumer_offsets: no partition answered within {connection.timeout_ms} ms.")
                break
            state = following
            if not state["is_done"] and time.monotonic() > until:
                landed.notes.append(f"__consumer_offsets holds more than {_PATIENCE:g} s could read: the rest follows.")
            if (state["positions"], state["topic_id"]) != (stored["positions"], stored["topic_id"]):
                landing.write_json(positions_file, {name: state[name] for name in _LASTING})
                stored = state
    return landed


def _ask(reader: Reader, state: Mapping[str, Any], timeout: float, landed: Landed) -> Reply | None:
    while reader.deaths < _MOST_DEATHS:
        try:
            return reader.ask("records", state, CALLS * timeout)
        except ReaderDied as death:
            why = str(death)
    landed.notes.append(f"__consumer_offsets was not read to its end: {why}. The next reading goes on from there.")
    return None


def _rows_and_positions(reply: Reply, landed: Landed) -> tuple[Rows, Rows, dict[str, Any]] | None:
    """The records and the runs of a reply, and the positions after them; None if it has none."""
    denied = next((t["denied"] for t in reply.answers if "denied" in t), None)
    if denied is not None:
        landed.notes.append(
            f"__consumer_offsets may not be read: {denied}. Needed: READ on that topic. Without it nothing shows the "
            "generation of an assignment, nor the time-outs of members."
        )
        return None
    last = next((t for t in reply.answers if "next" in t), None)
    if last is None:
        landed.notes += [f"__consumer_offsets was not read: {why}" for why in reply.missing]
        return None
    landed.notes += [f"__consumer_offsets: {note}" for note in last.get("notes", ()) if note not in landed.notes]
    records, runs = ([t for t in reply.answers if name in t] for name in ("record_offset", "first_record"))
    return records, runs, last["next"]


def _land(rows: Rows, place: str) -> list[str]:
    """Write rows into a file, unless it exists. It is named by the first and last positions: the same rows, again."""
    if not rows:
        return []
    landing.write_new(place, sealed("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows)))
    return [place]


def _positions(place: str, landed: Landed) -> dict[str, Any]:
    """The positions in the lake; the beginning if there are none, or, with a note, if they are damaged."""
    try:
        document = landing.read_json(place) or {}
    except Damaged as damage:
        landed.notes.append(f"__consumer_offsets is read from its beginning: {damage}")
        return dict(_NOTHING_READ)
    return {**_NOTHING_READ, **{name: document[name] for name in _LASTING if name in document}}
