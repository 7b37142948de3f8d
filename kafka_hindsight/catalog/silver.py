"""Silver: what the records say, one row an event."""

from kafka_hindsight.catalog.codes import LINES
from kafka_hindsight.catalog.model import Table, optional, required

# The fields that a pattern may name. Declared here alone: parse fills exactly these columns.
EVENT_FIELDS = (
    optional("group_id", "STRING", "Consumer group the event speaks of"),
    optional("protocol", "STRING", "classic, consumer, streams or share, where the line says"),
    optional("member_id", "STRING", "Member the event speaks of"),
    optional("old_member_id", "STRING", "Member id that is replaced"),
    optional("client_id", "STRING", "Client id"),
    optional("instance_id", "STRING", "group.instance.id of a static member"),
    optional("host", "STRING", "Client host, as the broker saw it"),
    optional("generation", "INT", "Generation of the group, or its epoch under KIP-848, as the line states it"),
    optional("leader_member_id", "STRING", "Member that leads the group"),
    optional("member_count", "INT", "Members of the group"),
    optional("static_count", "INT", "Static members of the group"),
    optional("members", "STRING", "Several members, as the line lists them"),
    optional("reason", "STRING", "The reason in the writer's raw words"),
    optional("client_reason", "STRING", "The reason the client sent (KIP-800), raw"),
    optional("state", "STRING", "State the line names"),
    optional("previous_state", "STRING", "State before, where the line names it"),
    optional("assignor", "STRING", "Assignor, or protocol name of the assignment"),
    optional("session_timeout_ms", "BIGINT", "Session timeout of the member", unit="ms"),
    optional("rebalance_timeout_ms", "BIGINT", "Rebalance timeout; max.poll.interval.ms of Java clients", unit="ms"),
    optional("heartbeat_interval_ms", "BIGINT", "heartbeat.interval.ms, as a client's own log says", unit="ms"),
    optional("offsets_partition", "INT", "Partition of __consumer_offsets"),
    optional("topic", "STRING", "Topic"),
    optional("partition", "INT", "Partition"),
    optional("leader", "INT", "Leader after; -1 for none"),
    optional("previous_leader", "INT", "Leader before; -1 for none"),
    optional("leader_epoch", "INT", "Leader epoch after"),
    optional("previous_leader_epoch", "INT", "Leader epoch before"),
    optional("partition_epoch", "INT", "Partition epoch (KRaft) or ZooKeeper version"),
    optional("isr", "STRING", "In-sync replicas after, broker ids separated by commas; [] where the line names none"),
    optional(
        "previous_isr",
        "STRING",
        "In-sync replicas before, broker ids separated by commas; [] where the line names none",
    ),
    optional("replicas", "STRING", "Assigned replicas, broker ids separated by commas"),
    optional("log_offset", "BIGINT", "Offset the line names", unit="records"),
    optional("high_watermark", "BIGINT", "High watermark", unit="records"),
    optional("node", "INT", "Broker or controller the line speaks of, other than its writer"),
    optional("nodes", "STRING", "Several brokers, as the line lists them"),
    optional("controller_epoch", "INT", "Epoch of the controller"),
    optional("fenced", "INT", "1 fenced, -1 unfenced, 0 unchanged, as the registration record says"),
    optional("in_controlled_shutdown", "INT", "1 where the registration record begins a controlled shutdown"),
    optional("event_count", "INT", "How many, where the line counts"),
    optional("took_ms", "BIGINT", "How long it took", unit="ms"),
    optional("error", "STRING", "Error the line names"),
    optional("detail", "STRING", "Anything else the pattern names, in the line's words"),
)

EVENTS = Table(
    layer="silver",
    name="events",
    grain="one event: a record claimed by one pattern",
    key=("line_id",),
    time_column="happened_at",
    columns=(
        required("line_id", "STRING", "The record it was read from"),
        required("cluster", "STRING", "The cluster, by its name in this lake"),
        required("origin", "STRING", "Who wrote it", codes=LINES),
        required("source", "STRING", "Folder and log as seen from the LOGS root"),
        required("happened_at", "TIMESTAMP", "The instant in the record's head"),
        required("order", "INT", "Rank among the records of this source with the same happened_at"),
        optional("broker", "INT", "Broker or controller that wrote the line"),
        required("kind", "STRING", "What happened: a kind of kafka_hindsight/knowledge/kinds.py"),
        required("pattern_id", "STRING", "The pattern that claimed the record"),
        required("text", "STRING", "First line of the record, cut at 2,000 characters: the quotation for evidence"),
        *EVENT_FIELDS,
        required("knowledge_version", "STRING", "Version of the patterns that read it"),
    ),
)

TABLES = (EVENTS,)
