"""Which process of a broker wrote a line: second starts beside a live one, starts that fail, shutdowns cut off."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kafka_hindsight.catalog.bronze import LOG_FILES
from kafka_hindsight.catalog.nouns.brokers import LOG_DIRS_FAILED
from kafka_hindsight.catalog.rows import Event, LogFile
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.judgements.brokers.lives import lives_of
from kafka_hindsight.judgements.brokers.observed import observe
from kafka_hindsight.judgements.brokers.second_starts import second_starts_of
from kafka_hindsight.knowledge.outage_words import hedged_verb, noun_of
from kafka_hindsight.shared.windows import in_order
from tests.support.findings import raised
from tests.support.nights import WHOLE, at
from tests.support.outages import rebuild_outages
from tests.support.rows import row


def own(kind: str, clock: str, **columns: object) -> Event:
    """A line of broker 1 about itself."""
    named = {"kind": kind, "broker": 1, "source": "broker-1/server.log", "line_id": f"{kind} {clock}"}
    event: Event = row(EVENTS, **named | {"happened_at": at(clock)} | columns)
    return event


LOCKED = (
    "org.apache.kafka.common.KafkaException: Failed to acquire lock on file .lock in /tmp/kafka-logs. A Kafka instance"
    " in another process or thread is using this directory."
)


def second_start(clock: str, error: str = LOCKED) -> list[Event]:
    """All that the process of a second start on ZooKeeper writes, as 3.7 wrote it; its hook runs as it exits."""
    failed = {"pattern_id": "process.start_failed", "detail": "KafkaServer", "error": error}
    return [
        own("broker_starting", f"{clock}:38.526"),
        own("broker_start_failed", f"{clock}:38.780", text="Fatal error during KafkaServer startup.", **failed),
        own("broker_shutdown_started", f"{clock}:38.781"),
        own("broker_stopped", f"{clock}:38.904"),
        own(
            "broker_start_failed",
            f"{clock}:38.905",
            pattern_id="process.start_aborted",
            text="Exiting Kafka",
            error=error,
        ),
        own("broker_shutdown_started", f"{clock}:38.906"),
    ]


STOPS = [
    own("process_signalled", "03:54:53.140", detail="SIGINT"),
    own("broker_shutdown_started", "03:54:53.142"),
    own("broker_stopped", "03:54:53.424"),
    own("broker_starting", "03:54:58.602"),
    own("broker_started", "03:54:59.569", pattern_id="zookeeper.broker_started"),
]


@pytest.mark.parametrize("error", [LOCKED, "java.net.BindException: Address already in use"])
@pytest.mark.parametrize("tries", [1, 2])
def test_second_start_beside_an_idle_broker_is_no_crash(error: str, tries: int) -> None:
    """The first process writes nothing between, and then its own shutdown: 14 s after the last try."""
    served = own("group_emptied", "03:50:52.213")
    tried = [line for clock in ("03:53", "03:54")[-tries:] for line in second_start(clock, error)]
    [absence] = rebuild_outages([served, *tried, *STOPS], [], WHOLE)
    assert (absence.kind, absence.confidence, absence.failed_starts) == ("controlled_shutdown", "certain", 0)
    assert (absence.down_at, absence.up_at) == (at("03:54:53.142"), at("03:54:59.569"))
    assert "process_signalled" in {q.line_id.split()[0] for q in absence.evidence}


def test_second_starts_are_one_finding_with_their_reason() -> None:
    tried = [line for clock in ("03:53", "03:54") for line in second_start(clock)]
    observed = observe(in_order([own("group_emptied", "03:50:52.213"), *tried, *STOPS]), [], [], [])
    starts = second_starts_of("orders", lives_of(observed))
    assert [(s.broker, s.happened_at) for s in starts] == [(1, at("03:53:38.780")), (1, at("03:54:38.780"))]
    assert {(s.start_failure, s.confidence) for s in starts} == {("directory_locked", "certain")}
    (finding,) = (f for f in raised("orders", second_starts=starts) if f.rule_id == "broker_started_twice")
    assert finding.subject == "1" and "twice since" in finding.message and LOCKED in finding.message
    assert any("broker_start_failed" in q.line_id for q in finding.evidence)


def test_locked_directory_is_a_sign_of_life_of_the_first_process() -> None:
    served = own("group_emptied", "03:50:52.213")
    [crash] = rebuild_outages([served, *second_start("03:54"), *STOPS[-2:]], [], WHOLE)
    assert (crash.kind, crash.down_at, crash.failed_starts) == ("crash", at("03:54:38.905"), 0)


def test_each_failed_start_has_its_reason_and_line() -> None:
    """As a broker wrote it whose operator stopped a start, and whose next one found its id registered."""
    went = [
        own("group_emptied", "02:50:00"),
        own("broker_shutdown_started", "02:59:00"),
        own("broker_stopped", "02:59:01"),
    ]
    stopped = [
        own("broker_starting", "03:03:07"),
        own("process_signalled", "03:03:11", detail="SIGINT"),
        own("broker_shutdown_started", "03:03:12"),
    ]
    taken = "org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists"
    works = [
        own("broker_starting", "03:11:00"),
        own("broker_started", "03:11:30", pattern_id="zookeeper.broker_started"),
    ]
    [absence] = rebuild_outages([*went, *stopped, *second_start("03:04", taken), *works], [], WHOLE)
    assert (absence.failed_starts, absence.start_failure) == (2, "id_taken")
    first, second = absence.explanation.index("at 03:03:11 its process was stopped"), absence.explanation.index(taken)
    assert first < second and "(SIGINT)" in absence.explanation
    quoted = {q.line_id for q in absence.evidence}
    assert {"process_signalled 03:03:11", "broker_start_failed 03:04:38.780"} <= quoted


@pytest.mark.parametrize("stopped", [1, 2])
def test_failed_start_without_broker_id_belongs_to_the_only_stopped_broker(stopped: int) -> None:
    """As 4.0 wrote it of an option that it did not know, in a log that two brokers write."""
    error = "joptsimple.UnrecognizedOptionException: D is not a recognized option"
    ends = [own("broker_shutdown_started", "03:10:43.141"), own("broker_stopped", "03:10:43.358")]
    fails = own("broker_start_failed", "03:10:52.174", broker=None, text="Exiting Kafka", error=error)
    starts = [own("broker_starting", "03:11:12.407"), own("broker_started", "03:11:25.994")]
    between = own("broker_stopped", "03:10:50", broker=2)
    lines = [own("group_emptied", "03:00:00"), *ends, *([between] if stopped == 2 else []), fails, *starts]
    absence = rebuild_outages(lines, [], WHOLE)[0]
    expected = (1, "exception") if stopped == 1 else (0, None)
    assert (absence.kind, absence.failed_starts, absence.start_failure) == ("controlled_shutdown", *expected)
    assert (error in absence.explanation) is (stopped == 1)


def test_controller_log_alone_shows_return_after_shutdown() -> None:
    """As a broker on ZooKeeper wrote it whose server.log of the hour is missing, and which is then elected."""
    controller = {"source": "broker-1/controller.log"}
    lines = [
        own("broker_shutdown_requested", "03:35:45.358", node=1, **controller),
        own("controller_resigned", "03:36:03.307", **controller),
        own("controller_thread_started", "03:37:38.159", node=1, **controller),
        own("controller_elected", "03:37:38.187", node=1, controller_epoch=4, **controller),
        own("brokers_listed", "03:37:38.309", nodes="1", **controller),
    ]
    served = own("group_emptied", "03:00:00")
    [absence] = rebuild_outages([served, *lines, own("group_emptied", "03:50:00")], [], WHOLE)
    assert (absence.kind, absence.up_at) == ("controlled_shutdown", at("03:37:38.309"))


def test_zookeeper_client_and_registration_lines_are_signs_of_life() -> None:
    signs = [own("zookeeper_client_spoke", "03:00:03"), own("broker_registered", "03:01:00")]
    works = [
        own("broker_starting", "03:03:07"),
        own("broker_started", "03:03:30", pattern_id="zookeeper.broker_started"),
    ]
    [crash] = rebuild_outages([own("group_emptied", "02:59:24"), *signs, *works], [], WHOLE)
    assert (crash.kind, crash.down_at) == ("crash", at("03:01:00"))


@pytest.mark.parametrize(("hours", "kinds"), [(2, ["unknown"]), (30, [])])
def test_start_more_than_a_day_after_older_log_is_a_first_start(hours: int, kinds: list[str]) -> None:
    served, starts = own("leader_started", "02:00:00"), own("broker_starting", "02:00:00")
    starts = replace(starts, happened_at=starts.happened_at + timedelta(hours=hours))
    file: LogFile = row(
        LOG_FILES, origin="broker", source=served.source, first_at=at("01:00:00"), last_at=at("02:00:00")
    )
    outages = rebuild_outages([served, starts], [], replace(WHOLE, end=WHOLE.end + timedelta(days=2)), [file])
    assert [o.kind for o in outages] == kinds


def test_halt_over_failed_disk_during_shutdown_is_a_crash() -> None:
    halts = own("broker_halted", "03:00:25", text="Shutdown broker because all log dirs in /data have failed")
    [crash] = rebuild_outages(
        [own("leader_started", "02:59:00"), own("broker_shutdown_started", "03:00:00"), halts], [], WHOLE
    )
    assert crash.kind == "crash" and "halted because its log directory failed" in crash.explanation
    assert noun_of(crash) is LOG_DIRS_FAILED and hedged_verb(crash) == "halted because its log directory failed"


def test_second_process_that_controllers_refuse_has_an_id_that_is_taken() -> None:
    """As captured on 4.4 of another broker's process that was given the id of one that serves."""
    refused = own(
        "broker_registration_refused",
        "03:04:40",
        text="Unable to register broker 1 because the controller returned error DUPLICATE_BROKER_REGISTRATION",
    )
    gives_up = "Shutting down because we were unable to register with the controller quorum."
    lines = [
        own("broker_started", "02:00:00"),
        own("broker_starting", "03:04:38"),
        refused,
        own("broker_start_abandoned", "03:04:48", text=gives_up),
        own("broker_start_failed", "03:04:48.500", pattern_id="process.start_aborted", text="Exiting Kafka"),
        *(own("leader_started", f"03:{minute}:00") for minute in range(10, 30)),
    ]
    [start] = second_starts_of("c", lives_of(observe(lines, [], [], [])))
    assert (start.broker, start.start_failure) == (1, "id_taken")
    assert refused.line_id in {q.line_id for q in start.evidence}
