"""With less evidence nothing wrong becomes certain: pieces of a recorded night, and of a month of it, are taken out.

NIGHT_CUTS, MONTH_CUTS and MONTH_DAYS in the environment say how often, and how long a month is.
"""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import cache, lru_cache, reduce
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kafka_hindsight.catalog.rows import BrokerOutage, Failover
from kafka_hindsight.measures.time_away import since_when, starts_exactly
from lab.answers import WRONG
from lab.drill.absences import Away, away_of
from lab.drill.month import acts_of, agreement
from lab.drill.truth import read_truth
from tests.support.less_evidence import Night, night_of, random_cuts
from tests.support.logs import unpack_night
from tests.support.months import DAY, month_of, random_losses

pytestmark = pytest.mark.long

Case = tuple[str, int]
"""What is cut, night or month, and the seed of the cuts."""

CASES = [
    *(("night", seed) for seed in range(int(os.environ.get("NIGHT_CUTS", 25)))),
    *(("month", seed) for seed in range(int(os.environ.get("MONTH_CUTS", 1)))),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}", scope="module")
DAYS = int(os.environ.get("MONTH_DAYS", 3))
ROWS_BEFORE = timedelta(seconds=9)
"""How long before its detection an absence may begin: a session."""

_SERVES = re.compile(
    r"\] Leader \S+ with topic id \S+ starts at leader epoch|Stabilized group|Preparing to rebalance group"
    r"|Finished loading of metadata|Loaded new metadata"
)
"""Words that only a broker writes which serves. This reader knows nothing of patterns and kinds."""

_BROKER = re.compile(r"\[(?:Broker id=|GroupCoordinator id=)(\d+)")


@cache
def recorded() -> tuple[Night, dict[str, list[Away]]]:
    """The night, and when its brokers were away by what was done to them, in the night and in the month."""
    with TemporaryDirectory() as unpacked:
        folder = unpack_night(Path(unpacked))
        away = {kind: away_of(read_truth(acts_of(folder, range(d)))) for kind, d in (("night", 1), ("month", DAYS))}
        return night_of(folder / "logs"), away


@cache
def whole(kind: str) -> Night:
    night, _ = recorded()
    return month_of(night, DAYS) if kind == "month" else night


@lru_cache(maxsize=4)
def cut(case: Case) -> Night:
    kind, seed = case
    cuts = random_cuts(whole(kind), seed) if kind == "night" else random_losses(whole(kind), seed)
    return reduce(lambda night, piece: night.without(piece), cuts, whole(kind))


def signs_of_life(night: Night) -> list[tuple[int, datetime]]:
    """Each broker, and when it showed that it served, by the words of its own lines."""
    lines = ((_BROKER.search(e.text), e.happened_at) for e in night.events if _SERVES.search(e.text))
    return [(int(match[1]), at) for match, at in lines if match]


def is_same_outage(claim: BrokerOutage, truth: BrokerOutage, end: datetime) -> bool:
    """Whether a claim is of an absence, and its bounds hold it. `end`: the last line that is left."""
    begins = claim.broker == truth.broker and abs(claim.down_at - truth.down_at) <= timedelta(seconds=20)
    if claim.up_at is None or truth.up_at is None:
        return begins and claim.up_at is None and (truth.up_at is None or truth.up_at >= end - timedelta(minutes=2))
    lasted = (truth.up_at - truth.down_at) // timedelta(milliseconds=1)
    return begins and claim.away_low_ms - 1000 <= lasted and (claim.up_at - truth.up_at) >= timedelta(seconds=-1)


def test_each_night_of_a_month_has_the_outages_of_the_night_alone() -> None:
    alone = [(o.broker, o.kind, o.down_at) for o in whole("night").outages]
    days = [(o.broker, o.kind, o.down_at) for o in whole("month").outages]
    assert sorted(days) == sorted((b, kind, at + day * DAY) for b, kind, at in alone for day in range(DAYS))


