"""Why a partition's leader changed: the first kind that fits."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from spark_jobs.transforms.brokers.outages import CAUSED_BY
from spark_jobs.transforms.cluster import CLOCKS, ClusterContext, disk_owners, known_at, on_failed_disk
from spark_jobs.transforms.evidence import quote
from spark_jobs.transforms.leaderships import NOBODY, Leadership
from spark_jobs.transforms.partitions import Partition
from spark_jobs.transforms.windows import Row

_SAME_LEADER = "leader=-2,"
"""How a record of KRaft writes that the leader stays."""

_RECOVERING = re.compile(r"(?:^|-> )RECOVERING\b")
PREFERRED = ("PREFERRED", "electPreferred", "maybeBalancePartitionLeaders")
UNCLEAN = ("UNCLEAN", "electUnclean", "maybeElectUncleanLeaders")
"""How elections of these types, and Kafka's own tasks that hold them, are called."""


_KIND_OF_OUTAGE = {
    "controlled_shutdown": "controlled_shutdown",
    "crash": "broker_crash",
    "unresponsive": "broker_unresponsive",
    "unknown": "unknown",
}
_DISK_FAILED_BEFORE = timedelta(minutes=1)
_REASSIGNED_BEFORE = timedelta(minutes=5)


@dataclass(frozen=True)
class Change:
    """One change of leader of one partition (`key`), with what is known around it.

    `last_leader` is the last broker that led, also where nobody led in between; `isr_is_last` tells that no
    commit lies between `isr_before` and the change.
    """

    key: Partition
    before: Leadership
    after: Leadership
    at: datetime
    last_leader: int | None
    isr_before: tuple[int, ...] | None
    isr_is_last: bool
    replicas: tuple[int, ...] | None
    life: Sequence[Row]

    @property
    def partition(self) -> str:
        """Topic and partition, as Kafka writes them."""
        return f"{self.key[1]}-{self.key[2]}"


@dataclass(frozen=True)
class Verdict:
    """The kind of a change, how sure it is, the absence behind it, one sentence, and lines that prove it."""

    kind: str
    confidence: str
    says: str
    outage: Row | None = None
    quotes: tuple[dict[str, Any], ...] = ()


def judge_change(change: Change, context: ClusterContext) -> Verdict:
    """The first kind of gold.failovers.kind, in the order of codes.FailoverKind, that fits the change."""
    for fits in _RULES:
        verdict = fits(change, context)
        if verdict:
            return verdict
    return Verdict("unknown", "unknown", f"{_moved(change)}; nothing tells why.")


def _moved(change: Change) -> str:
    return f"Leadership moved from broker {change.before.leader} to broker {change.after.leader}"


def _outage_of(change: Change, context: ClusterContext) -> Row | None:
    """The absence of the former leader that the change fell into."""
    leader = change.before.leader
    if change.after.is_exact or change.before.at is None:
        return context.outage_at(leader, change.at)
    return context.outage_between(leader, change.before.at, change.at)


def _failed_disk(change: Change, context: ClusterContext) -> Verdict | None:
    """The former leader lost the disk that the partition was on, or its last one.

    Source: a broker names the partitions of a failed directory and leads on with the others; without its metadata
    directory or its last one it ends (ReplicaManager.handleLogDirFailure). Controllers name the broker only.
    """
    leader = change.before.leader
    near = [e for e in context.disk_failures if -CLOCKS <= change.at - e["happened_at"] <= _DISK_FAILED_BEFORE]
    failed = [e for e in near if leader in disk_owners(e) and not _is_over(e, change, context)]
    naming = [e for e in failed if change.partition in on_failed_disk(e)]
    if naming:
        says = f"The log directory of broker {leader} that held the partition failed, and it could lead no more."
        return Verdict("log_dir_failed", "certain", says, quotes=tuple(map(quote, naming[:1])))
    if not failed or any(map(on_failed_disk, failed)):
        return None
    says = f"A log directory of broker {leader} failed, and it could lead no more."
    return Verdict("log_dir_failed", "likely", says, quotes=tuple(map(quote, failed[:1])))


def _is_over(failure: Row, change: Change, context: ClusterContext) -> bool:
    """Whether the former leader has been started again since its disk failed, and so has what it leads."""
    return any(
        o["broker"] == change.before.leader
        and o["down_at"] >= failure["happened_at"] - CLOCKS
        and o["up_at"] is not None
        and o["up_at"] <= change.at
        for o in context.outages
    )


