"""Changes of the active controller: which node became active, and why the one before did not stay.

The evidence of a change is the lines that show it, with those that the ruling adds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from kafka_hindsight.catalog.codes import NOBODY, Confidence, ControllerChangeCause, OutageKind
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerOutage, ControllerChange, Event
from kafka_hindsight.judgements.brokers.controllers import CONTROLLER_KINDS, ControllerEpoch, controller_epochs_of
from kafka_hindsight.judgements.brokers.liveness import SHUTDOWN_LASTS
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote
from kafka_hindsight.judgements.reasoning.proofs import Proof, always, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Possible, Ruling, Unknown, verdict_of
from kafka_hindsight.knowledge.outage_words import noun_of
from kafka_hindsight.measures.time_away import shown_until
from kafka_hindsight.shared.durations import CLOCK_SKEW, LONG_AGO, MS, NEVER
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline, timelines
from kafka_hindsight.shared.windows import Window, broker_ids, in_order

_RESIGNED_BEFORE = timedelta(minutes=1)
"""A cluster has a new controller within this time of a resignation, unless its quorum has no majority."""

_IN_VAIN = 3
"""The elections of one node that are in vain: where only the first vote splits, the second one elects. Our choice."""

_WITHOUT_END = 6
"""The elections of one node that split votes do not explain: they would not split each time. Our choice."""


def most_elections(candidacies: Sequence[Event]) -> int | None:
    """The elections that were begun, by the node that began most; None where no line shows one."""
    return max(Counter((e.broker, e.detail) for e in candidacies).values(), default=None)


def is_in_vain(candidacies: Sequence[Event]) -> bool:
    """Whether one node began elections again and again."""
    return (most_elections(candidacies) or 0) >= _IN_VAIN


@dataclass(frozen=True)
class ControllerCase:
    """One change of the controller.

    Where `controller` is -1, no line shows a node that won the elections, and `term` begins with the last of them.
    `before` is None where no line shows the controller before: on ZooKeeper also where epochs lie between.
    `outages` are those that lasted at the change, `lines` the former controller's own from when it became active until
    the change. `candidacies`: the lines with which nodes stand for election until this controller is elected, without a
    pause between them. `broker_list`: the line in which a controller on ZooKeeper lists the brokers that it finds.
    `own_expiry`: the line in which its own ZooKeeper session had expired, shortly before.
    """

    term: ControllerEpoch
    before: ControllerEpoch | None
    outages: Sequence[BrokerOutage]
    lines: Sequence[Event]
    candidacies: Sequence[Event] = ()
    broker_list: Event | None = None
    own_expiry: Event | None = None

    @property
    def happened_at(self) -> datetime:
        """The instant at which the controller became active; where none did, the first one without a controller."""
        return (self.resigned_at or self.candidacies[0].happened_at) if self.controller == NOBODY else self.term.since

    @property
    def resigned_at(self) -> datetime | None:
        """The instant at which the former controller gave up the quorum's leadership, and then stood for election."""
        downs = [e for e in self.lines if e.kind == Kind.CONTROLLER_STEPPED_DOWN]
        has_stood_since = downs and any(
            e.broker == self.former and e.happened_at > downs[-1].happened_at for e in self.candidacies
        )
        return downs[-1].happened_at if has_stood_since else None

    @property
    def former_outage(self) -> BrokerOutage | None:
        """The absence of the former controller that lasted at the change; of several, which meet there, the newest.

        One that begins just after the change counts only for another node, whose clock may differ.
        """
        own_outages = [
            o for o in self.outages if o.broker == self.former and not (self.is_back and o.down_at > self.term.since)
        ]
        ongoing = [o for o in own_outages if o.down_at <= self.term.since]
        return max(ongoing or own_outages, key=lambda o: o.down_at, default=None)

    @property
    def uncontrolled(self) -> tuple[timedelta | None, timedelta | None]:
        """How long there was no controller, at least and at most.

        It starts at the resignation of the former, or at the first election after its last line. Before its resignation
        it may have had no majority for as long as it waits.
        """
        if self.resigned_at:
            return self.term.since - self.resigned_at, None
        if self.former_outage is None:
            return None, None
        down_at = self.former_outage.down_at
        first = next((e.happened_at for e in self.candidacies if e.happened_at >= down_at), None)
        low, high = self.term.since - first if first else None, self.term.since - down_at
        # A shutdown in order hands the office over as it begins.
        return low, high if high > timedelta() and self.controller != NOBODY else None

    @property
    def controller(self) -> int:
        return self.term.controller

    @property
    def former(self) -> int | None:
        return self.before.controller if self.before else None

    @property
    def is_back(self) -> bool:
        return self.former == self.controller

    @property
    def again(self) -> str:
        """The word of a sentence on a controller that is back."""
        return " again" if self.is_back else ""

    @property
    def reset_clause(self) -> str:
        """The clause of a sentence on the first controller where epochs had been higher before."""
        what = "ZooKeeper's data was emptied" if self.term.is_zookeepers else "the disks of its quorum were formatted"
        return f". Controller epochs begin again: {what}" if self.term.incarnation else ""

    @property
    def why_resigned(self) -> str:
        if self.before and self.before.is_zookeepers:
            return "it was shut down, its ZooKeeper session expired, or its node in ZooKeeper was deleted"
        return "it lost the majority of the quorum, or an operator replaced it"

    @property
    def outcome(self) -> str:
        is_lost = self.controller == NOBODY
        return "no line shows a controller afterwards" if is_lost else f"controller {self.controller} became active"

    @property
    def skips_epochs(self) -> bool:
        """Whether epochs lie between the two. A node may have won one, but a quorum counts lost elections too."""
        if self.before and self.before.is_zookeepers and not self.term.is_zookeepers:
            return True  # The quorum has a count of its own: how many epochs lie between is not known.
        return self.before is not None and self.term.epoch > self.before.epoch + 1


