"""Damaged data files are set aside, so that the next audit makes their rows again, from bronze or from the logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from kafka_hindsight.catalog import TABLES, Table
from kafka_hindsight.catalog.bronze import LOG_FILES, LOG_RECORDS
from kafka_hindsight.catalog.quality import COVERAGE, PARSED_HOURS, QUARANTINE, UNPARSED_LINES
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.damage import Damaged
from kafka_hindsight.lake.parts import DataFile
from kafka_hindsight.lake.publishing import list_maintained
from kafka_hindsight.lake.store import Store
from kafka_hindsight.lake.table_files import check_file
from kafka_hindsight.settings.config import masked

FOLDER = "damaged"
"""The folder of the lake that keeps what was set aside."""

_REGISTER_OF: Mapping[Table, Table] = {
    LOG_RECORDS: LOG_FILES,
    **dict.fromkeys((EVENTS, COVERAGE, QUARANTINE, UNPARSED_LINES), PARSED_HOURS),
}
"""The table that says that rows need not be made again. It is emptied with them."""


def set_aside(lake: str) -> list[str]:
    """Copy the damaged files of each table to `<LAKE>/damaged`, and commit the table without them.

    Returns:
        A sentence for each file: what it held, and what makes its rows again.
    """
    store = Store(lake)
    damage = {table: [*_damaged_files(store, table)] for table in TABLES if store.has(table)}
    for table, files in damage.items():
        for file in files:
            with suppress(FileNotFoundError):
                content = landing.read_bytes(f"{store.path(table)}/{file.path}")
                landing.write_atomically(f"{lake}/{FOLDER}/{table.full_name}/{file.path}", content)
        store.drop(table, files)
        if files and (register := _REGISTER_OF.get(table)) and store.has(register):
            store.drop(register, store.files(register))
    if any(damage.values()):
        list_maintained(lake)
    return [_sentence(lake, table, file) for table, files in damage.items() for file in files]


def _damaged_files(store: Store, table: Table) -> Iterator[DataFile]:
    for file in store.files(table):
        try:
            check_file(store.path(table), file, table)
        except (Damaged, OSError):
            yield file


def _sentence(lake: str, table: Table, file: DataFile) -> str:
    clusters, instants = file.bounds("cluster"), file.bounds(table.time_column or "")
    of_cluster = " and ".join(dict.fromkeys(clusters or ()))
    of_time = f" from {instants[0]} to {instants[1]}" if instants else ""
    return (
        f"{file.path} of {table.full_name} is set aside in {masked(lake)}/{FOLDER}. It held rows of"
        f" {of_cluster or 'any cluster'}{of_time}. What to do: run `hindsight audit` with FROM and TO for each window"
        " in that time. Rows of bronze come again from the logs and readings that are still there."
    )
