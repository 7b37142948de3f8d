"""Rebalances with one origin as one incident: an outage, a silent host, a deployment, a storm, a cooperative pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property, partial
from itertools import pairwise
from statistics import median

from kafka_hindsight.catalog.codes import (
    Cause,
    Confidence,
    Fingerprint,
    IncidentKind,
    Intent,
    Outcome,
    Protocol,
    Silence,
)
from kafka_hindsight.catalog.nouns.causes import CauseFamily
from kafka_hindsight.catalog.rows import BrokerOutage, CoordinatorMove, Incident, MemberStay, Rebalance
from kafka_hindsight.judgements.groups.storms import (
    LOOP_TURNS,
    RebalanceUnit,
    Replacement,
    Storm,
    advice_on,
    causes_of,
    client_of,
    driver_of,
    find_replacements,
    find_rolling_restarts,
    find_storms,
)
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, ranks_of, row_id
from kafka_hindsight.judgements.reasoning.proofs import CERTAIN, LIKELY, Proof, always, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Certain, Likely, Ruling, Verdict, decide, verdict_of
from kafka_hindsight.judgements.rebalances.group_history import turn_of
from kafka_hindsight.knowledge.advice import MemberFacts, advise
from kafka_hindsight.knowledge.client_libraries import library_of
from kafka_hindsight.knowledge.remedy_settings import SESSION_TIMEOUT_MS
from kafka_hindsight.measures.time_away import shown_until
from kafka_hindsight.shared.durations import (
    CATCHING_UP,
    HEARTBEAT_INTERVAL,
    LONG_AGO,
    MS,
    OUTAGE_SHADOW,
    RETURN_WITHIN,
    SAME_ACT,
)
from kafka_hindsight.shared.grouping import grouped, runs, split_by
from kafka_hindsight.shared.timelines import Interval, Intervals, Timeline, intervals
from kafka_hindsight.shared.words import counted, duration

GROUPS_WITH_COMMANDS = 3
"""So many groups of an incident get commands of their own."""

SILENT_MEMBERS = 3
"""Fewer whose sessions expire together may do so by chance. The number is our choice."""


@dataclass(frozen=True)
class SilentHost:
    """A host whose members all fell silent, since when, and the rebalances that this began.

    `since` rests on the length of a session; `has_sessions`: lines show that of each member.
    """

    host: str
    since: datetime
    last_at: datetime
    members: int
    rebalances: tuple[Rebalance, ...]
    has_sessions: bool

    @property
    def span(self) -> str:
        """The time in which they fell silent. No default shows how long a session was."""
        if not self.has_sessions:
            return f"before their sessions expired, the last at {self.last_at:%H:%M:%S}"
        return f"within one session timeout of {self.since:%H:%M:%S}"

    @property
    def fate(self) -> str:
        """The effect of it, by whether the same process of one of its members surely sent something again.

        Members whose close sends no LeaveGroup may all have been closed: then that is named first.
        """
        silences = {r.silence for r in self.rebalances if r.silence_confidence == LIKELY}
        if Silence.NETWORK in silences:
            return "A process on the host ran and reached no broker: the host was probably cut off, not down or paused."
        if Silence.PAUSE in silences:
            return "A process on the host stood still: the host was probably paused, not down or cut off."
        if any(r.cause.noun.is_late_heartbeat and r.confidence == CERTAIN for r in self.rebalances):
            return "A process on the host was heard again, so the host was cut off or paused, not down."
        may_be_closed = all(r.cause.noun.is_silent_end for r in self.rebalances)
        first = "Its members were closed together, or the" if may_be_closed else "The"
        return (
            f"{first} host was down, cut off or paused; its address may also stand for many hosts, as that of a NAT or"
            " a proxy does."
        )


def find_silent_hosts(rebalances: Iterable[Rebalance], roster: Iterable[MemberStay]) -> list[SilentHost]:
    """The hosts whose members all fell silent, each time with the rebalances that this began.

    A host that had another member meanwhile is left out. So is one where no member elsewhere is known to have been
    heard all the time: then the brokers may have been silent. A member's host is the address that its coordinator saw.
    The rack in a reading is the broker's.
    """
    stays = [s for s in roster if s.host]
    heard = Intervals(Interval(s.since, s.until, s) for s in stays if s.since is not None)
    began = grouped((r for r in rebalances if r.cause.noun.is_silence), lambda r: (r.group_id, r.member_id))
    hosts = []
    for host, here in sorted(grouped(stays, lambda s: s.host or "").items()):
        possible = Intervals(Interval(s.since or LONG_AGO, s.until, s) for s in here)
        hosts += [_silent_host(host, silent, possible, heard, began) for silent in _together(here)]
    return list(filter(None, hosts))


def _silent_host(
    host: str,
    silent: Sequence[tuple[datetime, MemberStay]],
    possible: Intervals[MemberStay],
    heard: Intervals[MemberStay],
    began: Mapping[tuple[str, str | None], Sequence[Rebalance]],
) -> SilentHost | None:
    """The host, if these stays are all that it had and a member elsewhere was heard."""
    since, last = silent[0][0] - _session(silent[0][1]), silent[-1][0]
    members = {stay for _, stay in silent}
    of_members = ((at, r) for at, s in silent for r in began.get((s.group_id, s.member_id), ()))
    rows = {r.rebalance_id: r for at, r in of_members if abs(r.started_at - at) <= SAME_ACT}
    if len(members) < SILENT_MEMBERS or not rows or any(i.value not in members for i in possible.between(since, last)):
        return None
    if not any(i.value.host != host and (i.end is None or i.end > last) for i in heard.at(since)):
        return None
    has_sessions = all(stay.session_timeout_ms for _, stay in silent)
    return SilentHost(host, since, last, len(silent), tuple(rows.values()), has_sessions)


def _together(stays: Iterable[MemberStay]) -> list[list[tuple[datetime, MemberStay]]]:
    """The stays of one host that ended because a session expired, with the end of each.

    They are cut where more than a session lies between two.
    """
    expiries = [(s.until, s) for s in stays if s.how == "expired" and s.until is not None]
    ordered = sorted(expiries, key=lambda e: (e[0], e[1].group_id, e[1].member_id))
    return runs(ordered, lambda run, expiry: expiry[0] - run[0][0] <= _session(expiry[1]))


def _session(stay: MemberStay) -> timedelta:
    return timedelta(milliseconds=stay.session_timeout_ms or SESSION_TIMEOUT_MS)


MIN_DRIVING = 4
"""Fewer have too few intervals between them to show a rhythm."""

STEADY_SPREAD = 0.2
"""Half of the intervals lie within a fifth of their median.
Source: a coefficient of variation below 0.2, as proposed for storms in docs/adr/0014-harm-first.md."""

LIMIT_SPREAD = 0.1


def session_runs_out_after_each_join(storm: Storm) -> Proof | None:
    """Members are removed one session timeout after the rebalance before.

    Each member was alive when that one ended. A removal comes later than the session timeout by the time from the join
    to the last heartbeat. KIP-848 is left out: there not every member takes part in each rebalance.
    """
    removals = [
        ((unit[0].started_at - before[-1].ended_at) / MS, unit[0].session_timeout_ms)
        for before, unit in pairwise(storm.units)
        if before[-1].ended_at is not None
        and unit[0].protocol == Protocol.CLASSIC
        and (unit[0].cause.noun.is_late_heartbeat or unit[0].cause.noun.is_death or unit[0].cause.noun.is_silent_end)
        and unit[0].session_timeout_ms
    ]
    if len(removals) < LOOP_TURNS:
        return None
    limit = median(limit for _, limit in removals)
    if median(abs(wait - limit) for wait, limit in removals) > max(HEARTBEAT_INTERVAL / MS, LIMIT_SPREAD * limit):
        return None
    middle, spread = _middle([wait for wait, _ in removals])
    return Proof(words={"wait": duration(middle), "spread": duration(spread), "limit": duration(limit)})


def shows_a_rhythm(storm: Storm) -> Proof | None:
    """Four rebalances or more drive the loop."""
    return Proof() if len(storm.driving) >= MIN_DRIVING else None


def repeats_steadily(storm: Storm) -> Proof | None:
    """Half of the intervals between them differ from their median by a fifth of it at most."""
    middle, spread = _middle([(b - a) / MS for a, b in pairwise(r.started_at for r in storm.driving)])
    words = {"interval": duration(middle), "spread": duration(spread)}
    return Proof(words=words) if spread <= STEADY_SPREAD * middle else None


def _middle(values: Sequence[float]) -> tuple[float, float]:
    """The median, and the median distance from it."""
    middle = median(values)
    return middle, median(abs(v - middle) for v in values)


FINGERPRINTS: tuple[Ruling[Storm], ...] = (
    Likely(
        Fingerprint.SESSION_TIMEOUT,
        "Its removals come {wait} after the rebalance before (median; half of them within {spread} of it), and the"
        " session timeout is {limit}: members fall silent as soon as they have joined.",
        proof=(session_runs_out_after_each_join,),
        source="session.timeout.ms and heartbeat.interval.ms of ConsumerConfig; docs/adr/0014-harm-first.md",
        cases=(
            "made: a member that dies as soon as it has joined",
            "made: the same intervals with a session timeout of 10 s",
        ),
    ),
    Likely(
        Fingerprint.STEADY,
        "The rebalances that drive it come every {interval} (median; half of the intervals within {spread} of it), as"
        " in a crash loop.",
        proof=(shows_a_rhythm, repeats_steadily),
        source="docs/adr/0014-harm-first.md",
        cases=("groups/storm-2.8 billing-storm-8", "made: three removals, too few for a rhythm"),
    ),
)
"""A limit of the clients comes before any steady interval, because it shows more."""


@dataclass(frozen=True)
class IncidentCase:
    """Rebalances of one origin, and that origin.

    `rebalances` are in order of time. `total`: how many rebalances the window holds.
    """

    rebalances: Sequence[Rebalance]
    total: int
    outage: BrokerOutage | None = None
    host: SilentHost | None = None
    storm: Storm | None = None
    is_rolling_restart: bool = False
    replacement: Replacement | None = None

    @property
    def intent(self) -> Intent:
        """Declared where an administrator's command surely began each of them; else not compared yet."""
        is_commanded = all(r.cause.noun.is_command and r.confidence == CERTAIN for r in self.rebalances)
        return Intent.DECLARED if is_commanded else Intent.UNKNOWN

    @cached_property
    def fingerprint(self) -> Verdict | None:
        """The pattern that the rhythm of a storm resembles; None where it has too few rebalances to show one."""
        return None if self.storm is None else decide(FINGERPRINTS, self.storm)

    @cached_property
    def leading(self) -> Rebalance:
        """The rebalance whose cause stands for the incident: in a storm one with the most frequent cause."""
        if self.host is not None:
            return min(self.rebalances, key=lambda r: list(Confidence).index(r.confidence))
        if self.outage is not None:
            return next((r for r in self.rebalances if r.cause.noun.family != CauseFamily.UNKNOWN), self.rebalances[0])
        if self.is_rolling_restart or self.replacement:
            # Another member shows that one which only may have been closed was.
            return next((r for r in self.rebalances if r.cause.noun.is_leave), self.rebalances[0])
        if self.storm is None:
            return self.rebalances[0]
        drivers = [driver_of(r) or r.cause for r in self.storm.driving]
        counts = Counter(drivers)
        return self.storm.driving[drivers.index(min(counts, key=lambda c: (-counts[c], c)))]

    @property
    def cause(self) -> Cause:
        """The cause that stands for the incident: in a storm the most frequent of those that drive it."""
        return self._cause_of(self.leading)

    def _cause_of(self, rebalance: Rebalance) -> Cause:
        """The cause of one of its rebalances: in a storm that of members which the one before left behind."""
        return (driver_of(rebalance) if self.storm else None) or rebalance.cause

    @property
    def size(self) -> str:
        """How many rebalances it has, in words."""
        return counted(len(self.rebalances), "rebalance")

    @property
    def count(self) -> int:
        """How many rebalances it holds."""
        return len(self.rebalances)

    @property
    def groups(self) -> str:
        """The number of groups, in words."""
        return counted(len({r.group_id for r in self.rebalances}), "group")

    @property
    def causes(self) -> str:
        """Their causes with their counts, in words."""
        return causes_of(self.rebalances)

    @property
    def confidence(self) -> Confidence:
        """The confidence of the cause: that of the least sure of its rebalances which have it.

        What one member of a silent host proves is likely for the others. If members that a rebalance left behind began
        the next one, that is likely too.
        """
        if self.host is not None:
            return self.leading.confidence.at_most(LIKELY)
        alike = [r for r in self.rebalances if self._cause_of(r) == self.cause]
        return Confidence.least(r.confidence if r.cause == self.cause else r.confidence.at_most(LIKELY) for r in alike)

    @property
    def member_count(self) -> int:
        """How many members closed or came back."""
        return len({client_of(r) for r in self.rebalances if r.cause.noun.is_leave or r.cause.noun.is_return})

    @property
    def replaced(self) -> str:
        """How many members left and how many others joined, within which time, in words."""
        own = self.replacement
        return f"{own.leavers} left and {own.joiners} others joined within {duration(own.span)}" if own else ""

    @property
    def rhythm(self) -> str:
        """The rhythm of a storm, in words."""
        return "" if self.fingerprint is None else f" {self.fingerprint.sentence}"

    @property
    def late_joins(self) -> str:
        """The number of rebalances of a storm that left members behind, in words."""
        dropping = [r for r in self.storm.driving if driver_of(r) not in (None, r.cause)] if self.storm else []
        return f" {len(dropping)} of them left members behind that did not join in time." if dropping else ""


