"""The recorded night, and the same with the clock of one broker in another zone, or some seconds ahead."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.engine.local import LocalEngine
from kafka_hindsight.intake.clocks_apart import ahead, apart, distances
from kafka_hindsight.intake.lake_rows import table_of
from kafka_hindsight.lake.parts import Part
from kafka_hindsight.lake.store import Store
from kafka_hindsight.logs.plain_reader import read_logs
from tests.support.logs import unpack_night


def test_a_clock_that_differs_is_named_and_a_plain_night_says_nothing(tmp_path: Path) -> None:
    events, _ = read_logs(unpack_night(tmp_path) / "logs", "broker", "prod")
    told = [e.as_dict() for e in events if e.kind in ("leader_started", "follower_started")]

    def said(moved: timedelta) -> list[str]:
        rows = [{**row, "happened_at": row["happened_at"] + moved * (row["broker"] == 2)} for row in told]
        store = Store(str(tmp_path / f"lake{moved.total_seconds()}"))
        store.create(EVENTS)
        store.append(EVENTS, table_of([{**row, "knowledge_version": "known"} for row in rows], EVENTS))
        found = distances(LocalEngine(), store, Part("prod"))
        return [error.sentence.partition(",")[0] for error in (*apart(found), *ahead(found))]

    assert said(timedelta()) == []
    assert [sentence.partition(" seem to run")[0] for sentence in said(timedelta(hours=-2))] == [
        "The clocks of brokers 1 and 2",
        "The clocks of brokers 2 and 3",
    ]
    (seconds,) = said(timedelta(seconds=7))
    assert seconds.startswith("The clock of broker 2 seems to be ")
    assert seconds.endswith("that of broker 1 and broker 3")
    behind = said(timedelta(seconds=-7))
    assert [sentence.split(" seems")[0] for sentence in behind] == ["The clock of broker 1", "The clock of broker 3"]
