"""`hindsight snapshot`: take one reading of a live cluster, land it in the lake, and print a summary."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Annotated, TextIO

import typer

from kafka_hindsight.cli.options import AtOption, LakeOption, instant_or_now
from kafka_hindsight.kafka.connection import Connection, from_environment, from_json
from kafka_hindsight.kafka.snapshots import ReadingOrder, run
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.shared.exits import BadInput


def command(
    bootstrap: Annotated[
        str | None, typer.Option(metavar="BOOTSTRAP", help="brokers of a live cluster, host:port,host:port")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(metavar="CONFIG", help="file of librdkafka's settings, key=value; default: KAFKA_CONFIG"),
    ] = None,
    connection: Annotated[
        str | None,
        typer.Option(metavar="CONNECTION", help="-: read bootstrap and settings from stdin, as JSON"),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(envvar="CLUSTER", metavar="CLUSTER", help="name of the cluster in the lake; default: its id"),
    ] = None,
    lake: LakeOption = str(LAKE),
    at: AtOption = None,
    to: Annotated[
        str | None,
        typer.Option(metavar="TO", help="append the reading to this JSON-lines file instead of landing it"),
    ] = None,
    is_printed: Annotated[bool, typer.Option("--print", help="print the reading instead of landing it")] = False,
) -> int:
    """Take one reading. `at` names the landed file, so that a retry overwrites it."""
    options = {"BOOTSTRAP": bootstrap, "KAFKA_CONFIG": config}
    environment = {**os.environ, **{name: value for name, value in options.items() if value}}
    if connection not in (None, "-"):
        raise BadInput(f"--connection is {connection!r}. Needed: -, and the connection on stdin: it holds secrets.")
    target = connection_of(environment, sys.stdin if connection else None)
    return run(ReadingOrder(target, lake, instant_or_now(at), cluster, to, is_printed))


def connection_of(environment: Mapping[str, str], stream: TextIO | None = None) -> Connection:
    """The connection on a stream, else the one that the environment names. Raises: BadInput if there is none."""
    if stream:
        return from_json(stream.readline())
    if connection := from_environment(environment):
        return connection
    raise BadInput(
        "No cluster is named. Needed: BOOTSTRAP=host:port,host:port, or KAFKA_CONFIG with a client.properties file, "
        "or an Airflow connection. Set one of them."
    )
