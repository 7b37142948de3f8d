"""The whole audit of the recorded night: by the nightly DAG and without Airflow, and what its tables say."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.audit.inputs import SAMPLE
from kafka_hindsight.catalog.steps import STEPS
from kafka_hindsight.lake.results import read_result
from kafka_hindsight.settings.home import HOME, RUNS
from kafka_hindsight.shared import plain
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries
from kafka_hindsight.start import embedded_airflow, launch
from lab.drill.rows import read_gold
from lab.drill.score import score
from tests.support.docs import PAGES, first_example
from tests.support.lake import contents, rows
from tests.support.package import build, install
from tests.support.recorded_night import command, output_of_its_audit, recorded_night
from tests.support.report_browser import Browser, found
from tests.support.report_views import Views


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    # Each checkout has an Airflow and samples of its own, also one whose environments are links to another's.
    subprocess.run([sys.executable, HOME / "setup" / "build.py", "--only", "airflow-tables", "samples"], check=True)
    lake = tmp_path_factory.mktemp("night") / "lake"
    done = command(lake, sys.executable, "-m", "kafka_hindsight.cli.nightly_dag")
    assert done.returncode == 0, done.stdout + done.stderr
    return lake, done


def test_audit_ends_with_summary_and_report(night: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    lake, done = night
    page = lake / "report" / "index.html"
    assert str(page) in done.stdout
    assert "40 committed records were lost in fraud-risky-19-0" in done.stdout
    assert "Broker 3        ·" in done.stdout, "the strip of the night"
    written = page.read_text(encoding="utf-8")
    assert "<html" in written[:1000]
    assert "No generation of a group is missing." in Views(written).text


def test_each_step_leaves_its_result_in_folder_of_run(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    lake, _ = night
    run = min(folder.name for folder in (lake / "runs").iterdir() if folder.is_dir())  # other tests run steps again
    results = [read_result(str(lake), run, step.name) for step in STEPS]
    assert [(r.exit_code, r.sentences) for r in results if r] == [(0, [])] * len(STEPS)
    spread = sum(step.is_spread for step in STEPS)
    assert len({r.application for r in results if r} - {None}) == spread, "each is an application of its own"


def test_coverage_accounts_for_every_physical_line(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    files = [f for folder in ("logs", "clients") for f in (SAMPLE / folder).rglob("*.log")]
    lines = sum(f.read_bytes().count(b"\n") for f in files)
    coverage = rows(night[0], "quality.coverage")
    assert sum(c["lines_in"] for c in coverage) == lines
    assert all(c["lines_in"] == c["events"] + c["ignored"] + c["unparsed"] + c["quarantined"] for c in coverage)


def leader_counts(reading: dict[str, Any]) -> dict[int, tuple[int, int]]:
    """The partitions each broker is preferred for, and those of them that it does not lead: straight from a reading."""
    counts = {b["id"]: [0, 0] for b in reading["brokers"]}
    for partition in (p for topic in reading["topics"] for p in topic["partitions"]):
        for broker in partition["replicas"]:
            counts.setdefault(broker, [0, 0])
        preferred = partition["replicas"][0]
        counts[preferred][0] += 1
        counts[preferred][1] += partition["leader"] != preferred
    return {broker: (all_, elsewhere) for broker, (all_, elsewhere) in counts.items()}


def test_leader_imbalance_equals_counts_of_each_reading(night: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    published: dict[datetime, dict[int, dict[str, Any]]] = defaultdict(dict)
    for row in rows(night[0], "gold.leader_imbalance"):
        published[row["snapshot_at"]][row["broker"]] = row
    readings = [json.loads(line) for line in (SAMPLE / "snapshots.jsonl").read_text().splitlines()]
    expected = {datetime.fromisoformat(r["at"]): leader_counts(r) for r in readings if r.get("topics")}
    assert published.keys() == expected.keys()
    for at, brokers in expected.items():
        assert published[at].keys() == brokers.keys()
        for broker, (preferred, elsewhere) in brokers.items():
            row = published[at][broker]
            assert (row["preferred_partitions"], row["led_elsewhere"]) == (preferred, elsewhere)
            assert row["ratio"] == (elsewhere / preferred if preferred else None)
            assert row["over_threshold"] == (10 * elsewhere > preferred)


def test_audit_meets_recorded_truth_of_night(night: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    result = score(read_gold(str(night[0])), (SAMPLE / "truth.jsonl").read_text(encoding="utf-8").splitlines())
    assert result.share_met >= 0.9, result.unmet
    assert result.certain_but_wrong == ()
    assert result.without_evidence == ()
    assert [g for g in rows(night[0], "quality.generation_gaps") if g["explained_by"] is None] == []


def test_gold_has_expected_incidents_losses_and_unavailability(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    lake, _ = night
    rebalances, incidents = rows(lake, "gold.rebalances"), rows(lake, "gold.incidents")
    assert sum(i["rebalance_count"] for i in incidents) == len(rebalances)
    kinds = Counter(i["kind"] for i in incidents)
    assert kinds["rolling_restart"] == 1
    assert kinds["cooperative_pair"] == 2
    ranked = sorted(incidents, key=lambda i: i["harm_rank"])
    assert [i["harm"] for i in ranked[:8]] == [
        "records_lost", *["partitions_offline"] * 5, "no_controller", "consumers_stopped",
    ]  # fmt: skip
    assert (ranked[0]["records_lost_low"], ranked[0]["topics"][0]) == (40, "fraud-risky-19")
    assert {i["intent"] for i in incidents} == {"undeclared"}
    stopped = next(i for i in ranked if i["is_over"] is False)
    assert (stopped["brokers"], stopped["partitions_offline"], stopped["partitions_still_offline"]) == (
        [1, 2, 3],
        76,
        76,
    )
    over = [u for u in rows(lake, "gold.unavailability") if u["kind"] == "no_leader" and u["ended_at"]]
    lasted = {u["unavailability_id"]: (u["ended_at"] - u["started_at"]).total_seconds() for u in over}
    noticed = [u for u in over if lasted[u["unavailability_id"]] >= 1]
    assert len({(u["topic"], u["partition"]) for u in noticed}) == 73
    assert round(sum(lasted[u["unavailability_id"]] for u in noticed)) == 1_497
    assert {r["incident_id"] for r in rows(lake, "gold.broker_outages")} <= {i["incident_id"] for i in incidents}
    lost = [f for f in rows(lake, "gold.failovers") if f["kind"] == "unclean_election" and f["partition"] == 0]
    assert [(f["records_lost_low"], f["records_lost_high"]) for f in lost] == [(40, 40)]
    published = {p["table"]: p["row_count"] for p in rows(lake, "quality.publications")}
    assert published["gold.rebalances"] == len(rebalances)


def test_restarts_outages_and_isr_shrinks_count_once_per_broker(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    lake, _ = night
    (restart,) = rows(lake, "gold.rolling_restarts")
    assert (restart["brokers"], restart["is_complete"], restart["intent"]) == ([1, 2, 3], True, "undeclared")
    assert [s["is_early"] for s in restart["scorecard"]] == [False, False, False]
    outages = rows(lake, "gold.broker_outages")
    assert sorted(o["broker"] for o in outages if o["restart_id"]) == [1, 2, 3]
    shrinks = [c for c in rows(lake, "gold.isr_changes") if c["change"] == "shrink"]
    assert Counter(c["shrink_cause"] for c in shrinks) == {"outage": len(shrinks)}
    out_of_sync_periods = rows(lake, "gold.out_of_sync_periods")
    assert (
        sum(period["shrinks"] for period in out_of_sync_periods)
        == sum(o["isr_shrinks"] for o in outages)
        == len(shrinks)
    )
    assert len(out_of_sync_periods) == len({o["outage_id"] for o in outages if o["isr_shrinks"]})


def test_page_terminal_sql_and_metrics_have_same_figures(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    lake, done = night
    (row,) = rows(lake, "quality.nights")
    connection = open_views(str(lake))
    answer = connection.execute(named_queries()["night_figures"].sql)
    (counted_in_sql,) = (dict(zip((d[0] for d in answer.description), values)) for values in answer.fetchall())
    for name, figure in counted_in_sql.items():
        assert figure == (round(row[name], 1) if name == "partition_seconds" else row[name]), name
    page = (lake / "report" / row["page"]).read_text(encoding="utf-8")
    tiles = re.findall(r"<li class=\"\w+\"><a href=\"#[^\"]+\"><b>([^<]+)</b> ([^<]+)</a></li>", page)
    assert [value for value, _ in tiles] == [
        str(row["records_lost_low"]),
        str(row["partitions_offline"]),
        str(row["partitions_refusing"]),
        str(row["sudden_absences"] + row["orderly_absences"]),
        *(str(row[name]) for name in ("groups_stopped", "findings_critical", "gaps")),
    ]
    assert "partitions still had no leader when the logs end" in tiles[1][1]
    assert f"{row['orderly_absences']} shut down" in tiles[3][1]
    assert str(row["headline"]) in " ".join(done.stdout.split())
    metrics = (lake / "report" / "metrics.prom").read_text(encoding="utf-8")
    assert f'hindsight_records_lost_at_least{{cluster="{row["cluster"]}"}} {row["records_lost_low"]}\n' in metrics
    offline = f'hindsight_partitions_offline{{cluster="{row["cluster"]}"}} {row["partitions_offline"]}\n'
    assert offline in metrics
    fleet = (lake / "report" / "fleet.html").read_text(encoding="utf-8")
    assert plain.shortened(str(row["headline"]), 160) in fleet and row["page"] in fleet


@pytest.mark.skipif(found() is None, reason="no Chromium on the PATH: install chromium to look at the page")
@pytest.mark.parametrize(("width", "height"), [(1600, 1000), (390, 844)])
def test_first_screen_names_loss_crashes_and_what_to_do(
    night: tuple[Path, subprocess.CompletedProcess[str]], tmp_path: Path, width: int, height: int
) -> None:
    with Browser(found() or "", tmp_path) as browser:
        browser.open((night[0] / "report" / "index.html").as_uri(), width, height)
        bottoms = (
            "[...document.querySelectorAll('.state-line, .gravest li')].map(e => e.getBoundingClientRect().bottom)"
        )
        assert max(browser.tell(bottoms)) <= height
        items = browser.tell("[...document.querySelectorAll('.gravest li')].map(e => e.innerText)")
        assert browser.tell("document.documentElement.scrollWidth") == width
        assert browser.tell("document.querySelector('.state').innerText") == "Act"
        incidents = browser.tell("document.querySelector('#incident-list').innerText")
    assert items[0].startswith(
        "76 partitions of 7 topics still had no leader when the logs end, the longest for at least 5.5 s: brokers 1, 2"
        " and 3 were shut down at 01:53:36, and none came back"
    )
    assert (
        "40 committed records were lost in fraud-risky-19-0 (unclean election at 01:52:56): broker 1 crashed at"
        in items[1]
    )
    assert "replay them" in items[1]
    assert items[2].startswith("Group email-next-11 rebalanced 10 times, in a storm: a member died, and none is left")
    fates = (
        "4 partitions of 2 topics had no leader, the longest for 16.3 s: broker 2 crashed at 01:53:12",
        "broker 1 crashed at 01:50:30",
        "broker 1 stopped responding between 01:51:57 and",
    )
    assert all(fate in incidents for fate in fates)
    assert "find out why its broker was away" in items[0]


def test_audit_of_checkout_with_both_environments_is_one_process(
    night: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    """What set-up has built decides nothing: Airflow and Spark are there, and neither starts."""
    assert embedded_airflow.PROGRAM.exists() and launch.spark_submit().exists()
    _, lake = recorded_night()
    assert "40 committed records were lost in fraud-risky-19-0" in output_of_its_audit()
    run = min(folder.name for folder in (lake / "runs").iterdir() if folder.is_dir())  # other tests run steps again
    results = [read_result(str(lake), run, step.name) for step in STEPS]
    assert [r.application for r in results if r] == [None] * len(STEPS), "an application is Spark's"
    assert "airflow" not in (RUNS / f"{run}.log").read_text(encoding="utf-8").lower()
    assert contents(lake) == contents(night[0])


@pytest.fixture(scope="module")
def hindsight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    return install(build(HOME, folder / "built"), folder / "environment")


def test_audit_by_wheel_without_airflow_spark_or_java_leaves_same_tables(
    night: tuple[Path, subprocess.CompletedProcess[str]], hindsight: Path, tmp_path: Path
) -> None:
    lake, _ = night
    before = contents(lake)
    (package,) = hindsight.parent.parent.glob("lib/python3.*/site-packages/kafka_hindsight")
    held = {p for p in package.rglob("*") if p.suffix != ".pyc"}
    work = tmp_path / "work"
    work.mkdir()
    given = {"logs": SAMPLE / "logs", "client-logs": SAMPLE / "clients", "snapshots": SAMPLE / "snapshots.jsonl"}
    options = [word for name, place in given.items() for word in (f"--{name}", str(place))]
    theirs = {"PATH": os.environ["PATH"], "LAKE": str(lake), "JAVA_HOME": str(work)}

    def run(*arguments: str) -> str:
        done = subprocess.run(
            [hindsight, *arguments], cwd=work, env=theirs, capture_output=True, text=True, timeout=1200
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    output = run("audit", *options)
    assert "40 committed records were lost in fraud-risky-19-0" in output
    assert contents(lake) == before
    assert run("report").strip() == str(lake / "report" / "index.html")
    assert "76 partitions of 7 topics still had no leader" in " ".join(run("explain", "worst").split())
    assert "has published audits" in run("doctor")
    assert run("fleet") and run("tables") and run("metrics") and run("sql", "coverage_by_source")
    assert json.loads(run("sql", "select count(*) as lost from gold.truncations", "--format", "json"))
    assert [p.name for p in work.iterdir()] == [".hindsight"]
    assert {p for p in package.rglob("*") if p.suffix != ".pyc" and p.name != "__pycache__"} <= held


NOT_BY_WHEEL = {
    "README.md": "the recorded night of a checkout: lab/newcomer.py types it",
    "answers.md": "an extra; tests/audit/test_answers.py",
    "drill.md": "starts brokers",
    "expectations.md": "the recorded night of a checkout: tests/store/test_publish.py",
    "extending.md": "changes a checkout",
    "install.md": "the recorded night of a checkout: lab/newcomer.py types it",
    "kubernetes.md": "needs Docker",
    "live.md": "needs brokers: tests/live/test_snapshot.py",
    "managed.md": "builds from a checkout",
    "metadata_log.md": "a copy from a broker: tests/store/test_metadata_files.py",
    "offsets_topic.md": "a copy from a broker: tests/store/test_record_files.py",
    "operations.md": "Airflow's: tests/dags/test_operations.py",
    "shipping_logs.md": "a drawing of folders",
    "sources.md": "needs a topic: tests/sources",
    "stack.md": "needs Docker",
}
"""The pages whose first example the wheel alone cannot run, and why."""
FIRST = {name: example for name, page in PAGES.items() if (example := first_example(page))}


@pytest.mark.parametrize("name", sorted(FIRST.keys() - NOT_BY_WHEEL.keys()))
def test_first_example_of_page_runs_by_wheel_beside_lake(
    night: tuple[Path, subprocess.CompletedProcess[str]], hindsight: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "lake").symlink_to(night[0])
    program, example = FIRST[name]
    path = f"{hindsight.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [program, "-c", example],
        cwd=tmp_path,
        env={"PATH": path},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert NOT_BY_WHEEL.keys() <= FIRST.keys()
