"""The report of a window, read from a lake: every table of it, and the night before."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pyspark.sql import SparkSession

from spark_jobs.edges.store import Store
from spark_jobs.steps.reporting import write_report
from tests.support.lake import write_lake
from tests.support.report_night import night
from tests.support.report_rows import DAY, END, at, made, rebalance


def test_a_page_is_written_from_the_lake_beside_the_night_before(spark: SparkSession, tmp_path: Path) -> None:
    tables, about = night()
    before = rebalance("orders", at("02:00:00") - timedelta(days=1), "member_left")
    tables["gold.rebalances"].append(before)
    tables["quality.publications"].append(
        made("quality.publications", table="gold.rebalances", window_from=DAY - timedelta(days=1), window_to=DAY)
    )
    for row in tables["quality.validation_results"]:
        row["run_id"] = about["run_id"]
    lake = write_lake(tmp_path / "lake", tables)
    run = about | {"window_from": DAY, "window_to": END}
    written = write_report(Store(spark, str(lake)), run, {})
    page = Path(written["report"]).read_text(encoding="utf-8")
    assert page.count(' id="rebalance-') == 73
    for kind in ("restart", "outofsync", "truncation", "risk", "simulation", "imbalance", "break", "controller"):
        assert f' id="{kind}-' in page
    assert "73 rebalances, 72 more and 62 leader changes, 62 more." in page
    assert "Broker 2 was cut off at 02:13:04, away for 4 min 27 s" in written["terminal"]
    (own,) = (place for place in (lake / "report").glob("*.html") if place.name != "index.html")
    assert own.read_text(encoding="utf-8") == page
