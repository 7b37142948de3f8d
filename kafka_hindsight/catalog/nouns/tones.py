"""The colours of codes, by their names in the style sheet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from kafka_hindsight.catalog.code import Code, Noun, NounCode


class Tone(Code):
    """The colour of an event, and what it means on the timeline."""

    LOST = "lost", "Members lost, partitions without a leader"
    BROKER = "broker", "Broker failures, and what they moved"
    MEMBER = "member", "Members came and went"
    TOPIC = "topic", "Topics, subscriptions, reassignments"
    ASKED = "asked", "Requested elections, restored leaders"
    PROTOCOL = "protocol", "Shutdowns, controllers, protocol steps"
    UNKNOWN = "unknown", "Not known"


class Grade(Code):
    """The colour of a state; from the best down."""

    GOOD = "good", "It is as it should be."
    PLAIN = "plain", "Nothing speaks against it."
    WARN = "warn", "It may be bad."
    BAD = "bad", "It is bad."


@dataclass(frozen=True, kw_only=True)
class GradedNoun(Noun):
    """A state in words, and how good it is."""

    grade: Grade


class GradedCode(NounCode):
    """A code of a vocabulary of states."""

    noun: GradedNoun

    @classmethod
    def worst_first(cls) -> list[Self]:
        """The states from the worst on; of two of one grade the later one comes first."""
        return sorted(cls, key=lambda code: [*Grade].index(code.noun.grade))[::-1]
