"""Files for other tools, generated from the catalog: sources for dbt, a dashboard for Grafana, one for Superset."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import NAMESPACE_URL, uuid5

import yaml

from kafka_hindsight.catalog import TABLES
from kafka_hindsight.catalog.table_model import Column, Table

FOLDER = "integrations"
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

    @property
    def sql(self) -> str:
        """Its query."""
        where = f" WHERE {self.where}" if self.where else ""
        return f"SELECT {', '.join(self.columns)} FROM {self.table}{where} ORDER BY {self.order or self.columns[0]}"

    @property
    def catalog_columns(self) -> Iterator[Column]:
        """Its columns, as their table declares them."""
        table = next(t for t in TABLES if t.full_name == self.table)
        return (table.column(name) for name in self.columns)


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
        **{f"{FOLDER}/superset/{path}": _yaml(document) for path, document in superset().items()},
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
    """A dashboard over a Trino data source, which the user chooses when opening it."""
    source = {"type": "trino-datasource", "uid": "${lake}"}
    variable = {"name": "lake", "label": "Lake", "type": "datasource", "query": "trino-datasource"}
    return {
        "uid": "kafka-hindsight",
        "title": "Kafka Hindsight",
        "description": _GENERATED,
        "schemaVersion": 39,
        "time": {"from": "now-30d", "to": "now"},
        "timezone": "utc",
        "tags": ["kafka"],
        "templating": {"list": [variable]},
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
        "targets": [{"refId": "A", "datasource": source, "rawQuery": True, "rawSQL": panel.sql, "format": form}],
    }


def superset() -> dict[str, dict[str, Any]]:
    """A dashboard in Superset's export format, by the paths of its files."""
    database = {
        "database_name": "Kafka Hindsight",
        "sqlalchemy_uri": "duckdb:////srv/hindsight.duckdb",
        "expose_in_sqllab": True,
        "extra": {"engine_params": {"connect_args": {"read_only": True, "preload_extensions": ["delta"]}}},
        "uuid": _uuid("database"),
        "version": "1.0.0",
    }
    parts: dict[str, dict[str, Any]] = {
        "metadata.yaml": {"version": "1.0.0", "type": "Dashboard", "timestamp": "2026-11-22T00:00:00+00:00"},
        "databases/hindsight.yaml": database,
        "dashboards/hindsight.yaml": {
            "dashboard_title": "Kafka Hindsight",
            "description": _GENERATED,
            "slug": "kafka-hindsight",
            "uuid": _uuid("dashboard"),
            "position": _position(PANELS),
            "metadata": {},
            "version": "1.0.0",
        },
    }
    for panel in PANELS:
        parts[f"datasets/hindsight/{_slug(panel)}.yaml"] = _dataset(panel)
        parts[f"charts/{_slug(panel)}.yaml"] = _chart(panel)
    return parts


def _dataset(panel: Panel) -> dict[str, Any]:
    columns = [
        {"column_name": c.name, "type": c.type, "is_dttm": c.type == "TIMESTAMP", "description": c.described,
         "groupby": True, "filterable": True, "is_active": True}
        for c in panel.catalog_columns
    ]  # fmt: skip
    return {
        "table_name": panel.title,
        "main_dttm_col": panel.columns[0],
        "sql": panel.sql,
        "columns": columns,
        "metrics": [],
        "uuid": _uuid("dataset", panel.title),
        "database_uuid": _uuid("database"),
        "version": "1.0.0",
    }


def _chart(panel: Panel) -> dict[str, Any]:
    value = panel.columns[-1]
    metric = {"expressionType": "SQL", "sqlExpression": f"MAX({value})", "label": value}
    curve = {"x_axis": panel.columns[0], "metrics": [metric], "groupby": ["cluster"], "time_grain_sqla": "P1D"}
    rows = {"query_mode": "raw", "all_columns": list(panel.columns), "row_limit": 1000}
    is_curve = panel.kind == "curve"
    return {
        "slice_name": panel.title,
        "viz_type": "echarts_timeseries_bar" if is_curve else "table",
        "params": curve if is_curve else rows,
        "uuid": _uuid("chart", panel.title),
        "dataset_uuid": _uuid("dataset", panel.title),
        "version": "1.0.0",
    }


def _position(panels: Sequence[Panel]) -> dict[str, Any]:
    """One row for each chart, with ids as in Superset's own layouts."""
    rows = {f"ROW-{i}": f"CHART-{i}" for i, _ in enumerate(panels, start=1)}
    place: dict[str, Any] = {
        "DASHBOARD_VERSION_KEY": "v2",
        "ROOT_ID": {"id": "ROOT_ID", "type": "ROOT", "children": ["GRID_ID"]},
        "GRID_ID": {"id": "GRID_ID", "type": "GRID", "children": list(rows), "parents": ["ROOT_ID"]},
    }
    for (row, chart), panel in zip(rows.items(), panels, strict=True):
        above = ["ROOT_ID", "GRID_ID"]
        place[row] = {"id": row, "type": "ROW", "children": [chart], "parents": above, "meta": {}}
        meta = {"uuid": _uuid("chart", panel.title), "sliceName": panel.title, "width": 12, "height": 40}
        place[chart] = {"id": chart, "type": "CHART", "children": [], "parents": [*above, row], "meta": meta}
    return place


def _slug(panel: Panel) -> str:
    return "_".join("".join(c if c.isalnum() else " " for c in panel.title.lower()).split())


def _uuid(*names: str) -> str:
    return str(uuid5(NAMESPACE_URL, " ".join(("kafka-hindsight", *names))))


def _yaml(value: Any) -> str:
    return f"# {_GENERATED}\n" + yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=120)
