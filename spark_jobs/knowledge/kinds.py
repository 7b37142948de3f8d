"""The kinds of events: what can happen, and which fields (columns of silver.events) each kind fills.

Patterns name kinds, transforms read them. A field in brackets in the meaning may be missing from older versions.
"""
# ruff: noqa: E501 - one kind a line

# --- the group coordinator, classic protocol -------------------------------------------------------------------
GROUP_KINDS: dict[str, str] = {
    "rebalance_started": "A join phase begins: group_id, generation (the OLD one), reason (raw, whole, with any client reason), [offsets_partition]",
    "join_completed": "The join phase ended ('Stabilized'): group_id, generation (the NEW one), [member_count], [offsets_partition]",
    "assignment_received": "The leader sent the assignment: group_id, generation, [leader_member_id], [member_count], [static_count]",
    "group_emptied": "The join phase ended with nobody: group_id, generation (the NEW one)",
    "member_left": "A member left by LeaveGroup, or by a heartbeat with epoch -1 under KIP-848: group_id, member_id, protocol, [instance_id, client_id, host, session_timeout_ms, rebalance_timeout_ms, client_reason, detail (its assignors)]",
    "member_failed": "The session of a member ran out, classic protocol: group_id, member_id",
    "member_id_assigned": "A new dynamic member asked to join and was sent back with an id: group_id, member_id, state",
    "member_added": "A member was added at once (old clients and static members): group_id, member_id, state, [instance_id]",
    "member_rejoined_pending": "A dynamic member came with its new id: group_id, member_id, state",
    "pending_member_removed": "A member id was given out and never used: group_id, member_id",
    "pending_member_left": "A member left before its join completed: group_id, member_id, [client_reason]",
    "static_member_replaced": "A static member came back: group_id, instance_id, [member_id], old_member_id, [state]",
    "static_rejoin_quiet": "The static member's return starts no rebalance (names no group)",
    "static_member_fenced": "Two processes with one instance id: instance_id, member_id, [group_id], detail (operation)",
    "members_not_rejoined": "Dynamic members dropped at the end of the join phase: group_id, members",
    "join_phase_extended": "No member rejoined in time: group_id",
    "group_leader_not_rejoined": "The leader did not rejoin in time: member_id, [instance_id], [leader_member_id (the new one)]",
    "group_loaded": "A coordinator loaded the group: group_id, [generation], [member_count], [protocol]",
    "group_unloaded": "A coordinator unloaded the group: group_id, generation, [protocol]",
    "member_loaded": "A member as loaded with its group: group_id, generation, member_id, client_id, host, session_timeout_ms, rebalance_timeout_ms, [instance_id], assignor",
    "group_dead": "The group was removed: group_id, [generation]",
    "groups_deleted": "Groups deleted by an administrator: detail (the ids)",
    "group_storage_failed": "The coordinator could not write the group: [group_id], [member_id], error",
    "group_converted": "The group changed its protocol: group_id, protocol (the new one)",
    # --- KIP-848 ----------------------------------------------------------------------------------------------
    "member_joined": "A member joined a KIP-848 group: group_id, member_id, [instance_id], protocol",
    "static_member_returned": "A static KIP-848 member came back under a new id: group_id, instance_id, member_id, old_member_id",
    "static_member_paused": "A static KIP-848 member left for a while: group_id, instance_id, member_id",
    "member_fenced": "A KIP-848 member was removed: group_id, member_id, reason, [took_ms (the limit)]",
    "epoch_bumped": "A KIP-848 group epoch began: group_id, generation (the NEW epoch), [detail (metadata hash)]",
    "target_computed": "A KIP-848 target assignment was computed: group_id, generation, assignor",
    "member_assignment_state": "A KIP-848 member reconciles (3.7-3.9): group_id, member_id, generation, state",
    "member_subscribed": "A KIP-848 member subscribed (3.7-3.9): group_id, member_id, detail (topics)",
    "subscription_metadata": "The topics of a KIP-848 group changed (3.7-3.9): group_id, detail",
}

# --- the coordinator's partitions --------------------------------------------------------------------------------
COORDINATOR_KINDS: dict[str, str] = {
    "coordinator_elected": "A broker became coordinator of a partition: offsets_partition, [leader_epoch]",
    "coordinator_resigned": "A broker stopped being coordinator of a partition: offsets_partition, [leader_epoch]",
    "coordinator_loaded": "Loading finished: offsets_partition, [leader_epoch], took_ms",
    "coordinator_load_failed": "Loading failed: offsets_partition, [leader_epoch], error",
    "coordinator_unloaded": "Unloading finished: offsets_partition, [leader_epoch]",
    "coordinator_write_failed": "A timer's write failed and is tried again: error, detail",
}

