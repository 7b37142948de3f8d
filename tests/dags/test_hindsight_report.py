"""The report inside Airflow: for those who are let in, read-only, inert, and nothing but pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from hindsight_report import PREFIX, HindsightReport, app, readers

from kafka_hindsight.settings.home import FILE_VARIABLE

HIDDEN: set[str | None] = set()
"""Clusters whose DAG the user may not read."""

OLD, NEW = "a-20261119T000000Z-0123abcd.html", "a-20261120T000000Z-0123abcd.html"
OTHER = "a-b-20261121T000000Z-0123abcd.html"


@pytest.fixture(autouse=True)
def rights() -> Iterator[None]:
    yield
    HIDDEN.clear()


@pytest.fixture()
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "h.toml").write_text(
        f"lake = '{tmp_path}/lake'\n[[clusters]]\nname = 'a'\nlogs = '/a'\n"
        "[[clusters]]\nname = 'b'\nlogs = '/b'\nlake = 'nowhere://b'\n"
    )
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "h.toml"))
    report = tmp_path / "lake" / "report"
    report.mkdir(parents=True)
    (report / "index.html").write_text("<p>the night</p>")
    (report / "secret.json").write_text("{}")
    (report / "away.html").symlink_to("/etc/passwd")
    (report / "data_docs" / "validations" / "__none__").mkdir(parents=True)
    (report / "data_docs" / "validations" / "__none__" / "table.html").write_text("<p>what broke</p>")
    (report / "data_docs" / "away").symlink_to(tmp_path)
    (tmp_path / "outside.html").write_text("not of the lake")
    return tmp_path / "lake"


@pytest.fixture()
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A user who may see DAGs."""
    for route in app.routes:
        for dependency in getattr(getattr(route, "dependant", None), "dependencies", ()):
            app.dependency_overrides[dependency.call] = lambda: None
    app.dependency_overrides[readers] = lambda: lambda cluster: cluster not in HIDDEN
    yield TestClient(app)
    app.dependency_overrides.clear()


def test_page_is_served_unchanged_in_sandbox(lake: Path, client: TestClient) -> None:
    page = client.get("/a/index.html")
    assert (page.status_code, page.text) == (200, "<p>the night</p>")
    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'self'" in policy and "sandbox allow-scripts" in policy
    assert "allow-same-origin" not in policy


def test_data_docs_are_served_in_sandbox(lake: Path, client: TestClient) -> None:
    page = client.get("/a/data_docs/validations/__none__/table.html?d=20261121")
    assert (page.status_code, page.text) == (200, "<p>what broke</p>")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]


def test_page_warns_of_unfinished_publication(lake: Path, client: TestClient) -> None:
    log = lake / "gold" / "findings" / "_delta_log"
    log.mkdir(parents=True)
    assert client.get("/a/index.html").text == "<p>the night</p>"
    (log / f"{0:020d}.json").write_text('{"commitInfo": {"operation": "CREATE TABLE"}}\n')
    (log / f"{1:020d}.json").write_text(
        '{"commitInfo": {"operation": "WRITE", "operationParameters": {"mode": "Append"}}}\n'
    )
    (lake / "published.json").write_text('{"versions": {"gold.findings": 0}}')
    (lake / "report" / "whole.html").write_text('<!doctype html><html><body data-day=""><p>the night</p></body></html>')
    page = client.get("/a/whole.html").text
    assert page.startswith('<!doctype html><html><body data-day=""><p role=status')
    assert "A publication is not finished: gold.findings hold rows" in page
    assert client.get("/a/index.html").text.endswith("</p><p>the night</p>"), "the note is before a page without a body"
    (lake / "published.json").write_text('{"versions": {"gold.findings": 1}}')
    assert client.get("/a/index.html").text == "<p>the night</p>"


@pytest.mark.parametrize(
    "path",
    [
        "/a/secret.json",
        "/a/away.html",
        "/a/none.html",
        "/c/index.html",
        "/a/..%2findex.html",
        "/a/%2e%2e/report/index.html",
        "/a/.index.html",
        "/a/data_docs/away/outside.html",
        "/a/data_docs/..%2findex.html",
        "/a/none/index.html",
    ],
)
def test_path_that_is_not_a_report_page_is_404(lake: Path, client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 404


def test_missing_page_explains_itself_in_frame(lake: Path, client: TestClient) -> None:
    answer = client.get("/a/none.html")
    assert answer.headers["content-type"].startswith("text/html")
    assert "Needed: a night that was audited" in answer.text
    assert "sandbox" in answer.headers["Content-Security-Policy"]


def test_report_routes_are_read_only(lake: Path, client: TestClient) -> None:
    assert {client.request(verb, "/a/index.html").status_code for verb in ("POST", "PUT", "DELETE")} == {405}


def test_index_lists_clusters_and_redirects_to_only_one(
    lake: Path, client: TestClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    listed = client.get("/")
    assert '<a href="a/index.html">' in listed.text
    assert "sandbox" not in listed.headers["Content-Security-Policy"]
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "one.toml"))
    (tmp_path / "one.toml").write_text(f"lake = '{lake}'\n[[clusters]]\nname = 'a'\nlogs = '/a'\n")
    assert client.get("/", follow_redirects=False).headers["location"] == "a/index.html"
    assert client.get("/whatever/index.html").status_code == 200, "one lake holds what there is"


def test_unauthenticated_user_is_refused(lake: Path) -> None:
    assert TestClient(app).get("/a/index.html").status_code in (401, 403)


