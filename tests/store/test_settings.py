"""Settings, findings and the back-test on real tables: a captured storm with its clients' logs and two readings."""

from __future__ import annotations

import json
from pathlib import Path

from pyspark.sql import SparkSession

from spark_jobs.knowledge.rules import RULES
from tests.support.logs import rebuilt, run
from tests.support.nights import EXCERPTS

STORM = EXCERPTS / "groups" / "storm-2.8"


def reading(clock: str, *members: str) -> str:
    """A reading that shows these members of the group."""
    seen = [{"member_id": f"{m}-1", "client_id": m, "host": "/10.0.0.7", "assignment": []} for m in members]
    group = {"group": "billing-storm-8", "state": "STABLE", "type": "CLASSIC", "assignor": "range", "members": seen}
    return json.dumps({"at": f"2026-11-21T{clock}+00:00", "groups": [group]}) + "\n"


def test_a_night_s_settings_are_told_and_every_rule_is_counted_once(spark: SparkSession, tmp_path: Path) -> None:
    snapshots = tmp_path / "snapshots.jsonl"
    snapshots.write_text(reading("01:48:30", "python-a") + reading("01:48:40", "python-a"))
    given = {"client_logs": STORM / "clients", "snapshots": snapshots}
    store, said = run(spark, tmp_path / "lake", STORM / "logs", **given)
    made = rebuilt(store, said, "gold.member_settings", "gold.findings", "quality.rule_firings")
    settings = {r["client_id"]: r for r in sorted(made["gold.member_settings"], key=lambda r: str(r["client_id"]))}
    assert list(settings) == ["billing-storm-8-a", *(f"billing-storm-8-b{n}" for n in range(5)), "python-a"]
    told = ("session_timeout_ms", "rebalance_timeout_ms", "assignors", "assignor", "protocol", "witnesses")
    assert [settings["billing-storm-8-b4"][c] for c in told] == [
        8_000, 300_000, ["range"], "range", "classic", ["client_log", "member_line"],
    ]  # fmt: skip
    assert [settings["python-a"][c] for c in told] == [None, None, None, "range", "classic", []]
    assert f"{settings['python-a']['last_seen_at'] - settings['python-a']['first_seen_at']}" == "0:00:10"

    found = {r["rule_id"]: r for r in made["gold.findings"]}
    assert {"session_short", "eager_often", "rebalances_frequent"} <= set(found)
    firings = {r["rule_id"]: r for r in made["quality.rule_firings"]}
    assert set(firings) == {rule.rule_id for rule in RULES}
    assert len(made["quality.rule_firings"]) == len(RULES)
    assert {rule_id for rule_id, r in firings.items() if r["fired"]} == set(found)
