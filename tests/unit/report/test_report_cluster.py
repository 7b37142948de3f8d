"""What a report says of brokers, replicas and data: rows in, sentences out."""

import pytest

from kafka_hindsight.report.blocks import DECLARED, Link
from kafka_hindsight.shared.plain import anchor
from tests.support import report_blocks as seen
from tests.support.report_blocks import build_report
from tests.support.report_cluster import (
    leadership_gap,
    one_more_loss,
    out_of_sync,
    over_gate,
    restart,
    risk,
    truncation,
)
from tests.support.report_rows import at, empty, failover, made, outage, run


def report(**tables):
    return build_report(empty() | {name.replace("__", "."): rows for name, rows in tables.items()}, run())


def broker_entries(page, broker):
    return seen.entries(page, f"{anchor('broker', broker)}/broker-periods")


def statements_on_data(**tables):
    return [sentence for _, sentence in seen.statements(report(**tables), "danger")]


def test_rolling_restart_lists_each_stop_and_brokers_stopped_too_early():
    stops = [outage(b, at("04:00:00", plus=600.0 * b), "controlled_shutdown") for b in (1, 2, 3)]
    page = report(gold__broker_outages=stops, gold__rolling_restarts=[restart(stops)])
    (entry,) = seen.entries(page, "restarts")
    scores = [seen.cells(row) for row in seen.rows(page, "restarts")]
    assert entry.headline == "The cluster was restarted broker by broker: 1, 2 and 3"
    assert [(broker, waited, away) for broker, _, _, away, *_, waited in scores] == [
        ("1", "", "4 min 27 s"),
        ("2", "no", "4 min 27 s"),
        ("3", "yes", "4 min 27 s"),
    ]
    assert "stopped too early: broker 2" in " ".join(map(seen.text, entry.blocks))
    outages = [entry for name in ("1", "2", "3") for entry in broker_entries(page, name)]
    assert [link.anchor for o in outages for link in seen.found(Link, o)] == [entry.anchor] * 3
    assert DECLARED in entry.badges


def test_what_lasted_is_listed_in_order_of_time_and_explained_in_the_view_of_its_broker():
    periods = [out_of_sync(1, at("02:00:00"), kind="outage"), out_of_sync(3, at("05:00:00"))]
    over = over_gate(2, at("04:00:00"), ended_at=at("04:30:00"), ended_by="automatic_election", max_ratio=1.0)
    page = report(
        gold__out_of_sync_periods=periods, gold__imbalance_periods=[over, over_gate(1, at("06:00:00"))],
        gold__broker_outages=[outage(1, at("01:59:00"), "crash")],
    )  # fmt: skip
    assert [row["What"] for row in seen.paged_table(page, "outages")] == [
        "Broker 1 crashed",
        "Broker 1 out of sync for 12 partitions: it was away",
        "Broker 2 was over the threshold of leader imbalance, at worst 100%",
        "Broker 3 out of sync for 12 partitions: it was alive and fetched too late",
        "Broker 1 is over the threshold of leader imbalance, at worst 80%",
    ]
    entries = [entry for name in ("1", "2", "3") for entry in broker_entries(page, name)]
    assert [len(broker_entries(page, name)) for name in ("1", "2", "3")] == [3, 1, 1]
    assert {link.anchor for link in seen.found(Link, seen.section(page, "outages"))} == {e.anchor for e in entries}
    assert "ended by: Kafka's own preferred election" in " ".join(map(seen.text, entries[3].blocks))
    assert "lost again twice" in " ".join(map(seen.text, entries[4].blocks))
    assert entries[2].cost.startswith("not over; ")


def test_truncation_without_lost_committed_records_is_one_statement():
    cuts = [truncation("orders", p, at("02:00:00"), "nothing_committed_lost", records_cut=3) for p in range(2)]
    assert statements_on_data(gold__truncations=cuts) == ["2 truncations removed no committed record."]


def test_truncation_with_loss_is_listed_before_unknown_one():
    cuts = [truncation("a", 0, at("02:00:00"), "unknown"), truncation("a", 1, at("03:00:00"), "committed_lost")]
    page = report(gold__truncations=cuts)
    entries = seen.entries(page, "topic-truncations")
    assert [(e.headline.rpartition(" ")[2], e.cost) for e in entries] == [
        ("a-1", "lost: committed records"), ("a-0", "lost: not known"),
    ]  # fmt: skip
    assert seen.statements(page, "danger") == [
        ("bad", "1 truncation removed committed records: a."),
        ("warn", "It is not known what 1 truncation removed: a."),
    ]
    (topic,) = seen.paged_table(page, "topics")
    assert (topic["Topic"], topic["Truncations"]) == ("a", "2")


