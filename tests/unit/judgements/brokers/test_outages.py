"""Absences of brokers, on lines as captured."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from kafka_hindsight.catalog.bronze import BROKER_SNAPSHOTS, LOG_FILES
from kafka_hindsight.catalog.rows import BrokerOutage, BrokerSnapshot, Event, LogFile
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.shared.windows import Window
from tests.support.nights import WHOLE, at, events
from tests.support.outages import rebuild_outages
from tests.support.rows import AT, row


def summaries(rows: list[BrokerOutage]) -> list[tuple[object, ...]]:
    return [(r.broker, r.kind, r.confidence, r.down_at, r.detected_at, r.up_at) for r in rows]


@pytest.mark.parametrize(
    ("excerpt", "broker", "kind", "down_at", "detected_at", "up_at"),
    [
        # ZooKeeper deletes it, it starts again: a crash, from the first fetch that failed.
        ("crash-2.8", 1, "crash", "01:52:23.893", "01:52:31.759", "01:52:41.625"),
        # Fenced and unfenced again without a new incarnation. It was the controller, and was replaced as such first.
        ("pause-4.1", 1, "unresponsive", "01:51:57.578", "01:52:06.585", "01:52:17.909"),
        # Granted an immediate shutdown.
        ("shutdown-3.9", 1, "controlled_shutdown", "02:01:43.102", "02:01:43.112", "02:01:49.286"),
        ("offline-3.9", 1, "crash", "02:03:39.464", "02:03:47.653", "02:03:56.370"),
    ],
)
def test_outage_has_kind_start_detection_and_end(
    excerpt: str, broker: int, kind: str, down_at: str, detected_at: str, up_at: str
) -> None:
    outages = rebuild_outages(events(excerpt), [], WHOLE)
    assert summaries(outages) == [(broker, kind, "certain", at(down_at), at(detected_at), at(up_at))]
    assert outages[0].evidence


def test_expired_session_without_restart_is_unresponsive() -> None:
    """ZooKeeper: the paused broker says itself that its session ran out, and registers again without starting."""
    [pause] = rebuild_outages(events("preferred-2.8"), [], WHOLE)
    assert (pause.broker, pause.kind, pause.detected_at) == (2, "unresponsive", at("01:53:43.760"))


def test_crash_of_active_controller_is_detected_by_the_next_one() -> None:
    first, second = rebuild_outages(events("unclean-2.8"), [], WHOLE)
    assert (first.broker, first.kind, first.detected_at) == (1, "crash", at("01:54:31.771"))
    assert (second.broker, second.kind, second.up_at) == (2, "crash", at("01:54:30.309"))


def test_fence_by_deposed_controller_on_wake_up_starts_no_outage() -> None:
    """It takes every broker for silent that it did not hear while it was paused itself."""
    lines = events("pause-4.1")
    awake = next(e for e in lines if e.kind == "broker_fenced" and e.broker == 1)
    assert awake.happened_at == at("01:52:17.848")
    assert rebuild_outages([*lines, replace(awake, line_id="more", node=3)], [], WHOLE) == rebuild_outages(
        lines, [], WHOLE
    )


def test_incarnation_line_of_inactive_controller_is_no_restart() -> None:
    lines = events("pause-4.1")
    repeated = row(EVENTS, kind="broker_incarnated", broker=2, node=1, happened_at=at("01:52:10"))
    assert summaries(rebuild_outages([*lines, repeated], [], WHOLE)) == summaries(rebuild_outages(lines, [], WHOLE))


def test_broker_that_wrote_lines_while_fenced_is_unresponsive() -> None:
    lines = events("crash-2.8")
    spoke = row(EVENTS, kind="fetch_failed", broker=1, node=2, happened_at=at("01:52:35"))
    [absence] = rebuild_outages([*lines, spoke], [], WHOLE)
    assert (absence.kind, absence.confidence) == ("unresponsive", "certain")


def test_fetch_failure_minutes_before_does_not_start_the_outage() -> None:
    others = [e for e in events("crash-2.8") if e.broker != 1]
    blip = row(EVENTS, kind="fetch_failed", broker=2, node=1, happened_at=at("01:50:00"))
    [absence] = rebuild_outages([*others, blip], [], WHOLE)
    assert absence.down_at == at("01:52:23.893")


def test_first_start_of_broker_is_no_outage() -> None:
    starts = [e for e in events("crash-2.8") if e.source.startswith("broker-1/") and e.happened_at > at("01:52:30")]
    assert {e.kind for e in starts} >= {"broker_starting", "broker_started"}
    assert rebuild_outages(starts, [], WHOLE) == []


def test_restart_within_the_session_without_shutdown_is_a_crash() -> None:
    quick = [e for e in events("crash-2.8") if e.source == "broker-1/server.log"]
    [crash] = rebuild_outages(quick, [], WHOLE)
    assert (crash.kind, crash.detected_at) == ("crash", None)
    assert crash.down_at == at("01:52:21.646"), "its last line before it started again"


def test_bounced_broker_in_zookeeper_mode_is_a_crash() -> None:
    bounced = row(
        EVENTS,
        kind="brokers_changed",
        broker=2,
        happened_at=at("01:52:41"),
        detail=", deleted brokers: , bounced brokers: 1, all live brokers: 1,2,3",
    )
    quick = [e for e in events("crash-2.8") if e.source == "broker-1/server.log"]
    [crash] = rebuild_outages([*quick, bounced], [], WHOLE)
    assert (crash.kind, crash.detected_at, crash.up_at) == ("crash", at("01:52:41"), at("01:52:41"))


def test_outage_is_read_from_broker_change_line_of_kafka_2_1() -> None:
    def changed(minute: int, words: str) -> Event:
        at_minute = AT + timedelta(minutes=minute)
        event: Event = row(EVENTS, kind="brokers_changed", broker=2, detail=words, happened_at=at_minute, line_id=words)
        return event

    gone = changed(0, ", deleted brokers: 1, all live brokers: 2,3")
    back = changed(5, "1, deleted brokers: , all live brokers: 1,2,3")
    around = Window(AT - timedelta(days=1), AT + timedelta(days=1))
    [absence] = rebuild_outages([gone, back], [], around)
    assert (absence.broker, absence.detected_at, absence.up_at) == (1, AT, AT + timedelta(minutes=5))


@pytest.mark.parametrize(
    ("pattern_id", "kind"),
    [("kraft.cluster_named_by_broker", "crash"), ("kraft.cluster_named_by_controller", "unresponsive")],
)
def test_kraft_broker_of_3_0_restarted_only_where_it_names_its_cluster(pattern_id: str, kind: str) -> None:
    def line(second: int, what: str, broker: int, **fields: object) -> Event:
        at_second = AT + timedelta(seconds=second)
        event: Event = row(EVENTS, kind=what, broker=broker, happened_at=at_second, line_id=f"{second}", **fields)
        return event

    lines = [
        line(-600, "controller_elected", 1, controller_epoch=1),
        line(-5, "follower_started", 3),
        line(0, "broker_fenced", 1, node=3),
        line(6, "cluster_named", 3, pattern_id=pattern_id),
        line(7, "follower_started", 3),
        line(9, "broker_unfenced_self", 3),
    ]
    around = Window(AT - timedelta(days=1), AT + timedelta(days=1))
    assert [(o.broker, o.kind) for o in rebuild_outages(lines, [], around)] == [(3, kind)]


def test_outage_in_zookeeper_mode_without_broker_log_has_unknown_kind() -> None:
    only_controller = [e for e in events("crash-2.8") if e.source.endswith("controller.log")]
    assert summaries(rebuild_outages(only_controller, [], WHOLE))[0][1:3] == ("unknown", "unknown")


def own(kind: str, clock: str, **columns: object) -> Event:
    """A line of broker 1 about itself."""
    return row(
        EVENTS,
        kind=kind,
        broker=1,
        source="broker-1/server.log",
        line_id=f"{kind}{clock}",
        happened_at=at(clock),
        **columns,
    )


def of_controller(kind: str, clock: str, controller: int = 4, **columns: object) -> Event:
    """A line of a controller, about broker 1."""
    source = f"broker-{controller}/controller.log"
    place = {"broker": controller, "node": 1, "source": source, "line_id": f"{kind}{clock}"}
    return row(EVENTS, kind=kind, **place | {"happened_at": at(clock)} | columns)


def log_file(source: str, first: str, last: str) -> LogFile:
    """A file of a log, with the time that it covers."""
    return row(LOG_FILES, origin="broker", source=source, first_at=at(first), last_at=at(last))


def failed_start(clock: str) -> list[Event]:
    """What a broker of KRaft writes whose start fails: it says between that it had started."""
    return [
        own("broker_starting", f"{clock}:00"),
        own(
            "broker_start_failed",
            f"{clock}:10",
            pattern_id="kraft.registration_abandoned",
            text="unable to register with the controller quorum.",
        ),
        own("broker_start_abandoned", f"{clock}:10"),
        own("broker_started", f"{clock}:10"),
        own(
            "broker_start_failed",
            f"{clock}:11",
            pattern_id="process.start_failed",
            text="Fatal error during broker startup. Prepare to shutdown",
        ),
        own("broker_shutdown_started", f"{clock}:11"),
        own("broker_stopped", f"{clock}:12"),
    ]


def test_loop_of_failed_starts_is_one_outage_and_no_shutdown() -> None:
    loop = [line for clock in ("03:00", "03:01", "03:02") for line in failed_start(clock)]
    works = [own("broker_starting", "03:05:00"), own("broker_unfenced_self", "03:05:09")]
    [absence] = rebuild_outages([*loop, *works], [], WHOLE)
    assert (absence.kind, absence.confidence) == ("failed_start", "likely")
    assert (absence.down_at, absence.up_at) == (at("03:00:00"), at("03:05:09"))
    assert "failed 3 times: no controller registered it in time" in absence.explanation


def test_granted_controlled_shutdown_ends_the_outage_of_failed_starts() -> None:
    granted = of_controller("broker_controlled_shutdown_granted", "03:20:00")
    failed, stopped = rebuild_outages([*failed_start("03:00"), granted], [], WHOLE)
    assert (failed.kind, failed.down_at, failed.up_at) == ("failed_start", at("03:00:00"), at("03:20:00"))
    assert (stopped.kind, stopped.down_at, stopped.up_at) == ("controlled_shutdown", at("03:20:00"), None)


@pytest.mark.parametrize(("logs_kind", "kind"), [("logs_clean", "controlled_shutdown"), ("logs_unclean", "crash")])
def test_kind_of_outage_follows_from_clean_or_unclean_logs_at_start(logs_kind: str, kind: str) -> None:
    start = [own("broker_starting", "03:00:00"), own(logs_kind, "03:00:02")]
    fence, back = of_controller("broker_fenced", "03:00:09"), own("broker_unfenced_self", "03:00:20")
    [absence] = rebuild_outages([own("leader_started", "02:50:00"), *start, fence, back], [], WHOLE)
    assert (absence.kind, absence.up_at) == (kind, at("03:00:20"))
    assert any(logs_kind in quoted.line_id for quoted in absence.evidence)


def test_failed_starts_after_shutdown_belong_to_its_outage() -> None:
    served = own("leader_started", "02:50:00")
    stops = [own("broker_shutdown_started", "02:59:00"), own("broker_stopped", "02:59:01")]
    works = [own("broker_starting", "03:05:00"), own("broker_unfenced_self", "03:05:09")]
    [absence] = rebuild_outages([served, *stops, *failed_start("03:00"), *works], [], WHOLE)
    assert (absence.kind, absence.down_at, absence.up_at) == ("controlled_shutdown", at("02:59:00"), at("03:05:09"))
    assert "Its start failed 1 time" in absence.explanation


def test_start_that_fails_just_after_unfencing_ends_no_outage() -> None:
    """It was let in, led partitions, and found its port taken within 75 ms. The next start worked, at 16:04:10."""
    [absence] = rebuild_outages(events("failed-start-4.3"), [], replace(WHOLE, end=WHOLE.end + timedelta(days=1)))
    assert (absence.kind, absence.confidence) == ("controlled_shutdown", "certain")
    assert (absence.failed_starts, absence.start_failure) == (1, "port_in_use")
    assert absence.up_at and f"{absence.down_at:%H:%M:%S} {absence.up_at:%H:%M:%S}" == "16:03:43 16:04:10"


def test_crash_loop_is_one_outage() -> None:
    """Each process takes up its replicas seconds before it is let in, and ends when it finds its port taken."""
    [absence] = rebuild_outages(events("crash-loop-4.3"), [], replace(WHOLE, end=WHOLE.end + timedelta(days=1)))
    assert (absence.broker, absence.kind) == (3, "crash")
    assert (absence.failed_starts, absence.start_failure) == (3, "port_in_use")
    assert absence.up_at and f"{absence.down_at:%H:%M:%S} {absence.up_at:%H:%M:%S}" == "18:14:09 18:15:12"


def test_leadership_after_a_gap_in_the_log_ends_the_outage() -> None:
    started = own("broker_starting", "03:00:00", pattern_id="kraft.broker_starting")
    stops = [own("broker_shutdown_started", "02:59:00"), own("broker_stopped", "02:59:05")]
    lines = [own("leader_started", "02:50:00"), *stops, started, own("leader_started", "03:20:00")]
    file: LogFile = row(LOG_FILES, origin="broker", source=started.source, first_at=at("02:50:00"))
    [whole] = rebuild_outages(lines, [], WHOLE, [replace(file, last_at=at("03:30:00"))])
    [partial] = rebuild_outages(lines, [], WHOLE, [replace(file, last_at=at("03:01:00"))])
    assert (whole.up_at, partial.up_at) == (None, at("03:20:00"))


@pytest.mark.parametrize(("goes_on", "kinds"), [("leader_started", []), ("controller_elected", ["crash"])])
def test_second_process_that_finds_the_port_in_use_is_no_outage(goes_on: str, kinds: list[str]) -> None:
    """The first one serves, and writes on; as a controller a node may speak that has no broker any more."""
    serves, second = own("leader_started", "02:59:30"), failed_start("03:00")
    works = [own("broker_starting", "03:05:00"), own("broker_unfenced_self", "03:05:09")]
    outages = rebuild_outages([serves, *second, own(goes_on, "03:01:00"), *works[: 2 * len(kinds)]], [], WHOLE)
    assert [o.kind for o in outages] == kinds


def exits(clock: str) -> Event:
    """All that a broker writes whose settings are wrong."""
    error = "org.apache.kafka.common.config.ConfigException: Invalid value none for configuration num.network.threads"
    return own("broker_start_failed", clock, pattern_id="process.start_aborted", text="Exiting Kafka", error=error)


def test_each_exit_without_a_starting_line_counts_as_failed_start() -> None:
    stops = [own("leader_started", "02:50:00"), own("broker_shutdown_started", "02:59:00")]
    stopped = own("broker_stopped", "02:59:05")
    loop = [exits(f"03:00:{second}") for second in ("00", "10", "20")]
    works = [own("broker_starting", "03:05:00"), own("broker_unfenced_self", "03:05:09")]
    [absence] = rebuild_outages([*stops, stopped, *loop, *works], [], WHOLE)
    assert (absence.kind, absence.failed_starts, absence.start_failure) == ("controlled_shutdown", 3, "configuration")
    assert (
        "failed 3 times: a setting was wrong, or the file of the settings was not found (org.apache.kafka.common"
        in (absence.explanation)
    )


@pytest.mark.parametrize(("ends", "starts"), [(True, 1), (False, 0)])
def test_fatal_fault_after_the_former_process_ended_is_a_failed_start(ends: bool, starts: int) -> None:
    stops = [own("leader_started", "02:50:00"), own("broker_shutdown_started", "02:59:00")]
    stopped = [own("broker_stopped", "02:59:05")] if ends else []
    error = "java.lang.OutOfMemoryError: Java heap space"
    fault = own("process_faulted", "03:00:00", pattern_id="process.fatal_fault", error=error)
    [absence] = rebuild_outages([*stops, *stopped, fault], [], WHOLE)
    assert (absence.failed_starts, absence.start_failure) == (starts, "out_of_memory" if ends else None)


def test_sign_of_life_ends_outage_whose_return_is_lost() -> None:
    """The hour in which the broker came back is missing; later it leads, and is shut down again."""
    first = [own("broker_shutdown_started", "03:00:00"), own("broker_stopped", "03:00:05")]
    later = [
        own("leader_started", "05:10:00"),
        own("broker_shutdown_started", "07:00:00"),
        own("broker_stopped", "07:00:05"),
    ]
    files = [
        log_file("broker-1/server.log", "02:00:00", "03:00:05"),
        log_file("broker-1/server.log", "05:10:00", "07:00:05"),
    ]
    one, other = rebuild_outages([*first, *later], [], WHOLE, files)
    assert (one.kind, one.confidence, one.up_at) == ("controlled_shutdown", "likely", at("05:10:00"))
    assert (one.away_low_ms, one.away_high_ms) == (5_000, 7_800_000)
    assert (other.down_at, other.confidence, other.up_at) == (at("07:00:00"), "certain", None)


def test_start_after_lost_hours_leaves_kind_of_outage_unknown() -> None:
    lines = [
        own("leader_started", "03:00:00"),
        own("broker_starting", "06:00:00"),
        own("broker_unfenced_self", "06:00:09"),
    ]
    files = [
        log_file("broker-1/server.log", "02:00:00", "03:00:00"),
        log_file("broker-1/server.log", "06:00:00", "08:00:00"),
    ]
    [absence] = rebuild_outages(lines, [], WHOLE, files)
    assert (absence.kind, absence.down_at, absence.away_high_ms) == ("unknown", at("06:00:00"), 10_809_000)


def test_fence_of_controller_that_lost_its_quorum_starts_no_outage() -> None:
    """Controller 4 was cut off from its quorum; controller 5, which follows it, never lets broker 1 back in."""
    lines = [
        of_controller("controller_elected", "02:00:00", controller_epoch=1),
        own("leader_started", "02:30:00"),
        of_controller("broker_fenced", "03:00:00"),
        of_controller("controller_elected", "03:00:03", controller=5, controller_epoch=2),
        own("leader_started", "03:01:00"),
    ]
    assert rebuild_outages(lines, [], WHOLE) == []
    unfenced = of_controller("broker_unfence_granted", "03:00:40", controller=5)
    [absence] = rebuild_outages([*lines, unfenced], [], WHOLE)
    assert (absence.kind, absence.up_at) == ("unresponsive", at("03:00:40")), "the next controller knew of the fence"


def test_replayed_registration_is_no_new_incarnation() -> None:
    text = "[QuorumController id=4] Replayed RegisterBrokerRecord establishing a new incarnation of broker 1: ..."
    fence = of_controller("broker_fenced", "03:00:00")
    replayed = of_controller("broker_incarnated", "03:00:20", text=text)
    back = of_controller("broker_unfence_granted", "03:00:40")
    others = log_file("broker-1/server.log", "01:00:00", "02:00:00")
    assert [o.kind for o in rebuild_outages([fence, replayed, back], [], WHOLE, [others])] == ["unresponsive"]
    granted = of_controller("broker_incarnated", "03:00:20", text="Registering a new incarnation of broker 1.")
    assert [o.kind for o in rebuild_outages([fence, granted, back], [], WHOLE, [others])] == ["crash"]


def gone_for(minutes: int) -> BrokerOutage:
    fenced = row(EVENTS, kind="broker_fenced", broker=4, node=1, source="c/controller.log", line_id="f")
    last = row(
        EVENTS, kind="controller_known", broker=4, node=4, controller_epoch=1, source="c/controller.log", line_id="l"
    )
    around = Window(AT - timedelta(days=1), AT + timedelta(days=1))
    [absence] = rebuild_outages([fenced, replace(last, happened_at=AT + timedelta(minutes=minutes))], [], around)
    return absence


def test_outage_open_at_the_end_is_a_likely_crash_after_15_minutes() -> None:
    assert gone_for(5).up_at is None
    assert (gone_for(5).kind, gone_for(5).confidence) == ("unknown", "unknown")
    assert (gone_for(15).kind, gone_for(15).confidence) == ("crash", "likely")


def test_snapshots_show_an_outage_only_without_log_lines() -> None:
    def listed(clock: str, *brokers: int) -> list[BrokerSnapshot]:
        return [row(BROKER_SNAPSHOTS, snapshot_id=clock, snapshot_at=at(clock), broker=b) for b in brokers]

    readings = [*listed("01:52:20", 1, 2), *listed("01:52:30", 2), *listed("01:52:50", 1, 2)]
    [absence] = rebuild_outages([], readings, WHOLE)
    assert summaries([absence]) == [(1, "unknown", "unknown", at("01:52:20"), at("01:52:30"), at("01:52:50"))]
    assert [r.kind for r in rebuild_outages(events("crash-2.8"), readings, WHOLE)] == ["crash"]


@pytest.mark.parametrize("excerpt", ["crash-2.8", "pause-4.1", "unclean-2.8", "unclean-4.1", "shutdown-3.9"])
@pytest.mark.parametrize("seed", range(3))
def test_order_of_lines_does_not_change_outages(excerpt: str, seed: int) -> None:
    shuffled = events(excerpt)
    random.Random(seed).shuffle(shuffled)
    assert rebuild_outages(shuffled, [], WHOLE) == rebuild_outages(events(excerpt), [], WHOLE)


def test_halted_broker_in_zookeeper_mode_is_back_when_controller_lists_it() -> None:
    """On ZooKeeper it was gone and back within its session: the list that names it is the first sign of its return."""
    halted = [e for e in events("failed-start-3.9") if e.kind == "broker_halted" and e.broker == 2][:1]
    back_at = at("18:18:19.679") + timedelta(days=1)
    listed = [e for e in events("failed-start-3.9") if (e.kind, e.happened_at) == ("brokers_changed", back_at)]
    outages = rebuild_outages([*halted, *listed], [], Window(WHOLE.start, WHOLE.end + timedelta(days=1)))
    assert [o.up_at for o in outages if o.broker == 2] == [back_at]


def test_broker_missing_at_first_controller_start_is_down_since_its_last_line() -> None:
    """Where a controller was there before, it missed the broker a session after it had gone."""
    served = row(EVENTS, kind="leader_started", broker=2, line_id="s", happened_at=at("02:50:00"))
    listed = row(EVENTS, kind="brokers_listed", broker=1, nodes="1", line_id="l", happened_at=at("03:00:00"))
    started = row(EVENTS, kind="broker_started", broker=1, line_id="b", happened_at=at("03:00:10"))
    outages = [o for lines in ([], [started]) for o in rebuild_outages([served, listed, *lines], [], WHOLE)]
    assert [(o.broker, o.down_at) for o in outages] == [(2, at("02:59:51")), (2, at("02:50:00"))]
