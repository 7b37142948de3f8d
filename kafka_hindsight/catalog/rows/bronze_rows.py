"""Bronze: what was read, kept as it was read."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import GroupRecordType, MemberState, MetadataRecordType
from kafka_hindsight.catalog.row import Earlier, Long, Millis, Records, Row, Unit, table
from kafka_hindsight.catalog.rows.columns import ClusterRead, LineOrigin, ReadingAt, ReadingId
from kafka_hindsight.catalog.rows.structs import (
    ClockStep,
    ClusterNaming,
    MissingPart,
    OwnedPartition,
    RecordCount,
    RecordedMember,
    RepeatedHour,
    TopicPartition,
)
from kafka_hindsight.catalog.table_model import Check


@table("bronze.log_records", key=("line_id",), time_column="happened_at")
class LogRecord(Row):
    """One log record: a head that a layout recognises and everything up to the next head."""

    line_id: Annotated[str, "Hash of cluster, source, the whole record and its ordinal among identical ones"]
    cluster: ClusterRead
    origin: LineOrigin
    source: Annotated[str, "Folder and log as seen from the LOGS root, without rotation suffix or compression"]
    happened_at: Annotated[
        datetime | None,
        "The instant in the record's head, or of a line before it where that is damaged or the clock went back; null"
        " before a file's first head",
    ] = None
    layout: Annotated[str | None, "The layout whose head was recognised; null before a file's first head"] = None
    order: Annotated[int, "Rank among the records of this source with the same happened_at, by place in the file"]
    line_count: Annotated[int, "Physical lines of the record", Unit("lines")]
    text: Annotated[str, "The whole record; bytes that are not UTF-8 are replaced"]
    raw: Annotated[bytes | None, "The record's bytes, kept where they are not valid UTF-8"] = None
    run_collected_at: Annotated[datetime, "When a run collected it first"]

    CHECKS = (Check("line_count_positive", "line_count >= 1", "a record has at least one physical line"),)


@table("bronze.log_files", key=("cluster", "origin", "source", "zone", "fingerprint", "read_as"))
class LogFile(Row):
    """One log file as it was read to its end: a file that is known here is not read again."""

    cluster: ClusterRead
    origin: LineOrigin
    source: Annotated[str, "The log it belongs to"]
    file: Annotated[str, "Its name as seen from the LOGS root when it was read"]
    zone: Annotated[str, "The zone in which its clock was read"]
    size_bytes: Annotated[Long, "Its size", Unit("bytes")]
    modified_at: Annotated[datetime, "When it was written last"]
    fingerprint: Annotated[str, "Hash of its size and of its first and last 4 KiB, whatever its name"]
    read_as: Annotated[str, "Hash of what is known of heads and cluster ids; a file with another one is read again"]
    line_count: Annotated[int, "Physical lines", Unit("lines")]
    undated_count: Annotated[int, "Records without an instant", Unit("records")]
    first_at: Annotated[datetime | None, "The first instant of its records; null where none has one"] = None
    last_at: Annotated[datetime | None, "The last instant of its records; null where none has one"] = None
    clock_steps: Annotated[list[ClockStep], "The steps of its clock, in the order of the file; a late line is not one"]
    repeated_hours: Annotated[
        list[RepeatedHour],
        "The hours of its local time that come twice, as summer time ends in its zone",
        Earlier(()),
    ]
    is_kafka_log: Annotated[bool, "Whether a line of it is from a logger of Kafka's own"]
    is_broker_log: Annotated[bool, "Whether a line of it is from a logger that only brokers have"]
    damage: Annotated[str | None, "Why it could not be unpacked to its end; null where it could"] = None
    clusters: Annotated[list[ClusterNaming], "The ids of clusters that its lines name"]
    run_collected_at: Annotated[datetime, "When a run read it first"]


@table("bronze.snapshot_readings", key=("cluster", "snapshot_at"), time_column="snapshot_at")
class SnapshotReading(Row):
    """One reading of the cluster, answered or not."""

    cluster: ClusterRead
    snapshot_id: ReadingId
    snapshot_at: ReadingAt
    cluster_id: Annotated[str | None, "The cluster id that the brokers reported"] = None
    controller: Annotated[int | None, "The broker named as controller"] = None
    missing: Annotated[list[str] | None, "Parts that did not answer, or not wholly; null where all did"] = None
    reasons: Annotated[list[MissingPart] | None, "Why, as far as the reading says"] = None
    error: Annotated[str | None, "Why the whole reading failed; null where it did not"] = None
    run_landed_as: Annotated[
        str | None,
        "The file it landed in, which is not read again; null where it was brought",
    ] = None


@table("bronze.broker_snapshots", key=("cluster", "snapshot_at", "broker"), time_column="snapshot_at")
class BrokerSnapshot(Row):
    """One broker in one reading of the cluster."""

    cluster: ClusterRead
    snapshot_id: ReadingId
    snapshot_at: ReadingAt
    broker: Annotated[int, "Broker id"]
    host: Annotated[str | None, "Advertised host"] = None
    port: Annotated[int | None, "Advertised port"] = None
    rack: Annotated[str | None, "Rack of the broker"] = None
    is_controller: Annotated[bool | None, "Whether it was named as the controller; null where none was named"] = None


@table("bronze.partition_snapshots", key=("cluster", "snapshot_at", "topic", "partition"), time_column="snapshot_at")
class PartitionSnapshot(Row):
    """One partition in one reading of the cluster."""

    cluster: ClusterRead
    snapshot_id: ReadingId
    snapshot_at: ReadingAt
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    is_internal: Annotated[bool, "Whether Kafka itself keeps the topic"]
    leader: Annotated[int | None, "Broker that leads; null where none does"] = None
    leader_epoch: Annotated[int | None, "Leader epoch; null where not reported"] = None
    replicas: Annotated[list[int] | None, "Assigned brokers, the preferred leader first"] = None
    isr: Annotated[list[int] | None, "Brokers in sync"] = None
    preferred_leader: Annotated[int | None, "The first replica"] = None
    end_offset: Annotated[Records | None, "Log end offset; null where not reported"] = None


@table("bronze.group_snapshots", key=("cluster", "snapshot_at", "group_id"), time_column="snapshot_at")
class GroupSnapshot(Row):
    """One group in one reading of the cluster."""

    cluster: ClusterRead
    snapshot_id: ReadingId
    snapshot_at: ReadingAt
    group_id: Annotated[str, "Consumer group"]
    state: Annotated[str | None, "State of the group, lower case; null where not reported"] = None
    type: Annotated[str | None, "classic or consumer, lower case; null where not reported"] = None
    assignor: Annotated[str | None, "Assignor in use; null where not reported"] = None
    coordinator: Annotated[int | None, "Broker that coordinates the group"] = None
    member_count: Annotated[int | None, "Members reported; null where the group did not answer"] = None
    error: Annotated[str | None, "Why the group did not answer; null where it did"] = None


@table("bronze.member_snapshots", key=("cluster", "snapshot_at", "group_id", "member_id"), time_column="snapshot_at")
class MemberSnapshot(Row):
    """One member in one reading of the cluster."""

    cluster: ClusterRead
    snapshot_id: ReadingId
    snapshot_at: ReadingAt
    group_id: Annotated[str, "Consumer group"]
    member_id: Annotated[str, "Member id"]
    client_id: Annotated[str | None, "Client id"] = None
    host: Annotated[str | None, "Host the member speaks from"] = None
    instance_id: Annotated[str | None, "group.instance.id of a static member"] = None
    assignment: Annotated[list[TopicPartition] | None, "Partitions the member owns; null where not reported"] = None


@table(
    "bronze.offset_snapshots",
    key=("cluster", "snapshot_at", "group_id", "topic", "partition"),
    time_column="snapshot_at",
)
class OffsetSnapshot(Row):
    """One committed offset in one reading of the cluster."""

    cluster: ClusterRead
    snapshot_id: ReadingId
    snapshot_at: ReadingAt
    group_id: Annotated[str, "Consumer group"]
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    committed_offset: Annotated[Records | None, "Committed offset; null where none is known"] = None
    end_offset: Annotated[Records | None, "Log end offset at the same reading"] = None
    lag: Annotated[Records | None, "End offset less committed offset, never below 0"] = None
    log_start: Annotated[Records | None, "Log start offset, read before the committed offset; null: not asked"] = None
    last_stable: Annotated[
        Records | None, "Last stable offset, below which no transaction is open, read before the committed offset"
    ] = None
    leader_epoch: Annotated[
        int | None, "Leader epoch of the commit; -1: the client sent none; null where it was not asked"
    ] = None


@table(
    "bronze.config_snapshots",
    key=("cluster", "snapshot_at", "resource_type", "resource", "name"),
    time_column="snapshot_at",
)
class ConfigSnapshot(Row):
    """One configuration value in one reading of the cluster."""

    cluster: ClusterRead
    snapshot_id: ReadingId
    snapshot_at: ReadingAt
    resource_type: Annotated[str, "topic, broker or group, lower case"]
    resource: Annotated[str, "Name of the resource"]
    name: Annotated[str, "Name of the setting"]
    value: Annotated[str | None, "Its value; null where the broker calls it sensitive"] = None
    value_source: Annotated[str | None, "Where the value comes from, as the broker says it"] = None


@table(
    "bronze.group_records",
    key=("cluster", "offsets_partition", "record_offset", "written_at"),
    time_column="written_at",
)
class GroupRecord(Row):
    """One record of __consumer_offsets about a group or its members."""

    cluster: ClusterRead
    offsets_partition: Annotated[int, "Partition of __consumer_offsets"]
    record_offset: Annotated[Long, "Offset of the record in it"]
    written_at: Annotated[datetime, "When the coordinator wrote it, by its clock"]
    record_type: Annotated[GroupRecordType, "What the record is, by Kafka's name for it"]
    group_id: Annotated[str, "Consumer group"]
    member_id: Annotated[str | None, "Member that a KIP-848 record speaks of"] = None
    is_tombstone: Annotated[bool, "Whether the record deletes what was written under its key before"]
    generation: Annotated[
        int | None,
        "Generation; under KIP-848 the epoch of the group, or of its target assignment",
    ] = None
    protocol_type: Annotated[str | None, "consumer, connect or what else the group is for"] = None
    protocol: Annotated[str | None, "Assignor that the generation agreed on; null where the group is empty"] = None
    leader: Annotated[str | None, "Member that leads the generation"] = None
    state_at: Annotated[datetime | None, "When the group entered its state: the end of the join phase"] = None
    members: Annotated[
        list[RecordedMember] | None,
        "Members of the generation; subscription and assignment are null where their bytes are not the consumer's",
    ] = None
    metadata_hash: Annotated[Long | None, "Hash of the subscribed topics; from 4.1 on"] = None
    member_epoch: Annotated[int | None, "Epoch that the member has reached"] = None
    previous_member_epoch: Annotated[int | None, "Epoch that it had before"] = None
    member_state: Annotated[MemberState | None, "How far it is with its epoch"] = None
    instance_id: Annotated[str | None, "group.instance.id of the member"] = None
    client_id: Annotated[str | None, "Client id of the member"] = None
    host: Annotated[str | None, "Host the member speaks from"] = None
    rack: Annotated[str | None, "Rack of the member"] = None
    rebalance_timeout_ms: Annotated[Millis | None, "Rebalance timeout of the member"] = None
    session_timeout_ms: Annotated[
        Millis | None, "Session timeout of a classic member in a KIP-848 group; others have the broker's"
    ] = None
    subscription: Annotated[
        list[str] | None,
        "Topics that the member subscribes to, or that the expression matches",
    ] = None
    subscription_pattern: Annotated[str | None, "Regular expression of the subscription"] = None
    assignor: Annotated[str | None, "Assignor of the server that the member asks for"] = None
    assignment: Annotated[
        list[OwnedPartition] | None, "Partitions of the member; topic is null where the id is unknown"
    ] = None
    pending_revocation: Annotated[
        list[OwnedPartition] | None,
        "Partitions that the member has still to give back",
    ] = None
    run_landed_as: Annotated[
        str | None, "The file it landed in, which is not read again; null where it was brought"
    ] = None


@table(
    "bronze.offset_commits",
    key=("cluster", "offsets_partition", "first_record", "first_at"),
    time_column="first_at",
)
class OffsetCommits(Row):
    """One run of commits of a group and partition within an hour, with only commits that go forward between them."""

    cluster: ClusterRead
    offsets_partition: Annotated[int, "Partition of __consumer_offsets"]
    group_id: Annotated[str, "Consumer group"]
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    first_record: Annotated[Long, "Offset of its first record in __consumer_offsets"]
    last_record: Annotated[Long, "Offset of its last record there"]
    first_at: Annotated[datetime, "When the coordinator wrote the first one, by its clock"]
    last_at: Annotated[datetime, "When it wrote the last one"]
    first_offset: Annotated[Long | None, "First committed offset; null: a tombstone, which deletes the commit"] = None
    last_offset: Annotated[Long | None, "Last committed offset; null: a tombstone"] = None
    commits: Annotated[Records, "Commits folded into it; of a log that was read in overlapping parts, at least"]
    moves: Annotated[Records, "Of these, those above the one before"]
    first_moved_at: Annotated[datetime, "When its offset changed first; first_at where it did not change"]
    moved_at: Annotated[datetime, "When its offset changed last; first_at where it did not change"]
    stood_ms: Annotated[Millis, "Longest time from its beginning, or from a change of its offset, to the next change"]
    stood_at: Annotated[datetime, "When that time began"]
    leader_epoch: Annotated[int, "Leader epoch of its commits; -1: the client sent none"]
    has_metadata: Annotated[bool, "Whether metadata came with one of them"]
    run_landed_as: Annotated[list[str], "The files it landed in, which are not read again; none where it was brought"]

    CHECKS = (
        Check("records_in_order", "first_record <= last_record", "a run ends where it begins or later"),
        Check("moves_within_commits", "moves BETWEEN 0 AND commits - 1", "the first commit of a run does not move it"),
        Check("stood_for_a_time", "stood_ms >= 0", "no time is negative"),
        Check("offsets_go_forward", "first_offset <= last_offset", "an offset that goes back begins another run"),
        Check(
            "tombstone_is_alone",
            "(first_offset IS NULL) = (last_offset IS NULL) AND (first_offset IS NOT NULL OR commits = 1)",
            "a tombstone is a run of its own",
        ),
    )


@table(
    "bronze.metadata_records",
    key=("cluster", "record_offset", "controller_epoch", "snapshot_place"),
    time_column="written_at",
)
class MetadataRecord(Row):
    """One record of __cluster_metadata about brokers, topics, partitions or controllers."""

    cluster: ClusterRead
    record_offset: Annotated[Long, "Offset of the record; of one out of a snapshot, the last it contains"]
    controller_epoch: Annotated[int, "Epoch of the controller that wrote it"]
    snapshot_place: Annotated[int, "Rank in the snapshot that it comes from, from 1 on; 0: from the log itself"]
    written_at: Annotated[datetime, "When it was written, by the controller's clock; of a snapshot, its end"]
    record_type: Annotated[MetadataRecordType, "What the record is, by Kafka's name for it"]
    topic_id: Annotated[str | None, "Topic, by its id"] = None
    topic: Annotated[str | None, "Topic, where the record names it"] = None
    partition: Annotated[int | None, "Partition"] = None
    leader: Annotated[int | None, "Leader from then on; -1 for none; null where it stays"] = None
    leader_epoch: Annotated[int | None, "Leader epoch, where the record has it: a change has not"] = None
    partition_epoch: Annotated[int | None, "Partition epoch, where the record has it: a change has not"] = None
    replicas: Annotated[list[int] | None, "Assigned brokers from then on; null where they stay"] = None
    isr: Annotated[list[int] | None, "Brokers in sync from then on; null where they stay"] = None
    removing: Annotated[list[int] | None, "Replicas that a reassignment takes away; null where they stay"] = None
    adding: Annotated[list[int] | None, "Replicas that a reassignment adds; null where they stay"] = None
    elr: Annotated[list[int] | None, "Eligible leader replicas from then on (KIP-966); null where they stay"] = None
    last_known_elr: Annotated[list[int] | None, "Those known last (KIP-966); null where they stay"] = None
    recovery_state: Annotated[int | None, "1 recovering from an unclean election, 0 not; null where it stays"] = None
    directories: Annotated[list[str] | None, "Log directory of each replica, by id; null where they stay"] = None
    broker: Annotated[int | None, "Broker that the record is about; of a leader_change, the new controller"] = None
    broker_epoch: Annotated[Long | None, "Epoch of the broker's registration"] = None
    incarnation_id: Annotated[str | None, "Process of the broker"] = None
    rack: Annotated[str | None, "Rack of the broker"] = None
    fenced: Annotated[bool | None, "Whether the broker is fenced from then on; null where that stays"] = None
    in_controlled_shutdown: Annotated[
        bool | None,
        "Whether its controlled shutdown begins; null where that stays",
    ] = None
    resource_type: Annotated[int | None, "Whose setting it is: 2 a topic's, 4 a broker's"] = None
    resource: Annotated[str | None, "Name of the resource; empty for the default of all brokers"] = None
    name: Annotated[str | None, "Setting or feature"] = None
    value: Annotated[str | None, "Its value; null where it is deleted, or may be a secret"] = None
    source: Annotated[str, "Folder that it was read from, as seen from the LOGS root"]
    text: Annotated[str, "The record in words, cut at 2,000 characters: the quotation for evidence"]


@table("bronze.metadata_files", key=("cluster", "file", "size_bytes", "read_bytes", "prefix_crc"))
class MetadataFile(Row):
    """One file of __cluster_metadata as far as it had grown when it was read: the next reading goes on from there."""

    cluster: ClusterRead
    file: Annotated[str, "Its name as seen from the LOGS root"]
    is_snapshot: Annotated[bool, "Whether it is a snapshot: the state, and not what led there"]
    size_bytes: Annotated[Long, "Its size", Unit("bytes")]
    read_bytes: Annotated[Long, "How far it was read: a batch that is not whole waits", Unit("bytes")]
    prefix_crc: Annotated[Long, "CRC-32 of what was read, by which a file that was cut or replaced is known"]
    first_offset: Annotated[Long, "Offset at which it begins"]
    next_offset: Annotated[Long, "Offset after the last one read"]
    last_epoch: Annotated[int, "Controller epoch of the last batch; -1 where there is none"]
    is_kept: Annotated[bool, "Whether its records were taken; a snapshot only where the log does not reach"]
    record_count: Annotated[Records, "Records that tell something, of this reading"]
    skipped_count: Annotated[Records, "Records of types that carry nothing of use"]
    skipped: Annotated[list[RecordCount] | None, "Of these, how many of each type"] = None
    errors: Annotated[list[str], "What could not be read, in sentences"]
    run_collected_at: Annotated[datetime, "When a run read it"]

    CHECKS = (Check("read_within_size", "read_bytes <= size_bytes", "no more was read than was there"),)