def test_risk_statement_names_the_partition_at_risk_for_longest():
    risks = [
        risk("a", p, one_from_offline_ms=60_000 * (p + 1), one_from_unclean_ms=0, under_min_isr_ms=0) for p in (0, 1)
    ]
    assert statements_on_data(gold__partition_risks=risks) == [
        "2 partitions were one failure away from being offline: the longest a-1, for 2 min in all."
    ]


def test_unknown_risk_time_is_a_question_mark_and_not_zero():
    (shown,) = seen.rows(report(gold__partition_risks=[risk("a", 0, known_ms=0)]), "topic-risks")
    *_, from_offline, _, _, known_share, _ = seen.cells(shown)
    assert (from_offline, known_share) == ("?", "0%")


@pytest.mark.parametrize(
    ("cost", "tone", "sentence"),
    [
        ((2, 0), "bad", "Without broker 3, 2 partitions would have no replica in sync"),
        ((0, 1), "warn", "Without broker 3, at least 1 partition could not take writes with acks=all"),
        (
            (1, 4),
            "bad",
            "Without broker 3, 1 partition would have no replica in sync"
            " and at least 4 partitions could not take writes with acks=all",
        ),
        (
            (0, 0),
            "good",
            "Without any one broker or rack, each partition that has a leader would keep a replica in sync",
        ),
    ],
)
def test_cost_of_one_more_loss_is_one_statement(cost, tone, sentence):
    page = report(bronze__snapshot_readings=[one_more_loss("broker", "3", *cost)])
    assert (tone, f"{sentence}, by the reading at 23:50:00.") in seen.statements(page, "danger")


def test_unexplained_epoch_gap_is_a_warning_in_coverage():
    gap, other = (
        leadership_gap("mail", 2, at("02:30:00")),
        leadership_gap("mail", 3, at("01:00:00"), explained_by="a shrink"),
    )
    page = report(quality__leadership_gaps=[other, gap])
    assert (
        "warn",
        "1 break in the leader epochs of 1 partition has no explanation: the leader in between is unknown.",
    ) in seen.statements(page, "coverage")
    assert [row.cells[-1].style for row in seen.rows(page, "coverage")] == ["wide warn", "wide"]


def test_missing_broker_log_is_a_warning_in_coverage():
    silent = made(
        "gold.findings", rule_id="broker_log_missing", severity="warning", message="no log of broker 2 was read"
    )
    assert ("warn", "No log of broker 2 was read.") in seen.statements(report(gold__findings=[silent]), "coverage")


def test_leaderless_time_without_exact_value_is_shown_as_bounds():
    row = failover(
        "t", 0, at("01:00:00"), "broker_crash", leaderless_ms=None, leaderless_low_ms=900, leaderless_high_ms=4_000
    )
    (shown,) = seen.paged_table(report(gold__failovers=[row]), "failovers")
    assert shown["Without a leader"] == "900 ms to 4 s"


def test_out_of_sync_period_of_running_broker_is_on_its_timeline_lane():
    (lane,) = seen.timeline(report(gold__out_of_sync_periods=[out_of_sync(3, at("05:30:00"))])).lanes
    (span,) = lane.spans
    assert (lane.label, lane.note, span.shape) == ("Broker 3", "out of sync once", "tail")
    assert span.says == "05:30:00, 10 min: out of sync: it was alive and fetched too late"


def test_end_that_the_logs_do_not_show_is_not_said_to_lie_ahead():
    row = out_of_sync(3, at("05:30:00"), ended_at=None, partitions_out=2, observed_until=at("05:50:00"))
    page = report(gold__out_of_sync_periods=[row])
    (span,) = seen.timeline(page).lanes[0].spans
    assert (span.end, span.says) == (
        at("05:50:00"),
        "05:30:00, to an end that the logs do not show: out of sync: it was alive and fetched too late",
    )
    (entry,) = broker_entries(page, "3")
    assert entry.cost.startswith("not known whether over; ")
    text = " ".join(map(seen.text, entry.blocks))
    assert "to an end that the logs do not show; " in text
    assert "2 partitions not shown to have it back" in text