def an_outage_began_them(case: IncidentCase) -> Proof | None:
    """A broker's outage began all of them, directly or through the rebalance before."""
    return proof_if(case.outage)


def a_host_fell_silent(case: IncidentCase) -> Proof | None:
    """All members on one host fell silent within one session timeout, while members elsewhere were heard."""
    return proof_if(case.host)


def members_were_restarted_in_turn(case: IncidentCase) -> Proof | None:
    """Two members or more closed and came back, one after another, and no session or limit ran out."""
    return proof_if(case.is_rolling_restart)


def others_took_their_places(case: IncidentCase) -> Proof | None:
    """Two members or more left, another one joined within ten minutes of each, and no line shows another size then."""
    return proof_if(case.replacement)


def the_group_is_in_a_loop(case: IncidentCase) -> Proof | None:
    """Six or more began within 60 minutes, three of them removals, drops, failed writes or leaves that repeat."""
    return proof_if(case.storm)


def a_follow_up_belongs_to_it(case: IncidentCase) -> Proof | None:
    """A cooperative rebalance, and the follow-up in which partitions change their owner."""
    return proof_if(len(case.rebalances) > 1)


def the_coordinator_moved(case: IncidentCase) -> Proof | None:
    """The move of the coordinator began the rebalance."""
    return proof_if(case.leading.cause.noun.is_move)


