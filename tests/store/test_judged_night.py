"""Losses, risks, settings and findings on real tables: a captured storm and a captured unclean election, one night.

Beside them: the storm's clients' logs, the start of a broker with its settings, and six readings of the cluster.
"""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest

from tests.support.logs import Row, ingested, lay, rebuilt
from tests.support.nights import EXCERPTS

STORM = EXCERPTS / "groups" / "storm-2.8"
TOPIC = "fraud-risky-19"

Judged = dict[str, list[Row]]


def reading(clock: str, **shown: Any) -> str:
    return json.dumps({"at": f"2026-11-21T{clock}+00:00", **shown}) + "\n"


def members(clock: str, *names: str) -> str:
    """A reading that shows these members of the storm's group."""
    entries = [{"member_id": f"{m}-1", "client_id": m, "host": "/10.0.0.7", "assignment": []} for m in names]
    group = {"group": "billing-storm-8", "state": "STABLE", "type": "CLASSIC", "assignor": "range", "members": entries}
    return reading(clock, groups=[group])


def brokers(*racks: str) -> list[Row]:
    return [{"id": b, "host": "h", "port": 9092, "rack": rack} for b, rack in enumerate(racks, 1)]


def topic(name: str, *led: tuple[int, list[int], list[int]]) -> Row:
    """A topic whose partitions have these leaders, replicas and replicas in sync."""
    partitions = [{"partition": p, "leader": a, "replicas": b, "isr": c} for p, (a, b, c) in enumerate(led)]
    return {"topic": name, "internal": name.startswith("__"), "partitions": partitions}


def led_by(clock: str, leaders: tuple[int, int], end: int, epochs: tuple[int, int], committed: int) -> str:
    group = {"group": "g", "state": "STABLE", "coordinator": 3, "members": [], "committed": [[TOPIC, 0, committed]]}
    return reading(
        clock,
        brokers=brokers("a", "b", "b"),
        topics=[topic(TOPIC, *((leader, r, [leader]) for leader, r in zip(leaders, ([1, 2], [2, 1]), strict=True)))],
        end_offsets=[[TOPIC, p, end, epoch] for p, epoch in enumerate(epochs)],
        groups=[group],
    )


def last_reading() -> str:
    """A reading in which the topic __consumer_offsets says its minimum itself and broker 1 how it is set up."""
    configs = [
        {"resource_type": "TOPIC", "resource": "__consumer_offsets", "name": "min.insync.replicas", "value": "1"},
        {"resource_type": "BROKER", "resource": "1", "name": "auto.leader.rebalance.enable", "value": "false"},
    ]
    return reading(
        "01:53:15",
        brokers=brokers("a", "a", "a"),
        topics=[topic(TOPIC, (2, [1, 2], [1, 2]), (2, [2, 1], [2, 1])), topic("__consumer_offsets", (3, [3], [3]))],
        groups=[{"group": "g", "state": "EMPTY"}],
        configs=configs,
    )


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """What is judged of the night, by table.

    The group had read more than the old leader brought back: it proves a loss that no broker's log shows.
    """
    folder = tmp_path_factory.mktemp("night")
    logs = shutil.copytree(EXCERPTS / "unclean-4.1", folder / "logs")
    shutil.copytree(EXCERPTS / "settings-4.1", logs / "start")
    shutil.copytree(STORM / "logs", logs / "storm")
    readings = [
        *(members(clock, "python-a") for clock in ("01:48:30", "01:48:40")),
        led_by("01:52:24.500", (1, 2), 0, (0, 0), 0),
        led_by("01:52:58.000", (2, 2), 28, (1, 2), 90),
        led_by("01:53:03.000", (2, 2), 30, (1, 2), 90),
        last_reading(),
    ]
    lay(folder, {"snapshots.jsonl": "".join(readings)})
    given = {"client_logs": STORM / "clients", "snapshots": folder / "snapshots.jsonl"}
    store, summary = ingested(folder / "lake", logs, **given)
    return rebuilt(
        store,
        summary,
        "gold.failovers",
        "gold.truncations",
        "gold.imbalance_periods",
        "gold.partition_risks",
        "gold.member_settings",
        "gold.findings",
    )


def test_loss_and_truncation_of_unclean_election_are_bounded(judged: Judged) -> None:
    (lost,) = [f for f in judged["gold.failovers"] if f["kind"] == "unclean_election" and f["partition"] == 0]
    assert (lost["records_lost_low"], lost["records_lost_high"]) == (62, None)
    assert any("group g has committed offset 90" in q["text"] for q in lost["evidence"])
    (cut,) = judged["gold.truncations"]
    assert (cut["records_cut"], cut["verdict"], cut["failover_id"]) == (40, "committed_lost", lost["failover_id"])

    (period,) = judged["gold.imbalance_periods"]
    assert (period["broker"], period["started_by"], period["ended_at"]) == (1, "unclean_election", None)
    assert (period["started_at"], period["started_at_is_exact"], period["readings"]) == (lost["happened_at"], True, 3)

    raised = {f["rule_id"] for f in judged["gold.findings"]}
    assert "leader_imbalance" not in raised, "the broker was away, and says so itself"
    assert "records_truncated" not in raised, "the election shows it"


def test_night_has_partition_risks_and_standing_findings(judged: Judged) -> None:
    risks = {r["partition"]: r for r in judged["gold.partition_risks"] if r["topic"] == TOPIC}
    shown = ("topic", "replication_factor", "min_insync_replicas", "worst_isr_size", "one_from_offline_ms")
    assert [risks[0][c] for c in shown] == ["fraud-risky-19", 2, 1, 1, 0]
    assert 0 < risks[0]["one_from_unclean_ms"] < risks[0]["under_replicated_ms"] <= risks[0]["known_ms"]
    assert risks[0]["leaderless_low_ms"] <= risks[0]["leaderless_high_ms"]

    findings = {r["rule_id"]: r["subject"] for r in judged["gold.findings"]}
    expected = {
        "replication_factor_low": "fraud-risky-19",
        "unclean_election_enabled": "fraud-risky-19",
        "offsets_topic_weak": "__consumer_offsets",
        "transaction_topic_weak": "__transaction_state",
        "default_replication_low": "prod",
        "settings_differ": "prod",
        "racks_unknown": "prod",
    }
    assert expected.items() <= findings.items()
    assert not {"replication_factor_one", "min_isr_low", "racks_missing", "replicas_in_one_rack"} & set(findings)


def test_member_settings_are_rebuilt_and_every_rule_is_counted_once(judged: Judged) -> None:
    settings = {r["client_id"]: r for r in sorted(judged["gold.member_settings"], key=lambda r: str(r["client_id"]))}
    assert list(settings) == ["billing-storm-8-a", *(f"billing-storm-8-b{n}" for n in range(5)), "python-a"]
    shown = ("session_timeout_ms", "rebalance_timeout_ms", "assignors", "assignor", "protocol", "witnesses")
    assert [settings["billing-storm-8-b4"][c] for c in shown] == [
        8_000, 300_000, ["range"], "range", "classic", ["client_log", "member_line"],
    ]  # fmt: skip
    assert [settings["python-a"][c] for c in shown] == [None, None, None, "range", "classic", []]
    assert f"{settings['python-a']['last_seen_at'] - settings['python-a']['first_seen_at']}" == "0:00:10"

    findings = {r["rule_id"] for r in judged["gold.findings"]}
    assert {"session_short", "eager_often", "rebalances_frequent"} <= findings
