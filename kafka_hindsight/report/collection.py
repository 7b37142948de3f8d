"""The health of collection on one page: each log that was read, with its last line, of all clusters."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from functools import cached_property

from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.table_model import RowValues
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.fleet import require_clusters
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

BEHIND = timedelta(hours=1)
"""A log is behind if its last line is older than the newest one of its cluster by more than this."""

OLD = timedelta(hours=2)
"""A collect reads every hour: if it works, and lines are written, the newest one is hardly older than this."""

UNKNOWN = "not known"

CLUSTERS = ("Cluster", "Logs", "Behind", "Newest line<", "Ago", "Read<")
LATE_LOGS = ("Log", "Cluster", "Broker", "Of", "Last line", "Behind")
LOGS = ("Last line", "Log", "Cluster", "Broker", "Of", "Ago", "Behind", "Read", "Lines", "No pattern")

SHOWN = 40
"""The most logs that are behind on the first view."""

_TONES = (("topic", "behind"), ("unknown", "no line with an instant"), ("asked", "not behind"))

_NEVER_SEEN = (
    "A log that was never read is not listed, whatever the reason: nothing in a lake names it. Compare the brokers that"
    " are listed with those of your cluster."
)
_QUIET = (
    "A log that is behind may be one that is seldom written. The alert log_silent compares a log with its own former"
    " nights."
)
_NOT_SEEN_SINCE = (
    "A log counts as read at the start of the run that read it, so its last line may be later. Lines that were written"
    " after it was read are not known here. If a cluster was read a short time ago and its"
    " newest line is old, lines are not written or do not arrive: this page cannot say which."
)


@dataclass(frozen=True)
class Log:
    """One log that was read. `last_read_at`: when a run read it last; None where that is not known."""

    cluster: str
    broker: int | None
    source: str
    origin: str
    last_line_at: datetime | None
    last_read_at: datetime | None
    lines_in: int | None
    unparsed: int | None


@dataclass(frozen=True)
class Collection:
    """The logs of all clusters at an instant.

    Attributes:
        logs: Each log that was read.
        at: The instant of the page.
        configured: The clusters that the settings name.
        unread: The clusters whose lake cannot be read, each with the reason.
    """

    logs: Sequence[Log]
    at: datetime
    configured: Sequence[str] = ()
    unread: Mapping[str, str] | None = None

    @classmethod
    def of(
        cls,
        rows: Iterable[RowValues],
        at: datetime,
        configured: Iterable[str] = (),
        unread: Mapping[str, str] | None = None,
    ) -> Collection:
        """The collection of an answer's rows, their text made harmless."""
        names = [f.name for f in fields(Log)]
        logs = [Log(**{name: row[name] for name in names}) for row in map(plain.harmless, rows)]
        reasons = {plain.visible(name): plain.harmless(reason) for name, reason in (unread or {}).items()}
        return cls(logs, at, [plain.harmless(name) for name in configured], reasons)

    def among(self, clusters: Names[str]) -> Collection:
        """The same collection with these clusters alone.

        Raises:
            BadInput: No log is of one of them, and no settings name it.
        """
        require_clusters(clusters, {*self.of_cluster, *self.configured})
        logs = [log for log in self.logs if log.cluster in clusters]
        unread = {name: reason for name, reason in (self.unread or {}).items() if name in clusters}
        return replace(self, logs=logs, configured=[c for c in self.configured if c in clusters], unread=unread)

    @cached_property
    def of_cluster(self) -> Mapping[str, Sequence[Log]]:
        """The logs of each cluster."""
        return grouped(self.logs, lambda log: log.cluster)

    @cached_property
    def newest_lines(self) -> Mapping[str, datetime | None]:
        """The instant of the newest line of each cluster; None where no log of it has one."""
        return {
            cluster: max((log.last_line_at for log in logs if log.last_line_at), default=None)
            for cluster, logs in self.of_cluster.items()
        }

    def lateness(self, log: Log) -> timedelta | None:
        """How far the last line of a log is behind the newest one of its cluster; None without a last line."""
        newest = self.newest_lines[log.cluster]
        return newest - log.last_line_at if newest and log.last_line_at else None

    def is_behind(self, log: Log) -> bool:
        """Whether a log is behind its cluster by more than BEHIND."""
        behind = self.lateness(log)
        return behind is not None and behind > BEHIND

    @cached_property
    def late_logs(self) -> Sequence[Log]:
        """The logs that are behind, those of brokers first: a client that was removed leaves a log that ends."""
        late = filter(self.is_behind, self.in_order)
        return sorted(late, key=lambda log: log.origin != Origin.BROKER)

    @cached_property
    def in_order(self) -> Sequence[Log]:
        """The logs by their last line, those without one first."""
        return sorted(
            self.logs,
            key=lambda log: (log.last_line_at is not None, log.last_line_at or self.at, log.cluster, log.source),
        )

    @cached_property
    def newest_reads(self) -> Mapping[str, datetime | None]:
        """The instant at which a log of each cluster was read last; None where it is not known."""
        return {
            cluster: max((log.last_read_at for log in logs if log.last_read_at), default=None)
            for cluster, logs in self.of_cluster.items()
        }

    @property
    def resting_clusters(self) -> list[str]:
        """The clusters of which nothing was read for longer than OLD, or never as far as is known."""
        return sorted(c for c, newest in self.newest_reads.items() if newest is None or self.at - newest > OLD)

    @property
    def old_clusters(self) -> list[str]:
        """The clusters whose newest line is older than OLD, or not known."""
        return sorted(c for c, newest in self.newest_lines.items() if newest is None or self.at - newest > OLD)

    @property
    def is_calm(self) -> bool:
        """Whether nothing asks to look: no log is behind, no cluster old, without logs or not read lately."""
        others = (*self.old_clusters, *self.resting_clusters, *self.clusters_without_logs, *(self.unread or ()))
        return bool(self.logs) and not self.late_logs and not others

    @property
    def clusters_without_logs(self) -> list[str]:
        """The clusters of the settings without any log in a lake that was read."""
        return sorted({*self.configured} - self.of_cluster.keys() - (self.unread or {}).keys())


