"""Rows of one made night, as the catalog has them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.codes import WitnessKind
from kafka_hindsight.catalog.ids import row_id
from kafka_hindsight.shared.windows import Window
from tests.support.incidents import judged_incidents
from tests.support.rows import values
from tests.support.unavailability import without_consumer, without_leader

DAY = datetime(2026, 10, 3, tzinfo=UTC)
END = DAY + timedelta(days=1)
CLUSTER = "prod-eu"

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]


def at(clock: str, plus: float = 0.0) -> datetime:
    """An instant of the night, by its clock, and seconds after it."""
    time = datetime.strptime(clock, "%H:%M:%S")
    return DAY + timedelta(hours=time.hour, minutes=time.minute, seconds=time.second + plus)


def made(table: str, /, **columns: Any) -> dict[str, Any]:
    """A row of a table; columns that may be null and are not given are null."""
    declared = BY_NAME[table]
    strange = columns.keys() - set(declared.column_names)
    if strange:
        raise KeyError(f"{table} has no {', '.join(sorted(strange))}")
    nulls = {c.name: None for c in declared.columns if c.nullable}
    window = {"cluster": CLUSTER, "knowledge_version": "2026.10", "window_from": DAY, "window_to": END}
    return values(declared) | nulls | {k: v for k, v in window.items() if k in declared.column_names} | columns


def quote(when: datetime, source: str, text: str) -> dict[str, Any]:
    """An item of evidence."""
    return {"line_id": row_id(source, when, text), "source": source, "happened_at": when, "text": text}


def rebalance(
    group: str, start: datetime, cause: str, *, generation: int = 1, seconds: float = 3.2, **columns: Any
) -> dict[str, Any]:
    """A rebalance of a group with three members, with the lines that prove it."""
    client, reason = columns.get("client_id"), columns.get("reason") or "removing member on heartbeat expiration."
    end = start + timedelta(seconds=seconds)
    began = f"Preparing to rebalance group {group} in state PreparingRebalance with old generation {generation}"
    defaults = {
        "rebalance_id": row_id(group, start, cause),
        "group_id": group,
        "coordinator": 1,
        "from_generation": generation,
        "to_generation": generation + 1,
        "started_at": start,
        "joined_at": start + timedelta(seconds=seconds * 0.8),
        "ended_at": end,
        "duration_ms": int(seconds * 1000),
        "partition_seconds": round(seconds * 6, 3),
        "outcome": "completed",
        "cause": cause,
        "confidence": "certain",
        "members_before": 3,
        "members_after": 3,
        "explanation": f"Client '{client or 'somebody'}' made group {group} rebalance: {cause.replace('_', ' ')}.",
        "advice": "Give each member a group.instance.id and a session timeout longer than a restart takes:"
        " then neither the going nor the coming starts a rebalance.",
        "evidence": [
            quote(start, "broker-1/server.log", f"[GroupCoordinator id=1] {began} (reason: {reason})"),
            quote(end, "broker-1/server.log", f"Stabilized group {group} generation {generation + 1} with 3 members."),
        ],
    }
    return made("gold.rebalances", **{**defaults, **columns})


def incident(kind: str, members: Rows, **columns: Any) -> dict[str, Any]:
    """The incident of these rebalances, which are told that they belong to it."""
    first = members[0]
    incident_id = row_id("incident", kind, first["rebalance_id"])
    for member in members:
        member["incident_id"] = incident_id
    defaults = {
        "incident_id": incident_id,
        "kind": kind,
        "intent": "undeclared",
        "started_at": first["started_at"],
        "ended_at": max((m["ended_at"] for m in members if m["ended_at"]), default=None),
        "group_ids": sorted({m["group_id"] for m in members}),
        "rebalance_count": len(members),
        "partition_seconds": round(sum((m["duration_ms"] or 0) for m in members) * 6 / 1000, 1),
        **{name: first[name] for name in ("cause", "confidence", "explanation", "advice", "evidence")},
    }
    return made("gold.incidents", **{**defaults, **columns})


def failover(topic: str, partition: int, when: datetime, kind: str, **columns: Any) -> dict[str, Any]:
    """A change of a partition's leader from broker 2 to broker 3."""
    words = f"Leader {topic}-{partition} with epoch 5 starts at leader epoch 5"
    defaults = {
        "failover_id": row_id(topic, partition, when),
        "topic": topic,
        "partition": partition,
        "happened_at": when,
        "leader_from": 2,
        "leader_to": 3,
        "epoch_from": 4,
        "epoch_to": 5,
        "kind": kind,
        "leaderless_ms": 1_840,
        "isr_before": [1, 2, 3],
        "isr_after": [1, 3],
        "confidence": "certain",
        "explanation": f"Partition {topic}-{partition} went from broker 2 to broker 3.",
        "evidence": [quote(when, "broker-3/state-change.log", words)],
    }
    return made("gold.failovers", **{**defaults, **columns})


