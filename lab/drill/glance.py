"""The verdicts on a cluster's logs, in a second and without Spark: for lessons, while a cluster runs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.rows import BrokerOutage, Failover, Rebalance
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.brokers.controllers import controller_epochs_of
from kafka_hindsight.judgements.brokers.lives import lives_of
from kafka_hindsight.judgements.brokers.observed import observe
from kafka_hindsight.judgements.brokers.outages import find_outages
from kafka_hindsight.judgements.brokers.topic_changes import topic_changes
from kafka_hindsight.judgements.partitions.incarnations import incarnations_of
from kafka_hindsight.judgements.partitions.leaders.failovers import rebuild_leaders
from kafka_hindsight.judgements.rebalances import GroupContext, rebuild_group
from kafka_hindsight.shared.grouping import grouped
from kafka_hindsight.shared.windows import Window, in_order
from tools.plain_reader import read_logs


@dataclass(frozen=True)
class Glance:
    """Rows of the gold tables of the same names."""

    rebalances: list[Rebalance]
    broker_outages: list[BrokerOutage]
    failovers: list[Failover]


def glance(logs: Path, clients: Path) -> Glance:
    """The tables of a small cluster's logs and its clients', from the brokers' first line to their last.

    Lines of librdkafka name no group, so the logs of such members are not used.
    """
    of_brokers = in_order(read_logs(logs, "broker", "drill")[0])
    of_clients = in_order(read_logs(clients, "client", "drill")[0]) if clients.is_dir() else []
    first, last = of_brokers[0].happened_at, of_brokers[-1].happened_at
    window = Window(first, last + timedelta(seconds=1))
    observed = observe(of_brokers, [], [], [])
    outages = find_outages("drill", observed, lives_of(observed), [], window)
    changes = topic_changes(of_brokers, controller_epochs_of(of_brokers))
    refusals = [e for e in of_brokers if e.kind in (Kind.AUTHENTICATION_FAILED, Kind.QUOTA_CHANGED)]
    context = GroupContext(of_brokers[0].cluster, first, last, changes, outages, refusals=refusals)
    of_group = grouped(in_order([*of_brokers, *of_clients]), lambda e: e.group_id)
    group_ids = sorted({e.group_id for e in of_brokers if e.group_id})
    facts = context_of(of_brokers, outages)
    incarnations = incarnations_of(of_brokers, {}, facts.controller_epochs, changes)
    return Glance(
        rebalances=[row for name in group_ids for row in rebuild_group(name, of_group[name], context).rebalances],
        broker_outages=outages,
        failovers=rebuild_leaders(incarnations, facts, window).failovers,
    )
