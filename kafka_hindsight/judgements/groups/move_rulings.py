"""What each move of a coordinator did to its group."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest

from kafka_hindsight.catalog.codes import MoveEffect, Outcome
from kafka_hindsight.catalog.rows import CoordinatorMove, Rebalance
from kafka_hindsight.judgements.groups.group_incidents import BROKER_INDUCED_CAUSES
from kafka_hindsight.judgements.reasoning.proofs import Proof, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Likely, Ruling, decide
from kafka_hindsight.judgements.reasoning.timelines import Timeline, timelines
from kafka_hindsight.shared.durations import COORDINATOR_LOADING, OUTAGE_SHADOW


@dataclass(frozen=True)
class Moved:
    """One move of a coordinator, with the rebalances beside it.

    `until`: how long it may have an effect. `before`: the former coordinator's last rebalance that began before the
    move; `after`: the new coordinator's first one within that time that a broker accounts for. `observed_to`: until
    when brokers' lines reach.
    """

    move: CoordinatorMove
    until: datetime
    observed_to: datetime
    before: Rebalance | None
    after: Rebalance | None


def it_interrupted_a_rebalance(case: Moved) -> Proof | None:
    """The former coordinator's last rebalance was under way, and ended with the move, after it, or not at all."""
    last = case.before
    if last is None or last.outcome not in (Outcome.INTERRUPTED, Outcome.UNFINISHED):
        return None
    is_open = last.ended_at is None or last.ended_at >= case.move.moved_at - COORDINATOR_LOADING
    return Proof(facts={"rebalance_id": last.rebalance_id}) if is_open else None


def the_new_coordinator_began_one(case: Moved) -> Proof | None:
    """The new coordinator began a rebalance that a broker accounts for before a session could run out."""
    return None if case.after is None else Proof(facts={"rebalance_id": case.after.rebalance_id})


def the_lines_reach_far_enough(case: Moved) -> Proof | None:
    """The brokers' lines reach to the next move, or until a session could have run out."""
    return proof_if(case.until <= case.observed_to)


_SOURCE = "GroupCoordinator.onElection and onResignation"

MOVE_RULINGS: tuple[Ruling[Moved], ...] = (
    Likely(
        MoveEffect.CUT_SHORT,
        "The former coordinator did not finish the rebalance that ran.",
        proof=(it_interrupted_a_rebalance,),
        source=_SOURCE,
        cases=("made: a rebalance runs while the coordinator moves", "made: the new coordinator removes a member"),
    ),
    Likely(
        MoveEffect.REBALANCED,
        "The new coordinator began a rebalance for a reason that a broker accounts for.",
        proof=(the_new_coordinator_began_one,),
        source=_SOURCE,
        cases=("made: the new coordinator removes a member", "made: a member joins after the move"),
    ),
    Likely(
        MoveEffect.NONE,
        "No rebalance followed from the move.",
        proof=(the_lines_reach_far_enough,),
        source=_SOURCE,
        cases=("night-4.1 audit-static-4 01:50:38.369", "made: the new coordinator removes a member"),
    ),
)
"""None of them holds where the lines end too early: then the effect is not known."""


Begun = Mapping[int | None, Timeline[Rebalance]]


def add_effects(
    moves: Iterable[CoordinatorMove], rebalances: Iterable[Rebalance], observed_to: datetime
) -> list[CoordinatorMove]:
    """Rows of gold.coordinator_moves of one group with the effect of each move.

    Gives: `effect` by MOVE_RULINGS, with the rebalance that shows it. Of several moves the last one before a rebalance
    began it.
    """
    ordered = sorted(moves, key=lambda m: m.moved_at)
    begun = _by_coordinator(sorted(rebalances, key=lambda r: r.rebalance_id))
    induced = _by_coordinator(r for rows in begun.values() for r in rows if r.cause in BROKER_INDUCED_CAUSES)
    none = Timeline[Rebalance]((), at=lambda r: r.started_at)
    rows = []
    for move, following in zip_longest(ordered, ordered[1:]):
        at = move.moved_at
        until = min(following.moved_at if following else at + OUTAGE_SHADOW, at + OUTAGE_SHADOW)
        before = begun.get(move.broker_from, none).last_before(at)
        after = [*induced.get(move.broker_to, none).between(at - COORDINATOR_LOADING, until)[:1], None][0]
        verdict = decide(MOVE_RULINGS, Moved(move, until, observed_to, before, after))
        effect = MoveEffect(verdict.code) if verdict else None
        rows.append(replace(move, effect=effect, rebalance_id=verdict.facts.get("rebalance_id") if verdict else None))
    return rows


def _by_coordinator(rebalances: Iterable[Rebalance]) -> Begun:
    return timelines(rebalances, lambda r: r.coordinator, lambda r: r.started_at)
