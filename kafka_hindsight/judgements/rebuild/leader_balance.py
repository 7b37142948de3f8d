"""The judgement of the balance of leaders of a whole cluster, by readings or, without any, by logs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.judgements.partitions.leaders.imbalance import rebuild_imbalance_periods
from kafka_hindsight.judgements.partitions.leaders.imbalance_in_logs import hosts_of, imbalance_in_logs
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebuild.aftermath import FAILOVERS
from kafka_hindsight.judgements.rebuild.brokers import FACTS, WindowFacts
from kafka_hindsight.judgements.rebuild.events import EVENTS
from kafka_hindsight.judgements.rebuild.partitions import PARTITIONS, READINGS
from kafka_hindsight.judgements.rebuild.sources import Judgement, narrowed, where_among
from kafka_hindsight.shared.arrow_tables import FIRST, ends
from kafka_hindsight.shared.durations import NEVER
from kafka_hindsight.shared.instants import earliest

_IN_SERVICE = (Kind.BROKER_STARTED, Kind.BROKER_UNFENCED_SELF)


def first_starts(events: pa.Table) -> pa.Table:
    """Keep the first of the lines with which each broker says that it started to serve.

    By then it has said of each partition that it leads or follows it, or does so at once.
    Source: BrokerServer.startup waits for the first publication of metadata before it is unfenced; KafkaController
    sends a broker that registers all of its partitions (onBrokerStartup).
    """
    return ends(events, ("broker",), ("happened_at", "source", "order"), (FIRST,))


@dataclass(frozen=True)
class Balance:
    """The imbalance of leaders at each instant, and the periods above the threshold."""

    imbalance: list[rows.LeaderImbalance]
    imbalance_periods: list[rows.ImbalancePeriod]


def judge_balance(
    readings: list[rows.LeaderImbalance],
    leader_spans: list[rows.LeaderSpan],
    starts: list[rows.Event],
    failovers: list[rows.Failover],
    scope: Scope,
    facts: WindowFacts,
) -> Balance:
    """Judge the balance of leaders: by the readings of the window, or where it has none by its logs."""
    imbalance = readings or imbalance_in_logs(
        leader_spans, _listed_from(leader_spans, starts, facts), scope.window, facts.groups.observed_to
    )
    return Balance(imbalance, rebuild_imbalance_periods(imbalance, failovers))


def _listed_from(leader_spans: list[rows.LeaderSpan], starts: list[rows.Event], facts: WindowFacts) -> datetime | None:
    """The instant by which logs list all partitions: each broker had started, or the metadata log was at hand."""
    started_at = {start.broker: start.happened_at for start in starts}
    hosts = hosts_of(leader_spans)
    by_starts = max(started_at[b] for b in hosts) if hosts and hosts <= started_at.keys() else None
    return earliest(by_starts, facts.context.records_from if facts.context.records_from != NEVER else None)


BALANCE = Judgement(
    "balance",
    (judge_balance,),
    ("cluster",),
    {
        "readings": READINGS.output("imbalance"),
        "leader_spans": PARTITIONS.output("leader_spans"),
        "starts": narrowed(first_starts, where_among("kind", _IN_SERVICE, EVENTS)),
        "failovers": FAILOVERS,
    },
    needs=(FACTS,),
)
