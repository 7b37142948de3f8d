"""What is read from log lines: every captured line by its own pattern alone, whatever strangers put into ids."""

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kafka_hindsight.catalog.codes import LineFate
from kafka_hindsight.catalog.kinds import KINDS
from kafka_hindsight.catalog.silver import EVENT_FIELDS
from kafka_hindsight.knowledge.layouts import LAYOUTS, MESSAGE_LIMIT, class_of
from kafka_hindsight.knowledge.model import Pattern, longest_literal
from kafka_hindsight.knowledge.noise import NOISE
from kafka_hindsight.knowledge.patterns import PATTERNS, RELEVANT_CLASSES
from kafka_hindsight.logs.reading import fields_of, read_record
from kafka_hindsight.settings.home import PACKAGE
from tools.pages.samples import SHOWS_NOISE, captured, counter_samples_of, samples_of
from tools.plain_reader import read_line

FIELD_NAMES = {c.name for c in EVENT_FIELDS}

# Patterns whose lines nobody has captured yet. A drill that captures one takes it from this list.
MADE = {
    "connect.stopping",
    "connect.task_killed",
    "client.coordinator_long_gone",
    "client.heartbeat_error",
    "client.heartbeat_of_old_generation",
    "client.heartbeat_of_stranger",
    "client.instance_fenced",
    "client.instance_fenced_meanwhile",
    "client.kip848_instance_fenced",
    "client.commits_unstable",
    "client.log_diverged_somewhere",
    "client.log_diverged_without_policy",
    "client.offsets_not_committed_unnamed",
    "client.out_of_range_unnamed",
    "client.releasing",
    "fetcher.reset_to_leader",
    "fetcher.reset_to_start",
    "fetcher.truncated_committed",
    "java.groups_deleted",
    "java.pending_member_left",
    "java.pending_member_removed",
    "java.simple_commits_began",
    "java.static_member_fenced",
    "kip848.classic_member_id_assigned",
    "kip848.classic_member_left",
    "kip848.static_member_closed",
    "kip848.member_assignment_state",
    "kip848.static_member_fenced",
    "kip848.static_member_refused",
    "kip848.static_member_returned",
    "kraft.broker_fence_granted",
    "kraft.controlled_shutdown_failed",
    "kraft.controller_kept",
    "kraft.log_dir_not_told",
    "kraft.unclean_election_started",
    "librdkafka.commit_failed",
    "librdkafka.log_diverged",
    "librdkafka.log_diverged_through_logger",
    "librdkafka.out_of_range_through_logger",
    "librdkafka.position_reset",
    "librdkafka.position_reset_through_logger",
    "librdkafka.disconnected",
    "partition.isr_update_rejected",
    "partition.isr_update_skipped",
    "process.fatal_fault",
    "process.truncation_refused",
    "scala.group_dead_at_join",
    "zookeeper.topic_node_created",
    "scala.groups_deleted",
    "scala.member_rejoined_pending",
    "scala.offsets_deleted",
    "scala.offsets_expired",
    "scala.pending_member_left",
    "scala.pending_member_removed",
    "scala.simple_commits_began",
    "scala.static_member_fenced",
    "scala.static_member_fenced_by_error",
    "segmentio.beyond_end",
    "segmentio.leaving",
    "segmentio.out_of_range",
    "aiokafka.partition_commit_failed",
    "kafka_python.fetch_denied",
    "kafka_python.log_diverged",
    "kafka_python.partition_commit_failed",
    "kafka_python.producer_failed",
    "kafka_python.retried_of_old",
    "librdkafka.left_in_queue",
    "librdkafka.left_in_queue_through_logger",
    "librdkafka.produce_timed_out_through_logger",
    "librdkafka.producer_fatal_through_logger",
    "librdkafka.transaction_failed",
    "librdkafka.transaction_failed_through_logger",
    "producer.aborted",
    "producer.closed_by_force",
    "producer.out_of_sequence",
    "producer.partition_unknown",
}

OF_CLASS = {
    name: [p for p in PATTERNS if name in {class_of(logger) for logger in p.loggers}]
    for name in {"", *(class_of(logger) for p in PATTERNS for logger in p.loggers)}
}

each_pattern = pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p.pattern_id)


