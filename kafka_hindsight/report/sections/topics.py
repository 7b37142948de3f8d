"""The topics of the window, each with the way to its own view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafka_hindsight.catalog.rows import Failover, PartitionRisk, Truncation, Unavailability
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, NO_WRITES, Unused, unused
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.phrases import lost_records
from kafka_hindsight.shared import plain, words

BARS = 12
TOPICS = (
    "Topic", "Partitions without a leader", "Partition-seconds without a leader", "Partition-seconds without writes",
    "Leader changes", "Records lost", "Truncations", "Partitions at risk", "Owner",
)  # fmt: skip


def topics(page: PageRows) -> Iterator[ui.Block]:
    """The topics that were unavailable the longest as bars, then all in a table, those that lost records first."""
    sums = {topic: unused(page.rows_of(Unavailability, "topic", topic), LEADERLESS) for topic in page.topics}
    worst = sorted(page.topics, key=lambda topic: (-sums[topic].total_ms, topic))
    unused_topics = [topic for topic in worst[:BARS] if sums[topic].total_ms]
    if unused_topics:
        yield ui.Bars("Partition-seconds without a leader, by topic", tuple(_bar(page, t, sums) for t in unused_topics))
    if worst:
        table = ui.paged_table("Topics", TOPICS, [("lost", _topic(page, topic, sums[topic])) for topic in worst])
        summary = f"{words.counted(len(worst), 'topic')} that changed a leader, could not be used or risked records"
        yield ui.Expandable(summary, table, is_open=len(worst) <= BARS)


def _bar(page: PageRows, topic: str, sums: Mapping[str, Unused]) -> tuple[ui.Words, str, float, str]:
    longest = max(each.total_ms for each in sums.values())
    value = words.counted(round(sums[topic].total_ms / 1000), "partition-second")
    return page.link("topic", topic, 48), value, round(100 * sums[topic].total_ms / longest, 1), "lost"


def _topic(page: PageRows, topic: str, leaderless: Unused) -> tuple[ui.Words, ...]:
    refused = unused(page.rows_of(Unavailability, "topic", topic), NO_WRITES)
    failovers = page.rows_of(Failover, "topic", topic)
    truncations, risks = (len(page.rows_of(kind, "topic", topic)) for kind in (Truncation, PartitionRisk))
    return (
        ui.Link(plain.shortened(topic), plain.anchor("topic", topic)),
        words.number_range(len(leaderless.subjects), leaderless.most),
        words.number(leaderless.total_ms / 1000),
        words.number(refused.total_ms / 1000),
        words.number(len(failovers)),
        ", ".join(filter(None, (lost_records(f.records_lost_low, f.records_lost_high) for f in failovers))),
        words.number(truncations) if truncations else "",
        words.number(risks) if risks else "",
        page.whose((), [topic])[1],
    )


SECTION = Section("cluster", 40, "topics", "Topics", topics)
