"""Each ruling about outages and controllers decides the case that it names, and not the one that looks alike."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, LOG_FILES
from kafka_hindsight.catalog.codes import Confidence
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, BrokerSnapshot, ControllerChange, Event, LogFile
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.controller_changes import CONTROLLER_RULINGS, rebuild_controller_changes
from kafka_hindsight.judgements.brokers.outage_rulings import OUTAGE_RULINGS
from kafka_hindsight.judgements.reasoning.rulings import Ruling
from kafka_hindsight.shared.windows import Window
from tests.support.logs import unpack_night
from tests.support.nights import at, events
from tests.support.outages import rebuild_outages
from tests.support.rows import row
from tests.support.rulings import wording
from tools.plain_reader import read_logs

EVER = Window(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


@cache
def lines(excerpt: str) -> tuple[Event, ...]:
    if excerpt != "sample":
        return tuple(events(excerpt))
    with TemporaryDirectory() as folder:
        return tuple(read_logs(unpack_night(Path(folder)) / "logs", "broker", "night")[0])


@cache
def outages(excerpt: str) -> tuple[BrokerOutage, ...]:
    return tuple(rebuild_outages(lines(excerpt), [], EVER))


def broker_rows(clock: str, *brokers: int) -> list[BrokerSnapshot]:
    return [row(BROKER_SNAPSHOTS, snapshot_id=clock, snapshot_at=at(clock), broker=b) for b in brokers]


def fenced(kind: str, *after: Event) -> list[Event]:
    """Controller 4 fences broker 1 at 03:00."""
    fencing = row(EVENTS, kind=kind, broker=4, node=1, source="controller-4", line_id="f", happened_at=at("03:00:00"))
    return [fencing, *after]


def last_line(minute: int) -> Event:
    """The last known line."""
    return row(
        EVENTS,
        kind="controller_known", broker=4, node=4, controller_epoch=1,
        source="controller-4", happened_at=at(f"03:{minute:02}:00"),
    )  # fmt: skip


def own(kind: str, clock: str, **columns: object) -> Event:
    """A line of broker 1 about itself."""
    return row(
        EVENTS, kind=kind, broker=1, source="broker-1", line_id=f"{kind} {clock}", happened_at=at(clock), **columns
    )


def file(first: str, last: str) -> LogFile:
    """A file of broker 1's log, with what it holds."""
    return row(LOG_FILES, origin="broker", source="broker-1", first_at=at(first), last_at=at(last))


SNAPSHOTS = [*broker_rows("01:52:20", 1, 2), *broker_rows("01:52:30", 2), *broker_rows("01:52:50", 1, 2)]
STARTED = own("broker_starting", "03:00:30")
CLEAN, UNCLEAN = own("logs_clean", "03:00:31"), own("logs_unclean", "03:00:32")
UNFLUSHED = own("logs_unclean", "03:00:33", pattern_id="process.segment_recovering")
SERVED = own("leader_started", "02:59:00")
ELECTED = row(
    EVENTS,
    kind="controller_elected", broker=3, node=3, controller_epoch=2, happened_at=at("01:53:00"),
    pattern_id="zookeeper.controller_elected", source="broker-3/controller.log",
)  # fmt: skip

FAILS = own("broker_start_failed", "03:00:31", text="Exiting Kafka", error="joptsimple.UnrecognizedOptionException: D")