@each_case
def test_no_certain_outage_contradicts_what_happened(case: Case) -> None:
    left = cut(case)
    end = left.window.end
    for claim in left.outages:
        if claim.confidence == "certain":
            truths = [t for t in whole(case[0]).outages if is_same_outage(claim, t, end)]
            assert claim.kind in [t.kind for t in truths], (claim.broker, claim.down_at, claim.up_at, claim.explanation)


@each_case
def test_each_outage_agrees_with_what_was_done(case: Case) -> None:
    agreed = agreement([asdict(claim) for claim in cut(case).outages], recorded()[1][case[0]])
    print(case, dict(agreed.counts))
    assert not [row for row, answer in agreed.answers if answer.outcome == WRONG]


def late_starts(left: Night, truths: list[BrokerOutage]) -> list[tuple[int, datetime]]:
    """The absences that are said to have certainly begun at an instant, and at which the broker had long been away."""
    exact = [truth for truth in truths if starts_exactly(truth)]
    return [
        (claim.broker, claim.down_at)
        for claim in left.outages
        if claim.confidence == "certain" and starts_exactly(claim)
        for truth in exact
        if _was_away(truth, claim.broker, claim.down_at) and claim.down_at - truth.down_at > timedelta(seconds=2)
    ]


def _was_away(truth: BrokerOutage, broker: int, at: datetime) -> bool:
    return truth.broker == broker and truth.down_at <= at and (truth.up_at is None or at <= truth.up_at)


def test_failure_of_broker_that_has_just_started_does_not_show_since_when() -> None:
    """Broker 2 comes back while broker 1 is away. Where broker 3 and its controller have no log, it alone misses it."""
    night = whole("night")
    left = night.without(lambda file: [] if file[0].source.startswith("broker-3/") else [file])
    assert late_starts(left, night.outages) == []
    [crash] = [o for o in left.outages if o.broker == 1 and o.unreachable_at is None and o.kind == "crash"]
    assert since_when(crash, crash.down_at.date()) == "after 01:52:35"


@each_case
def test_absence_that_certainly_began_at_an_instant_began_then(case: Case) -> None:
    assert late_starts(cut(case), whole(case[0]).outages) == []


@each_case
def test_no_certain_change_of_controller_contradicts_what_happened(case: Case) -> None:
    truths = {c.epoch: (c.controller_from, c.controller_to, c.explanation) for c in whole(case[0]).controller_changes}
    for claim in cut(case).controller_changes:
        if claim.confidence == "certain":
            assert (claim.controller_from, claim.controller_to, claim.explanation) == truths[claim.epoch]


@each_case
def test_no_certain_failover_contradicts_what_happened(case: Case) -> None:
    def key(f: Failover) -> tuple[object, ...]:
        return f.topic, f.partition, f.topic_incarnation, f.epoch_to

    truths = {key(f): (f.leader_from, f.leader_to, f.kind) for f in whole(case[0]).failovers}
    for claim in cut(case).failovers:
        if claim.confidence == "certain":
            assert (claim.leader_from, claim.leader_to, claim.kind) == truths[key(claim)], claim.explanation


@each_case
def test_no_sign_of_life_lies_in_an_outage(case: Case) -> None:
    left = cut(case)
    signs = signs_of_life(left)
    assert signs
    for claim in left.outages:
        began = max(claim.detected_at or claim.down_at, claim.down_at + timedelta(seconds=10))
        inside = [
            at for b, at in signs if b == claim.broker and began < at and (claim.up_at is None or at < claim.up_at)
        ]
        late = [at for at in inside if claim.up_at is None or claim.up_at - at > timedelta(seconds=10)]
        assert not late or claim.kind == "unresponsive", (claim.broker, claim.down_at, claim.up_at, late)


@each_case
def test_no_outage_or_certain_change_is_claimed_in_a_span_without_logs(case: Case) -> None:
    left = cut(case)
    ats = sorted(e.happened_at for e in left.events)
    gaps = [(a, b) for a, b in pairwise(ats) if b - a > timedelta(minutes=2)]
    claims = [*(o.down_at for o in left.outages), *(c.happened_at for c in left.controller_changes)]
    claims += [f.happened_at for f in left.failovers if f.confidence == "certain"]
    assert not [at for at in claims for a, b in gaps if a < at < b - ROWS_BEFORE]
