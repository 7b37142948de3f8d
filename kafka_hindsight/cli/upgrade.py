"""`hindsight upgrade`: the lake of an earlier version becomes one of this version."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from kafka_hindsight.audit.lake_upgrade import upgrade
from kafka_hindsight.cli.options import LakeOption
from kafka_hindsight.settings.config import is_uri
from kafka_hindsight.settings.home import LAKE
from kafka_hindsight.settings.models import from_environment

_OF_LOGS = ("logs", "client_logs", "snapshots", "records", "lake")
"""Settings that no night needs which is judged again: its records are in the lake."""


def command(
    lake: LakeOption = str(LAKE),
    engine: Annotated[
        str | None, typer.Option(metavar="ENGINE", help="what judges the nights: local or spark; default: local")
    ] = None,
) -> int:
    """Upgrade the lake, with the settings of hindsight.toml for each cluster in it, else those of variables."""
    place = lake.rstrip("/") if is_uri(lake) else os.path.abspath(lake)
    own = {name: text for name, text in from_environment(os.environ).items() if name not in _OF_LOGS}
    return upgrade(place, {**own, **({"engine": engine} if engine else {})})
