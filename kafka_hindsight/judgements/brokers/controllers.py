"""The active controller at each instant: only its lines count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import filterfalse, pairwise
from typing import NamedTuple

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.judgements.reasoning.epochs import between_falls
from kafka_hindsight.shared.grouping import grouped, with_neighbours
from kafka_hindsight.shared.instants import earliest
from kafka_hindsight.shared.windows import in_order

CONTROLLER_KINDS = (Kind.CONTROLLER_ELECTED, Kind.CONTROLLER_RESIGNED, Kind.CONTROLLER_KNOWN, Kind.CONTROLLER_WAITS)
_NAMING = (Kind.CONTROLLER_ELECTED, Kind.CONTROLLER_KNOWN)

ACTS = (
    "zookeeper.partition_created",
    "zookeeper.partition_state_changed",
    "partition.leader_and_isr_received",
    "partition.leader_unavailable",
)
"""Patterns of lines in which a controller in ZooKeeper mode acts, or a broker names it: they show who it was, and not
when it was elected."""

AS_BEFORE = "raft.leader_as_before"
"""The pattern of the line with which a node follows a leader that it knew before: from its disk as it starts,
or asked in vain whether to stand for election. The election was earlier."""

MIGRATED = "zookeeper.controller_migrated"
"""The pattern of the line with which a controller of KRaft takes the office in ZooKeeper."""


@dataclass(frozen=True, slots=True)
class ControllerEpoch:
    """One controller epoch: the active controller, and the time in which it was active.

    `until` is None while no controller followed it and it did not resign. `renounced_at`: when its controller knew that
    it was over, by its own lines. `is_change` says that a line shows the change itself, rather than a node that has
    just started and learns of the controller. `incarnation`: how often the cluster's epochs had begun again.
    """

    epoch: int
    controller: int
    since: datetime
    until: datetime | None
    is_change: bool
    lines: tuple[Event, ...]
    renounced_at: datetime | None = None
    incarnation: int = 0

    @property
    def is_zookeepers(self) -> bool:
        """Whether ZooKeeper counts the epoch: it counts those of controllers alone, a quorum those without one too."""
        return any(_is_zookeepers(line) for line in self.lines[:1])

    @property
    def is_migrated(self) -> bool:
        """Whether a controller of KRaft registered in ZooKeeper: it is the controller of brokers in both modes."""
        return any(line.pattern_id == MIGRATED for line in self.lines)


class _Claim(NamedTuple):
    """A line that names the controller of an epoch; `is_news` says that it shows the change itself."""

    epoch: int
    controller: int
    is_news: bool
    line: Event


def _is_zookeepers(line: Event) -> bool:
    return line.pattern_id.startswith("zookeeper.") or line.pattern_id in ACTS


def controller_epochs_of(events: Iterable[Event]) -> tuple[ControllerEpoch, ...]:
    """The epochs of all controllers that any line of CONTROLLER_KINDS names, in order of incarnation and epoch.

    A quorum that a cluster on ZooKeeper moves to has a leader that waits. When that becomes the active controller, and
    as long as there are brokers on ZooKeeper, each leader registers there. From then on the quorum's epochs count.
    """
    ordered = in_order(e for e in events if e.kind in CONTROLLER_KINDS)
    of_kind = grouped(ordered, lambda e: e.kind)
    naming_lines = _with_epochs([e for e in ordered if e.kind in _NAMING])
    by_zookeeper = _epochs_in(filter(_is_zookeepers, naming_lines), 0)
    by_quorum = _epochs_in(
        filterfalse(_is_zookeepers, naming_lines), by_zookeeper[-1].incarnation if by_zookeeper else 0
    )
    in_office = _in_office(by_quorum, of_kind.get(Kind.CONTROLLER_WAITS, ()), by_zookeeper)
    return _with_ends([*by_zookeeper, *in_office], of_kind.get(Kind.CONTROLLER_RESIGNED, ()), naming_lines)


def _with_epochs(naming_lines: Sequence[Event]) -> list[Event]:
    """The lines that name controllers, each of an election without its epoch with the one that its winner logs next.

    Source: KafkaController.elect until 2.0: it registers, and then raises the epoch.
    """
    epochs: dict[int | None, int | None] = {}
    lines_with_epochs = []
    for line in reversed(naming_lines):
        is_won = line.kind == Kind.CONTROLLER_ELECTED and line.controller_epoch is None
        if line.kind == Kind.CONTROLLER_ELECTED and not is_won:
            epochs[line.broker] = line.controller_epoch
        lines_with_epochs.append(replace(line, controller_epoch=epochs.pop(line.broker, None)) if is_won else line)
    return lines_with_epochs[::-1]


def _in_office(
    by_quorum: Sequence[ControllerEpoch], waits: Iterable[Event], by_zookeeper: Sequence[ControllerEpoch]
) -> list[ControllerEpoch]:
    """The epochs of a quorum whose leaders are the cluster's controllers from their beginning on."""
    last, newest_first = by_zookeeper[-1:], by_quorum[::-1]
    waiting = [
        next((e for e in newest_first if e.controller == w.broker and e.since <= w.happened_at), None) for w in waits
    ]
    return [e for e in by_quorum if e not in waiting and all(z.is_migrated and z.since < e.since for z in last)]