def collection_page(collection: Collection) -> ui.Page:
    """The page: clusters, logs that are behind and what is not known; on a second view each log."""
    first = (
        ui.ShownSection("clusters", "", tuple(_clusters(collection))),
        ui.ShownSection("behind", "Logs that are behind", tuple(_late_logs(collection))),
        ui.ShownSection(
            "unknown", "What this page does not know", (ui.List(tuple(_unknown(collection)), "statements"),)
        ),
    )
    all_logs = (ui.ShownSection("logs", "", tuple(_logs(collection))),)
    return ui.Page(
        title="Collection: Kafka Hindsight",
        heading="Collection",
        subtitle=("as of ", words.instant(collection.at), " ", ui.Quiet("· all times in UTC")),
        day=None,
        views=(
            ui.View("collection", "Logs by their last line", first, nav="Overview"),
            ui.View("logs", "Each log, the oldest last line first", all_logs, nav="Each log"),
        ),
    )


def collection_summary(collection: Collection) -> str:
    """Logs counted: `Of 49 logs in 2 clusters, 2 are more than 1 h behind the newest line of their cluster`."""
    if not collection.logs:
        return "No log was read."
    late, old = len(collection.late_logs), len(collection.old_clusters)
    resting = len(collection.resting_clusters)
    logs = f"{words.counted(len(collection.logs), 'log')} in {words.counted(len(collection.of_cluster), 'cluster')}"
    behind = f"{words.duration(BEHIND)} behind the newest line of {'their' if late > 1 else 'its'} cluster"
    age = f" The newest line of {words.counted(old, 'cluster')} is more than {words.duration(OLD)} old." if old else ""
    was = words.verb(resting, "was", "were")
    rest = (
        f" {words.counted(resting, 'cluster')} {was} not read for more than {words.duration(OLD)}." if resting else ""
    )
    unread = len(collection.unread or ())
    lake = (
        f" The {words.verb(unread, 'lake', 'lakes')} of {words.counted(unread, 'cluster')} cannot be read."
        if unread
        else ""
    )
    return f"Of {logs}, {late or 'none'} {words.verb(late or 1, 'is', 'are')} more than {behind}.{age}{rest}{lake}"


