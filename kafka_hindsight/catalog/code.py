"""The base class of the closed vocabularies of the tables."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """One code of a vocabulary. `meaning` is its meaning in words; empty where the code itself says it."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Code:
        """A member that is its value and has a meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member
