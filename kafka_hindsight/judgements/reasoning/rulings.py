"""How every verdict is reached: a ruling names its code, its sentence and its proof; the first that holds decides.

A ruling is data, and it is what executes: docs/causes.md and the runbook are made from it, and the sentence that a
reader finds in the report stands in it word for word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic

from kafka_hindsight.catalog.codes import Code, Confidence
from kafka_hindsight.catalog.rows import Quote
from kafka_hindsight.judgements.reasoning.proofs import CaseT, Predicate, Proof, all_of


@dataclass(frozen=True)
class Verdict:
    """The decision of a ruling: code, confidence, one sentence, evidence, and further columns of the row."""

    code: Code
    confidence: Confidence
    sentence: str
    evidence: tuple[Quote, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ruling(Generic[CaseT]):
    """The conditions under which a code is the verdict.

    `sentence` has in braces words of the proof, or else attributes of the case. `proof` are predicates that must all
    hold, `unless` predicates of which none may. Its class is the most confidence that it allows: a proof may have less.
    `cases` names a captured case that this ruling decides, and one that looks like it and that another ruling decides;
    see tests/unit/judgements/test_rulings.py. `also`: the codes that the proof may show in place of `code`.
    """

    confidence: ClassVar[Confidence]
    code: Code
    sentence: str
    proof: Sequence[Predicate[CaseT]]
    source: str
    cases: tuple[str, str]
    unless: Sequence[Predicate[CaseT]] = ()
    also: Sequence[Code] = ()

    @property
    def codes(self) -> tuple[Code, ...]:
        """Every code that can be its verdict."""
        return (self.code, *self.also)

    def decide(self, case: CaseT) -> Verdict | None:
        """The verdict where the ruling holds, else None."""
        proof = all_of(*self.proof)(case)
        if proof is None or any(p(case) is not None for p in self.unless):
            return None
        confidence = self.confidence if proof.confidence is None else self.confidence.at_most(proof.confidence)
        sentence = self.sentence.format_map(_Words(case, proof))
        return Verdict(proof.code or self.code, confidence, sentence, proof.evidence, proof.facts)


class Certain(Ruling[CaseT]):
    """The evidence admits no other explanation."""

    confidence = Confidence.CERTAIN


class Likely(Ruling[CaseT]):
    """Other explanations are rarer."""

    confidence = Confidence.LIKELY


class Possible(Ruling[CaseT]):
    """Several explanations fit, and the sentence names them."""

    confidence = Confidence.POSSIBLE


class Unknown(Ruling[CaseT]):
    """The evidence is not enough."""

    confidence = Confidence.UNKNOWN


class _Words(dict[str, object]):
    """The words of a proof, and for any other name the attribute of the case."""

    def __init__(self, case: object, proof: Proof) -> None:
        super().__init__(proof.words)
        self._case = case

    def __missing__(self, name: str) -> object:
        return getattr(self._case, name)


def decide(rulings: Iterable[Ruling[CaseT]], case: CaseT) -> Verdict | None:
    """The verdict of the first ruling that holds; None where none does."""
    return next((verdict for ruling in rulings if (verdict := ruling.decide(case)) is not None), None)


def verdict_of(rulings: Iterable[Ruling[CaseT]], case: CaseT) -> Verdict:
    """The verdict of the first ruling that holds.

    Raises:
        LookupError: None holds. The last ruling of a table has to hold always.
    """
    verdict = decide(rulings, case)
    if verdict is None:
        raise LookupError(f"No ruling holds for {case!r}. Needed: a last one that always does.")
    return verdict
