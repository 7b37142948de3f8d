"""Every case that tests have for rulings, by room: captured cases that rulings name, their look-alikes, made ones."""

from __future__ import annotations

from tests.support.ruling_cases import brokers, groups, leaders, rebalances, replicas, silences

ALL_CASES = (*brokers.CASES, *groups.CASES, *leaders.CASES, *rebalances.CASES, *replicas.CASES, *silences.CASES)
