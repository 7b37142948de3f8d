"""What the move of a coordinator did to its group."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kafka_hindsight.catalog.codes import MoveEffect, Outcome
from kafka_hindsight.catalog.rows import CoordinatorMove, Rebalance
from kafka_hindsight.judgements.reasoning.rulings import LIKELY, Proof, Ruling, proof_if
from kafka_hindsight.shared.durations import COORDINATOR_LOADING


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
    Ruling(
        MoveEffect.CUT_SHORT,
        LIKELY,
        "The former coordinator did not finish the rebalance that ran.",
        proof=(it_interrupted_a_rebalance,),
        source=_SOURCE,
        decides="made: a rebalance runs while the coordinator moves",
        looks_alike="made: the new coordinator removes a member",
    ),
    Ruling(
        MoveEffect.REBALANCED,
        LIKELY,
        "The new coordinator began a rebalance for a reason that a broker accounts for.",
        proof=(the_new_coordinator_began_one,),
        source=_SOURCE,
        decides="made: the new coordinator removes a member",
        looks_alike="made: a member joins after the move",
    ),
    Ruling(
        MoveEffect.NONE,
        LIKELY,
        "No rebalance followed from the move.",
        proof=(the_lines_reach_far_enough,),
        source=_SOURCE,
        decides="night-4.1 audit-static-4 01:50:38.369",
        looks_alike="made: the new coordinator removes a member",
    ),
)
"""None of them holds where the lines end too early: then the effect is not known."""
