"""Consumer groups in the logs of kafkajs (2.2): records of JSON, whose other fields follow the message."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import MEMBER

_LOGGERS = ("node.kafkajs",)
_GROUP = "groupId: (?P<group_id>.{1,255}?)"
_MEMBER = f"memberId: (?P<member_id>{MEMBER})"
_CLIENT = "clientId: (?P<client_id>.{1,255}?)"
_VERSIONS = "kafkajs 2.2"
_line = partial(Pattern, loggers=_LOGGERS, versions=_VERSIONS)


PATTERNS = (
    _line(
        pattern_id="kafkajs.started",
        kind=Kind.CLIENT_STARTED,
        regex=r"^\[Consumer\] Starting; groupId: (?P<group_id>.+)$",
        source="src/consumer/index.js run",
    ),
    _line(
        # Written once both the join and the assignment have come.
        pattern_id="kafkajs.joined",
        kind=Kind.CLIENT_SYNCED,
        regex=rf"^\[ConsumerGroup\] Consumer has joined the group; {_GROUP}, {_MEMBER}, leaderId: (?P<leader_member_id>{MEMBER}), "
        r"isLeader: (?:true|false), memberAssignment: (?P<detail>\{.*\}), groupProtocol: (?P<assignor>.{1,255}?), duration: (?P<took_ms>\d+)$",
        source="src/consumer/consumerGroup.js joinAndSync",
    ),
    _line(
        pattern_id="kafkajs.join_requested_by_heartbeat",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=rf"^\[Runner\] The group is rebalancing, re-joining; {_GROUP}, {_MEMBER}, error: .*$",
        source="src/consumer/runner.js scheduleFetchManager",
        # In the words of Java's client for the same thing.
        constants={"reason": "group is already rebalancing"},
    ),
    _line(
        pattern_id="kafkajs.generation_reset",
        kind=Kind.CLIENT_GENERATION_RESET,
        regex=rf"^\[Runner\] (?P<reason>The coordinator is not aware of this member), re-joining the group; {_GROUP}, {_MEMBER}, error: .*$",
        source="src/consumer/runner.js scheduleFetchManager",
    ),
    _line(
        pattern_id="kafkajs.heartbeat_refused",
        kind=Kind.CLIENT_HEARTBEAT_REFUSED,
        regex=rf"^\[Connection\] Response Heartbeat\(key: 12, version: \d+\); broker: \S+, {_CLIENT}, "
        r'error: (?!"?The group is rebalancing)"?(?P<error>[^"]*?)"?, correlationId: \d+, size: \d+$',
        source="src/network/connection.js send",
    ),
    _line(
        pattern_id="kafkajs.out_of_range",
        kind=Kind.CLIENT_OUT_OF_RANGE,
        regex=rf"^\[ConsumerGroup\] Offset out of range, resetting to default offset; topic: (?P<topic>[\w.-]+), partition: (?P<partition>\d+), "
        rf"{_GROUP}, {_MEMBER}$",
        source="src/consumer/consumerGroup.js recoverFromOffsetOutOfRange",
    ),
    _line(
        pattern_id="kafkajs.disconnected",
        kind=Kind.CLIENT_DISCONNECTED,
        regex=rf"^\[Connection\] Connection error: (?P<detail>.*?); broker: \S+, {_CLIENT}(?:\n.*)?$",
        source="src/network/connection.js onError",
    ),
    _line(
        pattern_id="kafkajs.closed",
        kind=Kind.CLIENT_CLOSED,
        regex=r"^\[Consumer\] Stopped; groupId: (?P<group_id>.+)$",
        source="src/consumer/index.js stop",
    ),
)
