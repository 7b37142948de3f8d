"""What shows that something holds: predicates over a case, and the proofs that they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from kafka_hindsight.catalog.codes import Code, Confidence
from kafka_hindsight.catalog.rows import Quote

Case = TypeVar("Case")

CERTAIN, LIKELY, POSSIBLE, UNKNOWN = Confidence
"""How sure a ruling can be, for tables that read as tables."""


@dataclass(frozen=True)
class Proof:
    """What shows that a predicate holds: the evidence, and the words that a sentence names.

    `facts` are what else the row takes from the proof, such as the outage behind it. `code`: which one of several codes
    it shows.
    """

    evidence: tuple[Quote, ...] = ()
    words: Mapping[str, object] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    confidence: Confidence | None = None
    code: Code | None = None

    def __add__(self, other: Proof) -> Proof:
        """Both proofs as one; the less sure confidence of the two."""
        both = [c for c in (self.confidence, other.confidence) if c is not None]
        return Proof(
            (*self.evidence, *other.evidence),
            {**self.words, **other.words},
            {**self.facts, **other.facts},
            min(both, key=lambda c: -list(Confidence).index(c)) if both else None,
            other.code or self.code,
        )


Predicate = Callable[[Case], Proof | None]
"""Whether something holds in a case: its proof, or None. The first line of its docstring says what holds."""


def proof_if(holds: object, *evidence: Quote, confidence: Confidence | None = None, **words: object) -> Proof | None:
    """The proof with this evidence and these words where something holds, else None."""
    return Proof(evidence, words, confidence=confidence) if holds else None


def always(case: object) -> Proof | None:
    """In every other case."""
    return Proof()


def named(sentence: str, predicate: Predicate[Case]) -> Predicate[Case]:
    """A predicate made by a function, with the sentence that docs/causes.md prints for it."""
    predicate.__doc__ = sentence
    return predicate


def says(predicate: Predicate[Any]) -> str:
    """What holds where the predicate does: the first line of its docstring."""
    return (predicate.__doc__ or "").partition("\n")[0]


def all_of(*predicates: Predicate[Case]) -> Predicate[Case]:
    """A predicate that holds where all do; its proof is the sum of theirs."""

    def holds(case: Case) -> Proof | None:
        proof = Proof()
        for predicate in predicates:
            found = predicate(case)
            if found is None:
                return None
            proof += found
        return proof

    return holds
