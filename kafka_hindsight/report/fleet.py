"""All clusters on one page: the worst first, those without an audit, and incidents of several at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from kafka_hindsight.catalog.codes import Harm, Urgency
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows import Incident, NightSummary
from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.measures.record_losses import RecordLoss
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.page_names import NEWEST, page_address

DAYS = 30
LATE = timedelta(hours=36)
"""A cluster whose newest night ended longer ago than this is late."""

HARMS = tuple(harm for harm in Harm if harm.noun.urgency is not Urgency.CALM)
"""The harms of the incidents that the page shows."""

RECENT = timedelta(days=2)
"""How far back from the newest night incidents of several clusters are looked for."""

AT_ONCE = timedelta(minutes=10)
"""Incidents of several clusters that begin within this time of one another are shown together."""

NOT_KNOWN = "?"
"""A figure that the logs of a night could not show."""

HEADINGS = (
    "Cluster", "State<", f"{DAYS} nights<", "Gravest<", "Lost", "Offline", "Brokers away", "Groups", "Critical", "Gaps",
    "Unread", "Night until",
)  # fmt: skip


LEGEND = (
    "Lost: committed records. Offline: partitions without a leader, and the longest time. Groups: stopped by a failure."
    " Critical: findings. Gaps: what could not be seen. Unread: log lines. ?: the logs could not show it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetIncident(Row):
    """The columns of an incident that the page of all clusters reads."""

    TABLE = Incident.TABLE

    cluster: str
    incident_id: str
    headline: str
    started_at: datetime


@dataclass(frozen=True)
class Fleet:
    """The nights of all clusters, their recent incidents that ask to act or look, and the instant `at` of the page.

    `configured`: the clusters that the settings name.
    """

    nights: Sequence[NightSummary]
    incidents: Sequence[FleetIncident]
    at: datetime
    configured: Sequence[str] = ()

    @classmethod
    def of(
        cls, nights: Iterable[RowValues], incidents: Iterable[RowValues], at: datetime, configured: Sequence[str] = ()
    ) -> Fleet:
        """The fleet of rows, their text made harmless."""
        return cls(
            [NightSummary.of(plain.harmless(row)) for row in nights],
            [FleetIncident.of(plain.harmless(row)) for row in incidents],
            at,
            [plain.harmless(name) for name in configured],
        )

    @classmethod
    def joined(cls, fleets: Sequence[Fleet], at: datetime) -> Fleet:
        """The fleets of several lakes as one."""
        nights, incidents, configured = (
            [row for fleet in fleets for row in getattr(fleet, name)] for name in ("nights", "incidents", "configured")
        )
        return cls(nights, incidents, at, configured)

    def linked(self, template: str) -> Fleet:
        """The same fleet with the address of each page, by a template with {cluster} and {page}."""
        nights = [replace(n, page=page_address(template, n.cluster, n.page)) for n in self.nights]
        return replace(self, nights=nights)

    def among(self, clusters: Collection[str]) -> Fleet:
        """The same fleet with these clusters alone.

        Raises:
            BadInput: No night is of one of them, and no settings name it.
        """
        require_clusters(clusters, {*self.of_cluster, *self.configured})
        nights = [n for n in self.nights if n.cluster in clusters]
        incidents = [i for i in self.incidents if i.cluster in clusters]
        return Fleet(nights, incidents, self.at, [c for c in self.configured if c in clusters])

    @property
    def newest(self) -> list[NightSummary]:
        """The newest night of each cluster, the worst first."""
        return sorted(newest_of(self.nights), key=_badness)

    @property
    def of_cluster(self) -> Mapping[str, Sequence[NightSummary]]:
        """The nights of each cluster."""
        return grouped(self.nights, lambda n: n.cluster)


def newest_of(nights: Iterable[NightSummary]) -> list[NightSummary]:
    """The newest night of each cluster, by the cluster's name."""
    last = {n.cluster: n for n in sorted(nights, key=lambda n: (n.window_to, n.window_from))}
    return [last[cluster] for cluster in sorted(last)]


