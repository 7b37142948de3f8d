"""Landed records of `__consumer_offsets` become rows: JSON lines, one record each, as a live cluster lands them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import pyarrow as pa

from kafka_hindsight.catalog.bronze import GROUP_RECORDS
from kafka_hindsight.catalog.table_model import RowValues, Scalar
from kafka_hindsight.intake.json_lines import LandedLine, columns_of, reader_of, refused_lines, value_of
from kafka_hindsight.intake.lake_rows import cluster_rows, first_rows, table_of
from kafka_hindsight.intake.reading_files import lines_of_landed
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.store import Store

SOURCE = "__consumer_offsets"

_LANDED = tuple(c for c in GROUP_RECORDS.columns if c.name not in ("cluster", "run_landed_as"))
_NEEDED = tuple(c.name for c in _LANDED if not c.nullable)
_CUT_OFF = "It is not a record of a group: perhaps its writer died while it wrote."


class ReadRecord(NamedTuple):
    """A landed line and its columns; `sentence` says why it is not a record, if it is not one."""

    line: LandedLine
    columns: RowValues
    sentence: str | None


def read_group_record(line: LandedLine) -> ReadRecord:
    """Read the record in a line."""
    try:
        value = value_of(line.text)
    except ValueError:
        value = None
    columns = columns_of(value, _LANDED)
    sentence = reader_of(Scalar.STRING)(value.get("sentence")) if isinstance(value, dict) else None
    is_whole = all(columns[name] is not None for name in _NEEDED)
    return ReadRecord(line, columns, sentence or (None if is_whole else _CUT_OFF))


def record_rows(records: Iterable[ReadRecord], cluster: str) -> pa.Table:
    """Rows of bronze.group_records, each record once."""
    rows = (
        {**record.columns, "cluster": cluster, "run_landed_as": record.line.landed_as}
        for record in records
        if record.sentence is None
    )
    return first_rows(table_of(rows, GROUP_RECORDS), GROUP_RECORDS.key)


def quarantined(records: Iterable[ReadRecord], cluster: str) -> list[RowValues]:
    """Records that could not be decoded, and other lines: rows of quality.quarantine."""
    return refused_lines([(r.line.text, r.sentence) for r in records if r.sentence is not None], cluster, SOURCE)


def read_landed_records(store: Store, cluster: str, names: Iterable[str]) -> list[ReadRecord]:
    """The records that landed for a cluster, under any of its names, since the last run."""
    landed = landing.list_landed_of(store.lake, landing.GROUP_RECORDS, names)
    if landed:
        rows = cluster_rows(store, GROUP_RECORDS, cluster, ("run_landed_as",))
        landed -= set(rows["run_landed_as"].unique().to_pylist())
    return [
        read_group_record(line)
        for line in lines_of_landed(landing.landing_folder(store.lake, landing.GROUP_RECORDS), landed)
    ]
