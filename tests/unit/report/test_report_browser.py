"""The page in a real browser: nothing asked of the network, nothing said on the console, every row found."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from kafka_hindsight.report.html import render_html
from tests.support.report_blocks import build_report
from tests.support.report_browser import DRAWN, Browser, found
from tests.support.report_crowd import crowded_page
from tests.support.report_night import HOSTILE, Night, night, poisoned_night

pytestmark = pytest.mark.skipif(found() is None, reason="no Chromium on the PATH: install chromium to look at the page")

INSTALLED = found() or ""
STALL_MS = 500
"""More processor time than any task of a page may take: twice what they take on a busy machine."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(INSTALLED, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    nights = {"usual": night(), "hostile": poisoned_night(HOSTILE)}
    written = {name: _written(folder / f"{name}.html", made) for name, made in nights.items()}
    return {**written, "crowded": crowded_page().as_uri()}


def _written(place: Path, made: Night) -> str:
    place.write_text(render_html(build_report(*made)), encoding="utf-8")
    return place.as_uri()


def views_of(browser: Browser) -> list[str]:
    return browser.tell("Object.keys(JSON.parse(document.getElementById('views').textContent).places)")


def test_page_has_the_colours_of_the_reader(browser, places):
    for scheme, colour in (("light", "rgb(250, 249, 246)"), ("dark", "rgb(20, 23, 27)")):
        browser.open(places["usual"], scheme=scheme)
        assert browser.tell("getComputedStyle(document.body).backgroundColor") == colour


KINDS = (
    "outage", "controller", "restart", "outofsync", "imbalance", "truncation", "risk", "finding", "break",
)  # fmt: skip


def test_every_kind_of_row_opens_at_its_address(browser, places):
    browser.open(places["usual"])
    last = "[...document.querySelectorAll(`[id^=${kind}-]`)].map(e => e.id).filter(i => i.length > 36)"
    addresses = []
    subjects = [view for view in views_of(browser) if view.startswith(("broker-", "topic-"))]
    for view in ("cluster", "findings", "coverage", *subjects):
        browser.show(view)
        addresses += browser.tell(f"{list(KINDS)}.flatMap(kind => {last.replace('36', '30')}.slice(-1))")
    assert {address.split("-")[0] for address in addresses} == {*KINDS}
    (group, *_) = [view for view in views_of(browser) if view.startswith("group-")]
    browser.show(group)
    addresses.append(f"{group}/{browser.tell('document.querySelector(`[id^=rebalance-]`).id')}")
    for address in addresses:
        browser.open(f"{places['usual']}#{address}")
        place = f"document.getElementById('{address.rpartition('/')[2]}')"
        assert browser.becomes(f"{place}?.matches('.marked')"), address
        low, high = browser.tell(f"(({{bottom, top}}) => [bottom, top])({place}.getBoundingClientRect())")
        assert low > 0 and high < 900, address


def test_address_of_a_row_is_that_of_its_link(browser, places):
    browser.open(places["usual"])
    for view in ("cluster", next(view for view in views_of(browser) if view.startswith("group-"))):
        browser.show(view)
        links = browser.tell("[...document.querySelectorAll('main a.here')].map(e => e.hash.slice(1))")
        assert links
        for address in links[:3]:
            browser.open(f"{places['usual']}#{address}")
            assert browser.becomes(f"document.querySelector('.marked')?.id === '{address.rpartition('/')[2]}'"), address
            assert browser.tell("document.querySelector('main').dataset.view") == view
            assert browser.said == []


def test_names_that_people_write_are_addresses(browser, places):
    """Of the usual night, and of one whose names are hostile."""
    for place in ("usual", "hostile"):
        browser.open(places[place])
        packed = "JSON.parse(document.getElementById('views').textContent)"
        addresses = browser.tell(f"{packed}.addresses")
        assert {address.partition("/")[0] for address in addresses} >= {"group", "topic", "broker"}
        for address, view in {
            address.partition("/")[0]: (address, view) for address, view in addresses.items()
        }.values():
            browser.open(f"{places[place]}#{quote(address)}")
            assert browser.becomes(f"document.querySelector('main').dataset.view === '{view}'"), address


