"""The last reading of the window, and the settings in force at its instant."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.brokers.settings_at import SettingsInForce, settings_of
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.brokers import FACTS, WindowFacts
from kafka_hindsight.judgements.rebuild.events import SETTINGS
from kafka_hindsight.judgements.rebuild.sources import Judgement, RowSource, each, lake_table, narrowed
from kafka_hindsight.shared.arrow_tables import LAST, as_scalar, ends, with_columns


def of_last_reading(name: str) -> RowSource:
    """Read the rows of a table of readings that the last reading of the window has, of those that show partitions."""
    return each(_of_last_reading, lake_table(name, span="window"), needs=(FACTS,))


def _of_last_reading(readings: pa.Table, facts: WindowFacts) -> pa.Table:
    at = readings["snapshot_at"]
    return readings.filter(pc.equal(at, as_scalar(at, facts.last_read_at)))


def last_settings(settings: pa.Table, scope: Scope, facts: WindowFacts) -> pa.Table:
    """Keep the newest report of each kind on each broker, topic and setting by the instant that is judged.

    Each broker prints a topic's settings: one of them is enough.
    """
    at = as_scalar(settings["happened_at"], _judged_at(scope, facts))
    earlier = settings.filter(pc.less_equal(settings["happened_at"], at))
    reporter = pc.if_else(pc.is_null(earlier["topic"]), earlier["broker"], None)
    by = ("cluster", "kind", "topic", "reporter", "node", "reason")
    newest = ends(with_columns(earlier, reporter=reporter), by, ("happened_at", "source", "order"), (LAST,))
    return newest.drop_columns(["reporter"])


def find_settings(settings: list[rows.Event], scope: Scope, facts: WindowFacts) -> SettingsInForce:
    """Find the settings in force at the last reading of partitions; without one, at the end of the window."""
    return SettingsInForce(_judged_at(scope, facts), settings_of(settings))


def _judged_at(scope: Scope, facts: WindowFacts) -> datetime:
    return facts.last_read_at or scope.window.end - timedelta.resolution


SETTINGS_IN_FORCE = Judgement(
    "settings_in_force", (find_settings,), (), {"settings": narrowed(last_settings, SETTINGS)}, needs=(FACTS,)
)
