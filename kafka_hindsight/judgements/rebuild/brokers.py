"""The judgements of the brokers, the few lines that they read, and the facts that all later judgements look at."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kafka_hindsight.catalog import rows
from kafka_hindsight.catalog.codes import Origin
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.judgements.brokers.cluster_context import CONTEXT_KINDS, ClusterContext, context_of
from kafka_hindsight.judgements.brokers.controller_changes import WHY_CONTROLLERS_CHANGE, rebuild_controller_changes
from kafka_hindsight.judgements.brokers.controllers import ACTS, CONTROLLER_KINDS
from kafka_hindsight.judgements.brokers.echoes import hedge_echoes
from kafka_hindsight.judgements.brokers.input_spans import find_input_spans
from kafka_hindsight.judgements.brokers.liveness import (
    ACTIVE_KINDS,
    MEMBER_KINDS,
    PRESENCE_KINDS,
    SERVING_KINDS,
    SIGNAL_KINDS,
)
from kafka_hindsight.judgements.brokers.lives import lives_of
from kafka_hindsight.judgements.brokers.log_witnesses import find_witnesses
from kafka_hindsight.judgements.brokers.observed import find_missing_broker_logs, find_unobserved_spans, observe
from kafka_hindsight.judgements.brokers.outages import find_outages
from kafka_hindsight.judgements.brokers.second_starts import second_starts_of
from kafka_hindsight.judgements.brokers.settings_at import BrokerSettings, settings_of
from kafka_hindsight.judgements.brokers.topic_changes import TOPIC_CHANGE_KINDS, topic_changes
from kafka_hindsight.judgements.groups.coordinators import OFFSETS_TOPIC
from kafka_hindsight.judgements.reasoning.read_times import ALL_READ, ReadTimes
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.judgements.rebalances import GroupContext
from kafka_hindsight.judgements.rebuild.events import EVENT_ORDER, EVENTS, SETTINGS
from kafka_hindsight.judgements.rebuild.sources import Judgement, each, lake_table, narrowed, union, where, where_among
from kafka_hindsight.kafka_records import metadata_log
from kafka_hindsight.shared.arrow_tables import FIRST, among, as_scalar, distinct, ends, repeated, with_columns
from kafka_hindsight.shared.windows import broker_ids, in_order

BROKER_KINDS = frozenset({
    *PRESENCE_KINDS,
    *CONTROLLER_KINDS,
    *WHY_CONTROLLERS_CHANGE,
    *TOPIC_CHANGE_KINDS,
    Kind.BROKER_CONFIGURED,
})  # fmt: skip

_QUOTED = (
    "line_id", "cluster", "origin", "source", "happened_at", "order", "broker", "kind", "pattern_id", "text", "topic",
)  # fmt: skip
"""The columns of a line that only shows a sign of life."""

Instants = npt.NDArray[np.int64]
"""Microseconds since 1970, in order, each once."""

_INPUT_INSTANT = ["cluster", "happened_at"]
"""The columns of an instant at which an input was read."""

_REFUSED = (Kind.AUTHENTICATION_FAILED, Kind.AUTHENTICATION_REFUSED, Kind.QUOTA_CHANGED)


def signals_in(events: pa.Table) -> pa.Table:
    """The instants of signals about any broker that no client wrote, each once: happened_at."""
    is_signal = pc.and_(among(events["kind"], SIGNAL_KINDS), pc.not_equal(events["origin"], str(Origin.CLIENT)))
    return distinct(events.filter(is_signal).select(["happened_at"]))


def instants_of(signals: pa.Table) -> Instants:
    """The instants of signals in order."""
    return np.unique(signals["happened_at"].cast(pa.int64()).to_numpy())


SIGNALS = Judgement("signals", (instants_of,), (), {"signals": narrowed(signals_in, EVENTS, again=distinct)})
"""The instants of signals about the life of any broker."""


def about_brokers(events: pa.Table) -> pa.Table:
    """Keep the events about brokers, controllers and topics that no client wrote."""
    return events.filter(
        pc.and_(pc.not_equal(events["origin"], str(Origin.CLIENT)), among(events["kind"], BROKER_KINDS))
    )


def signs_of_life(events: pa.Table, signals: Instants) -> pa.Table:
    """Keep each broker's first and last line between two signals, in each hour, with and without proof of activity."""
    is_other = pc.and_(pc.equal(events["origin"], str(Origin.BROKER)), pc.invert(among(events["kind"], BROKER_KINDS)))
    lines = events.filter(is_other).select(_QUOTED)
    is_metadata = pc.fill_null(pc.equal(lines["topic"], metadata_log.TOPIC), False)
    is_active = pc.and_not(among(lines["kind"], ACTIVE_KINDS), is_metadata)
    return _between(with_columns(lines, is_active=is_active), signals, "is_active")


