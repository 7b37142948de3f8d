"""When each broker was proven to live: by its own lines, by others' lines about it, and by readings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from kafka_hindsight.catalog.codes import NOBODY, Origin
from kafka_hindsight.catalog.rows import BrokerSnapshot, Event
from kafka_hindsight.judgements.reasoning.timelines import Timeline, by_instant
from kafka_hindsight.knowledge.kinds import COORDINATOR_KINDS, GROUP_KINDS, Kind
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import broker_ids

ACTIVE_KINDS = frozenset(GROUP_KINDS) | frozenset(COORDINATOR_KINDS) | {
    Kind.LEADER_STARTED,
    Kind.FOLLOWER_STARTED,
    Kind.LEADERSHIP_KEPT,
    Kind.LEADER_UNAVAILABLE,
    Kind.PARTITION_RECOVERING,
    Kind.ISR_SHRINK_PROPOSED,
    Kind.ISR_EXPAND_PROPOSED,
    Kind.ISR_UPDATED,
    Kind.LOG_TRUNCATED,
    Kind.FETCH_FAILED,
    Kind.BROKER_STARTED,
    Kind.BROKER_UNFENCED_SELF,
    Kind.BROKER_HEARTBEAT_FAILED,
    Kind.ZOOKEEPER_SESSION_EXPIRED,
}  # fmt: skip
"""Lines that only a broker that serves (or tries to) writes. A controller's lines are not among them: a starting node
of a combined cluster first repeats, as controller, what happened before."""

MEMBER_KINDS = frozenset({Kind.LEADER_STARTED, Kind.ISR_UPDATED, Kind.COORDINATOR_ELECTED, Kind.COORDINATOR_LOADED})
"""Lines that only a broker writes which its controller counts as a member of the cluster: it gave it a leadership, or
committed its change of an ISR. One that is cut off goes on to serve the clients that it still reaches."""

SERVING_KINDS = (
    MEMBER_KINDS | frozenset(GROUP_KINDS) | {Kind.ISR_SHRINK_PROPOSED, Kind.ISR_EXPAND_PROPOSED, Kind.FOLLOWER_STARTED}
)
"""Lines that only a broker writes which leads or follows, whoever still hears it: one whose process ended, none."""

LISTED = "broker_listed"
"""The kind of what a reading shows of a broker that it lists. No line has it."""

STALE_AFTER_START = timedelta(minutes=1)
"""A reading shows what the broker knows that answers: one that has just started lists brokers that are gone. (13 s in a
recorded night.) Our choice."""

_SAME_TROUBLE = timedelta(seconds=35)
"""A follower tries again every second (replica.fetch.backoff.ms), or waits 30 s for an answer
(replica.socket.timeout.ms): failures further apart than this are two troubles. Source: ReplicationConfigs."""


class SignsOfLife:
    """When each broker was active, when others failed to reach it, and when they saw it live."""

    def __init__(
        self, ordered: Iterable[Event], proofs: Iterable[Event] = (), readings: Iterable[BrokerSnapshot] = ()
    ) -> None:
        """Takes: events of brokers, in order; more lines that show a broker to serve, in order; readings of brokers."""
        ordered = list(ordered)
        shown = list(_shown_by_lines([*ordered, *proofs]))
        by_others, by_itself = ([s for s in shown if (s[1].broker == s[0]) is own] for own in (False, True))
        by_members = (*by_others, *(s for s in by_itself if s[1].kind in MEMBER_KINDS))
        failures = (e for e in ordered if e.kind == Kind.FETCH_FAILED and e.node != e.broker)
        self._active = _timelines((e.broker, e) for e in ordered if e.kind in ACTIVE_KINDS)
        self._failures = _timelines((e.node, e) for e in failures)
        self._said, self._counted = _timelines(by_itself), _timelines(by_others)
        self._shown = {False: _timelines(by_members), True: _timelines(shown)}
        self._led = _timelines((e.broker, e) for e in ordered if e.kind == Kind.LEADER_STARTED)
        self._listed = _timelines((r.broker, _listing(r)) for r in readings)

    @property
    def brokers(self) -> list[int]:
        """The brokers of which a line or a reading is known, in order."""
        return sorted({*self._active, *self._shown[True], *self._listed})

    def proofs(self, broker: int) -> Timeline[Event]:
        """All that shows the broker to live."""
        known = (t[broker] for t in (self._active, self._shown[True], self._listed) if broker in t)
        return by_instant(proof for timeline in known for proof in timeline)

    def last_before(self, broker: int, instant: datetime, since: datetime | None = None) -> Event | None:
        """The broker's own last line before an instant, and not before another one."""
        line = self._active.get(broker, _NO_EVENTS).last_before(instant)
        return line if line and (since is None or line.happened_at >= since) else None

    def is_active_between(self, broker: int, start: datetime, end: datetime) -> bool:
        """Whether the broker itself wrote a line between two instants, neither included."""
        line = self._active.get(broker, _NO_EVENTS).first_after(start)
        return line is not None and line.happened_at < end

    def first_failure(self, broker: int, after: datetime | None, until: datetime) -> Event | None:
        """The first of the failures to reach the broker that lead up to an instant without a pause."""
        first, before = None, until
        for failure in reversed(self._failures.get(broker, _NO_EVENTS).until(until)):
            at = failure.happened_at
            if before - at > _SAME_TROUBLE or (after and at <= after):
                break
            first, before = failure, at
        return first

    def first_service(self, broker: int, after: datetime, *, is_over: bool) -> Event | None:
        """The first proof after an instant that the broker serves again.

        `is_over`: its process had ended, so that each line of one that serves is of a new process; else only lines of
        a member of the cluster count.
        """
        line = self._shown[is_over].get(broker, _NO_EVENTS).first_after(after)
        listing = self._listed.get(broker, _NO_EVENTS).first_after(after + STALE_AFTER_START)
        return min((e for e in (line, listing) if e), key=lambda e: e.happened_at, default=None)

    def first_led(self, broker: int, after: datetime) -> Event | None:
        """The broker's first line after an instant in which it becomes a leader."""
        return self._led.get(broker, _NO_EVENTS).first_after(after)

    def last_service(self, broker: int, before: datetime, missed_within: timedelta) -> datetime | None:
        """When the broker was last proven to serve before an instant.

        Edge case: others follow a broker that is gone, and list it, as long as no controller misses it. (20 s in a
        recorded night: a follower started after its leader and the controller had been killed.)
        """
        said = self._said.get(broker, _NO_EVENTS).last_before(before)
        counted = self._counted.get(broker, _NO_EVENTS).last_before(before)
        ats = (said and said.happened_at, counted and counted.happened_at - missed_within)
        return max((at for at in ats if at), default=None)


