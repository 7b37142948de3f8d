"""Settings of brokers and topics, as lines report them."""

from __future__ import annotations

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings, settings_of
from tests.support.rows import AT, row


def line_of_topic(topic: str, detail: str | None) -> Event:
    """A line that lists all settings a topic has of its own: `name=value`, by commas."""
    line: Event = row(EVENTS, kind="topic_configured", topic=topic, detail=detail, happened_at=AT)
    return line


def line_of_broker(broker: int, **values: object) -> Event:
    """A line that lists a broker's settings; an underscore stands for a dot."""
    detail = "\n".join(f"{name.replace('_', '.')} = {str(value).lower()}" for name, value in values.items())
    line: Event = row(EVENTS, kind="broker_configured", broker=broker, detail=detail, happened_at=AT)
    return line


def own(topic: str, detail: str) -> BrokerSettings:
    """One topic's own settings."""
    return settings_of([line_of_topic(topic, detail)])
