"""A made night for the report: rows as the catalog has them, with everything in it that a page must be able to tell."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from spark_jobs.catalog import BY_NAME
from spark_jobs.catalog.ids import row_id
from tests.support.rows import row

DAY = datetime(2026, 10, 3, tzinfo=UTC)
CLUSTER = "prod-eu"

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]

HOSTILE = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>' onmouseover='alert(1)",
    "javascript:alert(document.cookie)",
    "]]></style></script><svg onload=alert(1)>",
    "\u202egnp.exe\u2066 right to left \u200b",
    "line one\nline two\r\x1b[31;1mred\x1b]0;title\x07\x00",
    "{{ 7*7 }}{% raw %}&amp;&#60;",
    "\ud800 lone",
    "very-long-" + "x" * 5_000,
    "مجموعة-שלום",
)


def at(clock: str, plus: float = 0.0) -> datetime:
    """An instant of the night: `at("02:13:04.120")`, and seconds after it."""
    time = datetime.strptime(clock, "%H:%M:%S.%f" if "." in clock else "%H:%M:%S")
    return (
        DAY
        + timedelta(hours=time.hour, minutes=time.minute, seconds=time.second, microseconds=time.microsecond)
        + timedelta(seconds=plus)
    )


def made(table: str, /, **columns: Any) -> dict[str, Any]:
    """A row of a table; columns that may be null and are not given are null."""
    declared = BY_NAME[table]
    nulls = {c.name: None for c in declared.columns if c.nullable}
    constants = {"cluster": CLUSTER, "knowledge_version": "2026.10"}
    strange = columns.keys() - set(declared.column_names)
    if strange:
        raise KeyError(f"{table} has no {', '.join(sorted(strange))}")
    return row(declared) | nulls | {k: v for k, v in constants.items() if k in declared.column_names} | columns


def quote(when: datetime, source: str, text: str) -> dict[str, Any]:
    """An item of evidence."""
    return {"line_id": row_id(source, when, text), "source": source, "happened_at": when, "text": text}


def rebalance(
    group: str, start: datetime, cause: str, *, generation: int = 1, seconds: float = 3.2, **columns: Any
) -> dict[str, Any]:
    """A rebalance with a line that proves it."""
    client = columns.get("client_id")
    lines = [
        quote(
            start,
            "broker-1/server.log",
            f"[{start:%Y-%m-%d %H:%M:%S},{start.microsecond // 1000:03d}] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=11] "
            f"Preparing to rebalance group {group} in state PreparingRebalance with old generation {generation} (reason: "
            f"{columns.get('reason') or 'removing member on heartbeat expiration.'}). (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
        quote(
            start + timedelta(seconds=seconds),
            "broker-1/server.log",
            f"Stabilized group {group} generation {generation + 1} with 3 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)",
        ),
    ]
    defaults = {
        "rebalance_id": row_id(group, start, cause),
        "group_id": group,
        "coordinator": 1,
        "from_generation": generation,
        "to_generation": generation + 1,
        "started_at": start,
        "joined_at": start + timedelta(seconds=seconds * 0.8),
        "ended_at": start + timedelta(seconds=seconds),
        "duration_ms": int(seconds * 1000),
        "outcome": "completed",
        "cause": cause,
        "confidence": "certain",
        "members_before": 3,
        "members_after": 3,
        "explanation": f"Client '{client or 'a member'}' made group {group} rebalance: {cause.replace('_', ' ')}.",
        "advice": "Give each member a group.instance.id and a session timeout longer than a restart takes: then neither the going nor the coming starts a rebalance.",
        "evidence": lines,
    }
    return made("gold.rebalances", **{**defaults, **columns})


def incident(kind: str, rows: Rows, **columns: Any) -> dict[str, Any]:
    """The incident of these rebalances, which are told that they belong to it."""
    incident_id = row_id("incident", kind, rows[0]["started_at"], rows[0]["group_id"])
    for member in rows:
        member["incident_id"] = incident_id
    defaults = {
        "incident_id": incident_id,
        "kind": kind,
        "planned": False,
        "started_at": rows[0]["started_at"],
        "ended_at": max((r["ended_at"] for r in rows if r["ended_at"]), default=None),
        "group_ids": sorted({r["group_id"] for r in rows}),
        "rebalance_count": len(rows),
        "cause": rows[0]["cause"],
        "confidence": rows[0]["confidence"],
        "partition_seconds": round(sum((r["duration_ms"] or 0) for r in rows) * 6 / 1000, 1),
        "explanation": rows[0]["explanation"],
        "advice": rows[0]["advice"],
        "evidence": rows[0]["evidence"],
    }
    return made("gold.incidents", **{**defaults, **columns})


def failover(topic: str, partition: int, when: datetime, kind: str, **columns: Any) -> dict[str, Any]:
    """A change of a partition's leader from broker 2 to broker 3."""
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
        "evidence": [
            quote(
                when, "broker-3/state-change.log", f"Leader {topic}-{partition} with epoch 5 starts at leader epoch 5"
            )
        ],
    }
    return made("gold.failovers", **{**defaults, **columns})


