"""Bronze: what was read, kept as it was read. Its tables by name."""

from kafka_hindsight.catalog import rows

BROKER_SNAPSHOTS = rows.BrokerSnapshot.TABLE
CONFIG_SNAPSHOTS = rows.ConfigSnapshot.TABLE
GROUP_RECORDS = rows.GroupRecord.TABLE
GROUP_SNAPSHOTS = rows.GroupSnapshot.TABLE
LOG_FILES = rows.LogFile.TABLE
LOG_RECORDS = rows.LogRecord.TABLE
MEMBER_SNAPSHOTS = rows.MemberSnapshot.TABLE
METADATA_FILES = rows.MetadataFile.TABLE
METADATA_RECORDS = rows.MetadataRecord.TABLE
OFFSET_COMMITS = rows.OffsetCommits.TABLE
OFFSET_SNAPSHOTS = rows.OffsetSnapshot.TABLE
PARTITION_SNAPSHOTS = rows.PartitionSnapshot.TABLE
SNAPSHOT_READINGS = rows.SnapshotReading.TABLE
