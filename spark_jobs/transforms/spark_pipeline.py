"""One night's histories as distributed jobs: plain Python, hosted by cluster, topic or group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from spark_jobs.catalog.row import Row
from spark_jobs.catalog.rows import (
    BrokerOutage,
    BrokerSnapshot,
    Cluster,
    ControllerChange,
    CoordinatorMove,
    Coverage,
    Event,
    Failover,
    Finding,
    GenerationGap,
    GroupAgreement,
    GroupRecord,
    GroupSnapshot,
    ImbalancePeriod,
    Incident,
    IncidentLink,
    IsrChange,
    IsrSpan,
    LagVerdict,
    LeaderBalance,
    LeaderImbalance,
    LeadershipGap,
    LossSimulation,
    MemberSetting,
    MemberSighting,
    MemberSnapshot,
    MemberStay,
    MetadataFile,
    MetadataRecord,
    MissingBrokerLog,
    OffsetSnapshot,
    OutOfSyncCount,
    OutOfSyncPeriod,
    Ownership,
    PartitionRisk,
    PartitionSnapshot,
    Rebalance,
    Remedy,
    RollingRestart,
    RuleFiring,
    SnapshotReading,
    TopicChange,
    Truncation,
)
from spark_jobs.knowledge.kinds import PARTITION_KINDS
from spark_jobs.transforms.backtest import back_test
from spark_jobs.transforms.brokers.broker_settings import SETTING_KINDS, BrokerSettings, settings_of
from spark_jobs.transforms.brokers.cluster_restarts import rebuild_rolling_restarts
from spark_jobs.transforms.brokers.controller_changes import WHY_CONTROLLERS_CHANGE, rebuild_controller_changes
from spark_jobs.transforms.brokers.impacts import add_impact, add_rebalances, tell_outages
from spark_jobs.transforms.brokers.liveness import PRESENCE_KINDS
from spark_jobs.transforms.brokers.missing_broker_logs import (
    find_missing_broker_logs,
    named_within,
)
from spark_jobs.transforms.brokers.outages import rebuild_outages
from spark_jobs.transforms.by_key import Tables, host, part
from spark_jobs.transforms.cluster import ClusterContext
from spark_jobs.transforms.controllers import CONTROLLER_KINDS, terms_of
from spark_jobs.transforms.findings import Facts, judge_findings
from spark_jobs.transforms.groups.coordinators import losses_of_groups, rebuild_coordinator_moves
from spark_jobs.transforms.groups.costs import Witnesses, price, stops_of
from spark_jobs.transforms.groups.group_events import agreed_by_groups, events_of_groups, members_in_readings
from spark_jobs.transforms.groups.incidents import group_incidents
from spark_jobs.transforms.groups.lag import judge_lag
from spark_jobs.transforms.groups.move_effects import add_effects
from spark_jobs.transforms.groups.ownership import rebuild_ownership
from spark_jobs.transforms.groups.remedies import judge_remedies
from spark_jobs.transforms.groups.settings import rebuild_settings
from spark_jobs.transforms.intake.metadata_log import events_of_metadata
from spark_jobs.transforms.leaders.balance import rebuild_balance
from spark_jobs.transforms.leaders.failovers import FAILOVER_KINDS, rebuild_leaders
from spark_jobs.transforms.leaders.imbalance import rebuild_imbalance
from spark_jobs.transforms.leaders.imbalance_periods import rebuild_imbalance_periods
from spark_jobs.transforms.rebalances import GroupContext, rebuild_group
from spark_jobs.transforms.rebalances.members import MemberRegistry
from spark_jobs.transforms.rebalances.records import events_of_records
from spark_jobs.transforms.rebalances.topics import TOPIC_CHANGE_KINDS, topic_changes
from spark_jobs.transforms.replicas.in_sync import count_out_of_sync
from spark_jobs.transforms.replicas.isr import ISR_KINDS, rebuild_isr_changes
from spark_jobs.transforms.replicas.isr_shrink_cause import SHRINK_CAUSE_KINDS
from spark_jobs.transforms.replicas.loss_simulations import Reading, simulate_losses
from spark_jobs.transforms.replicas.losses import with_commits
from spark_jobs.transforms.replicas.out_of_sync_periods import rebuild_out_of_sync_periods, spans_of
from spark_jobs.transforms.replicas.risks import rebuild_risks
from spark_jobs.transforms.replicas.truncations import rebuild_truncations
from spark_jobs.transforms.windows import Window, in_order

FACTS: Mapping[str, type[Row]] = {
    "clusters": Cluster, "outages": BrokerOutage, "failovers": Failover, "isr_spans": IsrSpan,
    "in_sync": OutOfSyncCount,
    "moves": CoordinatorMove, "partitions": PartitionSnapshot, "rebalances": Rebalance, "gaps": GenerationGap,
    "leadership_gaps": LeadershipGap, "unheard": MissingBrokerLog, "roster": MemberStay, "imbalance": LeaderImbalance,
    "truncations": Truncation, "lag": LagVerdict, "settings": MemberSetting, "coverage": Coverage,
    "unanswered": GroupSnapshot, "partial": SnapshotReading, "last_partitions": PartitionSnapshot,
    "last_brokers": BrokerSnapshot, "last_groups": GroupSnapshot, "set_up": Event,
}  # fmt: skip


def committed_events(records: DataFrame, files: DataFrame, seen: Window) -> DataFrame:
    """What a metadata log tells of a time, in the shape of silver.events.

    Takes: rows of bronze.metadata_records, from the log's beginning, and of bronze.metadata_files, of one cluster.
    """
    told = host(
        {"records": (records, MetadataRecord), "files": (files, MetadataFile)},
        ("cluster",),
        {"events": Event},
        lambda tables: {"events": events_of_metadata(tables["records"], tables["files"], seen)},
    )
    return part(told, "events")


def brokers_of_night(events: DataFrame, broker_snapshots: DataFrame, seen: Window) -> DataFrame:
    """Who was away, who was the controller, which topics changed.

    Gives: parts `outages`, `controllers` (rows of gold.controller_changes), `unheard` (MISSING_BROKER_LOGS),
    `topics` (TOPIC_CHANGES).
    """
    kinds = {*PRESENCE_KINDS, *CONTROLLER_KINDS, *WHY_CONTROLLERS_CHANGE, *TOPIC_CHANGE_KINDS}
    told = events.where((F.col("origin") != "client") & F.col("kind").isin(*sorted(kinds)))
    alive = (
        events.where((F.col("origin") == "broker") & ~F.col("kind").isin(*sorted(kinds)))
        .groupBy("broker", F.date_trunc("second", "happened_at").alias("second"))
        .agg(F.min_by(F.struct(*events.columns), F.struct("happened_at", "source", "order")).alias("e"))
        .select("e.*")
    )

    def rebuild(tables: Tables) -> Tables:
        lines = tables["events"]
        terms = terms_of(lines)
        outages = rebuild_outages(lines, tables["readings"], seen)
        return {
            "outages": outages,
            "controllers": rebuild_controller_changes(lines, outages, seen),
            "unheard": find_missing_broker_logs(lines, tables["readings"], terms),
            "topics": topic_changes(lines, terms),
        }

    return host(
        {"events": (told.unionByName(alive), Event), "readings": (broker_snapshots, BrokerSnapshot)},
        ("cluster",),
        {
            "outages": BrokerOutage,
            "controllers": ControllerChange,
            "unheard": MissingBrokerLog,
            "topics": TopicChange,
        },
        rebuild,
    )


def partitions_of_night(
    events: DataFrame,
    partition_snapshots: DataFrame,
    offset_snapshots: DataFrame,
    context: ClusterContext,
    settings: BrokerSettings,
    heard_until: datetime,
    seen: Window,
    window: Window,
) -> DataFrame:
    """Who led, who was in sync, who cut its log, and what each partition risked.

    Takes: events with those of setting_events.settings_in_readings; how the brokers are set up; until when anybody was
    heard.
    Gives: parts `failovers`, `leadership_gaps`, `truncations`, `isr_changes`, `isr_spans` (ISR_SPANS) and `risks`.
    """
    beyond_end = offset_snapshots.where("committed_offset > coalesce(end_offset, -1)")
    kinds = {*PARTITION_KINDS, *FAILOVER_KINDS, *ISR_KINDS, *SHRINK_CAUSE_KINDS, *SETTING_KINDS, "topic_deleted"}
    lines = events.where(F.col("topic").isNotNull() & F.col("kind").isin(*sorted(kinds)))

    def rebuild(tables: Tables) -> Tables:
        changes = rebuild_isr_changes(tables["events"], tables["readings"], context, seen)
        readings = with_commits(tables["readings"], tables["commits"])
        leaders = rebuild_leaders(tables["events"], readings, context, seen)
        own = settings.with_topics(tables["events"])
        return {
            "failovers": leaders.failovers,
            "leadership_gaps": leaders.gaps,
            "truncations": rebuild_truncations(tables["events"], readings, leaders.failovers, context.terms, seen),
            "isr_changes": changes,
            "isr_spans": spans_of(changes),
            "risks": rebuild_risks(
                tables["events"], tables["readings"], leaders.failovers, own, context, heard_until, window
            ),
        }

    return host(
        {
            "events": (lines, Event),
            "readings": (partition_snapshots, PartitionSnapshot),
            "commits": (beyond_end, OffsetSnapshot),
        },
        ("cluster", "topic"),
        {
            "failovers": Failover,
            "leadership_gaps": LeadershipGap,
            "truncations": Truncation,
            "isr_changes": IsrChange,
            "isr_spans": IsrSpan,
            "risks": PartitionRisk,
        },
        rebuild,
    )


def groups_of_night(
    events: DataFrame,
    member_snapshots: DataFrame,
    context: GroupContext,
    around: ClusterContext,
    offsets_partitions: int | None,
    group_snapshots: DataFrame,
    group_records: DataFrame,
    seen: Window,
    window: Window,
) -> DataFrame:
    """Why each group rebalanced, what that cost, what would have helped, and how its members are set up.

    Gives: parts `rebalances`, `remedies`, `gaps`, `moves` (where its coordinator went) and `settings`.
    """

    def rebuild(tables: Tables) -> Tables:
        lines = tables["events"]
        settings = rebuild_settings(
            context.cluster, lines, tables["records"], tables["sightings"], tables["readings"], window
        )
        if not lines:
            return {"settings": settings}
        told = events_of_records(tables["records"], seen.start)
        events = in_order([*lines, *map(Event.of, told)])
        history = rebuild_group(lines[0]["group_id"], events, context)
        stops = stops_of(history.rebalances, Witnesses(events, tables["records"], tables["groups"], tables["members"]))
        priced = price(history.rebalances, stops)
        brokers = [e for e in lines if e["origin"] == "broker"]
        moves = rebuild_coordinator_moves(brokers, around, offsets_partitions, seen)
        return {
            "rebalances": priced,
            "remedies": judge_remedies(priced, stops, MemberRegistry(events), events, window),
            "gaps": history.gaps,
            "roster": history.roster,
            "moves": add_effects(moves, priced, context.observed_to),
            "settings": settings,
        }

    return host(
        {
            "events": (events_of_groups(events, member_snapshots), Event),
            "records": (group_records, GroupRecord),
            "groups": (group_snapshots, GroupSnapshot),
            "members": (member_snapshots, MemberSnapshot),
            "sightings": (members_in_readings(member_snapshots, window), MemberSighting),
            "readings": (agreed_by_groups(group_snapshots, window), GroupAgreement),
        },
        ("cluster", "group_id"),
        {
            "rebalances": Rebalance,
            "remedies": Remedy,
            "gaps": GenerationGap,
            "roster": MemberStay,
            "moves": CoordinatorMove,
            "settings": MemberSetting,
        },
        rebuild,
    )


def imbalance_of_night(
    partition_snapshots: DataFrame, broker_snapshots: DataFrame, group_snapshots: DataFrame
) -> DataFrame:
    """What each reading shows of its brokers.

    Gives: parts `rows` (of gold.leader_imbalance), `balance` (of gold.leader_balance) and `in_sync` (IN_SYNC).
    """
    return host(
        {
            "partitions": (partition_snapshots, PartitionSnapshot),
            "brokers": (broker_snapshots, BrokerSnapshot),
            "groups": (group_snapshots, GroupSnapshot),
        },
        ("cluster", "snapshot_id"),
        {"rows": LeaderImbalance, "balance": LeaderBalance, "in_sync": OutOfSyncCount},
        lambda tables: {
            "rows": rebuild_imbalance(tables["partitions"], tables["brokers"]),
            "balance": rebuild_balance(tables["partitions"], tables["brokers"], tables["groups"]),
            "in_sync": count_out_of_sync(tables["partitions"]),
        },
    )


def readings_of_groups(
    member_snapshots: DataFrame,
    group_snapshots: DataFrame,
    offset_snapshots: DataFrame,
    group_records: DataFrame,
    window: Window,
) -> DataFrame:
    """Who owned what, by records and readings, and who fell behind, by readings. Gives: parts `ownership` and `lag`."""

    def rebuild(tables: Tables) -> Tables:
        return {
            "ownership": rebuild_ownership(tables["members"], tables["groups"], window, tables["records"]),
            "lag": judge_lag(tables["offsets"], window),
        }

    return host(
        {
            "members": (member_snapshots, MemberSnapshot),
            "groups": (group_snapshots, GroupSnapshot),
            "offsets": (offset_snapshots, OffsetSnapshot),
            "records": (group_records, GroupRecord),
        },
        ("cluster", "group_id"),
        {"ownership": Ownership, "lag": LagVerdict},
        rebuild,
    )


def verdicts_of_night(facts: Mapping[str, DataFrame], window: Window) -> DataFrame:
    """Incidents and findings, and what each outage cost: everything that looks at a whole cluster's rows at once.

    Takes: frames by the names that `judge` uses; each holds few rows, or slim ones.
    Gives: parts `outages`, `incidents`, `homes`, `loss_simulations`, `findings`, `firings`.
    """
    return host(
        {name: (frame, FACTS[name]) for name, frame in facts.items()},
        ("cluster",),
        {
            "outages": BrokerOutage,
            "restarts": RollingRestart,
            "out_of_sync_periods": OutOfSyncPeriod,
            "imbalance_periods": ImbalancePeriod,
            "incidents": Incident,
            "homes": IncidentLink,
            "loss_simulations": LossSimulation,
            "findings": Finding,
            "firings": RuleFiring,
        },
        lambda tables: judge(tables, window),
    )


def judge(tables: Tables, window: Window) -> Tables:
    """What `verdicts_of_night` hosts."""
    spans, moves = tables["isr_spans"], tables["moves"]
    away = add_impact(tables["outages"], tables["failovers"], spans, moves, tables["partitions"], tables["in_sync"])
    rebalances = [r for r in tables["rebalances"] if window.holds(r["started_at"])]
    (known,) = tables["clusters"]
    losses = losses_of_groups((r["group_id"] for r in rebalances), tables["failovers"], known["offsets_partitions"])
    incidents, home = group_incidents(rebalances, away, moves, losses, tables["roster"])
    away = add_rebalances(away, incidents)
    brokers = {r["broker"] for name in ("outages", "isr_spans", "in_sync") for r in tables[name]}
    restarts, restart_of = rebuild_rolling_restarts(away, spans, brokers)
    outages = tell_outages(away, restart_of)
    out_of_sync_periods = rebuild_out_of_sync_periods(spans, outages, window)
    imbalance_periods = rebuild_imbalance_periods(tables["imbalance"], tables["failovers"])
    housed = [{**r, "incident_id": home[r["rebalance_id"]]} for r in rebalances]
    reading = Reading(
        partitions=sorted(tables["last_partitions"], key=lambda p: (p["topic"], p["partition"])),
        brokers=tables["last_brokers"],
        group_ids=[g["group_id"] for g in tables["last_groups"]],
        settings=settings_of(tables["set_up"]),
    )
    facts = Facts(
        cluster=known["cluster"],
        rebalances=housed,
        incidents=incidents,
        failovers=[f for f in tables["failovers"] if window.holds(f["happened_at"])],
        imbalance=[r for r in tables["imbalance"] if r["over_threshold"]],
        imbalance_periods=imbalance_periods,
        truncations=[t for t in tables["truncations"] if window.holds(t["happened_at"])],
        lag_verdicts=tables["lag"],
        gaps=[g for g in tables["gaps"] if window.holds(g["seen_at"])],
        leadership_gaps=[g for g in tables["leadership_gaps"] if window.holds(g["seen_at"])],
        unheard=named_within(tables["unheard"], window),
        coverage=tables["coverage"],
        unanswered=tables["unanswered"],
        partial=tables["partial"],
        settings=tables["settings"],
        outages=outages,
        restarts=[r for r in restarts if window.holds(r["started_at"])],
        out_of_sync_periods=out_of_sync_periods,
        isr_spans=spans,
        partitions=reading.partitions,
        brokers=reading.brokers,
        broker_settings=reading.settings,
        judged_at=reading.at if reading.partitions else window.end - timedelta.resolution,
    )
    homes = [{"rebalance_id": r, "incident_id": i} for r, i in home.items()]
    return {
        "outages": outages,
        "restarts": restarts,
        "out_of_sync_periods": out_of_sync_periods,
        "imbalance_periods": imbalance_periods,
        "incidents": incidents,
        "homes": homes,
        "loss_simulations": simulate_losses(reading),
        "findings": judge_findings(facts),
        "firings": back_test(facts, window),
    }


def span_of(events: DataFrame) -> tuple[datetime, datetime] | None:
    """The instants of the first and the last event that a broker wrote; None without any."""
    row: Any = events.where("origin = 'broker'").agg(F.min("happened_at"), F.max("happened_at")).first()
    return None if row is None or row[0] is None else (row[0], row[1])


def rows_of(frame: DataFrame) -> Sequence[dict[str, Any]]:
    """A few rows as dicts, instants with their zone: what is small enough to hand to every task."""
    return list(frame.toArrow().to_pylist())
