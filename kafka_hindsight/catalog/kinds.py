"""The kinds of events: what can happen, and which fields (columns of silver.events) each kind fills.

Patterns name kinds, judgements read them. A field in brackets may be missing from older versions.
"""

from __future__ import annotations

from enum import StrEnum, auto

_GROUP, _COORDINATOR, _PARTITION, _TOPIC = "group", "coordinator", "partition", "topic"
_BROKER, _CLIENT, _PRODUCER, _RECORD, _SOFTWARE, _DERIVED = (
    "broker",
    "client",
    "producer",
    "record",
    "software",
    "derived",
)


class Kind(StrEnum):
    """One kind of event. Its value is its name in lower case: what the column `kind` holds.

    `subject` is what the event is about. No line of a log has kinds of two subjects: `record` is of
    records of __cluster_metadata; `derived` is what judgements make of readings and of records of groups, in no table.
    `meaning` is what the line shows, `fields` the columns that it fills.
    """

    subject: str
    meaning: str
    fields: str

    def __new__(cls, value: str, subject: str, meaning: str, fields: str = "") -> Kind:
        """Make a string with a subject, a meaning and fields."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.subject, kind.meaning, kind.fields = subject, meaning, fields
        return kind

    # fmt: off
    # --- the group coordinator -------------------------------------------------------------------------------
    REBALANCE_STARTED = auto(), _GROUP, "A join phase begins", "group_id, generation (the old one), reason (the whole raw text, with the client's reason), [offsets_partition]"
    JOIN_COMPLETED = auto(), _GROUP, "The join phase ended ('Stabilized')", "group_id, generation (the new one), [member_count], [offsets_partition]"
    ASSIGNMENT_RECEIVED = auto(), _GROUP, "The group leader sent the assignment", "group_id, generation, [leader_member_id], [member_count], [static_count]"
    GROUP_EMPTIED = auto(), _GROUP, "The join phase ended without members", "group_id, generation (the new one)"
    MEMBER_LEFT = auto(), _GROUP, "A member left by LeaveGroup, or under KIP-848 by a heartbeat with epoch -1", "group_id, member_id, protocol, [instance_id, client_id, host, session_timeout_ms, rebalance_timeout_ms, client_reason, detail (its assignors)]"
    MEMBER_FAILED = auto(), _GROUP, "The session of a member expired (classic protocol)", "group_id, member_id"
    MEMBER_ID_ASSIGNED = auto(), _GROUP, "A new dynamic member asked to join, and the coordinator answered with a member id", "group_id, member_id, [state]"
    MEMBER_ADDED = auto(), _GROUP, "The coordinator added a member at once (old clients and static members)", "group_id, member_id, state, [instance_id]"
    MEMBER_REJOINED_PENDING = auto(), _GROUP, "A dynamic member joined with its new member id", "group_id, member_id, state"
    PENDING_MEMBER_REMOVED = auto(), _GROUP, "A member id was assigned and never used", "group_id, member_id"
    PENDING_MEMBER_LEFT = auto(), _GROUP, "A member left before its join phase ended", "group_id, member_id, [client_reason]"
    STATIC_MEMBER_REPLACED = auto(), _GROUP, "A static member rejoined with a new member id", "[group_id], instance_id, [member_id], old_member_id, [state]"
    STATIC_REJOIN_QUIET = auto(), _GROUP, "The return of a static member starts no rebalance (the line does not name the group)"
    STATIC_MEMBER_FENCED = auto(), _GROUP, "Two processes use one instance id", "instance_id, member_id, [group_id], [detail (operation)]"
    MEMBERS_NOT_REJOINED = auto(), _GROUP, "The coordinator dropped dynamic members at the end of the join phase", "group_id, members"
    GROUP_LOADED = auto(), _GROUP, "A coordinator loaded the group", "group_id, [generation], [member_count], [protocol]"
    GROUP_UNLOADED = auto(), _GROUP, "A coordinator unloaded the group", "group_id, generation, [protocol]"
    MEMBER_LOADED = auto(), _GROUP, "A member that the coordinator loaded with its group", "group_id, generation, member_id, client_id, host, session_timeout_ms, rebalance_timeout_ms, [instance_id], assignor"
    GROUP_DEAD = auto(), _GROUP, "The group was removed", "group_id, [generation]"
    GROUP_DENIED = auto(), _GROUP, "The authorizer denied a client the group", "group_id, host, detail (the principal), reason (the operation, and the request)"
    GROUPS_DELETED = auto(), _GROUP, "An administrator deleted groups", "detail (the ids)"
    OFFSETS_DELETED = auto(), _GROUP, "An administrator deleted committed offsets of a group", "group_id, members (the partitions), event_count"
    SIMPLE_COMMITS_BEGAN = auto(), _GROUP, "A client without membership commits to a group that does not exist", "group_id, [offsets_partition]"
    # KIP-848
    MEMBER_JOINED = auto(), _GROUP, "A member joined a group with epochs", "group_id, member_id, [instance_id], protocol"
    MEMBER_DESCRIBED = auto(), _GROUP, "The coordinator prints who a member of a Streams group is", "group_id, member_id, client_id, host, [instance_id], rebalance_timeout_ms"
    STATIC_MEMBER_RETURNED = auto(), _GROUP, "A static KIP-848 member rejoined with a new member id", "group_id, instance_id, member_id, [old_member_id]"
    STATIC_MEMBER_CLOSED = auto(), _GROUP, "A static member of a group with epochs closed and kept its place, by a heartbeat with epoch -2", "group_id, member_id, instance_id"
    MEMBER_FENCED = auto(), _GROUP, "The coordinator removed a member of a group with epochs", "group_id, member_id, reason, [took_ms (the limit)]"
    EPOCH_BUMPED = auto(), _GROUP, "A group epoch began", "group_id, generation (the new epoch), [detail (metadata hash)]"
    TARGET_COMPUTED = auto(), _GROUP, "The coordinator computed a target assignment", "group_id, generation, assignor"
    MEMBER_ASSIGNMENT_STATE = auto(), _GROUP, "A member of a Streams or share group reconciles", "group_id, member_id, generation, state"

    # --- the partitions of __consumer_offsets ----------------------------------------------------------------
    COORDINATOR_ELECTED = auto(), _COORDINATOR, "A broker became the coordinator of an offsets partition", "offsets_partition, [leader_epoch]"
    COORDINATOR_RESIGNED = auto(), _COORDINATOR, "A broker stopped being the coordinator of an offsets partition", "offsets_partition, [leader_epoch]"
    COORDINATOR_LOADED = auto(), _COORDINATOR, "Loading finished", "offsets_partition, [leader_epoch], [took_ms], [event_count]"
    COORDINATOR_UNLOADED = auto(), _COORDINATOR, "Unloading finished", "offsets_partition, [leader_epoch]"
    OFFSETS_EXPIRED = auto(), _COORDINATOR, "Committed offsets expired", "[offsets_partition; missing before 4.0: any of the broker's], event_count (offsets; from 4.0 on tombstones, with those of groups)"

    # --- leaders and replicas --------------------------------------------------------------------------------
    LEADER_STARTED = auto(), _PARTITION, "This broker became the leader; it wrote the line", "topic, partition, leader_epoch, [previous_leader], previous_leader_epoch, log_offset, [high_watermark], [isr], [partition_epoch]"
    FOLLOWER_STARTED = auto(), _PARTITION, "This broker became a follower", "topic, partition, leader_epoch, [leader], [previous_leader], [previous_leader_epoch], log_offset, [high_watermark], [partition_epoch]"
    LEADERSHIP_KEPT = auto(), _PARTITION, "KRaft", "the role of this broker did not change ('Skipped the become-leader/-follower state change'); the line has the whole committed state: topic, partition, leader, leader_epoch, isr, partition_epoch, replicas"
    LEADER_AND_ISR_RECEIVED = auto(), _PARTITION, "A controller in ZooKeeper mode sent this broker the state of a partition that it holds a replica of", "topic, partition, leader (-1: none), leader_epoch, isr, partition_epoch, replicas, node (the controller), controller_epoch"
    LEADER_UNAVAILABLE = auto(), _PARTITION, "The controller named a leader that is not alive", "topic, partition, leader (-1: none), node (the controller), controller_epoch"
    PARTITION_RECOVERING = auto(), _PARTITION, "This broker became the leader by an unclean election", "topic, partition"
    PARTITION_STATE_CHANGED = auto(), _PARTITION, "A ZooKeeper controller changed the state of a partition", "topic, partition, previous_state, state, leader, leader_epoch, isr, controller_epoch"
    PARTITION_STATE_FAILED = auto(), _PARTITION, "A ZooKeeper controller could not change the state of a partition", "topic, partition, previous_state, state, controller_epoch"
    REPLICA_REMOVED_FROM_ISR = auto(), _PARTITION, "A ZooKeeper controller removed a replica from the ISR", "topic, partition, leader, isr, leader_epoch, node (the replica), controller_epoch"
    UNCLEAN_PARTITION_CHANGE = auto(), _PARTITION, "A KRaft controller logged UNCLEAN", "topic, partition, [previous_isr], [isr], [previous_leader], [leader], previous_leader_epoch, leader_epoch, detail (the whole diff)"
    UNCLEAN_LEADER_SET = auto(), _PARTITION, "A KRaft controller elected a leader from outside the ISR", "partition, leader, detail"
    PARTITION_CREATED = auto(), _PARTITION, "A partition was created", "topic, partition, [leader], [leader_epoch], [isr], [replicas]"
    ISR_SHRINK_PROPOSED = auto(), _PARTITION, "The leader asks for a smaller ISR", "topic, partition, previous_isr, isr, [high_watermark], [log_offset (end offset)], [detail (the replicas that are out of sync)]"
    ISR_EXPAND_PROPOSED = auto(), _PARTITION, "The leader asks for a larger ISR", "topic, partition, previous_isr, isr"
    ISR_UPDATED = auto(), _PARTITION, "The ISR changed", "topic, partition, isr, [partition_epoch]"
    ISR_UPDATE_REJECTED = auto(), _PARTITION, "The controller rejected a change of the ISR", "topic, partition, error"
    LOG_TRUNCATED = auto(), _PARTITION, "A replica truncated its log", "topic, partition, log_offset, [high_watermark], detail"
    LOG_START_MOVED = auto(), _PARTITION, "A replica's log begins later, as older records were removed", "topic, partition, log_offset (where it begins now), [reason (segment deletion, client delete records request; of followers leader offset increment)]"
    LOG_LOADED = auto(), _PARTITION, "A replica loaded its log", "topic, partition, high_watermark"
    LOG_END_LOADED = auto(), _PARTITION, "A replica loaded its log, with its end offset", "topic, partition, log_offset (end offset), high_watermark"
    FETCH_FAILED = auto(), _PARTITION, "A follower could not fetch", "node (the leader), [detail]"
    ELECTION_STARTED = auto(), _PARTITION, "A controller starts an election", "reason (PREFERRED, UNCLEAN), [detail (what requested it)], [members (partitions)]"
    PREFERRED_ELECTION_COMPLETED = auto(), _PARTITION, "A preferred leader election completed", "topic, partition, leader"
    PERIODIC_ELECTION = auto(), _PARTITION, "The periodic election task of a KRaft controller", "reason (electPreferred, electUnclean), event_count"
    REASSIGNMENT_CHANGED = auto(), _PARTITION, "A reassignment reached its next step", "topic, partition, detail"
    LEADER_IMBALANCE_SEEN = auto(), _PARTITION, "The ZooKeeper controller measured leader imbalance", "node, detail (the ratio)"

    # --- topics ----------------------------------------------------------------------------------------------
    TOPIC_CREATED = auto(), _TOPIC, "A topic was created", "topic"
    TOPIC_DELETED = auto(), _TOPIC, "A topic was deleted", "topic"
    PARTITIONS_DELETED = auto(), _TOPIC, "A coordinator forgets the offsets of partitions whose topics were deleted", "members (the partitions)"
    PARTITIONS_ADDED = auto(), _TOPIC, "Partitions were added to a topic", "topic"
    TOPIC_CONFIGURED = auto(), _TOPIC, "All settings that a topic overrides, as a broker applies them", "topic, [partition], [detail (name=value or name -> value, separated by commas; missing without overrides)]"
    CONFIG_CHANGED = auto(), _TOPIC, "A setting of a topic or broker changed", "topic or node, reason (the setting), detail (the value)"

    # --- brokers and controllers -----------------------------------------------------------------------------
    BROKER_STARTING = auto(), _BROKER, "The broker process starts"
    LOGS_CLEAN = auto(), _BROKER, "A broker that starts finds the file of a clean shutdown in a log directory", "detail (the directory)"
    LOGS_UNCLEAN = auto(), _BROKER, "A broker that starts finds no such file, or a log that was not flushed, and recovers the logs", "detail (the directory)"
    BROKER_STARTED = auto(), _BROKER, "The broker started and serves requests"
    BROKER_START_FAILED = auto(), _BROKER, "The start failed, and the process ends; Kafka 3.1+ logs just before that the broker started", "detail (what failed)"
    BROKER_START_ABANDONED = auto(), _BROKER, "A KRaft broker shuts down before it was unfenced, since its start failed or an operator stopped it", "previous_state (NOT_RUNNING, STARTING, RECOVERY)"
    PROCESS_SIGNALLED = auto(), _BROKER, "A signal asks the process to stop", "detail (SIGTERM, SIGINT, SIGHUP)"
    PROCESS_FAULTED = auto(), _BROKER, "The process of a broker or controller met a fatal fault and halts", "detail (what it was doing)"
    BROKER_SHUTDOWN_STARTED = auto(), _BROKER, "The broker begins to shut down"
    CONTROLLED_SHUTDOWN_STARTED = auto(), _BROKER, "The broker asks the controller to move its leaders"
    CONTROLLED_SHUTDOWN_DONE = auto(), _BROKER, "The controller finished the controlled shutdown"
    CONTROLLED_SHUTDOWN_FAILED = auto(), _BROKER, "The controlled shutdown failed; the broker stops without it"
    BROKER_STOPPED = auto(), _BROKER, "The shutdown completed"
    BROKER_REGISTERED = auto(), _BROKER, "The broker registered with the controller", "node, [detail (epoch)]"
    BROKER_UNFENCED_SELF = auto(), _BROKER, "The broker logs that it is unfenced"
    BROKER_HEARTBEAT_FAILED = auto(), _BROKER, "The broker could not send its heartbeat to the controller", "[error]"
    BROKER_FENCED = auto(), _BROKER, "A KRaft controller fenced a broker after its session expired", "node"
    BROKER_REGISTRATION_CHANGED = auto(), _BROKER, "A registration record", "node, fenced, [in_controlled_shutdown]"
    BROKER_INCARNATED = auto(), _BROKER, "A controller registered a new incarnation of a broker", "node"
    BROKER_UNFENCE_GRANTED = auto(), _BROKER, "A controller unfenced a broker", "node"
    BROKER_FENCE_GRANTED = auto(), _BROKER, "A controller fenced a broker at its own request", "node"
    BROKER_CONTROLLED_SHUTDOWN_GRANTED = auto(), _BROKER, "A controller begins the controlled shutdown of a broker", "node"
    BROKER_SHUTDOWN_GRANTED = auto(), _BROKER, "A controller finished the controlled shutdown of a broker", "node"
    PARTITIONS_CHANGED = auto(), _BROKER, "A KRaft controller changed partitions", "reason (handleBrokerFenced, ...), [node], event_count"
    BROKERS_CHANGED = auto(), _BROKER, "A ZooKeeper controller saw the live brokers change", "detail ('ADDED, deleted brokers: DELETED[, bounced brokers: BOUNCED], all live brokers: LIVE', ids separated by commas)"
    BROKERS_LISTED = auto(), _BROKER, "A newly elected ZooKeeper controller lists the live brokers", "nodes"
    BROKER_FAILED = auto(), _BROKER, "A ZooKeeper controller detected that brokers failed", "nodes"
    BROKER_SHUTDOWN_REQUESTED = auto(), _BROKER, "A broker asked a ZooKeeper controller for a controlled shutdown", "node"
    BROKER_CAME = auto(), _BROKER, "A ZooKeeper controller detected that brokers started", "nodes"
    CONTROLLER_ELECTED = auto(), _BROKER, "This node became the active controller", "controller_epoch, [node], [log_offset (KRaft: where it goes on)]"
    CONTROLLER_RESIGNED = auto(), _BROKER, "This node stopped being the active controller", "[controller_epoch]"
    CONTROLLER_KNOWN = auto(), _BROKER, "This node learned which node is the active controller", "controller_epoch, [node; missing without an active controller]"
    CONTROLLER_WAITS = auto(), _BROKER, "This node leads a quorum of KRaft that waits for its cluster to move from ZooKeeper"
    CONTROLLER_STEPPED_DOWN = auto(), _BROKER, "This node gave the leadership of the quorum up", "node, controller_epoch"
    ELECTION_STOOD = auto(), _BROKER, "This node stands for election as the controller, or asks whether it would be elected", "node, controller_epoch, detail (candidate or prospective)"
    BROKER_REGISTRATION_REFUSED = auto(), _BROKER, "The controller refused to register the broker", "node, error"
    AUTHENTICATION_FAILED = auto(), _BROKER, "Someone who connected to this broker failed to authenticate", "host, error"
    AUTHENTICATION_REFUSED = auto(), _BROKER, "This broker or controller could not authenticate with another one", "node, error, detail (which of its clients)"
    ACCESS_DENIED = auto(), _BROKER, "The authorizer denied a client something other than a group", "host, detail (the principal), reason (the operation, and the request), [topic]"
    QUOTA_CHANGED = auto(), _BROKER, "A quota of a user, a client id, or both changed", "reason (which quota), [detail (the user)], [client_id], state (the limit)"
    CONTROLLER_THREAD_STARTED = auto(), _BROKER, "A broker on ZooKeeper is ready to be the controller, which each process of it becomes once"
    ZOOKEEPER_CLIENT_SPOKE = auto(), _BROKER, "The ZooKeeper client of the process lost its connection in a session that it had", "[took_ms (how long it had heard nothing)]"
    ZOOKEEPER_SESSION_EXPIRED = auto(), _BROKER, "The ZooKeeper session of the broker expired"
    LOG_DIR_FAILED = auto(), _BROKER, "A log directory failed", "[node], [nodes], [members (its partitions)], detail"
    BROKER_HALTED = auto(), _BROKER, "The broker halts because of a failed log directory", "detail"
    BROKER_CONFIGURED = auto(), _BROKER, "The settings of a broker at its start and after each change", "detail (name = value, one a line), [node (its id)]"
    CLUSTER_NAMED = auto(), _BROKER, "The line names the cluster id", "detail"

    SOFTWARE_VERSION = auto(), _SOFTWARE, "A process of Kafka's, or a Java client, prints its version as it starts", "detail (the version)"

    # --- clients ---------------------------------------------------------------------------------------------
    CLIENT_CONFIGURED = auto(), _CLIENT, "A Java consumer logged its settings at its start", "client_id, [group_id, instance_id, session_timeout_ms, rebalance_timeout_ms (max.poll.interval.ms), heartbeat_interval_ms, assignor (all that it supports), protocol], [detail (where it begins and when it commits: name = value, one a line)]"
    CLIENT_STARTED = auto(), _CLIENT, "A consumer of a library that logs no settings began", "[client_id, group_id], [detail (topics)]"
    CLIENT_SUBSCRIBED = auto(), _CLIENT, "The consumer subscribed", "client_id, group_id, [instance_id], detail (topics or pattern)"
    CLIENT_JOINING = auto(), _CLIENT, "The consumer sends a join request", "client_id, group_id, [instance_id]"
    CLIENT_JOIN_REQUESTED = auto(), _CLIENT, "The consumer logs why it has to rejoin", "client_id, group_id, [instance_id], reason"
    CLIENT_JOINED = auto(), _CLIENT, "The consumer joined", "client_id, group_id, [instance_id], generation, [member_id]"
    CLIENT_SYNCED = auto(), _CLIENT, "The consumer received its assignment", "client_id, group_id, [instance_id], generation, [member_id]"
    CLIENT_LEAVING = auto(), _CLIENT, "The consumer leaves the group", "client_id, group_id, [member_id], client_reason"
    CLIENT_LEFT = auto(), _CLIENT, "A client left its group; the line does not show why", "[client_id, group_id, member_id]"
    CLIENT_POLL_EXPIRED = auto(), _CLIENT, "The consumer logs that max.poll.interval.ms expired", "client_id, [group_id], [took_ms (librdkafka: the limit)]"
    CLIENT_POLL_EXCEEDED = auto(), _CLIENT, "By how much a KIP-848 consumer exceeded max.poll.interval.ms", "client_id, group_id, member_id, took_ms"
    CLIENT_HEARTBEAT_REFUSED = auto(), _CLIENT, "The coordinator rejected a heartbeat", "client_id, group_id, error, [generation], [member_id]"
    CLIENT_GENERATION_RESET = auto(), _CLIENT, "The consumer reset its generation and member id", "client_id, group_id, reason"
    CLIENT_COORDINATOR_LOST = auto(), _CLIENT, "The consumer lost its coordinator", "client_id, group_id, reason"
    CLIENT_COORDINATOR_FOUND = auto(), _CLIENT, "The consumer discovered its coordinator", "client_id, group_id, node (the broker id)"
    CLIENT_ASSIGNED = auto(), _CLIENT, "Partitions were added to the consumer", "client_id, group_id, detail (the list)"
    CLIENT_WORK_ASSIGNED = auto(), _CLIENT, "A worker of Connect got its connectors and tasks", "client_id, group_id, generation, took_ms (the delay for lost workers), detail (what it got and has to give back)"
    CLIENT_REVOKED = auto(), _CLIENT, "Partitions were revoked from the consumer", "client_id, group_id, detail"
    CLIENT_LOST = auto(), _CLIENT, "The consumer lost partitions", "client_id, group_id, detail"
    CLIENT_ASSIGNMENT_FINISHED = auto(), _CLIENT, "The consumer is the group leader and computed the assignment", "client_id, group_id, generation, detail"
    CLIENT_STATE_CHANGED = auto(), _CLIENT, "The state of a KIP-848 consumer changed", "client_id, group_id, member_id, generation (member epoch), previous_state, state"
    CLIENT_HEARTBEAT_ERROR = auto(), _CLIENT, "A KIP-848 consumer received an error for its heartbeat", "client_id, group_id, error"
    CLIENT_RELEASING = auto(), _CLIENT, "A KIP-848 consumer releases its partitions and leaves the group", "client_id, group_id, member_id"
    CLIENT_INSTANCE_FENCED = auto(), _CLIENT, "Another process uses the instance id of the consumer", "client_id, group_id"
    CLIENT_SESSION_TIMEOUT = auto(), _CLIENT, "The client received no response from the coordinator within the session timeout", "[client_id, took_ms, detail]"
    CLIENT_COMMIT_FAILED = auto(), _CLIENT, "An offset commit failed", "client_id, [group_id], [error], [reason (why it committed)], [detail (the positions that were not committed: topic-partition=offset, separated by commas)], [topic, partition, log_offset (of one partition)]"
    CLIENT_POSITION_RESUMED = auto(), _CLIENT, "The consumer goes on at the committed offset", "topic, partition, log_offset, [client_id, group_id], [leader_epoch (that of the commit; missing where it names none)]"
    CLIENT_OFFSET_MISSING = auto(), _CLIENT, "The group has no committed offset of a partition", "[client_id, group_id], topic, partition"
    CLIENT_OUT_OF_RANGE = auto(), _CLIENT, "The log has no record at the consumer's position", "[client_id, group_id], topic, partition, [log_offset (its position)], [detail (the offset where it goes on)], [state (where it goes on: earliest, latest)], [reason (why the application gets an error instead)]"
    CLIENT_POSITION_RESET = auto(), _CLIENT, "The reset policy gave the consumer a position", "[client_id, group_id], topic, partition, [log_offset (where it goes on)], [state (earliest, latest)], [error (why)]"
    CLIENT_LOG_DIVERGED = auto(), _CLIENT, "The log was cut below the consumer's position", "[client_id, group_id], topic, partition, log_offset (its position), [detail (the first offset that differs: the end of what is left of that epoch)], [state (earliest, latest: where it goes on)]"
    CLIENT_SOUGHT = auto(), _CLIENT, "The application moved its consumer", "[client_id, group_id], topic, partition, [log_offset], [leader_epoch], [state (earliest, latest)]"
    CLIENT_COMMITS_UNSTABLE = auto(), _CLIENT, "Committed offsets wait for a transaction to end", "client_id, group_id, members (the partitions)"
    CLIENT_DISCONNECTED = auto(), _CLIENT, "A connection was lost", "client_id, [group_id], [node], [detail]"
    CLIENT_REQUEST_CANCELLED = auto(), _CLIENT, "A client gave up a request that had no answer", "client_id, [group_id, node], detail (the request), took_ms (how long ago it was sent), [reason (its time-out)]"
    CLIENT_NOT_AUTHENTICATED = auto(), _CLIENT, "A client could not authenticate with a broker, or the broker with it", "[client_id, group_id, node], error"
    CLIENT_ACCESS_DENIED = auto(), _CLIENT, "The brokers denied a client its group, a topic or the cluster", "[client_id, group_id], error"
    CLIENT_THROTTLED = auto(), _CLIENT, "A client sends nothing to a broker because of a quota", "client_id, [group_id], node, took_ms (how long)"
    CLIENT_CONNECT_FAILED = auto(), _CLIENT, "A client could not begin a connection to a broker", "[client_id, group_id, node], host, [error (the exception)]"
    CLIENT_CLOSED = auto(), _CLIENT, "The consumer was closed", "client_id, [group_id]"
    CLIENT_STOPPING = auto(), _CLIENT, "The process that runs the client stops, and closes it; the line names neither client nor group"
    CLIENT_TASK_KILLED = auto(), _CLIENT, "Kafka Connect killed a task that had failed", "detail (the task), [error (the exception)]"

    # --- producers -------------------------------------------------------------------------------------------
    PRODUCER_CONFIGURED = auto(), _PRODUCER, "A Java producer logged its settings at its start", "[client_id], detail (name = value, one a line)"
    PRODUCER_IDEMPOTENT = auto(), _PRODUCER, "The producer is idempotent", "[client_id], state (idempotent, transactional)"
    PRODUCER_TOPIC_KNOWN = auto(), _PRODUCER, "The producer learned of a partition of a topic that it writes to", "[client_id], topic, partition"
    PRODUCER_RETRIED = auto(), _PRODUCER, "A batch failed and is sent again", "[client_id], topic, partition, error, event_count (attempts left)"
    PRODUCER_REDIRECTED = auto(), _PRODUCER, "A batch failed, and the producer asks for the leader; it is sent again only where a line says so", "[client_id], topic, partition, error"
    PRODUCER_TIMED_OUT = auto(), _PRODUCER, "A request of librdkafka had no answer in time", "client_id, node, took_ms"
    PRODUCER_GAVE_UP = auto(), _PRODUCER, "A batch or a record was given up, and the application gets the error", "[client_id], topic, [partition, error, reason (Expiring: it was too old)]"
    PRODUCER_FAILED = auto(), _PRODUCER, "The producer, or its transaction, failed as a whole", "[client_id], error, state (abortable, fatal)"
    PRODUCER_CLOSED = auto(), _PRODUCER, "The producer is closed", "client_id"
    PRODUCER_FORCED = auto(), _PRODUCER, "The producer ends with records that it has not written", "[client_id, took_ms], [event_count (how many)]"

    # --- __cluster_metadata: no line has these ---------------------------------------------------------------
    BROKER_FENCED_IDLE = auto(), _RECORD, "KRaft fenced a broker that led no partition, after its session expired or during its controlled shutdown", "node"
    PARTITION_CHANGED = auto(), _RECORD, "KRaft committed a change of a partition", "topic, partition, leader, leader_epoch, previous_leader, previous_leader_epoch (the same if the leader stays), partition_epoch, isr, previous_isr, replicas, state, previous_state, detail (the whole diff)"

    # --- made of readings and records of groups: no table has these -------------------------------------------
    SETTING_READ = auto(), _DERIVED, "A setting as a reading shows it", "topic or node, reason (the setting), detail (its value)"
    BROKER_LISTED = auto(), _DERIVED, "A broker that a reading lists"
    MEMBER_SEEN = auto(), _DERIVED, "A member as a reading shows it", "group_id, member_id, client_id, host, [instance_id], detail (the topics that it owns)"
    MEMBER_RECORDED = auto(), _DERIVED, "A member as a record names it", "group_id, member_id, client_id, host, time-outs; with a generation where the one before was stored too, so that a member which is new in it came with it"
    MEMBER_REACHED = auto(), _DERIVED, "How far a KIP-848 member is", "group_id, member_id, generation (its epoch), state; no state where it is gone"
    GENERATION_STORED = auto(), _DERIVED, "A generation was written, so its leader's assignment has arrived", "group_id, generation, leader_member_id"
    GROUP_BURIED = auto(), _DERIVED, "The group's metadata were deleted, by an operator, or because it was empty for long; its generations restart", "group_id"
    # fmt: on


def _about(subject: str) -> tuple[Kind, ...]:
    return tuple(kind for kind in Kind if kind.subject == subject)


GROUP_KINDS = _about(_GROUP)
COORDINATOR_KINDS = _about(_COORDINATOR)
PARTITION_KINDS = _about(_PARTITION)
CLIENT_KINDS = _about(_CLIENT)
PRODUCER_KINDS = _about(_PRODUCER)
RECORD_KINDS = _about(_RECORD)

KINDS = tuple(kind for kind in Kind if kind.subject not in (_RECORD, _DERIVED))
"""The kinds that log lines have."""
