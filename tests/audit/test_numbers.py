"""docs/numbers.md: each question is asked of the recorded night, and each key of the drawing is a column."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.cli import main as cli
from kafka_hindsight.settings.home import HOME
from kafka_hindsight.shared.exits import DONE
from tests.support.recorded_night import recorded_night

PAGE = (HOME / "docs" / "numbers.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"^\| ([^|]+\?) \| `([^`]+)` \| ([^|]+) \|$", PAGE, flags=re.MULTILINE)
KEYS = re.findall(r"^    (\w+) \|\|--o\{ (\w+) : (\w+)$", PAGE, flags=re.MULTILINE)


def test_page_answers_fifteen_questions() -> None:
    assert len(QUESTIONS) == 15


@pytest.mark.parametrize(("question", "query", "part"), QUESTIONS, ids=[q for q, *_ in QUESTIONS])
def test_question_has_the_answer_of_the_page(question: str, query: str, part: str, capsys: Any) -> None:
    lake = str(recorded_night()[1])
    assert cli.main(["sql", query, "--lake", lake, "--format", "csv"]) == DONE
    assert part in capsys.readouterr().out, question


@pytest.mark.parametrize(("one", "many", "key"), KEYS)
def test_key_of_the_drawing_is_a_column_of_both_tables(one: str, many: str, key: str) -> None:
    for name in (one, many):
        assert BY_NAME[f"gold.{name}"].column(key)
    assert BY_NAME[f"gold.{one}"].key == (key,)
