"""What a report says of a night: rows in, sentences out."""

from datetime import timedelta

import pytest

from kafka_hindsight.report.blocks import DECLARED, Entry, Evidence, Item, Link, Paragraph, Step, TableRow
from kafka_hindsight.report.build import build_report
from kafka_hindsight.report.marks import ticks
from tests.support import report_blocks as seen
from tests.support.report_crowd import crowded_night
from tests.support.report_night import night
from tests.support.report_rows import DAY, at, coverage, empty, failover, incident, made, outage, rebalance, run


@pytest.fixture(scope="module")
def report():
    return build_report(*night())


def told(**tables):
    """The verdict of a night that holds these rows."""
    rows = {name.replace("__", "."): rows for name, rows in tables.items()}
    return seen.sentences(build_report(empty() | rows, run()))


def test_the_verdict_counts_rebalances_by_their_events_and_says_what_was_not_seen(report):
    brokers, restart, leaders, *rest = seen.sentences(report)
    assert brokers == "Broker 2 was cut off at 02:13 for 4 min 27 s."
    assert restart == "The cluster was restarted broker by broker: 1 and 3, from 06:38 to 06:49 (declared)."
    assert leaders == (
        "32 leader changes besides 30 in order, a partition was left without a leader once, 1 unclean election"
        " that lost 40 to 52 records."
    )
    assert rest[rest.index(next(s for s in rest if s.startswith("73"))) :] == [
        "73 rebalances in 23 groups, 40 of them from one event: broker 2 was cut off at 02:13; "
        "14 from a storm in group ads-etl from 05:10 on (probably a member joined); "
        "9 from a rolling restart of group checkout-worker at 04:30; the other 10 came one at a time.",
        "Of those 10: a member joined 6 times, cooperative follow-up once, "
        "max poll interval exceeded once, no known cause once and 1 further cause.",
        "The cause is certain for 44 and likely for 28; for 1 the evidence does not show it.",
        "The longest took 1 min 2 s, in group billing, which waited for billing-c.",
        "2 critical findings and 3 warnings.",
        "1 break in the generations of 1 group has no explanation: at least 2 rebalances are missing here.",
        "1 break in the leader epochs of 1 partition has no explanation: the leader in between is unknown.",
        "3 lines of 1.9 million could not be read.",
    ]


def test_where_a_broker_could_mostly_not_be_read_the_verdict_says_so_first_and_states_no_absence():
    rows = [
        coverage(source="broker-1/server.log", origin="broker", unparsed=900, events=20),
        coverage(source="broker-2/server.log", origin="broker", events=20),
        coverage(source="broker-3/server.log", origin="broker", unparsed=200, events=300),
    ]
    page = build_report(empty() | {"quality.coverage": rows}, run())
    assert seen.sentences(page)[:2] == (
        "Most of what matters in the logs of broker-1 could not be read (900 lines of 1,000): "
        "what is not listed here may have happened.",
        "No rebalance of a consumer group in what could be read.",
    )
    assert seen.first_paragraph(page, "outages") == "No absence of a broker in what could be read."
    assert seen.first_paragraph(page, "incidents") == "No incident in what could be read."
    led = [seen.text(p) for p in seen.found(Paragraph, seen.section(page, "verdict"))]
    assert led[1].endswith("what is not listed here may have happened.")
    assert led[2] == "No loss, no failure and no group that stopped in what could be read."


def test_a_quiet_night_claims_no_more_than_was_seen():
    assert told(quality__coverage=[coverage()]) == (
        "No consumer group rebalanced.",
        "Every one of 1,000 lines could be read.",
    )


def test_a_night_of_which_nothing_was_read_claims_nothing():
    nothing = "No line was read, so nothing is known about what happened."
    assert told(quality__coverage=[coverage(lines_in=0)]) == (nothing,)
    assert told() == ("Nothing is recorded about what was read, so what was missed is not known.",)


def test_one_rebalance_is_told_in_the_singular():
    rows = [rebalance("orders", at("02:00:00"), "member_left", seconds=0.5)]
    assert told(gold__rebalances=rows, quality__coverage=[coverage(unparsed=1)])[:5] == (
        "1 rebalance in 1 group.",
        "A member left once.",
        "Its cause is certain.",
        "The longest took 500 ms, in group orders.",
        "No generation of a group is missing.",
    )


