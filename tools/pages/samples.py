"""The samples beside the knowledge: captured records in files by Kafka version, each with what is read from it.

A file is `<version>/<module>.jsonl`, a row is a record: `shows` names the pattern or layout that it is a sample of, or
is `noise`; `fields` are what the pattern reads from it; `unlike` names the patterns and layouts that must not claim it.
The rows of noise, which the product reads, hold a record each: a sample of noise too. Files beside the versions hold
samples of layouts and envelopes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.settings.home import HOME

KNOWLEDGE = HOME / "kafka_hindsight" / "knowledge"
SHOWS_NOISE = "noise"


@dataclass(frozen=True)
class Captured:
    """One row of a file of samples, with the Kafka version that its folder names; `contains`: its shape of noise.

    `made`: written from Kafka's source, since no broker or client at hand has written one yet.
    """

    record: str
    version: str
    shows: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    unlike: Sequence[str] = ()
    made: bool = False
    contains: str | None = None


@cache
def captured() -> tuple[Captured, ...]:
    """Every sample, by version, the newest last; unknown versions come after all others."""
    samples = [Captured(version=p.parent.name, **row) for p, row in _rows("samples/*/*.jsonl")]
    shapes = ({k: v for k, v in row.items() if k not in ("loggers", "why")} for _, row in _rows("noise/*.jsonl"))
    samples += [Captured(shows=SHOWS_NOISE, **row) for row in shapes]
    return tuple(sorted(samples, key=lambda s: (not s.version[0].isdigit(), s.version)))


def _rows(pattern: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in sorted(KNOWLEDGE.glob(pattern)):
        for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n"):
            yield path, json.loads(line)


def samples_of(pattern: Pattern) -> tuple[Captured, ...]:
    """The records that a pattern must claim."""
    return tuple(c for c in captured() if c.shows == pattern.pattern_id)


def counter_samples_of(pattern: Pattern) -> tuple[str, ...]:
    """The records that a pattern must not claim."""
    return tuple(c.record for c in captured() if pattern.pattern_id in c.unlike)


def layout_samples(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Records that fit a layout or an envelope, and records that do not."""
    samples = (*captured(), *(Captured(version="any", **row) for _, row in _rows("samples/*.jsonl")))
    return tuple(s.record for s in samples if s.shows == name), tuple(s.record for s in samples if name in s.unlike)
