"""The schema `now`, DuckDB views over files: the newest reading of each cluster, alerts, and owners."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from kafka_hindsight.catalog import Column, Table, bronze
from kafka_hindsight.catalog.readings import Reading
from kafka_hindsight.lake.arrow_types import arrow_schema
from kafka_hindsight.lake.damage import unsealed
from kafka_hindsight.lake.landing import newest_landed, read_bytes
from kafka_hindsight.shared.exits import BadInput
from kafka_hindsight.shared.plain import visible
from kafka_hindsight.sql.alert_history import AlertSent, OwnedNames, alert_rows, owner_rows
from kafka_hindsight.sql.duck_types import json_structure, one_sentence, quoted_text

SCHEMA = "now"
LANDED = f"{SCHEMA}.landed"


@dataclass(frozen=True)
class NowView:
    """One view: the table whose columns it has, all but the id of a reading, and its source in SQL."""

    name: str
    table: Table
    source: str

    @property
    def full_name(self) -> str:
        """The name in SQL: `now.name`."""
        return f"{SCHEMA}.{self.name}"

    @property
    def grain(self) -> str:
        """The grain of a row."""
        return self.table.grain.replace("one reading of the cluster", "the newest landed reading of its cluster")

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns, as the table declares them."""
        return tuple(self.table.column(n) for n in self.table.content_columns if n != "snapshot_id")


_KEY = "cluster, snapshot_at"
_GROUPS = f'(SELECT {_KEY}, g, g."group" AS group_id FROM (SELECT {_KEY}, unnest(groups) AS g FROM {LANDED}))'


def _offsets(column: str, field: str) -> str:
    """The offsets of partitions in a field of readings, as a column."""
    return f"""(
    SELECT {_KEY}, o[1] AS topic, o[2]::INTEGER AS partition,
        CASE WHEN o[3]::BIGINT >= 0 THEN o[3]::BIGINT END AS {column}, o[4]::INTEGER AS leader_epoch
    FROM (SELECT {_KEY}, unnest({field}) AS o FROM {LANDED}))"""


_ENDS = _offsets("end_offset", "end_offsets")
_STARTS, _STABLE = _offsets("log_start", "begin_offsets"), _offsets("last_stable", "stable_offsets")
_EPOCHS = f"""(
    SELECT {_KEY}, group_id, o[1] AS topic, o[2]::INTEGER AS partition, coalesce(o[3]::INTEGER, -1) AS leader_epoch
    FROM (SELECT {_KEY}, group_id, unnest(g.committed_epochs) AS o FROM {_GROUPS}))"""

VIEWS = (
    NowView(
        "readings",
        bronze.SNAPSHOT_READINGS,
        f"""(SELECT * EXCLUDE (missing), missing AS reasons, list_transform(missing, lambda m: m.part) AS missing
            FROM {LANDED})""",
    ),
    NowView(
        "brokers",
        bronze.BROKER_SNAPSHOTS,
        f"""(SELECT {_KEY}, b.*, b.id AS broker, b.id = nullif(controller, -1) AS is_controller
            FROM (SELECT {_KEY}, controller, unnest(brokers) AS b FROM {LANDED}))""",
    ),
    NowView(
        "partitions",
        bronze.PARTITION_SNAPSHOTS,
        f"""(SELECT {_KEY}, topic, p.partition AS partition, coalesce(internal, false) AS is_internal, p.isr AS isr,
                CASE WHEN p.leader >= 0 THEN p.leader END AS leader, p.replicas AS replicas,
                p.replicas[1] AS preferred_leader
            FROM (SELECT {_KEY}, t.topic AS topic, t.internal AS internal, unnest(t.partitions) AS p
                FROM (SELECT {_KEY}, unnest(topics) AS t FROM {LANDED})))
        LEFT JOIN {_ENDS} USING ({_KEY}, topic, partition)""",
    ),
    NowView(
        "groups",
        bronze.GROUP_SNAPSHOTS,
        f"""(SELECT {_KEY}, group_id, lower(g.state) AS state, lower(g.type) AS type,
                nullif(g.assignor, '') AS assignor, g.coordinator AS coordinator,
                len(g.members)::INTEGER AS member_count, g.error AS error FROM {_GROUPS})""",
    ),
    NowView(
        "members",
        bronze.MEMBER_SNAPSHOTS,
        f"""(SELECT {_KEY}, group_id, m.member_id AS member_id, m.client_id AS client_id, m.host AS host,
                nullif(m.instance_id, '') AS instance_id,
                list_transform(m.assignment, lambda p: {{'topic': p[1], 'partition': p[2]::INTEGER}}) AS assignment
            FROM (SELECT {_KEY}, group_id, unnest(g.members) AS m FROM {_GROUPS}))""",
    ),
    NowView(
        "offsets",
        bronze.OFFSET_SNAPSHOTS,
        f"""(SELECT *, CASE WHEN committed_offset <= end_offset THEN end_offset - committed_offset
                WHEN committed_offset > end_offset THEN 0 END AS lag
            FROM (SELECT {_KEY}, group_id, o[1] AS topic, o[2]::INTEGER AS partition,
                    CASE WHEN o[3]::BIGINT >= 0 THEN o[3]::BIGINT END AS committed_offset
                FROM (SELECT {_KEY}, group_id, unnest(g.committed) AS o FROM {_GROUPS}))
            LEFT JOIN (SELECT * EXCLUDE (leader_epoch) FROM {_ENDS}) USING ({_KEY}, topic, partition)
            LEFT JOIN (SELECT * EXCLUDE (leader_epoch) FROM {_STARTS}) USING ({_KEY}, topic, partition)
            LEFT JOIN (SELECT * EXCLUDE (leader_epoch) FROM {_STABLE}) USING ({_KEY}, topic, partition)
            LEFT JOIN {_EPOCHS} USING ({_KEY}, group_id, topic, partition))""",
    ),
    NowView(
        "configs",
        bronze.CONFIG_SNAPSHOTS,
        f"""(SELECT {_KEY}, lower(c.resource_type) AS resource_type, c.resource AS resource, c.name AS name,
                c.value AS value, c.source AS value_source
            FROM (SELECT {_KEY}, unnest(configs) AS c FROM {LANDED}))""",
    ),
    NowView("alerts", AlertSent.TABLE, "now_alerts"),
    NowView("owners", OwnedNames.TABLE, "now_owners"),
)

