"""The newest night of each cluster as a text of OpenMetrics, for whoever scrapes or collects files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_hindsight.catalog.rows import Night
from kafka_hindsight.report.fleet import newest_of

Samples = Sequence[tuple[Mapping[str, str], float | None]]
"""Labels in addition to the cluster's, and the value; None where it is not known."""


@dataclass(frozen=True)
class Metric:
    """One gauge: its name, what it says, and its samples of a night."""

    name: str
    says: str
    samples: Callable[[Night], Samples]


def _one(value: float | None) -> Samples:
    return (({}, value),)


METRICS = (
    Metric("night_end_timestamp_seconds", "The end of the newest night that was audited. Its age is time() minus this.",
           lambda n: _one(n.window_to.timestamp())),
    Metric("audit_timestamp_seconds", "When the newest report was written. Its age is time() minus this.",
           lambda n: _one(n.run_published_at.timestamp())),
    Metric("state", "1 for what the night asks of its reader: act, look or calm.",
           lambda n: tuple(({"state": s}, float(n.state == s)) for s in ("act", "look", "calm"))),
    Metric("incidents", "Incidents that ask to act or look.", lambda n: _one(n.incidents)),
    Metric("findings", "Findings by severity.",
           lambda n: (({"severity": "critical"}, n.findings_critical), ({"severity": "warning"}, n.findings_warning),
                      ({"severity": "info"}, n.findings_info))),
    Metric("records_lost_at_least", "Committed records lost, at least.", lambda n: _one(n.records_lost_low)),
    Metric("records_lost_at_most", "Committed records lost, at most; absent where nothing bounds it.",
           lambda n: _one(n.records_lost_high)),
    Metric("partitions_offline", "Partitions without a leader for a second or longer.",
           lambda n: _one(n.partitions_offline)),
    Metric("partitions_still_offline", "Of these, those without a leader when the logs end.",
           lambda n: _one(n.partitions_still_offline)),
    Metric("offline_partition_seconds", "How long partitions had no leader, added up.",
           lambda n: _one(n.offline_partition_seconds)),
    Metric("partitions_refusing", "Partitions that took no writes with acks=all for a second or longer.",
           lambda n: _one(n.partitions_refusing)),
    Metric("broker_absences", "Absences of brokers: orderly ones began with a shutdown in order.",
           lambda n: (({"manner": "sudden"}, n.sudden_absences), ({"manner": "orderly"}, n.orderly_absences))),
    Metric("groups_stopped", "Groups none of whose members consumed for a second or longer, because something failed.",
           lambda n: _one(n.groups_stopped)),
    Metric("gaps", "Findings about what could not be seen.", lambda n: _one(n.gaps)),
    Metric("lines", "Physical lines of the night.", lambda n: _one(n.lines_in)),
    Metric("lines_unread", "Physical lines that no pattern claims or that are broken.", lambda n: _one(n.lines_unread)),
    Metric("rebalances", "Rebalances.", lambda n: _one(n.rebalances)),
    Metric("partition_seconds", "What rebalances cost: partitions that no member consumed, times the seconds.",
           lambda n: _one(n.partition_seconds)),
)  # fmt: skip


def metrics_text(nights: Iterable[Night]) -> str:
    """The text about the newest night of each cluster. Takes: any nights, as they are in the lake.

    Keeps: every name of a stranger is a label's value, escaped.
    """
    newest = newest_of(nights)
    return "".join(line for metric in METRICS for line in _lines(metric, newest)) + "# EOF\n"


def _lines(metric: Metric, nights: Sequence[Night]) -> Iterator[str]:
    name = f"hindsight_{metric.name}"
    yield f"# TYPE {name} gauge\n# HELP {name} {metric.says}\n"
    for night in nights:
        for labels, value in metric.samples(night):
            if value is not None:
                said = ",".join(f'{k}="{_escaped(v)}"' for k, v in {"cluster": night.cluster, **labels}.items())
                yield f"{name}{{{said}}} {value:.15g}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
