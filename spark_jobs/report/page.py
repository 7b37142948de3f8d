"""The whole page as blocks, in the order in which it is told. Every text in them is harmless already."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from spark_jobs.report.model import (
    Evidence,
    FailoverGroup,
    FindingGroup,
    Incident,
    Lag,
    Outage,
    Rebalance,
    Remedies,
)
from spark_jobs.report.model_cluster import Controller, DurabilityRisk, History, Imbalance, OutOfSyncPeriod, Restart


@dataclass(frozen=True)
class Masthead:
    """Whose night, which hours. `day` is the one date of the window, None where it holds several."""

    cluster: str
    window_from: datetime
    window_to: datetime
    day: date | None


@dataclass(frozen=True)
class Tile:
    """A number one looks for first. `tone` is bad, warn, good or plain."""

    value: str
    label: str
    tone: str
    anchor: str


@dataclass(frozen=True)
class Verdict:
    """The night in words: what matters most first, each paragraph some sentences.

    `refusal` says why what follows was not published; empty where it was.
    """

    paragraphs: tuple[tuple[str, ...], ...]
    refusal: tuple[str, ...]
    tiles: tuple[Tile, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them, as one paragraph."""
        return tuple(sentence for paragraph in self.paragraphs for sentence in paragraph)


@dataclass(frozen=True)
class SourceCoverage:
    """One source over the window. `begins` and `ends` place its records in the window, in percent."""

    source: str
    origin: str
    lines_in: int
    events: int
    ignored: int
    unparsed: int
    quarantined: int
    first_at: datetime | None
    last_at: datetime | None
    begins: float
    ends: float
    longest_silence_ms: int | None


@dataclass(frozen=True)
class Gap:
    """A break in the generations of a group."""

    group_id: str
    after_generation: int
    next_generation: int
    seen_at: datetime
    explained_by: str


@dataclass(frozen=True)
class LeaderGap:
    """A break in the leader epochs of a partition: somebody may have led whom nobody saw."""

    anchor: str
    partition: str
    epochs: str
    leaders: str
    seen_at: datetime
    is_explained: bool
    says: str
    evidence: Evidence


@dataclass(frozen=True)
class Coverage:
    """What was seen and what was not: said before anything is claimed.

    `statements` are pairs: what kind of news it is (good, plain or warn), and the sentence.
    """

    statements: tuple[tuple[str, str], ...]
    unread: str
    sources: tuple[SourceCoverage, ...]
    gaps: tuple[Gap, ...]
    leader_gaps: tuple[LeaderGap, ...]
    leader_gaps_left_out: int
    files_not_read: tuple[str, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Mark:
    """Something on a lane: its place and length in percent of the axis, and what part of the lane's height it fills.

    `shape` is bar, tail or tick; `tone` its colour; `anchor` the place that tells more, empty where there is none.
    """

    shape: str
    left: float
    width: float
    top: float
    height: float
    tone: str
    is_planned: bool
    says: str
    anchor: str


@dataclass(frozen=True)
class Item:
    """One thing that lasted, for whoever zooms: milliseconds from the window's first instant, and what it was.

    `says` tells it alone, `short` where several are drawn as one. `anchor` may be empty.
    """

    shape: str
    start_ms: int
    length_ms: int
    tone: str
    is_planned: bool
    says: str
    short: str
    anchor: str


@dataclass(frozen=True)
class Lane:
    """One broker, partition or group, or the controller, through the night. `says` tells the same in words.

    `marks` are drawn where nothing can zoom; `items` are all that the lane holds.
    """

    kind: str
    label: str
    note: str
    says: str
    anchor: str
    marks: tuple[Mark, ...]
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Tick:
    """A line of the time axis. A greater `level` is drawn only where there is room for it."""

    at: float
    label: str
    level: int


@dataclass(frozen=True)
class Timeline:
    """The picture of the night. `focus` is where most of it happened, in percent of the axis."""

    begins: datetime
    ends: datetime
    ticks: tuple[Tick, ...]
    bands: tuple[Mark, ...]
    absences: tuple[Item, ...]
    lanes: tuple[Lane, ...]
    left_out: tuple[str, ...]
    focus: float


@dataclass(frozen=True)
class Shape:
    """Lines of one shape that no pattern claims."""

    template: str
    records: int
    lines: int
    sample: str


@dataclass(frozen=True)
class Refusal:
    """Something broken that was read, with what is wrong with it."""

    source: str
    at: datetime | None
    lines: int
    sentences: tuple[str, ...]
    row: str


@dataclass(frozen=True)
class Unread:
    """What could not be read."""

    says: str
    shapes: tuple[Shape, ...]
    shapes_left_out: int
    refusals: tuple[Refusal, ...]
    refusals_left_out: int


@dataclass(frozen=True)
class Breach:
    """An expectation that did not hold."""

    table: str
    expectation: str
    severity: str
    observed: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Making:
    """How the report was made. `facts` are (label, value)."""

    facts: tuple[tuple[str, str], ...]
    says: str
    breaches: tuple[Breach, ...]
    log_path: str
    report_path: str


@dataclass(frozen=True)
class Report:
    """The whole page, in its order."""

    masthead: Masthead
    verdict: Verdict
    coverage: Coverage
    history: History | None
    timeline: Timeline
    incidents: tuple[Incident, ...]
    remedies: Remedies
    rebalances: tuple[Rebalance, ...]
    restarts: tuple[Restart, ...]
    outages: tuple[Outage, ...]
    failovers: tuple[FailoverGroup, ...]
    controllers: tuple[Controller, ...]
    replication: str
    danger: DurabilityRisk
    out_of_sync_periods: tuple[OutOfSyncPeriod, ...]
    imbalance: Imbalance
    lag: Lag
    findings: tuple[FindingGroup, ...]
    unread: Unread
    making: Making
