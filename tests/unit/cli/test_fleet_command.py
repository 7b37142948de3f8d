"""`hindsight fleet` over the lakes of several clusters."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.cli.main import main
from kafka_hindsight.settings.home import FILE_VARIABLE
from tests.support.lake import write_lake
from tests.support.rows import values

END = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)


@pytest.fixture()
def lakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two lakes with a night each, and a third without a table."""
    file = tmp_path / "hindsight.toml"
    file.write_text(
        "".join(f"[[clusters]]\nname = '{n}'\nlogs = '/{n}'\nlake = '{tmp_path}/{n}'\n" for n in ("eu", "us", "new"))
    )
    monkeypatch.setenv(FILE_VARIABLE, str(file))
    monkeypatch.delenv("LAKE", raising=False)
    for name, state, headline in (("eu", "calm", None), ("us", "act", "Broker 1 crashed")):
        night = {"cluster": name, "window_from": END - timedelta(days=1), "window_to": END, "state": state}
        row = values(BY_NAME["quality.nights"], **night, headline=headline, page=f"{name}.html")
        write_lake(tmp_path / name, {"quality.nights": [row]})
    return tmp_path


def test_fleet_page_has_clusters_of_all_lakes_worst_first(lakes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--html"]) == 0
    page, errors = capsys.readouterr()
    assert re.findall(r'href="(file:[^"]+)">', page) == [
        f"file://{lakes}/us/report/us.html",
        f"file://{lakes}/us/report/us.html",
        f"file://{lakes}/eu/report/eu.html",
    ]
    assert "no night was ever audited" in page
    assert f"There is no lake at {lakes}/new" in errors


def test_fleet_shows_only_requested_clusters_with_requested_links(
    lakes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fleet", "--html", "--link", "{cluster}/{page}", "--cluster", "eu"]) == 0
    page, _ = capsys.readouterr()
    assert 'href="eu/eu.html"' in page
    assert "us.html" not in page and "never audited" not in page


def test_fleet_refuses_cluster_that_it_does_not_know(lakes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--cluster", "eu", "--cluster", "uk"]) == 2
    printed, errors = capsys.readouterr()
    assert not printed and "There is no cluster 'uk'." in errors
    assert main(["fleet", "--cluster", "new"]) == 0, "the settings name it, though no night of it was audited"


def test_fleet_of_one_lake_shows_its_clusters(lakes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", "--lake", str(lakes / "us"), "--json"]) == 0
    assert [n["cluster"] for n in json.loads(capsys.readouterr().out)["clusters"]] == ["us"]
    assert main(["fleet", "--lake", str(lakes / "new")]) == 2
    assert "There is no lake at" in capsys.readouterr().err
