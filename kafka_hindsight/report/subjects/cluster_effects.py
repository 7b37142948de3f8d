"""The effects of the cluster on a group: moves of its coordinator, and times in which what it reads had no leader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kafka_hindsight.catalog.rows import BrokerOutage, CoordinatorMove, Ownership, Unavailability
from kafka_hindsight.knowledge.outage_words import hedged_verb
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, Subject, is_shown, lasted, unused
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import phrases
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared import plain, words

MOMENTS = 40


@dataclass(frozen=True)
class ClusterEffects:
    """The effects of the cluster on a group of the window."""

    page: PageRows
    group: str

    @cached_property
    def moves(self) -> Sequence[CoordinatorMove]:
        """The moves of its coordinator, in order of time."""
        return self.page.rows_of(CoordinatorMove, "group_id", self.group)

    @cached_property
    def leaderless(self) -> list[Unavailability]:
        """The times in which a partition that one of its members owned had no leader."""
        return [
            row
            for topic in dict.fromkeys(o.topic for o in self._owned)
            for row in self.page.rows_of(Unavailability, "topic", topic)
            if row.kind in LEADERLESS and any(_meets(o, row) for o in self._owned)
        ]

    @cached_property
    def _owned(self) -> Sequence[Ownership]:
        return self.page.rows_of(Ownership, "group_id", self.group)

    def sentence(self) -> str:
        """The effects in one sentence; empty without any."""
        clauses = "; ".join(self._clauses())
        return f"{words.sentence(clauses)}." if clauses else ""

    def _clauses(self) -> Iterator[str]:
        outage = next(filter(None, map(self._outage_behind, self.moves)), None)
        if outage is not None:
            again = f", and it moved {words.times(len(self.moves))} in all" if self.moves[1:] else ""
            yield f"its coordinator, broker {outage.broker}, {hedged_verb(outage)}{again}"
        elif self.moves:
            yield f"its coordinator moved {words.times(len(self.moves))}"
        if (sums := unused(self.leaderless, LEADERLESS)).most:
            yield sums.clause(_partitions)

    def _outage_behind(self, move: CoordinatorMove) -> BrokerOutage | None:
        """The outage of the coordinator itself behind a move."""
        outages = self.page.rows_of(BrokerOutage, "outage_id", move.outage_id) if move.outage_id else ()
        return next((o for o in outages if o.broker == move.broker_from), None)

    def blocks(self) -> Iterator[ui.Block]:
        """Each effect as a line, in order of time; nothing without one."""
        moments: list[tuple[ui.At, ui.Words]] = [(ui.At(m.moved_at), self._move_words(m)) for m in self.moves]
        moments += [(ui.At(row.started_at), f"{_interval_words(row)}.") for row in self.leaderless]
        ordered = sorted(moments, key=lambda m: (m[0].instant is None, m[0].instant))
        if ordered:
            yield ui.List(tuple(ui.Item((at, "  ", what)) for at, what in ordered[:MOMENTS]), "moments")
        if ordered[MOMENTS:]:
            yield ui.Paragraph(f"{words.counted(len(ordered) - MOMENTS, 'more time')} in the lake.")

    def _move_words(self, move: CoordinatorMove) -> ui.Words:
        origin = f"from broker {move.broker_from} " if move.broker_from is not None else ""
        moved = f"Its coordinator moved {origin}to broker {move.broker_to}"
        outage = self._outage_behind(move)
        if outage is None:
            return f"{moved}."
        return (f"{moved}: ", ui.Link(phrases.outage_words(outage), plain.anchor("outage", outage.outage_id)), ".")


def _partitions(subjects: Sequence[Subject]) -> str:
    return f"{words.counted(len(subjects), 'partition')} that it reads"


def _meets(owned: Ownership, row: Unavailability) -> bool:
    is_same = (owned.topic, owned.partition) == (row.topic, row.partition)
    is_before_end = row.ended_at is None or owned.valid_from <= row.ended_at
    return is_same and is_before_end and row.started_at <= owned.valid_to


def _interval_words(row: Unavailability) -> str:
    name = phrases.partition_name(row.topic or "", row.partition or 0)
    had = "had" if is_shown(row) else "may have had"
    if row.ended_at is None:
        return f"{name} {had} no leader until the logs end"
    return " for ".join(filter(None, (f"{name} {had} no leader", lasted(row))))
