"""The base classes of the closed vocabularies of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self


class Code(StrEnum):
    """One code of a vocabulary. `meaning` is its meaning in words; empty where the code itself says it."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Code:
        """A member that is its value and has a meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


@dataclass(frozen=True, kw_only=True)
class Noun:
    """A code in words. A noun with a `label` shows it instead of the code."""

    code: str
    meaning: str


class NounCode(Code):
    """A code of a vocabulary whose words several rooms use: `noun` has them all, and facts that other code asks about.

    A member is declared as its noun, in one place. Page, terminal, alerts, sentences and generated pages ask the noun.
    """

    noun: Noun

    def __new__(cls, noun: Any) -> Self:
        """A member that is the code of its noun. By a code, as `OutageKind("crash")`, its member is looked up."""
        member = str.__new__(cls, noun.code)
        member._value_, member.noun, member.meaning = noun.code, noun, noun.meaning
        return member
