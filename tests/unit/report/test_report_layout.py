"""The page in a real browser: nothing is cut, covered, or looks like what it is not."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from kafka_hindsight.report.blocks import Page
from kafka_hindsight.report.build import night_of
from kafka_hindsight.report.collection import Collection, collection_page
from kafka_hindsight.report.fleet import Fleet, fleet_page
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.page_rows import PageRows
from tests.support.report_blocks import build_report
from tests.support.report_browser import Browser, found
from tests.support.report_night import HOSTILE, night
from tests.support.report_rows import END

pytestmark = pytest.mark.skipif(found() is None, reason="no Chromium on the PATH: install chromium to look at the page")

INSTALLED = found() or ""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(INSTALLED, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def _written(folder: Path, page: Page) -> str:
    place = folder / "page.html"
    place.write_text(render_html(page), encoding="utf-8")
    return place.as_uri()


def test_plain_statement_has_no_button_border(browser, tmp_path):
    browser.open(f"{_written(tmp_path, build_report(*night()))}#coverage")
    browser.show("coverage")
    borders = "[...document.querySelectorAll('{}')].map(e => getComputedStyle(e).borderTopWidth)"
    assert set(browser.tell(borders.format(".statements .plain"))) == {"0px"}
    assert set(browser.tell(borders.format("#zone, .copy"))) == {"1px"}


UNFOLDED = "document.querySelectorAll('details').forEach(e => { e.open = true; })"


def test_no_table_of_all_clusters_is_cut_at_a_width_of_1280(browser, tmp_path):
    page = PageRows.from_tables(*night())
    fleet = Fleet.of([night_of(page, "run", END).as_dict() | {"cluster": "M3qSc9eLQMSD2A9RXcqTKA"}], [], END)
    browser.open(_written(tmp_path, fleet_page(fleet)), 1280)
    browser.tell(UNFOLDED)
    cut = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.ariaLabel)"
    assert browser.tell(cut) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_page_of_collection_shows_each_log_at_both_widths(browser, tmp_path, width):
    at = END + timedelta(hours=3)
    long = "kafka-cluster-kraft-orders-broker-pool-17//var/log/kafka/state-change.log"
    logs = [
        {"cluster": name, "broker": n, "source": f"{long}-{n}", "origin": "broker", "last_read_at": at,
         "lines_in": 9**9, "unparsed": 0, "last_line_at": at - timedelta(hours=n)}
        for n, name in enumerate((*HOSTILE, *["M3qSc9eLQMSD2A9RXcqTKA"] * 30))
    ]  # fmt: skip
    browser.open(_written(tmp_path, collection_page(Collection.of(logs, at))), width)
    assert len(browser.tell("[...document.querySelectorAll('section')].map(e => e.id)")) == 3
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    cut = "[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth).map(e => e.ariaLabel)"
    assert (browser.tell(wide), browser.tell(cut)) == (0, [])
    browser.show("logs")
    assert browser.tell("document.querySelectorAll('.paged-table tbody tr').length") == 12
    assert (browser.tell(wide), browser.tell(cut)) == (0, [])
    assert browser.said == []


def test_dates_of_window_across_midnight_cover_no_text(browser, tmp_path):
    tables, about = night()
    about["window_to"] = END + timedelta(hours=1)
    page = build_report(tables, about)
    browser.open(_written(tmp_path, page), 1280)
    for view in (view.name for view in page.views if view.title in ("Broker 2", "Group ads-etl")):
        browser.show(view)
        rows = "[...document.querySelectorAll('.row > summary')].filter(e => e.querySelector('time'))"
        gaps = browser.tell(
            f"{rows}.map(e => [e.querySelector('time').textContent, e.querySelector('.what')"
            ".getBoundingClientRect().left - e.querySelector('time').getBoundingClientRect().right])"
        )
        assert gaps and all(at.startswith("2026-10-03 ") and gap > 0 for at, gap in gaps)
