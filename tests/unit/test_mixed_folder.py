"""The recorded night with each broker in another layout and other envelopes says what the plain one says."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from kafka_hindsight.intake.record_reader import records_in
from kafka_hindsight.intake.survey import pieces_in
from kafka_hindsight.logs.file_bytes import CHUNK, opened
from kafka_hindsight.logs.pieces import Piece, ranges_of
from kafka_hindsight.logs.reading import read_record
from lab.drill.render import render_folder
from tests.support.logs import Row, unpack_night

FORMS = {
    "logs/broker-1": ("ecs", ["cri"]),
    "logs/broker-2": ("strimzi", []),
    "logs/broker-3": ("apache", []),
    "clients": ("spring-boot", []),
}


def records(path: Path) -> Iterator[tuple[str | None, Row]]:
    """The records of a file, each with its layout, as the two readings of collect find them."""
    size = path.stat().st_size
    told = {"file": 0, "zone": "UTC", "size": size, "piece": CHUNK, "layouts": None, "form": None, "pattern": None}
    told["copy"] = f"{path}.zst"
    found = pieces_in({**told, "from": 0, "until": size}, opened(path.as_uri(), size), None)
    pieces = [Piece.of(json.loads(row)) for batch in found for row in batch["piece"].to_pylist()]
    if not pieces:
        return
    form, layouts = pieces[0].form, pieces[0].layouts
    ranges = [{"number": 0, "range": asdict(each), "contest": None} for each in ranges_of(pieces)]
    unit = {**told, "layouts": layouts, "form": asdict(form) if form else None, "ranges": ranges}
    for batch in records_in(unit, opened(path.as_uri(), size), None):
        for row in batch.to_pylist():
            yield (layouts[row["layout"]] if row["layout"] >= 0 else None), row


def events(night: Path) -> Counter[tuple[object, ...]]:
    """Which pattern claims which records of which file, when, and what it reads in them."""
    found = Counter[tuple[object, ...]]()
    for path in sorted(night.rglob("*.log")):
        for layout, row in records(path):
            reading = read_record(layout, row["text"], row["line_count"])
            if reading.pattern:
                name = str(path.relative_to(night))
                found[name, row["happened_at"], row["order"], reading.pattern.pattern_id, reading.found] += 1
    return found


def test_a_mixed_folder_has_the_events_of_the_plain_one(tmp_path: Path) -> None:
    night, mixed = unpack_night(tmp_path / "night"), tmp_path / "mixed"
    for folder, (layout, wraps) in FORMS.items():
        render_folder(night / folder, mixed / folder, layout, wraps)
    plain = events(night)
    assert plain.total() > 10_000
    assert events(mixed) == plain
