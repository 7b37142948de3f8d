"""The pipeline: the tables that each step reads and writes. DAGs, assets and the operator follow from it."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog import TABLES

STAGED = tuple(f"staging.{t.name}" for t in TABLES if t.layer == "gold")
"""The gold tables in staging: written there first, so that a bad row can be named before it is published."""


@dataclass(frozen=True)
class Step:
    """One step. Its body is `run_step` in `kafka_hindsight.steps.<name>`. `is_spread`: many workers may do it."""

    name: str
    sentence: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    is_spread: bool = True


def _layer(*layers: str) -> tuple[str, ...]:
    return tuple(t.full_name for t in TABLES if t.layer in layers)


COLLECT = Step(
    name="collect",
    sentence="Keep what logs and readings hold, every record once, while they grow",
    reads=(),
    writes=_layer("bronze"),
)
"""The part of ingest that fills bronze. It runs alone every hour, and within ingest every night."""

INGEST = Step(
    name="ingest",
    sentence="Read logs and snapshots, keep every record once, and find the events",
    reads=(),
    writes=(
        *_layer("bronze", "silver"),
        "quality.coverage",
        "quality.parsed_hours",
        "quality.unparsed_lines",
        "quality.quarantine",
        "quality.late_windows",
    ),
)
REBUILD = Step(
    name="rebuild",
    sentence="Rebuild rebalances, failovers and outages, name their causes and apply the rules",
    reads=(*_layer("bronze", "silver"), "quality.coverage", "quality.parsed_hours", "quality.quarantine"),
    writes=(
        *STAGED,
        "quality.generation_gaps",
        "quality.leadership_gaps",
        "quality.unobserved_spans",
        "quality.witnesses",
        "quality.input_spans",
        "quality.metadata_states",
    ),
)
VALIDATE = Step(
    name="validate",
    sentence="Check every staged table where it lies; withhold rows that break what is expected, or refuse the night",
    reads=(
        *STAGED,
        *_layer("bronze", "silver"),
        "quality.coverage",
        "quality.generation_gaps",
        "quality.leadership_gaps",
    ),
    writes=("quality.validation_results", "quality.withheld_rows"),
    is_spread=False,
)
PUBLISH = Step(
    name="publish",
    sentence="Publish what was checked, all tables together",
    reads=STAGED,
    writes=(*_layer("gold"), "quality.publications"),
    is_spread=False,
)
REPORT = Step(
    name="report",
    sentence="Write the report of the night",
    reads=(
        *_layer("gold"),
        "silver.events",
        "quality.coverage",
        "quality.unparsed_lines",
        "quality.validation_results",
        "quality.withheld_rows",
        "quality.publications",
    ),
    writes=("quality.nights",),
    is_spread=False,
)

RECLASSIFY = Step(
    name="reclassify",
    sentence="Judge a published window again with today's knowledge and records, keep what changed, and publish it",
    reads=_layer("bronze"),
    writes=(*STAGED, *_layer("silver", "gold"), "quality.verdict_changes", "quality.publications"),
)
MAINTAIN = Step(
    name="maintain",
    sentence="Make few files of many small ones, remove files that are no longer read and rows that are older than "
    "retention",
    reads=(),
    writes=(),
    is_spread=False,
)

STEPS: tuple[Step, ...] = (INGEST, REBUILD, VALIDATE, PUBLISH, REPORT)
"""The nightly audit, in order; the others run by themselves."""

NEWEST_RUN = "newest.json"
"""A file beside the runs of a lake, which names the run whose ingest ended last. A step by hand continues that run."""

BY_NAME: dict[str, Step] = {s.name: s for s in (COLLECT, *STEPS, RECLASSIFY, MAINTAIN)}
