"""What the metadata log of KRaft shows."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.rebuild.scope import Scope
from kafka_hindsight.logs.metadata_replay import Replay, committed
from kafka_hindsight.logs.metadata_states import MetadataStart, find_start, settled_before, state_of


@dataclass(frozen=True)
class MetadataEvents:
    """What the metadata log of KRaft shows, in the shape of silver.events; and its state at the window's start."""

    events: list[rows.Event]
    states: list[rows.MetadataState]


def read_metadata(
    records: list[rows.MetadataRecord],
    files: list[rows.MetadataFile],
    metadata_start: MetadataStart | None,
    scope: Scope,
) -> MetadataEvents:
    """The events of a metadata log. Takes: its records from the beginning, or a state and the records after it."""
    ordered, at = list(committed(records)), scope.window.start
    settled = settled_before(ordered, at)
    replay = Replay(files, scope.seen)
    replay.run(ordered[:settled])
    states = state_of(replay, at, metadata_start, records, files)
    replay.run(ordered[settled:])
    return MetadataEvents(replay.events(), states)


def find_metadata_start(
    states: list[rows.MetadataState], days: list[rows.MetadataDay], files: list[rows.MetadataFile]
) -> MetadataStart | None:
    """Where the metadata log is read on. Takes: few rows, on the driver."""
    return find_start(states, days, files)
