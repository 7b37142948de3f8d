"""Histories of single groups out of captured excerpts, or out of lines made by hand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from kafka_hindsight.catalog.rows import Event, Rebalance
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.rebalances import GroupContext, rebuild_group
from tests.support.nights import EXCERPTS, at
from tests.support.rows import row
from tools.plain_reader import read_logs

BOTH = ("broker", "client")
_FOLDERS = {"broker": "logs", "client": "clients"}
_LINES = itertools.count()


def lines(excerpt: str, *origins: str) -> list[Event]:
    """The events of an excerpt of one group: of brokers alone, or with its clients' logs."""
    root = EXCERPTS / "groups" / excerpt
    return [e for origin in origins for e in read_logs(root / _FOLDERS[origin], origin, "night")[0]]


def line(kind: str, clock: str, group: str | None = "g", broker: int | None = 1, **fields: Any) -> Event:
    """A line of a coordinator about a group."""
    line_id = f"made-{next(_LINES):04}"
    source = f"broker-{broker}/server.log"
    told = {"line_id": line_id, "origin": "broker", "text": "a line", "source": source} | fields
    made: Event = row(EVENTS, kind=kind, happened_at=at(clock), group_id=group, broker=broker, **told)
    return made


def rebalances(events: Sequence[Event]) -> list[Rebalance]:
    """The rebalances of the one group that the events name."""
    group = next(e.group_id for e in events if e.group_id)
    context = GroupContext("night", at("01:00:00"), datetime(2026, 11, 21, 14, tzinfo=UTC))
    return rebuild_group(group, events, context).rebalances
