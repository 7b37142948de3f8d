"""The samples beside the knowledge: captured records in files by Kafka version, each with what is read from it.

A file is `<version>/<module>.jsonl`, a row is a record: `shows` names the pattern or layout that it is a sample of, or
is `noise`; `fields` are what the pattern reads from it; `unlike` names the patterns and layouts that must not claim it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from kafka_hindsight.knowledge.model import Layout, Noise, Pattern, Sample
from kafka_hindsight.settings.home import HOME

FOLDER = HOME / "kafka_hindsight" / "knowledge" / "samples"
SHOWS_NOISE = "noise"


@dataclass(frozen=True)
class Captured:
    """One row of a file of samples, with the Kafka version that its folder names."""

    record: str
    version: str
    shows: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    unlike: Sequence[str] = ()
    made: bool = False


@cache
def captured(folder: Path = FOLDER) -> tuple[Captured, ...]:
    """Every sample on file. Order: by version, the newest last; a version that is not known comes after all others."""
    files = sorted(folder.glob("*/*.jsonl"), key=lambda p: (not p.parent.name[0].isdigit(), p.parent.name, p.name))
    return tuple(
        Captured(version=path.parent.name, **json.loads(line))
        for path in files
        for line in path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    )


def samples_of(pattern: Pattern) -> tuple[Sample, ...]:
    """The records that a pattern must claim: those it declares, then those on file."""
    on_file = (c for c in captured() if c.shows == pattern.pattern_id)
    return (*pattern.samples, *(Sample(c.record, c.fields, c.version, c.made) for c in on_file))


def counter_samples_of(pattern: Pattern) -> tuple[str, ...]:
    """The records that a pattern must not claim: those it declares, then those on file."""
    return (*pattern.counter_samples, *(c.record for c in captured() if pattern.pattern_id in c.unlike))


def noise_samples(noise: Sequence[Noise]) -> tuple[str, ...]:
    """The records that are known to carry nothing: those that the noise declares, then those on file."""
    return (*(n.sample for n in noise if n.sample), *(c.record for c in captured() if c.shows == SHOWS_NOISE))


def layout_samples(layout: Layout) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Records that begin with the head of a layout, and lines that do not."""
    return (
        tuple(c.record for c in captured() if c.shows == layout.name),
        tuple(c.record for c in captured() if layout.name in c.unlike),
    )