def predecessor_unknown(case: ControllerCase) -> Proof | None:
    """No line shows the controller before."""
    return proof_if(case.before is None)


def found_no_other(case: ControllerCase) -> Proof | None:
    """The controller was itself away before, and finds no other broker registered."""
    if case.broker_list is None or not any(o.broker == case.controller for o in case.outages):
        return None
    return proof_if({*(broker_ids(case.broker_list.nodes) or ())} <= {case.controller}, quote(case.broker_list))


def own_session_expired(case: ControllerCase) -> Proof | None:
    """The controller's own ZooKeeper session had expired shortly before, so that its process was at work."""
    return proof_if(case.own_expiry, *([quote(case.own_expiry)] if case.own_expiry else []))


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
        tuple(outage.evidence[:3]),
        {"fate": noun_of(outage).verb},
        {"outage_id": outage.outage_id},
        outage.confidence.at_most(Confidence.LIKELY) if case.skips_epochs or case.is_back else outage.confidence,
    )


def only_lost_its_session(case: ControllerCase) -> Proof | None:
    """Nothing but the end of its ZooKeeper session shows that the former controller was away."""
    outage = case.former_outage
    kinds = (OutageKind.UNRESPONSIVE, OutageKind.UNKNOWN)
    is_alone = outage is not None and outage.kind in kinds and outage.detected_at is None
    return session_expired(case) if is_alone else None


def session_expired(case: ControllerCase) -> Proof | None:
    """The former controller reports that its ZooKeeper session expired."""
    expiries = [quote(e) for e in case.lines if e.kind == Kind.ZOOKEEPER_SESSION_EXPIRED]
    return proof_if(expiries, *expiries[-1:])


def moved_to_kraft(case: ControllerCase) -> Proof | None:
    """A controller of KRaft registers in ZooKeeper, and the one before was a broker."""
    return proof_if(case.term.is_migrated and case.before and not case.before.is_migrated)


def resigned(case: ControllerCase) -> Proof | None:
    """The former controller reports that it resigned, at most a minute before the change."""
    since = case.term.since - _RESIGNED_BEFORE
    resignations = [quote(e) for e in case.lines if e.kind == Kind.CONTROLLER_RESIGNED and e.happened_at >= since]
    return proof_if(resignations, *resignations[-1:])


def is_of_zookeeper(case: ControllerCase) -> Proof | None:
    """The controller is one of ZooKeeper mode."""
    return proof_if(case.term.is_zookeepers)


def stood_in_vain(case: ControllerCase) -> Proof | None:
    """A node stood for election again and again until this controller was elected."""
    quotes = [quote(e) for e in case.candidacies]
    elections = most_elections(case.candidacies)
    return proof_if(is_in_vain(case.candidacies), quotes[0], quotes[-1], elections=elections) if quotes else None


