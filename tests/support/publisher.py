"""A publication without laws, in a process that can be killed: the order of commits that the step publish keeps."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path

import pyarrow

from kafka_hindsight.catalog import Table, gold
from kafka_hindsight.catalog.quality import PUBLICATIONS
from kafka_hindsight.lake.publishing import list_newest, take_back
from kafka_hindsight.lake.store import Store
from kafka_hindsight.shared.windows import Window
from tests.support.lake import schema
from tests.support.rows import AT, values

TABLES = gold.TABLES[:8]
WINDOW = Window(AT, AT + timedelta(hours=1))


def publish(lake: str, night: str) -> None:
    """Takes back half a publication, puts one row of each table in the place of the cluster's others, lists them."""
    store = Store(lake)
    take_back(lake, store.restore)
    store.create(*TABLES, PUBLICATIONS)
    for table in TABLES:
        store.renew_window(table, _row(table, night), "c", WINDOW)
    window = Window(AT, AT)
    store.replace_rows_of_run(PUBLICATIONS, _row(PUBLICATIONS, night, run_id="run"), "c", window, "run")
    list_newest(lake)


def night_column(table: Table) -> str:
    """The column of a table that has the night."""
    return next(c.name for c in table.columns if c.type == "STRING" and c.name not in ("cluster", "run_id"))


def _row(table: Table, night: str, **columns: str) -> pyarrow.Table:
    row = values(table, cluster="c", **{night_column(table): night}, **columns)
    return pyarrow.Table.from_pylist([row], schema=schema(table))


def main(answer: Path) -> None:
    """Publishes what stdin asks for, one night a line."""
    for line in sys.stdin:
        asked = json.loads(line)["settings"]
        publish(asked["lake"], asked["night"])
        being_written = answer.with_suffix(".tmp")
        being_written.write_text(json.dumps({"code": 0, "sentences": []}))
        being_written.rename(answer)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
