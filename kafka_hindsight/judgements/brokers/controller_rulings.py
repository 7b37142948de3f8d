"""Why the active controller changed.

The evidence of a change is the lines that show it, with those that the ruling adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import NOBODY, Confidence, ControllerChangeCause
from kafka_hindsight.catalog.rows import BrokerOutage, Event
from kafka_hindsight.judgements.brokers.controllers import ControllerEpoch
from kafka_hindsight.judgements.brokers.outages import CAUSED_BY
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.judgements.reasoning.rulings import Proof, Ruling, always, proof_if
from kafka_hindsight.knowledge.kinds import Kind

_RESIGNED_BEFORE = timedelta(minutes=1)
"""A cluster has a new controller within this time of a resignation, unless its quorum has no majority."""

_IN_VAIN = 3
"""So many elections begun by one node: where only the first vote splits, the second one elects. Our choice."""

_WITHOUT_END = 6
"""So many elections begun by one node: votes that split would not do so each time. Our choice."""


def most_elections(stood: Sequence[Event]) -> int | None:
    """The elections that were begun, by the node that began most; None where no line shows one."""
    return max(Counter((e.broker, e.detail) for e in stood).values(), default=None)


def is_in_vain(stood: Sequence[Event]) -> bool:
    """Whether one node began elections again and again."""
    return (most_elections(stood) or 0) >= _IN_VAIN


@dataclass(frozen=True)
class ControllerCase:
    """One change of the controller.

    Where `controller` is -1, no line shows a node that won the elections, and `term` begins with the last of them.
    `before` is None where no line shows the controller before: on ZooKeeper also where epochs lie between.
    `outages` are those that lasted at the change, `lines` the former controller's own from when it became active until
    the change. `stood`: the lines with which nodes stand for election until this controller is elected, without a
    pause between them.
    """

    term: ControllerEpoch
    before: ControllerEpoch | None
    outages: Sequence[BrokerOutage]
    lines: Sequence[Event]
    stood: Sequence[Event] = ()

    @property
    def happened_at(self) -> datetime:
        """When the controller became active; where none did, since when there was none."""
        return (self.resigned_at or self.stood[0].happened_at) if self.controller == NOBODY else self.term.since

    @property
    def resigned_at(self) -> datetime | None:
        """When the former controller gave the quorum's leadership up and went on to stand for election."""
        downs = [e for e in self.lines if e.kind == Kind.CONTROLLER_STEPPED_DOWN]
        later = downs and any(e.broker == self.former and e.happened_at > downs[-1].happened_at for e in self.stood)
        return downs[-1].happened_at if later else None

    @property
    def former_outage(self) -> BrokerOutage | None:
        """The absence of the former controller that lasted at the change; of several, which meet there, the newest."""
        own = (o for o in self.outages if o.broker == self.former)
        return max(own, key=lambda o: o.down_at, default=None)

    @property
    def uncontrolled(self) -> tuple[timedelta | None, timedelta | None]:
        """How long there was no controller, at least and at most: from the resignation of the former, or from the first
        election after its last line. Before its resignation it may have had no majority for as long as it waits."""
        if self.resigned_at:
            return self.term.since - self.resigned_at, None
        if self.former_outage is None:
            return None, None
        down_at = self.former_outage.down_at
        first = next((e.happened_at for e in self.stood if e.happened_at >= down_at), None)
        low, high = self.term.since - first if first else None, self.term.since - down_at
        # A shutdown in order hands the office over as it begins.
        return low, high if high > timedelta() and self.controller != NOBODY else None

    @property
    def controller(self) -> int:
        """The controller that became active."""
        return self.term.controller

    @property
    def former(self) -> int | None:
        """The controller before."""
        return self.before.controller if self.before else None

    @property
    def is_back(self) -> bool:
        """Whether the controller before was the same node."""
        return self.former == self.controller

    @property
    def again(self) -> str:
        """What a sentence says of a controller that is back."""
        return " again" if self.is_back else ""

    @property
    def outcome(self) -> str:
        """What the elections led to."""
        is_lost = self.controller == NOBODY
        return "no line shows a controller afterwards" if is_lost else f"controller {self.controller} became active"

    @property
    def skips_epochs(self) -> bool:
        """Whether epochs lie between: a quorum counts elections that no node won, and a node may have won one."""
        if self.before and self.before.is_zookeepers and not self.term.is_zookeepers:
            return True  # The quorum has a count of its own: how many epochs lie between is not known.
        return self.before is not None and self.term.epoch > self.before.epoch + 1


