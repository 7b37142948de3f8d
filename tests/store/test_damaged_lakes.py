"""SQL over lakes with tables that are damaged or not wholly published: each is named, and the others answer."""

from __future__ import annotations

import json
import re
import socket
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.cli import main as cli
from kafka_hindsight.lake.publication import TOGETHER, newest_versions
from kafka_hindsight.lake.publishing import list_versions
from kafka_hindsight.shared.exits import BAD_INPUT, DONE, FAULT, BadInput
from kafka_hindsight.sql import prompt as sql
from kafka_hindsight.sql.lake import Explanation
from kafka_hindsight.sql.lake_views import open_views
from kafka_hindsight.sql.named_queries import named_queries
from kafka_hindsight.sql.subjects import explained
from tests.support.asked_lake import LAKE
from tests.support.lake import write_lake
from tests.support.rows import AT, values

FINDINGS = {"gold.findings": LAKE["gold.findings"]}


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_sql_names_table_with_cut_commit_and_reads_others(
    tmp_path: Path, scheme: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lake(tmp_path, {"silver.events": [{"line_id": "a"}], "gold.rebalances": []})
    commit = tmp_path / "gold/rebalances/_delta_log/00000000000000000000.json"
    commit.write_text(commit.read_text()[:700])
    place = f"{scheme}{tmp_path}"
    assert sql.main(place, "SELECT line_id FROM silver.events", "csv") == DONE
    out, err = capsys.readouterr()
    assert out.split() == ["line_id", "a"]
    (sentence,) = err.splitlines()
    assert re.match(
        r"The table gold.rebalances cannot be read: .*\. Needed: .* What to do: bring the files back", sentence
    )
    assert "delta_kernel::" not in sentence
    session = sql.Session(open_views(place), named_queries(), "json")
    for query in (
        "SELECT count(*) FROM gold.rebalances",
        "SELECT 1 FROM gold.rebalances WHERE started_at >= (SELECT max(happened_at) FROM silver.events)",
        "SELECT line_id FROM silver.events LEFT JOIN gold.rebalances AS r USING (cluster)",
    ):
        with pytest.raises(BadInput, match=r"The table gold\.rebalances cannot be read"):
            session.tell(query)
    capsys.readouterr()
    session.tell(".tables")
    tables = {t["table"]: t for t in json.loads(capsys.readouterr().out)}
    assert tables["silver.events"]["rows"] == 1
    assert tables["gold.rebalances"]["rows"] is None


def test_explain_continues_without_unreadable_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lake(tmp_path, {"gold.failovers": [], "gold.findings": LAKE["gold.findings"]})
    commit = tmp_path / "gold/failovers/_delta_log/00000000000000000000.json"
    commit.write_text(commit.read_text()[:700])
    assert cli.main(["explain", "--lake", str(tmp_path), "abcdef"]) == BAD_INPUT
    named, answer = capsys.readouterr().err.splitlines()
    assert named.startswith("The table gold.failovers cannot be read: ")
    assert answer.startswith("No row of gold has the id abcdef.")


def test_missing_parquet_file_is_reported_in_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lake(tmp_path, FINDINGS)
    for file in (tmp_path / "gold/findings").glob("*.parquet"):
        file.unlink()
    assert cli.main(["sql", "FROM gold.findings", "--lake", str(tmp_path)]) == BAD_INPUT
    (sentence,) = capsys.readouterr().err.splitlines()
    assert re.search(r"\.parquet of gold\.findings has 0 of the \d+ bytes", sentence)
    assert cli.main(["explain", "abcdef", "--lake", str(tmp_path)]) == BAD_INPUT
    sentence, answer = capsys.readouterr().err.splitlines()
    assert re.match(
        r"The table gold.findings cannot be read: IOError: .*\.parquet of gold\.findings has 0 of", sentence
    )
    assert answer.startswith("No row of gold has the id abcdef.")


def _cut(table: Path) -> None:
    commit = max((table / "_delta_log").glob("*.json"))
    commit.write_bytes(commit.read_bytes()[:-40])


def _overwrite(table: Path) -> None:
    (file,) = table.glob("*.parquet")
    data = file.read_bytes()
    file.write_bytes(data[:4] + bytes(len(data) // 2) + data[4 + len(data) // 2 :])


def _lose(table: Path) -> None:
    (file,) = table.glob("*.parquet")
    file.unlink()


@pytest.fixture
def night(tmp_path: Path) -> Path:
    """A lake with an incident of the newest night, and with findings."""
    what = {"headline": "Group orders stood still", "group_ids": ["orders"], "started_at": AT}
    incident = values(BY_NAME["gold.incidents"], cluster="c", incident_id="abcdef0123", **what)
    window = {"cluster": "c", "window_from": AT, "window_to": AT + timedelta(hours=1)}
    return write_lake(tmp_path, {"gold.incidents": [incident], "quality.publications": [window], **FINDINGS})


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (_lose, r"The table gold.findings cannot be read: IOError: .*\.parquet.* `hindsight doctor`"),
        (_overwrite, r"The table gold.findings cannot be read: .* `hindsight doctor`"),
    ],
)
def test_explain_answers_from_tables_that_can_be_read(
    night: Path, harm: Any, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    harm(night / "gold/findings")
    assert cli.main(["explain", "abcdef", "--lake", str(night)]) == DONE
    out, err = capsys.readouterr()
    assert out.startswith("Group orders stood still\n")
    (line,) = err.splitlines()
    assert re.match(sentence, line)


def test_explain_finds_incident_beside_cut_commit(night: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _cut(night / "gold/findings")
    with open_views(str(night)) as opened:
        for asked in ("abcdef", "orders", "worst", "latest"):
            assert "Group orders stood still" in Explanation(explained(opened, asked)).text()
    (line,) = capsys.readouterr().err.splitlines()
    assert re.match(r"The table gold.findings cannot be read: its commit 0 is cut short\. Needed: ", line)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_unfinished_publication_is_reported_and_hidden_from_sql(
    tmp_path: Path, scheme: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lake = f"{scheme}{tmp_path}"

    tables = ("gold.findings", "gold.rebalances", "quality.publications", "quality.coverage")

    def look(*names: str) -> tuple[str, dict[str, int]]:
        """What is said of the lake, and how many rows of tables are seen."""
        capsys.readouterr()
        with open_views(lake, [BY_NAME[name] for name in tables]) as readers:
            return capsys.readouterr().err, {name: readers.sql(f"FROM {name}").shape[0] for name in names}

    def write(name: str, **how: Any) -> None:
        table = DeltaTable(str(tmp_path / name))
        write_deltalake(table, table.to_pyarrow_table(), **how)

    write_lake(tmp_path, {name: LAKE[name] for name in tables})
    sentence, before = look(*tables)
    assert sentence == ""
    list_versions(lake, newest_versions(lake, *TOGETHER))
    for name in ("gold/findings", "gold/rebalances", "quality/coverage"):
        write(name, mode="append")
    sentence, now = look(*tables)
    assert re.match(r"A publication is not finished: gold\.\w+, gold\.\w+ hold rows of a window", sentence)
    assert now == before | {"quality.coverage": 2 * before["quality.coverage"]}

    list_versions(lake, newest_versions(lake, *TOGETHER))
    sentence, now = look("gold.findings")
    assert sentence == ""
    assert now == {"gold.findings": 2 * before["gold.findings"]}

    write("gold/findings", mode="overwrite", predicate="cluster = 'c'")
    rebalances = DeltaTable(str(tmp_path / "gold/rebalances"))
    rebalances.delete("cluster = 'c'")
    rebalances.vacuum(0, dry_run=False, enforce_retention_duration=False)
    assert look()[0].startswith("A publication is not finished: gold.findings hold rows of a window that")


def test_cut_commit_of_unfinished_publication_hides_no_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_lake(tmp_path, FINDINGS)
    list_versions(str(tmp_path), newest_versions(str(tmp_path), *TOGETHER))
    (tmp_path / "gold/findings/_delta_log/00000000000000000001.json").write_text('{"commitInfo":{"operation":"WR')
    assert sql.main(str(tmp_path), "SELECT count(*) AS n FROM gold.findings", "csv") == DONE
    out, err = capsys.readouterr()
    assert out.split() == ["n", str(len(LAKE["gold.findings"]))]
    assert err.startswith("A publication is not finished: gold.findings hold rows")


def test_report_command_warns_of_unfinished_publication(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, table = tmp_path / "report" / "index.html", tmp_path / "gold" / "findings"
    write_lake(tmp_path, FINDINGS)
    page.parent.mkdir()
    page.write_text("a page")
    list_versions(str(tmp_path), newest_versions(str(tmp_path), *TOGETHER))
    asked = ["report", "--lake", str(tmp_path)]
    assert cli.main(asked) == DONE
    assert capsys.readouterr() == (f"{page}\n", "")
    write_deltalake(table, DeltaTable(table).to_pyarrow_table(), mode="append")
    assert cli.main(asked) == DONE
    out, err = capsys.readouterr()
    assert out == f"{page}\n"
    assert err.startswith("A publication is not finished: gold.findings hold rows")


def test_damaged_published_json_is_refused_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_lake(tmp_path, FINDINGS)
    file = tmp_path / "published.json"
    list_versions(str(tmp_path), newest_versions(str(tmp_path), *TOGETHER))
    written = file.read_text()
    for text in (
        "",
        "{",
        '{"versions": []}',
        written.replace(": 0", ": 1"),
        written.replace('"checksum"', '"checksul"'),
    ):
        file.write_text(text)
        assert cli.main(["sql", "FROM gold.findings", "--lake", str(tmp_path)]) == BAD_INPUT
        (sentence,) = capsys.readouterr().err.splitlines()
        assert re.match(
            r"published\.json in the lake .* has other bytes .* What to do: bring it back .*remove it", sentence
        )
    file.unlink()
    with open_views(str(tmp_path), [BY_NAME["gold.findings"]]) as readers:
        assert readers.sql("FROM gold.findings").shape[0] == len(LAKE["gold.findings"])


def test_unreachable_object_store_fails_in_sentence_before_three_minutes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    access = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_REGION": "none"}
    for name, value in {**access, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"}.items():
        monkeypatch.setenv(name, value)
    began = time.monotonic()
    assert cli.main(["sql", "SELECT 1", "--lake", "s3a://bucket/lake"]) == FAULT
    assert time.monotonic() - began < 150, "obstore by itself tries for three minutes"
    (sentence,) = capsys.readouterr().err.splitlines()
    assert re.match(r"OSError: .*bucket.* Check the path, the network and the rights of this user", sentence)
