"""The tables of a group that a program asks for next: settings, rebalances, what others would have saved, findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kafka_hindsight.catalog.rows import Finding, MemberSetting, Rebalance, Remedy
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared.grouping import grouped

MOST_REBALANCES = 12
MOST_CLIENTS = 6

_SETTINGS = (
    "protocol", "assignor", "session_timeout_ms", "rebalance_timeout_ms", "heartbeat_interval_ms", "offset_reset",
    "is_auto_commit", "isolation_level",
)  # fmt: skip


def group_tables(page: PageRows, group: str) -> Mapping[str, Any]:
    """The tables of a group of the window. Values that are not known are left out."""
    rebalances = page.rows_of(Rebalance, "group_id", group)
    return {
        "settings": _settings(page.rows_of(MemberSetting, "group_id", group)),
        "replays": [_replay(row) for row in page.rows_of(Remedy, "group_id", group)],
        "findings": [
            f"{row.message}." for row in page.rows_of(Finding, "subject", group) if row.subject_kind == "group"
        ],
        "rebalances": [_rebalance(row) for row in rebalances[:MOST_REBALANCES]],
        "rebalances_left_out": max(0, len(rebalances) - MOST_REBALANCES),
    }


def _settings(rows: Sequence[MemberSetting]) -> list[dict[str, Any]]:
    """The settings in use, those of clients with the same ones once."""
    alike = grouped(rows, lambda row: tuple(getattr(row, name) for name in _SETTINGS))
    tables = []
    for values, members in alike.items():
        clients = sorted({row.client_id for row in members if row.client_id})
        more = {"clients_left_out": len(clients) - MOST_CLIENTS} if clients[MOST_CLIENTS:] else {}
        tables.append({"client_ids": clients[:MOST_CLIENTS], **more, **_known(zip(_SETTINGS, values, strict=True))})
    return tables


def _replay(row: Remedy) -> dict[str, Any]:
    """The rebalances that another setting would have avoided, by a replay of the window."""
    return _known(
        {
            "setting": row.setting,
            "value_now_ms": row.value_now,
            "value_needed_ms": row.value_smallest,
            "rebalances_avoided": row.rebalances_avoided,
            "rebalances": row.rebalances_total,
            "partition_seconds_avoided": row.partition_seconds_avoided,
            "confidence": row.confidence,
        }.items()
    )


def _rebalance(row: Rebalance) -> dict[str, Any]:
    return _known(
        {
            "started_at": row.started_at,
            "duration_ms": row.duration_ms,
            "cause": row.cause,
            "confidence": row.confidence,
            "client_id": row.client_id,
            "partition_seconds": row.partition_seconds,
        }.items()
    )


def _known(values: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {name: value for name, value in values if value is not None}
