"""A message in words. Names of groups and topics are written by strangers: nothing of them commands a terminal."""

from __future__ import annotations

from datetime import UTC, datetime

from kafka_hindsight.alerts.model import Entry, Sighting
from kafka_hindsight.shared.page_names import page_address
from kafka_hindsight.shared.plain import MAX_NAME, shortened, visible

MAX_HEADLINE = 180
"""Characters of an incident's headline in one line."""


def title_of(seen: Sighting) -> str:
    """One line: how bad, which cluster, which rule, and which subject. A pager knows its incident by it."""
    if seen.subject_kind == "incident":
        about = _name(seen.subject, MAX_HEADLINE)
    else:
        about = f"{seen.rule.replace('_', ' ')}: {_name(seen.subject)}"
    return f"[{seen.severity}] {_name(seen.cluster)}: {about}"


def body_of(seen: Sighting, link: str) -> str:
    """The reason with its address, then what to do."""
    reason = f"{_minute(seen.began_at)}  {visible(shortened(seen.reason, 600))}"
    advice = f"\nWhat to do: {visible(seen.advice)}" if seen.advice else ""
    return "\n".join(filter(None, [reason, link_to(seen, link), advice]))


def recovery_of(entry: Entry) -> str:
    """That what a message was about is no longer so."""
    shown_by = "look at" if entry.sighting.subject_kind == "look" else "night until"
    return f"Recovered. The {shown_by} {_minute(entry.ended_at)} no longer shows it." if entry.ended_at else ""


def link_to(seen: Sighting, template: str) -> str:
    """The address of the place in the report; empty where no setting says how pages are addressed."""
    if not template or not seen.page:
        return ""
    place = page_address(template, seen.cluster, seen.page)
    return f"{place}#{seen.anchor}" if seen.anchor else place


def _name(text: str, limit: int = MAX_NAME) -> str:
    return visible(shortened(text, limit))


def _minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
