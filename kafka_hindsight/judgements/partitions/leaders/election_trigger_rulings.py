"""Whether an operator requested a change of leader, or Kafka's own tasks made it: the rulings, in order."""

from __future__ import annotations

from dataclasses import dataclass

from kafka_hindsight.catalog.codes import Confidence, ElectionTrigger, FailoverKind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.partitions.leaders.leadership_steps import PREFERRED, UNCLEAN, LeaderChange
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.judgements.reasoning.rulings import Proof, Ruling, always, judge, proof_if
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.durations import CLOCK_SKEW

_BY_OPERATOR = ("AdminClientTriggered", "ZkTriggered")
_REASONS = {
    FailoverKind.REASSIGNMENT: (),
    FailoverKind.PREFERRED_ELECTION: PREFERRED,
    FailoverKind.UNCLEAN_ELECTION: UNCLEAN,
}
"""The kinds of changes that can be requested, each with what lines call its elections."""

_REQUESTED = {ElectionTrigger.OPERATOR: True, ElectionTrigger.KAFKA: False}


@dataclass(frozen=True)
class TriggeredChange:
    """A change of leader that an operator can request, with its kind."""

    kind: FailoverKind
    change: LeaderChange

    @property
    def named(self) -> list[Event]:
        """The lines that start such an election at that time, this partition's among them."""
        return self.change.elections(_REASONS[self.kind])


def requested_by_operator(kind: FailoverKind, change: LeaderChange) -> bool | None:
    """Whether a person or a tool requested the change; None where it is not known, or cannot be requested."""
    if kind not in _REASONS:
        return None
    return _REQUESTED.get(ElectionTrigger(judge(ELECTION_TRIGGER_RULINGS, TriggeredChange(kind, change)).code))


def is_reassignment(case: TriggeredChange) -> Proof | None:
    """The leader changed by a reassignment."""
    return proof_if(case.kind == FailoverKind.REASSIGNMENT)


def named_as_requested(case: TriggeredChange) -> Proof | None:
    """A line that starts the election names a request of an operator's tool."""
    requested = [e for e in case.named if e.detail in _BY_OPERATOR]
    return proof_if(requested, *map(quote, requested[:1]))


def named_as_own(case: TriggeredChange) -> Proof | None:
    """A line shows the election and its trigger, which is not a request of an operator's tool."""
    own = [e for e in case.named if e.detail or e.kind == Kind.PERIODIC_ELECTION]
    return proof_if(own, *map(quote, own[:1]))


def is_unclean(case: TriggeredChange) -> Proof | None:
    """The election is unclean."""
    return proof_if(case.kind == FailoverKind.UNCLEAN_ELECTION)


def last_leader_just_detected_as_down(case: TriggeredChange) -> Proof | None:
    """The controller had just detected the last leader as down."""
    change = case.change
    outage = change.context.outage_at(change.last_leader, change.at)
    detected_at = outage.detected_at if outage else None
    return proof_if(detected_at and abs(change.at - detected_at) <= CLOCK_SKEW)


def controller_log_at_hand(case: TriggeredChange) -> Proof | None:
    """The log of the active controller covers the time of the change, which a line shows as it happened."""
    change = case.change
    return proof_if(change.after.is_exact and change.context.has_controller_log_at(change.at))


def in_zookeeper_mode(case: TriggeredChange) -> Proof | None:
    """The controllers are those of ZooKeeper mode."""
    return proof_if(case.change.context.uses_zookeeper)


def own_task_reported(case: TriggeredChange) -> Proof | None:
    """Controllers report what Kafka's own task for these elections does."""
    return proof_if(case.change.context.reported_tasks.intersection(_REASONS[case.kind]))


def controller_just_changed(case: TriggeredChange) -> Proof | None:
    """A controller became active at that time: it commits what a task of the former one elected."""
    at = case.change.at
    begun = (abs(at - e.since) <= CLOCK_SKEW for e in case.change.context.controller_epochs)
    return proof_if(any(begun))


_ZOOKEEPER = (
    "KafkaController.onReplicaElection names the trigger of each election; an unclean election that no request"
    " triggers is not printed."
)
_KRAFT = (
    "ReplicationControlManager.electLeaders, generateLeaderAndIsrUpdates; QuorumController."
    "maybeScheduleNextBalancePartitionLeaders. Since 3.9 a controller reports the elections of its own tasks, and"
    " prints nothing for those that are requested."
)

ELECTION_TRIGGER_RULINGS: tuple[Ruling[TriggeredChange], ...] = (
    Ruling(
        ElectionTrigger.OPERATOR,
        Confidence.CERTAIN,
        "The reassignment was requested: no task of Kafka's own reassigns replicas.",
        proof=[is_reassignment],
        source="KIP-455: only AlterPartitionReassignments reassigns replicas.",
        decides="reassignment-4.3 crm-6-tracker-t-0 epoch 1",
        looks_alike="cancelled-4.1 parcels.83-t-0 epoch 4",
    ),
    Ruling(
        ElectionTrigger.OPERATOR,
        Confidence.CERTAIN,
        "An operator's tool requested the election, as the line that starts it shows.",
        proof=[named_as_requested],
        source=_ZOOKEEPER,
        decides="reordered-2.8 billing.46-t-0 epoch 2",
        looks_alike="elections-3.9 search-34-sink-t-0 epoch 9",
    ),
    Ruling(
        ElectionTrigger.KAFKA,
        Confidence.CERTAIN,
        "A task of Kafka's own made the election, as a line of the controller shows.",
        proof=[named_as_own],
        source=_KRAFT,
        decides="cancelled-4.1 parcels.83-t-0 epoch 4",
        looks_alike="reordered-2.8 billing.46-t-0 epoch 2",
    ),
    Ruling(
        ElectionTrigger.KAFKA,
        Confidence.LIKELY,
        "The controller elected an unclean leader at once when it detected the last leader as down.",
        proof=[is_unclean, last_leader_just_detected_as_down],
        source="unclean.leader.election.enable: ReplicationControlManager.handleBrokerFenced.",
        decides="unclean-4.1 fraud-risky-19-0 epoch 1",
        looks_alike="cancelled-4.1 parcels.83-t-0 epoch 4",
    ),
    Ruling(
        ElectionTrigger.KAFKA,
        Confidence.LIKELY,
        "The controller elected an unclean leader by itself: in ZooKeeper mode it names every request.",
        proof=[is_unclean, in_zookeeper_mode, controller_log_at_hand],
        source=_ZOOKEEPER,
        decides="made: unclean-2.8, when the last leader had been down for long",
        looks_alike="unclean-2.8 ads-risky-18-0 epoch 3",
    ),
    Ruling(
        ElectionTrigger.OPERATOR,
        Confidence.LIKELY,
        "The election was requested: the controller reports the elections of Kafka's own tasks, and not this one.",
        proof=[controller_log_at_hand, own_task_reported],
        unless=[in_zookeeper_mode, controller_just_changed],
        source=_KRAFT,
        decides="night-4.1 shop-events-1 epoch 2",
        looks_alike="cancelled-4.1 parcels.83-t-0 epoch 4",
    ),
    Ruling(
        ElectionTrigger.UNKNOWN,
        Confidence.UNKNOWN,
        "The evidence does not show whether the election was requested.",
        proof=[always],
        source="Every election that no ruling above explains.",
        decides="metadata-4.3 orders-0 epoch 3",
        looks_alike="night-4.1 shop-events-1 epoch 2",
    ),
)