def test_several_outages_are_each_told_once():
    crash = outage(3, at("01:58:00"), "crash", confidence="likely", up_at=None)
    cut = outage(2, at("02:13:04"), "unresponsive")
    first = [rebalance(f"a-{i}", at("02:13:10"), "coordinator_moved") for i in range(3)]
    second = [rebalance(f"b-{i}", at("01:58:10"), "coordinator_moved") for i in range(3)]
    incidents = [
        incident("broker_outage", first, first_outage_id=cut["outage_id"]),
        incident("broker_outage", second, first_outage_id=crash["outage_id"]),
    ]
    verdict = told(gold__rebalances=first + second, gold__incidents=incidents, gold__broker_outages=[crash, cut])
    assert verdict[0] == (
        "Broker 3 probably crashed at 01:58 and broker 2 was cut off at 02:13 for 4 min 27 s."
        " Broker 3 had not come back by the end."
    )
    assert verdict[1] == (
        "6 rebalances in 6 groups: 3 from an outage (broker 2 was cut off at 02:13); "
        "3 from an outage (broker 3 probably crashed at 01:58)."
    )


def test_the_outages_of_one_broker_are_added_up():
    cuts = [outage(2, at(f"02:{minute}:00"), "unresponsive") for minute in (13, 40)]
    rows = [
        [rebalance(f"g-{n}-{i}", at("02:13:10"), "coordinator_moved") for i in range(size)]
        for n, size in enumerate((3, 2))
    ]
    incidents = [
        incident("broker_outage", owed, first_outage_id=cut["outage_id"]) for owed, cut in zip(rows, cuts, strict=True)
    ]
    alone = rebalance("orders", at("02:00:00"), "member_left")
    verdict = told(gold__rebalances=[*rows[0], *rows[1], alone], gold__incidents=incidents, gold__broker_outages=cuts)
    assert verdict[2] == "In 2 outages, broker 2 accounts for 5 of the 6."


def test_shutdowns_in_turn_are_counted():
    rows = [outage(b, at(f"04:0{b}:00"), "controlled_shutdown") for b in (1, 2, 3)]
    assert "3 shutdowns in order, of brokers 1, 2 and 3." in told(gold__broker_outages=rows)


def test_a_broker_that_came_back_and_left_for_good_is_gone():
    rows = [outage(2, at("04:00:00"), "crash"), outage(2, at("05:00:00"), "crash", up_at=None)]
    (said,) = (s for s in told(gold__broker_outages=rows) if "crashed" in s)
    assert said == (
        "Broker 2 crashed at 04:00 for 4 min 27 s and broker 2 crashed at 05:00. Broker 2 had not come back by the end."
    )


def test_small_events_of_a_crowded_night_are_counted_and_not_named():
    first, *_ = seen.sentences(build_report(*crowded_night(400)))
    assert "40 from an outage (broker 2 was cut off at 02:13)" in first
    assert "209 from 101 lesser events; the other 210 came one at a time" in first


def test_a_loss_without_an_upper_bound_is_a_lower_bound():
    rows = [failover("t", 0, at("03:00:00"), "unclean_election", records_lost_low=7)]
    assert "1 leader change, 1 unclean election that lost at least 7 records." in told(gold__failovers=rows)


def test_a_refused_publication_says_so_before_anything_else():
    broken = made(
        "quality.validation_results",
        table="gold.rebalances",
        expectation="ends_after_start",
        severity="critical",
        success=False,
        sentences=["Rebalance 4f ends before it starts."],
    )
    box, *_ = seen.section(build_report({"quality.validation_results": [broken]}, run()), "verdict")
    said, broken_ones = box.blocks
    assert box.style == "refusal"
    assert (seen.text(said), *map(seen.text, broken_ones.items)) == (
        "This run was not published: 1 critical expectation did not hold. "
        "What follows is what had been published before, if anything had.",
        "gold.rebalances: ends_after_start. Rebalance 4f ends before it starts.",
    )


def test_lines_that_do_not_add_up_are_no_small_print():
    statements = seen.statements(build_report({"quality.coverage": [coverage(ignored=990)]}, run()), "coverage")
    assert statements[0] == ("warn", "The account of lines does not balance: 1,000 lines went in, 990 came out.")


def test_unread_lines_count_by_shape_however_they_are_given():
    raw = [
        made("quality.unparsed_lines", template="a <n>", line_count=n, text=f"a {n}", line_id=f"{n}") for n in (1, 3)
    ]
    counted = [{"template": "a <n>", "records": 2, "lines": 4, "sample": "a 1"}]
    by_line, by_shape = (
        seen.section(build_report({"quality.unparsed_lines": given}, run()), "unread") for given in (raw, counted)
    )
    assert by_line == by_shape


