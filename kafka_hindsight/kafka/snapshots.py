"""Take a reading of a live cluster, and land it in the lake with the new records of groups, or write it elsewhere."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_hindsight.kafka import cluster_snapshot
from kafka_hindsight.kafka.connection import Connection
from kafka_hindsight.kafka.group_records import land_group_records
from kafka_hindsight.lake import landing
from kafka_hindsight.lake.damage import sealed
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import DONE, FAULT
from kafka_hindsight.shared.plain import visible


@dataclass(frozen=True)
class ReadingOrder:
    """The arguments of one reading, which lands in the lake, or is appended to a file, or is printed.

    `at` names the landed file: a retry for the same instant overwrites it.
    """

    connection: Connection
    lake: str
    at: datetime
    cluster: str | None = None
    to_file: str | None = None
    is_printed: bool = False


def run(order: ReadingOrder) -> int:
    """Take one reading and write it. Stdout has the reading alone if it is printed, else the summary.

    Returns:
        0, even if parts are missing; 1 if no broker answered, or if the reading could not be written.

    Raises:
        BadInput: The settings are refused.
    """
    began = time.monotonic()
    out = sys.stderr if order.is_printed else sys.stdout

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:5.1f} s  {visible(text)}", file=out, flush=True)

    say(f"Reading {order.connection.name}")
    try:
        reading = cluster_snapshot.take(order.connection, order.cluster, say)
    except cluster_snapshot.Unreachable as silence:
        if order.cluster and not (order.is_printed or order.to_file):
            land_silence(order, order.cluster, str(silence))
        print(visible(str(silence)), file=sys.stderr)
        return FAULT
    try:
        keep(order, reading, say)
    except OSError as failure:
        reason = visible(masked(str(failure)))
        print(f"The reading could not be written: {reason}. Needed: free space and write access.", file=sys.stderr)
        return FAULT
    for sentence in cluster_snapshot.summary(reading):
        say(sentence)
    return DONE


def keep(order: ReadingOrder, reading: Mapping[str, Any], say: Callable[[str], None]) -> None:
    """Write a reading where the order says; into the lake together with the new records of groups."""
    if order.is_printed:
        print(json.dumps(reading), flush=True)
    elif order.to_file:
        with Path(order.to_file).expanduser().open("a", encoding="utf-8") as file:
            file.write(json.dumps(reading) + "\n")
        say(f"Added to {order.to_file}")
    else:
        place = land_reading(reading, order.lake, order.at, order.connection.name)
        say(f"Landed in {masked(place)}")
        name = cluster_name(reading, order.connection.name)
        for sentence in land_group_records(order.connection, order.lake, name, order.at, say).sentences():
            say(sentence)


def land_silence(order: ReadingOrder, cluster: str, reason: str) -> None:
    """Land the fact that a cluster did not answer, unless a reading has landed for that instant."""
    if landing.landed_name(cluster, order.at) not in landing.list_landed(order.lake, landing.SNAPSHOTS):
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        land_reading({"at": at, "cluster": cluster, "error": reason}, order.lake, order.at, cluster)


def cluster_name(reading: Mapping[str, Any], otherwise: str) -> str:
    """The name of a reading's cluster, else its id, else `otherwise`."""
    return str(reading.get("cluster") or reading.get("cluster_id") or otherwise)


def land_reading(reading: Mapping[str, Any], lake: str, at: datetime, otherwise: str) -> str:
    """Land a reading under the name of its cluster (see `cluster_name`), and return its path."""
    name = cluster_name(reading, otherwise)
    place = f"{landing.landing_folder(lake, landing.SNAPSHOTS)}/{landing.landed_name(name, at)}"
    landing.write_atomically(place, sealed(json.dumps(reading) + "\n"))
    return place
