"""A broker's logs can show a kind of event where a line of each of its loggers was read, and the logs are at hand."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pyarrow as pa
import pytest

from kafka_hindsight.catalog.codes import Confidence, WitnessGap, WitnessKind
from kafka_hindsight.catalog.quality import PARSED_HOURS
from kafka_hindsight.catalog.rows import BrokerOutage, MissingBrokerLog, ParsedHour, Witness
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.log_witnesses import find_witnesses, silences_of_cluster, with_lost_lines
from kafka_hindsight.judgements.rebuild.brokers import loads_of_groups
from kafka_hindsight.knowledge.patterns import PATTERNS
from kafka_hindsight.knowledge.witness_loggers import QUORUM_LOGGER, WITNESSES, ZOOKEEPER_LOGGER
from kafka_hindsight.logs.event_batches import levels_and_loggers
from kafka_hindsight.logs.reading import relevant_class
from kafka_hindsight.report.not_known import missing_witnesses
from kafka_hindsight.shared.windows import Window
from tests.support.nights import at
from tests.support.rows import as_table, row
from tools.plain_reader import read_line

WINDOW = Window(at("01:00:00"), at("05:00:00"))
JAVA_LOGGERS = [
    "INFO",
    "INFO BrokerLifecycleManager",
    "INFO BrokerServer",
    "INFO ClusterControlManager",
    "INFO CoordinatorRuntime",
    "INFO GroupMetadataManager",
    "INFO Partition",
    "INFO UnifiedLog",
    "WARN ReplicaFetcherThread",
]
STATE_CHANGES = ["INFO state.change.logger"]


def hour(first: str, last: str, loggers: list[str], log: str = "broker-1/server.log", **columns: object) -> ParsedHour:
    begin = at(first).replace(minute=0, second=0)
    columns = {"hour_from": begin, "hour_to": begin + timedelta(hours=1), "given_broker": 1, **columns}
    return row(
        PARSED_HOURS, source=log, origin="broker", first_at=at(first), last_at=at(last), loggers=loggers, **columns
    )


def whole(loggers: list[str], log: str = "broker-1/server.log") -> list[ParsedHour]:
    """A log with lines in each hour of the window."""
    return [hour(f"0{n}:00:30", f"0{n}:59:30", loggers, log) for n in range(1, 5)]


def witnesses(
    hours: list[ParsedHour],
    missing: list[MissingBrokerLog] | None = None,
    outages: list[BrokerOutage] | None = None,
    busy: set[int | None] | None = None,
) -> list[Witness]:
    return find_witnesses("c", hours, missing or [], outages or [], WINDOW, busy)


def gaps(rows: list[Witness]) -> dict[str, tuple[str | None, list[str] | None]]:
    return {str(w.kind): (w.gap, w.loggers) for w in rows if w.gap}


FULL = [*whole(JAVA_LOGGERS), *whole(STATE_CHANGES, "broker-1/state-change.log")]


def test_logs_with_a_line_of_each_logger_show_each_kind_of_event() -> None:
    rows = witnesses(FULL)
    assert {(w.kind, w.gap, w.first_at, w.last_at) for w in rows} == {
        (kind, None, WINDOW.start, WINDOW.end) for kind in WitnessKind
    }


def test_server_log_alone_does_not_show_who_leads() -> None:
    assert gaps(witnesses(whole(JAVA_LOGGERS))) == {
        kind: (WitnessGap.NO_LOGGER, ["state.change.logger"]) for kind in ("leaders", "in_sync")
    }


@pytest.mark.parametrize("logger", ["BrokerServer", "Partition", "GroupMetadataManager"])
def test_muted_logger_is_named(logger: str) -> None:
    loggers = [name for name in JAVA_LOGGERS if not name.endswith(logger)]
    found = gaps(witnesses([*whole(loggers), *whole(STATE_CHANGES, "broker-1/state-change.log")]))
    assert list(found.values()) == [(WitnessGap.NO_LOGGER, [logger])]


def test_logger_of_each_version_is_named_where_none_was_read() -> None:
    loggers = [name for name in JAVA_LOGGERS if name != "INFO UnifiedLog"]
    found = gaps(witnesses([*whole(loggers), *whole(STATE_CHANGES, "broker-1/state-change.log")]))
    assert found == {"cuts": (WitnessGap.NO_LOGGER, ["Log", "UnifiedLog"])}


def test_logs_without_lines_below_warn_show_nothing() -> None:
    rows = witnesses(whole(["WARN", "WARN ReplicaFetcherThread", "ERROR state.change.logger", "WARN Partition"]))
    assert {w.kind for w in rows if w.gap == WitnessGap.FILTERED} == {*WitnessKind}
    assert {w.level for w in rows} == {"WARN"}


def test_last_part_of_a_name_stands_for_its_logger() -> None:
    assert gaps(witnesses([*whole(JAVA_LOGGERS), *whole(["INFO logger"], "broker-1/strimzi.log")])) == {}
    assert relevant_class("logger") == "logger"
    assert relevant_class("s.c.logger") == relevant_class("state.change.logger") == "state.change.logger"


def test_log_of_refusals_does_not_show_who_leads() -> None:
    refusals = f"INFO {relevant_class('kafka.authorizer.logger')}"
    found = gaps(witnesses([*whole(JAVA_LOGGERS), *whole([refusals], "broker-1/kafka-authorizer.log")]))
    assert found == {kind: (WitnessGap.NO_LOGGER, ["state.change.logger"]) for kind in ("leaders", "in_sync")}


def test_alternative_of_zookeeper_is_enough() -> None:
    loggers = ["INFO KafkaServer", "INFO Partition", "INFO Log", "INFO GroupCoordinator", *STATE_CHANGES]
    assert gaps(witnesses(whole([*loggers, f"INFO {ZOOKEEPER_LOGGER}"]))) == {}


OF_CONTROLLERS = {"life", "leaders", "in_sync"}


def test_what_a_broker_does_not_know_of_itself_needs_a_controller() -> None:
    loggers = [name for name in JAVA_LOGGERS if not name.endswith("ClusterControlManager")]
    without = [*whole(loggers), *whole(STATE_CHANGES, "broker-1/state-change.log")]
    assert gaps(witnesses(without)) == {
        kind: (WitnessGap.NO_CONTROLLER, sorted([QUORUM_LOGGER, ZOOKEEPER_LOGGER])) for kind in OF_CONTROLLERS
    }
    alone = [replace(h, given_broker=4) for h in whole([f"INFO {QUORUM_LOGGER}"], "controller-4/controller.log")]
    assert gaps(witnesses([*without, *alone])) == {}


def test_each_broker_on_zookeeper_needs_its_own_controller() -> None:
    loggers = ["INFO KafkaServer", "INFO Partition", "INFO Log", "INFO GroupCoordinator", *STATE_CHANGES]
    other = [replace(h, given_broker=2) for h in whole([*loggers, f"INFO {ZOOKEEPER_LOGGER}"], "broker-2/server.log")]
    rows = [w for w in witnesses([*whole(loggers), *other]) if w.gap]
    assert {(w.broker, w.kind, w.gap) for w in rows} == {(1, kind, WitnessGap.NO_CONTROLLER) for kind in OF_CONTROLLERS}


def test_log_of_a_controller_alone_shows_nothing_of_brokers() -> None:
    controller = whole(["INFO QuorumController", "INFO UnifiedLog", "INFO ControllerServer"], "controller-4/server.log")
    rows = witnesses([replace(h, given_broker=4) for h in controller])
    assert {(w.broker, w.kind, w.gap) for w in rows} == {(None, kind, WitnessGap.NO_LOG) for kind in WitnessKind}
    assert gaps(witnesses([*FULL, *(replace(h, given_broker=4) for h in controller)])) == {}


def test_node_without_a_log_shows_nothing() -> None:
    missing = MissingBrokerLog(cluster="c", broker=2, first_at=at("01:10:00"), last_at=at("01:20:00"), evidence=[])
    rows = [w for w in witnesses(FULL, [missing]) if w.broker == 2]
    assert {(w.kind, w.gap) for w in rows} == {(kind, WitnessGap.NO_LOG) for kind in WitnessKind}


def test_hours_without_lines_are_a_gap() -> None:
    hours = [h for h in FULL if h.hour_from not in (at("02:00:00"), at("03:00:00"))]
    spans = {(w.first_at, w.last_at) for w in witnesses(hours) if w.gap == WitnessGap.NO_LINES}
    assert spans == {(at("01:59:30") + timedelta.resolution, at("04:00:30"))}


def test_broker_that_was_away_wrote_nothing() -> None:
    hours = [h for h in FULL if h.hour_from not in (at("02:00:00"), at("03:00:00"))]
    away = row(BrokerOutage.TABLE, broker=1, down_at=at("01:59:00"), up_at=at("04:01:00"))
    assert gaps(witnesses(hours, outages=[away])) == {}


SERVICE = (
    "[2026-11-21 01:40:53,895] INFO [GroupCoordinator id=1] Starting up."
    " (org.apache.kafka.coordinator.group.GroupCoordinatorService)"
)


@pytest.mark.parametrize(
    ("missing", "busy", "is_gap"),
    [
        (("CoordinatorRuntime", "GroupMetadataManager"), None, False),
        (("GroupMetadataManager",), None, True),
        (("GroupMetadataManager",), {1}, True),
        (("GroupMetadataManager",), {2}, False),
        (("GroupMetadataManager", "GroupCoordinatorService"), {2}, True),
        (("CoordinatorRuntime",), {2}, True),
    ],
)
def test_broker_that_loaded_no_record_of_groups_has_no_rebalance_to_show(
    missing: tuple[str, ...], busy: set[int | None] | None, is_gap: bool
) -> None:
    record = read_line(SERVICE)
    (service,) = levels_and_loggers(pa.array([SERVICE]), [record.reading]).to_pylist()
    assert service == "INFO GroupCoordinatorService"
    loggers = [name for name in (*JAVA_LOGGERS, service) if not name.endswith(missing)]
    rows = witnesses([*whole(loggers), *whole(STATE_CHANGES, "broker-1/state-change.log")], busy=busy)
    assert set(gaps(rows)) == ({"groups"} if is_gap else set())


@pytest.mark.parametrize(("words", "is_busy"), [("Loaded 0 records", False), ("Loaded 7 records", True), ("", True)])
def test_broker_is_busy_where_it_loads_records_or_does_not_count_them(words: str, is_busy: bool) -> None:
    count = f" {words} which total to 70 bytes." if words else ""
    record = read_line(
        "[2026-11-29 18:43:52,006] INFO [GroupCoordinator id=1] Finished loading of metadata from __consumer_offsets-18"
        f" with epoch 0 in 7ms where 7ms was spent in the scheduler.{count}"
        " (org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime)"
    )
    assert record.reading.pattern
    match = record.reading.pattern.compiled.match(record.message)
    records = match["event_count"] if match else None
    event = row(EVENTS, kind=record.reading.pattern.kind, broker=1, event_count=records and int(records))
    assert loads_of_groups(as_table([event], EVENTS)).num_rows == is_busy


def test_quiet_hour_is_not_a_gap() -> None:
    hours = [h for h in FULL if h.hour_from != at("02:00:00") or "state" in h.source]
    assert gaps(witnesses(hours)) == {}


def test_window_beyond_the_last_line_of_all_brokers_is_a_gap() -> None:
    hours = [h for h in FULL if h.hour_from < at("03:00:00")]
    spans = {(w.first_at, w.last_at) for w in witnesses(hours) if w.gap == WitnessGap.NO_LINES}
    assert spans == {(at("02:59:30"), at("05:00:00"))}


def test_logger_of_the_week_before_is_evidence() -> None:
    loggers = [*STATE_CHANGES, f"INFO {QUORUM_LOGGER}"]
    before = hour("00:10:00", "00:20:00", loggers, "broker-1/state-change.log")
    rows = witnesses([before, *whole(JAVA_LOGGERS)])
    assert gaps(rows) == {}
    assert {w.kind for w in rows if w.was_there} == {WitnessKind.LEADERS}


@pytest.mark.parametrize(
    ("kind", "gap"),
    [("crash", ["state.change.logger"]), ("controlled_shutdown", ["state.change.logger"]), ("unresponsive", None)],
)
def test_logger_that_is_silent_since_a_start_is_missing(kind: str, gap: list[str] | None) -> None:
    written = [*STATE_CHANGES, "INFO GroupMetadataManager", f"INFO {QUORUM_LOGGER}"]
    before = hour("00:10:00", "00:20:00", written, "broker-1/state-change.log")
    loggers = [name for name in JAVA_LOGGERS if not name.endswith("GroupMetadataManager")]
    away = row(BrokerOutage.TABLE, broker=1, kind=kind, down_at=at("02:10:00"), up_at=at("02:12:00"))
    rows = witnesses([before, *whole(loggers)], outages=[away])
    assert gaps(rows) == {kind: (WitnessGap.NO_LOGGER, gap) for kind in ("leaders", "in_sync") if gap}
    assert [w.was_there for w in rows if w.kind == WitnessKind.LEADERS] == [True]


def test_absence_that_is_only_possible_is_no_evidence_of_a_start() -> None:
    """A clock that differs shows absences at times at which the broker's own logs have no line."""
    away = row(BrokerOutage.TABLE, broker=1, kind="crash", down_at=at("04:59:50"), up_at=at("04:59:58"))
    assert {w.gap for w in witnesses(FULL, outages=[away])} == {None, WitnessGap.NO_LOGGER}
    assert {w.gap for w in witnesses(FULL, outages=[replace(away, confidence=Confidence.POSSIBLE)])} == {None}


