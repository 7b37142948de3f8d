"""The report of recorded nights and of two thousand groups in a real browser: small, quiet, whole, for everyone."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path

import pytest

from tests.support.report_browser import Browser, found
from tests.support.report_lakes import write_pages

pytestmark = pytest.mark.skipif(found() is None, reason="no Chromium on the PATH: install chromium to look at the page")

NIGHTS = ("sample", "later", "crowd")
SCREENS = ((1280, "light"), (390, "dark"))
NODES = "document.querySelectorAll('*').length"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(found() or "", tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    return write_pages(tmp_path_factory.mktemp("nights"))


def kinds_of_views(browser: Browser) -> list[str]:
    """The first view of each kind, by its address."""
    names = browser.tell("Object.keys(JSON.parse(document.getElementById('views').textContent).places)")
    return list({name.split("-")[0]: name for name in reversed(names)}.values())[::-1]


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
@pytest.mark.parametrize("night", NIGHTS)
def test_every_kind_of_view_fits_the_screen_and_is_quiet(
    browser: Browser, pages: Mapping[str, Path], night: str, width: int, scheme: str
) -> None:
    address = pages[night].as_uri()
    browser.open(address, width, scheme=scheme)
    views = kinds_of_views(browser)
    assert len(views) >= 12
    for view in views:
        browser.show(view)
        browser.tell("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        assert browser.tell("document.documentElement.scrollWidth") == width, view
        wide = "[...document.querySelectorAll('nav ul, .scroll')].filter(e => e.scrollWidth > e.clientWidth)"
        assert browser.tell(f"{wide}.map(e => e.ariaLabel ?? e.tagName)") == [], view
    assert (browser.asked, browser.said) == ([address], [])


def test_recorded_night_is_small_and_two_thousand_groups_are_drawn_as_fast(
    browser: Browser, pages: Mapping[str, Path]
) -> None:
    nodes = {}
    for night in NIGHTS:
        browser.open(pages[night].as_uri())
        nodes[night] = browser.tell(NODES)
    assert max(nodes.values()) < 600 < 3_000
    assert max(pages[night].stat().st_size for night in ("sample", "later")) < 1_000_000


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_axe_finds_nothing_in_any_kind_of_view(
    browser: Browser, pages: Mapping[str, Path], width: int, scheme: str
) -> None:
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    browser.open(pages["later"].as_uri(), width, scheme=scheme)
    browser.tell(f"{axe}; undefined")
    for view in kinds_of_views(browser):
        browser.show(view)
        browser.tell("document.querySelectorAll('details').forEach(e => { e.open = true; })")
        passes, violations = browser.tell(
            "axe.run().then(r => [r.passes.length, r.violations.map(v => [v.impact, v.id, v.nodes[0].html])])"
        )
        assert passes > 15
        assert violations == [], view


REACHABLE = (
    "[...document.querySelectorAll('a[href], button, input, summary, [tabindex=\"0\"]')]"
    ".filter(e => e.tabIndex >= 0 && !e.disabled && e.checkVisibility())"
)


@pytest.mark.parametrize("view", ["night", "timeline", "groups", "findings"])
def test_keyboard_reaches_everything(browser: Browser, pages: Mapping[str, Path], view: str) -> None:
    browser.open(f"{pages['later'].as_uri()}#{view}")
    browser.show(view)
    browser.tell("document.activeElement.blur(); scrollTo(0, 0)")
    count = browser.tell(f"{REACHABLE}.length")
    browser.tell("window.reached = new Set(); addEventListener('focusin', e => window.reached.add(e.target))")
    for _ in range(count + 3):
        browser.press("Tab")
    assert browser.tell(f"{REACHABLE}.filter(e => !window.reached.has(e)).map(e => e.outerHTML.slice(0, 90))") == []


def test_skip_link_leads_to_the_view_that_is_shown(browser: Browser, pages: Mapping[str, Path]) -> None:
    browser.open(f"{pages['later'].as_uri()}#groups")
    browser.show("groups")
    browser.tell("document.querySelector('.skip').focus()")
    browser.press("Enter")
    assert browser.tell("[document.activeElement.textContent, location.hash]") == ["Groups", "#groups"]


def test_filter_and_zoom_are_in_the_address_and_open_fresh(browser: Browser, pages: Mapping[str, Path]) -> None:
    browser.open(f"{pages['later'].as_uri()}#groups")
    browser.show("groups")
    tables = "document.querySelectorAll('.paged-table')"
    browser.tell(
        f"{tables}[1].querySelector('[type=search]').value = 'crm';"
        f"{tables}[1].dispatchEvent(new Event('input', {{bubbles: true}}))"
    )
    assert browser.becomes("location.hash === '#groups?q2=crm'")
    for address, shown in (("groups?q=crm", [1, 67]), ("groups?q2=crm", [15, 12])):
        browser.open(f"{pages['later'].as_uri()}#{address}")
        browser.show(address)
        rows = browser.tell(f"[...{tables}].map(e => parseInt(e.querySelector('output').textContent.split(' of ')[1]))")
        assert [rows[0] < 5, rows[1] < 20] == [shown[0] < 5, shown[1] < 20]
        assert browser.tell("location.hash") == f"#{address}"
    browser.open(f"{pages['later'].as_uri()}#timeline?from=600000&to=700000")
    browser.show("timeline?from=600000&to=700000")
    assert browser.tell("document.getElementById('timeline-view').textContent") == "01:50:47 to 01:52:27"
    browser.press("0")
    browser.tell("document.querySelector('[data-move=whole]').click()")
    assert browser.becomes("location.hash === '#timeline'")


def test_first_view_prints_on_two_pages(browser: Browser, pages: Mapping[str, Path]) -> None:
    for night in NIGHTS:
        browser.open(pages[night].as_uri())
        paper = browser.call("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"]
        assert len(re.findall(rb"/Type\s*/Page[^s]", base64.b64decode(paper))) <= 2


def copied(browser: Browser) -> str:
    """What the button copies, where the page may not use the clipboard."""
    browser.tell(
        "document.execCommand = () => { window.held = document.activeElement.value; return true; };"
        "Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true});"
        "document.querySelector('.copy').click()"
    )
    assert browser.becomes("document.getElementById('announced').textContent === 'The view is copied.'")
    return str(browser.tell("window.held"))


def test_view_is_copied_with_cluster_window_state_and_confidence(browser: Browser, pages: Mapping[str, Path]) -> None:
    browser.open(pages["later"].as_uri())
    text = copied(browser)
    assert "Cluster `M3qSc9eLQMSD2A9RXcqTKA`, 2026-11-25 01:40:47 to 2026-11-25 01:53:41 · all times in UTC" in text
    assert "\n**ACT.** **Not over.** " in text
    assert "40 committed records were lost in fraud-risky-19-0" in text and " · over · certain · " in text
    browser.show(next(view for view in kinds_of_views(browser) if view.startswith("incident-")))
    text = copied(browser)
    assert re.search(r"\n(not )?over · certain\n", text)
    assert re.search(r"file://\S*#incident-[0-9a-f]{32}\n$", text)


def test_later_night_shows_what_is_new_as_before_and_back_again(browser: Browser, pages: Mapping[str, Path]) -> None:
    browser.open(pages["sample"].as_uri())
    assert "What changed" not in browser.tell("document.querySelector('main').innerText")
    browser.open(pages["later"].as_uri())
    lines = browser.tell("[...document.querySelectorAll('.incidents li')].map(e => e.innerText)")
    labels = {
        name: label
        for line in lines
        for name in ("crm-storm-9", "ads-etl-1", "fraud-risky-19-0")
        if name in line
        for label in ("new", "as in the window before", "back again")
        if f" · {label} · " in line
    }
    assert labels == {
        "crm-storm-9": "new", "ads-etl-1": "back again", "fraud-risky-19-0": "as in the window before",
    }  # fmt: skip
    browser.show("history")
    assert browser.tell("document.querySelectorAll('.trends svg').length") >= 4
    assert "Incidents that came back" in browser.tell("document.querySelector('main').innerText")
