"""Bronze of `__cluster_metadata`: what KRaft's controllers committed, and the files that it was read from."""

from kafka_hindsight.catalog.codes import MetadataRecordType
from kafka_hindsight.catalog.model import Check, Table, optional, required

_CLUSTER = required("cluster", "STRING", "The cluster that was read, by its name in this lake")

METADATA_RECORDS = Table(
    layer="bronze",
    name="metadata_records",
    grain="one record of __cluster_metadata about brokers, topics, partitions or controllers",
    key=("cluster", "record_offset", "controller_epoch", "snapshot_place"),
    time_column="written_at",
    columns=(
        _CLUSTER,
        required("record_offset", "BIGINT", "Offset of the record; of one out of a snapshot, the last it contains"),
        required("controller_epoch", "INT", "Epoch of the controller that wrote it"),
        required("snapshot_place", "INT", "Rank in the snapshot that it comes from, from 1 on; 0: from the log itself"),
        required("written_at", "TIMESTAMP", "When it was written, by the controller's clock; of a snapshot, its end"),
        required("record_type", "STRING", "What the record is, by Kafka's name for it", codes=MetadataRecordType),
        optional("topic_id", "STRING", "Topic, by its id"),
        optional("topic", "STRING", "Topic, where the record names it"),
        optional("partition", "INT", "Partition"),
        optional("leader", "INT", "Leader from then on; -1 for none; null where it stays"),
        optional("leader_epoch", "INT", "Leader epoch, where the record has it: a change has not"),
        optional("partition_epoch", "INT", "Partition epoch, where the record has it: a change has not"),
        optional("replicas", "ARRAY<INT>", "Assigned brokers from then on; null where they stay"),
        optional("isr", "ARRAY<INT>", "Brokers in sync from then on; null where they stay"),
        optional("removing", "ARRAY<INT>", "Replicas that a reassignment takes away; null where they stay"),
        optional("adding", "ARRAY<INT>", "Replicas that a reassignment adds; null where they stay"),
        optional("elr", "ARRAY<INT>", "Eligible leader replicas from then on (KIP-966); null where they stay"),
        optional("last_known_elr", "ARRAY<INT>", "Those known last (KIP-966); null where they stay"),
        optional("recovery_state", "INT", "1 recovering from an unclean election, 0 not; null where it stays"),
        optional("directories", "ARRAY<STRING>", "Log directory of each replica, by id; null where they stay"),
        optional("broker", "INT", "Broker that the record is about; of a leader_change, the new controller"),
        optional("broker_epoch", "BIGINT", "Epoch of the broker's registration"),
        optional("incarnation_id", "STRING", "Process of the broker"),
        optional("rack", "STRING", "Rack of the broker"),
        optional("fenced", "BOOLEAN", "Whether the broker is fenced from then on; null where that stays"),
        optional("in_controlled_shutdown", "BOOLEAN", "Whether its controlled shutdown begins; null where that stays"),
        optional("resource_type", "INT", "Whose setting it is: 2 a topic's, 4 a broker's"),
        optional("resource", "STRING", "Name of the resource; empty for the default of all brokers"),
        optional("name", "STRING", "Setting or feature"),
        optional("value", "STRING", "Its value; null where it is deleted, or may be a secret"),
        required("source", "STRING", "Folder that it was read from, as seen from the LOGS root"),
        required("text", "STRING", "The record in words, cut at 2,000 characters: the quotation for evidence"),
    ),
)

METADATA_FILES = Table(
    layer="bronze",
    name="metadata_files",
    grain="one file of __cluster_metadata as far as it had grown when it was read: the next reading goes on from there",
    key=("cluster", "file", "size_bytes", "read_bytes", "prefix_crc"),
    columns=(
        _CLUSTER,
        required("file", "STRING", "Its name as seen from the LOGS root"),
        required("is_snapshot", "BOOLEAN", "Whether it is a snapshot: the state, and not what led there"),
        required("size_bytes", "BIGINT", "Its size", unit="bytes"),
        required("read_bytes", "BIGINT", "How far it was read: a batch that is not whole waits", unit="bytes"),
        required("prefix_crc", "BIGINT", "CRC-32 of what was read, by which a file that was cut or replaced is known"),
        required("first_offset", "BIGINT", "Offset at which it begins"),
        required("next_offset", "BIGINT", "Offset after the last one read"),
        required("last_epoch", "INT", "Controller epoch of the last batch; -1 where there is none"),
        required("is_kept", "BOOLEAN", "Whether its records were taken; a snapshot only where the log does not reach"),
        required("record_count", "BIGINT", "Records that tell something, of this reading", unit="records"),
        required("skipped_count", "BIGINT", "Records of types that carry nothing of use", unit="records"),
        optional("skipped", "ARRAY<STRUCT<record_type: STRING, count: BIGINT>>", "Of these, how many of each type"),
        required("errors", "ARRAY<STRING>", "What could not be read, in sentences"),
        required("run_collected_at", "TIMESTAMP", "When a run read it"),
    ),
    checks=(Check("read_within_size", "read_bytes <= size_bytes", "no more was read than was there"),),
)

TABLES = (METADATA_RECORDS, METADATA_FILES)
