"""The causes of jumps of a group's offsets, and what they did to its records, in words."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Code, Noun, NounCode


@dataclass(frozen=True, kw_only=True)
class JumpHarmNoun(Noun):
    """The fate of records in words. `did` says what the group did with them, also after `may have`."""

    label: str
    did: str


@dataclass(frozen=True, kw_only=True)
class ActorNoun(Noun):
    """The mover of a group in words. `side` says whose doing it was, to the owner of the group."""

    side: str


# fmt: off
class JumpHarm(NounCode):
    """The fate of the records between the two ends of a jump."""

    noun: JumpHarmNoun

    RECORDS_SKIPPED = JumpHarmNoun(
        code="records_skipped", label="skipped", did="skipped {}", meaning="The group did not read them.",
    )
    RECORDS_READ_AGAIN = JumpHarmNoun(
        code="records_read_again", label="read again", did="read {} again",
        meaning="The group read them a second time.",
    )
    RECORDS_GONE = JumpHarmNoun(
        code="records_gone", label="gone", did="read {} that a cut of the log removed",
        meaning="The log was cut: what the group had read is no longer in it, and others are there.",
    )
    UNKNOWN = JumpHarmNoun(
        code="unknown", label="not known", did="skipped or read {} again",
        meaning="No evidence shows whether they were skipped or read again.",
    )


class JumpActor(NounCode):
    """The one who moved a group to another offset."""

    noun: ActorNoun

    MEMBER = ActorNoun(
        code="member", side="Yours", meaning="A member of the group, or the application that it runs in.",
    )
    ADMINISTRATOR = ActorNoun(
        code="administrator", side="Someone outside of the group did it", meaning="Someone outside of the group.",
    )
    BROKER = ActorNoun(code="broker", side="Not yours", meaning="A broker: retention, an expiry or an election.")
    UNKNOWN = ActorNoun(code="unknown", side="Who did it is not known", meaning="No evidence shows who.")
# fmt: on


class ResetPolicy(Code):
    """Where a member goes on without a committed offset, or outside of the log: auto.offset.reset."""

    EARLIEST = "earliest", "At the first record of the log."
    LATEST = "latest", "At the end of the log."


@dataclass(frozen=True, kw_only=True)
class JumpCauseNoun(Noun):
    """One cause in words. `clause` follows the name of a partition. `is_of_rebalance`: a rebalance belongs to it.

    `is_cut`: the log was cut.
    """

    label: str
    clause: str
    advice: str
    source: str
    actor: JumpActor
    is_of_rebalance: bool = False
    is_cut: bool = False


# fmt: off
class JumpCause(NounCode):
    """Why a group went on elsewhere than where it had come to."""

    noun: JumpCauseNoun

    RETENTION = JumpCauseNoun(
        code="retention", label="retention was faster", clause="retention had removed the records that came next",
        meaning="The log began above the group's position, since retention had deleted the segments before.",
        advice="Raise retention.ms or retention.bytes of the topic above the longest time that the group may be away or"
        " behind, and watch its lag in seconds.",
        source="UnifiedLog.deleteOldSegments; Fetcher, OFFSET_OUT_OF_RANGE", actor=JumpActor.BROKER,
    )
    RECORDS_DELETED = JumpCauseNoun(
        code="records_deleted", label="records were deleted", clause="someone had deleted the records that came next",
        meaning="The log began above the group's position, since someone had asked to delete the records before.",
        advice="Find out who deletes records of this topic (kafka-delete-records.sh; Kafka Streams does so with its"
        " repartition topics), and whether the group had to read them.",
        source="KIP-107; ReplicaManager.deleteRecords", actor=JumpActor.ADMINISTRATOR,
    )
    LOG_TRUNCATED = JumpCauseNoun(
        code="log_truncated", label="the log was cut", clause="its log had been cut below what the group had read",
        meaning="The leader's log ended, or differed, below the group's position.",
        advice="See the lost records of that partition. What the group did with them cannot be undone by reading on:"
        " compare what it wrote with the topic.",
        source="KIP-320; SubscriptionState.maybeCompleteValidation", actor=JumpActor.BROKER, is_cut=True,
    )
    OFFSETS_EXPIRED = JumpCauseNoun(
        code="offsets_expired", label="its offsets expired", clause="its committed offsets had expired",
        meaning="The coordinator deleted the committed offset after offsets.retention.minutes.",
        advice="Raise offsets.retention.minutes above the longest time that the group may be away, and set"
        " auto.offset.reset of its members to what is right for a group without offsets.",
        source="GroupMetadataManager.cleanupExpiredOffsets; KIP-211", actor=JumpActor.BROKER,
    )
    GROUP_DELETED = JumpCauseNoun(
        code="group_deleted", label="the group was deleted", clause="someone had deleted the group",
        meaning="An administrator deleted the group with its committed offsets.",
        advice="Find out who deleted it (kafka-consumer-groups.sh --delete), and set the offsets that it needs.",
        source="GroupCoordinator.deleteGroups", actor=JumpActor.ADMINISTRATOR,
    )
    OFFSETS_DELETED = JumpCauseNoun(
        code="offsets_deleted", label="its offsets were deleted", clause="someone had deleted its committed offsets",
        meaning="An administrator deleted committed offsets of the group.",
        advice="Find out who deleted them (kafka-consumer-groups.sh --delete-offsets), and set those that it needs.",
        source="KIP-496", actor=JumpActor.ADMINISTRATOR,
    )
    RESET_BY_ADMINISTRATOR = JumpCauseNoun(
        code="reset_by_administrator", label="its offsets were reset",
        clause="someone outside of the group had committed another offset",
        meaning="The committed offset was changed while the group had no member.",
        advice="Find out who reset it (kafka-consumer-groups.sh --reset-offsets, or a tool of yours) and why.",
        source="GroupMetadataManager.storeOffsets: a commit without a generation is taken only from an empty group",
        actor=JumpActor.ADMINISTRATOR,
    )
    SEEK_BY_APPLICATION = JumpCauseNoun(
        code="seek_by_application", label="the application moved itself", clause="its application asked for it",
        meaning="The application called seek, seekToBeginning or seekToEnd.",
        advice="Ask the application's owner whether it meant to.",
        source="KafkaConsumer.seek", actor=JumpActor.MEMBER,
    )
    COMMIT_FAILED = JumpCauseNoun(
        code="commit_failed", label="a commit failed", clause="the commit of its owner before had failed",
        meaning="A member could not commit how far it had come, and the next owner began at the commit before.",
        advice="Commit after each part of a batch, and in onPartitionsRevoked of a ConsumerRebalanceListener. See the"
        " rebalance for why the member was no longer in the group.",
        source="ConsumerCoordinator, CommitFailedException", actor=JumpActor.MEMBER, is_of_rebalance=True,
    )
    CRASH_BEFORE_COMMIT = JumpCauseNoun(
        code="crash_before_commit", label="it ended before a commit",
        clause="its owner before ended without committing how far it had come",
        meaning="A member ended, or lost its partitions, without a commit, and the next owner began at the last one.",
        advice="Make the work idempotent, or write results and offsets in one transaction. A shorter"
        " auto.commit.interval.ms, or a commit after each batch, leaves less to read again.",
        source="ConsumerCoordinator; auto.commit.interval.ms", actor=JumpActor.MEMBER, is_of_rebalance=True,
    )
    READ_WHILE_JOINING = JumpCauseNoun(
        code="read_while_joining", label="it read on while it joined",
        clause="its owner before may have read on while the group joined, after its last commit",
        meaning="With a cooperative assignor a Java consumer commits as its group begins to join, goes on to return"
        " records, and gives the partition back when it has joined. The next owner began at that commit.",
        advice="Call commitSync in onPartitionsRevoked of a ConsumerRebalanceListener, or use group.protocol=consumer"
        " (KIP-848) from Kafka 4.1 on, and make the work idempotent.",
        source="ConsumerCoordinator.onJoinPrepare, onJoinComplete; KAFKA-8421", actor=JumpActor.MEMBER,
        is_of_rebalance=True,
    )
    COMMIT_LOST = JumpCauseNoun(
        code="commit_lost", label="a commit vanished", clause="a committed offset was gone, and no evidence shows why",
        meaning="The committed offset was lower than one before, or gone, and no line or record shows why.",
        advice="Give Hindsight the coordinators' logs and the records of __consumer_offsets of that time. An unclean"
        " election of __consumer_offsets loses commits: its topic needs three replicas.",
        source="GroupMetadataManager.loadGroupsAndOffsets", actor=JumpActor.UNKNOWN, is_of_rebalance=True,
    )
    OUT_OF_RANGE = JumpCauseNoun(
        code="out_of_range", label="its position was outside of the log", clause="its position was outside of the log",
        meaning="A member's position was outside of the log, and no line shows why.",
        advice="Give Hindsight the logs of the brokers that hold the topic: they say why the log began above it, or"
        " ended below.",
        source="Fetcher, OFFSET_OUT_OF_RANGE", actor=JumpActor.UNKNOWN,
    )
# fmt: on