def majority_was_away(case: ControllerCase) -> Proof | None:
    """Outages of other nodes lasted at the change, or a node stood so often that votes which split cannot be why."""
    others = others_were_down(case)
    if others is not None:
        return Proof(words={"other_outages": f", {others.words['others']} was down too"})
    return Proof(words={"other_outages": ""}) if (most_elections(case.candidacies) or 0) >= _WITHOUT_END else None


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
    Certain(
        ControllerChangeCause.MOVED_TO_KRAFT,
        "Controller {controller} of KRaft took over from controller {former}: the cluster moves to KRaft.",
        proof=(moved_to_kraft,),
        source="KafkaZkClient.tryRegisterKRaftControllerAsActiveController: it takes the controller's node in ZooKeeper"
        " and raises the epoch in one step (KIP-866)",
        cases=("moved-3.9 epoch 11", "unclean-2.8 epoch 3"),
    ),
    Likely(
        ControllerChangeCause.NO_MAJORITY,
        "The quorum had no majority: controller {former} resigned, {elections} elections were begun, and {outcome}.",
        proof=(gave_up, stood_in_vain),
        source="LeaderState.timeUntilCheckQuorumExpires: a leader that no majority fetches from resigns;"
        " KafkaRaftClient.pollProspective, pollCandidate: it stands for election again as long as no majority answers",
        cases=("quorum-4.3 epoch 3", "unclean-4.1 epoch 5"),
    ),
    Likely(
        ControllerChangeCause.NO_MAJORITY,
        "No majority of the quorum answered: controller {former} {fate}{other_outages}, {elections} elections were"
        " begun, and {outcome}.",
        proof=(former_was_down, majority_was_away, stood_in_vain),
        source="KafkaRaftClient.pollProspective, pollCandidate: a voter stands until a majority grants it a pre-vote"
        " (KIP-996), which each one does that has no leader",
        cases=("made: quorum-4.3, controllers 2 and 1 were down", "quorum-4.3 epoch 4"),
    ),
    Possible(
        ControllerChangeCause.NO_MAJORITY,
        "No line shows a controller after {elections} elections were begun: the quorum had no majority, or the node"
        " that began them did not reach the others.",
        proof=(none_followed, stood_in_vain),
        source="KafkaRaftClient.pollProspective, pollCandidate: a node stands until a majority answers",
        cases=("made: quorum-4.3 until 15:12:12", "quorum-4.3 epoch 4"),
    ),
    Certain(
        ControllerChangeCause.FIRST,
        "Controller {controller} became active, the first of the cluster{reset_clause}.",
        proof=(first_epoch,),
        source="controller epochs begin at 1, and grow as long as the metadata is kept:"
        " KafkaZkClient.registerControllerAndIncrementControllerEpoch, QuorumState.initialize",
        cases=("crash-2.8 epoch 1", "unclean-2.8 epoch 2"),
    ),
    Possible(
        ControllerChangeCause.SESSION_EXPIRED,
        "Controller {controller} became active just after its own ZooKeeper session had expired. No line names the"
        " controller before it: its session had expired too, or it was away.",
        proof=(predecessor_unknown, own_session_expired),
        source="KafkaController.elect, once the controller's node in ZooKeeper is gone; a host or a network that stands"
        " still costs all sessions at once",
        cases=("made: crash-2.8, its own session expired", "made: crash-2.8, all brokers were down"),
    ),
    Likely(
        ControllerChangeCause.OUTAGE,
        "Controller {controller} became active as it started. No line names the controller before it, which was down"
        " like all other brokers.",
        proof=(predecessor_unknown, found_no_other),
        source="KafkaController.elect, once the controller's node in ZooKeeper is gone; its initializeControllerContext"
        " lists the brokers whose sessions last",
        cases=("made: crash-2.8, all brokers were down", "unclean-2.8 epoch 2"),
    ),
    Unknown(
        ControllerChangeCause.UNKNOWN,
        "Controller {controller} became active; no line shows which controller was active before.",
        proof=(predecessor_unknown,),
        source="KafkaZkClient.registerControllerAndIncrementControllerEpoch: each ZooKeeper controller has an epoch",
        cases=("unclean-2.8 epoch 2", "crash-2.8 epoch 1"),
    ),
    Certain(
        ControllerChangeCause.OUTAGE,
        "Controller {controller} became active{again} because controller {former} {fate}.",
        proof=(former_was_down,),
        unless=(only_lost_its_session,),
        source="KafkaController.elect, once the controller's node in ZooKeeper is gone; KafkaRaftClient: a follower"
        " whose fetches time out stands for election",
        cases=("unclean-2.8 epoch 3", "unclean-4.1 epoch 5"),
    ),
    Likely(
        ControllerChangeCause.SESSION_EXPIRED,
        "Controller {controller} became active because the ZooKeeper session of controller {former} had expired: it was"
        " paused, or the network failed.",
        proof=(session_expired,),
        source="KafkaController.processExpire: a controller whose session is over resigns",
        cases=("made: crash-2.8, the session of controller 2 expired", "made: crash-2.8, controller 3 followed"),
    ),
    Possible(
        ControllerChangeCause.NO_MAJORITY,
        "Controller {controller} became active after {elections} elections were begun until one succeeded: the quorum"
        " had no majority, or the node that began them did not reach the others.",
        proof=(stood_in_vain,),
        source="KafkaRaftClient.pollProspective, pollCandidate: a node stands until a majority answers",
        cases=("quorum-4.3 epoch 4", "unclean-4.1 epoch 5"),
    ),
    Likely(
        ControllerChangeCause.NO_MAJORITY,
        "Controller {controller} became active again: it had resigned while the quorum lacked {others}.",
        proof=(resigned, same_controller, others_were_down),
        unless=(is_of_zookeeper,),
        source="LeaderState.timeUntilCheckQuorumExpires: a leader that no majority fetches from resigns. ZooKeeper's"
        " controllers have no quorum: KafkaController resigns in processExpire, and as its node in ZooKeeper changes",
        cases=("sample epoch 5", "unclean-4.1 epoch 5"),
    ),
    Possible(
        ControllerChangeCause.RESIGNED,
        "Controller {controller} became active{again} after controller {former} had resigned: {why_resigned}.",
        proof=(resigned,),
        source="QuorumController.renounce; KafkaController.shutdown, processExpire, triggerControllerMove",
        cases=("made: crash-2.8, controller 2 resigned", "sample epoch 5"),
    ),
    Unknown(
        ControllerChangeCause.UNKNOWN,
        "Controller {controller} became active{again} after controller {former}; no line shows why.",
        proof=(always,),
        source="KafkaController.elect, QuorumState: an election line names the winner and not the reason",
        cases=("unclean-4.1 epoch 5", "unclean-2.8 epoch 3"),
    ),
)


