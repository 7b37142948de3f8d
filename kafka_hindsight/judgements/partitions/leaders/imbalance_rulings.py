"""What ended a period of imbalance: the rulings, in order. The first that holds decides."""

from __future__ import annotations

from kafka_hindsight.catalog.codes import Confidence, FailoverKind, ImbalanceEnd
from kafka_hindsight.catalog.rows import Failover
from kafka_hindsight.judgements.reasoning.rulings import Proof, Ruling, always, proof_if


def is_not_preferred_election(change: Failover) -> Proof | None:
    """The change of leader that brought the broker below the threshold is not a preferred election."""
    return proof_if(change.kind != FailoverKind.PREFERRED_ELECTION)


def is_requested(change: Failover) -> Proof | None:
    """An operator or a tool requested the election."""
    return proof_if(change.requested_by_operator)


def is_automatic(change: Failover) -> Proof | None:
    """A task of Kafka's own made the election."""
    return proof_if(change.requested_by_operator is False)


_SOURCE = "gold.failovers, columns kind and requested_by_operator."

IMBALANCE_END_RULINGS: tuple[Ruling[Failover], ...] = (
    Ruling(
        ImbalanceEnd.FAILOVER,
        Confidence.CERTAIN,
        "Another change of leader brought leaders back.",
        proof=[is_not_preferred_election],
        source=_SOURCE,
        decides="crash-2.8 shop-events-2 epoch 1",
        looks_alike="preferred-2.8 shop-events-3 epoch 5",
    ),
    Ruling(
        ImbalanceEnd.REQUESTED_ELECTION,
        Confidence.CERTAIN,
        "A preferred election that an operator requested brought leaders back.",
        proof=[is_requested],
        source=_SOURCE,
        decides="reordered-2.8 billing.46-t-0 epoch 2",
        looks_alike="cancelled-4.1 parcels.83-t-0 epoch 4",
    ),
    Ruling(
        ImbalanceEnd.AUTOMATIC_ELECTION,
        Confidence.CERTAIN,
        "A preferred election of Kafka's own brought leaders back.",
        proof=[is_automatic],
        source=_SOURCE,
        decides="cancelled-4.1 parcels.83-t-0 epoch 4",
        looks_alike="reordered-2.8 billing.46-t-0 epoch 2",
    ),
    Ruling(
        ImbalanceEnd.PREFERRED_ELECTION,
        Confidence.CERTAIN,
        "A preferred election brought leaders back; the evidence does not show who requested it.",
        proof=[always],
        source=_SOURCE,
        decides="metadata-4.3 orders-0 epoch 3",
        looks_alike="cancelled-4.1 parcels.83-t-0 epoch 4",
    ),
)
