"""What the lines tell about a broker's presence: when it went, when it came, and when it was last heard of."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from spark_jobs.knowledge.kinds import COORDINATOR_KINDS, GROUP_KINDS
from spark_jobs.transforms.controllers import Term, speaks_for_cluster
from spark_jobs.transforms.windows import Row, broker_ids

SHUTDOWN, HALTED, MISSED, LET_GO, RESTARTED, SERVES = "shutdown", "halted", "missed", "let_go", "restarted", "serves"

# What a broker's own line says of itself.
_OWN_MARKS = {
    "broker_shutdown_started": SHUTDOWN,
    "controlled_shutdown_started": SHUTDOWN,
    "broker_stopped": SHUTDOWN,
    "broker_halted": HALTED,
    "broker_starting": RESTARTED,
    "broker_started": SERVES,
    "broker_unfenced_self": SERVES,
}
# What the active controller's line says of the brokers it names.
_CONTROLLER_MARKS = {
    "broker_controlled_shutdown_granted": (SHUTDOWN,),
    "broker_shutdown_granted": (SHUTDOWN, LET_GO),
    "broker_shutdown_requested": (SHUTDOWN,),
    "broker_fenced": (MISSED,),
    "broker_fenced_idle": (MISSED,),
    "broker_failed": (MISSED,),
    "broker_incarnated": (RESTARTED,),
    "broker_unfence_granted": (SERVES,),
    "broker_came": (SERVES,),
}
# Lines only a broker that serves (or tries to) writes. A controller's lines are none: a starting node of a combined
# cluster first repeats, as controller, what happened in former years.
_LIFE_KINDS = (
    frozenset(GROUP_KINDS)
    | frozenset(COORDINATOR_KINDS)
    | {
        "leader_started",
        "follower_started",
        "leadership_kept",
        "leader_unavailable",
        "partition_recovering",
        "isr_shrink_proposed",
        "isr_expand_proposed",
        "isr_updated",
        "isr_update_rejected",
        "log_truncated",
        "fetch_failed",
        "broker_started",
        "broker_unfenced_self",
        "broker_heartbeat_failed",
        "zookeeper_session_expired",
    }
)
_SETS = re.compile(r", (?:deleted|bounced|all live) brokers: ")

PRESENCE_KINDS = (*_OWN_MARKS, *_CONTROLLER_MARKS, "brokers_changed", "brokers_listed", "fetch_failed")

_QUIET = timedelta(seconds=35)
"""A follower tries again every second (replica.fetch.backoff.ms), or waits 30 s for an answer
(replica.socket.timeout.ms): failures further apart than this are two troubles. Source: ReplicationConfigs."""

SESSION = {False: timedelta(seconds=9), True: timedelta(seconds=18)}
"""How long the controller waits for a broker, by whether it learns of it through ZooKeeper.
Source: broker.session.timeout.ms, zookeeper.session.timeout.ms, their defaults."""


@dataclass(frozen=True)
class Mark:
    """One thing a line says about one broker."""

    broker: int
    says: str
    event: Row

    @property
    def at(self) -> datetime:
        """When."""
        instant: datetime = self.event["happened_at"]
        return instant

    @property
    def is_own(self) -> bool:
        """Whether the broker itself says so."""
        return bool(self.event["broker"] == self.broker and self.event["kind"] in _OWN_MARKS)


def marks_by_broker(ordered: Sequence[Row], terms: Sequence[Term]) -> dict[int, list[Mark]]:
    """Everything that is said about each broker's coming and going, in order.

    Odd: ZooKeeper's "bounced" is a broker that went and came before the controller looked. A controller that is elected
    since the former one was lost calls no broker failed: it lists those that it finds.
    """
    marks: dict[int, list[Mark]] = defaultdict(list)
    heard: set[int] = set()
    for event in ordered:
        kind = event["kind"]
        if kind in _LIFE_KINDS and event["broker"] is not None:
            heard.add(event["broker"])
        if kind in _OWN_MARKS and event["broker"] is not None:
            marks[event["broker"]].append(Mark(event["broker"], _OWN_MARKS[kind], event))
        elif kind in _CONTROLLER_MARKS and speaks_for_cluster(terms, event):
            for broker in _named(event):
                marks[broker] += [Mark(broker, says, event) for says in _CONTROLLER_MARKS[kind]]
        elif kind == "brokers_listed" and speaks_for_cluster(terms, event):
            for broker in sorted(heard - set(_named(event))):
                marks[broker].append(Mark(broker, MISSED, event))
        elif kind == "brokers_changed" and speaks_for_cluster(terms, event):
            added, deleted, bounced, _ = (broker_ids(part) or () for part in _SETS.split(event["detail"]))
            for broker in deleted:
                marks[broker].append(Mark(broker, MISSED, event))
            for broker in bounced:
                marks[broker] += [Mark(broker, says, event) for says in (RESTARTED, MISSED, SERVES)]
            for broker in added:
                marks[broker].append(Mark(broker, SERVES, event))
    return marks


def _named(event: Row) -> tuple[int, ...]:
    return (event["node"],) if event["node"] is not None else broker_ids(event["nodes"]) or ()


class ActivityIndex:
    """When each broker was heard of, and when others found it silent."""

    def __init__(self, ordered: Iterable[Row]) -> None:
        self._life: dict[int, list[Row]] = defaultdict(list)
        self._failures: dict[int, list[Row]] = defaultdict(list)
        for event in ordered:
            if event["kind"] in _LIFE_KINDS and event["broker"] is not None:
                self._life[event["broker"]].append(event)
            if event["kind"] == "fetch_failed" and event["node"] is not None and event["node"] != event["broker"]:
                self._failures[event["node"]].append(event)

    def has_log(self, broker: int) -> bool:
        """Whether the broker's own log is at hand, so that its silence about a start means that there was none."""
        return bool(self._life[broker])

    def last_before(self, broker: int, instant: datetime) -> Row | None:
        """The broker's own last line before an instant."""
        life = self._life[broker]
        i = bisect_left(life, instant, key=_at)
        return life[i - 1] if i else None

    def is_heard_within(self, broker: int, start: datetime, end: datetime) -> bool:
        """Whether the broker itself spoke between two instants."""
        life = self._life[broker]
        return bisect_right(life, start, key=_at) < bisect_left(life, end, key=_at)

    def first_failure(self, broker: int, after: datetime | None, until: datetime) -> Row | None:
        """The first of the failures to reach the broker that lead up to an instant without a pause."""
        failures = self._failures[broker]
        start = bisect_right(failures, after, key=_at) if after else 0
        run = failures[start : bisect_right(failures, until, key=_at)]
        first = None
        before = until
        for failure in reversed(run):
            if before - failure["happened_at"] > _QUIET:
                break
            first, before = failure, failure["happened_at"]
        return first


def _at(event: Row) -> datetime:
    instant: datetime = event["happened_at"]
    return instant