def _unclean(change: Change, context: ClusterContext) -> Verdict | None:
    """The new leader was outside the last ISR and ELR, and not the last leader.

    Source: since metadata.version 3.2 an unclean leader is marked RECOVERING, by the controller's line and its own;
    the controller marks the last leader of a leaderless partition too, who has every record. Before 3.2, and with
    ZooKeeper, only the ISR tells (PartitionRegistration.maybeLogPartitionChange, Partition.makeLeader).
    """
    leader = change.after.leader
    if leader in (NOBODY, change.last_leader) or change.last_leader is None:
        return None
    eligible = {*(change.isr_before or ()), *change.before.elr}
    is_outside = change.isr_before is not None and leader not in eligible
    marks = [e for e in change.life if _marks_unclean(e, change)]
    # An ISR that may have changed since it was told proves nothing.
    if leader in eligible or not (marks or (is_outside and change.isr_is_last and _is_by_zookeeper(change))):
        return None
    sure = "certain" if is_outside and change.isr_is_last else "likely"
    says = f"Broker {leader} was made leader although it was not in sync"
    if is_outside:
        says += f" (only {_listed(change.isr_before or ())} {'were' if len(eligible) > 1 else 'was'})"
    says += ": what it had not copied is lost."
    outage = context.outage_at(change.last_leader, change.at)
    return Verdict("unclean_election", sure, says, outage, tuple(map(quote, marks[:2])))


def _is_by_zookeeper(change: Change) -> bool:
    return any(e["kind"] in ("partition_state_changed", "replica_removed_from_isr") for e in change.life)


def _marks_unclean(event: Row, change: Change) -> bool:
    if event["kind"] in ("unclean_partition_change", "partition_changed", "partition_state_changed"):
        return event["leader_epoch"] == change.after.epoch and _RECOVERING.search(event["detail"] or "") is not None
    return bool(
        event["kind"] == "partition_recovering"
        and event["broker"] == change.after.leader
        and abs(event["happened_at"] - change.at) <= CLOCKS
    )


def _offline(change: Change, context: ClusterContext) -> Verdict | None:
    if change.after.leader != NOBODY:
        return None
    outage = _outage_of(change, context)
    if outage is None and _is_by_zookeeper(change):
        says = "Nobody led the partition, though its leader is not known to have gone; a deletion looks the same."
        return Verdict("offline", "possible", says)
    why = CAUSED_BY[outage["kind"]] if outage else "stopped leading"
    says = f"Nobody led the partition: broker {change.before.leader} {why}"
    sure = "certain" if change.after.is_told else "likely"
    return Verdict("offline", sure, f"{says}, and no replica could take its place.", outage)


def _restored(change: Change, context: ClusterContext) -> Verdict | None:
    if change.before.leader != NOBODY:
        return None
    says = f"Broker {change.after.leader} leads the partition again, which nobody had led"
    if change.after.leader not in {change.last_leader, *(change.isr_before or ()), *change.before.elr}:
        return Verdict("leader_restored", "possible", f"{says}; whether it had every record nobody tells.")
    says += "."
    sure = "certain" if change.before.is_told else "likely"
    return Verdict("leader_restored", sure, says)


def _reassigned(change: Change, context: ClusterContext) -> Verdict | None:
    """The partition moves to other brokers, or has just moved.

    Source: KRaft tells the leader epoch of the change itself (ReplicationControlManager), and a controller that starts
    repeats all of them: another epoch is another change. ZooKeeper's names the leader that has to go
    (KafkaController.moveReassignedPartitionLeaderIfRequired).
    """
    moves = [
        e
        for e in change.life
        if e["kind"] == "reassignment_changed" and -CLOCKS <= change.at - e["happened_at"] <= _REASSIGNED_BEFORE
    ]
    says = f"{_moved(change)} while its replicas were reassigned."
    exact = [e for e in moves if _moves_leader(e, change)]
    if exact and change.after.epoch == change.before.epoch + 1:
        return Verdict("reassignment", "certain", says, quotes=(quote(exact[0]),))
    about = [e for e in moves if e["leader_epoch"] in (None, change.before.epoch)]
    elected = _is_preferred(change, context) and (_named_preferred(change) or _elections(change, context))
    if not about or elected or _outage_of(change, context):
        return None
    return Verdict("reassignment", "likely", says, quotes=(quote(about[-1]),))


