"""Clients that are not Java's: captured nights of their groups, and what their lines can and cannot show."""

from __future__ import annotations

from pathlib import Path

import pytest

from drill.plain_reader import parse, read_folder
from spark_jobs.catalog.codes import LineFate
from spark_jobs.knowledge.layouts import PROGRAM
from spark_jobs.transforms.intake.detection import closest
from spark_jobs.transforms.intake.reading import read_record, words_of
from tests.support.groups import GROUPS, excerpt, witnessed

# Acts of a captured night, each with what the audit says of it: the start of the rebalance, its cause, how sure, and
# the words of the client's own line that it quotes. In each a joins, b joins, a is slow for 14 s (its poll limit is
# 9 s), b is paused for 12 s (its session is 6 s), the topic grows, b leaves, comes back, is killed, is started again.
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
    # Its log shows no starts: a process that was started again and one that was paused look alike.
    "librdkafka-python-4.3": (
        ("15:20:25.107", "max_poll_exceeded", "certain", "MAXPOLL [conft-a#consumer-1]"),
        ("15:20:45.038", "heartbeat_expired", "likely", "SESSTMOUT [conft-b#consumer-1]"),
        ("15:21:14.911", "member_left", "possible", None),
        ("15:21:36.315", "heartbeat_expired", "possible", None),
    ),
}


@pytest.mark.parametrize("name", NIGHTS)
def test_a_night_of_a_library_has_its_causes_with_the_clients_own_lines(name: str) -> None:
    rows = {f"{r.started_at:%H:%M:%S.%f}"[:-3]: r for r in excerpt(name).history().rebalances}
    for clock, cause, confidence, words in NIGHTS[name]:
        row = rows[clock]
        assert (row.cause, row.confidence) == (cause, confidence), row.explanation
        own = [q.text for q in row.evidence if q.source.endswith(("-a.log", "-b.log"))]
        assert any(words in text for text in own) if words else own == []


@pytest.mark.parametrize("name", NIGHTS)
def test_without_the_clients_lines_only_what_the_coordinator_saw_is_left(name: str) -> None:
    alone = [r for r in excerpt(name).of("broker").history().rebalances if r.cause == "max_poll_exceeded"]
    assert alone == []


def test_a_line_that_names_no_client_is_that_of_the_one_that_its_log_names(tmp_path: Path) -> None:
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


def test_what_a_program_prints_between_its_librarys_lines_breaks_none_of_them() -> None:
    folder = GROUPS / "librdkafka-python-4.3/clients"
    events, left = read_folder(folder, "night", "client")
    text = (folder / "conft-a.log").read_text()
    assert "\nerror KafkaError{code=_MAX_POLL_EXCEEDED" in text
    assert "librdkafka.poll_expired_through_logger" in {e.pattern_id for e in events}
    assert left.unparsed == []


def test_a_programs_own_lines_are_not_ours_to_read() -> None:
    record = parse("2026-11-22 14:44:46,657 WARNING confluent MAXPOLL [c#consumer-1] [thrd:main]: x")
    assert words_of("python-blanks", "2026-11-22 14:44:46,657 INFO shop.orders paid")[0] == PROGRAM
    assert read_record("python-blanks", "2026-11-22 14:44:46,657 INFO shop.orders paid").fate is LineFate.IGNORED
    assert record.reading.fate is not LineFate.EVENT


def test_lines_without_a_time_are_named_and_not_guessed() -> None:
    assert closest(["INFO:aiokafka.consumer.group_coordinator:(Re-)joining group g"]).startswith(
        "Its lines show no time: their layout is '%p:%c:%m%n'."
    )


def test_fields_that_could_be_taken_for_others_are_quoted() -> None:
    """A group may be named as a stranger likes; its record says of which field its words are."""
    line = (
        '{"level":"INFO","timestamp":"2026-11-22T14:45:55.892Z","logger":"kafkajs","message":"[Consumer] Stopped",'
        '"groupId":"g, memberId: evil"}'
    )
    record = parse(line)
    assert record.message == '[Consumer] Stopped; groupId: "g, memberId: evil"'
    assert record.reading.found == ('"g, memberId: evil"',)
