"""Silver: what the records say, one row an event. Its table by name."""

from kafka_hindsight.catalog import rows

EVENTS = rows.Event.TABLE

_OF_EVERY_EVENT = (
    "line_id",
    "cluster",
    "origin",
    "source",
    "happened_at",
    "order",
    "broker",
    "kind",
    "pattern_id",
    "text",
    "knowledge_version",
)
EVENT_FIELDS = tuple(c for c in EVENTS.columns if c.name not in _OF_EVERY_EVENT)
"""The columns that a pattern may fill: parse fills exactly these."""
