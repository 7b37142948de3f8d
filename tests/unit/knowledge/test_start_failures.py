"""The reason of a failed start, as brokers that were made to fail wrote it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kafka_hindsight.catalog.codes import StartFailure
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import Event
from kafka_hindsight.catalog.silver import EVENTS
from kafka_hindsight.knowledge.start_failures import START_PATTERNS, why_start_failed
from kafka_hindsight.shared.windows import Window
from lab.drill.spoil import SPOILS
from tests.support.outages import rebuild_outages
from tests.support.rows import row
from tools.pages.samples import captured
from tools.plain_reader import event_of, read_line

PLAYED = (
    ("4.3", "BindException", StartFailure.PORT_IN_USE),
    ("2.6", "BindException", StartFailure.PORT_IN_USE),
    ("4.3", "No readable meta.properties", StartFailure.LOG_DIR_FAILED),
    ("3.7", "No readable meta.properties", StartFailure.LOG_DIR_FAILED),
    ("2.6", "none of the specified log dirs", StartFailure.LOG_DIR_FAILED),
    ("4.3", "OutOfMemoryError", StartFailure.OUT_OF_MEMORY),
    ("3.7", "OutOfMemoryError", StartFailure.OUT_OF_MEMORY),
    ("2.6", "OutOfMemoryError", StartFailure.OUT_OF_MEMORY),
    ("4.3", "ConfigException", StartFailure.CONFIGURATION),
    ("3.7", "Invalid cluster.id", StartFailure.OTHER_CLUSTER),
    ("2.6", "InconsistentClusterIdException", StartFailure.OTHER_CLUSTER),
    ("2.8", "NodeExistsException", StartFailure.ID_TAKEN),
    ("4.4", "authentication exception", StartFailure.NOT_AUTHENTICATED),
    ("4.1", "DUPLICATE_BROKER_REGISTRATION", StartFailure.ID_TAKEN),
    ("4.3", "unable to register", StartFailure.NOT_REGISTERED),
    ("2.6", "ZooKeeperClientTimeoutException", StartFailure.NOT_REGISTERED),
    ("3.7", "ZooKeeperClientTimeoutException", StartFailure.NOT_REGISTERED),
)


def test_registration_that_was_tried_again_does_not_hide_the_port_that_ended_the_start() -> None:
    words = ("DUPLICATE_BROKER_REGISTRATION", "BindException")
    records = [next(c.record for c in captured() if w in c.record and not c.made and c.shows) for w in words]
    events = [event_of(read_line(record, "broker-1/server.log"), "c", "broker") for record in records]
    assert why_start_failed([Event.of(e) for e in events if e])[0] == StartFailure.PORT_IN_USE


@pytest.mark.parametrize(("version", "words", "code"), PLAYED)
def test_reason_of_failed_start_is_read_from_captured_lines(version: str, words: str, code: StartFailure) -> None:
    records = [c.record for c in captured() if c.version == version and words in c.record and not c.made and c.shows]
    assert records
    for record in records:
        event = event_of(read_line(record, "broker-1/server.log"), "c", "broker")
        assert event
        assert why_start_failed([Event.of(event)])[0] == code


def line(text: str, **columns: object) -> Event:
    event: Event = row(EVENTS, text=text, line_id=text, **columns)
    return event


EXITS, TAKEN = line("Exiting Kafka due to fatal exception"), line("java.net.BindException: Address already in use")
SIGINT = line("Terminating process due to signal SIGINT", kind="process_signalled")


def test_most_specific_line_gives_reason_of_failed_start_in_any_order() -> None:
    assert [why_start_failed(lines)[0] for lines in ([EXITS, TAKEN], [TAKEN, EXITS])] == ["port_in_use"] * 2


def test_broker_of_kafka_1_0_whose_id_is_registered_has_a_reason_of_its_own() -> None:
    """Source: ZkUtils.scala registerBrokerInZk, until 1.0."""
    taken = line("java.lang.RuntimeException: A broker is already registered on the path /brokers/ids/0. This probably")
    assert why_start_failed([EXITS, taken])[0] == StartFailure.ID_TAKEN


@pytest.mark.parametrize(
    ("because", "code"),
    [
        ("of an authentication exception.", "not_authenticated"),
        ("the controller returned error DUPLICATE_BROKER_REGISTRATION", "id_taken"),
    ],
)
def test_answer_of_a_controller_says_more_than_a_broker_that_gives_up(because: str, code: str) -> None:
    gives_up = line("Shutting down because we were unable to register with the controller quorum.")
    assert why_start_failed([line(f"Unable to register broker 1 because {because}"), gives_up])[0] == code


def test_start_that_ends_without_an_error_was_stopped() -> None:
    assert why_start_failed([line("[KafkaServer id=1] shutting down")])[0] == StartFailure.STOPPED


def test_failure_after_a_signal_is_a_stopped_start() -> None:
    assert why_start_failed([SIGINT, EXITS]) == (StartFailure.STOPPED, SIGINT)
    later = replace(SIGINT, happened_at=SIGINT.happened_at + timedelta(seconds=1))
    assert why_start_failed([TAKEN, later])[1] == TAKEN


def test_each_start_failure_is_declared_once_and_covered_by_the_drill() -> None:
    codes = [code for code, _ in START_PATTERNS]
    assert len({*codes}) == len(codes) and {*codes, StartFailure.STOPPED} == {*StartFailure}
    assert {*SPOILS} == {*codes} - {StartFailure.EXCEPTION, StartFailure.DIRECTORY_LOCKED}


def test_failed_controller_start_in_combined_mode_is_a_failed_start() -> None:
    """As captured on 4.3 of a node that is broker and controller: its heap was too small."""
    [record] = [c.record for c in captured() if c.shows == "process.controller_start_failed" and c.version == "4.3"]
    event = event_of(read_line(record, "broker-1/server.log"), "c", "broker")
    assert event
    fails = Event.of(event | {"broker": 1})
    works = replace(
        fails, kind=Kind.BROKER_UNFENCED_SELF, line_id="s", happened_at=fails.happened_at + timedelta(minutes=1)
    )
    [absence] = rebuild_outages([fails, works], [], Window(fails.happened_at, works.happened_at))
    assert (absence.kind, absence.failed_starts, absence.start_failure) == ("failed_start", 1, "out_of_memory")
    assert absence.up_at == works.happened_at


STOPPED_THEN_MISCONFIGURED = (
    "[2026-11-24 19:25:25,998] INFO Terminating process due to signal SIGTERM"
    " (org.apache.kafka.common.utils.LoggingSignalHandler)",
    "[2026-11-24 19:25:26,001] INFO [KafkaServer id=2] shutting down (kafka.server.KafkaServer)",
    "[2026-11-24 19:25:29,038] INFO [KafkaServer id=2] shut down completed (kafka.server.KafkaServer)",
    "[2026-11-24 19:25:31,304] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)\n"
    "org.apache.kafka.common.config.ConfigException: Invalid value none for configuration num.network.threads:"
    " Not a number of type INT\n\tat org.apache.kafka.common.config.ConfigDef.parseType(ConfigDef.java:742)",
    "[2026-11-24 19:25:32,690] INFO starting (kafka.server.KafkaServer)",
    "[2026-11-24 19:25:35,690] INFO [KafkaServer id=2] started (kafka.server.KafkaServer)",
)


def test_signal_of_the_former_process_does_not_explain_failed_start() -> None:
    records = [event_of(read_line(text, "broker-2/server.log"), "c", "broker") for text in STOPPED_THEN_MISCONFIGURED]
    events = [replace(Event.of(fields), broker=2) for fields in records if fields]
    night = Window(events[0].happened_at - timedelta(hours=1), events[0].happened_at + timedelta(hours=1))
    (outage,) = rebuild_outages(events, [], night)
    assert (outage.kind, outage.failed_starts) == ("controlled_shutdown", 1)
    assert outage.start_failure == StartFailure.CONFIGURATION