def predecessor_unknown(case: ControllerCase) -> Proof | None:
    """No line shows the controller before."""
    return proof_if(case.before is None)


def first_epoch(case: ControllerCase) -> Proof | None:
    """The epoch is the first."""
    return proof_if(case.term.epoch == 1)


def same_controller(case: ControllerCase) -> Proof | None:
    """The controller before was the same node."""
    return proof_if(case.is_back)


def former_was_down(case: ControllerCase) -> Proof | None:
    """An outage of the former controller lasted at the change; likely at most if epochs lie between or it is back."""
    outage = case.former_outage
    if outage is None:
        return None
    return Proof(
        tuple(outage.evidence[:2]),
        {"did": CAUSED_BY[outage.kind]},
        {"outage_id": outage.outage_id},
        outage.confidence.at_most(Confidence.LIKELY) if case.skips_epochs or case.is_back else outage.confidence,
    )


def session_expired(case: ControllerCase) -> Proof | None:
    """The former controller reports that its ZooKeeper session expired."""
    expired = [quote(e) for e in case.lines if e.kind == Kind.ZOOKEEPER_SESSION_EXPIRED]
    return proof_if(expired, *expired[-1:])


def moved_to_kraft(case: ControllerCase) -> Proof | None:
    """A controller of KRaft registers in ZooKeeper, and the one before was a broker."""
    return proof_if(case.term.is_migrated and case.before and not case.before.is_migrated)


def resigned(case: ControllerCase) -> Proof | None:
    """The former controller reports that it resigned, at most a minute before the change."""
    since = case.term.since - _RESIGNED_BEFORE
    found = [quote(e) for e in case.lines if e.kind == Kind.CONTROLLER_RESIGNED and e.happened_at >= since]
    return proof_if(found, *found[-1:])


def stood_in_vain(case: ControllerCase) -> Proof | None:
    """A node stood for election again and again until this controller was elected."""
    held = [quote(e) for e in case.stood]
    return proof_if(is_in_vain(case.stood), held[0], held[-1], elections=most_elections(case.stood)) if held else None


def majority_was_away(case: ControllerCase) -> Proof | None:
    """Outages of other nodes lasted at the change, or a node stood so often that votes which split cannot be why."""
    others = others_were_down(case)
    if others is not None:
        return Proof(words={"too": f", {others.words['others']} was down too"})
    return Proof(words={"too": ""}) if (most_elections(case.stood) or 0) >= _WITHOUT_END else None


def none_followed(case: ControllerCase) -> Proof | None:
    """No line shows a controller after the elections."""
    return proof_if(case.controller == NOBODY)


def gave_up(case: ControllerCase) -> Proof | None:
    """The former controller gave the leadership of the quorum up, and stood for election afterwards."""
    downs = [quote(e) for e in case.lines if e.kind == Kind.CONTROLLER_STEPPED_DOWN]
    return proof_if(case.resigned_at, *downs[-1:])


def others_were_down(case: ControllerCase) -> Proof | None:
    """Outages of other nodes lasted at the change."""
    others = sorted({o.broker for o in case.outages if o.broker != case.former})
    return proof_if(others, others=" and ".join(map(str, others)))