MINUTE = timedelta(minutes=1)
BEFORE, SILENCE = at("02:10:40"), Window(at("02:11:00"), at("02:20:00"))


def test_silences_of_a_cluster_are_longer_than_a_pause() -> None:
    spans = [at(f"02:{n}0") for n in ("09:0", "10:5", "20:0", "21:5", "24:0")]
    assert silences_of_cluster(spans) == [SILENCE, Window(at("02:22:00"), at("02:24:00"))]


@pytest.mark.parametrize(
    ("breaks", "is_lost"),
    [
        ([], False),
        ([(BEFORE, SILENCE.end + MINUTE)], True),
        ([(SILENCE.end, SILENCE.end + MINUTE)], False),
        ([(BEFORE - MINUTE, BEFORE)], False),
    ],
)
def test_silence_of_all_brokers_hides_events_where_ids_do_not_join_across_it(
    breaks: list[tuple[datetime, datetime]], is_lost: bool
) -> None:
    """A cluster without work is silent too: a generation or an epoch that is missing shows that lines were lost."""
    rows = with_lost_lines(witnesses(FULL), [SILENCE], breaks)
    own = [(w.first_at, w.last_at, w.gap) for w in rows if w.kind == WitnessKind.CUTS]
    if is_lost:
        assert own == [
            (WINDOW.start, SILENCE.start, None),
            (SILENCE.start, SILENCE.end, WitnessGap.NO_LINES),
            (SILENCE.end, WINDOW.end, None),
        ]
    else:
        assert own == [(WINDOW.start, WINDOW.end, None)]