def test_back_returns_to_the_view_before(browser, places):
    browser.open(places["usual"])
    browser.show("groups")
    browser.tell("document.querySelector('.paged-table a').click()")
    assert browser.becomes("document.querySelector('main').dataset.view.startsWith('group-')")
    browser.tell("history.back()")
    assert browser.becomes("document.querySelector('main').dataset.view === 'groups'")
    assert browser.tell("document.querySelector('nav [aria-current=page]').textContent") == "Groups"


def test_page_without_script_shows_its_first_view_and_names_the_commands(browser, places):
    browser.open(places["usual"], script=False)
    text = browser.tell("document.body.innerText")
    assert "40 to 52 committed records were lost in risky.raw-0" in text
    assert "hindsight explain" in text


def test_timeline_is_operated_by_keyboard_alone(browser, places):
    browser.open(f"{places['usual']}#timeline")
    browser.show("timeline")
    browser.tell("document.querySelector('.lanes').focus()")
    view = "document.getElementById('timeline-view').textContent"
    whole = browser.tell(view)
    browser.press("+")
    browser.press("ArrowLeft")
    assert browser.tell(f"{DRAWN}.then(() => {view})") == "03:36:00 to 15:36:00"
    browser.press("0")
    assert browser.tell(f"{DRAWN}.then(() => {view})") == whole
    browser.press("ArrowDown")
    assert "node 3 became the controller" in browser.tell("document.querySelector('.tip').textContent")
    browser.press("ArrowDown")
    tip = browser.tell("document.querySelector('.tip').textContent")
    assert tip == browser.tell("document.activeElement.getAttribute('aria-label')")
    assert "Broker 1 was shut down" in tip
    browser.press("Enter")
    assert browser.becomes("document.querySelector('.marked')?.id.startsWith('outage-')")


def test_zoom_separates_merged_marks(browser, places):
    browser.open(f"{places['usual']}#timeline")
    browser.show("timeline")
    marks = "document.querySelectorAll('.track[aria-label^=orders-index] .m').length"
    from_afar = browser.tell(marks)
    browser.open(f"{places['usual']}#timeline?from=7980000&to=8100000")
    browser.show("timeline?from=7980000&to=8100000")
    assert browser.tell(f"{DRAWN}.then(() => {marks})") > from_afar


def test_hostile_names_are_inert_in_a_browser(browser, places):
    browser.open(places["hostile"])
    for view in views_of(browser):
        browser.show(view)
        assert browser.tell("document.querySelectorAll('main script, main img, main iframe').length") == 0
        assert browser.tell("document.documentElement.scrollWidth") == 1280, view
    assert browser.asked == [places["hostile"]]
    assert browser.said == []


@pytest.mark.parametrize(("width", "height"), [(1600, 1000), (390, 844)])
def test_first_screen_shows_losses_outages_and_actions(browser, places, width, height):
    browser.open(places["usual"], width, height=height)
    low = "[...document.querySelectorAll('.state, .gravest li')].map(e => e.getBoundingClientRect().bottom)"
    assert max(browser.tell(low)) <= height
    assert browser.tell("document.querySelector('.state').innerText") == "Act"
    lost, gone, slow = browser.tell("[...document.querySelectorAll('.gravest li')].map(e => e.innerText)")
    assert lost.startswith("40 to 52 committed records were lost in risky.raw-0: ")
    assert lost.endswith("Find the producers of those records and replay them.")
    assert (
        "had no leader, the longest for at least 1.8 s: broker 2 stopped responding between 02:13:04 and 02:13:13, away"
        " for 4 min 27 s." in gone
    )
    assert "Broker 3 was out of sync" in slow
    assert "3 lines of 1.9 million" in browser.tell("document.querySelector('.state-line').innerText")
    if width == 1600:
        assert browser.tell("document.querySelector('.tiles').getBoundingClientRect().bottom") <= height