# --- leadership, replication -----------------------------------------------------------------------------------
LEADERSHIP_KINDS: dict[str, str] = {
    "leader_started": "This broker leads: topic, partition, leader_epoch, [previous_leader], previous_leader_epoch, log_offset, [high_watermark], [isr], [partition_epoch]; the writer is the leader",
    "follower_started": "This broker follows: topic, partition, leader_epoch, [leader], [previous_leader], [previous_leader_epoch], log_offset, [high_watermark], [partition_epoch]",
    "leadership_kept": "KRaft: this broker's role is unchanged ('Skipped the become-leader/-follower state change'), with the whole committed state: topic, partition, leader, leader_epoch, isr, partition_epoch, replicas",
    "leader_unavailable": "This broker was told of a leader that is not there: topic, partition, leader (-1: none), node (the controller), controller_epoch",
    "partition_recovering": "This broker was elected uncleanly: topic, partition",
    "partition_state_changed": "A ZooKeeper controller moved a partition: topic, partition, previous_state, state, leader, leader_epoch, isr, controller_epoch",
    "partition_state_failed": "A ZooKeeper controller could not move a partition: topic, partition, previous_state, state, controller_epoch",
    "replica_removed_from_isr": "A ZooKeeper controller took a replica out: topic, partition, leader, isr, leader_epoch, node (the replica), controller_epoch",
    "unclean_partition_change": "A KRaft controller printed UNCLEAN: topic, partition, [previous_isr], [isr], [previous_leader], [leader], previous_leader_epoch, leader_epoch, detail (the whole diff)",
    "unclean_leader_set": "A KRaft controller set a leader uncleanly: partition, leader, detail",
    "partition_created": "A partition was created: topic, partition, [leader], [leader_epoch], [isr], [replicas]",
    "isr_shrink_proposed": "The leader asks for a smaller ISR: topic, partition, previous_isr, isr, [high_watermark], [log_offset (end offset)], [detail (who is out)]",
    "isr_expand_proposed": "The leader asks for a larger ISR: topic, partition, previous_isr, isr",
    "isr_updated": "The ISR changed: topic, partition, isr, [partition_epoch]",
    "isr_update_rejected": "The change of an ISR was refused: topic, partition, error",
    "log_truncated": "A replica cut its log: topic, partition, log_offset, [high_watermark], detail",
    "log_loaded": "A replica opened its log: topic, partition, high_watermark",
    "log_end_loaded": "A replica opened its log, with its end: topic, partition, log_offset (end offset), high_watermark",
    "fetch_failed": "A follower could not fetch: node (the leader), [detail]",
    "election_started": "A controller starts an election: reason (PREFERRED, UNCLEAN), detail (who asked), [members (partitions)]",
    "preferred_election_completed": "A preferred election was done: topic, partition, leader",
    "periodic_election": "A KRaft controller's periodic task: reason (electPreferred, electUnclean), event_count",
    "reassignment_changed": "A reassignment moved on: topic, partition, detail",
    "leader_imbalance_seen": "The ZooKeeper controller measured imbalance: node, detail (the ratio)",
}

# --- topics ----------------------------------------------------------------------------------------------------
TOPIC_KINDS: dict[str, str] = {
    "topic_created": "A topic was created: topic",
    "topic_deleted": "A topic was deleted: topic",
    "partitions_added": "Partitions were added to a topic: topic",
    "topic_configured": "All settings a topic has of its own, as a broker applies them: topic, [partition], [detail (name=value or name -> value, by commas; missing where it has none)]",
    "config_changed": "A setting of a topic or broker changed: topic or node, reason (the setting), detail (the value)",
}

