"""The last words of a run in a terminal."""

import pytest

from kafka_hindsight.report.terminal import Terminal, render_terminal
from tests.support.report_blocks import build_report
from tests.support.report_night import HOSTILE, night, poisoned_night


@pytest.fixture(scope="module")
def report():
    return build_report(*night())


def test_it_tells_counts_findings_with_advice_coverage_and_where_to_read_on(report):
    text = " ".join(render_terminal(report).split())
    for said in (
        "prod-eu, 2026-10-03 00:00:00 to 2026-10-04 00:00:00 · all times in UTC",
        "ACT. Not covered: 3 lines of 1.9 million and 1 group in some readings.",
        "! 40 to 52 committed records were lost in risky.raw-0: ",
        "Find out who wrote those records, and send them again.",
        "broker 2 was unresponsive about 02:13:04, away for 4 min 27 s. See that each has a leader",
        "critical group ads-etl rebalanced 14 times within 60 minutes → What to do about rebalances excessive.",
        "(and 1 more like it)",
        "Report lake/report/index.html",
        "Log lake/run.log",
    ):
        assert said in text


def test_the_same_advice_is_given_once(report):
    text = " ".join(render_terminal(report).split())
    assert text.count("→ What to do about lag growing.") == 1
    terminal = Terminal(80)
    assert [*terminal.advice("Restart it.", 0), *terminal.advice("Restart it.", 0)] == ["→ Restart it.", "→ as above"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_keep_to_the_width(report, width):
    assert max(map(len, render_terminal(report, width).splitlines())) <= width


def test_strangers_names_cannot_command_the_terminal():
    text = render_terminal(build_report(*poisoned_night(HOSTILE)))
    assert not {c for c in text if not c.isprintable()} - {"\n"}
    assert "line one\\nline" in text
