"""The messages of receivers. Names of groups and topics are from outside: no character of theirs rules a terminal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, create_model

from kafka_hindsight.alerts.alert_model import FIGURES, RECOVERED, LedgerEntry, Sighting, State
from kafka_hindsight.alerts.ledger import LASTS
from kafka_hindsight.catalog import gold
from kafka_hindsight.catalog.codes import Confidence, FindingSeverity
from kafka_hindsight.settings.alerts import AlertSettings, Receiver
from kafka_hindsight.shared import words
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.page_names import page_address
from kafka_hindsight.shared.plain import shortened, visible

MAX_HEADLINE = 180
"""Characters of an incident's headline in one line."""

MAX_REASON = 1_000
MAX_LINES = 10
"""Lines of a digest."""

MAX_SUBJECTS = 3
"""Subjects that one line of a digest names, and headlines that the title of a page has."""

_FIRST_SENTENCE = re.compile(r"\.\s")

_CLUSTER_ID = re.compile("[A-Za-z0-9_-]{22}")
"""The id that Kafka gives a cluster: the name of a cluster that the settings do not name."""

NOTICE = timedelta(hours=1)
"""How long an alert that is over when it is sent fires in Alertmanager. What ends before group_wait and group_interval
(30 s and 5 min by default) are over is never notified. Source: Alertmanager 0.25, notify.DedupStage.needsUpdate.
"""

_FIGURES: Any = {n: (int | float | None, Field(description=gold.INCIDENTS.column(n).meaning)) for n in FIGURES}
Figures = create_model("Figures", **_FIGURES)


class Alert(BaseModel):
    """The document of a webhook: one for each alert, and another one when it is resolved."""

    version: Literal["1"] = Field(description="The version of this form")
    id: str = Field(description="The alert: the same when it is resolved; another one when the trouble comes back")
    fingerprint: str = Field(description="The trouble: the same on each night that shows it")
    status: Literal["firing", "resolved"] = Field(
        description="resolved: it is over. What was over before it was sent is sent once, as resolved"
    )
    severity: FindingSeverity = Field(description="How bad it is")
    confidence: Confidence | None = Field(description="How sure an incident's cause is; null for other alerts")
    state: State = Field(
        description="ongoing: it was not over when the logs end; unknown: the logs do not show whether it is over"
    )
    cluster: str = Field(description="The cluster, or `every cluster`")
    rule: str = Field(description="The harm of an incident, the rule of a finding, or a trouble of Hindsight's own")
    subject_kind: str = Field(description="incident, or what it is about: group, broker, topic, partition, run, log")
    subject: str = Field(description="Which one; the id of an incident")
    headline: str = Field(description="What happened, in one line")
    reason: str = Field(description="What happened, in a few sentences")
    advice: str = Field(description="What to do about it")
    started_at: datetime = Field(description="When it began")
    ended_at: datetime | None = Field(
        description="When it was over, or the end of the first night that no longer shows it; null before"
    )
    owners: list[str] = Field(description="The owners that hindsight.toml lists for its cluster, groups and topics")
    figures: Figures | None = Field(description="What an incident cost; null for other alerts")  # type: ignore[valid-type]
    commands: list[str] = Field(description="Commands that show how things are now, one each")
    groups: list[str] = Field(description="Consumer groups that it concerns")
    topics: list[str] = Field(description="Topics that it concerns")
    url: str | None = Field(description="Its place in the report; null where `link` of [alerts] is not set")


class AppriseMessage(NamedTuple):
    """A message of Apprise."""

    severity: str
    title: str
    body: str


def message_of(entries: Sequence[LedgerEntry], receiver: Receiver, settings: AlertSettings, now: datetime) -> Any:
    """The message about these entries for a receiver of this kind: an AppriseMessage, or a value of JSON."""
    match receiver.kind:
        case "webhook":
            return alert_of(entries[0], settings).model_dump(mode="json")
        case "alertmanager":
            return [_of_alertmanager(alert_of(e, settings), _ends_at(e, receiver, now)) for e in entries]
        case "digest":
            return _digest_of(entries, receiver, settings)
    return _page_of(entries, receiver, settings)


