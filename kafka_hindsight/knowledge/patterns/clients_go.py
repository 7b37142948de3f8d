"""Consumer groups in the logs of Go libraries: franz-go (1.22), sarama (1.61) and segmentio's kafka-go (0.4).

The program chooses the logger and what stands before a line. The fields of franz-go follow its message, as in its own
BasicLogger; of records of JSON they are put there.
"""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.layouts import PROGRAM
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import MEMBER

_LOGGERS = (PROGRAM,)
_GROUP = "(?P<group_id>.{1,255}?)"
_MEMBER = f"(?P<member_id>{MEMBER})"
_FRANZ, _SARAMA, _SEGMENTIO = "franz-go 1.22", "sarama 1.61", "kafka-go 0.4"
_FRANZ_SOURCE = "pkg/kgo/consumer_group.go"
_line = partial(Pattern, loggers=_LOGGERS, versions=_FRANZ)


PATTERNS = (
    _line(
        pattern_id="franz.started",
        kind=Kind.CLIENT_STARTED,
        regex=r"^beginning to manage the group lifecycle; group: (?P<group_id>.+)$",
        source=f"{_FRANZ_SOURCE} manage",
    ),
    _line(
        pattern_id="franz.joining",
        kind=Kind.CLIENT_JOINING,
        regex=r"^joining group; group: (?P<group_id>.+)$",
        source=f"{_FRANZ_SOURCE} joinAndSync",
    ),
    _line(
        pattern_id="franz.joined",
        kind=Kind.CLIENT_JOINED,
        regex=rf"^joined(?:, balancing group)?; group: {_GROUP}, member_id: {_MEMBER}, instance_id: (?:<nil>|null|\{{\}}|(?P<instance_id>[^,]+)), "
        r"generation: (?P<generation>\d+), (?:balance_protocol: (?P<assignor>[^,]+), )?leader: (?:true|false)$",
        source=f"{_FRANZ_SOURCE} handleJoinResp",
    ),
    _line(
        pattern_id="franz.synced",
        kind=Kind.CLIENT_SYNCED,
        regex=rf"^synced; group: {_GROUP}, assigned: (?P<detail>.*)$",
        source=f"{_FRANZ_SOURCE} handleSyncResp",
    ),
    _line(
        pattern_id="franz.join_requested_by_heartbeat",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=rf'^heartbeat errored; group: {_GROUP}, err: "?REBALANCE_IN_PROGRESS: .*$',
        source=f"{_FRANZ_SOURCE} heartbeat",
        # In the words of Java's client for the same thing.
        constants={"reason": "group is already rebalancing"},
    ),
    _line(
        pattern_id="franz.heartbeat_refused",
        kind=Kind.CLIENT_HEARTBEAT_REFUSED,
        regex=rf'^heartbeat errored; group: {_GROUP}, err: "?(?P<error>(?!REBALANCE_IN_PROGRESS)[A-Z_]+): .*$',
        source=f"{_FRANZ_SOURCE} heartbeat",
    ),
    _line(
        pattern_id="franz.join_requested",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=r"^forced rejoin quitting heartbeat loop; why: (?P<reason>.*), [^,]*: (?:true|false)$",
        source=f"{_FRANZ_SOURCE} heartbeat",
    ),
    _line(
        pattern_id="franz.generation_reset",
        kind=Kind.CLIENT_GENERATION_RESET,
        regex=r"^(?P<reason>join returned UnknownMemberID), rejoining without a member id; group: (?P<group_id>.+)$",
        source=f"{_FRANZ_SOURCE} handleJoinResp",
    ),
    _line(
        pattern_id="franz.coordinator_lost",
        kind=Kind.CLIENT_COORDINATOR_LOST,
        regex=rf"^group manage loop errored; group: {_GROUP}, err: (?P<reason>.*), consecutive_errors: \d+, backoff: .*$",
        source=f"{_FRANZ_SOURCE} manage",
    ),
    _line(
        pattern_id="franz.disconnected",
        kind=Kind.CLIENT_DISCONNECTED,
        regex=rf'^heartbeat errored; group: {_GROUP}, err: "?(?P<detail>the broker connection has died.*|unable to dial.*)$',
        source=f"{_FRANZ_SOURCE} heartbeat",
    ),
    _line(
        pattern_id="franz.connection_refused",
        kind=Kind.CLIENT_DISCONNECTED,
        regex=r"^unable to open connection to broker; addr: (?P<host>\S+):\d+, broker: (?:seed_\d+|(?P<node>\d+)), err: (?P<detail>.*)$",
        source="pkg/kgo/broker.go connect",
    ),
    _line(
        pattern_id="franz.commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        regex=rf"^default commit failed; group: {_GROUP}, err: (?P<error>.*)$",
        source=f"{_FRANZ_SOURCE} defaultCommitCallback",
    ),
    _line(
        pattern_id="franz.out_of_range",
        kind=Kind.CLIENT_OUT_OF_RANGE,
        regex=r"^received OFFSET_OUT_OF_RANGE(?: on the first fetch, resetting to the configured ConsumeResetOffset|, resetting to the nearest offset; [^;]*)"
        r"; broker: \S+, topic: (?P<topic>[\w.-]+), partition: (?P<partition>\d+), prior_offset: (?P<log_offset>\d+)$",
        source="pkg/kgo/source.go handleReqResp",
    ),
    _line(
        pattern_id="franz.leaving",
        kind=Kind.CLIENT_LEAVING,
        regex=rf"^leaving group; group: {_GROUP}, member_id: {_MEMBER}$",
        source=f"{_FRANZ_SOURCE} leave",
    ),
    _line(
        pattern_id="sarama.session_ended",
        kind=Kind.CLIENT_REVOKED,
        regex=rf"^consumergroup/session/{_MEMBER}/(?P<generation>\d+) released$",
        versions=_SARAMA,
        source="consumer_group.go release",
    ),
    _line(
        pattern_id="sarama.coordinator_found",
        kind=Kind.CLIENT_COORDINATOR_FOUND,
        regex=rf"^client/coordinator coordinator for {_GROUP} is #(?P<node>\d+) \([^)]*\)$",
        versions=_SARAMA,
        source="client.go getConsumerMetadata",
    ),
    _line(
        pattern_id="segmentio.started",
        kind=Kind.CLIENT_STARTED,
        regex=r"^entering loop for consumer group, (?P<group_id>.+)$",
        versions=_SEGMENTIO,
        source="reader.go run",
    ),
    _line(
        pattern_id="segmentio.joined",
        kind=Kind.CLIENT_JOINED,
        regex=rf"^joinGroup succeeded for response, {_GROUP}\.  generationID=(?P<generation>\d+), memberID={_MEMBER}$",
        versions=_SEGMENTIO,
        source="consumergroup.go joinGroup",
    ),
    _line(
        pattern_id="segmentio.synced",
        kind=Kind.CLIENT_SYNCED,
        regex=r"^sync group finished for group, (?P<group_id>.+)$",
        versions=_SEGMENTIO,
        source="consumergroup.go syncGroup",
    ),
    _line(
        # At the committed offset where it begins; after an error where it had come to.
        pattern_id="segmentio.position_resumed",
        kind=Kind.CLIENT_POSITION_RESUMED,
        regex=r"^initializing kafka reader for partition (?P<partition>\d+) of (?P<topic>[\w.-]+) starting at offset (?P<log_offset>\d+)$",
        versions=_SEGMENTIO,
        source="reader.go run",
    ),
    _line(
        pattern_id="segmentio.position_reset",
        kind=Kind.CLIENT_POSITION_RESET,
        regex=r"^initializing kafka reader for partition (?P<partition>\d+) of (?P<topic>[\w.-]+) starting at offset (?P<state>first|last) offset$",
        plain={"state": {"first": "earliest", "last": "latest"}},
        versions=_SEGMENTIO,
        source="reader.go run, toHumanOffset",
    ),
    _line(
        pattern_id="segmentio.out_of_range",
        kind=Kind.CLIENT_OUT_OF_RANGE,
        regex=r"^the kafka reader is reading before the first offset for partition (?P<partition>\d+) of (?P<topic>[\w.-]+), "
        r"skipping from offset (?P<log_offset>\d+) to (?P<detail>\d+) \(\d+ messages\)$",
        versions=_SEGMENTIO,
        source="reader.go run",
    ),
    _line(
        pattern_id="segmentio.beyond_end",
        kind=Kind.CLIENT_OUT_OF_RANGE,
        regex=r"^the kafka reader is reading passed the last offset for partition (?P<partition>\d+) of (?P<topic>[\w.-]+) "
        r"at offset (?P<log_offset>\d+)$",
        versions=_SEGMENTIO,
        source="reader.go run",
    ),
    _line(
        pattern_id="segmentio.leaving",
        kind=Kind.CLIENT_LEAVING,
        regex=rf"^Leaving group {_GROUP}, member {_MEMBER}$",
        versions=_SEGMENTIO,
        source="consumergroup.go leaveGroup",
    ),
    _line(
        pattern_id="segmentio.disconnected",
        kind=Kind.CLIENT_DISCONNECTED,
        regex=r"^(?:the kafka reader got an unknown error reading|error initializing the kafka reader for)"
        r" partition \d+ of \S{1,249}?(?: at offset -?\d+)?: (?P<detail>(?:read|write|failed to dial).*)$",
        versions=_SEGMENTIO,
        source="reader.go run",
    ),
    _line(
        pattern_id="segmentio.connect_failed",
        kind=Kind.CLIENT_DISCONNECTED,
        regex=r"^(?P<detail>failed to dial: failed to open connection to .*)$",
        versions=_SEGMENTIO,
        source="reader.go run",
    ),
    _line(
        pattern_id="segmentio.coordinator_lost",
        kind=Kind.CLIENT_COORDINATOR_LOST,
        regex=rf"^Unable to establish connection to consumer group coordinator for group {_GROUP}: (?P<reason>.*)$",
        versions=_SEGMENTIO,
        source="consumergroup.go nextGeneration",
    ),
)
