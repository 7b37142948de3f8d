"""The page in a real browser: nothing asked of the network, nothing said on the console, every row found."""

import base64
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_hindsight.report.html import render_html
from tests.support.report_blocks import build_report
from tests.support.report_browser import Browser, found
from tests.support.report_crowd import crowded_night
from tests.support.report_night import HOSTILE, Night, night, poisoned_night

pytestmark = pytest.mark.skipif(found() is None, reason="no Chromium on the PATH: install chromium to look at the page")

SIZES = (360, 820, 1600)
SCHEMES = ("light", "dark")
INSTALLED = found() or ""
STALL_MS = 500
"""More processor time than any task of a page may take: twice what they take on a busy machine."""

DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(INSTALLED, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    nights = {"usual": night(), "crowded": crowded_night(5_000), "hostile": poisoned_night(HOSTILE)}
    return {name: _written(folder / f"{name}.html", made) for name, made in nights.items()}


def _written(place: Path, made: Night) -> str:
    place.write_text(render_html(build_report(*made)), encoding="utf-8")
    return place.as_uri()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", SIZES)
def test_page_opens_at_every_size_and_scheme_without_requests_or_console_output(browser, places, width, scheme):
    browser.open(places["usual"], width, scheme=scheme)
    assert browser.tell(DRAWN)
    assert browser.asked == [places["usual"]]
    assert browser.said == []
    assert browser.tell("document.documentElement.scrollWidth") == width
    dark = browser.tell("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    assert dark == (scheme == "dark")


def test_five_thousand_rebalances_are_unpacked_on_demand(browser, places):
    address = _last_rebalance(places)
    browser.open(places["crowded"])
    first = "document.querySelectorAll('*').length - document.querySelectorAll('.later *').length"
    assert browser.tell(first) < 30_000, "the rest is unpacked while the browser is idle"
    assert browser.said == []
    browser.open(f"{places['crowded']}#{address}")
    there = f"document.querySelector(':target')?.id === '{address}'"
    assert browser.tell(
        f"new Promise(done => {{ const look = () => {there} ? done(true) : setTimeout(look, 50); look(); }})"
    )
    assert _is_in_view(browser, address)


def _last_rebalance(places: dict[str, str]) -> str:
    """The last rebalance, out of the last part with one that waits."""
    html = Path(places["crowded"].removeprefix("file://")).read_text(encoding="utf-8")
    packed = (zlib.decompress(base64.b64decode(p)).decode() for p in re.findall(r'data-packed="([^"]+)"', html))
    return re.findall(r'id="(rebalance-[0-9a-f]+)"', "".join(packed))[-1]


def _is_in_view(browser: Browser, address: str) -> bool:
    """Whether the row is on the screen with its lines within reach."""
    place = f"document.getElementById('{address}').getBoundingClientRect()"
    on_screen = browser.tell(f"{place}.bottom > 0 && {place}.top < innerHeight")
    return (
        bool(on_screen)
        and browser.tell(f"document.querySelector('#{address} .proof').getBoundingClientRect().height") > 0
    )


KINDS = (
    "rebalance", "incident", "restart", "outage", "failover", "controller", "truncation", "simulation", "risk",
    "outofsync", "imbalance", "finding", "break",
)  # fmt: skip


@pytest.mark.parametrize("script", [True, False])
def test_every_kind_of_row_opens_at_its_address_with_and_without_script(browser, places, script):
    browser.open(places["usual"])
    last = "[...document.querySelectorAll(`[id^=${kind}-]`)].at(-1).id"
    for address in browser.tell(f"{list(KINDS)}.map(kind => {last})"):
        browser.open(f"{places['usual']}#{address}", script=script)
        assert _is_in_view(browser, address), address


def test_timeline_is_operated_by_keyboard_alone(browser, places):
    browser.open(places["usual"])
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
    assert browser.tell(f"{DRAWN}.then(() => document.querySelector(':target').id)").startswith("outage-")


def test_zoom_separates_merged_marks(browser, places):
    browser.open(places["usual"])
    marks = "document.querySelectorAll('.track[aria-label^=orders-index] .m').length"
    from_afar = browser.tell(marks)
    browser.open(f"{places['usual']}#timeline-7980000-8100000")
    assert browser.tell(f"{DRAWN}.then(() => {marks})") > from_afar


def test_hostile_names_are_inert_in_a_browser(browser, places):
    for width in SIZES:
        browser.open(places["hostile"], width)
        assert browser.tell(DRAWN)
        assert browser.asked == [places["hostile"]]
        assert browser.said == []
        assert browser.tell("document.scripts.length") == 1
        assert browser.tell("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize(("width", "height"), [(1600, 1000), (390, 844)])
def test_first_screen_shows_losses_outages_and_actions(browser, places, width, height):
    browser.open(places["usual"], width, height=height)
    low = "[...document.querySelectorAll('.state, .gravest li')].map(e => e.getBoundingClientRect().bottom)"
    assert max(browser.tell(low)) <= height
    assert browser.tell("document.querySelector('.state').innerText") == "Act"
    lost, gone, slow = browser.tell("[...document.querySelectorAll('.gravest li')].map(e => e.innerText)")
    assert lost.startswith("40 to 52 committed records were lost in risky.raw-0: ")
    assert lost.endswith("Find out who wrote those records, and send them again.")
    assert (
        "had no leader, the longest for at least 1.8 s: broker 2 was unresponsive about 02:13:04, away for 4 min 27 s."
        in gone
    )
    assert "Broker 3 was out of sync" in slow
    assert "3 lines of 1.9 million" in browser.tell("document.querySelector('.state-line').innerText")
    if width == 1600:
        assert browser.tell("document.querySelector('.tiles').getBoundingClientRect().bottom") <= height


@pytest.mark.parametrize(("width", "height"), [(1600, 1000), (390, 844)])
def test_calm_night_fits_one_screen_and_states_coverage(browser, tmp_path, width, height):
    tables, about = night()
    kept = {name: rows if name.startswith("quality.") else [] for name, rows in tables.items()}
    kept["quality.unparsed_lines"] = kept["quality.quarantine"] = []
    for r in kept["quality.coverage"]:
        r.update(unparsed=0, quarantined=0, ignored=r["lines_in"] - r["events"])
    browser.open(_written(tmp_path / "calm.html", (kept, about)), width, height=height)
    assert browser.tell("document.querySelector('.state').innerText") == "Calm"
    text = browser.tell("document.querySelector('.lead').innerText")
    assert "No record was lost, no partition was without a leader" in text and "could be read" in text
    assert re.search(r"Checked: \d+ logs, \d+ rules and \d+ expectations on the tables", text)
    assert browser.tell("document.querySelectorAll('.tiles .bad, .tiles .warn').length") == 0
    assert browser.tell("document.querySelector('.tiles').getBoundingClientRect().bottom") <= height


def test_link_to_section_unfolds_no_row_and_unfolded_row_folds_again(browser, places):
    browser.open(f"{places['usual']}#rebalances")
    shown = (
        "[...document.querySelectorAll('.story .proof')].filter(e => e.checkVisibility({contentVisibilityAuto: true}))"
    )
    assert browser.tell(f"{shown}.filter(e => e.getBoundingClientRect().height > 0).length") == 0
    address = browser.tell("document.querySelector('.rebalances > tbody').id")
    browser.open(f"{places['usual']}#{address}")
    row = f"document.getElementById('{address}')"
    height = f"{row}.getBoundingClientRect().height"
    unfolded = browser.tell(height)
    browser.tell(f"{row}.querySelector('summary').click()")
    assert browser.tell(f"{DRAWN}.then(() => {height})") < unfolded


def test_page_on_a_phone_does_not_scroll_sideways(browser, places):
    browser.open(places["usual"], 390)
    wide = "[...document.querySelectorAll('main *')].filter(e => !e.closest('svg') && !e.closest('nav')"
    assert (
        browser.tell(f"{wide} && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'auto')") == []
    )


@pytest.mark.parametrize("width", [390, 1280])
def test_finding_below_critical_is_folded_and_unfolds(browser, places, width):
    browser.open(places["usual"], width)
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


def test_phone_shows_first_rows_of_long_table_until_all_are_requested(browser, places):
    rows = "[...document.querySelectorAll('.rebalances > tbody')].filter(b => b.checkVisibility())"
    browser.open(places["usual"], 390)
    assert browser.tell(f"{rows}.length") == 8
    last = browser.tell("[...document.querySelectorAll('.rebalances > tbody')].at(-1).id")
    browser.tell("document.querySelector('#rebalances .all').click()")
    assert browser.tell(f"{rows}.length") == 73
    browser.open(f"{places['usual']}#{last}", 390)
    assert _is_in_view(browser, last)
    browser.open(places["usual"], 1280)
    assert browser.tell(f"{rows}.length") == 73


def test_printed_night_takes_under_ten_pages(browser, places):
    for night_of in ("usual", "crowded"):
        browser.open(places[night_of])
        paper = browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"]
        assert len(re.findall(rb"/Type\s*/Page[^s]", base64.b64decode(paper))) < 10


def test_night_of_five_thousand_rebalances_opens_within_a_second(browser, places):
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


def test_thousands_of_rows_scroll_and_filter_without_a_stall(browser, places):
    browser.open(places["crowded"])
    assert browser.longest_task_ms(SCROLLED) < STALL_MS
    shown = "document.querySelectorAll('.rebalances > tbody').length"
    assert browser.tell(shown) < 5000
    field, count = "document.getElementById('filter-text')", "document.getElementById('filter-count').textContent"
    for wanted, label in (("team-219-", "22 of 5,073"), ("", "")):
        typed = f"{field}.value = '{wanted}'; {field}.dispatchEvent(new Event('input', {{bubbles: true}}))"
        done = f"{count} === '{label}' && {shown} > 5000"
        assert browser.longest_task_ms(f"{typed}; {until(done)}") < STALL_MS
        assert browser.tell(count) == label


def until(condition: str) -> str:
    """An expression that is true once the condition is; false where it is not within ten seconds."""
    return (
        "new Promise(done => { const end = performance.now() + 1e4; const look = () =>"
        f" ({condition}) ? done(true) : performance.now() > end ? done(false) : setTimeout(look, 50); look(); }})"
    )


LESSER = (
    "[...document.querySelectorAll('[aria-label^=\"Lesser incidents\"] tbody > tr')].filter(r => r.checkVisibility())"
)


@pytest.mark.parametrize("width", [390, 1280])
def test_long_table_is_searched_and_sorted_with_its_packed_parts(browser, places, width):
    browser.open(places["crowded"], width)
    box = "document.querySelector('[aria-label=\"Search: Lesser incidents\"]')"
    browser.tell(f"for (let d = {box}.closest('details'); d; d = d.parentElement.closest('details')) d.open = true")
    browser.tell(f"{box}.value = '#21:4'; {box}.dispatchEvent(new Event('input', {{bubbles: true}}))")
    times = f"{LESSER}.map(r => r.cells[0].textContent.trim())"
    assert browser.tell(until(f"{times}.length > 0 && {times}.every(t => t.startsWith('#21:4'))"))
    start = "document.querySelector('[aria-label^=\"Lesser incidents\"] .sort')"
    for falls in ("ascending", "descending"):
        browser.tell(f"{start}.click()")
        assert browser.tell(until(f"{start}.parentElement.getAttribute('aria-sort') === '{falls}'"))
    starts = browser.tell(times)
    assert starts == sorted(starts, reverse=True)
    assert len(set(starts)) > 1


def test_times_switch_to_the_local_zone_and_quoted_lines_stay(browser, places):
    browser.call("Emulation.setTimezoneOverride", timezoneId="Asia/Kolkata")
    try:
        browser.open(places["usual"])
        texts = "document.querySelector('header').innerText + document.querySelector('.gravest').innerText"
        quoted = "[...document.querySelectorAll('q')].map(q => q.textContent).join()"
        lines, before = browser.tell(quoted), browser.tell(texts)
        assert "2026-10-03 00:00:00 to 2026-10-04 00:00:00 · all times in UTC" in before
        browser.tell("document.getElementById('zone').click()")
        local = browser.tell(texts)
        assert "2026-10-03 05:30:00 to 2026-10-04 05:30:00 · all times in Asia/" in local
        assert "02:13:04" in before and "07:43:04" in local and "02:13:04" not in local
        assert browser.tell("document.getElementById('timeline-view').textContent").startswith("10-03 05:30:00")
        assert browser.tell(quoted) == lines
        browser.tell("document.getElementById('zone').click()")
        assert browser.tell(texts).replace("Show UTC", "") == before.replace("Show UTC", "")
        browser.tell("localStorage.clear()")
    finally:
        browser.call("Emulation.setTimezoneOverride", timezoneId="UTC")


def test_printed_timeline_shows_every_lane_whole(browser, places):
    browser.open(places["usual"])
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
    browser.open(places["usual"])
    browser.tell("document.querySelector('[data-move=worst]').click()")
    view = "document.getElementById('timeline-view').textContent"
    shown, address = browser.tell(f"{DRAWN}.then(() => [{view}, location.hash])")
    assert shown.startswith("06:")
    browser.open(places["usual"] + address)
    assert browser.tell(f"{DRAWN}.then(() => {view})") == shown


def test_incident_is_copied_as_markdown_without_clipboard_api(browser, places):
    browser.open(places["usual"])
    browser.tell(
        "document.execCommand = () => { window.held = document.activeElement.value; return true; };"
        "Object.defineProperty(navigator, 'clipboard', {value: undefined}); document.querySelector('.copy').click()"
    )
    text = browser.tell(f"{DRAWN}.then(() => window.held)")
    assert text.startswith("## 40 to 52 committed records were lost in risky.raw-0")
    for part in ("#incident-", "- Kind of harm: ", "### What to do", "    kafka-topics.sh ", "\n> "):
        assert part in text
    assert browser.tell("document.getElementById('announced').textContent") == "The incident is copied."


def test_copied_link_of_newest_night_leads_to_the_page_of_that_night(browser, tmp_path):
    browser.open(_written(tmp_path / "index.html", night()))
    for link in (".copy", ".incident .here"):
        browser.tell(
            "document.execCommand = () => { window.held = document.activeElement.value; return true; };"
            "Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true});"
            f"document.querySelector('{link}').click()"
        )
        text = browser.tell(f"{DRAWN}.then(() => window.held)")
        assert re.search(r"file://\S*/prod-eu-20261003T000000Z-[0-9a-f]{8}\.html#incident-[0-9a-f]+", text)
        assert "index.html" not in text


def test_table_heading_sorts_by_duration_in_both_directions(browser, places):
    browser.open(places["usual"])
    took = "[...document.querySelectorAll('.rebalances > tbody')].map(b => b.rows[0].cells[2].innerText)"
    for order in ("ascending", "descending"):
        browser.tell("document.querySelectorAll('.rebalances thead .sort')[2].click()")
        assert browser.tell("document.querySelectorAll('.rebalances thead th')[2].getAttribute('aria-sort')") == order
    first, *_, last, unknown = browser.tell(took)
    assert (first, last, unknown) == ("1 min 2 s", "200 ms", "not known unfinished")
