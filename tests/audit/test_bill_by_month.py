"""The bill of the recorded night by owner adds up to what the tables hold, whoever owns how much of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.cli import main as cli
from kafka_hindsight.shared.exits import DONE
from tests.support.recorded_night import recorded_night

OWNERS = """
[[alerts.owners]]
name = "crm"
groups = ["crm-*", "email-*"]
topics = ["crm-*"]
[[alerts.owners]]
name = "shop"
groups = ["crm-storm-8"]
topics = ["shop-*"]
"""
OF_ALL = OWNERS + '[[alerts.owners]]\nname = "platform"\nclusters = ["*"]\n'


@pytest.fixture
def answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Any:
    """Asks a query of the recorded night, with owners in hindsight.toml."""

    def ask(query: str, owners: str = OWNERS) -> list[dict[str, Any]]:
        (tmp_path / "hindsight.toml").write_text(owners, encoding="utf-8")
        monkeypatch.setenv("HINDSIGHT_CONFIG", str(tmp_path / "hindsight.toml"))
        assert cli.main(["sql", query, "--lake", str(recorded_night()[1]), "--format", "json"]) == DONE
        rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
        return rows

    return ask


def total(rows: list[dict[str, Any]], column: str) -> float:
    return sum(row[column] or 0 for row in rows)


@pytest.mark.parametrize("owners", ["", OWNERS, OF_ALL])
def test_bill_adds_up_to_the_whole(answers: Any, owners: str) -> None:
    bill = answers("bill_by_month", owners)
    (rebalances,) = answers("SELECT count(*) AS n, sum(partition_seconds) AS cost FROM gold.rebalances", owners)
    assert total(bill, "rebalances") == rebalances["n"]
    assert total(bill, "consumers_stopped_at_most") == pytest.approx(rebalances["cost"], abs=0.5)
    writes = answers("without_writes", owners)
    assert total(bill, "without_writes") == pytest.approx(total(writes, "partition_seconds"), abs=1)
    assert total(bill, "without_leader") == pytest.approx(total(writes, "of_no_leader"), abs=1)


def test_each_owner_has_a_row_and_what_is_shared_one_of_its_own(answers: Any) -> None:
    assert {row["owner"] for row in answers("bill_by_month")} == {"crm", "crm, shop", "shop", "unowned"}


def test_owner_of_cluster_owns_what_is_in_it(answers: Any) -> None:
    owners = {row["owner"] for row in answers("SELECT owner FROM now.dim_owner", OF_ALL)}
    assert owners == {"platform", "crm, platform", "crm, platform, shop", "platform, shop"}