def _epochs_in(lines: Iterable[Event], first_incarnation: int) -> list[ControllerEpoch]:
    return [
        _epoch_of(epoch, claims, incarnation)
        for incarnation, part in enumerate(between_falls(lines), first_incarnation)
        for epoch, claims in sorted(grouped(_claims_in(part), lambda c: c.epoch).items())
    ]


def _claims_in(lines: Iterable[Event]) -> Iterator[_Claim]:
    """The claim of each line that names a controller.

    A node prints "in the new epoch N the leader is M" also after its own start, when the change is old. The line
    counts as news only where the same node named an earlier epoch before, or this one without a leader.
    """
    last_named: dict[int | None, tuple[int, bool]] = {}
    for line in lines:
        is_elected, epoch = line.kind == Kind.CONTROLLER_ELECTED, line.controller_epoch
        controller = line.broker if is_elected else line.node
        if epoch is None:
            continue
        before = last_named.get(line.broker)
        last_named[line.broker] = (epoch, controller is not None)
        if controller is not None:
            is_news = before is not None and (before[0] < epoch or before == (epoch, False))
            yield _Claim(epoch, controller, is_elected or (is_news and line.pattern_id not in (*ACTS, AS_BEFORE)), line)


def _epoch_of(epoch: int, claims: Sequence[_Claim], incarnation: int) -> ControllerEpoch:
    election = next((c for c in claims if c.line.kind == Kind.CONTROLLER_ELECTED), None)
    news = [c for c in claims if c.is_news]
    controller = (election or claims[0]).controller
    lines = tuple(c.line for c in (news or claims) if c.controller == controller)
    since = (election.line if election else lines[0]).happened_at
    return ControllerEpoch(epoch, controller, since, None, bool(news), lines, incarnation=incarnation)


def _with_ends(
    epochs: Sequence[ControllerEpoch], resignations: Sequence[Event], naming_lines: Sequence[Event]
) -> tuple[ControllerEpoch, ...]:
    """The epochs, each with its end: the next one began, or its controller resigned."""
    epochs_with_ends = []
    for _, epoch, following in with_neighbours(epochs):
        own_resignations = [r for r in resignations if r.broker == epoch.controller and r.happened_at >= epoch.since]
        until = earliest(following.since if following else None, *(r.happened_at for r in own_resignations[:1]))
        over_at = next((e.since for e in epochs if e.incarnation > epoch.incarnation), None)
        renounced_at = _renounced_at(epoch, own_resignations, naming_lines, over_at)
        epochs_with_ends.append(replace(epoch, until=until, renounced_at=renounced_at))
    return tuple(epochs_with_ends)


def _renounced_at(
    epoch: ControllerEpoch, own_resignations: Iterable[Event], naming_lines: Iterable[Event], over_at: datetime | None
) -> datetime | None:
    """The instant at which a controller learned that its epoch is over: it resigned, else it first named a later one.

    `over_at`: when the next incarnation of the metadata began.
    """
    resigned_ats = [r.happened_at for r in own_resignations if r.controller_epoch == epoch.epoch]
    by_controller = (e for e in naming_lines if e.broker == epoch.controller and e.happened_at >= epoch.since)
    later = (e.happened_at for e in by_controller if (e.controller_epoch or 0) > epoch.epoch)
    return earliest(resigned_ats[0] if resigned_ats else next(later, None), over_at)


def incarnations_begun(epochs: Sequence[ControllerEpoch]) -> list[datetime]:
    """The instants at which the controller epochs began again, and all metadata with them."""
    return [now.since for before, now in pairwise(epochs) if now.incarnation > before.incarnation]


def active_at(epochs: Sequence[ControllerEpoch], instant: datetime) -> int | None:
    """The active controller at an instant; None where it is not known, or there was none."""
    epoch = next((e for e in reversed(epochs) if e.since <= instant), None)
    return epoch.controller if epoch and (epoch.until is None or instant < epoch.until) else None


def speaks_for_cluster(epochs: Sequence[ControllerEpoch], event: Event) -> bool:
    """Whether a line comes from the active controller, as far as is known.

    A controller that was paused fences brokers before it learns that another one has taken over, and every controller
    prints old changes again when it starts. A record of the metadata log is committed, whichever node wrote it.
    """
    return event.origin == Origin.RECORD or active_at(epochs, event.happened_at) in (None, event.broker)


def was_reverted(epochs: Sequence[ControllerEpoch], event: Event) -> bool:
    """Whether a controller of KRaft decided something after another one took over, and before it learned of that.

    A quorum that has elected another leader commits nothing of it, and the controller itself takes it back.
    Source: KIP-595 (voters fetch from the leader of the newest epoch); QuorumController.renounce,
    OffsetControlManager.deactivate, SnapshotRegistry.revertToSnapshot.
    """
    if event.origin == Origin.RECORD or not event.pattern_id.startswith("kraft."):
        return False
    at = event.happened_at
    own = (e for e in epochs if e.controller == event.broker and e.until is not None and e.until <= at)
    is_unaware = any(e.renounced_at is None or at <= e.renounced_at for e in own)
    return is_unaware and active_at(epochs, at) != event.broker
