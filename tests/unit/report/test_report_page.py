"""The page: self-contained, in its order, every address leads somewhere, and strangers' names do nothing in it."""

import base64
import hashlib
import re
from collections import Counter
from itertools import pairwise

import pytest

from kafka_hindsight.alerts import sightings
from kafka_hindsight.catalog.rows import Incident
from kafka_hindsight.report.html import render_html
from kafka_hindsight.report.sections import SECTIONS
from tests.support.report_blocks import build_report
from tests.support.report_crowd import crowded_page
from tests.support.report_night import HOSTILE, night, poisoned_night
from tests.support.report_rows import CLUSTER, DAY, END, empty, run
from tests.support.report_views import Views, anchors


@pytest.fixture(scope="module")
def report():
    return build_report(*night())


@pytest.fixture(scope="module")
def page(report):
    return Views(render_html(report))


@pytest.fixture(scope="module")
def hostile():
    return Views(render_html(build_report(*poisoned_night(HOSTILE))))


@pytest.fixture(scope="module")
def crowded():
    return Views(crowded_page().read_text(encoding="utf-8"))


def test_navigation_has_six_entries(report, page):
    named = [view.name for view in report.views if view.nav]
    assert named == ["night", "timeline", "groups", "cluster", "findings", "coverage"]
    assert {f"#{name}" for name in named} <= set(page.page.values("href"))


def test_sections_of_each_view_have_their_order(report):
    expected = {
        "night": ["verdict", "incident-list"],
        "timeline": ["timeline"],
        "groups": ["group-list", "rebalances", "offset-jumps", "stalls", "remedies"],
        "cluster": ["brokers", "danger", "outages", "topics", "failovers", "restarts"],
        "findings": ["findings"],
        "coverage": ["coverage", "unread", "making"],
        "incidents": ["all-incidents"],
    }
    names = {view.name: [section.name for section in view.sections] for view in report.views[:7]}
    assert {view: [name for name in names[view] if name in expected[view]] for view in names} == expected


def test_each_section_has_its_own_order_and_anchor():
    assert len({(s.view, s.order) for s in SECTIONS}) == len({s.name for s in SECTIONS}) == len(SECTIONS)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", s.name) for s in SECTIONS)


def test_each_incident_group_topic_broker_and_client_has_a_view(page):
    kinds = Counter(name.split("-")[0] for name in page.views if "-" in name)
    assert kinds == {"incident": 12, "group": 23, "topic": 6, "broker": 3, "client": 18}


def test_every_row_has_an_anchor_of_its_own(page):
    for view in page.views.values():
        assert len(view.ids) == len(view.values("id"))
    assert Counter(i.split("-")[0] for i in anchors(page.all_values("id"))) == {
        "rebalance": 73, "outage": 2, "finding": 6, "restart": 1, "outofsync": 1, "truncation": 2, "risk": 2,
        "imbalance": 1, "break": 1, "controller": 1,
    }  # fmt: skip


@pytest.fixture(scope="module")
def quiet():
    return Views(render_html(build_report(empty(), run())))


@pytest.mark.parametrize("made", ["page", "hostile", pytest.param("crowded", marks=pytest.mark.long), "quiet"])
def test_every_address_in_the_page_leads_to_its_row(made, request):
    views = request.getfixturevalue(made)
    of_rows = [anchor for anchor in anchors(views.all_values("id")) if not anchor.startswith("rebalance-")]
    addresses = set().union(*(view.addresses() for view in views.views.values()), of_rows)
    assert len(addresses) >= 10
    assert [address for address in addresses if not views.is_found(address)] == []


@pytest.mark.parametrize("rows", [night(), poisoned_night(HOSTILE)])
def test_every_alert_leads_to_a_view_of_the_page(rows):
    tables, about = rows
    views = Views(render_html(build_report(tables, about)))
    window = {"cluster": tables["gold.incidents"][0]["cluster"], "window_from": DAY, "window_to": END}
    sent = [
        *sightings.of_incidents(map(Incident.of, tables["gold.incidents"]), [window]),
        *sightings.of_findings(tables["gold.findings"], [window], []),
    ]
    assert sent and all(views.is_found(sighting.anchor) for sighting in sent)


def test_address_of_an_unknown_row_leads_nowhere(page):
    assert not page.is_found(f"rebalance-{'0' * 32}")
    assert not page.is_found(f"finding-{'0' * 32}")


def test_aria_labels_refer_to_existing_elements(page):
    for view in page.views.values():
        named = view.values("aria-labelledby") + view.values("aria-describedby")
        assert {i for value in named for i in value.split()} <= view.ids


def test_elements_are_closed_in_order(page):
    assert {name: view.unclosed for name, view in page.views.items() if view.unclosed} == {}


def test_headings_go_down_one_level_at_a_time(page):
    for name, view in page.views.items():
        levels = [1, *(int(tag[1]) for tag, _ in view.elements if re.fullmatch("h[1-6]", tag))]
        assert all(below - above <= 1 for above, below in pairwise(levels)), name


def test_page_loads_nothing_from_the_network(page):
    for view in page.views.values():
        assert not {"src", "srcset", "action", "poster", "data"} & {name for _, a in view.elements for name in a}
    assert {href for href in page.all_values("href") if not href.startswith("#")} == {"data:,"}
    assert not re.search(r"https?:|url\(|@import", page.html)


