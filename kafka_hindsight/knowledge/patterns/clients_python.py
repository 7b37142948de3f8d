"""Consumer groups in the logs of aiokafka (0.7-0.14) and kafka-python (2.0-3.0), through Python's logging."""

from functools import partial

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.knowledge.layouts import PROGRAM
from kafka_hindsight.knowledge.model import Pattern
from kafka_hindsight.knowledge.patterns.fragments import MEMBER

_GROUP = "(?P<group_id>.{1,255}?)"
_PARTITIONS = r"(?:(?:frozen)?set\(\)|(?:frozenset\()?\{(?P<detail>[^}]*)\}\)?)"
"""A set of partitions as Python prints it; the detail is missing where it is empty."""

_PARTITION = r"TopicPartition\(topic='(?P<topic>[^']{1,249})', partition=(?P<partition>\d+)\)"
_COMMITTED = {
    r"TopicPartition\(topic='([^']+)', partition=(\d+)\)": r"\1-\2",
    r" (?:at|with) offset (?:OffsetAndMetadata\(offset=)?(\d+)(?:, .*\))?": r"=\1",
}
"""An offset that was to be committed, and how `detail` shows it."""

_AIO = ("aiokafka.consumer.group_coordinator",)
_KP = ("kafka.coordinator", PROGRAM)
_KP_CONSUMER = ("kafka.coordinator.consumer", PROGRAM)
_AIO_FETCHER = ("aiokafka.consumer.fetcher",)
_KP_FETCHER = ("kafka.consumer.fetcher", PROGRAM)
_AIO_FETCHER_SOURCE = "aiokafka/consumer/fetcher.py"
_KP_FETCHER_SOURCE = "kafka/consumer/fetcher.py"
_KP_HEARTBEAT = ("kafka.coordinator.heartbeat", "kafka.coordinator", PROGRAM)
_AIO_SOURCE = "aiokafka/consumer/group_coordinator.py"
_KP_SOURCE = "kafka/coordinator/base.py"
_KP_CONSUMER_SOURCE = "kafka/coordinator/consumer.py"
_AIO_VERSIONS, _KP_VERSIONS, _KP_2, _KP_3 = (
    "aiokafka 0.7-0.14",
    "kafka-python 2.0-3.0",
    "kafka-python 2.0",
    "kafka-python 3.0",
)
_REBALANCING = {"reason": "group is already rebalancing"}
"""The reason in the words that the Java client has for it."""
_line_of_aio = partial(Pattern, loggers=_AIO, versions=_AIO_VERSIONS)
_line_of_kp = partial(Pattern, loggers=_KP, versions=_KP_VERSIONS)
_line_of_kp_consumer = partial(Pattern, loggers=_KP_CONSUMER, versions=_KP_VERSIONS)
_line_of_kp_heartbeat = partial(Pattern, loggers=_KP_HEARTBEAT, versions=_KP_VERSIONS)


