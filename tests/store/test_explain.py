"""Subjects and rows of gold explained, over a tiny lake of real Delta tables."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.rows import Rebalance
from kafka_hindsight.cli import main as cli
from kafka_hindsight.report.build import report_of
from kafka_hindsight.report.markdown import Markdown
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, BadInput
from kafka_hindsight.sql.answers import plain
from kafka_hindsight.sql.lake import Explanation
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.report_rows import page_rows
from kafka_hindsight.sql.subjects import explained
from tests.support.lake import write_lake
from tests.support.report_night import night
from tests.support.report_rows import CLUSTER, DAY, END, at, made, rebalance, run
from tests.support.rows import AT, values

OUTAGE, OTHER, FAILOVER, TWIN = "0" * 31 + "a", "0" * 31 + "b", "f1" * 16, "f2" * 16
HOSTILE = "\x1b[2Jorders\u202e"


def quote(text: str) -> dict[str, Any]:
    return {"line_id": "l", "source": "broker-2/controller.log", "happened_at": AT, "text": text}


def window(start: datetime) -> dict[str, Any]:
    """A published window of a day."""
    end = start + timedelta(hours=24)
    return values(
        BY_NAME["quality.publications"],
        cluster="c",
        run_id="run",
        window_from=start,
        window_to=end,
        run_published_at=end + timedelta(hours=1),
    )


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    outages, failovers = BY_NAME["gold.broker_outages"], BY_NAME["gold.failovers"]
    changes = [
        values(
            failovers,
            cluster="c",
            failover_id=failover,
            topic=topic,
            partition=number,
            happened_at=AT + timedelta(seconds=number),
            outage_id=OUTAGE,
            leaderless_ms=4200,
            explanation=f"Leadership of partition {number} moved.",
            evidence=[quote("[2026-11-20 03:12:00,000] INFO Fencing broker 2")],
        )
        for number, (failover, topic) in enumerate([(FAILOVER, HOSTILE), (TWIN, "orders")])
    ]
    return write_lake(
        tmp_path_factory.mktemp("told") / "lake",
        {
            "gold.broker_outages": [
                values(outages, cluster="c", outage_id=i, broker=b, explanation=f"Broker {b} crashed.")
                for i, b in ((OUTAGE, 2), (OTHER, 3))
            ],
            "gold.failovers": changes,
            "quality.publications": [window(AT)],
        },
    )


@pytest.fixture(scope="module")
def opened(lake: Path) -> duckdb.DuckDBPyConnection:
    return open_views(str(lake))


def printed(lake: Path, asked: str, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    """What the command says. It opens the lake, which takes most of its time."""
    code = cli.main(["explain", asked, "--lake", str(lake), *options])
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def story(opened: duckdb.DuckDBPyConnection, asked: str) -> str:
    """What the command prints, of a lake that is open."""
    return Explanation(explained(opened, asked)).text()


def test_failover_is_explained_with_outage_lines_and_escaped_names(
    lake: Path, opened: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = printed(lake, FAILOVER, capsys)
    assert code == DONE
    assert text == f"{story(opened, FAILOVER)}\n"
    assert text.startswith(f"Failover {FAILOVER}\nc, 2026-10-01 03:00:00 to 2026-10-02 03:00:00")
    assert "\n\nLeadership of partition 0 moved.\n" in text
    assert "leaderless_ms" in text
    assert "4.2 s (4,200 ms)" in text
    assert f"outage {OUTAGE}: subject broker 2, what Broker 2 crashed." in " ".join(text.split())
    assert text.endswith("broker-2/controller.log\n    [2026-11-20 03:12:00,000] INFO Fencing broker 2\n\n")
    assert "\\x1b[2Jorders\\u202e" in text
    assert all(c.isprintable() or c == "\n" for c in text)


def test_outage_names_its_failovers(opened: duckdb.DuckDBPyConnection) -> None:
    text = story(opened, OUTAGE)
    assert f"failover {FAILOVER}: subject" in text
    assert f"failover {TWIN}: subject orders-1" in text
    assert OTHER not in text


@pytest.mark.parametrize(
    "asked",
    [
        FAILOVER[:7],
        f"#failover-{FAILOVER}",
        f"https://host/index.html#failover-{FAILOVER}",
        f"https://host/index.html#topic-{TWIN}/failover-{FAILOVER}",
    ],
)
def test_explain_takes_id_prefix_and_report_address(opened: duckdb.DuckDBPyConnection, asked: str) -> None:
    assert story(opened, asked).splitlines()[0] == f"Failover {FAILOVER}"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            "orders'; DROP TABLE x",
            "is not an id, a group, a topic, a partition, a broker or a client of this lake. Needed",
        ),
        ("abcdef", "No row of gold has the id abcdef"),
        ("000000", f"begins the ids of 2 rows or more: broker_outages {OUTAGE}"),
    ],
)
def test_explain_refuses_unknown_or_ambiguous_id_in_one_sentence(
    opened: duckdb.DuckDBPyConnection, asked: str, says: str
) -> None:
    with pytest.raises(BadInput) as problem:
        explained(opened, asked)
    (said,) = problem.value.sentences
    assert says in said
    assert len(said.splitlines()) == 1


def test_json_about_row_has_fields_of_any_answer(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = printed(lake, FAILOVER, capsys, "--json")
    said = json.loads(text)
    assert (said["kind"], said["name"], said["verdict"]) == ("failover", FAILOVER, "Leadership of partition 0 moved.")
    assert (said["cost"]["leaderless_ms"], said["cost"]["outage_id"]) == ("4.2 s (4,200 ms)", OUTAGE)
    assert [line["source"] for line in said["evidence"]] == ["broker-2/controller.log"]


def test_explain_ignores_table_without_commit(
    lake: Path, opened: duckdb.DuckDBPyConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(lake, tmp_path / "copy")
    (copy / "gold/partition_stalls/_delta_log").mkdir(parents=True)
    assert cli.main(["explain", FAILOVER, "--lake", str(copy)]) == DONE
    out, err = capsys.readouterr()
    assert out == f"{story(opened, FAILOVER)}\n"
    assert err == ""


@pytest.fixture(scope="module")
def night_lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made night, published."""
    tables, about = night()
    window = {"table": "gold.rebalances", "window_from": DAY, "window_to": END, "run_id": about["run_id"]}
    tables["quality.publications"].append(made("quality.publications", **window, run_published_at=END))
    tables["quality.unparsed_lines"] = []
    return write_lake(tmp_path_factory.mktemp("night") / "lake", tables)


