"""Logs in every form. `python -m lab.bench.forms LOG [FORM ...]`: one log, read as one Python worker reads it.

That is both readings, to Arrow batches, on one core. It prints processor seconds, and how many times the plain log's
they are. Each form is read several times, in turn with the plain log; the fastest counts. `render_night` renders a
whole night, which `python -m lab.bench.run --only forms` ingests.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from kafka_hindsight.intake import record_reader, survey
from kafka_hindsight.knowledge.layouts import APACHE
from kafka_hindsight.logs.file_bytes import CHUNK, open_bytes
from kafka_hindsight.logs.pieces import ranges_of
from lab.drill.render import WRAPS, render

PLAIN: tuple[str, tuple[str, ...]] = (APACHE.name, ())
FORMS = {
    "plain": PLAIN,
    **{name: (name, ()) for name in ("strimzi", "strimzi-4", "spring-boot")},
    **{name: (APACHE.name, (name,)) for name in WRAPS},
    **{f"records of {name}": (name, ()) for name in ("ecs", "logstash", "log4j2-json")},
    "strimzi in compose in docker": ("strimzi", ("compose", "docker")),
    "ecs in cri": ("ecs", ("cri",)),
}
"""The forms by name: the layout, and its envelopes from the innermost."""

INGESTED = (
    *("plain", "strimzi", "spring-boot", "compose", "cri", "docker", "records of ecs"),
    *("filebeat", "elasticsearch", "loki-json", "otlp", "ecs in cri"),
)
"""Those that a whole ingest is measured with."""

ROUNDS = 2

_PART = 16 * 1024
"""Bytes after which containerd and docker cut a line in parts."""


def main() -> None:
    """Measure every form of a log, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("forms", nargs="*")
    options = parser.parse_args()
    for name, figures in measure(options.log, options.forms or list(FORMS)).items():
        print(json.dumps({"form": name, **figures}))


def measure(log: Path, names: list[str]) -> dict[str, dict[str, float]]:
    """Processor seconds of each form of a log, and their ratio to the plain log's."""
    text = log.read_text(encoding="utf-8")
    figures = {}
    with tempfile.TemporaryDirectory() as folder:
        plain = _write(Path(folder) / "plain.log", text, *PLAIN)
        for name in names:
            other = _write(Path(folder) / "other.log", text, *FORMS[name])
            seconds = [(_seconds(plain), _seconds(other)) for _ in range(ROUNDS)]
            ours, theirs = min(p for p, _ in seconds), min(o for _, o in seconds)
            figures[name] = {
                "cpu_s": round(theirs, 2),
                "read_mb": round(other.stat().st_size / 1e6, 1),
                "times": round(theirs / ours, 2),
            }
    return figures


def render_night(night: Path, to: Path, name: str) -> Path:
    """Write a night's logs again in a form. Returns the new folder."""
    for log in night.rglob("*.log"):
        target = to / log.relative_to(night)
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(target, log.read_text(encoding="utf-8"), *FORMS[name])
    return to


def _write(path: Path, text: str, layout: str, wraps: tuple[str, ...]) -> Path:
    with patch("lab.drill.render.CRI_PART", _PART):
        path.write_text(text if (layout, wraps) == PLAIN else render(text, layout, wraps, "kafka-0"), encoding="utf-8")
    return path


def _seconds(path: Path) -> float:
    began = time.process_time()
    rows = sum(batch.num_rows for _, batch in batches_of(path))
    assert rows
    return time.process_time() - began


def batches_of(path: Path) -> Iterator[tuple[tuple[str, ...], pa.RecordBatch]]:
    """Both readings of a file, as collect does them: its pieces, then the records of its ranges.

    Yields batches of records, each with the layouts that its numbers refer to.
    """
    size = path.stat().st_size
    arguments = {"file": 0, "zone": "UTC", "size": size, "piece": CHUNK, "layouts": None, "form": None, "steps": []}
    arguments |= {"pattern": None, "from": 0, "until": size, "copy": f"{path}.zst"}
    pieces = survey.pieces_in(arguments, open_bytes(str(path), size), None)
    first: dict[str, Any] = {"layouts": pieces[0].layouts, "form": pieces[0].form, "copy": f"{path}.zst"}
    unit = {**first, "zone": "UTC", "size": size, "ranges": [(0, r, None) for r in ranges_of(pieces)], "steps": []}
    for batch in record_reader.records_in(unit, open_bytes(str(path), size), None):
        yield pieces[0].layouts, batch


if __name__ == "__main__":
    main()
