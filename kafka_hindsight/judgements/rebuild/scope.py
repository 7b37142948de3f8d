"""The scope of a rebuild, and the facts of the whole cluster that every judgement after the first may use."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings
from kafka_hindsight.judgements.rebalances.group_history import GroupContext
from kafka_hindsight.settings.maintenance import MaintenanceWindow
from kafka_hindsight.shared.clock_errors import ClockError
from kafka_hindsight.shared.windows import Window


@dataclass(frozen=True)
class Scope:
    """The cluster and the window that is judged. `wide_window` is the window with its look-back and look-ahead.

    `clocks` are those that are known to be wrong by more than CLOCK_SKEW.
    `maintenance` holds the intervals in which work on the cluster was declared.
    """

    cluster: str
    window: Window
    wide_window: Window
    clocks: tuple[ClockError, ...] = ()
    maintenance: tuple[MaintenanceWindow, ...] = ()


@dataclass(frozen=True)
class WindowFacts:
    """Facts that are small and the same for all partitions and groups.

    `last_read_at`: the last reading of the window that shows partitions; `read_before_outages` the last before each
    absence of a broker. `offsets_partitions`: None where no reading shows it.
    """

    context: ClusterContext
    groups: GroupContext
    settings: BrokerSettings
    last_read_at: datetime | None
    read_before_outages: frozenset[datetime]
    offsets_partitions: int | None
