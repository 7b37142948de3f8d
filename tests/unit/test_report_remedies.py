"""What a report says of settings that would have helped: rows in, a block out."""

from spark_jobs.report import remedies as block
from spark_jobs.report.build import build_report
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


def told(remedies, rebalances=()):
    return build_report(empty() | {"gold.remedies": remedies, "gold.rebalances": list(rebalances)}, run()).remedies


def test_what_avoids_most_comes_first_with_the_way_to_each_rebalance():
    rows = [rebalance("orders", at("01:00:00", plus=n), "member_left") for n in range(3)]
    found = told(
        [
            remedy("cooperative_assignment", "billing", partition_seconds_avoided=9.0),
            remedy("cooperative_assignment", "orders", partition_seconds_avoided=90.0),
            remedy("session_timeout", avoided=rows[:1]),
            remedy("static_membership", avoided=rows),
        ],
        rows,
    )
    assert [(r.group_id, r.setting, r.avoided) for r in found.remedies] == [
        ("orders", "static membership", 3),
        ("orders", "a longer session timeout", 1),
        ("orders", "a cooperative assignor", 0),
        ("billing", "a cooperative assignor", 0),
    ]
    assert [link.text for link in found.remedies[0].rebalances] == ["01:00:00", "01:00:01", "01:00:02"]
    assert "2 groups" in found.says
    assert "no promise" in found.says


def test_what_a_setting_costs_is_said_with_its_source_for_those_that_are_told():
    (price,) = told([remedy("session_timeout")]).prices
    assert price.startswith("A longer session timeout (session.timeout.ms) costs something too: ")
    assert "KIP-735" in price


def test_a_night_that_nothing_would_have_helped_says_so():
    assert told([]).says == "No setting is known that would have avoided a rebalance, or its cost."
    assert told([]).prices == ()


def test_more_than_anyone_reads_is_counted():
    found = told([remedy("session_timeout", f"g{n}") for n in range(block.REMEDIES_TOLD + 7)])
    assert (len(found.remedies), found.left_out) == (block.REMEDIES_TOLD, 7)


def test_a_rebalance_tells_its_cost():
    report = build_report(*night())
    assert {r.partition_seconds is None for r in report.rebalances} == {False}
