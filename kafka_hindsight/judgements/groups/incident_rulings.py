"""What kind of incident rebalances with one origin are, and how it is described."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from kafka_hindsight.catalog.codes import Cause, Confidence, IncidentKind, Intent
from kafka_hindsight.catalog.rows import BrokerOutage, Rebalance
from kafka_hindsight.judgements.groups.rates import causes_of
from kafka_hindsight.judgements.groups.silent_hosts import SilentHost
from kafka_hindsight.judgements.groups.storm_rulings import FINGERPRINTS
from kafka_hindsight.judgements.groups.storms import Storm, client_of
from kafka_hindsight.judgements.reasoning.rulings import (
    CERTAIN,
    LIKELY,
    Proof,
    Ruling,
    Verdict,
    always,
    decide,
    proof_if,
)
from kafka_hindsight.shared.words import counted


@dataclass(frozen=True)
class Gathered:
    """Rebalances that were found to have one origin, and that origin.

    `rebalances` are in order of time. `total`: how many rebalances the window holds.
    """

    rebalances: Sequence[Rebalance]
    total: int
    outage: BrokerOutage | None = None
    host: SilentHost | None = None
    storm: Storm | None = None
    is_rolling_restart: bool = False
    is_scale_out: bool = False

    @property
    def intent(self) -> Intent:
        """Declared where an administrator's command surely began each of them; else not compared yet."""
        commands = {(r.cause, r.confidence) for r in self.rebalances}
        return Intent.DECLARED if commands == {(Cause.REMOVED_BY_ADMIN, CERTAIN)} else Intent.UNKNOWN

    @cached_property
    def fingerprint(self) -> Verdict | None:
        """What the rhythm of a storm resembles; None where it has too few rebalances to show one."""
        return None if self.storm is None else decide(FINGERPRINTS, self.storm)

    @cached_property
    def leading(self) -> Rebalance:
        """The rebalance whose cause stands for the incident: in a storm one with the most frequent cause."""
        if self.host is not None:
            return min(self.rebalances, key=lambda r: list(Confidence).index(r.confidence))
        if self.outage is not None:
            return next((r for r in self.rebalances if r.cause != Cause.UNKNOWN), self.rebalances[0])
        if self.storm is None:
            return self.rebalances[0]
        counts = Counter(r.cause for r in self.storm.driving)
        cause = min(counts, key=lambda c: (-counts[c], c))
        return next(r for r in self.storm.driving if r.cause == cause)

    @property
    def ended_at(self) -> datetime | None:
        """When the last of them ended; None where one has no known end."""
        ends = [r.ended_at for r in self.rebalances if r.ended_at is not None]
        return max(ends) if len(ends) == len(self.rebalances) else None

    @property
    def cost(self) -> float | None:
        """What they cost in partition-seconds, as far as that is known."""
        costs = [r.partition_seconds for r in self.rebalances if r.partition_seconds is not None]
        return round(sum(costs), 3) if costs else None

    @property
    def count(self) -> int:
        """How many rebalances it holds."""
        return len(self.rebalances)

    @property
    def groups(self) -> str:
        """In how many groups, in words."""
        return counted(len({r.group_id for r in self.rebalances}), "group")

    @property
    def causes(self) -> str:
        """Their causes with their counts, in words."""
        return causes_of(self.rebalances)

    @property
    def confidence(self) -> Confidence:
        """How sure the cause is: what one member of a silent host proves is likely for the others."""
        sure: Confidence = self.leading.confidence
        return sure if self.host is None else sure.at_most(LIKELY)

    @property
    def restarted(self) -> int:
        """How many members closed or came back."""
        restarted = {Cause.MEMBER_LEFT, Cause.MEMBER_REJOINED}
        return len({client_of(r) for r in self.rebalances if r.cause in restarted})

    @property
    def rhythm(self) -> str:
        """What the rhythm of a storm resembles, in words."""
        return "" if self.fingerprint is None else f" {self.fingerprint.sentence}"


def an_outage_began_them(case: Gathered) -> Proof | None:
    """A broker's outage began all of them, directly or through the rebalance before."""
    return proof_if(case.outage)


def a_host_fell_silent(case: Gathered) -> Proof | None:
    """All members on one host fell silent within one session timeout, while members elsewhere were heard."""
    return proof_if(case.host)


def the_host_was_heard_again(case: Gathered) -> Proof | None:
    """The same process of one of the host's members surely sent something again."""
    return proof_if(case.host is not None and case.host.was_heard_again)


def members_were_restarted_in_turn(case: Gathered) -> Proof | None:
    """Two members or more closed and came back, one after another, and no session or limit ran out."""
    return proof_if(case.is_rolling_restart)


def the_group_is_in_a_loop(case: Gathered) -> Proof | None:
    """Six rebalances or more began within 60 minutes, three of them removals or leaves that repeat."""
    return proof_if(case.storm)


