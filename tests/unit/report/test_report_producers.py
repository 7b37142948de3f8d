"""What producers met, beside the outage that they witness, and how they are set: on the page and in answers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.gold import PRODUCER_FAILURES, PRODUCER_SETTINGS
from kafka_hindsight.catalog.rows import ProducerFailure, ProducerSetting, Rebalance
from kafka_hindsight.measures.failed_requests import place_of
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.build import report_of
from kafka_hindsight.report.page_rows import PageRows, PageRun
from kafka_hindsight.report.producer_lines import ROWS, failures_block, summary_of
from kafka_hindsight.report.subjects.client_answer import client_answer
from tests.support.report_night import night
from tests.support.rows import AT, row

RUN = PageRun(cluster="c", window_from=AT, window_to=AT + timedelta(hours=1))


def failure(client: str, **columns: Any) -> ProducerFailure:
    shown = {"source": f"{client}.log", "topic": "orders", "partition": 0, "errors": ["NOT_ENOUGH_REPLICAS"], **columns}
    times = {"started_at": AT, "last_at": AT + timedelta(seconds=16)}
    return row(PRODUCER_FAILURES, client_id=client, kind="not_enough_replicas", **times, **shown)


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        (((0, 0), (0, 0)), "0 given up"),
        (((0, 0), (0, None)), "how many were given up is not known"),
        (((0, 0), (2, None)), "at least 2 given up"),
    ],
)
def test_the_sum_is_known_only_where_each_part_is(bounds: Any, says: str) -> None:
    rows = [
        failure(client, retries=156, given_up_low=low, given_up_high=high)
        for client, (low, high) in zip("ab", bounds, strict=True)
    ]
    (sentence,) = summary_of(rows)
    assert ui.plain_text(sentence, AT.date()) == (
        f"2 producers were refused, since too few replicas were in sync: 03:00:00 to 03:00:16, 312 retries, {says}."
    )


@pytest.mark.parametrize(
    ("columns", "place"),
    [
        ({"topic": "orders", "partition": 3, "broker": 1}, "orders-3"),
        ({"topic": "orders", "partition": None, "broker": 1}, "orders"),
        ({"topic": None, "partition": None, "broker": 0}, "broker 0"),
        ({"topic": None, "partition": None, "broker": None}, ""),
    ],
)
def test_a_failure_names_what_its_requests_were_for(columns: dict[str, Any], place: str) -> None:
    assert place_of(failure("shop", **columns)) == place


def page(*failures: ProducerFailure, settings: tuple[ProducerSetting, ...] = ()) -> PageRows:
    return PageRows({ProducerFailure: failures, ProducerSetting: settings, Rebalance: ()}, RUN)


def test_a_long_table_counts_what_it_leaves_out() -> None:
    failures = [failure(f"p{n}") for n in range(ROWS + 1)]
    *_, table, note = failures_block(page(*failures), failures)
    assert isinstance(table, ui.PlainTable) and len(table.rows) == ROWS
    assert isinstance(note, ui.Paragraph) and note.words == "1 more in gold.producer_failures."


def test_a_client_that_only_writes_has_an_answer() -> None:
    setting = row(PRODUCER_SETTINGS, client_id="shop", source="shop.log", acks="1")
    quiet = client_answer(page(settings=(setting,)), "shop")
    assert quiet.verdict == "It is a producer, and no line of its log shows a request that failed."
    assert quiet.proof and not quiet.confidence
    refused = client_answer(page(failure("shop", explanation="It was refused."), settings=(setting,)), "shop")
    assert refused.verdict == "Its requests failed once: It was refused."
    assert [section.name for section in refused.sections if section.blocks] == ["client-failures", "client-settings"]


def test_the_page_has_producers_where_their_logs_were_given() -> None:
    tables, run = night()
    assert "producers" not in sections(tables, run)
    (shown,) = [t for name, t in tables.items() if name == "gold.incidents"]
    incident = shown[0]["incident_id"]
    with_one = {**tables, "gold.producer_failures": [failure("shop", incident_id=incident).as_dict()]}
    assert "producers" in sections(with_one, run)
    assert "client-failures" in sections(with_one, run)


def sections(tables: Any, run: Any) -> set[str]:
    views = report_of(PageRows.from_tables(tables, run)).views
    return {section.name for view in views for section in view.sections}
