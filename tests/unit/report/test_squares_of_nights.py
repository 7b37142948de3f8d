"""The calm page's squares: one for each window before, readable without colour, each a link to its page."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import READS, EarlierWindow, PageRows, PastWindows
from kafka_hindsight.report.sections.first_screen import SQUARES, nights_before
from tests.unit.report.test_report_producers import RUN


def page(*states: str | None) -> PageRows:
    """A page with a window of each state before it, the oldest first; one whose state is not known has no page."""
    numbers = dict.fromkeys(("rebalances", "partition_seconds", "failovers", "leaderless_ms"), 0.0)
    days = range(len(states), 0, -1)
    windows = [
        EarlierWindow(
            window_from=RUN.window_from - timedelta(days=day), state=state, page=state and f"{day}.html", **numbers
        )
        for day, state in zip(days, states, strict=True)
    ]
    return PageRows(dict.fromkeys(READS, ()), replace(RUN, history=PastWindows(windows=windows)))


def test_squares_are_letters_that_lead_to_the_nights() -> None:
    (paragraph,) = nights_before(page("act", "calm", "look", None))
    assert ui.plain_text(paragraph.words) == "The 4 windows before (A act, L look, C calm): A C L ?"
    links = [word for word in paragraph.words[1] if isinstance(word, ui.PageLink)]
    assert [(link.page, link.style) for link in links] == [("4.html", "act"), ("3.html", "calm"), ("2.html", "look")]
    assert links[0].says.endswith(": act")


def test_no_more_than_a_month_of_squares() -> None:
    (paragraph,) = nights_before(page(*["calm"] * (SQUARES + 5)))
    assert len([word for word in paragraph.words[1] if isinstance(word, ui.PageLink)]) == SQUARES


def test_first_night_has_no_squares() -> None:
    assert [*nights_before(page())] == []
