"""The rulings on jumps of offsets: why a group went on elsewhere than where it had come to."""

from __future__ import annotations

from kafka_hindsight.catalog.codes import Confidence, JumpCause
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.judgements.offsets.log_changes import DELETE_RECORDS, SEGMENT_DELETION
from kafka_hindsight.judgements.offsets.moves import Move, MoveSign, Removal
from kafka_hindsight.judgements.offsets.owner_endings import Manner
from kafka_hindsight.judgements.reasoning.proofs import Predicate, Proof, always, proof_if, with_sentence
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Possible, Ruling, Unknown
from kafka_hindsight.shared.durations import SAME_ACT


def shown_by(says: str, *signs: MoveSign) -> Predicate[Move]:
    """A predicate: one of these signs shows the move."""
    return with_sentence(says, lambda move: proof_if(move.sign in signs))


out_of_range = shown_by("A member's log says that its position is outside of the log.", MoveSign.OUT_OF_RANGE)
diverged = shown_by("A member's log says that the log differs from what it had read.", MoveSign.DIVERGED)
commit_gone = shown_by("The committed offset was gone.", MoveSign.COMMIT_GONE)
sought = shown_by("A member's log says that the application moved it.", MoveSign.SOUGHT)
from_outside = shown_by("The committed offset changed while the group had no member.", MoveSign.COMMITTED_FROM_OUTSIDE)
at_commit = shown_by("A member went on at the committed offset.", MoveSign.WENT_ON_AT_COMMIT)
is_lower = shown_by("A member went on below an offset that had been committed.", MoveSign.COMMIT_IS_LOWER)
begins_later = shown_by(
    "The log began above the committed offset while no member owned the partition.", MoveSign.LOG_BEGINS_LATER
)


def _begins_later_for(move: Move, reason: str) -> Proof | None:
    """The lines by which the log began above the group's position, where the leader gives a reason."""
    position = move.origin.high if move.origin.high is not None else move.origin.low
    starts = [] if position is None else move.log.starts_above(position, move.at + SAME_ACT)
    lines = [s.quote for s in starts if s.reason == reason]
    return proof_if(lines, *lines[-1:])


def records_were_deleted(move: Move) -> Proof | None:
    """The leader's line says that the log begins above it because someone asked to delete records."""
    return _begins_later_for(move, DELETE_RECORDS)


def segments_were_deleted(move: Move) -> Proof | None:
    """The leader's line says that the log begins above it because segments were deleted."""
    return _begins_later_for(move, SEGMENT_DELETION)


def log_was_cut(move: Move) -> Proof | None:
    """A replica had cut its log below the position, or an unclean election had chosen the leader."""
    position = move.origin.high if move.origin.high is not None else move.origin.low
    cut = None if position is None else move.log.cut_below(position, move.at)
    return proof_if(cut, *(cut.quotes[:1] if cut else ()))


def group_was_deleted(move: Move) -> Proof | None:
    """A coordinator's line says that the group was deleted since its last commit."""
    return _removed_by(move, Kind.GROUPS_DELETED)


def offsets_were_deleted(move: Move) -> Proof | None:
    """A coordinator's line says that offsets of the group were deleted since its last commit."""
    return _removed_by(move, Kind.OFFSETS_DELETED)


def offsets_expired(move: Move) -> Proof | None:
    """A coordinator's line says that offsets expired; less sure where it names no partition, or records are missing.

    Until 3.9 the line names no partition, and a busy coordinator writes one every ten minutes. Where a record deletes
    the offset, only a line of that instant is about it: both have the clock of the coordinator.
    """
    is_recorded, lines = _is_recorded(move), _removals_of(move, Kind.OFFSETS_EXPIRED)
    if is_recorded:
        lines = [r for r in lines if abs(r.at - move.at) <= SAME_ACT]
    witnesses = is_recorded + any(r.is_named for r in lines)
    confidence = (Confidence.POSSIBLE, Confidence.LIKELY, Confidence.CERTAIN)[witnesses]
    return proof_if(lines, *(r.quote for r in lines[-1:]), confidence=confidence)


def expiries_were_others(move: Move) -> Proof | None:
    """A record deletes the offset, and its partition's coordinator logged expiries at other times, and none then."""
    named = [r for r in _removals_of(move, Kind.OFFSETS_EXPIRED) if r.is_named]
    are_others = _is_recorded(move) and named and all(abs(r.at - move.at) > SAME_ACT for r in named)
    return proof_if(are_others, *(r.quote for r in named[-1:]))


def _removed_by(move: Move, kind: Kind) -> Proof | None:
    lines = _removals_of(move, kind)
    return proof_if(lines, *(r.quote for r in lines[-1:]))


