"""Records of groups that have landed in the lake and are not in bronze yet."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_hindsight.catalog.bronze import GROUP_RECORDS
from kafka_hindsight.intake.group_record_rows import ReadRecord, read_record
from kafka_hindsight.intake.lake_rows import cluster_rows
from kafka_hindsight.intake.reading_files import lines_of_landed
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.store import Store


def read_landed_records(store: Store, cluster: str, names: Iterable[str]) -> list[ReadRecord]:
    """The records that landed for a cluster, under any of its names, since the last run."""
    landed = landing.list_landed_of(store.lake, landing.GROUP_RECORDS, names)
    if landed:
        rows = cluster_rows(store, GROUP_RECORDS, cluster, ("run_landed_as",))
        landed -= set(rows["run_landed_as"].unique().to_pylist())
    return [
        read_record(line) for line in lines_of_landed(landing.landing_folder(store.lake, landing.GROUP_RECORDS), landed)
    ]
