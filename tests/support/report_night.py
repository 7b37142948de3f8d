"""A made night with everything in it that a report must tell; the same under hostile names."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from itertools import cycle
from typing import Any

from kafka_hindsight.catalog import BY_NAME
from kafka_hindsight.catalog.ids import row_id
from tests.support.report_cluster import told_by_replicas
from tests.support.report_rows import (
    DAY,
    Tables,
    at,
    empty,
    failover,
    incident,
    judge,
    made,
    outage,
    rebalance,
    run,
    witnesses,
)

Night = tuple[Tables, dict[str, Any]]

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


def night() -> Night:
    """The tables of the night, and its run."""
    tables = empty()
    for tell in (
        _cut_off,
        _deployment,
        _remedies,
        _troubles_of_groups,
        _lost_partition,
        told_by_replicas,
        _imbalance,
        _jumps,
        _stalls,
        _findings,
        _quality,
    ):
        tell(tables)
    judge(tables)
    return tables, run()


def _cut_off(tables: Tables) -> None:
    """Broker 2 is cut off at 02:13; forty rebalances in twelve groups follow from it."""
    groups = [
        f"{name}-{kind}" for name in ("orders", "payments", "search", "mail") for kind in ("index", "audit", "etl")
    ]
    cut = outage(
        2,
        at("02:13:04"),
        "unresponsive",
        isr_recovered_at=at("02:17:44"),
        leadership_restored_at=at("02:22:10"),
        elections=30,
        partitions_led_before=30,
        group_ids=groups,
    )
    rows = [
        rebalance(
            groups[i % 12],
            at("02:13:14", plus=1.7 * i),
            "heartbeat_expired" if i % 5 else "coordinator_moved",
            generation=20 + i // 12,
            seconds=4 + i % 7,
            confidence="certain" if i % 3 else "likely",
            client_id=f"{groups[i % 12]}-{i % 3}",
            host=f"/10.0.0.{i % 9 + 1}",
            reason=f"removing member {groups[i % 12]}-{i % 3}-89570ebe-1cde-411d on heartbeat expiration.",
        )
        for i in range(40)
    ]
    tables["gold.broker_outages"].append(cut)
    tables["gold.rebalances"] += rows
    tables["gold.incidents"].append(
        incident(
            "broker_outage",
            rows,
            cause="coordinator_moved",
            first_outage_id=cut["outage_id"],
            explanation="Broker 2 was unresponsive for 4 min 27 s; the groups it coordinated went to brokers 1 and 3.",
            advice="Look at the network between broker 2 and the controllers at 02:13.",
        )
    )
    for i in range(30):
        topic, partition = ("orders.events", "payments.v2", "__consumer_offsets")[i % 3], i // 3
        back = {"leader_from": 3, "leader_to": 2, "epoch_from": 5, "epoch_to": 6, "leaderless_ms": 0}
        tables["gold.failovers"] += [
            failover(topic, partition, at("02:13:13", i / 40), "broker_unresponsive", outage_id=cut["outage_id"]),
            failover(
                topic, partition, at("02:22:09", i / 40), "preferred_election", outage_id=cut["outage_id"], **back
            ),
        ]
    tables["gold.coordinator_moves"] += [
        made(
            "gold.coordinator_moves",
            coordinator_move_id=row_id(group),
            group_id=group,
            moved_at=at("02:13:15"),
            broker_from=2,
            broker_to=3,
            outage_id=cut["outage_id"],
        )
        for group in groups
    ]
    for change in ("shrink", "expand"):
        columns = {"topic": "orders.events", "change": change}
        tables["gold.isr_changes"] += [
            made("gold.isr_changes", isr_change_id=row_id(change, i), partition=i, **columns) for i in range(30)
        ]


def _deployment(tables: Tables) -> None:
    """A rolling restart of a group, and one of a broker: both declared."""
    causes = ("member_left", "member_rejoined", "cooperative_followup")
    rows = [
        rebalance(
            "checkout-worker",
            at("04:30:00", plus=11.0 * i),
            causes[i % 3],
            generation=100 + i,
            seconds=1.4,
            client_id=f"checkout-worker-{i // 3}",
        )
        for i in range(9)
    ]
    tables["gold.rebalances"] += rows
    tables["gold.incidents"].append(incident("rolling_restart", rows, intent="declared"))
    tables["gold.broker_outages"].append(
        outage(1, at("06:38:00"), "controlled_shutdown", up_at=at("06:38:41"), intent="declared")
    )
    tables["gold.controller_changes"].append(
        made("gold.controller_changes", happened_at=at("06:38:02"), controller_from=1, controller_to=3, epoch=8)
    )


def _troubles_of_groups(tables: Tables) -> None:
    """A slow member, a crash loop, added partitions, an epoch that nothing explains, and six members that joined."""
    left = {"client_id": "billing-a", "instance_id": None, "member_id": "billing-a-11", "cause": "member_left"}
    slow = rebalance(
        "billing",
        at("03:05:12"),
        "max_poll_exceeded",
        generation=41,
        seconds=62.0,
        client_id="billing-b",
        instance_id="i2",
        host="/10.0.3.7",
        delayed_by=[{"client_id": "billing-c", "member_id": "billing-c-77", "waited_ms": 58_400}],
        contributors=[left | {"at": at("03:05:40")}],
        advice="Lower max.poll.records, speed up processing, or raise max.poll.interval.ms.",
        explanation="Client 'billing-b' did not poll for 5 min 12 s and left; the group then waited for 'billing-c'.",
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
    unfinished: dict[str, Any] = {"ended_at": None, "joined_at": None, "duration_ms": None, "outcome": "unfinished"}
    stranger = rebalance(
        "geo-next",
        at("08:40:00"),
        "unknown",
        confidence="unknown",
        protocol="consumer",
        coordinator=None,
        **unfinished,
    )
    joined = [rebalance(f"nightly-{i}", at("00:30:00", 1_200.0 * i), "member_joined") for i in range(6)]
    alone = [("single", [r]) for r in (slow, stranger, *joined)]
    for kind, rows in (("storm", storm), ("cooperative_pair", pair), *alone):
        tables["gold.rebalances"] += rows
        tables["gold.incidents"].append(incident(kind, rows))


def _lost_partition(tables: Tables) -> None:
    """A partition without a leader, until an unclean election loses records."""
    gone = {"leader_to": -1, "leaderless_ms": 72_000, "isr_after": [2]}
    back = {"leader_from": -1, "leader_to": 1, "epoch_from": 5, "epoch_to": 6, "leaderless_ms": 72_000}
    lost = {"records_lost_low": 40, "records_lost_high": 52, "isr_before": [2], "isr_after": [1]}
    tables["gold.failovers"] += [
        failover("risky.raw", 0, at("06:39:00"), "offline", **gone),
        failover("risky.raw", 0, at("06:40:12"), "unclean_election", **back, **lost),
    ]


def _imbalance(tables: Tables) -> None:
    """Broker 2 is over the threshold while it recovers, broker 1 from its restart on."""
    for i in range(144):
        when = DAY + timedelta(minutes=10 * i)
        for broker in (1, 2, 3):
            recovers = broker == 2 and at("02:13:00") <= when <= at("02:30:00")
            elsewhere = 24 if recovers or (broker == 1 and when >= at("06:40:00")) else 2
            tables["gold.leader_imbalance"].append(
                made(
                    "gold.leader_imbalance",
                    snapshot_at=when,
                    broker=broker,
                    origin="snapshot",
                    preferred_partitions=30,
                    led_elsewhere=elsewhere,
                    ratio=elsewhere / 30,
                    over_threshold=elsewhere > 3,
                )
            )


def _remedies(tables: Tables) -> None:
    """The deployment would have passed unnoticed, and others would have cost less."""
    deployed = [r for r in tables["gold.rebalances"] if r["group_id"] == "checkout-worker"]
    for group, setting, now, smallest, avoided in (
        ("checkout-worker", "static_membership", 45_000, 12_300, deployed),
        ("billing", "max_poll_interval", 300_000, 371_000, []),
        ("mail-audit", "cooperative_assignment", None, None, []),
    ):
        tables["gold.remedies"].append(
            made(
                "gold.remedies",
                group_id=group,
                setting=setting,
                value_now=now,
                value_smallest=smallest,
                rebalances_total=len(avoided) or 3,
                rebalances_avoided=len(avoided),
                partition_seconds_avoided=41.5,
                rebalance_ids=[r["rebalance_id"] for r in avoided],
                explanation=f"{setting.replace('_', ' ')} would have avoided {len(avoided)} rebalances.",
            )
        )


def _jumps(tables: Tables) -> None:
    """A group that skipped records, and one that read some again."""
    for group, partition, cause, harm, bounds in (
        ("billing", 0, "retention", "records_skipped", (70, 70)),
        ("ads-etl", 0, "crash_before_commit", "records_read_again", (0, 90)),
        ("ads-etl", 1, "crash_before_commit", "records_read_again", (0, None)),
    ):
        tables["gold.offset_jumps"].append(
            made("gold.offset_jumps", jump_id=row_id(group, partition), group_id=group, topic="clicks",
                 partition=partition, cause=cause, harm=harm, records_low=bounds[0], records_high=bounds[1],
                 jumped_at=at("04:10:00"), resumed_at=at("04:10:00"), explanation="It went on elsewhere.",
                 confidence="possible" if harm == "records_read_again" else "certain")
        )  # fmt: skip


def _stalls(tables: Tables) -> None:
    """Three groups, three kinds of stalls."""
    for group, topic, kind, lag in (
        ("billing", "payments.v2", "owner_stands", 900),
        ("ads-etl", "clicks", "stands_alone", 120_000),
        ("mail-audit", "mail", "falls_behind", 3_400),
    ):
        columns = {
            "group_id": group,
            "topic": topic,
            "kind": kind,
            "confidence": "likely",
            "started_at": at("03:05:00"),
        }
        tables["gold.partition_stalls"] += [
            made("gold.partition_stalls", partition=p, stall_id=row_id(group, topic, p), lag_last=lag * (p + 1),
                 lag_max=lag * (p + 1), client_id=f"{group}-1", owned_partitions=4, moving_partitions=2,
                 idle_partitions=1, **columns)
            for p in range(4)
        ]  # fmt: skip


def _findings(tables: Tables) -> None:
    for rule_id, severity, kind, subject, clock, message in (
        ("records_truncated", "critical", "partition", "risky.raw-0", "06:40:12", "lost 40 to 52 records"),
        ("rebalances_excessive", "critical", "group", "ads-etl", "05:10:00", "rebalanced 14 times within 60 minutes"),
        ("leader_imbalance", "warning", "broker", "1", "06:40:00", "led 24 of 30 partitions elsewhere (80 %)"),
        ("lag_growing", "warning", "group", "billing", "03:05:00", "fell behind: its lag grew to 9,000 records"),
        ("lag_growing", "warning", "group", "ads-etl", "05:10:00", "fell behind: its lag grew to 1,200,000 records"),
        ("group_unanswered", "info", "group", "mail-audit", "02:13:10", "did not answer in 3 readings"),
    ):
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
                message=f"{kind} {subject} {message}",
                advice=f"What to do about {rule_id.replace('_', ' ')}.",
                source="Kafka operations guide",
            )
        )


def _quality(tables: Tables) -> None:
    """1.9 million lines of which three could not be read, a gap, a refused expectation."""
    lines = {"server.log": 412_000, "controller.log": 96_500, "state-change.log": 121_000}
    sources = [(f"broker-{b}/{log}", "broker", count, 2 if (b, log) == (2, "server.log") else 0, 0)
               for b in (1, 2, 3) for log, count in lines.items()]  # fmt: skip
    for source, origin, count, unparsed, broken in (*sources, ("billing-b.log", "client", 4_200, 0, 1)):
        tables["quality.coverage"].append(
            made(
                "quality.coverage",
                source=source,
                origin=origin,
                lines_in=count,
                events=count // 20,
                ignored=count - count // 20 - unparsed - broken,
                unparsed=unparsed,
                quarantined=broken,
                first_at=at("00:00:01"),
                last_at=at("23:59:58") if origin == "broker" else at("18:20:00"),
                longest_silence_ms=266_000 if "broker-2" in source else 41_000,
            )
        )
    tables["quality.witnesses"] = witnesses()
    template = "Something nobody has seen about group <name>"
    tables["quality.unparsed_lines"].append(
        {"template": template, "records": 2, "lines": 2, "sample": "Something nobody has seen: g0"}
    )
    tables["quality.quarantine"].append(
        made(
            "quality.quarantine",
            source="billing-b.log",
            line_count=1,
            row="\x00\x00\x00[2026-10-03 03:\ufffd",
            sentences=["The line holds NUL bytes.", "Its instant cannot be read."],
        )
    )
    for group, after, following, why in (("ledger", 41, 44, None), ("mail-audit", 12, 1, "the group was deleted")):
        columns = {"after_generation": after, "next_generation": following, "explained_by": why}
        tables["quality.generation_gaps"].append(
            made("quality.generation_gaps", group_id=group, seen_at=at("09:12:00"), **columns)
        )
    for i in range(88):
        unmet: dict[str, Any] = {
            "severity": "warning",
            "success": False,
            "sentences": ["3 rebalances last longer than an hour."],
        }
        kept: dict[str, Any] = {"severity": "critical", "success": True}
        tables["quality.validation_results"].append(
            made("quality.validation_results", expectation=f"expectation_{i}", **(kept if i else unmet))
        )


def poisoned_night(texts: Sequence[str]) -> Night:
    """The night with every text of every row, but for codes and hashes, replaced by these in turn."""
    tables, about = night()
    source = cycle(texts)
    kept = {"rebalance_id", "incident_id", "outage_id", "restart_id", "failover_id", "finding_id", "cause", "kind"}

    def poisoned(value: Any, column: str, codes: set[str]) -> Any:
        if isinstance(value, dict):
            return {name: poisoned(item, name, codes) for name, item in value.items()}
        if isinstance(value, list):
            return [poisoned(item, column, codes) for item in value]
        return next(source) if isinstance(value, str) and column not in codes else value

    for name, rows in tables.items():
        codes = kept | {column.name for column in BY_NAME[name].columns if column.codes}
        tables[name] = [poisoned(r, "", codes) for r in rows]
    return tables, poisoned(about, "", set()) | {"warnings": list(texts), "files_not_read": list(texts)}
