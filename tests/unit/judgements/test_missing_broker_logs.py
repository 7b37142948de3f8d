"""The law "a log is missing": what remains is right, what needed it is less certain, the silent node is named."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS
from kafka_hindsight.catalog.row import Row
from kafka_hindsight.catalog.rows import BrokerSnapshot, Event, Failover, MissingBrokerLog
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.brokers.controller_changes import rebuild_controller_changes
from kafka_hindsight.judgements.brokers.controllers import controller_epochs_of
from kafka_hindsight.judgements.brokers.observed import cut_to, find_missing_broker_logs
from kafka_hindsight.shared.windows import Window, in_order
from lab.drill.score import score
from tests.support.leaders import unmarked_breaks
from tests.support.logs import unpack_night
from tests.support.outages import rebuild_outages
from tests.support.partitions import rebuild_leaders
from tests.support.rows import AT, row
from tools.plain_reader import read_logs

Tables = Mapping[str, Sequence[Row]]
Night = tuple[list[Event], list[BrokerSnapshot], list[str]]

HOUR = timedelta(hours=1)
RANK = {"certain": 3, "likely": 2, "possible": 1, "unknown": 0}


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory) -> Night:
    """The recorded night in samples/: its brokers' events, who was listed at each reading, and the truth."""
    folder = unpack_night(tmp_path_factory.mktemp("night"))
    events, _ = read_logs(folder / "logs", "broker", "night")
    return in_order(events), list(listed(folder)), (folder / "truth.jsonl").read_text().splitlines()


def listed(folder: Path) -> Iterator[BrokerSnapshot]:
    for number, line in enumerate((folder / "snapshots.jsonl").read_text().splitlines()):
        reading = json.loads(line)
        at = datetime.fromisoformat(reading["at"])
        for broker in reading.get("brokers") or ():
            yield row(BROKER_SNAPSHOTS, cluster="night", snapshot_id=f"{number}", snapshot_at=at, broker=broker["id"])


def rebuilt(lines: Sequence[Event]) -> dict[str, Any]:
    window = Window(lines[0].happened_at, lines[-1].happened_at + timedelta(seconds=1))
    outages = rebuild_outages(lines, [], window)
    led = rebuild_leaders(lines, [], context_of(lines, outages), window)
    assert unmarked_breaks(led) == []
    return {
        "broker_outages": outages,
        "failovers": list(led.failovers),
        "controller_changes": rebuild_controller_changes(lines, outages, window),
    }


def test_rows_without_one_broker_log_stay_right_and_no_more_certain(
    night: Night,
) -> None:
    lines, _, truth = night
    whole = rebuilt(lines)
    changes = {_key(f): f for f in whole["failovers"]}
    assert right_and_wrong(whole, truth)["wrong"] == 0
    for broker in (1, 2, 3):
        left = rebuilt([e for e in lines if e.broker != broker])
        counted = right_and_wrong(left, truth)
        assert counted["wrong"] == 0, f"without broker {broker}"
        assert counted["right"] > 250, "the other logs show most of it"
        for f in left["failovers"]:
            whole_row = changes[_key(f)]
            assert RANK[f.confidence] <= RANK[whole_row.confidence]
            assert f.kind == whole_row.kind or f.confidence in ("possible", "unknown")
        fell = sum(RANK[f.confidence] < RANK[changes[_key(f)].confidence] for f in left["failovers"])
        assert fell > 0, "what the log showed is less certain"


def _key(failover: Failover) -> tuple[Any, ...]:
    return failover.topic, failover.partition, failover.topic_incarnation, failover.epoch_to


def right_and_wrong(tables: Tables, truth: list[str]) -> Counter[str]:
    """How many of the rows that claim to be sure hold against what was done to the cluster."""
    columns = {name: [r.as_dict() for r in rows] for name, rows in tables.items()}
    sure = [v for v in score(columns, truth).verdicts if v.table in tables and v.confidence in ("certain", "likely")]
    return Counter("wrong" if v.wrong else "right" for v in sure)


def test_node_that_others_name_and_that_has_no_log_is_reported_missing(
    night: Night,
) -> None:
    lines, readings, _ = night
    assert find_missing_broker_logs(lines, readings, controller_epochs_of(lines)) == []
    for broker in (1, 2, 3):
        left = [e for e in lines if e.broker != broker]
        for listing in (readings, []):
            [silent] = find_missing_broker_logs(left, listing, controller_epochs_of(left))
            assert (silent.cluster, silent.broker) == ("night", broker)
            assert silent.first_at <= silent.last_at
            assert 0 < len(silent.evidence) <= 12


def test_missing_log_is_reported_in_each_window_of_its_period() -> None:
    named = row(MissingBrokerLog.TABLE, broker=2, first_at=AT, last_at=AT + 3 * HOUR)
    windows = [cut_to(Window(AT + h * HOUR, AT + (h + 1) * HOUR), [named]) for h in (-1, 0, 1, 4)]
    assert [[r.first_at for r in rows] for rows in windows] == [[], [AT], [AT + HOUR], []]
