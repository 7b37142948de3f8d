"""The last reading of each log of a lake, and its last line then: files that grow are in no table until they rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.intake.read_ends import ReadEnd, clusters_with_states, states_of
from kafka_hindsight.lake import landing
from kafka_hindsight.shared.grouping import grouped

_NOTHING = dict.fromkeys(("broker", "last_line_at", "read_to_end_at", "lines_in", "unparsed")) | {"origin": ""}
"""The columns of a log of which only its growth is known."""


def with_last_reads(lake: str, rows: Iterable[RowValues]) -> list[dict[str, Any]]:
    """The rows of the query collection_health, each with what the last reading of its log left.

    Returns:
        The rows with `last_read_at`, and a row for each log that was collected and grew ever since, of which origin and
        broker are not known yet.
    """
    logs = grouped(rows, lambda row: row["cluster"])
    names = {landing.safe_name(cluster) for cluster in logs}
    answer: list[dict[str, Any]] = []
    for cluster in sorted({*logs, *(name for name in clusters_with_states(lake) if name not in names)}):
        ends = grouped(states_of(lake, cluster).ends, lambda end: end.source)
        own = [_with_reading(row, ends.get(_file_source(row), ())) for row in logs.get(cluster, ())]
        sources = {_file_source(row) for row in own}
        alone = ({**_NOTHING, "cluster": cluster, "source": source} for source in sorted(ends.keys() - sources))
        answer += [*own, *(_with_reading(row, ends[row["source"]]) for row in alone)]
    return answer


def _file_source(row: RowValues) -> str:
    """The source of the file in which a log lies: several programs may write one file."""
    return str(row["source"]).partition("//")[0]


def _with_reading(row: RowValues, ends: Sequence[ReadEnd]) -> dict[str, Any]:
    """A row with the last reading of its file. The last line of a file of several programs may be another one's."""
    lines = [end.last_at for end in ends if end.last_at and _file_source(row) == row["source"]]
    return {
        **row,
        "last_line_at": _newest(row["last_line_at"], lines),
        "last_read_at": _newest(row["read_to_end_at"], [end.read_at for end in ends]),
    }


def _newest(at: datetime | None, instants: Iterable[str]) -> datetime | None:
    return max(filter(None, [at, *map(datetime.fromisoformat, instants)]), default=None)