PATTERNS = (
    _line_of_aio(
        pattern_id="aiokafka.started",
        kind=Kind.CLIENT_STARTED,
        loggers=("aiokafka.consumer.subscription_state",),
        regex=r"^Updating subscribed topics to: frozenset\(\{(?P<detail>.*)\}\)$",
        source="aiokafka/consumer/subscription_state.py subscribe",
    ),
    _line_of_kp(
        pattern_id="kafka_python.started",
        kind=Kind.CLIENT_STARTED,
        loggers=("kafka.consumer.subscription_state",),
        regex=r"^Updating subscribed topics to: \((?P<detail>.*)\)$",
        source="kafka/consumer/subscription_state.py change_subscription",
    ),
    _line_of_aio(
        pattern_id="aiokafka.joining",
        kind=Kind.CLIENT_JOINING,
        regex=r"^\(Re-\)joining group (?P<group_id>.+)$",
        source=f"{_AIO_SOURCE} perform_group_join",
    ),
    _line_of_aio(
        pattern_id="aiokafka.joined",
        kind=Kind.CLIENT_JOINED,
        regex=rf"^Joined group '{_GROUP}' \(generation (?P<generation>\d+)\) with member_id (?P<member_id>{MEMBER})$",
        source=f"{_AIO_SOURCE} perform_group_join",
    ),
    _line_of_aio(
        pattern_id="aiokafka.synced",
        kind=Kind.CLIENT_SYNCED,
        regex=r"^Successfully synced group (?P<group_id>.+) with generation (?P<generation>\d+)$",
        source=f"{_AIO_SOURCE} _send_sync_group_request",
    ),
    _line_of_aio(
        pattern_id="aiokafka.assigned",
        kind=Kind.CLIENT_ASSIGNED,
        regex=rf"^Setting newly assigned partitions {_PARTITIONS} for group (?P<group_id>.+)$",
        source=f"{_AIO_SOURCE} _on_join_complete",
    ),
    _line_of_aio(
        pattern_id="aiokafka.revoked",
        kind=Kind.CLIENT_REVOKED,
        regex=rf"^Revoking previously assigned partitions {_PARTITIONS} for group (?P<group_id>.+)$",
        source=f"{_AIO_SOURCE} _on_join_prepare",
    ),
    _line_of_aio(
        pattern_id="aiokafka.join_requested_by_heartbeat",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=r"^Heartbeat failed for group (?P<group_id>.+) because it is rebalancing$",
        source=f"{_AIO_SOURCE} _do_heartbeat",
        constants=_REBALANCING,
    ),
    _line_of_aio(
        pattern_id="aiokafka.join_requested_over_metadata",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=r"^(?P<reason>Metadata for topic has changed from \{[^}]*\} to \{[^}]*\})\. ?$",
        source=f"{_AIO_SOURCE} _handle_metadata_update",
    ),
    _line_of_aio(
        pattern_id="aiokafka.heartbeat_of_stranger",
        kind=Kind.CLIENT_HEARTBEAT_REFUSED,
        regex=r"^Heartbeat failed: local member_id was not recognized; resetting and re-joining group$",
        source=f"{_AIO_SOURCE} _do_heartbeat",
        constants={"error": "UNKNOWN_MEMBER_ID"},
    ),
    _line_of_aio(
        pattern_id="aiokafka.session_timeout",
        kind=Kind.CLIENT_SESSION_TIMEOUT,
        regex=r"^Heartbeat session expired - marking coordinator dead$",
        source=f"{_AIO_SOURCE} _heartbeat_routine",
    ),
    _line_of_aio(
        pattern_id="aiokafka.coordinator_lost",
        kind=Kind.CLIENT_COORDINATOR_LOST,
        regex=r"^Marking the coordinator dead \(node (?P<node>\d+)\) ?for group (?P<group_id>.+)\.$",
        source=f"{_AIO_SOURCE} coordinator_dead",
    ),
    _line_of_aio(
        pattern_id="aiokafka.coordinator_found",
        kind=Kind.CLIENT_COORDINATOR_FOUND,
        regex=r"^Discovered coordinator (?P<node>\d+) for group (?P<group_id>.+)$",
        source=f"{_AIO_SOURCE} ensure_coordinator_known",
    ),
    _line_of_aio(
        # Its last line, at a close and where it did not poll in time: what follows shows which.
        pattern_id="aiokafka.left",
        kind=Kind.CLIENT_LEFT,
        regex=r"^LeaveGroup request succeeded$",
        source=f"{_AIO_SOURCE} _maybe_leave_group",
    ),
    _line_of_aio(
        pattern_id="aiokafka.commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        regex=rf"^OffsetCommit failed for group {_GROUP} due to group error \((?P<error>.+)\), will rejoin$",
        source=f"{_AIO_SOURCE} _do_commit_offsets",
    ),
    _line_of_aio(
        pattern_id="aiokafka.partition_commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        regex=rf"^OffsetCommit failed for group {_GROUP} on partition (?P<detail>{_PARTITION} with offset "
        r"OffsetAndMetadata\(offset=(?P<log_offset>\d+), .*?\)): (?P<error>.+)$",
        plain={"detail": _COMMITTED},
        source=f"{_AIO_SOURCE} _do_commit_offsets",
    ),
    _line_of_aio(
        pattern_id="aiokafka.out_of_range",
        kind=Kind.CLIENT_OUT_OF_RANGE,
        loggers=_AIO_FETCHER,
        regex=rf"^Fetch offset (?P<log_offset>\d+) is out of range for partition {_PARTITION}, resetting offset$",
        source=f"{_AIO_FETCHER_SOURCE} _proc_fetch_request",
    ),
    _line_of_kp(
        pattern_id="kafka_python.joining",
        kind=Kind.CLIENT_JOINING,
        regex=r"^\(Re-\)joining group (?P<group_id>.+)$",
        source=f"{_KP_SOURCE} _send_join_group_request",
    ),
    _line_of_kp(
        pattern_id="kafka_python.joined",
        kind=Kind.CLIENT_JOINED,
        regex=rf"^Successfully joined group {_GROUP} <Generation (?P<generation>\d+) \(member_id: (?P<member_id>{MEMBER}), protocol: (?P<assignor>[^)]*)\)>$",
        versions=_KP_3,
        source=f"{_KP_SOURCE} _handle_join_group_response",
    ),
    _line_of_kp(
        pattern_id="kafka_python.joined_and_synced",
        kind=Kind.CLIENT_SYNCED,
        regex=r"^Successfully joined group (?P<group_id>.+) with generation (?P<generation>\d+)$",
        versions=_KP_2,
        source=f"{_KP_SOURCE} ensure_active_group",
    ),
    _line_of_kp_consumer(
        pattern_id="kafka_python.assigned",
        kind=Kind.CLIENT_ASSIGNED,
        regex=rf"^Setting newly assigned partitions {_PARTITIONS} for group (?P<group_id>.+)$",
        source=f"{_KP_CONSUMER_SOURCE} _on_join_complete",
    ),
    _line_of_kp_consumer(
        pattern_id="kafka_python.revoked",
        kind=Kind.CLIENT_REVOKED,
        regex=rf"^Revoking previously assigned partitions {_PARTITIONS} for group (?P<group_id>.+)(?<! on close)$",
        source=f"{_KP_CONSUMER_SOURCE} _on_join_prepare",
    ),
    _line_of_kp_consumer(
        pattern_id="kafka_python.closed",
        kind=Kind.CLIENT_CLOSED,
        regex=rf"^Revoking previously assigned partitions {_PARTITIONS} for group (?P<group_id>.+) on close$",
        versions=_KP_3,
        source=f"{_KP_CONSUMER_SOURCE} close",
    ),
    _line_of_kp_consumer(
        pattern_id="kafka_python.lost",
        kind=Kind.CLIENT_LOST,
        regex=rf"^Group {_GROUP} lost membership; forcibly revoking {_PARTITIONS}$",
        versions=_KP_3,
        source=f"{_KP_CONSUMER_SOURCE} _on_join_prepare",
    ),
    _line_of_kp_heartbeat(
        pattern_id="kafka_python.join_requested_by_heartbeat",
        kind=Kind.CLIENT_JOIN_REQUESTED,
        regex=rf"^(?:Heartbeat failed for group |Group ){_GROUP}(?: because it is rebalancing| is rebalancing; rejoining\.)$",
        source=f"{_KP_SOURCE} _handle_heartbeat_response",
        constants=_REBALANCING,
    ),
    _line_of_kp_heartbeat(
        pattern_id="kafka_python.heartbeat_of_stranger",
        kind=Kind.CLIENT_HEARTBEAT_REFUSED,
        regex=r"^Heartbeat: local member_id was not recognized; this consumer needs to re-join$",
        source=f"{_KP_SOURCE} _handle_heartbeat_response",
        constants={"error": "UNKNOWN_MEMBER_ID"},
    ),
    _line_of_kp_heartbeat(
        pattern_id="kafka_python.session_timeout",
        kind=Kind.CLIENT_SESSION_TIMEOUT,
        regex=r"^Heartbeat session expired, marking coordinator dead$",
        source=f"{_KP_SOURCE} HeartbeatThread",
    ),
    _line_of_kp_heartbeat(
        pattern_id="kafka_python.poll_expired",
        kind=Kind.CLIENT_POLL_EXPIRED,
        regex=r"^(?:Heartbeat poll expired, leaving group|Consumer poll timeout has expired\. This means .*)$",
        source=f"{_KP_SOURCE} HeartbeatThread",
    ),
    _line_of_kp(
        # At a close and where it did not poll in time.
        pattern_id="kafka_python.leaving",
        kind=Kind.CLIENT_LEFT,
        regex=rf"^Leaving consumer group {_GROUP} \(member (?P<member_id>{MEMBER})\)\.$",
        versions=_KP_3,
        source=f"{_KP_SOURCE} maybe_leave_group",
    ),
    _line_of_kp(
        pattern_id="kafka_python.leaving_of_old",
        kind=Kind.CLIENT_LEFT,
        regex=r"^Leaving consumer group \((?P<group_id>.+)\)\.$",
        versions=_KP_2,
        source=f"{_KP_SOURCE} maybe_leave_group",
    ),
    _line_of_kp(
        pattern_id="kafka_python.coordinator_lost",
        kind=Kind.CLIENT_COORDINATOR_LOST,
        regex=rf"^Marking the coordinator dead \(node coordinator-(?P<node>\d+)\) for group {_GROUP}: (?P<reason>.*)\.$",
        source=f"{_KP_SOURCE} coordinator_dead",
    ),
    _line_of_kp(
        pattern_id="kafka_python.coordinator_found",
        kind=Kind.CLIENT_COORDINATOR_FOUND,
        regex=r"^Discovered coordinator coordinator-(?P<node>\d+) for group (?P<group_id>.+)$",
        source=f"{_KP_SOURCE} _handle_find_coordinator_response",
    ),
    _line_of_kp_consumer(
        pattern_id="kafka_python.commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        regex=rf"^(?:Auto offset commit failed for group |OffsetCommit for group ){_GROUP}(?: failed)?: (?P<error>.+)$",
        source=f"{_KP_CONSUMER_SOURCE} _handle_offset_commit_response",
    ),
    _line_of_kp_consumer(
        pattern_id="kafka_python.partition_commit_failed",
        kind=Kind.CLIENT_COMMIT_FAILED,
        regex=rf"^Group {_GROUP} failed to commit partition (?P<detail>{_PARTITION} at offset (?:OffsetAndMetadata\(offset=)?(?P<log_offset>\d+)(?:, .*?\))?): (?P<error>.+)$",
        plain={"detail": _COMMITTED},
        source=f"{_KP_CONSUMER_SOURCE} _handle_offset_commit_response",
    ),
    _line_of_kp(
        pattern_id="kafka_python.out_of_range",
        kind=Kind.CLIENT_OUT_OF_RANGE,
        loggers=_KP_FETCHER,
        regex=rf"^Fetch offset (?P<log_offset>\d+) is out of range for topic-partition {_PARTITION}$",
        source=f"{_KP_FETCHER_SOURCE} _parse_fetched_data",
    ),
    _line_of_kp(
        pattern_id="kafka_python.position_reset",
        kind=Kind.CLIENT_POSITION_RESET,
        loggers=_KP_FETCHER,
        regex=rf"^Resetting offset for partition {_PARTITION} to offset (?P<log_offset>\d+)\.$",
        versions=_KP_3,
        source=f"{_KP_FETCHER_SOURCE} _reset_offset_if_needed",
    ),
    _line_of_kp(
        pattern_id="kafka_python.log_diverged",
        kind=Kind.CLIENT_LOG_DIVERGED,
        loggers=_KP_FETCHER,
        regex=rf"^Truncation detected for {_PARTITION} at position (?P<log_offset>\d+)"
        r"(?:(?:; seeking to first diverging offset | \(first diverging offset is )(?P<detail>\d+)\)?| \(broker returned UNDEFINED [^()]*\))"
        r"(?:[;,] .*)?$",
        versions=_KP_3,
        source=f"{_KP_FETCHER_SOURCE} _handle_offsets_for_leader_epoch_response",
    ),
    _line_of_kp(
        pattern_id="kafka_python.fetch_denied",
        kind=Kind.CLIENT_ACCESS_DENIED,
        loggers=(*_AIO_FETCHER, *_KP_FETCHER),
        versions=f"{_AIO_VERSIONS}, {_KP_VERSIONS}",
        regex=r"^(?P<error>Not authorized to read from topic \S+)\.$",
        source=f"{_AIO_FETCHER_SOURCE} _proc_fetch_request; {_KP_FETCHER_SOURCE} _parse_fetched_data",
    ),
)
