"""Incidents of rows that a test names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafka_hindsight.catalog.rows import ControllerChange, LagVerdict
from kafka_hindsight.judgements.incidents import IncidentList, judge_incidents
from kafka_hindsight.judgements.incidents.happenings import gather, lags, lost_quorums
from kafka_hindsight.settings.maintenance import MaintenanceWindow
from kafka_hindsight.shared.windows import Window


def judged_incidents(
    window: Window,
    maintenance: Sequence[MaintenanceWindow] = (),
    lag: Sequence[LagVerdict] = (),
    controllers: Sequence[ControllerChange] = (),
    cluster: str = "c",
    **rows: Any,
) -> IncidentList:
    """The incidents of a window, from rows by the parameters of `gather`."""
    happenings = [*gather(window, **rows), *lags(lag), *lost_quorums(controllers)]
    return judge_incidents(cluster, window, happenings, maintenance)
