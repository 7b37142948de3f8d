"""What a report says of settings that would have helped: rows in, a block out."""

from kafka_hindsight.report.blocks import Fact, Link
from kafka_hindsight.report.sections import remedies as section
from tests.support import report_blocks as seen
from tests.support.report_blocks import build_report
from tests.support.report_night import night
from tests.support.report_rows import at, empty, made, rebalance, run


def remedy(setting, group="orders", avoided=(), **columns):
    return made(
        "gold.remedies",
        setting=setting,
        group_id=group,
        rebalances_total=5,
        rebalances_avoided=len(avoided),
        rebalance_ids=[r["rebalance_id"] for r in avoided],
        **columns,
    )


def report_of(remedies, rebalances=()):
    return build_report(empty() | {"gold.remedies": remedies, "gold.rebalances": list(rebalances)}, run())


def test_remedy_that_avoids_most_is_listed_first_with_links_to_rebalances():
    rows = [rebalance("orders", at("01:00:00", plus=n), "member_left") for n in range(3)]
    page = report_of(
        [
            remedy("cooperative_assignment", "billing", partition_seconds_avoided=9.0),
            remedy("cooperative_assignment", "orders", partition_seconds_avoided=90.0),
            remedy("session_timeout", avoided=rows[:1]),
            remedy("static_membership", avoided=rows),
        ],
        rows,
    )
    rows_shown = seen.rows(page, "remedies")
    assert [[seen.cells(row)[i] for i in (0, 1, 4)] for row in rows_shown] == [
        ["orders", "static membership group.instance.id", "3 of 5"],
        ["orders", "a longer session timeout session.timeout.ms", "1 of 5"],
        ["orders", "a cooperative assignor partition.assignment.strategy", "0 of 5"],
        ["billing", "a cooperative assignor partition.assignment.strategy", "0 of 5"],
    ]
    group, *times = [seen.text(link.text) for link in seen.found(Link, rows_shown[0])]
    assert (group, times) == ("orders", ["01:00:00", "01:00:01", "01:00:02"])
    assert "2 groups" in seen.first_paragraph(page, "remedies")
    assert "not a promise" in seen.first_paragraph(page, "remedies")


def test_shown_setting_has_its_cost_and_source():
    price = seen.text(seen.section(report_of([remedy("session_timeout")]), "remedies")[-1])
    assert price.startswith("A longer session timeout (session.timeout.ms) has a cost: ")
    assert "KIP-735" in price


def test_night_without_remedies_says_so():
    (paragraph,) = seen.section(report_of([]), "remedies")
    assert seen.text(paragraph) == "No setting is known that would have avoided a rebalance, or its cost."


def test_remedies_beyond_the_limit_are_counted():
    page = report_of([remedy("session_timeout", f"g{n}") for n in range(section.SHOWN + 7)])
    assert len(seen.rows(page, "remedies")) == section.SHOWN
    assert "7 more in gold.remedies." in map(seen.text, seen.section(page, "remedies"))


def test_each_rebalance_shows_its_cost():
    stories = [row.detail for row in seen.rows(build_report(*night()), "rebalances")]
    assert all("Cost" in [fact.label for fact in seen.found(Fact, story)] for story in stories)
