"""The rows of one window as its sections read them: harmless, typed, with what several sections look up."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar, cast

from kafka_hindsight.catalog import rows as declared
from kafka_hindsight.catalog.codes import NOBODY, FindingSeverity, Intent, UnavailabilityKind, Urgency, WitnessKind
from kafka_hindsight.catalog.row import Row, struct
from kafka_hindsight.catalog.rows import BrokerOutage, Failover, Finding, Incident, Quote, Rebalance, Unavailability
from kafka_hindsight.knowledge.commit_errors import is_of_the_cluster
from kafka_hindsight.knowledge.rules import ONGOING_RULES, WENT_ON
from kafka_hindsight.knowledge.rules.broker_rules import UNDER_MIN_ISR
from kafka_hindsight.knowledge.rules.coverage_rules import CLOCKS_DIFFER
from kafka_hindsight.measures.stories import Story, StoryRows, stories_of, story_links
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, NO_WRITES, unused
from kafka_hindsight.report import figures
from kafka_hindsight.report.blocks import At, Block, EvidenceLines, Link, Name, Quotation, Words
from kafka_hindsight.report.not_judged import GAPS, hidden_kinds
from kafka_hindsight.report.not_known import unknown_kinds
from kafka_hindsight.report.withheld import kinds_withheld
from kafka_hindsight.settings.alerts import Owner, fits
from kafka_hindsight.settings.changes import Change
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.instants import latest
from kafka_hindsight.shared.timelines import Interval, Intervals, united

R = TypeVar("R", bound=Row)

QUOTES_PER_ROW = 12
OWNERS = 4
CLIENTS = 500
INCIDENTS = 400
"""The most of each that a report has views of."""
# With more quotations than this a page grows too large: each row then shows fewer and counts the others.
QUOTES_PER_PAGE = 14_000


@struct
class EarlierWindow(Row):
    """A window that was published before, in numbers; `is_comparable` where it is as long as the report's.

    `page` is the name of its report; null where that is not known.
    """

    window_from: datetime
    is_comparable: bool = True
    state: str | None = None
    page: str | None = None
    rebalances: float
    partition_seconds: float
    failovers: float
    leaderless_ms: float


@struct
class EarlierIncident(Row):
    """An incident of earlier windows: the first instants of these windows, and when it began first and last."""

    recurrence_id: str
    headline: str = ""
    windows: list[datetime] = field(default_factory=list)
    first_at: datetime
    last_at: datetime


@struct
class EarlierSubject(Row):
    """A group, a topic or a broker in an earlier window: its rebalances, times without use, or absences."""

    kind: str
    name: str
    window_from: datetime
    events: float
    seconds: float


@struct
class PastWindows(Row):
    """The windows before this one, the findings of the last of them, and the incidents and subjects of all."""

    windows: list[EarlierWindow] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    incidents: list[EarlierIncident] = field(default_factory=list)
    subjects: list[EarlierSubject] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRun(Row):
    """The run that made a page."""

    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"history": PastWindows}

    cluster: str
    window_from: datetime
    window_to: datetime
    run_id: str | None = None
    lake: str | None = None
    log_path: str | None = None
    started_at: datetime | None = None
    versions: Mapping[str, str] | None = None
    files_not_read: Sequence[str] | None = None
    left_out: Sequence[str] | None = None
    is_partial: bool | None = None
    cluster_ids: Sequence[str] | None = None
    warnings: Sequence[str] | None = None
    inputs: Sequence[str] | None = None
    history: PastWindows = field(default_factory=PastWindows)
    owners: Sequence[Mapping[str, Any]] | None = None
    changes: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineShape(Row):
    """Lines of one shape that no pattern claims, in numbers."""

    TABLE = declared.UnparsedLine.TABLE

    template: str
    records: int
    lines: int
    sample: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCommits(Row):
    """The offset commits of one client that failed within a minute with one error, as its own log shows them."""

    TABLE = declared.Event.TABLE

    first_at: datetime
    last_at: datetime
    group_id: str
    client_id: str | None = None
    error: str | None = None
    lines: int
    commits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LagReading(Row):
    """The lag of all groups in one reading of the cluster, as far as it was answered."""

    TABLE = declared.OffsetSnapshot.TABLE

    snapshot_at: datetime
    lag: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaderReading(Row):
    """The partitions that one broker leads in one reading of the cluster.

    `partitions` is the number of all of the cluster in that reading; None where a part did not answer.
    """

    TABLE = declared.PartitionSnapshot.TABLE

    snapshot_at: datetime
    broker: int
    leaders: int
    partitions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OneMoreLoss(Row):
    """The cost of the loss of one broker or rack, of the one that would cost the most.

    It rests on the last reading of the window that answered in all its parts.
    """

    TABLE = declared.SnapshotReading.TABLE

    snapshot_at: datetime
    scope: str
    name: str
    without_replica: int
    without_writes: int


READS: tuple[type[Row], ...] = (
    FailedCommits, LagReading, LeaderReading, LineShape, OneMoreLoss,
    declared.AssignmentChange, declared.Backlog,
    declared.BrokerOutage, declared.ControllerChange, declared.CoordinatorMove, declared.Coverage, declared.Failover,
    declared.Finding, declared.GenerationGap, declared.ImbalancePeriod, declared.Incident, declared.InputSpan,
    declared.IsrChange,
    declared.LeaderImbalance, declared.LeadershipGap, declared.MemberSetting, declared.NightSubject,
    declared.OffsetJump, declared.OutOfSyncPeriod, declared.Ownership, declared.PartitionRisk, declared.PartitionStall,
    declared.ProducerFailure,
    declared.ProducerSetting, declared.Quarantine,
    declared.Rebalance, declared.Remedy, declared.RollingRestart, declared.Truncation, declared.Unavailability,
    declared.ValidationResult, declared.WithheldRow, declared.Witness,
)  # fmt: skip
"""The rows that the page is made of."""


_SUBJECTS = ("topic", "partition", "group_id", "broker")

NEAR = timedelta(minutes=1)
"""What was over this long before an instant, or began this long after it, may have to do with it: session timeouts are
45 s or less by default (KIP-735)."""

_SPANS: Mapping[type[Row], tuple[str, str]] = {
    declared.AssignmentChange: ("started_at", "ended_at"),
    BrokerOutage: ("down_at", "up_at"),
    declared.CoordinatorMove: ("moved_at", "moved_at"),
    Failover: ("happened_at", "happened_at"),
    FailedCommits: ("first_at", "last_at"),
    Finding: ("first_at", "last_at"),
    Incident: ("started_at", "ended_at"),
    declared.OffsetJump: ("jumped_at", "resumed_at"),
    declared.Ownership: ("valid_from", "valid_to"),
    declared.PartitionStall: ("started_at", "ended_at"),
    declared.ProducerFailure: ("started_at", "last_at"),
    Rebalance: ("started_at", "ended_at"),
    Unavailability: ("started_at", "ended_at"),
}
"""The columns from when and to when a row holds, of the rows that lie within a window."""


@dataclass(frozen=True)
class PageRows:
    """The rows of a window by their class, and the run that made them; of a part of a window also the whole."""

    tables: Mapping[type[Row], Sequence[Row]]
    run: PageRun
    whole: PageRows | None = None

    @classmethod
    def from_tables(cls, tables: Mapping[str, Sequence[Mapping[str, Any]]], run: Mapping[str, Any]) -> PageRows:
        """The rows of READS in order of time, whatever their order, and every text of them harmless.

        A harmless text is printable, on one line but for quotations, and of bounded length.

        Args:
            tables: Rows by full table name, those of this window and of one cluster; of quality.unparsed_lines, of
                silver.events and of tables of bronze the columns that LineShape, FailedCommits, LagReading,
                LeaderReading and OneMoreLoss have, of validation results those of one run.
            run: The columns of PageRun.
        """
        rows = {kind: tables.get(kind.TABLE.full_name, ()) for kind in READS}
        return cls.from_rows({kind: [kind.of(plain.harmless(row)) for row in own] for kind, own in rows.items()}, run)

    @classmethod
    def from_rows(cls, rows: Mapping[type[Row], Iterable[Row]], run: Mapping[str, Any]) -> PageRows:
        """The same of rows of each of READS whose texts are harmless."""
        return cls({kind: _in_order(kind, own) for kind, own in rows.items()}, PageRun.of(plain.harmless(run)))

    def of(self, kind: type[R]) -> Sequence[R]:
        """The rows of a class. Raises KeyError for one that is not in READS."""
        return cast("Sequence[R]", self.tables[kind])

    @cached_property
    def _indexes(self) -> dict[tuple[type[Row], str], Mapping[Any, Sequence[Row]]]:
        return {}

    def rows_of(self, kind: type[R], column: str, value: object) -> Sequence[R]:
        """The rows of a class whose column is a value, or is a list that holds it."""
        if (kind, column) not in self._indexes:
            index: defaultdict[Any, list[Row]] = defaultdict(list)
            for row in self.of(kind):
                values = getattr(row, column)
                for each in dict.fromkeys(values) if isinstance(values, list) else [values]:
                    index[each].append(row)
            self._indexes[kind, column] = index
        return cast("Sequence[R]", self._indexes[kind, column].get(value, ()))

    def around(self, at: datetime) -> PageRows:
        """The rows of what was going on at an instant, or within a minute of it; rows of the whole window stay."""
        return PageRows(self._tables_within(at - NEAR, at + NEAR), self.run)

    def between(self, first: datetime, end: datetime) -> PageRows:
        """The rows of what was going on between two instants, as a window of their own; others stay."""
        run = replace(self.run, window_from=first, window_to=end)
        return PageRows(self._tables_within(first, end), run, self.whole or self)

    def _tables_within(self, first: datetime, end: datetime) -> Mapping[type[Row], Sequence[Row]]:
        within = {kind: [i.value for i in rows.between(first, end)] for kind, rows in self._rows_by_time.items()}
        return {**self.tables, **within}

    @cached_property
    def _rows_by_time(self) -> Mapping[type[Row], Intervals[Row]]:
        return {
            kind: Intervals(Interval(getattr(row, start), getattr(row, end), row) for row in self.tables[kind])
            for kind, (start, end) in _SPANS.items()
            if kind in self.tables
        }

    @cached_property
    def leaderless_times(self) -> Intervals[None]:
        """The times in which a partition had no leader. Those of one partition do not overlap.

        This and the next two have the times of the whole window where this is a part of one.
        """
        return self.whole.leaderless_times if self.whole else self._unusable_times(LEADERLESS)

    @cached_property
    def refusing_times(self) -> Intervals[None]:
        """The times in which a partition with a leader refused writes. Those of one partition do not overlap."""
        return self.whole.refusing_times if self.whole else self._unusable_times(NO_WRITES)

    @cached_property
    def rebalancing_times(self) -> Intervals[None]:
        """The times in which a group rebalanced, without rebalances whose end is not known."""
        if self.whole:
            return self.whole.rebalancing_times
        rows = (row for row in self.of(Rebalance) if row.ended_at)
        return united(rows, lambda r: r.group_id, lambda r: Interval(r.started_at, r.ended_at, None))

    def _unusable_times(self, kinds: Collection[UnavailabilityKind]) -> Intervals[None]:
        rows = (row for row in self.of(Unavailability) if row.kind in kinds)
        end = self.window[1]
        return united(rows, lambda r: (r.topic, r.partition), lambda r: Interval(r.started_at, r.ended_at or end, None))

    @cached_property
    def unknown_kinds(self) -> frozenset[WitnessKind]:
        """The kinds of event that could have happened without a row of the window that shows them.

        Where the clocks of brokers differ, that is each kind: lines of one event may not be found together.
        """
        if self.rows_of(Finding, "rule_id", CLOCKS_DIFFER.rule_id):
            return frozenset(WitnessKind)
        return unknown_kinds(self.of(declared.Witness)) | kinds_withheld(self.of(declared.WithheldRow))

    @cached_property
    def doubtful_zeros(self) -> frozenset[WitnessKind]:
        """The kinds of event of which a zero is not known: the logs could not show them, or a gap may hide one."""
        return self.unknown_kinds | hidden_kinds(gap for kind in GAPS for gap in self.of(kind))

    @cached_property
    def went_on(self) -> frozenset[WitnessKind]:
        """The kinds of event that had begun before the window and went on in it.

        Where a reading shows too few replicas in sync, and none of the window's intervals does, that had begun before.
        """
        rule_ids = {finding.rule_id for finding in self.of(declared.Finding)}
        kinds = {kind for rule_id, kind in WENT_ON.items() if rule_id in rule_ids}
        has_begun = any(row.kind in (*LEADERLESS, *NO_WRITES) for row in self.of(Unavailability))
        return frozenset(
            kinds | ({WitnessKind.IN_SYNC} if UNDER_MIN_ISR.rule_id in rule_ids and not has_begun else set())
        )

    @cached_property
    def is_known(self) -> bool:
        """Whether each kind of event of all of the window is shown: no log is left out, no row withheld."""
        return not (self.run.is_partial or self.unknown_kinds or self.of(declared.WithheldRow))

    @cached_property
    def partitions(self) -> int | None:
        """The most partitions that a whole reading of the window lists; None without one."""
        return max((r.partitions for r in self.of(LeaderReading) if r.partitions), default=None)

    @cached_property
    def window(self) -> tuple[datetime, datetime]:
        """The first instant of the window and its end."""
        return self.run.window_from.astimezone(UTC), self.run.window_to.astimezone(UTC)

    @cached_property
    def day(self) -> date | None:
        """The one date of the window; None where it holds several."""
        first, end = self.window
        last = max(first, end - timedelta(microseconds=1))
        return first.date() if first.date() == last.date() else None

    def place(self, at: datetime) -> float:
        """Where an instant lies in the window, in percent, kept inside it."""
        first, end = self.window
        return min(100.0, max(0.0, 100 * ((at - first) / (end - first)))) if end > first else 0.0

    @cached_property
    def incidents(self) -> Mapping[str | None, Incident]:
        """Incidents by id."""
        return {row.incident_id: row for row in self.of(Incident)}

    @cached_property
    def story_of(self) -> Mapping[str, Story]:
        """The story of each incident that led to another one, or that another one led to, by its id."""
        incidents = self.of(Incident)
        rows = StoryRows(
            incidents,
            self.of(BrokerOutage),
            self.of(Failover),
            self.of(declared.IsrChange),
            self.of(declared.ControllerChange),
            self.of(declared.Truncation),
            self.of(declared.OffsetJump),
        )
        stories = stories_of(incidents, story_links(rows))
        return {incident.incident_id: story for story in stories for incident in story.incidents}

    @cached_property
    def delayed_by(self) -> Mapping[str | None, Sequence[Rebalance]]:
        """The rebalances that waited for each client, in order of time."""
        waits: defaultdict[str | None, list[Rebalance]] = defaultdict(list)
        for row in self.of(Rebalance):
            for client in {delay.client_id for delay in row.delayed_by}:
                waits[client].append(row)
        return waits

    @cached_property
    def groups(self) -> Sequence[str]:
        """The groups that have a view of their own.

        They rebalanced, moved, had a stall, were in an incident, or brokers refused their commits.
        """
        of_stalls = {row.group_id for row in self.of(declared.PartitionStall)}
        of_incidents = {group for row in self.of(Incident) for group in row.group_ids}
        of_jumps = {row.group_id for row in self.of(declared.OffsetJump)}
        of_refusals = {row.group_id for row in self.of(FailedCommits) if is_of_the_cluster(row.error)}
        of_rebalances = {row.group_id for row in self.of(Rebalance)}
        return sorted(of_rebalances.union(of_incidents, of_jumps, of_stalls, of_refusals))

    @cached_property
    def topics(self) -> Sequence[str]:
        """The topics that have a view of their own: those with changes of leaders, stalls, risks, or unusable times."""
        of_unusable_times = {row.topic for row in self.of(Unavailability) if row.topic is not None}
        of_incidents = {topic for row in self.of(Incident) for topic in row.topics or ()}
        of_risks = {row.topic for row in self.of(declared.PartitionRisk)}
        of_truncations = {row.topic for row in self.of(declared.Truncation)}
        of_failures = {row.topic for row in self.of(declared.ProducerFailure) if row.topic is not None}
        of_stalls = {row.topic for row in self.of(declared.PartitionStall)}
        of_jumps = {row.topic for row in self.of(declared.OffsetJump)}
        of_failovers = {row.topic for row in self.of(Failover)}
        others = (of_unusable_times, of_incidents, of_risks, of_truncations, of_failures, of_jumps, of_stalls)
        return sorted(of_failovers.union(*others))

    @cached_property
    def brokers(self) -> Sequence[int]:
        """The brokers that have a view of their own: all that the window shows."""
        leaders = {broker for row in self.of(Failover) for broker in (row.leader_from, row.leader_to)}
        coordinators = {row.coordinator for row in self.of(Rebalance)}
        of_incidents = {broker for row in self.of(Incident) for broker in row.brokers or ()}
        of_imbalance = {row.broker for row in self.of(declared.LeaderImbalance)}
        out_of_sync = {row.broker for row in self.of(declared.OutOfSyncPeriod)}
        of_outages = {row.broker for row in self.of(BrokerOutage)}
        of_imbalance_periods = {row.broker for row in self.of(declared.ImbalancePeriod)}
        others = (coordinators, of_incidents, of_imbalance, out_of_sync, of_outages, of_imbalance_periods)
        brokers = leaders.union(*others) - {NOBODY}
        return sorted(broker for broker in brokers if broker is not None)

    @cached_property
    def clients(self) -> Sequence[str]:
        """The clients that have a view of their own, at most CLIENTS.

        They are producers whose requests failed, and members that started or delayed a rebalance.
        """
        starters = [row.client_id for row in self.of(Rebalance) if row.client_id]
        delays = [delay.client_id for row in self.of(Rebalance) for delay in row.delayed_by if delay.client_id]
        producers = [row.client_id for row in self.of(declared.ProducerFailure) if row.client_id]
        acts = Counter([*starters, *delays, *producers])
        return [client for client, _ in sorted(acts.items(), key=lambda item: (-item[1], item[0]))[:CLIENTS]]

    def link(self, kind: str, name: str, limit: int = plain.MAX_NAME) -> Words:
        """A name from outside, as a link where it has a view of its own. `kind` is group, topic or client."""
        label = Name(plain.shortened(name, limit))
        return Link(label, plain.anchor(kind, name)) if name in self._linked[kind] else label

    @cached_property
    def _linked(self) -> Mapping[str, set[str]]:
        return {"group": {*self.groups}, "topic": {*self.topics}, "client": {*self.clients}}

    @cached_property
    def earlier_windows(self) -> Sequence[EarlierWindow]:
        """The windows before this one, oldest first."""
        return sorted(self.run.history.windows, key=lambda w: w.window_from)

    @cached_property
    def comparable_windows(self) -> Sequence[EarlierWindow]:
        """The earlier windows that are as long as this one, oldest first."""
        return [window for window in self.earlier_windows if window.is_comparable]

    @cached_property
    def as_window(self) -> EarlierWindow:
        """This window in the same numbers."""
        return EarlierWindow(
            window_from=self.window[0],
            rebalances=len(self.of(Rebalance)),
            partition_seconds=figures.partition_seconds(self.of(Rebalance)),
            failovers=len(self.of(Failover)),
            leaderless_ms=unused(self.of(Unavailability), LEADERLESS).total_ms,
        )

    @cached_property
    def earlier_incidents(self) -> Mapping[str, EarlierIncident]:
        """The incidents of earlier windows, by what they are but for their time."""
        return {row.recurrence_id: row for row in self.run.history.incidents}

    @cached_property
    def earlier_subjects(self) -> Mapping[tuple[str, str], Sequence[EarlierSubject]]:
        """Groups, topics and brokers in earlier windows, by kind and name."""
        return grouped(self.run.history.subjects, lambda row: (row.kind, row.name))

    @cached_property
    def state(self) -> Urgency:
        """Whether the window asks its reader to act, to look, or for nothing.

        An incident to look at, or a warning, that the window before had too is not new.
        """
        former = {(f.rule_id, f.subject_kind, f.subject) for f in self.run.history.findings}
        news = [
            f
            for f in self.of(Finding)
            if f.severity == FindingSeverity.CRITICAL
            or f.rule_id in ONGOING_RULES
            or (f.rule_id, f.subject_kind, f.subject) not in former
        ]
        incidents = (i for i in self.of(Incident) if self.is_news(i) and not self.is_planned(i))
        return figures.state_of(incidents, news, is_known=self.is_known)

    def is_news(self, incident: Incident) -> bool:
        """Whether an incident asks to act, or the window before had none like it."""
        before = self.earlier_incidents.get(incident.recurrence_id or "")
        is_former = bool(before and self.earlier_windows and self.earlier_windows[-1].window_from in before.windows)
        return figures.needs(incident) is Urgency.ACT or not is_former

    def is_planned(self, incident: Incident) -> bool:
        """Whether an incident is what was declared, and did no harm.

        A maintenance window covers it, or for each absence of a broker a change of that broker does, until its replicas
        were in sync again. What was not declared, or did harm, never counts as planned.
        """
        if not figures.harm_of(incident).noun.is_harmless or not incident.is_over or not incident.ended_at:
            return False
        if incident.intent is Intent.DECLARED and incident.declared_until:
            return incident.ended_at <= incident.declared_until
        outages = self.rows_of(BrokerOutage, "incident_id", incident.incident_id)
        back_at = [latest(o.up_at, o.isr_recovered_at) for o in outages]
        return bool(outages) and all(
            end and any(change.covers_broker(o.broker, o.down_at, end) for change in self.changes)
            for o, end in zip(outages, back_at, strict=True)
        )

    def recurrence(self, incident: Incident) -> tuple[str, str] | None:
        """Whether earlier windows had an incident too: a label and a sentence; None where none is known.

        Of earlier windows only incidents that ask for something are read.
        """
        if not self.earlier_windows or figures.harm_of(incident).noun.urgency is Urgency.CALM:
            return None
        count = words.counted(len(self.earlier_windows), "window")
        before = self.earlier_incidents.get(incident.recurrence_id or "")
        if before is None:
            return "new", f"new: in none of the {count} before"
        label = "as in the window before" if self.earlier_windows[-1].window_from in before.windows else "back again"
        first, last = words.instant(before.first_at), words.instant(before.last_at)
        times = f"in {words.number(len(before.windows))} of the {count} before"
        return label, f"{label}; {times}, first at {first}, last at {last}"

    def incident_anchor(self, row: Incident) -> str:
        """The address of an incident: its own view; of a routine rebalance alone the one of that rebalance.

        Of more than INCIDENTS the lesser ones lead to the list of all; `hindsight explain` has each.
        """
        rebalances = self.rows_of(Rebalance, "incident_id", row.incident_id)
        if figures.needs(row) is Urgency.CALM and len(rebalances) == 1 == row.rebalance_count:
            return self.rebalance_anchor(rebalances[0])
        return plain.anchor("incident", row.incident_id) if row.incident_id in self._shown_incidents else "incidents"

    @cached_property
    def _shown_incidents(self) -> set[str]:
        urgent, calm = figures.by_need(self.of(Incident))
        return {row.incident_id for row in [*urgent, *calm][:INCIDENTS]}

    def rebalance_anchor(self, row: Rebalance) -> str:
        """The address of a rebalance, in the view of its group."""
        return f"{plain.anchor('group', row.group_id)}/{plain.anchor('rebalance', row.rebalance_id)}"

    def broker_link(self, broker: int) -> Link:
        """A link to the view of a broker."""
        return Link(f"broker {broker}", plain.anchor("broker", str(broker)))

    @cached_property
    def owners(self) -> Sequence[Owner]:
        """Those who own clusters, groups or topics."""
        return [Owner(**owner) for owner in self.run.owners or ()]

    @cached_property
    def changes(self) -> Sequence[Change]:
        """The changes that were declared for this cluster and lie in this window at least in part, in order of time."""
        first, end = self.window
        declared_ones = map(Change.model_validate, self.run.changes or ())
        own = (c for c in declared_ones if fits([c.cluster], [self.run.cluster]) and c.start < end and first < c.end)
        return sorted(own, key=lambda c: (c.start, c.end, c.what, c.summary))

    def owned_by(self, name: str) -> tuple[Sequence[str], Sequence[str]]:
        """The groups and the topics with a view of their own that an owner owns by name."""
        own = [owner for owner in self.owners if owner.name == name]
        groups = [g for g in self.groups if any(fits(owner.groups, [g]) for owner in own)]
        return groups, [t for t in self.topics if any(fits(owner.topics, [t]) for owner in own)]

    def whose(self, groups: Iterable[str], topics: Iterable[str]) -> tuple[str, str]:
        """The label `Owners` and the owners of the cluster, or of one of these groups and topics; empty without any."""
        subjects = [*groups], [*topics]
        owners = [owner.name for owner in self.owners if owner.owns(self.run.cluster, *subjects)]
        return words.verb(len(owners), "Owner", "Owners"), words.listed(owners, OWNERS)

    def outage_link(self, outage_id: str | None) -> Link | None:
        """A link to an outage; None where it is not in this window."""
        outages = self.rows_of(BrokerOutage, "outage_id", outage_id)
        return Link(f"broker {outages[0].broker}", plain.anchor("outage", outages[0].outage_id)) if outages else None

    @cached_property
    def _quotes_per_row(self) -> int:
        rows_with_evidence = sum(len(self.tables.get(kind, ())) for kind in (Rebalance, Incident, Failover, Finding))
        return max(2, min(QUOTES_PER_ROW, QUOTES_PER_PAGE // max(1, rows_with_evidence)))

    def evidence(
        self, items: Sequence[Quote], label: str = "", parts: Mapping[str, str] = MappingProxyType({})
    ) -> EvidenceLines:
        """The lines that a row quotes, in order of time: as many of those that weigh most as the page can hold.

        `parts` has the part of the row that a line is about, by the id of the line.
        """
        quotes = []
        for quote in sorted(items[: self._quotes_per_row], key=lambda q: (q.happened_at, q.source, q.line_id)):
            labels = parts.get(quote.line_id), quote.kind.meaning if quote.kind else ""
            at, shows = At(quote.happened_at, precise=True), " · ".join(filter(None, labels))
            quotes.append(Quotation(quote.text, quote.source, at, shows))
        return EvidenceLines(tuple(quotes), len(items) - len(quotes), label)


def _in_order(kind: type[Row], rows: Iterable[Row]) -> Sequence[Row]:
    """Rows in order of time; those of one instant by their subject, then by their key."""
    columns = [name for name in (kind.TABLE.time_column, *_SUBJECTS, *kind.TABLE.key) if name in kind.__slots__]
    return sorted(rows, key=lambda row: [(value is not None, value) for value in map(row.__getattribute__, columns)])


@dataclass(frozen=True)
class Section:
    """A section of the report: a function from the rows of a window to blocks; it is left out where there are none.

    `view` is the name of the view that it lies in, `order` its place there, `name` its address.
    """

    view: str
    order: int
    name: str
    title: str
    blocks: Callable[[PageRows], Iterable[Block]]
