"""The newest night of each cluster as OpenMetrics text, for Prometheus and other collectors of metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from kafka_hindsight.catalog.codes import Urgency
from kafka_hindsight.catalog.rows import NightSummary
from kafka_hindsight.report.fleet import newest_of
from kafka_hindsight.shared.grouping import grouped


@dataclass(frozen=True)
class Metric:
    """One gauge: its name, its help text, and its value of a night.

    A value is a number, None where it is not known, or several by a label: its name, and the number of each value.
    """

    name: str
    says: str
    value: Callable[[NightSummary], float | tuple[str, Mapping[str, float]] | None]


def _known(**counts: int | None) -> dict[str, float]:
    """Those counts that are known."""
    return {name: count for name, count in counts.items() if count is not None}


METRICS = (
    Metric("night_end_timestamp_seconds", "The end of the newest night that was audited. Its age is time() minus this.",
           lambda n: n.window_to.timestamp()),
    Metric("audit_timestamp_seconds", "When the newest report was written. Its age is time() minus this.",
           lambda n: n.run_published_at.timestamp()),
    Metric("state", "1 for what the night asks of its reader: act, look or calm.",
           lambda n: ("state", {state: n.state == state for state in Urgency})),
    Metric("incidents", "Incidents that ask to act or look.", lambda n: n.incidents),
    Metric("findings", "Findings by severity.",
           lambda n: ("severity", {"critical": n.findings_critical, "warning": n.findings_warning,
                                   "info": n.findings_info})),
    Metric("records_lost_at_least", "Committed records lost, at least.", lambda n: n.records_lost_low),
    Metric("records_lost_at_most", "Committed records lost, at most; absent where nothing bounds it.",
           lambda n: n.records_lost_high),
    Metric("records_skipped_at_least", "Records that groups skipped, at least; absent where no evidence shows any.",
           lambda n: n.records_skipped_low),
    Metric("records_read_again_at_least",
           "Records that groups read a second time, at least; absent where no evidence shows any.",
           lambda n: n.records_read_again_low),
    Metric("partitions_offline", "Partitions without a leader for a second or longer.", lambda n: n.partitions_offline),
    Metric("partitions_still_offline", "Of these, those without a leader when the logs end.",
           lambda n: n.partitions_still_offline),
    Metric("offline_partition_seconds", "How long partitions had no leader, added up.",
           lambda n: n.offline_partition_seconds),
    Metric("partitions_refusing", "Partitions that took no writes with acks=all for a second or longer.",
           lambda n: n.partitions_refusing),
    Metric("broker_absences", "Absences of brokers: orderly ones began with a controlled shutdown.",
           lambda n: ("manner", _known(sudden=n.sudden_absences, orderly=n.orderly_absences))),
    Metric("groups_stopped", "Groups none of whose members consumed for a second or longer, because something failed.",
           lambda n: n.groups_stopped),
    Metric("gaps", "Findings about what could not be seen.", lambda n: n.gaps),
    Metric("not_known", "1 for each harm that some logs could not show: its gauge is a lower bound, or absent.",
           lambda n: ("harm", dict.fromkeys(n.not_known, 1))),
    Metric("lines", "Physical lines of the night.", lambda n: n.lines_in),
    Metric("lines_unread", "Physical lines that no pattern claims or that are broken.", lambda n: n.lines_unread),
    Metric("rebalances", "Rebalances.", lambda n: n.rebalances),
    Metric("partition_seconds", "Cost of rebalances, at most: partitions that stopped, times the seconds.",
           lambda n: n.partition_seconds),
)  # fmt: skip


@dataclass(frozen=True)
class SubjectMetric:
    """One gauge of each group or topic: its name, its help text, and the column of the query that has its value."""

    name: str
    says: str
    column: str


SUBJECT_METRICS: Mapping[str, Sequence[SubjectMetric]] = {
    "group": (
        SubjectMetric("group_rebalances", "Rebalances of a group in the newest night.", "rebalances"),
        SubjectMetric("group_seconds_since_rebalance", "From the end of a group's last rebalance to that of the night.",
                      "seconds_since_rebalance"),
        SubjectMetric("group_members", "Members of a group at the newest reading, else after its last rebalance.",
                      "members"),
        SubjectMetric("group_assigned_partitions",
                      "Partitions that members of a group own at the newest reading, else at the end of the night.",
                      "assigned_partitions"),
        SubjectMetric("group_unowned_partitions",
                      "Of the topics that a group reads, the partitions that no member owns at the newest reading.",
                      "unowned_partitions"),
    ),
    "topic": (
        SubjectMetric("topic_under_replicated_partitions",
                      "Partitions of a topic with fewer in-sync replicas than replicas at the newest reading.",
                      "under_replicated_partitions"),
        SubjectMetric("topic_offline_partitions", "Partitions of a topic without a leader at the newest reading.",
                      "offline_partitions"),
    ),
}  # fmt: skip
"""The gauges by the label that names the subject."""

MOST_SUBJECTS = 500
"""Groups, and topics, of one cluster that have gauges: those that come first in the answer of their query. Our choice:
2,500 series of groups are few for a Prometheus, and a name that a client makes up for each start is not."""

SubjectRows = Mapping[str, Sequence[Mapping[str, Any]]]
"""The rows of the queries by the label: each with cluster, the subject under the name of its column, and its values."""

SUBJECT_COLUMNS = {"group": "group_id", "topic": "topic"}


def metrics_text(nights: Iterable[NightSummary], subjects: SubjectRows | None = None) -> str:
    """The text about the newest of the nights of each cluster, and about its groups and topics.

    Names from outside stand only in values of labels, escaped.
    """
    newest = newest_of(nights)
    lines = [line for metric in METRICS for line in _lines(metric, newest)]
    for label, rows in (subjects or {}).items():
        lines += _subject_lines(label, rows)
    return "".join(lines) + "# EOF\n"


def _subject_lines(label: str, rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    of_clusters = grouped(rows, itemgetter("cluster"))
    for metric in SUBJECT_METRICS[label]:
        yield _head(f"hindsight_{metric.name}", metric.says)
        for cluster, own in of_clusters.items():
            for row in own[:MOST_SUBJECTS]:
                if row[metric.column] is not None:
                    labels = f'cluster="{_escaped(cluster)}",{label}="{_escaped(row[SUBJECT_COLUMNS[label]])}"'
                    yield f"hindsight_{metric.name}{{{labels}}} {row[metric.column]:.15g}\n"
    name = f"hindsight_{label}s_left_out"
    yield _head(name, f"Each cluster has gauges of {MOST_SUBJECTS} {label}s at most: how many more there are.")
    for cluster, own in of_clusters.items():
        yield f'{name}{{cluster="{_escaped(cluster)}"}} {max(len(own) - MOST_SUBJECTS, 0)}\n'


def _head(name: str, says: str) -> str:
    return f"# TYPE {name} gauge\n# HELP {name} {says}\n"


def _lines(metric: Metric, nights: Sequence[NightSummary]) -> Iterator[str]:
    name = f"hindsight_{metric.name}"
    yield _head(name, metric.says)
    for night in nights:
        value, cluster = metric.value(night), f'cluster="{_escaped(night.cluster)}"'
        if isinstance(value, tuple):
            label, numbers = value
            yield from (f'{name}{{{cluster},{label}="{k}"}} {number:.15g}\n' for k, number in numbers.items())
        elif value is not None:
            yield f"{name}{{{cluster}}} {value:.15g}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
