"""How a table comes into being: Delta's own log store writes its first commit.

CREATE TABLE writes the same lines, and plans and reads the new table for them: half a processor second each.

Source: PROTOCOL.md of Delta Lake, Actions and Version Checksum File.
"""

from __future__ import annotations

import json
import time
import uuid
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from kafka_hindsight.catalog.model import Table
from kafka_hindsight.lake import delta_log, landing
from kafka_hindsight.lake.ddl import columns_ddl, properties

_STORE = "org.apache.spark.sql.delta.storage.LogStore"
PATH = "org.apache.hadoop.fs.Path"
"""Asked for by its whole name: of `org`, `apache` and the rest Java would look for a class in each jar."""

SCALA = "scala.jdk.javaapi.CollectionConverters"

_READER = 1
_WRITER, _WRITER_WITH_CHECKS = 2, 3
"""The versions of Delta's protocol that a table needs."""


_NO_ROWS = {
    "tableSizeBytes": 0,
    "numFiles": 0,
    "numMetadata": 1,
    "numProtocol": 1,
    "setTransactions": [],
    "domainMetadata": [],
    "allFiles": [],
}


def create_table(spark: SparkSession, table: Table, path: str) -> None:
    """Creates a table without rows, as CREATE TABLE does.

    Takes: a path at which no table is. The checksum spares the next writer a query; a table without one is whole too.
    """
    context: Any = spark.sparkContext
    log = f"{path}/{delta_log.FOLDER}"
    actions = _first_commit(table)
    landing.make_folder(log)
    lines = context._jvm.java.util.ArrayList()
    for name, action in actions.items():
        lines.add(json.dumps({name: action}, ensure_ascii=False))
    store: Any = getattr(context._jvm, _STORE).apply(spark._jsparkSession)
    store.write(
        getattr(context._jvm, PATH)(f"{log}/{0:020}.json"),
        getattr(context._jvm, SCALA).asScala(lines.iterator()),
        False,
        context._jsc.hadoopConfiguration(),
    )
    state = {"metadata": actions["metaData"], "protocol": actions["protocol"]}
    landing.write_atomically(f"{log}/{0:020}.crc", json.dumps({**_NO_ROWS, **state}, ensure_ascii=False))


def _first_commit(table: Table) -> dict[str, dict[str, Any]]:
    """The actions of the commit, by name."""
    now, configuration = int(time.time() * 1000), properties(table)
    has_checks = any(key.startswith("delta.constraints.") for key in configuration)
    described = {
        "id": str(uuid.uuid4()),
        "description": table.grain,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": StructType.fromDDL(columns_ddl(table)).json(),
        "partitionColumns": [],
        "configuration": configuration,
        "createdTime": now,
    }
    told = {"timestamp": now, "operation": "CREATE TABLE", "operationParameters": {}, "isBlindAppend": True}
    version = {"minReaderVersion": _READER, "minWriterVersion": _WRITER_WITH_CHECKS if has_checks else _WRITER}
    return {"commitInfo": told, "metaData": described, "protocol": version}
