"""Who was the controller, and whose word counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import ControllerChange, Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.controller_changes import rebuild_controller_changes
from kafka_hindsight.judgements.brokers.controllers import active_at, controller_epochs_of, speaks_for_cluster
from kafka_hindsight.judgements.rebuild.brokers import controller_sightings
from kafka_hindsight.shared.windows import Window
from tests.support.nights import WHOLE, at, events
from tests.support.outages import rebuild_outages
from tests.support.rows import AT, as_table, row
from tools.plain_reader import read_logs

MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
EVER = Window(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


def changes_of(lines: list[Event]) -> list[ControllerChange]:
    return rebuild_controller_changes(lines, rebuild_outages(lines, [], WHOLE), WHOLE)


def test_each_won_controller_epoch_is_one_change() -> None:
    """Epoch 4 found no majority: controller 3 followed itself."""
    changes = changes_of(events("unclean-4.1"))
    assert [(c.epoch, c.controller_from, c.controller_to, c.happened_at) for c in changes] == [
        (3, None, 3, at("01:51:57.578")),
        (5, 3, 3, at("01:52:47.160")),
    ]


def test_zookeeper_controller_epochs_become_changes() -> None:
    changes = changes_of(events("unclean-2.8"))
    assert [(c.epoch, c.controller_from, c.controller_to) for c in changes] == [(2, None, 1), (3, 1, 3)]


def test_node_that_learns_controller_at_start_is_no_change() -> None:
    """Broker 1 starts at 01:53:01 and says that controller 3 leads in epoch 5: that was elected long before."""
    late = [e for e in events("unclean-4.1") if e.happened_at > at("01:53:00")]
    assert any(e.kind == "controller_known" and e.node == 3 for e in late)
    assert changes_of(late) == []
    assert active_at(controller_epochs_of(late), at("01:53:03")) == 3


@pytest.mark.parametrize(
    ("node", "lost", "kept"),
    [
        (3, ("15:11:50", "15:11:59"), ("15:12:05", 2)),  # It asks in vain whether to stand, and follows on (KIP-996).
        (1, ("15:11:42", "15:12:13"), ("15:12:14", 2)),  # It starts, and has the leader on its disk.
    ],
)
def test_node_that_follows_the_leader_it_knew_dates_no_election(
    node: int, lost: tuple[str, str], kept: tuple[str, int]
) -> None:
    """Its own lines of the election of epoch 3 are lost, and no other node's are left."""
    first, last = (at(clock) + DAY for clock in lost)
    left = [e for e in events("quorum-4.3") if e.broker == node and not first < e.happened_at < last]
    epochs = controller_epochs_of(left)
    assert active_at(epochs, at(kept[0]) + DAY) == kept[1]
    changes = rebuild_controller_changes(left, [], EVER)
    assert [(c.epoch, c.controller_from, c.controller_to) for c in changes if c.epoch > 1] == [(4, 2, 1)]


def test_deposed_controller_does_not_speak_for_cluster() -> None:
    lines = events("pause-4.1")
    fencings = [e for e in lines if e.kind == "broker_fenced"]
    assert {e.broker: speaks_for_cluster(controller_epochs_of(lines), e) for e in fencings} == {1: False, 3: True}


@pytest.mark.parametrize(
    ("excerpt", "epoch", "confidence", "says"),
    [
        ("pause-4.1", 3, "certain", "Controller 3 became active because controller 1 stopped responding."),
        ("unclean-2.8", 3, "certain", "Controller 3 became active because controller 1 crashed."),
    ],
)
def test_controller_change_is_caused_by_outage_of_former_controller(
    excerpt: str, epoch: int, confidence: str, says: str
) -> None:
    [change] = [c for c in changes_of(events(excerpt)) if c.epoch == epoch]
    [outage] = [o for o in rebuild_outages(events(excerpt), [], WHOLE) if o.outage_id == change.outage_id]
    assert (change.confidence, change.explanation) == (confidence, says)
    assert outage.broker == change.controller_from
    assert {q.line_id for q in outage.evidence} & {q.line_id for q in change.evidence}