def claimants(record: str) -> list[str]:
    """All patterns that would claim a record, with their gates open."""
    read = read_line(record)
    fitting = OF_CLASS[class_of(read.logger or "")]
    return [p.pattern_id for p in fitting if p.compiled.match(read.message)]


def read(record: str) -> tuple[str, dict[str, str]]:
    """Which pattern claims a record, and what it reads from it, as text."""
    reading = read_line(record).reading
    assert reading.pattern is not None, record
    fields = fields_of(reading.pattern, [reading.groups])
    return reading.pattern.pattern_id, {name: str(value) for name, (value,) in fields.items() if value is not None}


def fate(record: str) -> LineFate:
    """What becomes of a record."""
    return read_line(record).reading.fate


def test_each_pattern_has_its_own_name() -> None:
    names = [p.pattern_id for p in PATTERNS]
    assert len(names) == len(set(names))


def test_pattern_uses_kinds_and_fields_of_the_catalog() -> None:
    for pattern in PATTERNS:
        assert pattern.kind in KINDS, pattern.pattern_id
        assert set(pattern.fields) | set(pattern.constants) <= FIELD_NAMES, pattern.pattern_id
        assert not set(pattern.fields) & set(pattern.constants), pattern.pattern_id


def test_no_group_is_repeated_possessively() -> None:
    """Before 3.11.5 and 3.12.0, Python misses matches of such a group (python/cpython#106052): Debian 12 has 3.11.2."""
    sources = {path: path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")}
    assert [path for path, text in sources.items() if re.search(r"\)(?:[*+?]|\{[\d,]+\})\+", text)] == []


def test_regex_matches_the_whole_message_with_named_groups_alone() -> None:
    for pattern in PATTERNS:
        assert pattern.compiled.pattern.startswith("^"), pattern.pattern_id
        assert pattern.compiled.pattern.endswith("$"), pattern.pattern_id
        assert pattern.compiled.groups == len(pattern.compiled.groupindex), pattern.pattern_id


@pytest.mark.parametrize(
    ("regex", "literal"),
    [
        (r"^Group (?P<group_id>.+) is now empty\.$", " is now empty."),
        (
            r"a word?(?: not there)?(?: or this| or that) [not a set(] (?P<error>\d+ in a (?:group))\((?!never)",
            " in a ",
        ),
        (r"(?:Disconnected|Connect to ).*", ""),
    ],
)
def test_longest_literal_is_the_longest_text_in_every_match(regex: str, literal: str) -> None:
    assert longest_literal(regex) == literal


@each_pattern
def test_samples_are_claimed_by_their_pattern_alone(pattern: Pattern) -> None:
    assert samples_of(pattern)
    for sample in samples_of(pattern):
        assert claimants(sample.record) == [pattern.pattern_id]
        assert read(sample.record) == (pattern.pattern_id, {**pattern.constants, **sample.fields})


_BLANKS: dict[str, Callable[[str], str]] = {
    "behind each line": lambda record: "\n".join(f"{line} \t" for line in record.split("\n")),
    "behind the first line": lambda record: record.replace("\n", "  \n", 1),
    "behind the message": lambda record: re.sub(r"(?m)(?= \([\w.$]+\)$)", "  ", record),
}
"""Blanks that a layout, a terminal, a viewer or a shipper leaves."""


@each_pattern
@pytest.mark.parametrize("place", _BLANKS)
def test_blanks_behind_messages_and_lines_change_nothing(pattern: Pattern, place: str) -> None:
    for sample in samples_of(pattern):
        pattern_id, fields = read(_BLANKS[place](sample.record))
        assert pattern_id == pattern.pattern_id
        assert _without_end_blanks(fields) == _without_end_blanks(read(sample.record)[1])


def _without_end_blanks(fields: dict[str, str]) -> dict[str, str]:
    return {name: value.rstrip() for name, value in fields.items() if value.strip()}


def test_counter_samples_are_not_claimed_by_their_pattern() -> None:
    for pattern in PATTERNS:
        assert counter_samples_of(pattern), pattern.pattern_id
        for record in counter_samples_of(pattern):
            assert read_line(record).logger in pattern.loggers, pattern.pattern_id
            assert pattern.pattern_id not in claimants(record)


def test_class_moved_between_kafka_packages_is_read_and_foreign_class_is_ignored() -> None:
    line = "[2026-11-21 11:50:54,948] INFO [BrokerLifecycleManager id=2] Beginning controlled shutdown. ({})"
    for package in ("kafka.server", "org.apache.kafka.server", "org.apache.kafka.metadata.elsewhere"):
        assert read(line.format(f"{package}.BrokerLifecycleManager"))[0] == "kraft.controlled_shutdown_started"
    assert fate(line.format("com.example.BrokerLifecycleManager")) is LineFate.IGNORED


def test_patterns_without_captured_lines_are_listed() -> None:
    assert {p.pattern_id for p in PATTERNS if all(s.made for s in samples_of(p))} == MADE


def test_each_sample_on_file_names_a_declared_pattern_or_layout() -> None:
    declared = {*(p.pattern_id for p in PATTERNS), *(layout.name for layout in LAYOUTS), SHOWS_NOISE}
    assert captured()
    for sample in captured():
        assert {sample.shows, *sample.unlike} <= {*declared, None}, sample.record
        assert sample.shows or sample.unlike, sample.record
        if sample.shows == SHOWS_NOISE:
            assert fate(sample.record) is LineFate.IGNORED, sample.record
            record = read_line(sample.record)
            filled = "\n".join(f"{line}  " for line in record.text.split("\n"))
            assert record.layout and read_record(record.layout.name, filled).fate is LineFate.IGNORED, "blanks or not"


def test_every_kind_of_event_has_a_pattern() -> None:
    assert {p.kind for p in PATTERNS} == set(KINDS)


def test_noise_is_of_a_relevant_logger_and_claimed_by_no_pattern() -> None:
    on_file = [(s.contains, read_line(s.record)) for s in captured() if s.shows == SHOWS_NOISE]
    for noise in NOISE:
        assert {class_of(logger) for logger in noise.loggers} <= RELEVANT_CLASSES, noise
        matches = [(own, r) for own, r in on_file if r.logger in noise.loggers and noise.contains in r.message]
        assert noise.contains in {own for own, _ in matches}, noise
        assert {record.reading.fate for _, record in matches} == {LineFate.IGNORED}, noise


@each_pattern
def test_regex_on_hostile_text_takes_less_than_a_second(pattern: Pattern) -> None:
    message = read_line(samples_of(pattern)[0].record).message
    copies = (message[:-1] + " ") * (MESSAGE_LIMIT // len(message) + 1)
    hostile = copies[: MESSAGE_LIMIT - 1] + "!"
    began = time.process_time()
    pattern.compiled.match(hostile)
    assert time.process_time() - began < 1


# --- ids and reasons are free text ------------------------------------------------------------------------------

UUID = "35264ebf-dc38-4338-91a3-b8ad0d1e11a4"
PIECES = (
    " ",
    "a",
    "orders",
    "é\u2028\u0085",
    ", clientId=x",
    ")",
    "(",
    "]",
    "[Group b] ",
    "'",
    "\t",
    "; client reason: y",
    " generation 5",
    " generation 5 (__consumer_offsets-3) with 2 members",
    " with 2 members.",
    " in state Stable",
    " (__consumer_offsets-3)",
    " (reason: x)",
    ").",
    " in group b",
    " has failed, removing it from the group",
    " joins group b in Stable state.",
    f" Member c-{UUID}",
)
FREE_TEXT = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
WHOLE_LINES = (
    " in state Stable with old generation 5 (__consumer_offsets-3) (reason: x)",
    " in state Stable with old generation 5 (reason: x).",
    " has left group b through explicit `LeaveGroup`; client reason: x",
)
WORDS = st.lists(st.sampled_from(PIECES + WHOLE_LINES), min_size=1, max_size=6).map("".join)
SCALA = "[2026-11-21 01:54:47,525] INFO [GroupCoordinator 1]: {} (kafka.coordinator.group.GroupCoordinator)"
JAVA = (
    "[2026-11-21 01:42:02,510] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] {}"
    " (org.apache.kafka.coordinator.group.GroupMetadataManager)"
)


@given(group=FREE_TEXT, words=WORDS)
def test_started_rebalance_keeps_group_and_whole_reason_with_hostile_text(group: str, words: str) -> None:
    """The reason may hold whole lines of others; a group's name that does is read as the shortest that fits."""
    reason = f"Updating metadata for member a-{UUID} during Stable; client reason: {words}"
    head = f"Preparing to rebalance group {group} in state PreparingRebalance with old generation 7"
    expected = {"group_id": group, "generation": "7", "reason": reason, "protocol": "classic"}
    assert read(SCALA.format(f"{head} (__consumer_offsets-9) (reason: {reason})")) == (
        "scala.rebalance_started",
        expected | {"offsets_partition": "9"},
    )
    assert read(JAVA.format(f"{head} (reason: {reason}).")) == (
        "java.rebalance_started",
        expected | {"offsets_partition": "11"},
    )


@given(group=FREE_TEXT)
def test_completed_join_is_read_with_hostile_group_name(group: str) -> None:
    expected = {"group_id": group, "generation": "8", "member_count": "3", "protocol": "classic"}
    assert read(SCALA.format(f"Stabilized group {group} generation 8 (__consumer_offsets-9) with 3 members")) == (
        "scala.join_completed",
        expected | {"offsets_partition": "9"},
    )
    assert read(JAVA.format(f"Stabilized group {group} generation 8 with 3 members.")) == (
        "java.join_completed",
        expected | {"offsets_partition": "11"},
    )


@given(group=FREE_TEXT, client=FREE_TEXT)
def test_failed_member_is_read_with_hostile_group_and_client(group: str, client: str) -> None:
    assume(f"{UUID} in group " not in client)
    head = f"Member {client}-{UUID} in group {group} has failed, removing it from the group"
    expected = {"member_id": f"{client}-{UUID}", "group_id": group, "protocol": "classic"}
    assert read(SCALA.format(head)) == ("scala.member_failed", expected)
    assert read(JAVA.format(f"{head}.")) == ("java.member_failed", expected | {"offsets_partition": "11"})


@given(group=FREE_TEXT, client=FREE_TEXT, words=WORDS)
def test_member_that_left_is_read_with_hostile_names_and_reason(group: str, client: str, words: str) -> None:
    assume(f"{UUID}, groupInstanceId=" not in client)
    left = f"through explicit `LeaveGroup`; client reason: {words}"
    metadata = (
        f"MemberMetadata(memberId={client}-{UUID}, groupInstanceId=None, clientId={client}, clientHost=/10.0.0.7, "
        "sessionTimeoutMs=6000, rebalanceTimeoutMs=9000, supportedProtocols=List(range, roundrobin))"
    )
    pattern_id, fields = read(SCALA.format(f"Member {metadata} has left group {group} {left}"))
    assert (pattern_id, _without_end_blanks(fields)) == (
        "scala.member_left",
        _without_end_blanks(
            {
                "member_id": f"{client}-{UUID}",
                "client_id": client,
                "host": "/10.0.0.7",
                "session_timeout_ms": "6000",
                "rebalance_timeout_ms": "9000",
                "detail": "range, roundrobin",
                "group_id": group,
                "client_reason": words,
                "protocol": "classic",
            }
        ),
    )


@given(group=FREE_TEXT, client=FREE_TEXT)
def test_java_consumer_is_read_with_hostile_client_and_group(group: str, client: str) -> None:
    assume(", groupId=" not in client)
    head = f"[Consumer instanceId=i-1, clientId={client}, groupId={group}]"
    logger = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
    record = f"[2026-11-21 01:42:02,510] INFO {head} (Re-)joining group ({logger})"
    assert read(record) == ("client.joining", {"instance_id": "i-1", "client_id": client, "group_id": group})


@given(client=FREE_TEXT)
def test_librdkafka_client_id_may_contain_separators(client: str) -> None:
    record = (
        f"%4|1795226046.941|MAXPOLL|{client}|#consumer-7| x#consumer-1| [thrd:main]: Application maximum poll "
        "interval (9000ms) exceeded by 84ms (adjust max.poll.interval.ms for long-running message processing): "
        "leaving group"
    )
    pattern_id, fields = read(record)
    assert pattern_id == "librdkafka.poll_expired"
    assert fields["client_id"] == f"{client}|#consumer-7| x"
    assert re.fullmatch(r"\d+", fields["took_ms"])
