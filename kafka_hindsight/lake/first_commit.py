"""How a table comes into being: its first commit, with its columns, what they mean, and its laws.

Edge case: delta-rs creates tables too, and leaves the protocol at a version of writers that ask no CHECK.

Source: PROTOCOL.md of Delta Lake, Actions.
"""

from __future__ import annotations

import json
import time
from typing import Any
from uuid import uuid4

import pyarrow as pa
from deltalake import Schema

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.ddl import properties

_READER = 1
_WRITER, _WRITER_WITH_CHECKS = 2, 3
"""The versions of Delta's protocol that a table needs."""


def first_commit(table: Table) -> str:
    """The text of the commit: a table without rows, as CREATE TABLE makes it."""
    now, configuration = time.time_ns() // 1_000_000, properties(table)
    has_checks = any(key.startswith("delta.constraints.") for key in configuration)
    actions: dict[str, dict[str, Any]] = {
        "commitInfo": {
            "timestamp": now,
            "operation": "CREATE TABLE",
            "operationParameters": {},
            "isBlindAppend": True,
        },
        "metaData": {
            "id": str(uuid4()),
            "description": table.grain,
            "format": {"provider": "parquet", "options": {}},
            "schemaString": delta_schema(table).to_json(),
            "partitionColumns": [],
            "configuration": configuration,
            "createdTime": now,
        },
        "protocol": {
            "minReaderVersion": _READER,
            "minWriterVersion": _WRITER_WITH_CHECKS if has_checks else _WRITER,
        },
    }
    return "\n".join(json.dumps({name: action}, ensure_ascii=False) for name, action in actions.items())


def delta_schema(table: Table) -> Schema:
    """The columns of a table as Delta has them."""
    described = [f.with_metadata({"comment": table.column(f.name).described}) for f in arrow_schema(table)]
    return Schema.from_arrow(pa.schema(described))
