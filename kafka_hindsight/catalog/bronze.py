"""Bronze: what was read, kept as it was read."""

from kafka_hindsight.catalog import bronze_metadata
from kafka_hindsight.catalog.codes import LINES, GroupRecordType, MemberState
from kafka_hindsight.catalog.model import Check, Table, optional, required

_CLUSTER = required("cluster", "STRING", "The cluster that was read, by its name in this lake")
_SNAPSHOT = (
    _CLUSTER,
    required("snapshot_id", "STRING", "The reading this row belongs to: hash of cluster and instant"),
    required("snapshot_at", "TIMESTAMP", "When the cluster was read"),
)

LOG_RECORDS = Table(
    layer="bronze",
    name="log_records",
    grain="one log record: a head that a layout recognises and everything up to the next head",
    key=("line_id",),
    time_column="happened_at",
    columns=(
        required("line_id", "STRING", "Hash of cluster, source, the whole record and its ordinal among identical ones"),
        _CLUSTER,
        required("origin", "STRING", "Who wrote it", codes=LINES),
        required(
            "source", "STRING", "Folder and log as seen from the LOGS root, without rotation suffix or compression"
        ),
        optional("happened_at", "TIMESTAMP", "The instant in the record's head; null before a file's first head"),
        optional("layout", "STRING", "The layout whose head was recognised; null before a file's first head"),
        required(
            "order", "INT", "Rank among the records of this source with the same happened_at, by place in the file"
        ),
        required("line_count", "INT", "Physical lines of the record", unit="lines"),
        required("text", "STRING", "The whole record; bytes that are not UTF-8 are replaced"),
        optional("raw", "BINARY", "The record's bytes, kept where they are not valid UTF-8"),
        required("run_collected_at", "TIMESTAMP", "When a run collected it first"),
    ),
    checks=(Check("line_count_positive", "line_count >= 1", "a record has at least one physical line"),),
)

LOG_FILES = Table(
    layer="bronze",
    name="log_files",
    grain="one log file as it was read to its end: a file that is known here is not read again",
    key=("cluster", "origin", "source", "zone", "fingerprint", "read_as"),
    columns=(
        _CLUSTER,
        required("origin", "STRING", "Who wrote it", codes=LINES),
        required("source", "STRING", "The log it belongs to"),
        required("file", "STRING", "Its name as seen from the LOGS root when it was read"),
        required("zone", "STRING", "The zone in which its clock was read"),
        required("size_bytes", "BIGINT", "Its size", unit="bytes"),
        required("modified_at", "TIMESTAMP", "When it was written last"),
        required("fingerprint", "STRING", "Hash of its size and of its first and last 4 KiB, whatever its name"),
        required(
            "read_as", "STRING", "Hash of what is known of heads and cluster ids; a file with another one is read again"
        ),
        required("line_count", "INT", "Physical lines", unit="lines"),
        required("undated_count", "INT", "Records without an instant", unit="records"),
        optional("first_at", "TIMESTAMP", "The first instant of its records; null where none has one"),
        optional("last_at", "TIMESTAMP", "The last instant of its records; null where none has one"),
        required("clock_set_back_ms", "BIGINT", "How far its clock goes back at most", unit="ms"),
        required("is_kafka_log", "BOOLEAN", "Whether a line of it is from a logger of Kafka's own"),
        optional("damage", "STRING", "Why it could not be unpacked to its end; null where it could"),
        required("cluster_ids", "ARRAY<STRING>", "The ids of clusters that its lines name"),
        required("run_collected_at", "TIMESTAMP", "When a run read it first"),
    ),
)

BROKER_SNAPSHOTS = Table(
    layer="bronze",
    name="broker_snapshots",
    grain="one broker in one reading of the cluster",
    key=("cluster", "snapshot_at", "broker"),
    time_column="snapshot_at",
    columns=(
        *_SNAPSHOT,
        required("broker", "INT", "Broker id"),
        optional("host", "STRING", "Advertised host"),
        optional("port", "INT", "Advertised port"),
        optional("rack", "STRING", "Rack of the broker"),
        optional("is_controller", "BOOLEAN", "Whether it was named as the controller; null where none was named"),
    ),
)

