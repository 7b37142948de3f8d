"""The version of its tables that a lake keeps, read without an engine."""

from __future__ import annotations

import json

from kafka_hindsight.catalog.upgrades import LAKE_VERSION
from kafka_hindsight.lake.landing import names_in, read_text
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput

FILE = "lake_version.json"

_LAYERS = {"bronze", "silver", "gold", "quality"}


def lake_version(lake: str) -> int:
    """The version of the lake's tables: this code's where the lake is empty, 1 where it keeps none.

    Raises: BadInput where the lake is newer than this code, or where the file of its version is damaged.
    """
    names = set(names_in(lake))
    if FILE not in names:
        return 1 if names & _LAYERS else LAKE_VERSION
    text = read_text(f"{lake.rstrip('/')}/{FILE}")
    try:
        version = int(json.loads(text)["version"])
    except (ValueError, KeyError, TypeError):
        raise BadInput(
            f'{FILE} in the lake {masked(lake)} holds {text[:100]!r}. Needed: {{"version": {LAKE_VERSION}}}, or a lower'
            " version where an older Hindsight wrote the lake. Bring the file back from a copy of the lake; write it"
            " by hand where every run on this lake was of one Hindsight."
        ) from None
    if version > LAKE_VERSION:
        raise BadInput(
            f"The tables of the lake {lake} have version {version}. Needed: version {LAKE_VERSION} or older. A newer"
            " Hindsight wrote them: use that one, or name another LAKE."
        )
    return version


def note_on(version: int) -> str | None:
    """One line for whoever reads a lake that is older than this code; None where it is not."""
    if version == LAKE_VERSION:
        return None
    return (
        f"The tables of this lake have version {version}, and this Hindsight reads version {LAKE_VERSION}: renamed"
        " tables and columns look empty. The next run of any step upgrades the lake."
    )
