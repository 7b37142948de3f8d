"""The newest night of each cluster as OpenMetrics text, for Prometheus and other collectors of metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_hindsight.catalog.rows import Night
from kafka_hindsight.report.fleet import newest_of

Samples = Sequence[tuple[Mapping[str, str], float | None]]
"""Labels in addition to the cluster's, and the value; None where it is not known."""


@dataclass(frozen=True)
class Metric:
    """One gauge: its name, its help text, and its samples of a night."""

    name: str
    says: str
    samples: Callable[[Night], Samples]


def _single(value: float | None) -> Samples:
    return (({}, value),)


METRICS = (
    Metric("night_end_timestamp_seconds", "The end of the newest night that was audited. Its age is time() minus this.",
           lambda n: _single(n.window_to.timestamp())),
    Metric("audit_timestamp_seconds", "When the newest report was written. Its age is time() minus this.",
           lambda n: _single(n.run_published_at.timestamp())),
    Metric("state", "1 for what the night asks of its reader: act, look or calm.",
           lambda n: tuple(({"state": s}, float(n.state == s)) for s in ("act", "look", "calm"))),
    Metric("incidents", "Incidents that ask to act or look.", lambda n: _single(n.incidents)),
    Metric("findings", "Findings by severity.",
           lambda n: (({"severity": "critical"}, n.findings_critical), ({"severity": "warning"}, n.findings_warning),
                      ({"severity": "info"}, n.findings_info))),
    Metric("records_lost_at_least", "Committed records lost, at least.", lambda n: _single(n.records_lost_low)),
    Metric("records_lost_at_most", "Committed records lost, at most; absent where nothing bounds it.",
           lambda n: _single(n.records_lost_high)),
    Metric("partitions_offline", "Partitions without a leader for a second or longer.",
           lambda n: _single(n.partitions_offline)),
    Metric("partitions_still_offline", "Of these, those without a leader when the logs end.",
           lambda n: _single(n.partitions_still_offline)),
    Metric("offline_partition_seconds", "How long partitions had no leader, added up.",
           lambda n: _single(n.offline_partition_seconds)),
    Metric("partitions_refusing", "Partitions that took no writes with acks=all for a second or longer.",
           lambda n: _single(n.partitions_refusing)),
    Metric("broker_absences", "Absences of brokers: orderly ones began with a controlled shutdown.",
           lambda n: (({"manner": "sudden"}, n.sudden_absences), ({"manner": "orderly"}, n.orderly_absences))),
    Metric("groups_stopped", "Groups none of whose members consumed for a second or longer, because something failed.",
           lambda n: _single(n.groups_stopped)),
    Metric("gaps", "Findings about what could not be seen.", lambda n: _single(n.gaps)),
    Metric("lines", "Physical lines of the night.", lambda n: _single(n.lines_in)),
    Metric("lines_unread", "Physical lines that no pattern claims or that are broken.",
           lambda n: _single(n.lines_unread)),
    Metric("rebalances", "Rebalances.", lambda n: _single(n.rebalances)),
    Metric("partition_seconds", "Cost of rebalances: partitions that no member consumed, times the seconds.",
           lambda n: _single(n.partition_seconds)),
)  # fmt: skip


def metrics_text(nights: Iterable[Night]) -> str:
    """The text about the newest of the nights of each cluster.

    Names from outside stand only in values of labels, escaped.
    """
    newest = newest_of(nights)
    return "".join(line for metric in METRICS for line in _lines(metric, newest)) + "# EOF\n"


def _lines(metric: Metric, nights: Sequence[Night]) -> Iterator[str]:
    name = f"hindsight_{metric.name}"
    yield f"# TYPE {name} gauge\n# HELP {name} {metric.says}\n"
    for night in nights:
        for labels, value in metric.samples(night):
            if value is not None:
                label_text = ",".join(f'{k}="{_escaped(v)}"' for k, v in {"cluster": night.cluster, **labels}.items())
                yield f"{name}{{{label_text}}} {value:.15g}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
