"""Which rebalances meet what an act was expected to be called: the rules of docs/design.md section 8, each once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from lab.drill.truth import DURATION_BLAME, EXPIRY_CODES, HOST_SILENT, REBALANCE_CODES, ROLLING_RESTART, SILENCES, Act

Row = Mapping[str, Any]
Tables = Mapping[str, Sequence[Row]]

BEFORE = timedelta(seconds=1)
AFTER = timedelta(seconds=75)
SHARED_BEFORE = timedelta(seconds=30)


@dataclass(frozen=True)
class Answer:
    """The audit's answer to one act: whether it meets the act, and the rows that do (none for an expected silence)."""

    met: bool
    rows: tuple[Row, ...] = ()


def is_after(act: Act, at: datetime) -> bool:
    """Whether an instant lies where an answer to the act may start."""
    return act.at - BEFORE <= at <= act.at + AFTER


def is_member(act: Act, member: Row) -> bool:
    """Whether a row, contributor or delaying member is the member of the act, by client id or by instance id."""
    by_client = act.client is not None and member.get("client_id") == act.client
    by_instance = act.instance is not None and member.get("instance_id") == act.instance
    return by_client or by_instance


def names_member(act: Act) -> bool:
    """Whether the act was done to one member."""
    return act.client is not None or act.instance is not None


def calls(act: Act, row: Row, codes: Iterable[str]) -> bool:
    """Whether a rebalance, or a contributor to it, carries one of the codes for the member of the act."""
    return row["cause"] in codes and (not names_member(act) or is_member(act, row))


def _rebalance(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    return some(_rows_called(act, tables, REBALANCE_CODES[str(act.expect)]))


def _rows_called(act: Act, tables: Tables, codes: tuple[str, ...]) -> list[Row]:
    return [r for r in of_group(act, tables) if _is_called(act, r, codes)]


def _is_called(act: Act, row: Row, codes: tuple[str, ...]) -> bool:
    """The row itself where it starts after the act; a contributor where the shared rebalance may have begun before."""
    if is_after(act, row["started_at"]) and calls(act, row, codes):
        return True
    may_be_shared = act.at - SHARED_BEFORE <= row["started_at"] <= act.at + AFTER
    return may_be_shared and any(calls(act, c, codes) for c in row.get("contributors") or ())


def _rolling_restart(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """One incident must hold the whole roll: of several, the one that meets most of its acts counts."""
    restarts = {i["incident_id"] for i in tables.get("incidents", ()) if i["kind"] == "rolling_restart"}
    codes = REBALANCE_CODES[ROLLING_RESTART]
    rows_of_acts = {
        id(a): [r for r in _rows_called(a, tables, codes) if r.get("incident_id") in restarts]
        for a in _roll_of(act, acts)
    }
    votes = Counter(i for rows in rows_of_acts.values() for i in {r["incident_id"] for r in rows})
    if not votes:
        return Answer(False)
    winner = max(sorted(votes), key=votes.__getitem__)
    return some(r for r in rows_of_acts[id(act)] if r["incident_id"] == winner)


def _roll_of(act: Act, acts: Sequence[Act]) -> list[Act]:
    """The unbroken run of rolling-restart acts in the group that holds this act."""
    run: list[Act] = []
    for other in (a for a in acts if a.group == act.group):
        if other.expect == ROLLING_RESTART:
            run.append(other)
        elif any(a is act for a in run):
            break
        else:
            run = []
    return run


def _silence(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """Met by the expiry of the member's session, or by nothing; broken by any rebalance before."""
    rows = rows_until_expiry(act, acts, tables)
    expired = [r for r in rows if is_expiry(act, r)]
    return Answer(len(rows) == len(expired), tuple(expired))


def rows_until_expiry(act: Act, acts: Sequence[Act], tables: Tables) -> list[Row]:
    """The rebalances of a silent act's group up to the next thing done to it, or up to the expiry of its member."""
    following = next((a.at for a in acts if a.group == act.group and a.at > act.at), None)
    rows: list[Row] = []
    for row in of_group(act, tables):
        if row["started_at"] <= act.at:
            continue
        if following is not None and row["started_at"] >= following:
            break
        rows.append(row)
        if is_expiry(act, row):
            break
    return rows


def is_expiry(act: Act, row: Row) -> bool:
    """Whether a rebalance is the expiry of the silent member's session.

    The last heartbeat was sent before the act, so a session ends early, by at most its heartbeat interval.
    Source: heartbeat.interval.ms is to be set no higher than a third of session.timeout.ms.
    """
    if row["started_at"] < act.at + act.session * 2 / 3:
        return False
    return any(calls(act, m, EXPIRY_CODES) for m in (row, *(row.get("contributors") or ())))


def _duration_blame(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    following = next((r for r in of_group(act, tables) if is_after(act, r["started_at"])), None)
    if following is None:
        return Answer(False)
    return some([following] if any(_delays(act, d) for d in following.get("delayed_by") or ()) else [])


def _delays(act: Act, member: Row) -> bool:
    """`delayed_by` has no instance id; the member id of a static member begins with it."""
    is_static = act.instance is not None and str(member.get("member_id") or "").startswith(f"{act.instance}-")
    return is_member(act, member) or is_static


def of_group(act: Act, tables: Tables) -> list[Row]:
    """The rebalances of the act's group, in order of time."""
    return [r for r in tables.get("rebalances", ()) if r["group_id"] == act.group]


def some(rows: Iterable[Row]) -> Answer:
    matches = tuple(rows)
    return Answer(bool(matches), matches)


def _host_silent(act: Act, acts: Sequence[Act], tables: Tables) -> Answer:
    """One incident of that kind holds the group, and names the host."""
    near = (i for i in tables.get("incidents", ()) if is_after(act, i["started_at"]) and i["kind"] == HOST_SILENT)
    host = re.compile(rf"host {re.escape(act.fields['host'])}(?!\.?\d)")
    return some(i for i in near if act.group in i["group_ids"] and host.search(i["explanation"]))


Rule = Callable[[Act, Sequence[Act], Tables], Answer]
"""An act with `expect`, all acts and the rows of each table, both in order of time → the answer to the act."""

GROUP_RULES: Mapping[str, Rule] = {
    **dict.fromkeys(REBALANCE_CODES, _rebalance),
    **dict.fromkeys(SILENCES, _silence),
    ROLLING_RESTART: _rolling_restart,
    DURATION_BLAME: _duration_blame,
    HOST_SILENT: _host_silent,
}
