"""Each rebalance of a group as a table: who owned what before and after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafka_hindsight.catalog.codes import RebalanceKind
from kafka_hindsight.catalog.rows import AssignmentChange, Rebalance, TopicPartition
from kafka_hindsight.report import blocks as ui
from kafka_hindsight.report.page_rows import PageRows
from kafka_hindsight.report.phrases import change
from kafka_hindsight.shared import plain, words
from kafka_hindsight.shared.grouping import grouped

SHOWN = 12
"""The most rebalances that are shown, those in which most partitions moved, and the most members of each."""

HEADINGS = ("Member<", "Before<", "After<", "Gained<", "Lost<")
_KINDS = {
    RebalanceKind.EAGER: "eager: every member stopped all its partitions",
    RebalanceKind.COOPERATIVE: "cooperative: only what changed hands stopped",
    RebalanceKind.SERVER_SIDE: "assigned by the coordinator: only what changed hands stopped",
}


def stops_in_all(rebalances: Sequence[Rebalance]) -> Iterator[ui.Block]:
    """How much stopped in all rebalances of each kind, and for how long."""
    facts = []
    for kind, rows in grouped((r for r in rebalances if r.kind), lambda r: r.kind).items():
        lasted = words.duration(sum(r.duration_ms or 0 for r in rows))
        seconds = sum(r.partition_seconds or 0 for r in rows)
        unpriced = sum(r.partition_seconds is None for r in rows)
        more = f"; of {words.number(unpriced)} it is not known what stopped" if unpriced else ""
        cost = f"at most {words.number(seconds)} partition-seconds stopped" if len(rows) > unpriced else ""
        facts.append(
            (
                str(kind).replace("_", " "),
                ", ".join(filter(None, [f"{words.counted(len(rows), 'rebalance')} of {lasted}", cost])) + more,
            )
        )
    if facts:
        yield ui.Facts(ui.facts(*facts))


def assignments(page: PageRows, group: str, rebalances: Sequence[Rebalance]) -> Iterator[ui.Block]:
    """The rebalances that moved most, in order of time, each with its members before and after."""
    yield from stops_in_all(rebalances)
    rows_of = grouped(page.rows_of(AssignmentChange, "group_id", group), lambda row: row.rebalance_id)
    by_moves = sorted(rebalances, key=lambda r: (-(r.partitions_moved or 0), r.rebalance_id not in rows_of))
    first_ids = {r.rebalance_id for r in by_moves[:SHOWN]}
    for rebalance in (r for r in rebalances if r.rebalance_id in first_ids):
        members = rows_of.get(rebalance.rebalance_id, ())
        yield ui.Paragraph(
            (ui.Link(ui.At(rebalance.started_at), page.rebalance_anchor(rebalance)), _sentence(rebalance, members))
        )
        yield from ui.note(rebalance.not_known or "")
        yield from _table(members)
    hidden = len(rebalances) - len(first_ids)
    yield from ui.note(
        f"{words.counted(hidden, 'rebalance')} in which fewer partitions moved: `assignment_change` shows each.",
        hidden > 0,
    )


def _sentence(row: Rebalance, members: Sequence[AssignmentChange]) -> str:
    """The kind of a rebalance, its group leader, and what moved."""
    leader = plain.shortened(row.leader_client_id or row.leader_member_id or "")
    generation = change(row.from_generation, row.to_generation)
    parts = [
        row.kind and _KINDS[row.kind],
        row.assignor and f"assignor {plain.shortened(row.assignor)}",
        leader and f"led by {leader}",
        f"generation {generation}",
        _moves(row, members),
    ]
    return f"  {'; '.join(part for part in parts if part)}."


def _moves(row: Rebalance, members: Sequence[AssignmentChange]) -> str:
    """How many partitions moved, stayed, came without a former owner or went without a new one, and stood still."""
    if row.partitions_moved is None:
        return ""
    moved, stayed = row.partitions_moved, row.partitions_kept or 0
    came = sum(len(m.gained or ()) for m in members) - moved
    went = sum(len(m.lost or ()) for m in members) - moved
    lasted = f" for {words.duration(row.duration_ms)}" if row.duration_ms else ""
    counts = (
        (moved, "moved"),
        (stayed, "stayed"),
        (came, "had no owner before"),
        (went, "had none after"),
        (row.partitions_ownerless or 0, f"stopped{lasted}"),
    )
    return "partitions: " + (", ".join(f"{words.number(n)} {what}" for n, what in counts if n) or "none")


def _table(rows: Sequence[AssignmentChange]) -> Iterator[ui.Block]:
    """A row for each member; of many members those that gained or lost something."""
    changed = [row for row in rows if row.gained or row.lost or None in (row.before, row.after)]
    members = list(rows) if len(rows) <= SHOWN else changed
    table_rows = tuple(
        ui.row(
            ui.head(plain.shortened(row.client_id or row.member_id, 48)),
            _owned(row.before, row.was_member),
            _owned(row.after, row.is_member),
            partitions(row.gained or ()),
            partitions(row.lost or ()),
        )
        for row in members[:SHOWN]
    )
    if table_rows:
        yield ui.PlainTable("Who owned what before and after", HEADINGS, table_rows)
    hidden = len(rows) - len(table_rows)
    yield from ui.note(f"{words.counted(hidden, 'member')} more in gold.assignment_changes.", hidden > 0)


def _owned(owned: Sequence[TopicPartition] | None, is_member: bool | None) -> str:
    if owned is None:
        return "not known"
    return partitions(owned) or ("nothing" if is_member else "not in the group")


def partitions(owned: Sequence[TopicPartition]) -> str:
    """Partitions in short: `orders 0-2 5; payments 1`."""
    numbers = {topic: [p.partition for p in of] for topic, of in grouped(owned, lambda p: p.topic).items()}
    runs = {topic: words.ranges(of).replace(",", "") for topic, of in numbers.items()}
    return "; ".join(f"{plain.shortened(topic, 48)} {of}" for topic, of in runs.items())
