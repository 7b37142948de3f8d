"""A night with rows in every table that a rebuild reads, too odd to be real: what is read and picked matters here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.kinds import Kind
from kafka_hindsight.catalog.quality import LOST_LINES
from kafka_hindsight.judgements.reasoning.scope import Scope
from kafka_hindsight.shared.durations import MS
from kafka_hindsight.shared.windows import Window
from tests.support.histories import BOTH, lines
from tests.support.nights import events
from tests.support.rows import row

START = events("crash-2.8")[0].happened_at
HOUR = timedelta(hours=1)
SEEN = Window(START - HOUR, START + 2 * HOUR)
SCOPE = Scope("night", Window(START, START + HOUR), SEEN)
HALF_MINUTES = [START + n * timedelta(seconds=30) for n in range(-8, 8)]


def made_rows() -> dict[str, list[Any]]:
    """Rows of every table that a rebuild reads: real events, and readings that change."""
    crash = events("crash-2.8")
    led = [e for e in crash if e.kind == "leader_started"][:4]
    more = [replace(e, partition=30, happened_at=e.happened_at + MS, line_id=f"{e.line_id}-30") for e in led]
    named = replace(crash[0], kind=Kind.CLUSTER_NAMED, detail="a cluster", line_id="named")
    loaded = replace(
        led[0], kind=Kind.COORDINATOR_LOADED, event_count=7, happened_at=led[0].happened_at - 500 * MS, line_id="loaded"
    )
    refused = [
        replace(
            crash[0], kind=Kind.AUTHENTICATION_FAILED, host="10.0.0.7", line_id=f"refused-{n}", happened_at=at + n * MS
        )
        for n, at in enumerate(HALF_MINUTES * 3)
    ]
    slept = replace(crash[0], kind=Kind.ZOOKEEPER_CLIENT_SPOKE, took_ms=60_000, line_id="slept")
    failed: dict[str, Any] = {
        "kind": Kind.PRODUCER_RETRIED,
        "origin": "client",
        "source": "shop.log",
        "client_id": "shop",
    }
    retried = [replace(e, **failed, error="NOT_LEADER_OR_FOLLOWER", line_id=f"{e.line_id}-retried") for e in led]
    configured = replace(
        retried[0], kind=Kind.PRODUCER_CONFIGURED, detail="acks = 1", happened_at=START, line_id="configured"
    )
    version = replace(crash[0], kind=Kind.SOFTWARE_VERSION, detail="2.8.2", line_id="version")
    found = [*crash, *more, *refused, named, loaded, slept, *retried, configured, version, *events("settings-2.8")]
    found += lines("librdkafka-python-4.3", *BOTH)
    of_group = {"group_id": "g1", "client_id": "c1", "topic": "orders", "partition": 0, "log_offset": 5}
    started = {"kind": Kind.LOG_START_MOVED, "topic": "orders", "partition": 0, "log_offset": 9}
    moved: list[dict[str, Any]] = [
        {"kind": Kind.CLIENT_POSITION_RESUMED, "origin": "client", "source": "c1.log", **of_group},
        started,
        {**started, "reason": "segment deletion"},
        {"kind": Kind.GROUPS_DELETED, "detail": "g1, g2"},
    ]
    found += [
        replace(crash[0], happened_at=START + n * MS, line_id=f"moved-{n}", **columns)
        for n, columns in enumerate(moved, 1)
    ]
    partitions = [
        {
            "topic": topic,
            "partition": p,
            "snapshot_at": at,
            "snapshot_id": str(n),
            "leader": 1 + n % 2,
            "isr": [1, 2][: 1 + n % 2],
        }
        for n, at in enumerate(HALF_MINUTES)
        for topic, p in (("orders", 0), ("orders", 30), ("__consumer_offsets", 49), ("__consumer_offsets", n))
    ]
    settings = [
        {
            "resource_type": kind,
            "resource": resource,
            "name": name,
            "value": str(n // 3),
            "snapshot_at": at,
            "snapshot_id": str(n),
        }
        for n, at in enumerate(HALF_MINUTES)
        for kind, resource, name in (
            ("topic", "orders", "min.insync.replicas"),
            ("broker", "1", "unclean.leader.election.enable"),
        )
    ]
    members = [
        {
            "group_id": f"g{n % 3}",
            "member_id": f"m{n % 5}",
            "client_id": f"c{n % 4}",
            "snapshot_at": at,
            "snapshot_id": str(n),
        }
        for n, at in enumerate(HALF_MINUTES)
    ]
    offsets = [
        {
            "topic": "orders",
            "partition": n % 40,
            "committed_offset": n,
            "end_offset": end,
            "snapshot_at": at,
            "snapshot_id": str(n),
        }
        for n, at in enumerate(HALF_MINUTES)
        for end in (None, n - 1, n + 1)
    ]
    records = [
        {
            "group_id": f"g{n % 2}",
            "member_id": f"m{n % 3}",
            "written_at": at,
            "record_offset": n,
            "is_tombstone": n % 4 == 0,
        }
        for hours in (-3, 0)
        for n, at in enumerate(h + timedelta(hours=hours) for h in HALF_MINUTES)
    ]
    metadata = [
        {"written_at": at + timedelta(days=d), "record_offset": n} for d in (-1, 0) for n, at in enumerate(HALF_MINUTES)
    ]
    states = [
        {"state_at": at - timedelta(hours=2), "snapshot_place": place, "record_offset": 5 + n}
        for n, at in enumerate(HALF_MINUTES)
        for place in (1, 2)
    ]
    files = [
        {"file": str(n), "origin": origin, "first_at": at, "last_at": at + timedelta(hours=hours)}
        for n, at in enumerate(HALF_MINUTES)
        for origin, hours in (("broker", 1), ("client", 1))
    ]
    errors = [
        {"snapshot_at": at, "snapshot_id": str(n), "error": "refused" if n % 2 else None}
        for n, at in enumerate(HALF_MINUTES)
    ]
    hours = [
        {
            "source": f"broker-{n % 3}/server.log",
            "origin": "broker",
            "hour_from": at,
            "hour_to": at + timedelta(hours=1),
            "first_at": at,
            "last_at": at + timedelta(minutes=n),
            "loggers": ["INFO Partition", "INFO UnifiedLog"],
        }
        for n, at in enumerate(HALF_MINUTES)
    ]
    own: Mapping[str, list[dict[str, Any]]] = {
        "bronze.partition_snapshots": partitions,
        "bronze.config_snapshots": settings,
        "bronze.member_snapshots": members,
        "bronze.offset_snapshots": offsets,
        "bronze.group_records": records,
        "bronze.offset_commits": [
            {
                "group_id": "g1",
                "topic": "orders",
                "partition": 0,
                "first_record": n,
                "last_record": n,
                "first_at": at,
                "last_at": at,
                "first_offset": n,
                "last_offset": n,
                "commits": 1,
            }
            for n, at in enumerate(HALF_MINUTES)
        ],
        "bronze.metadata_records": metadata,
        "quality.metadata_states": states,
        "bronze.log_files": files,
        "bronze.group_snapshots": [error | {"group_id": "g1"} for error in errors],
        "bronze.snapshot_readings": errors,
        "bronze.broker_snapshots": [{"snapshot_at": at, "broker": 1 + n % 3} for n, at in enumerate(HALF_MINUTES)],
        "quality.parsed_hours": hours,
        "quality.coverage": [{"source": str(n), "unparsed": n % 3} for n in range(9)],
        "quality.quarantine": [{"quarantine_id": str(n), "row": LOST_LINES, "sentences": ["s"]} for n in range(2)],
        "bronze.metadata_files": [{"file": str(n)} for n in range(3)],
    }
    rows = {
        name: [row(BY_NAME[name], **{"cluster": "night", **columns}) for columns in table]
        for name, table in own.items()
    }
    return {**rows, "silver.events": [replace(e, cluster="night", knowledge_version="1") for e in found]}
