"""Files for other tools, generated from the catalog: sources for dbt, a dashboard for Grafana."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import yaml

from kafka_hindsight.catalog import TABLES
from kafka_hindsight.catalog.table_model import Column, Table

FOLDER = "integrations"
CATALOG = "${catalog}"
"""The variable of the dashboard that names Trino's catalog: the data source of Grafana cannot name one."""

_GENERATED = "Generated from the catalog: python -m tools.pages.docs"
_HEIGHT, _HALF, _WHOLE = 8, 12, 24


@dataclass(frozen=True)
class Panel:
    """One panel of a dashboard. `columns` are those of `table`, the first its time; a curve shows the last one.

    `where` is SQL that DuckDB, Spark and Trino all read.
    """

    title: str
    kind: Literal["curve", "rows"]
    table: str
    columns: tuple[str, ...]
    where: str = ""
    order: str = ""

    def sql(self, catalog: str) -> str:
        """Its query over the tables of a catalog."""
        where = f" WHERE {self.where}" if self.where else ""
        order = self.order or self.columns[0]
        return f"SELECT {', '.join(self.columns)} FROM {catalog}.{self.table}{where} ORDER BY {order}"


_NIGHT = ("window_from", "cluster")
PANELS = (
    Panel("Nights, the newest first", "rows", "quality.nights",
          (*_NIGHT, "state", "headline", "records_lost_low", "sudden_absences", "findings_critical", "gaps"),
          order="window_from DESC, cluster"),
    Panel("Committed records lost, at least", "curve", "quality.nights", (*_NIGHT, "records_lost_low")),
    Panel("Longest time without a leader, ms", "curve", "quality.nights", (*_NIGHT, "offline_ms")),
    Panel("Brokers not shut down in order", "curve", "quality.nights", (*_NIGHT, "sudden_absences")),
    Panel("Groups stopped by a failure", "curve", "quality.nights", (*_NIGHT, "groups_stopped")),
    Panel("Partition-seconds stopped by rebalances", "curve", "quality.nights", (*_NIGHT, "partition_seconds")),
    Panel("Log lines that could not be read", "curve", "quality.nights", (*_NIGHT, "lines_unread")),
    Panel("Incidents, the newest first", "rows", "gold.incidents",
          ("started_at", "cluster", "harm", "intent", "headline", "confidence", "advice", "incident_id"),
          "harm <> 'routine'", "started_at DESC"),
    Panel("Findings, the newest first", "rows", "gold.findings",
          ("first_at", "cluster", "severity", "rule_id", "subject", "message", "advice"), "severity <> 'info'",
          "first_at DESC"),
)  # fmt: skip


def files() -> dict[str, str]:
    """Every file by its path in docs/."""
    return {
        f"{FOLDER}/dbt_sources.yml": _yaml(dbt_sources()),
        f"{FOLDER}/grafana.json": json.dumps(grafana(), indent=1) + "\n",
    }


def dbt_sources() -> dict[str, Any]:
    """The tables of silver, gold and quality as sources of dbt, with meanings and tests of keys and nulls."""
    layers = dict.fromkeys(t.layer for t in TABLES if t.layer != "bronze")
    return {
        "version": 2,
        "sources": [
            {
                "name": f"hindsight_{layer}",
                "schema": layer,
                "tables": [_dbt_table(t) for t in TABLES if t.layer == layer],
            }
            for layer in layers
        ],
    }


def _dbt_table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "description": f"One row: {table.grain}",
        "columns": [{"name": c.name, "description": c.described, **_dbt_tests(table, c)} for c in table.columns],
    }


def _dbt_tests(table: Table, column: Column) -> dict[str, Any]:
    tests = [*(["not_null"] if not column.nullable else []), *(["unique"] if table.key == (column.name,) else [])]
    return {"data_tests": tests} if tests else {}


def grafana() -> dict[str, Any]:
    """A dashboard over a Trino data source and its catalog, which the user chooses when opening it."""
    source = {"type": "trino-datasource", "uid": "${lake}"}
    variables = [
        {"name": "lake", "label": "Lake", "type": "datasource", "query": "trino-datasource"},
        {"name": "catalog", "label": "Catalog", "type": "textbox", "query": "hindsight"},
    ]
    return {
        "uid": "kafka-hindsight",
        "title": "Kafka Hindsight",
        "description": _GENERATED,
        "schemaVersion": 39,
        "time": {"from": "now-30d", "to": "now"},
        "timezone": "utc",
        "tags": ["kafka"],
        "annotations": {"list": []},
        "templating": {"list": variables},
        "panels": [
            _grafana_panel(number, panel, place, source)
            for number, (panel, place) in enumerate(zip(PANELS, _places(PANELS), strict=True), start=1)
        ],
    }


def _places(panels: Sequence[Panel]) -> Iterator[dict[str, int]]:
    """The position of each panel: two curves side by side, tables as wide as the dashboard."""
    x = y = 0
    for panel in panels:
        width = _HALF if panel.kind == "curve" else _WHOLE
        if x + width > _WHOLE:
            x, y = 0, y + _HEIGHT
        yield {"h": _HEIGHT, "w": width, "x": x, "y": y}
        x += width


def _grafana_panel(number: int, panel: Panel, place: Mapping[str, int], source: Mapping[str, str]) -> dict[str, Any]:
    kind, form = {"curve": ("timeseries", 0), "rows": ("table", 1)}[panel.kind]
    return {
        "id": number,
        "title": panel.title,
        "type": kind,
        "datasource": source,
        "gridPos": place,
        "targets": [{"refId": "A", "datasource": source, "rawSQL": panel.sql(CATALOG), "format": form}],
    }


def _yaml(value: Any) -> str:
    return f"# {_GENERATED}\n" + yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)
