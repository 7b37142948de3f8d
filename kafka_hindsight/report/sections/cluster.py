"""The brokers and the topics of the window, each with the way to its own view."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafka_hindsight.catalog.rows import BrokerOutage, Failover, Unavailability
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.curves import leader_curves
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.report.sections.timeline import absence
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.unavailability_sums import NO_LEADER, NO_WRITES, Unused, unused

BARS = 12
BROKERS = ("Broker", "Absences", "Leader changes")
TOPICS = (
    "Topic", "Partitions without a leader", "Partition-seconds without a leader", "Partition-seconds without writes",
    "Leader changes", "Owner",
)  # fmt: skip


def brokers_and_topics(page: PageRows) -> Iterator[ui.Block]:
    """A row and a curve for each broker, then the topics, those that were unavailable the longest first."""
    if page.brokers:
        yield ui.Heading("Brokers")
        yield ui.Table("Brokers", BROKERS, tuple(_broker(page, broker) for broker in page.brokers))
    curves = tuple(leader_curves(page))
    if curves:
        yield ui.Timeline(
            *page.window,
            absences=[absence(page, row) for row in page.of(BrokerOutage)],
            curves=curves,
            note="The partitions that each broker leads, by readings of the cluster. Shaded: absences of brokers.",
        )
    sums = {topic: unused(page.rows_of(Unavailability, "topic", topic), NO_LEADER) for topic in page.topics}
    worst = sorted(page.topics, key=lambda topic: (-sums[topic].total_ms, topic))
    unused_topics = [topic for topic in worst[:BARS] if sums[topic].total_ms]
    if unused_topics:
        yield ui.Heading("Time without a leader by topic")
        yield ui.Bars("Partition-seconds without a leader, by topic", tuple(_bar(page, t, sums) for t in unused_topics))
    if worst:
        yield ui.Heading("Topics that changed a leader or could not be used")
        yield from ui.ledger("Topics", TOPICS, [("lost", _topic(page, topic, sums[topic])) for topic in worst])


def _bar(page: PageRows, topic: str, sums: Mapping[str, Unused]) -> tuple[ui.Words, str, float, str]:
    longest = max(each.total_ms for each in sums.values())
    value = words.counted(round(sums[topic].total_ms / 1000), "partition-second")
    return page.link("topic", topic, 48), value, round(100 * sums[topic].total_ms / longest, 1), "lost"


def _broker(page: PageRows, broker: int) -> ui.TableRow:
    changes = len(page.rows_of(Failover, "leader_from", broker)) + len(page.rows_of(Failover, "leader_to", broker))
    return ui.row(
        ui.head(page.broker_link(broker)),
        words.number(len(page.rows_of(BrokerOutage, "broker", broker))),
        words.number(changes),
    )


def _topic(page: PageRows, topic: str, leaderless: Unused) -> tuple[ui.Words, ...]:
    refused = unused(page.rows_of(Unavailability, "topic", topic), NO_WRITES)
    return (
        ui.Link(plain.shortened(topic), plain.anchor("topic", topic)),
        words.number(len(leaderless.subjects)),
        words.number(leaderless.total_ms / 1000),
        words.number(refused.total_ms / 1000),
        words.number(len(page.rows_of(Failover, "topic", topic))),
        page.whose((), [topic])[1],
    )


SECTION = Section("cluster", 10, "brokers-and-topics", "", brokers_and_topics)
