"""Rows that one judgement hands to another: declared as tables are, and never stored."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.codes import Cause, Intent, OutOfSyncKind
from kafka_hindsight.catalog.row import Long, Millis, Records, Row, table
from kafka_hindsight.catalog.rows.columns import ClusterName
from kafka_hindsight.catalog.rows.structs import Quote


@table("internal.partition_states", key=("cluster", "topic", "partition", "leader", "leader_epoch", "replicas", "isr"))
class PartitionState(Row):
    """One state of one partition, with all readings that show it."""

    cluster: ClusterName
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    is_internal: Annotated[bool, "Whether Kafka calls the topic internal"]
    leader: Annotated[int | None, "Leading broker"] = None
    leader_epoch: Annotated[int | None, "Leader epoch"] = None
    replicas: Annotated[list[int] | None, "Assigned brokers, the preferred leader first"] = None
    isr: Annotated[list[int] | None, "Brokers in sync"] = None
    preferred_leader: Annotated[int | None, "First replica"] = None
    snapshot_ats: Annotated[list[datetime], "Instants of the readings that show it, in order"]
    snapshot_ids: Annotated[list[str], "Those readings, in the same order"]
    end_offsets: Annotated[list[Long], "End offset in each of them; -1 where it is not known"]


@table("internal.isr_spans", key=("cluster", "topic", "partition", "broker", "happened_at"))
class IsrSpan(Row):
    """One broker out of one partition's ISR: a shrink with its end."""

    cluster: ClusterName
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    broker: Annotated[int, "Broker that was out of the ISR"]
    happened_at: Annotated[datetime, "When the ISR shrank"]
    out_of_sync_until: Annotated[datetime | None, "When the broker was in again, or there was no ISR to be in"] = None
    observed_until: Annotated[datetime | None, "As in gold.isr_changes"] = None
    is_back: Annotated[bool, "Whether the broker is in the ISR again"]
    shrink_cause: Annotated[OutOfSyncKind | None, "Why the broker was out"] = None
    outage_id: Annotated[str | None, "The broker outage behind it"] = None
    removed_by_leader: Annotated[int | None, "Leader that removed it because it lagged"] = None
    records_behind: Annotated[Records | None, "How far it was behind that leader"] = None
    isr_size: Annotated[int | None, "In-sync replicas that were left"] = None
    evidence: Annotated[list[Quote], "The lines that prove it; empty for most, which nothing quotes"]


@table("internal.input_instants", key=("cluster", "happened_at"))
class InputInstant(Row):
    """One instant at which an input beside the brokers' logs was read: a reading, or a record."""

    cluster: ClusterName
    happened_at: Annotated[datetime, "When"]


@table("internal.leader_spans", key=("cluster", "topic", "partition", "since"))
class LeaderSpan(Row):
    """One partition from one change of its leader, or of its replicas, to the next."""

    cluster: ClusterName
    topic: Annotated[str, "Topic"]
    partition: Annotated[int, "Partition"]
    since: Annotated[datetime | None, "When it began; null where the partition was there before its first line"] = None
    until: Annotated[datetime | None, "When it ended; null where it lasts"] = None
    leader: Annotated[int | None, "Broker that led, -1 where none did; null where not known"] = None
    replicas: Annotated[list[int] | None, "Replicas, the preferred leader first; null where no line had shown them"] = (
        None
    )
    evidence: Annotated[list[Quote], "The line that shows the leader"]


@table("internal.member_stays", key=("cluster", "group_id", "member_id"))
class MemberStay(Row):
    """One stay of one member in its group."""

    cluster: ClusterName
    group_id: Annotated[str, "Consumer group"]
    member_id: Annotated[str, "Member id"]
    host: Annotated[str | None, "Host of the member"] = None
    session_timeout_ms: Annotated[Millis | None, "Session timeout of the member"] = None
    since: Annotated[datetime | None, "When it came; null where no evidence shows it"] = None
    until: Annotated[datetime | None, "When it went; null where no evidence shows it"] = None
    how: Annotated[str | None, "How it went"] = None


@table("internal.group_imbalances", key=("cluster", "group_id", "rule_id", "started_at"))
class GroupImbalance(Row):
    """One group whose members shared its partitions out badly for longer than a rebalance lasts."""

    cluster: ClusterName
    group_id: Annotated[str, "Consumer group"]
    rule_id: Annotated[str, "The rule that it breaks"]
    started_at: Annotated[datetime, "First instant at which a witness shows it"]
    ended_at: Annotated[datetime, "Last instant at which a witness shows it"]
    details: Annotated[str, "What was shared out how, as a clause"]
    evidence: Annotated[list[Quote], "The lines, records or snapshots that prove the row"]


@table("internal.missing_broker_logs", key=("cluster", "broker"))
class MissingBrokerLog(Row):
    """One node that lines or readings name and that wrote none of the lines."""

    cluster: ClusterName
    broker: Annotated[int, "Broker or controller id"]
    first_at: Annotated[datetime, "First instant at which it is named"]
    last_at: Annotated[datetime, "Last instant at which it is named"]
    evidence: Annotated[list[Quote], "The lines or snapshots that prove the row"]


@table("internal.out_of_sync_counts", key=("cluster", "snapshot_at", "broker"))
class OutOfSyncCount(Row):
    """One broker in one reading."""

    cluster: ClusterName
    snapshot_at: Annotated[datetime, "Instant of the reading"]
    broker: Annotated[int, "Broker id"]
    partitions_out: Annotated[int, "Partitions of which it is a replica and not in sync"]
    evidence: Annotated[list[Quote], "The lines or snapshots that prove the row"]


@table("internal.topic_changes", key=("at", "kind", "topic"))
class TopicChange(Row):
    """One change of the cluster's topics."""

    at: Annotated[datetime, "When it happened"]
    kind: Annotated[str, "topic_created, topic_deleted or partitions_added"]
    topic: Annotated[str, "Topic"]
    event: Annotated[Quote, "The line that proves it"]


@table("internal.incident_links", key=("part_id",))
class IncidentLink(Row):
    """One part of one incident, and what a rebalance cost in records."""

    part_id: Annotated[str, "The rebalance, the failover, the cut, the jump or the row of gold.unavailability"]
    incident_id: Annotated[str | None, "The incident that it belongs to; null where it belongs to none"] = None
    intent: Annotated[Intent | None, "The intent of a row of gold.unavailability; null for other parts"] = None
    failure: Annotated[Cause | None, "Of a rebalance that a failure began, or may have begun: why it began"] = None
    read_again_low: Annotated[Records | None, "Of a rebalance: records read a second time, at least"] = None
    read_again_high: Annotated[Records | None, "Of a rebalance: records read a second time, at most"] = None
    skipped_low: Annotated[Records | None, "Of a rebalance: records skipped, at least"] = None
    skipped_high: Annotated[Records | None, "Of a rebalance: records skipped, at most"] = None


@table("internal.log_spans", key=("cluster", "broker", "first_at"))
class LogSpan(Row):
    """One span in which the log about one broker's life is at hand."""

    cluster: ClusterName
    broker: Annotated[int, "Broker id"]
    first_at: Annotated[datetime, "Instant of its first line"]
    last_at: Annotated[datetime, "Instant of its last line"]