def _badness(night: NightSummary) -> tuple[object, ...]:
    harm = list(Harm).index(Harm(night.harm)) if night.harm else len(Harm)
    figures_of_harm = (night.records_lost_low, night.partitions_offline, night.sudden_absences, night.groups_stopped)
    return (
        list(Urgency).index(Urgency(night.state)),
        harm,
        *(-(f or 0) for f in figures_of_harm),
        -night.findings_critical,
        night.cluster,
    )


def fleet_page(fleet: Fleet) -> ui.Page:
    """The page of all clusters. The same rows give the same page, in whatever order they come."""
    not_audited: ui.Block = ui.Paragraph("The last night of every cluster was audited.")
    if late := late_clusters(fleet):
        items = (ui.Item((ui.Name(plain.shortened(c)), f": {reason}."), "warn") for c, reason in late.items())
        not_audited = ui.List(tuple(items), "statements")
    sections = (
        ui.ShownSection("clusters", "", tuple(_clusters(fleet))),
        ui.ShownSection("late", "Not audited", (not_audited,)),
        ui.ShownSection("together", "Incidents of several clusters at once", tuple(_together(fleet))),
    )
    return ui.Page(
        title="All clusters: Kafka Hindsight",
        heading="All clusters",
        subtitle=("as of ", words.instant(fleet.at), " ", ui.Quiet("· all times in UTC")),
        day=None,
        views=(ui.View("clusters", "Clusters, worst first", sections),),
    )


def summary(fleet: Fleet) -> str:
    """Clusters counted by state: `2 clusters: 1 to act on and 1 calm. 1 was not audited last night`."""
    if not fleet.newest:
        return "No night has been published yet."
    states = Counter(n.state for n in fleet.newest)
    counts = words.listed([f"{states[u]} {u.noun.asked}" for u in Urgency if states[u]])
    late = len(late_clusters(fleet))
    missing = f" {late} {words.verb(late, 'was', 'were')} not audited last night." if late else ""
    return f"{words.counted(len(fleet.newest), 'cluster')}: {counts}.{missing}"


def nothing(night: NightSummary) -> str:
    """The words for a night without an incident that asks for something."""
    return "nothing that the logs could show" if night.not_known else "nothing"


def fleet_lines(fleet: Fleet) -> Iterator[str]:
    """The fleet for a terminal: a line for each cluster, the worst first, then what was not audited."""
    yield summary(fleet)
    for night in fleet.newest:
        headline = night.headline or nothing(night)
        yield f"{night.state:4}  {night.cluster}  until {words.instant(night.window_to)}: {headline}"
    for cluster, reason in late_clusters(fleet).items():
        yield f"not audited  {cluster}: {reason}"


def _clusters(fleet: Fleet) -> Iterator[ui.Block]:
    worst = fleet.newest[0].state if fleet.newest else Urgency.CALM
    yield ui.Box(f"lead {worst}", (ui.Paragraph(summary(fleet), "state-line"),))
    if fleet.newest:
        yield ui.Paragraph(LEGEND, "quiet")
        rows = tuple(_cluster(fleet, night) for night in fleet.newest)
        yield ui.PlainTable("Clusters", HEADINGS, rows, "numbers fleet")


def _cluster(fleet: Fleet, night: NightSummary) -> ui.TableRow:
    gravest = plain.shortened(night.headline or "", 160)
    anchor = plain.anchor("incident", night.incident_id) if night.incident_id else ""
    orderly = f", {night.orderly_absences} shut down" if night.orderly_absences else ""
    is_loss_known = night.records_lost_low is not None
    loss = RecordLoss(night.records_lost_low or 0, night.records_lost_high).number if is_loss_known else NOT_KNOWN
    longest = "not over" if night.partitions_still_offline else words.duration(night.offline_ms)
    return ui.row(
        ui.head(ui.PageLink(plain.shortened(night.cluster), night.page), "id"),
        ui.Cell(ui.Badge(Urgency(night.state).noun.label, f"state {night.state}"), "left"),
        ui.Cell(_strip(fleet, night.cluster), "left"),
        ui.Cell(ui.PageLink(gravest, night.page, anchor) if gravest else nothing(night), "left wide"),
        ui.Cell(loss, "bad" if night.records_lost_low else ""),
        ui.Cell(
            f"{night.partitions_offline}, {longest}" if night.partitions_offline else _count(night.partitions_offline)
        ),
        f"{_count(night.sudden_absences)}{orderly}",
        _count(night.groups_stopped),
        ui.Cell(str(night.findings_critical), "bad" if night.findings_critical else ""),
        str(night.gaps),
        words.number(night.lines_unread),
        f"{night.window_to:%Y-%m-%d %H:%M}",
    )


