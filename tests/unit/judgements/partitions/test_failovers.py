"""Changes of leaders, on lines as captured, and the laws of their chain."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, Event, Failover, PartitionSnapshot
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.cluster_context import ClusterContext, context_of
from kafka_hindsight.judgements.partitions.leaderships import Leadership
from kafka_hindsight.judgements.partitions.replicas.losses import loss_of
from kafka_hindsight.shared.windows import Window
from tests.support.nights import WHOLE, at, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders
from tests.support.rows import AT, row
from tools.plain_reader import read_logs

AROUND_AT = Window(AT - timedelta(days=1), AT + timedelta(days=1))


def failovers(
    lines: list[Event], readings: list[PartitionSnapshot] | None = None, window: Window = WHOLE
) -> list[Failover]:
    context = context_of(lines, rebuild_outages(lines, [], window))
    return rebuild_leaders(lines, readings or [], context, window).failovers


def outages(excerpt: str) -> list[BrokerOutage]:
    return rebuild_outages(events(excerpt), [], WHOLE)


def columns_of(rows: Iterable[Failover | BrokerOutage], *columns: str) -> list[tuple[object, ...]]:
    return [tuple(getattr(r, c) for c in columns) for r in rows]


@pytest.mark.parametrize(
    ("excerpt", "partition", "happened_at", "kind", "leaders", "epochs", "isrs", "leaderless_ms"),
    [
        # The ZooKeeper controller's line, though the new leader's own is later.
        ("crash-2.8", 2, "01:52:31.810", "broker_crash", (1, 2), (0, 1), ([1, 2, 3], [2, 3]), 7948),
        # KRaft controllers name no partition: the new leader's own line.
        ("pause-4.1", 5, "01:52:06.651", "broker_unresponsive", (1, 2), (4, 5), ([1, 2, 3], [2, 3]), 9073),
    ],
)
def test_lost_broker_causes_failover(
    excerpt: str, partition: int, happened_at: str, kind: str, leaders: object, epochs: object, isrs: object,
    leaderless_ms: int,
) -> None:  # fmt: skip
    [change] = failovers(events(excerpt))
    [outage] = outages(excerpt)
    assert (change.partition, change.happened_at) == (partition, at(happened_at))
    assert (change.kind, change.confidence) == (kind, "certain")
    assert (change.leader_from, change.leader_to) == leaders
    assert (change.epoch_from, change.epoch_to) == epochs
    assert (change.isr_before, change.isr_after) == isrs
    assert change.leaderless_ms == leaderless_ms
    assert change.outage_id == outage.outage_id
    assert change.records_lost_low is change.records_lost_high is None
    assert change.evidence


def test_paused_controller_is_detected_as_down_by_next_controller() -> None:
    # A ZooKeeper controller that is elected calls no broker failed: it lists those that it finds.
    [outage] = outages("pause-2.8")
    assert columns_of([outage], "broker", "kind", "confidence", "detected_at", "up_at") == [
        (1, "unresponsive", "certain", at("12:28:10.216"), at("12:28:19.273"))
    ]


@pytest.mark.parametrize(
    ("excerpt", "topic", "partition", "changes"),
    [
        # Broker 2 loses the disk of the partition; broker 3 ends itself, though the partition lay on another disk.
        ("disk-4.3", "disk-t", 9, [("log_dir_failed", "certain", 2, 3), ("broker_crash", "certain", 3, 1)]),
        ("disk-4.3", "disk-t", 10, [("log_dir_failed", "certain", 3, 1)]),
        ("disk-3.9", "disk-t", 3, [("log_dir_failed", "certain", 2, 3), ("log_dir_failed", "certain", 3, 1)]),
        ("disk-3.9", "disk-single", 4, [("log_dir_failed", "certain", 2, -1)]),
    ],
)
def test_failed_log_dir_causes_failover(excerpt: str, topic: str, partition: int, changes: list[object]) -> None:
    own = [r for r in failovers(events(excerpt)) if (r.topic, r.partition) == (topic, partition)]
    assert columns_of(own, "kind", "confidence", "leader_from", "leader_to") == changes


@pytest.mark.parametrize(("excerpt", "leaders"), [("reassignment-4.3", (1, 2)), ("reassignment-2.8", (1, 3))])
def test_reassignment_causes_failover(excerpt: str, leaders: tuple[int, int]) -> None:
    [change] = failovers(events(excerpt))
    assert (change.kind, change.confidence) == ("reassignment", "certain")
    assert (change.leader_from, change.leader_to) == leaders


def test_reassignment_of_other_epoch_explains_no_failover() -> None:
    lines = [replace(e, leader_epoch=7) if e.kind == "reassignment_changed" else e for e in events("reassignment-4.3")]
    assert [r.kind for r in failovers(lines)] != ["reassignment"]


def test_preferred_election_explains_failover_after_disk_or_reassignment_ended() -> None:
    # Broker 3 lost its disk at 15:48:34 and was started again; partition 0 of the other topic was moved at 15:45:58.
    by_place = {(r.topic, r.happened_at): r for r in failovers(events("elections-3.9"))}
    after_disk = by_place["ads-69-svc", at("15:49:13.793")]
    after_move = by_place["search-34-sink-t", at("15:48:13.763")]
    assert columns_of([after_disk, after_move], "kind", "confidence", "leader_from", "leader_to") == [
        ("preferred_election", "certain", 3, 1),
        ("preferred_election", "certain", 2, 3),
    ]
    assert by_place["search-34-sink-t", at("15:48:34.784")].kind == "log_dir_failed"


def test_cancelled_reassignment_leads_to_automatic_preferred_election() -> None:
    # KRaft: replicas [2, 1], to be [3, 1], are [1, 2] afterwards.
    last = failovers(events("cancelled-4.1"))[-1]
    assert columns_of([last], "happened_at", "kind", "leader_from", "leader_to", "requested_by_operator") == [
        (at("15:36:45.335"), "preferred_election", 2, 1, False)
    ]


def test_requested_election_of_new_first_replica_is_preferred_election() -> None:
    # A controller in ZooKeeper mode prints only the start; the replicas were put into another order just before.
    [change] = failovers(events("reordered-2.8"))
    assert columns_of([change], "kind", "confidence", "leader_from", "leader_to", "requested_by_operator") == [
        ("preferred_election", "certain", 3, 1, True)
    ]


def test_failed_log_dir_without_partition_causes_no_failover() -> None:
    lines = [replace(e, members="other-0") if e.members and e.broker == 2 else e for e in events("disk-4.3")]
    [first, _] = [r for r in failovers(lines) if r.partition == 9]
    assert first.kind != "log_dir_failed"


def test_replayed_reassignment_causes_no_failover() -> None:
    """Broker 3 started at 19:04:48 and printed the reassignment of 19:02:23; the leader moved at 19:08:49."""
    rows = failovers(events("replayed-3.7"), window=replace(WHOLE, end=WHOLE.end + timedelta(days=1)))
    assert columns_of(rows, "epoch_to", "kind") == [(1, "reassignment"), (2, "broker_crash"), (3, "unknown")]


def test_disk_failure_at_start_is_no_cause_of_earlier_failover() -> None:
    """Broker 3 shut down at 12:59:42.832, and its next process found its disks failed 1.7 s later."""
    [change] = failovers(events("start-disk-3.9"), window=replace(WHOLE, end=WHOLE.end + timedelta(days=2)))
    assert (change.kind, change.confidence, change.leader_from) == ("controlled_shutdown", "certain", 3)


def test_disk_failure_at_start_is_no_cause_of_later_failover() -> None:
    """Broker 2 could not start over its disks at 18:18:04, served from 18:18:12 on, and gave its leader back later."""
    rows = failovers(events("failed-start-3.9"), window=replace(WHOLE, end=WHOLE.end + timedelta(days=1)))
    assert columns_of(rows, "epoch_to", "kind", "leader_from", "leader_to")[-1] == (6, "preferred_election", 2, 3)


def test_broker_that_halts_over_failed_disks_is_crash() -> None:
    for excerpt, down_at in (("disk-4.3", "11:57:35.972"), ("disk-3.9", "11:58:30.606")):
        [outage] = outages(excerpt)
        assert columns_of([outage], "broker", "kind", "confidence", "down_at") == [(3, "crash", "certain", at(down_at))]


def test_leader_epoch_rise_with_same_leader_is_no_failover() -> None:
    """shop-events-4: the controller takes broker 2 out of the ISR, then broker 3, before leadership moves at all."""
    epochs = {e.leader_epoch for e in events("preferred-2.8") if e.partition == 3 and e.leader_epoch}
    assert epochs == {3, 4, 5}
    changes = [c for c in failovers(events("preferred-2.8")) if c.partition == 3]
    assert columns_of(changes, "epoch_from", "epoch_to") == [(0, 3), (4, 5)]


def test_preferred_replica_takes_over_from_living_leader() -> None:
    """It happened 6 ms before the last line of a broker that was paused soon after: that pause had no part in it."""
    elected = [c for c in failovers(events("preferred-2.8")) if c.happened_at == at("01:53:31.511")]
    assert columns_of(elected, "partition", "kind", "confidence", "leader_from", "leader_to", "outage_id") == [
        (3, "preferred_election", "certain", 1, 2, None),
        (4, "preferred_election", "certain", 2, 3, None),
    ]


def test_preferred_election_without_controller_log_is_possible() -> None:
    blind = [e for e in events("preferred-2.8") if not e.source.endswith("controller.log")]
    elected = [c for c in failovers(blind) if c.happened_at == at("01:53:31.511")]
    assert columns_of(elected, "kind", "confidence") == [("preferred_election", "possible")] * 2


@pytest.mark.parametrize(("excerpt", "lost"), [("unclean-2.8", [40]), ("unclean-4.1", [40, 0])])
def test_unclean_election_loss_is_counted(excerpt: str, lost: list[int]) -> None:
    """Broker 2 died with 28 records of partition 0, broker 1 with 68; then broker 2 was made leader."""
    unclean = [c for c in failovers(events(excerpt)) if c.kind == "unclean_election"]
    assert columns_of(unclean, "partition", "confidence", "leader_to", "records_lost_low", "records_lost_high") == [
        (p, "certain", 2, n, n) for p, n in enumerate(lost)
    ]
    assert all(c.isr_before == [1] and c.isr_after == [2] for c in unclean)


def test_reading_bounds_loss_where_old_leader_never_returned() -> None:
    before_its_return = [e for e in events("unclean-4.1") if e.happened_at < at("01:53:00")]
    reading = row(
        PARTITION_SNAPSHOTS,
        cluster="unclean-4.1", topic="fraud-risky-19", partition=0, snapshot_at=at("01:52:40"), leader=1, end_offset=60,
    )  # fmt: skip
    [unclean] = [c for c in failovers(before_its_return, [reading]) if c.partition == 0]
    assert (unclean.records_lost_low, unclean.records_lost_high) == (32, None)
    assert "at least 32" in unclean.explanation


def test_repeated_unclean_lines_are_one_failover() -> None:
    """Each KRaft controller prints it, again when it starts, and also for the last leader that comes back."""
    marks = [e for e in events("unclean-4.1") if e.kind == "unclean_partition_change" and e.partition == 0]
    assert len(marks) > 1
    assert len([c for c in failovers(events("unclean-4.1")) if c.partition == 0]) == 1


@pytest.mark.parametrize(
    ("excerpt", "fenced_at", "leaderless_ms"),
    [("offline-3.9", "02:03:47.653", 16950), ("offline-4.1", "01:53:22.060", 15682)],
)
def test_returned_last_leader_restores_partition_without_loss(excerpt: str, fenced_at: str, leaderless_ms: int) -> None:
    """Kafka 4.1 calls that UNCLEAN and RECOVERING, though the last leader has every record."""
    gone, back = failovers(events(excerpt))
    assert columns_of([gone, back], "kind", "confidence", "records_lost_high") == [
        ("offline", "certain", None),
        ("leader_restored", "certain", None),
    ]
    assert gone.leader_to == back.leader_from == -1
    assert gone.happened_at == at(fenced_at), "when the broker was fenced, not when it came back and wrote it"
    assert gone.leaderless_ms is None
    assert back.leaderless_ms == leaderless_ms


def test_only_replica_back_two_epochs_later_was_offline() -> None:
    unseen = [
        replace(e, previous_leader=None if e.previous_leader == -1 else e.previous_leader)
        for e in events("offline-3.9")
        if e.kind != "follower_started"
    ]
    gone, back = failovers(unseen)
    assert columns_of([gone, back], "kind", "confidence") == [("offline", "likely"), ("leader_restored", "likely")]


def test_reading_without_leader_shows_offline_partition() -> None:
    """Where no line names the replicas, more than one may be there to lead."""
    until_fenced = [replace(e, replicas=None) for e in events("offline-3.9") if e.happened_at < at("02:03:50")]
    leaderless = row(
        PARTITION_SNAPSHOTS,
        cluster="offline-3.9", topic="mobile-single-19", partition=0, snapshot_at=at("02:03:48.631"), leader=None,
    )  # fmt: skip
    assert failovers(until_fenced) == []
    [gone] = failovers(until_fenced, [leaderless])
    assert columns_of([gone], "kind", "confidence", "leader_to", "epoch_to") == [("offline", "likely", -1, 1)]


def test_fenced_only_replica_leaves_partition_offline() -> None:
    until_fenced = [e for e in events("offline-3.9") if e.happened_at < at("02:03:50")]
    [gone] = failovers(until_fenced)
    assert columns_of([gone], "kind", "confidence", "leader_to", "happened_at") == [
        ("offline", "likely", -1, at("02:03:47.653"))
    ]
    alive = [e for e in until_fenced if e.kind != "broker_fenced"]
    assert failovers(alive) == []


def test_topic_deletion_is_no_failover() -> None:
    """The ZooKeeper controller sets its leaders to -1 on the way."""
    assert any(e.leader == -1 for e in events("deletion-2.8"))
    assert failovers(events("deletion-2.8")) == []


def test_zookeeper_isr_shrink_before_election_is_one_failover() -> None:
    """A new ZooKeeper controller first takes the dead broker out, leaving a replica in sync, then elects that one."""
    step = {"topic": "t", "partition": 0, "broker": 3, "source": "3"}
    lines = [
        row(EVENTS, kind="partition_state_changed", leader=1, leader_epoch=0, isr="1,3", **step),
        row(EVENTS, kind="replica_removed_from_isr", leader=-1, leader_epoch=1, isr="3", **step),
        row(EVENTS, kind="partition_state_changed", leader=3, leader_epoch=2, isr="3", **step),
    ]
    [change] = failovers([replace(e, line_id=str(i)) for i, e in enumerate(lines)], window=AROUND_AT)
    assert columns_of([change], "leader_from", "leader_to", "epoch_from", "epoch_to") == [(1, 3, 0, 2)]


def failover_at(instant: datetime, outage: BrokerOutage, replicas: str = "3,2,1") -> Failover:
    """The verdict on a partition that went from broker 1 to broker 2, in the light of an absence of broker 1."""
    base = {"topic": "t", "partition": 0, "replicas": replicas}
    lines = [
        row(EVENTS, line_id="a", kind="leader_started", broker=1, leader_epoch=0, **base),
        row(EVENTS, line_id="b", kind="leader_started", broker=2, leader_epoch=1, happened_at=instant, **base),
    ]
    elected = row(EVENTS, kind="controller_elected", broker=4, controller_epoch=1)
    [change] = rebuild_leaders(lines, [], context_of([elected], [outage]), AROUND_AT).failovers
    return change


def absence(kind: str) -> BrokerOutage:
    detected_at, down_at, up_at = (AT + timedelta(seconds=s) for s in (19, 10, 40))
    return row(
        BROKER_OUTAGES, broker=1, kind=kind, down_at=down_at, detected_at=detected_at, up_at=up_at, confidence="certain"
    )


@pytest.mark.parametrize(
    ("seconds", "replicas", "outage", "kind"),
    [
        (20, "3,2,1", "crash", "broker_crash"),
        (20, "3,2,1", "unresponsive", "broker_unresponsive"),
        # The controller had not detected it yet.
        (14, "3,2,1", "crash", "unknown"),
        # A shutdown asks for it, a little before by another broker's clock.
        (11, "3,2,1", "controlled_shutdown", "controlled_shutdown"),
        (9, "3,2,1", "controlled_shutdown", "controlled_shutdown"),
        (9, "2,3,1", "controlled_shutdown", "preferred_election"),
        # It was back.
        (50, "3,2,1", "crash", "unknown"),
    ],
)
def test_outage_explains_failovers_only_once_detected(seconds: int, replicas: str, outage: str, kind: str) -> None:
    assert failover_at(AT + timedelta(seconds=seconds), absence(outage), replicas).kind == kind


def test_other_in_sync_replicas_give_low_bound_of_loss() -> None:
    """The old leader held at least what they held."""
    lines = [
        row(EVENTS, kind="leader_started", broker=2, leader_epoch=1, log_offset=28),
        row(EVENTS, kind="log_end_loaded", broker=3, log_offset=50, happened_at=AT + timedelta(minutes=1)),
    ]
    unclean = Leadership(1, 2, AT, True, (2,), (), ())
    loss = loss_of(unclean, 1, (1, 3), lines, [])
    assert (loss.low, loss.high) == (22, None)


@pytest.mark.parametrize("excerpt", ["crash-2.8", "preferred-2.8", "unclean-2.8", "unclean-4.1", "offline-3.9"])
@pytest.mark.parametrize("seed", range(3))
def test_failovers_do_not_depend_on_arrival_order(excerpt: str, seed: int) -> None:
    shuffled = events(excerpt)
    random.Random(seed).shuffle(shuffled)
    assert failovers(shuffled) == failovers(events(excerpt))


def witness_lines(leaders: list[int]) -> list[Event]:
    """What three brokers print of a partition's leaders, epoch by epoch: one leads, the others follow it."""
    return [
        row(
            EVENTS,
            line_id=f"{epoch}-{broker}",
            source=f"broker-{broker}/state-change.log",
            kind="leader_started" if broker == leader else "follower_started",
            happened_at=AT + timedelta(minutes=epoch, milliseconds=broker),
            topic="t",
            partition=0,
            broker=broker,
            leader=None if broker == leader else leader,
            leader_epoch=epoch,
        )
        for epoch, leader in enumerate(leaders)
        for broker in (1, 2, 3)
    ]