def a_follow_up_belongs_to_it(case: Gathered) -> Proof | None:
    """A cooperative rebalance, and the follow-up in which partitions change their owner."""
    return proof_if(len(case.rebalances) > 1)


def the_coordinator_moved(case: Gathered) -> Proof | None:
    """The move of the coordinator began the rebalance."""
    return proof_if(case.leading.cause == Cause.COORDINATOR_MOVED)


def the_group_only_grew(case: Gathered) -> Proof | None:
    """New members joined a running group, and none left it for 10 minutes around."""
    return proof_if(case.is_scale_out)


_KIP_429 = "KIP-429"
_ADR = "docs/adr/0014-harm-first.md"

INCIDENTS: tuple[Ruling[Gathered], ...] = (
    Ruling(
        IncidentKind.BROKER_OUTAGE,
        LIKELY,
        "Broker {outage.broker}, away from {outage.down_at:%H:%M:%S} on, accounts for {count} of {total}"
        " rebalances, in {groups} ({causes}).",
        proof=(an_outage_began_them,),
        source=_ADR,
        decides="made: a coordinator is away",
        looks_alike="made: a member dies while a broker is away",
    ),
    Ruling(
        IncidentKind.HOST_SILENT,
        LIKELY,
        "All {host.members} members on host {host.host} ran out within one session of {host.since:%H:%M:%S},"
        " in {groups}, while members elsewhere were heard: a process on the host was heard again, so the host was"
        " cut off or paused, not down. {count} rebalances ({causes}).",
        proof=(the_host_was_heard_again,),
        source=_ADR,
        decides="made: a host is heard again",
        looks_alike="made: a host is never heard again",
    ),
    Ruling(
        IncidentKind.HOST_SILENT,
        LIKELY,
        "All {host.members} members on host {host.host} ran out within one session of {host.since:%H:%M:%S},"
        " in {groups}, while members elsewhere were heard: the host was down, cut off or paused; its address may also"
        " stand for many hosts, as that of a NAT or a proxy does. {count} rebalances ({causes}).",
        proof=(a_host_fell_silent,),
        source=_ADR,
        decides="made: a host is never heard again",
        looks_alike="made: two members of a host fall silent",
    ),
    Ruling(
        IncidentKind.ROLLING_RESTART,
        CERTAIN,
        "{restarted} members of group '{leading.group_id}' were restarted one after another: {count} rebalances.",
        proof=(members_were_restarted_in_turn,),
        source=_ADR,
        decides="groups/deployment-4.1 billing-deploy-9 01:45:27.117",
        looks_alike="groups/storm-2.8 billing-storm-8 01:48:02.233",
    ),
    Ruling(
        IncidentKind.STORM,
        CERTAIN,
        "Group '{leading.group_id}' rebalanced {count} times: {causes}.{rhythm}",
        proof=(the_group_is_in_a_loop,),
        source=_ADR,
        decides="groups/storm-2.8 billing-storm-8 01:48:02.233",
        looks_alike="groups/deployment-4.1 billing-deploy-9 01:45:27.117",
    ),
    Ruling(
        IncidentKind.COOPERATIVE_PAIR,
        LIKELY,
        "{leading.explanation} A scale-out: from {leading.members_before} members to {leading.members_after},"
        " and no member left. The cooperative follow-up belongs to it.",
        proof=(a_follow_up_belongs_to_it, the_group_only_grew),
        source=_KIP_429,
        decides="made: a cooperative group grows",
        looks_alike="groups/cooperative-2.8 fraud-coop-9 01:49:24.331",
    ),
    Ruling(
        IncidentKind.COOPERATIVE_PAIR,
        CERTAIN,
        "{leading.explanation} The cooperative follow-up belongs to it.",
        proof=(a_follow_up_belongs_to_it,),
        source=_KIP_429,
        decides="groups/cooperative-2.8 fraud-coop-9 01:49:24.331",
        looks_alike="made: a cooperative group grows",
    ),
    Ruling(
        IncidentKind.COORDINATOR_MOVE,
        LIKELY,
        "{leading.explanation}",
        proof=(the_coordinator_moved,),
        source="GroupCoordinator.onElection and onResignation",
        decides="made: a coordinator moves without an outage",
        looks_alike="made: a coordinator is away",
    ),
    Ruling(
        IncidentKind.SINGLE,
        LIKELY,
        "{leading.explanation} A scale-out: from {leading.members_before} members to {leading.members_after},"
        " and no member left.",
        proof=(the_group_only_grew,),
        source=_ADR,
        decides="made: an eager group grows",
        looks_alike="made: an eager group grows, and a member leaves",
    ),
    Ruling(
        IncidentKind.SINGLE,
        CERTAIN,
        "{leading.explanation}",
        proof=(always,),
        source=_ADR,
        decides="groups/cooperative-2.8 fraud-coop-9 01:49:20.330",
        looks_alike="made: an eager group grows",
    ),
)
"""The confidence is that of the kind; the row's own is that of the cause (Gathered.confidence)."""
