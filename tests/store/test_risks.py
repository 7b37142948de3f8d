"""Risks, simulations and the durability audit on real tables: a captured unclean election, and one reading after it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from pyspark.sql import SparkSession

from tests.support.logs import rebuilt, run
from tests.support.nights import EXCERPTS, at

BROKERS = [{"id": n, "host": "h", "port": 9092, "rack": "a"} for n in (1, 2, 3)]


def partition(number: int, *replicas: int) -> dict[str, object]:
    return {"partition": number, "leader": replicas[0], "replicas": list(replicas), "isr": list(replicas)}


def reading() -> str:
    """A reading in which the topic __consumer_offsets says its minimum itself and broker 1 how it is set up."""
    topics = [
        {"topic": "fraud-risky-19", "internal": False, "partitions": [partition(0, 1, 2), partition(1, 2, 1)]},
        {"topic": "__consumer_offsets", "internal": True, "partitions": [partition(0, 3)]},
    ]
    configs = [
        {"resource_type": "TOPIC", "resource": "__consumer_offsets", "name": "min.insync.replicas", "value": "1"},
        {"resource_type": "BROKER", "resource": "1", "name": "auto.leader.rebalance.enable", "value": "false"},
    ]
    shown = {"brokers": BROKERS, "topics": topics, "groups": [{"group": "g", "state": "EMPTY"}], "configs": configs}
    return json.dumps({"at": "2026-11-21T01:53:15+00:00", **shown}) + "\n"


def test_what_a_night_risked_and_what_a_loss_would_cost_is_told(spark: SparkSession, tmp_path: Path) -> None:
    logs = shutil.copytree(EXCERPTS / "unclean-4.1", tmp_path / "logs")
    shutil.copytree(EXCERPTS / "settings-4.1", logs / "start")
    snapshots = tmp_path / "snapshots.jsonl"
    snapshots.write_text(reading())
    store, said = run(spark, tmp_path / "lake", logs, snapshots=snapshots)
    told = rebuilt(store, said, "gold.partition_risks", "gold.loss_simulations", "gold.findings")

    risks = {r["partition"]: r for r in told["gold.partition_risks"]}
    shown = ("topic", "replication_factor", "min_insync_replicas", "worst_isr_size", "one_from_offline_ms")
    assert [risks[0][c] for c in shown] == ["fraud-risky-19", 2, 1, 1, 0]
    assert 0 < risks[0]["one_from_unclean_ms"] < risks[0]["under_replicated_ms"] <= risks[0]["known_ms"]
    assert risks[0]["leaderless_low_ms"] <= risks[0]["leaderless_high_ms"]

    rows = sorted(told["gold.loss_simulations"], key=lambda r: (r["scope_kind"], r["scope"]))
    lost = [(r["scope"], r["partitions_offline"], r["partitions_unwritable"], r["leaders_to_move"]) for r in rows]
    assert lost == [("1", 0, 0, 1), ("2", 0, 0, 1), ("3", 1, 0, 0), ("a", 3, 0, 0)]
    assert [r["group_ids"] for r in rows] == [r["stranded_group_ids"] for r in rows] == [[], [], ["g"], ["g"]]
    assert {r["snapshot_at"].isoformat() for r in rows} == {at("01:53:15").replace(tzinfo=None).isoformat()}

    found = {r["rule_id"]: r["subject"] for r in told["gold.findings"]}
    expected = {
        "replication_factor_low": "fraud-risky-19",
        "unclean_election_enabled": "fraud-risky-19",
        "offsets_topic_weak": "__consumer_offsets",
        "transaction_topic_weak": "__transaction_state",
        "default_replication_low": said["cluster"],
        "settings_differ": said["cluster"],
        "racks_unknown": said["cluster"],
    }
    assert expected.items() <= found.items()
    assert not {"replication_factor_one", "min_isr_low", "racks_missing", "replicas_in_one_rack"} & set(found)