def proofs_of_service(events: pa.Table, signals: Instants) -> pa.Table:
    """Keep lines that prove that a broker served: of each sort the first and last between two signals, in each hour.

    The broker that serves is the one that writes the line, or the leader that a follower names.
    """
    is_proof = pc.and_(pc.equal(events["origin"], str(Origin.BROKER)), among(events["kind"], SERVING_KINDS))
    lines = events.filter(is_proof).select([*_QUOTED, "leader"])
    leader = pc.if_else(pc.equal(lines["kind"], str(Kind.FOLLOWER_STARTED)), lines["leader"], None)
    lines = with_columns(lines, leader=leader, is_member=among(lines["kind"], MEMBER_KINDS))
    return _between(lines, signals, "is_member", "leader")


def _between(lines: pa.Table, signals: Instants, *sort: str) -> pa.Table:
    """The first and the last line of each broker and sort between two signals, in each hour."""
    at = lines["happened_at"].cast(pa.int64()).to_numpy()
    intervals = np.searchsorted(signals, at, "left") + np.searchsorted(signals, at, "right")
    numbered = with_columns(
        lines, hour=pc.floor_temporal(lines["happened_at"], unit="hour"), interval=pa.array(intervals, pa.int64())
    )
    return ends(numbered, ("broker", "hour", "interval", *sort), EVENT_ORDER).drop_columns(["hour", "interval"])


def broker_namings(events: pa.Table) -> pa.Table:
    """Keep the first and the last line that names each broker as a leader or in an ISR."""
    is_naming = pc.and_(
        pc.not_equal(events["origin"], str(Origin.CLIENT)),
        pc.or_(pc.is_valid(events["isr"]), pc.is_valid(events["leader"])),
    )
    lines = events.filter(is_naming).select([*_QUOTED, "isr", "leader"])
    pairs = zip(lines["isr"].to_pylist(), lines["leader"].to_pylist(), strict=True)
    broker_sets = [{*(broker_ids(isr) or ()), leader} - {None} for isr, leader in pairs]
    of_each = repeated(lines, [len(ids) for ids in broker_sets])
    of_each = with_columns(of_each, named_broker=pa.array([i for ids in broker_sets for i in sorted(ids)], pa.int32()))
    outermost = ends(of_each, ("named_broker",), EVENT_ORDER).drop_columns(["named_broker"])
    return ends(outermost, ("line_id",), EVENT_ORDER, (FIRST,))


def controller_sightings(events: pa.Table) -> pa.Table:
    """Keep the first line of each hour that shows a controller in ZooKeeper mode at work, as one that names it."""
    acts = events.filter(among(events["pattern_id"], ACTS)).select([*_QUOTED, "node", "controller_epoch"])
    sightings = with_columns(
        acts,
        kind=pa.array([str(Kind.CONTROLLER_KNOWN)] * acts.num_rows, pa.string()),
        node=pc.coalesce(acts["node"], acts["broker"]),
        hour=pc.floor_temporal(acts["happened_at"], unit="hour"),
    )
    return ends(sightings, ("node", "controller_epoch", "hour"), EVENT_ORDER, (FIRST,)).drop_columns(["hour"])


def files_in_scope(files: pa.Table, scope: Scope) -> pa.Table:
    """Keep the files of brokers' logs that reach into the window with its look-back and look-ahead."""
    first, last = files["first_at"], files["last_at"]
    reaches = pc.and_(
        pc.greater_equal(last, as_scalar(last, scope.wide_window.start)),
        pc.less(first, as_scalar(first, scope.wide_window.end)),
    )
    return files.filter(pc.and_(pc.equal(files["origin"], str(Origin.BROKER)), reaches))


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
    """The history of the cluster's brokers, by the events about them and by other lines that show what they did."""
    events = [*events, *signs, *namings, *controllers]
    observed = observe(in_order(events), in_order(proofs), readings, files) if events else None
    epochs = observed.terms if observed else ()
    lives = lives_of(observed)
    outages = hedge_echoes(find_outages(scope.cluster, observed, lives, readings, scope.wide_window), scope.clocks)
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


@dataclass(frozen=True)
class WitnessHistory:
    """The witnesses of the window, and the inputs beside the brokers' logs."""

    witnesses: list[rows.Witness]
    input_spans: list[rows.InputSpan]


