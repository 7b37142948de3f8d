"""Records that were read of `__consumer_offsets` become rows: records of groups and members, and runs of commits.

It lands as JSON lines, those of groups beside those of commits, as a live cluster lands them; or RECORDS brings it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from kafka_hindsight.catalog.bronze import GROUP_RECORDS, OFFSET_COMMITS
from kafka_hindsight.catalog.table_model import RowValues, Scalar
from kafka_hindsight.intake.commit_rows import keep_commits, read_landed_runs
from kafka_hindsight.intake.json_lines import DAMAGED, LandedLine, columns_of, reader_of, refused_lines, value_of
from kafka_hindsight.intake.lake_rows import cluster_rows, first_rows, table_of
from kafka_hindsight.intake.reading_files import lines_of_landed
from kafka_hindsight.kafka_records.commit_runs import Run
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.store import Store

SOURCE = "__consumer_offsets"

_LANDED = tuple(c for c in GROUP_RECORDS.columns if c.name not in ("cluster", "run_landed_as"))
_NEEDED = tuple(c.name for c in _LANDED if not c.nullable)
_CUT_OFF = "It is not a record of a group: perhaps its writer died while it wrote."


@dataclass(frozen=True)
class OffsetsTopicInput:
    """Records that were read of the topic: rows of bronze.group_records without their cluster, and runs of commits.

    `broken` are texts of what could not be read, each with a sentence that says why.
    """

    groups: tuple[RowValues, ...] = ()
    runs: tuple[Run, ...] = ()
    broken: tuple[tuple[str, str], ...] = ()

    def __add__(self, other: OffsetsTopicInput) -> OffsetsTopicInput:
        return OffsetsTopicInput(
            (*self.groups, *other.groups), (*self.runs, *other.runs), (*self.broken, *other.broken)
        )

    def quarantined(self, cluster: str) -> list[RowValues]:
        """Rows of quality.quarantine."""
        return refused_lines(self.broken, cluster, SOURCE)


def read_landed_records(store: Store, cluster: str, names: Collection[str]) -> OffsetsTopicInput:
    """Read what landed for a cluster, under any of its names, since the last run.

    Commits are read first: the records of their groups, which runs end before, are then there too.
    """
    runs, broken = read_landed_runs(store, cluster, names)
    landed = landing.list_landed_of(store.lake, landing.GROUP_RECORDS, names)
    if landed:
        rows = cluster_rows(store, GROUP_RECORDS, cluster, ("run_landed_as",))
        landed -= set(rows["run_landed_as"].unique().to_pylist())
    groups = list[RowValues]()
    for line in lines_of_landed(landing.landing_folder(store.lake, landing.GROUP_RECORDS), landed):
        row, sentence = _landed_record(line)
        if sentence:
            broken.append((line.text, sentence))
        else:
            groups.append(row)
    return OffsetsTopicInput(tuple(groups), tuple(runs), tuple(broken))


def _landed_record(line: LandedLine) -> tuple[RowValues, str | None]:
    """The columns of the record in a line, and a sentence that says why it is not one, if it is not."""
    try:
        value = value_of(line.text)
    except ValueError:
        value = None
    sentence = reader_of(Scalar.STRING)(value.get("sentence")) if isinstance(value, dict) else None
    columns = columns_of_record(value)
    is_whole = all(columns[name] is not None for name in _NEEDED)
    why_not = DAMAGED if line.is_damaged else sentence or (None if is_whole else _CUT_OFF)
    return {**columns, "run_landed_as": line.landed_as}, why_not


def columns_of_record(record: Any) -> RowValues:
    """The columns of a decoded record, as it landed or as it is in memory."""
    return columns_of(record, _LANDED)


def keep_records(store: Store, cluster: str, topic: OffsetsTopicInput) -> None:
    """Put what was read into the lake, each record once: those of groups first, by which runs of commits are cut."""
    store.create(GROUP_RECORDS, OFFSET_COMMITS)
    if topic.groups:
        rows = table_of(({**row, "cluster": cluster} for row in topic.groups), GROUP_RECORDS)
        store.append_new(GROUP_RECORDS, first_rows(rows, GROUP_RECORDS.key))
    keep_commits(store, cluster, topic.runs)