@pytest.mark.parametrize(("width", "height"), [(1600, 1000), (390, 844)])
def test_calm_night_fits_one_screen_and_states_coverage(browser, tmp_path, width, height):
    tables, about = night()
    kept = {name: rows if name.startswith("quality.") else [] for name, rows in tables.items()}
    for name in ("unparsed_lines", "quarantine", "leadership_gaps", "generation_gaps"):
        kept[f"quality.{name}"] = []
    for r in kept["quality.coverage"]:
        r.update(unparsed=0, quarantined=0, ignored=r["lines_in"] - r["events"])
    browser.open(_written(tmp_path / "calm.html", (kept, about)), width, height=height)
    assert browser.tell("document.querySelector('.state').innerText") == "Calm"
    text = browser.tell("document.querySelector('.lead').innerText")
    assert "No record was lost, no partition was without a leader" in text and "could be read" in text
    assert re.search(r"Checked: \d+ logs and \d+ rules\.", text) and "expectations" not in text
    assert browser.tell("document.querySelectorAll('.tiles .bad, .tiles .warn').length") == 0
    assert browser.tell("document.querySelector('.tiles').getBoundingClientRect().bottom") <= height


@pytest.mark.parametrize("width", [390, 1280])
def test_finding_below_critical_is_folded_and_unfolds(browser, places, width):
    browser.open(f"{places['usual']}#findings", width)
    browser.show("findings")
    rows = "[...document.querySelectorAll('#findings > .finding')]"
    assert browser.tell(f"{rows}.map(e => [e.open, e.classList.contains('critical')])") == [
        *([[True, True]] * 2),
        *([[False, False]] * 3),
    ]
    heights = f"{rows}.map(e => e.getBoundingClientRect().height)"
    folded = browser.tell(heights)
    assert max(folded[2:]) < 130 < min(folded[:2])
    browser.tell(f"{rows}[2].querySelector('summary').click()")
    assert browser.tell(f"{DRAWN}.then(() => {heights}[2])") > folded[2]
    browser.tell(f"{rows}[2].querySelector('summary').click()")
    assert browser.tell(f"{DRAWN}.then(() => {heights})") == folded


def test_night_of_two_thousand_groups_opens_within_a_second(browser, places):
    # The processor time of the page's own thread: other work on the machine does not count.
    browser.call("Performance.enable", timeDomain="threadTicks")
    browser.open(places["crowded"])
    measured = {m["name"]: m["value"] for m in browser.call("Performance.getMetrics")["metrics"]}
    browser.call("Performance.disable")
    assert measured["TaskDuration"] < 1


SCROLLED = (
    "new Promise(done => { let y = 0; const step = () => { scrollTo(0, y += innerHeight);"
    " y < 50 * innerHeight ? requestAnimationFrame(step) : done(true); }; step(); })"
)
SECOND = "document.querySelectorAll('.paged-table')[1]"


def test_thousands_of_rows_scroll_and_filter_without_a_stall(browser, places):
    browser.open(f"{places['crowded']}#groups")
    browser.show("groups")
    assert browser.longest_task_ms(SCROLLED) < STALL_MS
    rows, count = f"{SECOND}.querySelectorAll('tbody tr').length", f"{SECOND}.querySelector('output').textContent"
    assert browser.tell(rows) == 12
    for wanted, label in (("team-219-", "1 to 3 of 3 (6,073 in all)"), ("", "1 to 12 of 6,073")):
        box = f"{SECOND}.querySelector('[type=search]')"
        typed = f"{box}.value = '{wanted}'; {box}.dispatchEvent(new Event('input', {{bubbles: true}}))"
        assert browser.longest_task_ms(typed) < STALL_MS
        assert browser.becomes(f"{count} === '{label}'")
    for label, address in (("1 to 100", "#groups"), ("101 to 200", "#groups?row2=100")):
        browser.tell(f"{SECOND}.querySelector('[data-step=\"1\"]').click()")
        assert browser.tell(f"[{count}, location.hash]") == [f"{label} of 6,073", address]


def test_long_table_continues_by_few_rows_on_a_phone(browser, places):
    browser.open(f"{places['crowded']}#groups", 390, 844)
    browser.show("groups")
    browser.tell(f"{SECOND}.querySelector('[data-step=\"1\"]').click()")
    assert browser.tell(f"{SECOND}.querySelector('output').textContent") == "1 to 25 of 6,073"


