# ruff: noqa: E501
"""What a few lines of Kafka's statements show of partitions, and what they do not show."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from kafka_hindsight.catalog.bronze import PARTITION_SNAPSHOTS
from kafka_hindsight.catalog.codes import Confidence
from tests.support.judged_lines import ALL_LOGGERS, Tables, judged_lines
from tests.support.rows import row


def at(clock: str, day: int = 3) -> datetime:
    return datetime.fromisoformat(f"2026-03-{day:02}T{clock}+00:00")


def times(tables: Tables, kind: str = "no_leader") -> list[tuple[Any, ...]]:
    rows = (u for u in tables["gold.unavailability"] if u.kind == kind)
    return [(u.topic, u.started_at, u.ended_at, u.confidence) for u in rows]


def leads(clock: str, epoch: int, broker: int = 4) -> str:
    return (
        f"[2026-03-03 {clock}] INFO [Broker id={broker}] Leader pay-1 with topic id Some(QQQQQQQQQQQQQQQQQQQQQQ) starts at"
        f" leader epoch {epoch} from offset 7 with partition epoch {epoch}, high watermark 7, ISR [{broker}], adding"
        f" replicas [] and removing replicas [] . Previous leader None and previous leader epoch was -1."
        " (state.change.logger)\n"
    )


DISK = """
[2026-03-03 02:00:05,900] INFO [Controller id=4 epoch=1] Changed partition pay-1 state from NonExistentPartition to NewPartition with assigned replicas 4 (state.change.logger)
[2026-03-03 02:07:00,000] WARN [ReplicaManager broker=4] Broker 4 stopped fetcher for partitions pay-1 and stopped moving logs for partitions  because they are in the failed log directory /data. (kafka.server.ReplicaManager)
"""
HALT = (
    "[2026-03-03 02:07:00,030] ERROR Shutdown broker because all log dirs in /data have failed (kafka.log.LogManager)\n"
)
BACK = "[2026-03-03 02:09:30,000] INFO [KafkaServer id=4] started (kafka.server.KafkaServer)\n"


def test_leader_that_begins_again_in_its_epoch_was_away_and_not_replaced(tmp_path: Path) -> None:
    tables = judged_lines(
        tmp_path, {"server.log": leads("02:00:06,000", 3) + DISK + HALT + BACK + leads("02:09:31,500", 3)}
    )
    assert times(tables) == [("pay", at("02:07:00.030"), at("02:09:31.500"), "certain")]
    assert tables["gold.failovers"] == []
    assert [i.is_over for i in tables["gold.incidents"]] == [True]


@pytest.mark.parametrize("back", ["", BACK])
def test_lost_leader_is_missing_no_longer_than_its_absence_is_shown(tmp_path: Path, back: str) -> None:
    """Once it serves again it may lead at once: no line is at hand that would show it."""
    tables = judged_lines(tmp_path, {"server.log": leads("02:00:06,000", 3) + DISK + HALT + back})
    assert times(tables) == [("pay", at("02:07:00"), at("02:09:30") if back else None, "certain")]


def test_disk_that_fails_without_a_halt_takes_the_leader_for_good(tmp_path: Path) -> None:
    alive = "[2026-03-03 02:30:00,000] INFO [GroupMetadataManager brokerId=4] Finished loading offsets and group metadata from __consumer_offsets-3 in 4 milliseconds for epoch 2, of which 0 milliseconds was spent in the scheduler. (kafka.coordinator.group.GroupMetadataManager)"
    tables = judged_lines(tmp_path, {"server.log": leads("02:00:06,000", 3) + DISK + alive})
    assert times(tables) == [("pay", at("02:07:00"), None, "certain")]


def removed(clock: str, partition: str, replica: int, isr: str, epoch: int) -> str:
    return (
        f"[2026-03-03 {clock}] INFO [Controller id=2 epoch=13] Partition {partition} state changed to (Leader:-1,ISR:{isr},"
        f"LeaderEpoch:{epoch},ControllerEpoch:13) after removing replica {replica} from the ISR as part of transition to"
        " OfflineReplica (state.change.logger)\n"
    )


def elected(clock: str, epoch: int) -> str:
    return (
        f"[2026-03-03 {clock}] INFO [Controller id=2] 2 successfully elected as the controller. Epoch incremented to {epoch}"
        f" and epoch zk version is now {epoch} (kafka.controller.KafkaController)\n"
    )


FAILED = "[2026-03-03 04:00:18,561] ERROR [Controller id=2 epoch=13] Controller 2 epoch 13 failed to change state for partition buy-2 from OfflinePartition to OnlinePartition (state.change.logger)\n"


@pytest.mark.parametrize(("failure", "confidence"), [(FAILED, "certain"), ("", "likely")])
def test_partition_whose_first_mention_has_no_leader_is_leaderless(
    tmp_path: Path, failure: str, confidence: str
) -> None:
    lines = elected("03:00:00,000", 13) + removed("04:00:18,500", "buy-2", 5, "5", 8) + failure
    tables = judged_lines(tmp_path, {"state-change.log": lines + elected("06:00:00,000", 14)})
    assert times(tables) == [("buy", at("04:00:18.500"), None, confidence)]
    (incident,) = (i for i in tables["gold.incidents"] if i.kind == "leaders_lost")
    assert (incident.is_over, incident.confidence) == (False, confidence)


def test_dead_broker_that_a_new_controller_removes_leaves_replicas_that_can_lead(tmp_path: Path) -> None:
    """It elects one of them next: ReplicaStateMachine.startup before PartitionStateMachine.startup."""
    lines = elected("04:00:18,000", 13) + removed("04:00:18,500", "buy-2", 5, "6,7", 8)
    assert times(judged_lines(tmp_path, {"state-change.log": lines})) == []


def test_reading_that_shows_no_leader_at_first_is_a_time_without_a_leader(tmp_path: Path) -> None:
    def read(minute: int, leader: int | None) -> Any:
        columns = {"cluster": "c", "topic": "buy", "partition": 2, "snapshot_id": str(minute)}
        return row(PARTITION_SNAPSHOTS, **columns, snapshot_at=at(f"04:{minute:02}:00"), leader=leader, isr=[5])

    lines = {"server.log": BACK + BACK.replace("02:09", "05:09")}
    lasting = [read(minute, None) for minute in (1, 6, 11)]
    tables = judged_lines(tmp_path, lines, partition_snapshots=lasting)
    assert times(tables) == [("buy", at("04:01:00"), None, "likely")]
    ended = judged_lines(tmp_path, lines, partition_snapshots=[*lasting, read(16, 5), read(21, 5)])
    assert times(ended) == [("buy", at("04:01:00"), at("04:16:00"), "likely")]
    alone = judged_lines(tmp_path, lines, partition_snapshots=[read(1, None), read(6, 5), read(11, 5)])
    assert times(alone) == []


@pytest.mark.parametrize(("last", "end"), [(1, "07:00:00"), (14, None)])
def test_time_without_a_leader_ends_with_the_metadata_of_the_cluster(
    tmp_path: Path, last: int, end: str | None
) -> None:
    leader = "[2026-03-03 04:00:00,000] INFO [Controller id=2 epoch=13] Changed partition buy-2 from OfflinePartition to OnlinePartition with state LeaderAndIsr(leader=5, leaderEpoch=7, isr=List(5), zkVersion=4) (state.change.logger)\n"
    lines = elected("03:00:00,000", 13) + leader + removed("04:00:18,500", "buy-2", 5, "5", 8)
    tables = judged_lines(
        tmp_path, {"state-change.log": lines + elected("07:00:00,000", last) + elected("09:00:00,000", last + 1)}
    )
    assert [row[1:3] for row in times(tables)] == [(at("04:00:18.500"), at(end) if end else None)]


def test_risk_of_a_partition_quotes_the_absence_of_its_only_leader(tmp_path: Path) -> None:
    tables = judged_lines(
        tmp_path,
        {
            "server.log": """
