"""The alerts and owners as rows: those of the ledger's file and of hindsight.toml, without a second copy."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any

from kafka_hindsight.alerts.alert_model import LedgerEntry, read_ledger
from kafka_hindsight.catalog.codes import Confidence, FindingSeverity
from kafka_hindsight.catalog.row import Row, table
from kafka_hindsight.settings.alerts import alert_settings
from kafka_hindsight.shared.exits import BadInput


@table("now.alerts", key=("fingerprint", "receiver"))
class AlertSent(Row):
    """One alert and one receiver that got it, or that could not be reached; one row where there is none."""

    cluster: Annotated[str, "Name of the cluster, or `every cluster`"]
    fingerprint: Annotated[str, "Hash of the trouble: the same on each night that shows it"]
    rule: Annotated[str, "The harm of an incident, the rule of a finding, or a trouble of our own"]
    severity: Annotated[FindingSeverity, "How bad it is"]
    subject: Annotated[str, "What it is about; the headline of an incident"]
    confidence: Annotated[Confidence | None, "How sure an incident's cause is; null for other alerts"] = None
    state: Annotated[str, "over, ongoing, or unknown, as far as the logs show"]
    started_at: Annotated[datetime, "When it began"]
    ended_at: Annotated[
        datetime | None, "When it was over, or the end of the first night that no longer shows it; null before"
    ] = None
    incident_id: Annotated[str | None, "The incident; null for other alerts"] = None
    group_ids: Annotated[list[str], "Groups that it concerns"]
    topics: Annotated[list[str], "Topics that it concerns"]
    receiver: Annotated[str | None, "The receiver; null where no evaluation tried one"] = None
    sent_at: Annotated[datetime | None, "When that receiver got it; null where it did not"] = None
    not_sent_because: Annotated[str | None, "Why the last try to send it failed, or `declared`"] = None


@table("now.owners", key=("owner", "kind", "pattern"))
class OwnedNames(Row):
    """One pattern of names that a team owns."""

    owner: Annotated[str, "The team"]
    kind: Annotated[str, "What the pattern is of: cluster, group or topic"]
    pattern: Annotated[str, "The names, with * for any text: `group_id GLOB pattern`"]


def alert_rows(lake: str) -> list[dict[str, Any]]:
    """The rows of now.alerts. A ledger that cannot be opened from here has none, nor have its damaged lines."""
    with suppress(OSError, BadInput):
        return [row.as_dict() for entry in read_ledger(lake)[0].values() for row in _rows_of(entry)]
    return []


def _rows_of(entry: LedgerEntry) -> Iterator[AlertSent]:
    s = entry.sighting
    for receiver in {**entry.sent, **entry.failures} or (None,):
        yield AlertSent(
            cluster=s.cluster,
            fingerprint=s.key,
            rule=s.rule,
            severity=FindingSeverity(s.severity),
            subject=s.subject,
            confidence=Confidence(s.confidence) if s.confidence else None,
            state=entry.state,
            started_at=s.began_at,
            ended_at=entry.ended_at,
            incident_id=s.incident_id or None,
            group_ids=[*s.groups],
            topics=[*s.topics],
            receiver=receiver,
            sent_at=entry.sent.get(receiver or ""),
            not_sent_because="declared" if s.declared else entry.failures.get(receiver or ""),
        )


def owner_rows() -> list[dict[str, Any]]:
    """The rows of now.owners: of the hindsight.toml in force. One that cannot be used has none."""
    with suppress(BadInput):
        return [
            {"owner": owner.name, "kind": kind, "pattern": pattern}
            for owner in alert_settings().owners
            for kind, patterns in (("cluster", owner.clusters), ("group", owner.groups), ("topic", owner.topics))
            for pattern in patterns
        ]
    return []
