"""The files of suites: ours, and a user's own beside them. No GX."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from expectations.derive import CHECKED
from kafka_hindsight.lake import landing
from kafka_hindsight.settings.config import masked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.steps.validator import suites_place

FOLDER = Path(__file__).parent / "suites"

_ENDING = ".json"
_TABLES = tuple(t.full_name for t in CHECKED)


def suite_text(table: str) -> str:
    """Our suite of a table, as JSON."""
    return (FOLDER / f"{table}{_ENDING}").read_text(encoding="utf-8")


def own_suites(place: str | None, lake: str) -> dict[str, dict[str, Any]]:
    """A user's own suites, by the full names of their tables.

    Args:
        place: The folder that the setting EXPECTATIONS names; None: that of the lake, which need not exist.
        lake: The lake.

    Raises:
        BadInput: A sentence for each file that is not a suite of a table.
    """
    folder = suites_place(place, lake)
    suites, problems = {}, []
    for name in sorted(n for n in landing.names_in(folder) if n.endswith(_ENDING)):
        table, file = name.removesuffix(_ENDING), masked(f"{folder}/{name}")
        if table not in _TABLES:
            problems.append(
                f"{file} names no table that is checked. Needed: TABLE.json of one of {', '.join(_TABLES)}."
            )
            continue
        try:
            suite = json.loads(landing.read_text(f"{folder}/{name}"))
            suites[table] = {"name": table, "expectations": suite["expectations"]}
        except (ValueError, KeyError, TypeError) as problem:
            problems.append(f"{file} is not a suite: {problem!r}. Needed: JSON as Great Expectations writes a suite.")
    if place and not suites and not problems:
        problems.append(f"EXPECTATIONS names {masked(place)}, and no suite is there. Needed: files named TABLE.json.")
    if problems:
        raise BadInput(*problems)
    return suites
