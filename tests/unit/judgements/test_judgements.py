"""The rebuild follows from declarations."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from graphlib import CycleError

import pyarrow as pa
import pytest
from pyspark import cloudpickle

from kafka_hindsight.catalog.rows import ROW_CLASS, BrokerOutage, Event, Finding
from kafka_hindsight.engine.judgement_run import ALL_TABLES
from kafka_hindsight.judgements.reasoning.scope import SCOPE
from kafka_hindsight.judgements.rebuild.published import PUBLISHED
from kafka_hindsight.judgements.rebuild.sources import (
    Judgement,
    RowSource,
    each,
    inputs_of,
    judgements_in_order,
    lake_table,
    narrowed,
    outputs_of,
    union,
    values_of,
)


@dataclass(frozen=True)
class Outages:
    outages: list[BrokerOutage]
    note: str = ""


@dataclass(frozen=True)
class Findings:
    findings: list[Finding]


def judge_outages(events: list[Event], scope: str) -> Outages:
    return Outages([])


def judge_findings(outages: list[BrokerOutage], context: str) -> Findings:
    return Findings([])


def gather(outages: list[BrokerOutage]) -> str:
    return ""


def same(events: pa.Table) -> pa.Table:
    return events


def of_context(events: pa.Table, context: str) -> pa.Table:
    return events


def count(outages: list[BrokerOutage], events: pa.Table, context: str) -> int:
    return 0


EVENTS = lake_table("silver.events")
OUTAGES = Judgement("outages", (judge_outages,), ("cluster",), {"events": EVENTS})
CONTEXT = Judgement("context", (gather,), (), {"outages": OUTAGES.output("outages")})
FINDINGS = Judgement("findings", (judge_findings,), ("cluster",), {"outages": OUTAGES.output("outages")}, (CONTEXT,))


def test_every_table_of_gold_is_published_by_one_judgement() -> None:
    names = [j.name for j in judgements_in_order(PUBLISHED.values())]
    assert len(set(names)) == len(names)
    assert names.index("brokers") < names.index("facts") < names.index("partitions") < names.index("aftermath")
    assert names.index("aftermath") < names.index("incidents") < names.index("findings")
    assert set(PUBLISHED) == set(ALL_TABLES)


def test_each_declaration_names_what_its_functions_take() -> None:
    for judgement in judgements_in_order(PUBLISHED.values()):
        inputs = judgement.inputs
        assert inputs.keys() == judgement.reads.keys(), judgement.name
        parts = [part for source in judgement.reads.values() for part in source.upstream()]
        functions = [*judgement.functions, *(f for part in parts for f in (part.function, part.again) if f)]
        values = {SCOPE, *judgement.key, *(need.name for part in parts for need in part.needs)}
        values |= {need.name for need in judgement.needs}
        assert {name for function in functions for name in values_of(function)} <= values, judgement.name
        assert {part.table for part in parts} - {""} <= ROW_CLASS.keys(), judgement.name
        for name, source in judgement.reads.items():
            assert source.row_class in (None, inputs[name]) or inputs[name] is None, (judgement.name, name)


def test_functions_name_their_values_where_a_worker_unpacks_them() -> None:
    parts = [p for j in judgements_in_order(PUBLISHED.values()) for s in j.reads.values() for p in s.upstream()]
    functions = [function for part in parts for function in (part.function, part.again) if function]
    assert {name for function in functions for name in values_of(function)} > {SCOPE, "facts"}
    for function in functions:
        assert values_of(pickle.loads(cloudpickle.dumps(function))) == values_of(function)


def test_signature_declares_inputs_values_and_outputs_of_judgement() -> None:
    assert inputs_of(judge_findings) == {"outages": BrokerOutage}
    assert inputs_of(count) == {"outages": BrokerOutage, "events": None}, "a table comes as it is"
    assert values_of(count) == values_of(judge_findings) == ("context",)
    assert outputs_of(judge_outages) == {"outages": BrokerOutage}


def test_judgement_runs_after_its_inputs_and_needs() -> None:
    assert judgements_in_order([FINDINGS.output("findings")]) == [OUTAGES, CONTEXT, FINDINGS]
    made = each(of_context, EVENTS, needs=(CONTEXT,))
    assert judgements_in_order([made]) == [OUTAGES, CONTEXT], "a function of what is published takes a value too"


def test_source_lists_tables_and_outputs_with_their_functions_in_order() -> None:
    source = narrowed(of_context, union(EVENTS, each(same, OUTAGES.output("outages"))))
    assert [(leaf.table, leaf.output, functions) for leaf, functions in source.leaves()] == [
        ("silver.events", "", (of_context,)),
        ("", "outages", (same, of_context)),
    ]
    assert source.again is of_context and narrowed(same, EVENTS, again=of_context).again is of_context
    assert union(EVENTS).row_class is Event and source.row_class is None


def test_circular_judgement_is_refused() -> None:
    reads: dict[str, RowSource] = {}
    judgement = Judgement("round", (judge_findings,), ("cluster",), reads, (CONTEXT,))
    reads["outages"] = judgement.output("findings")
    with pytest.raises(CycleError):
        judgements_in_order([judgement.output("findings")])
