"""What every step asks of Spark and Delta, once and in little.

Set-up lets Java keep the classes that this loads, and Python the bytecode of what it imports.
"""

from __future__ import annotations

import importlib
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pyspark.sql import functions as F

from spark_jobs.catalog.quality import RULE_FIRINGS
from spark_jobs.catalog.rows import RuleFiring
from spark_jobs.catalog.steps import STEPS
from spark_jobs.edges import session
from spark_jobs.edges.store import Store
from spark_jobs.shared.conform import frame_of
from spark_jobs.transforms.judgement import Judgement, apply_by_key, select_output
from spark_jobs.transforms.windows import Window

AT = datetime(2026, 1, 1, tzinfo=UTC)
ROW = dict.fromkeys(RULE_FIRINGS.column_names, "x") | {
    "window_from": AT,
    "window_to": AT,
    "first_at": None,
    "last_at": AT,
    **dict.fromkeys(("fired", "fired_in_planned", "suppressed"), 0),
}

for step in STEPS:
    importlib.import_module(f"spark_jobs.steps.{step.name}")
importlib.import_module("spark_jobs.edges.validation")


@dataclass(frozen=True)
class Rows:
    """What `same` gives."""

    rows: list[RuleFiring]


def same(rows: list[RuleFiring]) -> Rows:
    """The rows as they are."""
    return Rows(rows)


with tempfile.TemporaryDirectory() as lake:
    spark = session.start("set-up")
    store, window = Store(spark, lake), Window(AT, AT + timedelta(days=1))
    with session.for_few_rows(spark):
        store.create(RULE_FIRINGS)
        rows = frame_of(spark, [ROW], RULE_FIRINGS)
        judged = apply_by_key(Judgement("same", same, ("cluster",)), {"rows": rows}, {})
        for _ in range(2):
            store.overwrite_staging(RULE_FIRINGS, select_output(judged, "rows"))
            store.replace_window(RULE_FIRINGS, store.read_staging(RULE_FIRINGS).persist(), "x", window)
        store.append_new(RULE_FIRINGS, rows.withColumn("rule_id", F.regexp_replace("rule_id", "x", "y")))
        store.read_window(RULE_FIRINGS, "x", window).groupBy("rule_id").agg(F.max("fired")).collect()
    spark.stop()
