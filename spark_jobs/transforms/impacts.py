"""What each absence of a broker did to partitions and groups, and when that was over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from spark_jobs.transforms.windows import OutRow, Row

Partition = tuple[str, int]


def add_impact(
    outages: Iterable[Row],
    failovers: Sequence[Row],
    isr_changes: Sequence[Row],
    coordinator_moves: Sequence[Row],
    readings: Iterable[Row] = (),
) -> list[OutRow]:
    """Rows of gold.broker_outages with what each absence did, and when that was over.

    Takes: rows of gold.broker_outages, failovers, isr_changes and coordinator_moves of one cluster, with look-ahead;
    rows of bronze.partition_snapshots (may be none), which tell what a broker led where no election did.
    Gives: null where nothing tells, or where it was not so before the broker went again or the records end.
    """
    rows = sorted((dict(o) for o in outages), key=lambda o: (o["broker"], o["down_at"]))
    led = _led_by_reading(readings)
    for i, row in enumerate(rows):
        again = rows[i + 1]["down_at"] if i + 1 < len(rows) and rows[i + 1]["broker"] == row["broker"] else None
        caused = [f for f in failovers if f["outage_id"] == row["outage_id"]]
        lost = {(f["topic"], f["partition"]): f["happened_at"] for f in caused if f["leader_from"] == row["broker"]}
        row["elections"] = len(caused)
        row["partitions_led_before"] = len(lost) or _count_before(led, row["broker"], row["down_at"])
        row["leadership_restored_at"] = _restored_at(row["broker"], lost, failovers, again)
        row["isr_recovered_at"] = _recovered_at(row, isr_changes, again)
        moved = (m["group_id"] for m in coordinator_moves if m["outage_id"] == row["outage_id"])
        row["group_ids"] = sorted({*row["group_ids"], *moved})
    return rows


def _restored_at(
    broker: int, lost: dict[Partition, datetime], failovers: Sequence[Row], again: datetime | None
) -> datetime | None:
    """When the broker led the last of the lost partitions again."""
    led_again: dict[Partition, datetime] = {}
    for f in failovers:
        key = f["topic"], f["partition"]
        if f["leader_to"] == broker and key in lost and f["happened_at"] > lost[key]:
            led_again[key] = min(f["happened_at"], led_again.get(key, f["happened_at"]))
    return _last(lost, led_again, again)


def _recovered_at(outage: Row, isr_changes: Sequence[Row], again: datetime | None) -> datetime | None:
    """When the broker was back in the last of the in-sync sets it had fallen out of."""
    left: dict[Partition, datetime] = {}
    back: dict[Partition, datetime] = {}
    for change in sorted(isr_changes, key=lambda c: c["happened_at"]):
        at, key = change["happened_at"], (change["topic"], change["partition"])
        if change["broker_out_or_in"] != outage["broker"] or at < outage["down_at"] or (again and at >= again):
            continue
        if change["change"] == "shrink" and (outage["up_at"] is None or at <= outage["up_at"]):
            left.setdefault(key, at)
        elif change["change"] == "expand" and key in left:
            back.setdefault(key, at)
    return _last(left, back, again)


def _last(
    lost: dict[Partition, datetime], regained: dict[Partition, datetime], again: datetime | None
) -> datetime | None:
    if not lost or lost.keys() != regained.keys():
        return None
    last = max(regained.values())
    return None if again and last >= again else last


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