@pytest.fixture(scope="module")
def opened_night(night_lake: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with open_views(str(night_lake)) as connection:
        yield connection


SUBJECTS = ("worst", "ads-etl", "billing", "risky.raw", "risky.raw-0", "broker 2", "billing-b")


@pytest.mark.parametrize("asked", SUBJECTS)
def test_page_terminal_markdown_and_program_get_one_answer(opened_night: duckdb.DuckDBPyConnection, asked: str) -> None:
    subject = explained(opened_night, asked)
    explanation, answer = Explanation(subject), subject.answer
    said = json.loads(json.dumps(plain(explanation.data())))
    assert (said["verdict"], said["confidence"]) == (answer.verdict, answer.confidence or None)
    assert said["evidence"] and all(quote["text"] for quote in said["evidence"])
    text = " ".join(explanation.text().split())
    for sentence in (answer.title, answer.verdict, *answer.advice, *answer.commands):
        assert " ".join(sentence.split()) in text
    about = {"cluster": CLUSTER, "window_from": DAY, "window_to": END, "run_id": run()["run_id"]}
    page = report_of(page_rows(opened_night, about)[0])
    views = {view.name: view for view in page.views}
    if answer.kind != "partition":
        shown = views[answer.anchor]
        assert shown == answer.view(subject.rows)
        assert Markdown(page).view(shown) == explanation.markdown()


def test_group_with_a_member_that_was_too_slow_is_its_own_doing(opened_night: duckdb.DuckDBPyConnection) -> None:
    subject = explained(opened_night, "billing")
    assert subject.answer.verdict.startswith(
        "Yours: Group billing rebalanced for 1 min 2 s: max poll interval exceeded."
    )


def test_group_that_a_broker_stopped_is_not_its_own_doing(opened_night: duckdb.DuckDBPyConnection) -> None:
    subject = explained(opened_night, "orders-index")
    assert subject.answer.verdict.startswith("Not yours: ")


def test_instant_narrows_an_answer_to_what_went_on_then(
    night_lake: Path, opened_night: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, around = (explained(opened_night, "ads-etl", at) for at in ("", "05:12"))
    counts = [len(subject.rows.rows_of(Rebalance, "group_id", "ads-etl")) for subject in (whole, around)]
    assert counts[0] > counts[1] > 0
    code, text = printed(night_lake, "ads-etl", capsys, "--at", "05:12")
    assert code == DONE
    assert text.startswith("Group ads-etl around 05:12:00\n")
    code, text = printed(night_lake, "ads-etl", capsys, "--at", "2026-10-05T05:12")
    assert code == BAD_INPUT
    assert "No published window that holds 2026-10-05T05:12 shows 'ads-etl'." in text
    code, text = printed(night_lake, "ads-etl", capsys, "--at", "five")
    assert (code, "'five' is not an instant. Needed: 01:43" in text) == (BAD_INPUT, True)


def test_hostile_subject_stays_text_in_every_form(tmp_path: Path) -> None:
    name = "<script>alert(1)</script>`|[x](y)\x1b[2J"
    rows = [rebalance(name, at("02:00:00"), "member_left", client_id=name)]
    lake = {
        "gold.rebalances": rows,
        "quality.publications": [made("quality.publications", window_from=DAY, window_to=END)],
    }
    with open_views(str(write_lake(tmp_path, lake))) as opened:
        explanation = Explanation(explained(opened, name))
        text, markdown = explanation.text(), explanation.markdown()
        assert plain(explanation.data())["name"] == name.replace("\x1b", "\\x1b")
    for form in (text, markdown):
        assert all(c.isprintable() or c == "\n" for c in form)
    assert "<script>alert(1)" in text
    assert not re.search(
        r"(?m)(?<!\\)[<|]", re.sub(r"(`+).*?\1|(?m:^ {6}.*$)", "", markdown).replace("| ", "").replace(" |", "")
    )


def test_partition_is_explained_and_similar_name_is_proposed(
    lake: Path, opened: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    assert story(opened, "orders-1").startswith("Partition orders-1\n")
    code, text = printed(lake, "order-1", capsys)
    assert code == BAD_INPUT
    assert len(text.splitlines()) == 1
    assert "Did you mean orders-1" in text
    assert all(c.isprintable() or c == "\n" for c in text)


def test_group_named_like_id_is_preferred_to_id(tmp_path: Path) -> None:
    group = {"rebalance_id": "1", "group_id": "orders-deadbeef", "started_at": AT}
    rows = [values(BY_NAME["gold.rebalances"], cluster="c", **group)]
    with open_views(
        str(write_lake(tmp_path, {"gold.rebalances": rows, "quality.publications": [window(AT)]}))
    ) as opened:
        assert story(opened, "orders-deadbeef").startswith("Group orders-deadbeef\n")


def test_worst_is_first_of_report_of_newest_night_and_latest_starts_last(tmp_path: Path) -> None:
    hour = timedelta(hours=1)
    place = write_lake(
        tmp_path / "lake",
        {
            "gold.incidents": [
                values(
                    BY_NAME["gold.incidents"],
                    cluster="c",
                    incident_id=name * 32,
                    headline=f"Incident {name}",
                    harm_rank=rank,
                    is_over=is_over,
                    started_at=AT + at,
                )
                for name, rank, is_over, at in (
                    ("a", 1, False, -5 * hour),
                    ("b", 3, True, 3 * hour),
                    ("c", 2, False, 2 * hour),
                    ("d", 1, True, hour),
                )
            ],
            "quality.publications": [window(AT)],
        },
    )
    with open_views(str(place)) as opened:
        assert story(opened, "worst").startswith("Incident c\n")
        assert story(opened, "latest").startswith("Incident b\n")
