"""What a reader is told instead of a code: each code of the catalog once. What to do about it comes in the rows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """Causes that a reader tells apart by one colour. `tone` is the name of that colour in the style sheet."""

    tone: str
    label: str
    causes: tuple[str, ...]


FAMILIES = (
    Family(
        "lost",
        "Members lost",
        (
            "heartbeat_expired",
            "member_dead",
            "max_poll_exceeded",
            "sync_timeout",
            "join_timeout",
            "group_over_capacity",
        ),
    ),
    Family("broker", "Brokers", ("coordinator_moved", "storage_error")),
    Family("member", "Members came and went", ("member_joined", "member_rejoined", "member_left")),
    Family(
        "topic",
        "Topics and subscriptions",
        ("subscription_changed", "partitions_added", "topic_created", "topic_deleted", "metadata_changed"),
    ),
    Family("asked", "Asked for", ("client_requested", "removed_by_admin")),
    Family("protocol", "Protocol steps", ("cooperative_followup", "static_member_changed", "assignor_changed")),
    Family("unknown", "Not known", ("unknown",)),
)
TONE_OF_CAUSE = {cause: family.tone for family in FAMILIES for cause in family.causes}


@dataclass(frozen=True)
class BrokerFamily:
    """Outages and failovers that a reader tells apart by one colour."""

    tone: str
    label: str
    outages: tuple[str, ...]
    failovers: tuple[str, ...]


BROKER_FAMILIES = (
    BrokerFamily("lost", "Partition in danger", (), ("log_dir_failed", "unclean_election", "offline")),
    BrokerFamily("broker", "Unplanned absence", ("crash", "unresponsive"), ("broker_unresponsive", "broker_crash")),
    BrokerFamily("member", "Shutdown", ("controlled_shutdown",), ("controlled_shutdown",)),
    BrokerFamily("asked", "Leader back", (), ("leader_restored", "preferred_election")),
    BrokerFamily("topic", "Reassignment", (), ("reassignment",)),
    BrokerFamily("unknown", "Not known", ("unknown",), ("unknown",)),
)
TONE_OF_OUTAGE = {kind: family.tone for family in BROKER_FAMILIES for kind in family.outages}
TONE_OF_FAILOVER = {kind: family.tone for family in BROKER_FAMILIES for kind in family.failovers}


CAUSE_LABELS = {
    "member_joined": "a member joined",
    "member_rejoined": "a member came back",
    "member_left": "a member left",
    "heartbeat_expired": "heartbeat session expired",
    "member_dead": "a member died",
    "max_poll_exceeded": "max poll interval exceeded",
    "sync_timeout": "a member did not sync in time",
    "join_timeout": "a member did not rejoin in time",
    "subscription_changed": "a subscription changed",
    "partitions_added": "partitions were added",
    "topic_created": "a topic was created",
    "topic_deleted": "a topic was deleted",
    "metadata_changed": "topic metadata changed",
    "client_requested": "the application asked for it",
    "removed_by_admin": "an administrator removed a member",
    "cooperative_followup": "cooperative follow-up",
    "static_member_changed": "a static member changed",
    "assignor_changed": "the assignor changed",
    "group_over_capacity": "the group was full",
    "coordinator_moved": "the coordinator moved",
    "storage_error": "the coordinator could not write",
    "unknown": "no known cause",
}

INCIDENT_LABELS = {
    "single": "Rebalance",
    "cooperative_pair": "Cooperative rebalance",
    "rolling_restart": "Rolling restart",
    "storm": "Storm",
    "coordinator_move": "Coordinator move",
    "broker_outage": "Broker outage",
    "host_silent": "Silent host",
}

# What became of the broker, as a sentence says it after its name.
OUTAGE_VERBS = {
    "controlled_shutdown": "was shut down",
    "crash": "crashed",
    "unresponsive": "was cut off",
    "unknown": "went away",
}
OUTAGE_LABELS = {
    "controlled_shutdown": "controlled shutdown",
    "crash": "crash",
    "unresponsive": "alive, but cut off",
    "unknown": "why is not known",
}

FAILOVER_LABELS = {
    "log_dir_failed": "log directory failed",
    "unclean_election": "unclean election",
    "offline": "left without a leader",
    "leader_restored": "has a leader again",
    "reassignment": "reassignment",
    "controlled_shutdown": "controlled shutdown",
    "broker_unresponsive": "broker cut off",
    "broker_crash": "broker crash",
    "preferred_election": "preferred election",
    "unknown": "not known",
}
ASKED_LABELS = {True: "asked for", False: "by Kafka itself"}
MOVE_LABELS = {"none": "undisturbed", "rebalanced": "rebalanced", "cut_short": "cut short in a rebalance"}

OUT_OF_SYNC_LABELS = {
    "slow": "it was alive and fetched too late",
    "disk": "its log directory failed",
    "unknown": "why is not known",
    "outage": "it was away",
    "reassignment": "it was moved away",
}
TONE_OF_LAPSE = {
    "slow": "broker",
    "disk": "lost",
    "unknown": "unknown",
    "outage": "member",
    "reassignment": "topic",
}
TRUNCATION_LABELS = {
    "committed_lost": "committed records",
    "unknown": "not known",
    "nothing_committed_lost": "nothing committed",
}
TRUNCATION_ORDER = tuple(TRUNCATION_LABELS)

LAG_LABELS = {
    "ok": "keeps up",
    "warn": "lag never falls",
    "stall": "commits, but stands still",
    "stop": "stopped committing",
    "rewind": "went back",
}

REMEDY_LABELS = {
    "static_membership": "static membership",
    "cooperative_assignment": "a cooperative assignor",
    "session_timeout": "a longer session timeout",
    "max_poll_interval": "a longer poll interval",
}

# How a claim begins that is not certain, inside a sentence. One whose reason is unknown claims nothing to hedge.
HEDGES = {"certain": "", "likely": "probably ", "possible": "possibly ", "unknown": ""}
