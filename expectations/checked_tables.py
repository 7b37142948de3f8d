"""The tables that a validation reads out of a lake, and the shapes of its input and its results."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import pyarrow as pa

from expectations.derive import LANDED
from expectations.own import suite_text
from kafka_hindsight.catalog.gold import BROKER_OUTAGES, INCIDENTS
from kafka_hindsight.catalog.gold import TABLES as GOLD
from kafka_hindsight.catalog.quality import COVERAGE, GENERATION_GAPS, LEADERSHIP_GAPS
from kafka_hindsight.catalog.table_model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store, part_of
from kafka_hindsight.shared.at_once import at_once
from kafka_hindsight.shared.windows import Window

Tables = Mapping[str, pa.Table]
"""Rows by the full name of their table."""

Suites = Mapping[str, Mapping[str, Any]]
"""A user's own suites, by the full name of their table."""

Verdict = dict[str, Any]
"""Whether one expectation of one table held: the columns of quality.validation_results that depend on the data."""

Docs = dict[str, bytes]
"""Pages of Great Expectations' Data Docs, by their paths."""


def tables_of(store: Store, cluster: str, window: Window, own: Suites) -> tuple[Tables, Tables]:
    """The tables to check, by full name, and other tables that laws read, by the name they use."""
    words = json.dumps(own)
    readings = {
        **{t.full_name: partial(store.read_staging, t) for t in GOLD},
        **{t.full_name: partial(store.read_window, t, cluster, window) for t in (COVERAGE, GENERATION_GAPS)},
        LEADERSHIP_GAPS.name: partial(store.read_window, LEADERSHIP_GAPS, cluster, window),
        **{t.full_name: partial(_landed, store, t, part_of(t, cluster, window), words) for t in LANDED},
        **{f"published_{t.name}": partial(store.read, t, Part(cluster), t.key) for t in (INCIDENTS, BROKER_OUTAGES)},
    }
    tables = dict(zip(readings, at_once(*readings.values()), strict=True))
    return {n: t for n, t in tables.items() if "." in n}, {n: t for n, t in tables.items() if "." not in n}


def _landed(store: Store, table: Table, part: Part, own: str) -> pa.Table:
    """Rows of bronze or silver, with the columns that its suite, a user's suites or a law names."""
    if not store.has(table):
        return arrow_schema(table).empty_table()
    words = {*re.findall(r"\w+", own + suite_text(table.full_name)), "preferred_leader"}
    return store.read(table, part, [name for name in table.column_names if name in words])
