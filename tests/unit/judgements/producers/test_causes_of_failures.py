"""The outage behind a failed request: an interval that holds it, a change of leader, an absence, or a namesake."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.gold import (
    BROKER_OUTAGES,
    FAILOVERS,
    PRODUCER_FAILURES,
    PRODUCER_SETTINGS,
    UNAVAILABILITY,
)
from kafka_hindsight.catalog.rows import ProducerFailure
from kafka_hindsight.judgements.producers.causes_of_failures import explain_failures
from tests.support.rows import AT, row


def at(seconds: float) -> Any:
    return AT + timedelta(seconds=seconds)


def failure(kind: str = "not_enough_replicas", start: float = 0, end: float = 16, **columns: Any) -> ProducerFailure:
    shown = {"client_id": "shop", "source": "shop.log", "topic": "orders", "partition": 0, **columns}
    return row(PRODUCER_FAILURES, kind=kind, started_at=at(start), last_at=at(end), errors=["E"], **shown)


def interval(kind: str, start: float, end: float | None, **columns: Any) -> Any:
    times = {"started_at": at(start), "ended_at": None if end is None else at(end)}
    bounds = {"earliest_start_at": None, "latest_end_at": None}
    place = {"topic": "orders", "partition": 0, "unavailability_id": f"{kind}-{start}"}
    shown = {"confidence": "certain", "explanation": "It was so.", **times, **bounds, **place, **columns}
    return row(UNAVAILABILITY, kind=kind, **shown)


def explained(one: ProducerFailure, **rows: Any) -> ProducerFailure:
    parts = {name: rows.get(name, []) for name in ("settings", "unavailability", "failovers", "outages")}
    (result,) = explain_failures([one], **parts, incident_of=rows.get("incident_of", {}))
    return result


def test_a_refusal_stands_beside_the_interval_that_holds_it() -> None:
    one = explained(
        failure(retries=312, given_up_low=0, given_up_high=0),
        unavailability=[
            interval("acks_all_refused", -1, 17, outage_id="o"),
            interval("acks_all_refused", 16.5, 90),
            interval("acks_all_refused", -1, 17, partition=1),
            interval("no_leader", -1, 17),
        ],
        incident_of={"acks_all_refused--1": "i"},
    )
    assert (one.unavailability_id, one.outage_id, one.incident_id) == ("acks_all_refused--1", "o", "i")
    assert one.confidence == "certain"
    assert one.explanation == (
        "Producer shop was refused, since too few replicas were in sync (orders-0) for 16 s: 312 retries, 0 given up."
        " At that time: It was so."
    )


@pytest.mark.parametrize(
    ("start", "end", "is_beside"), [(-9, -1, True), (-9, -1.1, False), (17, 20, True), (17.1, 20, False)]
)
def test_the_bounds_of_an_interval_hold_up_to_a_second(start: float, end: float, is_beside: bool) -> None:
    one = explained(failure(), unavailability=[interval("acks_all_refused", start, end)])
    assert (one.unavailability_id is not None) is is_beside
    assert (one.confidence == "unknown") is not is_beside


def test_an_interval_without_an_end_holds_what_comes_later() -> None:
    assert explained(failure(), unavailability=[interval("acks_all_refused", -9, None)]).unavailability_id


def test_a_request_without_an_answer_was_sent_before_its_first_line() -> None:
    one, hung = failure("no_answer", start=30), [interval("acks_all_hung", 0, 4)]
    assert explained(one, unavailability=hung).unavailability_id is None
    waits = row(PRODUCER_SETTINGS, client_id="shop", source="shop.log", request_timeout_ms=30_000)
    assert explained(one, unavailability=hung, settings=[waits]).confidence == "likely"


def change(seconds: float, **columns: Any) -> Any:
    shown = {"topic": "orders", "partition": 0, "failover_id": f"f{seconds}", "kind": "preferred_election", **columns}
    return row(FAILOVERS, happened_at=at(seconds), confidence="certain", **shown)


@pytest.mark.parametrize(
    ("seconds", "confidence"), [(-10, "likely"), (-11, "possible"), (-300, "possible"), (-301, "unknown")]
)
def test_a_producer_may_learn_late_of_a_leader_that_moved(seconds: float, confidence: str) -> None:
    one = explained(failure("leader_moved"), failovers=[change(seconds), change(-3, partition=1)])
    assert one.confidence == confidence
    assert (one.failover_id is None) is (confidence == "unknown")


def test_librdkafka_names_the_broker_that_did_not_answer() -> None:
    outage = row(
        BROKER_OUTAGES, broker=3, kind="unresponsive", down_at=at(-9), up_at=at(60), outage_id="o", confidence="certain"
    )
    one = failure("no_answer", topic=None, partition=None, broker=3)
    found = explained(one, outages=[outage], incident_of={"o": "i"})
    assert (found.outage_id, found.incident_id, found.confidence) == ("o", "i", "likely")
    waits = explained(failure("no_answer", topic=None, partition=None, broker=2), outages=[outage])
    assert (waits.outage_id, waits.confidence) == ("o", "possible")
    assert waits.explanation.endswith("broker 3 stopped responding, and broker 2 may have waited for it.")
    later = failure("no_answer", start=121, end=130, topic=None, partition=None, broker=3)
    assert explained(later, outages=[outage]).outage_id is None


def test_a_fenced_producer_names_the_one_that_took_its_transactional_id() -> None:
    def started(client: str, seconds: float, name: str) -> Any:
        columns = {"client_id": client, "source": f"{client}.log", "transactional_id": name}
        return row(PRODUCER_SETTINGS, first_seen_at=at(seconds), last_seen_at=at(seconds), **columns)

    one = failure("fenced", topic=None, partition=None)
    own = started("shop", -60, "payments")
    for settings, is_known in (
        ([own, started("shop-2", -2, "payments")], True),
        ([own, started("shop-2", -2, "ads")], False),
        ([own, started("shop-2", 2, "payments")], False),
        ([own], False),
    ):
        sentence = explained(one, settings=settings).explanation
        assert ("producer shop-2 had begun with the same transactional.id payments" in sentence) is is_known
