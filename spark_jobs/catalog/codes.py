"""The closed vocabularies of the tables: each code once. What a code means stands in spark_jobs/knowledge."""

CAUSES = (
    "member_joined",
    "member_rejoined",
    "member_left",
    "heartbeat_expired",
    "member_dead",
    "max_poll_exceeded",
    "sync_timeout",
    "join_timeout",
    "subscription_changed",
    "partitions_added",
    "topic_created",
    "topic_deleted",
    "metadata_changed",
    "client_requested",
    "removed_by_admin",
    "cooperative_followup",
    "static_member_changed",
    "assignor_changed",
    "group_over_capacity",
    "coordinator_moved",
    "storage_error",
    "unknown",
)
CONFIDENCES = ("certain", "likely", "possible", "unknown")
PROTOCOLS = ("classic", "consumer")
OUTCOMES = ("completed", "emptied", "interrupted", "unfinished")
INCIDENT_KINDS = (
    "single",
    "cooperative_pair",
    "rolling_restart",
    "storm",
    "coordinator_move",
    "broker_outage",
    "host_silent",
)
FINGERPRINTS = ("session_timeout", "poll_interval", "cron", "steady", "irregular")
FAILOVER_KINDS = (
    "log_dir_failed",
    "unclean_election",
    "offline",
    "leader_restored",
    "reassignment",
    "controlled_shutdown",
    "broker_unresponsive",
    "broker_crash",
    "preferred_election",
    "unknown",
)
OUTAGE_KINDS = ("controlled_shutdown", "crash", "unresponsive", "unknown")
ISR_CHANGES = ("shrink", "expand")
OUT_OF_SYNC_KINDS = ("outage", "slow", "disk", "reassignment", "unknown")
MOVE_EFFECTS = ("none", "rebalanced", "cut_short")
LOSS_SCOPES = ("broker", "rack")
TRUNCATION_VERDICTS = ("nothing_committed_lost", "committed_lost", "unknown")
IMBALANCE_ENDS = ("automatic_election", "requested_election", "preferred_election", "failover")
LAG_STATUSES = ("ok", "warn", "stall", "stop", "rewind")
REMEDY_SETTINGS = ("static_membership", "cooperative_assignment", "session_timeout", "max_poll_interval")
FINDING_SEVERITIES = ("critical", "warning", "info")
LINE_FATES = ("event", "ignored", "unparsed", "quarantined")
GROUP_RECORD_TYPES = (
    "group_metadata",
    "consumer_group_metadata",
    "consumer_group_partition_metadata",
    "consumer_group_member_metadata",
    "consumer_group_target_assignment_metadata",
    "consumer_group_target_assignment_member",
    "consumer_group_current_member_assignment",
    "consumer_group_regular_expression",
)
METADATA_RECORD_TYPES = (
    "topic",
    "remove_topic",
    "partition",
    "partition_change",
    "clear_elr",
    "register_broker",
    "unregister_broker",
    "fence_broker",
    "unfence_broker",
    "broker_registration_change",
    "config",
    "feature_level",
    "begin_transaction",
    "end_transaction",
    "abort_transaction",
    "leader_change",
    "undecoded",
)
MEMBER_STATES = ("stable", "unrevoked_partitions", "unreleased_partitions", "unknown")
SETTINGS_WITNESSES = ("member_line", "client_log", "group_record", "snapshot")