_KIP_429 = "KIP-429"
_ADR = "docs/adr/0014-harm-first.md"

INCIDENTS: tuple[Ruling[IncidentCase], ...] = (
    Likely(
        IncidentKind.BROKER_OUTAGE,
        "Broker {outage.broker}, away from {outage.down_at:%H:%M:%S} on, accounts for {count} of {total} rebalances, in"
        " {groups} ({causes}).",
        proof=(an_outage_began_them,),
        source=_ADR,
        cases=("made: a coordinator is away", "made: a member dies while a broker is away"),
    ),
    Likely(
        IncidentKind.HOST_SILENT,
        "All {host.members} members on host {host.host}, in {groups}, fell silent {host.span},"
        " while members elsewhere were heard. {host.fate} {size} ({causes}).",
        proof=(a_host_fell_silent,),
        source=_ADR,
        cases=("made: a host is never heard again", "made: two members of a host fall silent"),
    ),
    Certain(
        IncidentKind.ROLLING_RESTART,
        "{member_count} members of group '{leading.group_id}' were restarted one after another: {size}.",
        proof=(members_were_restarted_in_turn,),
        source=_ADR,
        cases=("groups/deployment-4.1 billing-deploy-9 01:45:27.117", "groups/storm-2.8 billing-storm-8 01:48:02.233"),
    ),
    Likely(
        IncidentKind.MEMBERS_REPLACED,
        "Members of group '{leading.group_id}' were replaced: {replaced}. The logs do not show whether the same program"
        " goes on under new names.",
        proof=(others_took_their_places,),
        source="GroupCoordinator.scala handleLeaveGroup and doNewMemberJoinGroup name a member id, a new one for each"
        " process; KIP-345: the instance id of a static member stays",
        cases=("made: two members are replaced", "made: one member is replaced"),
    ),
    Certain(
        IncidentKind.STORM,
        "Group '{leading.group_id}' rebalanced {count} times: {causes}.{late_joins}{rhythm}",
        proof=(the_group_is_in_a_loop,),
        source=_ADR,
        cases=("groups/storm-2.8 billing-storm-8 01:48:02.233", "groups/deployment-4.1 billing-deploy-9 01:45:27.117"),
    ),
    Certain(
        IncidentKind.COOPERATIVE_PAIR,
        "{leading.explanation} The cooperative follow-up belongs to it.",
        proof=(a_follow_up_belongs_to_it,),
        source=_KIP_429,
        cases=("groups/cooperative-2.8 fraud-coop-9 01:49:24.331", "groups/cooperative-2.8 fraud-coop-9 01:49:20.330"),
    ),
    Likely(
        IncidentKind.COORDINATOR_MOVE,
        "{leading.explanation}",
        proof=(the_coordinator_moved,),
        source="GroupCoordinator.onElection and onResignation",
        cases=("made: a coordinator moves without an outage", "made: a coordinator is away"),
    ),
    Certain(
        IncidentKind.SINGLE,
        "{leading.explanation}",
        proof=(always,),
        source=_ADR,
        cases=("groups/cooperative-2.8 fraud-coop-9 01:49:20.330", "groups/cooperative-2.8 fraud-coop-9 01:49:24.331"),
    ),
)
"""The confidence is that of the kind; the row's own is that of the cause (Gathered.confidence)."""


