"""The recorded night with each broker in another layout and other envelopes says what the plain one says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.intake.record_reader import records_in
from kafka_hindsight.intake.survey import pieces_in
from kafka_hindsight.logs.file_bytes import CHUNK, open_bytes
from kafka_hindsight.logs.pieces import Piece, ranges_of
from kafka_hindsight.logs.reading import read_record
from kafka_hindsight.shared.instants import micros_of
from lab.drill.render import render_folder
from tests.support.logs import Row, unpack_night

FORMS = {
    "logs/broker-1": ("ecs", ["cri"]),
    "logs/broker-2": ("strimzi", []),
    "logs/broker-3": ("apache", []),
    "clients": ("spring-boot", []),
}


def unit_of(path: Path) -> dict[str, Any]:
    """What both readings of collect are told of a file."""
    unit = {"file": 0, "zone": "UTC", "piece": CHUNK, "layouts": None, "form": None, "pattern": None, "steps": []}
    return {**unit, "size": path.stat().st_size, "copy": f"{path}.zst"}


def pieces_of(path: Path) -> list[Piece]:
    """The pieces of a file, as the first reading finds them."""
    unit = unit_of(path)
    size = unit["size"]
    return pieces_in({**unit, "from": 0, "until": size}, open_bytes(path.as_uri(), size), None)


def records(path: Path) -> Iterator[tuple[str | None, Row]]:
    """The records of a file, each with its layout, as the two readings of collect find them."""
    size, pieces = path.stat().st_size, pieces_of(path)
    if not pieces:
        return
    form, layouts = pieces[0].form, pieces[0].layouts
    ranges = [(0, each, None) for each in ranges_of(pieces)]
    unit = {**unit_of(path), "layouts": layouts, "form": form, "ranges": ranges, "steps": []}
    for batch in records_in(unit, open_bytes(path.as_uri(), size), None):
        for row in batch.to_pylist():
            yield (layouts[row["layout"]] if row["layout"] >= 0 else None), row


def events(night: Path) -> Counter[tuple[object, ...]]:
    """Which pattern claims which records of which file, when, and what it reads in them."""
    counts = Counter[tuple[object, ...]]()
    for path in sorted(night.rglob("*.log")):
        for layout, row in records(path):
            reading = read_record(layout, row["text"], row["line_count"])
            if reading.pattern:
                name = str(path.relative_to(night))
                counts[name, row["happened_at"], row["order"], reading.pattern.pattern_id, reading.groups] += 1
    return counts


@pytest.mark.parametrize("prefix", ["", "kafka-1  | "])
def test_cluster_id_is_read_from_plain_and_wrapped_lines(tmp_path: Path, prefix: str) -> None:
    words = ("[KafkaServer id=1] starting", "Cluster ID = ours", "[KafkaServer id=1] started")
    lines = [f"{prefix}[2026-11-21 01:44:29,117] INFO {message} (kafka.server.KafkaServer)\n" for message in words]
    path = tmp_path / "server.log"
    path.write_text("".join(lines))
    (piece,) = pieces_of(path)
    at = micros_of(datetime(2026, 11, 21, 1, 44, 29, 117_000, tzinfo=UTC))
    assert (piece.is_wrapped, piece.clusters) == (bool(prefix), (("ours", at, at, 1),))


def test_folder_of_mixed_layouts_has_the_events_of_the_plain_one(tmp_path: Path) -> None:
    night, mixed = unpack_night(tmp_path / "night"), tmp_path / "mixed"
    for folder, (layout, wraps) in FORMS.items():
        render_folder(night / folder, mixed / folder, layout, wraps)
    plain = events(night)
    assert plain.total() > 10_000
    assert events(mixed) == plain
