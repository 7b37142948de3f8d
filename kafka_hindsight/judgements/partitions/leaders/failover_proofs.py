"""What lines and readings prove about a change of leader: the predicates of the rulings on failovers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import timedelta

from kafka_hindsight.catalog.codes import NOBODY, Confidence, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, Event
from kafka_hindsight.judgements.brokers.cluster_context import disk_owners, known_at, on_failed_disk
from kafka_hindsight.judgements.partitions.leaders.leader_change import PREFERRED, LeaderChange
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.judgements.reasoning.evidence import quote
from kafka_hindsight.judgements.reasoning.rulings import Proof, proof_if
from kafka_hindsight.shared.durations import CLOCK_SKEW

_SAME_LEADER = "leader=-2,"
"""How a record of KRaft writes that the leader stays."""

_RECOVERING = re.compile(r"(?:^|-> )RECOVERING\b")
_WITH_RECOVERY_STATE = ("unclean_partition_change", "partition_changed", "partition_state_changed")

_DISK_FAILED_BEFORE = timedelta(minutes=1)
_REASSIGNED_BEFORE = timedelta(minutes=5)


def disk_of_partition_failed(change: LeaderChange) -> Proof | None:
    """The former leader writes that the log directory which failed held the partition."""
    return _first_line(e for e in _failed_disks(change) if change.partition in on_failed_disk(e))


def some_disk_failed(change: LeaderChange) -> Proof | None:
    """A log directory of the former leader failed, and no line names the partitions that it held."""
    failed = _failed_disks(change)
    return None if any(map(on_failed_disk, failed)) else _first_line(failed)


def _failed_disks(change: LeaderChange) -> list[Event]:
    near = change.context.disk_failures_by_time.between(change.at - _DISK_FAILED_BEFORE, change.at + CLOCK_SKEW)
    return [e for e in near if change.former in disk_owners(e) and not _has_restarted_since(e, change)]


def _has_restarted_since(failure: Event, change: LeaderChange) -> bool:
    """Whether the former leader has been started again since its disk failed, in a start that failed too, and leads."""
    ended = (o.up_at for o in change.context.outages_of(change.former) if o.kind is not OutageKind.UNRESPONSIVE)
    return any(at and failure.happened_at - CLOCK_SKEW <= at <= change.at for at in ended)


def another_broker_leads(change: LeaderChange) -> Proof | None:
    """The new leader is not the last broker that led."""
    if change.last_leader is None or change.new in (NOBODY, change.last_leader):
        return None
    return _in_outage(change.context.outage_at(change.last_leader, change.at))


def not_in_last_isr(change: LeaderChange) -> Proof | None:
    """The ISR just before the change is known, and the new leader was neither in it nor in the ELR."""
    return not_in_known_isr(change) if change.isr_is_last else None


def not_in_known_isr(change: LeaderChange) -> Proof | None:
    """An ISR before the change is known, and the new leader was neither in it nor in the ELR."""
    is_known = change.isr_before is not None
    return proof_if(is_known and change.new not in change.eligible, isr=sorted(change.isr_before or ()))


def isr_may_lack_leader(change: LeaderChange) -> Proof | None:
    """No evidence shows that the new leader was in the ISR just before the change, or in the ELR."""
    if change.new in change.eligible and (change.isr_before is None or change.isr_is_last):
        return None
    if change.isr_before is None:
        return Proof(words={"known": "the ISR before is not known"})
    return Proof(words={"known": f"the last ISR that is known, {sorted(change.isr_before)}, may have changed since"})


def alone_in_isr(change: LeaderChange) -> Proof | None:
    """The new leader began alone in the ISR, as after each unclean election, or that ISR is not known."""
    return proof_if(change.after.isr is None or set(change.after.isr) == {change.new})


def marked_recovering(change: LeaderChange) -> Proof | None:
    """The controller or the new leader marks the partition as RECOVERING in the epoch of the change."""
    marks = [e for e in change.incarnation.events if _marks_recovering(e, change)]
    return proof_if(marks, *map(quote, marks[:2]))


def _marks_recovering(event: Event, change: LeaderChange) -> bool:
    if event.kind in _WITH_RECOVERY_STATE:
        return event.leader_epoch == change.after.epoch and _RECOVERING.search(event.detail or "") is not None
    is_of_leader = event.kind == "partition_recovering" and event.broker == change.new
    return is_of_leader and abs(event.happened_at - change.at) <= CLOCK_SKEW


def last_leader_was_away(change: LeaderChange) -> Proof | None:
    """The last broker that led was away."""
    outage = change.context.outage_at(change.last_leader, change.at)
    return _in_outage(outage) if outage else None


def in_zookeeper_mode(change: LeaderChange) -> Proof | None:
    """The cluster's controllers are those of ZooKeeper mode, which mark nothing as RECOVERING."""
    return proof_if(change.is_by_zookeeper or change.context.uses_zookeeper)