VIEW_BY_NAME: Mapping[str, NowView] = {v.full_name: v for v in VIEWS}


def newest_readings(lake: str) -> dict[str, str | None]:
    """The text of the newest landed reading of each cluster; None if its file is damaged.

    Readings land through pyarrow: a lake that it cannot open from here has none. A file that vanishes meanwhile is left
    out.
    """
    readings = dict[str, str | None]()
    with suppress(OSError, BadInput):
        for cluster, place in newest_landed(lake).items():
            with suppress(FileNotFoundError):
                lines, is_whole = unsealed(read_bytes(place))
                readings[cluster] = lines.decode(errors="replace") if is_whole else None
    return readings


def create_now_views(
    connection: duckdb.DuckDBPyConnection, lake: str, readings: Mapping[str, str | None]
) -> Iterator[str]:
    """Create schema `now` over readings, by the names under which they landed, and over a lake's alerts and owners.

    All of it is as it was when the lake was opened; a prompt that stays open still shows that.

    Yields:
        A sentence for each reading that is left out: it is damaged, or a view cannot show all of it.
    """
    connection.execute(f"CREATE SCHEMA {SCHEMA}")
    connection.execute(f"CREATE TABLE {SCHEMA}.files (landed_as VARCHAR, line VARCHAR)")
    shape = quoted_text(json.dumps(json_structure(Reading)))
    connection.execute(
        f'CREATE VIEW {LANDED} AS SELECT r.* EXCLUDE ("at", cluster), r."at"::TIMESTAMPTZ AS snapshot_at,'
        " coalesce(r.cluster, r.cluster_id, landed_as) AS cluster"
        f" FROM (SELECT landed_as, from_json(line, {shape}) AS r FROM {SCHEMA}.files)"
    )
    for name, rows, table in (
        ("now_alerts", alert_rows(lake), AlertSent.TABLE),
        ("now_owners", owner_rows(), OwnedNames.TABLE),
    ):
        connection.register(name, pa.Table.from_pylist(rows, arrow_schema(table)))
    for view in VIEWS:
        columns = ", ".join(c.name for c in view.columns)
        connection.execute(f"CREATE VIEW {view.full_name} AS SELECT {columns} FROM {view.source}")
    for landed_as, line in readings.items():
        if line is None:
            yield _left_out(landed_as, "its file has other bytes than were landed")
            continue
        connection.execute(f"INSERT INTO {SCHEMA}.files VALUES (?, ?)", (landed_as, line))
        try:
            for view in VIEWS:
                connection.execute(f"SELECT bit_xor(hash(v)) FROM {view.full_name} AS v").fetchall()
        except duckdb.Error as error:
            connection.execute(f"DELETE FROM {SCHEMA}.files WHERE landed_as = ?", (landed_as,))
            yield _left_out(landed_as, one_sentence(error))


def _left_out(landed_as: str, why: str) -> str:
    return (
        f"Schema now has no rows of {visible(landed_as)}: the newest reading that landed cannot be shown ({why}). The"
        " next reading that lands is shown again."
    )
