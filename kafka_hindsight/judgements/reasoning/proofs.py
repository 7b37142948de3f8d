"""Predicates over a case, and the proofs that they return where they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeVar

from kafka_hindsight.catalog.codes import Code, Confidence
from kafka_hindsight.catalog.rows import Quote
from kafka_hindsight.catalog.value_class import value_class

CaseT = TypeVar("CaseT")

CERTAIN, LIKELY, POSSIBLE, UNKNOWN = Confidence
"""How sure a ruling can be, for tables that read as tables."""


@value_class()
class Proof:
    """The proof that a predicate holds: the evidence, and the words that fill the braces of a sentence.

    `facts` are further columns of the row, such as the outage behind it. `code`: the one of several codes that it
    shows.
    """

    evidence: tuple[Quote, ...] = ()
    words: Mapping[str, object] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    confidence: Confidence | None = None
    code: Code | None = None

    def __add__(self, other: Proof) -> Proof:
        """Both proofs as one, with the lower confidence of the two."""
        confidences = [c for c in (self.confidence, other.confidence) if c is not None]
        return Proof(
            (*self.evidence, *other.evidence),
            {**self.words, **other.words},
            {**self.facts, **other.facts},
            Confidence.least(confidences) if confidences else None,
            other.code or self.code,
        )


Predicate = Callable[[CaseT], Proof | None]
"""Whether something holds in a case: its proof, or None. The first line of its docstring says what holds."""


def proof_if(holds: object, *evidence: Quote, confidence: Confidence | None = None, **words: object) -> Proof | None:
    """The proof with this evidence and these words where something holds, else None."""
    return Proof(evidence, words, confidence=confidence) if holds else None


def always(case: object) -> Proof | None:
    """In every other case."""
    return Proof()


def with_sentence(sentence: str, predicate: Predicate[CaseT]) -> Predicate[CaseT]:
    """Give a predicate that a function made the sentence that docs/causes.md prints for it."""
    predicate.__doc__ = sentence
    return predicate


def all_of(*predicates: Predicate[CaseT]) -> Predicate[CaseT]:
    """A predicate that holds where all do; its proof is the sum of theirs."""

    def holds(case: CaseT) -> Proof | None:
        proof = Proof()
        for predicate in predicates:
            part = predicate(case)
            if part is None:
                return None
            proof += part
        return proof

    return holds
