"""Whether somebody asked for a change of leader, or Kafka's own tasks made it."""

from __future__ import annotations

from datetime import datetime

from spark_jobs.transforms.cluster import CLOCKS, ClusterContext
from spark_jobs.transforms.leaders.verdicts import PREFERRED, UNCLEAN, Change, is_among
from spark_jobs.transforms.windows import Row

_BY_SOMEBODY = ("AdminClientTriggered", "ZkTriggered")


def requested_by_operator(kind: str, change: Change, context: ClusterContext) -> bool | None:
    """Whether a person or a tool asked for the change; None where it cannot be told, or makes no sense.

    Odd: a ZooKeeper controller names who triggered each election; it elects an unclean leader by itself without a word.
    A KRaft controller tells of those of its own tasks, since 3.9, and prints nothing when somebody asks: what is told
    beside them was asked for; but what a task elects without a quorum shows under the next controller. By itself it
    also elects an unclean leader at once when the last one is fenced.
    Source: KafkaController.onReplicaElection; ReplicationControlManager.electLeaders, generateLeaderAndIsrUpdates,
    QuorumController.maybeScheduleNextBalancePartitionLeaders; no task of Kafka's own reassigns replicas.
    """
    if kind == "reassignment":
        return True
    reasons = {"preferred_election": PREFERRED, "unclean_election": UNCLEAN}.get(kind)
    if reasons is None:
        return None
    named = [e for e in context.elections if e["reason"] in reasons and _is_near(e, change.at) and is_among(change, e)]
    if named:
        return any(e["detail"] in _BY_SOMEBODY for e in named)
    if kind == "unclean_election" and _has_just_gone(change, context):
        return False
    if not context.hears_controller_at(change.at):
        return None
    if context.is_zookeepers:
        return False if kind == "unclean_election" else None
    is_begun = any(abs(change.at - term.since) <= CLOCKS for term in context.terms)
    return True if context.own_tasks.intersection(reasons) and not is_begun else None


def _is_near(event: Row, instant: datetime) -> bool:
    return bool(abs(event["happened_at"] - instant) <= CLOCKS)


def _has_just_gone(change: Change, context: ClusterContext) -> bool:
    """Whether the last leader had just been missed: the topic allows unclean leaders, and nobody had to ask."""
    outage = context.outage_at(change.last_leader, change.at)
    return bool(outage and outage["detected_at"] and abs(change.at - outage["detected_at"]) <= CLOCKS)