def outage(broker: int, down: datetime, kind: str, **columns: Any) -> dict[str, Any]:
    """A broker that was away for four and a half minutes."""
    words = f"[QuorumController id=1] Fencing broker {broker} because its session has timed out."
    noticed = down + timedelta(seconds=9.3)
    defaults = {
        "outage_id": row_id("outage", broker, down),
        "broker": broker,
        "kind": kind,
        "intent": "undeclared",
        "down_at": down,
        "detected_at": noticed,
        "last_heard_at": down,
        "up_at": down + timedelta(seconds=267),
        "confidence": "certain",
        "explanation": f"Broker {broker} was fenced after 9.3 s without a heartbeat while its own log went on.",
        "evidence": [quote(noticed, "controller-1/controller.log", words)],
    }
    return made("gold.broker_outages", **{**defaults, **columns})


def coverage(**columns: Any) -> dict[str, Any]:
    """A source all of whose lines but those given were ignored."""
    lost = columns.get("unparsed", 0) + columns.get("quarantined", 0)
    lines = columns.pop("lines_in", 1_000)
    counts = {"events": 0, "unparsed": 0, "quarantined": 0, "ignored": lines - lost, "lines_in": lines}
    return made("quality.coverage", **(counts | columns))


def witnesses(**columns: Any) -> Rows:
    """The logs of one broker, which could show each kind of event in the whole night."""
    return [
        made("quality.witnesses", **{"broker": 1, "kind": kind, "first_at": DAY, "last_at": END, **columns})
        for kind in WitnessKind
    ]


def empty() -> Tables:
    """Every table that a report may be given, without a row."""
    return {name: [] for name in BY_NAME if name.startswith(("gold.", "quality."))}


def run(**columns: Any) -> dict[str, Any]:
    """A run over the night."""
    return {
        "cluster": CLUSTER,
        "window_from": DAY,
        "window_to": END,
        "run_id": "20261004T020000",
        "lake": "lake",
        "files_not_read": [
            "broker-1/kafka-gc.log.0 (a log of the JVM's garbage collector)",
            "broker-1/notes.txt (not a log of Kafka)",
        ],
        "warnings": ["CLUSTER was not given: the cluster is called prod-eu after the folder of its logs."],
        "log_path": "lake/run.log",
        "report_path": "lake/report/index.html",
        "started_at": END + timedelta(hours=2),
        **columns,
    }


def judge(tables: Tables) -> None:
    """The incidents of all kinds in the place of those of groups alone, and their ids in what belongs to them."""

    def rows(name: str) -> list[Any]:
        return [BY_NAME[name].row_class.of(r) for r in tables[name]]

    rebalances = rows("gold.rebalances")
    tables["gold.unavailability"] = [
        u.as_dict() for u in (*without_leader(rows("gold.failovers")), *without_consumer(rebalances))
    ]
    outages, unavailability = rows("gold.broker_outages"), rows("gold.unavailability")
    told = judged_incidents(
        Window(DAY, END),
        cluster=CLUSTER,
        stalls=rows("gold.partition_stalls"),
        of_groups=rows("gold.incidents"),
        outages=outages,
        failovers=rows("gold.failovers"),
        truncations=rows("gold.truncations"),
        periods=rows("gold.out_of_sync_periods"),
        unavailability=unavailability,
        group_incident_of={r.rebalance_id: r.incident_id for r in rebalances},
    )
    tables["gold.incidents"] = [i.as_dict() for i in told.incidents]
    tables["gold.broker_outages"] = [o.as_dict() for o in told.name(outages)]
    tables["gold.unavailability"] = [u.as_dict() for u in told.name_unavailability(unavailability)]
    for name, key, ids in (
        ("gold.rebalances", "incident_id", told.of_groups),
        ("gold.failovers", "failover_id", told.of_failover),
        ("gold.truncations", "truncation_id", told.of_truncation),
    ):
        for r in tables[name]:
            r["incident_id"] = ids.get(r[key])
