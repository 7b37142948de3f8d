"""`hindsight collection` over the lakes of several clusters."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.cli.main import main
from kafka_hindsight.settings.home import FILE_VARIABLE
from tests.support.lake import write_lake
from tests.support.rows import values

NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture()
def lakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake of two clusters, and one that is not there."""
    file = tmp_path / "hindsight.toml"
    of = {"eu": "both", "us": "both", "new": "none"}
    file.write_text(
        "".join(f"[[clusters]]\nname = '{n}'\nlogs = '/{n}'\nlake = '{tmp_path}/{lake}'\n" for n, lake in of.items())
    )
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    monkeypatch.delenv("LAKE", raising=False)
    hours = [
        values(
            BY_NAME["quality.parsed_hours"], cluster=c, source=s, last_at=NOW - timedelta(hours=ago), origin="broker"
        )
        for c, s, ago in (("eu", "b-1/server.log", 20), ("eu", "b-2/server.log", 9), ("us", "b-1/server.log", 9))
    ]
    collected = {"cluster": "eu", "source": "b-2/server.log", "last_at": NOW, "run_collected_at": NOW}
    files = [values(BY_NAME["bronze.log_files"], **collected, origin="broker")]
    write_lake(tmp_path / "both", {"quality.parsed_hours": hours, "bronze.log_files": files})
    return tmp_path


def test_collection_counts_what_a_collect_read_since_the_audit(lakes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collection"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("Of 3 logs in 2 clusters, 1 is more than 1 h behind")
    assert "The newest line of 1 cluster is more than 2 h old. 1 cluster was not read" in first
    assert any(line.startswith("behind  eu  b-1/server.log: ") and line.endswith(", 20 h behind") for line in lines)
    assert any(line.startswith(f"new: its lake cannot be read. There is no lake at {lakes}/none") for line in lines)


def test_collection_of_one_cluster_as_page_and_as_json(lakes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["collection", "--html", "--cluster", "us"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("<!doctype html>") and "no lake" not in page and ">eu<" not in page
    assert main(["collection", "--json", "--lake", str(lakes / "both"), "--cluster", "us"]) == 0
    (log,) = json.loads(capsys.readouterr().out)["logs"]
    assert (log["cluster"], log["source"], log["last_read_at"]) == ("us", "b-1/server.log", None)


def test_collection_refuses_lake_and_cluster_that_are_not_there(
    lakes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["collection", "--lake", str(lakes / "none")]) == 2
    assert main(["collection", "--cluster", "uk"]) == 2
    errors = capsys.readouterr().err
    assert "There is no lake at" in errors and "There is no cluster 'uk'." in errors
