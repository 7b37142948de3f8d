"""What every closed vocabulary of the tables is made of."""

from __future__ import annotations

from enum import StrEnum


class Code(StrEnum):
    """One code of a vocabulary. `meaning` says it in words; empty where the code's own words say it."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Code:
        """A member that is its value and carries its meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member
