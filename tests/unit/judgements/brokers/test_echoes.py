"""Absences that clocks which differ may show twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.codes import ClockMeaning
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, Quote
from kafka_hindsight.judgements.brokers.echoes import hedge_echoes
from kafka_hindsight.judgements.reasoning.clock_errors import ClockError
from tests.support.rows import AT, QUOTE, row

HOUR = ClockError(ClockMeaning.OTHER_ZONE, frozenset({"broker-2/server.log"}), frozenset({1, 2}), timedelta(hours=1))


def away(minutes: float, source: str, **columns: Any) -> BrokerOutage:
    down_at = AT + timedelta(minutes=minutes)
    evidence = [Quote.of({**QUOTE, "source": source, "happened_at": down_at})]
    return row(BROKER_OUTAGES, down_at=down_at, up_at=down_at, evidence=evidence, **{"broker": 2, **columns})


@pytest.mark.parametrize("apart", [60, 59.8, -60])
def test_absence_that_another_clock_shows_again_is_possible(apart: float) -> None:
    rows = [
        away(0, "broker-3/controller.log", outage_id="here"),
        away(apart, "broker-2/server.log", outage_id="there"),
    ]
    hedged = hedge_echoes(rows, [HOUR])
    assert [o.echo_of for o in hedged] == ["there", "here"]
    assert [o.confidence for o in hedged] == ["possible", "possible"]
    assert all("this may be the absence that began at" in o.explanation for o in hedged)


def test_log_that_shows_the_end_of_one_and_the_begin_of_the_other_does_not_tell_them_apart() -> None:
    """The broker's own late clock shows its return near the end of what others show, and its stop an hour later."""
    back = Quote.of({**QUOTE, "source": "broker-2/server.log", "happened_at": AT + timedelta(minutes=50)})
    seen = away(0, "broker-3/controller.log")
    rows = [replace(seen, up_at=back.happened_at, evidence=[*seen.evidence, back]), away(60, "broker-2/server.log")]
    assert [o.confidence for o in hedge_echoes(rows, [HOUR])] == ["possible", "possible"]


@pytest.mark.parametrize(
    "rows",
    [
        [away(0, "broker-2/server.log"), away(60, "broker-2/server.log")],
        [away(0, "broker-3/controller.log"), away(20, "broker-2/server.log")],
        [away(0, "broker-3/controller.log"), away(60, "broker-1/server.log", broker=1)],
    ],
    ids=["one log shows both", "another length apart", "another broker"],
)
def test_absences_that_no_clock_shows_twice_stay_as_sure(rows: list[BrokerOutage]) -> None:
    assert hedge_echoes(rows, [HOUR]) == rows


def test_clocks_that_agree_have_no_echoes() -> None:
    rows = [away(0, "broker-3/controller.log"), away(60, "broker-2/server.log")]
    assert hedge_echoes(rows, []) == rows
