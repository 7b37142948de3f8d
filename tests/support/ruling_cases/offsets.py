"""The cases of the rulings on jumps of offsets."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.judgements.offsets.jump_rulings import JUMP_RULINGS
from kafka_hindsight.judgements.offsets.log_changes import DELETE_RECORDS, LogCut, LogHistory
from kafka_hindsight.judgements.offsets.marks import Sign
from kafka_hindsight.judgements.offsets.moves import Move
from kafka_hindsight.shared.timelines import Timeline
from tests.support.offsets import (
    GIVES_BACK,
    KEY,
    at,
    began,
    ended,
    event,
    excerpt_jumps,
    mark,
    moves,
    owned,
    recorded,
    removal,
)
from tests.support.rulings import Decided, RulingCases, writers_of

_GONE = (
    mark(0, Sign.RESUMED, 50),
    mark(60, Sign.NOTHING_COMMITTED, client="b"),
    mark(60.1, Sign.RESET, 0, client="b"),
)
CUT_TO_50 = LogHistory(
    Timeline((), lambda s: s.at), Timeline([LogCut(KEY, at(-30), 50, [mark(-30, Sign.READ).quote])], lambda c: c.at)
)
_LOWER = (mark(0, Sign.RESUMED, 50), mark(60, Sign.RESUMED, 20, client="b"))

MADE: dict[str, Callable[[], list[Move]]] = {
    "no broker's log": lambda: moves(mark(0, Sign.OUT_OF_RANGE, 50), mark(0.1, Sign.RESET, 120)),
    "offsets deleted": lambda: moves(
        *_GONE, removals=[removal(30, Kind.OFFSETS_DELETED)]
    ),
    "no coordinator's log": lambda: moves(*_GONE),
    "reset between two owners": lambda: moves(*_LOWER, lines=[event(30, Kind.CLIENT_REVOKED, detail="orders-0")]),
    "a commit is lost": lambda: moves(*_LOWER),
    "the log begins later and no line shows why": lambda: moves(
        mark(0, Sign.READ, 50, has_members=False), owners=[owned(-60, -1)], starts=[began(30, 90)]
    ),
    "a cut that the client did not see": lambda: moves(
        mark(0, Sign.OUT_OF_RANGE, 90), mark(0.1, Sign.RESET, 50), log=CUT_TO_50
    ),
    "records deleted while no member reads": lambda: moves(
        mark(0, Sign.READ, 50, has_members=False), owners=[owned(-60, -1)], starts=[began(30, 90, DELETE_RECORDS)]
    ),
    "a crash while offsets of others go": lambda: moves(
        mark(0, Sign.RESUMED, 50), mark(60, Sign.RESUMED, 50, client="b"),
        lines=[event(30, Kind.CLIENT_LOST, detail="orders-0")], ends=[ended(40, 90)],
        removals=[removal(60, kind) for kind in (Kind.GROUPS_DELETED, Kind.OFFSETS_DELETED, Kind.OFFSETS_EXPIRED)],
    ),
    "a lower commit after a lost owner": lambda: moves(
        *_LOWER, lines=[event(30, Kind.CLIENT_LOST, detail="orders-0")]
    ),
    "a lower commit after a cooperative handover": lambda: moves(*_LOWER, lines=GIVES_BACK),
    "a reset that readings show": lambda: moves(
        mark(0, Sign.READ, 50, has_members=True), mark(9, Sign.READ, 50, has_members=False),
        mark(18, Sign.READ, 9, has_members=False), mark(60, Sign.RESUMED, 9, client="b"),
    ),
    "a reset while offsets of others expire": lambda: moves(
        recorded(0, Sign.COMMITTED, 50, has_members=True), recorded(30, Sign.COMMITTED, 9, has_members=False),
        mark(60, Sign.RESUMED, 9, client="b"), removals=[removal(45, Kind.OFFSETS_EXPIRED)], has_commits=True,
    ),
    "a crash without a reading": lambda: moves(
        mark(0, Sign.RESUMED, 50), mark(60, Sign.RESUMED, 50, client="b"),
        lines=[event(30, Kind.CLIENT_LOST, detail="orders-0")], ends=[ended(40, 90)],
    ),
}  # fmt: skip


@cache
def decisions_on(case: str) -> list[Decided]:
    """What was decided of a made case, or of a group (or a partition) of an excerpt, with or without clients' logs."""
    if case.startswith("made: "):
        decided = []
        for move in MADE[case.removeprefix("made: ")]():
            ruling, verdict = next((r, v) for r in JUMP_RULINGS if (v := r.decide(move)) is not None)
            decided.append(Decided(ruling, verdict.code, verdict.confidence, verdict.sentence))
        return decided
    excerpt, _, of_excerpt = case.partition(" ")
    place, _, without = of_excerpt.partition(" without ")
    group, _, partition = place.partition(" ")
    jumps = excerpt_jumps("clients", excerpt=excerpt) if without else excerpt_jumps(excerpt=excerpt)
    rows = (j for j in jumps[group] if partition in ("", str(j.partition)))
    return [d for j in rows for d in writers_of(JUMP_RULINGS, j.cause, j.confidence, j.explanation)[:1]]


CASES = (
    RulingCases(
        "offsets",
        JUMP_RULINGS,
        decisions_on,
        MADE,
        [
            ("made: a crash while offsets of others go", "crash_before_commit", "possible"),
            ("made: a lower commit after a lost owner", "commit_lost", "possible"),
            ("made: a lower commit after a cooperative handover", "reset_by_administrator", "likely"),
            ("made: a reset while offsets of others expire", "reset_by_administrator", "certain"),
            ("made: a reset that readings show", "reset_by_administrator", "likely"),
            ("made: a crash without a reading", "crash_before_commit", "possible"),
            ("made: records deleted while no member reads", "records_deleted", "likely"),
        ],
        caches=[decisions_on, excerpt_jumps],
    ),
)
