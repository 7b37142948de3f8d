"""Changes of the controller: the time without one, the absence that caused it, and a quorum that was lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.controller_changes import rebuild_controller_changes
from tests.support.nights import at
from tests.support.rows import row
from tests.support.ruling_cases.brokers import A_DAY, EVER, change_of, quorum_until


def test_time_without_controller_is_bounded_where_majority_was_lost() -> None:
    """Two of three controllers were away from 15:11:23 to 15:11:37; two were killed at 15:11:55."""
    resigned = change_of("quorum-4.3 epoch 3")
    assert (resigned.cause, resigned.elections, resigned.uncontrolled_low_ms) == ("no_majority", 9, 16_669)
    killed = change_of("made: quorum-4.3, controllers 2 and 1 were down")
    assert (killed.uncontrolled_low_ms, killed.uncontrolled_high_ms) == (17_743, 20_282)
    assert "no leader was elected" in killed.explanation


def test_seven_repeated_elections_mean_no_majority() -> None:
    """Two of three controllers stood still from 08:41:39 to 08:41:58."""
    paused = change_of("made: quorum-paused-4.3, controller 2 was paused")
    assert (paused.cause, paused.confidence, paused.elections) == ("no_majority", "likely", 7)
    assert (paused.uncontrolled_low_ms, paused.uncontrolled_high_ms) == (19_490, 22_059)


@pytest.mark.parametrize(("kind", "column"), [("controlled_shutdown", "down_at"), ("unresponsive", "detected_at")])
def test_absence_before_election_is_no_cause_of_later_change(kind: str, column: str) -> None:
    """Where the line of its return is lost an absence goes on; that its node was elected meanwhile shows it to live."""
    elections = [
        row(EVENTS, kind="controller_elected", broker=3, controller_epoch=n, happened_at=at(clock), line_id=clock)
        for n, clock in enumerate(("03:00:00", "05:00:00", "05:20:00"), start=1)
    ]
    times = {"down_at": at("03:10:00"), "detected_at": None, "up_at": at("09:00:00"), column: at("03:10:00")}
    away = row(BROKER_OUTAGES, broker=3, kind=kind, **times)
    changes = rebuild_controller_changes(elections, [away], EVER)
    assert [c.cause for c in changes[1:]] == ["outage", "unknown"]


def elected(epoch: int, clock: str, **columns: object) -> Event:
    defaults = {"kind": "controller_elected", "broker": 3, "controller_epoch": epoch, "line_id": clock}
    return row(EVENTS, **defaults | {"happened_at": at(clock)} | columns)


def test_newest_of_two_adjacent_absences_causes_controller_change() -> None:
    """The log of the return is lost: the shutdown at 05:19:59 shows that it served again, and that it went."""
    ends = (("03:10:00", "05:19:59"), ("05:19:59", "05:30:00"))
    first, second = (
        row(
            BROKER_OUTAGES,
            broker=3,
            outage_id=down,
            kind="controlled_shutdown",
            down_at=at(down),
            detected_at=None,
            up_at=at(up),
        )
        for down, up in ends
    )
    changes = rebuild_controller_changes(
        [elected(1, "03:09:00"), elected(2, "05:20:00", broker=1)], [first, second], EVER
    )
    assert (changes[-1].outage_id, changes[-1].uncontrolled_high_ms) == ("05:19:59", 1_000)


def test_skipped_zookeeper_epochs_leave_former_controller_unknown() -> None:
    away = row(
        BROKER_OUTAGES,
        broker=3,
        kind="controlled_shutdown",
        down_at=at("03:10:00"),
        detected_at=None,
        up_at=at("09:00:00"),
    )
    lines_of = [elected(e, clock, pattern_id="zookeeper.elected") for e, clock in ((1, "03:09:00"), (5, "03:12:00"))]
    change = rebuild_controller_changes(lines_of, [away], EVER)[-1]
    assert (change.controller_from, change.cause, change.uncontrolled_high_ms) == (None, "unknown", None)


def test_quorum_lost_until_end_of_logs_is_open_change() -> None:
    lost = change_of("made: quorum-4.3 until 15:11:36")
    assert (lost.controller_from, lost.controller_to, lost.epoch) == (2, -1, 2)
    assert (f"{lost.happened_at:%H:%M:%S}", lost.uncontrolled_high_ms) == ("15:11:26", None)
    assert lost.uncontrolled_low_ms and lost.uncontrolled_low_ms > 8_000 and lost.evidence
    assert "Meanwhile no leader was elected" in lost.explanation


def test_node_that_names_controller_and_continues_follows_it() -> None:
    """Between two elections a node names the former controller, however dead it is: for at most seconds; or none."""
    until_lost = quorum_until("15:12:14")
    later = row(EVENTS, kind="process_signalled", broker=3, happened_at=at("15:12:40") + A_DAY)
    last = max(e.happened_at for e in until_lost if e.kind == "election_stood")
    nameless = [replace(e, node=None) if e.happened_at > last else e for e in until_lost]
    assert nameless != until_lost
    made = (
        rebuild_controller_changes(own, [], EVER)[-1] for own in (until_lost, [*until_lost, later], [*nameless, later])
    )
    assert [(c.controller_to, c.epoch) for c in made] == [(-1, 4), (2, 3), (-1, 4)]


def test_candidate_cut_off_from_active_controller_is_no_lost_quorum() -> None:
    until_lost = quorum_until("15:11:36")
    fenced = [row(BROKER_OUTAGES, broker=3, down_at=at("15:11:20") + A_DAY, detected_at=at("15:11:30") + A_DAY)]
    assert [c.controller_to for c in rebuild_controller_changes(until_lost, fenced, EVER)] == [2]
