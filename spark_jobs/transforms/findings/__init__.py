"""The rules applied: what a person should know, with the threshold's source."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spark_jobs.knowledge.rules import STANDING_RULES
from spark_jobs.transforms.findings import brokers, data_coverage, durability, groups, replicas
from spark_jobs.transforms.findings.facts import Facts as Facts


def judge_findings(facts: Facts) -> list[dict[str, Any]]:
    """Every finding of the window, worst first.

    Order: severity; what happened before what is set up so; then start, rule and subject.
    """
    return _worst_first([*(f for rule in _RULES for f in rule(facts)), *groups.folded_faults(facts)])


def judge_each(facts: Facts) -> list[dict[str, Any]]:
    """The findings with each group told by itself: what a back-test counts."""
    return _worst_first(
        [
            *(f for rule in _RULES for f in rule(facts)),
            *(groups.of_faults(facts, [fault]) for fault in groups.faults_of(facts)),
        ]
    )


def _worst_first(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    rank = {"critical": 0, "warning": 1, "info": 2}
    return sorted(
        found,
        key=lambda f: (
            rank[f["severity"]],
            f["rule_id"] in STANDING_RULES,
            f["first_at"],
            f["rule_id"],
            f["subject"],
        ),
    )


_RULES: tuple[Callable[[Facts], list[dict[str, Any]]], ...] = (
    *groups.RULES,
    *brokers.RULES,
    *replicas.RULES,
    *durability.RULES,
    *data_coverage.RULES,
)
