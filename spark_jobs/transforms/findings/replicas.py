"""What a person should know of brokers and their replicas."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from spark_jobs.knowledge.rules import RULE_BY_ID
from spark_jobs.transforms.findings.facts import Facts, Row, finding_of
from spark_jobs.transforms.rebalances.wording import took
from spark_jobs.transforms.windows import counted

_NAMED = 3


def _slow(facts: Facts) -> list[dict[str, Any]]:
    """One finding for each suspect, however many partitions, and whoever fell out through it."""
    by_suspect: dict[int, list[Row]] = defaultdict(list)
    for period in facts.out_of_sync_periods:
        if period["kind"] == "slow" and period["suspected_broker"] is not None:
            by_suspect[period["suspected_broker"]].append(period)
    return [
        _of_lapses(facts, "broker_slow", suspect, rows, told=_told_of_slow(suspect, rows))
        for suspect, rows in sorted(by_suspect.items())
    ]


def _told_of_slow(suspect: int, out_of_sync_periods: Sequence[Row]) -> str:
    most = max(period["partitions"] for period in out_of_sync_periods)
    lasted = took(sum(period["partition_ms"] for period in out_of_sync_periods))
    many = f"{counted(most, 'partition')} at most, {lasted} in all"
    followers = sorted({period["broker"] for period in out_of_sync_periods} - {suspect})
    if followers:
        return f"too slow as a leader: its followers {', '.join(map(str, followers))} fell out of ISRs ({many})"
    sure = any(period["confidence"] == "likely" for period in out_of_sync_periods)
    doubt = "" if sure else ", unless its only leader or the way between them was"
    return f"too slow to keep up with its leaders, which dropped it from ISRs ({many}){doubt}"


def _flapping(facts: Facts) -> list[dict[str, Any]]:
    limit = RULE_BY_ID["isr_flapping"].thresholds["cycles"]
    by_broker: dict[int, list[Row]] = defaultdict(list)
    for period in facts.out_of_sync_periods:
        if period["cycles"] >= limit:
            by_broker[period["broker"]].append(period)
    found = []
    for broker, rows in sorted(by_broker.items()):
        flaps, partitions = sum(r["flaps"] for r in rows), max(r["partitions"] for r in rows)
        over = f": {flaps} times again, over {partitions} partitions" if partitions > 1 else ""
        cycles = max(r["cycles"] for r in rows)
        found.append(_of_lapses(facts, "isr_flapping", broker, rows, cycles=cycles, over=over))
    return found


def _of_lapses(
    facts: Facts, rule_id: str, broker: int, out_of_sync_periods: Sequence[Row], **words: Any
) -> dict[str, Any]:
    return finding_of(
        facts,
        rule_id,
        str(broker),
        min(period["started_at"] for period in out_of_sync_periods),
        max(period["ended_at"] or period["started_at"] for period in out_of_sync_periods),
        [e for period in out_of_sync_periods for e in period["evidence"]],
        **words,
    )


def _too_early(facts: Facts) -> list[dict[str, Any]]:
    found = []
    for restart in facts.restarts:
        for score in restart["scorecard"]:
            if score["is_early"]:
                harm = _harm(facts, score["outage_id"])
                finding = finding_of(
                    facts,
                    "restart_too_early",
                    str(score["broker"]),
                    score["down_at"],
                    score["up_at"],
                    restart["evidence"],
                    at=f"{score['down_at']:%H:%M:%S}",
                    harm=f": {' and '.join(harm)}" if harm else "",
                )
                found.append({**finding, "severity": "critical" if harm else finding["severity"]})
    return found


def _harm(facts: Facts, outage_id: str) -> list[str]:
    """What a stop took from partitions that the one before had left with less."""
    offline = [f for f in facts.failovers if f["kind"] == "offline" and f["outage_id"] == outage_id]
    short = {
        (s["topic"], s["partition"])
        for s in facts.isr_spans
        if s["outage_id"] == outage_id and s["isr_size"] < facts.min_isr_of(s["topic"])
    }
    told = (
        (len(offline), "had no leader"),
        (len(short), "had less in sync than min.insync.replicas, so that acks=all could not write"),
    )
    return [f"{counted(count, 'partition')} {says}" for count, says in told if count]


def _not_restored(facts: Facts) -> list[dict[str, Any]]:
    """One finding for each broker: of several absences the last one that left it so."""
    patience = timedelta(minutes=RULE_BY_ID["leadership_not_restored"].thresholds["minutes"])
    found: dict[int, dict[str, Any]] = {}
    ordered = sorted(facts.outages, key=lambda o: o["down_at"])
    for i, outage in enumerate(ordered):
        broker, up_at = outage["broker"], outage["up_at"]
        if up_at is None or outage["leadership_restored_at"] or not outage["elections"]:
            continue
        again = next((o["down_at"] for o in ordered[i + 1 :] if o["broker"] == broker), None)
        left = [
            r
            for r in facts.imbalance
            if r["broker"] == broker
            and r["over_threshold"]
            and r["snapshot_at"] >= up_at + patience
            and (again is None or r["snapshot_at"] < again)
        ]
        if left:
            last = max(left, key=lambda r: r["snapshot_at"])
            found[broker] = finding_of(
                facts,
                "leadership_not_restored",
                str(broker),
                up_at,
                last["snapshot_at"],
                [*outage["evidence"], *last["evidence"]],
                at=f"{up_at:%H:%M:%S}",
                seen=f"{last['snapshot_at']:%H:%M:%S}",
                elsewhere=last["led_elsewhere"],
                preferred=last["preferred_partitions"],
            )
    return [found[broker] for broker in sorted(found)]


def told_of_missing(partitions: Iterable[Row], isr_spans: Iterable[Row]) -> str:
    """Since when partitions of a reading lack replicas and whom: the brokers that most of them lack come first."""
    lacking = {
        (p["topic"], p["partition"], broker): p["snapshot_at"]
        for p in partitions
        for broker in {*(p["replicas"] or ())} - {*(p["isr"] or ())}
    }
    by_broker: dict[int, list[Row]] = defaultdict(list)
    for span in isr_spans:
        at = lacking.get((span["topic"], span["partition"], span["broker"]))
        if at and span["happened_at"] <= at and (span["out_of_sync_until"] is None or span["out_of_sync_until"] >= at):
            by_broker[span["broker"]].append(span)
    ranked = sorted(by_broker.items(), key=lambda b: (-len(b[1]), b[0]))[:_NAMED]
    told = [
        f"broker {broker} is missing from {len(spans)} since {min(s['happened_at'] for s in spans):%H:%M:%S}"
        f" ({_WHY[min(spans, key=lambda s: s['happened_at'])['shrink_cause']]})"
        for broker, spans in ranked
    ]
    return f": {'; '.join(told)}" if told else ""


_WHY = {
    "outage": "it was away",
    "slow": "alive and too slow",
    "disk": "its disk failed",
    "reassignment": "replicas moved",
    "unknown": "nothing tells why",
}

RULES = (_slow, _flapping, _too_early, _not_restored)