def _removals_of(move: Move, kind: Kind) -> list[Removal]:
    since, until = move.gone_since or move.at, (move.resumed_at or move.at) + SAME_ACT
    return [r for r in move.removals if r.kind == kind and since - SAME_ACT <= r.at <= until]


def _is_recorded(move: Move) -> bool:
    return any(q.source.startswith("__consumer_offsets") for q in move.quotes)


def commit_had_failed(move: Move) -> Proof | None:
    """A member went on below the offset that the owner before could not commit, as that one's log says."""
    return proof_if(move.failed, *((move.failed.quote,) if move.failed else ()))


def owner_was_lost(move: Move) -> Proof | None:
    """The owner before was removed, or its process ended, and it had not given the partition back."""
    return proof_if(move.ending.manner is Manner.LOST, *move.ending.quotes)


def owner_read_on(move: Move) -> Proof | None:
    """The owner before had joined with a cooperative assignor, and gave the partition back when that join had ended."""
    return proof_if(move.ending.manner is Manner.READ_ON, *move.ending.quotes)


def owner_gave_back(move: Move) -> Proof | None:
    """The owner before had given the partition back."""
    return proof_if(move.ending.manner in (Manner.GAVE_BACK, Manner.READ_ON), *move.ending.quotes)


def records_show_it(move: Move) -> Proof | None:
    """Records of the group show that it had no member; less sure by readings."""
    return Proof(confidence=Confidence.CERTAIN if _is_recorded(move) else Confidence.LIKELY)


_OUT_OF_RANGE = "Fetcher.java, FetchCollector.java: OFFSET_OUT_OF_RANGE"