def test_content_security_policy_allows_own_style_and_script_alone(page):
    (policy,) = [a["content"] for t, a in page.page.elements if a.get("http-equiv") == "Content-Security-Policy"]
    for kind, inline in (("style", page.page.raw["style"][0]), ("script", page.page.raw["script"][1])):
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not page.all_values("style")


def test_page_shows_causes_members_lines_and_advice(page):
    for phrase in (
        "Lower max.poll.records, speed up processing, or raise max.poll.interval.ms.",
        "billing-b (instance i2)",
        "Preparing to rebalance group billing in state PreparingRebalance with old generation 41",
        "all times in UTC",
        "3 lines of 1.9 million could not be read.",
        "Static membership (group.instance.id) has a cost",
        "The line holds NUL bytes. Its instant cannot be read.",
    ):
        assert phrase in page.text


def _luminance(colour):
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1])
def test_text_colours_have_wcag_aa_contrast_on_every_background(page, scheme):
    """WCAG 2.2 AA asks 4.5 to 1."""
    (style,) = page.page.raw["style"]
    colours = dict(re.findall(r"--([a-z]+): (#[0-9a-f]{6})", style.split(":root {")[1 + scheme].split("}")[0]))
    grounds = [colours[ground] for ground in ("bg", "surface", "sunk", "mark")]
    for name in ("ink", "quiet", "link", "lost", "good", "warn", "bad", "asked"):
        for ground in grounds:
            low, high = sorted((_luminance(colours[name]), _luminance(ground)))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (name, ground)


def test_hostile_names_add_no_element_and_no_attribute(hostile):
    tame = Views(render_html(build_report(*poisoned_night([f"name {i} of many" for i in range(len(HOSTILE))]))))

    def shape(views):
        return Counter((tag, *sorted(a)) for view in views.views.values() for tag, a in view.elements)

    assert shape(hostile) == shape(tame)


def test_hostile_names_reach_no_link_script_or_style(hostile, page):
    assert hostile.page.raw["style"] == page.page.raw["style"]
    assert hostile.page.raw["script"][1:] == page.page.raw["script"][1:]
    ours = re.compile(r"[a-z]+(-[a-z]+)*(-[0-9a-f]{32})?(/[a-z]+(-[a-z]+)*(-[0-9a-f]{32})?)?")
    for view in hostile.views.values():
        assert all(ours.fullmatch(address) for address in view.addresses())
        assert not [name for _, a in view.elements for name in a if name.startswith("on")]
    assert {href for href in hostile.all_values("href") if not href.startswith("#")} == {"data:,"}


def test_hostile_names_are_shown_escaped(hostile):
    assert "<script>alert(1)</script>" in hostile.text
    assert "{{ 7*7 }}{% raw %}&amp;&#60;" in hostile.text
    assert "\\u202egnp.exe" in hostile.text
    assert not {c for c in hostile.text if not c.isprintable()}
    hostile.html.encode("utf-8")


def test_hostile_names_are_text_in_markdown(hostile, page):
    texts = "".join(hostile.markdown.values())
    assert not {c for c in texts if not c.isprintable()} - {"\n"}
    outside_code = re.sub(r"(`+).*?\1|\\.", "", re.sub(r"(?m)^ {6}.*$", "", texts))
    assert not re.search(r"[<\[]", outside_code)
    assert len(texts.splitlines()) < 1.2 * len("".join(page.markdown.values()).splitlines())


def test_invalid_row_id_becomes_a_safe_anchor():
    tables, about = night()
    tables["gold.rebalances"][0]["rebalance_id"] = '"><script>'
    views = Views(render_html(build_report(tables, about)))
    assert all(re.fullmatch(r"[a-z0-9-]+", i) for i in views.all_values("id"))


def test_every_view_is_markdown_with_cluster_window_state_and_confidence(page):
    for name, text in page.markdown.items():
        first, _, second, *_ = text.splitlines()
        assert first.startswith("# ")
        assert second == f"Cluster `{CLUSTER}`, 2026-10-03 00:00:00 to 2026-10-04 00:00:00 · all times in UTC", name
    assert page.markdown["night"].splitlines()[4].startswith("**ACT.** ")
    worst = next(text for text in page.markdown.values() if text.startswith("# 40 to 52 committed records"))
    assert "\nover · certain\n" in worst
    for part in ("- Harm: ", "### What to do", "\n      Leader risky.raw-0 "):
        assert part in worst


def test_empty_lake_makes_a_page():
    views = Views(render_html(build_report(empty(), run(files_not_read=[], warnings=[]))))
    assert "The lake has no coverage of this window, so it is not known which lines were not read." in views.text
    assert views.page.unclosed == []


@pytest.mark.long
def test_two_thousand_groups_make_a_first_view_as_small_as_a_few(crowded, page):
    assert sum(name.startswith("group-") for name in crowded.views) > 2_000
    assert len(crowded.page.elements) < 2 * len(page.page.elements) < 1_000
    assert len(crowded.html.encode()) < 8_000_000


@pytest.mark.long
def test_each_rebalance_of_a_crowded_night_is_in_its_paged_table(crowded):
    starts = [address for _, address in crowded.views["groups"].paged_cells() if "/rebalance-" in address]
    assert len(starts) == len(set(starts)) == 6_073
