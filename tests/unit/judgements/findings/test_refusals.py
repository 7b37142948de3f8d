"""Clients and brokers that others refuse: what their own captured lines show, and what no line shows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from tests.support.findings import raised
from tests.support.made_groups import MADE, A, MadeGroup, expired, own, stable
from tests.support.rows import AT, row


def line(kind: str, minutes: int = 0, **columns: Any) -> Event:
    at = AT + timedelta(minutes=minutes)
    return row(EVENTS, line_id=f"{kind}-{minutes}", kind=kind, source="server.log", happened_at=at, **columns)


@pytest.mark.parametrize(
    ("lines", "rule_id", "message"),
    [
        (
            [line("client_not_authenticated", client_id="app", error="SSL handshake failed")],
            "client_not_authenticated",
            "Client 'app' could not authenticate at {at}: SSL handshake failed",
        ),
        (
            [line("authentication_failed", n, host=f"10.0.0.{n}", error="refused") for n in (0, 5)],
            "client_not_authenticated",
            "Client '10.0.0.0' and 1 more could not authenticate from {at} to {later}: refused",
        ),
        (
            [line("authentication_refused", broker=2, node=1, error="SSL handshake failed")],
            "broker_not_authenticated",
            "Broker 2 could not authenticate at {at}: node 1: SSL handshake failed",
        ),
        (
            [line("group_denied", detail="User:bob", reason="READ", group_id="orders", host="10.0.0.1")],
            "access_denied",
            "Access was denied to client 'User:bob' at {at}: READ on group orders",
        ),
        (
            [line("access_denied", detail="User:bob", reason="CREATE", host="10.0.0.1")],
            "access_denied",
            "Access was denied to client 'User:bob' at {at}: CREATE on the cluster",
        ),
        (
            [line("static_member_fenced", instance_id="i1", group_id="orders")],
            "instance_shared",
            "Two processes used the group.instance.id of client 'i1' at {at}: group orders",
        ),
        (
            [
                line("client_instance_fenced", client_id="app", instance_id="i1", group_id="orders"),
                line("static_member_fenced", instance_id="i1"),
            ],
            "instance_shared",
            "Two processes used the group.instance.id of client 'i1' at {at}: group orders",
        ),
        (
            [line("client_throttled", n, client_id="app", took_ms=60_000 - n) for n in (0, 5)],
            "client_throttled",
            "A quota held client 'app' back from {at} to {later}, for up to 1 min",
        ),
        (
            [line("client_connect_failed", client_id="app", host="kafka-1", error="java.net.UnknownHostException")],
            "name_unknown",
            "Client 'app' could not resolve the name of a broker at {at}: kafka-1",
        ),
        (
            [
                line(
                    "client_task_killed", client_id="connector-consumer-s-0", detail="s-0", error="x.DataException: bad"
                )
            ],
            "task_killed",
            "Task 's-0' of Kafka Connect failed and was killed at {at}: x.DataException: bad",
        ),
    ],
)
def test_refused_lines_are_one_finding_of_their_rule(lines: list[Event], rule_id: str, message: str) -> None:
    (finding,) = raised(refusals=lines)
    assert finding.rule_id == rule_id
    assert finding.message == message.format(at=f"{AT:%H:%M:%S}", later=f"{AT + timedelta(minutes=5):%H:%M:%S}")
    assert [q.line_id for q in finding.evidence] == [e.line_id for e in lines]


def test_finding_about_several_clients_quotes_a_line_of_each() -> None:
    often = [line("client_throttled", n, client_id="app", took_ms=5) for n in range(30)]
    others = [
        line("client_throttled", 30 + n, client_id=name, took_ms=5) for n, name in enumerate(("billing", "stock"))
    ]
    (finding,) = raised(refusals=[*often, *others])
    assert finding.subject == "app and 2 more"
    assert {e.line_id for e in others} < {q.line_id for q in finding.evidence}


def test_refusals_of_several_days_are_between_two_dates() -> None:
    lines = [line("authentication_failed", n, host="10.0.0.1", error="refused") for n in (0, 5 * 24 * 60)]
    (finding,) = raised(refusals=lines)
    later = AT + timedelta(days=5)
    assert f" from {AT:%Y-%m-%d %H:%M:%S} to {later:%Y-%m-%d %H:%M:%S}: refused" in finding.message


def test_connection_that_fails_for_another_reason_is_no_unknown_name() -> None:
    failed = line("client_connect_failed", client_id="app", host="kafka-1", error="java.net.SocketException")
    assert raised(refusals=[failed]) == []


def test_member_that_joined_again_after_a_refusal_was_not_lost_to_it() -> None:
    refused = own("client_not_authenticated", "01:09:30")
    joined = own("client_joined", "01:09:40", member_id=A, generation=1)
    lines = [own("client_configured", "00:59:59"), *stable(), refused, joined, *expired(A)]
    assert MadeGroup(lines).case().cause == "member_dead"
    assert (
        MadeGroup([e for e in lines if e is not joined] + [own("client_joined", "01:00:01", member_id=A)]).case().cause
        == "not_authenticated"
    )


def test_refusal_before_the_last_session_is_not_why_it_ran_out() -> None:
    lines = [*MADE["cannot authenticate"].events[:-2], *expired(A)]
    early = [own(e.kind, "01:08:00") if e.kind == "client_not_authenticated" else e for e in lines]
    assert MadeGroup(lines).case().cause == "not_authenticated"
    assert MadeGroup(early).case().cause == "member_dead"


def test_failed_commit_for_another_reason_is_no_denied_access() -> None:
    joined = [own("client_configured", "00:59:59"), *stable(), own("client_joined", "01:00:01", member_id=A)]
    causes = {
        error: MadeGroup([*joined, own("client_commit_failed", "01:09:30", error=error), *expired(A)]).case().cause
        for error in ("Group authorization failed.", "The request timed out.")
    }
    assert causes == {"Group authorization failed.": "access_denied", "The request timed out.": "member_dead"}


def test_context_holds_the_refusals_of_each_broker() -> None:
    refused = line("authentication_refused", broker=3, node=1)
    assert list(context_of([], [], refusals=[refused]).refusals_of[3]) == [refused]
