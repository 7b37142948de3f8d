"""The last words of a run in a terminal."""

import pytest

from kafka_hindsight.report.terminal import Terminal, render_terminal
from tests.support.report_blocks import build_report
from tests.support.report_night import HOSTILE, night, poisoned_night


@pytest.fixture(scope="module")
def report():
    return build_report(*night())


def test_terminal_shows_verdict_findings_advice_and_file_places(report):
    text = " ".join(render_terminal(report).split())
    for phrase in (
        "prod-eu, 2026-10-03 00:00:00 to 2026-10-04 00:00:00 · all times in UTC",
        "ACT. Not seen: 3 lines of 1.9 million and group mail-audit that did not answer in some readings.",
        "! 40 to 52 committed records were lost in risky.raw-0: ",
        "Find the producers of those records and replay them.",
        "broker 2 stopped responding between 02:13:04 and 02:13:13, away for 4 min 27 s. Check that each partition has",
        "critical group ads-etl rebalanced 14 times within 60 minutes → What to do about rebalances excessive.",
        "(also ",
        "Report lake/report/index.html",
        "Log lake/run.log",
    ):
        assert phrase in text


def test_repeated_advice_is_printed_once(report):
    text = " ".join(render_terminal(report).split())
    assert text.count("→ What to do about lag growing.") == 1
    terminal = Terminal(80)
    assert [*terminal.advice("Restart it.", 0), *terminal.advice("Restart it.", 0)] == ["→ Restart it.", "→ as above"]


@pytest.mark.parametrize("width", [60, 80, 120])
def test_terminal_lines_fit_the_width(report, width):
    assert max(map(len, render_terminal(report, width).splitlines())) <= width


def test_hostile_names_cannot_control_the_terminal():
    text = render_terminal(build_report(*poisoned_night(HOSTILE)))
    assert not {c for c in text if not c.isprintable()} - {"\n"}
    assert "line one\\nline" in text
