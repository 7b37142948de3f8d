"""Runs of commits become rows of bronze.offset_commits. The runs of several landings and files merge, hour by hour."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta

from kafka_hindsight.catalog.bronze import GROUP_RECORDS, OFFSET_COMMITS
from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.intake.json_lines import DAMAGED, value_of
from kafka_hindsight.intake.lake_rows import cluster_rows, table_of
from kafka_hindsight.intake.reading_files import lines_of_landed
from kafka_hindsight.kafka_records.commit_runs import HOUR_MS, GroupRecords, Run, in_order, merged
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.damage import Damaged
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import micros_of, of_millis
from kafka_hindsight.shared.windows import Window

_INSTANTS = ("first_at", "last_at", "first_moved_at", "moved_at", "stood_at")
_APART = timedelta(hours=1)
"""How far apart the clocks of two coordinators may be. Our choice."""

_NO_RUN = "It is not a run of commits: perhaps its writer died while it wrote."


def read_landed_runs(store: Store, cluster: str, names: Collection[str]) -> tuple[list[Run], list[tuple[str, str]]]:
    """Read what landed for a cluster, under any of its names, and is not in bronze yet, and the runs still open.

    The open ones come first: what ends meanwhile is then read twice, which adds nothing, and not left out.

    Returns:
        The runs, and the lines that are not a run, each with a sentence that says why.
    """
    runs, broken = list(_open_runs(store.lake, names)), list[tuple[str, str]]()
    landed = landing.list_landed_of(store.lake, landing.OFFSET_COMMITS, names)
    if landed:
        rows = cluster_rows(store, OFFSET_COMMITS, cluster, ("run_landed_as",))
        landed -= {name for files in rows["run_landed_as"].to_pylist() for name in files}
    for text, file, is_damaged in lines_of_landed(landing.landing_folder(store.lake, landing.OFFSET_COMMITS), landed):
        if not is_damaged and (run := _run_in(text)) and file:
            runs.append(replace(run, landed_in=(file,)))
        else:
            broken.append((text, DAMAGED if is_damaged else _NO_RUN))
    return runs, broken


def _open_runs(lake: str, names: Iterable[str]) -> Iterator[Run]:
    for name in names:
        try:
            positions = landing.read_json(landing.positions_file(lake, name)) or {}
            yield from filter(None, map(Run.of, positions.get("open", ())))
        except Damaged:  # the next reading begins again, and says so
            continue


def _run_in(text: str) -> Run | None:
    try:
        return Run.of(value_of(text))
    except ValueError:
        return None


def keep_commits(store: Store, cluster: str, runs: Iterable[Run]) -> None:
    """Put runs into the lake, each merged with the parts of it that are there.

    The records of their groups have to be there already: a run ends before each of them.
    """
    for hour, of_hour in sorted(grouped(runs, lambda run: run.first_at // HOUR_MS).items()):
        window = Window(of_millis(hour * HOUR_MS), of_millis((hour + 1) * HOUR_MS))
        rows_there = [_run_of_row(row) for row in store.read_window(OFFSET_COMMITS, cluster, window).to_pylist()]
        whole = merged([*rows_there, *of_hour], _group_records(store, cluster, window))
        if whole != in_order(rows_there):
            rows = table_of((row_of_run(run, cluster) for run in whole), OFFSET_COMMITS)
            store.replace_window(OFFSET_COMMITS, rows, cluster, window)


def _group_records(store: Store, cluster: str, window: Window) -> GroupRecords:
    """The places of the records of groups around a window."""
    part = Part(cluster, "written_at", (window.start - _APART, window.end + _APART))
    columns = ("offsets_partition", "group_id", "record_offset")
    places: dict[tuple[int, str], list[int]] = {}
    for partition, group, offset in zip(
        *(c.to_pylist() for c in store.read(GROUP_RECORDS, part, columns)), strict=True
    ):
        places.setdefault((partition, group), []).append(offset)
    return {whose: sorted(offsets) for whose, offsets in places.items()}


def row_of_run(run: Run, cluster: str) -> RowValues:
    instants = {name: of_millis(getattr(run, name)) for name in _INSTANTS}
    return {**run.as_json(), **instants, "cluster": cluster, "run_landed_as": list(run.landed_in)}


def _run_of_row(row: RowValues) -> Run:
    instants = {name: micros_of(row[name]) // 1_000 for name in _INSTANTS}
    columns = {name: value for name, value in row.items() if name not in ("cluster", "run_landed_as")}
    return Run(**{**columns, **instants}, landed_in=tuple(row["run_landed_as"]))
