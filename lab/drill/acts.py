"""What was done to the cluster of a drill, one act each (docs/design.md section 8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

START_ENDED = "broker_start_ended"
"""The action of a start that failed though nothing was done to make it fail: the cluster itself refused it."""
ELECTED_UNCLEANLY = "elected_uncleanly"
"""The action of an election from outside the ISR that the metadata log holds, whether it was forced or not."""
MAINTENANCE_DECLARED = "maintenance_declared"
"""The action of an operator who declares maintenance: `from`, `to`, `reason`. `to` is missing while it lasts."""


class TruthError(ValueError):
    """The truth cannot be scored as it stands. Says every line that is wrong."""


@dataclass(frozen=True)
class Act:
    """One thing done to the cluster. `session` is the session timeout of its member, `fields` its whole line."""

    at: datetime
    action: str
    expect: str | None
    group: str | None
    client: str | None
    instance: str | None
    broker: int | None
    topic: str | None
    partition: int | None
    session: timedelta
    fields: Mapping[str, Any]

    @property
    def verdict(self) -> str | None:
        """The expected verdict, or the one that was expected until it became undecided."""
        return self.expect or self.fields.get("undecided")

    @property
    def is_on_broker(self) -> bool:
        """Whether it was done to a broker (a group or topic that names its broker was not)."""
        return self.broker is not None and self.group is None and self.topic is None

    @property
    def scope(self) -> str:
        """The object of the act, in words."""
        parts = (("group", self.group), ("client", self.client), ("broker", self.broker), ("topic", self.topic))
        return " ".join(f"{k} {v}" for k, v in parts if v is not None) or "cluster"
