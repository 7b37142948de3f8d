"""What the coordinator's own lines decide: its reason, the members it removed, a rebalance that its move cut short."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_hindsight.catalog.codes import Cause
from kafka_hindsight.judgements.reasoning.rulings import (
    CERTAIN,
    LIKELY,
    UNKNOWN,
    Predicate,
    Proof,
    Ruling,
    always,
    named,
    proof_if,
)
from kafka_hindsight.judgements.rebalances.case import Case
from kafka_hindsight.judgements.rebalances.model import Change


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
    Ruling(Cause.STORAGE_ERROR, CERTAIN, "The coordinator could not write the group's assignment to"
           " __consumer_offsets.",
           proof=(reason_is("storage_error", "an error when storing the group's assignment"),),
           source="GroupCoordinator.scala propagateAssignment; GroupMetadataManager.java",
           decides="groups/storage-4.3 12:35:46.475", looks_alike="groups/storm-2.8 01:48:17.257"),
    Ruling(Cause.GROUP_OVER_CAPACITY, LIKELY, "The group that the coordinator loaded has more members than"
           " group.max.size.",
           proof=(reason_is("over_capacity", "the freshly loaded group is over capacity"),),
           source="KIP-389; GroupCoordinator.scala onGroupLoaded",
           decides="made: a loaded group is over capacity", looks_alike="groups/storage-4.3 12:35:46.475"),
    Ruling(Cause.ASSIGNOR_CHANGED, CERTAIN, "A static member came back with other assignors, and the group's assignor"
           " changed.",
           proof=(reason_is("static_protocol_changed", "the group's selectedProtocol will change"),),
           source="GroupCoordinator.scala updateStaticMemberAndRebalance; KIP-345",
           decides="groups/assignor-4.3 12:17:54.972", looks_alike="made: a static member returns with other metadata"),
    Ruling(Cause.UNKNOWN, UNKNOWN, "The line that starts this rebalance is missing, and with it its reason.",
           proof=(lacks_start,), source="GroupCoordinator.scala prepareRebalance writes it at INFO",
           decides="made: a join phase without its first line", looks_alike="made: words that no coordinator writes"),
    Ruling(Cause.UNKNOWN, UNKNOWN, "The coordinator gives no reason that shows the cause.",
           proof=(always,), source="brokers before 2.1 write no reason",
           decides="made: words that no coordinator writes", looks_alike="made: a join phase without its first line"),
)

REMOVAL_RULINGS: Sequence[Ruling[Case]] = (
    Ruling(Cause.JOIN_TIMEOUT, CERTAIN, "{who} was dropped because it did not rejoin within the rebalance timeout.",
           proof=(member_was(Change.NOT_REJOINED, "the member had not rejoined, or had not left its epoch, in time"),),
           source="GroupCoordinator.scala onCompleteJoin (2.7+); GroupMetadataManager.java",
           decides="groups/dropped-4.3 12:19:21.879 (contributor)", looks_alike="groups/kip848-4.1 01:47:08.865"),
    Ruling(Cause.SYNC_TIMEOUT, CERTAIN, "{who} was dropped because it joined and never asked for its assignment.",
           proof=(member_was(Change.NOT_SYNCED, "the member was removed on pending sync request expiration"),),
           source="GroupCoordinator.scala onExpirePendingSync (3.0+); KAFKA-12890",
           decides="groups/unsynced-4.3 12:37:45.916", looks_alike="groups/storm-2.8 01:48:17.257"),
    Ruling(Cause.STATIC_MEMBER_CHANGED, LIKELY, "{who} came back, or was replaced, with other metadata.",
           proof=(member_was(Change.RETURNED, "it updates the metadata of a static member"),),
           source="GroupCoordinator.scala updateStaticMemberAndRebalance; KIP-345, KIP-814",
           decides="made: a static member returns with other metadata", looks_alike="groups/assignor-4.3 12:17:54.972"),
)

MOVE_RULINGS: Sequence[Ruling[Case]] = (
    Ruling(Cause.COORDINATOR_MOVED, LIKELY, "The coordinator moved while the group was rebalancing and cut the"
           " rebalance short. {began}",
           proof=(move_cut_it_short,),
           source="GroupCoordinator.scala onElection, onResignation; GroupMetadataManager.java",
           decides="made: moved while the assignment was awaited", looks_alike="made: rejoins after a move"),
)
# fmt: on
