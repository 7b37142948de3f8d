"""The score's command on a lake of real Delta tables: what it prints and how it ends."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from kafka_hindsight.catalog import BY_NAME
from lab.drill import score
from tests.support.lake import write_lake
from tests.support.rows import AT, values

LEFT = values(
    BY_NAME["gold.rebalances"], group_id="g", client_id="a", cause="member_left", confidence="certain", started_at=AT
)
ACT = {"at": (AT - timedelta(seconds=2)).isoformat(), "action": "member_close", "group": "g", "client": "a"}


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    write_lake(tmp_path, {"gold.rebalances": [LEFT]})
    return ["--lake", str(tmp_path), "--truth", str(tmp_path / "truth.jsonl")]


def truth(arguments: list[str], *expects: str) -> list[str]:
    Path(arguments[3]).write_text("\n".join(json.dumps(ACT | {"expect": e}) for e in expects) + "\n")
    return arguments


def test_passing_score_exits_0(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert score.main(truth(arguments, "member_leave")) == 0
    assert capsys.readouterr().out.startswith("PASSED: 1 of 1 expectations met (100.0%, needed 90%)")


def test_score_below_minimum_exits_1_with_reasons(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert score.main([*truth(arguments, "member_leave", "topic_deleted"), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    assert (report["passes"], report["met"], report["expectations"]) == (False, 1, 2)
    assert report["unmet"][0]["expect"] == "topic_deleted"
    assert report["unmet"][0]["near"] == ["+2.0 s g: member_left a (certain)"]


def test_minimum_score_can_be_set(arguments: list[str]) -> None:
    assert score.main([*truth(arguments, "member_leave", "topic_deleted"), "--minimum", "0.5"]) == 0


@pytest.mark.parametrize(
    ("expects", "sentence"), [((), "found nothing expected in"), (("tea_time",), "line 1: expects 'tea_time'")]
)
def test_unusable_truth_exits_2(
    arguments: list[str], expects: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score.main(truth(arguments, *expects)) == 2
    assert sentence in capsys.readouterr().err


def test_lake_without_gold_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--lake", str(tmp_path / "none"), "--truth", str(tmp_path / "truth.jsonl")]
    assert score.main(truth(arguments, "member_leave")) == 2
    assert "found no gold.rebalances in" in capsys.readouterr().err
