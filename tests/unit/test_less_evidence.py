"""With less evidence nothing wrong becomes certain: pieces of the recorded night are taken out at random, by a seed."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache, reduce
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from spark_jobs.catalog.rows import BrokerOutage, Failover
from tests.support.less_evidence import Night, night_of, random_cuts
from tests.support.logs import unpack_night

SEEDS = range(25)
ROWS_BEFORE = timedelta(seconds=9)
"""How long before its detection an absence may begin: a session."""

_SERVES = re.compile(
    r"\] Leader \S+ with topic id \S+ starts at leader epoch|Stabilized group|Preparing to rebalance group"
    r"|Finished loading of metadata|Loaded new metadata"
)
"""Words that only a broker writes which serves. This reader knows nothing of patterns and kinds."""

_BROKER = re.compile(r"\[(?:Broker id=|GroupCoordinator id=)(\d+)")


@cache
def whole() -> Night:
    with TemporaryDirectory() as folder:
        return night_of(unpack_night(Path(folder)) / "logs")


@cache
def cut(seed: int) -> Night:
    return reduce(lambda night, piece: night.without(piece), random_cuts(whole(), seed), whole())


def signs_of_life(night: Night) -> list[tuple[int, datetime]]:
    """Each broker, and when it showed that it served, by the words of its own lines."""
    lines = ((_BROKER.search(e.text), e.happened_at) for e in night.events if _SERVES.search(e.text))
    return [(int(found[1]), at) for found, at in lines if found]


def same_absence(claim: BrokerOutage, truth: BrokerOutage, end: datetime) -> bool:
    """Whether a claim is of an absence, and its bounds hold it. `end`: the last line that is left."""
    begins = claim.broker == truth.broker and abs(claim.down_at - truth.down_at) <= timedelta(seconds=20)
    if claim.up_at is None or truth.up_at is None:
        return begins and claim.up_at is None and (truth.up_at is None or truth.up_at >= end - timedelta(minutes=2))
    lasted = (truth.up_at - truth.down_at) // timedelta(milliseconds=1)
    return begins and claim.away_low_ms - 1000 <= lasted and (claim.up_at - truth.up_at) >= timedelta(seconds=-1)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_certain_outage_contradicts_what_happened(seed: int) -> None:
    left = cut(seed)
    end = left.window.end
    for claim in left.outages:
        if claim.confidence == "certain":
            truths = [t for t in whole().outages if same_absence(claim, t, end)]
            assert claim.kind in [t.kind for t in truths], (claim.broker, claim.down_at, claim.up_at, claim.explanation)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_certain_change_of_controller_contradicts_what_happened(seed: int) -> None:
    truths = {c.epoch: (c.controller_from, c.controller_to, c.explanation) for c in whole().controller_changes}
    for claim in cut(seed).controller_changes:
        if claim.confidence == "certain":
            assert (claim.controller_from, claim.controller_to, claim.explanation) == truths[claim.epoch]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_certain_failover_contradicts_what_happened(seed: int) -> None:
    def key(f: Failover) -> tuple[object, ...]:
        return f.topic, f.partition, f.topic_incarnation, f.epoch_to

    truths = {key(f): (f.leader_from, f.leader_to, f.kind) for f in whole().failovers}
    for claim in cut(seed).failovers:
        if claim.confidence == "certain":
            assert (claim.leader_from, claim.leader_to, claim.kind) == truths[key(claim)], claim.explanation


@pytest.mark.parametrize("seed", SEEDS)
def test_no_sign_of_life_lies_in_an_absence(seed: int) -> None:
    left = cut(seed)
    signs = signs_of_life(left)
    assert signs
    for claim in left.outages:
        began = max(claim.detected_at or claim.down_at, claim.down_at + timedelta(seconds=10))
        inside = [
            at for b, at in signs if b == claim.broker and began < at and (claim.up_at is None or at < claim.up_at)
        ]
        late = [at for at in inside if claim.up_at is None or claim.up_at - at > timedelta(seconds=10)]
        assert not late or claim.kind == "unresponsive", (claim.broker, claim.down_at, claim.up_at, late)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_claimed_of_a_span_without_logs(seed: int) -> None:
    left = cut(seed)
    ats = sorted(e.happened_at for e in left.events)
    gaps = [(a, b) for a, b in pairwise(ats) if b - a > timedelta(minutes=2)]
    claims = [*(o.down_at for o in left.outages), *(c.happened_at for c in left.controller_changes)]
    claims += [f.happened_at for f in left.failovers if f.confidence == "certain"]
    assert not [at for at in claims for a, b in gaps if a < at < b - ROWS_BEFORE]
