"""The closed vocabularies of the tables: each code once, with its meaning. A code is a string.

Those whose codes have more words than that are in catalog/nouns.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafka_hindsight.catalog.code import Code as Code
from kafka_hindsight.catalog.nouns.brokers import OutageKind as OutageKind
from kafka_hindsight.catalog.nouns.brokers import StartFailure as StartFailure
from kafka_hindsight.catalog.nouns.causes import Cause as Cause
from kafka_hindsight.catalog.nouns.groups import RemedySetting as RemedySetting
from kafka_hindsight.catalog.nouns.groups import StallKind as StallKind
from kafka_hindsight.catalog.nouns.incidents import FindingSeverity as FindingSeverity
from kafka_hindsight.catalog.nouns.incidents import Harm as Harm
from kafka_hindsight.catalog.nouns.incidents import IncidentKind as IncidentKind
from kafka_hindsight.catalog.nouns.incidents import Urgency as Urgency
from kafka_hindsight.catalog.nouns.libraries import ClientLibrary as ClientLibrary
from kafka_hindsight.catalog.nouns.offsets import JumpActor as JumpActor
from kafka_hindsight.catalog.nouns.offsets import JumpCause as JumpCause
from kafka_hindsight.catalog.nouns.offsets import JumpHarm as JumpHarm
from kafka_hindsight.catalog.nouns.offsets import ResetPolicy as ResetPolicy
from kafka_hindsight.catalog.nouns.partitions import FailoverKind as FailoverKind
from kafka_hindsight.catalog.nouns.partitions import ImbalanceEnd as ImbalanceEnd
from kafka_hindsight.catalog.nouns.partitions import OutOfSyncKind as OutOfSyncKind
from kafka_hindsight.catalog.nouns.partitions import TruncationVerdict as TruncationVerdict
from kafka_hindsight.catalog.nouns.partitions import UnavailabilityKind as UnavailabilityKind
from kafka_hindsight.catalog.nouns.producer_kinds import ProducerFailureKind as ProducerFailureKind
from kafka_hindsight.catalog.nouns.protocols import Protocol as Protocol
from kafka_hindsight.catalog.nouns.silences import Silence as Silence
from kafka_hindsight.catalog.nouns.witnesses import InputKind as InputKind
from kafka_hindsight.catalog.nouns.witnesses import WitnessGap as WitnessGap
from kafka_hindsight.catalog.nouns.witnesses import WitnessKind as WitnessKind

NOBODY = -1
"""How Kafka writes that a partition has no leader."""


class Confidence(Code):
    """How sure a verdict is; from the surest down."""

    CERTAIN = "certain", "The evidence admits no other reading."
    LIKELY = "likely", "The evidence admits other readings, and they are rarer."
    POSSIBLE = "possible", "Several readings fit about equally; the explanation names them."
    UNKNOWN = "unknown", "The evidence does not show it."

    def at_most(self, most: Confidence) -> Confidence:
        """The less sure of the two."""
        return Confidence.least((self, most))

    @classmethod
    def least(cls, confidences: Iterable[Confidence]) -> Confidence:
        """The least sure of several; `certain` without any."""
        return max(confidences, key=list(cls).index, default=cls.CERTAIN)


class RebalanceKind(Code):
    """How much the members of a group give back in a rebalance."""

    EAGER = "eager", "Every member gives back all its partitions, and gets others at the end."
    COOPERATIVE = "cooperative", "A member gives back only the partitions that get another owner."
    SERVER_SIDE = "server_side", "The coordinator assigns, and a member gives back only what it no longer has."


class RebalanceWait(Code):
    """The reason for the time until a group consumed again."""

    ALL_JOINED = "all_joined", "All members joined again at once."
    MEMBER_AWAITED = "member_awaited", "The group waited for a member that joined, or assigned, more than 3 s late."
    TIMEOUT_AWAITED = (
        "timeout_awaited",
        "A session or a poll limit had to run out before it began: until then partitions of that member stood still.",
    )
    NOT_SETTLED = "not_settled", "The group did not settle: another rebalance cut it short, or it restarted one."


class Outcome(Code):
    """How a rebalance ended."""

    COMPLETED = "completed", "The assignment arrived."
    EMPTIED = "emptied", "The group was empty."
    INTERRUPTED = "interrupted", "The next rebalance began before it ended."
    UNFINISHED = "unfinished", "No evidence shows its end."


class Intent(Code):
    """Whether the event had been declared. How something stopped does not show whether someone meant it."""

    DECLARED = "declared", "A maintenance window covers its beginning, or a line shows an operator's command."
    UNDECLARED = "undeclared", "Not declared as maintenance."
    UNKNOWN = "unknown", "It may have begun within a maintenance window or outside, or nothing was compared."


class Fingerprint(Code):
    """Driver of a storm, by the time between its rebalances."""

    SESSION_TIMEOUT = "session_timeout", "The session timeout."
    STEADY = "steady", "Another steady interval."


class ControllerChangeCause(Code):
    """Why the active controller changed."""

    FIRST = "first", "The cluster had none before."
    NO_MAJORITY = "no_majority", "The quorum had no majority."
    OUTAGE = "outage", "The former controller was down."
    SESSION_EXPIRED = "session_expired", "The former controller's ZooKeeper session expired."
    MOVED_TO_KRAFT = "moved_to_kraft", "The cluster moves to KRaft, whose controller took over."
    RESIGNED = "resigned", "The former controller resigned."
    UNKNOWN = "unknown", "The evidence does not show why."

    @property
    def is_majority_lost(self) -> bool:
        """Whether the cluster could elect no controller for a time."""
        return self is ControllerChangeCause.NO_MAJORITY


class IsrChangeKind(Code):
    """Kind of a change of an ISR."""

    SHRINK = "shrink", "A broker left the ISR."
    EXPAND = "expand", "A broker joined the ISR."


class Origin(Code):
    """Origin of an event. Lines have the first two; the others are rows that one judgement hands to another."""

    BROKER = "broker", "A line of a broker or a controller."
    CLIENT = "client", "A line of a consumer, a producer or an administrator's tool."
    SNAPSHOT = "snapshot", "A snapshot."
    RECORD = "record", "A record of one of Kafka's own topics."


class SubjectKind(Code):
    """The subject of a row of gold.night_subjects."""

    TOPIC = "topic", "A topic, with its partitions."
    GROUP = "group", "A consumer, share or streams group, or a cluster of Kafka Connect."
    BROKER = "broker", "A broker, or a node that is broker and controller."


LINES = (Origin.BROKER, Origin.CLIENT)
"""The origins of lines."""


class CheckSeverity(Code):
    """Effect of a broken check."""

    CRITICAL = "critical", "It refuses the publication."
    WARNING = "warning", "It is reported."


class RowChange(Code):
    """Change of a verdict when its window was judged again."""

    APPEARED = "appeared"
    CHANGED = "changed"
    GONE = "gone"


class LineFate(Code):
    """Fate of a record."""

    EVENT = "event", "A pattern claimed it."
    IGNORED = "ignored", "It carries nothing that is used."
    UNPARSED = "unparsed", "Its logger matters, and no pattern claims it."
    QUARANTINED = "quarantined", "It is broken."


class ClockMeaning(Code):
    """Fault of a log's clock. Late lines, and lines of another process in the same file, are not faults."""

    GARBLED = "garbled", "A line's instant is damaged: the lines around it agree on another one."
    HOUR_REPEATED = (
        "hour_repeated",
        "Summer time ended: an hour of the log's local time comes twice, in the file's order.",
    )
    SET_BACK = "set_back", "The clock was set back and stays back, or the file holds several logs."
    AHEAD = "ahead", "The clock is seconds or minutes ahead of those of other brokers."
    OTHER_ZONE = "other_zone", "The clock runs in another zone than that of another broker."


