"""What a reader is told instead of a code: each code of the catalog once. What to do about it comes in the rows."""

from __future__ import annotations

from dataclasses import dataclass

from spark_jobs.catalog.causes import Cause, CauseFamily


@dataclass(frozen=True)
class Family:
    """Causes that a reader tells apart by one colour. `tone` is the name of that colour in the style sheet."""

    tone: str
    label: str
    causes: tuple[str, ...]


FAMILIES = tuple(Family(f, f.meaning, tuple(c for c in Cause if c.family is f)) for f in CauseFamily)
TONE_OF_CAUSE = {cause: family.tone for family in FAMILIES for cause in family.causes}
CAUSE_LABELS = {cause: cause.label for cause in Cause}


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
