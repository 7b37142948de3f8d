"""Clients that are not Java's: captured nights of their groups, and what their lines can and cannot show."""

from __future__ import annotations

from pathlib import Path

import pytest

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.judgements.groups.assignments import Witnesses
from kafka_hindsight.judgements.groups.costs import price, stops_of
from kafka_hindsight.judgements.groups.member_settings import rebuild_settings
from kafka_hindsight.judgements.groups.remedies import judge_remedies
from kafka_hindsight.knowledge.layouts import PROGRAM
from kafka_hindsight.logs.forms import closest
from kafka_hindsight.logs.reading import logger_and_message, read_record
from kafka_hindsight.shared.windows import Window
from tests.support.groups import GROUPS, excerpt, witnessed
from tools.plain_reader import read_line, read_logs

# Acts of a captured night, each with what the audit says of it: the start of the rebalance, its cause, how sure, and
# the words of the client's own line that it quotes. In each a joins, b joins, a is slow for 14 s (its poll limit is
# 9 s), b is paused for 12 s (its session is 6 s), the topic grows, b leaves, comes back, is killed, and comes back.
NIGHTS = {
    "aiokafka-4.3": (
        ("15:03:47.418", "max_poll_exceeded", "likely", "LeaveGroup request succeeded"),
        ("15:04:07.693", "heartbeat_expired", "likely", "Heartbeat failed: local member_id was not recognized"),
        ("15:04:57.220", "partitions_added", "likely", "Metadata for topic has changed from {'events': 6} to"),
        ("15:05:05.510", "member_left", "likely", "LeaveGroup request succeeded"),
        ("15:05:26.402", "member_dead", "likely", "Updating subscribed topics to: "),
    ),
    "kafka-python-4.3": (
        ("15:03:48.046", "max_poll_exceeded", "likely", "Consumer poll timeout has expired."),
        ("15:04:08.251", "heartbeat_expired", "likely", "Heartbeat"),
        ("15:05:05.510", "member_left", "likely", " for group lab-kpt on close"),
        ("15:05:27.170", "member_dead", "likely", "Updating subscribed topics to: "),
    ),
    # It has no poll limit: who is slow sends no heartbeat.
    "kafkajs-4.3": (
        ("15:03:44.166", "heartbeat_expired", "likely", "[Connection] Response Heartbeat"),
        ("15:04:08.171", "heartbeat_expired", "likely", "[Connection] Response Heartbeat"),
        ("15:05:05.371", "member_left", "likely", "[Consumer] Stopped"),
        ("15:05:27.011", "member_dead", "likely", "[Consumer] Starting"),
    ),
    "franz-go-4.3": (
        ("15:33:30.023", "heartbeat_expired", "likely", "UNKNOWN_MEMBER_ID"),
        ("15:33:39.559", "cooperative_followup", "likely", "after revoking what we lost from a rebalance"),
        ("15:34:01.906", "member_left", "certain", None),
        # The line of the topic that grew is not part of the excerpt.
        ("15:34:02.795", "metadata_changed", "likely", "noticed some topics have new partitions"),
        ("15:34:23.385", "member_dead", "likely", "beginning to manage the group lifecycle"),
    ),
    "sarama-4.3": (
        ("15:33:30.384", "heartbeat_expired", "likely", "consumergroup/session/sar-b-"),
        ("15:34:02.018", "member_left", "certain", None),
        ("15:34:23.509", "heartbeat_expired", "possible", None),
    ),
    "kafka-go-4.3": (
        ("15:33:30.737", "heartbeat_expired", "likely", "joinGroup succeeded for response, lab-seg."),
        ("15:34:02.104", "member_left", "possible", None),
        ("15:34:23.843", "member_dead", "likely", "entering loop for consumer group, lab-seg"),
    ),
    # Its log shows no starts: a process that was started again and one that was paused look alike.
    "librdkafka-python-4.3": (
        ("15:20:25.107", "max_poll_exceeded", "certain", "MAXPOLL [conft-a#consumer-1]"),
        ("15:20:45.038", "heartbeat_expired", "likely", "SESSTMOUT [conft-b#consumer-1]"),
        ("15:21:14.911", "member_left", "possible", None),
        ("15:21:36.315", "heartbeat_expired", "possible", None),
    ),
}


@pytest.mark.parametrize("name", NIGHTS)
def test_client_library_night_has_causes_with_client_lines(name: str) -> None:
    rows = {f"{r.started_at:%H:%M:%S.%f}"[:-3]: r for r in excerpt(name).history().rebalances}
    for clock, cause, confidence, words in NIGHTS[name]:
        row = rows[clock]
        assert (row.cause, row.confidence) == (cause, confidence), row.explanation
        own = [q.text for q in row.evidence if q.source.endswith(("-a.log", "-b.log"))]
        assert any(words in text for text in own) if words else own == []