BROKER_INDUCED_CAUSES = frozenset(c for c in Cause if c.noun.is_broker_induced or c.noun.family == CauseFamily.UNKNOWN)
"""Causes that come from a broker's outage, or that nothing else explains. A member that dies, leaves or is too slow
does so by itself."""

CoordinatorLoss = tuple[datetime, str]
"""The instant at which the group's partition of `__consumer_offsets` lost its leader, and the outage behind it."""


class OutageLookup:
    """The outages that can have begun a rebalance, by instant."""

    def __init__(self, outages: Sequence[BrokerOutage]) -> None:
        self._by_broker = intervals(outages, lambda o: o.broker, _felt)
        self._by_id = {o.outage_id: _felt(o) for o in outages}
        self._out_of_sync = Intervals(_out_of_sync(o) for o in outages)

    def behind(self, row: Rebalance, losses: Timeline[CoordinatorLoss]) -> BrokerOutage | None:
        """The outage that began the rebalance itself: of several, the one that began last."""
        if row.cause not in BROKER_INDUCED_CAUSES:
            return None
        at = row.started_at
        outage_ids = {outage_id for _, outage_id in losses.near(at, OUTAGE_SHADOW)}
        hits = [self._by_id[i] for i in outage_ids if i in self._by_id and self._by_id[i].holds(at)]
        if row.coordinator in self._by_broker:
            hits += self._by_broker[row.coordinator].at(at)
        if row.cause.noun.is_unstored:
            hits += self._out_of_sync.at(at)
        return max((hit.value for hit in hits), key=lambda o: (o.down_at, o.outage_id), default=None)