[2026-03-03 02:00:02,000] INFO [Partition pay-1 broker=4] pay-1 starts at Leader Epoch 0 from offset 0. Previous Leader Epoch was: -1 (kafka.cluster.Partition)
[2026-03-03 02:20:00,000] INFO [KafkaServer id=4] shutting down (kafka.server.KafkaServer)
[2026-03-03 02:20:01,000] INFO [KafkaServer id=4] shut down completed (kafka.server.KafkaServer)
[2026-03-03 02:20:10,000] INFO starting (kafka.server.KafkaServer)
[2026-03-03 02:20:12,000] INFO [KafkaServer id=4] started (kafka.server.KafkaServer)
[2026-03-03 02:20:12,300] INFO [Partition pay-1 broker=4] pay-1 starts at Leader Epoch 0 from offset 9. Previous Leader Epoch was: 0 (kafka.cluster.Partition)
"""
        },
    )
    (risk,) = tables["gold.partition_risks"]
    assert risk.leaderless_low_ms == 12_000
    assert any("shutting down" in quote.text for quote in risk.evidence)


TOPIC = "[2026-03-03 02:00:00,000] INFO Created log for partition pay-1 in /data with properties {min.insync.replicas -> 2}. (kafka.log.LogManager)\n"
LED = "[2026-03-03 02:00:01,000] TRACE [Broker id=4] Received LeaderAndIsr request PartitionState(controllerEpoch=2, leader=4, leaderEpoch=2, isr=4, zkVersion=2, replicas=4,5,6, isNew=false) correlation id 1 from controller 4 epoch 2 for partition pay-1 (state.change.logger)\n"
END = "[2026-03-03 02:30:00,000] INFO [GroupMetadataManager brokerId=4] Removed 0 expired offsets in 0 milliseconds. (kafka.coordinator.group.GroupMetadataManager)\n"


def expands(clock: str, before: str, after: str) -> str:
    return f"[2026-03-03 {clock}] INFO [Partition pay-1 broker=4] Expanding ISR from {before} to {after} (kafka.cluster.Partition)\n"


REFUSED = "[2026-03-03 02:00:20,002] INFO [Partition pay-1 broker=4] Cached zkVersion [2] not equal to that in zookeeper, skip updating ISR (kafka.cluster.Partition)\n"
UPDATED = "[2026-03-03 02:00:20,002] INFO [Partition pay-1 broker=4] ISR updated to [4,5] and zkVersion updated to [3] (kafka.cluster.Partition)\n"


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        # Kafka 2.3 and before: the next change starts from what the first one wrote.
        (expands("02:00:20,000", "4", "4,5") + expands("02:00:40,000", "4,5", "4,5,6"), "02:00:20"),
        # Kafka 2.4 to 2.6 logs that it was written.
        (expands("02:00:20,000", "4", "4,5") + UPDATED, "02:00:20.002"),
        # Refused: the next change starts from the same ISR.
        (expands("02:00:20,000", "4", "4,5") + REFUSED + expands("02:05:00,000", "4", "4,6") + UPDATED.replace(
            "02:00:20,002] INFO [Partition pay-1 broker=4] ISR updated to [4,5]",
            "02:05:00,002] INFO [Partition pay-1 broker=4] ISR updated to [4,6]",
        ), "02:05:00.002"),
        # Nothing shows whether it was written: from then on the ISR is not known.
        (expands("02:00:20,000", "4", "4,5"), "02:00:20"),
    ],
    ids=["written-at-once", "updated", "refused", "unanswered"],
)  # fmt: skip
def test_refused_writes_end_where_the_isr_grows_in_any_version(tmp_path: Path, changes: str, end: str) -> None:
    tables = judged_lines(tmp_path, {"server.log": TOPIC + LED + changes + END})
    assert [row[1:3] for row in times(tables, "acks_all_refused")] == [(at("02:00:01"), at(end))]


@pytest.mark.parametrize(
    ("missing", "is_known"),
    [((), True), (("state.change.logger",), True), (("state.change.logger", "Partition"), False)],
    ids=["all", "no-state-change", "no-line-of-the-leader"],
)
def test_isr_lasts_as_long_as_its_leader_would_write_another(
    tmp_path: Path, missing: Sequence[str], is_known: bool
) -> None:
    loggers = [name for name in ALL_LOGGERS if name not in missing]
    tables = judged_lines(tmp_path, {"server.log": TOPIC + LED + END}, loggers)
    assert [row[2] for row in times(tables, "acks_all_refused")] == ([None] if is_known else [])


def test_refused_change_of_the_isr_ends_no_refused_writes(tmp_path: Path) -> None:
    tables = judged_lines(tmp_path, {"server.log": TOPIC + LED + expands("02:00:20,000", "4", "4,5") + REFUSED + END})
    assert [row[1:3] for row in times(tables, "acks_all_refused")] == [(at("02:00:01"), None)]
    assert tables["gold.isr_changes"] == []


def test_broker_is_back_in_the_isr_that_an_old_leader_wrote(tmp_path: Path) -> None:
    shrinks = "[2026-03-03 02:10:00,000] INFO [Partition pay-1 broker=4] Shrinking ISR from 4,5,6 to 4,5 (kafka.cluster.Partition)\n"
    led = LED.replace("isr=4,", "isr=4,5,6,")
    tables = judged_lines(tmp_path, {"server.log": led + shrinks + expands("02:14:00,000", "4,5", "4,5,6") + END})
    shrink, expand = tables["gold.isr_changes"]
    assert (shrink.broker, shrink.happened_at, shrink.out_of_sync_until) == (6, at("02:10:00"), at("02:14:00"))
    assert (expand.change, expand.broker) == ("expand", 6)


STALE = "[2026-03-01 02:00:00,000] INFO [Broker id=5] Leader buy-2 starts at leader epoch 1 from offset 2 with high watermark 2 ISR [5] addingReplicas [] removingReplicas []. Previous leader epoch was 0. (state.change.logger)\n"
MOVED = "[2026-03-03 04:00:00,040] INFO [Controller id=2 epoch=13] Changed partition buy-2 from OnlinePartition to OnlinePartition with state LeaderAndIsr(leader=2, leaderEpoch=6, isr=List(2), zkVersion=9) (state.change.logger)\n"
ENDS = "[2026-03-03 04:00:00,000] INFO [Controller id=2] Shutting down broker 5 (kafka.controller.KafkaController)\n"
GONE = "[2026-03-03 {}] INFO [Controller id=2] Newly added brokers: , deleted brokers: 5, bounced brokers: , all live brokers: 2 (kafka.controller.KafkaController)\n"


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        (ENDS + MOVED + GONE.format("04:00:03,000"), "controlled_shutdown"),
        # Nothing of a shutdown: the broker was lost, and another one that had not been in the last known ISR leads.
        (GONE.format("04:00:00,020") + MOVED, "unclean_election"),
        # Released minutes before.
        (ENDS + GONE.format("04:00:03,000") + MOVED.replace("04:00:00", "04:20:00"), "unclean_election"),
    ],
    ids=["shutdown", "lost", "released-before"],
)
def test_shutdown_elects_members_of_the_isr_alone(tmp_path: Path, lines: str, kind: str) -> None:
    files = {"state-change.log": STALE, "controller.log": elected("03:00:00,000", 13) + lines}
    tables = judged_lines(tmp_path, files)
    assert [(f.kind, f.confidence) for f in tables["gold.failovers"]] == [(kind, "possible")]
    losses = [i.confidence for i in tables["gold.incidents"] if "may have been lost" in i.headline]
    assert [c.at_most(Confidence.POSSIBLE) for c in losses] == losses
    assert bool(losses) == (kind == "unclean_election")


def test_isr_is_not_known_through_epochs_without_a_line(tmp_path: Path) -> None:
    topic = TOPIC.replace("pay-1", "buy-2").replace("03-03 02:00:00", "03-01 01:59:00")
    leads_next = STALE.replace("03-01 02", "03-01 09").replace("epoch 1 ", "epoch 2 ").replace("ISR [5]", "ISR [5,2]")
    for later, known in ((MOVED, False), (leads_next, True)):
        files = {"state-change.log": topic + STALE + later, "controller.log": elected("03:00:00,000", 13)}
        tables = judged_lines(tmp_path, files)
        assert [risk.known_ms >= 7 * 3_600_000 for risk in tables["gold.partition_risks"]] == [known]