PARTITION_SNAPSHOTS = Table(
    layer="bronze",
    name="partition_snapshots",
    grain="one partition in one reading of the cluster",
    key=("cluster", "snapshot_at", "topic", "partition"),
    time_column="snapshot_at",
    columns=(
        *_SNAPSHOT,
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        required("is_internal", "BOOLEAN", "Whether Kafka itself keeps the topic"),
        optional("leader", "INT", "Broker that leads; null where none does"),
        optional("leader_epoch", "INT", "Leader epoch; null where not reported"),
        optional("replicas", "ARRAY<INT>", "Assigned brokers, the preferred leader first"),
        optional("isr", "ARRAY<INT>", "Brokers in sync"),
        optional("preferred_leader", "INT", "The first replica"),
        optional("end_offset", "BIGINT", "Log end offset; null where not reported", unit="records"),
    ),
)

GROUP_SNAPSHOTS = Table(
    layer="bronze",
    name="group_snapshots",
    grain="one group in one reading of the cluster",
    key=("cluster", "snapshot_at", "group_id"),
    time_column="snapshot_at",
    columns=(
        *_SNAPSHOT,
        required("group_id", "STRING", "Consumer group"),
        optional("state", "STRING", "State of the group, lower case; null where not reported"),
        optional("type", "STRING", "classic or consumer, lower case; null where not reported"),
        optional("assignor", "STRING", "Assignor in use; null where not reported"),
        optional("coordinator", "INT", "Broker that coordinates the group"),
        optional("member_count", "INT", "Members reported; null where the group did not answer"),
        optional("error", "STRING", "Why the group did not answer; null where it did"),
    ),
)

MEMBER_SNAPSHOTS = Table(
    layer="bronze",
    name="member_snapshots",
    grain="one member in one reading of the cluster",
    key=("cluster", "snapshot_at", "group_id", "member_id"),
    time_column="snapshot_at",
    columns=(
        *_SNAPSHOT,
        required("group_id", "STRING", "Consumer group"),
        required("member_id", "STRING", "Member id"),
        optional("client_id", "STRING", "Client id"),
        optional("host", "STRING", "Host the member speaks from"),
        optional("instance_id", "STRING", "group.instance.id of a static member"),
        optional(
            "assignment",
            "ARRAY<STRUCT<topic: STRING, partition: INT>>",
            "Partitions the member owns; null where not reported",
        ),
    ),
)

OFFSET_SNAPSHOTS = Table(
    layer="bronze",
    name="offset_snapshots",
    grain="one committed offset in one reading of the cluster",
    key=("cluster", "snapshot_at", "group_id", "topic", "partition"),
    time_column="snapshot_at",
    columns=(
        *_SNAPSHOT,
        required("group_id", "STRING", "Consumer group"),
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        optional("committed_offset", "BIGINT", "Committed offset; null where none is known", unit="records"),
        optional("end_offset", "BIGINT", "Log end offset at the same reading", unit="records"),
        optional("lag", "BIGINT", "End offset less committed offset, never below 0", unit="records"),
    ),
)

CONFIG_SNAPSHOTS = Table(
    layer="bronze",
    name="config_snapshots",
    grain="one configuration value in one reading of the cluster",
    key=("cluster", "snapshot_at", "resource_type", "resource", "name"),
    time_column="snapshot_at",
    columns=(
        *_SNAPSHOT,
        required("resource_type", "STRING", "topic, broker or group, lower case"),
        required("resource", "STRING", "Name of the resource"),
        required("name", "STRING", "Name of the setting"),
        optional("value", "STRING", "Its value; null where the broker calls it sensitive"),
        optional("value_source", "STRING", "Where the value comes from, as the broker says it"),
    ),
)

_OWNED_BY_ID = "ARRAY<STRUCT<topic_id: STRING, topic: STRING, partition: INT>>"

