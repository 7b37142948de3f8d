"""The owner of each partition over time: as the coordinator wrote it, else as readings of the cluster show it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from kafka_hindsight.catalog.codes import GroupRecordType
from kafka_hindsight.catalog.rows import GroupRecord, GroupSnapshot, MemberSnapshot, Ownership, Quote
from kafka_hindsight.judgements.reasoning.evidence import evidence_of, quote_snapshot
from kafka_hindsight.judgements.rebalances.records import Holding, PartitionKey, in_turn, recorded_holdings
from kafka_hindsight.shared.grouping import grouped, with_neighbours
from kafka_hindsight.shared.windows import Window

MembersAt = Mapping[datetime, Sequence[MemberSnapshot]]

_REBALANCING = ("preparing", "completing")
"""How the states of a classic group that rebalances begin, in any spelling: the empty assignments that it then reports
do not show who owns what."""

_HOLDS = (GroupRecordType.GROUP_METADATA, GroupRecordType.CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT)
"""The records that show who holds what."""


def rebuild_ownership(
    member_snapshots: Iterable[MemberSnapshot],
    readings: Iterable[GroupSnapshot],
    window: Window,
    records: Iterable[GroupRecord] = (),
) -> list[Ownership]:
    """Rows of gold.ownership: the partitions of each member.

    From the first record of a group on, they are what the records show, each inside one generation. Else they have no
    generation, and go from the first reading that shows the holding to the first that does not.

    The input has look-back and look-ahead, and of records from before it the last one under each key. A reading in
    which a group did not answer, was missing from the list, or was between two assignments shows nothing. A member
    whose assignment is missing still holds what it held before. If a reading after the last record shows other members,
    records are missing: from there on readings count.
    """
    members = grouped(member_snapshots, lambda r: (r.cluster, r.group_id))
    groups = grouped(sorted(readings, key=lambda r: r.snapshot_at), lambda r: (r.cluster, r.group_id))
    records_by_group = grouped(in_turn(records), lambda r: (r.cluster, r.group_id))
    rows: list[Ownership] = []
    for key in sorted(groups.keys() | records_by_group.keys()):
        here = grouped(members.get(key, ()), lambda m: m.snapshot_at)
        holdings = _holdings([r for r in groups.get(key, ()) if shows_holders(r)], here, records_by_group.get(key, ()))
        for of_partition in grouped(sorted(holdings, key=_turn), lambda h: h.partition).values():
            triples = with_neighbours(of_partition)
            rows += [row for before, holding, after in triples if (row := _row(key, before, holding, after, window))]
    return sorted(rows, key=lambda r: (r.group_id, r.topic, r.partition, r.valid_from, r.member_id))


def _turn(holding: Holding) -> tuple[datetime, str]:
    return holding.since, holding.member.member_id


def shows_holders(reading: GroupSnapshot) -> bool:
    """Whether a reading of a group shows who holds what: it was answered, and the group had settled."""
    is_rebalancing = (reading.state or "").lower().startswith(_REBALANCING)
    return reading.error is None and reading.member_count is not None and not is_rebalancing


def _holdings(answered: Sequence[GroupSnapshot], members: MembersAt, records: Sequence[GroupRecord]) -> list[Holding]:
    """The holdings of records while they are complete, and of readings before and after."""
    stored = [r for r in records if r.record_type in _HOLDS]
    if not stored:
        return _holdings_in_readings(answered, members)
    first, last = stored[0].written_at, stored[-1].written_at
    recorded = recorded_holdings(records)
    before = _cut_at(_holdings_in_readings([r for r in answered if r.snapshot_at < first], members), first)
    holders = {s.member.member_id for s in recorded if s.until is None}
    later = (r.snapshot_at for r in answered if r.snapshot_at > last)
    others = ((at, m) for at in later for m in members.get(at, ()) if m.assignment and m.member_id not in holders)
    missed_at = next((at for at, _ in others), None)  # the first reading that shows a holder that records do not have
    if missed_at is None:
        return [*before, *recorded]
    after = _holdings_in_readings([r for r in answered if r.snapshot_at >= missed_at], members)
    return [*before, *_cut_at(recorded, missed_at), *after]


def _cut_at(holdings: Iterable[Holding], end: datetime) -> list[Holding]:
    return [replace(s, until=end if s.until is None else min(s.until, end)) for s in holdings]


def _holdings_in_readings(answered: Sequence[GroupSnapshot], members: MembersAt) -> list[Holding]:
    """The holdings that readings show, each until the first reading that no longer shows it."""
    open_: dict[tuple[PartitionKey, str], tuple[Holding, GroupSnapshot]] = {}
    closed: list[Holding] = []
    for reading in answered:
        here = members.get(reading.snapshot_at, ())
        holders = {((p.topic, p.partition), m.member_id): m for m in here for p in m.assignment or ()}
        not_shown = {m.member_id for m in here if m.assignment is None}
        partitions = {partition for partition, _ in holders}
        for key in open_.keys() - holders.keys():
            if key[1] not in not_shown or key[0] in partitions:
                closed.append(_closed(*open_.pop(key), reading.snapshot_at))
        for key, member in holders.items():
            before, _ = open_.get(key, (None, None))
            holding = before or Holding(key[0], member, reading.snapshot_at, None, quotes=[_quote_of(reading, *key)])
            open_[key] = holding, reading
    return [*closed, *(_closed(holding, last, None) for holding, last in open_.values())]


def _closed(holding: Holding, last: GroupSnapshot, until: datetime | None) -> Holding:
    return replace(
        holding, until=until, quotes=[*holding.quotes, _quote_of(last, holding.partition, holding.member.member_id)]
    )


def _quote_of(reading: GroupSnapshot, partition: PartitionKey, member_id: str) -> Quote:
    return quote_snapshot(reading, f"member {member_id} holds {partition[0]}-{partition[1]}")


def _row(
    group: tuple[str, str], before: Holding | None, holding: Holding, after: Holding | None, window: Window
) -> Ownership | None:
    """The part of a holding inside the window, between those before and after it; None where no part is inside."""
    start = max(holding.since, window.start)
    end = min(holding.until or window.end, window.end)
    if start >= end:
        return None
    return Ownership(
        cluster=group[0],
        group_id=group[1],
        topic=holding.partition[0],
        partition=holding.partition[1],
        member_id=holding.member.member_id,
        client_id=holding.member.client_id,
        host=(holding.member.host or "").lstrip("/") or None,
        valid_from=start,
        valid_to=end,
        is_open=holding.until is None or holding.until > window.end,
        generation=holding.generation,
        generation_before=before.generation if before else None,
        generation_after=after.generation if after else None,
        evidence=evidence_of(holding.quotes),
    )
