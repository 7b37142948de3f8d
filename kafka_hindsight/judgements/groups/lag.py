"""Verdicts on consumers' lag, partition by partition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafka_hindsight.catalog.codes import LagStatus
from kafka_hindsight.catalog.rows import LagVerdict, OffsetSnapshot
from kafka_hindsight.judgements.groups.lag_rulings import LAG_RULINGS, Progress
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote_snapshot
from kafka_hindsight.judgements.reasoning.rulings import judge
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window

Key = tuple[str, str, str, int]


def judge_lag(offset_snapshots: Iterable[OffsetSnapshot], window: Window) -> list[LagVerdict]:
    """Rows of gold.lag_verdicts: one for each group, topic and partition with a committed offset in the window.

    Order: by group, topic and partition.
    """
    committed = (r for r in offset_snapshots if r.committed_offset is not None and window.holds(r.snapshot_at))
    in_order = sorted(committed, key=lambda r: r.snapshot_at)
    readings = grouped(in_order, lambda r: (r.cluster, r.group_id, r.topic, r.partition))
    return [_row(key, readings[key], window) for key in sorted(readings)]


def _row(key: Key, readings: Sequence[OffsetSnapshot], window: Window) -> LagVerdict:
    cluster, group_id, topic, partition = key
    known = [(r.lag, r) for r in readings if r.lag is not None]
    largest = max(known, key=lambda found: found[0], default=None)
    shown = [known[0][1], largest[1], known[-1][1]] if largest else [readings[0], readings[-1]]
    return LagVerdict(
        cluster=cluster,
        group_id=group_id,
        topic=topic,
        partition=partition,
        window_from=window.start,
        window_to=window.end,
        status=LagStatus(judge(LAG_RULINGS, Progress(readings)).code),
        lag_first=known[0][0] if known else None,
        lag_last=known[-1][0] if known else None,
        lag_max=largest[0] if largest else None,
        evidence=evidence_of(quote_snapshot(r, _numbers(r)) for r in shown),
    )


def _numbers(reading: OffsetSnapshot) -> str:
    return f"committed {reading.committed_offset}, end {reading.end_offset}, lag {reading.lag}"
