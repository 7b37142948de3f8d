"""What a person should know of brokers and partitions."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from spark_jobs.transforms.evidence import quote_snapshot
from spark_jobs.transforms.findings.facts import Facts, Row, finding_of
from spark_jobs.transforms.findings.replicas import told_of_missing


def _imbalance(facts: Facts) -> list[dict[str, Any]]:
    by_broker: dict[int, list[Row]] = defaultdict(list)
    for row in facts.imbalance:
        if row["over_threshold"]:
            by_broker[row["broker"]].append(row)
    found = []
    for broker, rows in sorted(by_broker.items()):
        worst = max(rows, key=lambda r: (r["ratio"], -r["snapshot_at"].timestamp()))
        found.append(
            finding_of(
                facts,
                "leader_imbalance",
                str(broker),
                min(r["snapshot_at"] for r in rows),
                max(r["snapshot_at"] for r in rows),
                worst["evidence"],
                elsewhere=worst["led_elsewhere"],
                preferred=worst["preferred_partitions"],
                ratio=f"{worst['ratio']:.0%}",
            )
        )
    return found


def _replication(facts: Facts) -> list[dict[str, Any]]:
    thin = [p for p in facts.troubled_partitions if len(p["isr"] or ()) < len(p["replicas"] or ())]
    short = [p for p in thin if p["topic"] in facts.min_isr and len(p["isr"] or ()) < facts.min_isr[p["topic"]]]
    found = []
    for rule_id, rows in (("under_replicated", thin), ("under_min_isr", short)):
        if rows:
            at = max(p["snapshot_at"] for p in rows)
            says = [
                quote_snapshot(
                    p["snapshot_id"],
                    p["snapshot_at"],
                    f"{p['topic']}-{p['partition']}: isr {p['isr']}, replicas {p['replicas']}",
                )
                for p in sorted(rows, key=lambda p: (p["topic"], p["partition"]))[:5]
            ]
            subject = rows[0]["topic"] if len({p["topic"] for p in rows}) == 1 else f"{len(rows)} partitions"
            told = told_of_missing(rows, facts.isr_spans)
            found.append(finding_of(facts, rule_id, subject, at, at, says, count=len(rows), told=told))
    return found


def _leaderless(facts: Facts) -> list[dict[str, Any]]:
    """One finding for each outage, or topic, that left partitions without a leader, however many of them."""
    by_origin: dict[str, list[Row]] = defaultdict(list)
    for f in facts.failovers:
        if f["kind"] == "offline":
            by_origin[f["outage_id"] or f["topic"]].append(f)
    restored = {(f["topic"], f["partition"], f["epoch_from"]): f["happened_at"] for f in facts.failovers}
    found = []
    for _, rows in sorted(by_origin.items()):
        first = min(r["happened_at"] for r in rows)
        ends = [restored.get((r["topic"], r["partition"], r["epoch_to"])) for r in rows]
        until = "" if None in ends else f" to {max(e for e in ends if e):%H:%M:%S}"
        names = sorted(f"{r['topic']}-{r['partition']}" for r in rows)
        found.append(
            finding_of(
                facts,
                "offline_partitions",
                names[0],
                first,
                max([first, *(e for e in ends if e)]),
                [e for r in rows for e in r["evidence"]],
                more=len(names) - 1,
                since=f"{first:%H:%M:%S}",
                until=until,
            )
        )
    return found


def _unclean(facts: Facts) -> list[dict[str, Any]]:
    found = []
    for f in facts.failovers:
        if f["kind"] == "unclean_election":
            low, high = f["records_lost_low"], f["records_lost_high"]
            lost = "how many records were lost cannot be told"
            if low == high == 0:
                lost = "no record was lost"
            elif low is not None and high is not None:
                lost = f"{low} records were lost" if low == high else f"between {low} and {high} records were lost"
            elif low is not None:
                lost = f"at least {low} records were lost"
            name = f"{f['topic']}-{f['partition']}"
            found.append(
                finding_of(
                    facts, "unclean_election", name, f["happened_at"], f["happened_at"], f["evidence"], lost=lost
                )
            )
    return found


RULES = (_imbalance, _replication, _leaderless, _unclean)
