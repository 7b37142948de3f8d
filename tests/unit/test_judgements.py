"""The rebuild follows from declarations, and a declaration that cannot work is refused before a job starts."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pytest

from kafka_hindsight.catalog.rows import BrokerOutage, Event, Failover, Finding
from kafka_hindsight.engine.judgement_run import ALL_TABLES
from kafka_hindsight.judgements.rebuild.published import PUBLISHED
from kafka_hindsight.judgements.rebuild.sources import (
    Judgement,
    Source,
    check_published,
    each,
    in_order,
    inputs_of,
    narrowed,
    outputs_of,
    table,
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


def known_of(events: pa.Table, context: str) -> pa.Table:
    return events


def count(outages: list[BrokerOutage], events: pa.Table, context: str) -> int:
    return 0


EVENTS = table("silver.events")
OUTAGES = Judgement("outages", judge_outages, ("cluster",), {"events": EVENTS})
CONTEXT = Judgement("context", gather, (), {"outages": OUTAGES.output("outages")})
FINDINGS = Judgement("findings", judge_findings, ("cluster",), {"outages": OUTAGES.output("outages")}, (CONTEXT,))


def test_every_table_of_gold_is_published_by_one_judgement() -> None:
    names = [j.name for j in check_published(PUBLISHED, ALL_TABLES)]
    assert len(set(names)) == len(names)
    assert names.index("brokers") < names.index("facts") < names.index("partitions") < names.index("cluster")
    assert set(PUBLISHED) == set(ALL_TABLES)


def test_a_signature_says_what_is_read_and_what_is_given() -> None:
    assert inputs_of(judge_findings) == {"outages": BrokerOutage}
    assert inputs_of(count) == {"outages": BrokerOutage, "events": None}, "a table comes as it is"
    assert values_of(count) == values_of(judge_findings) == ("context",)
    assert outputs_of(judge_outages) == {"outages": BrokerOutage}


def test_a_judgement_comes_after_what_it_reads_and_what_it_needs() -> None:
    assert in_order([FINDINGS.output("findings")]) == [OUTAGES, CONTEXT, FINDINGS]
    made = each(known_of, EVENTS, needs=(CONTEXT,))
    assert in_order([made]) == [OUTAGES, CONTEXT], "a function of what is published takes a value too"


def test_a_source_is_made_of_tables_and_outputs_each_with_its_functions_in_order() -> None:
    source = narrowed(known_of, union(EVENTS, each(same, OUTAGES.output("outages"))))
    assert [(leaf.table, leaf.output, functions) for leaf, functions in source.leaves()] == [
        ("silver.events", "", (known_of,)),
        ("", "outages", (same, known_of)),
    ]
    assert source.again is known_of and narrowed(same, EVENTS, again=known_of).again is known_of
    assert union(EVENTS).row_class is Event and source.row_class is None


@pytest.mark.parametrize(
    ("judgement", "problem"),
    [
        (Judgement("j", judge_outages, ("cluster",), {}), "events has no source"),
        (Judgement("j", judge_outages, ("cluster",), {"events": EVENTS, "more": EVENTS}), "more has a source and no"),
        (
            Judgement("j", judge_outages, ("cluster",), {"events": table("gold.failovers")}),
            "takes Event and is given Failover",
        ),
        (Judgement("j", judge_outages, ("cluster",), {"events": table("silver.evnets")}), "silver.evnets is read"),
        (Judgement("j", judge_findings, ("cluster",), FINDINGS.reads), "takes context, which it does not need"),
        (
            Judgement("j", judge_outages, ("cluster",), {"events": each(known_of, EVENTS, EVENTS)}),
            "known_of takes context, which it does not need",
        ),
        (
            Judgement("j", judge_outages, ("cluster",), {"events": narrowed(same, EVENTS, again=known_of)}),
            "known_of takes context, which it does not need",
        ),
        (
            Judgement("j", judge_outages, ("cluster",), {"events": each(same, narrowed(same, EVENTS))}),
            "a narrowing of parts is read by another function",
        ),
    ],
)
def test_a_declaration_that_cannot_work_is_refused(judgement: Judgement, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        in_order([judgement.output("outages")])


def test_a_judgement_that_rests_on_itself_is_refused() -> None:
    reads: dict[str, Source] = {}
    judgement = Judgement("round", judge_findings, ("cluster",), reads, (CONTEXT,))
    reads["outages"] = judgement.output("findings")
    with pytest.raises(ValueError, match="round reads a judgement that depends on it"):
        in_order([judgement.output("findings")])


def test_a_table_takes_its_own_rows() -> None:
    with pytest.raises(ValueError, match=f"gold.failovers takes {Failover.__name__} and is given BrokerOutage"):
        check_published({"gold.failovers": OUTAGES.output("outages")}, ["gold.failovers"])
    with pytest.raises(ValueError, match=r"gold\.findings is not published"):
        check_published({}, ["gold.findings"])