CONTROLLER_RULINGS: tuple[Ruling[ControllerCase], ...] = (
    Ruling(
        ControllerChangeCause.MOVED_TO_KRAFT,
        Confidence.CERTAIN,
        "Controller {controller} of KRaft took over from controller {former}: the cluster moves to KRaft.",
        proof=(moved_to_kraft,),
        source="KafkaZkClient.tryRegisterKRaftControllerAsActiveController: it takes the controller's node in ZooKeeper"
        " and raises the epoch in one step (KIP-866)",
        decides="moved-3.9 epoch 11",
        looks_alike="unclean-2.8 epoch 3",
    ),
    Ruling(
        ControllerChangeCause.NO_MAJORITY,
        Confidence.LIKELY,
        "The quorum had no majority: controller {former} resigned, {elections} elections were begun, and {outcome}.",
        proof=(gave_up, stood_in_vain),
        source="LeaderState.timeUntilCheckQuorumExpires: a leader that no majority fetches from resigns;"
        " KafkaRaftClient.pollProspective, pollCandidate: it stands for election again as long as no majority answers",
        decides="quorum-4.3 epoch 3",
        looks_alike="unclean-4.1 epoch 5",
    ),
    Ruling(
        ControllerChangeCause.NO_MAJORITY,
        Confidence.LIKELY,
        "No majority of the quorum answered: controller {former} {did}{too}, {elections} elections were begun, and"
        " {outcome}.",
        proof=(former_was_down, majority_was_away, stood_in_vain),
        source="KafkaRaftClient.pollProspective, pollCandidate: a voter stands until a majority grants it a pre-vote"
        " (KIP-996), which each one does that has no leader",
        decides="made: quorum-4.3, controllers 2 and 1 were down",
        looks_alike="quorum-4.3 epoch 4",
    ),
    Ruling(
        ControllerChangeCause.NO_MAJORITY,
        Confidence.POSSIBLE,
        "No line shows a controller after {elections} elections were begun: the quorum had no majority, or the node"
        " that began them did not reach the others.",
        proof=(none_followed, stood_in_vain),
        source="KafkaRaftClient.pollProspective, pollCandidate: a node stands until a majority answers",
        decides="made: quorum-4.3 until 15:12:12",
        looks_alike="quorum-4.3 epoch 4",
    ),
    Ruling(
        ControllerChangeCause.FIRST,
        Confidence.CERTAIN,
        "Controller {controller} became active, the first of the cluster.",
        proof=(first_epoch,),
        source="controller epochs begin at 1: KafkaZkClient.registerControllerAndIncrementControllerEpoch,"
        " QuorumState.initialize",
        decides="crash-2.8 epoch 1",
        looks_alike="unclean-2.8 epoch 2",
    ),
    Ruling(
        ControllerChangeCause.UNKNOWN,
        Confidence.UNKNOWN,
        "Controller {controller} became active; no line shows which controller was active before.",
        proof=(predecessor_unknown,),
        source="KafkaZkClient.registerControllerAndIncrementControllerEpoch: each ZooKeeper controller has an epoch",
        decides="unclean-2.8 epoch 2",
        looks_alike="crash-2.8 epoch 1",
    ),
    Ruling(
        ControllerChangeCause.OUTAGE,
        Confidence.CERTAIN,
        "Controller {controller} became active{again} because controller {former} {did}.",
        proof=(former_was_down,),
        source="KafkaController.elect, once the controller's node in ZooKeeper is gone; KafkaRaftClient: a follower"
        " whose fetches time out stands for election",
        decides="unclean-2.8 epoch 3",
        looks_alike="unclean-4.1 epoch 5",
    ),
    Ruling(
        ControllerChangeCause.SESSION_EXPIRED,
        Confidence.LIKELY,
        "Controller {controller} became active because the ZooKeeper session of controller {former} had expired: it was"
        " paused, or the network failed.",
        proof=(session_expired,),
        source="KafkaController.processExpire: a controller whose session is over resigns",
        decides="made: crash-2.8, the session of controller 2 expired",
        looks_alike="made: crash-2.8, controller 3 followed",
    ),
    Ruling(
        ControllerChangeCause.NO_MAJORITY,
        Confidence.POSSIBLE,
        "Controller {controller} became active after {elections} elections were begun until one succeeded: the quorum"
        " had no majority, or the node that began them did not reach the others.",
        proof=(stood_in_vain,),
        source="KafkaRaftClient.pollProspective, pollCandidate: a node stands until a majority answers",
        decides="quorum-4.3 epoch 4",
        looks_alike="unclean-4.1 epoch 5",
    ),
    Ruling(
        ControllerChangeCause.NO_MAJORITY,
        Confidence.LIKELY,
        "Controller {controller} became active again: it had resigned while the quorum lacked {others}.",
        proof=(resigned, same_controller, others_were_down),
        source="LeaderState.timeUntilCheckQuorumExpires: a leader that no majority fetches from resigns",
        decides="sample epoch 5",
        looks_alike="unclean-4.1 epoch 5",
    ),
    Ruling(
        ControllerChangeCause.RESIGNED,
        Confidence.POSSIBLE,
        "Controller {controller} became active{again} after controller {former} had resigned: that one lost the"
        " majority of the quorum, or an operator had it replaced.",
        proof=(resigned,),
        source="QuorumController.renounce; KafkaController.maybeResign",
        decides="made: crash-2.8, controller 2 resigned",
        looks_alike="sample epoch 5",
    ),
    Ruling(
        ControllerChangeCause.UNKNOWN,
        Confidence.UNKNOWN,
        "Controller {controller} became active{again} after controller {former}; no line shows why.",
        proof=(always,),
        source="KafkaController.elect, QuorumState: an election line names the winner and not the reason",
        decides="unclean-4.1 epoch 5",
        looks_alike="unclean-2.8 epoch 3",
    ),
)