def test_incidents_come_by_harm_with_a_label_on_what_was_declared(report):
    harmful = seen.entries(report, "incidents")
    assert [(i.headline, i.cost) for i in harmful[:5]] == [
        (
            "40 to 52 committed records were lost in risky.raw-0: no replica could take over from broker 2 and"
            " a replica out of sync became the leader",
            "records lost",
        ),
        (
            "30 partitions of 3 topics had no leader, the longest for at least 1.8 s: broker 2 was cut off about"
            " 02:13:04, away for 4 min 27 s",
            "partitions without a leader",
        ),
        ("Broker 3 was out of sync in 12 partitions for 10 min: it was alive and fetched too late", "data at risk"),
        ("Broker 1 was shut down at 06:38:00, away for 41 s", "data at risk"),
        (
            "Group ads-etl rebalanced 14 times within 9 min 16 s, in a storm: a member joined",
            "consumers stopped",
        ),
    ]
    labelled = [i for i in seen.found(Entry, seen.section(report, "incidents")) if DECLARED in i.badges]
    assert [(i.headline, i.cost) for i in labelled] == [
        ("Group checkout-worker restarted its members one after another, in 9 rebalances within 1 min 29 s", "routine"),
    ]


def test_an_incident_and_what_it_is_made_of_lead_to_each_other(report):
    (worst,) = [i for i in seen.entries(report, "incidents") if "broker 2 was cut off" in i.headline]
    cut = seen.entries(report, "outages")[0]
    links = [link.anchor for link in seen.found(Link, worst)]
    rows = {row.anchor: row for row in seen.rows(report, "rebalances")}
    assert links[0] == cut.anchor
    assert [link.anchor for link in seen.found(Link, cut)] == [worst.anchor]
    assert set(links[1:]) <= set(rows)
    assert [link.anchor for link in seen.found(Link, rows[links[1]])] == [worst.anchor]


def test_an_outage_holds_its_failovers_and_no_other_section_tells_them_again(report):
    cut, shut = seen.entries(report, "outages")
    inside, elsewhere = seen.found(Entry, cut.blocks), seen.entries(report, "failovers")
    assert (cut.headline, [g.headline for g in inside]) == (
        "Broker 2 was cut off",
        ["Broker cut off: 30 leader changes", "Preferred election: 30 leader changes"],
    )
    assert inside[0].note == "__consumer_offsets 0-9, orders.events 0-9 and payments.v2 0-9"
    assert seen.found(Entry, shut.blocks) == []
    assert [g.headline for g in elsewhere] == [
        "Unclean election: 1 leader change",
        "Left without a leader: 1 leader change",
    ]
    (row,) = seen.found(TableRow, elsewhere[0])
    assert {"40 to 52 records", "none → 1"} <= set(seen.cells(row))


def test_an_outage_tells_its_steps_from_its_beginning(report):
    steps = [(s.label, s.after) for s in seen.found(Step, seen.entries(report, "outages")[0])]
    assert steps[:3] == [("Last sign of life", ""), ("Noticed", "9.3 s"), ("Back", "4 min 27 s")]
    lost = build_report({"gold.broker_outages": [outage(3, at("01:58:00"), "crash", up_at=None)]}, run())
    steps = [(s.label, s.after) for s in seen.found(Step, seen.section(lost, "outages"))]
    assert steps == [("Last sign of life", ""), ("Noticed", "9.3 s"), ("Back", "")]


def test_imbalance_tells_since_when_and_what_was_worst(report):
    assert (
        seen.first_paragraph(report, "imbalance")
        == "Over the threshold at the last reading: broker 1 (80%, since 06:40:00)."
    )
    one, two, three = map(seen.cells, seen.rows(report, "imbalance", "Leader imbalance by broker"))
    assert two[3:6] == ["", "80% 02:20:00", "20 min"]
    assert (one[0], three[5]) == ("1", "")


def test_a_broker_that_is_preferred_for_nothing_has_no_ratio():
    rows = [
        made("gold.leader_imbalance", snapshot_at=at("01:00:00"), broker=4, preferred_partitions=0, led_elsewhere=0)
    ]
    report = build_report({"gold.leader_imbalance": rows}, run())
    (row,) = seen.rows(report, "imbalance")
    assert seen.cells(row)[1] == "preferred for none"
    assert seen.first_paragraph(report, "imbalance") == "No broker was over the threshold at any reading."


def test_lag_comes_worst_first_by_group_and_topic(report):
    told = [seen.cells(row) for row in seen.rows(report, "lag")]
    assert [(group, status, partitions, last) for group, status, _, partitions, _, last, *_ in told] == [
        ("billing", "stop: stopped committing", "0-3", "9,000"),
        ("ads-etl", "stall: commits, but stands still", "0-3", "1,200,000"),
        ("mail-audit", "warn: lag never falls", "0-3", "34,000"),
    ]


