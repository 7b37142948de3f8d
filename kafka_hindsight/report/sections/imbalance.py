"""Leader imbalance: the share of each broker's preferred partitions that others lead, since when, and what ended it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise, takewhile

from kafka_hindsight.catalog.rows import ImbalancePeriod, LeaderImbalance
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import vocabulary
from kafka_hindsight.report.page_rows import PageRows, Section
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

PERIODS = 60
BROKER_HEADINGS = (
    "Broker", "At the last reading", "Led elsewhere", "Over since", "Worst", "Over for",
)  # fmt: skip
OVER = (
    "Over means strictly above 10% of the partitions whose first replica the broker is, as"
    " leader.imbalance.per.broker.percentage has it; KRaft controllers ignore the percentage and move every leader back"
    " that they can."
)


@dataclass(frozen=True)
class _Broker:
    """The readings of one broker, in order of time."""

    rows: Sequence[LeaderImbalance]

    @property
    def last(self) -> LeaderImbalance:
        return self.rows[-1]

    @property
    def worst(self) -> LeaderImbalance:
        return max(self.rows, key=_ratio)

    @property
    def over_since(self) -> datetime | None:
        run = list(takewhile(lambda r: r.over_threshold, reversed(self.rows)))
        return run[-1].snapshot_at if run else None

    @property
    def over_ms(self) -> float:
        return sum(
            words.elapsed_ms(a.snapshot_at, b.snapshot_at) or 0 for a, b in pairwise(self.rows) if a.over_threshold
        )


def imbalance(page: PageRows) -> Iterator[ui.Block]:
    """Leader imbalance of each broker, those over the threshold at the last reading first."""
    rows = page.of(LeaderImbalance)
    brokers = sorted(
        (_Broker(readings) for readings in grouped(rows, lambda r: r.broker).values()),
        key=lambda b: (not b.last.over_threshold, -_ratio(b.worst), b.last.broker),
    )
    yield ui.Paragraph(_summary(page, brokers))
    yield from _periods(page)
    if brokers:
        yield ui.Table("Leader imbalance by broker", BROKER_HEADINGS, tuple(map(_row, brokers)), "numbers")
        for broker in brokers:
            if broker.worst.over_threshold and broker.worst.evidence:
                yield page.evidence(broker.worst.evidence, f"Proof of broker {broker.last.broker} at its worst")
        readings = words.counted(len({row.snapshot_at for row in rows}), "reading")
        yield ui.Paragraph((f"{readings}, the last at ", ui.At(rows[-1].snapshot_at), f". {OVER}"), "quiet")


def _ratio(row: LeaderImbalance) -> float:
    return row.ratio or 0.0


def _summary(page: PageRows, brokers: Sequence[_Broker]) -> str:
    if not brokers:
        return "This window holds no snapshot of the cluster, so nothing is known about who leads what."
    over = [
        f"broker {b.last.broker} ({words.percent(b.last.ratio)}, since {words.instant(b.over_since, page.day)})"
        for b in brokers
        if b.last.over_threshold
    ]
    if over:
        return f"Over the threshold at the last reading: {words.listed(over, at_most=6)}."
    former = [f"broker {b.last.broker} (up to {words.percent(b.worst.ratio)})" for b in brokers if b.over_ms]
    if former:
        brokers_over = words.listed(former, at_most=6)
        return f"No broker is over the threshold at the last reading. Earlier in the window these were: {brokers_over}."
    return "No broker was over the threshold at any reading."


def _row(broker: _Broker) -> ui.TableRow:
    last, worst = broker.last, broker.worst
    at_worst = (words.percent(worst.ratio), " ", ui.Quiet(ui.At(worst.snapshot_at)))
    return ui.row(
        ui.head(str(last.broker)),
        ui.Cell(words.percent(last.ratio) or "preferred for none", "bad" if last.over_threshold else ""),
        f"{last.led_elsewhere} of {last.preferred_partitions}",
        ui.At(broker.over_since),
        at_worst if worst.ratio else "",
        words.duration(broker.over_ms or None),
    )


def _periods(page: PageRows) -> Iterator[ui.Block]:
    """Periods over the threshold: those that go on, then those that ended, each the worst first."""
    rows = sorted(
        page.of(ImbalancePeriod), key=lambda r: (r.ended_at is not None, -r.max_ratio, r.started_at, r.broker)
    )
    for row in rows[:PERIODS]:
        is_open, facts = row.ended_at is None, list(_facts(row))
        anchor, outage = plain.anchor("imbalance", row.imbalance_period_id), page.outage_link(row.outage_id)
        end = "the end of the window, still over the threshold" if is_open else ui.At(row.ended_at)
        origin = (" Related outage: ", outage, ".") if outage else ""
        yield ui.Entry(
            f"Broker {row.broker} {'is' if is_open else 'was'} over the threshold, at worst"
            f" {words.percent(row.max_ratio)}",
            (
                ui.Paragraph(row.explanation),
                ui.advice_box(row.advice),
                ui.Paragraph((ui.At(row.started_at), " to ", end, f"; {'; '.join(facts)}.", origin), "quiet"),
                page.evidence(row.evidence),
            ),
            anchor=anchor,
            tone="lost" if is_open else "broker",
            when=ui.At(row.started_at),
            badges=(ui.Badge("ongoing"),) if is_open else (),
            cost=facts[0],
            is_open=is_open,
        )


def _facts(row: ImbalancePeriod) -> Iterator[str]:
    yield f"{row.led_elsewhere} of {words.counted(row.preferred_partitions, 'partition')} led elsewhere at worst"
    yield words.counted(row.readings, "reading")
    if row.started_by:
        yield f"started by: {vocabulary.FAILOVERS[row.started_by].label}"
    if row.ended_by:
        yield f"ended by: {row.ended_by.replace('_', ' ')}"


SECTION = Section("cluster", 70, "imbalance", "Leader imbalance", imbalance)
