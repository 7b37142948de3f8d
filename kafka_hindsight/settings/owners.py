"""Who owns which clusters, groups and topics: routes of alerts ask it, and pages name it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from kafka_hindsight.catalog.row import Row
from kafka_hindsight.shared.words import MORE


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner(Row):
    """A team and what it owns: names with `*` for any text, of which one has to fit."""

    name: str
    clusters: Sequence[str] = ()
    groups: Sequence[str] = ()
    topics: Sequence[str] = ()

    def owns(self, cluster: str, groups: Iterable[str], topics: Iterable[str]) -> bool:
        """Whether one of the names is this owner's."""
        return fits(self.clusters, [cluster]) or fits(self.groups, groups) or fits(self.topics, topics)


def fits(patterns: Iterable[str], names: Iterable[str]) -> bool:
    """Whether one of the names fits one of the patterns."""
    known = [*names]
    return any(fnmatchcase(name, pattern) for pattern in patterns for name in known)


def concerned(kind: str, subject: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The groups and the topics that a finding is about. Edge case: of several subjects it names the first alone."""
    first = MORE.sub("", subject)
    topics = {"topic": (first,), "partition": (first.rpartition("-")[0],)}
    return (first,) if kind == "group" else (), topics.get(kind, ())
