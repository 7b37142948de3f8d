"""Generations that other witnesses name and no coordinator's line tells."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from spark_jobs.transforms.rebalances.model import Event, Gap
from spark_jobs.transforms.rebalances.records import REACHED, STORED

_WITNESSES = ("client_joined", "client_synced", "client_assignment_finished", "client_state_changed", STORED, REACHED)
"""Members learn of a generation, or an epoch, after the group has reached it; what is stored has been reached."""


def find_generation_gaps(events: Sequence[Event], observed_to: datetime) -> list[Gap]:
    """The break at the end of a group's history, where nothing of the coordinator's follows that would show it.

    Takes: the group's events in order; `observed_to`, the end of the brokers' lines: what members saw later proves
    nothing. Gives: at most one, up to the highest generation that a witness names.
    """
    told = [e["generation"] for e in events if e["origin"] == "broker" and e["generation"] is not None]
    if not told:
        return []
    last = max(told)
    beyond = [
        e
        for e in events
        if e["kind"] in _WITNESSES and (e["generation"] or 0) > last and e["happened_at"] <= observed_to
    ]
    if not beyond:
        return []
    latest = max(beyond, key=lambda e: int(e["generation"]))  # the first line that names it
    return [Gap(last, latest["generation"], latest["happened_at"], None, latest)]
