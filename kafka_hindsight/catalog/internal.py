"""Rows that one judgement hands to another: declared as tables are, and never stored."""

from kafka_hindsight.catalog.codes import Intent, OutOfSyncKind
from kafka_hindsight.catalog.model import EVIDENCE_TYPE, Table, optional, required

_CLUSTER = required("cluster", "STRING", "The cluster, by its name in this lake")
_SNAPSHOT_ID = required("snapshot_id", "STRING", "The reading")
_SNAPSHOT_AT = required("snapshot_at", "TIMESTAMP", "Instant of the reading")
_BLOCKS = "ARRAY<STRUCT<topic: STRING, block: INT>>"
_EVIDENCE = required("evidence", EVIDENCE_TYPE, "The lines or snapshots that prove the row")

ISR_SPANS = Table(
    layer="internal",
    name="isr_spans",
    grain="one broker out of one partition's ISR: a shrink with its end",
    key=("cluster", "topic", "partition", "broker", "happened_at"),
    columns=(
        _CLUSTER,
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        required("broker", "INT", "Broker that was out of the ISR"),
        required("happened_at", "TIMESTAMP", "When the ISR shrank"),
        optional("out_of_sync_until", "TIMESTAMP", "When the broker was in again, or there was no ISR to be in"),
        required("is_back", "BOOLEAN", "Whether the broker is in the ISR again"),
        optional("shrink_cause", "STRING", "Why the broker was out", codes=OutOfSyncKind),
        optional("outage_id", "STRING", "The broker outage behind it"),
        optional("removed_by_leader", "INT", "Leader that removed it because it lagged"),
        optional("records_behind", "BIGINT", "How far it was behind that leader", unit="records"),
        optional("isr_size", "INT", "In-sync replicas that were left"),
        required("evidence", EVIDENCE_TYPE, "The lines that prove it; empty for most, which nothing quotes"),
    ),
)

MEMBER_STAYS = Table(
    layer="internal",
    name="member_stays",
    grain="one stay of one member in its group",
    key=("cluster", "group_id", "member_id"),
    columns=(
        _CLUSTER,
        required("group_id", "STRING", "Consumer group"),
        required("member_id", "STRING", "Member id"),
        optional("host", "STRING", "Host of the member"),
        optional("session_timeout_ms", "BIGINT", "Session timeout of the member", unit="ms"),
        optional("since", "TIMESTAMP", "When it came; null where no evidence shows it"),
        optional("until", "TIMESTAMP", "When it went; null where no evidence shows it"),
        optional("how", "STRING", "How it went"),
    ),
)

MISSING_BROKER_LOGS = Table(
    layer="internal",
    name="missing_broker_logs",
    grain="one node that lines or readings name and that wrote none of the lines",
    key=("cluster", "broker"),
    columns=(
        _CLUSTER,
        required("broker", "INT", "Broker or controller id"),
        required("first_at", "TIMESTAMP", "First instant at which it is named"),
        required("last_at", "TIMESTAMP", "Last instant at which it is named"),
        _EVIDENCE,
    ),
)

OUT_OF_SYNC_COUNTS = Table(
    layer="internal",
    name="out_of_sync_counts",
    grain="one broker in one reading",
    key=("cluster", "snapshot_at", "broker"),
    columns=(
        _CLUSTER,
        _SNAPSHOT_AT,
        required("broker", "INT", "Broker id"),
        required("partitions_out", "INT", "Partitions of which it is a replica and not in sync"),
        _EVIDENCE,
    ),
)

TOPIC_CHANGES = Table(
    layer="internal",
    name="topic_changes",
    grain="one change of the cluster's topics",
    key=("at", "kind", "topic"),
    columns=(
        required("at", "TIMESTAMP", "When it happened"),
        required("kind", "STRING", "topic_created, topic_deleted or partitions_added"),
        required("topic", "STRING", "Topic"),
        required(
            "event",
            "STRUCT<line_id: STRING, source: STRING, happened_at: TIMESTAMP, text: STRING>",
            "The line that proves it",
        ),
    ),
)

INCIDENT_LINKS = Table(
    layer="internal",
    name="incident_links",
    grain="one rebalance, one failover or one time of unavailability of one incident",
    key=("part_id",),
    columns=(
        required("part_id", "STRING", "The rebalance, the failover or the row of gold.unavailability"),
        optional("incident_id", "STRING", "The incident that it belongs to; null where it belongs to none"),
        optional("intent", "STRING", "The intent of a row of gold.unavailability; null for other parts", codes=Intent),
    ),
)

