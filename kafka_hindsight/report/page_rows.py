"""The rows of one window as its sections read them: harmless, typed, with what several sections look up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar, TypeVar, cast

from kafka_hindsight.catalog.row import Row, struct
from kafka_hindsight.catalog.rows import (
    BrokerOutage,
    ControllerChange,
    CoordinatorMove,
    Coverage,
    Failover,
    Finding,
    GenerationGap,
    ImbalancePeriod,
    Incident,
    IsrChange,
    LagVerdict,
    LeaderBalance,
    LeaderImbalance,
    LeadershipGap,
    LossSimulation,
    OffsetSnapshot,
    OutOfSyncPeriod,
    PartitionRisk,
    Quarantine,
    Quote,
    Rebalance,
    Remedy,
    RollingRestart,
    Truncation,
    Unavailability,
    UnparsedLine,
    ValidationResult,
)
from kafka_hindsight.report.blocks import At, Block, Evidence, Link, Quotation
from kafka_hindsight.settings.owners import Owner
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

R = TypeVar("R", bound=Row)

QUOTES_PER_ROW = 12
OWNERS = 4
# With more quotations than this a page no longer opens at once: each row then shows fewer and counts the others.
QUOTES_PER_PAGE = 14_000


@struct
class EarlierWindow(Row):
    """A window that was published before, in numbers."""

    window_from: datetime
    rebalances: float
    partition_seconds: float
    failovers: float
    leaderless_ms: float


@struct
class EarlierIncident(Row):
    """An incident that earlier windows had too: on how many of them, and when it began first and last."""

    recurrence_id: str
    nights: int
    first_at: datetime
    last_at: datetime


@struct
class History(Row):
    """The windows before this one, in any order, the findings of the last of them, and the incidents of all."""

    windows: list[EarlierWindow] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    incidents: list[EarlierIncident] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRun(Row):
    """The run that made a page."""

    STRUCTS: ClassVar[Mapping[str, type[Row]]] = {"history": History}

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
    warnings: Sequence[str] | None = None
    inputs: Sequence[str] | None = None
    history: History | None = None
    owners: Sequence[Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineShape(Row):
    """Lines of one shape that no pattern claims, in numbers."""

    TABLE = UnparsedLine.TABLE

    template: str
    records: int
    lines: int
    sample: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LagReading(Row):
    """The lag of all groups in one reading of the cluster, as far as it was answered."""

    TABLE = OffsetSnapshot.TABLE

    snapshot_at: datetime
    lag: int


READS: tuple[type[Row], ...] = (
    BrokerOutage, ControllerChange, CoordinatorMove, Coverage, Failover, Finding, GenerationGap, ImbalancePeriod,
    Incident, IsrChange, LagReading, LagVerdict, LeaderBalance, LeaderImbalance, LeadershipGap, LineShape,
    LossSimulation, OutOfSyncPeriod, PartitionRisk, Quarantine, Rebalance, Remedy, RollingRestart, Truncation,
    Unavailability, ValidationResult,
)  # fmt: skip
"""The rows that the page is made of."""


@dataclass(frozen=True)
class PageRows:
    """The rows of a window by their class, and the run that made them."""

    tables: Mapping[type[Row], Sequence[Row]]
    run: PageRun

    @classmethod
    def from_tables(cls, tables: Mapping[str, Sequence[Mapping[str, Any]]], run: Mapping[str, Any]) -> PageRows:
        """The rows of READS, every text of them harmless: printable, on one line but for quotations, of bounded length.

        Args:
            tables: Rows by full table name, those of this window and of one cluster; of quality.unparsed_lines and of
                bronze.offset_snapshots what LineShape and LagReading hold, of validation results those of one run.
            run: The columns of PageRun.
        """
        rows = {kind: [kind.of(plain.harmless(row)) for row in tables.get(kind.TABLE.full_name, ())] for kind in READS}
        return cls(rows, PageRun.of(plain.harmless(run)))

    def of(self, kind: type[R]) -> Sequence[R]:
        """The rows of a class. Raises KeyError for one that is not in READS."""
        return cast("Sequence[R]", self.tables[kind])

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
    def outages(self) -> Mapping[str | None, BrokerOutage]:
        """Broker outages by id, in order of time."""
        rows = sorted(self.of(BrokerOutage), key=lambda r: (r.down_at, r.broker, r.outage_id))
        return {row.outage_id: row for row in rows}

    @cached_property
    def failovers(self) -> Sequence[Failover]:
        """Changes of leaders in order of time."""
        return sorted(self.of(Failover), key=lambda r: (r.happened_at, r.topic, r.partition, r.failover_id))

    @cached_property
    def rebalances(self) -> Sequence[Rebalance]:
        """Rebalances in order of time."""
        return sorted(self.of(Rebalance), key=lambda r: (r.started_at, r.group_id, r.rebalance_id))

    @cached_property
    def rebalances_of(self) -> Mapping[str | None, Sequence[Rebalance]]:
        """Rebalances of each incident, in order of time."""
        return grouped(self.rebalances, lambda r: r.incident_id)

    @cached_property
    def rebalances_of_group(self) -> Mapping[str, Sequence[Rebalance]]:
        """Rebalances of each group, in order of time."""
        return grouped(self.rebalances, lambda r: r.group_id)

    @cached_property
    def incidents_of(self) -> Mapping[str | None, Sequence[Incident]]:
        """The incidents that an outage led to, by its id, in order of time."""
        return grouped(
            sorted(self.of(Incident), key=lambda r: (r.started_at, r.incident_id)), lambda r: r.first_outage_id
        )

    @cached_property
    def outages_of(self) -> Mapping[str | None, Sequence[BrokerOutage]]:
        """The absences of each incident, in order of time."""
        return grouped(self.outages.values(), lambda r: r.incident_id)

    @cached_property
    def failovers_of(self) -> Mapping[str | None, Sequence[Failover]]:
        """The changes of leaders of each incident, in order of time."""
        return grouped(self.failovers, lambda r: r.incident_id)

    @cached_property
    def _owners(self) -> list[Owner]:
        return [Owner(**owner) for owner in self.run.owners or ()]

    def whose(self, groups: Iterable[str], topics: Iterable[str]) -> tuple[str, str]:
        """The label `Owners` and the owners of the cluster, or of one of these groups and topics; empty without any."""
        subjects = [*groups], [*topics]
        owners = [owner.name for owner in self._owners if owner.owns(self.run.cluster, *subjects)]
        return words.verb(len(owners), "Owner", "Owners"), words.listed(owners, OWNERS)

    def outage_link(self, outage_id: str | None) -> Link | None:
        """A link to an outage; None where it is not in this window."""
        outage = self.outages.get(outage_id)
        return Link(f"broker {outage.broker}", plain.anchor("outage", outage.outage_id)) if outage else None

    @cached_property
    def _quotes_per_row(self) -> int:
        rows_with_evidence = sum(len(self.tables.get(kind, ())) for kind in (Rebalance, Incident, Failover, Finding))
        return max(2, min(QUOTES_PER_ROW, QUOTES_PER_PAGE // max(1, rows_with_evidence)))

    def evidence(self, items: Sequence[Quote], label: str = "") -> Evidence:
        """The lines that a row quotes: the first ones and the last, as many as the page can hold."""
        limit = self._quotes_per_row
        selection = [*items[: limit - 1], items[-1]] if len(items) > limit else items
        quotes = tuple(Quotation(q.text, q.source, At(q.happened_at, precise=True)) for q in selection)
        return Evidence(quotes, len(items) - len(quotes), label)


@dataclass(frozen=True)
class Section:
    """A section of the report: a function from the rows of a window to blocks; it is left out where there are none.

    `order` is its place in the page, `name` its address; the number of `counts` stands beside `nav` in the navigation.
    """

    order: int
    name: str
    title: str
    nav: str
    blocks: Callable[[PageRows], Iterable[Block]]
    counts: type[Row] | None = None
