"""Losses, cuts and imbalance on real tables: a captured unclean election, with three readings of the cluster."""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import SparkSession

from tests.support.logs import rebuilt, run
from tests.support.nights import EXCERPTS, at

LOGS = EXCERPTS / "unclean-4.1"
TOPIC = "fraud-risky-19"


def reading(clock: str, leaders: tuple[int, int], end: int, epochs: tuple[int, int], committed: int) -> str:
    partitions = [
        {"partition": p, "leader": leader, "replicas": replicas, "isr": [leader]}
        for p, (leader, replicas) in enumerate(zip(leaders, ([1, 2], [2, 1]), strict=True))
    ]
    group = {"group": "g", "state": "STABLE", "coordinator": 3, "members": [], "committed": [[TOPIC, 0, committed]]}
    said = {
        "at": f"2026-11-21T{clock}+00:00",
        "brokers": [{"id": b, "host": "h", "port": 1, "rack": rack} for b, rack in ((1, "a"), (2, "b"), (3, "b"))],
        "topics": [{"topic": TOPIC, "internal": False, "partitions": partitions}],
        "end_offsets": [[TOPIC, p, end, epoch] for p, epoch in enumerate(epochs)],
        "groups": [group],
    }
    return json.dumps(said) + "\n"


def test_what_a_group_had_read_and_what_a_replica_cut_are_told(spark: SparkSession, tmp_path: Path) -> None:
    """The group had read more than the old leader brought back: it proves a loss that no broker's log shows."""
    snapshots = tmp_path / "snapshots.jsonl"
    snapshots.write_text(
        reading("01:52:24.500", (1, 2), 0, (0, 0), 0)
        + reading("01:52:58.000", (2, 2), 28, (1, 2), 90)
        + reading("01:53:03.000", (2, 2), 30, (1, 2), 90)
    )
    store, said = run(spark, tmp_path / "lake", LOGS, snapshots=snapshots)
    told = rebuilt(
        store,
        said,
        "gold.failovers",
        "gold.truncations",
        "gold.imbalance_periods",
        "gold.leader_balance",
        "gold.findings",
    )

    (lost,) = [f for f in told["gold.failovers"] if f["kind"] == "unclean_election" and f["partition"] == 0]
    assert (lost["records_lost_low"], lost["records_lost_high"]) == (62, None)
    assert any("group g has committed offset 90" in q["text"] for q in lost["evidence"])
    (cut,) = told["gold.truncations"]
    assert (cut["records_cut"], cut["verdict"], cut["failover_id"]) == (40, "committed_lost", lost["failover_id"])

    (period,) = told["gold.imbalance_periods"]
    assert (period["broker"], period["started_by"], period["ended_at"]) == (1, "unclean_election", None)
    assert (period["started_at"], period["started_at_is_exact"], period["readings"]) == (lost["happened_at"], True, 2)
    balance = {(r["snapshot_at"], r["scope"]): r for r in told["gold.leader_balance"]}
    assert {scope for _, scope in balance} == {"all", "without_internal", "rack:a", "rack:b"}
    last = balance[at("01:53:03.000").replace(tzinfo=None), "all"]
    assert (last["leaders_max"], last["most_loaded_broker"], last["group_spread"]) == (2, 2, 3.0)

    (finding,) = [f for f in told["gold.findings"] if f["rule_id"] == "leader_imbalance"]
    assert (finding["subject"], finding["first_at"]) == ("1", lost["happened_at"])
    assert "with an unclean election" in finding["message"]
    assert "records_truncated" not in {f["rule_id"] for f in told["gold.findings"]}, "the election shows it"
