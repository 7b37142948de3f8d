"""One reading of a live cluster: taken, landed in the lake, summed up in a few sentences."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from kafka_hindsight.cli.options import At, Lake, instant
from kafka_hindsight.kafka import snapshot as kafka
from kafka_hindsight.kafka.connection import Connection, from_environment, from_json
from kafka_hindsight.kafka.group_records import land_group_records
from kafka_hindsight.lake import landing
from kafka_hindsight.settings.config import masked
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.shared.exits import DONE, FAULT, BadInput
from kafka_hindsight.shared.plain import visible


def command(
    bootstrap: Annotated[
        str | None, typer.Option(metavar="BOOTSTRAP", help="brokers of a live cluster, host:port,host:port")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(metavar="CONFIG", help="client.properties file with librdkafka's settings; KAFKA_CONFIG"),
    ] = None,
    connection: Annotated[
        str | None,
        typer.Option(metavar="CONNECTION", help="- for a connection as JSON on stdin, which needs neither of the two"),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(envvar="CLUSTER", metavar="CLUSTER", help="name of the cluster in the lake; default: its id"),
    ] = None,
    lake: Lake = str(LAKE),
    at: At = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="TO", help="a JSON-lines file to which the reading is added instead of landing"),
    ] = None,
    printed: Annotated[bool, typer.Option("--print", help="print the reading instead of landing it")] = False,
) -> int:
    """Takes one reading. `at` names the landed file, so that a retry overwrites it."""
    options = {"BOOTSTRAP": bootstrap, "KAFKA_CONFIG": config}
    environment = {**os.environ, **{name: value for name, value in options.items() if value}}
    if connection not in (None, "-"):
        raise BadInput(f"--connection is {connection!r}. Needed: -, and the connection on stdin: it holds secrets.")
    named = connection_of(environment, sys.stdin if connection else None)
    return run(Order(named, lake, instant(at), cluster, to, printed))


@dataclass(frozen=True)
class Order:
    """What to read, and where the reading goes: into the lake, else behind the lines of a file, else to stdout.

    `at` is the instant that names the landed file: a retry for the same instant overwrites it.
    """

    connection: Connection
    lake: str
    at: datetime
    cluster: str | None = None
    to_file: str | None = None
    printed: bool = False


def connection_of(environment: Mapping[str, str], given: TextIO | None = None) -> Connection:
    """The connection on a stream, else the one that the environment names. Raises: BadInput where neither does."""
    if given:
        return from_json(given.readline())
    if found := from_environment(environment):
        return found
    raise BadInput(
        "No cluster is named. Needed: BOOTSTRAP=host:port,host:port, or KAFKA_CONFIG with a client.properties file, "
        "or an Airflow connection. Set one of them."
    )


def run(order: Order) -> int:
    """Takes one reading and keeps it.

    Gives: 0, partial or not; 1 where no broker answered, or where it could not be kept.
    Keeps: stdout holds the reading alone where it is printed, else the summary.
    Raises: BadInput where the settings are refused.
    """
    began = time.monotonic()
    out = sys.stderr if order.printed else sys.stdout

    def say(text: str) -> None:
        print(f"{time.monotonic() - began:5.1f} s  {visible(text)}", file=out, flush=True)

    say(f"Reading {order.connection.name}")
    try:
        reading = kafka.take(order.connection, order.cluster, say)
    except kafka.Unreachable as silence:
        if order.cluster and not (order.printed or order.to_file):
            land_silence(order, order.cluster, str(silence))
        print(visible(str(silence)), file=sys.stderr)
        return FAULT
    try:
        keep(order, reading, say)
    except OSError as failure:
        print(
            f"The reading could not be kept: {visible(masked(str(failure)))}. Needed: room and rights.", file=sys.stderr
        )
        return FAULT
    for sentence in kafka.summary(reading):
        say(sentence)
    return DONE


def keep(order: Order, reading: Mapping[str, Any], say: Callable[[str], None]) -> None:
    """Puts a reading where it belongs; into the lake with the new records of groups."""
    if order.printed:
        print(json.dumps(reading), flush=True)
    elif order.to_file:
        with Path(order.to_file).expanduser().open("a", encoding="utf-8") as file:
            file.write(json.dumps(reading) + "\n")
        say(f"Added to {order.to_file}")
    else:
        place = land(reading, order.lake, order.at, order.connection.name)
        say(f"Landed in {masked(place)}")
        name = called(reading, order.connection.name)
        for sentence in land_group_records(order.connection, order.lake, name, order.at, say).sentences():
            say(sentence)


def land_silence(order: Order, cluster: str, why: str) -> None:
    """Lands that a cluster did not answer at all, unless a reading has landed for that instant."""
    if landing.landed_name(cluster, order.at) not in landing.list_landed(order.lake, landing.SNAPSHOTS):
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        land({"at": at, "cluster": cluster, "error": why}, order.lake, order.at, cluster)


def called(reading: Mapping[str, Any], otherwise: str) -> str:
    """The name of a reading's cluster, else its id, else the name given."""
    return str(reading.get("cluster") or reading.get("cluster_id") or otherwise)


def land(reading: Mapping[str, Any], lake: str, at: datetime, otherwise: str) -> str:
    """Lands a reading under the name of its cluster, else its id, else the name given. Gives: where it lies."""
    name = called(reading, otherwise)
    place = f"{landing.landing_folder(lake, landing.SNAPSHOTS)}/{landing.landed_name(name, at)}"
    landing.write_atomically(place, json.dumps(reading) + "\n")
    return place
