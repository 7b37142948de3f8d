"""What the time between a storm's rebalances resembles."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from statistics import median

from kafka_hindsight.catalog.codes import Cause, Fingerprint, Protocol
from kafka_hindsight.catalog.rows import Rebalance
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

ON_THE_CLOCK = timedelta(seconds=3)

CRON_MINUTES = (60, 30, 20, 15, 12, 10, 6, 5, 4, 3, 2, 1)
"""Whole minutes that divide the hour: the steps in which schedulers repeat themselves."""


def session_runs_out_after_each_join(storm: Storm) -> Proof | None:
    """Members are removed one session timeout after the rebalance before."""
    removals = _after_the_last(storm, Cause.HEARTBEAT_EXPIRED, Cause.MEMBER_DEAD)
    return _waits_as_long_as([(wait, r.session_timeout_ms) for wait, r in removals])


def poll_interval_runs_out_after_each_join(storm: Storm) -> Proof | None:
    """Members are removed one max.poll.interval.ms after the rebalance before."""
    removals = _after_the_last(storm, Cause.MAX_POLL_EXCEEDED)
    return _waits_as_long_as([(wait, r.rebalance_timeout_ms) for wait, r in removals])


def shows_a_rhythm(storm: Storm) -> Proof | None:
    """Four rebalances or more drive the loop."""
    return Proof() if len(storm.driving) >= MIN_DRIVING else None


def repeats_by_the_clock(storm: Storm) -> Proof | None:
    """They begin at the same minute and second of every hour, or of every equal part of an hour."""
    for minutes in CRON_MINUTES:
        step = minutes * 60.0
        phases = [at.timestamp() % step for at in storm.times]
        off = [(p - phases[0] + step / 2) % step - step / 2 for p in phases]
        apart = all((b - a).total_seconds() > step / 2 for a, b in pairwise(storm.times))
        if apart and max(off) - min(off) <= ON_THE_CLOCK.total_seconds():
            minute, second = divmod(int(min(phases)), 60)
            when = f"second {second}" if minutes == 1 else f"minute {minute}, second {second}"
            return Proof(words={"minutes": minutes, "when": when})
    return None


def repeats_steadily(storm: Storm) -> Proof | None:
    """Half of the intervals between them differ from their median by a fifth of it at most."""
    middle, spread = _middle(_intervals(storm))
    return Proof(words=_words(middle, spread)) if spread <= STEADY_SPREAD * middle else None


def repeats_at_any_time(storm: Storm) -> Proof | None:
    """In every other case."""
    return Proof(words=_words(*_middle(_intervals(storm))))


def _words(middle: float, spread: float) -> dict[str, str]:
    return {"interval": duration(middle), "spread": duration(spread)}


def _after_the_last(storm: Storm, *causes: Cause) -> list[tuple[float, Rebalance]]:
    """A classic storm's rebalances with these causes, each with the time in ms since the one before had ended.

    Edge case: KIP-848 is left out, because there not every member takes part in each rebalance.
    """
    return [
        ((unit[0].started_at - before[-1].ended_at) / MS, unit[0])
        for before, unit in pairwise(storm.units)
        if before[-1].ended_at is not None and unit[0].protocol == Protocol.CLASSIC and unit[0].cause in causes
    ]


def _waits_as_long_as(removals: Sequence[tuple[float, int | None]]) -> Proof | None:
    """Removals as long after the rebalance before as their limit is: each member was alive when that one ended.

    Edge case: a removal comes later than the session timeout by the time from the join to the last heartbeat.
    """
    known = [(wait, limit) for wait, limit in removals if limit]
    if len(known) < STORM_REMOVALS:
        return None
    limit = median(limit for _, limit in known)
    if median(abs(wait - limit) for wait, limit in known) > max(HEARTBEAT_INTERVAL / MS, LIMIT_SPREAD * limit):
        return None
    middle, spread = _middle([wait for wait, _ in known])
    return Proof(words={"wait": duration(middle), "spread": duration(spread), "limit": duration(limit)})


def _intervals(storm: Storm) -> list[float]:
    return [(b - a) / MS for a, b in pairwise(storm.times)]


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
        Fingerprint.POLL_INTERVAL,
        LIKELY,
        "Its removals come {wait} after the rebalance before (median; half of them within {spread} of it), and"
        " max.poll.interval.ms is {limit}: members are stuck with the first records that they get.",
        proof=(poll_interval_runs_out_after_each_join,),
        source="max.poll.interval.ms of ConsumerConfig, KIP-62; docs/adr/0014-harm-first.md",
        decides="made: a member that never polls again",
        looks_alike="made: the same intervals with a limit of 60 s",
    ),
    Ruling(
        Fingerprint.CRON,
        LIKELY,
        "It repeats by the clock, every {minutes} min at {when}, like a scheduled job.",
        proof=(shows_a_rhythm, repeats_by_the_clock),
        source="docs/adr/0014-harm-first.md",
        decides="made: a removal every five minutes",
        looks_alike="made: a removal every 311 s",
    ),
    Ruling(
        Fingerprint.STEADY,
        LIKELY,
        "The rebalances that drive it come {interval} apart (median; half of the intervals within {spread} of it),"
        " like a loop of restarts.",
        proof=(shows_a_rhythm, repeats_steadily),
        source="docs/adr/0014-harm-first.md",
        decides="groups/storm-2.8 billing-storm-8",
        looks_alike="made: removals at odd times",
    ),
    Ruling(
        Fingerprint.IRREGULAR,
        LIKELY,
        "It has no steady interval: the rebalances that drive it come {interval} apart (median; half of the intervals"
        " within {spread} of it).",
        proof=(shows_a_rhythm, repeats_at_any_time),
        source="docs/adr/0014-harm-first.md",
        decides="made: removals at odd times",
        looks_alike="made: a removal every 311 s",
    ),
)
"""Order: a limit of the clients before the clock, and the clock before any steady interval: each shows more."""