def _felt(outage: BrokerOutage) -> Interval[BrokerOutage]:
    """The time in which the groups that the broker coordinated may suffer from its outage."""
    end = outage.up_at or outage.detected_at or outage.down_at
    return Interval(outage.down_at, end + OUTAGE_SHADOW, outage)


def _out_of_sync(outage: BrokerOutage) -> Interval[BrokerOutage]:
    """The time in which a coordinator may fail to write because this broker is away, or not yet in sync again.

    Where its return is not known, up to shortly after the last proof that it was away.
    Source: a write to `__consumer_offsets` fails where fewer than min.insync.replicas are in sync.
    """
    back = outage.isr_recovered_at or outage.up_at
    return Interval(outage.down_at, back + CATCHING_UP if back else shown_until(outage), outage)


def attribute_to_outages(
    rebalances: Sequence[Rebalance], outages: OutageLookup, losses: Iterable[CoordinatorLoss]
) -> dict[str, BrokerOutage]:
    """The outage behind each rebalance of one group, by rebalance id, for those that an outage began.

    A rebalance that restarts one which the outage cut short belongs to the outage too. So does the return of a member
    whose session expired in it.
    """
    leader_losses = Timeline(losses, at=lambda loss: loss[0])
    behind: dict[str, BrokerOutage] = {}
    interrupted: set[str] = set()
    expiries: dict[str, tuple[datetime, BrokerOutage]] = {}
    for row in rebalances:
        outage = outages.behind(row, leader_losses)
        if outage is None and row.follows in interrupted:
            outage = behind[row.follows]
        if outage is None and row.cause.noun.is_return and client_of(row) in expiries:
            expired_at, last = expiries[client_of(row)]
            outage = last if row.started_at - expired_at <= RETURN_WITHIN else None
        if outage is None:
            continue
        behind[row.rebalance_id] = outage
        if row.outcome == Outcome.INTERRUPTED:
            interrupted.add(row.rebalance_id)
        if row.cause.noun.is_late_heartbeat and client_of(row):
            expiries[client_of(row)] = row.started_at, outage
    return behind