WHY_CONTROLLERS_CHANGE = (Kind.ZOOKEEPER_SESSION_EXPIRED, Kind.CONTROLLER_STEPPED_DOWN, Kind.ELECTION_STOOD)
"""Kinds that show why a controller resigned, beside those of CONTROLLER_KINDS."""

_PAUSE = timedelta(seconds=15)
"""A node that no majority answers stands for election again much sooner. Source: controller.quorum.election.timeout.ms,
its backoff and controller.quorum.fetch.timeout.ms, 1 to 2 s each by default."""

_WITHOUT = "no leader was elected, no topic changed, and no broker was let in or fenced."


def rebuild_controller_changes(
    events: Iterable[Event], outages: Sequence[BrokerOutage], window: Window
) -> list[ControllerChange]:
    """Rows of gold.controller_changes by epoch.

    There is one for each in which a line shows that a controller became active, and one for the last elections, where
    no line shows that a node won them.

    An epoch that no node won has no other row. Of a KRaft controller that is not a broker only its own lines report.
    """
    events = list(events)
    until = max((e.happened_at for e in events), default=LONG_AGO)
    kinds = (*CONTROLLER_KINDS, *WHY_CONTROLLERS_CHANGE, Kind.BROKERS_LISTED)
    ordered = in_order(e for e in events if e.kind in kinds)
    return [_row(case) for case in _cases(ordered, outages, until) if window.holds(case.happened_at)]


def _cases(ordered: Sequence[Event], outages: Sequence[BrokerOutage], until: datetime) -> Iterator[ControllerCase]:
    away = Intervals(Interval(o.down_at, shown_until(o), o) for o in outages)
    lines = timelines(ordered, lambda e: e.broker, lambda e: e.happened_at)
    candidacies = [e for e in ordered if e.kind == Kind.ELECTION_STOOD]
    epochs = controller_epochs_of(ordered)
    terms = timelines(epochs, lambda t: t.controller, lambda t: t.since)
    for before, term in pairwise([None, *epochs, *_without_winner(epochs[-1:], candidacies, ordered, outages, until)]):
        if term and term.is_change:
            # ZooKeeper counts epochs of controllers alone, a quorum those that no node won too.
            skips = before and term.is_zookeepers and term.epoch > before.epoch + 1
            if before and (skips or before.incarnation != term.incarnation):
                before = None
            former_lines = lines.get(before.controller) if before else None
            own = lines.get(term.controller)
            recent = own.between(term.since - _RESIGNED_BEFORE, term.since + CLOCK_SKEW) if own else ()
            lists = (e for e in ordered if e.kind == Kind.BROKERS_LISTED and e.broker == term.controller)
            yield ControllerCase(
                term=term,
                before=before,
                outages=_absences_at(term.since, away, terms),
                lines=former_lines.between(before.since, term.since + CLOCK_SKEW) if before and former_lines else (),
                candidacies=_until(term.since, candidacies, before.since if before else LONG_AGO),
                own_expiry=next((e for e in recent if e.kind == Kind.ZOOKEEPER_SESSION_EXPIRED), None),
                broker_list=next((e for e in lists if term.since <= e.happened_at < (term.until or NEVER)), None),
            )


