"""Why a row about the offsets of a group is wrong: what members printed, and what was done, speak against it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from lab.drill.offset_expectations import (
    CLOCKS_APART,
    GONE,
    JUMPS,
    READ_AGAIN,
    SKIPPED,
    holds,
    is_in,
    place_of,
    place_of_act,
    spans_of_act,
)
from lab.drill.reads import RECORDS_READ, PrintedJump, Span, jumps_of
from lab.drill.rows import GoldRow, GoldTables
from lab.drill.wrong import FALSE_ALARM, PlayedNight

_SHOWN_WITHIN = timedelta(seconds=12)
"""Readings are ten seconds apart: a partition may move so long within a row that says it stands."""


def wrong_jump(row: GoldRow, night: PlayedNight, tables: GoldTables) -> str | None:
    """Members printed another jump of that partition then, or none; or nothing was done that makes a group skip."""
    spans = _printed(row, night)
    if spans is None:
        is_played = any(a.group == row["group_id"] and a.verdict in JUMPS for a in night.acts)
        loses = row["harm"] in (SKIPPED, GONE) and row["records_low"] > 0
        return FALSE_ALARM if loses and not is_played else None
    if row["resumed_at"] is None or row["jumped_at"] > spans[-1].until:
        return None  # No member went on that would have printed it.
    jumps = [jump for jump in jumps_of(spans) if is_in(row, jump.left_at, jump.resumed_at)]
    if any(_fits(row, jump) for jump in jumps) or (not jumps and row["records_low"] == 0):
        return None
    printed = ", ".join(f"{j.offset_from} to {j.offset_to}" for j in jumps) or "no jump"
    return f"its members printed {printed}"


def _printed(row: GoldRow, night: PlayedNight) -> Sequence[Span] | None:
    """What members printed of the row's partition; None where they do not trace."""
    traced = (a for a in night.acts if a.action == RECORDS_READ and place_of_act(a) == place_of(row))
    return next((spans_of_act(a) for a in traced), None)


def _fits(row: GoldRow, jump: PrintedJump) -> bool:
    goes_back = jump.offset_to < jump.offset_from
    is_harm = {SKIPPED: not goes_back, READ_AGAIN: goes_back, GONE: goes_back}.get(row["harm"], True)
    ends = ((row["offset_from"], jump.offset_from), (row["offset_to"], jump.offset_to))
    return is_harm and holds(row, jump.records) and all(said in (None, printed) for said, printed in ends)


def wrong_stall(row: GoldRow, night: PlayedNight, tables: GoldTables) -> str | None:
    """Members printed records of a partition that is said to stand."""
    spans = _printed(row, night)
    if spans is None or row["kind"] == "falls_behind":
        return None
    until = row["ended_at"] or night.acts[-1].at
    moved = [s for s in spans if s.until > row["started_at"] + CLOCKS_APART and s.since < until - _SHOWN_WITHIN]
    return f"{moved[0].client} read {moved[0].first} to {moved[0].last} meanwhile" if moved else None