Chains = Mapping[str, tuple[Sequence[str], int]]
"""The chain that a rebalance belongs to, by rebalance id: the ids of its links in order, and its place among them."""


def group_incidents(
    rebalances: Iterable[Rebalance],
    outages: Sequence[BrokerOutage],
    moves: Iterable[CoordinatorMove],
    losses: Mapping[str, Sequence[CoordinatorLoss]] | None = None,
    roster: Iterable[MemberStay] = (),
) -> tuple[list[Incident], dict[str, str]]:
    """Rows of gold.incidents, each rebalance of a cluster in exactly one, and the incident of each rebalance id.

    `losses`: for each group, the outages in which its partition of `__consumer_offsets` lost its leader.
    """
    by_group = grouped(_sorted_by_turn(rebalances), lambda r: r.group_id)
    case_of = partial(IncidentCase, total=sum(map(len, by_group.values())))
    lookup, moves_by_group = OutageLookup(outages), grouped((m for m in moves if m.outage_id), lambda m: m.group_id)
    outage_of: dict[str, BrokerOutage] = {}
    for group_id, group in by_group.items():
        move_losses = [(m.moved_at, m.outage_id or "") for m in moves_by_group.get(group_id, ())]
        outage_of |= attribute_to_outages(group, lookup, [*move_losses, *(losses or {}).get(group_id, ())])
    attributed, others = split_by(_sorted_by_turn(_flat(by_group.values())), lambda r: r.rebalance_id in outage_of)
    by_outage = grouped(attributed, lambda r: outage_of[r.rebalance_id].outage_id)
    cases = [case_of(rows, outage=outage_of[rows[0].rebalance_id]) for rows in by_outage.values()]

    hosts = find_silent_hosts(others, roster)
    cases += [case_of(_sorted_by_turn(host.rebalances), host=host) for host in hosts]
    silenced_ids = {r.rebalance_id for r in _flat(host.rebalances for host in hosts)}
    others = [r for r in others if r.rebalance_id not in silenced_ids]
    for group in grouped(others, lambda r: r.group_id).values():
        cases += _cases_of_group(group, case_of)

    chains = _chains(by_group.values())
    rows = [(case, _row(case, chains)) for case in cases]
    incident_of = {r.rebalance_id: row.incident_id for case, row in rows for r in case.rebalances}
    return sorted((row for _, row in rows), key=lambda r: (r.started_at, r.incident_id)), incident_of


def _sorted_by_turn(rebalances: Iterable[Rebalance]) -> list[Rebalance]:
    return sorted(rebalances, key=turn_of)


def _cases_of_group(rebalances: Sequence[Rebalance], case_of: partial[IncidentCase]) -> list[IncidentCase]:
    """The deployments of a group, the times in which members were replaced, storms, then each other rebalance alone.

    A cooperative follow-up belongs to the rebalance before it.
    """
    units: list[RebalanceUnit] = [*runs(rebalances, lambda _, r: r.cause.noun.is_follow_up)]
    restarts = find_rolling_restarts(units)
    cases = [case_of(_flat([units[n] for n in places]), is_rolling_restart=True) for places in restarts]
    units = _units_outside(units, restarts)
    replacements = find_replacements(units)
    cases += [case_of(_flat([units[n] for n in r.places]), replacement=r) for r in replacements]
    units = _units_outside(units, [r.places for r in replacements])
    storms = find_storms(units)
    for places in storms:
        storm = Storm(units[places.start : places.stop])
        cases.append(case_of(_flat(storm.units), storm=storm))
    return [*cases, *map(case_of, _units_outside(units, storms))]


