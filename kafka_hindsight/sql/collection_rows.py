"""The logs of all clusters of a lake, each with its last line. Read without a JVM."""

from __future__ import annotations

from typing import Any

import duckdb

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.sql.duck_types import one_sentence
from kafka_hindsight.sql.lake_views import dicts_of, open_views
from kafka_hindsight.sql.named_queries import named_queries

READ_TABLES = ("bronze.log_files", "quality.parsed_hours")
"""The tables that the query reads."""


def read_collection(lake: str) -> list[dict[str, Any]]:
    """Answer the query collection_health for all clusters of a lake.

    Raises:
        BadInput: There is no lake, or a table of it cannot be read.
    """
    with open_views(lake, [BY_NAME[name] for name in READ_TABLES]) as connection:
        try:
            return dicts_of(connection.execute(named_queries()["collection_health"].sql))
        except duckdb.Error as problem:
            raise BadInput(one_sentence(problem)) from problem
