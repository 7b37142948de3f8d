"""What a person should know of brokers and partitions."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from spark_jobs.transforms.evidence import quote_snapshot
from spark_jobs.transforms.findings.facts import Facts, Row, finding_of
from spark_jobs.transforms.findings.replicas import told_of_missing


def _imbalance(facts: Facts) -> list[dict[str, Any]]:
    by_broker: dict[int, list[Row]] = defaultdict(list)
    for period in facts.imbalance_periods:
        by_broker[period["broker"]].append(period)
    found = []
    for broker, imbalance_periods in sorted(by_broker.items()):
        worst = max(imbalance_periods, key=lambda s: (s["max_ratio"], -s["worst_at"].timestamp()))
        again = f" It was so {len(imbalance_periods)} times." if len(imbalance_periods) > 1 else ""
        found.append(
            finding_of(
                facts,
                "leader_imbalance",
                str(broker),
                min(s["started_at"] if s["started_at_is_exact"] else s["first_reading_at"] for s in imbalance_periods),
                max(s["ended_at"] or s["last_reading_at"] for s in imbalance_periods),
                [q for s in imbalance_periods for q in s["evidence"]],
                told=f"{worst['explanation']}{again}".removesuffix("."),
            )
        )
    return found


def _replication(facts: Facts) -> list[dict[str, Any]]:
    thin = [p for p in facts.partitions if len(p["isr"] or ()) < len(p["replicas"] or ())]
    short = [p for p in thin if len(p["isr"] or ()) < min(facts.min_isr_of(p["topic"]), len(p["replicas"]))]
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


def _truncated(facts: Facts) -> list[dict[str, Any]]:
    """One finding for each replica's broker, verdict and outage. What an unclean election lost is told by that."""
    told = {(f["topic"], f["partition"]) for f in facts.failovers if f["kind"] == "unclean_election"}
    by_origin: dict[tuple[int, str, str], list[Row]] = defaultdict(list)
    for t in facts.truncations:
        if t["verdict"] != "nothing_committed_lost" and (t["topic"], t["partition"]) not in told:
            by_origin[t["broker"], t["verdict"], t["outage_id"] or ""].append(t)
    found = []
    for (broker, verdict, _), cuts in sorted(by_origin.items()):
        records = [t["records_cut"] for t in cuts]
        found.append(
            finding_of(
                facts,
                "records_truncated",
                min(f"{t['topic']}-{t['partition']}" for t in cuts),
                min(t["happened_at"] for t in cuts),
                max(t["happened_at"] for t in cuts),
                [q for t in cuts for q in t["evidence"]],
                more=len({(t["topic"], t["partition"]) for t in cuts}) - 1,
                broker=broker,
                lost="lost committed records" if verdict == "committed_lost" else "may have lost committed records",
                cut="how many is not told" if None in records else f"{sum(records)} cut",
            )
        )
    return found


RULES = (_imbalance, _replication, _leaderless, _unclean, _truncated)
