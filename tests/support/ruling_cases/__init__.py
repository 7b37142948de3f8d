"""Every case that tests have for rulings, by room: captured cases that rulings name, their look-alikes, made ones."""

from __future__ import annotations

from tests.support.ruling_cases import brokers, groups, leaders, offsets, rebalances, replicas, silences

ALL_CASES = tuple(
    cases for room in (brokers, groups, leaders, offsets, rebalances, replicas, silences) for cases in room.CASES
)
