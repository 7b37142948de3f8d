"""What may be expected of an audit about the offsets of groups, and how its rows meet it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from lab.answers import EXACT, MISSED, RIGHT, WEAKER, Answer, Expectation, Matcher, answered
from lab.drill.acts import Act
from lab.drill.reads import Span, from_fields, surplus_of
from lab.drill.rows import GoldRow, GoldTables

SKIPPED, READ_AGAIN, GONE = "records_skipped", "records_read_again", "records_gone"
STOOD, FELL_BEHIND = "partition_stood", "partition_fell_behind"
BOOKS = "books_balance"

CLOCKS_APART = timedelta(seconds=2)
"""How far a row may lie from what members printed: a line, a record and a member each have their own instant."""

READINGS_APART = timedelta(seconds=25)
"""How late a reading shows that a partition stands: two that are ten seconds apart, and one that was late."""


def place_of(row: GoldRow) -> tuple[object, ...]:
    """The group, topic and partition that a row is about."""
    return row["group_id"], row["topic"], row["partition"]


def place_of_act(act: Act) -> tuple[object, ...]:
    """The group, topic and partition that an act is about."""
    return act.group, act.topic, act.partition


def instant(act: Act, name: str) -> datetime:
    """An instant among the fields of an act."""
    return datetime.fromisoformat(act.fields[name])


def spans_of_act(act: Act) -> list[Span]:
    """What members printed of a partition, in order of time."""
    return from_fields(act.fields["spans"])


def holds(row: GoldRow, record_count: int) -> bool:
    """Whether the bounds of a row hold a number of records; without an upper one they hold each larger number."""
    high = row["records_high"]
    return bool(row["records_low"] <= record_count and (high is None or record_count <= high))


def is_in(row: GoldRow, since: datetime, until: datetime) -> bool:
    """Whether a jump of an audit lies in a time, or lasts into it."""
    is_over = row["resumed_at"] is not None and row["resumed_at"] < since - CLOCKS_APART
    return not is_over and bool(row["jumped_at"] <= until + CLOCKS_APART)


def _jumped(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """A row of that harm and cause whose bounds hold the records. Where both offsets can be known, it has them."""
    rows = [
        row
        for row in tables.get("offset_jumps", ())
        if place_of(row) == place_of_act(act)
        and is_in(row, instant(act, "left_at"), instant(act, "resumed_at"))
        and (row["harm"], row["cause"]) == (act.expect, act.fields["cause"])
        and holds(row, act.fields["records"])
    ]
    offsets = act.fields["offset_from"], act.fields["offset_to"]
    exact = [row for row in rows if (row["offset_from"], row["offset_to"]) == offsets]
    if exact:
        return Answer(EXACT, rows=tuple(exact))
    return Answer((WEAKER if act.fields["is_exact"] else RIGHT) if rows else MISSED, rows=tuple(rows))


def _balances(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """Records read are those between the first and the last position, those read again and gone, less those skipped.

    A row of unknown harm, or after which no member went on, is in no book.
    """
    spans = spans_of_act(act)
    low = high = 0.0
    rows = [r for r in tables.get("offset_jumps", ()) if place_of(r) == place_of_act(act) and _is_booked(r, spans)]
    for row in rows:
        least, most = row["records_low"], float("inf") if row["records_high"] is None else row["records_high"]
        low, high = (low - most, high - least) if row["harm"] == SKIPPED else (low + least, high + most)
    return answered(low <= surplus_of(spans) <= high, rows)


def _is_booked(row: GoldRow, spans: Sequence[Span]) -> bool:
    is_read_after = row["resumed_at"] is not None and row["resumed_at"] <= spans[-1].until + CLOCKS_APART
    return is_read_after and row["harm"] in (SKIPPED, READ_AGAIN, GONE)


def _billed(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """The group's rebalances together hold what it read again and skipped; those without a bill have none."""
    rows = [
        row
        for row in tables.get("rebalances", ())
        if row["group_id"] == act.group and row.get("read_again_low") is not None
    ]
    again, skipped = sum(act.fields["read_again"].values()), sum(act.fields["skipped"].values())
    is_held = _sum_holds(rows, "read_again", again) and _sum_holds(rows, "skipped", skipped)
    return answered(bool(rows) and is_held, rows)


def _sum_holds(rows: Iterable[GoldRow], what: str, record_count: int) -> bool:
    bounds = [(row[f"{what}_low"], row[f"{what}_high"]) for row in rows]
    is_open = any(high is None for _, high in bounds)
    low, high = sum(low or 0 for low, _ in bounds), sum(high or 0 for _, high in bounds)
    return low <= record_count and (is_open or record_count <= high)


def _stood(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """A row of that kind with that owner, that begins and ends with the act, as readings show it.

    What the owner had committed is not above the position at which it stood.
    """
    since, until = instant(act, "since"), act.at
    rows = (
        row
        for row in tables.get("partition_stalls", ())
        if place_of(row) == place_of_act(act)
        and row["kind"] == act.fields["cause"]
        and row["committed_offset"] <= act.fields["offset"]
        and row["client_id"] in (act.fields["client"], None)
        and since - CLOCKS_APART <= row["started_at"] <= since + READINGS_APART
        and (row["ended_at"] is None or row["ended_at"] >= until - CLOCKS_APART)
    )
    return _some(rows)


def _fell_behind(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    """A row of that kind about the time in which the member was slow."""
    rows = (
        row
        for row in tables.get("partition_stalls", ())
        if place_of(row) == place_of_act(act)
        and row["kind"] == "falls_behind"
        and row["started_at"] <= instant(act, "slow_until")
        and (row["ended_at"] is None or row["ended_at"] >= instant(act, "since"))
    )
    return _some(rows)


def _no_stall(act: Act, acts: Sequence[Act], tables: GoldTables) -> Answer:
    return answered(not any(place_of(row) == place_of_act(act) for row in tables.get("partition_stalls", ())))


def _some(rows: Iterable[GoldRow]) -> Answer:
    matches = tuple(rows)
    return answered(bool(matches), matches)


_LONG = timedelta(minutes=10)


def _of_jumps(matcher: Matcher) -> Expectation:
    return Expectation(("offset_jumps",), matcher, (), "group_id", _LONG, _LONG)


def _of_stalls(matcher: Matcher) -> Expectation:
    return Expectation(("partition_stalls",), matcher, (), "group_id", _LONG, _LONG)


OF_OFFSETS: Mapping[str, Expectation] = {
    SKIPPED: _of_jumps(_jumped),
    READ_AGAIN: _of_jumps(_jumped),
    GONE: _of_jumps(_jumped),
    BOOKS: _of_jumps(_balances),
    "records_billed": Expectation(("rebalances",), _billed, (), "group_id", _LONG, _LONG),
    STOOD: _of_stalls(_stood),
    FELL_BEHIND: _of_stalls(_fell_behind),
    "no_stall": _of_stalls(_no_stall),
}
"""What an act may expect of the offsets of its group."""

JUMPS: frozenset[str] = frozenset({SKIPPED, READ_AGAIN, GONE})
"""What is met by a row with bounds of records."""
