"""The report of a window, read from a lake: every table of it, and the night before."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from kafka_hindsight.cli import main as cli
from kafka_hindsight.lake.store import Store
from kafka_hindsight.report.build import night_of
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.shared.exits import DONE
from kafka_hindsight.shared.windows import Window
from kafka_hindsight.sql import fleet_rows
from kafka_hindsight.steps.report import write_fleet, write_report
from tests.support.lake import rows, write_lake
from tests.support.report_night import night
from tests.support.report_rows import CLUSTER, DAY, END, at, made, rebalance
from tests.support.report_views import Views, anchors


def test_report_page_compares_with_night_before(tmp_path: Path) -> None:
    tables, about = night()
    before = rebalance("orders", at("02:00:00") - timedelta(days=1), "member_left")
    tables["gold.rebalances"].append(before)
    tables["quality.publications"].append(
        made("quality.publications", table="gold.rebalances", window_from=DAY - timedelta(days=1), window_to=DAY)
    )
    for row in tables["quality.validation_results"]:
        row["run_id"] = about["run_id"]
    del tables["quality.nights"]
    unread = {"happened_at": at("02:00:00"), "template": "Something <n>", "text": "Something 1"}
    tables["quality.unparsed_lines"] = [made("quality.unparsed_lines", **unread)]
    lake = write_lake(tmp_path / "lake", tables)
    run = about | {"window_from": DAY, "window_to": END, "run_at": END + timedelta(hours=2)}
    written = write_report(Store(str(lake)), run)
    page = Path(written["report"]).read_text(encoding="utf-8")
    views = Views(page)
    kinds = Counter(anchor.split("-")[0] for anchor in anchors(views.all_values("id")))
    assert kinds["rebalance"] == 73
    assert {"restart", "outofsync", "truncation", "risk", "imbalance", "break", "controller"} <= {*kinds}
    assert "Something <n>" in views.text
    assert "73 rebalances, 72 more; 62 leader changes, 62 more." in views.text
    terminal = " ".join(written["terminal"].split())
    assert (
        "30 partitions of 3 topics had no leader, the longest for at least 1.8 s: broker 2 stopped responding"
        in terminal
    )
    (own,) = (p for p in (lake / "report").glob("*.html") if p.name not in ("index.html", "fleet.html"))
    assert own.read_text(encoding="utf-8") == page
    assert own.with_suffix(".md").read_text(encoding="utf-8").startswith(views.markdown["night"])
    assert_fleet(lake, own.name)


def assert_fleet(lake: Path, page: str) -> None:
    (night_row,) = rows(lake, "quality.nights")
    assert (night_row["cluster"], night_row["state"], night_row["page"]) == (CLUSTER, "act", page)
    assert (night_row["records_lost_low"], night_row["records_lost_high"], night_row["rebalances"]) == (40, 52, 73)
    fleet = (lake / "report" / "fleet.html").read_text(encoding="utf-8")
    assert night_row["headline"] in fleet and f'href="{page}"' in fleet
    metrics = (lake / "report" / "metrics.prom").read_text(encoding="utf-8")
    assert f'hindsight_rebalances{{cluster="{CLUSTER}"}} 73\n' in metrics


def test_fleet_page_keeps_other_nights_and_replaces_its_own(tmp_path: Path) -> None:
    tables, about = night()
    lake = write_lake(tmp_path / "lake", {"gold.incidents": tables["gold.incidents"]})
    store, window = Store(str(lake)), Window(DAY, END)
    own = night_of(PageRows.from_tables(tables, about), "first", END)
    other = replace(own, cluster="other", state="calm", harm=None, headline=None)
    earlier = replace(own, window_from=DAY - timedelta(days=1), window_to=DAY)
    assert not write_fleet(store, other, window)
    assert not (lake / "report" / "index.html").exists(), "of one cluster it is that one's newest page"
    write_fleet(store, earlier, Window(DAY - timedelta(days=1), DAY))
    write_fleet(store, own, window)
    assert write_fleet(store, replace(own, run_id="again"), window)
    held = sorted((r["cluster"], r["window_from"], r["run_id"]) for r in rows(lake, "quality.nights"))
    assert held == sorted([("other", DAY, "first"), (CLUSTER, earlier.window_from, "first"), (CLUSTER, DAY, "again")])
    fleet_nights = fleet_rows.read_fleet(str(lake), END)
    assert [n.cluster for n in fleet_nights.newest] == [CLUSTER, "other"]
    assert {i.cluster for i in fleet_nights.incidents} == {CLUSTER}
    page = (lake / "report" / "fleet.html").read_text(encoding="utf-8")
    assert "2 clusters: 1 to act on and 1 calm." in page
    assert (lake / "report" / "index.html").read_text(encoding="utf-8") == page


def test_list_of_nights_has_their_states_and_headlines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables, about = night()
    lake = write_lake(tmp_path / "lake", {"gold.incidents": tables["gold.incidents"]})
    own = night_of(PageRows.from_tables(tables, about), "first", END)
    hostile = replace(own, cluster="calm", state="calm", headline="\x1b[2J")
    write_fleet(Store(str(lake)), own, Window(DAY, END))
    write_fleet(Store(str(lake)), hostile, Window(DAY, END))
    capsys.readouterr()
    assert cli.main(["report", "--lake", str(lake), "--list"]) == DONE
    when = f"{DAY:%Y-%m-%d %H:%M} to {END:%Y-%m-%d %H:%M} UTC  {lake}/report/{own.page}"
    assert capsys.readouterr().out == (
        f"calm  {when}\n      calm: \\x1b[2J\nact   {when}\n      {CLUSTER}: {own.headline}\n"
    )