def _flat(units: Iterable[RebalanceUnit]) -> list[Rebalance]:
    return [r for unit in units for r in unit]


def _units_outside(units: Sequence[RebalanceUnit], spans: Iterable[Iterable[int]]) -> list[RebalanceUnit]:
    places = {n for span in spans for n in span}
    return [unit for n, unit in enumerate(units) if n not in places]


def _chains(groups: Iterable[Sequence[Rebalance]]) -> Chains:
    """The chain of each rebalance that restarted one of the same window, or was restarted by one."""
    chains: dict[str, list[str]] = {}
    places: dict[str, int] = {}
    for rebalance in _flat(groups):
        chain = chains.get(rebalance.follows or "", [])
        places[rebalance.rebalance_id] = len(chain)
        chain.append(rebalance.rebalance_id)
        chains[rebalance.rebalance_id] = chain
    return {i: (chain, places[i]) for i, chain in chains.items() if len(chain) > 1}


def _row(case: IncidentCase, chains: Chains) -> Incident:
    verdict = verdict_of(INCIDENTS, case)
    is_leading = case.cause == case.leading.cause
    first, leading = case.rebalances[0], case.leading
    advice = leading.advice if is_leading else advise(case.cause, _facts_of(leading)).text
    protocols = {r.protocol for r in case.rebalances}
    by_group = [rows[0] for rows in grouped(case.rebalances, lambda r: r.group_id).values()][:GROUPS_WITH_COMMANDS]
    ends = [r.ended_at for r in case.rebalances if r.ended_at is not None]
    costs = [r.partition_seconds for r in case.rebalances if r.partition_seconds is not None]
    is_of_members = is_leading and not case.leading.cause.noun.is_unstored
    if is_of_members and not (case.is_rolling_restart or case.replacement or case.outage):
        advice = advice_on(case.rebalances, advice)
    return Incident(
        cluster=first.cluster,
        incident_id=row_id("incident", verdict.code, *(r.rebalance_id for r in case.rebalances)),
        kind=IncidentKind(verdict.code),
        intent=case.intent,
        started_at=first.started_at,
        ended_at=max(ends) if len(ends) == len(case.rebalances) else None,
        group_ids=sorted({r.group_id for r in case.rebalances}),
        rebalance_count=len(case.rebalances),
        protocol=first.protocol if len(protocols) == 1 else None,
        cause=case.cause,
        confidence=case.confidence,
        fingerprint=Fingerprint(case.fingerprint.code) if case.fingerprint else None,
        first_outage_id=case.outage.outage_id if case.outage else None,
        partition_seconds=round(sum(costs), 3) if costs else None,
        explanation=verdict.sentence + _in_chain(case.rebalances, chains),
        advice=advice,
        commands=[*dict.fromkeys(c for r in by_group for c in advise(case.cause, _facts_of(r)).commands)],
        evidence=evidence_of(
            (r.evidence[0] for r in case.rebalances if r.cause == case.cause),
            *ranks_of(r.evidence for r in case.rebalances),
        ),
    )


def _facts_of(rebalance: Rebalance) -> MemberFacts:
    """The facts that a rebalance shows of its group: the library where only that one has the assignor."""
    library = library_of(rebalance.client_id, (), [rebalance.assignor] if rebalance.assignor else ())
    client, group = rebalance.client_id or "", rebalance.group_id
    return MemberFacts(protocol=rebalance.protocol, library=library, group=group, client=client)


def _in_chain(rebalances: Sequence[Rebalance], chains: Chains) -> str:
    """The longest chain that its rebalances belong to, and their part in it, in words."""
    here = [r.rebalance_id for r in rebalances if r.rebalance_id in chains]
    if not here:
        return ""
    chain, place = max((chains[i] for i in here), key=lambda link: len(link[0]))
    whole = f"{len(chain)} rebalances that overlapped"
    if len(rebalances) == 1:
        return f" It is number {place + 1} of {whole}."
    if {*chain} <= {*here}:
        return f" {len(chain)} of the rebalances overlapped: each began before the last one had finished."
    return f" It is part of {whole}."
