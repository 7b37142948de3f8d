"""Incidents of rows that a test names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_hindsight.catalog.rows import ControllerChange, PartitionStall
from kafka_hindsight.judgements.incidents import IncidentList, judge_incidents
from kafka_hindsight.judgements.incidents.happenings import gather, lost_quorums, stalled_groups
from kafka_hindsight.settings.maintenance import MaintenanceWindow
from kafka_hindsight.shared.windows import Window


def judged_incidents(
    window: Window,
    maintenance: Sequence[MaintenanceWindow] = (),
    stalls: Sequence[PartitionStall] = (),
    controllers: Sequence[ControllerChange] = (),
    cluster: str = "c",
    **rows: Any,
) -> IncidentList:
    """The incidents of a window, from rows by the parameters of `gather`."""
    happenings = [*gather(window, **rows), *stalled_groups(stalls), *lost_quorums(controllers)]
    return judge_incidents(cluster, window, happenings, maintenance)