def judge_witnesses(
    hours: list[rows.ParsedHour],
    missing_logs: list[rows.MissingBrokerLog],
    outages: list[rows.BrokerOutage],
    readings: list[rows.InputInstant],
    records: list[rows.InputInstant],
    loads: list[rows.Event],
    log_spans: list[rows.LogSpan],
    cluster: str,
    scope: Scope,
) -> WitnessHistory:
    """Find what the logs of each broker could show in the window, and which other inputs were read."""
    read_at, written_at = ([row.happened_at for row in own] for own in (readings, records))
    return WitnessHistory(
        find_witnesses(cluster, hours, missing_logs, outages, scope.window, {e.broker for e in loads}, log_spans),
        find_input_spans(cluster, hours, read_at, written_at, scope.window),
    )


@dataclass(frozen=True)
class WindowFacts:
    """Facts that are small and the same for all partitions and groups.

    `last_read_at`: the last reading of the window that shows partitions; `read_before_outages` the last before each
    absence of a broker. `offsets_partitions`: None where no reading shows it.
    """

    context: ClusterContext
    groups: GroupContext
    settings: BrokerSettings
    last_read_at: datetime | None
    read_before_outages: frozenset[datetime]
    offsets_partitions: int | None


def gather_facts(
    events: list[rows.Event],
    controllers: list[rows.Event],
    outages: list[rows.BrokerOutage],
    changes: list[rows.TopicChange],
    log_spans: list[rows.LogSpan],
    observed: pa.Table,
    expiries: list[rows.Event],
    refusals: list[rows.Event],
    stalls: list[rows.Event],
    witnesses: list[rows.Witness],
    readings: pa.Table,
    files: list[rows.LogFile],
    scope: Scope,
) -> WindowFacts:
    """Gather the facts that all judgements of partitions and groups look at.

    `observed` and `readings` are the few rows of `observed_span` and `reading_times`. The logs end with their last
    line, an event or not: what it does not show did not happen until then.
    """
    written_at = observed["happened_at"].to_pylist()
    first_at, last_at = (min(written_at), max(written_at)) if written_at else (scope.window.start, scope.window.end)
    last_at = max([last_at, *(min(f.last_at, scope.wide_window.end) for f in files if f.last_at)])
    read_at = sorted(readings["snapshot_at"].to_pylist())
    last_partition = pc.max(readings["last_offsets_partition"]).as_py()
    before_outages = {bisect_right(read_at, o.down_at) for o in outages} - {0}
    refused = {kind: [e for e in refusals if e.kind == kind] for kind in _REFUSED}
    ordered = sorted(changes, key=lambda c: (c.at, c.kind, c.topic))
    read_times = ReadTimes.of(files)
    return WindowFacts(
        context=context_of(
            [*events, *controllers],
            outages,
            log_spans,
            scope.clocks,
            refused[Kind.AUTHENTICATION_REFUSED],
            witnesses,
            # Records of the metadata log show what logs of their time do not.
            ALL_READ if any(e.origin == Origin.RECORD for e in events) else read_times,
        ),
        groups=GroupContext(
            scope.cluster,
            first_at,
            last_at,
            tuple(ordered),
            tuple(outages),
            tuple(log_spans),
            expiries,
            [*refused[Kind.AUTHENTICATION_FAILED], *refused[Kind.QUOTA_CHANGED]],
            stalls,
            read_times,
        ),
        settings=settings_of(events),
        last_read_at=max((at for at in read_at if scope.window.holds(at)), default=None),
        read_before_outages=frozenset(read_at[n - 1] for n in before_outages),
        offsets_partitions=None if last_partition is None else last_partition + 1,
    )


def observed_span(events: pa.Table) -> pa.Table:
    """Keep the first and the last event that a broker wrote."""
    return ends(events.filter(pc.equal(events["origin"], "broker")), ("cluster",), ("happened_at",))


def _shows_expiry(events: pa.Table) -> pa.ChunkedArray:
    """Whether a coordinator finds the session of a member expired in each line."""
    is_fenced = pc.and_kleene(
        pc.equal(events["kind"], str(Kind.MEMBER_FENCED)), pc.match_substring(events["reason"], "session expired")
    )
    is_reason = pc.and_kleene(
        pc.equal(events["kind"], str(Kind.REBALANCE_STARTED)),
        pc.match_substring(events["reason"], "on heartbeat expiration"),
    )
    is_failed = pc.equal(events["kind"], str(Kind.MEMBER_FAILED))
    return pc.or_kleene(pc.or_kleene(is_failed, is_fenced), is_reason)


