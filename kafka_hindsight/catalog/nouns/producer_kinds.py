"""The kinds of failed requests of producers, in words."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.code import Noun, NounCode
from kafka_hindsight.catalog.nouns.partitions import UnavailabilityKind

_REFUSED, _HUNG = UnavailabilityKind.ACKS_ALL_REFUSED, UnavailabilityKind.ACKS_ALL_HUNG
_NO_LEADER = UnavailabilityKind.NO_LEADER


@dataclass(frozen=True, kw_only=True)
class ProducerFailureNoun(Noun):
    """One kind of failed request in words.

    `clause` follows the producer's name. `errors` are Kafka's names of the errors, and those that libraries have for
    themselves, without `Error` or `Exception`; `witnesses` are the intervals of gold.unavailability that they show.
    """

    clause: str
    advice: str
    errors: tuple[str, ...] = ()
    witnesses: tuple[UnavailabilityKind, ...] = ()


# fmt: off
class ProducerFailureKind(NounCode):
    """Why the requests of a producer failed."""

    noun: ProducerFailureNoun

    NOT_ENOUGH_REPLICAS = ProducerFailureNoun(
        code="not_enough_replicas", clause="was refused, since too few replicas were in sync",
        meaning="The leader refused the batch, or took it and refused to acknowledge it: fewer replicas were in sync"
        " than"
        " min.insync.replicas. Source: Partition.appendRecordsToLeader, checkEnoughReplicasReachOffset.",
        advice="Bring the replicas back. A producer that is not idempotent may write a batch twice that was refused"
        " after"
        " the leader had appended it (NOT_ENOUGH_REPLICAS_AFTER_APPEND).",
        errors=("NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"),
        witnesses=(_REFUSED,),
    )
    LEADER_MOVED = ProducerFailureNoun(
        code="leader_moved", clause="asked a broker that did not lead the partition any more, or yet",
        meaning="The broker that was asked did not lead the partition, or there was no leader. The producer learns of"
        " the"
        " new one, and sends the batch again. Source: ReplicaManager.appendToLocalLog, getPartitionOrException.",
        advice="None is needed where it was over within seconds: each election does so to each producer.",
        errors=(
            "NOT_LEADER_OR_FOLLOWER", "NOT_LEADER_FOR_PARTITION", "LEADER_NOT_AVAILABLE", "FENCED_LEADER_EPOCH",
            "UNKNOWN_LEADER_EPOCH", "REPLICA_NOT_AVAILABLE",
        ),
        witnesses=(_NO_LEADER,),
    )
    PARTITION_UNKNOWN = ProducerFailureNoun(
        code="partition_unknown", clause="asked a broker that did not know the partition",
        meaning="The broker that was asked did not know the partition: the topic was deleted, the producer has no"
        " right to"
        " it, or the broker had just started and did not have the metadata yet.",
        advice="Find out whether the topic was deleted while producers wrote to it.",
        errors=("UNKNOWN_TOPIC_OR_PARTITION", "UNKNOWN_TOPIC_ID"),
        witnesses=(_NO_LEADER,),
    )
    NO_ANSWER = ProducerFailureNoun(
        code="no_answer", clause="got no answer in time",
        meaning="No answer came within request.timeout.ms, or the connection was lost. Whether the leader wrote the"
        " batch is not known to the producer. From Kafka 4.0 on, with eligible leader replicas, batches that were sent"
        " before too few replicas were in sync end so, too: the high watermark waits. Source:"
        " Sender.handleProduceResponse; DelayedProduce; Partition.maybeIncrementLeaderHW (KIP-966).",
        advice="See the outage of the broker that leads the partition, or of a follower in its ISR.",
        errors=(
            "REQUEST_TIMED_OUT", "NETWORK_EXCEPTION", "TIMEOUT", "TIMED_OUT", "DISCONNECT", "KAFKA_CONNECTION",
            "REQUEST_TIMED_OUT_QUEUE", "TRANSPORT",
        ),
        witnesses=(_HUNG, _NO_LEADER, _REFUSED),
    )
    EXPIRED = ProducerFailureNoun(
        code="expired", clause="gave records up that it could not write in time",
        meaning="A batch was as old as delivery.timeout.ms, and the producer gave it up. Whether the leader wrote it"
        " is not"
        " known to the producer if it had been sent. Source: Sender.sendProducerData, KIP-91.",
        advice="The application has to send these records again. A longer delivery.timeout.ms, the default is two"
        " minutes,"
        " lets the producer wait longer.",
        errors=("KAFKA_TIMEOUT", "MSG_TIMED_OUT"),
        witnesses=(_NO_LEADER, _REFUSED, _HUNG),
    )
    FENCED = ProducerFailureNoun(
        code="fenced", clause="was fenced",
        meaning="Another producer began with the same transactional.id, or the coordinator had aborted its transaction"
        " after transaction.timeout.ms. It may not write any more. Source: KIP-98, KIP-588.",
        advice="Give each producer a transactional.id of its own. If none shares it, find out what kept the transaction"
        " open for longer than transaction.timeout.ms.",
        errors=("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH", "FENCED"),
    )
    OUT_OF_SEQUENCE = ProducerFailureNoun(
        code="out_of_sequence", clause="was refused, since batches before this one are missing",
        meaning="The leader did not have the batches before this one, or knew nothing of the producer: an earlier batch"
        " failed, the log was cut, or retention had removed what the producer wrote. Source: ProducerAppendInfo.",
        advice="Look for an unclean election of that partition. If there is none, a batch before had been given up.",
        errors=("OUT_OF_ORDER_SEQUENCE_NUMBER", "OUT_OF_ORDER_SEQUENCE", "UNKNOWN_PRODUCER_ID"),
    )
    STORAGE_FAILED = ProducerFailureNoun(
        code="storage_failed", clause="was refused, since a disk of the leader had failed",
        meaning="The leader could not write to its disk. Source: ReplicaManager.appendToLocalLog,"
        " KafkaStorageException.",
        advice="See the log directory that failed.",
        errors=("KAFKA_STORAGE_ERROR",),
        witnesses=(_NO_LEADER, _REFUSED),
    )
    CLOSED = ProducerFailureNoun(
        code="closed", clause="ended with records that it had not written",
        meaning="The producer was closed, or its process ended, before it had written all that it held. Source:"
        " KafkaProducer.close; rd_kafka_destroy_app.",
        advice="Call flush() before the producer is closed, and give close() the time that delivery.timeout.ms allows.",
    )
    OTHER = ProducerFailureNoun(
        code="other", clause="was refused",
        meaning="Another error; the column errors names it.",
        advice="Look the error up in Kafka's documentation of its protocol.",
    )
# fmt: on
