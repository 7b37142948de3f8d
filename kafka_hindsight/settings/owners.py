"""Owners of clusters, groups and topics: alerts are routed by owner, and reports name the owner."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase

from pydantic import Field

from kafka_hindsight.settings.models import Table, Text
from kafka_hindsight.shared.words import MORE


class Owner(Table):
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
