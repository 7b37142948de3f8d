"""Gauges of groups and topics: the named queries, and what Prometheus reads."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.report.metrics import MOST_SUBJECTS, metrics_text
from kafka_hindsight.sql.fleet_rows import read_metrics
from tests.store.test_now import AT, PROD, land_reading
from tests.support.lake import write_lake
from tests.support.rows import values

NIGHT = {"window_from": AT - timedelta(hours=3), "window_to": AT + timedelta(hours=1)}
HOSTILE = 'a"b\\\n#'


def rebalance(group: str, minute: float, **columns: Any) -> dict[str, Any]:
    at = AT + timedelta(minutes=minute)
    return {
        "cluster": "id-prod", "rebalance_id": f"{group} {minute}", "group_id": group, "started_at": at,
        "ended_at": at + timedelta(seconds=30), **columns,
    }  # fmt: skip


def lake_of(folder: Path, *rebalances: dict[str, Any], not_known: tuple[str, ...] = ()) -> Path:
    """A lake with one night of cluster id-prod and, landed, its newest reading."""
    night = {
        "cluster": "id-prod",
        **NIGHT,
        "state": "calm",
        "not_known": list(not_known),
        "run_published_at": NIGHT["window_to"],
    }
    owned = {
        "cluster": "id-prod", "group_id": "unread", "topic": "t", "partition": 0, "is_open": True,
        "valid_from": NIGHT["window_from"], "valid_to": NIGHT["window_to"],
    }  # fmt: skip
    tables = {
        "quality.nights": [values(BY_NAME["quality.nights"], **night)],
        "gold.rebalances": [values(BY_NAME["gold.rebalances"], **r) for r in rebalances],
        "gold.ownership": [values(BY_NAME["gold.ownership"], **owned)],
    }
    lake = write_lake(folder / "lake", tables)
    land_reading(lake, "id-prod", AT, json.dumps(PROD) + "\n")
    return lake


def gauges(lake: Path) -> dict[tuple[str, str], float]:
    """The values of the gauges of subjects by name and subject, as a scraper reads them."""
    fleet, subjects = read_metrics(str(lake), NIGHT["window_to"])
    text = metrics_text(fleet.nights, subjects)
    found = re.findall(r'^hindsight_(\w+)\{cluster="id-prod",(?:group|topic)="((?:[^"\\]|\\.)*)"} (\S+)$', text, re.M)
    return {(name, subject): float(value) for name, subject, value in found}


def test_each_group_and_topic_has_its_gauges(tmp_path: Path) -> None:
    before = rebalance("orders", -60 * 24, members_after=9)
    lake = lake_of(
        tmp_path, before, rebalance("orders", -10), rebalance("unread", 0, members_after=3), rebalance(HOSTILE, 0)
    )
    found = gauges(lake)
    assert found["group_rebalances", "orders"] == 1, "of the newest night alone"
    assert found["group_seconds_since_rebalance", "orders"] == 70 * 60 - 30
    assert found["group_members", "orders"] == 2
    assert (found["group_assigned_partitions", "orders"], found["group_unowned_partitions", "orders"]) == (2, 1)
    assert (found["group_members", "unread"], found["group_assigned_partitions", "unread"]) == (3, 1)
    assert ("group_unowned_partitions", "unread") not in found, "no reading shows its topics"
    assert found["group_rebalances", r"a\"b\\\n#"] == 1
    assert (found["topic_under_replicated_partitions", "t"], found["topic_offline_partitions", "t"]) == (2, 1)


@pytest.mark.parametrize("not_known", [(), ("consumers_stopped",)])
def test_no_rebalance_is_zero_only_where_logs_could_show_one(tmp_path: Path, not_known: tuple[str, ...]) -> None:
    found = gauges(lake_of(tmp_path, not_known=not_known))
    assert found.get(("group_rebalances", "orders")) == (None if not_known else 0)


def test_series_of_many_groups_are_bounded(tmp_path: Path) -> None:
    many = [rebalance(f"g-{n:04}", n / 100) for n in range(5_000)]
    lake = lake_of(tmp_path, *many, rebalance("busy", 0), rebalance("busy", 1))
    found = gauges(lake)
    assert sum(name == "group_rebalances" for name, _ in found) == MOST_SUBJECTS
    assert found["group_rebalances", "busy"] == 2, "those that rebalanced most come first"
    fleet, subjects = read_metrics(str(lake), NIGHT["window_to"])
    left_out = f'hindsight_groups_left_out{{cluster="id-prod"}} {5_002 - MOST_SUBJECTS}\n'
    assert left_out in metrics_text(fleet.nights, subjects)
