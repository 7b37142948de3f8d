"""Views over gold, each declared once: its columns with their meanings, and its query in DuckDB's SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from kafka_hindsight.catalog import gold, quality
from kafka_hindsight.catalog.codes import SubjectKind
from kafka_hindsight.catalog.row import Millis, Row, table
from kafka_hindsight.catalog.rows.columns import ClusterName
from kafka_hindsight.catalog.table_model import Column, Table


@table("gold.durations", key=("source", "id"), time_column="started_at")
class Duration(Row):
    """One thing that lasted: an interval of gold.unavailability, an absence of a broker, or a rebalance."""

    cluster: ClusterName
    source: Annotated[str, "The table that has the row: unavailability, broker_outages, rebalances"]
    id: Annotated[str, "The id of the row there"]
    kind: Annotated[str, "Its kind there; the protocol of a rebalance"]
    subject: Annotated[str, "A partition such as orders-17, a group, or a broker"]
    started_at: Annotated[datetime, "When it began"]
    ended_at: Annotated[datetime | None, "When it was over; null where that is not known"] = None
    least_ms: Annotated[Millis | None, "How long it lasted, at least; null where no proof bounds it"] = None
    best_ms: Annotated[
        Millis | None,
        "How long it lasted, as the evidence shows it best: the least where it was not over, or may not have been; null"
        " where not even that is known",
    ] = None
    most_ms: Annotated[Millis | None, "How long it lasted, at most; null where no proof bounds it"] = None
    is_noticed: Annotated[
        bool, "Whether clients notice it: a second or longer by the best figure, or not over. Pages count these alone"
    ]
    incident_id: Annotated[str | None, "The incident that it belongs to"] = None


@table("gold.dim_broker", key=("cluster", "broker"))
class BrokerDimension(Row):
    """One broker that a row of gold names."""

    cluster: ClusterName
    broker: Annotated[int, "Broker id"]
    kafka_version: Annotated[str | None, "Kafka's version at its last start that a log shows; null where none does"] = (
        None
    )
    first_at: Annotated[datetime, "The first row that names it"]
    last_at: Annotated[datetime, "The last row that names it"]


@table("gold.dim_topic", key=("cluster", "topic"))
class TopicDimension(Row):
    """One topic that a row of gold names."""

    cluster: ClusterName
    topic: Annotated[str, "Topic"]
    is_internal: Annotated[bool, "Whether it is one of Kafka's own"]
    partitions: Annotated[int, "Partitions that rows name"]
    replication_factor: Annotated[int | None, "Replicas of each partition at last; null where not known"] = None
    min_insync_replicas: Annotated[int | None, "min.insync.replicas at last; null where not known"] = None
    first_at: Annotated[datetime, "The first row that names it"]
    last_at: Annotated[datetime, "The last row that names it"]


@table("gold.dim_group", key=("cluster", "group_id"))
class GroupDimension(Row):
    """One group that a row of gold names."""

    cluster: ClusterName
    group_id: Annotated[str, "Consumer group"]
    protocol: Annotated[str | None, "Rebalance protocol of its last rebalance; null without one"] = None
    rebalances: Annotated[int, "Its rebalances"]
    members: Annotated[int | None, "The most members that it had after a rebalance; null where not known"] = None
    client_versions: Annotated[
        list[str] | None,
        "Versions of its Java clients in the last night of which a log shows them; null where none does",
    ] = None
    first_at: Annotated[datetime, "The first row that names it"]
    last_at: Annotated[datetime, "The last row that names it"]


@table("now.dim_owner", key=("cluster", "kind", "name"))
class OwnerDimension(Row):
    """One group or topic that a row of gold names, with who owns it by the hindsight.toml in force."""

    cluster: ClusterName
    kind: Annotated[SubjectKind, "What it is: group or topic"]
    name: Annotated[str, "Group or topic"]
    owner: Annotated[str, "Its owner; several in alphabetical order, separated by commas; `unowned` without any"]


@table("gold.night_of", key=("cluster", "window_from", "window_to"), time_column="window_from")
class NightOf(Row):
    """One published window: an instant of a row is its if `window_from <= instant` and `instant < window_to`."""

    cluster: ClusterName
    night: Annotated[str, "The date of its middle in UTC, such as 2026-11-20"]
    window_from: Annotated[datetime, "Begin of the window"]
    window_to: Annotated[datetime, "End of the window"]


@dataclass(frozen=True)
class DerivedView:
    """One view: the table whose columns it has, the tables that it reads, and its query."""

    table: Table
    reads: tuple[Table, ...]
    query: str

    @property
    def full_name(self) -> str:
        """The name in SQL."""
        return self.table.full_name

    @property
    def grain(self) -> str:
        """The grain of a row."""
        return self.table.grain

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, with their meanings."""
        return self.table.columns


