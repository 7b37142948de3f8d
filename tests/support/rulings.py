"""Rulings with the cases that tests have for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.judgements.reasoning.rulings import Ruling


@dataclass(frozen=True)
class Decided:
    """A ruling that decided a case, with its verdict."""

    ruling: Ruling[Any]
    code: str
    confidence: Confidence
    sentence: str


@dataclass(frozen=True)
class RulingCases:
    """The rulings of a room with their cases.

    `decided`: what was decided of the case of a name. `made`: the cases that no recorded night shows. `variants`:
    further cases, each with its code and confidence. `elsewhere`: made cases that only other tests use. `caches`:
    functions that remember what was decided.
    """

    room: str
    rulings: Sequence[Ruling[Any]]
    decided: Callable[[str], Sequence[Decided]]
    made: Collection[str]
    variants: Sequence[tuple[str, str, str]] = ()
    elsewhere: Collection[str] = ()
    caches: Sequence[Any] = ()

    @property
    def named(self) -> set[str]:
        """The cases that rulings and variants name."""
        return {case for r in self.rulings for case in r.cases} | {case for case, *_ in self.variants}


def writers_of(rulings: Sequence[Ruling[Any]], code: str, confidence: Confidence, explanation: str) -> list[Decided]:
    """The rulings of which an explanation can be, each as if it had written the row."""
    fit = [(r, found[0]) for r in rulings if (found := wording(r).match(explanation))]
    return [Decided(r, code, confidence, sentence) for r, sentence in fit]


def wording(ruling: Ruling[Any]) -> re.Pattern[str]:
    """What a ruling's sentences look like, whatever the words in them."""
    return _pattern(ruling.sentence)


@cache
def _pattern(sentence: str) -> re.Pattern[str]:
    pieces = re.split(r"\{[^{}]*\}", sentence)
    return re.compile(".*?".join(map(re.escape, pieces)), re.DOTALL)
