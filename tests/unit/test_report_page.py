"""The page: self-contained, in its order, every address leads somewhere, and strangers' names do nothing in it."""

import base64
import hashlib
import re
import zlib
from collections import Counter
from html.parser import HTMLParser

import pytest

from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.sections import SECTIONS
from tests.support.report_blocks import build_report
from tests.support.report_crowd import crowded_night
from tests.support.report_night import HOSTILE, night, poisoned_night
from tests.support.report_rows import empty, run

VOID = {"meta", "link", "input", "br", "img"}


class Page(HTMLParser):
    """The elements of a page with their attributes, and what lies inside style and script."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.open, self.raw = [], [], {"script": [], "style": []}
        self.text = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in self.raw:
            self.raw[self.open[-1]].append(data)
        else:
            self.text.append(data)

    def all(self, attribute):
        return [attrs[attribute] for _, attrs in self.elements if attribute in attrs]


@pytest.fixture(scope="module")
def page():
    return Page(render_html(build_report(*night())))


@pytest.fixture(scope="module")
def hostile():
    return Page(render_html(build_report(*poisoned_night(HOSTILE))))


def test_sections_of_the_page_have_their_order(page):
    order = (
        "verdict", "incidents", "timeline", "findings", "danger", "outages", "failovers", "restarts", "replicas",
        "imbalance", "remedies", "rebalances", "lag", "coverage", "unread", "making",
    )  # fmt: skip
    assert tuple(attrs["id"] for tag, attrs in page.elements if tag == "section" and attrs["id"] in order) == order


def test_each_section_has_its_own_order_and_anchor():
    assert len({s.order for s in SECTIONS}) == len({s.name for s in SECTIONS}) == len(SECTIONS)
    assert all(re.fullmatch(r"[a-z]+", s.name) for s in SECTIONS)


def test_every_row_has_an_anchor_and_every_link_has_a_target(page):
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    assert {href[1:] for href in page.all("href") if href.startswith("#")} <= set(ids)
    kinds = Counter(i.split("-")[0] for i in ids if re.fullmatch(r"[a-z]+-[0-9a-f]{32}", i))
    assert kinds == {
        "rebalance": 73, "incident": 18, "outage": 2, "failover": 62, "finding": 6, "restart": 1, "outofsync": 1,
        "truncation": 2, "risk": 2, "simulation": 3, "imbalance": 1, "break": 1, "controller": 1,
    }  # fmt: skip


def test_aria_labels_refer_to_existing_elements(page):
    ids = set(page.all("id"))
    assert {i for value in page.all("aria-labelledby") + page.all("aria-describedby") for i in value.split()} <= ids


def test_elements_are_closed_in_order(page):
    assert page.open == []


def test_page_loads_nothing_from_the_network(page):
    html = render_html(build_report(*night()))
    assert not {"src", "srcset", "action", "poster", "data"} & {name for _, attrs in page.elements for name in attrs}
    assert {href for href in page.all("href") if not href.startswith("#")} == {"data:,"}
    assert not re.search(r"https?:|url\(|@import", html)


def test_content_security_policy_allows_own_style_and_script_alone(page):
    (policy,) = [a["content"] for t, a in page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    for kind in ("style", "script"):
        (inline,) = page.raw[kind]
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not page.all("style")


def test_page_shows_causes_members_lines_and_advice(page):
    text = " ".join(" ".join(page.text).split())
    for phrase in (
        "Lower max.poll.records, speed up processing, or raise max.poll.interval.ms.",
        "billing-b (instance i2)",
        "Preparing to rebalance group billing in state PreparingRebalance with old generation 41",
        "all times in UTC",
        "3 lines of 1.9 million could not be read.",
        "Static membership (group.instance.id) has a cost",
        "The line holds NUL bytes. Its instant cannot be read.",
    ):
        assert phrase in text


def _luminance(colour):
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1])
def test_text_colours_have_wcag_aa_contrast_on_every_background(page, scheme):
    """WCAG 2.2 AA asks 4.5 to 1."""
    (style,) = page.raw["style"]
    colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", style.split(":root {")[1 + scheme].split("}")[0]))
    grounds = [colours[ground] for ground in ("bg", "surface", "sunk", "mark")]
    for name in ("ink", "quiet", "link", "lost", "good", "warn", "bad", "asked"):
        for ground in grounds:
            low, high = sorted((_luminance(colours[name]), _luminance(ground)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ground)


def test_hostile_names_add_no_element_and_no_attribute(hostile):
    tame = Page(render_html(build_report(*poisoned_night([f"name {i} of many" for i in range(len(HOSTILE))]))))

    def shape(page):
        return Counter((tag, *sorted(attrs)) for tag, attrs in page.elements)

    assert shape(hostile) == shape(tame)


def test_hostile_names_reach_no_link_script_or_style(hostile, page):
    assert hostile.raw == page.raw
    ours = re.compile(r"#[a-z]+(-[0-9a-f]{32})?|data:,")
    assert all(ours.fullmatch(href) for href in hostile.all("href"))
    assert not [name for _, attrs in hostile.elements for name in attrs if name.startswith("on")]
    assert Counter(hostile.all("class")).keys() <= Counter(page.all("class")).keys() | {"t-unknown", "good"}


def test_hostile_names_are_shown_escaped(hostile):
    text = "".join(hostile.text)
    assert "<script>alert(1)</script>" in text
    assert "{{ 7*7 }}{% raw %}&amp;&#60;" in text
    assert "\\u202egnp.exe" in text
    assert not {c for c in text if not c.isprintable()} - {"\n"}
    text.encode("utf-8")


def test_invalid_row_id_becomes_a_safe_anchor():
    tables, about = night()
    tables["gold.rebalances"][0]["rebalance_id"] = '"><script>'
    page = Page(render_html(build_report(tables, about)))
    assert all(re.fullmatch(r"[a-z0-9-]+", i) for i in page.all("id"))


def test_empty_lake_makes_a_page():
    page = Page(render_html(build_report(empty(), run(files_not_read=[], warnings=[]))))
    text = " ".join(" ".join(page.text).split())
    assert "The lake has no coverage of this window, so it is not known which lines were not read." in text
    assert page.open == []


def test_page_of_five_thousand_rebalances_is_below_4_mb():
    html = render_html(build_report(*crowded_night(5_000)))
    assert len(html.encode()) < 4_000_000
    html += "".join(zlib.decompress(base64.b64decode(p)).decode() for p in re.findall(r'data-packed="([^"]+)"', html))
    assert html.count('id="rebalance-') == 5_073
    assert html.count('id="incident-') == 3_768