@given(st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=9), st.randoms(use_true_random=False))
def test_failover_chain_equals_history_with_partial_witnesses(leaders: list[int], chance: random.Random) -> None:
    """Some witnesses stay silent, but never all of one epoch; each broker's last line comes again after a start."""
    lines = witness_lines(leaders)
    heard = [e for e in lines if e.kind == "leader_started" or chance.random() < 0.5]
    last = {e.broker: e for e in heard}.values()
    again = [replace(e, line_id=f"{e.line_id}b", happened_at=AT + timedelta(hours=1)) for e in last]
    both = heard + again
    chance.shuffle(both)
    rows = rebuild_leaders(both, [], ClusterContext(), AROUND_AT).failovers
    history = [(a, b, i, i + 1) for i, (a, b) in enumerate(pairwise(leaders)) if a != b]
    assert columns_of(rows, "leader_from", "leader_to", "epoch_from", "epoch_to") == history


@given(st.lists(st.sampled_from([1, 2, 3]), min_size=2, max_size=9), st.sets(st.integers(0, 26)))
def test_failover_chain_is_consistent_with_any_witness_missing(leaders: list[int], silent: set[int]) -> None:
    heard = [e for i, e in enumerate(witness_lines(leaders)) if i not in silent]
    rows = rebuild_leaders(heard, [], ClusterContext(), AROUND_AT).failovers
    for before, after in pairwise(rows):
        assert before.leader_to == after.leader_from
        assert before.epoch_to <= after.epoch_from < after.epoch_to
    assert all(r.leader_from != r.leader_to for r in rows)


