"""What every step asks of Spark and Delta, once and in little, so that the first one that asks need not wait.

An application that waits for its first step does it meanwhile. Set-up does it too: Java keeps the classes that this
loads, and Python the bytecode of what it imports.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import functions as F

from spark_jobs.catalog.quality import RULE_FIRINGS
from spark_jobs.catalog.rows import RuleFiring
from spark_jobs.catalog.steps import STEPS
from spark_jobs.edges import session
from spark_jobs.edges.store import Store
from spark_jobs.shared.conform import frame_of
from spark_jobs.transforms.judgement import Judgement, apply_by_key, select_output
from spark_jobs.transforms.windows import Window

_AT = datetime(2026, 1, 1, tzinfo=UTC)
_ROW = dict.fromkeys(RULE_FIRINGS.column_names, "x") | {
    "window_from": _AT,
    "window_to": _AT,
    "first_at": None,
    "last_at": _AT,
    **dict.fromkeys(("fired", "fired_in_planned", "suppressed"), 0),
}


@dataclass(frozen=True)
class Rows:
    """What `same` gives."""

    rows: list[RuleFiring]


def same(rows: list[RuleFiring]) -> Rows:
    """The rows as they are."""
    return Rows(rows)


def warm(name: str) -> Iterator[None]:
    """Starts the session of that name, imports the steps, and fills a lake of one row; stops after each piece."""
    spark = session.start(name)
    yield
    with tempfile.TemporaryDirectory() as folder, session.for_few_rows(spark):
        store, window = Store(spark, Path(folder).as_uri()), Window(_AT, _AT + timedelta(days=1))
        store.create(RULE_FIRINGS)
        yield
        importlib.import_module(f"spark_jobs.steps.{STEPS[0].name}")
        yield
        rows = frame_of(spark, [_ROW], RULE_FIRINGS)
        judged = apply_by_key(Judgement("same", same, ("cluster",)), {"rows": rows}, {})
        for _ in range(2):
            store.overwrite_staging(RULE_FIRINGS, select_output(judged, "rows"))
            yield
            store.replace_window(RULE_FIRINGS, store.read_staging(RULE_FIRINGS), "x", window)
            yield
        store.append_new(RULE_FIRINGS, rows.withColumn("rule_id", F.regexp_replace("rule_id", "x", "y")))
        yield
        store.read_window(RULE_FIRINGS, "x", window).groupBy("rule_id").agg(F.max("fired")).collect()
    for module in (*(f"spark_jobs.steps.{step.name}" for step in STEPS), "spark_jobs.edges.validation"):
        yield
        importlib.import_module(module)