def test_findings_of_one_rule_share_their_advice(report):
    assert [(e.tone, e.headline, len(seen.found(Item, e))) for e in seen.entries(report, "findings")] == [
        ("critical", "Unclean election", 1),
        ("critical", "Rebalances excessive", 1),
        ("warning", "Lag growing", 2),
        ("warning", "Leader imbalance", 1),
        ("info", "Group unanswered", 1),
    ]


def test_lanes_put_brokers_above_the_groups_in_most_trouble(report):
    lanes = [(lane.kind, lane.label) for lane in seen.timeline(report).lanes[:6]]
    assert lanes[:4] == [("controller", "Controller"), *(("broker", f"Broker {b}") for b in (1, 2, 3))]
    assert lanes[4:6] == [("partition", "risky.raw"), ("group", "ads-etl")]
    counts = [int(lane.note.split()[0]) for lane in seen.timeline(report).lanes if lane.kind == "group"]
    assert counts == sorted(counts, reverse=True)


def test_marks_lie_where_their_time_is(report):
    billing = next(lane for lane in seen.timeline(report).lanes if lane.label == "billing")
    assert billing.marks[0].left == pytest.approx(100 * (at("03:05:12") - DAY) / timedelta(days=1), abs=0.001)
    assert billing.marks[0].width == pytest.approx(100 * 62 / 86_400, abs=0.001)
    assert billing.marks[0].says == "03:05:12, 1 min 2 s: max poll interval exceeded"


def test_every_mark_can_be_seen_and_lies_on_the_axis(report):
    marks = [m for lane in seen.timeline(report).lanes for m in lane.marks]
    assert marks
    assert all(m.width > 0 and 0 <= m.left <= 100 and m.left + m.width <= 100.02 for m in marks)


def test_what_lies_too_near_to_be_told_apart_is_one_mark_that_counts():
    rows = [
        rebalance("g", at("02:00:00", plus=i), "member_left" if i else "member_dead", seconds=0.5) for i in range(4)
    ]
    (lane,) = seen.timeline(build_report({"gold.rebalances": rows}, run())).lanes
    dead, left = lane.marks
    assert (dead.tone, left.tone) == ("lost", "member")
    assert (left.top, left.height) == (0.25, 0.75)
    assert left.says == "02:00:01 to 02:00:03: a member left (3)"


def test_a_lane_of_a_long_storm_stays_drawable():
    rows = [rebalance("g", DAY + timedelta(seconds=17 * i), "member_left", seconds=1) for i in range(5_000)]
    (lane,) = seen.timeline(build_report({"gold.rebalances": rows}, run())).lanes
    assert len(lane.marks) <= 300
    assert lane.note == "5,000 rebalances"


def test_groups_beyond_the_picture_are_counted():
    rows = [rebalance(f"g{i:03d}", at("02:00:00"), "member_left") for i in range(30)]
    timeline = seen.timeline(build_report({"gold.rebalances": rows}, run()))
    assert len(timeline.lanes) == 24
    assert timeline.left_out == ("6 groups with fewer rebalances, 6 in all",)


def test_ticks_are_round_and_the_coarse_ones_come_first(report):
    by_level = [[t.label for t in seen.timeline(report).ticks if t.level <= level] for level in range(2)]
    assert by_level[0] == ["10-03", "06:00", "12:00", "18:00", "10-04"]
    assert by_level[1] == [*by_level[0][:1], *(f"{h:02d}:00" for h in range(3, 24, 3)), "10-04"]


def test_a_window_of_seconds_has_an_axis_too():
    short = run(window_from=at("02:00:00"), window_to=at("02:00:20"))
    drawn = ticks(short["window_from"], short["window_to"])
    assert [t.label for t in drawn if t.level == 0] == ["02:00", "02:00:05", "02:00:10", "02:00:15", "02:00:20"]


def test_the_order_in_which_rows_come_changes_nothing(report):
    tables, about = night()
    assert build_report({name: rows[::-1] for name, rows in tables.items()}, about) == report


def test_many_rebalances_quote_less_and_say_so():
    few, many = (
        seen.found(Evidence, seen.rows(build_report(*given), "rebalances")[0])[0]
        for given in (night(), crowded_night(5_000))
    )
    assert (len(few.quotes), few.left_out) == (2, 0)
    assert (len(many.quotes), many.left_out) == (2, 2)


def test_a_table_that_nobody_declared_is_refused():
    with pytest.raises(ValueError, match=r"gold\.rebalance\b"):
        build_report({"gold.rebalance": []}, run())
