"""Silver: what the records say, one row an event."""

from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.row import Millis, Records, Row, WrittenLast, table
from kafka_hindsight.catalog.rows.columns import ClusterName, LineOrigin


@table("silver.events", key=("line_id",), time_column="happened_at")
class Event(Row):
    """One event: a record claimed by one pattern."""

    line_id: Annotated[str, "The record it was read from"]
    cluster: ClusterName
    origin: LineOrigin
    source: Annotated[str, "Folder and log as seen from the LOGS root"]
    happened_at: Annotated[datetime, "The instant of the record, see bronze.log_records"]
    order: Annotated[int, "Rank among the records of this source with the same happened_at, by place in the file"]
    broker: Annotated[int | None, "Broker or controller that wrote the line"] = None
    kind: Annotated[Kind, "What happened: a kind of kafka_hindsight/catalog/kinds.py"]
    pattern_id: Annotated[str, "The pattern that claimed the record"]
    text: Annotated[str, "First line of the record, cut at 2,000 characters: the quotation for evidence"]
    group_id: Annotated[str | None, "Consumer group the event speaks of"] = None
    protocol: Annotated[str | None, "classic, consumer, streams or share, where the line says"] = None
    member_id: Annotated[str | None, "Member the event speaks of"] = None
    old_member_id: Annotated[str | None, "Member id that is replaced"] = None
    client_id: Annotated[str | None, "Client id"] = None
    instance_id: Annotated[str | None, "group.instance.id of a static member"] = None
    host: Annotated[str | None, "Client host, as the broker saw it"] = None
    generation: Annotated[
        int | None,
        "Generation of the group, or its epoch under KIP-848, as the line states it",
    ] = None
    leader_member_id: Annotated[str | None, "Member that leads the group"] = None
    member_count: Annotated[int | None, "Members of the group"] = None
    static_count: Annotated[int | None, "Static members of the group"] = None
    members: Annotated[str | None, "Several members, as the line lists them"] = None
    reason: Annotated[str | None, "The reason in the writer's raw words"] = None
    client_reason: Annotated[str | None, "The reason the client sent (KIP-800), raw"] = None
    state: Annotated[str | None, "State the line names"] = None
    previous_state: Annotated[str | None, "State before, where the line names it"] = None
    assignor: Annotated[str | None, "Assignor, or protocol name of the assignment"] = None
    session_timeout_ms: Annotated[Millis | None, "Session timeout of the member"] = None
    rebalance_timeout_ms: Annotated[Millis | None, "Rebalance timeout; max.poll.interval.ms of Java clients"] = None
    heartbeat_interval_ms: Annotated[Millis | None, "heartbeat.interval.ms, as a client's own log says"] = None
    offsets_partition: Annotated[int | None, "Partition of __consumer_offsets"] = None
    topic: Annotated[str | None, "Topic"] = None
    partition: Annotated[int | None, "Partition"] = None
    leader: Annotated[int | None, "Leader after; -1 for none"] = None
    previous_leader: Annotated[int | None, "Leader before; -1 for none"] = None
    leader_epoch: Annotated[int | None, "Leader epoch after"] = None
    previous_leader_epoch: Annotated[int | None, "Leader epoch before"] = None
    partition_epoch: Annotated[int | None, "Partition epoch (KRaft) or ZooKeeper version"] = None
    isr: Annotated[
        str | None,
        "In-sync replicas after, broker ids separated by commas; [] where the line names none",
    ] = None
    previous_isr: Annotated[
        str | None, "In-sync replicas before, broker ids separated by commas; [] where the line names none"
    ] = None
    replicas: Annotated[str | None, "Assigned replicas, broker ids separated by commas"] = None
    log_offset: Annotated[Records | None, "Offset the line names"] = None
    high_watermark: Annotated[Records | None, "High watermark"] = None
    node: Annotated[int | None, "Broker or controller the line speaks of, other than its writer"] = None
    nodes: Annotated[str | None, "Several brokers, as the line lists them"] = None
    controller_epoch: Annotated[int | None, "Epoch of the controller"] = None
    fenced: Annotated[int | None, "1 fenced, -1 unfenced, 0 unchanged, as the registration record says"] = None
    in_controlled_shutdown: Annotated[int | None, "1 where the registration record begins a controlled shutdown"] = None
    event_count: Annotated[int | None, "How many, where the line counts"] = None
    took_ms: Annotated[Millis | None, "How long it took"] = None
    error: Annotated[str | None, "Error the line names"] = None
    detail: Annotated[str | None, "Anything else the pattern names, in the line's words"] = None
    knowledge_version: Annotated[str | None, "Version of the patterns that read it", WrittenLast] = None
