"""Law: statements of Kafka 1.0 to 2.3, which say less than those of 2.8, make a verdict less sure and never another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.shared.durations import NEVER
from tests.support.judged_lines import Tables, judged_folder
from tests.support.nights import EXCERPTS
from tests.support.old_statements import write_as_of_old

NAMES = ("crash-2.8", "deletion-2.8", "pause-2.8", "preferred-2.8", "reassignment-2.8", "shared-out-2.8", "unclean-2.8")


@pytest.fixture(scope="module", params=NAMES)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Tables, Tables]:
    """The tables of an excerpt, and those of its logs in old statements."""
    logs = EXCERPTS / request.param
    return judged_folder(logs), judged_folder(write_as_of_old(logs, tmp_path_factory.mktemp(request.param)))


def place(row: Any) -> tuple[Any, ...]:
    return row.topic, row.partition


def test_no_leader_and_no_kind_of_change_is_another_for_certain(both: tuple[Tables, Tables]) -> None:
    now, old = (
        {(*place(f), f.epoch_to): f for f in tables["gold.failovers"] if f.confidence is Confidence.CERTAIN}
        for tables in both
    )
    assert {k: (old[k].leader_to, old[k].kind) for k in old if k in now} == {
        k: (now[k].leader_to, now[k].kind) for k in now if k in old
    }


def test_no_time_without_use_is_invented(both: tuple[Tables, Tables]) -> None:
    now, old = (tables["gold.unavailability"] for tables in both)
    invented = [
        row
        for row in old
        if row.low_ms >= 1_000
        and not any(
            place(row) == place(other)
            and row.kind == other.kind
            and (other.earliest_start_at or other.started_at) < (row.ended_at or NEVER)
            and row.started_at < (other.latest_end_at or other.ended_at or NEVER)
            for other in now
        )
    ]
    assert invented == []


def test_logs_are_written_again_in_old_statements(tmp_path: Path) -> None:
    folder = write_as_of_old(EXCERPTS / "preferred-2.8", tmp_path)
    text = "".join(p.read_text() for p in folder.rglob("*.log"))
    assert "starts at Leader Epoch" in text
    assert "ISR updated to" not in text