def test_colours_of_a_paged_table_filter_its_rows(browser, places):
    browser.open(f"{places['usual']}#groups")
    browser.show("groups")
    browser.tell(f"{SECOND}.querySelector('[data-step=\"1\"]').click()")
    whole = browser.tell(f"{SECOND}.querySelectorAll('tbody tr').length")
    tone = browser.tell(f"{SECOND}.querySelector('[type=checkbox]').value")
    browser.tell(f"{SECOND}.querySelector('[type=checkbox]').click()")
    assert browser.becomes(f"location.hash === '#groups?without2={tone}'")
    assert 0 < browser.tell(f"{SECOND}.querySelectorAll('tbody tr').length") < whole
    assert browser.tell(f"{SECOND}.querySelectorAll('tbody .t-{tone}').length") == 0


def test_times_switch_to_the_local_zone_and_quoted_lines_stay(browser, places):
    browser.call("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
    try:
        browser.open(places["usual"])
        texts = "document.querySelector('header').innerText + document.querySelector('.gravest').innerText"
        before = browser.tell(texts)
        assert "2026-10-03 00:00:00 to 2026-10-04 00:00:00 · all times in UTC" in before
        browser.tell("document.getElementById('zone').click()")
        local = browser.tell(texts)
        assert "2026-10-03 05:30:00 to 2026-10-04 05:30:00 · all times in Asia/" in local
        assert "02:13:04" in before and "07:43:04" in local and "02:13:04" not in local
        browser.show(next(view for view in views_of(browser) if view.startswith("group-")))
        quotes = browser.tell("[...document.querySelectorAll('q')].map(q => q.textContent).join(' ')")
        assert "Preparing to rebalance" in quotes
        assert "10:40:00" in browser.tell("document.querySelector('.row .when').textContent")
        browser.show("timeline")
        assert browser.tell("document.getElementById('timeline-view').textContent").startswith("10-03 05:30:00")
        browser.show("night")
        browser.tell("document.getElementById('zone').click()")
        assert browser.tell(texts).replace("Show UTC", "") == before.replace("Show UTC", "")
        browser.tell("localStorage.clear()")
    finally:
        browser.call("Emulation.setTimezoneOverride", timezoneId="UTC")


def test_headings_and_titles_of_views_are_in_the_zone_of_the_page(browser, places):
    def headings() -> list[str]:
        views = [view for view in views_of(browser) if view.startswith("incident-")]
        texts = []
        for view in views:
            browser.show(view)
            texts += browser.tell("[document.querySelector('h1').textContent, document.title]")
        return texts

    def hours(text: str) -> list[int]:
        return [int(hour) for hour in re.findall(r"(\d\d):\d\d:\d\d", text)]

    browser.call("Emulation.setTimezoneOverride", timezoneId="Europe/Berlin")
    try:
        browser.open(places["usual"])
        universal = headings()
        browser.tell("document.getElementById('zone').click()")
        at_switch = browser.tell("document.querySelector('h1').textContent")
        local = headings()
        assert at_switch == local[-2]
        assert any(map(hours, universal))
        assert [hours(text) for text in local] == [[(h + 2) % 24 for h in hours(text)] for text in universal]
        browser.show("night")
        browser.show("groups")
        browser.tell("document.getElementById('zone').click(); localStorage.clear()")
        browser.show("night")
        assert "02:13:04" in browser.tell("document.querySelector('.gravest').innerText")
    finally:
        browser.call("Emulation.setTimezoneOverride", timezoneId="UTC")


def test_ticket_of_an_incident_has_ten_lines_and_its_link(browser, places):
    browser.open(places["usual"])
    offered = "getComputedStyle(document.querySelector('.ticket')).display !== 'none'"
    (incident, *_) = [view for view in views_of(browser) if view.startswith("incident-")]
    for view in ("night", incident):
        browser.show(view)
        assert browser.becomes(offered)
        browser.tell(
            "document.execCommand = () => { window.held = document.activeElement.value; return true; };"
            "document.querySelector('.ticket').click()"
        )
        assert browser.becomes(f"window.held?.trim().endsWith('#{view}')")
        lines = browser.tell("window.held").strip().split("\n")
        assert lines[0].startswith("**") and lines[1].startswith("Cluster ") and len(lines) <= 10
        assert browser.tell("document.getElementById('announced').textContent") == "The ticket is copied."
    browser.show("groups")
    assert browser.becomes(f"!({offered})")


def test_printed_timeline_shows_every_lane_whole(browser, places):
    browser.open(f"{places['usual']}#timeline")
    browser.show("timeline")
    browser.tell("document.querySelector('.lanes').focus()")
    browser.press("+")
    browser.tell("dispatchEvent(new Event('beforeprint'))")
    lane = "document.querySelector('.axis').getBoundingClientRect()"
    right = browser.tell(
        "Math.max(...[...document.querySelectorAll('.track .m')].map(e => e.getBoundingClientRect().right))"
    )
    assert browser.tell(f"{lane}.width") < 720
    assert right <= browser.tell(f"{lane}.right") + 12
    assert browser.tell("document.getElementById('timeline-view').textContent").startswith("00:00:00")
    browser.tell("dispatchEvent(new Event('afterprint'))")
    assert browser.tell(f"{lane}.width") > 720


def test_view_of_the_timeline_is_in_the_address(browser, places):
    browser.open(f"{places['usual']}#timeline")
    browser.show("timeline")
    browser.tell("document.querySelector('[data-move=worst]').click()")
    view = "document.getElementById('timeline-view').textContent"
    shown, address = browser.tell(f"{DRAWN}.then(() => [{view}, location.hash])")
    assert shown.startswith("06:")
    browser.open(places["usual"] + address)
    browser.show(address[1:])
    assert browser.tell(f"{DRAWN}.then(() => {view})") == shown


def test_copied_link_of_newest_night_leads_to_the_page_of_that_night(browser, tmp_path):
    browser.open(_written(tmp_path / "index.html", night()))
    for link, anchor in ((".copy", "night"), (".ticket", "night"), ("section .here", "incident-list")):
        browser.tell(
            "document.execCommand = () => { window.held = document.activeElement.value; return true; };"
            "Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true});"
            f"document.querySelector('{link}').click()"
        )
        assert browser.becomes(f"window.held?.trim().endsWith('#{anchor}')")
        text = browser.tell("window.held")
        assert re.search(rf"file://\S*/prod-eu-20261003T000000Z-[0-9a-f]{{8}}\.html#{anchor}\n?$", text)
        assert "index.html" not in text


def test_table_heading_sorts_by_value_in_both_directions(browser, places):
    browser.open(f"{places['usual']}#groups")
    browser.show("groups")
    table = "document.querySelector('#stalls table')"
    values = []
    for order in ("ascending", "descending"):
        browser.tell(f"{table}.querySelectorAll('.sort')[7].click()")
        assert browser.tell(f"{table}.querySelectorAll('th')[7].getAttribute('aria-sort')") == order
        values.append(browser.tell(f"[...{table}.tBodies[0].rows].map(r => r.cells[7].innerText)"))
    assert values == [["9,000", "34,000", "1,200,000"], ["1,200,000", "34,000", "9,000"]]


def test_first_screen_with_its_strip_fits_a_small_screen(browser, places):
    browser.open(places["usual"], 1280, 800)
    bottom = "Math.ceil(document.querySelector('figure.times').getBoundingClientRect().bottom)"
    assert browser.tell(bottom) <= 800
    assert browser.tell("document.documentElement.scrollWidth") <= 1280


def test_incident_shows_the_strip_of_its_own_time(browser, places):
    browser.open(places["usual"])
    (incident, *_) = [view for view in views_of(browser) if view.startswith("incident-")]
    browser.show(incident)
    lanes = "[...document.querySelectorAll('#view figure.times dt')].map(e => e.textContent)"
    assert any(lane.startswith("Broker") for lane in browser.tell(lanes))
    assert browser.tell("[...document.querySelectorAll('#view details summary')].map(e => e.textContent)")
