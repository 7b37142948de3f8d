"""The section [alerts] of hindsight.toml: who owns what, and who gets which alerts.

Receivers' URLs are never written there.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from kafka_hindsight.catalog.codes import FindingSeverity
from kafka_hindsight.settings.home import file_path, read_toml
from kafka_hindsight.settings.models import Text, UserValues, checked
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.words import MORE


class Owner(UserValues):
    """A team and what it owns."""

    name: Text = Field(description="the owner, as receivers and pages name it")
    clusters: list[Text] = Field(default=[], description="names of clusters, with * for any text")
    groups: list[Text] = Field(default=[], description="groups, with * for any text")
    topics: list[Text] = Field(default=[], description="topics, with * for any text")

    def owns(self, cluster: str, groups: Iterable[str], topics: Iterable[str]) -> bool:
        """Whether the cluster, or one of the groups or topics, belongs to this owner."""
        return fits(self.clusters, [cluster]) or fits(self.groups, groups) or fits(self.topics, topics)


def fits(patterns: Iterable[str], names: Iterable[str]) -> bool:
    """Whether one of the names fits one of the patterns."""
    candidates = [*names]
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in candidates)


def concerned(kind: str, subject: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The groups and topics of a finding's subject. A subject that stands for several yields only the first."""
    first = MORE.sub("", subject)
    topics = {"topic": (first,), "partition": (first.rpartition("-")[0],)}
    return (first,) if kind == "group" else (), topics.get(kind, ())


class Receiver(UserValues):
    """A receiver of alerts. HINDSIGHT_ALERTS_<NAME> or the connection hindsight_alerts_<name> holds its URL."""

    name: str = Field(
        pattern="^[a-z][a-z0-9_]{0,39}$",
        description="names its connection hindsight_alerts_<name>: small letters, digits and underscores",
    )
    kind: Literal["page", "digest", "webhook", "alertmanager"] = Field(
        description="page (a message for alerts that belong together) or digest (one for all new ones), by a URL of"
        " Apprise; webhook (a JSON document for each alert) or alertmanager (its API), by a URL of HTTP"
    )
    severities: list[FindingSeverity] = Field(min_length=1, description="the severities of the alerts that it gets")
    owner: Text | None = Field(default=None, description="it gets only what this owner owns; default: everything")

    @property
    def variable(self) -> str:
        """The variable that holds its URL."""
        return f"HINDSIGHT_ALERTS_{self.name.upper()}"

    @property
    def connection(self) -> str:
        """The Airflow connection that holds its URL, as its password."""
        return f"hindsight_alerts_{self.name}"


DEFAULT = Receiver(name="default", kind="digest", severities=[FindingSeverity.CRITICAL, FindingSeverity.WARNING])
"""The receiver if none is declared: HINDSIGHT_ALERTS_DEFAULT gets every alert except those of severity info."""


class AlertSettings(UserValues):
    """The receivers of alerts, the owners, and the address that alerts link to."""

    link: Text = Field(default="", description="the address of a report's page, with {cluster} and {page}")
    receivers: list[Receiver] = Field(default=[DEFAULT], description="who gets alerts; each has one URL")
    owners: list[Owner] = Field(default=[], description="who owns which clusters, groups and topics")

    @model_validator(mode="after")
    def _names_are_known_and_unique(self) -> Self:
        owners, names = [o.name for o in self.owners], [r.name for r in self.receivers]
        problems = [
            f"[alerts]: two receivers are named {name!r}. Needed: one of each name. Rename one."
            for name in sorted({n for n in names if names.count(n) > 1})
        ]
        problems += [
            f"[alerts]: the owner of receiver {r.name} is {r.owner!r}. Needed: a table [[alerts.owners]] of that name."
            for r in self.receivers
            if r.owner and r.owner not in owners
        ]
        problems += [
            f"[alerts]: owner {o.name} owns nothing. Needed: clusters, groups or topics. Name them, or remove it."
            for o in self.owners
            if not (o.clusters or o.groups or o.topics)
        ]
        if problems:
            raise BadInput(*problems)
        return self

    def owners_of(self, cluster: str, groups: Iterable[str], topics: Iterable[str]) -> list[str]:
        """The owners of the cluster, or of one of these groups or topics."""
        return [owner.name for owner in self.owners if owner.owns(cluster, groups, topics)]


def alert_settings() -> AlertSettings:
    """The settings of the file that is in force. Raises: BadInput with every problem at once."""
    path = file_path()
    return alerts_of(read_toml(path), path) if path else AlertSettings()


def alerts_of(values: dict[str, Any], file: Path) -> AlertSettings:
    """Check the values of a file. Raises: BadInput with every problem at once."""
    return checked(AlertSettings, values.get("alerts", {}), file)


def owners() -> list[dict[str, Any]]:
    """The owners of the file in force, as Settings takes them.

    None if the file cannot be used: `hindsight alert` reports why, and the audit goes on.
    """
    try:
        return [owner.model_dump() for owner in alert_settings().owners]
    except BadInput:
        return []
