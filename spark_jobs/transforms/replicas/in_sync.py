"""Which brokers a reading of the cluster found in sync."""

from __future__ import annotations

from collections.abc import Iterable

from spark_jobs.catalog.model import EVIDENCE_TYPE
from spark_jobs.transforms.evidence import quote_snapshot
from spark_jobs.transforms.windows import OutRow, Row

IN_SYNC = f"cluster STRING, snapshot_at TIMESTAMP, broker INT, partitions_out INT, evidence {EVIDENCE_TYPE}"
"""One broker in one reading: of how many of its partitions it was a replica and not in sync."""


def count_out_of_sync(partition_snapshots: Iterable[Row]) -> list[OutRow]:
    """Rows of IN_SYNC, one for each broker of each reading that is a replica of anything.

    Takes: rows of bronze.partition_snapshots of whole readings; those without replicas or ISR tell nothing.
    Order: by reading and broker.
    """
    out: dict[tuple[str, str, int], int] = {}
    reading: dict[tuple[str, str, int], Row] = {}
    for row in partition_snapshots:
        for broker in (row["replicas"] or ()) if row["isr"] is not None else ():
            key = row["cluster"], row["snapshot_id"], broker
            reading[key] = row
            out[key] = out.get(key, 0) + (broker not in row["isr"])
    rows = [_row(reading[key], key[2], missing) for key, missing in out.items()]
    return sorted(rows, key=lambda r: (r["cluster"], r["snapshot_at"], r["broker"]))


def _row(reading: Row, broker: int, missing: int) -> OutRow:
    says = f"broker {broker} is missing from the ISR of {missing} of its partitions"
    return {
        "cluster": reading["cluster"],
        "snapshot_at": reading["snapshot_at"],
        "broker": broker,
        "partitions_out": missing,
        "evidence": [quote_snapshot(reading["snapshot_id"], reading["snapshot_at"], says)],
    }
