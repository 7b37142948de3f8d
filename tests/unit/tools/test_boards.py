"""Files for other tools: each column that they name is there, and each query is one that the lake answers."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from kafka_hindsight.catalog import BY_NAME, TABLES
from kafka_hindsight.sql.lake_views import open_views
from tests.support.asked_lake import LAKE
from tests.support.lake import write_lake
from tools.pages.boards import CATALOG, FOLDER, PANELS, Panel, files
from tools.pages.docs import FOLDER as DOCS

BY_HAND = "prometheus_rules.yml"
HELD = {
    str(p.relative_to(DOCS)): p.read_text(encoding="utf-8")
    for p in (DOCS / FOLDER).rglob("*")
    if p.is_file() and p.name != BY_HAND
}
"""The generated files as they are, by their paths."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return open_views(str(write_lake(tmp_path_factory.mktemp("boards") / "lake", LAKE)))


@pytest.mark.parametrize("panel", PANELS, ids=lambda p: p.title)
def test_panel_query_returns_columns_of_its_table(panel: Panel, lake: Any) -> None:
    answer = lake.execute(panel.sql("memory"))
    assert [column[0] for column in answer.description] == list(panel.columns)
    first = BY_NAME[panel.table].column(panel.columns[0])
    assert first.type == "TIMESTAMP"


def test_grafana_board_has_each_query_once_without_overlap() -> None:
    board = json.loads(HELD[f"{FOLDER}/grafana.json"])
    assert [t["rawSQL"] for p in board["panels"] for t in p["targets"]] == [p.sql(CATALOG) for p in PANELS]
    cells = [
        (x, y)
        for p in board["panels"]
        for x in range(p["gridPos"]["x"], p["gridPos"]["x"] + p["gridPos"]["w"])
        for y in range(p["gridPos"]["y"], p["gridPos"]["y"] + p["gridPos"]["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_grafana_board_declares_each_variable_that_it_uses() -> None:
    text = HELD[f"{FOLDER}/grafana.json"]
    variables = json.loads(text)["templating"]["list"]
    assert {*re.findall(r"\$\{(\w+)\}", text)} == {variable["name"] for variable in variables}


def test_dbt_sources_have_every_table_above_bronze() -> None:
    sources = yaml.safe_load(HELD[f"{FOLDER}/dbt_sources.yml"])["sources"]
    columns = {f"{s['schema']}.{t['name']}": [c["name"] for c in t["columns"]] for s in sources for t in s["tables"]}
    assert columns == {t.full_name: list(t.column_names) for t in TABLES if t.layer != "bronze"}
    (incidents,) = (t for s in sources for t in s["tables"] if t["name"] == "incidents")
    assert incidents["columns"][1]["data_tests"] == ["not_null", "unique"]


def test_board_files_are_current() -> None:
    assert files() == HELD