def _moves_leader(move: Row, change: Change) -> bool:
    """Whether a line of a reassignment tells of this very change of leader."""
    if move["leader_epoch"] is None:
        return bool(move["leader"] == change.before.leader and abs(change.at - move["happened_at"]) <= CLOCKS)
    return bool(move["leader_epoch"] == change.after.epoch and _SAME_LEADER not in move["detail"])


def _lost_its_broker(change: Change, context: ClusterContext) -> Verdict | None:
    outage = _outage_of(change, context)
    if outage is None or (change.at < known_at(outage) and _is_preferred(change, context)):
        return None
    sure = outage["confidence"]
    if not change.after.is_exact and sure in ("certain", "likely"):
        # Between two readings a partition may have changed hands more than once, and its leader may have gone twice.
        later = outage["up_at"] and context.outage_between(
            change.before.leader, outage["up_at"] + 2 * CLOCKS, change.at
        )
        sure = "likely" if change.after.epoch == change.before.epoch + 1 and not later else "possible"
    if change.at < known_at(outage) and sure == "certain":
        # Only the clocks' tolerance makes it fit.
        sure = "likely" if change.replicas else "possible"
    says = f"{_moved(change)}, since broker {change.before.leader} {CAUSED_BY[outage['kind']]}."
    return Verdict(_KIND_OF_OUTAGE[outage["kind"]], sure, says, outage)


def _preferred(change: Change, context: ClusterContext) -> Verdict | None:
    """The first replica takes over from a living leader.

    Source: nothing else makes a healthy leader give way but a reassignment (KafkaController,
    PeriodicTaskControlManager).
    """
    if not _is_preferred(change, context):
        return None
    named, asked = _named_preferred(change), _elections(change, context)
    says = f"{_moved(change)}, its first replica, in a preferred election"
    sure = "certain" if named or asked else "likely"
    # A ZooKeeper controller would have named it.
    is_heard = change.after.is_exact and context.hears_controller_at(change.at) and not context.is_zookeepers
    if sure == "likely" and not is_heard:
        says += ", or since the former leader was away: no witness was there."
        return Verdict("preferred_election", "possible", says)
    return Verdict("preferred_election", sure, f"{says}.", quotes=tuple(map(quote, (named + asked)[:2])))


def is_among(change: Change, election: Row) -> bool:
    """Whether an election was for this partition. KRaft's periodic task names none; ZooKeeper's list may be empty."""
    return election["kind"] == "periodic_election" or change.partition in (election["members"] or "").split(",")


def _is_preferred(change: Change, context: ClusterContext) -> bool:
    return change.after.leader in (change.replicas or ())[:1] or _is_named(change, context)


def _is_named(change: Change, context: ClusterContext) -> bool:
    """Whether a controller names the partition as it elects its first replica, which may be a new one.

    Odd: of an election that somebody asks for, ZooKeeper's tells the start alone (KafkaController.onReplicaElection).
    """
    starts = [e for e in _elections(change, context) if e["kind"] != "periodic_election"]
    return bool(_named_preferred(change) or starts)


def _elections(change: Change, context: ClusterContext) -> list[Row]:
    """The lines of a controller that starts preferred elections, this partition's among them."""
    return [
        e
        for e in context.elections
        if e["reason"] in PREFERRED and abs(e["happened_at"] - change.at) <= CLOCKS and is_among(change, e)
    ]


def _named_preferred(change: Change) -> list[Row]:
    """The lines of a ZooKeeper controller that call the new leader the preferred one."""
    return [
        e
        for e in change.life
        if e["kind"] == "preferred_election_completed"
        and e["leader"] == change.after.leader
        and abs(e["happened_at"] - change.at) <= CLOCKS
    ]


_RULES: tuple[Callable[[Change, ClusterContext], Verdict | None], ...] = (
    _failed_disk,
    _unclean,
    _offline,
    _restored,
    _reassigned,
    _lost_its_broker,
    _preferred,
)


def _listed(brokers: Sequence[int]) -> str:
    return ", ".join(str(b) for b in sorted(brokers)) or "nobody"
