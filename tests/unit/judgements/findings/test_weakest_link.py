"""The weakest of the settings that together decide whether a record is kept: each link weak, and just not."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.gold import PRODUCER_SETTINGS
from kafka_hindsight.catalog.rows import Finding, ProducerSetting
from kafka_hindsight.judgements.brokers.settings_at import settings_of
from tests.support.findings import raised
from tests.support.rows import AT, row
from tests.support.settings import line_of_broker, line_of_topic

SAFE = {"acks": "all", "is_idempotent": True, "retries": 2**31 - 1, "max_in_flight": 5, "topics": ["orders"]}


def producer(client: str = "shop", **changed: Any) -> ProducerSetting:
    return row(PRODUCER_SETTINGS, client_id=client, source=f"{client}.log", first_seen_at=AT, **{**SAFE, **changed})


def found(*producers: ProducerSetting, replicas: int = 3, topic: str = "", **broker: Any) -> list[Finding]:
    brokers = [
        line_of_broker(b, **{"min_insync_replicas": 2, "unclean_leader_election_enable": False, **broker})
        for b in (1, 2, 3)
    ]
    placed = list(range(1, replicas + 1))
    partition = row(PARTITION_SNAPSHOTS, topic="orders", partition=0, leader=1, replicas=placed, isr=placed)
    settings = settings_of([*brokers, line_of_topic("orders", topic)])
    findings = raised(producer_settings=list(producers), partitions=[partition], settings=settings)
    return [f for f in findings if f.rule_id in ("weakest_link", "producer_weak")]


def test_a_chain_without_a_weak_link_is_no_finding() -> None:
    assert found(producer()) == []


@pytest.mark.parametrize(
    ("changed", "cluster", "link"),
    [
        ({"acks": "0", "is_idempotent": False}, {}, "acks=0 of shop"),
        ({"acks": "1", "is_idempotent": False}, {}, "acks=1 of shop"),
        ({"acks": "1", "is_idempotent": False}, {"replicas": 1}, "acks=1 of shop"),
        ({}, {"replicas": 1}, "a single replica"),
        ({}, {"topic": "unclean.leader.election.enable=true"}, "unclean.leader.election.enable=true"),
        ({}, {"min_insync_replicas": 1}, "min.insync.replicas=1"),
        ({}, {"topic": "min.insync.replicas=1"}, "min.insync.replicas=1"),
        ({"retries": 0, "is_idempotent": False}, {}, "retries=0 of shop"),
        ({"is_idempotent": False}, {}, "enable.idempotence=false of shop"),
    ],
)
def test_each_weak_link_is_named(changed: dict[str, Any], cluster: dict[str, Any], link: str) -> None:
    (finding,) = found(producer("other"), producer(**changed), **cluster)
    assert finding.rule_id == "weakest_link"
    assert finding.message.startswith(f"Topic 'orders' keeps records no better than its weakest link, {link}")
    assert "other has acks=all" in finding.message and finding.evidence


@pytest.mark.parametrize(
    "changed",
    [
        {"acks": None},
        {"is_idempotent": None},
        {"retries": None},
        {"is_idempotent": False, "max_in_flight": 1},  # Kafka Connect sets its own producers so.
        {"is_idempotent": False, "max_in_flight": None},
    ],
)
def test_what_is_not_known_is_not_weak(changed: dict[str, Any]) -> None:
    assert found(producer(**changed)) == []


def test_a_producer_whose_topics_are_not_known_is_judged_alone() -> None:
    (finding,) = found(producer("a", topics=None, acks="1", is_idempotent=False), producer("b", topics=None, acks="1"))
    assert finding.rule_id == "producer_weak"
    assert finding.subject == "a and 1 more"
    assert found(producer(topics=None), min_insync_replicas=1) == []