def test_report_is_in_airflow_navigation() -> None:
    report, collection = HindsightReport.external_views
    assert report["href"] == f"{PREFIX}/" == HindsightReport.fastapi_apps[0]["url_prefix"] + "/"
    assert collection["href"] == f"{PREFIX}/collection"
    assert report["url_route"] != collection["url_route"]


@pytest.fixture()
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lake of two clusters, one of whose names begins with the other's."""
    (tmp_path / "h.toml").write_text(
        f"lake = '{tmp_path}/lake'\n[[clusters]]\nname = 'a'\nlogs = '/a'\n[[clusters]]\nname = 'a-b'\nlogs = '/b'\n"
    )
    monkeypatch.setenv(FILE_VARIABLE, str(tmp_path / "h.toml"))
    report = tmp_path / "lake" / "report"
    report.mkdir(parents=True)
    (report / "data_docs").mkdir()
    for name in (OLD, NEW, OTHER, "index.html", "fleet.html", "validation.html", "data_docs/index.html"):
        (report / name).write_text(name)
    (report / "metrics.prom").write_text("# EOF\n")
    return report


def test_shared_lake_serves_each_cluster_its_own_pages_only(shared: Path, client: TestClient) -> None:
    assert client.get("/a/index.html").text == NEW
    assert client.get("/a-b/index.html").text == OTHER
    assert client.get(f"/a/{OLD}").text == OLD
    assert client.get(f"/a/{OTHER}").status_code == 404


def test_lake_behind_uri_is_served_like_folder(shared: Path, client: TestClient, tmp_path: Path) -> None:
    settings = tmp_path / "h.toml"
    settings.write_text(settings.read_text().replace(f"'{tmp_path}/lake'", f"'file://{tmp_path}/lake'"))
    assert client.get("/a/index.html").text == NEW
    assert client.get(f"/a-b/{OTHER}").text == OTHER
    assert client.get("/a/fleet.html").text == "fleet.html"
    assert client.get("/a/none.html").status_code == client.get(f"/a/{OTHER}").status_code == 404


def test_lake_that_cannot_be_opened_says_why(lake: Path, client: TestClient) -> None:
    answer = client.get("/b/index.html")
    assert answer.status_code == 404
    assert "The page cannot be read: nowhere://b/report/index.html cannot be opened" in answer.text


def test_cluster_is_shown_only_to_readers_of_its_dag(shared: Path, client: TestClient) -> None:
    assert '"all"' in client.get("/").text
    assert client.get("/a/fleet.html").text == "fleet.html"
    assert client.get("/a/metrics").headers["content-type"].startswith("application/openmetrics-text")
    assert client.get("/a/data_docs/index.html").text == "data_docs/index.html"
    HIDDEN.add("a-b")
    listed = client.get("/").text
    assert '"a/index.html"' in listed and "a-b" not in listed and '"all"' not in listed
    assert client.get("/a/index.html").text == NEW
    of_both = ("fleet.html", "metrics", "validation.html", "data_docs/index.html")
    for path in ("/a-b/index.html", f"/a-b/{OTHER}", *(f"/a/{name}" for name in of_both)):
        assert client.get(path).status_code == 404


def configure_three(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings with three clusters, each with a lake of its own."""
    names = ("one", "two", "three")
    clusters = (f"[[clusters]]\nname = '{n}'\nlogs = '/{n}'\nlake = '{folder}/{n}'\n" for n in names)
    (folder / "h.toml").write_text("".join(clusters))
    monkeypatch.setenv(FILE_VARIABLE, str(folder / "h.toml"))
    monkeypatch.delenv("LAKE", raising=False)


def test_fleet_page_has_permitted_clusters_of_all_lakes(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure_three(tmp_path, monkeypatch)
    HIDDEN.add("two")
    page = client.get("/all")
    assert page.status_code == 200 and page.text.startswith("<!doctype html>")
    assert page.text.count("no night was ever audited") == 2
    assert ">one</" in page.text and ">three</" in page.text and ">two</" not in page.text
    assert "sandbox" not in page.headers["Content-Security-Policy"]
    HIDDEN.update({"one", "three"})
    assert client.get("/all").status_code == 404


def test_fleet_page_that_cannot_be_made_says_why(shared: Path, client: TestClient) -> None:
    answer = client.get("/all")
    assert answer.status_code == 404
    assert "The page cannot be made: There is no lake at" in answer.text


def test_collection_page_has_permitted_clusters_of_all_lakes(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure_three(tmp_path, monkeypatch)
    assert 'href="collection"' in client.get("/").text
    HIDDEN.add("two")
    page = client.get("/collection")
    assert page.status_code == 200 and page.text.startswith("<!doctype html>")
    assert page.text.count("There is no lake at") >= 2
    assert f"{tmp_path}/one" in page.text and f"{tmp_path}/three" in page.text and f"{tmp_path}/two" not in page.text
    assert "sandbox allow-scripts" in page.headers["Content-Security-Policy"]
    HIDDEN.update({"one", "three"})
    assert client.get("/collection").status_code == 404


def test_collection_page_of_only_cluster_is_of_its_lake(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = {"conn_type": "hindsight", "host": str(tmp_path / "lake")}
    monkeypatch.setenv("AIRFLOW_CONN_HINDSIGHT_DEFAULT", json.dumps(connection))
    monkeypatch.delenv(FILE_VARIABLE, raising=False)
    answer = client.get("/collection")
    assert answer.status_code == 404
    assert f"The page cannot be made: There is no lake at {tmp_path}/lake" in answer.text