def changed_in_zookeeper_mode(change: LeaderChange) -> Proof | None:
    """A controller in ZooKeeper mode changed the partition."""
    return proof_if(change.is_by_zookeeper)


def no_leader(change: LeaderChange) -> Proof | None:
    """The partition has no leader any more; less sure where no line names that epoch."""
    return proof_if(change.new == NOBODY, confidence=_most(change.after))


def had_no_leader(change: LeaderChange) -> Proof | None:
    """The partition had no leader before; less sure where no line names that epoch."""
    return proof_if(change.former == NOBODY, confidence=_most(change.before))


def _most(leadership: Leadership) -> Confidence:
    return Confidence.CERTAIN if leadership.is_shown else Confidence.LIKELY


def had_every_record(change: LeaderChange) -> Proof | None:
    """The new leader led last, or was in the last known ISR or in the ELR."""
    return proof_if(change.new == change.last_leader or change.new in change.eligible)


def former_leader_was_away(change: LeaderChange) -> Proof | None:
    """The former leader was away at that time."""
    return _in_outage(change.outage) if change.outage else None


def former_leader_gone(change: LeaderChange) -> Proof | None:
    """The former leader was away, or it stopped leading the partition."""
    outage = change.outage
    what = f"was away ({outage.kind.replace('_', ' ')})" if outage else "stopped leading the partition"
    return _in_outage(outage) + Proof(words={"gone": what})


def reassignment_changed_leader(change: LeaderChange) -> Proof | None:
    """A line of a reassignment names this leader epoch, or the leader that has to go.

    A controller of KRaft that starts repeats all reassignments: one of another epoch is another change.
    """
    is_next = change.after.epoch == change.before.epoch + 1
    return _first_line(e for e in _reassignments(change) if is_next and _moves_leader(e, change))


def _moves_leader(move: Event, change: LeaderChange) -> bool:
    if move.leader_epoch is None:
        return move.leader == change.former and abs(change.at - move.happened_at) <= CLOCK_SKEW
    return move.leader_epoch == change.after.epoch and _SAME_LEADER not in (move.detail or "")


def replicas_reassigned(change: LeaderChange) -> Proof | None:
    """The partition's replicas were reassigned in the five minutes before."""
    moves = [e for e in _reassignments(change) if e.leader_epoch in (None, change.before.epoch)]
    news = [e for e in moves if not _is_repeated(e, change)]
    return proof_if(news, *map(quote, news[-1:]))


def _is_repeated(move: Event, change: LeaderChange) -> bool:
    """Whether a controller that started printed a record again that another one, or it itself, had printed before."""
    earlier = change.incarnation.events_by_time.until(move.happened_at - CLOCK_SKEW)
    return move.detail is not None and any((e.kind, e.detail) == (move.kind, move.detail) for e in earlier)


def _reassignments(change: LeaderChange) -> list[Event]:
    near = change.incarnation.events_by_time.between(change.at - _REASSIGNED_BEFORE, change.at + CLOCK_SKEW)
    return [e for e in near if e.kind == "reassignment_changed"]


