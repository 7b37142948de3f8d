"""What the time between a storm's rebalances resembles."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from kafka_hindsight.catalog.codes import Cause, Fingerprint, Protocol
from kafka_hindsight.judgements.groups.storms import STORM_REMOVALS, Storm
from kafka_hindsight.judgements.reasoning.rulings import LIKELY, Proof, Ruling
from kafka_hindsight.shared.durations import HEARTBEAT_INTERVAL, MS
from kafka_hindsight.shared.words import duration

MIN_DRIVING = 4
"""Fewer have too few intervals between them to show a rhythm."""

STEADY_SPREAD = 0.2
"""Half of the intervals lie within a fifth of their median.
Source: a coefficient of variation below 0.2, as proposed for storms in docs/adr/0014-harm-first.md."""

LIMIT_SPREAD = 0.1


def session_runs_out_after_each_join(storm: Storm) -> Proof | None:
    """Members are removed one session timeout after the rebalance before.

    Each member was alive when that one ended. Edge case: a removal comes later than the session timeout by the time
    from the join to the last heartbeat. KIP-848 is left out: there not every member takes part in each rebalance.
    """
    known = [
        ((unit[0].started_at - before[-1].ended_at) / MS, unit[0].session_timeout_ms)
        for before, unit in pairwise(storm.units)
        if before[-1].ended_at is not None
        and unit[0].protocol == Protocol.CLASSIC
        and unit[0].cause in (Cause.HEARTBEAT_EXPIRED, Cause.MEMBER_DEAD)
        and unit[0].session_timeout_ms
    ]
    if len(known) < STORM_REMOVALS:
        return None
    limit = median(limit for _, limit in known)
    if median(abs(wait - limit) for wait, limit in known) > max(HEARTBEAT_INTERVAL / MS, LIMIT_SPREAD * limit):
        return None
    middle, spread = _middle([wait for wait, _ in known])
    return Proof(words={"wait": duration(middle), "spread": duration(spread), "limit": duration(limit)})


def shows_a_rhythm(storm: Storm) -> Proof | None:
    """Four rebalances or more drive the loop."""
    return Proof() if len(storm.driving) >= MIN_DRIVING else None


def repeats_steadily(storm: Storm) -> Proof | None:
    """Half of the intervals between them differ from their median by a fifth of it at most."""
    middle, spread = _middle([(b - a) / MS for a, b in pairwise(r.started_at for r in storm.driving)])
    words = {"interval": duration(middle), "spread": duration(spread)}
    return Proof(words=words) if spread <= STEADY_SPREAD * middle else None


def _middle(values: Sequence[float]) -> tuple[float, float]:
    """The median, and the median distance from it."""
    middle = median(values)
    return middle, median(abs(v - middle) for v in values)


FINGERPRINTS: tuple[Ruling[Storm], ...] = (
    Ruling(
        Fingerprint.SESSION_TIMEOUT,
        LIKELY,
        "Its removals come {wait} after the rebalance before (median; half of them within {spread} of it), and the"
        " session timeout is {limit}: members fall silent as soon as they have joined.",
        proof=(session_runs_out_after_each_join,),
        source="session.timeout.ms and heartbeat.interval.ms of ConsumerConfig; docs/adr/0014-harm-first.md",
        decides="made: a member that dies as soon as it has joined",
        looks_alike="made: the same intervals with a session timeout of 10 s",
    ),
    Ruling(
        Fingerprint.STEADY,
        LIKELY,
        "The rebalances that drive it come {interval} apart (median; half of the intervals within {spread} of it),"
        " like a loop of restarts.",
        proof=(shows_a_rhythm, repeats_steadily),
        source="docs/adr/0014-harm-first.md",
        decides="groups/storm-2.8 billing-storm-8",
        looks_alike="made: three removals, too few for a rhythm",
    ),
)
"""Order: a limit of the clients before any steady interval, because it shows more."""
