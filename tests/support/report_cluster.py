"""What the brokers of the made night went through: a restart, slow replicas, truncations, risks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from kafka_hindsight.catalog.ids import row_id
from tests.support.report_rows import DAY, END, Tables, at, made, outage, quote


def told_by_replicas(tables: Tables) -> None:
    """Broker 1 is restarted before broker 3, which is slow at 05:30; what was cut, risked and would be lost now."""
    (first,) = (o for o in tables["gold.broker_outages"] if o["kind"] == "controlled_shutdown")
    tables["gold.rolling_restarts"].append(restart([first, outage(3, at("06:45:00"), "controlled_shutdown")]))
    tables["gold.out_of_sync_periods"].append(out_of_sync(3, at("05:30:00")))
    tables["gold.truncations"] += [
        truncation("orders.events", 4, at("02:18:00"), "nothing_committed_lost", records_cut=0),
        truncation("risky.raw", 0, at("06:41:00"), "committed_lost", records_cut=52),
    ]
    tables["gold.partition_risks"] += [
        risk("risky.raw", 0, leaderless_low_ms=72_000, leaderless_high_ms=72_000, one_from_unclean_ms=540_000),
        risk("orders.events", 4, under_min_isr_ms=0, one_from_offline_ms=None, known_ms=3_600_000),
    ]
    tables["bronze.snapshot_readings"] = [one_more_loss("broker", "3", without_replica=2)]
    tables["gold.imbalance_periods"].append(over_gate(1, at("06:40:00")))
    tables["quality.leadership_gaps"].append(leadership_gap("mail", 2, at("02:30:00")))


def restart(outages: list[dict[str, Any]], **columns: Any) -> dict[str, Any]:
    """A rolling restart of these brokers, the second of which was stopped too early; they are told of it."""
    restart_id = row_id("restart", outages[0]["outage_id"])
    for each in outages:
        each["restart_id"] = restart_id
    score = [
        {
            "broker": o["broker"],
            "outage_id": o["outage_id"],
            "kind": o["kind"],
            "down_at": o["down_at"],
            "up_at": o["up_at"],
            "isr_recovered_ms": 31_000,
            "leadership_restored_ms": None,
            "is_early": None if i == 0 else i == 1,
            "partitions_led_before": 30,
            "elections": 30,
        }
        for i, o in enumerate(outages)
    ]
    defaults = {
        "restart_id": restart_id,
        "started_at": outages[0]["down_at"],
        "ended_at": outages[-1]["up_at"],
        "brokers": [o["broker"] for o in outages],
        "intent": "declared",
        "is_complete": True,
        "scorecard": score,
        "elections": 90,
        "rebalances": 4,
        "max_under_replicated": 60,
        "confidence": "certain",
        "explanation": "The cluster was restarted broker by broker; broker 3 was stopped before broker 1 was back.",
        "advice": "Wait until no partition is under-replicated before the next broker is stopped.",
        "evidence": outages[0]["evidence"],
    }
    return made("gold.rolling_restarts", **{**defaults, **columns})


def out_of_sync(broker: int, when: datetime, **columns: Any) -> dict[str, Any]:
    """A broker that was alive and fetched too late for ten minutes."""
    words = f"Shrinking ISR from 1,2,{broker} to 1,2. Leader: (highWatermark: 90, endOffset: 940)."
    defaults = {
        "out_of_sync_period_id": row_id("period", broker, when),
        "broker": broker,
        "started_at": when,
        "ended_at": when + timedelta(minutes=10),
        "kind": "slow",
        "suspected_broker": broker,
        "removed_by_leader": [1],
        "partitions": 12,
        "partitions_out": 0,
        "shrinks": 14,
        "expands": 14,
        "flaps": 2,
        "cycles": 2,
        "partition_ms": 5_400_000,
        "records_behind": 850,
        "worst_topics": ["orders.events"],
        "confidence": "likely",
        "explanation": f"Broker {broker} was alive and fell behind for 10 min; broker 1 dropped it from 12 partitions.",
        "advice": "Look at its disks, its network and its fetchers.",
        "evidence": [quote(when, "broker-1/server.log", words)],
    }
    return made("gold.out_of_sync_periods", **{**defaults, **columns})


def truncation(topic: str, partition: int, when: datetime, verdict: str, **columns: Any) -> dict[str, Any]:
    """Broker 2 cuts its log of a partition."""
    words = f"[Log partition={topic}-{partition}] Truncating to offset 948"
    defaults = {
        "truncation_id": row_id("truncation", topic, partition, when),
        "topic": topic,
        "partition": partition,
        "broker": 2,
        "happened_at": when,
        "is_whole": False,
        "truncated_to": 948,
        "verdict": verdict,
        "confidence": "certain",
        "explanation": f"Broker 2 cut its log of {topic}-{partition} to offset 948.",
        "evidence": [quote(when, "broker-2/server.log", words)],
    }
    return made("gold.truncations", **{**defaults, **columns})


def risk(topic: str, partition: int, **columns: Any) -> dict[str, Any]:
    """What a partition with three replicas risked."""
    defaults = {
        "topic": topic,
        "partition": partition,
        "replication_factor": 3,
        "min_insync_replicas": 2,
        "elections": 1,
        "leaderless_low_ms": 0,
        "leaderless_high_ms": 0,
        "first_at": at("02:13:00"),
        "last_at": at("02:18:00"),
        "known_ms": int((END - DAY) / timedelta(milliseconds=1)),
    }
    return made("gold.partition_risks", **{**defaults, **columns})


def one_more_loss(scope: str, name: str, without_replica: int = 0, without_writes: int = 0) -> dict[str, Any]:
    """What the loss of a broker or rack would cost at the end of the night, as a report reads it."""
    return {
        "snapshot_at": at("23:50:00"),
        "scope": scope,
        "name": name,
        "without_replica": without_replica,
        "without_writes": without_writes,
    }


def over_gate(broker: int, when: datetime, **columns: Any) -> dict[str, Any]:
    """A broker over the threshold that no election has healed."""
    defaults = {
        "imbalance_period_id": row_id("period", broker, when),
        "broker": broker,
        "origin": "snapshot",
        "started_at": when,
        "started_at_is_exact": True,
        "ended_at_is_exact": False,
        "first_reading_at": when,
        "last_reading_at": at("23:50:00"),
        "readings": 104,
        "max_ratio": 0.8,
        "worst_at": when,
        "preferred_partitions": 30,
        "led_elsewhere": 24,
        "started_by": "controlled_shutdown",
        "explanation": f"The shutdown of broker {broker} left it behind, and no election has healed it.",
        "advice": "Run kafka-leader-election.sh --election-type preferred.",
    }
    return made("gold.imbalance_periods", **{**defaults, **columns})


def leadership_gap(topic: str, partition: int, when: datetime, **columns: Any) -> dict[str, Any]:
    """A leader epoch that rose by two between two sightings of one leader."""
    defaults = {
        "topic": topic,
        "partition": partition,
        "after_epoch": 7,
        "next_epoch": 9,
        "leader_before": 1,
        "leader_after": 1,
        "seen_at": when,
        "explanation": f"Leader of {topic}-{partition} during epoch 8 is unknown: a failover and back is possible.",
    }
    return made("quality.leadership_gaps", **{**defaults, **columns})
