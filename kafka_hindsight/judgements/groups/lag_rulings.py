"""The rulings on lag: whether a consumer keeps up with each partition that it reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby, pairwise

from kafka_hindsight.catalog.codes import LagStatus
from kafka_hindsight.catalog.rows import LagVerdict, OffsetSnapshot
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote_snapshot
from kafka_hindsight.judgements.reasoning.proofs import Proof, always, proof_if
from kafka_hindsight.judgements.reasoning.rulings import Likely, Ruling, verdict_of
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window

MINIMUM_READINGS = 10
"""Fewer show no tendency. Source: Burrow, evaluator and storage default `intervals`."""


@dataclass(frozen=True)
class Progress:
    """The readings of one partition of one group that have a committed offset, in order of time."""

    readings: Sequence[OffsetSnapshot]

    @cached_property
    def committed(self) -> list[int]:
        """The committed offsets."""
        return [r.committed_offset for r in self.readings if r.committed_offset is not None]

    @cached_property
    def behind(self) -> list[int]:
        """The lags since the last reading without one.

        Source: Burrow calls a consumer well that had caught up once among its last ten commits. Over a night nearly all
        had, so that here only the readings since then count.
        """
        lags = [r.lag for r in self.readings if r.lag is not None]
        caught_up = next((place for place in range(len(lags), 0, -1) if lags[place - 1] == 0), 0)
        return lags[caught_up:]

    @cached_property
    def waits(self) -> list[list[OffsetSnapshot]]:
        """Runs of readings in which the offset stood while there was something to read."""
        stood = groupby(self.readings, lambda r: (bool(r.lag), r.committed_offset))
        return [list(readings) for (has_lag, _), readings in stood if has_lag]


def nothing_waits(progress: Progress) -> Proof | None:
    """The last reading shows no lag."""
    return proof_if(not progress.readings or not progress.readings[-1].lag)


def commits_moved(progress: Progress) -> Proof | None:
    """The committed offset changed within the window."""
    return proof_if(len(set(progress.committed)) > 1)


def never_moved(progress: Progress) -> Proof | None:
    """The committed offset never changed within the window."""
    return proof_if(commits_moved(progress) is None)


def stands_longer_than_ever(progress: Progress) -> Proof | None:
    """The committed offset now stands for ten readings or more, and longer than it ever had while records waited.

    A reading does not show a commit that repeats an offset, so that standing alone is not a stop.
    """
    *former, now = (wait[-1].snapshot_at - wait[0].snapshot_at for wait in progress.waits)
    return proof_if(len(progress.waits[-1]) >= MINIMUM_READINGS and all(now > wait for wait in former))


def was_set_back(progress: Progress) -> Proof | None:
    """The committed offset fell, and no later one reached what was committed before."""
    highest_since = list(accumulate(reversed(progress.committed), max))[::-1]
    return proof_if(
        any(b < a and later < a for (a, b), later in zip(pairwise(progress.committed), highest_since[1:], strict=True))
    )


def caught_up_lately(progress: Progress) -> Proof | None:
    """Fewer than ten readings show a lag since the consumer had last caught up."""
    return proof_if(len(progress.behind) < MINIMUM_READINGS)


def never_gained(progress: Progress) -> Proof | None:
    """No reading since the consumer had last caught up shows a smaller lag than the one before."""
    return proof_if(all(later >= earlier for earlier, later in pairwise(progress.behind)))


_SOURCE = "Burrow, core/internal/evaluator/caching.go"

LAG_RULINGS: tuple[Ruling[Progress], ...] = (
    Likely(
        LagStatus.OK,
        "The consumer has read all records.",
        proof=(nothing_waits,),
        source=_SOURCE,
        cases=("made: it commits every end", "made: nothing waited at first"),
    ),
    Likely(
        LagStatus.STOP,
        "The consumer committed before, and has now stood for longer than ever while records wait.",
        proof=(commits_moved, stands_longer_than_ever),
        source=_SOURCE,
        cases=("made: it stops after eight commits", "made: it commits every eleven minutes"),
    ),
    Likely(
        LagStatus.REWIND,
        "The committed offset was set back, and has not come as far again.",
        proof=(was_set_back,),
        source=_SOURCE,
        cases=("made: it is set back for good", "made: it is set back and comes further"),
    ),
    Likely(
        LagStatus.OK,
        "The consumer had caught up within the last ten readings.",
        proof=(caught_up_lately,),
        source=_SOURCE,
        cases=("made: it is behind at every other reading", "made: it commits half of what arrives"),
    ),
    Likely(
        LagStatus.STALL,
        "The committed offset never changed while records wait.",
        proof=(never_moved,),
        source=_SOURCE,
        cases=("made: nothing waited at first", "made: it stops after eight commits"),
    ),
    Likely(
        LagStatus.WARN,
        "The consumer commits, and its lag never became smaller.",
        proof=(never_gained,),
        source=_SOURCE,
        cases=("made: it commits half of what arrives", "made: it commits every eleven minutes"),
    ),
    Likely(
        LagStatus.OK,
        "The consumer commits, and its lag became smaller at times.",
        proof=(always,),
        source=_SOURCE,
        cases=("made: it commits every eleven minutes", "made: it commits half of what arrives"),
    ),
)
"""For the readings of a window, instead of the last ten commits."""


def judge_lag(offset_snapshots: Iterable[OffsetSnapshot], window: Window) -> list[LagVerdict]:
    """Rows of gold.lag_verdicts: one for each group, topic and partition with a committed offset in the window."""
    committed = (r for r in offset_snapshots if r.committed_offset is not None and window.holds(r.snapshot_at))
    readings = grouped(
        sorted(committed, key=lambda r: r.snapshot_at), lambda r: (r.cluster, r.group_id, r.topic, r.partition)
    )
    return [_row(key, readings[key], window) for key in sorted(readings)]


def _row(key: tuple[str, str, str, int], readings: Sequence[OffsetSnapshot], window: Window) -> LagVerdict:
    cluster, group_id, topic, partition = key
    lags = [(r.lag, r) for r in readings if r.lag is not None]
    largest = max(lags, key=lambda pair: pair[0], default=None)
    extremes = [lags[0][1], largest[1], lags[-1][1]] if largest else [readings[0], readings[-1]]
    return LagVerdict(
        cluster=cluster,
        group_id=group_id,
        topic=topic,
        partition=partition,
        window_from=window.start,
        window_to=window.end,
        status=LagStatus(verdict_of(LAG_RULINGS, Progress(readings)).code),
        lag_first=lags[0][0] if lags else None,
        lag_last=lags[-1][0] if lags else None,
        lag_max=largest[0] if largest else None,
        evidence=evidence_of(
            quote_snapshot(r, f"committed {r.committed_offset}, end {r.end_offset}, lag {r.lag}") for r in extremes
        ),
    )
