"""A message in words. Names of groups and topics are written by strangers: nothing of them commands a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from urllib.parse import quote

from spark_jobs.alerts.model import Sighting
from spark_jobs.report.plain import shortened, visible

MOST_TOLD = 10
"""Subjects that one message names; the report has all of them."""


def title_of(seen: Sequence[Sighting]) -> str:
    """One line: how bad, which cluster, which rule, and which subject."""
    first = seen[0]
    whom = _name(first.subject) if len(seen) == 1 else f"{len(seen)} {first.subject_kind}s"
    return f"[{first.severity}] {_name(first.cluster)}: {first.rule.replace('_', ' ')}: {whom}"


def body_of(seen: Sequence[Sighting], link: str) -> str:
    """The reasons with their addresses, then what to do, each advice once."""
    told = [_told(s, link) for s in seen[:MOST_TOLD]]
    more = [f"And {len(seen) - MOST_TOLD} more: the report has all of them."] if len(seen) > MOST_TOLD else []
    advice = dict.fromkeys(visible(s.advice) for s in seen if s.advice)
    return "\n\n".join([*told, *more, *(f"What to do: {a}" for a in advice)])


def link_to(seen: Sighting, template: str) -> str:
    """The address of the place in the report; empty where no setting says how pages are addressed."""
    if not template or not seen.page:
        return ""
    place = template.replace("{cluster}", quote(seen.cluster, safe="")).replace("{page}", quote(seen.page, safe=""))
    return f"{place}#{seen.anchor}" if seen.anchor else place


def _told(s: Sighting, template: str) -> str:
    at = s.began_at.astimezone(UTC)
    lines = [f"{at:%Y-%m-%d %H:%M} UTC  {visible(shortened(s.reason, 600))}", link_to(s, template)]
    return "\n".join(filter(None, lines))


def _name(text: str) -> str:
    return visible(shortened(text))