def _absences_at(
    at: datetime, away: Intervals[BrokerOutage], terms: Mapping[int, Timeline[ControllerEpoch]]
) -> list[BrokerOutage]:
    """The absences that lasted at an instant, but those during which the node became the active controller.

    However long no line shows its return, such a node lived: the absence is not why it, or a majority, is missing now.
    """
    lasting = [o.value for o in away.at(at, CLOCK_SKEW)]
    last = {o.broker: terms[o.broker].last_before(at) for o in lasting if o.broker in terms}
    return [o for o in lasting if not _began_before(o, last.get(o.broker))]


def _began_before(outage: BrokerOutage, term: ControllerEpoch | None) -> bool:
    says_so = outage.kind in (OutageKind.CONTROLLED_SHUTDOWN, OutageKind.FAILED_START)
    gone_by = outage.down_at + SHUTDOWN_LASTS if says_so else outage.detected_at
    return term is not None and gone_by is not None and gone_by < term.since


def _without_winner(
    last: Sequence[ControllerEpoch],
    candidacies: Sequence[Event],
    ordered: Sequence[Event],
    outages: Iterable[BrokerOutage],
    until: datetime,
) -> Iterator[ControllerEpoch]:
    """The epoch of the last elections, where no line shows that a node won them.

    `last` is the last epoch that a node won; empty for none. Where a controller detected a broker as down meanwhile,
    there was a controller, and the candidates did not reach it.
    """
    run = _until(candidacies[-1].happened_at, candidacies, last[0].since if last else LONG_AGO) if candidacies else []
    if not is_in_vain(run) or any(_follows(e, until) for e in ordered if e.happened_at > run[-1].happened_at):
        return
    if not any(o.detected_at and o.detected_at > run[0].happened_at + CLOCK_SKEW for o in outages):
        epochs = (*(t.epoch + 1 for t in last), *(e.controller_epoch or 0 for e in run))
        incarnation = last[0].incarnation if last else 0
        yield ControllerEpoch(max(epochs), NOBODY, run[-1].happened_at, None, True, (), incarnation=incarnation)


def _follows(event: Event, until: datetime) -> bool:
    """Whether a line names the active controller, and no election follows within a pause.

    A node that stands for election names the former controller between two elections, even one that is down.
    """
    is_named = event.kind == Kind.CONTROLLER_KNOWN and event.node is not None
    return is_named and until - event.happened_at > _PAUSE


def _until(elected_at: datetime, candidacies: Sequence[Event], since: datetime) -> Sequence[Event]:
    """The lines of elections up to one, from an instant on, without a pause between them."""
    run: list[Event] = []
    for event in reversed([e for e in candidacies if since < e.happened_at <= elected_at]):
        if (run[-1].happened_at if run else elected_at) - event.happened_at > _PAUSE:
            break
        run.append(event)
    return run[::-1]


def _row(case: ControllerCase) -> ControllerChange:
    verdict = verdict_of(CONTROLLER_RULINGS, case)
    cause = ControllerChangeCause(verdict.code)
    low, high = case.uncontrolled
    without = f"{'Meanwhile' if case.controller == NOBODY else 'Until then'} {_WITHOUT}"
    return ControllerChange(
        cluster=(case.term.lines or case.candidacies)[0].cluster,
        happened_at=case.happened_at,
        controller_from=case.former,
        controller_to=case.controller,
        epoch=case.term.epoch,
        cause=cause,
        outage_id=verdict.facts.get("outage_id"),
        elections=most_elections(case.candidacies),
        uncontrolled_low_ms=None if low is None else low // MS,
        uncontrolled_high_ms=None if high is None else high // MS,
        confidence=verdict.confidence,
        explanation=f"{verdict.sentence} {without}" if cause.is_majority_lost and low else verdict.sentence,
        evidence=evidence_of(verdict.evidence, map(quote, case.term.lines)),
    )