MEMBER_SIGHTINGS = Table(
    layer="internal",
    name="member_sightings",
    grain="one member in one reading",
    key=("cluster", "group_id", "member_id", "snapshot_at"),
    columns=(
        _CLUSTER,
        required("group_id", "STRING", "Consumer group"),
        required("member_id", "STRING", "Member id"),
        optional("client_id", "STRING", "Client id"),
        optional("instance_id", "STRING", "group.instance.id of a static member"),
        _SNAPSHOT_ID,
        _SNAPSHOT_AT,
    ),
)

GROUP_AGREEMENTS = Table(
    layer="internal",
    name="group_agreements",
    grain="one type and assignor that readings show of one group",
    key=("cluster", "group_id", "type", "assignor"),
    columns=(
        _CLUSTER,
        required("group_id", "STRING", "Consumer group"),
        optional("type", "STRING", "Type of the group"),
        optional("assignor", "STRING", "Assignor of the group"),
        required("snapshot_at", "TIMESTAMP", "Instant of the last reading that shows them"),
    ),
)

CLUSTERS = Table(
    layer="internal",
    name="clusters",
    grain="the cluster",
    key=("cluster",),
    columns=(_CLUSTER,),
)

OBSERVED_SPANS = Table(
    layer="internal",
    name="observed_spans",
    grain="the cluster",
    key=("cluster",),
    columns=(
        _CLUSTER,
        optional("first_at", "TIMESTAMP", "Instant of the first event that a broker wrote"),
        optional("last_at", "TIMESTAMP", "Instant of the last event that a broker wrote"),
        required("later_blocks", _BLOCKS, "The blocks of partitions after a topic's first that events name"),
    ),
)

READING_TIMES = Table(
    layer="internal",
    name="reading_times",
    grain="one reading that shows partitions",
    key=("cluster", "snapshot_at"),
    columns=(
        _CLUSTER,
        _SNAPSHOT_AT,
        optional("last_offsets_partition", "INT", "Highest partition of __consumer_offsets that it shows"),
        required("later_blocks", _BLOCKS, "The blocks of partitions after a topic's first that it shows"),
    ),
)

PARTITION_STATES = Table(
    layer="internal",
    name="partition_states",
    grain="one state of one partition, with all readings that show it",
    key=("cluster", "topic", "partition", "leader", "leader_epoch", "replicas", "isr"),
    columns=(
        _CLUSTER,
        required("topic", "STRING", "Topic"),
        required("partition", "INT", "Partition"),
        required("is_internal", "BOOLEAN", "Whether Kafka calls the topic internal"),
        optional("leader", "INT", "Leading broker"),
        optional("leader_epoch", "INT", "Leader epoch"),
        optional("replicas", "ARRAY<INT>", "Assigned brokers, the preferred leader first"),
        optional("isr", "ARRAY<INT>", "Brokers in sync"),
        optional("preferred_leader", "INT", "First replica"),
        required("snapshot_ats", "ARRAY<TIMESTAMP>", "Instants of the readings that show it, in order"),
        required("snapshot_ids", "ARRAY<STRING>", "Those readings, in the same order"),
        required("end_offsets", "ARRAY<BIGINT>", "End offset in each of them; -1 where it is not known"),
    ),
)

METADATA_DAYS = Table(
    layer="internal",
    name="metadata_days",
    grain="one day of a metadata log, up to a state",
    key=("cluster", "day"),
    columns=(
        _CLUSTER,
        required("day", "STRING", "The day, by the controllers' clocks"),
        required("records", "BIGINT", "Records written on it", unit="records"),
    ),
)

LOG_SPANS = Table(
    layer="internal",
    name="log_spans",
    grain="one span in which the log about one broker's life is at hand",
    key=("cluster", "broker", "first_at"),
    columns=(
        _CLUSTER,
        required("broker", "INT", "Broker id"),
        required("first_at", "TIMESTAMP", "Instant of its first line"),
        required("last_at", "TIMESTAMP", "Instant of its last line"),
    ),
)

TABLES = (
    METADATA_DAYS,
    PARTITION_STATES,
    ISR_SPANS,
    MEMBER_STAYS,
    MISSING_BROKER_LOGS,
    OUT_OF_SYNC_COUNTS,
    TOPIC_CHANGES,
    INCIDENT_LINKS,
    MEMBER_SIGHTINGS,
    GROUP_AGREEMENTS,
    CLUSTERS,
    OBSERVED_SPANS,
    READING_TIMES,
    LOG_SPANS,
)
