"""What each absence of a broker did to partitions and groups, when that was over, and all of it as a story."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from spark_jobs.transforms.evidence import evidence_of
from spark_jobs.transforms.windows import OutRow, Row, counted, took

Partition = tuple[str, int]


def add_impact(
    outages: Iterable[Row],
    failovers: Sequence[Row],
    isr_spans: Sequence[Row],
    coordinator_moves: Sequence[Row],
    readings: Iterable[Row] = (),
    in_sync: Iterable[Row] = (),
) -> list[OutRow]:
    """Rows of gold.broker_outages with what each absence did to partitions, and when that was over.

    Takes: rows of gold.broker_outages, failovers and coordinator_moves of one cluster, with look-ahead, and its
    ISR_SPANS; rows of bronze.partition_snapshots (may be none), which tell what a broker led where no
    election did; in_sync.IN_SYNC (may be none), which tell when it was in sync where no line does.
    Gives: null where nothing tells, or where it was not so before the broker went again or the records end.
    """
    rows = sorted((dict(o) for o in outages), key=lambda o: (o["broker"], o["down_at"]))
    led = _led_by_reading(readings)
    read = sorted(in_sync, key=lambda r: r["snapshot_at"])
    spans: dict[str | None, list[Row]] = defaultdict(list)
    for span in isr_spans:
        spans[span["outage_id"]].append(span)
    for i, row in enumerate(rows):
        again = rows[i + 1]["down_at"] if i + 1 < len(rows) and rows[i + 1]["broker"] == row["broker"] else None
        caused = [f for f in failovers if f["outage_id"] == row["outage_id"]]
        lost = {(f["topic"], f["partition"]): f["happened_at"] for f in caused if f["leader_from"] == row["broker"]}
        out = spans[row["outage_id"]]
        row["elections"] = len(caused)
        row["partitions_led_before"] = len(lost) or _count_before(led, row["broker"], row["down_at"])
        row["leadership_restored_at"] = _restored_at(row["broker"], lost, failovers, again)
        row["isr_shrinks"] = len(out) if isr_spans else None
        row["isr_expands"] = sum(s["is_back"] for s in out) if isr_spans else None
        row["isr_recovered_at"] = _recovered_at(row, out, again)
        if not out:
            row |= _recovered_by_readings(row, [r for r in read if r["broker"] == row["broker"]], again)
        moved = [m["group_id"] for m in coordinator_moves if m["outage_id"] == row["outage_id"]]
        row["coordinator_moves"] = len(moved)
        row["group_ids"] = sorted({*row["group_ids"], *moved})
    return rows


def add_rebalances(outages: Iterable[Row], incidents: Iterable[Row]) -> list[OutRow]:
    """Rows of gold.broker_outages with the rebalances that each accounts for, and what those cost.

    Takes: what `add_impact` gives; rows of gold.incidents of the same cluster.
    """
    owed: dict[str, list[Row]] = defaultdict(list)
    for incident in incidents:
        if incident["outage_id"]:
            owed[incident["outage_id"]].append(incident)
    rows = []
    for outage in outages:
        own = owed[outage["outage_id"]]
        known = [i["partition_seconds"] for i in own if i["partition_seconds"] is not None]
        rows.append(
            {
                **outage,
                "group_ids": sorted({*outage["group_ids"], *(g for i in own for g in i["group_ids"])}),
                "rebalances": sum(i["rebalance_count"] for i in own),
                "partition_seconds": round(sum(known), 3) if known else None,
            }
        )
    return rows


def tell_outages(outages: Iterable[Row], restarts: Mapping[str, str]) -> list[OutRow]:
    """Rows of gold.broker_outages with the restart that each belongs to, and its story.

    Takes: what `add_rebalances` gives; the restart of each outage that belongs to one.
    """
    return [
        {
            **row,
            "restart_id": restarts.get(row["outage_id"]),
            "explanation": " ".join(filter(None, (row["explanation"], _told_of_recovery(row), _told_of_groups(row)))),
        }
        for row in outages
    ]


def _told_of_recovery(outage: Row) -> str:
    noticed = "it was let go after {}" if outage["planned"] else "it was missed after {}"
    steps = (
        (outage["detected_at"], noticed),
        (outage["isr_recovered_at"], "was in every ISR again after {}"),
        (outage["leadership_restored_at"], "led again what it had led after {}"),
    )
    told = [says.format(took(outage["down_at"], at)) for at, says in steps if at is not None]
    if outage["up_at"] and outage["isr_shrinks"] and not outage["isr_recovered_at"]:
        told.append("was not seen in every ISR again before it went again or the records end")
    if not told:
        return ""
    says = told[0] if outage["detected_at"] else f"it {told[0]}"
    steps_told = " and ".join(filter(None, (", ".join([says, *told[1:-1]]), *told[1:][-1:])))
    return f"{steps_told[0].upper()}{steps_told[1:]}."


def _told_of_groups(outage: Row) -> str:
    """What moved, and what is owed to the absence; nothing where no group is known to have noticed."""
    moves, rebalances, cost = outage["coordinator_moves"], outage["rebalances"], outage["partition_seconds"]
    if not moves and not rebalances:
        return ""
    moved = f"Coordinators of groups moved {counted(moves, 'time')}" if moves else ""
    costing = f" ({cost:.1f} partition seconds)" if cost else ""
    if not rebalances:
        return f"{moved}, and no rebalance is owed to it."
    owed = f"{counted(rebalances, 'rebalance')} {'is' if rebalances == 1 else 'are'} owed to it{costing}"
    return f"{moved}; {owed}." if moves else f"{owed}."


def _restored_at(
    broker: int, lost: dict[Partition, datetime], failovers: Sequence[Row], again: datetime | None
) -> datetime | None:
    """When the broker led the last of the lost partitions again."""
    led_again: dict[Partition, datetime] = {}
    for f in failovers:
        key = f["topic"], f["partition"]
        if f["leader_to"] == broker and key in lost and f["happened_at"] > lost[key]:
            led_again[key] = min(f["happened_at"], led_again.get(key, f["happened_at"]))
    if not lost or lost.keys() != led_again.keys():
        return None
    last = max(led_again.values())
    return None if again and last >= again else last


def _recovered_at(outage: Row, out: Sequence[Row], again: datetime | None) -> datetime | None:
    """When the broker was back in the last of the in-sync sets it had fallen out of."""
    ends = [s["out_of_sync_until"] for s in out]
    if not ends or None in ends or outage["up_at"] is None:
        return None
    last: datetime = max([outage["up_at"], *ends])
    return None if again and last >= again else last


def _recovered_by_readings(outage: Row, readings: Sequence[Row], again: datetime | None) -> OutRow:
    """Where only readings tell: the first that finds the broker back in every ISR, after one that did not."""
    seen = [r for r in readings if r["snapshot_at"] >= outage["down_at"] and (not again or r["snapshot_at"] < again)]
    missed = next((i for i, r in enumerate(seen) if r["partitions_out"]), None)
    if missed is None or outage["up_at"] is None:
        return {}
    back = next((r for r in seen[missed:] if not r["partitions_out"] and r["snapshot_at"] >= outage["up_at"]), None)
    if back is None:
        return {}
    quotes = (*seen[missed]["evidence"], *back["evidence"])
    return {"isr_recovered_at": back["snapshot_at"], "evidence": evidence_of([*outage["evidence"], *quotes])}


def _led_by_reading(readings: Iterable[Row]) -> dict[datetime, dict[int, int]]:
    led: dict[datetime, dict[int, int]] = {}
    for row in sorted(readings, key=lambda r: r["snapshot_at"]):
        counts = led.setdefault(row["snapshot_at"], {})
        if row["leader"] is not None:
            counts[row["leader"]] = counts.get(row["leader"], 0) + 1
    return led


def _count_before(led: dict[datetime, dict[int, int]], broker: int, instant: datetime) -> int | None:
    before = [counts for at, counts in led.items() if at <= instant]
    return before[-1].get(broker, 0) if before else None
