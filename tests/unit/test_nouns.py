"""Codes with their words: each says what it means, and has a label that no other code of its vocabulary has."""

from __future__ import annotations

from dataclasses import fields

import pytest

from kafka_hindsight.catalog import codes
from kafka_hindsight.catalog.code import NounCode

VOCABULARIES = [v for v in vars(codes).values() if isinstance(v, type) and issubclass(v, NounCode)]


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda v: v.__name__)
def test_every_code_has_a_meaning_and_a_label_of_its_own(vocabulary):
    nouns = [code.noun for code in vocabulary]
    assert [vocabulary(noun.code) for noun in nouns] == list(vocabulary)
    assert all(noun.meaning.endswith(".") for noun in nouns)
    assert len({noun.label for noun in nouns}) == len(nouns)


@pytest.mark.parametrize("vocabulary", VOCABULARIES, ids=lambda v: v.__name__)
def test_labels_and_clauses_go_into_sentences(vocabulary):
    texts = {f.name for noun in (code.noun for code in vocabulary) for f in fields(noun)} & {"label", "verb", "clause"}
    for code in vocabulary:
        for text in (getattr(code.noun, name) for name in texts):
            assert text and text[0].islower() and not text.endswith("."), (code, text)