def former_leader_shut_down(change: LeaderChange) -> Proof | None:
    """The former leader was shut down in order, and leaders moved at that time."""
    return _lost_in(OutageKind.CONTROLLED_SHUTDOWN, change)


def former_leader_unresponsive(change: LeaderChange) -> Proof | None:
    """The former leader was alive, and the controller did not hear it."""
    return _lost_in(OutageKind.UNRESPONSIVE, change)


def former_leader_crashed(change: LeaderChange) -> Proof | None:
    """The former leader crashed, and the controller had detected it as down."""
    return _lost_in(OutageKind.CRASH, change)


def former_leader_lost(change: LeaderChange) -> Proof | None:
    """The former leader was down; the evidence does not show why."""
    return _lost_in(OutageKind.UNKNOWN, change)


def _lost_in(kind: OutageKind, change: LeaderChange) -> Proof | None:
    outage = change.outage
    if outage is None or outage.kind != kind or (change.at < known_at(outage) and _may_be_preferred(change)):
        return None
    return _in_outage(outage) + Proof(confidence=_confidence_in(outage, change))


def _confidence_in(outage: BrokerOutage, change: LeaderChange) -> Confidence:
    """How sure an outage is the cause: no surer than its own verdict.

    Edge case: between two readings a partition may have changed hands more than once, and its leader may have been
    away twice. A change just before the outage was known fits only within the tolerance of clocks. Where the return is
    not known, the broker may have been back by then.
    """
    most = Confidence.CERTAIN
    if not change.after.is_exact:
        since = outage.up_at + 2 * CLOCK_SKEW if outage.up_at else None
        again = change.context.outage_between(change.former, since, change.at) if since else None
        is_next = change.after.epoch == change.before.epoch + 1
        most = Confidence.LIKELY if is_next and not again else Confidence.POSSIBLE
    if (
        outage.up_at is None
        and change.at > outage.down_at + timedelta(milliseconds=outage.away_low_ms or 0) + CLOCK_SKEW
    ):
        most = most.at_most(Confidence.LIKELY)
    confidence = outage.confidence.at_most(most)
    if change.at < known_at(outage) and confidence == Confidence.CERTAIN:
        return Confidence.LIKELY if change.replicas else Confidence.POSSIBLE
    return confidence


def preferred_election_shown(change: LeaderChange) -> Proof | None:
    """A line of the controller shows a preferred election of this partition at that time."""
    shown = [*_named_preferred(change), *change.elections(PREFERRED)]
    return proof_if(shown and _may_be_preferred(change), *map(quote, shown[:2]))


def first_replica_leads(change: LeaderChange) -> Proof | None:
    """The new leader is the first replica of the partition."""
    return proof_if(change.new in (change.replicas or ())[:1])


def controller_is_heard(change: LeaderChange) -> Proof | None:
    """A KRaft controller's log covers that time and shows no outage of the former leader."""
    # A controller in ZooKeeper mode would have named the election.
    is_heard = change.after.is_exact and change.context.has_controller_log_at(change.at)
    return proof_if(is_heard and not change.context.uses_zookeeper)


def _may_be_preferred(change: LeaderChange) -> bool:
    """Whether the first replica leads, or a controller names the partition as it elects the preferred leader.

    Edge case: the first replica may be a new one; of an election that is requested, a controller in ZooKeeper mode
    prints only the start (KafkaController.onReplicaElection).
    """
    named = [e for e in change.elections(PREFERRED) if e.kind != "periodic_election"]
    return bool(first_replica_leads(change) or _named_preferred(change) or named)


def _named_preferred(change: LeaderChange) -> list[Event]:
    """The lines of a controller in ZooKeeper mode that call the new leader the preferred one."""
    return [e for e in change.nearby("preferred_election_completed") if e.leader == change.new]


def _in_outage(outage: BrokerOutage | None) -> Proof:
    return Proof(tuple(outage.evidence[:2]), facts={"outage_id": outage.outage_id}) if outage else Proof()


def _first_line(events: Iterable[Event]) -> Proof | None:
    first = next(iter(events), None)
    return Proof((quote(first),)) if first else None
