"""One night twice, through all steps: as it was recorded, and with each broker and client in a form of its own."""

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
from spark_jobs.catalog.steps import PUBLISH
from spark_jobs.steps import publish
from spark_jobs.steps.run import _claimed
from tests.support.lake import REBUILT, rows
from tests.support.logs import run, settings

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


def published(spark: SparkSession, night: Path, lake: Path) -> Path:
    """The lake with the night, published."""
    given = {"client_logs": night / "clients", "snapshots": night / "snapshots.jsonl"}
    wishes = settings(lake, night / "logs", **given)
    _, said = run(spark, lake, night / "logs", **given)
    with _claimed(spark, PUBLISH, wishes, {"ingest": said}):
        publish.run_step(spark, wishes, {"ingest": said})
    return lake


@pytest.fixture(scope="module")
def lakes(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    root = tmp_path_factory.mktemp("mixed")
    with tarfile.open(NIGHT) as archive:
        archive.extractall(root, filter="data")
    night = root / "libraries-4.3"
    plain = published(spark, night, root / "plain")
    return plain, published(spark, mixed(night, root / "other"), root / "mixed")


def without_text(value: Any) -> Any:
    """A value without the text of lines. Of lines of one log and instant the one with the least id may stand for all,
    and ids are made of the text: so a place that is quoted counts once."""
    if isinstance(value, Mapping):
        return {name: without_text(held) for name, held in value.items() if name not in OF_TEXT}
    if isinstance(value, list):
        held = [without_text(each) for each in value]
        return sorted({str(each) for each in held}) if held and isinstance(held[0], Mapping) else held
    return value


def told(lake: Path, table: Table) -> list[str]:
    """What the rows of a table say, but for the text of lines."""
    content = [{c: row[c] for c in table.content_columns if c not in OF_TEXT} for row in rows(lake, table.full_name)]
    return sorted(str(without_text(row)) for row in content)


@pytest.mark.parametrize("table", REBUILT, ids=lambda t: t.full_name)
def test_a_mixed_folder_says_what_the_plain_one_says(lakes: tuple[Path, Path], table: Table) -> None:
    plain, other = lakes
    assert told(other, table) == told(plain, table)


def test_the_night_is_one_on_which_much_happens(lakes: tuple[Path, Path]) -> None:
    causes = {r["cause"] for r in rows(lakes[0], "gold.rebalances")}
    assert {"member_joined", "member_left", "member_dead", "heartbeat_expired", "max_poll_exceeded"} <= causes
    assert {o["kind"] for o in rows(lakes[0], "gold.broker_outages")} == {"crash"}


def test_each_source_is_read_by_its_own_layout(lakes: tuple[Path, Path]) -> None:
    found = {(c["source"].partition("/")[0], *c["layouts"]) for c in rows(lakes[1], "quality.coverage") if c["events"]}
    assert {("broker-1", "cri>json>apache"), ("broker-2", "strimzi"), ("broker-3", "apache")} <= found
