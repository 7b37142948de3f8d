"""Replicas that cut their logs: harmless after a clean failover, a loss after an unclean one."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.rows import Event, Failover, PartitionSnapshot, Truncation
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.shared.windows import Window
from tests.support.build import leader_change, partition_line
from tests.support.nights import EXCERPTS, WHOLE, at, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders, rebuild_truncations
from tests.support.rows import AT, row
from tools.plain_reader import read_logs

AROUND_AT = Window(AT - timedelta(days=1), AT + timedelta(days=1))


@pytest.mark.parametrize(
    ("excerpt", "cut_at", "confidence", "high_watermark"),
    [
        # The line that lowers the high watermark shows that 68 had been committed.
        ("unclean-4.1", "01:53:02.499", "certain", 68),
        ("unclean-2.8", "01:54:46.678", "likely", None),
    ],
)
def test_records_an_unclean_leader_lacked_are_truncated_and_lost(
    excerpt: str, cut_at: str, confidence: str, high_watermark: int | None
) -> None:
    lines = events(excerpt)
    context = context_of(lines, rebuild_outages(lines, [], WHOLE))
    failovers = list(rebuild_leaders(lines, [], context, WHOLE).failovers)
    [cut] = rebuild_truncations(lines, [], failovers, context.controller_epochs, WHOLE)
    assert (cut.broker, cut.happened_at, cut.leader) == (1, at(cut_at), 2)
    assert (cut.log_end_before, cut.truncated_to, cut.records_cut) == (68, 28, 40)
    assert (cut.verdict, cut.confidence) == ("committed_lost", confidence)
    [unclean] = [f for f in failovers if f.kind == "unclean_election" and f.partition == 0]
    assert (cut.failover_id, cut.outage_id) == (unclean.failover_id, unclean.outage_id)
    assert any("Truncating to offset 28" in q.text for q in cut.evidence)
    assert high_watermark is None or cut.high_watermark == high_watermark


def cuts(lines: list[Event], window: Window = WHOLE) -> list[Truncation]:
    context = context_of(lines, rebuild_outages(lines, [], window))
    failovers = rebuild_leaders(lines, [], context, window).failovers
    return rebuild_truncations(lines, [], failovers, context.controller_epochs, window)


def without(lines: list[Event], column: str, silent: object) -> list[Truncation]:
    return cuts([e for e in lines if getattr(e, column) != silent])


# A leader that was alone with 25 records that it had not copied was killed; the other, in sync, took over with 15.
LEFT_BEHIND = {"truncation-3.9": 2, "truncation-4.1": 3}


@pytest.mark.parametrize(("excerpt", "broker"), LEFT_BEHIND.items())
def test_truncation_of_unreplicated_records_loses_nothing_committed(excerpt: str, broker: int) -> None:
    [cut] = cuts(events(excerpt))
    assert (cut.broker, cut.log_end_before, cut.truncated_to, cut.records_cut) == (broker, 40, 15, 25)
    assert (cut.verdict, cut.confidence) == ("nothing_committed_lost", "certain")
    assert cut.explanation.startswith(f"Broker {broker} cut 25 records off its log, back to offset 15 as it followed")
    assert cut.outage_id


def test_high_watermark_raised_before_truncation_in_3_0_is_no_loss() -> None:
    """Broker 1 shuts down and still takes 9 records after broker 2 leads. Before 3.4.1 it names them committed."""
    lines = events("truncation-3.0")
    day = Window(at("00:00:00.000"), at("00:00:00.000") + timedelta(days=2))
    context = context_of(lines, rebuild_outages(lines, [], day))
    failovers = rebuild_leaders(lines, [], context, day).failovers
    [cut] = rebuild_truncations(lines, [], failovers, context.controller_epochs, day)
    assert (cut.broker, cut.log_end_before, cut.truncated_to, cut.records_cut) == (1, 83, 74, 9)
    assert cut.verdict == "nothing_committed_lost"


def test_lowered_high_watermark_of_follower_alone_is_no_truncation() -> None:
    """Broker 3 had led up to 1722, and broker 2 begins to lead with all records and its own high watermark, 1721."""
    lines, left = read_logs(EXCERPTS / "watermark-4.3", "broker", "watermark-4.3")
    assert {logger: count for logger, count in left.noise.items() if "UnifiedLog" in logger} == {
        "org.apache.kafka.storage.internals.log.UnifiedLog": 1
    }
    assert {(e.broker, e.leader_epoch, e.log_offset, e.high_watermark) for e in lines if e.leader_epoch == 2} == {
        (1, 2, 1722, 1721), (2, 2, 1722, 1721), (3, 2, 1722, 1722),
    }  # fmt: skip
    assert cuts(lines, replace(WHOLE, end=WHOLE.end + timedelta(days=7))) == []


@pytest.mark.parametrize("excerpt", LEFT_BEHIND)
@pytest.mark.parametrize("column", ["broker", "kind", "source"])
def test_harmless_truncation_is_never_a_loss_with_a_witness_missing(excerpt: str, column: str) -> None:
    lines = events(excerpt)
    truncations = [c for silent in {getattr(e, column) for e in lines} for c in without(lines, column, silent)]
    assert truncations
    assert all(c.verdict != "committed_lost" for c in truncations)


@pytest.mark.parametrize("excerpt", ["unclean-2.8", "unclean-4.1"])
@pytest.mark.parametrize("column", ["broker", "kind", "source"])
def test_lossy_truncation_is_never_harmless_with_a_witness_missing(excerpt: str, column: str) -> None:
    lines = events(excerpt)
    truncations = [c for silent in {getattr(e, column) for e in lines} for c in without(lines, column, silent)]
    assert truncations
    assert all(c.verdict != "nothing_committed_lost" for c in truncations)


# Broker 1 comes back in epoch 2 with 50 records and follows broker 3, whose log parts from its own at 45.
BACK = [
    partition_line("follower_started", 1, 60, leader_epoch=2, leader=3, log_offset=50),
    partition_line("log_truncated", 1, 60.1, log_offset=45),
]
CLEAN = [leader_change(1, 1, 2, [1, 2, 3]), leader_change(2, 2, 3, [2, 3])]


def judged(
    lines: list[Event], failovers: list[Failover], readings: list[PartitionSnapshot] | None = None
) -> Truncation:
    (cut,) = rebuild_truncations(lines, readings or [], failovers, (), AROUND_AT)
    return cut


def verdict(
    lines: list[Event], failovers: list[Failover], readings: list[PartitionSnapshot] | None = None
) -> tuple[str, str]:
    cut = judged(lines, failovers, readings)
    return cut.verdict, cut.confidence


def test_truncation_after_clean_failovers_loses_nothing_committed() -> None:
    cut = judged(BACK, CLEAN)
    assert (cut.verdict, cut.confidence, cut.records_cut) == ("nothing_committed_lost", "certain", 5)
    assert cut.failover_id == "f1", "the change that it was not there to follow"


@pytest.mark.parametrize(
    ("failovers", "expected"),
    [
        # It was in sync, though no line shows why it was elected.
        ([CLEAN[0], leader_change(2, 2, 3, [2, 3], confidence="possible")], ("nothing_committed_lost", "likely")),
        # Whether it was in sync, no line shows; when one did last, it was not.
        ([CLEAN[0], leader_change(2, 2, 3, None)], ("unknown", "unknown")),
        ([CLEAN[0], leader_change(2, 2, 3, [2], confidence="possible")], ("unknown", "unknown")),
        # A change between the two that no line shows; an epoch.
        ([CLEAN[0], leader_change(2, 4, 3, [3, 4])], ("unknown", "unknown")),
        ([CLEAN[0], replace(leader_change(2, 2, 3, [2, 3]), epoch_from=2)], ("nothing_committed_lost", "likely")),
        # No line shows when the replica was in sync.
        ([CLEAN[1]], ("unknown", "unknown")),
        # No leader for a while, then the last leader again.
        ([CLEAN[0], leader_change(2, 2, -1, [2]), leader_change(3, -1, 2, [2])], ("nothing_committed_lost", "certain")),
        ([CLEAN[0], leader_change(2, 2, 3, [2], kind="unclean_election")], ("committed_lost", "likely")),
        # An election that was unclean before the replica was in sync again is none of its business.
        ([leader_change(0, 2, 1, [2], kind="unclean_election"), *CLEAN], ("nothing_committed_lost", "certain")),
        ([], ("unknown", "unknown")),
    ],
)
def test_verdict_on_truncation_rests_on_every_leader_since(
    failovers: list[Failover], expected: tuple[str, str]
) -> None:
    assert verdict(BACK, failovers) == expected


def test_unclean_leader_with_every_record_lost_none() -> None:
    had_all = leader_change(2, 2, 3, [2], kind="unclean_election", records_lost_low=0, records_lost_high=0)
    assert verdict(BACK, [CLEAN[0], had_all]) == ("nothing_committed_lost", "likely")


def test_truncation_below_own_high_watermark_certainly_loses_records() -> None:
    lowered = partition_line("log_truncated", 1, 60.2, log_offset=45, high_watermark=48, detail="Non-monotonic update")
    cut = judged([*BACK, lowered], CLEAN)
    assert (cut.verdict, cut.confidence, cut.high_watermark) == ("committed_lost", "certain", 48)
    assert len(cut.evidence) == 4, "both lines of the cut are one cut; what it followed and a failover prove it"


def test_end_offset_of_snapshot_beyond_new_leaders_log_is_a_likely_loss() -> None:
    reading = row(
        PARTITION_SNAPSHOTS, topic="t", partition=0, snapshot_at=AT, leader_epoch=0, end_offset=48, isr=[1, 2, 3]
    )
    short, whole = (partition_line("leader_started", 2, 1, leader_epoch=1, log_offset=n) for n in (45, 49))
    assert verdict([short, *BACK], CLEAN, [reading]) == ("committed_lost", "likely")
    assert verdict([whole, *BACK], CLEAN, [reading]) == ("nothing_committed_lost", "certain")


def test_truncation_of_the_metadata_log_loses_nothing_committed() -> None:
    cut = judged([replace(partition_line("log_truncated", 3, 5, log_offset=11), topic="__cluster_metadata")], [])
    assert (cut.verdict, cut.confidence, cut.records_cut) == ("nothing_committed_lost", "likely", None)


def test_log_restarted_beyond_its_end_is_dropped_whole() -> None:
    follows = BACK[0]
    for words in ("from 50 to current leader's start offset", "from 50 to the current leader's start offset"):
        again = partition_line("log_truncated", 1, 60.1, log_offset=90, detail=words)
        cut = judged([follows, again], CLEAN)
        assert (cut.is_whole, cut.log_end_before, cut.truncated_to) == (True, 50, 90)
        assert cut.records_cut is None
        goes_on = partition_line("log_truncated", 1, 60.1, log_offset=20, detail=words)
        assert rebuild_truncations([follows, goes_on], [], CLEAN, (), AROUND_AT) == []


def test_truncation_after_a_later_start_is_another_row() -> None:
    again = [
        partition_line("follower_started", 1, 64, leader_epoch=2, leader=3, log_offset=45),
        partition_line("log_truncated", 1, 64.1, log_offset=44),
    ]
    cuts = rebuild_truncations([*BACK, *again], [], CLEAN, (), AROUND_AT)
    assert [c.records_cut for c in cuts] == [5, 1]


CHANGES = st.lists(
    st.tuples(st.sampled_from([1, 2, 3]), st.sampled_from(["broker_crash", "unclean_election"])), min_size=1, max_size=6
)


@given(CHANGES, st.integers(0, 60))
def test_only_an_unclean_leader_since_it_was_in_sync_loses_committed_records(
    changes: list[tuple[int, str]], end: int
) -> None:
    leaders = [1, *(leader for leader, _ in changes)]
    rows = [
        leader_change(epoch, before, after, [before] if kind == "unclean_election" else [before, after], kind=kind)
        for epoch, (before, after, (_, kind)) in enumerate(zip(leaders, leaders[1:], changes, strict=False), 1)
        if before != after
    ]
    back = partition_line("follower_started", 1, 60, leader_epoch=len(changes), leader=3, log_offset=end)
    truncations = rebuild_truncations(
        [back, partition_line("log_truncated", 1, 60.1, log_offset=end)], [], rows, (), AROUND_AT
    )
    since = rows[max((i for i, f in enumerate(rows) if 1 in (f.leader_from, *f.isr_before)), default=0) :]
    has_unclean = any(f.kind == "unclean_election" for f in since)
    assert {c.verdict for c in truncations} <= {
        "unknown",
        "committed_lost" if has_unclean else "nothing_committed_lost",
    }


def test_unclean_election_before_deletion_of_topic_does_not_count() -> None:
    """Epochs start again with the topic that came back under the old name."""
    before = [
        partition_line("leader_started", 2, 1, leader_epoch=1, log_offset=9),
        row(EVENTS, kind="topic_deleted", topic="t", partition=None, happened_at=AT + timedelta(seconds=20)),
        partition_line("partition_created", 3, 30, leader_epoch=0),
        partition_line("leader_started", 3, 30.1, leader_epoch=0, log_offset=0),
    ]
    old = leader_change(1, 1, 2, [1], kind="unclean_election")
    follows = partition_line("follower_started", 1, 60, leader_epoch=0, leader=3, log_offset=50)
    cut = judged([*before, follows, BACK[1]], [old])
    assert (cut.verdict, cut.confidence) == ("nothing_committed_lost", "likely")