def _shown_by_lines(lines: Iterable[Event]) -> Iterator[tuple[int, Event]]:
    """Each broker that a line shows to serve: the one that wrote it, or others."""
    for event in lines:
        if event.kind in SERVING_KINDS and event.broker is not None:
            yield event.broker, event
        for broker in _seen_by_others(event):
            yield broker, event


def _seen_by_others(event: Event) -> Iterable[int]:
    """The brokers that a line of another one shows to live: followers of theirs start, or ZooKeeper lists them."""
    if event.kind == Kind.FOLLOWER_STARTED and event.leader is not None and event.leader not in (event.broker, NOBODY):
        return (event.leader,)
    if event.kind == Kind.BROKERS_LISTED:
        return broker_ids(event.nodes) or ()
    if event.kind == Kind.BROKERS_CHANGED:
        return broker_ids((event.detail or "").rpartition("all live brokers: ")[2]) or ()
    return ()


def _listing(reading: BrokerSnapshot) -> Event:
    return Event(
        line_id=reading.snapshot_id,
        cluster=reading.cluster,
        origin=Origin.SNAPSHOT,
        source="snapshots",
        happened_at=reading.snapshot_at,
        order=0,
        kind=LISTED,
        pattern_id=LISTED,
        text=f"broker {reading.broker} is listed",
    )


def _timelines(shown: Iterable[tuple[int | None, Event]]) -> dict[int, Timeline[Event]]:
    """The events of each broker; those of none are left out."""
    by_broker = grouped(shown, lambda s: s[0])
    return {broker: by_instant(e for _, e in own) for broker, own in by_broker.items() if broker is not None}


_NO_EVENTS: Timeline[Event] = by_instant(())
