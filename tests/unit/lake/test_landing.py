"""Where readings land: one file for a cluster and an instant, whatever a cluster is called."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_hindsight.lake import landing
from kafka_hindsight.lake.landing import (
    SNAPSHOTS,
    landed_name,
    list_landed,
    newest_landed,
    read_text,
    safe_name,
    write_atomically,
)

AT = datetime(2026, 11, 20, 3, 5, tzinfo=UTC)
names = st.text(min_size=1, max_size=300)


@given(names)
def test_safe_name_of_any_cluster_is_a_plain_visible_file_name(name: str) -> None:
    safe = safe_name(name)
    assert safe.isascii()
    assert safe.isprintable()
    assert not set(safe) & set('/\\:*?"<>|%[]{} ')
    assert safe[0] not in "._-"
    assert len(safe) < 200


@given(names, names)
def test_no_two_clusters_share_a_file(one: str, other: str) -> None:
    assert (safe_name(one) == safe_name(other)) == (one == other)


def test_plain_cluster_name_stays_readable_in_the_file_name() -> None:
    assert landed_name("M3qSc9eLQMSD2A9RXcqTKA", AT) == "M3qSc9eLQMSD2A9RXcqTKA-20261120T030500Z.jsonl"
    berlin = AT.astimezone(timezone(timedelta(hours=1)))
    assert landed_name("../../etc/passwd", berlin) == "~2e.~2f..~2fetc~2fpasswd-20261120T030500Z.jsonl"


@pytest.fixture(params=["path", "uri"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    folder = tmp_path / "a lake's 100%"
    return str(folder) if request.param == "path" else folder.as_uri()


def land(lake: str, cluster: str, at: datetime, text: str) -> None:
    write_atomically(f"{lake}/landing/{SNAPSHOTS}/{landed_name(cluster, at)}", text)


def test_same_instant_lands_once_and_newest_file_is_listed(lake: str) -> None:
    assert list_landed(lake, SNAPSHOTS) == []
    for text in ("first", "again"):
        land(lake, "prod", AT, text)
    land(lake, "prod", AT - timedelta(minutes=5), "before")
    land(lake, "prod-eu", AT - timedelta(days=1), "other")
    assert len(list_landed(lake, SNAPSHOTS)) == 3
    assert {cluster: read_text(place) for cluster, place in newest_landed(lake).items()} == {
        "prod": "again",
        "prod-eu": "other",
    }


def test_atomic_write_shows_no_partial_file(tmp_path: Path) -> None:
    place = tmp_path / "landing" / SNAPSHOTS / landed_name("prod", AT)
    texts = {letter * 1_000_000 for letter in "ab"}
    write_atomically(str(place), "a" * 1_000_000)
    texts_read: set[str] = set()
    listed: set[str] = set()
    over = threading.Event()

    def look() -> None:
        while not over.is_set():
            texts_read.add(place.read_text())
            listed.update(list_landed(str(tmp_path), SNAPSHOTS))

    watcher = threading.Thread(target=look)
    watcher.start()
    for n in range(40):
        write_atomically(str(place), "ab"[n % 2] * 1_000_000)
    over.set()
    watcher.join()
    assert texts_read <= texts
    assert listed == {place.name}
    assert [p.name for p in place.parent.iterdir()] == [place.name]


def test_hidden_files_of_dead_writers_are_removed_once_they_have_rested(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    names = ("gold/findings/.part-1.parquet.4711", ".published.json.12", "gold/.hidden", "gold/findings/a.parquet.4711")
    for name in (*names, "silver/.young.parquet.9"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"half")
    for name in names:
        os.utime(tmp_path / name, (now.timestamp() - 7200,) * 2)
    assert landing.remove_abandoned(str(tmp_path), now - timedelta(hours=1)) == 2
    left = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert left == {"gold/.hidden", "gold/findings/a.parquet.4711", "silver/.young.parquet.9"}
