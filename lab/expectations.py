"""Everything that an audit is held against, once: what was done, measured or labelled, and what its rows claim.

A scorer names the expectation and hands over the things: acts of a drill, absences of brokers, gaps of canaries, labels
of public logs, rows of gold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.answers import Answer, Expectation, unless
from lab.drill.absences import OF_ABSENCES
from lab.drill.act_expectations import OF_ACTS
from lab.drill.canary_expectations import OF_CANARIES
from lab.drill.rows import GoldTables
from lab.drill.wrong import wrong_or_false_alarm
from lab.drill.wrong_brokers import (
    wrong_controller,
    wrong_failover,
    wrong_outage,
    wrong_period,
    wrong_roll,
    wrong_truncation,
)
from lab.drill.wrong_offsets import wrong_jump, wrong_stall
from lab.truth.label_expectations import OF_LABELS

OF_ROWS: Mapping[str, Expectation] = {
    table: Expectation((table,), unless(contradiction))
    for table, contradiction in {
        "rebalances": wrong_or_false_alarm,
        "broker_outages": wrong_outage,
        "failovers": wrong_failover,
        "controller_changes": wrong_controller,
        "out_of_sync_periods": wrong_period,
        "rolling_restarts": wrong_roll,
        "truncations": wrong_truncation,
        "offset_jumps": wrong_jump,
        "partition_stalls": wrong_stall,
    }.items()
}
"""What a row of a table claims is right, by the name of the table."""

EXPECTATIONS: Mapping[str, Expectation] = {**OF_ACTS, **OF_ROWS, **OF_ABSENCES, **OF_CANARIES, **OF_LABELS}


def answer_to(name: str, thing: Any, truth: Any, tables: GoldTables) -> Answer:
    """The answer of an audit's rows to one expectation about a thing. `truth`: all things of its kind."""
    return EXPECTATIONS[name].matcher(thing, truth, tables)