# --- the life of brokers and controllers -----------------------------------------------------------------------
BROKER_KINDS: dict[str, str] = {
    "broker_starting": "The process starts",
    "broker_started": "The broker serves",
    "broker_shutdown_started": "The broker shuts down",
    "controlled_shutdown_started": "It asks the controller to move its leaders",
    "controlled_shutdown_done": "The controller let it go",
    "controlled_shutdown_failed": "It goes without",
    "broker_stopped": "Shut down completed",
    "broker_registered": "It registered: node, [detail (epoch)]",
    "broker_unfenced_self": "It was unfenced, it says",
    "broker_heartbeat_failed": "It could not reach the controller: [error]",
    "broker_fenced": "A KRaft controller fenced it for its silence: node",
    "broker_registration_changed": "A registration record: node, fenced, in_controlled_shutdown",
    "broker_incarnated": "A controller saw a new incarnation: node",
    "broker_unfence_granted": "A controller lets it serve: node",
    "broker_controlled_shutdown_granted": "A controller begins its controlled shutdown: node",
    "broker_shutdown_granted": "A controller lets it go: node",
    "partitions_changed": "A KRaft controller moved partitions: reason (handleBrokerFenced, ...), [node], event_count",
    "brokers_changed": "A ZooKeeper controller saw brokers come and go: detail ('ADDED, deleted brokers: DELETED, bounced brokers: BOUNCED, all live brokers: LIVE', ids by commas)",
    "brokers_listed": "A ZooKeeper controller that was just elected lists the brokers that it finds alive: nodes",
    "broker_failed": "A ZooKeeper controller lost brokers: nodes",
    "broker_shutdown_requested": "A ZooKeeper controller was asked to move a broker's leaders: node",
    "broker_came": "A ZooKeeper controller sees brokers start: nodes",
    "controller_elected": "This node became the controller: controller_epoch, [node]",
    "controller_resigned": "This node is the controller no more: [controller_epoch]",
    "controller_known": "This node learned who the controller is: controller_epoch, [node; missing where nobody is]",
    "zookeeper_session_expired": "The broker lost its ZooKeeper session",
    "log_dir_failed": "A log directory failed: [node], [nodes], [members: its partitions], detail",
    "broker_halted": "The broker ends itself at once, since its last log directory failed: detail",
    "broker_configured": "A broker's settings in force, at its start and after each change: detail (name = value, a line each)",
    "cluster_named": "A line tells the cluster id: detail",
}

# --- clients ---------------------------------------------------------------------------------------------------
CLIENT_KINDS: dict[str, str] = {
    "client_configured": "A Java consumer printed its settings at start: client_id, [group_id, instance_id, session_timeout_ms, rebalance_timeout_ms (max.poll.interval.ms), heartbeat_interval_ms, assignor (all it offers), protocol]",
    "client_subscribed": "It subscribed: client_id, group_id, [instance_id], detail (topics or pattern)",
    "client_joining": "It asks to join: client_id, group_id, [instance_id]",
    "client_join_requested": "It says why it wants to join: client_id, group_id, [instance_id], reason",
    "client_joined": "It joined: client_id, group_id, [instance_id], generation, [member_id]",
    "client_synced": "It got its assignment: client_id, group_id, [instance_id], generation, [member_id]",
    "client_leaving": "It leaves: client_id, group_id, [member_id], client_reason",
    "client_poll_expired": "max.poll.interval ran out, it says: client_id, [group_id], [took_ms (librdkafka: the limit)]",
    "client_poll_exceeded": "By how much (KIP-848): client_id, group_id, member_id, took_ms",
    "client_heartbeat_refused": "Its heartbeat was refused: client_id, group_id, error, [generation], [member_id]",
    "client_generation_reset": "It forgot its generation: client_id, group_id, reason",
    "client_coordinator_lost": "It lost its coordinator: client_id, group_id, reason",
    "client_coordinator_found": "It found its coordinator: client_id, group_id, node (the broker id)",
    "client_assigned": "Partitions came: client_id, group_id, detail (the list)",
    "client_revoked": "Partitions went: client_id, group_id, detail",
    "client_lost": "Partitions were lost: client_id, group_id, detail",
    "client_assignment_finished": "As leader it made the assignment: client_id, group_id, generation, detail",
    "client_state_changed": "KIP-848 member: client_id, group_id, member_id, generation (member epoch), previous_state, state",
    "client_heartbeat_error": "KIP-848 member: client_id, group_id, error",
    "client_releasing": "KIP-848 member gives back its partitions and leaves: client_id, group_id, member_id",
    "client_instance_fenced": "Another process has its instance id: client_id, group_id",
    "client_session_timeout": "librdkafka heard nothing from the coordinator: client_id, took_ms, detail",
    "client_commit_failed": "A commit failed: client_id, [group_id], error",
    "client_disconnected": "A connection was lost: client_id, [group_id], [node], [detail]",
    "client_closed": "The consumer was closed: client_id, [group_id]",
}

KINDS: dict[str, str] = {
    **GROUP_KINDS,
    **COORDINATOR_KINDS,
    **LEADERSHIP_KINDS,
    **TOPIC_KINDS,
    **BROKER_KINDS,
    **CLIENT_KINDS,
}

# --- told by no line, only by records ------------------------------------------------------------------------------
RECORD_KINDS: dict[str, str] = {
    "broker_fenced_idle": "KRaft fenced a broker that led nothing, for its silence or since it asked to go: node",
    "partition_changed": "KRaft committed a change of a partition: topic, partition, leader, leader_epoch, previous_leader, previous_leader_epoch (the same where the leader stays), partition_epoch, isr, previous_isr, replicas, state, previous_state, detail (the whole diff)",
}
