"""What a replay under another setting would have avoided, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafka_hindsight.catalog.codes import RemedySetting
from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.judgements.groups.costs import Stop, cost_of
from kafka_hindsight.judgements.reasoning.rulings import CERTAIN, LIKELY, POSSIBLE, Proof, Ruling
from kafka_hindsight.shared.words import counted

WORTH_REPORTING = 1.0
"""Fewer partition-seconds than this in a window are not worth a change."""


@dataclass(frozen=True)
class Replayed:
    """The replay of one group's window under one setting.

    `now`, `smallest`: the value in use, in ms, and the smallest that avoids whatever any value avoids. `avoided`: the
    rebalances that it avoids, of `inside`, all of the window. `helped`: how many absences it bridges.
    """

    inside: Sequence[Rebalance]
    stops: Mapping[str, Stop]
    avoided: Sequence[Rebalance] = ()
    now: int | None = None
    smallest: int = 0
    helped: int = 0

    @property
    def spared(self) -> list[tuple[Rebalance, Stop, float]]:
        """The eager rebalances with what their partitions cost that stayed with their member, in partition-seconds."""
        stops = ((r, self.stops[r.rebalance_id]) for r in self.inside)
        return [(r, stop, cost) for r, stop in stops if stop.is_eager and (cost := cost_of(r, stop.kept))]


def rebalances_are_avoided(case: Replayed) -> Proof | None:
    """A longer time-out avoids rebalances with all that fell into them."""
    if not case.avoided:
        return None
    is_likely = all(r.confidence in (CERTAIN, LIKELY) for r in case.avoided)
    now, needed = case.now, case.smallest
    in_use, noticed = "if the session timeout is not shorter", ""
    if now is not None:
        noticed = f"; a member that died would have been noticed {_seconds(needed - now)} later"
        would = f"which the session timeout would have had to be (now {_seconds(now)})"
        in_use = f"and the session timeout is {_seconds(now)}" if now >= needed else would
    words = {
        "avoids": f"would have avoided {len(case.avoided)} of {counted(len(case.inside), 'rebalance')}",
        "value": _seconds(needed),
        "instead_of": "" if now is None else f" (now {_seconds(now)})",
        "in_use": in_use,
        "noticed": noticed,
        "restarts": counted(case.helped, "restart"),
        "silences": f"{counted(case.helped, 'silence')} {'was' if case.helped == 1 else 'were'}",
        "times": counted(case.helped, "time"),
    }
    return Proof(words=words, confidence=LIKELY if is_likely else POSSIBLE)


def partitions_stopped_in_vain(case: Replayed) -> Proof | None:
    """Eager rebalances stopped partitions that stayed with their member, for a partition-second or more.

    Edge case: a sticky assignor moves no more than an eager one did, so that this is the least that it would have
    spared. Source: KIP-429.
    """
    seconds = round(sum(cost for _, _, cost in case.spared), 3)
    if seconds < WORTH_REPORTING:
        return None
    words = {
        "seconds": f"{seconds:,.1f}",
        "paid": f"{sum(r.partition_seconds or 0 for r in case.inside):,.1f}",
        "rebalances": counted(len(case.spared), "rebalance"),
    }
    quotes = tuple(quote for _, stop, _ in case.spared for quote in stop.quotes)
    return Proof(quotes, words, {"partition_seconds_avoided": seconds})


def _seconds(ms: int) -> str:
    """Never less than it is."""
    return f"{math.ceil(ms / 1000):,} s"


STATIC_MEMBERSHIP: tuple[Ruling[Replayed], ...] = (
    Ruling(
        RemedySetting.STATIC_MEMBERSHIP,
        LIKELY,
        "Static membership {avoids}: {restarts} took less than {value}, {in_use}.",
        proof=(rebalances_are_avoided,),
        source="KIP-345",
        decides="groups/deployment-4.1 billing-deploy-9",
        looks_alike="groups/pause-4.1 ads-etl-1",
    ),
)

SESSION_TIMEOUT: tuple[Ruling[Replayed], ...] = (
    Ruling(
        RemedySetting.SESSION_TIMEOUT,
        LIKELY,
        "A session timeout of {value}{instead_of} {avoids}: {silences} shorter{noticed}.",
        proof=(rebalances_are_avoided,),
        source="KIP-735; session.timeout.ms of ConsumerConfig",
        decides="groups/pause-4.1 ads-etl-1",
        looks_alike="groups/deployment-4.1 billing-deploy-9",
    ),
)

MAX_POLL_INTERVAL: tuple[Ruling[Replayed], ...] = (
    Ruling(
        RemedySetting.MAX_POLL_INTERVAL,
        LIKELY,
        "A max.poll.interval.ms of {value}{instead_of} {avoids}: {times} a member took less than that between two"
        " polls.",
        proof=(rebalances_are_avoided,),
        source="KIP-62; max.poll.interval.ms of ConsumerConfig",
        decides="groups/slow-librdkafka-4.1 geo-py-5",
        looks_alike="groups/pause-4.1 ads-etl-1",
    ),
)

COOPERATIVE_ASSIGNMENT: tuple[Ruling[Replayed], ...] = (
    Ruling(
        RemedySetting.COOPERATIVE_ASSIGNMENT,
        LIKELY,
        "A cooperative assignor would have avoided no rebalance, but {seconds} of {paid} partition-seconds: in"
        " {rebalances} partitions stopped that stayed with their member.",
        proof=(partitions_stopped_in_vain,),
        source="KIP-429",
        decides="groups/grown-2.8 email-grow-5",
        looks_alike="groups/pause-4.1 ads-etl-1",
    ),
)
