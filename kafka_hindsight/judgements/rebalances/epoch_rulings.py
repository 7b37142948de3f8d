"""Why a group epoch rose without a member that joined or left."""

from __future__ import annotations

from collections.abc import Sequence

from kafka_hindsight.catalog.codes import Cause, Protocol
from kafka_hindsight.judgements.reasoning.rulings import LIKELY, POSSIBLE, UNKNOWN, Proof, Ruling, always, proof_if
from kafka_hindsight.judgements.rebalances.case import Case, shown
from kafka_hindsight.judgements.rebalances.rejoin_rulings import OTHER_CHANGES, one_change_fits
from kafka_hindsight.shared.durations import NEXT_POLL


def client_subscribed_again(case: Case) -> Proof | None:
    """A client's own log shows that it subscribed again less than 5 s before; its first subscription does not count."""
    at = case.episode.started_at
    found = case.registry.logs.resubscriptions.between(at - NEXT_POLL, at)
    last = max(found, key=lambda e: (e.happened_at, e.line_id), default=None)
    return None if last is None else shown(last, client=last.client_id)


def topics_stayed_the_same(case: Case) -> Proof | None:
    """The metadata hash of the subscribed topics is the same as in the epoch before."""
    return proof_if(case.episode.metadata_hash_changed is False)


def is_share_group(case: Case) -> Proof | None:
    """The group is a share group."""
    return proof_if(case.episode.protocol == Protocol.SHARE)


def is_of_consumers(case: Case) -> Proof | None:
    """The group is one of consumers, whose epochs have no other reasons."""
    return proof_if(case.episode.protocol == Protocol.CONSUMER)


def topics_changed(case: Case) -> Proof | None:
    """The metadata hash of the subscribed topics is another than in the epoch before."""
    return proof_if(case.episode.metadata_hash_changed)


def likely_if_topics_changed(case: Case) -> Proof | None:
    """Likely where the metadata hash of the subscribed topics is another than in the epoch before, else possible."""
    if topics_changed(case):
        return Proof(words={"topics": ", and the subscribed topics changed"})
    return Proof(words={"topics": ""}, confidence=POSSIBLE)


_EPOCHS = "GroupMetadataManager.java; KIP-848"

# fmt: off
EPOCH_RULINGS: Sequence[Ruling[Case]] = (
    Ruling(Cause.SUBSCRIPTION_CHANGED, LIKELY, "Client '{client}' subscribed to other topics, as its own log shows.",
           proof=(client_subscribed_again,), source="KIP-848; AsyncKafkaConsumer.java subscribe",
           decides="made: a KIP-848 client subscribes again", looks_alike="made: an epoch that shows nothing"),
    Ruling(Cause.SUBSCRIPTION_CHANGED, LIKELY, "A member changed its subscription: no member joined or left, and the"
           " topics stayed the same.",
           proof=(topics_stayed_the_same, is_of_consumers), source=_EPOCHS,
           decides="made: an epoch with the same topics", looks_alike="made: an epoch with other topics"),
    Ruling(Cause.SHARE_PARTITIONS_INITIALIZED, LIKELY, "No member joined or left, and the topics stayed the same: the"
           " coordinator assigns partitions of the share group that are initialized now.",
           proof=(topics_stayed_the_same, is_share_group),
           source="GroupMetadataManager.java shareGroupHeartbeat, initializedAssignmentPending; KIP-932",
           decides="groups/share-4.3 15:14:55.835", looks_alike="made: an epoch with the same topics"),
    Ruling(Cause.TOPIC_CREATED, LIKELY, "No member joined or left{topics}; {later} before, {change}.",
           proof=(one_change_fits, likely_if_topics_changed), source=_EPOCHS, also=OTHER_CHANGES,
           decides="made: an epoch with other topics after partitions_added",
           looks_alike="made: an epoch with other topics"),
    Ruling(Cause.METADATA_CHANGED, LIKELY, "No member joined or left, and the subscribed topics changed; no line"
           " shows which.",
           proof=(topics_changed,), source=_EPOCHS,
           decides="made: an epoch with other topics", looks_alike="made: an epoch with the same topics"),
    Ruling(Cause.UNKNOWN, UNKNOWN, "No member joined or left, and no line shows what changed.",
           proof=(always,), source=_EPOCHS,
           decides="made: an epoch that shows nothing", looks_alike="made: an epoch with the same topics"),
)
# fmt: on
