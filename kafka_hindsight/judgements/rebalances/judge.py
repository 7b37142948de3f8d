"""Each episode gets its cause, and each member that took part its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kafka_hindsight.catalog.codes import Confidence, Outcome, Protocol
from kafka_hindsight.judgements.reasoning import rulings
from kafka_hindsight.judgements.reasoning.rulings import Ruling, Verdict
from kafka_hindsight.judgements.rebalances.case import Case
from kafka_hindsight.judgements.rebalances.coordinator_rulings import MOVE_RULINGS, REASON_RULINGS, REMOVAL_RULINGS
from kafka_hindsight.judgements.rebalances.join_rulings import JOIN_RULINGS
from kafka_hindsight.judgements.rebalances.leave_rulings import EXPIRY_RULINGS, LEAVE_RULINGS
from kafka_hindsight.judgements.rebalances.model import Change
from kafka_hindsight.judgements.rebalances.rejoin_rulings import EPOCH_RULINGS, REJOIN_RULINGS

RULINGS: Mapping[str, Sequence[Ruling[Case]]] = {
    "a member joined": JOIN_RULINGS,
    "a member left": LEAVE_RULINGS,
    "a member's session expired": EXPIRY_RULINGS,
    "the coordinator dropped or replaced a member": REMOVAL_RULINGS,
    "a member of the group rejoined": REJOIN_RULINGS,
    "an epoch rose and no member joined or left": EPOCH_RULINGS,
    "the coordinator's reason alone": REASON_RULINGS,
    "the coordinator moved meanwhile": MOVE_RULINGS,
}
"""Every ruling on rebalances, by when its table is asked."""

BY_CHANGE: dict[Change, Sequence[Ruling[Case]]] = {
    Change.JOINED: JOIN_RULINGS,
    Change.LEFT: LEAVE_RULINGS,
    Change.EXPIRED: EXPIRY_RULINGS,
    Change.NOT_REJOINED: REMOVAL_RULINGS,
    Change.NOT_SYNCED: REMOVAL_RULINGS,
    Change.RETURNED: REMOVAL_RULINGS,
}
"""The table that judges the change of one member."""

_STATED = ("storage_error", "over_capacity", "static_protocol_changed")
"""Reasons of the coordinator that are the cause themselves, also where they name a member."""


def judge_episode(case: Case) -> Verdict:
    """Why the episode began: the change that its own reason names, else what changed.

    Edge case: where the line that starts it is missing, the first change left may be one that only fell into it.
    """
    episode = case.episode
    if episode.reason.act in _STATED:
        return rulings.judge(REASON_RULINGS, case)
    if case.change is not None:
        verdict = judge_change(case)
        if not episode.lacks_start:
            return verdict
        sentence = f"The line that starts this rebalance is missing; this fell into it: {verdict.sentence}"
        return replace(verdict, confidence=Confidence.POSSIBLE, sentence=sentence)
    if episode.reason.act in ("leader_rejoined", "metadata_updated"):
        return rulings.judge(REJOIN_RULINGS, case)
    if Protocol(episode.protocol).has_epochs:
        return rulings.judge(EPOCH_RULINGS, case)
    return rulings.judge(REASON_RULINGS, case)


def judge_move(case: Case, began: Verdict) -> Verdict:
    """That the move of the coordinator cut the episode short, where it did; else why it began."""
    if case.episode.cut_by_move and case.episode.outcome in (Outcome.INTERRUPTED, Outcome.UNFINISHED):
        return rulings.judge(MOVE_RULINGS, replace(case, began=began))
    return began


def judge_change(case: Case) -> Verdict:
    """Why one member changed, or was removed."""
    assert case.change is not None
    return rulings.judge(BY_CHANGE[case.change.what], case)
