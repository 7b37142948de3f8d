"""One row of gold told by its id, over a tiny lake of real Delta tables."""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest
from deltalake import DeltaTable, write_deltalake

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.cli import main as cli
from kafka_hindsight.report.story import as_data, as_lines
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, BadInput
from kafka_hindsight.sql.answers import plain
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.subjects import story_of
from tests.support.asked_lake import LAKE
from tests.support.lake import write_lake
from tests.support.rows import AT, values

OUTAGE, OTHER, FAILOVER, TWIN = "0" * 31 + "a", "0" * 31 + "b", "f1" * 16, "f2" * 16
HOSTILE = "\x1b[2Jorders\u202e"


def quote(text: str) -> dict[str, Any]:
    return {"line_id": "l", "source": "broker-2/controller.log", "happened_at": AT, "text": text}


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
        },
    )


@pytest.fixture(scope="module")
def opened(lake: Path) -> duckdb.DuckDBPyConnection:
    return open_views(str(lake))


def explained(lake: Path, asked: str, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, str]:
    """What the command says. It opens the lake, which takes most of its time."""
    code = cli.main(["explain", asked, "--lake", str(lake), *options])
    printed = capsys.readouterr()
    return code, printed.out + printed.err


def story(opened: duckdb.DuckDBPyConnection, asked: str) -> str:
    """What the command prints, of a lake that is open."""
    return "\n".join(as_lines(story_of(opened, asked)))


def test_failover_is_explained_with_outage_lines_and_escaped_names(
    lake: Path, opened: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    code, text = explained(lake, FAILOVER, capsys)
    assert code == DONE
    assert text == f"{story(opened, FAILOVER)}\n"
    assert text.startswith(f"Failover {FAILOVER}, cluster c\nLeadership of partition 0 moved.\n")
    assert "leaderless_ms" in text
    assert "4.2 s (4,200 ms)" in text
    assert f"outage {OUTAGE}  broker 2\n    Broker 2 crashed.\n" in text
    assert text.endswith("broker-2/controller.log\n    [2026-11-20 03:12:00,000] INFO Fencing broker 2\n")
    assert "\\x1b[2Jorders\\u202e" in text
    assert all(c.isprintable() or c == "\n" for c in text)


def test_outage_names_its_failovers(opened: duckdb.DuckDBPyConnection) -> None:
    text = story(opened, OUTAGE)
    assert "2 failovers" in text
    assert f"failover {TWIN}  orders-1" in text
    assert OTHER not in text


@pytest.mark.parametrize(
    "asked", [FAILOVER[:7], f"#failover-{FAILOVER}", f"https://host/index.html#failover-{FAILOVER}"]
)
def test_explain_takes_id_prefix_and_report_address(opened: duckdb.DuckDBPyConnection, asked: str) -> None:
    assert story(opened, asked).splitlines()[0] == f"Failover {FAILOVER}, cluster c"


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("orders'; DROP TABLE x", "is not an id, a group or a partition of this lake. Needed"),
        ("abcdef", "No row of gold has the id abcdef"),
        ("000000", f"begins the ids of 2 rows or more: broker_outages {OUTAGE}"),
    ],
)
def test_explain_refuses_unknown_or_ambiguous_id_in_one_sentence(
    opened: duckdb.DuckDBPyConnection, asked: str, says: str
) -> None:
    with pytest.raises(BadInput) as problem:
        story_of(opened, asked)
    (sentence,) = problem.value.sentences
    assert says in sentence
    assert len(sentence.splitlines()) == 1


def test_explain_json_has_row_and_related_rows(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, text = explained(lake, OUTAGE, capsys, "--json")
    content = json.loads(text)
    assert (content["table"], content["row"]["broker"]) == ("gold.broker_outages", 2)
    assert [(k["table"], k["count"], k["rows"][0]["topic"]) for k in content["parts"]] == [
        ("gold.failovers", 2, HOSTILE)
    ]


def test_explain_reads_table_without_newer_column(lake: Path, tmp_path: Path, capsys: Any) -> None:
    newer = DeltaTable(str(lake / "gold" / "failovers")).to_pyarrow_table()
    older: pyarrow.Table = newer.drop_columns(["outage_id"])
    write_deltalake(str(tmp_path / "lake" / "gold" / "failovers"), older)
    code, text = explained(tmp_path / "lake", FAILOVER, capsys)
    assert code == DONE
    assert "outage" not in text


def test_explain_ignores_table_without_commit(
    lake: Path, opened: duckdb.DuckDBPyConnection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = shutil.copytree(lake, tmp_path / "copy")
    (copy / "gold/lag_verdicts/_delta_log").mkdir(parents=True)
    assert cli.main(["explain", FAILOVER, "--lake", str(copy)]) == DONE
    out, err = capsys.readouterr()
    assert out == f"{story(opened, FAILOVER)}\n"
    assert err == ""


def test_group_is_explained_with_its_rebalances(tmp_path: Path) -> None:
    with open_views(str(write_lake(tmp_path, LAKE))) as asked:
        text = story(asked, "orders")
        content = json.loads(json.dumps(plain(as_data(story_of(asked, "orders")))))
    assert text.startswith("Group orders: ")
    assert "2 rebalances" in text
    assert (content["kind"], content["name"]) == ("group", "orders")
    assert {r["group_id"] for t in content["about"] if t["table"] == "gold.rebalances" for r in t["rows"]} == {"orders"}


def test_partition_is_explained_and_similar_name_is_proposed(
    lake: Path, opened: duckdb.DuckDBPyConnection, capsys: pytest.CaptureFixture[str]
) -> None:
    assert story(opened, "orders-1").startswith("Partition orders-1: 1 failover.\n\n1 failover\n")
    code, text = explained(lake, "order-1", capsys)
    assert code == BAD_INPUT
    assert len(text.splitlines()) == 1
    assert "Did you mean orders-1" in text
    assert all(c.isprintable() or c == "\n" for c in text)


def test_group_named_like_id_is_preferred_to_id(tmp_path: Path) -> None:
    rows = [values(BY_NAME["gold.rebalances"], cluster="c", rebalance_id="1", group_id="orders-deadbeef")]
    with open_views(str(write_lake(tmp_path, {"gold.rebalances": rows}))) as opened:
        assert story(opened, "orders-deadbeef").startswith("Group orders-deadbeef: 1 rebalance.")


def test_worst_is_most_harmful_of_newest_night_and_latest_starts_last(tmp_path: Path) -> None:
    incidents, windows = BY_NAME["gold.incidents"], BY_NAME["quality.publications"]
    hour = timedelta(hours=1)
    place = write_lake(
        tmp_path / "lake",
        {
            "gold.incidents": [
                values(incidents, cluster="c", incident_id=i * 32, harm_rank=rank, started_at=AT + at)
                for i, rank, at in (("a", 1, -5 * hour), ("b", 2, 3 * hour), ("c", 1, 2 * hour))
            ],
            "quality.publications": [
                values(windows, cluster="c", window_from=AT, window_to=AT + 24 * hour, run_published_at=AT + 25 * hour)
            ],
        },
    )
    with open_views(str(place)) as opened:
        assert story(opened, "worst").startswith(f"Incident {'c' * 32}")
        assert story(opened, "latest").startswith(f"Incident {'b' * 32}")
