"""The tables of gold that are scored."""

from __future__ import annotations

from collections.abc import Mapping

from spark_jobs.catalog import BY_NAME

_NAMES = (
    *("rebalances", "incidents", "broker_outages", "failovers", "leader_imbalance", "controller_changes"),
    *("isr_lapses", "rolling_restarts", "truncations"),
)

TIME_COLUMNS: Mapping[str, str] = {
    name: str(BY_NAME[f"gold.{name}"].time_column) for name in _NAMES if f"gold.{name}" in BY_NAME
}
"""Each of them, with the instant that places a row."""

ROW_IDS: Mapping[str, str] = {name: BY_NAME[f"gold.{name}"].key[-1] for name in TIME_COLUMNS}
"""Each of them, with what tells its rows apart within an instant."""
