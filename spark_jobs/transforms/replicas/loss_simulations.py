"""What the loss of each broker or rack would cost, from one reading of the cluster and the settings in force."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from spark_jobs.knowledge.broker_settings import MIN_ISR, UNCLEAN
from spark_jobs.transforms.brokers.broker_settings import BrokerSettings
from spark_jobs.transforms.evidence import evidence_of, quote_snapshot
from spark_jobs.transforms.groups.coordinators import OFFSETS_TOPIC, offsets_partition_of
from spark_jobs.transforms.windows import OutRow, Row, counted

NAMED = 20
"""More names than a reader follows up tell nothing more."""

_QUOTED = 5


@dataclass(frozen=True)
class Reading:
    """The last reading: rows of bronze.partition_snapshots and broker_snapshots, and its groups; () where none is told.

    `partitions` are kept in order of topic and partition.
    """

    partitions: Sequence[Row] = ()
    brokers: Sequence[Row] = ()
    group_ids: Sequence[str] = ()
    settings: BrokerSettings = field(default_factory=BrokerSettings)

    @property
    def at(self) -> datetime:
        """When the cluster was read."""
        at: datetime = self.partitions[0]["snapshot_at"]
        return at

    def scopes(self) -> list[tuple[str, str, frozenset[int]]]:
        """What may be lost: each broker that lives or is in sync anywhere, and each rack."""
        racks: dict[str, set[int]] = defaultdict(set)
        for row in self.brokers:
            if row["rack"]:
                racks[row["rack"]].add(row["broker"])
        alive = {row["broker"] for row in self.brokers} | {b for p in self.partitions for b in p["isr"] or ()}
        return [
            *(("broker", str(b), frozenset({b})) for b in sorted(alive)),
            *(("rack", rack, frozenset(brokers)) for rack, brokers in sorted(racks.items())),
        ]


def simulate_losses(reading: Reading) -> list[OutRow]:
    """Rows of gold.loss_simulations: one for each broker and each rack.

    Order: brokers by id, then racks by name.
    Keeps: a partition is offline, unclean, unwritable, unjudged or none of these, never two. What is offline or below
    its minimum already is not counted again: the loss does not cost it.
    Odd: only brokers that the reading shows can take over uncleanly.
    """
    if not reading.partitions:
        return []
    hosted: dict[int, list[Row]] = defaultdict(list)
    for partition in reading.partitions:
        for broker in {*(partition["replicas"] or ()), *(partition["isr"] or ())}:
            hosted[broker].append(partition)
    limits = _limits(reading)
    led = {p["partition"]: p["leader"] for p in reading.partitions if p["topic"] == OFFSETS_TOPIC}
    homes = {g: offsets_partition_of(g, len(led)) for g in sorted(set(reading.group_ids))} if led else {}
    rows = []
    for kind, name, lost in reading.scopes():
        there = {(p["topic"], p["partition"]): p for broker in lost for p in hosted[broker]}
        rows.append(_row(reading, (kind, name, lost), [there[k] for k in sorted(there)], limits, led, homes))
    return rows


def _limits(reading: Reading) -> dict[str, tuple[int | None, bool]]:
    """Each topic's min.insync.replicas, and whether unclean elections are known to be enabled."""
    found = {}
    for topic in {p["topic"] for p in reading.partitions}:
        least = reading.settings.of_topic(topic, MIN_ISR, reading.at)
        unclean = reading.settings.of_topic(topic, UNCLEAN, reading.at)
        found[topic] = (least.number if least else None, bool(unclean and unclean.is_on))
    return found