def alert_of(entry: LedgerEntry, settings: AlertSettings) -> Alert:
    """The document of an entry."""
    s = entry.sighting
    return Alert(
        version="1",
        id=f"{s.key[:16]}-{s.began_at.astimezone(UTC):%Y%m%dT%H%M%SZ}",
        fingerprint=s.key,
        status="resolved" if entry.ended_at else "firing",
        severity=FindingSeverity(s.severity),
        confidence=Confidence(s.confidence) if s.confidence else None,
        state=entry.state,
        cluster=visible(s.cluster),
        rule=s.rule,
        subject_kind=s.subject_kind,
        subject=s.incident_id or visible(s.subject),
        headline=event_line(s),
        reason=visible(s.reason),
        advice=visible(s.advice),
        started_at=s.began_at,
        ended_at=entry.ended_at,
        owners=[*map(visible, _owners(s, settings))],
        figures=Figures(**s.figures) if s.figures else None,
        commands=[*map(visible, s.commands)],
        groups=[*map(visible, s.groups)],
        topics=[*map(visible, s.topics)],
        url=link_to(s, settings.link) or None,
    )


def _of_alertmanager(alert: Alert, ends_at: datetime) -> dict[str, Any]:
    """An alert as Alertmanager's API v2 takes it. Its labels identify it: none of them changes while it lasts."""
    labels = {
        "alertname": "Hindsight" + alert.rule.replace("_", " ").title().replace(" ", ""),
        "cluster": alert.cluster,
        "severity": alert.severity.value,
        "owner": ", ".join(alert.owners),
        "subject": "" if alert.subject_kind == "incident" else alert.subject,
        "fingerprint": alert.fingerprint,
    }
    annotations = {
        "summary": alert.headline,
        "description": alert.reason,
        "state": alert.state,
        "confidence": alert.confidence or "",
        "advice": alert.advice,
        "commands": "\n".join(alert.commands),
    }
    return {
        "labels": {name: value for name, value in labels.items() if value},
        "annotations": {name: value for name, value in annotations.items() if value},
        "startsAt": alert.started_at.isoformat(),
        "endsAt": max(ends_at, alert.started_at).isoformat(),
        **({"generatorURL": alert.url} if alert.url and urlsplit(alert.url).scheme in ("http", "https") else {}),
    }


def _ends_at(entry: LedgerEntry, receiver: Receiver, now: datetime) -> datetime:
    """The instant at which Alertmanager resolves an alert: its end, or LASTS after the last night that showed it.

    A trouble goes on that long without another night; one that the receiver has not got yet fires for NOTICE at least.
    """
    end = entry.ended_at or entry.seen_to + LASTS
    return end if receiver.name in entry.sent else max(end, now + NOTICE)


def _page_of(entries: Sequence[LedgerEntry], receiver: Receiver, settings: AlertSettings) -> AppriseMessage:
    """One page for alerts that belong together, the gravest first.

    The title is the same when all are over: a pager identifies its incident by it.
    """
    worst = entries[0].sighting
    events = [*dict.fromkeys(event_line(e.sighting) for e in entries)]
    clauses = [event.partition(": ")[0] for event in events] if events[1:] else events
    more = f"; and {len(clauses) - MAX_SUBJECTS} more" if clauses[MAX_SUBJECTS:] else ""
    title = _titled(worst.severity, worst, "; ".join(clauses[:MAX_SUBJECTS]) + more)
    if receiver.name in entries[0].sent:
        recoveries = dict.fromkeys(map(recovery_of, entries))
        return AppriseMessage(RECOVERED, entries[0].pages.get(receiver.name, title), "\n".join(recoveries))
    others = [f"Also: {event_line(e.sighting)}\n{_section_of(e, settings)}" for e in entries[1:]]
    return AppriseMessage(worst.severity, title, "\n\n".join([_section_of(entries[0], settings), *others]))


def _section_of(entry: LedgerEntry, settings: AlertSettings) -> str:
    """The lines of a page about one of its alerts: when, how, how sure, for how long, the link, and what to do."""
    s = entry.sighting
    owners = _owners(s, settings)
    facts = {
        "Confidence": s.confidence,
        "State": _state(entry),
        words.verb(len(owners), "Owner", "Owners"): words.listed(owners, MAX_SUBJECTS),
    }
    body = [
        f"{words.minute(s.began_at)} UTC  {visible(shortened(s.reason, MAX_REASON))}",
        " ".join(f"{label}: {visible(fact)}." for label, fact in facts.items() if fact),
        link_to(s, settings.link),
        f"What to do: {visible(s.advice)}" if s.advice else "",
    ]
    return "\n".join(filter(None, body))


