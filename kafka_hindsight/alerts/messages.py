"""The text of a message. Names of groups and topics come from outside: no character of theirs commands a terminal."""

from __future__ import annotations

from datetime import UTC, datetime

from kafka_hindsight.alerts.alert_model import Entry, Sighting
from kafka_hindsight.shared.page_names import page_address
from kafka_hindsight.shared.plain import MAX_NAME, shortened, visible

MAX_HEADLINE = 180
"""Characters of an incident's headline in one line."""


def title_of(sighting: Sighting) -> str:
    """One line: severity, cluster, rule, and subject. A pager identifies its incident by it."""
    if sighting.subject_kind == "incident":
        topic = _name(sighting.subject, MAX_HEADLINE)
    else:
        topic = f"{sighting.rule.replace('_', ' ')}: {_name(sighting.subject)}"
    return f"[{sighting.severity}] {_name(sighting.cluster)}: {topic}"


def body_of(sighting: Sighting, link: str) -> str:
    """The reason with its address, then what to do."""
    reason = f"{_minute(sighting.began_at)}  {visible(shortened(sighting.reason, 600))}"
    advice = f"\nWhat to do: {visible(sighting.advice)}" if sighting.advice else ""
    return "\n".join(filter(None, [reason, link_to(sighting, link), advice]))


def recovery_of(entry: Entry) -> str:
    """The text that the trouble of an earlier message is over; empty where it goes on."""
    witness = "evaluation at" if entry.sighting.subject_kind == "look" else "night that ended at"
    return f"Recovered. The {witness} {_minute(entry.ended_at)} no longer shows it." if entry.ended_at else ""


def link_to(sighting: Sighting, template: str) -> str:
    """The link to the place in the report; empty without a template of links in the settings."""
    if not template or not sighting.page:
        return ""
    place = page_address(template, sighting.cluster, sighting.page)
    return f"{place}#{sighting.anchor}" if sighting.anchor else place


def _name(text: str, limit: int = MAX_NAME) -> str:
    return visible(shortened(text, limit))


def _minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
