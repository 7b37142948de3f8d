"""The judgements of the brokers, and the facts that all later judgements look at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.brokers.broker_settings import settings_of
from kafka_hindsight.judgements.brokers.cluster_context import context_of
from kafka_hindsight.judgements.brokers.controller_changes import rebuild_controller_changes
from kafka_hindsight.judgements.brokers.observed import find_missing_broker_logs, find_unobserved_spans, observe
from kafka_hindsight.judgements.brokers.outages import find_outages
from kafka_hindsight.judgements.rebalances import GroupContext
from kafka_hindsight.judgements.rebalances.topics import topic_changes
from kafka_hindsight.judgements.rebuild.scope import Scope, WindowFacts
from kafka_hindsight.shared.windows import in_order


@dataclass(frozen=True)
class BrokerHistory:
    """Which brokers were away, which were the controller, whose logs are missing, which topics changed."""

    outages: list[rows.BrokerOutage]
    controller_changes: list[rows.ControllerChange]
    missing_logs: list[rows.MissingBrokerLog]
    topic_changes: list[rows.TopicChange]
    log_spans: list[rows.LogSpan]
    unobserved: list[rows.UnobservedSpan]


def judge_brokers(
    events: list[rows.Event],
    proofs: list[rows.Event],
    readings: list[rows.BrokerSnapshot],
    files: list[rows.LogFile],
    scope: Scope,
) -> BrokerHistory:
    """The history of the cluster's brokers. Takes: `proofs`, more lines that show a broker to serve."""
    observed = observe(in_order(events), in_order(proofs), readings, files) if events else None
    epochs = observed.terms if observed else ()
    outages = find_outages(scope.cluster, observed, readings, scope.seen)
    return BrokerHistory(
        outages,
        rebuild_controller_changes(events, outages, scope.seen),
        find_missing_broker_logs(events, readings, epochs),
        topic_changes(events, epochs),
        [
            rows.LogSpan(cluster=scope.cluster, broker=broker, first_at=first_at, last_at=last_at)
            for broker, first_at, last_at in (observed.logs.own_spans() if observed else ())
        ],
        find_unobserved_spans(scope.cluster, observed) if observed else [],
    )


def gather_facts(
    events: list[rows.Event],
    outages: list[rows.BrokerOutage],
    changes: list[rows.TopicChange],
    log_spans: list[rows.LogSpan],
    observed: list[rows.ObservedSpan],
    readings: list[rows.ReadingTime],
    scope: Scope,
) -> WindowFacts:
    """What all judgements of partitions and groups look at. Takes: few rows, on the driver."""
    first_at, last_at = next(
        ((o.first_at, o.last_at) for o in observed if o.first_at and o.last_at), (scope.window.start, scope.window.end)
    )
    read_at = sorted(r.snapshot_at for r in readings)
    last_partitions = [r.last_offsets_partition for r in readings if r.last_offsets_partition is not None]
    ordered = sorted(changes, key=lambda c: (c.at, c.kind, c.topic))
    return WindowFacts(
        outages=tuple(outages),
        context=context_of(events, outages, log_spans, scope.clocks_apart),
        groups=GroupContext(scope.cluster, first_at, last_at, tuple(ordered), tuple(outages)),
        settings=settings_of(events),
        observed_to=last_at,
        read_at=tuple(read_at),
        last_read_at=max((at for at in read_at if scope.window.holds(at)), default=None),
        offsets_partitions=max(last_partitions) + 1 if last_partitions else None,
        later_blocks=frozenset(chain(*(o.later_blocks for o in observed), *(r.later_blocks for r in readings))),
    )
