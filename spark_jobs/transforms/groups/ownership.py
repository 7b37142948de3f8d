"""Who owned a partition, from when to when: as the coordinator wrote it, else as readings of the cluster show it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from spark_jobs.transforms.evidence import evidence_of, quote_snapshot
from spark_jobs.transforms.rebalances.recorded_holdings import Owned, Span, in_turn, recorded_spans
from spark_jobs.transforms.windows import OutRow, Row, Window

_IN_BETWEEN = ("preparing", "completing")
"""How the states of a classic group that rebalances begin, whoever spells them: it reports empty assignments, which
say nothing about who owns what."""

_HOLDS = ("group_metadata", "consumer_group_current_member_assignment")
"""The records that say who holds what."""


def rebuild_ownership(
    member_snapshots: Iterable[Row], readings: Iterable[Row], window: Window, records: Iterable[Row] = ()
) -> list[OutRow]:
    """Rows of gold.ownership: what each member held, generation by generation where records tell.

    Takes: rows of bronze.member_snapshots and, as `readings`, of bronze.group_snapshots, with look-back and look-ahead:
    a reading counts for a group only where the group answered. Rows of bronze.group_records: those of the same time,
    and of what was written before it the last under each key.
    Gives: from the first record of a group on, what the records say, each row inside one generation: a partition that
        a cooperative member keeps is one row for each. Where no record tells: from the first reading that saw it to
        the first that did not, without a generation.
    Order: by group, topic, partition and time.
    Keeps: every row lies inside the window; one member's rows of one partition do not overlap.
    Odd: a reading in which a group did not answer, was missing from the list, or was between two assignments concludes
    nothing, and neither does a member whose assignment was not told: what it held before, it holds still. A reading
    after the last record that shows other members shows that records are missing: from there on readings tell.
    """
    members: dict[tuple[str, str, datetime], list[Row]] = defaultdict(list)
    for row in member_snapshots:
        members[row.cluster, row.group_id, row.snapshot_at].append(row)
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in sorted(readings, key=lambda r: r.snapshot_at):
        groups[row.cluster, row.group_id].append(row)
    written: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in in_turn(records):
        written[row.cluster, row.group_id].append(row)
    rows: list[OutRow] = []
    for key in sorted(groups.keys() | written.keys()):
        answered = [r for r in groups[key] if answers(r)]
        seen = {r.snapshot_at: members[*key, r.snapshot_at] for r in answered}
        held = (_row(key, span, window) for span in _spans(answered, seen, written[key]))
        rows += [row for row in held if row]
    return sorted(rows, key=lambda r: (r.group_id, r.topic, r.partition, r.valid_from, r.member_id))


def _spans(answered: Sequence[Row], members: dict[datetime, list[Row]], records: Sequence[Row]) -> list[Span]:
    """What records say while they are complete, and what readings show before and after."""
    telling = [r for r in records if r.record_type in _HOLDS]
    if not telling:
        return _seen(answered, members)
    first, last = telling[0].written_at, telling[-1].written_at
    recorded = recorded_spans(records)
    holders = {s.member.member_id for s in recorded if s.until is None}
    missed = next(
        (
            r.snapshot_at
            for r in answered
            if r.snapshot_at > last
            and {m.member_id for m in members[r.snapshot_at] if m.assignment} - holders
        ),
        None,
    )
    before = _until(_seen([r for r in answered if r.snapshot_at < first], members), first)
    after = [] if missed is None else _seen([r for r in answered if r.snapshot_at >= missed], members)
    return [*before, *(recorded if missed is None else _until(recorded, missed)), *after]


def _until(spans: Sequence[Span], end: datetime) -> list[Span]:
    for span in spans:
        span.until = end if span.until is None else min(span.until, end)
    return list(spans)


def answers(reading: Row) -> bool:
    """Whether a reading of a group tells who holds what: it was answered, and the group had settled."""
    is_between = (reading.state or "").lower().startswith(_IN_BETWEEN)
    return reading.error is None and reading.member_count is not None and not is_between


def _seen(answered: Sequence[Row], members: dict[datetime, list[Row]]) -> list[Span]:
    """What readings show, each holding until the first reading that saw it no more."""
    open_: dict[tuple[Owned, str], tuple[Span, Row]] = {}
    closed: list[tuple[Span, Row]] = []
    for reading in answered:
        at = reading.snapshot_at
        seen = {
            ((owned.topic, owned.partition), m.member_id): m
            for m in members[at]
            for owned in m.assignment or ()
        }
        silent = {m.member_id for m in members[at] if m.assignment is None}
        taken = {owned for owned, _ in seen}
        for key in list(open_):
            if key not in seen and (key[1] not in silent or key[0] in taken):
                open_[key][0].until = at
                closed.append(open_.pop(key))
        for key, member in seen.items():
            if key in open_:
                open_[key] = open_[key][0], reading
            else:
                span = Span(key[0], member, at, None, quotes=[_shown(reading, key[0], member)])
                open_[key] = span, reading
    spans = [*closed, *open_.values()]
    for span, last in spans:
        span.quotes.append(_shown(last, span.owned, span.member))
    return [span for span, _ in spans]


def _shown(reading: Row, owned: Owned, member: Row) -> OutRow:
    says = f"member {member.member_id} holds {owned[0]}-{owned[1]}"
    return quote_snapshot(reading.snapshot_id, reading.snapshot_at, says)


def _row(group: tuple[str, str], span: Span, window: Window) -> OutRow | None:
    """The part of a holding inside the window; None where no part is."""
    start = max(span.since, window.start)
    end = min(span.until or window.end, window.end)
    if start >= end:
        return None
    topic, partition = span.owned
    return {
        "cluster": group[0],
        "group_id": group[1],
        "topic": topic,
        "partition": partition,
        "member_id": span.member.member_id,
        "client_id": span.member.client_id,
        "host": (span.member.host or "").lstrip("/") or None,
        "valid_from": start,
        "valid_to": end,
        "is_open": span.until is None or span.until > window.end,
        "generation": span.generation,
        "evidence": evidence_of(span.quotes),
    }