def test_leader_and_isr_requests_show_leaders(tmp_path: Path) -> None:
    """Until 2.5 the followers of a partition print nothing else of its leader (Kafka 2.3, TRACE)."""
    line = (
        "[{at}] TRACE [Broker id=3] Received LeaderAndIsr request PartitionState(controllerEpoch=1, leader={leader}, \
leaderEpoch={epoch}, isr={isr}, zkVersion={version}, replicas=1,2,3, isNew=false) correlation id 5 from controller 2 \
epoch 1 for partition orders-0 (state.change.logger)\n"
    )
    states = [("11:00:00,000", 1, 0, "1,2,3", 0), ("11:10:00,000", 2, 1, "2,3", 1), ("11:20:00,000", -1, 2, "2", 3)]
    (tmp_path / "broker-3").mkdir()
    (tmp_path / "broker-3" / "state-change.log").write_text(
        "".join(
            line.format(at=f"2026-11-21 {clock}", leader=leader, epoch=epoch, isr=isr, version=version)
            for clock, leader, epoch, isr, version in states
        )
    )
    lines, _ = read_logs(tmp_path, "broker")
    rows = failovers(lines)
    assert columns_of(rows, "happened_at", "leader_from", "leader_to", "epoch_to", "isr_before", "isr_after") == [
        (at("11:10:00.000"), 1, 2, 1, [1, 2, 3], [2, 3]),
        (at("11:20:00.000"), 2, -1, 2, [2, 3], [2]),
    ]
    assert columns_of(rows, "kind", "confidence", "outage_id", "preferred_leader") == [
        ("unknown", "unknown", None, 1),
        ("offline", "possible", None, 1),
    ], "what took the leaders is not shown"


def test_zookeeper_reassignment_to_other_leader_is_only_likely_cause() -> None:
    lines = events("reassignment-2.8")
    others = [replace(e, leader=3) if e.kind == "reassignment_changed" and e.leader else e for e in lines]
    assert [(r.kind, r.confidence) for r in failovers(others)] == [("reassignment", "likely")]
