"""The durability audit: each rule where it is broken and just where it is not, each fault one finding."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.gold import FINDINGS
from kafka_hindsight.catalog.rows import BrokerSnapshot, Finding, PartitionSnapshot
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings, settings_of
from kafka_hindsight.knowledge.rules import durability_rules as rules
from kafka_hindsight.settings.home import HOME
from tests.support.findings import raised
from tests.support.rows import AT, row
from tests.support.settings import line_of_broker, line_of_topic

RULES = {rule.rule_id for rule in rules.RULES}
RACKS = {1: "a", 2: "b", 3: "c"}
HEALTHY = {
    "min_insync_replicas": 2,
    "default_replication_factor": 3,
    "transaction_state_log_replication_factor": 3,
    "transaction_state_log_min_isr": 2,
    "group_min_session_timeout_ms": 6_000,
    "group_max_session_timeout_ms": 1_800_000,
    "group_consumer_session_timeout_ms": 45_000,
    "group_consumer_heartbeat_interval_ms": 5_000,
    "auto_leader_rebalance_enable": True,
    "unclean_leader_election_enable": False,
}


def partition(topic: str, *replicas: int, number: int = 0) -> PartitionSnapshot:
    columns = {"topic": topic, "partition": number, "replicas": list(replicas), "isr": list(replicas)}
    return row(PARTITION_SNAPSHOTS, leader=replicas[0], is_internal=topic.startswith("__"), **columns)


def brokers(racks: dict[int, str | None] | dict[int, str]) -> list[BrokerSnapshot]:
    return [row(BROKER_SNAPSHOTS, broker=b, rack=r) for b, r in racks.items()]


def settings_with(own: dict[str, str] | None = None, **changed: object) -> BrokerSettings:
    lines = [line_of_broker(b, **{**HEALTHY, **changed}) for b in RACKS]
    topics = {"t": "", "__consumer_offsets": "", **(own or {})}
    return settings_of([*lines, *(line_of_topic(t, d) for t, d in topics.items())])


def findings_by_rule(
    partitions: list[PartitionSnapshot] | None = None,
    racks: dict[int, str | None] | dict[int, str] = RACKS,
    settings: BrokerSettings | None = None,
) -> dict[str, Finding]:
    some = partitions or [partition("t", 1, 2, 3), partition("__consumer_offsets", 1, 2, 3)]
    findings = raised(partitions=some, brokers=brokers(racks), settings=settings or settings_with())
    for finding in findings:
        assert set(finding.as_dict()) == set(FINDINGS.column_names)
        assert finding.evidence
        assert (finding.first_at, finding.last_at) == (AT, AT)
    return {f.rule_id: f for f in findings}


def test_well_configured_cluster_has_no_finding() -> None:
    assert findings_by_rule() == {}


@pytest.mark.parametrize(
    ("replicas", "broken"),
    [
        ((1,), {"replication_factor_one", "min_isr_above_replication"}),
        ((1, 2), {"replication_factor_low", "min_isr_equals_replication"}),
        ((1, 2, 3), set()),
    ],
)
def test_fewer_than_three_replicas_on_three_brokers_is_finding(replicas: tuple[int, ...], broken: set[str]) -> None:
    assert set(findings_by_rule([partition("t", *replicas)])) == broken


def test_two_replicas_on_two_brokers_are_no_finding() -> None:
    two = {1: "a", 2: "b"}
    assert "replication_factor_low" not in findings_by_rule([partition("t", 1, 2)], two)
    assert "replication_factor_one" in findings_by_rule([partition("t", 1)], two)
    assert "replication_factor_one" not in findings_by_rule([partition("t", 1)], {1: "a"})


@pytest.mark.parametrize(
    ("least", "broken"),
    [
        (1, {"min_isr_low"}), (2, set()), (3, {"min_isr_equals_replication"}), (4, {"min_isr_above_replication"}),
    ],
)  # fmt: skip
def test_min_insync_replicas_is_judged_against_replication_factor(least: int, broken: set[str]) -> None:
    assert (
        set(findings_by_rule([partition("t", 1, 2, 3)], settings=settings_with({"t": f"min.insync.replicas={least}"})))
        == broken
    )


def test_topics_with_same_fault_are_one_finding_apart_from_internal_topics() -> None:
    names = [f"t{n:03}" for n in range(1000)]
    some = [partition(name, 1, 2, 3) for name in (*names, "__consumer_offsets")]
    settings = settings_with(
        dict.fromkeys(names, "min.insync.replicas=1") | {"__consumer_offsets": "min.insync.replicas=1"}
    )
    findings = raised(partitions=some, brokers=brokers(RACKS), settings=settings)
    assert [(f.rule_id, f.subject) for f in findings] == [
        ("min_isr_low", "__consumer_offsets"),
        ("min_isr_low", "t000 and 999 more"),
    ]
    assert findings[1].message.endswith(
        ": t000 (1 of 3), t001 (1 of 3), t002 (1 of 3), t003 (1 of 3), t004 (1 of 3), ..."
    )
    assert "acks" in findings[1].advice and "weakest_link" in findings[1].advice


def test_unknown_settings_are_no_finding() -> None:
    silent = settings_of([])
    assert set(findings_by_rule([partition("t", 1, 2, 3)], settings=silent)) == set()


def test_unclean_election_setting_matters_only_with_several_replicas() -> None:
    settings = settings_with({"t": "unclean.leader.election.enable=true"})
    assert set(findings_by_rule([partition("t", 1, 2, 3)], settings=settings)) == {"unclean_election_enabled"}
    assert "unclean_election_enabled" not in findings_by_rule([partition("t", 1)], settings=settings)


def test_replicas_in_one_rack_are_finding_where_racks_are_known() -> None:
    racks = {1: "a", 2: "a", 3: "a", 4: "b"}
    some = [partition("t", 1, 2, 3), partition("t", 1, 2, 4, number=1)]
    findings = findings_by_rule(some, racks)
    assert set(findings) == {"replicas_in_one_rack"}
    assert "though there are 2: t (1 partitions)" in findings["replicas_in_one_rack"].message
    assert "replicas_in_one_rack" not in findings_by_rule(some, {1: "a", 2: "a", 3: "a", 4: "a"})
    assert "replicas_in_one_rack" not in findings_by_rule(some, {1: "a", 2: None, 3: "a", 4: "b"})


@pytest.mark.parametrize(
    ("racks", "broken"),
    [
        ({1: "a", 2: None, 3: "b"}, {"racks_missing"}),
        ({1: None, 2: None, 3: None}, {"racks_unknown"}),
        ({1: "a", 2: "a", 3: "a"}, {"racks_unknown"}),
        ({1: None}, set()),
    ],
)
def test_missing_or_equal_racks_are_finding(racks: dict[int, str | None], broken: set[str]) -> None:
    assert {r for r in findings_by_rule(racks=racks) if r.startswith("racks")} == broken


def test_weak_offsets_or_transaction_topic_is_finding() -> None:
    def own(topic: str, *replicas: int) -> dict[str, Finding]:
        return findings_by_rule([partition(topic, *replicas)])

    assert set(own("__consumer_offsets", 1, 2)) == {"offsets_topic_weak", "min_isr_equals_replication"}
    assert set(own("__transaction_state", 1, 2, 3)) == set()
    assert "transaction_topic_weak" in own("__transaction_state", 1, 2)
    made_weak = settings_with(transaction_state_log_replication_factor=1, transaction_state_log_min_isr=1)
    finding = findings_by_rule(settings=made_weak)["transaction_topic_weak"]
    assert finding.message.endswith(
        "it does not exist yet, and transaction.state.log.replication.factor is 1 and transaction.state.log.min.isr is"
        " 1"
    )
    assert "transaction_topic_weak" not in findings_by_rule(
        [partition("__transaction_state", 1, 2, 3)], settings=made_weak
    )


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        ({"default_replication_factor": 2}, {"default_replication_low"}),
        ({"auto_leader_rebalance_enable": False}, {"auto_rebalance_off"}),
        ({"group_min_session_timeout_ms": 45_001}, {"session_bounds"}),
        ({"group_min_session_timeout_ms": 45_000}, set()),
        ({"group_max_session_timeout_ms": 44_999}, {"session_bounds"}),
        ({"group_consumer_session_timeout_ms": 29_999}, {"consumer_sessions_short"}),
        ({"group_consumer_heartbeat_interval_ms": 15_001}, {"consumer_sessions_short"}),
        ({"group_consumer_heartbeat_interval_ms": 15_000}, set()),
    ],
)
def test_broker_defaults_are_judged_at_threshold(changed: dict[str, Any], broken: set[str]) -> None:
    assert set(findings_by_rule(settings=settings_with(**changed))) == broken


def test_differing_broker_settings_are_finding_with_values() -> None:
    lines = [line_of_broker(1, **HEALTHY), line_of_broker(2, **{**HEALTHY, "min_insync_replicas": 1})]
    findings = findings_by_rule(settings=settings_of([*lines, line_of_topic("t", "")]))
    assert set(findings) == {"settings_differ"}
    assert "min.insync.replicas is 1 or 2" in findings["settings_differ"].message


def test_durability_query_names_every_rule() -> None:
    assert set(re.findall(r"'(\w+_\w+)'", (HOME / "queries" / "durability.sql").read_text())) == RULES


def test_every_durability_rule_is_standing_with_source_and_advice() -> None:
    assert all(rule.is_standing and rule.source and rule.advice for rule in rules.RULES)
    assert len(RULES) == len(rules.RULES)
