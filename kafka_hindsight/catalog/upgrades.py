"""Which version of the tables a lake holds, and what became of names between versions: what an upgrade renames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Renames:
    """What one version of the tables names differently than the version before it.

    `tables`: full names, old to new. `columns`: by the table's new full name, old to new. `values`: by the table's new
    full name and one of its columns, old to new.
    """

    tables: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    values: Mapping[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)

    @property
    def touched(self) -> list[str]:
        """The tables that an upgrade writes again, by their new full names."""
        return sorted({*self.tables.values(), *self.columns, *(table for table, _ in self.values)})

    def old_name(self, table: str) -> str:
        """The name that a table had before."""
        return next((old for old, new in self.tables.items() if new == table), table)


_TABLES = {
    "gold.isr_lapses": "gold.out_of_sync_periods",
    "gold.imbalance_spells": "gold.imbalance_periods",
    "gold.loss_rehearsals": "gold.loss_simulations",
}

_WITH_INTENT = ("gold.broker_outages", "gold.incidents", "gold.rolling_restarts")

UPGRADES: Mapping[int, Renames] = {
    2: Renames(
        tables=_TABLES,
        columns={
            "bronze.log_files": {
                "is_kafkas": "is_kafka_log",
                "timeless_count": "undated_count",
                "set_back_ms": "clock_set_back_ms",
            },
            "bronze.metadata_files": {"wrong": "errors"},
            "gold.failovers": {"asked_for": "requested_by_operator", "life": "topic_incarnation"},
            "gold.imbalance_periods": {
                "spell_id": "imbalance_period_id",
                "since": "started_at",
                "since_is_exact": "started_at_is_exact",
                "until": "ended_at",
                "until_is_exact": "ended_at_is_exact",
                "begun_by": "started_by",
                "healed_by": "ended_by",
            },
            "gold.isr_changes": {
                "broker_out_or_in": "broker",
                "owed_to": "shrink_cause",
                "out_until": "out_of_sync_until",
                "dropped_by": "removed_by_leader",
            },
            "gold.loss_simulations": {"message": "explanation"},
            "gold.member_settings": {"told_by": "witnesses"},
            "gold.out_of_sync_periods": {
                "isr_lapse_id": "out_of_sync_period_id",
                "suspect": "suspected_broker",
                "dropped_by": "removed_by_leader",
                "worst": "worst_topics",
            },
            "quality.leadership_gaps": {"life": "topic_incarnation", "says": "explanation"},
            "quality.validation_results": {"says": "description"},
        },
        values={
            ("gold.imbalance_periods", "ended_by"): {"asked_election": "requested_election"},
            ("quality.publications", "table"): _TABLES,
            ("quality.validation_results", "table"): _TABLES,
            ("quality.verdict_changes", "table"): _TABLES,
        },
    ),
    3: Renames(columns={"gold.incidents": {"outage_id": "first_outage_id"}}),
    4: Renames(
        columns={
            **{table: {"planned": "intent"} for table in _WITH_INTENT},
            "quality.nights": {"planned_absences": "orderly_absences", "unplanned_absences": "sudden_absences"},
            "quality.rule_firings": {"fired_in_planned": "fired_in_restarts"},
        },
        values={
            **{(table, "intent"): {"true": "unknown", "false": "unknown"} for table in _WITH_INTENT},
            ("gold.incidents", "harm"): {"planned": "routine"},
        },
    ),
}
"""The renames that lead to each version. Version 1 is what 28d0312 wrote, which keeps no version in the lake."""

LAKE_VERSION = max(UPGRADES)
"""The version of the tables that this code declares."""