def _count(count: int | None) -> str:
    return NOT_KNOWN if count is None else words.number(count)


def states_by_day(fleet: Fleet, cluster: str) -> Mapping[date, str]:
    """The state of each of the last days: the worst of its windows, empty where none was audited."""
    last = max(n.window_from for n in fleet.nights).astimezone(UTC).date()
    days = [last - timedelta(days=i) for i in range(DAYS - 1, -1, -1)]
    nights = grouped(fleet.of_cluster[cluster], lambda n: n.window_from.astimezone(UTC).date())
    return {day: min((n.state for n in nights.get(day, ())), key=[*Urgency].index, default="") for day in days}


def _strip(fleet: Fleet, cluster: str) -> ui.Strip:
    states = states_by_day(fleet, cluster)
    names: dict[str, str] = {"": "not audited", **{u: u.noun.label.lower() for u in Urgency}}
    counts = Counter(states.values())
    sentence = words.listed([f"{counts[s]} {names[s]}" for s in (*Urgency, "") if counts[s]])
    squares = tuple((s or "none", f"{day}: {names[s]}") for day, s in states.items())
    return ui.Strip(squares, f"{DAYS} nights: {sentence}")


def late_clusters(fleet: Fleet) -> Mapping[str, str]:
    """The clusters whose last night was not audited, with the reason; configured ones without any night too."""
    since = {
        n.cluster: f"its newest night ended at {words.instant(n.window_to)}, {words.duration(ago)} ago"
        for n in sorted(fleet.newest, key=lambda n: n.window_to)
        if (ago := fleet.at - n.window_to) > LATE
    }
    audited = {n.cluster for n in fleet.nights}
    return {**dict.fromkeys(sorted({*fleet.configured} - audited), "no night was ever audited"), **since}


def together(fleet: Fleet) -> list[list[FleetIncident]]:
    """Incidents of several clusters that began within ten minutes of one another, the newest first."""
    runs: list[list[FleetIncident]] = []
    since = max((n.window_to for n in fleet.nights), default=fleet.at) - RECENT
    late = (i for i in fleet.incidents if i.started_at >= since)
    for incident in sorted(late, key=lambda i: (i.started_at, i.cluster, i.incident_id)):
        if runs and incident.started_at - runs[-1][-1].started_at <= AT_ONCE:
            runs[-1].append(incident)
        else:
            runs.append([incident])
    return [run for run in reversed(runs) if len({i.cluster for i in run}) > 1]


def _together(fleet: Fleet) -> Iterator[ui.Block]:
    groups = together(fleet)
    sentence = (
        f"They began within {words.duration(AT_ONCE)} of one another. Look at what these clusters share: hosts, racks,"
        " network, clients, a deployment."
    )
    yield ui.Paragraph(sentence, "advice") if groups else ui.Paragraph("None in the last two days.")
    yield from (ui.List(tuple(ui.Item(_incident_words(fleet, incident)) for incident in run)) for run in groups)


def _incident_words(fleet: Fleet, incident: FleetIncident) -> ui.Words:
    nights = fleet.of_cluster.get(incident.cluster, ())
    page = next((n.page for n in nights if n.window_from <= incident.started_at < n.window_to), NEWEST)
    anchor = plain.anchor("incident", incident.incident_id)
    link = ui.PageLink(plain.shortened(incident.headline, 160), page, anchor)
    return words.instant(incident.started_at), " ", ui.Name(plain.shortened(incident.cluster)), ": ", link


def require_clusters(clusters: Iterable[str], names: Collection[str]) -> None:
    """Check that each cluster is one of these names. Raises: BadInput with a sentence for each that is not."""
    hints = {cluster: plain.visible(words.did_you_mean(cluster, names)) for cluster in clusters if cluster not in names}
    if hints:
        raise BadInput(*(f"There is no cluster {plain.visible(name)!r}.{hint}" for name, hint in hints.items()))
