"""What every step asks of Spark and Delta, once and in little, so that the first one that asks need not wait.

An application that waits for its first step does it meanwhile. Set-up does it too: Java keeps the classes that this
loads, and Python the bytecode of what it imports.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Thread
from typing import Any

from kafka_hindsight.spark.apply import Judgement, apply_by_key, select_output
from pyspark.sql import functions as F

from kafka_hindsight.catalog.quality import RULE_FIRINGS
from kafka_hindsight.catalog.rows import RuleFiring
from kafka_hindsight.catalog.steps import STEPS
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.spark import session
from kafka_hindsight.spark.conform import frame_of
from kafka_hindsight.spark.tables.store import Store

_AT = datetime(2026, 1, 1, tzinfo=UTC)
_ROW = dict.fromkeys(RULE_FIRINGS.column_names, "x") | {
    "window_from": _AT,
    "window_to": _AT,
    "first_at": None,
    "last_at": _AT,
    **dict.fromkeys(("fired", "fired_in_restarts", "suppressed"), 0),
}


_LOOK_EVERY = 0.1

_STEPS = [f"spark_jobs.{step.name}" for step in STEPS]
_IMPORTED_BESIDE = (*_STEPS[1:], "spark_jobs.validation")
"""What the first step does without. Great Expectations takes Python seconds, in which Java has work of its own."""


@dataclass(frozen=True)
class Rows:
    """What `same` gives."""

    rows: list[RuleFiring]


def same(rows: list[RuleFiring]) -> Rows:
    """The rows as they are."""
    return Rows(rows)


def warm(name: str) -> Iterator[None]:
    """Starts the session of that name, imports the steps, and fills a lake of one row; stops after each piece.

    Keeps: between pieces the session is set as it was started.
    """
    spark = session.start(name)
    yield
    importlib.import_module(_STEPS[0])
    others = Thread(target=lambda: [importlib.import_module(module) for module in _IMPORTED_BESIDE], daemon=True)
    others.start()
    with tempfile.TemporaryDirectory() as folder:
        for piece in _pieces(Store(spark, Path(folder).as_uri())):
            with session.for_few_rows(spark):
                piece()
            yield
    while others.is_alive():
        others.join(_LOOK_EVERY)
        yield


def _pieces(store: Store) -> Iterator[Callable[[], Any]]:
    """What fills a table and reads it, again and again."""
    window = Window(_AT, _AT + timedelta(days=1))
    rows = frame_of(store.spark, [_ROW], RULE_FIRINGS)
    judged = apply_by_key(Judgement("same", same, ("cluster",)), {"rows": rows}, {})
    yield partial(store.create, RULE_FIRINGS)
    for _ in range(2):
        yield partial(store.overwrite_staging, RULE_FIRINGS, select_output(judged, "rows"))
        yield lambda: store.replace_window(RULE_FIRINGS, store.read_staging(RULE_FIRINGS), "x", window)
    others = rows.withColumn("rule_id", F.regexp_replace("rule_id", "x", "y"))
    yield partial(store.append_new, RULE_FIRINGS, others)
    held = store.read_window(RULE_FIRINGS, "x", window)
    yield held.groupBy("rule_id").agg(F.max("fired")).collect
