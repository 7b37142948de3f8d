"""The tables of gold that are scored."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_hindsight.catalog.gold import (
    BROKER_OUTAGES,
    CONTROLLER_CHANGES,
    FAILOVERS,
    FINDINGS,
    INCIDENTS,
    LEADER_IMBALANCE,
    OUT_OF_SYNC_PERIODS,
    PARTITION_RISKS,
    REBALANCES,
    ROLLING_RESTARTS,
    TRUNCATIONS,
)

_TABLES = (
    *(REBALANCES, INCIDENTS, BROKER_OUTAGES, FAILOVERS, LEADER_IMBALANCE, CONTROLLER_CHANGES),
    *(OUT_OF_SYNC_PERIODS, ROLLING_RESTARTS, TRUNCATIONS, PARTITION_RISKS, FINDINGS),
)

TIME_COLUMNS: Mapping[str, str] = {t.name: str(t.time_column) for t in _TABLES}
"""Each of them, with the instant that places a row."""

ROW_IDS: Mapping[str, str] = {t.name: t.key[-1] for t in _TABLES}
"""Each of them, with what sets its rows apart within an instant."""
