"""The validation page says what was checked, what broke, and lets no name do anything."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from kafka_hindsight.catalog.quality import VALIDATION_RESULTS
from kafka_hindsight.report.checks import validation_page
from tests.support.rows import AT, values

RUN = {"run_id": "run-1", "cluster": "prod", "window_from": AT, "window_to": AT + timedelta(hours=24)}


def result(**columns: Any) -> dict[str, Any]:
    return values(VALIDATION_RESULTS, **{"success": True, "is_vacuous": False, "table": "gold.rebalances"} | columns)


def broken(severity: str, sentence: str) -> dict[str, Any]:
    return result() | {
        "success": False,
        "severity": severity,
        "expectation": "ends_after_start",
        "observed": "1 of 9 rows",
        "sentences": [sentence],
    }


def test_night_without_a_breach_lists_its_expectations() -> None:
    page = validation_page([result(expectation="key_unique")], RUN)
    assert "No expectation is broken" in page
    assert "2026-10-01 03:00:00 to 2026-10-02 03:00:00 UTC, run run-1" in page and "<bdi>prod</bdi>" in page
    assert "key_unique" in page and ">held<" in page
    assert "What does not hold" not in page


def test_expectation_without_rows_does_not_count_as_evaluated() -> None:
    page = validation_page([result(), *(result(is_vacuous=True, table="gold.restarts") for _ in range(2))], RUN)
    assert "1 expectation was evaluated. 2 further expectations had no row to judge." in page
    assert "2 without a row to judge" in page and "1 evaluated" in page


def test_warning_is_shown_and_refuses_nothing() -> None:
    page = validation_page([broken("warning", "gold.failovers: 1 row breaks chain_unbroken")], RUN)
    assert "No critical expectation is broken" in page
    assert "1 warning was recorded" in page
    assert "gold.failovers: 1 row breaks chain_unbroken" in page
    assert "Refused" not in page


def test_critical_breach_refuses_publication_and_is_listed_before_warnings() -> None:
    page = validation_page([broken("warning", "a warning"), broken("critical", "a breach"), result()], RUN)
    assert "Refused: nothing of this window was published" in page
    assert page.index("a breach") < page.index("a warning")
    assert "2 broken" in page


def test_hostile_names_are_inert_on_the_validation_page() -> None:
    hostile = "<script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u202e"
    page = validation_page([broken("critical", hostile)], RUN | {"cluster": hostile})
    assert not re.search(r"<(script|img)", page)
    assert "&lt;script&gt;" in page
    assert "\x1b" not in page and "\u202e" not in page
    assert not re.search(r"(?:https?:)?//|@import|url\(", page)