JUMP_RULINGS: tuple[Ruling[Move], ...] = (
    Certain(
        JumpCause.RECORDS_DELETED,
        "The group stood before the first record of {partition}: someone had deleted the records up to there.",
        proof=(out_of_range, records_were_deleted),
        source=f"{_OUT_OF_RANGE}; KIP-107",
        cases=("offsets-4.3 email-lapse-14", "offsets-4.3 crm-overrun-28"),
    ),
    Certain(
        JumpCause.RETENTION,
        "The group stood before the first record of {partition}: retention had deleted the records up to there.",
        proof=(out_of_range, segments_were_deleted),
        source=f"{_OUT_OF_RANGE}; UnifiedLog.deleteOldSegments",
        cases=("offsets-4.3 crm-overrun-28", "offsets-4.3 email-lapse-14"),
    ),
    Certain(
        JumpCause.LOG_TRUNCATED,
        "A member had read further in {partition} than the log of its new leader goes with what it had read.",
        proof=(diverged,),
        source="KIP-320; SubscriptionState.maybeCompleteValidation",
        cases=("offsets-4.3 ads-shaky-37", "offsets-4.3 crm-overrun-28"),
    ),
    Likely(
        JumpCause.LOG_TRUNCATED,
        "A member stood behind the end of {partition}: its log had been cut.",
        proof=(out_of_range, log_was_cut),
        source=f"{_OUT_OF_RANGE}; KIP-101",
        cases=("made: a cut that the client did not see", "offsets-4.3 crm-overrun-28"),
    ),
    Unknown(
        JumpCause.OUT_OF_RANGE,
        "A member stood outside of the log of {partition}; no line shows why.",
        proof=(out_of_range,),
        source=_OUT_OF_RANGE,
        cases=("made: no broker's log", "offsets-4.3 crm-overrun-28"),
    ),
    Certain(
        JumpCause.GROUP_DELETED,
        "The group was deleted with its committed offset of {partition}.",
        proof=(commit_gone, group_was_deleted),
        source="GroupCoordinator.handleDeleteGroups; GroupCoordinatorShard.deleteGroups",
        cases=("offsets-4.3 audit-erased-15", "offsets-4.3 ads-dormant-1"),
    ),
    Likely(
        JumpCause.OFFSETS_DELETED,
        "The group's committed offset of {partition} was deleted.",
        proof=(commit_gone, offsets_were_deleted),
        source="KIP-496; GroupCoordinator.handleDeleteOffsets",
        cases=("made: offsets deleted", "offsets-4.3 audit-erased-15"),
    ),
    Certain(
        JumpCause.OFFSETS_EXPIRED,
        "The group's committed offset of {partition} expired.",
        proof=(commit_gone, offsets_expired),
        source="GroupMetadataManager.cleanupExpiredOffsets; OffsetMetadataManager.cleanupExpiredOffsets; KIP-211",
        cases=("offsets-4.3 ads-dormant-1", "offsets-4.3 audit-erased-15"),
    ),
    Likely(
        JumpCause.OFFSETS_DELETED,
        "The group's committed offset of {partition} was deleted: its coordinator logged no expiry then.",
        proof=(commit_gone, expiries_were_others),
        source="GroupCoordinatorShard.deleteOffsets writes no line from 4.0 on; cleanupGroupMetadata does",
        cases=("deleted-4.3 rides.writer.v54", "offsets-4.3 ads-dormant-1"),
    ),
    Possible(
        JumpCause.COMMIT_LOST,
        "The group's committed offset of {partition} was gone: it was deleted, it expired, or it was lost.",
        proof=(commit_gone,),
        source="ConsumerCoordinator.refreshCommittedOffsetsIfNeeded",
        cases=("made: no coordinator's log", "offsets-4.3 ads-dormant-1"),
    ),
    Certain(
        JumpCause.RESET_BY_ADMINISTRATOR,
        "Someone committed another offset of {partition} while the group had no member.",
        proof=(from_outside, records_show_it),
        source="GroupMetadataManager.storeOffsets, OffsetMetadataManager.validateOffsetCommit: only an empty group"
        " takes a commit without a generation",
        cases=("offsets-4.3 mobile-rewind-17", "offsets-4.3 ads-nextgen-13"),
    ),
    Certain(
        JumpCause.SEEK_BY_APPLICATION,
        "The application moved its member in {partition}.",
        proof=(sought,),
        source="KafkaConsumer.seek, seekToBeginning, seekToEnd",
        cases=("offsets-4.3 orders-replay-8", "offsets-4.3 mobile-rewind-17"),
    ),
    Certain(
        JumpCause.COMMIT_FAILED,
        "The owner before could not commit how far it had come in {partition}, and the next one began before that.",
        proof=(commit_had_failed,),
        source="ConsumerCoordinator.java, CommitRequestManager.java: the failed commit names the offsets",
        cases=("offsets-4.3 stock-refused-6", "offsets-4.3 ads-nextgen-13"),
    ),
    Possible(
        JumpCause.CRASH_BEFORE_COMMIT,
        "The owner before ended without giving {partition} back, and what it had read since its last commit was read"
        " again.",
        proof=(at_commit, owner_was_lost),
        source="ConsumerCoordinator.java: offsets are committed in intervals, and when partitions are given back",
        cases=("offsets-4.3 ads-nextgen-13", "offsets-4.3 stock-refused-6"),
    ),
    Possible(
        JumpCause.READ_WHILE_JOINING,
        "The owner before committed as the group began to join and gave {partition} back when it had joined; what it"
        " read in between was read again.",
        proof=(at_commit, owner_read_on),
        source="ConsumerCoordinator.onJoinPrepare, onJoinComplete; KafkaConsumer.poll returns records while the group"
        " joins (KAFKA-8421)",
        cases=("handover-3.9 billing-relay-99 2", "offsets-4.3 ads-nextgen-13"),
    ),
    Likely(
        JumpCause.RESET_BY_ADMINISTRATOR,
        "The committed offset of {partition} was lowered between an owner that had given it back and the next one.",
        proof=(is_lower, owner_gave_back),
        source="GroupMetadataManager.storeOffsets",
        cases=("made: reset between two owners", "offsets-4.3 ads-nextgen-13"),
    ),
    Possible(
        JumpCause.COMMIT_LOST,
        "A member went on in {partition} below an offset that the group had committed: a commit was lost, or changed.",
        proof=(is_lower,),
        source="GroupMetadataManager.loadGroupsAndOffsets",
        cases=("made: a commit is lost", "offsets-4.3 mobile-rewind-17"),
    ),
    Likely(
        JumpCause.RECORDS_DELETED,
        "Someone deleted records of {partition} that the group had not read, while no member owned it.",
        proof=(begins_later, records_were_deleted),
        source="KIP-107",
        cases=("offsets-4.3 email-lapse-14 without clients", "offsets-4.3 crm-overrun-28 without clients"),
    ),
    Likely(
        JumpCause.RETENTION,
        "Retention deleted records of {partition} that the group had not read, while no member owned it.",
        proof=(begins_later, segments_were_deleted),
        source="UnifiedLog.deleteOldSegments",
        cases=("offsets-4.3 crm-overrun-28 without clients", "offsets-4.3 email-lapse-14 without clients"),
    ),
    Possible(
        JumpCause.OUT_OF_RANGE,
        "The log of {partition} began above the committed offset while no member owned it; no line shows why.",
        proof=(always,),
        source="UnifiedLog.maybeIncrementLogStartOffset",
        cases=("made: the log begins later and no line shows why", "offsets-4.3 crm-overrun-28 without clients"),
    ),
)
