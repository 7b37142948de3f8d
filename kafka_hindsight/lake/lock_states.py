"""The lock in an object store as a state machine: no clock, no store, no thread.

The lock is an object that only a writer who names its newest version may replace, so one of two takers gets it. Its
holder writes it again and again. One that stops doing so counts as dead, and the next one takes its place.

Answers may be lost or late, and a holder may stand still for an hour. So a holder asks for the object before each
write, and what it writes names a version that it read before it asked. A successor of a holder that died or failed
gives new versions to all that the lock guards before it reads anything: what its predecessor still has on the way is
then refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any

DEAD_AFTER = 60.0
"""Seconds without a change of the object after which its holder is dead, by the clock of the run that waits."""

FREE: Mapping[str, Any] = {}
"""The object of a lock that no run holds; so is a missing one."""

FAILED: Mapping[str, Any] = {"failed": True}
"""The object that a holder leaves whose block failed: a write that was never answered may still be on the way."""


class Phase(Enum):
    """The knowledge of a run about its lock."""

    WAITING = auto()
    """Another one holds it, or has to be asked for."""
    TAKING = auto()
    """It was free, or its holder dead."""
    HOLDING = auto()
    """It is ours."""
    DOUBTING = auto()
    """It was ours, and has to be asked for."""
    LOST = auto()
    """Another one has taken it. There is no way back."""


class Answer(Enum):
    """The answer of a store, seen from one run."""

    WRITTEN = auto()
    REFUSED = auto()
    """Another run has written another version."""
    NONE = auto()
    """Whether what was asked was done is not known."""
    FREE = auto()
    OURS = auto()
    ALIVE = auto()
    """Another one's, changed since we looked last."""
    QUIET = auto()
    """Another one's, seen the first time, or unchanged for a while."""
    DEAD = auto()
    """Another one's, unchanged for too long, or left by one that failed."""


READS = frozenset({Phase.WAITING, Phase.DOUBTING})
"""The phases in which a run reads the object next. In TAKING and HOLDING it writes; in LOST it does nothing."""

TRANSITIONS: Mapping[tuple[Phase, Answer], Phase] = {
    (Phase.WAITING, Answer.FREE): Phase.TAKING,
    (Phase.WAITING, Answer.DEAD): Phase.TAKING,
    (Phase.WAITING, Answer.OURS): Phase.HOLDING,
    (Phase.WAITING, Answer.ALIVE): Phase.WAITING,
    (Phase.WAITING, Answer.QUIET): Phase.WAITING,
    (Phase.WAITING, Answer.NONE): Phase.WAITING,
    (Phase.TAKING, Answer.WRITTEN): Phase.HOLDING,
    (Phase.TAKING, Answer.REFUSED): Phase.WAITING,
    (Phase.TAKING, Answer.NONE): Phase.WAITING,
    (Phase.HOLDING, Answer.WRITTEN): Phase.HOLDING,
    (Phase.HOLDING, Answer.REFUSED): Phase.DOUBTING,
    (Phase.HOLDING, Answer.NONE): Phase.DOUBTING,
    (Phase.DOUBTING, Answer.OURS): Phase.HOLDING,
    (Phase.DOUBTING, Answer.NONE): Phase.DOUBTING,
    (Phase.DOUBTING, Answer.FREE): Phase.LOST,
    (Phase.DOUBTING, Answer.ALIVE): Phase.LOST,
    (Phase.DOUBTING, Answer.QUIET): Phase.LOST,
    (Phase.DOUBTING, Answer.DEAD): Phase.LOST,
}


@dataclass(frozen=True)
class Contender:
    """A run that takes or holds a lock.

    Attributes:
        token: What its object names as holder: no two takes have the same.
        phase: What it knows.
        answer: The last answer.
        version: The version that its next write names; None for an object that is not there.
        holder: The holder at that version.
        since: When that version was read first, by the run's clock.
        is_successor: Whether the holder before it died with the lock, or failed.
    """

    token: str
    phase: Phase = Phase.WAITING
    answer: Answer = Answer.NONE
    version: str | None = None
    holder: Mapping[str, Any] = field(default_factory=dict)
    since: float = 0.0
    is_successor: bool = False

    def after_read(
        self, holder: Mapping[str, Any], version: str | None, asked_at: float, answered_at: float
    ) -> Contender:
        """The state after the object was read. A late answer shows what was there when it was asked for."""
        is_other_version = version != self.version
        since = answered_at if is_other_version else self.since
        answer = self._classified(holder, is_other_version, asked_at - since)
        return replace(self, holder=holder, version=version, since=since)._after(answer)

    def _classified(self, holder: Mapping[str, Any], is_other_version: bool, quiet_s: float) -> Answer:
        if holder == FREE:
            return Answer.FREE
        if holder.get("token") == self.token:
            return Answer.OURS
        if holder == FAILED:
            return Answer.DEAD
        if is_other_version and self.version is not None:
            return Answer.ALIVE
        return Answer.DEAD if quiet_s >= DEAD_AFTER else Answer.QUIET

    def after_write(self, version: str) -> Contender:
        """The state after our object was written."""
        return replace(self, version=version)._after(Answer.WRITTEN)

    def after_refusal(self) -> Contender:
        """The state after the store had another version than the one that we named."""
        return self._after(Answer.REFUSED)

    def after_silence(self) -> Contender:
        """The state after no answer came."""
        return self._after(Answer.NONE)

    def in_doubt(self) -> Contender:
        """The state before a write that the lock guards."""
        return replace(self, phase=Phase.DOUBTING) if self.phase is Phase.HOLDING else self

    def _after(self, answer: Answer) -> Contender:
        phase = TRANSITIONS[self.phase, answer]
        is_successor = answer is Answer.DEAD if phase is Phase.TAKING else self.is_successor
        return replace(self, phase=phase, answer=answer, is_successor=is_successor)