def test_controller_resigns_where_quorum_lacks_majority() -> None:
    """Brokers 1 and 2 were away; controller 3 found no majority and came back with one of them."""
    resigned = replace(
        events("unclean-4.1")[0],
        line_id="renounced", kind="controller_resigned", broker=3, happened_at=at("01:52:45.615"),
    )  # fmt: skip
    change = changes_of([*events("unclean-4.1"), resigned])[-1]
    assert (change.controller_to, change.confidence, change.outage_id) == (3, "likely", None)
    assert "again: it had resigned while the quorum lacked" in change.explanation
    assert "renounced" in {q.line_id for q in change.evidence}


def test_election_line_without_epoch_takes_epoch_of_next_line() -> None:
    """As 1.0 wrote it: the winner's next line has the epoch. The data was emptied before the second election."""
    won = {"kind": "controller_elected", "broker": 0, "source": "controller.log"}
    epochs = [
        row(EVENTS, **won | {"happened_at": at(clock), "line_id": clock, "controller_epoch": epoch})
        for clock, epoch in (("03:00:07", None), ("03:00:08", 1), ("04:00:07", None), ("04:00:08", 1))
    ]
    first, second = changes_of(epochs)
    assert (first.cause, first.happened_at, second.cause, second.happened_at) == (
        *("first", at("03:00:07")),
        *("first", at("04:00:07")),
    )
    assert [[q.line_id for q in c.evidence] for c in (first, second)] == [
        ["03:00:07", "03:00:08"],
        ["04:00:07", "04:00:08"],
    ]


def test_controller_change_without_evidence_has_unknown_cause() -> None:
    [first, second] = changes_of(events("unclean-4.1"))
    assert (first.confidence, first.outage_id) == ("unknown", None), "the controller before is not in the excerpt"
    assert (second.confidence, second.outage_id) == ("unknown", None)


def days_later(lines: list[Event], days: int) -> list[Event]:
    """The same lines, printed some days later."""
    return [replace(e, line_id=f"{e.line_id}-{days}", happened_at=e.happened_at + timedelta(days=days)) for e in lines]


@pytest.mark.parametrize("excerpt", ["crash-2.8", "quorum-4.3"])
def test_controller_epochs_that_restart_belong_to_new_metadata(excerpt: str) -> None:
    """ZooKeeper's data was emptied, or the disks of a quorum were formatted, and the same epochs were won again."""
    once = rebuild_controller_changes(events(excerpt), [], EVER)
    twice = rebuild_controller_changes([*events(excerpt), *days_later(events(excerpt), 1)], [], EVER)
    day = timedelta(days=1)
    assert [(c.epoch, c.controller_to, c.happened_at) for c in twice] == [
        *((c.epoch, c.controller_to, c.happened_at) for c in once),
        *((c.epoch, c.controller_to, c.happened_at + day) for c in once),
    ]
    assert all(abs(q.happened_at - c.happened_at) < day / 2 for c in twice for q in c.evidence)
    assert [c.controller_from for c in twice] == [c.controller_from for c in once] * 2
    firsts = [c.explanation for c in twice if c.cause == "first"]
    assert [("epochs begin again" in e) for e in firsts] == [False, True][: len(firsts)]


def test_controller_epoch_claimed_twice_is_one_epoch() -> None:
    """Controller 3 claims epoch 29 at 18:57:33, and again at 18:58:37 with a higher offset."""
    epochs = [t for t in controller_epochs_of(events("replayed-3.7")) if t.epoch == 29]
    assert [(t.controller, t.incarnation) for t in epochs] == [(3, 0)]