def collection_lines(collection: Collection) -> Iterator[str]:
    """The collection for a terminal: each cluster, each log that is behind, and what is not known."""
    yield collection_summary(collection)
    for cluster in sorted(collection.of_cluster):
        newest = collection.newest_lines[cluster]
        yield (
            f"{cluster}: newest line {words.instant(newest)}, {_ago(collection, newest)} ago"
            if newest
            else (f"{cluster}: no line with an instant")
        )
    for log in collection.late_logs:
        late = words.duration(collection.lateness(log))
        yield f"behind  {log.cluster}  {log.source}: last line {words.instant(log.last_line_at)}, {late} behind"
    for item in _unknown(collection):
        yield ui.plain_text(item.words)


def _clusters(collection: Collection) -> Iterator[ui.Block]:
    summary = ui.Paragraph(collection_summary(collection), "state-line")
    yield ui.Box("lead calm" if collection.is_calm else "lead look", (summary,))
    if collection.logs:
        rows = tuple(_cluster(collection, cluster) for cluster in sorted(collection.of_cluster))
        yield ui.PlainTable("Clusters", CLUSTERS, rows, "numbers")


def _cluster(collection: Collection, cluster: str) -> ui.TableRow:
    logs, newest = collection.of_cluster[cluster], collection.newest_lines[cluster]
    late = sum(map(collection.is_behind, logs))
    return ui.row(
        ui.head(ui.Name(plain.shortened(cluster)), "id"),
        words.number(len(logs)),
        ui.Cell(words.number(late), "warn" if late else ""),
        ui.Cell(_instant(newest), "left"),
        ui.Cell(_ago(collection, newest) or UNKNOWN, "warn" if cluster in collection.old_clusters else ""),
        ui.Cell(
            _instant(collection.newest_reads[cluster]),
            "left warn" if cluster in collection.resting_clusters else "left",
        ),
    )


def _late_logs(collection: Collection) -> Iterator[ui.Block]:
    late = collection.late_logs
    rows = tuple(
        ui.row(
            ui.head(ui.Name(plain.shortened(log.source)), "id"),
            ui.Name(plain.shortened(log.cluster)),
            _broker(log),
            log.origin,
            _instant(log.last_line_at),
            words.duration(collection.lateness(log)),
        )
        for log in late[:SHOWN]
    )
    yield ui.PlainTable("Logs that are behind", LATE_LOGS, rows) if rows else ui.Paragraph("None.")
    if late[SHOWN:]:
        yield ui.Paragraph(
            (f"{words.counted(len(late) - SHOWN, 'other')}: ", ui.Link("each log", "logs"), "."), "quiet"
        )


def _logs(collection: Collection) -> Iterator[ui.Block]:
    yield from ui.paged_table("Logs", LOGS, [_log(collection, log) for log in collection.in_order], _TONES)


def _log(collection: Collection, log: Log) -> tuple[str, tuple[ui.Words, ...]]:
    behind = collection.lateness(log)
    tone = "unknown" if behind is None else "topic" if collection.is_behind(log) else "asked"
    return tone, (
        _instant(log.last_line_at),
        plain.shortened(log.source),
        plain.shortened(log.cluster),
        _broker(log),
        log.origin,
        _ago(collection, log.last_line_at),
        "" if behind is None else words.duration(behind) if behind else "newest",
        _instant(log.last_read_at),
        "" if log.lines_in is None else words.number(log.lines_in),
        "" if log.unparsed is None else words.number(log.unparsed),
    )


def _broker(log: Log) -> str:
    """The broker of a log. Clients' logs have none."""
    return str(log.broker) if log.broker is not None else UNKNOWN if log.origin == Origin.BROKER else ""


def _unknown(collection: Collection) -> Iterator[ui.Item]:
    for cluster in collection.clusters_without_logs:
        yield ui.Item((ui.Name(plain.shortened(cluster)), ": the settings name it, and no log of it was read."), "warn")
    for name, reason in (collection.unread or {}).items():
        yield ui.Item((ui.Name(plain.shortened(name)), ": its lake cannot be read. ", *_with_code(reason)), "warn")
    for sentence in (_NEVER_SEEN, _QUIET, _NOT_SEEN_SINCE):
        yield ui.Item(sentence, "plain")


def _with_code(sentence: str) -> Iterator[ui.Words]:
    """The words of a sentence, what stands in backticks as code."""
    for place, part in enumerate(sentence.split("`")):
        yield ui.Badge(part, "code") if place % 2 else part


def _instant(at: datetime | None) -> str:
    return words.instant(at) if at else UNKNOWN


def _ago(collection: Collection, at: datetime | None) -> str:
    return words.duration(collection.at - at) if at else ""
