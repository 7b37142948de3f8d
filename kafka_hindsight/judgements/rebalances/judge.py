"""Each episode gets its cause, and each member that took part its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kafka_hindsight.catalog.codes import Cause, Confidence, Outcome, Protocol
from kafka_hindsight.judgements.reasoning import rulings
from kafka_hindsight.judgements.reasoning.proofs import Predicate, Proof, always, named, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Ruling, Unknown, Verdict
from kafka_hindsight.judgements.rebalances.case import Case
from kafka_hindsight.judgements.rebalances.join_rulings import JOIN_RULINGS
from kafka_hindsight.judgements.rebalances.leave_rulings import EXPIRY_RULINGS, LEAVE_RULINGS
from kafka_hindsight.judgements.rebalances.model import Change
from kafka_hindsight.judgements.rebalances.rejoin_rulings import EPOCH_RULINGS, REJOIN_RULINGS


def reason_is(act: str, words: str) -> Predicate[Case]:
    """The coordinator wrote this reason for the rebalance."""
    return named(
        f"The coordinator's reason for the rebalance: {words}.",
        lambda case: proof_if(case.episode.reason.act == act),
    )


def lacks_start(case: Case) -> Proof | None:
    """The line that starts the rebalance is missing."""
    return proof_if(case.episode.lacks_start)


def member_was(what: Change, words: str) -> Predicate[Case]:
    """The coordinator did this to the member."""
    return named(
        f"The coordinator's line says: {words}.",
        lambda case: proof_if(case.change is not None and case.change.what == what),
    )


def move_cut_it_short(case: Case) -> Proof | None:
    """The coordinator moved while the rebalance ran, and no line shows that the generation was reached."""
    return None if case.began is None else Proof(case.began.evidence, {"began": case.began.sentence})


# fmt: off
REASON_RULINGS: Sequence[Ruling[Case]] = (
    Certain(Cause.STORAGE_ERROR, "The coordinator could not write the group's assignment to"
            " __consumer_offsets.",
            proof=(reason_is("storage_error", "an error when storing the group's assignment"),),
            source="GroupCoordinator.scala propagateAssignment; GroupMetadataManager.java",
            cases=("groups/storage-4.3 12:35:46.475", "groups/storm-2.8 01:48:17.257")),
    Likely(Cause.GROUP_OVER_CAPACITY, "The group that the coordinator loaded has more members than"
           " group.max.size.",
           proof=(reason_is("over_capacity", "the freshly loaded group is over capacity"),),
           source="KIP-389; GroupCoordinator.scala onGroupLoaded",
           cases=("made: a loaded group is over capacity", "groups/storage-4.3 12:35:46.475")),
    Certain(Cause.ASSIGNOR_CHANGED, "A static member came back with other assignors, and the group's assignor"
            " changed.",
            proof=(reason_is("static_protocol_changed", "the group's selectedProtocol will change"),),
            source="GroupCoordinator.scala updateStaticMemberAndRebalance; KIP-345",
            cases=("groups/assignor-4.3 12:17:54.972", "made: a static member returns with other metadata")),
    Unknown(Cause.UNKNOWN, "The line that starts this rebalance is missing, and with it its reason.",
            proof=(lacks_start,), source="GroupCoordinator.scala prepareRebalance writes it at INFO",
            cases=("made: a join phase without its first line", "made: words that no coordinator writes")),
    Unknown(Cause.UNKNOWN, "The coordinator gives no reason that shows the cause.",
            proof=(always,), source="brokers before 2.1 write no reason",
            cases=("made: words that no coordinator writes", "made: a join phase without its first line")),
)

REMOVAL_RULINGS: Sequence[Ruling[Case]] = (
    Certain(Cause.JOIN_TIMEOUT, "{who} was dropped because it did not rejoin within the rebalance timeout.",
            proof=(member_was(Change.NOT_REJOINED, "the member had not rejoined, or had not left its epoch, in time"),),
            source="GroupCoordinator.scala onCompleteJoin (2.7+); GroupMetadataManager.java",
            cases=("groups/dropped-4.3 12:19:21.879 (contributor)", "groups/kip848-4.1 01:47:08.865")),
    Certain(Cause.SYNC_TIMEOUT, "{who} was dropped because it joined and never asked for its assignment.",
            proof=(member_was(Change.NOT_SYNCED, "the member was removed on pending sync request expiration"),),
            source="GroupCoordinator.scala onExpirePendingSync (3.0+); KAFKA-12890",
            cases=("groups/unsynced-4.3 12:37:45.916", "groups/storm-2.8 01:48:17.257")),
    Likely(Cause.STATIC_MEMBER_CHANGED, "{who} came back, or was replaced, with other metadata.",
           proof=(member_was(Change.RETURNED, "it updates the metadata of a static member"),),
           source="GroupCoordinator.scala updateStaticMemberAndRebalance; KIP-345, KIP-814",
           cases=("made: a static member returns with other metadata", "groups/assignor-4.3 12:17:54.972")),
)

MOVE_RULINGS: Sequence[Ruling[Case]] = (
    Likely(Cause.COORDINATOR_MOVED, "The coordinator moved while the group was rebalancing and cut the"
           " rebalance short. {began}",
           proof=(move_cut_it_short,),
           source="GroupCoordinator.scala onElection, onResignation; GroupMetadataManager.java",
           cases=("made: moved while the assignment was awaited", "made: rejoins after a move")),
)
# fmt: on


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