class GroupRecordType(Code):
    """Type of a record of `__consumer_offsets`."""

    GROUP_METADATA = "group_metadata"
    CONSUMER_GROUP_METADATA = "consumer_group_metadata"
    CONSUMER_GROUP_PARTITION_METADATA = "consumer_group_partition_metadata"
    CONSUMER_GROUP_MEMBER_METADATA = "consumer_group_member_metadata"
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA = "consumer_group_target_assignment_metadata"
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER = "consumer_group_target_assignment_member"
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT = "consumer_group_current_member_assignment"
    CONSUMER_GROUP_REGULAR_EXPRESSION = "consumer_group_regular_expression"


class MetadataRecordType(Code):
    """Type of a record of `__cluster_metadata`."""

    TOPIC = "topic"
    REMOVE_TOPIC = "remove_topic"
    PARTITION = "partition"
    PARTITION_CHANGE = "partition_change"
    CLEAR_ELR = "clear_elr"
    REGISTER_BROKER = "register_broker"
    UNREGISTER_BROKER = "unregister_broker"
    FENCE_BROKER = "fence_broker"
    UNFENCE_BROKER = "unfence_broker"
    BROKER_REGISTRATION_CHANGE = "broker_registration_change"
    CONFIG = "config"
    FEATURE_LEVEL = "feature_level"
    BEGIN_TRANSACTION = "begin_transaction"
    END_TRANSACTION = "end_transaction"
    ABORT_TRANSACTION = "abort_transaction"
    LEADER_CHANGE = "leader_change"
    UNDECODED = "undecoded"


class MemberState(Code):
    """State of a member under KIP-848."""

    STABLE = "stable"
    UNREVOKED_PARTITIONS = "unrevoked_partitions"
    UNRELEASED_PARTITIONS = "unreleased_partitions"
    UNKNOWN = "unknown"


class SettingsWitness(Code):
    """Witness of a member's settings."""

    MEMBER_LINE = "member_line", "A coordinator's line."
    CLIENT_LOG = "client_log", "The client's own log."
    GROUP_RECORD = "group_record", "A record of `__consumer_offsets`."
    SNAPSHOT = "snapshot", "A snapshot."