QUIET = Window(at("03:00:00"), at("03:03:00"))
ACROSS_BOTH = (BEFORE, at("03:30:00"))


def test_of_several_silences_within_a_break_each_may_be_where_lines_were_lost() -> None:
    rows = with_lost_lines(witnesses(FULL), [SILENCE, QUIET], [ACROSS_BOTH])
    assert {(w.first_at, w.last_at, w.gap) for w in rows if w.gap} == {
        (s.start, s.end, WitnessGap.SOME_LINES) for s in (SILENCE, QUIET)
    }
    assert [u.sentence(WINDOW.start.date()) for u in missing_witnesses(rows)] == [
        "Not known at one or more of these times, from 02:11:00 to 02:20:00 and from 03:00:00 to 03:03:00: lost"
        " records, partitions without a leader, refused writes, absences of brokers and rebalances, because no log of"
        " broker 1 has a line of them, and ids do not join over them."
    ]
    one = with_lost_lines(witnesses(FULL), [SILENCE, QUIET], [ACROSS_BOTH, (QUIET.start - MINUTE, QUIET.end)])
    assert {(w.first_at, w.last_at, w.gap) for w in one if w.gap} == {(QUIET.start, QUIET.end, WitnessGap.NO_LINES)}


def test_brokers_whose_logs_lack_nearly_the_same_time_share_a_sentence() -> None:
    rows = with_lost_lines(witnesses(FULL), [SILENCE], [(BEFORE, SILENCE.end + MINUTE)])
    others = [
        replace(w, broker=broker, last_at=w.last_at + later)
        for broker, later in ((2, timedelta(seconds=5)), (3, 5 * MINUTE))
        for w in rows
        if w.gap
    ]
    assert [u.sentence(WINDOW.start.date()) for u in missing_witnesses([*rows, *others])] == [
        "Not known from about 02:11:00 to about 02:20:05: lost records, partitions without a leader, refused writes,"
        " absences of brokers and rebalances, because no log of brokers 1 and 2 has a line of that time.",
        "Not known from 02:11:00 to 02:25:00: lost records, partitions without a leader, refused writes, absences of"
        " brokers and rebalances, because no log of broker 3 has a line of that time.",
    ]


def test_reason_that_stands_for_the_whole_window_stays_where_lines_were_lost() -> None:
    rows = with_lost_lines(witnesses(whole(JAVA_LOGGERS)), [SILENCE], [(BEFORE, SILENCE.end)])
    assert {w.gap for w in rows if w.kind == WitnessKind.LEADERS} == {WitnessGap.NO_LOGGER}


def test_each_logger_of_a_witness_writes_events() -> None:
    classes = {relevant_class(name) for pattern in PATTERNS for name in pattern.loggers}
    of_brokers = {name for w in WITNESSES for a in w.alternatives for name in a}
    assert of_brokers | {QUORUM_LOGGER, ZOOKEEPER_LOGGER} <= classes
