"""Each ruling decides the case that it names, and not the one that looks like it."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_hindsight.catalog.codes import Cause, Confidence
from kafka_hindsight.judgements.reasoning.proofs import always
from kafka_hindsight.judgements.reasoning.rulings import Ruling
from tests.support.ruling_cases import ALL_CASES
from tests.support.ruling_cases.rebalances import ALL as REBALANCE_RULINGS
from tests.support.rulings import RulingCases, wording
from tools.pages.ruling_tables import RULING_TABLES

RULINGS = [(cases, ruling) for cases in ALL_CASES for ruling in cases.rulings]
NAMES = [f"{cases.room}: {ruling.code}-{ruling.cases[0]}" for cases, ruling in RULINGS]
VARIANTS = [(cases, *variant) for cases in ALL_CASES for variant in cases.variants]


@pytest.mark.parametrize(("cases", "ruling"), RULINGS, ids=NAMES)
def test_ruling_decides_its_case_and_not_the_lookalike(cases: RulingCases, ruling: Ruling[Any]) -> None:
    (own,) = {d.sentence: d for d in cases.decided(ruling.cases[0]) if d.ruling is ruling}.values()
    assert own.code in ruling.codes
    assert own.confidence == own.confidence.at_most(ruling.confidence)
    assert wording(ruling).fullmatch(own.sentence)
    others = cases.decided(ruling.cases[1])
    assert others
    assert all(d.ruling is not ruling for d in others)


@pytest.mark.parametrize("cases", ALL_CASES[:2], ids=lambda cases: cases.room)
def test_one_ruling_can_have_written_a_row_on_brokers(cases: RulingCases) -> None:
    assert [r.cases[0] for r in cases.rulings if len(cases.decided(r.cases[0])) != 1] == []


@pytest.mark.parametrize("ruling", REBALANCE_RULINGS, ids=lambda r: f"{r.code}-{r.cases[0]}")
def test_rebalance_has_the_confidence_of_its_ruling(ruling: Ruling[Any]) -> None:
    (cases,) = (c for c in ALL_CASES if c.room == "rebalances")
    assert ruling.confidence in {d.confidence for d in cases.decided(ruling.cases[0]) if d.ruling is ruling}


@pytest.mark.parametrize(("cases", "case", "code", "confidence"), VARIANTS)
def test_variant_has_its_code_and_confidence(cases: RulingCases, case: str, code: str, confidence: str) -> None:
    assert (code, confidence) in {(d.code, d.confidence) for d in cases.decided(case)}


@pytest.mark.parametrize("cases", ALL_CASES, ids=lambda cases: cases.room)
def test_every_made_case_is_used(cases: RulingCases) -> None:
    made = {case.removeprefix("made: ") for case in cases.named if case.startswith("made: ")}
    assert made | set(cases.elsewhere) == set(cases.made)


def test_registry_has_every_ruling_once_and_every_cause_has_one() -> None:
    ours = [id(ruling) for _, ruling in RULINGS]
    tables = [ruling for tables in RULING_TABLES.values() for table in tables.values() for ruling in table]
    assert sorted(ours) == sorted(map(id, tables))
    assert {code for r in REBALANCE_RULINGS for code in r.codes} == set(Cause)


def test_rulings_have_distinct_sentences_and_always_stands_last() -> None:
    assert len({r.sentence for r in REBALANCE_RULINGS}) == len(REBALANCE_RULINGS)
    assert all(always not in ruling.proof[:-1] for ruling in REBALANCE_RULINGS)


@pytest.mark.parametrize("ruling", [r for cases in ALL_CASES[:2] for r in cases.rulings], ids=lambda r: r.sentence)
def test_ruling_on_brokers_without_captured_case_is_not_certain(ruling: Ruling[Any]) -> None:
    assert ruling.source
    assert not ruling.cases[0].startswith("made: ") or ruling.confidence is not Confidence.CERTAIN
