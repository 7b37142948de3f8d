"""Data lost and at risk in sentences, and what the loss of one more broker or rack would cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kafka_hindsight.catalog.codes import FailoverKind
from kafka_hindsight.catalog.rows import Failover, LossSimulation, PartitionRisk, Truncation
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
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
SIMULATION_HEADINGS = (
    "Lost", "Offline", "Unclean", "Unwritable", "Not known", "Leaders to move", "Groups to move", "What would happen<",
)  # fmt: skip


def danger(page: PageRows) -> Iterator[ui.Block]:
    """Sentences about what was lost and at risk, and the losses that one more failure would cause now."""
    sentences = [*_loss_sentences(page), *_exposure_sentences(page)]
    if unknown := sum(row.one_from_offline_ms is None for row in page.of(PartitionRisk)):
        subject = f"No log or snapshot shows which replicas of {words.counted(unknown, 'partition')} were in sync"
        sentences.append(("plain", f"{subject}: what {words.verb(unknown, 'it', 'they')} risked is not known."))
    yield from ui.statements([*sentences, *_simulation_sentences(page)])
    simulations = sorted(page.of(LossSimulation), key=_worst_simulation)
    if simulations:
        at = ui.At(max(r.snapshot_at for r in simulations))
        table_rows = tuple(_simulation(page, row) for row in simulations)
        table = ui.Table("What would be lost with each broker or rack", SIMULATION_HEADINGS, table_rows, "numbers")
        yield ui.Expandable(("If one broker or rack were lost now, by the reading at ", at), (table,))


def _loss_sentences(page: PageRows) -> Iterator[tuple[str, ui.Words]]:
    verdicts = grouped(page.of(Truncation), lambda row: row.verdict)
    harmful, unknown, harmless = (verdicts.get(v, ()) for v in vocabulary.TRUNCATIONS)
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


def _simulation_sentences(page: PageRows) -> Iterator[tuple[str, ui.Words]]:
    worst = min(page.of(LossSimulation), key=_worst_simulation, default=None)
    if worst is None:
        return
    if worst.partitions_offline or worst.partitions_unclean:
        yield "bad", worst.explanation
    elif worst.partitions_unwritable or worst.partitions_unjudged:
        yield "warn", worst.explanation
    else:
        yield "good", "If any one broker or rack were lost now, every partition would keep a leader and stay writable."


def _worst_simulation(row: LossSimulation) -> tuple[object, ...]:
    counts = (row.partitions_offline, row.partitions_unclean, row.partitions_unwritable, row.partitions_unjudged)
    return *(-count for count in counts), row.scope_kind, row.scope


def _simulation(page: PageRows, row: LossSimulation) -> ui.TableRow:
    brokers = f" (brokers {words.ranges(row.broker_ids)})" if row.scope_kind == "rack" else ""
    worst, stranded = (
        ", ".join(plain.shortened(name) for name in names or ())
        for names in (row.worst_partitions, row.stranded_group_ids)
    )
    more: tuple[ui.Block, ...] = (
        *ui.note(("Worst: ", ui.Name(worst)), worst),
        *ui.note(("No broker could coordinate: ", ui.Name(stranded)), stranded),
        page.evidence(row.evidence),
    )
    return ui.row(
        ui.head(f"{row.scope_kind} {plain.shortened(row.scope)}{brokers}"),
        ui.Cell(words.exact(row.partitions_offline), "bad" if row.partitions_offline else ""),
        ui.Cell(words.exact(row.partitions_unclean), "bad" if row.partitions_unclean else ""),
        ui.Cell(words.exact(row.partitions_unwritable), "warn" if row.partitions_unwritable else ""),
        words.exact(row.partitions_unjudged),
        words.exact(row.leaders_to_move),
        "not known" if row.group_ids is None else words.number(len(row.group_ids)),
        ui.Cell(ui.Expandable(row.explanation, more, "proof"), "left wide"),
        anchor=plain.anchor("simulation", f"{row.scope_kind} {row.scope}"),
    )


SECTION = Section("cluster", 20, "danger", "Data lost, data at risk", danger)
