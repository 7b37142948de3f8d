"""Who owned a partition, from when to when, as readings of the cluster show it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from spark_jobs.transforms.evidence import evidence_of, quote_snapshot
from spark_jobs.transforms.windows import OutRow, Row, Window

_IN_BETWEEN = ("preparing", "completing")
"""How the states of a classic group that rebalances begin, whoever spells them: it reports empty assignments, which
say nothing about who owns what."""

Owned = tuple[str, int]


@dataclass
class Holding:
    """One partition held by one member, while it is being followed through the readings."""

    owned: Owned
    member: Row
    first: Row
    last: Row


def rebuild_ownership(member_snapshots: Iterable[Row], readings: Iterable[Row], window: Window) -> list[OutRow]:
    """Rows of gold.ownership: what each member held, from the first reading that saw it to the first that did not.

    Takes: rows of bronze.member_snapshots and, as `readings`, of bronze.group_snapshots, with look-back and look-ahead:
    a reading counts for a group only where the group answered.
    Gives: no generation: no reading tells it.
    Order: by group, topic, partition and time.
    Keeps: every row lies inside the window; one member's rows of one partition do not overlap.
    Odd: a reading in which a group did not answer, was missing from the list, or was between two assignments concludes
    nothing, and neither does a member whose assignment was not told: what it held before, it holds still.
    """
    members: dict[tuple[str, str, datetime], list[Row]] = defaultdict(list)
    for row in member_snapshots:
        members[row["cluster"], row["group_id"], row["snapshot_at"]].append(row)
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in sorted(readings, key=lambda r: r["snapshot_at"]):
        groups[row["cluster"], row["group_id"]].append(row)
    rows: list[OutRow] = []
    for key, told in sorted(groups.items()):
        answered = [r for r in told if _answers(r)]
        seen = {r["snapshot_at"]: members[*key, r["snapshot_at"]] for r in answered}
        held = (_row(holding, until, window) for holding, until in _holdings(answered, seen))
        rows += [row for row in held if row]
    return sorted(rows, key=lambda r: (r["group_id"], r["topic"], r["partition"], r["valid_from"], r["member_id"]))


def _answers(reading: Row) -> bool:
    is_between = (reading["state"] or "").lower().startswith(_IN_BETWEEN)
    return reading["error"] is None and reading["member_count"] is not None and not is_between


def _holdings(answered: Sequence[Row], members: dict[datetime, list[Row]]) -> list[tuple[Holding, datetime | None]]:
    """Each holding, and the first reading that saw it no more; None where the last reading still saw it."""
    open_: dict[tuple[Owned, str], Holding] = {}
    closed: list[tuple[Holding, datetime | None]] = []
    for reading in answered:
        at = reading["snapshot_at"]
        seen = {
            ((owned["topic"], owned["partition"]), m["member_id"]): m
            for m in members[at]
            for owned in m["assignment"] or ()
        }
        silent = {m["member_id"] for m in members[at] if m["assignment"] is None}
        taken = {owned for owned, _ in seen}
        for key in list(open_):
            if key not in seen and (key[1] not in silent or key[0] in taken):
                closed.append((open_.pop(key), at))
        for key, member in seen.items():
            if key in open_:
                open_[key].last = reading
            else:
                open_[key] = Holding(key[0], member, reading, reading)
    return closed + [(holding, None) for holding in open_.values()]


def _row(holding: Holding, until: datetime | None, window: Window) -> OutRow | None:
    """The part of a holding inside the window; None where no part is."""
    start = max(holding.first["snapshot_at"], window.start)
    end = min(until or window.end, window.end)
    if start >= end:
        return None
    (topic, partition), member = holding.owned, holding.member
    says = f"member {member['member_id']} holds {topic}-{partition}"
    return {
        "cluster": member["cluster"],
        "group_id": member["group_id"],
        "topic": topic,
        "partition": partition,
        "member_id": member["member_id"],
        "client_id": member["client_id"],
        "host": (member["host"] or "").lstrip("/") or None,
        "valid_from": start,
        "valid_to": end,
        "is_open": until is None or until > window.end,
        "generation": None,
        "evidence": evidence_of(
            quote_snapshot(r["snapshot_id"], r["snapshot_at"], says) for r in (holding.first, holding.last)
        ),
    }
