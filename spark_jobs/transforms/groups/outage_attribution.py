"""What a group's rebalances owe to brokers: the outage of a coordinator behind each, where there is one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from spark_jobs.transforms.durations import RETURN_WITHIN
from spark_jobs.transforms.groups.storms import Row, client_of

OUTAGE_SHADOW = timedelta(seconds=75)
"""How long after a broker's outage its groups may still pay for it: a session of 45 s and the time to notice."""

CATCHING_UP = timedelta(seconds=10)
"""A broker that is back is in sync again within seconds."""

BROKER_INDUCED_CAUSES = frozenset({"coordinator_moved", "heartbeat_expired", "storage_error", "unknown"})
"""What a member or a coordinator suffers when a broker goes, or what nothing else explains. A member that dies, leaves
or is too slow does so by itself."""

Loss = tuple[datetime, str]
"""When the group's partition of `__consumer_offsets` lost its leader, and the outage behind that."""


def owed_to_outages(rebalances: Sequence[Row], outages: Sequence[Row], losses: Sequence[Loss]) -> dict[str, Row]:
    """The outage behind each rebalance of one group, by rebalance id, for those that are owed to one.

    Takes: the group's rebalances in order; rows of gold.broker_outages; when the group lost its coordinator.
    Odd: what restarts a rebalance that the outage cut short is owed to it too, and so is the return of a member that
    ran out in it.
    """
    owed: dict[str, Row] = {}
    cut: set[str] = set()
    gone: dict[str, tuple[datetime, Row]] = {}
    for row in rebalances:
        outage = _behind(row, outages, losses)
        if outage is None and row["follows"] in cut:
            outage = owed[row["follows"]]
        silent = gone.get(client_of(row))
        if outage is None and row["cause"] == "member_rejoined" and silent:
            outage = silent[1] if row["started_at"] - silent[0] <= RETURN_WITHIN else None
        if outage is None:
            continue
        owed[row["rebalance_id"]] = outage
        if row["outcome"] == "interrupted":
            cut.add(row["rebalance_id"])
        if row["cause"] == "heartbeat_expired" and client_of(row):
            gone[client_of(row)] = row["started_at"], outage
    return owed


def _behind(row: Row, outages: Sequence[Row], losses: Sequence[Loss]) -> Row | None:
    """The outage that the rebalance itself is owed to: of several, the one that began last."""
    if row["cause"] not in BROKER_INDUCED_CAUSES:
        return None
    at = row["started_at"]
    lost = {outage_id for lost_at, outage_id in losses if abs(at - lost_at) <= OUTAGE_SHADOW}
    hits = [o for o in outages if _lacks_replicas(row, o) or _lost_its_coordinator(row, o, lost)]
    return max(hits, key=lambda o: (o["down_at"], o["outage_id"]), default=None)


def _lost_its_coordinator(row: Row, outage: Row, lost: Collection[str]) -> bool:
    end = outage["up_at"] or outage["detected_at"] or outage["down_at"]
    hit = outage["broker"] == row["coordinator"] or outage["outage_id"] in lost
    return bool(hit and outage["down_at"] <= row["started_at"] <= end + OUTAGE_SHADOW)


def _lacks_replicas(row: Row, outage: Row) -> bool:
    """Whether a coordinator could not write while a broker was away, or not yet in sync again.

    Source: a write to `__consumer_offsets` fails where fewer than min.insync.replicas are in sync.
    """
    if row["cause"] != "storage_error":
        return False
    back = outage["isr_recovered_at"] or outage["up_at"]
    return bool(outage["down_at"] <= row["started_at"] and (back is None or row["started_at"] <= back + CATCHING_UP))
