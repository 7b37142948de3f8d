"""Laws of all rulings together: each has its cases, its sentence and its source, and none shadows another."""

from __future__ import annotations

import re

from kafka_hindsight.judgements.reasoning.proofs import CERTAIN
from tools.pages.ruling_pages import sentence_of
from tools.pages.ruling_tables import RULING_TABLES

RULINGS = [
    (f"{column} {when} {place}", ruling)
    for column, tables in RULING_TABLES.items()
    for when, table in tables.items()
    for place, ruling in enumerate(table, 1)
]


def test_ruling_has_two_cases_a_sentence_and_a_source() -> None:
    for name, ruling in RULINGS:
        assert ruling.cases[0] and ruling.cases[1] and ruling.cases[0] != ruling.cases[1], name
        assert ruling.source and ruling.sentence, name


def test_ruling_with_made_case_is_never_certain() -> None:
    made = [(name, ruling) for name, ruling in RULINGS if ruling.cases[0].startswith("made:")]
    assert made and [name for name, ruling in made if ruling.confidence is CERTAIN] == []


def test_every_predicate_of_a_ruling_is_worded() -> None:
    for name, ruling in RULINGS:
        for predicate in (*ruling.proof, *ruling.unless):
            assert re.fullmatch(r"[A-Z].*\.", sentence_of(predicate)), (name, predicate)


def test_rulings_of_a_table_differ() -> None:
    for tables in RULING_TABLES.values():
        for table in tables.values():
            assert len({(r.sentence, tuple(r.proof), tuple(r.unless)) for r in table}) == len(table)
