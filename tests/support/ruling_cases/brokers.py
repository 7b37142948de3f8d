"""The cases of the rulings on outages and controllers, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, LOG_FILES
from kafka_hindsight.catalog.codes import OutageKind
from kafka_hindsight.catalog.gold import BROKER_OUTAGES
from kafka_hindsight.catalog.rows import BrokerOutage, BrokerSnapshot, ControllerChange, Event, LogFile
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.controller_changes import CONTROLLER_RULINGS, rebuild_controller_changes
from kafka_hindsight.judgements.brokers.outage_rulings import OUTAGE_RULINGS
from kafka_hindsight.shared.windows import Window
from tests.support.groups import SAMPLE
from tests.support.nights import at, events
from tests.support.outages import rebuild_outages
from tests.support.rows import row
from tests.support.rulings import Decided, RulingCases, writers_of
from tools.plain_reader import read_logs

EVER = Window(datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))


@cache
def lines(night: str) -> tuple[Event, ...]:
    """The lines of an excerpt, or of the sample night."""
    if night not in ("sample", SAMPLE.name):
        return tuple(events(night))
    return tuple(read_logs(SAMPLE / "logs", "broker", "night")[0])


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
    made: Event = row(
        EVENTS,
        kind="controller_known", broker=4, node=4, controller_epoch=1,
        source="controller-4", happened_at=at(f"03:{minute:02}:00"),
    )  # fmt: skip
    return made


def own(kind: str, clock: str, **columns: Any) -> Event:
    """A line of broker 1 about itself."""
    made: Event = row(
        EVENTS, kind=kind, broker=1, source="broker-1", line_id=f"{kind} {clock}", happened_at=at(clock), **columns
    )
    return made


def file(first: str, last: str) -> LogFile:
    """A file of broker 1's log, with what it holds."""
    made: LogFile = row(LOG_FILES, origin="broker", source="broker-1", first_at=at(first), last_at=at(last))
    return made


SNAPSHOTS = [*broker_rows("01:52:20", 1, 2), *broker_rows("01:52:30", 2), *broker_rows("01:52:50", 1, 2)]
STARTED = own("broker_starting", "03:00:30")
CLEAN, UNCLEAN = own("logs_clean", "03:00:31"), own("logs_unclean", "03:00:32")
UNFLUSHED = own("logs_unclean", "03:00:33", pattern_id="process.segment_recovering")
SERVED = own("leader_started", "02:59:00")
EXPIRED = (own("zookeeper_session_expired", "03:10:00"), own("broker_registered", "03:10:00.120", node=1))
ELECTED = row(
    EVENTS,
    kind="controller_elected", broker=3, node=3, controller_epoch=2, happened_at=at("01:53:00"),
    pattern_id="zookeeper.controller_elected", source="broker-3/controller.log",
)  # fmt: skip

FAILS = own("broker_start_failed", "03:00:31", text="Exiting Kafka", error="joptsimple.UnrecognizedOptionException: D")

MADE_OUTAGES: dict[str, Sequence[Any]] = {
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
    "its session expired": ([SERVED, *EXPIRED], []),
    "its session expired, and nothing follows": ([SERVED, EXPIRED[0], own("process_signalled", "03:30:00")], []),
    "its session expired, and it started": (
        [SERVED, EXPIRED[0], own("broker_starting", "03:10:30"), own("broker_started", "03:10:41")],
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
    made: Event = row(EVENTS, kind=kind, broker=2, happened_at=at("01:52:59"), line_id=kind)
    return made


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


MADE_CHANGES: dict[str, tuple[Sequence[Event], Sequence[BrokerOutage]]] = {
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
    "crash-2.8, its own session expired": (
        [
            replace(ELECTED, controller_epoch=5),
            replace(RESIGNED, kind="zookeeper_session_expired", happened_at=at("01:52:59")),
        ],
        [replace(DOWN, down_at=at("01:50:00"), up_at=at("01:53:01"))],
    ),
    "crash-2.8, controller 3 followed": ([*lines("crash-2.8"), ELECTED], []),
    "crash-2.8, controller 2 resigned, and the session of controller 3 had expired": (
        [
            *lines("crash-2.8"),
            line_of_controller_2("controller_resigned"),
            ELECTED,
            replace(RESIGNED, kind="zookeeper_session_expired", happened_at=at("01:52:59")),
        ],
        [],
    ),
    "crash-2.8, controller 2 resigned": (
        [*lines("crash-2.8"), line_of_controller_2("controller_resigned"), ELECTED],
        [],
    ),
    "crash-2.8, controller 2 resigned while broker 1 was down": (
        [*lines("crash-2.8"), line_of_controller_2("controller_resigned"), ELECTED],
        [replace(DOWN, broker=1, up_at=None)],
    ),
    "crash-2.8, controller 3 resigned and is back while broker 1 is down": (
        [
            *lines("crash-2.8"),
            ELECTED,
            replace(RESIGNED, happened_at=at("01:53:30")),
            replace(ELECTED, controller_epoch=3, line_id="again", happened_at=at("01:53:31")),
        ],
        [replace(DOWN, broker=1, up_at=None)],
    ),
    "crash-2.8, nothing but its session ended": (
        [*lines("crash-2.8"), line_of_controller_2("zookeeper_session_expired"), ELECTED],
        [replace(DOWN, broker=2, kind=OutageKind.UNRESPONSIVE, down_at=at("01:52:50"), up_at=at("01:53:02"))],
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


def decided_outage(case: str) -> Sequence[Decided]:
    row = outage_of(case)
    return writers_of(OUTAGE_RULINGS, row.kind, row.confidence, row.explanation)


def decided_change(case: str) -> Sequence[Decided]:
    row = change_of(case)
    return writers_of(CONTROLLER_RULINGS, row.cause, row.confidence, row.explanation)


CASES = (
    RulingCases(
        "outages",
        OUTAGE_RULINGS,
        decided_outage,
        MADE_OUTAGES,
        [],
        caches=[outages],
    ),
    RulingCases(
        "controllers",
        CONTROLLER_RULINGS,
        decided_change,
        MADE_CHANGES,
        [
            ("made: quorum-4.3 until 15:11:36", "no_majority", "likely"),
            ("made: quorum-4.3 until 15:12:12, controllers 2 and 1 were down", "no_majority", "likely"),
            ("made: quorum-paused-4.3, controller 2 was paused", "no_majority", "likely"),
            ("made: unclean-4.1, controller 3 was down", "outage", "likely"),
            ("made: unclean-4.1, controller 3 resigned alone", "resigned", "possible"),
            ("made: crash-2.8, controller 3 followed", "unknown", "unknown"),
            (
                "made: crash-2.8, controller 2 resigned, and the session of controller 3 had expired",
                "resigned",
                "possible",
            ),
            ("made: crash-2.8, controller 2 resigned while broker 1 was down", "resigned", "possible"),
            ("made: crash-2.8, controller 3 resigned and is back while broker 1 is down", "resigned", "possible"),
            ("made: crash-2.8, nothing but its session ended", "session_expired", "likely"),
        ],
        elsewhere={"quorum-4.3, controllers 2 and 1 were down"},
        caches=[outages],
    ),
)
