"""What a partition's timeline must know of the whole cluster: few rows, handed to every topic."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from spark_jobs.transforms.controllers import CONTROLLER_KINDS, Term, active_at, speaks_for_cluster, terms_of
from spark_jobs.transforms.windows import Row, broker_ids, in_order

_ONLY_CONTROLLERS = (
    "controller_elected",
    "broker_fenced",
    "broker_unfence_granted",
    "broker_controlled_shutdown_granted",
    "brokers_changed",
    "brokers_listed",
    "broker_shutdown_requested",
    "election_started",
    "periodic_election",
)
_DISK_FAILURES = ("log_dir_failed", "broker_halted")
CONTEXT_KINDS = (*CONTROLLER_KINDS, *_ONLY_CONTROLLERS, *_DISK_FAILURES)

_CATCHING_UP = timedelta(seconds=10)
"""A broker that is back applies what it missed within seconds."""

CLOCKS = timedelta(seconds=2)
"""How far two brokers' clocks may be apart before their lines are put into the wrong order."""


@dataclass(frozen=True)
class ClusterContext:
    """The absences, the controllers, their elections, and failed disks.

    `outages` are rows of gold.broker_outages by broker and time; `elections` and `disk_failures` are events;
    `own_tasks` are those of Kafka's own tasks for elections that controllers tell of, be it that they elected nobody;
    `first_heard` tells since when each controller's own log is at hand.
    """

    outages: tuple[Row, ...] = ()
    terms: tuple[Term, ...] = ()
    elections: tuple[Row, ...] = ()
    disk_failures: tuple[Row, ...] = ()
    own_tasks: frozenset[str] = frozenset()
    first_heard: Mapping[int, datetime] = field(default_factory=dict)

    @property
    def is_zookeepers(self) -> bool:
        """Whether a line tells that ZooKeeper's controllers rule the cluster."""
        return any(line["pattern_id"].startswith("zookeeper.") for term in self.terms for line in term.lines[:1])

    def outage_at(self, broker: int | None, instant: datetime) -> Row | None:
        """The broker's absence that the cluster knew of at an instant."""
        return self.outage_between(broker, instant, instant)

    def outage_between(self, broker: int | None, start: datetime, end: datetime) -> Row | None:
        """The broker's first absence that the cluster knew of at any time in a span."""
        return next(
            (
                o
                for o in self.outages
                if o["broker"] == broker
                and known_at(o) - CLOCKS <= end
                and (o["up_at"] is None or o["up_at"] + CLOCKS >= start)
            ),
            None,
        )

    def hears_controller_at(self, instant: datetime) -> bool:
        """Whether the log of the controller of that time is at hand, without which a broker may be missed unseen."""
        active = active_at(self.terms, instant)
        if active is not None:
            return active in self.first_heard
        return any(since <= instant for since in self.first_heard.values())

    def has_just_returned(self, broker: int | None, instant: datetime) -> bool:
        """Whether the broker was missed and has just come back, so that its lines tell old news."""
        return any(
            o["broker"] == broker
            and (o["detected_at"] or o["down_at"]) < instant
            and (o["up_at"] is None or instant <= o["up_at"] + _CATCHING_UP)
            for o in self.outages
        )


def disk_owners(failure: Row) -> tuple[int, ...]:
    """The brokers whose disk failed: those that a controller names, else the one that speaks."""
    named = broker_ids(failure["nodes"]) or ((failure["node"],) if failure["node"] is not None else ())
    return named or (failure["broker"],)


def on_failed_disk(failure: Row) -> frozenset[str]:
    """The partitions that a broker names as those on its failed disk; a controller names none."""
    return frozenset((failure["members"] or "").split(",")) - {""}


def known_at(outage: Row) -> datetime:
    """From when on an absence can have moved leaders: a shutdown asks for it, anything else must be noticed first."""
    is_asked = outage["kind"] == "controlled_shutdown" or outage["detected_at"] is None
    at: datetime = outage["down_at"] if is_asked else outage["detected_at"]
    return at


def context_of(events: Iterable[Row], outages: Iterable[Row]) -> ClusterContext:
    """The context of a cluster's partitions.

    Takes: silver.events of at least CONTEXT_KINDS, with look-back; rows of gold.broker_outages.
    """
    ordered = in_order(e for e in events if e["kind"] in CONTEXT_KINDS)
    terms = terms_of(ordered)
    return ClusterContext(
        outages=tuple(sorted(outages, key=lambda o: (o["broker"], o["down_at"]))),
        terms=terms,
        elections=tuple(
            e
            for e in ordered
            if e["kind"] == "election_started"
            or (e["kind"] == "periodic_election" and e["event_count"] and speaks_for_cluster(terms, e))
        ),
        disk_failures=tuple(e for e in ordered if e["kind"] in _DISK_FAILURES),
        own_tasks=frozenset(e["reason"] for e in ordered if e["kind"] == "periodic_election"),
        first_heard={e["broker"]: e["happened_at"] for e in reversed(ordered) if e["kind"] in _ONLY_CONTROLLERS},
    )