MADE_OUTAGES = {
    "idle, and a start failed": ([SERVED, STARTED, FAILS], []),
    "snapshots alone": ([], SNAPSHOTS),
    "snapshots beside the lines of crash-2.8": (lines("crash-2.8"), SNAPSHOTS),
    "fenced while it led nothing": (fenced("broker_fenced_idle", last_line(1)), []),
    "fenced while it led nothing, and started": (fenced("broker_fenced_idle", STARTED, last_line(1)), []),
    "crash-2.8 without the broker's own log": ([e for e in lines("crash-2.8") if e.broker != 1], []),
    "a fatal fault while it served": (
        [SERVED, own("process_faulted", "03:00:00"), own("broker_stopped", "03:00:01")],
        [],
    ),
    "it could not register": (
        [
            own("broker_starting", "03:00:00"),
            own("broker_start_failed", "03:01:00", text="unable to register with the controller quorum."),
            own("broker_start_abandoned", "03:01:00"),
            own("broker_started", "03:01:00"),
            own("broker_shutdown_started", "03:01:01"),
            own("broker_stopped", "03:01:01"),
        ],
        [],
    ),
    "hours lost before its start": ([SERVED, own("broker_starting", "06:00:00")], [], [file("02:50:00", "02:59:00")]),
    "its shutdown was cut off": (
        [SERVED, own("broker_shutdown_started", "03:00:00"), STARTED, UNFLUSHED, own("broker_started", "03:00:40")],
        [],
    ),
    "hours lost before its start, which recovers logs": (
        [SERVED, own("broker_starting", "06:00:00"), replace(UNFLUSHED, happened_at=at("06:00:01"))],
        [],
        [file("02:50:00", "02:59:00")],
    ),
    "fenced, and its next start found a clean shutdown": (fenced("broker_fenced", STARTED, CLEAN), []),
    "fenced, and its next start found no clean shutdown": (
        fenced("broker_fenced", STARTED, CLEAN, UNCLEAN),
        [],
    ),
    "silent for 5 minutes": (fenced("broker_fenced", last_line(5)), []),
    "silent for 15 minutes": (fenced("broker_fenced", last_line(15)), []),
}


def line_of_controller_2(kind: str) -> Event:
    """A line that controller 2 writes a second before controller 3 follows it."""
    return row(EVENTS, kind=kind, broker=2, happened_at=at("01:52:59"), line_id=kind)


RESIGNED = row(EVENTS, kind="controller_resigned", broker=3, happened_at=at("01:52:45"), line_id="resigned")
DOWN = row(BROKER_OUTAGES, broker=3, kind="crash", down_at=at("01:52:44"), detected_at=None, up_at=at("01:52:50"))

A_DAY = timedelta(days=1)
BOTH_DOWN = [
    row(
        BROKER_OUTAGES,
        broker=b,
        kind="crash",
        down_at=at("15:11:55") + A_DAY,
        detected_at=None,
        up_at=at("15:12:20") + A_DAY,
    )
    for b in (1, 2)
]


PAUSED = row(
    BROKER_OUTAGES,
    broker=2,
    kind="unresponsive",
    confidence="certain",
    down_at=at("08:41:38") + 2 * A_DAY,
    detected_at=at("08:42:12") + 2 * A_DAY,
    up_at=at("08:43:00") + 2 * A_DAY,
)


def quorum_until(clock: str) -> list[Event]:
    """The lines of quorum-4.3 before an instant: between two elections that succeed there is no controller."""
    return [e for e in lines("quorum-4.3") if e.happened_at < at(clock) + A_DAY]


MADE_CHANGES = {
    "quorum-4.3 until 15:11:36": (quorum_until("15:11:36"), []),
    "quorum-4.3 until 15:12:12": (quorum_until("15:12:12"), []),
    "quorum-4.3 until 15:12:12, controllers 2 and 1 were down": (quorum_until("15:12:12"), [*BOTH_DOWN]),
    "unclean-4.1, controller 3 was down": (lines("unclean-4.1"), [DOWN]),
    "quorum-4.3, controllers 2 and 1 were down": (lines("quorum-4.3"), [*BOTH_DOWN]),
    "quorum-paused-4.3, controller 2 was paused": (lines("quorum-paused-4.3"), [PAUSED]),
    "unclean-4.1, controller 3 resigned alone": ([*lines("unclean-4.1"), RESIGNED], []),
    "crash-2.8, all brokers were down": (
        [replace(ELECTED, controller_epoch=5), replace(ELECTED, kind="brokers_listed", nodes="3", line_id="listed")],
        [replace(DOWN, down_at=at("01:50:00"), up_at=at("01:53:01"))],
    ),
    "crash-2.8, controller 3 followed": ([*lines("crash-2.8"), ELECTED], []),
    "crash-2.8, controller 2 resigned": (
        [*lines("crash-2.8"), line_of_controller_2("controller_resigned"), ELECTED],
        [],
    ),
    "crash-2.8, controller 2 resigned while broker 1 was down": (
        [*lines("crash-2.8"), line_of_controller_2("controller_resigned"), ELECTED],
        [replace(DOWN, broker=1, up_at=None)],
    ),
    "crash-2.8, the session of controller 2 expired": (
        [*lines("crash-2.8"), line_of_controller_2("zookeeper_session_expired"), ELECTED],
        [],
    ),
}


