"""What a reader sees first: the harm done, what to do, what was not seen; then the window in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from kafka_hindsight.catalog.codes import (
    Confidence,
    FailoverKind,
    FindingSeverity,
    IncidentKind,
    OutOfSyncKind,
    TruncationVerdict,
)
from kafka_hindsight.catalog.rows import (
    Failover,
    Finding,
    OutOfSyncPeriod,
    Rebalance,
    RollingRestart,
    Truncation,
    ValidationResult,
)
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.lead import lead, tiles
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import absence, brokers_named, declared, lost_records, outage_at, unread_first, who
from kafka_hindsight.report.sections import coverage
from kafka_hindsight.report.sections.danger import exposure, worst_simulation
from kafka_hindsight.report.sections.restarts import headline, in_order
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.absences import away, is_orderly

BROKEN = 6
RESTARTS_NAMED = 2
# Events and causes that a sentence can hold, and the part of all rebalances below which an event is not named.
EVENTS_NAMED = 4
CAUSES_NAMED = 4
WORTH_NAMING = 0.02
_IN_ORDER = frozenset({FailoverKind.CONTROLLED_SHUTDOWN, FailoverKind.PREFERRED_ELECTION, FailoverKind.REASSIGNMENT})


def verdict(page: PageRows) -> Iterator[ui.Block]:
    """Why the window was not published, where it was not; the first screen; all of it in sentences, folded."""
    broken = coverage.broken_expectations(page, "critical")
    if broken:
        yield _refusal(broken)
    yield lead(page)
    yield ui.Tiles(tuple(tiles(page)))
    said = [[words.sentence(sentence) for sentence in part if sentence] for part in _paragraphs(page)]
    prose = tuple(ui.Paragraph(ui.separated(sentences, " ")) for sentences in said if sentences)
    yield ui.Expandable("The window in sentences", (ui.Box("verdict", prose),))


def _paragraphs(page: PageRows) -> tuple[Sequence[str], ...]:
    groups = _GroupVerdict.of(page)
    brokers = _broker_sentences(page, set() if groups.is_from_outages else groups.outages_named)
    happened = (brokers, groups.sentences()) if groups.is_from_outages else (groups.sentences(), brokers)
    counts = Counter(row.severity for row in page.of(Finding))
    nouns = ((FindingSeverity.CRITICAL, "critical finding"), (FindingSeverity.WARNING, "warning"))
    findings = words.listed([words.counted(counts[severity], noun) for severity, noun in nouns if counts[severity]])
    seen = (coverage.generations_sentence(page), coverage.leaders_sentence(page), coverage.unread_sentence(page))
    return ((unread_first(page),), *happened, (findings and f"{findings}.", *seen))


def _refusal(broken: Sequence[ValidationResult]) -> ui.Box:
    count = words.counted(len(broken), "critical expectation")
    why = [f"{r.table}: {r.expectation}. {' '.join(r.sentences or ())}".strip() for r in broken[:BROKEN]]
    said = (
        f"This run was not published: {count} did not hold. "
        "What follows is what had been published before, if anything had."
    )
    return ui.Box("refusal", (ui.Paragraph(ui.Strong(said)), ui.List(tuple(ui.Item(line) for line in why))))


def _broker_sentences(page: PageRows, named: Collection[str]) -> tuple[str, ...]:
    """What the brokers went through, but for outages that are named already, by id; some may be empty."""
    lost = [row for row in page.of(Truncation) if row.verdict == TruncationVerdict.COMMITTED_LOST]
    slow = {row.broker for row in page.of(OutOfSyncPeriod) if row.kind == OutOfSyncKind.SLOW}
    return (
        " ".join(f"{words.sentence(s)}." for s in _outages(page, named)),
        *_restarts(page),
        _failovers(page),
        f"{words.counted(len(lost), 'truncation')} took committed records." if lost else "",
        " ".join(said for _, said in exposure(page)),
        f"{words.sentence(brokers_named(slow, 6))} fell out of sync though alive." if slow else "",
        _simulation(page),
    )


def _restarts(page: PageRows) -> Iterator[str]:
    rows = in_order(page)
    for row in rows[:RESTARTS_NAMED]:
        first, last = (at and words.minute(at, page.day) for at in (row.started_at, row.ended_at))
        since = f"at {first}" if last == first else f"from {first} to {last}"
        when = since if last else f"from {first}, and it was not over by the end"
        yield f"{headline(row)}, {when}{declared(row)}."
    rest = len(rows) - RESTARTS_NAMED
    if rest > 0:
        yield f"{words.counted(rest, 'further rolling restart')}."


def _outages(page: PageRows, named: Collection[str]) -> Iterator[str]:
    restarts = {row.restart_id for row in page.of(RollingRestart)}
    rows = [o for o in page.outages.values() if o.outage_id not in named and o.restart_id not in restarts]
    lasted = [(row, away(row)) for row in rows if not is_orderly(row)]
    sudden = [outage_at(page, row) + (f" for {gone}" if gone else "") for row, gone in lasted]
    if sudden:
        yield ("also " if any(named) else "") + words.listed(sudden, at_most=4)
    orderly = [row for row in rows if is_orderly(row)]
    if len(orderly) == 1:
        yield f"{outage_at(page, orderly[0])}{declared(orderly[0])}"
    elif orderly:
        yield f"{len(orderly)} shutdowns in order, of {brokers_named({row.broker for row in orderly}, 6)}"
    last_of = {row.broker: row for row in page.outages.values()}
    missing = [broker for broker, last in last_of.items() if last.up_at is None]
    if missing:
        yield f"{brokers_named(missing, 6)} had not come back by the end"


def _failovers(page: PageRows) -> str:
    rows = [row for row in page.of(Failover) if row.kind not in _IN_ORDER]
    apart = len(page.of(Failover)) - len(rows)
    if not rows and not apart:
        return ""
    clauses = [
        words.counted(len(rows), "leader change") + (f" besides {words.number(apart)} in order" if apart else "")
    ]
    offline = sum(row.kind == FailoverKind.OFFLINE for row in rows)
    if offline:
        clauses.append(f"a partition was left without a leader {words.times(offline)}")
    unclean = [row for row in rows if row.kind == FailoverKind.UNCLEAN_ELECTION]
    if unclean:
        lows = [r.records_lost_low for r in unclean if r.records_lost_low is not None]
        highs = [r.records_lost_high for r in unclean if r.records_lost_high is not None]
        low, high = sum(lows) if lows else None, sum(highs) if len(highs) == len(lows) and highs else None
        lost = f" that lost {lost_records(low, high)}" if high or low else ""
        clauses.append(f"{words.counted(len(unclean), 'unclean election')}{lost}")
    return ", ".join(clauses) + "."


def _simulation(page: PageRows) -> str:
    worst = worst_simulation(page)
    if worst is None:
        return ""
    harms = ((worst.partitions_offline, "would have no leader"), (worst.partitions_unclean, "would lose records"))
    said = [f"{words.counted(count, 'partition')} {harm}" for count, harm in harms if count]
    lost = f"{worst.scope_kind} {plain.shortened(worst.scope, 48)}"
    return f"Were {lost} lost now, {words.listed(said)}." if said else ""


@dataclass(frozen=True)
class _Event:
    """What several rebalances come from, in words, and the outage behind it where there is one."""

    outage_id: str
    what: str


@dataclass(frozen=True)
class _GroupVerdict:
    """The rebalances of a window, counted by the event behind them; those without one are `alone`."""

    page: PageRows
    events: Counter[_Event]
    alone: Sequence[Rebalance]

    @classmethod
    def of(cls, page: PageRows) -> _GroupVerdict:
        """The verdict on these rows."""
        events = [(row, _event_of(page, row)) for row in page.rebalances]
        counts = Counter(event for _, event in events if event)
        return cls(page, counts, [row for row, event in events if event is None])

    @property
    def is_from_outages(self) -> bool:
        """Whether most rebalances come from outages: then the brokers stand before the groups."""
        return 2 * sum(count for event, count in self.events.items() if event.outage_id) > len(self.page.rebalances)

    @property
    def outages_named(self) -> set[str]:
        """The outages that its sentences name, by id."""
        return {event.outage_id for event in self._named}

    @property
    def _named(self) -> list[_Event]:
        least = WORTH_NAMING * len(self.page.rebalances)
        worth = [event for event, count in self.events.items() if event.outage_id or count >= least]
        return sorted(worth, key=lambda e: (-self.events[e], e.what))[:EVENTS_NAMED]

    def sentences(self) -> tuple[str, ...]:
        """What happened to the groups; some may be empty."""
        return self._count(), self._repeated_outages(), self._causes_alone(), self._certainty(), self._longest()

    def _count(self) -> str:
        """How many rebalances, and what they come from."""
        rows = self.page.rebalances
        if not rows:
            said = absence(self.page, "No consumer group rebalanced.", "No rebalance of a consumer group")
            return said if coverage.totals(self.page).lines_in else ""
        groups = words.counted(len({row.group_id for row in rows}), "group")
        counted = f"{words.counted(len(rows), 'rebalance')} in {groups}"
        if not self.events:
            return f"{counted}, one at a time." if len(rows) > 1 else f"{counted}."
        clauses = self._clauses()
        return f"{counted}{',' if ' of them from one event: ' in clauses[0] else ':'} {'; '.join(clauses)}."

    def _clauses(self) -> list[str]:
        named, events = self._named, self.events
        clauses = [
            f"{words.number(events[e])} from {f'an outage ({e.what})' if e.outage_id else e.what}" for e in named
        ]
        if named and events[named[0]] > len(self.page.rebalances) / 2:
            clauses[0] = f"{words.number(events[named[0]])} of them from one event: {named[0].what}"
        lesser = len(events) - len(named)
        if lesser:
            rest = sum(events.values()) - sum(events[e] for e in named)
            clauses.append(f"{words.number(rest)} from {words.counted(lesser, 'lesser event')}")
        if self.alone:
            clauses.append(f"the other {words.number(len(self.alone))} came one at a time")
        return clauses

    def _repeated_outages(self) -> str:
        """What the broker accounts for whose several outages cost most: each outage alone shows less than they do."""
        rebalances: Counter[int] = Counter()
        outages: Counter[int] = Counter()
        for event, count in self.events.items():
            if event.outage_id:
                broker = self.page.outages[event.outage_id].broker
                rebalances[broker] += count
                outages[broker] += 1
        repeated = [broker for broker, times in outages.items() if times > 1]
        if not repeated:
            return ""
        broker = min(repeated, key=lambda b: (-rebalances[b], b))
        share = f"{words.number(rebalances[broker])} of the {words.number(len(self.page.rebalances))}"
        return f"In {outages[broker]} outages, broker {broker} accounts for {share}."

    def _causes_alone(self) -> str:
        """Why those began that have no event behind them."""
        if not self.alone:
            return ""
        causes = Counter(vocabulary.CAUSES[row.cause].label for row in self.alone)
        counts = sorted(causes.items(), key=lambda item: (-item[1], item[0]))
        said = [f"{label} {words.times(count)}" for label, count in counts[:CAUSES_NAMED]]
        rest = len(counts) - CAUSES_NAMED
        why = words.listed([*said, words.counted(rest, "further cause")] if rest > 0 else said)
        few = f"Of those {words.number(len(self.alone))}: " if len(self.alone) < len(self.page.rebalances) else ""
        return f"{few}{why}."

    def _certainty(self) -> str:
        counts = Counter(row.confidence for row in self.page.rebalances)
        total, unknown = counts.total(), counts[Confidence.UNKNOWN]
        if not total:
            return ""
        if counts[Confidence.CERTAIN] == total:
            return f"{'Its' if total == 1 else 'Every'} cause is certain."
        if unknown == total:
            return "The evidence shows no cause."
        known = [sure for sure in Confidence if sure != Confidence.UNKNOWN and counts[sure]]
        said = words.listed([f"{sure} for {words.number(counts[sure])}" for sure in known])
        rest = f"; for {words.number(unknown)} the evidence does not show it" if unknown else ""
        return f"The cause is {said}{rest}."

    def _longest(self) -> str:
        row = max(self.page.rebalances, key=lambda r: -1 if r.duration_ms is None else r.duration_ms, default=None)
        if row is None or row.duration_ms is None:
            return ""
        waited = [name for name in map(who, row.delayed_by) if name]
        blame = f", which waited for {words.listed(waited, at_most=2)}" if waited else ""
        return (
            f"The longest took {words.duration(row.duration_ms)}, in group {plain.shortened(row.group_id, 48)}{blame}."
        )


def _event_of(page: PageRows, rebalance: Rebalance) -> _Event | None:
    incident = page.incidents.get(rebalance.incident_id)
    if incident is None:
        return None
    outage = page.outages.get(incident.first_outage_id)
    if outage:
        return _Event(outage.outage_id, outage_at(page, outage))
    at, ids = words.minute(incident.started_at, page.day), incident.group_ids
    groups = f"group {plain.shortened(ids[0], 48)}" if len(ids) == 1 else words.counted(len(ids), "group")
    match incident.kind:
        case IncidentKind.SINGLE | IncidentKind.COOPERATIVE_PAIR:
            return None
        case IncidentKind.BROKER_OUTAGE:
            return _Event("", f"a broker outage at {at}")
        case IncidentKind.HOST_SILENT:
            return _Event("", f"a host that fell silent at {at}")
        case IncidentKind.COORDINATOR_MOVE:
            return _Event("", f"a move of coordinators at {at}")
        case IncidentKind.ROLLING_RESTART:
            return _Event("", f"a rolling restart of {groups} at {at}")
    cause = vocabulary.HEDGES[incident.confidence] + (incident.cause.label if incident.cause else "no known cause")
    return _Event("", f"a storm in {groups} from {at} on ({cause})")


SECTION = Section(10, "verdict", "", "Verdict", verdict)