GROUP_RECORDS = Table(
    layer="bronze",
    name="group_records",
    grain="one record of __consumer_offsets about a group or its members",
    key=("cluster", "offsets_partition", "record_offset", "written_at"),
    time_column="written_at",
    columns=(
        _CLUSTER,
        required("offsets_partition", "INT", "Partition of __consumer_offsets"),
        required("record_offset", "BIGINT", "Offset of the record in it"),
        required("written_at", "TIMESTAMP", "When the coordinator wrote it, by its clock"),
        required("record_type", "STRING", "What the record is, by Kafka's name for it", codes=GroupRecordType),
        required("group_id", "STRING", "Consumer group"),
        optional("member_id", "STRING", "Member that a KIP-848 record speaks of"),
        required("is_tombstone", "BOOLEAN", "Whether the record deletes what was written under its key before"),
        optional("generation", "INT", "Generation; under KIP-848 the epoch of the group, or of its target assignment"),
        optional("protocol_type", "STRING", "consumer, connect or what else the group is for"),
        optional("protocol", "STRING", "Assignor that the generation agreed on; null where the group is empty"),
        optional("leader", "STRING", "Member that leads the generation"),
        optional("state_at", "TIMESTAMP", "When the group entered its state: the end of the join phase"),
        optional(
            "members",
            "ARRAY<STRUCT<member_id: STRING, instance_id: STRING, client_id: STRING, host: STRING,"
            " rebalance_timeout_ms: BIGINT, session_timeout_ms: BIGINT, subscription: ARRAY<STRING>,"
            " assignment: ARRAY<STRUCT<topic: STRING, partition: INT>>>>",
            "Members of the generation; subscription and assignment are null where their bytes are not the consumer's",
        ),
        optional("metadata_hash", "BIGINT", "Hash of the subscribed topics; from 4.1 on"),
        optional("member_epoch", "INT", "Epoch that the member has reached"),
        optional("previous_member_epoch", "INT", "Epoch that it had before"),
        optional("member_state", "STRING", "How far it is with its epoch", codes=MemberState),
        optional("instance_id", "STRING", "group.instance.id of the member"),
        optional("client_id", "STRING", "Client id of the member"),
        optional("host", "STRING", "Host the member speaks from"),
        optional("rack", "STRING", "Rack of the member"),
        optional("rebalance_timeout_ms", "BIGINT", "Rebalance timeout of the member", unit="ms"),
        optional(
            "session_timeout_ms",
            "BIGINT",
            "Session timeout of a classic member in a KIP-848 group; others have the broker's",
            unit="ms",
        ),
        optional(
            "subscription", "ARRAY<STRING>", "Topics that the member subscribes to, or that the expression matches"
        ),
        optional("subscription_pattern", "STRING", "Regular expression of the subscription"),
        optional("assignor", "STRING", "Assignor of the server that the member asks for"),
        optional("assignment", _OWNED_BY_ID, "Partitions of the member; topic is null where the id is unknown"),
        optional("pending_revocation", _OWNED_BY_ID, "Partitions that the member has still to give back"),
        required("run_landed_as", "STRING", "The file it landed in, which is not read again"),
    ),
)

SNAPSHOT_READINGS = Table(
    layer="bronze",
    name="snapshot_readings",
    grain="one reading of the cluster, answered or not",
    key=("cluster", "snapshot_at"),
    time_column="snapshot_at",
    columns=(
        *_SNAPSHOT,
        optional("cluster_id", "STRING", "The cluster id that the brokers reported"),
        optional("controller", "INT", "The broker named as controller"),
        optional("missing", "ARRAY<STRING>", "Parts that did not answer, or not wholly; null where all did"),
        optional("reasons", "ARRAY<STRUCT<part: STRING, reason: STRING>>", "Why, as far as the reading says"),
        optional("error", "STRING", "Why the whole reading failed; null where it did not"),
        optional(
            "run_landed_as", "STRING", "The file it landed in, which is not read again; null where it was brought"
        ),
    ),
)

TABLES = (
    LOG_RECORDS,
    LOG_FILES,
    SNAPSHOT_READINGS,
    BROKER_SNAPSHOTS,
    PARTITION_SNAPSHOTS,
    GROUP_SNAPSHOTS,
    MEMBER_SNAPSHOTS,
    OFFSET_SNAPSHOTS,
    CONFIG_SNAPSHOTS,
    GROUP_RECORDS,
    *bronze_metadata.TABLES,
)
