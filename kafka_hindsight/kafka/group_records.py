"""The records of `__consumer_offsets` that are new since the last reading, landed in the lake as JSON lines."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.kafka.snapshot import Answer, Reader, ReaderDied
from kafka_hindsight.lake import landing

_READER = "kafka_hindsight.kafka.group_records_reader"
_MOST_DEATHS = 3
CALLS = 5
"""A question waits so often for brokers, and at last for records: the child gives each its share of the time-out."""

_PATIENCE = 90.0
"""How long one reading goes on, in seconds. A topic that was never read may hold more; the next reading goes on."""

_NOTHING_READ: Mapping[str, Any] = {"positions": {}, "ends": None, "topic_id": None, "is_done": False}
Tell = Callable[[str], None]


@dataclass
class Landed:
    """What one reading of the topic brought. `notes`: sentences about what a person should know."""

    records: int = 0
    broken: int = 0
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def sentences(self) -> list[str]:
        """For people, a sentence each."""
        broken = [f"Records of groups that could not be decoded: {self.broken}"] if self.broken else []
        return [f"Records of groups since the last reading: {self.records:,}", *broken, *self.notes]


def land_group_records(
    connection: Connection, lake: str, cluster: str, at: datetime, say: Tell = lambda _: None
) -> Landed:
    """Reads from the positions that the lake keeps to the end that the topic has now, and lands what is new.

    Gives: what was landed, in `<LAKE>/landing/group_records/`: files of at most a few megabytes, and after each one
        the positions that follow it.
    Keeps: a reading that breaks off between the two reads the same again, and the place of a record makes it one; a
        file that has landed is never written again.
    Raises: BadInput where the settings are refused.
    Edge case: a topic that is not there is no fault, nor is one that may not be read: a sentence says so.
    """
    folder = landing.landing_folder(lake, landing.GROUP_RECORDS)
    kept_in = f"{folder}/{landing.safe_name(cluster)}.positions.json"
    state = kept = _positions(kept_in)
    landed, until = Landed(), time.monotonic() + _PATIENCE
    with Reader(connection, _READER) as reader:
        while not state["is_done"] and time.monotonic() < until:
            answer = _ask(reader, state, connection.timeout_ms / 1000, landed)
            found = _taken(answer, landed) if answer else None
            if found is None:
                break
            rows, following = found
            if rows:
                _land(rows, f"{folder}/{landing.landed_stem(cluster, at)}", state, following, landed)
                say(f"{landed.records:,} group records")
            if not following["is_done"] and following["positions"] == state["positions"]:
                landed.notes.append(f"__consumer_offsets: no partition answered within {connection.timeout_ms} ms.")
                break
            state = following
            if not state["is_done"] and time.monotonic() > until:
                landed.notes.append(f"__consumer_offsets holds more than {_PATIENCE:g} s could read: the rest follows.")
            if (state["positions"], state["topic_id"]) != (kept["positions"], kept["topic_id"]):
                lasting = {name: state[name] for name in ("positions", "topic_id")}
                landing.write_atomically(kept_in, json.dumps(lasting, sort_keys=True) + "\n")
                kept = state
    return landed


def _ask(reader: Reader, state: Mapping[str, Any], timeout: float, landed: Landed) -> Answer | None:
    while reader.deaths < _MOST_DEATHS:
        try:
            return reader.ask("read", state, CALLS * timeout)
        except ReaderDied as death:
            why = str(death)
    landed.notes.append(f"__consumer_offsets was not read to its end: {why}. The next reading goes on from there.")
    return None


def _taken(answer: Answer, landed: Landed) -> tuple[list[dict[str, Any]], dict[str, Any]] | None:
    """The rows of an answer, and the positions that follow them; None where it has none."""
    denied = next((t["denied"] for t in answer.tells if "denied" in t), None)
    if denied is not None:
        landed.notes.append(
            f"__consumer_offsets may not be read: {denied}. Needed: READ on that topic. Without it nothing shows the "
            "generation of an assignment, nor the time-outs of members."
        )
        return None
    last = next((t for t in answer.tells if "next" in t), None)
    if last is None:
        landed.notes += [f"__consumer_offsets was not read: {why}" for why in answer.missing]
        return None
    landed.notes += [f"__consumer_offsets: {note}" for note in last.get("notes", ()) if note not in landed.notes]
    return [t for t in answer.tells if "record_offset" in t], last["next"]


def _land(
    rows: list[dict[str, Any]], name: str, before: Mapping[str, Any], after: Mapping[str, Any], landed: Landed
) -> None:
    """Writes rows under a name that their first and last positions give; what is there already stays."""
    span = json.dumps([before["positions"], after["positions"], after["topic_id"]], sort_keys=True)
    place = f"{name}-{hashlib.sha256(span.encode()).hexdigest()[:16]}.jsonl"
    landing.write_new(place, "".join(json.dumps(row, sort_keys=True) + "\n" for row in rows))
    landed.files.append(place)
    landed.broken += sum("sentence" in row for row in rows)
    landed.records += sum("sentence" not in row for row in rows)


def _positions(place: str) -> dict[str, Any]:
    """What is kept; from the beginning where nothing is, or where it cannot be read."""
    try:
        said = json.loads(landing.read_text(place))
        return {**_NOTHING_READ, "positions": dict(said["positions"]), "topic_id": said["topic_id"]}
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return dict(_NOTHING_READ)
