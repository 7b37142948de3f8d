"""What a report says of a night: rows in, sentences out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kafka_hindsight.catalog.codes import Harm, WitnessKind
from kafka_hindsight.report.blocks import DECLARED, Badge, Entry, EvidenceLines, Facts, Item, Link, List, Paragraph
from kafka_hindsight.report.build import night_of
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.sections.groups import groups
from kafka_hindsight.report.sections.incidents import incidents
from tests.support import report_blocks as seen
from tests.support.report_blocks import build_report
from tests.support.report_cluster import leadership_gap
from tests.support.report_crowd import crowded_night
from tests.support.report_night import night
from tests.support.report_rows import (
    DAY,
    END,
    at,
    coverage,
    empty,
    failover,
    incident,
    judge,
    made,
    outage,
    rebalance,
    run,
    witnesses,
)


@pytest.fixture(scope="module")
def report():
    return build_report(*night())


def test_verdict_names_mostly_unread_broker_logs_first():
    rows = [
        coverage(source="broker-1/server.log", origin="broker", unparsed=900, events=20),
        coverage(source="broker-2/server.log", origin="broker", events=20),
        coverage(source="broker-3/server.log", origin="broker", unparsed=300, events=600),
    ]
    page = build_report(empty() | {"quality.coverage": rows, "quality.witnesses": witnesses()}, run())
    assert seen.first_paragraph(page, "rebalances") == "No rebalance in what could be read."
    assert seen.first_paragraph(page, "outages") == "No absence of a broker in what could be read."
    assert seen.first_paragraph(page, "incident-list") == "No incident in what could be read."
    led = [seen.text(p) for p in seen.found(Paragraph, seen.section(page, "verdict"))]
    assert led[1] == (
        "Most of what matters in the logs of broker-1 could not be read (900 lines of 1,000): "
        "what is not listed here may have happened."
    )
    assert led[2].endswith("and no group stopped because something failed in what could be read.")


def test_quiet_night_states_that_every_line_was_read():
    page = build_report(empty() | {"quality.coverage": [coverage()], "quality.witnesses": witnesses()}, run())
    led = [seen.text(p) for p in seen.found(Paragraph, seen.section(page, "verdict"))]
    assert led[0] == "CALM. All 1,000 lines could be read."
    assert led[1].startswith("No record was lost, ")


def test_lists_say_what_is_not_there_only_where_nothing_is(report):
    quiet = PageRows.from_tables(empty() | {"quality.coverage": [coverage()], "quality.witnesses": witnesses()}, run())
    assert [seen.text(block) for block in groups(quiet)][-1] == "No group rebalanced."
    assert [seen.text(block) for block in incidents(quiet)] == ["No incident."]
    calm = incident("single", [rebalance("orders", at("05:00:00"), "member_joined")], harm="routine")
    routine = PageRows.from_tables(empty() | {"gold.incidents": [calm]}, run())
    assert next(seen.text(block) for block in incidents(routine)) == "Nothing needs your attention."
    page = PageRows.from_tables(*night())
    assert "No group rebalanced." not in [seen.text(block) for block in groups(page)]
    assert "Nothing needs your attention." not in [seen.text(block) for block in incidents(page)]


def test_night_without_lines_claims_nothing():
    for rows, sentence in (
        ([coverage(lines_in=0)], "No line was read, so nothing is known about what happened."),
        ([], "The lake has no coverage of this window, so it is not known which lines were not read."),
    ):
        page = build_report(empty() | {"quality.coverage": rows}, run())
        led = [seen.text(p) for p in seen.found(Paragraph, seen.section(page, "verdict"))]
        assert led == [f"LOOK. {sentence}", sentence]


def missing(kinds: Sequence[str], **columns: Any) -> list[dict[str, Any]]:
    """The witnesses of a night of which some are missing."""
    return [row | (columns if row["kind"] in kinds else {}) for row in witnesses()]


def test_filtered_logs_are_not_calm_and_have_no_zero():
    rows = missing([*WitnessKind], gap="filtered", level="WARN")
    page = build_report(empty() | {"quality.coverage": [coverage()], "quality.witnesses": rows}, run())
    led = [seen.text(p) for p in seen.found(Paragraph, seen.section(page, "verdict"))]
    assert led[0].startswith("LOOK. ")
    assert not any("no record was lost" in text.lower() for text in led)
    items = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    assert items[0] == (
        "Not known: lost records, partitions without a leader, refused writes, absences of brokers and rebalances,"
        " because no line below WARN by broker 1 was read."
    )
    assert [text.partition(" ")[0] for text in items[1:7]] == ["?"] * 6
    assert items[6] == "? critical findings"


def test_zero_is_claimed_of_what_the_logs_could_show_alone():
    rows = missing(["leaders"], gap="no_logger", loggers=["state.change.logger"])
    page = build_report(empty() | {"quality.coverage": [coverage()], "quality.witnesses": rows}, run())
    led = [seen.text(p) for p in seen.found(Paragraph, seen.section(page, "verdict"))]
    assert (
        "No record was lost, no write was refused, no broker was away and no group stopped because something failed."
        in led
    )
    items = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    assert (
        "Not known: partitions without a leader, because no line at level INFO of state.change.logger by broker 1"
        " was read." in items
    )


def test_withheld_rows_are_named_first_and_make_their_zeros_unknown():
    reasons = ["evidence_quoted: every verdict quotes what proves it"]
    withheld = [
        made("quality.withheld_rows", table="gold.broker_outages", withheld_row_id=str(n), sentences=reasons)
        for n in range(2)
    ]
    rows = {"quality.coverage": [coverage()], "quality.witnesses": witnesses(), "quality.withheld_rows": withheld}
    page = build_report(empty() | rows, run())
    sentence = (
        "2 rows of gold.broker_outages are withheld: they break evidence_quoted (every verdict quotes what proves it)."
    )
    led = [seen.text(p) for p in seen.found(Paragraph, seen.section(page, "verdict"))]
    items = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    assert led[0].startswith("LOOK. ")
    assert not any("no broker was away" in text for text in led)
    assert items[0] == sentence
    assert [text.partition(" ")[0] for text in items[1:6]] == ["0", "0", "0", "?", "0"]
    assert ("warn", sentence) in seen.statements(page, "coverage")


def test_causes_that_the_evidence_does_not_show_are_counted_on_the_first_screen():
    rows = {
        "gold.rebalances": [
            rebalance("orders", at("02:00:00"), "unknown", confidence="unknown"),
            rebalance("orders", at("02:01:00"), "unknown", confidence="unknown"),
            rebalance("orders", at("02:02:00"), "member_left", confidence="possible"),
        ],
        "gold.failovers": [failover("mail", 0, at("02:00:00"), "unknown", confidence="unknown")],
        "gold.truncations": [
            made("gold.truncations", truncation_id=f"t{n}", verdict="unknown", confidence="unknown") for n in range(2)
        ],
        "gold.controller_changes": [
            made("gold.controller_changes", epoch=n, cause="unknown", confidence="unknown", controller_from=before)
            for n, before in enumerate((None, 2))
        ],
    }
    page = build_report(empty() | rows, run())
    items = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    assert (
        "Not known, as the evidence does not show it: whether 2 cuts of logs lost committed records, and the cause of"
        " 1 change of a leader, 1 change of the controller and 2 rebalances."
    ) in items


def test_hours_without_readings_limit_what_is_said_and_not_the_badge():
    parts = [(DAY, at("05:00:00"), True), (at("05:00:00"), END, False)]
    spans = [
        made("quality.input_spans", input="readings", first_at=first, last_at=last, is_read=is_read)
        for first, last, is_read in parts
    ]
    rows = {"quality.coverage": [coverage()], "quality.witnesses": witnesses(), "quality.input_spans": spans}
    page = build_report(empty() | rows, run())
    led = [seen.text(p) for p in seen.found(Paragraph, seen.section(page, "verdict"))]
    items = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    assert led[0].startswith("CALM. ")
    assert any(item.startswith("Not known from 05:00:00 to ") and "lag, stalls" in item for item in items)
    stalls = " ".join(seen.text(p) for p in seen.found(Paragraph, seen.section(page, "stalls")))
    assert "because no reading with committed offsets was read" in stalls


@pytest.mark.parametrize("explained_by", [None, "a leader epoch that no broker had to write"])
def test_gap_that_may_hide_an_event_leaves_no_zero(explained_by):
    """The leader of an epoch that no line shows may have been none: only what explains the gap makes it a zero."""
    rows = {
        "quality.coverage": [coverage()],
        "quality.witnesses": witnesses(),
        "quality.leadership_gaps": [leadership_gap("mail", 2, at("02:30:00"), explained_by=explained_by)],
    }
    tables = empty() | rows
    page = build_report(tables, run())
    led = " ".join(seen.text(p) for p in seen.found(Paragraph, seen.section(page, "verdict")))
    tiles = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    night = night_of(PageRows.from_tables(tables, run()), "run", END)
    assert ("no partition was without a leader" in led) is bool(explained_by)
    assert ("? partitions had no leader" in tiles) is not bool(explained_by)
    assert (night.partitions_offline, night.not_known) == (
        (0, []) if explained_by else (None, [Harm.PARTITIONS_OFFLINE])
    )


@pytest.mark.parametrize(("is_read", "number"), [(True, "70–90"), (False, "70+")])
def test_skipped_records_are_a_lower_bound_unless_the_records_of_commits_were_read(is_read, number):
    """Members whose logs are at hand, and readings between two commits, show the jumps of some groups alone."""
    span = made("quality.input_spans", input="records", first_at=DAY, last_at=END, is_read=is_read)
    jump = made("gold.offset_jumps", cause="retention", records_low=70, records_high=90, resumed_at=at("02:00:00"))
    page = build_report(empty() | {"gold.offset_jumps": [jump], "quality.input_spans": [span]}, run())
    tiles = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    assert f"{number} records skipped by groups" in tiles


def test_clocks_that_differ_leave_no_zero_and_no_exact_figure():
    rows = {
        "quality.coverage": [coverage()],
        "quality.witnesses": witnesses(),
        "gold.findings": [made("gold.findings", rule_id="clocks_differ", severity="warning", message="clocks differ")],
        "gold.broker_outages": [outage(1, at("02:00:00"), "crash")],
    }
    page = build_report(empty() | rows, run())
    tiles = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    assert {
        "? groups stopped by a failure",
        "? partitions had no leader",
        "1+ time a broker went down: 1 crashed or hung",
    } <= {*tiles}


def test_origin_of_a_long_headline_is_cut_behind_its_names():
    """Several incidents of one harm share their beginning: each is named by what began it, whatever follows."""
    tail = ", away for 20 s, and 31 partitions of 4 topics may have taken no writes with acks=all" + " again" * 40
    incidents = [
        made("gold.incidents", harm="partitions_offline", incident_id=f"i{n}", is_over=True, confidence="likely",
             headline=f"2 partitions of mail had no leader, the longest for 3 s: broker {n} crashed{tail}")
        for n in (1, 2)
    ]  # fmt: skip
    page = build_report(empty() | {"gold.incidents": incidents}, run())
    said = " ".join(seen.text(item) for item in seen.found(Item, seen.section(page, "verdict")))
    assert "broker 1 crashed (declared) (likely); broker 2 crashed (declared) (likely)" in said


def test_times_of_what_could_not_all_be_shown_have_no_upper_bound():
    rows = {
        "gold.unavailability": [
            made(
                "gold.unavailability", kind="no_leader", topic="mail", partition=0, started_at=at("02:00:00"),
                ended_at=at("02:00:16"), low_ms=9_000, high_ms=20_000, confidence="certain",
            )
        ],
        "quality.witnesses": witnesses(gap="no_logger", loggers=["state.change.logger"]),
    }  # fmt: skip
    page = build_report(empty() | rows, run())
    tiles = [seen.text(item) for item in seen.found(Item, seen.section(page, "verdict"))]
    assert "1+ partition had no leader, at least 9 partition-seconds" in tiles


def test_one_rebalance_is_worded_in_the_singular():
    rows = {
        "gold.rebalances": [rebalance("orders", at("02:00:00"), "member_left", seconds=0.5)],
        "quality.coverage": [coverage()],
        "quality.witnesses": witnesses(),
    }
    page = build_report(empty() | rows, run())
    assert ("good", "No generation of a group is missing.") in seen.statements(page, "coverage")
    assert seen.timeline(page).lanes[0].note == "1 rebalance"


def test_coverage_counts_unexplained_breaks_in_generations_and_epochs(report):
    statements = [sentence for _, sentence in seen.statements(report, "coverage")]
    assert (
        "1 break in the generations of 1 group has no explanation: at least 2 rebalances are missing here."
        " 1 further break is explained."
    ) in statements
    assert "1 break in the leader epochs of 1 partition has no explanation: the leader in between is unknown." in (
        statements
    )


def test_unbalanced_account_of_lines_is_a_warning():
    statements = seen.statements(build_report({"quality.coverage": [coverage(ignored=990)]}, run()), "coverage")
    assert statements[0] == (
        "warn",
        "The account of lines does not balance: 1,000 lines were read, the fate of 990 is known.",
    )


def test_incidents_are_ordered_by_harm_and_declared_ones_are_labelled(report):
    (harmful,) = seen.found(List, seen.section(report, "incident-list"))
    lines = [(item.tone, seen.text(item)) for item in harmful.items]
    assert lines[:5] == [
        (
            "act",
            "06:39:00  40 to 52 committed records were lost in risky.raw-0: no replica could take over from broker 2"
            " and a replica out of sync became the leader · over · certain · records lost",
        ),
        (
            "act",
            "02:13:04  30 partitions of 3 topics had no leader, the longest for at least 1.8 s: broker 2 stopped"
            " responding between 02:13:04 and 02:13:13, away for 4 min 27 s · over · certain · partitions"
            " without a leader",
        ),
        (
            "look",
            "05:30:00  Broker 3 was out of sync in 12 partitions for 10 min: it was alive and fetched too late · over"
            " · likely · data at risk",
        ),
        ("look", "06:38:00  Broker 1 was shut down at 06:38:00, away for 41 s · over · certain · data at risk"),
        (
            "look",
            "05:10:00  Group ads-etl rebalanced 14 times within 9 min 16 s, in a storm: a member joined · over · likely"
            " · consumers stopped",
        ),
    ]
    (group,) = (view.name for view in report.views if view.title == "Group checkout-worker")
    stories = seen.entries(report, f"{group}/group-rebalances")
    assert len(stories) == 9 and all(DECLARED in story.badges for story in stories)
    others = [seen.text(i) for i in harmful.items if DECLARED in seen.found(Badge, i)]
    assert others == []


def test_equal_incidents_are_one_line_that_leads_to_each(report):
    crashes = [
        outage(1, at("02:00:00", plus=600.0 * i), "crash", explanation="Broker 1 crashed.", elections=0)
        for i in range(12)
    ]
    tables = empty() | {"gold.broker_outages": crashes}
    judge(tables)
    page = build_report(tables, run())
    (line,) = seen.found(Item, seen.section(page, "incident-list"))
    assert " · 12 times · over" in seen.text(line)
    views = {view.name for view in page.views}
    assert len({link.anchor for link in seen.found(Link, line)} & views) == 12


@pytest.mark.parametrize("unsure", [0, 1, 2])
def test_headline_is_no_surer_than_any_incident_that_it_stands_for(unsure):
    """Also where it stands for several, by 'also at' and '3 times': the first row's confidence is not all rows'."""
    rows = [rebalance("orders", at("02:00:00", plus=600.0 * n), "member_dead", seconds=n + 1.0) for n in range(3)]
    same = {
        "headline": "Group orders rebalanced",
        "recurrence_id": "same",
        "harm": "consumers_stopped",
        "is_over": True,
    }
    incidents = [
        incident("single", [row], confidence="possible" if n == unsure else "certain", **same)
        for n, row in enumerate(rows)
    ]
    page = build_report(empty() | {"gold.rebalances": rows, "gold.incidents": incidents}, run())
    (line,) = seen.found(Item, seen.section(page, "incident-list"))
    assert " · 3 times · over · possible" in seen.text(line)
    first = " ".join(seen.text(each) for each in seen.found(Paragraph, seen.section(page, "verdict")[0]))
    assert "Causes are certain unless marked." in first


def test_incident_and_its_outage_and_rebalances_link_to_each_other(report):
    (worst,) = [v for v in report.views if v.name.startswith("incident-") and "broker 2 stopped responding" in v.title]
    (cut,) = [e for e in seen.found(Entry, report) if e.headline == "Broker 2 stopped responding"]
    (moments,) = (s.blocks for s in worst.sections if s.name == "moments")
    assert seen.found(Link, moments)[0].anchor == cut.anchor
    assert [link.anchor for link in seen.found(Link, cut)] == [worst.name]
    (rebalances,) = (s.blocks for s in worst.sections if s.name == "rebalances")
    first = next(link.anchor for link in seen.found(Link, rebalances) if "/" in link.anchor)
    group, _, anchor = first.partition("/")
    (story,) = [e for e in seen.entries(report, f"{group}/group-rebalances") if e.anchor == anchor]
    assert worst.name in [link.anchor for link in seen.found(Link, story)]


def test_unclean_election_is_listed_with_its_loss(report):
    (row,) = [row for row in seen.paged_table(report, "failovers") if row["Why"].startswith("unclean election")]
    assert (row["Partition"], row["Leader"], row["Records lost"]) == ("risky.raw-0", "none → 1", "40 to 52 records")


def test_times_of_an_outage_are_shown_from_its_start(report):
    def moments(page, headline):
        (entry,) = [e for e in seen.found(Entry, page) if e.headline == headline]
        return [(fact.label, seen.text(fact.value).partition(" ")[2]) for fact in seen.found(Facts, entry)[0].facts]

    assert moments(report, "Broker 2 stopped responding")[:3] == [
        ("Last sign of life", ""), ("Detected", "after 9.3 s"), ("Back", "after 4 min 27 s"),
    ]  # fmt: skip
    lost = build_report({"gold.broker_outages": [outage(3, at("01:58:00"), "crash", up_at=None)]}, run())
    assert moments(lost, "Broker 3 crashed") == [
        ("Last sign of life", ""),
        ("Detected", "after 9.3 s"),
        ("Back", "in this window"),
    ]


def test_imbalance_of_each_broker_is_that_of_the_last_and_the_worst_reading(report):
    one, two, _ = seen.rows(report, "brokers")
    assert seen.cells(one)[3] == "80% (24 of 30 led elsewhere), 80% at worst at 06:40:00"
    assert seen.cells(two)[3].endswith("80% at worst at 02:20:00")
    assert [row.cells[3].style for row in (one, two)] == ["bad", ""]


def test_broker_without_preferred_partitions_shows_no_ratio():
    rows = [
        made(
            "gold.leader_imbalance",
            snapshot_at=at("01:00:00"),
            broker=4,
            preferred_partitions=0,
            led_elsewhere=0,
            over_threshold=False,
        )
    ]
    (row,) = seen.rows(build_report({"gold.leader_imbalance": rows}, run()), "brokers")
    assert seen.cells(row)[3] == "preferred for none"


def test_stalls_that_began_together_are_one_row_of_their_group_and_topic(report):
    rows = [seen.cells(row) for row in seen.rows(report, "stalls")]
    assert [
        (group, topic, partitions, kind, largest) for group, topic, partitions, kind, *_, largest, _, _, _, _ in rows
    ] == [
        ("ads-etl", "clicks", "0-3", "stood while its owner moved others", "1,200,000"),
        ("billing", "payments.v2", "0-3", "stood with all of its owner", "9,000"),
        ("mail-audit", "mail", "0-3", "fell behind", "34,000"),
    ]
    assert rows[0][4:6] == ["before to 03:05:00", "the last reading"]
    assert rows[0][8:11] == ["ads-etl-1", "2 of 3 moved, 1 had nothing to read", "likely"]


def test_jumps_of_a_group_are_one_sentence_with_bounds(report):
    said = [seen.text(p) for p in seen.found(Paragraph, seen.section(report, "offset-jumps"))]
    assert said[:2] == [
        "Group ads-etl may have read records again: its owner before ended without committing how far it had come.",
        "Group billing skipped 70 records: retention had removed the records that came next.",
    ]
    rows = [seen.cells(row) for row in seen.rows(report, "offset-jumps")]
    assert sorted((row[0], row[5]) for row in rows) == [("ads-etl", "0+"), ("ads-etl", "0–90"), ("billing", "70")]


def test_night_without_jumps_says_what_would_have_shown_them():
    readings = {"bronze.offset_snapshots": [{"snapshot_at": at("03:00:00"), "lag": 0}]}
    said = [seen.first_paragraph(build_report(tables, run()), "offset-jumps") for tables in ({}, readings)]
    assert said == [
        "Whether groups skipped records, or read some again, is not known: members' logs, readings with committed"
        " offsets and records of __consumer_offsets would show it.",
        "By readings with committed offsets no group skipped records or read some again. Not at hand: members' logs and"
        " records of __consumer_offsets, which would show more.",
    ]


def test_night_without_stalls_says_what_was_read():
    readings = {"bronze.offset_snapshots": [{"snapshot_at": at("01:00:00"), "lag": 4}]}
    said = [seen.first_paragraph(build_report(tables, run()), "stalls") for tables in ({}, readings)]
    assert said == [
        "Whether partitions stood still or fell behind is not known: no reading shows committed offsets.",
        "1 reading shows committed offsets. While records waited for an owner that readings or records show,"
        " no partitions stood still and no partitions fell behind.",
    ]


def test_findings_of_one_rule_share_their_advice(report):
    assert [(e.tone, e.headline, len(seen.found(Item, e))) for e in seen.entries(report, "findings")] == [
        ("critical", "Records truncated", 1),
        ("critical", "Rebalances excessive", 1),
        ("warning", "Lag growing", 2),
        ("warning", "Leader imbalance", 1),
        ("info", "Group unanswered", 1),
    ]


def test_timeline_lists_brokers_above_groups_by_number_of_rebalances(report):
    lanes = [(lane.kind, lane.label) for lane in seen.timeline(report).lanes[:6]]
    assert lanes[:4] == [("controller", "Controller"), *(("broker", f"Broker {b}") for b in (1, 2, 3))]
    assert lanes[4:6] == [("partition", "risky.raw"), ("group", "ads-etl")]
    counts = [int(lane.note.split()[0]) for lane in seen.timeline(report).lanes if lane.kind == "group"]
    assert counts == sorted(counts, reverse=True)


def test_gravest_changes_of_a_topic_name_their_partition(report):
    (topic,) = [view for view in report.views if view.title == "Topic risky.raw"]
    headlines = [entry.headline for entry in seen.found(Entry, topic) if entry.style == "failover"]
    assert headlines and all(headline.startswith("risky.raw-") for headline in headlines)


def test_first_screen_marks_each_cause_that_is_not_certain(report):
    lead = seen.section(report, "verdict")[0]
    sentences = [seen.text(each) for kind in (Item, Paragraph) for each in seen.found(kind, lead)]
    assert any("it was alive and fetched too late (likely)" in sentence for sentence in sentences)
    assert "Causes are certain unless marked." in sentences


def test_topic_with_lost_records_is_above_topic_without_leader():
    lost = failover("lost", 0, at("03:00:00"), "unclean_election", leaderless_ms=1_000)
    offline = failover("lost", 1, at("03:30:00"), "offline", leaderless_ms=1_000)
    waited = failover("waited", 0, at("04:00:00"), "offline", leaderless_ms=60_000)
    page = build_report(empty() | {"gold.failovers": [waited, lost, offline]}, run())
    assert [lane.label for lane in seen.timeline(page).lanes if lane.kind == "partition"] == ["lost", "waited"]


def test_timeline_span_has_the_time_of_its_rebalance(report):
    (span,) = next(lane for lane in seen.timeline(report).lanes if lane.label == "billing").spans
    assert (span.start, span.end) == (at("03:05:12"), at("03:06:14"))
    assert span.says == "03:05:12, 1 min 2 s: max poll interval exceeded"


def test_groups_left_out_of_the_timeline_are_counted():
    rows = [rebalance(f"g{i:03d}", at("02:00:00"), "member_left") for i in range(30)]
    timeline = seen.timeline(build_report({"gold.rebalances": rows}, run()))
    assert len(timeline.lanes) == 24
    assert timeline.left_out == ("6 groups with fewer rebalances, 6 in all",)


def test_order_of_rows_does_not_change_the_report(report):
    tables, about = night()
    assert build_report({name: rows[::-1] for name, rows in tables.items()}, about) == report


def test_report_with_many_rebalances_limits_quotes_and_counts_the_rest():
    few, many = (
        {
            (len(evidence.quotes), evidence.left_out)
            for entry in seen.found(Entry, build_report(*one_night).views)
            for evidence in seen.found(EvidenceLines, entry if entry.style == "rebalance" else ())
        }
        for one_night in (night(), crowded_night(5_000))
    )
    assert (few, many) == ({(2, 0)}, {(2, 0), (2, 2)})


def test_group_without_consumers_at_the_end_says_for_how_long():
    stops = [(at("01:00:00"), at("01:00:08")), (at("02:30:00"), None)]
    rows = [
        made(
            "gold.unavailability", unavailability_id=f"{start}", kind="no_consumer", group_id="orders",
            started_at=start, ended_at=end, low_ms=60_000, confidence="certain", intent="unknown",
        )
        for start, end in stops
    ]  # fmt: skip
    tables = {"gold.rebalances": [rebalance("orders", at("02:00:00"), "member_left")], "gold.unavailability": rows}
    page = build_report(empty() | tables, run())
    (group,) = (view.name for view in page.views if view.title == "Group orders")
    (facts,) = seen.found(Facts, seen.section(page, f"{group}/answer"))
    stopped = next(seen.text(fact.value) for fact in facts.facts if fact.label == "No member consumed")
    assert stopped == "for 8 s, and none since 02:30:00"