def outage_of(case: str) -> BrokerOutage:
    """The row of a case: `EXCERPT broker ID`, or a made one."""
    if case.startswith("made: "):
        lines_of_case, readings, *files = MADE_OUTAGES[case.removeprefix("made: ")]
        [outage] = rebuild_outages(lines_of_case, readings, EVER, *files)
        return outage
    excerpt, broker = case.split(" broker ")
    [outage] = [o for o in outages(excerpt) if o.broker == int(broker)]
    return outage


def change_of(case: str) -> ControllerChange:
    """The row of a case: `EXCERPT epoch NUMBER`, or the last one of a made case."""
    if case.startswith("made: "):
        return rebuild_controller_changes(*MADE_CHANGES[case.removeprefix("made: ")], EVER)[-1]
    excerpt, epoch = case.split(" epoch ")
    changes = rebuild_controller_changes(lines(excerpt), outages(excerpt), EVER)
    [change] = [c for c in changes if c.epoch == int(epoch)]
    return change


@pytest.mark.parametrize("ruling", OUTAGE_RULINGS, ids=lambda r: r.cases[0])
def test_outage_ruling_decides_its_case_and_not_lookalike(ruling: Ruling[object]) -> None:
    decided, other = outage_of(ruling.cases[0]), outage_of(ruling.cases[1])
    assert [r for r in OUTAGE_RULINGS if wording(r).match(decided.explanation)] == [ruling]
    assert decided.kind == ruling.code
    assert not wording(ruling).match(other.explanation)


@pytest.mark.parametrize("ruling", CONTROLLER_RULINGS, ids=lambda r: r.cases[0])
def test_controller_ruling_decides_its_case_and_not_lookalike(ruling: Ruling[object]) -> None:
    decided, other = change_of(ruling.cases[0]), change_of(ruling.cases[1])
    assert [r for r in CONTROLLER_RULINGS if wording(r).match(decided.explanation)] == [ruling]
    assert not wording(ruling).match(other.explanation)


@pytest.mark.parametrize(
    ("case", "cause", "confidence"),
    [
        ("quorum-4.3 until 15:11:36", "no_majority", "likely"),
        ("quorum-4.3 until 15:12:12, controllers 2 and 1 were down", "no_majority", "likely"),
        ("quorum-paused-4.3, controller 2 was paused", "no_majority", "likely"),
        ("unclean-4.1, controller 3 was down", "outage", "likely"),
        ("unclean-4.1, controller 3 resigned alone", "resigned", "possible"),
        ("crash-2.8, controller 3 followed", "unknown", "unknown"),
        ("crash-2.8, controller 2 resigned while broker 1 was down", "resigned", "possible"),
    ],
)
def test_controller_ruling_decides_made_case(case: str, cause: str, confidence: str) -> None:
    change = change_of(f"made: {case}")
    assert (change.cause, change.confidence) == (cause, confidence)


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


@pytest.mark.parametrize("ruling", [*OUTAGE_RULINGS, *CONTROLLER_RULINGS], ids=lambda r: r.sentence)
def test_ruling_without_captured_case_is_not_certain(ruling: Ruling[object]) -> None:
    assert ruling.source
    assert not ruling.cases[0].startswith("made: ") or ruling.confidence is not Confidence.CERTAIN
