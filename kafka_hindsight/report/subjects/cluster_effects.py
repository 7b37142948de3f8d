"""The effects of the cluster on a group: moves of its coordinator, lost leaders, refused commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from kafka_hindsight.catalog.codes import Confidence, OutageKind
from kafka_hindsight.catalog.rows import BrokerOutage, CoordinatorMove, Ownership, Unavailability
from kafka_hindsight.knowledge.commit_errors import is_of_the_cluster
from kafka_hindsight.knowledge.outage_words import hedged_verb
from kafka_hindsight.measures.unavailability_sums import LEADERLESS, Subject, is_noticed, is_shown, lasted, unused
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report import phrases
from kafka_hindsight.report.page_rows import FailedCommits, PageRows
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
    def refused_commits(self) -> list[FailedCommits]:
        """The commits that brokers refused because of their own state."""
        rows = self.page.rows_of(FailedCommits, "group_id", self.group)
        return [row for row in rows if is_of_the_cluster(row.error)]

    @property
    def is_hit(self) -> bool:
        """Whether the cluster did more to the group than to move its coordinator in order."""
        is_lost = any(o.kind != OutageKind.CONTROLLED_SHUTDOWN for o in self._outages)
        return is_lost or bool(self.refused_commits or unused(self.leaderless, LEADERLESS).most)

    @property
    def confidence(self) -> Confidence:
        """The least sure of the outages of its coordinator, and of the times without a leader."""
        rows: list[BrokerOutage | Unavailability] = [*self._outages, *filter(is_noticed, self.leaderless)]
        return Confidence.least(row.confidence for row in rows)

    @cached_property
    def _outages(self) -> list[BrokerOutage]:
        """The outages of its coordinator, each behind a move that its members felt."""
        return [o for o in map(self._outage_behind, self._felt_moves) if o]

    @cached_property
    def _owned(self) -> Sequence[Ownership]:
        return self.page.rows_of(Ownership, "group_id", self.group)

    @cached_property
    def _felt_moves(self) -> list[CoordinatorMove]:
        """The moves while its members owned partitions; all of them where no evidence shows its owners."""
        return [m for m in self.moves if self._is_felt(m)]

    def _is_felt(self, move: CoordinatorMove) -> bool:
        outage = self._outage_behind(move)
        since = outage.down_at if outage else move.moved_at
        return not self._owned or any(o.valid_from <= move.moved_at and since <= o.valid_to for o in self._owned)

    def sentence(self) -> str:
        """The effects in one sentence; empty without any."""
        return f"{words.sentence(clause)}." if (clause := self.clause()) else ""

    def clause(self) -> str:
        """The effects in one clause, to follow a colon; empty without any."""
        return "; ".join(self._clauses())

    def _clauses(self) -> Iterator[str]:
        moves = self._felt_moves
        if outage := next(iter(self._outages), None):
            again = f", and it moved {words.times(len(moves))} in all" if moves[1:] else ""
            at = words.instant(outage.down_at, self.page.day)
            yield f"its coordinator, broker {outage.broker}, {hedged_verb(outage)} at {at}{again}"
        elif moves:
            yield f"its coordinator moved {words.times(len(moves))}"
        if (sums := unused(self.leaderless, LEADERLESS)).most:
            yield sums.clause(_partitions)
        if refused := sum(row.commits for row in self.refused_commits):
            yield f"{words.counted(refused, 'of its commits', 'of its commits')} failed"

    def _outage_behind(self, move: CoordinatorMove) -> BrokerOutage | None:
        """The outage of the coordinator itself behind a move."""
        outages = self.page.rows_of(BrokerOutage, "outage_id", move.outage_id) if move.outage_id else ()
        return next((o for o in outages if o.broker == move.broker_from), None)

    def blocks(self) -> Iterator[ui.Block]:
        """Each effect as a line, in order of time; nothing without one."""
        moments: list[tuple[ui.At, ui.Words]] = [(ui.At(m.moved_at), self._move_words(m)) for m in self.moves]
        moments += [(ui.At(row.started_at), f"{_interval_words(row)}.") for row in self.leaderless]
        moments += [(ui.At(row.first_at), _commit_words(row)) for row in self.refused_commits]
        ordered = sorted(moments, key=lambda m: (m[0].instant is None, m[0].instant))
        if ordered:
            yield ui.List(tuple(ui.Item((at, "  ", what)) for at, what in ordered[:MOMENTS]), "moments")
        if ordered[MOMENTS:]:
            yield ui.Paragraph(f"{words.counted(len(ordered) - MOMENTS, 'more time')} in the lake.")

    def _move_words(self, move: CoordinatorMove) -> ui.Words:
        origin = f"from broker {move.broker_from} " if move.broker_from is not None else ""
        idle = "" if self._is_felt(move) else ", when no member owned a partition"
        moved = f"Its coordinator moved {origin}to broker {move.broker_to}{idle}"
        outage = self._outage_behind(move)
        if outage is None:
            return f"{moved}."
        return (f"{moved}: ", ui.Link(phrases.outage_words(outage), plain.anchor("outage", outage.outage_id)), ".")


def _commit_words(row: FailedCommits) -> str:
    whose = f" of {plain.shortened(row.client_id, 48)}" if row.client_id else ""
    return f"{words.counted(row.commits, 'commit')}{whose} failed: {plain.shortened((row.error or '').rstrip('.'))}."


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
