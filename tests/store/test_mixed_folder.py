"""One night twice, ingested and rebuilt: as it was recorded, and with each broker and client in a form of its own."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from drill.render import render_folder
from spark_jobs.catalog import Table
from tests.support.lake import REBUILT, rows
from tests.support.logs import rebuilt, run

NIGHT = Path(__file__).parents[1] / "nights" / "libraries-4.3.tar.xz"
"""Members of Java, franz-go and kafkajs that leave, crash, stand still and are too slow, and a coordinator that is
killed: a drill on Kafka 4.3.1."""

FORMS = {
    "logs/broker-1": ("ecs", ["cri"]),
    "logs/broker-2": ("strimzi", []),
    "logs/broker-3": ("apache", []),
    "clients": ("spring-boot", []),
}
"""Lines of franz-go and kafkajs stay as these libraries write them."""

OF_TEXT = ("line_id", "text")
"""What stands for the text of a line, which is another one in each layout."""


def mixed(night: Path, to: Path) -> Path:
    """The night in its forms, beside what is no log."""
    for folder, (layout, wraps) in FORMS.items():
        render_folder(night / folder, to / folder, layout, wraps)
    shutil.copy(night / "snapshots.jsonl", to)
    return to


Tables = dict[str, list[dict[str, Any]]]


def told_of(spark: SparkSession, night: Path, lake: Path) -> Tables:
    """The rows of the tables that the night is told in, and of its coverage."""
    store, said = run(spark, lake, night / "logs", client_logs=night / "clients", snapshots=night / "snapshots.jsonl")
    gold = rebuilt(store, said, *(t.full_name for t in REBUILT if t.layer == "gold"))
    return gold | {name: rows(lake, name) for name in ("silver.events", "quality.coverage")}


@pytest.fixture(scope="module")
def nights(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tables, Tables]:
    root = tmp_path_factory.mktemp("mixed")
    with tarfile.open(NIGHT) as archive:
        archive.extractall(root, filter="data")
    night = root / "libraries-4.3"
    plain = told_of(spark, night, root / "plain")
    return plain, told_of(spark, mixed(night, root / "other"), root / "mixed")


def without_text(value: Any) -> Any:
    """A value without the text of lines. Of lines of one log and instant the one with the least id may stand for all,
    and ids are made of the text: so a place that is quoted counts once."""
    if isinstance(value, Mapping):
        return {name: without_text(held) for name, held in value.items() if name not in OF_TEXT}
    if isinstance(value, list):
        held = [without_text(each) for each in value]
        return sorted({str(each) for each in held}) if held and isinstance(held[0], Mapping) else held
    return value


def told(night: Tables, table: Table) -> list[str]:
    """What the rows of a table say, but for the text of lines."""
    content = [{c: row[c] for c in table.content_columns if c not in OF_TEXT} for row in night[table.full_name]]
    return sorted(str(without_text(row)) for row in content)


@pytest.mark.parametrize("table", REBUILT, ids=lambda t: t.full_name)
def test_a_mixed_folder_says_what_the_plain_one_says(nights: tuple[Tables, Tables], table: Table) -> None:
    plain, other = nights
    assert told(other, table) == told(plain, table)


def test_the_night_is_one_on_which_much_happens(nights: tuple[Tables, Tables]) -> None:
    plain, _ = nights
    causes = {r["cause"] for r in plain["gold.rebalances"]}
    assert {"member_joined", "member_left", "member_dead", "heartbeat_expired", "max_poll_exceeded"} <= causes
    assert {o["kind"] for o in plain["gold.broker_outages"]} == {"crash"}


def test_each_source_is_read_by_its_own_layout(nights: tuple[Tables, Tables]) -> None:
    found = {(c["source"].partition("/")[0], *c["layouts"]) for c in nights[1]["quality.coverage"] if c["events"]}
    assert {("broker-1", "cri>json>apache"), ("broker-2", "strimzi"), ("broker-3", "apache")} <= found
