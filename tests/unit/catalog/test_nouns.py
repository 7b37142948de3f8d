"""Codes with their words: each says what it means, and its label is that of no other code of its vocabulary."""

from __future__ import annotations

import ast
from dataclasses import fields

import pytest

from kafka_hindsight.catalog import codes
from kafka_hindsight.catalog.code import NounCode
from kafka_hindsight.catalog.codes import StallKind, TruncationVerdict
from kafka_hindsight.catalog.nouns.tones import Grade, GradedCode
from kafka_hindsight.settings.home import HOME

VOCABULARIES = [v for v in vars(codes).values() if isinstance(v, type) and issubclass(v, NounCode)]


def texts_of(vocabulary: type[NounCode], *names: str) -> list[str]:
    nouns = [code.noun for code in vocabulary]
    return [getattr(noun, name) for noun in nouns for name in names if name in {f.name for f in fields(noun)}]


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda v: v.__name__)
def test_every_code_has_a_meaning_and_a_label_of_its_own(vocabulary: type[NounCode]) -> None:
    assert [vocabulary(code.noun.code) for code in vocabulary] == list(vocabulary)
    assert all(meaning.endswith(".") for meaning in texts_of(vocabulary, "meaning"))
    labels = texts_of(vocabulary, "label")
    assert len(set(labels)) == len(labels)


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda v: v.__name__)
def test_labels_and_clauses_go_into_sentences(vocabulary: type[NounCode]) -> None:
    for text in texts_of(vocabulary, "label", "verb", "clause", "predicate", "avoids", "costs"):
        assert not text.endswith("."), text


@pytest.mark.parametrize("vocabulary", [StallKind, TruncationVerdict])
def test_the_worst_state_comes_first(vocabulary: type[GradedCode]) -> None:
    grades = [[*Grade].index(code.noun.grade) for code in vocabulary.worst_first()]
    assert grades == sorted(grades, reverse=True) and len(grades) == len(vocabulary)


def tables_of_words(source: str) -> list[int]:
    """The lines of dictionaries that give codes with nouns a text, in a module's source."""
    names = {v.__name__ for v in VOCABULARIES}
    return [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Dict)
        for key, value in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Attribute) and isinstance(key.value, ast.Name) and key.value.id in names
        if isinstance(value, ast.JoinedStr) or (isinstance(value, ast.Constant) and isinstance(value.value, str))
    ]


def test_no_module_but_rulings_keeps_words_of_codes_in_a_table_of_its_own() -> None:
    assert tables_of_words("WHY = {StallKind.FALLS_BEHIND: 'it is slow'}") == [1]
    modules = (HOME / "kafka_hindsight").rglob("*.py")
    tables = {path.name: tables_of_words(path.read_text()) for path in modules if "_rulings" not in path.name}
    assert {name: lines for name, lines in tables.items() if lines} == {}