def _fate(partition: Row, lost: Collection[int], alive: Collection[int], limits: tuple[int | None, bool]) -> str | None:
    """What the loss makes of one partition; None where it loses nothing that counts."""
    in_sync = set(partition["isr"] or ())
    left = in_sync - set(lost)
    if partition["leader"] is None or left == in_sync:
        return None
    least, is_unclean = limits
    if not left:
        return "unclean" if is_unclean and {*(partition["replicas"] or ())} & set(alive) - set(lost) else "offline"
    if least is None:
        return "unjudged"
    wanted = min(least, len(partition["replicas"] or in_sync))
    return "unwritable" if len(left) < wanted <= len(in_sync) else None


def _row(
    reading: Reading,
    scope: tuple[str, str, frozenset[int]],
    there: Sequence[Row],
    limits: Mapping[str, tuple[int | None, bool]],
    led: Mapping[int, int | None],
    homes: Mapping[str, int],
) -> OutRow:
    kind, name, lost = scope
    alive = {row["broker"] for row in reading.brokers}
    fates: dict[str, list[Row]] = defaultdict(list)
    for partition in there:
        if fate := _fate(partition, lost, alive, limits[partition["topic"]]):
            fates[fate].append(partition)
    gone = {p["partition"] for p in fates["offline"] if p["topic"] == OFFSETS_TOPIC}
    groups = [g for g, home in homes.items() if led.get(home) in lost]
    worst = [p for fate in ("offline", "unclean", "unwritable") for p in fates[fate]]
    counts: dict[str, Any] = {
        "partitions_hosted": len(there),
        "partitions_offline": len(fates["offline"]),
        "partitions_unclean": len(fates["unclean"]),
        "partitions_unwritable": len(fates["unwritable"]),
        "partitions_unjudged": len(fates["unjudged"]),
        "leaders_to_move": sum(p["leader"] in lost for p in there) - sum(p["leader"] in lost for p in fates["offline"]),
        "group_ids": groups if homes else None,
        "stranded_group_ids": [g for g in groups if homes[g] in gone] if homes else None,
    }
    return {
        "cluster": reading.partitions[0]["cluster"],
        "snapshot_at": reading.at,
        "scope_kind": kind,
        "scope": name,
        "broker_ids": sorted(lost),
        **counts,
        "worst_partitions": [f"{p['topic']}-{p['partition']}" for p in worst[:NAMED]],
        "explanation": _says(kind, name, counts),
        "evidence": evidence_of(_quotes(reading, name, kind, there, worst[:_QUOTED])),
    }


def _says(kind: str, name: str, counts: Mapping[str, Any]) -> str:
    costs = [
        (counts["partitions_offline"], "would have no leader"),
        (counts["partitions_unclean"], "would elect one uncleanly and lose records"),
        (counts["partitions_unwritable"], "could not take writes with acks=all"),
        (counts["partitions_unjudged"], "would lose a replica in sync, of an unknown minimum"),
    ]
    told = [f"{counted(count, 'partition')} {what}" for count, what in costs if count]
    said = ", ".join(told) or "every partition with a leader keeps one and takes writes"
    moves = counts["leaders_to_move"]
    groups = counts["group_ids"]
    coordinators = (
        "; which groups it coordinates is not told"
        if groups is None
        else f" and {counted(len(groups), 'group')} would lose the coordinator"
    )
    stranded = counts["stranded_group_ids"]
    nowhere = f", {len(stranded)} of them with none to take over" if stranded else ""
    leads = f"{counted(moves, 'leader')} would move"
    return f"Without {kind} '{name}' {said}; {leads}{coordinators}{nowhere}."


def _quotes(
    reading: Reading, name: str, kind: str, there: Sequence[Row], worst: Sequence[Row]
) -> Iterable[dict[str, Any]]:
    snapshot_id = reading.partitions[0]["snapshot_id"]
    yield quote_snapshot(snapshot_id, reading.at, f"{kind} '{name}' holds replicas of {len(there)} partitions")
    for p in worst:
        says = f"{p['topic']}-{p['partition']}: leader {p['leader']}, isr {p['isr']}, replicas {p['replicas']}"
        yield quote_snapshot(snapshot_id, reading.at, says)
