"""A name or an instant with a slip in it is refused on all surfaces; a name without rows in a window is not."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kafka_hindsight.catalog import gold, silver
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql.known_values import known_values
from kafka_hindsight.sql.lake import Lake, Night, open_lake
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries
from tests.support.lake import write_lake
from tests.support.rows import AT, values

TABLES = {
    "gold.rebalances": [values(gold.REBALANCES, cluster="prod", group_id="invoices")],
    "gold.incidents": [values(gold.INCIDENTS, cluster="prod", group_ids=["audit"], topics=["ledger"], brokers=[7])],
    "silver.events": [values(silver.EVENTS, cluster="prod", group_id="quiet", topic="ledger", partition=3)],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lake(tmp_path_factory.mktemp("known"), TABLES)


@pytest.fixture
def lake(folder: Path) -> Iterator[Lake]:
    with open_lake(str(folder)) as opened:
        yield opened


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("group_id", "invoices"),
        ("group_id", "audit"),
        ("group_id", "quiet"),
        ("topic", "ledger"),
        ("broker", "7"),
        ("partition", "3"),
        ("cluster", "prod"),
        ("from", "2026-11-21"),
        ("at", "2026-11-21T01:00Z"),
        ("at", "01:43"),
        ("harm", "records_lost"),
        ("limit", "5"),
    ],
)
def test_what_the_lake_has_seen_is_known(folder: Path, variable: str, value: str) -> None:
    with open_views(str(folder)) as connection:
        assert known_values(connection, {variable: value}).keys() == {variable}


def test_instant_is_given_in_a_form_that_queries_cast(folder: Path) -> None:
    with open_views(str(folder)) as connection:
        values = known_values(connection, {"since": "2026-11-21T01:00Z"})
        assert connection.execute("SELECT $since::TIMESTAMPTZ::VARCHAR", values).fetchone() == (
            "2026-11-21 01:00:00+00",
        )


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("group_id", "invoice", "The lake has never seen a group 'invoice'. Did you mean invoices?"),
        ("topic", "'; DROP", 'The lake has never seen a topic "\'; DROP".'),
        ("broker", "9", "The lake has never seen a broker '9'."),
        ("partition", "12", "The lake has never seen a partition '12'."),
        ("receiver", "chat", "The lake has never seen a receiver 'chat'. It has none."),
        ("cluster", "prd", "The lake has never seen a cluster 'prd'. Did you mean prod?"),
        ("from", "last night", "'last night' is not an instant. Needed: one such as 2026-11-21T01:00Z."),
        ("at", "25:00", "'25:00' is not an instant. Needed: one such as 2026-11-21T01:00Z."),
        ("harm", "record_lost", "There is no harm 'record_lost'. Did you mean records_lost"),
    ],
)
def test_what_the_lake_has_never_seen_is_refused(folder: Path, variable: str, value: str, sentence: str) -> None:
    with open_views(str(folder)) as connection, pytest.raises(BadInput) as refusal:
        known_values(connection, {variable: value})
    assert str(refusal.value).startswith(sentence)


def test_named_query_refuses_unknown_values_and_answers_nothing_of_known_ones(lake: Lake) -> None:
    assert lake.sql("rebalances_by_cause group_id=quiet").fetchall() == []
    with pytest.raises(BadInput, match=r"never seen a group 'quit'\. Did you mean quiet"):
        lake.sql("rebalances_by_cause group_id=quit")
    with pytest.raises(BadInput, match="'soon' is not an instant"):
        lake.sql("cost_by_group from=soon")


def test_each_variable_of_named_queries_is_judged_or_is_a_number(folder: Path) -> None:
    """DuckDB itself refuses text that is not a number."""
    names = {variable for query in named_queries().values() for variable in query.variables}
    with open_views(str(folder)) as connection:
        for variable in names - {"limit", "at_least"}:
            with pytest.raises(BadInput):
                known_values(connection, {variable: "no such thing"})


def test_night_of_another_lake_is_refused(lake: Lake) -> None:
    night = Night("prod", Window(AT, AT + timedelta(days=1)), "run", AT)
    with pytest.raises(BadInput, match=r"holds no published night|has no night of 'prod'"):
        lake.report(night)