# Groups that are not of consumers, with acts of their own. In share and streams a member joins, another one joins, is
# paused, closes, comes back and is killed; in connect a connector is created, another one, one is changed, a worker is
# killed and comes back, is paused, is stopped, and a connector is deleted.
OTHERS = {
    "share-4.3": (
        ("15:14:55.835", "share_partitions_initialized", "likely"),
        ("15:15:15.183", "heartbeat_expired", "likely"),
        ("15:15:31.746", "member_left", "likely"),
        ("15:15:50.464", "member_dead", "possible"),
        ("15:15:55.836", "metadata_changed", "likely"),
    ),
    "streams-4.3": (
        ("15:13:21.400", "max_poll_exceeded", "likely"),
        ("15:13:42.549", "heartbeat_expired", "certain"),
        ("15:14:03.308", "member_left", "certain"),
        ("15:14:34.511", "member_dead", "likely"),
    ),
    "connect-4.3": (
        ("15:07:49.326", "connector_changed", "likely"),
        ("15:07:57.594", "connector_changed", "likely"),
        ("15:08:07.425", "connector_changed", "likely"),
        ("15:08:21.459", "heartbeat_expired", "possible"),
        ("15:08:33.499", "scheduled_delay_over", "likely"),
        ("15:09:13.711", "cooperative_followup", "likely"),
        ("15:09:26.375", "heartbeat_expired", "likely"),
        ("15:10:07.548", "scheduled_delay_over", "likely"),
        ("15:10:11.106", "connector_changed", "likely"),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_share_and_streams_groups_have_their_own_causes(name: str) -> None:
    rows = {f"{r.started_at:%H:%M:%S.%f}"[:-3]: r for r in excerpt(name).history().rebalances}
    for clock, cause, confidence in OTHERS[name]:
        assert (rows[clock].cause, rows[clock].confidence) == (cause, confidence), rows[clock].explanation


@pytest.mark.parametrize(("name", "protocol"), [("share-4.3", "share"), ("streams-4.3", "streams")])
def test_leave_in_share_or_streams_group_raises_epoch_without_gap(name: str, protocol: str) -> None:
    """The next target assignment names the epoch: no generation is missing."""
    history = excerpt(name).history()
    assert {r.protocol for r in history.rebalances} == {protocol}
    assert history.gaps == []
    reached = [r.to_generation for r in history.rebalances]
    assert reached == list(range(reached[0], reached[0] + len(reached)))


@pytest.mark.parametrize("name", ["share-4.3", "streams-4.3"])
def test_share_and_streams_groups_have_no_client_settings_or_remedies(name: str) -> None:
    group = excerpt(name)
    history = group.history()
    window = Window(history.rebalances[0].started_at, history.rebalances[-1].started_at)
    stops = stops_of(history.rebalances, Witnesses(group.events, [], [], []))
    priced = price(history.rebalances, stops)
    assert {r.partition_seconds for r in priced} == {None}
    assert judge_remedies(priced, stops, history.members, group.events, window) == []
    assert rebuild_settings("night", "g", group.events, [], [], [], window) == []


@pytest.mark.parametrize("name", NIGHTS)
def test_max_poll_is_not_found_without_client_lines(name: str) -> None:
    alone = [r for r in excerpt(name).of("broker").history().rebalances if r.cause == "max_poll_exceeded"]
    assert alone == []


def test_line_without_client_belongs_to_only_client_of_its_log(tmp_path: Path) -> None:
    """Of a log that names two clients, such a line is nobody's: the cause falls back to what the brokers show."""
    night = GROUPS / "kafka-python-4.3"
    (tmp_path / "logs").symlink_to(night / "logs")
    both = [line for part in "ab" for line in (night / f"clients/kpt-{part}.log").read_text().splitlines()]
    (tmp_path / "clients").mkdir()
    (tmp_path / "clients/both.log").write_text("\n".join(sorted(both)) + "\n")
    (group,) = witnessed(tmp_path)
    causes = {f"{r.started_at:%H:%M:%S.%f}"[:-3]: (r.cause, r.confidence) for r in group.history().rebalances}
    assert causes["15:03:48.046"] == ("member_left", "possible")
    assert causes["15:05:05.510"] == ("member_left", "possible")


def test_program_output_between_library_lines_breaks_no_record() -> None:
    folder = GROUPS / "librdkafka-python-4.3/clients"
    events, left = read_logs(folder, "client", "night")
    text = (folder / "conft-a.log").read_text()
    assert "\nerror KafkaError{code=_MAX_POLL_EXCEEDED" in text
    assert "librdkafka.poll_expired_through_logger" in {e.pattern_id for e in events}
    assert left.unparsed == []


def test_application_lines_are_ignored() -> None:
    record = read_line("2026-11-22 14:44:46,657 WARNING confluent MAXPOLL [c#consumer-1] [thrd:main]: x")
    assert logger_and_message("python-blanks", "2026-11-22 14:44:46,657 INFO shop.orders paid")[0] == PROGRAM
    assert read_record("python-blanks", "2026-11-22 14:44:46,657 INFO shop.orders paid").fate is LineFate.IGNORED
    assert record.reading.fate is not LineFate.EVENT


def test_lines_without_time_are_named_with_their_layout() -> None:
    assert closest(["INFO:aiokafka.consumer.group_coordinator:(Re-)joining group g"]).startswith(
        "Its lines show no time: their layout is '%p:%c:%m%n'."
    )


def test_ambiguous_field_values_are_quoted() -> None:
    """A group may be named as a stranger likes; its record says of which field its words are."""
    line = (
        '{"level":"INFO","timestamp":"2026-11-22T14:45:55.892Z","logger":"kafkajs","message":"[Consumer] Stopped",'
        '"groupId":"g, memberId: evil"}'
    )
    record = read_line(line)
    assert record.message == '[Consumer] Stopped; groupId: "g, memberId: evil"'
    assert record.reading.groups == ('"g, memberId: evil"',)
