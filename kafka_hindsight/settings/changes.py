"""Declared changes, the tables [[changes]] of hindsight.toml: upgrades and deployments that people did."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kafka_hindsight.settings.alerts import fits
from kafka_hindsight.settings.home import file_path, read_toml
from kafka_hindsight.settings.models import Instant, UserValues, checked
from kafka_hindsight.shared.exits import BadInput

MOST_BYTES = 64_000
"""The most bytes of all changes of a file as JSON: they are a part of each command that starts a step."""

MOST_SUBJECTS = 20
MOST_LETTERS = 300


def _visible(text: str) -> str:
    # The report writes out what is invisible, so such a text would grow beyond its bound.
    if not text.isprintable():
        raise ValueError("visible text on one line: no control character, and no space but the usual one")
    return text


VisibleText = Annotated[str, Field(max_length=MOST_LETTERS), AfterValidator(_visible)]
Broker = Annotated[int, Field(ge=0, lt=2**31)]


class Change(UserValues):
    """A change that people declare, and what it touches. It claims nothing about why something happened."""

    what: Literal["upgrade", "deployment"] = Field(description="upgrade or deployment")
    start: Instant = Field(
        alias="from", description="when it began, such as 2026-11-20T02:10Z; without a zone it is UTC"
    )
    end: Instant = Field(alias="to", description="when it was done, in the same form")
    summary: VisibleText = Field(description=f"what was done, in {MOST_LETTERS} characters at most")
    cluster: VisibleText = Field(
        default="*", description="the cluster's name, with * for any text; default: each cluster"
    )
    groups: list[VisibleText] = Field(
        default=[], max_length=MOST_SUBJECTS, description="groups that it touches, with * for any text"
    )
    topics: list[VisibleText] = Field(
        default=[], max_length=MOST_SUBJECTS, description="topics that it touches, with * for any text"
    )
    brokers: list[Broker] = Field(
        default=[],
        max_length=MOST_SUBJECTS,
        description="ids of brokers that it touches; without groups, topics and brokers it touches the whole cluster",
    )

    @model_validator(mode="after")
    def _ends_after_its_start(self) -> Self:
        if self.start >= self.end:
            raise BadInput(
                f"[[changes]] has from = {self.start.isoformat()} and to = {self.end.isoformat()}. Needed: a to that"
                " lies after from. Swap or correct them."
            )
        return self

    def is_within(self, first: datetime, last: datetime) -> bool:
        """Whether a part of it lies between two instants."""
        return self.start <= last and first < self.end

    def touches(self, groups: Iterable[str], topics: Iterable[str], brokers: Iterable[int]) -> bool:
        """Whether one of these is a subject of it. One without a subject touches the whole cluster."""
        if not (self.groups or self.topics or self.brokers):
            return True
        return fits(self.groups, groups) or fits(self.topics, topics) or not {*self.brokers}.isdisjoint(brokers)

    def covers_broker(self, broker: int, first: datetime, last: datetime) -> bool:
        """Whether it declares what is done to a broker from one instant to another, both within it."""
        is_whole_cluster = not (self.groups or self.topics or self.brokers)
        return self.start <= first and last <= self.end and (is_whole_cluster or broker in self.brokers)


def _as_values(changes: Iterable[Change]) -> list[dict[str, Any]]:
    return [change.model_dump(mode="json", by_alias=True) for change in changes]


def _few(changes: list[Change]) -> list[Change]:
    size = len(json.dumps(_as_values(changes)))
    if size > MOST_BYTES:
        raise BadInput(f"[[changes]] takes {size:,} bytes. Needed: {MOST_BYTES:,} at most. Remove the oldest tables.")
    return changes


Changes = Annotated[list[Change], AfterValidator(_few)]


class DeclaredChanges(UserValues):
    """The part of hindsight.toml that declares changes."""

    changes: Changes = Field(default=[], description="upgrades and deployments that people did")


def declared_changes() -> list[dict[str, Any]]:
    """The changes of the file in force, as Settings takes them. Raises: BadInput with every problem at once."""
    path = file_path()
    values = {key: value for key, value in (read_toml(path) if path else {}).items() if key == "changes"}
    return _as_values(checked(DeclaredChanges, values, path).changes)
