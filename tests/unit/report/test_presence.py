"""The answer about a subject to which nothing happened: what shows that it was there."""

from __future__ import annotations

from datetime import timedelta

import pytest

from kafka_hindsight.catalog.gold import NIGHT_SUBJECTS
from kafka_hindsight.catalog.rows import NightSubject, Quote
from kafka_hindsight.report.page_rows import READS, PageRows
from kafka_hindsight.report.subjects import SUBJECTS
from tests.support.rows import row
from tests.unit.report.test_report_producers import RUN

AT = RUN.window_from


def page(kind: str, name: str, versions: list[str] | None = None) -> PageRows:
    quote = Quote(line_id="r", source="snapshots", happened_at=AT, text="it is there")
    there = {"kind": kind, "name": name, "first_at": AT, "last_at": AT + timedelta(minutes=50), "evidence": [quote]}
    return PageRows({**dict.fromkeys(READS, ()), NightSubject: (row(NIGHT_SUBJECTS, **there, versions=versions),)}, RUN)


@pytest.mark.parametrize(("kind", "name"), [("broker", "3"), ("topic", "orders"), ("group", "pay")])
def test_healthy_subject_is_shown_by_what_saw_it(kind: str, name: str) -> None:
    answer = SUBJECTS[kind].answer(page(kind, name), name)
    assert [quote.text for quote in answer.proof] == ["it is there"]
    assert answer.explanation == "The first reading or line that shows it is of 03:00:00, the last one of 03:50:00."


def test_healthy_broker_names_its_version() -> None:
    answer = SUBJECTS["broker"].answer(page("broker", "3", ["4.0.1", "4.1.2"]), "3")
    assert answer.explanation.endswith("It ran Kafka 4.0.1 and 4.1.2.")


def test_group_of_the_same_name_proves_no_topic() -> None:
    assert not SUBJECTS["topic"].answer(page("group", "orders"), "orders").proof
