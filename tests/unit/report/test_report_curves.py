"""The curves of the timeline: each counts subjects inside an interval, as rows show them."""

from datetime import timedelta

from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.report.curves import MOST_POINTS, thin
from tests.support.report_blocks import build_report, timeline
from tests.support.report_rows import DAY, END, at, empty, failover, made, rebalance, run

SECOND = 1_000


def curve(tables, label):
    """The points of a curve, in seconds from midnight; none where it is not drawn."""
    curves = [c for c in timeline(build_report(tables, run())).curves if c.label == label]
    return [(ms / SECOND, value) for c in curves for ms, value in c.points]


def without_leader(partition, start, end):
    return made(
        "gold.unavailability", unavailability_id=row_id(partition, start), kind="no_leader", topic="orders",
        partition=partition, group_id=None, started_at=start, ended_at=end, low_ms=0,
    )  # fmt: skip


def test_leaderless_curve_follows_unavailability_rows():
    tables = empty()
    tables["gold.failovers"] = [failover("orders", 0, at("00:00:30"), "broker_crash")]
    tables["gold.unavailability"] = [
        without_leader(0, at("00:00:20"), at("00:00:30")),
        without_leader(1, at("00:00:25"), at("00:00:30")),
    ]
    assert curve(tables, "Partitions without a leader") == [(0, 0), (20, 1), (25, 2), (30, 0)]


def test_leaderless_curve_lasts_until_the_leader_returns_or_the_window_ends():
    tables = empty()
    tables["gold.failovers"] = [failover("orders", 0, at("00:01:00"), "offline", leader_to=-1)]
    tables["gold.unavailability"] = [
        without_leader(0, at("00:00:55"), at("00:02:00")),
        without_leader(1, at("23:59:00"), None),
    ]
    assert curve(tables, "Partitions without a leader") == [(0, 0), (55, 1), (120, 0), (86_340, 1), (86_400, 0)]


def test_under_replicated_curve_counts_a_partition_once_and_no_reassignment():
    tables = empty()
    for i, (broker, out, until, cause) in enumerate(
        [(1, 10, 40, "slow"), (2, 20, 60, "slow"), (3, 100, 200, "reassignment")]
    ):
        tables["gold.isr_changes"].append(
            made(
                "gold.isr_changes",
                isr_change_id=f"{i:032x}",
                topic="orders",
                partition=0,
                broker=broker,
                change="shrink",
                shrink_cause=cause,
                happened_at=DAY + timedelta(seconds=out),
                out_of_sync_until=DAY + timedelta(seconds=until),
            )
        )
    tables["gold.failovers"] = [failover("orders", 0, at("00:00:30"), "broker_crash")]
    assert curve(tables, "Under-replicated partitions") == [(0, 0), (10, 1), (60, 0)]


def test_curve_counts_rebalancing_groups_once_and_lag_as_read():
    tables = empty()
    tables["gold.rebalances"] = [
        rebalance("a", at("00:00:10"), "member_joined", seconds=10),
        rebalance("a", at("00:00:15"), "member_joined", seconds=10, generation=2),
        rebalance("b", at("00:00:20"), "member_joined", seconds=2),
    ]
    tables["bronze.offset_snapshots"] = [
        {"snapshot_at": at("00:00:20"), "lag": 70},
        {"snapshot_at": at("00:00:10"), "lag": 0},
    ]
    assert curve(tables, "Groups rebalancing") == [(0, 0), (10, 1), (20, 2), (22, 1), (25, 0)]
    assert curve(tables, "Lag of all groups, in records") == [(10, 0), (20, 70)]


def test_curve_that_stays_at_zero_is_not_drawn():
    tables = empty()
    tables["gold.rebalances"] = [rebalance("a", at("00:00:10"), "member_joined")]
    tables["bronze.offset_snapshots"] = [{"snapshot_at": at("00:00:20"), "lag": 0}]
    assert [c.label for c in timeline(build_report(tables, run())).curves] == ["Groups rebalancing"]


def test_thinning_keeps_the_highest_peaks():
    points = [(i * 10, 90 if i == 3_333 else i % 3) for i in range(10_000)]
    kept = thin(points, 100_000)
    assert len(kept) <= MOST_POINTS + 1
    assert max(value for _, value in kept) == 90
    assert kept[-1] == (99_990, 0)


def test_curve_is_cut_to_the_window():
    tables = empty()
    tables["gold.rebalances"] = [rebalance("a", END - timedelta(seconds=5), "member_joined", seconds=60)]
    assert curve(tables, "Groups rebalancing") == [(0, 0), (86_395, 1), (86_400, 0)]
