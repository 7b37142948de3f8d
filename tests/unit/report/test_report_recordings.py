"""The first screen of what was captured in the recorded nights of 2.8, 3.9 and 4.1, as a browser shows it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings
from kafka_hindsight.judgements.partitions.unavailability import rebuild_unavailability
from kafka_hindsight.report.html import render_html
from tests.support.incidents import judged_incidents
from tests.support.nights import WHOLE, events
from tests.support.outages import rebuild_outages
from tests.support.partitions import histories_of, rebuild_isr_changes, rebuild_leaders
from tests.support.report_blocks import build_report
from tests.support.report_browser import Browser, found
from tests.support.report_rows import END

pytestmark = pytest.mark.skipif(found() is None, reason="no Chromium on the PATH: install chromium to look at the page")

STOPPED = "Check that the missing replicas are back, and find out why they went."
OFFLINE = "Check that each partition has a leader, and find out why its broker was away."
LOST = "Find the producers of those records and replay them."
HEADLINES = {
    "unclean-2.8": [
        "40 committed records were lost in ads-risky-18-0 (unclean election at 01:54:32): broker 1 crashed between"
        " 01:54:16 and 01:54:31, away for 1.5 s to 29.6 s."
        f" {LOST}",
        "Partition ads-risky-18-0 took no writes with acks=all for at most 9.8 s: broker 2 crashed between"
        f" 01:54:07 and 01:54:16, away for 13.6 s to 23.3 s. {STOPPED}",
    ],
    "unclean-4.1": [
        "40 committed records were lost in fraud-risky-19-0 (unclean election at 01:52:56): broker 1 crashed at"
        f" 01:52:41, away for 20.5 s. {LOST}",
        "Partition fraud-risky-19-1 had no leader for 9.9 s to 12 s: broker 2 crashed at 01:52:25, away for 22 s."
        f" {OFFLINE}",
    ],
    "offline-3.9": [
        "Partition mobile-single-19-0 had no leader for 8.8 s to 16.9 s: broker 1 crashed between"
        f" 02:03:39 and 02:03:47, away for 8.7 s to 16.9 s. {OFFLINE}",
    ],
    "crash-2.8": [
        "Partition shop-events-2 had no leader for 7.9 s to 10.2 s: broker 1 crashed at 01:52:23, away for 17.7 s."
        f" {OFFLINE}",
    ],
    "pause-4.1": [
        "Partition shop-events-5 had no leader for about 9.1 s, at most 21.9 s: broker 1 stopped responding"
        f" between 01:51:57 and 01:52:06, away for 11.3 s to 33.1 s. {OFFLINE}",
    ],
}
"""What was done to the brokers, by the truth of the recordings: the bounds hold each time that a broker was away."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(found() or "", tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def page_of(excerpt: str) -> str:
    lines = events(excerpt)
    outages = rebuild_outages(lines, [], WHOLE)
    context, logs_end = context_of(lines, outages), max(e.happened_at for e in lines)
    leaders = rebuild_leaders(lines, [], context, WHOLE)
    histories = histories_of(lines, [], leaders.leaders, leaders.leaderless, BrokerSettings(), context, logs_end)
    unused = rebuild_unavailability(histories, outages, rebuild_isr_changes(lines, [], context, WHOLE), logs_end, WHOLE)
    failovers = leaders.failovers
    judged = judged_incidents(WHOLE, cluster=excerpt, outages=outages, failovers=failovers, unavailability=unused)
    tables = {
        "gold.incidents": judged.incidents,
        "gold.broker_outages": judged.name(outages),
        "gold.failovers": failovers,
        "gold.unavailability": judged.name_unavailability(unused),
    }
    plain = {name: [row.as_dict() for row in rows] for name, rows in tables.items()}
    window = {"window_from": WHOLE.start, "window_to": WHOLE.end}
    return render_html(build_report(plain, {"cluster": excerpt, "run_id": "run", "run_at": END, **window}))


@pytest.mark.parametrize("excerpt", HEADLINES)
def test_first_screen_of_recorded_night_shows_losses_outages_and_actions(browser, tmp_path, excerpt):
    place = tmp_path / "page.html"
    place.write_text(page_of(excerpt), encoding="utf-8")
    for width, height in ((1600, 1000), (390, 844)):
        browser.open(place.as_uri(), width, height)
        bottoms = "[...document.querySelectorAll('.state, .gravest li')].map(e => e.getBoundingClientRect().bottom)"
        assert max(browser.tell(bottoms)) <= height
        assert browser.tell("[...document.querySelectorAll('.gravest li')].map(e => e.innerText)") == HEADLINES[excerpt]
        assert browser.tell("document.querySelector('.state').innerText") == "Act"
        assert browser.tell("document.documentElement.scrollWidth") == width