SHOWN_MS = (
    "CASE WHEN ended_at IS NOT NULL AND (low_ms > 0 OR confidence IN ('certain', 'likely'))"
    " THEN date_sub('ms', started_at, ended_at) ELSE low_ms END"
)
"""The best figure of a row of gold.unavailability, as measures/unavailability_sums.py has it."""

_UNAVAILABILITY = f"""
    SELECT cluster, 'unavailability' AS source, unavailability_id AS id, kind,
        coalesce(topic || '-' || "partition", group_id) AS subject, started_at, ended_at, low_ms AS least_ms,
        {SHOWN_MS} AS best_ms, high_ms AS most_ms,
        ended_at IS NULL OR date_sub('ms', started_at, ended_at) >= 1000 AS is_noticed, incident_id
    FROM gold.unavailability"""
_OUTAGES = """
    SELECT cluster, 'broker_outages', outage_id, kind, broker::VARCHAR, down_at, up_at, away_low_ms,
        coalesce(date_sub('ms', down_at, up_at), away_low_ms), away_high_ms,
        up_at IS NULL OR date_sub('ms', down_at, up_at) >= 1000, incident_id
    FROM gold.broker_outages
    WHERE echo_of IS NULL"""
_REBALANCES = """
    SELECT cluster, 'rebalances', rebalance_id, protocol, group_id, started_at, ended_at, NULL, duration_ms, NULL,
        ended_at IS NULL OR duration_ms >= 1000, incident_id
    FROM gold.rebalances"""
_BROKERS = """
    SELECT cluster, broker, arg_max(version, instant) AS kafka_version, min(instant) AS first_at,
        max(instant) AS last_at
    FROM (
        SELECT cluster, broker, down_at AS instant, NULL AS version FROM gold.broker_outages
        UNION ALL SELECT cluster, broker, up_at, NULL FROM gold.broker_outages
        UNION ALL SELECT cluster, broker, happened_at, NULL FROM gold.isr_changes
        UNION ALL SELECT cluster, broker, snapshot_at, NULL FROM gold.leader_imbalance
        UNION ALL
        SELECT cluster, unnest([leader_from, leader_to, preferred_leader]), happened_at, NULL FROM gold.failovers
        UNION ALL SELECT cluster, name::INTEGER, first_at, NULL FROM gold.night_subjects WHERE kind = 'broker'
        UNION ALL SELECT cluster, name::INTEGER, last_at, versions[-1] FROM gold.night_subjects WHERE kind = 'broker'
    )
    WHERE broker >= 0 AND instant IS NOT NULL
    GROUP BY cluster, broker"""
