"""How every verdict is reached: a ruling names its code, its sentence and its proof; the first that holds decides.

A ruling is data, and it is what executes: docs/causes.md and the runbook are made from it, and the sentence that a
reader finds in the report stands in it word for word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

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


@dataclass(frozen=True)
class Verdict:
    """What was decided: the code, how sure it is, one sentence, the evidence, and what the row takes from the proof."""

    code: Code
    confidence: Confidence
    sentence: str
    evidence: tuple[Quote, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ruling(Generic[Case]):
    """When a code is the verdict.

    `sentence` names in braces words of the proof, or else attributes of the case. `proof` are predicates that must all
    hold, `unless` predicates of which none may. `confidence` is the most that the ruling allows: a proof may be less
    sure. `decides` names a captured case that this ruling decides, `looks_alike` one that looks like it and that
    another ruling decides; see tests/unit/test_*_rulings.py. `also`: the codes that the proof may show in place of
    `code`.
    """

    code: Code
    confidence: Confidence
    sentence: str
    proof: Sequence[Predicate[Case]]
    source: str
    decides: str
    looks_alike: str
    unless: Sequence[Predicate[Case]] = ()
    also: Sequence[Code] = ()

    @property
    def codes(self) -> tuple[Code, ...]:
        """Every code that can be its verdict."""
        return (self.code, *self.also)

    def decide(self, case: Case) -> Verdict | None:
        """The verdict where the ruling holds, else None."""
        proof = all_of(*self.proof)(case)
        if proof is None or any(p(case) is not None for p in self.unless):
            return None
        confidence = self.confidence if proof.confidence is None else self.confidence.at_most(proof.confidence)
        sentence = self.sentence.format_map(_Words(case, proof))
        return Verdict(proof.code or self.code, confidence, sentence, proof.evidence, proof.facts)


class _Words(dict[str, object]):
    """The words of a proof, and for any other name the attribute of the case."""

    def __init__(self, case: object, proof: Proof) -> None:
        super().__init__(proof.words)
        self._case = case

    def __missing__(self, name: str) -> object:
        return getattr(self._case, name)


def decide(rulings: Iterable[Ruling[Case]], case: Case) -> Verdict | None:
    """The verdict of the first ruling that holds; None where none does."""
    return next((verdict for ruling in rulings if (verdict := ruling.decide(case)) is not None), None)


def judge(rulings: Iterable[Ruling[Case]], case: Case) -> Verdict:
    """The verdict of the first ruling that holds.

    Raises: LookupError where none holds: the last ruling of a table has to hold always.
    """
    verdict = decide(rulings, case)
    if verdict is None:
        raise LookupError(f"No ruling holds for {case!r}. Needed: a last one that always does.")
    return verdict


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
