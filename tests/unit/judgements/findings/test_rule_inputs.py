"""A rule names rows by its parameters, and the engine hands them over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from kafka_hindsight.catalog.rows import BrokerOutage, Coverage, Finding, PartitionSnapshot
from kafka_hindsight.engine.reduce import judged_tables, narrow
from kafka_hindsight.judgements.brokers.settings_at import SettingsInForce
from kafka_hindsight.judgements.findings.finding_rows import finding_of
from kafka_hindsight.judgements.findings.rule_inputs import Around, LastReading, Unquoted
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.published import judged
from kafka_hindsight.judgements.rebuild.rules import judgement_of
from kafka_hindsight.judgements.rebuild.sources import Judgement
from kafka_hindsight.knowledge.rules.broker_rules import BROKER_GONE, BROKER_SLOW
from kafka_hindsight.shared.windows import Window
from tests.support.rows import AT, as_table, row

HOUR = timedelta(hours=1)
WINDOW = Window(AT, AT + HOUR)
SCOPE = Scope("c", WINDOW, Window(AT - HOUR, AT + HOUR))
VALUES = {"scope": SCOPE, "settings_in_force": SettingsInForce(AT)}
OUTAGES = [row(BrokerOutage.TABLE, broker=n, down_at=AT + (n - 1) * HOUR / 2) for n in range(3)]


def begun(cluster: str, outages: Sequence[BrokerOutage]) -> Iterator[Finding]:
    for outage in outages:
        yield finding_of(cluster, BROKER_GONE, str(outage.broker), [outage.down_at], outage.evidence, fate="left")


def around(scope: Scope, outages_around: Around[BrokerOutage]) -> Iterator[Finding]:
    for outage in outages_around:
        yield finding_of(scope.cluster, BROKER_SLOW, str(outage.broker), [AT], outage.evidence, details="slow")


def is_second(outages: pa.Table) -> pa.Table:
    return outages.filter(pc.equal(outages["broker"], 2))


def second(outages: Annotated[Sequence[BrokerOutage], is_second]) -> Iterator[Finding]:
    yield from ()


def handed_over(judgement: Judgement, name: str, rows: Sequence[Any]) -> pa.Table:
    (_, functions), *_ = judgement.reads[name].leaves()
    return narrow(functions, as_table(rows, rows[0].TABLE), VALUES)


def test_rules_get_the_rows_that_their_parameters_name() -> None:
    findings = judgement_of((begun, around), judged())
    parts = {name: [handed_over(findings, name, OUTAGES)] for name in ("outages", "outages_around")}
    rows = judged_tables(findings, parts, VALUES)["findings"].to_pylist()
    assert [(r["rule_id"], r["subject"], r["cluster"]) for r in rows] == [
        *((BROKER_GONE.rule_id, n, "c") for n in "12"),
        *((BROKER_SLOW.rule_id, n, "c") for n in "012"),
    ]


def test_a_function_of_a_parameter_narrows_its_table() -> None:
    assert handed_over(judgement_of((second,), judged()), "outages", OUTAGES)["broker"].to_pylist() == [2]

    def few(outages: Unquoted[BrokerOutage]) -> Iterator[Finding]:
        yield from ()

    table = handed_over(judgement_of((few,), judged()), "outages", OUTAGES)
    assert table["broker"].to_pylist() == [1, 2] and table["evidence"].to_pylist() == [[], []]


def test_parameters_read_what_judgements_give_else_tables_of_the_lake() -> None:
    def three(
        outages: Sequence[BrokerOutage], logs: Sequence[Coverage], partitions: LastReading[PartitionSnapshot]
    ) -> Iterator[Finding]:
        yield from ()

    reads = judgement_of((three,), judged()).reads
    (outages, _), (logs, _), (partitions, functions) = (next(reads[n].leaves()) for n in reads)
    assert outages.judgement is not None and (outages.judgement.name, outages.output) == ("incidents", "outages")
    assert (logs.table, logs.span) == ("quality.coverage", "window")
    assert partitions.table == "bronze.partition_snapshots" and len(functions) == 1


def test_rules_with_other_rows_under_one_name_are_refused() -> None:
    with pytest.raises(TypeError, match="as 'outages': give one another name"):
        judgement_of((begun, second), judged())
