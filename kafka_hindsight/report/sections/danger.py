"""Data lost and at risk, and what the loss of one more broker or rack would cost, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kafka_hindsight.catalog.codes import FailoverKind, TruncationVerdict
from kafka_hindsight.catalog.rows import Failover, PartitionRisk, Truncation
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import OneMoreLoss, PageRows, Section
from kafka_hindsight.report.phrases import partition_name
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

TOPICS = 4
EXPOSED: tuple[tuple[Callable[[PartitionRisk], int | None], str], ...] = (
    (
        # How long a partition with too few replicas in sync could not be written, a missing leader included.
        lambda r: r.under_min_isr_ms + r.leaderless_low_ms if r.under_min_isr_ms else None,
        "had too few replicas in sync for acks=all, and could not be written then, nor without a leader",
    ),
    (lambda r: r.one_from_unclean_ms, "{was} one failure away from losing records to an unclean election"),
    (lambda r: r.one_from_offline_ms, "{was} one failure away from being offline"),
)


def danger(page: PageRows) -> Iterator[ui.Block]:
    """Sentences about what was lost and at risk, and what one more loss would cost."""
    sentences = [*_loss_sentences(page), *_exposure_sentences(page)]
    if unknown := sum(row.one_from_offline_ms is None for row in page.of(PartitionRisk)):
        subject = f"No log or snapshot shows which replicas of {words.counted(unknown, 'partition')} were in sync"
        sentences.append(("plain", f"{subject}: what {words.verb(unknown, 'it', 'they')} risked is not known."))
    yield from ui.statements([*sentences, *_next_loss_sentence(page)])


def _loss_sentences(page: PageRows) -> Iterator[tuple[str, ui.Words]]:
    verdicts = grouped(page.of(Truncation), lambda row: row.verdict)
    harmful, unknown, harmless = (verdicts.get(v, ()) for v in TruncationVerdict.worst_first())
    if harmful:
        yield (
            "bad",
            (f"{words.counted(len(harmful), 'truncation')} removed committed records: ", _topics(page, harmful)),
        )
    if harmless and len(verdicts) == 1:
        yield "good", f"{words.counted(len(harmless), 'truncation')} removed no committed record."
    elif unknown:
        count = words.counted(len(unknown), "truncation")
        yield "warn", (f"It is not known what {count} removed: ", _topics(page, unknown))
    unclean = [row for row in page.of(Failover) if row.kind == FailoverKind.UNCLEAN_ELECTION]
    unbounded = [row for row in unclean if row.records_lost_high is None]
    if unbounded:
        count = words.counted(len(unbounded), "unclean election")
        yield "warn", (f"The most that {count} can have lost is not known: ", _topics(page, unbounded))


def _topics(page: PageRows, rows: Sequence[Failover | Truncation]) -> ui.Words:
    """The topics of rows, each with the way to its view."""
    topics = [*dict.fromkeys(row.topic for row in rows)]
    more = f" and {len(topics) - TOPICS} more" if topics[TOPICS:] else ""
    return (ui.join([page.link("topic", topic, 48) for topic in topics[:TOPICS]]), more, ".")


def _exposure_sentences(page: PageRows) -> Iterator[tuple[str, ui.Words]]:
    """The partitions that were one failure from harm or could not be written, and the one that was so longest."""
    for exposed, harm in EXPOSED:
        risks = [row for row in page.of(PartitionRisk) if exposed(row)]
        if risks:
            worst = max(risks, key=lambda r: (exposed(r) or 0, r.topic, r.partition))
            name = partition_name(worst.topic, worst.partition)
            place = ui.Link(name, plain.anchor("topic", worst.topic))
            predicate = harm.format(was=words.verb(len(risks), "was", "were"))
            count, length = words.counted(len(risks), "partition"), words.duration(exposed(worst))
            longest = "the longest " if len(risks) > 1 else ""
            yield "warn", (f"{count} {predicate}: {longest}", place, f", for {length} in all.")


def _next_loss_sentence(page: PageRows) -> Iterator[tuple[str, ui.Words]]:
    """The cost of the loss of one more broker or rack, by the last reading that answered in all its parts."""
    for worst in page.of(OneMoreLoss):
        read_at = (", by the reading at ", ui.At(worst.snapshot_at), ".")
        costs = []
        if count := worst.without_replica:
            costs.append(f"{words.counted(count, 'partition')} would have no replica in sync")
        if count := worst.without_writes:
            costs.append(f"at least {words.counted(count, 'partition')} could not take writes with acks=all")
        if costs:
            name = ui.Name(plain.shortened(worst.name))
            tone = "bad" if worst.without_replica else "warn"
            yield tone, (f"Without {worst.scope} ", name, ", ", " and ".join(costs), *read_at)
        else:
            subject = "Without any one broker or rack, each partition that has a leader would keep a replica in sync"
            yield "good", (subject, *read_at)


SECTION = Section("cluster", 20, "danger", "Data lost, data at risk", danger)