def _digest_of(entries: Sequence[LedgerEntry], receiver: Receiver, settings: AlertSettings) -> AppriseMessage:
    """One message of MAX_LINES for all alerts that are new or over; the subject names the worst."""
    worst = entries[0].sighting
    severity = RECOVERED if receiver.name in entries[0].sent else worst.severity
    alike = grouped(entries, lambda e: (receiver.name in e.sent, *_kin(e.sighting)))
    lines = [_line(same, receiver, settings, worst.cluster) for same in alike.values()]
    if len(lines) > MAX_LINES:
        page = link_to(replace(worst, anchor=""), settings.link)
        lines[MAX_LINES - 1 :] = [" ".join(filter(None, (f"and {len(lines) - MAX_LINES + 1} more", page)))]
    more = f", and {len(entries) - 1} more" if entries[1:] else ""
    headline = event_line(worst)
    # An incident's headline goes on with its cause.
    subject = headline.partition(": ")[0] if worst.is_incident else headline
    return AppriseMessage(severity, _titled(severity, worst, subject) + more, "\n".join(lines))


def _kin(s: Sighting) -> tuple[str, ...]:
    """The key of alerts that are one line: an incident's recurrence, or the rule."""
    return s.cluster, s.severity, s.rule, s.recurrence_id


def _line(entries: Sequence[LedgerEntry], receiver: Receiver, settings: AlertSettings, cluster: str) -> str:
    first = entries[0]
    s = first.sighting
    is_new = receiver.name not in first.sent
    facts = [
        s.severity if is_new else RECOVERED,
        s.confidence if is_new else "",
        _state(first, s.began_at) if is_new and (s.is_incident or first.ended_at) else "",
        words.times(len(entries)) if entries[1:] and s.is_incident else "",
        visible(s.cluster) if s.cluster != cluster else "",
    ]
    others = [visible(shortened(e.sighting.subject)) for e in entries[1:]] if not s.is_incident else []
    alike = f" (and {words.counted(len(others), 'other')}: {words.listed(others, MAX_SUBJECTS)})" if others else ""
    owners = [*dict.fromkeys(owner for e in entries for owner in _owners(e.sighting, settings))]
    ownership = f" ({visible(words.listed(owners, MAX_SUBJECTS))})" if owners else ""
    link = f" {place}" if (place := link_to(s, settings.link)) else ""
    return f"{', '.join(filter(None, facts))}: {event_line(s)}{alike}{ownership}{link}"


def _state(entry: LedgerEntry, began_at: datetime | None = None) -> str:
    """The state in words; with `began_at`, without a date that it has in common with that."""
    day = began_at and began_at.astimezone(UTC).date()
    return f"over since {words.minute(entry.ended_at, day)} UTC" if entry.ended_at else entry.state


def _titled(severity: str, sighting: Sighting, headline: str) -> str:
    """One line: severity, cluster, and headline. Of an id of Kafka the first letters are enough."""
    cluster = visible(shortened(sighting.cluster))
    name = f"{cluster[:6]}…" if _CLUSTER_ID.fullmatch(cluster) else cluster
    return f"[{severity}] {name}: {headline}"


def event_line(sighting: Sighting) -> str:
    """The event in one line: the headline of an incident, or the first sentence of a reason."""
    if sighting.is_incident:
        return visible(shortened(sighting.subject, MAX_HEADLINE))
    return visible(shortened(_FIRST_SENTENCE.split(sighting.reason, maxsplit=1)[0].rstrip("."), MAX_HEADLINE))


def recovery_of(entry: LedgerEntry) -> str:
    """The text that the trouble of an earlier message is over; empty where it goes on."""
    if not entry.ended_at:
        return ""
    if entry.sighting.is_incident:
        return f"Recovered. It was over at {words.minute(entry.ended_at)} UTC."
    witness = "evaluation at" if entry.sighting.subject_kind == "look" else "night that ended at"
    return f"Recovered. The {witness} {words.minute(entry.ended_at)} UTC no longer shows it."


def link_to(sighting: Sighting, template: str) -> str:
    """The link of a sighting: its own, or to its place in the report; empty where the settings have no template."""
    if sighting.link or not template or not sighting.page:
        return visible(sighting.link)
    place = page_address(template, sighting.cluster, sighting.page)
    return f"{place}#{sighting.anchor}" if sighting.anchor else place


def _owners(sighting: Sighting, settings: AlertSettings) -> list[str]:
    return settings.owners_of(sighting.cluster, sighting.groups, sighting.topics)