_TOPICS = """
    SELECT cluster, topic, topic LIKE '\\_\\_%' ESCAPE '\\' AS is_internal,
        greatest(count(DISTINCT "partition"), max(partitions))::INTEGER AS partitions,
        arg_max(replication_factor, instant) AS replication_factor,
        arg_max(min_insync_replicas, instant) AS min_insync_replicas, min(instant) AS first_at, max(instant) AS last_at
    FROM (
        SELECT cluster, topic, "partition", last_at AS instant, replication_factor, min_insync_replicas,
            NULL AS partitions
        FROM gold.partition_risks
        UNION ALL SELECT cluster, topic, "partition", happened_at, NULL, NULL, NULL FROM gold.failovers
        UNION ALL SELECT cluster, topic, "partition", happened_at, NULL, NULL, NULL FROM gold.isr_changes
        UNION ALL SELECT cluster, topic, "partition", valid_from, NULL, NULL, NULL FROM gold.ownership
        UNION ALL SELECT cluster, topic, "partition", started_at, NULL, NULL, NULL FROM gold.unavailability
        WHERE topic IS NOT NULL
        UNION ALL SELECT cluster, name, NULL, unnest([first_at, last_at]), NULL, NULL, partitions
        FROM gold.night_subjects WHERE kind = 'topic'
    )
    WHERE instant IS NOT NULL
    GROUP BY cluster, topic"""
_GROUPS = """
    SELECT cluster, group_id, arg_max(protocol, instant) AS protocol, count(rebalance_id)::INTEGER AS rebalances,
        max(members) AS members, arg_max(versions, instant) AS client_versions, min(instant) AS first_at,
        max(instant) AS last_at
    FROM (
        SELECT cluster, group_id, protocol, rebalance_id, members_after AS members, NULL AS versions,
            started_at AS instant
        FROM gold.rebalances
        UNION ALL SELECT cluster, group_id, NULL, NULL, NULL, NULL, valid_from FROM gold.ownership
        UNION ALL SELECT cluster, name, NULL, NULL, NULL, versions, unnest([first_at, last_at])
        FROM gold.night_subjects WHERE kind = 'group'
    )
    GROUP BY cluster, group_id"""
_OWNERS = """
    SELECT s.cluster, s.kind, s.name,
        coalesce(string_agg(DISTINCT o.owner, ', ' ORDER BY o.owner), 'unowned') AS owner
    FROM (
        SELECT cluster, 'group' AS kind, group_id AS name FROM gold.dim_group
        UNION ALL SELECT cluster, 'topic', topic FROM gold.dim_topic
    ) AS s
    LEFT JOIN now.owners AS o
        ON (o.kind = s.kind AND s.name GLOB o.pattern) OR (o.kind = 'cluster' AND s.cluster GLOB o.pattern)
    GROUP BY s.cluster, s.kind, s.name"""
_NIGHTS = """
    SELECT DISTINCT cluster,
        strftime((window_from + (window_to - window_from) / 2) AT TIME ZONE 'UTC', '%Y-%m-%d') AS night,
        window_from, window_to
    FROM quality.publications"""

_OWNABLE = (GroupDimension.TABLE, TopicDimension.TABLE)

VIEWS = (
    DerivedView(
        Duration.TABLE,
        (gold.UNAVAILABILITY, gold.BROKER_OUTAGES, gold.REBALANCES),
        "\n    UNION ALL".join((_UNAVAILABILITY, _OUTAGES, _REBALANCES)),
    ),
    DerivedView(
        BrokerDimension.TABLE,
        (gold.BROKER_OUTAGES, gold.ISR_CHANGES, gold.LEADER_IMBALANCE, gold.FAILOVERS, gold.NIGHT_SUBJECTS),
        _BROKERS,
    ),
    DerivedView(
        TopicDimension.TABLE,
        (
            gold.PARTITION_RISKS,
            gold.FAILOVERS,
            gold.ISR_CHANGES,
            gold.OWNERSHIP,
            gold.UNAVAILABILITY,
            gold.NIGHT_SUBJECTS,
        ),
        _TOPICS,
    ),
    DerivedView(GroupDimension.TABLE, (gold.REBALANCES, gold.OWNERSHIP, gold.NIGHT_SUBJECTS), _GROUPS),
    DerivedView(NightOf.TABLE, (quality.PUBLICATIONS,), _NIGHTS),
)

OWNERS = DerivedView(
    OwnerDimension.TABLE,
    tuple({table: None for view in VIEWS for table in view.reads if view.table in _OWNABLE}),
    _OWNERS,
)
"""The view of owners, which reads other views, and `now.owners` that only `hindsight sql` has."""
