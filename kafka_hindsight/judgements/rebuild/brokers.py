"""The judgements of the brokers, and the facts that all later judgements look at."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.judgements.brokers.cluster_context import CONTEXT_KINDS, context_of
from kafka_hindsight.judgements.brokers.controller_changes import rebuild_controller_changes
from kafka_hindsight.judgements.brokers.observed import find_missing_broker_logs, find_unobserved_spans, observe
from kafka_hindsight.judgements.brokers.outages import find_outages, lives_of, second_starts_of
from kafka_hindsight.judgements.brokers.settings_at import settings_of
from kafka_hindsight.judgements.groups.coordinators import OFFSETS_TOPIC
from kafka_hindsight.judgements.rebalances import GroupContext
from kafka_hindsight.judgements.rebalances.group_history import Expiry
from kafka_hindsight.judgements.rebalances.topic_changes import topic_changes
from kafka_hindsight.judgements.rebuild.broker_lines import (
    SIGNALS,
    about_brokers,
    controller_sightings,
    files_in_scope,
    namings,
    proofs_of_service,
    signs_of_life,
)
from kafka_hindsight.judgements.rebuild.metadata import EVENTS
from kafka_hindsight.judgements.rebuild.scope import Scope, WindowFacts
from kafka_hindsight.judgements.rebuild.settings import SETTINGS, of_no_topic
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, narrowed, table, union
from kafka_hindsight.knowledge.kinds import Kind
from kafka_hindsight.shared.arrow_tables import among, ends, with_columns
from kafka_hindsight.shared.windows import in_order


@dataclass(frozen=True)
class BrokerHistory:
    """Outages and starts of brokers, changes of the controller and of topics, and missing logs of one cluster."""

    outages: list[rows.BrokerOutage]
    controller_changes: list[rows.ControllerChange]
    missing_logs: list[rows.MissingBrokerLog]
    topic_changes: list[rows.TopicChange]
    log_spans: list[rows.LogSpan]
    unobserved: list[rows.UnobservedSpan]
    second_starts: list[rows.SecondStart]


def judge_brokers(
    events: list[rows.Event],
    signs: list[rows.Event],
    namings: list[rows.Event],
    controllers: list[rows.Event],
    proofs: list[rows.Event],
    readings: list[rows.BrokerSnapshot],
    files: list[rows.LogFile],
    scope: Scope,
) -> BrokerHistory:
    """The history of the cluster's brokers.

    Args:
        events: The events about brokers, controllers and topics.
        signs: Other lines that show a sign of life.
        namings: Other lines that name a broker.
        controllers: Other lines that show a controller at work.
        proofs: Lines that prove that a broker served.
        readings: The snapshots of brokers.
        files: The log files of the cluster.
        scope: The cluster and the window that is judged.
    """
    events = [*events, *signs, *namings, *controllers]
    observed = observe(in_order(events), in_order(proofs), readings, files) if events else None
    epochs = observed.terms if observed else ()
    lives = lives_of(observed)
    outages = find_outages(scope.cluster, observed, lives, readings, scope.wide_window)
    return BrokerHistory(
        outages,
        rebuild_controller_changes(events, outages, scope.wide_window),
        find_missing_broker_logs(events, readings, epochs),
        topic_changes(events, epochs),
        [
            rows.LogSpan(cluster=scope.cluster, broker=broker, first_at=first_at, last_at=last_at)
            for broker, first_at, last_at in (observed.logs.own_spans() if observed else ())
        ],
        find_unobserved_spans(scope.cluster, observed) if observed else [],
        second_starts_of(scope.cluster, lives),
    )


def gather_facts(
    events: list[rows.Event],
    controllers: list[rows.Event],
    outages: list[rows.BrokerOutage],
    changes: list[rows.TopicChange],
    log_spans: list[rows.LogSpan],
    observed: pa.Table,
    expiries: pa.Table,
    refusals: list[rows.Event],
    readings: pa.Table,
    scope: Scope,
) -> WindowFacts:
    """Gather the facts that all judgements of partitions and groups look at.

    `observed`, `expiries` and `readings` are the few rows of `observed_span`, `session_expiries` and `reading_times`.
    """
    written_at = observed["happened_at"].to_pylist()
    first_at, last_at = (min(written_at), max(written_at)) if written_at else (scope.window.start, scope.window.end)
    read_at = sorted(readings["snapshot_at"].to_pylist())
    last_partition = pc.max(readings["last_offsets_partition"]).as_py()
    before_outages = {bisect_right(read_at, o.down_at) for o in outages} - {0}
    expired = tuple(Expiry(*e.values()) for e in expiries.select(["broker", "happened_at", "group_id"]).to_pylist())
    refused = {kind: [e for e in refusals if e.kind == kind] for kind in _REFUSED}
    ordered = sorted(changes, key=lambda c: (c.at, c.kind, c.topic))
    return WindowFacts(
        outages=tuple(outages),
        context=context_of(
            [*events, *controllers], outages, log_spans, scope.clocks, refused[Kind.AUTHENTICATION_REFUSED]
        ),
        groups=GroupContext(
            scope.cluster,
            first_at,
            last_at,
            tuple(ordered),
            tuple(outages),
            tuple(log_spans),
            expired,
            [*refused[Kind.AUTHENTICATION_FAILED], *refused[Kind.QUOTA_CHANGED]],
        ),
        settings=settings_of(events),
        observed_to=last_at,
        read_at=tuple(read_at),
        last_read_at=max((at for at in read_at if scope.window.holds(at)), default=None),
        read_before_outages=frozenset(read_at[n - 1] for n in before_outages),
        offsets_partitions=None if last_partition is None else last_partition + 1,
    )


def context_lines(events: pa.Table) -> pa.Table:
    """Keep the few events that every judgement of a partition looks at."""
    return events.filter(among(events["kind"], CONTEXT_KINDS))


def observed_span(events: pa.Table) -> pa.Table:
    """Keep the first and the last event that a broker wrote."""
    return ends(events.filter(pc.equal(events["origin"], "broker")), ("cluster",), ("happened_at",))


def session_expiries(events: pa.Table) -> pa.Table:
    """Keep the lines in which a coordinator finds sessions of members expired."""
    has_expired = pc.or_kleene(
        pc.equal(events["kind"], str(Kind.MEMBER_FAILED)),
        pc.and_kleene(
            pc.equal(events["kind"], str(Kind.MEMBER_FENCED)), pc.match_substring(events["reason"], "session expired")
        ),
    )
    return events.filter(has_expired)


_REFUSED = (Kind.AUTHENTICATION_FAILED, Kind.AUTHENTICATION_REFUSED, Kind.QUOTA_CHANGED)


def refusal_lines(events: pa.Table) -> pa.Table:
    """Keep the lines about authentication that failed and quotas that changed: of each host or client two a minute."""
    lines = events.filter(among(events["kind"], _REFUSED))
    minute = pc.floor_temporal(lines["happened_at"], unit="minute")
    by = ("kind", "host", "broker", "node", "client_id", "minute")
    return ends(with_columns(lines, minute=minute), by, ("happened_at", "source", "order")).drop_columns(["minute"])


def reading_times(partitions: pa.Table) -> pa.Table:
    """The readings that show partitions, each with its highest partition of `__consumer_offsets`.

    The columns are snapshot_at and last_offsets_partition.
    """
    last = pc.if_else(pc.equal(partitions["topic"], OFFSETS_TOPIC), partitions["partition"], None)
    times = {"snapshot_at": partitions["snapshot_at"], "last_offsets_partition": last}
    return reading_times_together(pa.Table.from_pydict(times))


def reading_times_together(times: pa.Table) -> pa.Table:
    """Each reading once, with the highest partition that any part shows."""
    last = times.group_by("snapshot_at", use_threads=False).aggregate([("last_offsets_partition", "max")])
    return last.rename_columns(["snapshot_at", "last_offsets_partition"])


BROKERS = Judgement(
    "brokers",
    judge_brokers,
    ("cluster",),
    {
        "events": each(about_brokers, EVENTS),
        "signs": narrowed(signs_of_life, EVENTS),
        "namings": narrowed(namings, EVENTS),
        "controllers": narrowed(controller_sightings, EVENTS),
        "proofs": narrowed(proofs_of_service, EVENTS),
        "readings": table("bronze.broker_snapshots"),
        "files": each(files_in_scope, table("bronze.log_files", span="")),
    },
    needs=(SIGNALS,),
)

FACTS = Judgement(
    "facts",
    gather_facts,
    (),
    {
        "events": union(each(context_lines, EVENTS), each(of_no_topic, SETTINGS)),
        "controllers": narrowed(controller_sightings, EVENTS),
        "outages": BROKERS.output("outages"),
        "changes": BROKERS.output("topic_changes"),
        "log_spans": BROKERS.output("log_spans"),
        "observed": narrowed(observed_span, EVENTS),
        "expiries": narrowed(session_expiries, EVENTS),
        "refusals": narrowed(refusal_lines, EVENTS),
        "readings": narrowed(reading_times, table("bronze.partition_snapshots"), again=reading_times_together),
    },
)
