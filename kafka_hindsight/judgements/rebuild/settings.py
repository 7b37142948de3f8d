"""The settings of brokers and topics, by lines and by readings, in the form of silver.events."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.judgements.brokers.settings_at import SETTING_KINDS, SETTING_READ
from kafka_hindsight.judgements.rebuild.metadata import EVENTS
from kafka_hindsight.judgements.rebuild.scope import Scope, WindowFacts
from kafka_hindsight.judgements.rebuild.sources import Judgement, table, union, where
from kafka_hindsight.knowledge.broker_settings import BROKER_SETTINGS, TOPIC_SETTINGS
from kafka_hindsight.shared.arrow_tables import LAST, among, as_scalar, ends, with_columns


@dataclass(frozen=True)
class SettingsRead:
    """The readings of one setting as events."""

    settings: list[rows.Event]


def read_settings(readings: list[rows.ConfigSnapshot]) -> SettingsRead:
    """The first and the last of consecutive readings that show one value of a setting, as events."""
    ordered = sorted(readings, key=lambda r: r.snapshot_at)
    runs = (list(run) for _, run in groupby(ordered, key=lambda r: r.value))
    return SettingsRead([_as_event(r) for run in runs for r in (run if len(run) < 2 else (run[0], run[-1]))])


def _as_event(reading: rows.ConfigSnapshot) -> rows.Event:
    is_topic = reading.resource_type == "topic"
    return rows.Event(
        line_id=reading.snapshot_id,
        cluster=reading.cluster,
        origin=Origin.SNAPSHOT,
        source="snapshots",
        happened_at=reading.snapshot_at,
        order=0,
        kind=SETTING_READ,
        pattern_id=SETTING_READ,
        text=f"{reading.resource_type} {reading.resource}: {reading.name} = {reading.value}",
        topic=reading.resource if is_topic else None,
        node=None if is_topic else _number(reading.resource),
        reason=reading.name,
        detail=reading.value,
        knowledge_version="",
    )


def _number(text: str) -> int | None:
    """The id of a broker; None for the default of all brokers."""
    return int(text) if re.fullmatch(r"\d{1,9}", text) else None


def last_settings(settings: pa.Table, scope: Scope, facts: WindowFacts) -> pa.Table:
    """Keep the newest report of each kind on each broker, topic and setting by the last reading of partitions.

    Without such a reading it is that by the end of the window. Each broker prints a topic's settings: one of them is
    enough.
    """
    at = facts.last_read_at or scope.window.end - timedelta.resolution
    earlier = settings.filter(pc.less_equal(settings["happened_at"], as_scalar(settings["happened_at"], at)))
    reporter = pc.if_else(pc.is_null(earlier["topic"]), earlier["broker"], None)
    by = ("cluster", "kind", "topic", "reporter", "node", "reason")
    newest = ends(with_columns(earlier, reporter=reporter), by, ("happened_at", "source", "order"), (LAST,))
    return newest.drop_columns(["reporter"])


def _is_looked_at(readings: pa.Table) -> pa.ChunkedArray:
    """Whether verdicts look at each setting."""
    kind, name = readings["resource_type"], readings["name"]
    of_topics = pc.and_(pc.equal(kind, "topic"), among(name, TOPIC_SETTINGS))
    of_brokers = pc.and_(pc.equal(kind, "broker"), among(name, BROKER_SETTINGS))
    return pc.and_(pc.or_(of_topics, of_brokers), pc.is_valid(readings["value"]))


SETTINGS_READ = Judgement(
    "settings_read",
    read_settings,
    ("cluster", "resource_type", "resource", "name"),
    {"readings": where(_is_looked_at, table("bronze.config_snapshots"))},
)

SETTINGS = union(where(lambda e: among(e["kind"], SETTING_KINDS), EVENTS), SETTINGS_READ.output("settings"))
