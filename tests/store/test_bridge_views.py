"""Lists as rows: schema `bridge` holds each item of each list of gold, with the id of its row."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_hindsight.sql import prompt as sql
from kafka_hindsight.sql.bridge_views import VIEWS
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries
from tests.support.asked_lake import LAKE, answers
from tests.support.lake import write_lake


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> sql.Session:
    lake: Path = write_lake(tmp_path_factory.mktemp("bridges") / "lake", LAKE)
    return sql.Session(open_views(str(lake)), named_queries(), "json")


def test_a_list_of_names_is_a_row_for_each(session: sql.Session, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answers(session, "FROM bridge.incidents_group_ids WHERE incident_id = 'j'", capsys)
    assert rows == [{"cluster": "c", "incident_id": "j", "group_id": "orders"}]


def test_a_list_of_structs_has_their_fields_as_columns(
    session: sql.Session, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = answers(session, "FROM bridge.rebalances_delayed_by ORDER BY waited_ms", capsys)
    assert [(r["rebalance_id"], r["client_id"], r["waited_ms"]) for r in rows] == [("1", "b", 1000), ("1", None, 7000)]


@pytest.mark.parametrize("view", VIEWS, ids=lambda v: v.full_name)
def test_each_view_has_as_many_rows_as_its_lists_have_items(
    session: sql.Session, view: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert isinstance(view, type(VIEWS[0]))
    (items,) = answers(session, f"SELECT sum(len({view.column.name})) AS n FROM {view.table.full_name}", capsys)
    (rows,) = answers(session, f"SELECT count(*) AS n FROM {view.full_name}", capsys)
    assert rows["n"] == (items["n"] or 0)
    described = answers(session, f".describe {view.full_name}", capsys)
    assert [d["column"] for d in described] == [c.name for c in view.columns]
    assert all(d["meaning"] for d in described)