_ASLEEP_MS = 60_000
"""No session of ZooKeeper is so long by default: a client that heard nothing for longer did not run.

Source: maxSessionTimeout is 20 ticks of 2 s; ClientCnxn's SendThread looks after two thirds of a session."""


def _shows_stall(events: pa.Table) -> pa.ChunkedArray:
    """Whether a line shows that its process had stood still for a minute or more."""
    is_of_client = pc.equal(events["kind"], str(Kind.ZOOKEEPER_CLIENT_SPOKE))
    return pc.and_kleene(is_of_client, pc.greater_equal(events["took_ms"], _ASLEEP_MS))


def authentication_lines(events: pa.Table) -> pa.Table:
    """Keep of lines about refused authentication and quotas two a minute for each host or client."""
    minute = pc.floor_temporal(events["happened_at"], unit="minute")
    by = ("kind", "host", "broker", "node", "client_id", "minute")
    return ends(with_columns(events, minute=minute), by, ("happened_at", "source", "order")).drop_columns(["minute"])


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


def reading_instants(partitions: pa.Table) -> pa.Table:
    """The instants of the readings of each cluster."""
    return distinct(partitions.select(["cluster", "snapshot_at"]).rename_columns(_INPUT_INSTANT))


def record_instants(records: pa.Table) -> pa.Table:
    """The instants of records of groups."""
    return records.select(["cluster", "written_at"]).rename_columns(_INPUT_INSTANT)


def commit_instants(commits: pa.Table) -> pa.Table:
    """The instants of the first and the last commit of each run."""
    instants = [commits.select(["cluster", name]).rename_columns(_INPUT_INSTANT) for name in ("first_at", "last_at")]
    return pa.concat_tables(instants)


def input_edges(instants: pa.Table) -> pa.Table:
    """The first and the last of the instants of each cluster."""
    return ends(instants, ("cluster",), ("happened_at",))


def loads_of_groups(events: pa.Table) -> pa.Table:
    """Keep the lines of brokers that loaded records of groups, or may have, as the lines do not count them."""
    loads = events.filter(pc.equal(events["kind"], str(Kind.COORDINATOR_LOADED)))
    return loads.filter(pc.not_equal(pc.fill_null(loads["event_count"], 1), 0))


BROKERS = Judgement(
    "brokers",
    (judge_brokers,),
    ("cluster",),
    {
        "events": each(about_brokers, EVENTS),
        "signs": narrowed(signs_of_life, EVENTS),
        "namings": narrowed(broker_namings, EVENTS),
        "controllers": narrowed(controller_sightings, EVENTS),
        "proofs": narrowed(proofs_of_service, EVENTS),
        "readings": lake_table("bronze.broker_snapshots"),
        "files": each(files_in_scope, lake_table("bronze.log_files", span="")),
    },
    needs=(SIGNALS,),
)

WITNESSES = Judgement(
    "witnesses",
    (judge_witnesses,),
    ("cluster",),
    {
        "hours": lake_table("quality.parsed_hours", span="week"),
        "missing_logs": BROKERS.output("missing_logs"),
        "outages": BROKERS.output("outages"),
        "readings": narrowed(reading_instants, lake_table("bronze.offset_snapshots"), again=distinct),
        "records": narrowed(
            input_edges,
            union(
                each(record_instants, lake_table("bronze.group_records")),
                each(commit_instants, lake_table("bronze.offset_commits")),
            ),
        ),
        "loads": each(loads_of_groups, EVENTS),
        "log_spans": BROKERS.output("log_spans"),
    },
)

FACTS = Judgement(
    "facts",
    (gather_facts,),
    (),
    {
        "events": union(
            where_among("kind", CONTEXT_KINDS, EVENTS),
            where(lambda settings: pc.is_null(settings["topic"]), SETTINGS),
        ),
        "controllers": narrowed(controller_sightings, EVENTS),
        "outages": BROKERS.output("outages"),
        "changes": BROKERS.output("topic_changes"),
        "log_spans": BROKERS.output("log_spans"),
        "observed": narrowed(observed_span, EVENTS),
        "expiries": where(_shows_expiry, EVENTS),
        "refusals": narrowed(authentication_lines, where_among("kind", _REFUSED, EVENTS)),
        "stalls": where(_shows_stall, EVENTS),
        "witnesses": WITNESSES.output("witnesses"),
        "readings": narrowed(reading_times, lake_table("bronze.partition_snapshots"), again=reading_times_together),
        "files": each(files_in_scope, lake_table("bronze.log_files", span="")),
    },
)
