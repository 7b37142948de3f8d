"""Which elections an operator requested, and what they end."""

from __future__ import annotations

import pytest

from kafka_hindsight.catalog.codes import FailoverKind, ImbalanceEnd
from kafka_hindsight.judgements.partitions.leaders.failover_rulings import FAILOVER_RULINGS
from kafka_hindsight.judgements.partitions.leaders.imbalance import ended_by
from tests.support.ruling_cases.leaders import LONG_DOWN, failover_in


@pytest.mark.parametrize(
    ("case", "requested"),
    [
        ("reassignment-4.3 crm-6-tracker-t-0 epoch 1", True),
        ("reordered-2.8 billing.46-t-0 epoch 2", True),
        ("cancelled-4.1 parcels.83-t-0 epoch 4", False),
        ("unclean-4.1 fraud-risky-19-0 epoch 1", False),
        ("unclean-2.8 ads-risky-18-0 epoch 3", False),
        (f"made: {LONG_DOWN}", False),
        ("night-4.1 shop-events-1 epoch 2", True),
        ("metadata-4.3 orders-0 epoch 3", None),
    ],
)
def test_election_is_requested_where_lines_name_no_task_of_kafka(case: str, requested: bool | None) -> None:
    assert failover_in(case).requested_by_operator is requested


@pytest.mark.parametrize(
    ("case", "end"),
    [
        ("crash-2.8 shop-events-2 epoch 1", ImbalanceEnd.FAILOVER),
        ("reordered-2.8 billing.46-t-0 epoch 2", ImbalanceEnd.REQUESTED_ELECTION),
        ("cancelled-4.1 parcels.83-t-0 epoch 4", ImbalanceEnd.AUTOMATIC_ELECTION),
        ("metadata-4.3 orders-0 epoch 3", ImbalanceEnd.PREFERRED_ELECTION),
    ],
)
def test_imbalance_ends_by_change_of_leader_and_who_requested_it(case: str, end: ImbalanceEnd) -> None:
    assert ended_by(failover_in(case)) is end


def test_failover_rulings_follow_the_order_of_failover_kinds() -> None:
    kinds = [FailoverKind(r.code) for r in FAILOVER_RULINGS if r.code != FailoverKind.UNKNOWN]
    assert kinds == sorted(kinds, key=list(FailoverKind).index)
