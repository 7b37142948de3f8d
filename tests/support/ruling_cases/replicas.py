"""The cases of the rulings on out-of-sync periods and truncations, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.rows import Event, Failover, IsrChange, OutOfSyncPeriod, PartitionSnapshot, Truncation
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.partitions.replicas import out_of_sync_periods, truncations
from kafka_hindsight.judgements.partitions.replicas.out_of_sync_periods import OUT_OF_SYNC_RULINGS, ReplicaAbsence
from kafka_hindsight.judgements.partitions.replicas.truncations import TRUNCATION_RULINGS
from kafka_hindsight.judgements.reasoning.rulings import Ruling, Verdict
from kafka_hindsight.shared.windows import Window
from tests.support.build import leader_change, partition_line
from tests.support.nights import WHOLE, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_isr_changes, rebuild_leaders, rebuild_truncations
from tests.support.rows import AT, row
from tests.support.rulings import Decided, RulingCases

DAYS = Window(AT, WHOLE.end + timedelta(days=7))
"""The days of made cases, and those on which excerpts were recorded."""


@dataclass(frozen=True)
class Decision:
    """Which ruling decided a case, and what the case is."""

    table: str
    key: str
    ruling: Ruling[Any]
    verdict: Verdict


@dataclass(frozen=True)
class Night:
    """The lines and readings of a night. `failovers`: those of the lines where it is None."""

    lines: Sequence[Event]
    readings: Sequence[PartitionSnapshot] = ()
    failovers: Sequence[Failover] | None = None


def key_of(case: Any) -> tuple[str, str]:
    if isinstance(case, ReplicaAbsence):
        return "period", f"broker {case.broker} {clock(case.spans[0].happened_at)}"
    first = case.cut.first
    return "truncation", f"{case.incarnation.key[1]}-{first.partition} broker {first.broker} {clock(first.happened_at)}"


def clock(instant: Any) -> str:
    return f"{instant:%H:%M:%S.%f}"[:-3]


def judged(night: Night) -> tuple[list[Decision], list[IsrChange | OutOfSyncPeriod | Truncation]]:
    """Every decision of the room over a night, and the rows."""
    decisions: list[Decision] = []

    def judge(rulings: Sequence[Ruling[Any]], case: Any) -> Verdict:
        for ruling in rulings:
            verdict = ruling.decide(case)
            if verdict is not None:
                decisions.append(Decision(*key_of(case), ruling, verdict))
                return verdict
        raise LookupError(case)

    lines = list(night.lines)
    outages = rebuild_outages(lines, (), DAYS)
    context = context_of(lines, outages, refusals=[e for e in lines if e.kind == "authentication_refused"])
    failovers = (
        rebuild_leaders(lines, night.readings, context, DAYS).failovers if night.failovers is None else night.failovers
    )
    with pytest.MonkeyPatch.context() as patch:
        for module in (out_of_sync_periods, truncations):
            patch.setattr(module, "verdict_of", judge)
        changes = rebuild_isr_changes(lines, night.readings, context, DAYS)
        spans = out_of_sync_periods.shrink_spans(changes)
        periods = out_of_sync_periods.rebuild_out_of_sync_periods(spans, outages, DAYS)
        cuts = rebuild_truncations(lines, night.readings, failovers, context.controller_epochs, DAYS)
    return decisions, [*changes, *periods, *cuts]


# --- Cases that no recorded night shows, made from Kafka's source. ---


def removal(leader: int, follower: int, partition: int) -> Iterator[Event]:
    """A leader removes a follower for lag. Source: Partition.maybeShrinkIsr, Partition.maybeUpdateIsrAndVersion."""
    both, alone = f"{leader},{follower}", f"{leader}"
    yield partition_line("isr_updated", leader, 0, partition, isr=both, partition_epoch=0)
    yield partition_line("isr_shrink_proposed", leader, 30, partition, previous_isr=both, isr=alone)
    yield partition_line("isr_updated", leader, 30.1, partition, isr=alone, partition_epoch=1)


def cut(leader_epoch: int = 2) -> list[Event]:
    """Broker 1 comes back with 50 records, follows broker 3, and cuts its log to 45."""
    return [
        partition_line("follower_started", 1, 60, leader_epoch=leader_epoch, leader=3, log_offset=50),
        partition_line("log_truncated", 1, 60.1, log_offset=45),
    ]


def end_offset(offset: int) -> PartitionSnapshot:
    """A reading before any failover."""
    made: PartitionSnapshot = row(
        PARTITION_SNAPSHOTS, topic="t", partition=0, snapshot_at=AT, leader_epoch=0, end_offset=offset
    )
    return made


def without(excerpt: str, lacks: Callable[[Event], bool]) -> Night:
    return Night([e for e in events(excerpt) if not lacks(e)])


LEFT = leader_change(1, 1, 2, [1, 2, 3])
CLEAN = [LEFT, leader_change(2, 2, 3, [2, 3])]
UNCLEAN = [LEFT, leader_change(2, 2, 3, [2], kind="unclean_election")]
HAD_ALL = [LEFT, leader_change(2, 2, 3, [2], kind="unclean_election", records_lost_low=0, records_lost_high=0)]
STARTED = partition_line("leader_started", 2, 1, leader_epoch=1, log_offset=45)

MADE: dict[str, Callable[[], Night]] = {
    "the next list of replicas lacks the broker": lambda: Night(
        [
            partition_line("leadership_kept", 1, 0, isr="1,3", replicas="1,3", partition_epoch=0, leader_epoch=0),
            partition_line("leadership_kept", 1, 5, isr="1", replicas="1", partition_epoch=1, leader_epoch=0),
        ]
    ),
    "two leaders remove one follower": lambda: Night([*removal(1, 3, 0), *removal(2, 3, 1)]),
    "one leader removes two followers": lambda: Night([*removal(1, 2, 0), *removal(1, 3, 1)]),
    "one leader refuses its follower": lambda: Night(
        [partition_line("authentication_refused", 3, 10, node=1, topic=None), *removal(1, 3, 0)]
    ),
    "a voter of the metadata quorum": lambda: Night(
        [partition_line("log_truncated", 3, 5, log_offset=11, topic="__cluster_metadata")], failovers=[]
    ),
    "unclean-2.8 without the states of broker 1": lambda: without(
        "unclean-2.8", lambda e: e.source == "broker-1/state-change.log"
    ),
    "unclean-2.8 without the last ISR": lambda: without("unclean-2.8", lambda e: e.kind == "replica_removed_from_isr"),
    "truncation-3.9 without the starts of leaders": lambda: without(
        "truncation-3.9", lambda e: e.kind == "leader_started"
    ),
    "the leader did not change": lambda: Night(
        [partition_line("leader_started", 3, 1, leader_epoch=2, log_offset=45), *cut()], failovers=[]
    ),
    "the log of the leader is missing": lambda: Night(cut(), failovers=[]),
    "an unclean leader with every record": lambda: Night(cut(), failovers=HAD_ALL),
    "an unclean leader behind a known end offset": lambda: Night(cut(), [end_offset(48)], UNCLEAN),
    "a clean leader behind a known high watermark": lambda: Night(
        [partition_line("log_loaded", 2, 0.5, high_watermark=48), STARTED, *cut()], failovers=CLEAN
    ),
    "a clean leader behind a known end offset": lambda: Night([STARTED, *cut()], [end_offset(48)], CLEAN),
}


@cache
def decided(case: str) -> Sequence[Decided]:
    """What was decided of a case; of a made one, the first decision of each table."""
    if case.startswith("made: "):
        trace = judged(MADE[case.removeprefix("made: ")]())[0]
        decisions = list({d.table: d for d in reversed(trace)}.values())
    else:
        excerpt, _, key = case.partition(" ")
        decisions = [d for d in judged(Night(events(excerpt)))[0] if d.key == key]
        assert len(decisions) == 1, case
    return [Decided(d.ruling, d.verdict.code, d.verdict.confidence, d.verdict.sentence) for d in decisions]


CASES = (
    RulingCases(
        "replicas",
        (*OUT_OF_SYNC_RULINGS, *TRUNCATION_RULINGS),
        decided,
        MADE,
        [
            ("made: unclean-2.8 without the states of broker 1", "unknown", "unknown"),
            ("made: an unclean leader behind a known end offset", "committed_lost", "likely"),
            ("made: truncation-3.9 without the starts of leaders", "nothing_committed_lost", "likely"),
            ("made: a clean leader behind a known high watermark", "committed_lost", "likely"),
        ],
        elsewhere={"the next list of replicas lacks the broker"},
        caches=[decided],
    ),
)
