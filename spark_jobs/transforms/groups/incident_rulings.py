"""What kind of incident rebalances with one origin are, and how it is described."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from spark_jobs.catalog.codes import Cause, Confidence, IncidentKind
from spark_jobs.catalog.rows import BrokerOutage, Rebalance
from spark_jobs.transforms.groups.rates import causes_of
from spark_jobs.transforms.groups.silent_hosts import SilentHost
from spark_jobs.transforms.groups.storm_rulings import FINGERPRINTS
from spark_jobs.transforms.groups.storms import Storm, client_of
from spark_jobs.transforms.rulings import Proof, Ruling, Verdict, decide
from spark_jobs.transforms.windows import counted


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
    def planned(self) -> bool:
        """Whether an operator meant it."""
        return self.is_rolling_restart or (self.outage is not None and self.outage.planned)

    @cached_property
    def fingerprint(self) -> Verdict | None:
        """What the rhythm of a storm resembles; None where it has too few rebalances to show one."""
        return None if self.storm is None else decide(FINGERPRINTS, self.storm)

    @cached_property
    def leading(self) -> Rebalance:
        """The rebalance whose cause stands for the incident.

        Gives: in a storm one with the most frequent cause of those that drive it, on a silent host the surest, in an
        outage the first whose cause is known, else the first.
        """
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

    def proof(self, **words: object) -> Proof:
        """What every incident rests on: the verdict on the rebalance that stands for it."""
        return Proof(words=words, confidence=self.leading.confidence)


def an_outage_began_them(case: Gathered) -> Proof | None:
    """A broker's outage began all of them, directly or through the rebalance before."""
    return None if case.outage is None else case.proof()


def a_host_fell_silent(case: Gathered) -> Proof | None:
    """All members on one host fell silent within one session timeout, while members elsewhere were heard."""
    return None if case.host is None else case.proof()


def the_host_was_heard_again(case: Gathered) -> Proof | None:
    """The same process of one of the host's members surely sent something again."""
    return Proof() if case.host is not None and case.host.was_heard_again else None


def members_were_restarted_in_turn(case: Gathered) -> Proof | None:
    """Two members or more closed and came back, one after another, and no session or limit ran out."""
    if not case.is_rolling_restart:
        return None
    restarted = {Cause.MEMBER_LEFT, Cause.MEMBER_REJOINED}
    return case.proof(members=len({client_of(r) for r in case.rebalances if r.cause in restarted}))


def the_group_is_in_a_loop(case: Gathered) -> Proof | None:
    """Six rebalances or more within 60 minutes, three of them removals or leaves that repeat."""
    if case.storm is None:
        return None
    return case.proof(rhythm="" if case.fingerprint is None else f" {case.fingerprint.sentence}")


def a_follow_up_belongs_to_it(case: Gathered) -> Proof | None:
    """A cooperative rebalance, and the follow-up in which partitions change their owner."""
    return case.proof() if len(case.rebalances) > 1 else None


def the_coordinator_moved(case: Gathered) -> Proof | None:
    """The move of the coordinator began the rebalance."""
    return case.proof() if case.leading.cause == Cause.COORDINATOR_MOVED else None


def the_group_only_grew(case: Gathered) -> Proof | None:
    """New members joined a running group, and none left it for 10 minutes around."""
    return case.proof() if case.is_scale_out else None


def it_stands_alone(case: Gathered) -> Proof | None:
    """In every other case."""
    return case.proof()


_KIP_429 = "KIP-429"
_ADR = "docs/adr/0018-chains-and-storms.md"
_KIP_345 = "KIP-345"

INCIDENTS: tuple[Ruling[Gathered], ...] = (
    Ruling(
        IncidentKind.BROKER_OUTAGE,
        Confidence.CERTAIN,
        "Broker {outage.broker}, away from {outage.down_at:%H:%M:%S} on, accounts for {count} of {total}"
        " rebalances, in {groups} ({causes}).",
        proof=(an_outage_began_them,),
        source=_ADR,
        decides="",
        looks_alike="",
    ),
    Ruling(
        IncidentKind.HOST_SILENT,
        Confidence.LIKELY,
        "All {host.members} members on host {host.host} ran out within one session of {host.since:%H:%M:%S},"
        " in {groups}, while members elsewhere were heard: a process on the host was heard again, so the host was"
        " cut off or paused, not down. {count} rebalances ({causes}).",
        proof=(a_host_fell_silent, the_host_was_heard_again),
        source=_ADR,
        decides="",
        looks_alike="",
    ),
    Ruling(
        IncidentKind.HOST_SILENT,
        Confidence.LIKELY,
        "All {host.members} members on host {host.host} ran out within one session of {host.since:%H:%M:%S},"
        " in {groups}, while members elsewhere were heard: the host was down, cut off or paused; its address may also"
        " stand for many hosts, as that of a NAT or a proxy does. {count} rebalances ({causes}).",
        proof=(a_host_fell_silent,),
        source=_ADR,
        decides="",
        looks_alike="",
    ),
    Ruling(
        IncidentKind.ROLLING_RESTART,
        Confidence.CERTAIN,
        "{members} members of group '{leading.group_id}' were restarted one after another: {count} rebalances.",
        proof=(members_were_restarted_in_turn,),
        source=_ADR,
        decides="",
        looks_alike="",
    ),
    Ruling(
        IncidentKind.STORM,
        Confidence.CERTAIN,
        "Group '{leading.group_id}' rebalanced {count} times: {causes}.{rhythm}",
        proof=(the_group_is_in_a_loop,),
        source=_ADR,
        decides="",
        looks_alike="",
    ),
    Ruling(
        IncidentKind.COOPERATIVE_PAIR,
        Confidence.CERTAIN,
        "{leading.explanation} A scale-out: from {leading.members_before} members to {leading.members_after},"
        " and nobody left. The cooperative follow-up belongs to it.",
        proof=(a_follow_up_belongs_to_it, the_group_only_grew),
        source=_KIP_429,
        decides="",
        looks_alike="",
    ),
    Ruling(
        IncidentKind.COOPERATIVE_PAIR,
        Confidence.CERTAIN,
        "{leading.explanation} The cooperative follow-up belongs to it.",
        proof=(a_follow_up_belongs_to_it,),
        source=_KIP_429,
        decides="",
        looks_alike="",
    ),
    Ruling(
        IncidentKind.COORDINATOR_MOVE,
        Confidence.CERTAIN,
        "{leading.explanation}",
        proof=(the_coordinator_moved,),
        source="GroupCoordinator.onElection and onResignation",
        decides="",
        looks_alike="",
    ),
    Ruling(
        IncidentKind.SINGLE,
        Confidence.CERTAIN,
        "{leading.explanation} A scale-out: from {leading.members_before} members to {leading.members_after},"
        " and nobody left.",
        proof=(the_group_only_grew,),
        source=_ADR,
        decides="",
        looks_alike="",
    ),
    Ruling(
        IncidentKind.SINGLE,
        Confidence.CERTAIN,
        "{leading.explanation}",
        proof=(it_stands_alone,),
        source=_ADR,
        decides="",
        looks_alike="",
    ),
)