def test_migration_to_kraft_continues_zookeeper_epochs_until_quorum_counts() -> None:
    """The quorum's leader registers in ZooKeeper as the next controller; from then on the quorum's own epochs count."""
    lines = events("moved-3.9")
    changes = rebuild_controller_changes(lines, [], EVER)
    assert [(c.epoch, c.controller_from, c.controller_to, c.cause) for c in changes] == [
        (9, None, 2, "unknown"),
        (10, 2, 1, "resigned"),
        (11, 1, 4, "moved_to_kraft"),
        (2, 4, 4, "unknown"),
    ]
    when = {n: datetime(2026, 11, 23, 13, 3, n, tzinfo=UTC) for n in (43, 50, 55)}
    epochs = controller_epochs_of(lines)
    assert [active_at(epochs, when[n]) for n in (43, 50, 55)] == [2, 1, 4]


def test_quorum_waiting_for_migration_has_no_controller() -> None:
    """Where no line shows ZooKeeper's controller, the quorum's first leader is not the cluster's first controller."""
    waits = [e for e in events("moved-3.9") if e.broker == 4 and e.controller_epoch in (None, 1)]
    assert {e.kind for e in waits} == {"controller_elected", "controller_known", "controller_waits"}
    assert rebuild_controller_changes(waits, [], EVER) == []
    changes = rebuild_controller_changes([e for e in waits if e.kind != "controller_waits"], [], EVER)
    assert [c.cause for c in changes] == ["first"]
    later = [e for e in events("moved-3.9") if e.broker == 4 and e.controller_epoch == 2]
    assert [t.epoch for t in controller_epochs_of([*waits, *later])] == [2], "it waited in its first epoch alone"


def test_controller_actions_show_former_controller_but_no_election(tmp_path: Path) -> None:
    """Of the first controller only the states that it sends are at hand (Kafka 2.3)."""
    sent = (
        "[2026-11-21 11:00:00,000] TRACE [Broker id=3] Received LeaderAndIsr request PartitionState("
        "controllerEpoch=1, leader=1, leaderEpoch=0, isr=1,3, zkVersion=0, replicas=1,3, isNew=true)"
        " correlation id 5 from controller 1 epoch 4 for partition orders-0 (state.change.logger)\n"
    )
    elected = (
        "[2026-11-21 12:00:00,000] INFO [Controller id=2] 2 successfully elected as the controller."
        " Epoch incremented to 5 and epoch zk version is now 5 (kafka.controller.KafkaController)\n"
    )
    (tmp_path / "state-change.log").write_text(sent)
    (tmp_path / "controller.log").write_text(elected)
    lines, _ = read_logs(tmp_path, "broker")
    shown = controller_sightings(as_table(lines, EVENTS)).to_pylist()
    named = [row(EVENTS, **line) for line in shown]
    changes = rebuild_controller_changes([*lines, *named], [], EVER)
    assert [(c.epoch, c.controller_from, c.controller_to) for c in changes] == [(5, 1, 2)]


def test_absence_after_election_does_not_cause_reelection_of_node() -> None:
    """The node was shut down, came back as the controller, and crashed a second later."""
    elected = [
        row(
            EVENTS, line_id=str(epoch), kind="controller_elected", pattern_id="kraft.controller_elected", broker=1,
            controller_epoch=epoch, log_offset=100 * epoch, happened_at=AT + timedelta(minutes=epoch),
        )
        for epoch in (1, 2)
    ]  # fmt: skip
    since = elected[1].happened_at
    outages = [
        row(
            BROKER_OUTAGES, outage_id="stop", broker=1, kind="controlled_shutdown", down_at=since - MINUTE, up_at=since
        ),
        row(BROKER_OUTAGES, outage_id="crash", broker=1, kind="crash", down_at=since + MINUTE / 60, up_at=None),
    ]
    changes = rebuild_controller_changes(elected, outages, EVER)
    assert [(c.epoch, c.cause, c.outage_id) for c in changes] == [(1, "first", None), (2, "outage", "stop")]
    assert [c.outage_id for c in rebuild_controller_changes(elected, outages[1:], EVER)] == [None, None]
