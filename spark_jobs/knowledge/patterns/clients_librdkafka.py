"""What librdkafka says on stderr (confluent-kafka for Python, Go, .NET; versions 1.0-2.15)."""
# ruff: noqa: E501 - captured lines stay whole

from spark_jobs.knowledge.model import Pattern
from spark_jobs.knowledge.patterns.fragments import captured, made

# A client id may hold anything: the instance's name, librdkafka's own, is what ends it.
_HEAD = r"^(?P<client_id>.{1,255}?)#consumer-\d+\| \[thrd:[^\]]*\]: "
_SOURCE = "src/rdkafka_cgrp.c"


PATTERNS = (
    Pattern(
        pattern_id="librdkafka.poll_expired",
        kind="client_poll_expired",
        loggers=("librdkafka.MAXPOLL",),
        contains="Application maximum poll interval (",
        regex=_HEAD
        + r"Application maximum poll interval \((?P<took_ms>\d+)ms\) exceeded by (?P<detail>\d+)ms \(.*\): leaving group$",
        versions="librdkafka 1.0-2.15",
        source=f"{_SOURCE} rd_kafka_cgrp_max_poll_interval_check_tmr_cb",
        samples=(
            captured(
                "2.8",
                "%4|1795225642.862|MAXPOLL|ads-py-6-b#consumer-1| [thrd:main]: Application maximum poll interval (9000ms) exceeded by 34ms (adjust max.poll.interval.ms for long-running message processing): leaving group",
                client_id="ads-py-6-b",
                took_ms="9000",
                detail="34",
            ),
            captured(
                "3.9",
                "%4|1795226046.941|MAXPOLL|ads-py-1-b#consumer-1| [thrd:main]: Application maximum poll interval (9000ms) exceeded by 84ms (adjust max.poll.interval.ms for long-running message processing): leaving group",
                client_id="ads-py-1-b",
                took_ms="9000",
                detail="84",
            ),
            captured(
                "4.1",
                "%4|1795225377.365|MAXPOLL|geo-py-5-b#consumer-1| [thrd:main]: Application maximum poll interval (9000ms) exceeded by 97ms (adjust max.poll.interval.ms for long-running message processing): leaving group",
                client_id="geo-py-5-b",
                took_ms="9000",
                detail="97",
            ),
            made(
                "any",
                "%4|1795226046.941|MAXPOLL|a| b#consumer-1 [x]: c#consumer-1| [thrd:main]: Application maximum poll interval (9000ms) exceeded by 84ms (adjust max.poll.interval.ms for long-running message processing): leaving group",
                client_id="a| b#consumer-1 [x]: c",
                took_ms="9000",
                detail="84",
            ),
        ),
        counter_samples=(
            "%4|1795226046.941|MAXPOLL|ads-py-1-b#producer-1| [thrd:main]: Application maximum poll interval (9000ms) exceeded by 84ms (adjust max.poll.interval.ms for long-running message processing): leaving group",
        ),
    ),
    Pattern(
        pattern_id="librdkafka.session_timeout",
        kind="client_session_timeout",
        loggers=("librdkafka.SESSTMOUT",),
        contains="Consumer group session timed out ",
        regex=_HEAD + r"Consumer group session timed out (?P<detail>\(in join-state \S+\)) after (?P<took_ms>\d+) ms "
        r"without a successful response from the group coordinator \(broker (?P<node>-?\d+), last error was (?P<error>.*?)\): .*$",
        versions="librdkafka 1.4-2.15",
        source=f"{_SOURCE} rd_kafka_cgrp_session_timeout_check",
        samples=(
            made(
                "any",
                "%4|1795216234.950|SESSTMOUT|rdkafka#consumer-2| [thrd:main]: Consumer group session timed out (in join-state steady) after 6007 ms without a successful response from the group coordinator (broker -1, last error was Success): revoking assignment and rejoining group",
                client_id="rdkafka",
                detail="(in join-state steady)",
                took_ms="6007",
                node="-1",
                error="Success",
            ),
        ),
        counter_samples=(
            "%4|1795216234.950|SESSTMOUT|rdkafka#producer-2| [thrd:main]: Consumer group session timed out (in join-state steady) after 6007 ms",
        ),
    ),
    Pattern(
        pattern_id="librdkafka.commit_failed",
        kind="client_commit_failed",
        loggers=("librdkafka.COMMITFAIL",),
        contains="Offset commit (",
        regex=_HEAD
        + r"Offset commit \((?P<detail>.*?)\) failed for \d+/\d+ partition\(s\)(?: in join-state \S+)?: (?P<error>.+?)(?:: [\w.-]+\[\d+\].*)?$",
        versions="librdkafka 1.6-2.15",
        source=f"{_SOURCE} rd_kafka_cgrp_op_handle_OffsetCommit",
        samples=(
            made(
                "any",
                "%4|1795216234.950|COMMITFAIL|rdkafka#consumer-2| [thrd:main]: Offset commit (unassigned partitions) failed for 3/3 partition(s) in join-state wait-unassign-call: Broker: Unknown member: orders[0]@12(Broker: Unknown member), orders[1]@7(Broker: Unknown member)",
                client_id="rdkafka",
                detail="unassigned partitions",
                error="Broker: Unknown member",
            ),
        ),
        counter_samples=(
            "%4|1795216234.950|COMMITFAIL|rdkafka#producer-2| [thrd:main]: Offset commit (manual) failed for 1/1 partition(s): Broker: Unknown member",
        ),
    ),
    Pattern(
        pattern_id="librdkafka.disconnected",
        kind="client_disconnected",
        loggers=("librdkafka.FAIL",),
        contains="onnect",
        regex=_HEAD + r"(?P<detail>.+?: (?:Disconnected|Connect to ).*)$",
        versions="librdkafka 1.0-2.15",
        source="src/rdkafka_broker.c rd_kafka_broker_set_error",
        samples=(
            made(
                "any",
                "%6|1795216178.932|FAIL|rdkafka#consumer-2| [thrd:GroupCoordinator]: GroupCoordinator: 127.0.0.1:44449: Disconnected: connection closed by peer: receive 0 after POLLIN (after 26120ms in state UP)",
                client_id="rdkafka",
                detail="GroupCoordinator: 127.0.0.1:44449: Disconnected: connection closed by peer: receive 0 after POLLIN (after 26120ms in state UP)",
            ),
            made(
                "any",
                "%3|1795216178.932|FAIL|rdkafka#consumer-2| [thrd:127.0.0.1:44449/1]: 127.0.0.1:44449/1: Connect to ipv4#127.0.0.1:44449 failed: Connection refused (after 0ms in state CONNECT)",
                client_id="rdkafka",
                detail="127.0.0.1:44449/1: Connect to ipv4#127.0.0.1:44449 failed: Connection refused (after 0ms in state CONNECT)",
            ),
        ),
        counter_samples=(
            "%6|1795216178.932|FAIL|rdkafka#producer-2| [thrd:GroupCoordinator]: GroupCoordinator: 127.0.0.1:44449: Disconnected: connection closed by peer",
        ),
    ),
)