def _broker_outage(tables: Tables) -> None:
    down, up = at("02:13:04.118"), at("02:17:31")
    groups = [
        f"{name}-{kind}" for name in ("orders", "payments", "search", "mail") for kind in ("index", "audit", "export")
    ]
    outage = made(
        "gold.broker_outages",
        outage_id=row_id("outage", 2, down),
        broker=2,
        kind="unresponsive",
        planned=False,
        down_at=down,
        detected_at=at("02:13:13.402"),
        up_at=up,
        isr_recovered_at=at("02:17:44"),
        leadership_restored_at=at("02:22:10"),
        elections=30,
        partitions_led_before=30,
        group_ids=groups,
        confidence="certain",
        explanation="Broker 2 was fenced after 9.3 s without a heartbeat while its own log went on: it was alive and cut off from the controller.",
        evidence=[
            quote(
                at("02:13:13.402"),
                "controller-1/controller.log",
                "[QuorumController id=1] Fencing broker 2 because its session has timed out. (org.apache.kafka.controller.ReplicationControlManager)",
            ),
            quote(
                at("02:14:00.000"),
                "broker-2/server.log",
                "[NodeToControllerChannelManager id=2 name=heartbeat] Disconnecting from node 1 due to request timeout.",
            ),
        ],
    )
    rows = []
    for i in range(40):
        group = groups[i % len(groups)]
        rows.append(
            rebalance(
                group,
                at("02:13:14", plus=1.7 * i),
                "heartbeat_expired" if i % 5 else "coordinator_moved",
                generation=20 + i // len(groups),
                seconds=4 + i % 7,
                confidence="certain" if i % 3 else "likely",
                client_id=f"{group}-{i % 3}",
                host=f"/10.0.0.{i % 9 + 1}",
                reason=f"removing member {group}-{i % 3}-89570ebe-1cde-411d on heartbeat expiration.",
            )
        )
    tables["gold.broker_outages"].append(outage)
    tables["gold.rebalances"] += rows
    tables["gold.incidents"].append(
        incident(
            "broker_outage",
            rows,
            cause="coordinator_moved",
            outage_id=outage["outage_id"],
            explanation="Broker 2 was cut off for 4 min 27 s. It coordinated 12 groups; their members lost it and rejoined at brokers 1 and 3.",
            advice="Look at the network between broker 2 and the controllers at 02:13, and at its own log between 02:13:04 and 02:17:31.",
        )
    )
    for i in range(30):
        where = {"topic": ("orders.events", "payments.v2", "__consumer_offsets")[i % 3], "partition": i // 3}
        tables["gold.failovers"].append(
            failover(
                **where, when=at("02:13:13.5", plus=i / 40), kind="broker_unresponsive", outage_id=outage["outage_id"]
            )
        )
        tables["gold.failovers"].append(
            failover(
                **where,
                when=at("02:22:09", plus=i / 40),
                kind="preferred_election",
                leader_from=3,
                leader_to=2,
                leaderless_ms=0,
                epoch_from=5,
                epoch_to=6,
                outage_id=outage["outage_id"],
            )
        )
    for group in groups:
        tables["gold.coordinator_moves"].append(
            made(
                "gold.coordinator_moves",
                coordinator_move_id=row_id(group),
                group_id=group,
                moved_at=at("02:13:15"),
                broker_from=2,
                broker_to=3,
                outage_id=outage["outage_id"],
            )
        )
    tables["gold.controller_changes"].append(
        made("gold.controller_changes", happened_at=at("06:38:02"), controller_from=1, controller_to=3, epoch=8)
    )


def _deployment(tables: Tables) -> None:
    rows = []
    for i in range(9):
        cause = ("member_left", "member_rejoined", "cooperative_followup")[i % 3]
        rows.append(
            rebalance(
                "checkout-worker",
                at("04:30:00", plus=11.0 * i),
                cause,
                generation=100 + i,
                seconds=1.4,
                client_id=f"checkout-worker-{i // 3}",
            )
        )
    tables["gold.rebalances"] += rows
    tables["gold.incidents"].append(
        incident(
            "rolling_restart",
            rows,
            planned=True,
            explanation="Members checkout-worker-0, -1 and -2 were restarted one after another within 90 s.",
        )
    )
    tables["gold.broker_outages"].append(
        made(
            "gold.broker_outages",
            outage_id=row_id("outage", 1, at("06:38:00")),
            broker=1,
            kind="controlled_shutdown",
            planned=True,
            down_at=at("06:38:00"),
            detected_at=at("06:38:02"),
            up_at=at("06:38:41"),
            isr_recovered_at=at("06:38:50"),
            elections=12,
            group_ids=[],
            confidence="certain",
            explanation="Broker 1 was shut down in order and started again 41 s later.",
            evidence=[
                quote(
                    at("06:38:00"),
                    "broker-1/server.log",
                    "[BrokerServer id=1] Transition from STARTED to SHUTTING_DOWN (kafka.server.BrokerServer)",
                )
            ],
        )
    )


def _single_troubles(tables: Tables) -> None:
    slow = rebalance(
        "billing",
        at("03:05:12.740"),
        "max_poll_exceeded",
        generation=41,
        seconds=62.0,
        client_id="billing-b",
        instance_id="i2",
        host="/10.0.3.7",
        delayed_by=[{"client_id": "billing-c", "member_id": "billing-c-77", "waited_ms": 58_400}],
        contributors=[
            {
                "client_id": "billing-a",
                "instance_id": None,
                "member_id": "billing-a-11",
                "cause": "member_left",
                "at": at("03:05:40"),
            }
        ],
        advice="Lower max.poll.records, speed up processing, or raise max.poll.interval.ms.",
        explanation="Client 'billing-b' did not poll for 5 min 12 s, more than max.poll.interval.ms allows, and left; the group then waited 58 s for 'billing-c'.",
    )
    storm = [
        rebalance(
            "ads-etl",
            at("05:10:00", plus=42.0 * i),
            "member_dead" if i % 2 else "member_joined",
            generation=300 + i,
            seconds=9.5,
            confidence="likely",
            client_id="ads-etl-loader",
            advice="Find out why the consumer crashed: its own log ends before each of these.",
        )
        for i in range(14)
    ]
    pair = [
        rebalance("search-suggest", at("07:15:00"), "partitions_added", generation=7, seconds=0.3),
        rebalance("search-suggest", at("07:15:01"), "cooperative_followup", generation=8, seconds=0.2),
    ]
    stranger = rebalance(
        "geo-next",
        at("08:40:00"),
        "unknown",
        confidence="unknown",
        protocol="consumer",
        outcome="unfinished",
        ended_at=None,
        joined_at=None,
        duration_ms=None,
        explanation="The group epoch rose and no line or snapshot tells why.",
    )
    alone = [
        rebalance(f"nightly-{i}", at("00:30:00", plus=1_200.0 * i), "member_joined", seconds=3.0, confidence="possible")
        for i in range(6)
    ]
    for kind, rows in (
        ("single", [slow]),
        ("storm", storm),
        ("cooperative_pair", pair),
        ("single", [stranger]),
        *(("single", [r]) for r in alone),
    ):
        tables["gold.rebalances"] += rows
        tables["gold.incidents"].append(incident(kind, rows))
    tables["gold.failovers"] += [
        failover("risky.raw", 0, at("06:39:00"), "offline", leader_to=-1, leaderless_ms=None, isr_after=[2]),
        failover(
            "risky.raw",
            0,
            at("06:40:12"),
            "unclean_election",
            leader_from=-1,
            leader_to=1,
            epoch_from=5,
            epoch_to=6,
            leaderless_ms=72_000,
            records_lost_low=40,
            records_lost_high=52,
            isr_before=[2],
            isr_after=[1],
        ),
    ]


def _cluster(tables: Tables) -> None:
    for minute in range(0, 24 * 60, 10):
        when = DAY + timedelta(minutes=minute)
        for broker in (1, 2, 3):
            over = (broker == 2 and at("02:13:00") <= when <= at("02:30:00")) or (
                broker == 1 and when >= at("06:40:00")
            )
            elsewhere = 24 if over else 2
            tables["gold.leader_imbalance"].append(
                made(
                    "gold.leader_imbalance",
                    snapshot_at=when,
                    broker=broker,
                    preferred_partitions=30,
                    led_elsewhere=elsewhere,
                    ratio=elsewhere / 30,
                    over_threshold=over,
                )
            )
    for change in ("shrink", "expand"):
        tables["gold.isr_changes"] += [
            made("gold.isr_changes", isr_change_id=row_id(change, i), topic="orders.events", partition=i, change=change)
            for i in range(30)
        ]
    lags = (
        ("billing", "payments.v2", "stop", 900),
        ("ads-etl", "clicks", "stall", 120_000),
        ("mail-audit", "mail", "warn", 3_400),
        ("orders-index", "orders.events", "ok", 0),
    )
    for group, topic, status, lag in lags:
        tables["gold.lag_verdicts"] += [
            made(
                "gold.lag_verdicts",
                group_id=group,
                topic=topic,
                partition=p,
                window_from=DAY,
                window_to=DAY + timedelta(days=1),
                status=status,
                lag_first=0,
                lag_last=lag * (p + 1),
                lag_max=lag * (p + 1),
            )
            for p in range(4)
        ]
    rules = (
        (
            "unclean_election",
            "critical",
            "partition",
            "risky.raw-0",
            "Partition risky.raw-0 elected a leader from outside its ISR: 40 to 52 records lost",
            "06:40:12",
        ),
        (
            "rebalances_excessive",
            "critical",
            "group",
            "ads-etl",
            "Group ads-etl rebalanced 14 times within 60 minutes, planned work left out",
            "05:10:00",
        ),
        (
            "leader_imbalance",
            "warning",
            "broker",
            "1",
            "Broker 1 led 24 of the 30 partitions it is preferred for elsewhere (80 %), above 10 %",
            "06:40:00",
        ),
        (
            "lag_growing",
            "warning",
            "group",
            "billing",
            "Group billing fell behind: its lag grew from 0 to 9,000 records",
            "03:05:00",
        ),
        (
            "lag_growing",
            "warning",
            "group",
            "ads-etl",
            "Group ads-etl fell behind: its lag grew from 0 to 1,200,000 records",
            "05:10:00",
        ),
        (
            "group_unanswered",
            "info",
            "group",
            "mail-audit",
            "Group mail-audit did not answer in 3 readings of the cluster",
            "02:13:10",
        ),
    )
    for rule_id, severity, kind, subject, message, clock in rules:
        tables["gold.findings"].append(
            made(
                "gold.findings",
                finding_id=row_id(rule_id, subject),
                rule_id=rule_id,
                severity=severity,
                subject_kind=kind,
                subject=subject,
                first_at=at(clock),
                last_at=at(clock, plus=600),
                message=message,
                advice=f"What to do about {rule_id.replace('_', ' ')}.",
                source="Kafka operations guide",
            )
        )


def _quality(tables: Tables) -> None:
    for broker in (1, 2, 3):
        for log, lines in (("server.log", 412_000), ("controller.log", 96_500), ("state-change.log", 121_000)):
            unparsed = 2 if (broker, log) == (2, "server.log") else 0
            tables["quality.coverage"].append(
                made(
                    "quality.coverage",
                    source=f"broker-{broker}/{log}", origin="broker", window_from=DAY, window_to=DAY + timedelta(days=1),
                    lines_in=lines, events=lines // 20, ignored=lines - lines // 20 - unparsed, unparsed=unparsed, quarantined=0,
                    first_at=at("00:00:00.3"), last_at=at("23:59:58"), longest_silence_ms=266_000 if broker == 2 else 41_000,
                )
            )  # fmt: skip
    tables["quality.coverage"].append(
        made(
            "quality.coverage",
            source="billing-b.log",
            origin="client",
            window_from=DAY,
            window_to=DAY + timedelta(days=1),
            lines_in=4_200,
            events=310,
            ignored=3_889,
            unparsed=0,
            quarantined=1,
            first_at=at("02:50:00"),
            last_at=at("18:20:00"),
            longest_silence_ms=3_720_000,
        )
    )
    shape = "[GroupCoordinator id=<n>] Something nobody has seen before about group <name>"
    tables["quality.unparsed_lines"] += [
        made(
            "quality.unparsed_lines",
            line_id=row_id("unparsed", i),
            source="broker-2/server.log",
            template=shape,
            line_count=1,
            text=f"[GroupCoordinator id=2] Something nobody has seen before about group g{i}",
        )
        for i in range(2)
    ]
    tables["quality.quarantine"].append(
        made(
            "quality.quarantine",
            quarantine_id=row_id("broken"),
            source="billing-b.log",
            line_count=1,
            row="\x00\x00\x00[2026-10-03 03:\ufffd",
            sentences=["The line holds NUL bytes.", "Its instant cannot be read."],
        )
    )
    tables["quality.generation_gaps"] += [
        made(
            "quality.generation_gaps",
            group_id="ledger",
            after_generation=41,
            next_generation=44,
            seen_at=at("09:12:00"),
            explained_by=None,
        ),
        made(
            "quality.generation_gaps",
            group_id="mail-audit",
            after_generation=12,
            next_generation=1,
            seen_at=at("09:30:00"),
            explained_by="the group was deleted and made anew",
        ),
    ]
    for i in range(88):
        held = i != 7
        tables["quality.validation_results"].append(
            made(
                "quality.validation_results",
                run_id="run-1",
                window_from=DAY,
                window_to=DAY + timedelta(days=1),
                table="gold.rebalances",
                expectation=f"expectation_{i}",
                severity="critical" if held else "warning",
                success=held,
                sentences=None if held else ["3 rebalances last longer than an hour."],
            )
        )


def night() -> tuple[Tables, dict[str, Any]]:
    """The tables of the night, and its run."""
    tables: Tables = {name: [] for name in BY_NAME if name.startswith(("gold.", "quality."))}
    for make in (_broker_outage, _deployment, _single_troubles, _cluster, _quality):
        make(tables)
    return tables, run()


def run(**columns: Any) -> dict[str, Any]:
    """A run over the night."""
    return {
        "cluster": CLUSTER,
        "window_from": DAY,
        "window_to": DAY + timedelta(days=1),
        "run_id": "20261004T020000",
        "lake": "lake",
        "files_not_read": ["broker-1/kafka-gc.log.0", "broker-1/notes.txt"],
        "warnings": ["CLUSTER was not given: the cluster is called prod-eu after the folder of its logs."],
        "log_path": "lake/run.log",
        "report_path": "lake/report/index.html",
        "started_at": DAY + timedelta(days=1, hours=2),
        "took_seconds": 71.4,
        **columns,
    }


def hostile_night() -> tuple[Tables, dict[str, Any]]:
    """The night with every text of every row replaced by what a stranger might send."""
    tables, _about = night()
    counter = 0

    def poison(value: Any, codes: frozenset[str], key: str) -> Any:
        nonlocal counter
        if isinstance(value, dict):
            return {k: poison(v, codes, k) for k, v in value.items()}
        if isinstance(value, list):
            return [poison(v, codes, key) for v in value]
        if isinstance(value, str) and key not in codes:
            counter += 1
            return HOSTILE[counter % len(HOSTILE)]
        return value

    for name, rows in tables.items():
        codes = frozenset(c.name for c in BY_NAME[name].columns if c.codes)
        joins = {"rebalance_id", "incident_id", "outage_id", "failover_id", "finding_id", "cause"}
        tables[name] = [poison(r, codes | joins, "") for r in rows]
    return tables, run(
        cluster=HOSTILE[1],
        lake=HOSTILE[2],
        run_id=HOSTILE[0],
        warnings=list(HOSTILE),
        files_not_read=list(HOSTILE),
        log_path=HOSTILE[5],
        report_path=HOSTILE[2],
    )


def crowded_night(count: int) -> tuple[Tables, dict[str, Any]]:
    """The night with many more rebalances, each an incident of its own or one of a storm."""
    tables, about = night()
    causes = ("member_joined", "member_left", "heartbeat_expired", "max_poll_exceeded", "member_rejoined")
    rows = [
        rebalance(
            f"team-{i % 220}-consumer",
            DAY + timedelta(seconds=86_000 * i / count),
            causes[i % 5],
            generation=i,
            client_id=f"team-{i % 220}-client-{i % 7}",
            host=f"/10.1.{i % 200}.{i % 9}",
        )
        for i in range(count)
    ]
    for r in rows:
        r["evidence"] = r["evidence"] * 2
    tables["gold.rebalances"] += rows
    for i in range(0, count, 4):
        tables["gold.incidents"] += [
            incident("storm", rows[i : i + 2]),
            *(incident("single", [r]) for r in rows[i + 2 : i + 4]),
        ]
    return tables, about
